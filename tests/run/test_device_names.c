/* A word that names no device is answered with the existing devices, and with a guess only if it is unambiguous. */
#include "base/text.h"
#include "plan/plan.h"
#include "run/device_names.h"
#include "tests/unit_test.h"

#include <string.h>

static struct as_found_device device(const char *backend, const char *id, const char *name, const char *why)
{
    struct as_found_device d = {0};
    as_copy_text(d.info.backend, sizeof d.info.backend, backend);
    as_copy_text(d.info.id, sizeof d.info.id, id);
    as_copy_text(d.info.name, sizeof d.info.name, name);
    as_copy_text(d.why, sizeof d.why, why);
    return d;
}

static void check_word(const char *word, const struct as_found_device *found, size_t n, enum as_status code,
                       const char *wanted)
{
    struct as_error err = {0};
    assert_int_equal(as_unknown_device(word, found, n, &err), code);
    assert_string_equal(err.text, wanted);
}

UNIT_TEST(families_are_answered_with_the_devices)
{
    const struct as_found_device found[] = {device("cpu", "cpu", "EPYC", ""),
                                            device("opencl", "opencl:0", "Portable", "")};
    static const char *const words[] = {"gpu", "GPU", "nvidia", "amd", "intel", "cuda", "gpu:0", "npu"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct as_buf wanted = AS_BUF_INIT;
        as_buf_printf(&wanted, "there is no device '%s'; devices here: cpu, opencl:0 (Portable)", words[i]);
        check_word(words[i], found, 2, AS_NOTFOUND, as_buf_get(&wanted));
        as_buf_finish(&wanted);
    }
}

UNIT_TEST(a_slip_is_recognised)
{
    const struct as_found_device found[] = {device("cpu", "cpu", "EPYC", ""), device("opencl", "opencl:0", "P", "")};
    const char rest[] = "? devices here: cpu, opencl:0 (P)";
    static const char *const slips[][2] = {{"CPU", "cpu"}, {"cpus", "cpu"}, {"opncl", "opencl"}, {"open", "opencl:0"}};
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        struct as_buf wanted = AS_BUF_INIT;
        as_buf_printf(&wanted, "there is no device '%s'; did you mean '%s'%s", slips[i][0], slips[i][1], rest);
        check_word(slips[i][0], found, 2, AS_NOTFOUND, as_buf_get(&wanted));
        as_buf_finish(&wanted);
    }
}

UNIT_TEST(a_backend_says_why_it_cannot_be_used)
{
    struct as_found_device found[] = {device("cpu", "cpu", "EPYC", ""),
                                      device("cuda", "cuda", "", "libcuda.so.1: cannot open"),
                                      device("null", "null", "scripted", "")};
    check_word("cuda", found, 3, AS_UNSUPPORTED,
               "no device 'cuda' can be used: libcuda.so.1: cannot open; devices here: cpu");
    check_word("gpu", found, 3, AS_NOTFOUND,
               "there is no device 'gpu'; devices here: cpu; assay devices says why others cannot be used");
    found[1] = device("null", "null", "", "no script");
    check_word("gpu", found, 2, AS_NOTFOUND, "there is no device 'gpu'; devices here: cpu");
    check_word("gpu", found + 2, 1, AS_NOTFOUND, "there is no device 'gpu'; devices here: none");
}

UNIT_TEST(a_suite_takes_those_of_its_devices_that_can_be_used)
{
    const struct as_found_device found[] = {device("cpu", "cpu", "EPYC", ""), device("cuda", "cuda:0", "H200", ""),
                                            device("hip", "hip", "", "no device (101)"),
                                            device("metal", "metal", "", "no Metal")};
    struct as_error err = {0};
    assert_false(as_all_unusable("cuda", found, 4));
    assert_false(as_all_unusable("cpu", found, 4));
    assert_true(as_all_unusable("hip", found, 4));
    assert_false(as_all_unusable("hipp", found, 4));
    assert_int_equal(as_no_listed_device(found, 4, "hip, metal", &err), AS_UNSUPPORTED);
    assert_string_equal(err.text, "no suitable device can be used; devices here: cpu, cuda:0 (H200); "
                                  "hip: no device (101); metal: no Metal; assay devices says what to do");
}

UNIT_TEST(many_devices_and_long_names_are_bounded)
{
    struct as_found_device found[40];
    char name[120], word[5000];
    struct as_error err = {0};
    memset(name, 'n', sizeof name - 1);
    memset(word, 'w', sizeof word - 1);
    name[sizeof name - 1] = word[sizeof word - 1] = 0;
    for (size_t i = 0; i < 40; i++)
        found[i] = device("opencl", "opencl:0", name, "");
    assert_int_equal(as_unknown_device(word, found, 40, &err), AS_NOTFOUND);
    assert_non_null(strstr(err.text, "nnn...)"));
    assert_non_null(strstr(err.text, " and 34 more"));
}

UNIT_TEST(ids_are_told_from_words)
{
    assert_true(as_is_device_id("cpu"));
    assert_true(as_is_device_id("null"));
    assert_true(as_is_device_id("null:7"));
    assert_true(as_is_device_id("cpu:x"));
    assert_false(as_is_device_id("all"));
    assert_false(as_is_device_id("opencl"));
    assert_false(as_is_device_id("gpu"));
    assert_false(as_is_device_id("gpu:0"));
    assert_false(as_is_device_id(""));
    assert_false(as_is_device_id(":"));
}

static const struct as_found_device CPU = {
    .info = {.id = "cpu", .backend = "cpu", .capabilities = AS_CAP_HOST_KERNELS}};

static void must_be_same(const struct as_found_device *found, size_t n, size_t i, const char *wanted)
{
    const char *same = as_found_same(found, n, i);
    assert_true(!same == !wanted);
    if (wanted)
        assert_string_equal(same, wanted);
}

/* Whatever else exists, and in any order of backends. */
UNIT_TEST(a_cpu_is_taken_once)
{
    struct as_found_device portable = device("opencl", "opencl:0", "P", ""),
                           second = device("opencl", "opencl:1", "Q", "");
    portable.info.is_host_cpu = second.info.is_host_cpu = true;
    struct as_found_device found[] = {portable, CPU, second, device("cuda", "cuda:0", "G", "")};
    for (size_t n = 3; n <= 4; n++) {
        must_be_same(found, n, 0, "cpu");
        must_be_same(found, n, 1, NULL);
        must_be_same(found, n, 2, "cpu");
    }
    must_be_same(found, 4, 3, NULL);
    as_copy_text(found[1].why, sizeof found[1].why, "cannot be used"); /* then the portable API is the only way */
    must_be_same(found, 4, 0, NULL);
    must_be_same(found, 4, 2, "opencl:0");
    found[1] = device("null", "null", "N", ""); /* for tests, on request */
    found[1].info.capabilities = AS_CAP_HOST_KERNELS;
    must_be_same(found, 4, 0, NULL);
}

UNIT_TEST(a_gpu_is_taken_once)
{
    static const char uuid[] = "GPU-5ede5d59-c949-3aca-4b28-11bd00045ab5", same[] = "5ede5d59c9493aca4b2811bd00045ab5";
    struct as_found_device found[] = {CPU,
                                      device("cuda", "cuda:0", "G", ""),
                                      device("cuda", "cuda:1", "G", ""),
                                      device("opencl", "opencl:0", "G", ""),
                                      device("opencl", "opencl:1", "G", ""),
                                      device("opencl", "opencl:2", "other", ""),
                                      device("opencl", "opencl:3", "other", "")};
    as_copy_text(found[1].info.bus_id, sizeof found[1].info.bus_id, "0000:0A:00.0");
    as_copy_text(found[3].info.bus_id, sizeof found[3].info.bus_id, "0000:0a:00.0");
    as_copy_text(found[2].info.uuid, sizeof found[2].info.uuid, uuid);
    as_copy_text(found[4].info.uuid, sizeof found[4].info.uuid, same);
    for (size_t i = 5; i < 7; i++) /* one GPU on two platforms */
        as_copy_text(found[i].info.bus_id, sizeof found[i].info.bus_id, "0000:0c:00.0");
    static const char *const wanted[] = {NULL, NULL, NULL, "cuda:0", "cuda:1", NULL, "opencl:2"};
    for (size_t i = 0; i < 7; i++)
        must_be_same(found, 7, i, wanted[i]);
}

static void must_be_on(const struct as_suite *suites, size_t n, const char *wanted)
{
    struct as_buf list = AS_BUF_INIT;
    as_suites_devices(suites, n, &list);
    assert_string_equal(as_buf_get(&list), wanted);
    as_buf_finish(&list);
}

/* Suites that run together are measured on the devices of each; without a list no hardware is measured twice. */
UNIT_TEST(test_devices_of_several_suites)
{
    const struct as_suite each = {.devices = "each"}, cpu = {.devices = "cpu"}, none = {.devices = ""};
    must_be_on((const struct as_suite[]){each, each}, 2, "each");
    must_be_on((const struct as_suite[]){none, each, none}, 3, "each");
    must_be_on((const struct as_suite[]){none, cpu}, 2, "cpu");
    must_be_on((const struct as_suite[]){each, cpu, each}, 3, "each,cpu");
    must_be_on(&none, 1, "each");
    must_be_on(NULL, 0, "each");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_devices_of_several_suites),
                                       cmocka_unit_test(families_are_answered_with_the_devices),
                                       cmocka_unit_test(a_slip_is_recognised),
                                       cmocka_unit_test(a_backend_says_why_it_cannot_be_used),
                                       cmocka_unit_test(a_cpu_is_taken_once),
                                       cmocka_unit_test(a_gpu_is_taken_once),
                                       cmocka_unit_test(a_suite_takes_those_of_its_devices_that_can_be_used),
                                       cmocka_unit_test(many_devices_and_long_names_are_bounded),
                                       cmocka_unit_test(ids_are_told_from_words)};
    return cmocka_run_group_tests_name("core: names of devices", tests, NULL, NULL);
}
