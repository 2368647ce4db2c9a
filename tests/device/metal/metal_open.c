/* The Metal backend against a stand-in for the runtime: what it says when there is nothing to open, what it reads of a
 * device, hostile text, and that every object is given back. */
#include "../gpu_tests.h"

#include <jansson.h>
#include <stdlib.h>

static void open_fails(const char *words, enum as_status code, const char *part)
{
    struct as_error err = {0};
    struct as_device dev;
    void *backend = NULL;
    fake("");
    check_ok(stand_in.backend->open(&backend, &err), &err);
    fake(words);
    check_fails(stand_in.backend->open_device(backend, 0, &dev, &err), code, &err, part);
    stand_in.backend->close(backend);
    assert_int_equal(fake_live(), 0);
    assert_string_equal(fake_broken(), "");
}

static void test_no_device(void **state)
{
    (void)state;
    gpu_refuses("none", NULL, "names no device");
    assert_int_equal(fake_live(), 0);
    open_fails("noqueue", AS_FAILED, "newCommandQueue made no queue");
    open_fails("nolibrary", AS_FAILED, "program 'nothing' does not build: no reason is given");
    open_fails("nopipeline", AS_FAILED, "kernel 'nothing' has no pipeline: Compiler encountered an internal");
}

static void test_no_such_device(void **state)
{
    struct as_error err = {0};
    struct as_device dev;
    void *backend = NULL;
    (void)state;
    fake("");
    check_ok(stand_in.backend->open(&backend, &err), &err);
    assert_int_equal(stand_in.backend->count(backend), 2);
    check_fails(stand_in.backend->open_device(backend, 2, &dev, &err), AS_NOTFOUND, &err, "the last is 'metal:1'");
    stand_in.backend->close(backend);
    assert_int_equal(fake_live(), 0);
}

static void test_info(void **state)
{
    struct opened o;
    (void)state;
    fake("");
    open_card(&o, 0);
    const struct as_device_info *i = &o.dev.info;
    struct as_error err = {0};
    check_ok(as_backend_check(stand_in.backend, &err), &err);
    check_ok(as_device_check(&o.dev, &err), &err);
    assert_string_equal(i->id, "metal:0");
    assert_string_equal(i->backend, "metal");
    assert_string_equal(i->dialect, "metal");
    assert_string_equal(i->name, "Apple M4 Pro");
    assert_string_equal(i->vendor, "Apple");
    assert_string_equal(i->arch, "apple9");
    assert_string_equal(i->driver, "Metal 3, macOS Version 15.5 (Build 24F74)");
    assert_string_equal(i->uuid, "0000000100000abc");
    assert_int_equal(i->compute_units, 20);
    assert_int_equal(i->unit_fma, 128);
    assert_int_equal(i->threads, 1024);
    assert_int_equal(i->warp, 32);
    assert_int_equal(i->workgroup_shared, 32 << 10);
    assert_int_equal(i->memory_bytes, UINT64_C(8) << 30);
    assert_true(i->memory_free > 0 && i->memory_free <= i->memory_bytes);
    assert_int_equal(i->max_alloc, UINT64_C(4) << 30);
    assert_true(i->is_host_memory && i->page_size > 0);
    assert_int_equal(i->capabilities, AS_CAP_SOURCE | AS_CAP_ASYNC | AS_CAP_EVENTS | AS_CAP_FP16 | AS_CAP_COPY |
                                          AS_CAP_QUEUES | AS_CAP_SVM_ATOMICS | AS_CAP_BF16 | AS_CAP_MATRIX);
    assert_true(as_info_allocator(i, "MTLStorageModeShared")->coherent);
    assert_false(as_info_allocator(i, "MTLStorageModePrivate")->host_access);
    assert_non_null(strstr(as_info_allocator(i, "MTLStorageModeManaged")->why_not, "unified memory"));
    close_card(&o);
}

/* A Mac with a GPU that is not Apple's: its own memory, and an older system. */
static void test_intel(void **state)
{
    struct opened o;
    (void)state;
    fake("intel old");
    open_card(&o, 0);
    const struct as_device_info *i = &o.dev.info;
    assert_string_equal(i->vendor, "");
    assert_string_equal(i->arch, "mac2");
    assert_string_equal(i->driver, "Metal, macOS Version 15.5 (Build 24F74)");
    assert_int_equal(i->capabilities & AS_CAP_SVM_ATOMICS, 0);
    assert_true(!i->is_host_memory && i->page_size == 0);
    assert_string_equal(as_info_allocator(i, "MTLStorageModeManaged")->why_not, "");
    assert_non_null(strstr(as_info_allocator(i, "MTLStorageModeShared")->no_sharing, "over a bus"));
    assert_int_equal(i->memory_free, i->memory_bytes);
    assert_int_equal(i->unit_fma, 0);
    close_card(&o);
    fake("future"); /* a family whose cores are not published */
    open_card(&o, 0);
    assert_string_equal(o.dev.info.arch, "apple10");
    assert_int_equal(o.dev.info.unit_fma, 0);
    close_card(&o);
}

static void test_hostile_text(void **state)
{
    struct opened o;
    struct as_buf json = AS_BUF_INIT;
    struct as_error err = {0};
    (void)state;
    fake("");
    open_card(&o, 1);
    assert_string_equal(o.dev.info.name, "\x1b[31mred \xEF\xBF\xBD\xEF\xBF\xBD<script>");
    check_ok(o.dev.device->topology(&o.dev, &json, &err), &err);
    assert_null(strstr(as_buf_get(&json), "<"));
    assert_null(strchr(as_buf_get(&json), 0x1b));
    json_t *tree = json_loads(as_buf_get(&json), 0, NULL);
    const json_t *device = json_array_get(json_object_get(tree, "children"), 0);
    assert_int_equal(json_integer_value(json_object_get(device, "units")), 20);
    assert_int_equal(json_integer_value(json_object_get(device, "lanes")), 32);
    json_decref(tree);
    as_buf_finish(&json);
    close_card(&o);
    fake("nameless");
    open_card(&o, 0);
    assert_string_equal(o.dev.info.name, "device without a name");
    close_card(&o);
    fake("notext");
    open_fails("notext nopipeline", AS_FAILED, "no reason is given");
}

/* What the registry does not know, or tells nonsense of, is unknown. */
static void test_cores(void **state)
{
    static const char *const words[] = {"nocores", "manycores"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct opened o;
        fake(words[i]);
        open_card(&o, 0);
        assert_int_equal(o.dev.info.compute_units, 0);
        close_card(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_device), cmocka_unit_test(test_no_such_device), cmocka_unit_test(test_info),
        cmocka_unit_test(test_intel),     cmocka_unit_test(test_hostile_text),   cmocka_unit_test(test_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
