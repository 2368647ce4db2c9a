/* A word that means no device is answered with the devices that there are, and a guess only where it is surely meant.
 */
#include "base/text.h"
#include "run/device_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct as_found_device device(const char *backend, const char *id, const char *name, const char *why)
{
    struct as_found_device d = {0};
    as_copy_text(d.info.backend, sizeof d.info.backend, backend);
    as_copy_text(d.info.id, sizeof d.info.id, id);
    as_copy_text(d.info.name, sizeof d.info.name, name);
    as_copy_text(d.why, sizeof d.why, why);
    return d;
}

static void check(const char *word, const struct as_found_device *found, size_t n, enum as_status code,
                  const char *wanted)
{
    struct as_error err = {0};
    assert_int_equal(as_unknown_device(word, found, n, &err), code);
    assert_string_equal(err.text, wanted);
}

static void families_are_answered_with_the_devices(void **state)
{
    (void)state;
    const struct as_found_device found[] = {device("cpu", "cpu", "EPYC", ""),
                                            device("opencl", "opencl:0", "Portable", "")};
    static const char *const words[] = {"gpu", "GPU", "nvidia", "amd", "intel", "cuda", "gpu:0", "npu"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct as_buf wanted = AS_BUF_INIT;
        as_buf_printf(&wanted, "there is no device '%s'; devices here: cpu, opencl:0 (Portable)", words[i]);
        check(words[i], found, 2, AS_NOTFOUND, as_buf_get(&wanted));
        as_buf_finish(&wanted);
    }
}

static void a_slip_is_recognised(void **state)
{
    (void)state;
    const struct as_found_device found[] = {device("cpu", "cpu", "EPYC", ""), device("opencl", "opencl:0", "P", "")};
    const char rest[] = "? devices here: cpu, opencl:0 (P)";
    static const char *const slips[][2] = {{"CPU", "cpu"}, {"cpus", "cpu"}, {"opncl", "opencl"}, {"open", "opencl:0"}};
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        struct as_buf wanted = AS_BUF_INIT;
        as_buf_printf(&wanted, "there is no device '%s'; did you mean '%s'%s", slips[i][0], slips[i][1], rest);
        check(slips[i][0], found, 2, AS_NOTFOUND, as_buf_get(&wanted));
        as_buf_finish(&wanted);
    }
}

static void a_backend_says_why_it_cannot_be_used(void **state)
{
    (void)state;
    struct as_found_device found[] = {device("cpu", "cpu", "EPYC", ""),
                                      device("cuda", "cuda", "", "libcuda.so.1: cannot open"),
                                      device("null", "null", "scripted", "")};
    check("cuda", found, 3, AS_UNSUPPORTED,
          "no device 'cuda' can be used: libcuda.so.1: cannot open; devices here: cpu");
    check("gpu", found, 3, AS_NOTFOUND,
          "there is no device 'gpu'; devices here: cpu; assay devices says why others cannot be used");
    found[1] = device("null", "null", "", "no script");
    check("gpu", found, 2, AS_NOTFOUND, "there is no device 'gpu'; devices here: cpu");
    check("gpu", found + 2, 1, AS_NOTFOUND, "there is no device 'gpu'; devices here: none");
}

static void many_devices_and_long_names_are_bounded(void **state)
{
    (void)state;
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

static void ids_are_told_from_words(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_are_answered_with_the_devices), cmocka_unit_test(a_slip_is_recognised),
        cmocka_unit_test(a_backend_says_why_it_cannot_be_used),
        cmocka_unit_test(many_devices_and_long_names_are_bounded), cmocka_unit_test(ids_are_told_from_words)};
    return cmocka_run_group_tests_name("core: names of devices", tests, NULL, NULL);
}
