/* The HIP backend against a stand-in runtime: what it says when there is nothing to open, the order of devices, hostile
 * text, and that all is given back. */
#include "../check.h"
#include "fake_hip.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static void refuses(const char *words, const char *visible, const char *part)
{
    struct as_error err = {0};
    void *backend = NULL;
    fake(words);
    if (visible)
        setenv("HIP_VISIBLE_DEVICES", visible, 1);
    enum as_status s = as_backend_hip.open(&backend, &err);
    unsetenv("HIP_VISIBLE_DEVICES");
    check_fails(s, AS_UNSUPPORTED, &err, part);
    assert_null(backend);
}

static void test_no_device(void **state)
{
    (void)state;
    refuses("none", NULL, "/dev/kfd");
    refuses("zero", NULL, "/dev/kfd");
    refuses("", "", "HIP_VISIBLE_DEVICES is set and empty: no device is visible");
    refuses("zero", "", "HIP_VISIBLE_DEVICES is set and empty: no device is visible");
    refuses("", "7", "HIP_VISIBLE_DEVICES is '7'");
    refuses("nameless", NULL, "hipInit: an error without a name (31337)");
}

static void test_order_is_pci(void **state)
{
    static const char *const bus[] = {"0000:0a:03.0", "0000:41:1f.7", "0000:c1:00.0"};
    static const char *const lists[] = {NULL, "0,1,2", "2,1,0", "1,2,0"};
    (void)state;
    fake("");
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        if (lists[l])
            setenv("HIP_VISIBLE_DEVICES", lists[l], 1);
        for (size_t i = 0; i < 3; i++) {
            struct opened o;
            open_hip(&o, i);
            assert_int_equal(as_backend_hip.count(o.backend), 3);
            assert_string_equal(o.dev.info.bus_id, bus[i]);
            close_hip(&o);
        }
    }
    setenv("HIP_VISIBLE_DEVICES", "0,2", 1);
    struct opened o;
    open_hip(&o, 1);
    assert_int_equal(as_backend_hip.count(o.backend), 2);
    assert_string_equal(o.dev.info.bus_id, bus[2]);
    close_hip(&o);
    unsetenv("HIP_VISIBLE_DEVICES");
}

static void test_info(void **state)
{
    struct opened o;
    (void)state;
    fake("");
    open_hip(&o, 2);
    const struct as_device_info *i = &o.dev.info;
    assert_string_equal(i->id, "hip:2");
    assert_string_equal(i->backend, "hip");
    assert_string_equal(i->name, "<script>alert(1)</script>");
    assert_string_equal(i->uuid, "GPU-26ac62ca0b1a4f5d");
    assert_string_equal(i->driver, "HIP 6.3.42134, XNACK off");
    assert_string_equal(i->arch, "gfx90a");
    assert_int_equal(i->units, 2);
    assert_int_equal(i->threads, 1024);
    assert_int_equal(i->warp, 64);
    assert_int_equal(i->unit_threads, 2048);
    assert_int_equal(i->unit_local, 64 << 10);
    assert_int_equal(i->group_local, 64 << 10);
    assert_int_equal(as_info_last_cache(i), 1 << 20);
    assert_int_equal(i->memory_bytes, UINT64_C(4) << 30);
    assert_int_equal(i->memory_free, UINT64_C(3) << 30);
    assert_true(fabs(i->peak_bandwidth - 1638.4e9) < 1e6);
    assert_true(fabs(i->clock_max_hz - 1.7e9) < 1);
    assert_false(i->is_host_memory);
    assert_true(i->capabilities & AS_CAP_COPY && i->capabilities & AS_CAP_FP16 && i->capabilities & AS_CAP_CYCLES);
    assert_true(i->capabilities & AS_CAP_SVM_ATOMICS);
    assert_false(i->capabilities & AS_CAP_CODE);
    close_hip(&o);
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
    open_hip(&o, 0);
    assert_string_equal(o.dev.info.arch, "");
    assert_string_equal(o.dev.info.driver, "HIP 6.3.42134");
    assert_false(o.dev.info.capabilities & (AS_CAP_CYCLES | AS_CAP_CLOCK));
    check_fails(o.dev.program->build(&o.dev, &desc, &p, &err), AS_UNSUPPORTED, &err, "does not tell what chip");
    close_hip(&o);
}

/* Numbers below zero, a name that does not end, no UUID, an address that is none. */
static void test_hostile_info(void **state)
{
    struct opened o;
    (void)state;
    fake("");
    open_hip(&o, 0);
    assert_string_equal(o.dev.info.uuid, "");
    assert_int_equal(strncmp(o.dev.info.name, "\x1B[31mred", 8), 0);
    close_hip(&o);
    open_hip(&o, 1);
    assert_int_equal(strlen(o.dev.info.name), sizeof o.dev.info.name - 1);
    assert_int_equal(o.dev.info.units, 0);
    assert_int_equal(o.dev.info.unit_local, 0);
    assert_int_equal(o.dev.info.caches_n, 0);
    assert_true(o.dev.info.peak_bandwidth == 0);
    assert_false(o.dev.info.capabilities & (AS_CAP_CYCLES | AS_CAP_SVM_ATOMICS));
    close_hip(&o);
}

static void test_topology_is_json(void **state)
{
    struct opened o;
    struct as_error err = {0};
    (void)state;
    fake("");
    for (size_t i = 0; i < 3; i++) {
        struct as_buf json = AS_BUF_INIT;
        open_hip(&o, i);
        check_ok(o.dev.device->topology(&o.dev, &json, &err), &err);
        json_error_t why;
        json_t *tree = json_loads(as_buf_get(&json), 0, &why);
        if (!tree)
            fail_msg("%s in %s", why.text, as_buf_get(&json));
        assert_string_equal(json_string_value(json_object_get(tree, "type")), "machine");
        assert_null(strstr(as_buf_get(&json), "<"));
        json_decref(tree);
        as_buf_finish(&json);
        close_hip(&o);
    }
}

static void test_no_such_device(void **state)
{
    struct as_error err = {0};
    struct as_device dev;
    void *backend = NULL;
    (void)state;
    fake("");
    check_ok(as_backend_hip.open(&backend, &err), &err);
    check_fails(as_backend_hip.open_device(backend, 3, &dev, &err), AS_NOTFOUND, &err, "the last is 'hip:2'");
    assert_null(dev.ctx);
    as_backend_hip.close(backend);
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
    open_hip(&o, 0);
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
    open_hip(&o, 0);
    check_ok(o.dev.memory->alloc(&o.dev, &want, &m, &err), &err);
    o.dev.memory->free(&o.dev, m);
    close_hip(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_device),      cmocka_unit_test(test_order_is_pci),
        cmocka_unit_test(test_info),           cmocka_unit_test(test_unknown_chip),
        cmocka_unit_test(test_hostile_info),   cmocka_unit_test(test_topology_is_json),
        cmocka_unit_test(test_no_such_device), cmocka_unit_test(test_lost_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
