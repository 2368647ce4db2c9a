/* The HIP backend against a stand-in runtime: what it says when there is nothing to open, the order of devices, hostile
 * text, and that all is given back. */
#include "../gpu_tests.h"

#include <math.h>
#include <stdlib.h>

static void test_no_device(void **state)
{
    (void)state;
    gpu_refuses("none", NULL, "/dev/kfd");
    gpu_refuses("zero", NULL, "/dev/kfd");
    gpu_refuses("", "", "HIP_VISIBLE_DEVICES is set and empty: no device is visible");
    gpu_refuses("zero", "", "HIP_VISIBLE_DEVICES is set and empty: no device is visible");
    gpu_refuses("", "7", "HIP_VISIBLE_DEVICES is '7'");
    gpu_refuses("nameless", NULL, "hipInit: an error without a name (31337)");
}

static void test_info(void **state)
{
    struct opened o;
    (void)state;
    fake("");
    open_card(&o, 2);
    const struct as_device_info *i = &o.dev.info;
    assert_string_equal(i->id, "hip:2");
    assert_string_equal(i->backend, "hip");
    assert_string_equal(i->name, "<script>alert(1)</script>");
    assert_string_equal(i->uuid, "GPU-26ac62ca0b1a4f5d");
    assert_string_equal(i->driver, "HIP 6.3.42134, XNACK off");
    assert_string_equal(i->arch, "gfx90a");
    assert_int_equal(i->compute_units, 2);
    assert_int_equal(i->threads, 1024);
    assert_int_equal(i->warp, 64);
    assert_int_equal(i->compute_unit_threads, 2048);
    assert_int_equal(i->compute_unit_shared, 64 << 10);
    assert_int_equal(i->workgroup_shared, 64 << 10);
    assert_int_equal(as_info_last_cache(i), 1 << 20);
    assert_int_equal(i->memory_bytes, UINT64_C(4) << 30);
    assert_int_equal(i->memory_free, UINT64_C(3) << 30);
    assert_true(fabs(i->peak_bandwidth - 1638.4e9) < 1e6);
    assert_true(fabs(i->clock_max_hz - 1.7e9) < 1);
    assert_false(i->is_host_memory);
    assert_true(i->capabilities & AS_CAP_COPY && i->capabilities & AS_CAP_FP16 && i->capabilities & AS_CAP_CYCLES);
    assert_true(i->capabilities & AS_CAP_SVM_ATOMICS);
    assert_true(i->capabilities & AS_CAP_CODE);
    close_card(&o);
}

/* A chip whose name is none: nothing is known of it, and nothing is compiled for it. */
static void test_unknown_chip(void **state)
{
    static const struct as_program_desc desc = {.name = "any", .source = "KERNEL(any)(ARG_GLOBAL(0, u32, p)) { }"};
    struct opened o;
    struct as_program *p = NULL;
    struct as_error err = {0};
    (void)state;
    fake("unknown");
    open_card(&o, 0);
    assert_string_equal(o.dev.info.arch, "");
    assert_string_equal(o.dev.info.driver, "HIP 6.3.42134");
    assert_false(o.dev.info.capabilities & (AS_CAP_CYCLES | AS_CAP_CLOCK));
    check_fails(o.dev.program->build(&o.dev, &desc, &p, &err), AS_UNSUPPORTED, &err, "does not tell what chip");
    close_card(&o);
}

/* Numbers below zero, a name that does not end, no UUID, an address that is none. */
static void test_hostile_info(void **state)
{
    struct opened o;
    (void)state;
    fake("");
    open_card(&o, 0);
    assert_string_equal(o.dev.info.uuid, "");
    assert_int_equal(strncmp(o.dev.info.name, "\x1B[31mred", 8), 0);
    close_card(&o);
    open_card(&o, 1);
    assert_int_equal(strlen(o.dev.info.name), sizeof o.dev.info.name - 1);
    assert_int_equal(o.dev.info.compute_units, 0);
    assert_int_equal(o.dev.info.compute_unit_shared, 0);
    assert_int_equal(o.dev.info.caches_n, 0);
    assert_true(o.dev.info.peak_bandwidth == 0);
    assert_false(o.dev.info.capabilities & (AS_CAP_CYCLES | AS_CAP_SVM_ATOMICS));
    close_card(&o);
}

static void test_no_such_device(void **state)
{
    struct as_error err = {0};
    struct as_device dev;
    void *backend = NULL;
    (void)state;
    fake("");
    check_ok(stand_in.backend->open(&backend, &err), &err);
    check_fails(stand_in.backend->open_device(backend, 3, &dev, &err), AS_NOTFOUND, &err, "the last is 'hip:2'");
    assert_null(dev.ctx);
    stand_in.backend->close(backend);
}

/* An error after which the device is lost: its first words stay, and nothing hangs. */
static void test_lost_device(void **state)
{
    struct opened o;
    struct as_error err = {0};
    struct as_memory *m = NULL;
    const struct as_memory_desc want = {.allocator = "hipMalloc", .bytes = 4096, .node = -1};
    uint64_t free_bytes;
    char c = 1;
    (void)state;
    fake("");
    open_card(&o, 0);
    check_ok(o.dev.memory->alloc(&o.dev, &want, &m, &err), &err);
    fake("fault");
    check_fails(o.dev.memory->write(&o.dev, m, 0, &c, 1, &err), AS_FAILED, &err,
                "hipErrorIllegalAddress (700): an illegal memory access was encountered");
    fake("");
    check_fails(o.dev.memory->read(&o.dev, m, 0, &c, 1, &err), AS_FAILED, &err, "the device was lost before");
    check_fails(o.dev.memory->map(&o.dev, m, &err), AS_FAILED, &err, "hipErrorIllegalAddress (700)");
    check_fails(o.dev.device->memory_free(&o.dev, &free_bytes, &err), AS_FAILED, &err, "lost before");
    struct as_memory *other = NULL;
    check_fails(o.dev.memory->alloc(&o.dev, &want, &other, &err), AS_FAILED, &err, "lost before");
    assert_null(other);
    o.dev.memory->free(&o.dev, m);
    close_backend(&o);
    fake_reset();
    open_card(&o, 0);
    check_ok(o.dev.memory->alloc(&o.dev, &want, &m, &err), &err);
    o.dev.memory->free(&o.dev, m);
    close_card(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_device),      cmocka_unit_test(gpu_order_is_pci),
        cmocka_unit_test(test_info),           cmocka_unit_test(test_unknown_chip),
        cmocka_unit_test(test_hostile_info),   cmocka_unit_test(gpu_topology_is_json),
        cmocka_unit_test(test_no_such_device), cmocka_unit_test(test_lost_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
