/* The OpenCL backend against a stand-in library: order, hostile text, old drivers, errors by name. */
#include "device/device.h"
#include "device/opencl/opencl.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct as_backend as_backend_opencl;

struct opened {
    void *backend;
    struct as_device dev;
};

static void open_all(struct opened *o, size_t index)
{
    struct as_error err = {0};
    if (as_backend_opencl.open(&o->backend, &err))
        fail_msg("%s", err.text);
    if (as_backend_opencl.open_device(o->backend, index, &o->dev, &err))
        fail_msg("%s", err.text);
}

static void close_all(struct opened *o)
{
    o->dev.device->close(&o->dev);
    as_backend_opencl.close(o->backend);
}

static void fake(const char *words)
{
    setenv("FAKE_OPENCL", words, 1);
}

static void refuses_to_open(const char *words, enum as_status code, const char *text)
{
    struct as_error err = {0};
    void *backend = NULL;
    fake(words);
    assert_int_equal(as_backend_opencl.open(&backend, &err), code);
    assert_null(backend);
    if (!strstr(err.text, text))
        fail_msg("'%s' is not in '%s'", text, err.text);
}

static void test_no_platform(void **unused)
{
    (void)unused;
    refuses_to_open("none", AS_UNSUPPORTED, "no driver is registered");
    refuses_to_open("empty", AS_UNSUPPORTED, "none of them has a device");
}

static void test_order_is_pci(void **unused)
{
    static const char *const bus[] = {"0000:01:00.0", "0000:41:03.1", ""};
    (void)unused;
    fake("");
    for (size_t i = 0; i < 3; i++) {
        struct opened o;
        open_all(&o, i);
        assert_int_equal(as_backend_opencl.count(o.backend), 3);
        assert_string_equal(o.dev.info.bus_id, bus[i]);
        close_all(&o);
    }
}

static void test_text_and_uuid(void **unused)
{
    struct opened o;
    (void)unused;
    fake("");
    open_all(&o, 0);
    assert_string_equal(o.dev.info.uuid, "deadbeef-0102-0304-0506-0708090a0b0c");
    assert_string_equal(o.dev.info.name, "device without a name");
    assert_string_equal(o.dev.info.driver, "Fake\xEF\xBF\xBDPlatform ");
    assert_true(o.dev.info.capabilities & AS_CAP_FP16);
    assert_true(o.dev.info.capabilities & AS_CAP_DOT_4X8);
    close_all(&o);
    open_all(&o, 1); /* C0 AF is an overlong '/': two bytes that are no UTF-8 */
    assert_string_equal(o.dev.info.name, "\x1B[31mred \xEF\xBF\xBD\xEF\xBF\xBD end");
    close_all(&o);
    open_all(&o, 2); /* an extension whose name only begins like another is not that other */
    assert_string_equal(o.dev.info.name, "<script>alert(1)</script>");
    assert_false(o.dev.info.capabilities & (AS_CAP_FP16 | AS_CAP_DOT_4X8));
    close_all(&o);
}

/* What is not given is not taken for known, and nothing beyond what was asked for is read. */
static void test_driver_lies_about_sizes(void **unused)
{
    (void)unused;
    fake("lies");
    for (size_t i = 0; i < 3; i++) {
        struct opened o;
        open_all(&o, i);
        const struct as_device_info *info = &o.dev.info;
        assert_int_equal(as_backend_opencl.count(o.backend), 3);
        assert_string_equal(info->name, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        assert_string_equal(info->bus_id, "");
        assert_string_equal(info->uuid, "");
        assert_int_equal(info->compute_units, 0);
        assert_int_equal(info->memory_bytes, 0);
        close_all(&o);
    }
}

static void test_topology_is_json(void **unused)
{
    struct opened o;
    struct as_buf json = AS_BUF_INIT;
    struct as_error err = {0};
    (void)unused;
    fake("");
    open_all(&o, 2);
    assert_int_equal(o.dev.device->topology(&o.dev, &json, &err), AS_OK);
    assert_null(strstr(as_buf_get(&json), "<"));
    int depth = 0;
    for (const char *c = as_buf_get(&json); *c; c++)
        depth += *c == '{' || *c == '[' ? 1 : *c == '}' || *c == ']' ? -1 : 0;
    assert_int_equal(depth, 0);
    as_buf_finish(&json);
    close_all(&o);
}

/* The cache of a GPU is its own, also where its memory is the host's. */
static void test_cache_of_an_integrated_gpu(void **unused)
{
    struct opened o;
    struct as_buf json = AS_BUF_INIT;
    struct as_error err = {0};
    (void)unused;
    fake("unified");
    open_all(&o, 0);
    assert_true(o.dev.info.is_host_memory && !o.dev.info.is_host_cpu);
    assert_int_equal(o.dev.info.caches_n, 0); /* no level is told */
    assert_int_equal(o.dev.device->topology(&o.dev, &json, &err), AS_OK);
    assert_null(strstr(as_buf_get(&json), "\"L2\""));
    assert_null(strstr(as_buf_get(&json), "\"L3\""));
    as_buf_finish(&json);
    close_all(&o);
}

static void test_old_driver_has_no_svm(void **unused)
{
    struct opened o;
    struct as_error err = {0};
    struct as_memory *m = NULL;
    const struct as_memory_desc want = {.allocator = "clSVMAlloc fine", .bytes = 64, .node = -1};
    (void)unused;
    fake("");
    open_all(&o, 0);
    for (size_t i = 0; i < o.dev.info.allocators_n; i++) {
        const struct as_allocator *a = &o.dev.info.allocators[i];
        assert_int_equal(a->why_not[0] != 0, strncmp(a->name, "clSVMAlloc", 10) == 0);
    }
    assert_int_equal(o.dev.memory->alloc(&o.dev, &want, &m, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "clSVMAlloc"));
    assert_false(o.dev.info.capabilities & AS_CAP_SVM_ATOMICS);
    close_all(&o);
}

static void test_memory_errors(void **unused)
{
    struct opened o;
    struct as_error err = {0};
    struct as_memory *m = NULL;
    struct as_memory_desc want = {.allocator = "clCreateBuffer", .bytes = 64, .node = -1};
    double a, f;
    (void)unused;
    fake("");
    open_all(&o, 0);
    fake("nomem");
    assert_int_equal(o.dev.memory->alloc(&o.dev, &want, &m, &err), AS_NOMEM);
    assert_non_null(strstr(err.text, "CL_OUT_OF_RESOURCES"));
    assert_null(m);
    assert_int_equal(o.dev.memory->time_alloc(&o.dev, want.allocator, 64, 4, &a, &f, &err), AS_NOMEM);
    want.allocator = "clCreateBuffer USE_HOST_PTR";
    assert_int_equal(o.dev.memory->alloc(&o.dev, &want, &m, &err), AS_NOMEM);
    fake("");
    want.bytes = (1u << 18) + 1;
    assert_int_equal(o.dev.memory->alloc(&o.dev, &want, &m, &err), AS_UNSUPPORTED);
    want.bytes = 0;
    assert_int_equal(o.dev.memory->alloc(&o.dev, &want, &m, &err), AS_USAGE);
    want = (struct as_memory_desc){.allocator = "hipMalloc", .bytes = 1, .node = -1};
    assert_int_equal(o.dev.memory->alloc(&o.dev, &want, &m, &err), AS_USAGE);
    close_all(&o);
}

static void test_memory_bounds(void **unused)
{
    struct opened o;
    struct as_error err = {0};
    struct as_memory *m = NULL;
    const struct as_memory_desc want = {.allocator = "clCreateBuffer", .bytes = 64, .node = -1};
    char byte = 1;
    uint64_t before, during, after;
    (void)unused;
    fake("");
    open_all(&o, 0);
    assert_int_equal(o.dev.device->memory_free(&o.dev, &before, &err), AS_OK);
    assert_int_equal(o.dev.memory->alloc(&o.dev, &want, &m, &err), AS_OK);
    o.dev.device->memory_free(&o.dev, &during, &err);
    assert_int_equal(before - during, 64);
    assert_int_equal(o.dev.memory->write(&o.dev, m, 63, &byte, 1, &err), AS_OK);
    assert_int_equal(o.dev.memory->write(&o.dev, m, 64, &byte, 1, &err), AS_USAGE);
    assert_int_equal(o.dev.memory->read(&o.dev, m, UINT64_MAX, &byte, 2, &err), AS_USAGE);
    o.dev.memory->free(&o.dev, m);
    o.dev.device->memory_free(&o.dev, &after, &err);
    assert_int_equal(before, after);
    close_all(&o);
}

static void test_part_errors(void **unused)
{
    struct opened o;
    struct as_error err = {0};
    struct as_memory *whole = NULL, *part = NULL;
    const struct as_memory_desc want = {.allocator = "clCreateBuffer", .bytes = 4096, .node = -1};
    (void)unused;
    fake("");
    open_all(&o, 0);
    assert_null(o.dev.memory->part); /* no CPU */
    assert_int_equal(o.dev.memory->alloc(&o.dev, &want, &whole, &err), AS_OK);
    assert_int_equal(as_cl_cpu_memory_ops.part(&o.dev, whole, 4000, 97, &part, &err), AS_USAGE);
    fake("nopart");
    assert_int_not_equal(as_cl_cpu_memory_ops.part(&o.dev, whole, 64, 64, &part, &err), AS_OK);
    assert_non_null(strstr(err.text, "clCreateSubBuffer"));
    assert_null(part);
    fake("");
    o.dev.memory->free(&o.dev, whole);
    close_all(&o);
}

static void test_build_log(void **unused)
{
    struct opened o;
    struct as_error err = {0};
    struct as_program *p = NULL;
    struct as_program_desc desc = {.name = "thing", .source = "KERNEL(x)(ARG_INDICES) {}"};
    (void)unused;
    fake("");
    open_all(&o, 0);
    fake("nobuild");
    assert_int_equal(o.dev.program->build(&o.dev, &desc, &p, &err), AS_FAILED);
    assert_null(p);
    assert_non_null(strstr(err.text, "'thing'"));
    assert_non_null(strstr(err.text, "CL_BUILD_PROGRAM_FAILURE"));
    assert_non_null(strstr(err.text, "line 7: error: too \xEF\xBF\xBD strange"));
    desc.source = NULL;
    assert_int_equal(o.dev.program->build(&o.dev, &desc, &p, &err), AS_UNSUPPORTED);
    close_all(&o);
}

static void test_kernels(void **unused)
{
    struct opened o;
    struct as_error err = {0};
    struct as_program *p = NULL;
    struct as_kernel *k = NULL;
    const struct as_program_desc desc = {.name = "thing", .source = "x"};
    struct as_arg args[5] = {
        {.kind = AS_ARG_U32}, {.kind = AS_ARG_F64}, {.kind = AS_ARG_U64}, {.kind = AS_ARG_F32}, {.kind = AS_ARG_U32}};
    struct as_launch l = {.args = args, .args_n = 4, .workgroups = 1, .workgroup_size = 64, .reps = 3};
    struct as_timing t;
    (void)unused;
    fake("");
    open_all(&o, 0);
    assert_int_equal(o.dev.program->build(&o.dev, &desc, &p, &err), AS_OK);
    assert_true(o.dev.code.source != 0 && o.dev.code.binary == 0);
    assert_int_equal(o.dev.program->kernel(&o.dev, p, "nowhere", &k, &err), AS_FAILED);
    assert_non_null(strstr(err.text, "no kernel 'nowhere'"));
    assert_int_equal(o.dev.program->kernel(&o.dev, p, "there", &k, &err), AS_OK);
    l.kernel = k;
    assert_int_equal(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_OK);
    assert_true(isnan(t.device_s)); /* the stand-in's stamps run backwards */
    assert_true(t.host_s >= 0);
    l.workgroup_size = 65;
    assert_int_equal(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_UNSUPPORTED);
    l.workgroup_size = 64;
    l.args_n = 5;
    assert_int_equal(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_FAILED);
    assert_non_null(strstr(err.text, "CL_INVALID_ARG_INDEX"));
    l.args_n = 4;
    fake("norun");
    assert_int_equal(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_NOMEM);
    assert_non_null(strstr(err.text, "CL_OUT_OF_RESOURCES"));
    for (int how = AS_WAIT_BLOCK; how <= AS_WAIT_YIELD; how++) {
        assert_int_equal(o.dev.queue->submit(&o.dev, &l, &err), AS_OK);
        assert_int_equal(o.dev.queue->wait(&o.dev, (enum as_wait)how, &err), AS_NOMEM);
    }
    fake("");
    assert_int_equal(o.dev.queue->wait(&o.dev, AS_WAIT_SPIN, &err), AS_OK); /* nothing outstanding */
    o.dev.program->kernel_destroy(&o.dev, k);
    o.dev.program->destroy(&o.dev, p);
    close_all(&o);
}

static void test_unavailable(void **unused)
{
    struct as_error err = {0};
    struct as_device dev;
    void *backend = NULL;
    (void)unused;
    fake("off");
    assert_int_equal(as_backend_opencl.open(&backend, &err), AS_OK);
    assert_int_equal(as_backend_opencl.open_device(backend, 0, &dev, &err), AS_UNSUPPORTED);
    assert_int_equal(as_backend_opencl.open_device(backend, 7, &dev, &err), AS_NOTFOUND);
    fake("taken");
    assert_int_equal(as_backend_opencl.open_device(backend, 0, &dev, &err), AS_UNSUPPORTED);
    assert_string_equal(err.text,
                        "opencl: clCreateContext gave CL_DEVICE_NOT_AVAILABLE (-2): another process has it for "
                        "itself, or its mode keeps all out");
    as_backend_opencl.close(backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_platform),
        cmocka_unit_test(test_order_is_pci),
        cmocka_unit_test(test_text_and_uuid),
        cmocka_unit_test(test_driver_lies_about_sizes),
        cmocka_unit_test(test_topology_is_json),
        cmocka_unit_test(test_cache_of_an_integrated_gpu),
        cmocka_unit_test(test_old_driver_has_no_svm),
        cmocka_unit_test(test_memory_errors),
        cmocka_unit_test(test_memory_bounds),
        cmocka_unit_test(test_part_errors),
        cmocka_unit_test(test_build_log),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_unavailable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
