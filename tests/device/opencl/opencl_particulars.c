/* What is particular to the OpenCL backend, on a stand-in for the library: hostile text, old drivers, errors by name;
 * the rest is in the conformance suite. */
#include "../stand_in.h"

#include "device/opencl/opencl.h"

#include <math.h>
#include <stdlib.h>

static void test_text_and_uuid(void **unused)
{
    struct opened o;
    (void)unused;
    fake("");
    open_gpu(&o, 0);
    assert_string_equal(o.dev.info.uuid, "deadbeef-0102-0304-0506-0708090a0b0c");
    assert_string_equal(o.dev.info.name, "device without a name");
    assert_string_equal(o.dev.info.driver, "Fake\xEF\xBF\xBDPlatform ");
    assert_true(o.dev.info.capabilities & AS_CAP_FP16);
    assert_true(o.dev.info.capabilities & AS_CAP_DOT_4X8);
    close_gpu(&o);
    open_gpu(&o, 1); /* C0 AF is an overlong '/': two bytes that are not UTF-8 */
    assert_string_equal(o.dev.info.name, "\x1B[31mred \xEF\xBF\xBD\xEF\xBF\xBD end");
    close_gpu(&o);
    open_gpu(&o, 2); /* an extension whose name is only a prefix is not that extension */
    assert_string_equal(o.dev.info.name, "<script>alert(1)</script>");
    assert_false(o.dev.info.capabilities & (AS_CAP_FP16 | AS_CAP_DOT_4X8));
    close_gpu(&o);
}

/* Missing values stay unknown, and nothing beyond the requested size is read. */
static void test_driver_lies_about_sizes(void **unused)
{
    (void)unused;
    fake("lies");
    for (size_t i = 0; i < 3; i++) {
        struct opened o;
        open_gpu(&o, i);
        const struct as_device_info *info = &o.dev.info;
        assert_int_equal(stand_in.backend->count(o.backend), 3);
        assert_string_equal(info->name, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        assert_string_equal(info->bus_id, "");
        assert_string_equal(info->uuid, "");
        assert_int_equal(info->compute_units, 0);
        assert_int_equal(info->memory_bytes, 0);
        close_gpu(&o);
    }
}

/* The cache of a GPU is its own, even if it uses host memory. */
static void test_cache_of_an_integrated_gpu(void **unused)
{
    struct opened o;
    struct as_buf json = AS_BUF_INIT;
    struct as_error err = {0};
    (void)unused;
    fake("unified");
    open_gpu(&o, 0);
    assert_true(o.dev.info.is_host_memory && !o.dev.info.is_host_cpu);
    assert_int_equal(o.dev.info.caches_n, 0); /* no level is reported */
    assert_int_equal(o.dev.device->topology(&o.dev, &json, &err), AS_OK);
    assert_null(strstr(as_buf_get(&json), "\"L2\""));
    assert_null(strstr(as_buf_get(&json), "\"L3\""));
    as_buf_finish(&json);
    close_gpu(&o);
}

static void test_old_driver_has_no_svm(void **unused)
{
    struct opened o;
    struct as_error err = {0};
    struct as_memory *m = NULL;
    const struct as_memory_desc want = {.allocator = "clSVMAlloc fine", .bytes = 64, .node = -1};
    (void)unused;
    fake("");
    open_gpu(&o, 0);
    for (size_t i = 0; i < o.dev.info.allocators_n; i++) {
        const struct as_allocator *a = &o.dev.info.allocators[i];
        assert_int_equal(a->why_not[0] != 0, strncmp(a->name, "clSVMAlloc", 10) == 0);
    }
    assert_int_equal(o.dev.memory->alloc(&o.dev, &want, &m, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "clSVMAlloc"));
    assert_false(o.dev.info.capabilities & AS_CAP_SVM_ATOMICS);
    close_gpu(&o);
}

static void test_part_errors(void **unused)
{
    struct opened o;
    struct as_error err = {0};
    struct as_memory *whole = NULL, *part = NULL;
    const struct as_memory_desc want = {.allocator = "clCreateBuffer", .bytes = 4096, .node = -1};
    (void)unused;
    fake("");
    open_gpu(&o, 0);
    assert_null(o.dev.memory->part); /* not a CPU */
    assert_int_equal(o.dev.memory->alloc(&o.dev, &want, &whole, &err), AS_OK);
    assert_int_equal(as_cl_cpu_memory_ops.part(&o.dev, whole, 4000, 97, &part, &err), AS_USAGE);
    fake("nopart");
    assert_int_not_equal(as_cl_cpu_memory_ops.part(&o.dev, whole, 64, 64, &part, &err), AS_OK);
    assert_non_null(strstr(err.text, "clCreateSubBuffer"));
    assert_null(part);
    fake("");
    o.dev.memory->free(&o.dev, whole);
    close_gpu(&o);
}

static void test_build_log(void **unused)
{
    struct opened o;
    struct as_error err = {0};
    struct as_program *p = NULL;
    struct as_program_desc desc = {.name = "thing", .source = "KERNEL(x)(ARG_INDICES) {}"};
    (void)unused;
    fake("");
    open_gpu(&o, 0);
    fake("nobuild");
    assert_int_equal(o.dev.program->build(&o.dev, &desc, &p, &err), AS_FAILED);
    assert_null(p);
    assert_non_null(strstr(err.text, "'thing'"));
    assert_non_null(strstr(err.text, "CL_BUILD_PROGRAM_FAILURE"));
    assert_non_null(strstr(err.text, "line 7: error: too \xEF\xBF\xBD strange"));
    desc.source = NULL;
    assert_int_equal(o.dev.program->build(&o.dev, &desc, &p, &err), AS_UNSUPPORTED);
    close_gpu(&o);
}

static void test_kernels(void **unused)
{
    struct opened o;
    struct as_error err = {0};
    struct as_program *p = NULL;
    struct as_kernel *k = NULL;
    const struct as_program_desc desc = {.name = "thing", .source = "x"};
    const struct as_arg word = {.kind = AS_ARG_U32}, args[5] = {word, word, word, word, word};
    struct as_launch l = {.args = args, .args_n = 4, .workgroups = 1, .workgroup_size = 64, .reps = 3};
    struct as_timing t;
    (void)unused;
    fake("");
    open_gpu(&o, 0);
    check_ok(o.dev.program->build(&o.dev, &desc, &p, &err), &err);
    check_ok(o.dev.program->kernel(&o.dev, p, "there", &k, &err), &err);
    l.kernel = k;
    check_ok(o.dev.queue->launch(&o.dev, &l, &t, &err), &err);
    assert_true(isnan(t.device_s)); /* the stand-in's timestamps run backwards */
    l.args_n = 5;
    check_fails(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_FAILED, &err, "CL_INVALID_ARG_INDEX");
    o.dev.program->kernel_destroy(&o.dev, k);
    o.dev.program->destroy(&o.dev, p);
    close_gpu(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_and_uuid),
        cmocka_unit_test(test_driver_lies_about_sizes),
        cmocka_unit_test(test_cache_of_an_integrated_gpu),
        cmocka_unit_test(test_old_driver_has_no_svm),
        cmocka_unit_test(test_part_errors),
        cmocka_unit_test(test_build_log),
        cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
