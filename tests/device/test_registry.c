/* The check of records, and devices by name. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

static enum as_status fake_open(void **backend, struct as_error *err)
{
    (void)backend;
    (void)err;
    return AS_OK;
}
static void fake_close(void *backend)
{
    (void)backend;
}
static size_t fake_count(void *backend)
{
    (void)backend;
    return 1;
}
static enum as_status fake_open_device(void *backend, size_t index, struct as_device *out, struct as_error *err)
{
    (void)backend;
    (void)index;
    (void)out;
    (void)err;
    return AS_OK;
}
static const struct as_backend whole = {.abi = AS_DEVICE_ABI,
                                        .name = "fake",
                                        .title = "Fake",
                                        .open = fake_open,
                                        .close = fake_close,
                                        .count = fake_count,
                                        .open_device = fake_open_device};

static void missing_backend_slot_is_named(void **state)
{
    (void)state;
    struct as_error err = {0};
    check_ok(as_backend_check(&whole, &err), &err);
    struct as_backend b = whole;
    b.open_device = NULL;
    check_fails(as_backend_check(&b, &err), AS_FAILED, &err, "\"open_device\"");
    b = whole;
    b.count = NULL;
    check_fails(as_backend_check(&b, &err), AS_FAILED, &err, "backend \"fake\" has no \"count\"");
    b = whole;
    b.title = NULL;
    check_fails(as_backend_check(&b, &err), AS_FAILED, &err, "\"title\"");
    b = whole;
    b.name = NULL;
    check_fails(as_backend_check(&b, &err), AS_FAILED, &err, "\"name\"");
}

static void set_variables_are_named(void **state)
{
    static const char *const names[] = {"AS_TEST_FIRST", "AS_TEST_OTHER", "AS_TEST_LAST", NULL};
    struct as_backend b = whole;
    struct as_device_info info = {.id = "fake:0", .backend = "fake"};
    (void)state;
    b.environment = names;
    unsetenv("AS_TEST_OTHER");
    setenv("AS_TEST_FIRST", "1", 1);
    setenv("AS_TEST_LAST", "0", 1);
    as_backend_describe(&b, 1, &info);
    assert_non_null(strstr(info.caveats, "environment: AS_TEST_FIRST=1, AS_TEST_LAST=0"));
    unsetenv("AS_TEST_FIRST");
    unsetenv("AS_TEST_LAST");
    info.caveats[0] = 0;
    as_backend_describe(&b, 1, &info);
    assert_null(strstr(info.caveats, "environment:"));
}

static void both_abi_numbers_are_named(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_backend b = {.abi = 77};
    check_fails(as_backend_check(&b, &err), AS_FAILED, &err, "ABI 77");
    char own[32];
    snprintf(own, sizeof own, "ABI %u", AS_DEVICE_ABI);
    assert_non_null(strstr(err.text, own));
}

static void unbuilt_needs_no_slots(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_backend b = {.abi = AS_DEVICE_ABI, .name = "gone", .unbuilt = "no headers"};
    check_ok(as_backend_check(&b, &err), &err);
}

static void missing_device_slot_is_named(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_opened cpu;
    check_ok(as_device_open("cpu", &cpu, &err), &err);
    struct as_device dev = cpu.device;
    check_ok(as_device_check(&dev, &err), &err);
    struct as_memory_ops memory = *dev.memory;
    memory.unmap = NULL;
    dev.memory = &memory;
    check_fails(as_device_check(&dev, &err), AS_FAILED, &err, "\"memory.unmap\"");
    dev = cpu.device;
    struct as_queue_ops queue = *dev.queue;
    queue.wait = NULL;
    dev.queue = &queue;
    check_fails(as_device_check(&dev, &err), AS_FAILED, &err, "\"queue.wait\"");
    dev.info.capabilities &= ~(unsigned)AS_CAP_ASYNC;
    check_ok(as_device_check(&dev, &err), &err);
    struct as_device_ops ops = *dev.device;
    ops.clock = NULL;
    dev.device = &ops;
    check_fails(as_device_check(&dev, &err), AS_FAILED, &err, "\"device.clock\"");
    dev = cpu.device;
    dev.program = NULL;
    check_fails(as_device_check(&dev, &err), AS_FAILED, &err, "\"program\" functions");
    as_device_close(&cpu);
}

static void all_records_of_this_build_are_whole(void **state)
{
    (void)state;
    struct as_error err = {0};
    size_t n = 0;
    for (; as_backends[n]; n++)
        check_ok(as_backend_check(as_backends[n], &err), &err);
    assert_true(n > 0);
    assert_string_equal(as_backends[0]->name, "cpu");
}

static void names_of_devices(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_opened o;
    unsetenv("ASSAY_NULL");
    check_fails(as_device_open("cpu:1", &o, &err), AS_NOTFOUND, &err, "backend \"cpu\" has 1");
    check_fails(as_device_open("cpu:x", &o, &err), AS_USAGE, &err, "\"cpu:x\"");
    check_fails(as_device_open("cpu:", &o, &err), AS_USAGE, &err, "\"cpu:\"");
    check_fails(as_device_open("cpu:99999999999999999999", &o, &err), AS_USAGE, &err, "number");
    check_fails(as_device_open("opnecl:0", &o, &err), AS_NOTFOUND, &err, "did you mean \"opencl\"");
    check_fails(as_device_open("", &o, &err), AS_NOTFOUND, &err, "no backend");
    check_fails(as_device_open("null", &o, &err), AS_UNSUPPORTED, &err, "ASSAY_NULL");
    char lengthy[400];
    memset(lengthy, 'c', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = 0;
    check_fails(as_device_open(lengthy, &o, &err), AS_NOTFOUND, &err, "no backend");
    as_device_close(&o); /* after a failure there is nothing to close, and it does not harm */
    check_ok(as_device_open("cpu:0", &o, &err), &err);
    as_device_close(&o);
    as_device_close(&o);
    as_device_close(NULL);
}

static void words_of_devices(void **state)
{
    (void)state;
    struct as_device_info cuda = {.id = "cuda:0", .backend = "cuda"}, unknown = {.id = "card:0", .backend = "card"};
    assert_string_equal(as_info_words(&cuda)->queue, "stream"); /* by its backend */
    assert_string_equal(as_info_words(&unknown)->compute_unit, "compute unit");
    assert_string_equal(as_info_words(NULL)->queue, "queue");
    unknown.capabilities = AS_CAP_HOST_KERNELS;
    assert_string_equal(as_info_words(&unknown)->compute_unit, "core");
    strcpy(cuda.words.compute_unit, "multiprocessor");
    assert_string_equal(as_info_words(&cuda)->compute_unit, "SM"); /* some of the words are none */
    cuda.words = (struct as_vocabulary){"multiprocessor", "block", "warp", "shared memory", "stream"};
    assert_string_equal(as_info_words(&cuda)->compute_unit, "multiprocessor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_variables_are_named),
        cmocka_unit_test(missing_backend_slot_is_named),
        cmocka_unit_test(both_abi_numbers_are_named),
        cmocka_unit_test(unbuilt_needs_no_slots),
        cmocka_unit_test(missing_device_slot_is_named),
        cmocka_unit_test(all_records_of_this_build_are_whole),
        cmocka_unit_test(names_of_devices),
        cmocka_unit_test(words_of_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
