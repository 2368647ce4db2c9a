/* The OpenCL backend on whatever driver this machine has (PoCL on one without a GPU); skipped where there is none. */
#include "../check.h"
#include "device/device.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct as_backend as_backend_opencl;
static void *backend;
static struct as_device dev;

enum { N = 4096, SKIPPED = 77 };

static const char source[] = "KERNEL(scale)(ARG_GLOBAL(0, u32, p), ARG_VALUE(1, u32, by), ARG_VALUE(2, u64, add) "
                             "ARG_INDICES)\n"
                             "{\n"
                             "    u64 i = GLOBAL_THREAD;\n"
                             "    p[i] = p[i] * by + (u32)(add >> 32) + BIAS;\n"
                             "}\n"
                             "KERNEL(count)(ARG_GLOBAL(0, atomic_u32, p) ARG_INDICES)\n"
                             "{\n"
                             "    LOCAL u32 seen[64];\n"
                             "    seen[THREAD] = GROUP;\n"
                             "    BARRIER();\n"
                             "    if (seen[THREADS - 1 - THREAD] == GROUP)\n"
                             "        ATOMIC_ADD(&p[0], 1u, ORDER_RELAXED, SCOPE_DEVICE);\n"
                             "    ATOMIC_MAX(&p[1], (u32)GLOBAL_THREAD, ORDER_RELAXED, SCOPE_DEVICE);\n"
                             "    if (GLOBAL_THREAD == 0)\n"
                             "        ATOMIC_STORE(&p[2], GROUPS * THREADS, ORDER_RELAXED, SCOPE_DEVICE);\n"
                             "}\n";

static void must(enum as_status s, const struct as_error *err)
{
    if (s)
        fail_msg("%s", err->text);
}

static struct as_program *build(const char *defines)
{
    struct as_error err = {0};
    struct as_program *p = NULL;
    const struct as_program_desc desc = {.name = "test", .source = source, .defines = defines};
    must(dev.program->build(&dev, &desc, &p, &err), &err);
    return p;
}

static struct as_kernel *kernel(struct as_program *p, const char *name)
{
    struct as_error err = {0};
    struct as_kernel *k = NULL;
    must(dev.program->kernel(&dev, p, name, &k, &err), &err);
    return k;
}

static void test_record_is_whole(void **unused)
{
    struct as_error err = {0};
    (void)unused;
    must(as_backend_check(&as_backend_opencl, &err), &err);
    must(as_device_check(&dev, &err), &err);
    assert_true(dev.info.memory_free > 0 && dev.info.memory_free <= dev.info.memory_bytes);
    assert_true(dev.info.compute_units > 0 && dev.info.threads > 0 && dev.info.warp > 0);
    assert_true(dev.info.allocators_n == 5);
}

/* Every allocator: what the host writes the kernel changes and the host reads, through calls and through a map. */
static void test_every_allocator(void **unused)
{
    struct as_error err = {0};
    struct as_program *p = build("-DBIAS=5");
    struct as_kernel *k = kernel(p, "scale");
    (void)unused;
    for (size_t a = 0; a < dev.info.allocators_n; a++) {
        const struct as_allocator *how = &dev.info.allocators[a];
        if (how->why_not[0])
            continue;
        struct as_memory *m = NULL;
        const struct as_memory_desc want = {.allocator = how->name, .bytes = N * 4, .node = -1};
        must(dev.memory->alloc(&dev, &want, &m, &err), &err);
        uint32_t in[N], out[N];
        for (uint32_t i = 0; i < N; i++)
            in[i] = i * 2654435761u;
        must(dev.memory->write(&dev, m, 0, in, sizeof in, &err), &err);
        const struct as_arg args[] = {{.kind = AS_ARG_MEMORY, .u.memory = m},
                                      {.kind = AS_ARG_U32, .u.u32 = 3},
                                      {.kind = AS_ARG_U64, .u.u64 = UINT64_C(7) << 32}};
        const struct as_launch l = {
            .kernel = k, .args = args, .args_n = 3, .workgroups = N / 64, .workgroup_size = 64, .reps = 2};
        struct as_timing t;
        must(dev.queue->launch(&dev, &l, &t, &err), &err);
        assert_true(t.host_s > 0 && (isnan(t.device_s) || t.device_s > 0));
        must(dev.memory->read(&dev, m, 0, out, sizeof out, &err), &err);
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(out[i], (in[i] * 3 + 12) * 3 + 12);
        must(dev.memory->map(&dev, m, &err), &err);
        assert_memory_equal(m->host, out, sizeof out);
        memset(m->host, 0, sizeof out);
        must(dev.memory->unmap(&dev, m, &err), &err);
        must(dev.memory->read(&dev, m, sizeof out - 4, out, 4, &err), &err);
        assert_int_equal(out[0], 0);
        dev.memory->free(&dev, m);
    }
    dev.program->kernel_destroy(&dev, k);
    dev.program->destroy(&dev, p);
}

/* Every queue's launches are done when it was waited for, and a queue that is not there is refused. */
static void test_further_queues(void **unused)
{
    struct as_error err = {0};
    struct as_program *p = build("-DBIAS=0");
    struct as_kernel *k = kernel(p, "count");
    struct as_memory *m[4] = {NULL};
    const struct as_memory_desc want = {.allocator = "clCreateBuffer", .bytes = 64, .node = -1};
    const uint32_t zeros[16] = {0};
    uint32_t values[16];
    (void)unused;
    must(dev.queue->queues(&dev, 3, 0, &err), &err);
    for (unsigned q = 1; q <= 4; q++) {
        must(dev.memory->alloc(&dev, &want, &m[q - 1], &err), &err);
        must(dev.memory->write(&dev, m[q - 1], 0, zeros, sizeof zeros, &err), &err);
        const struct as_arg arg = {.kind = AS_ARG_MEMORY, .u.memory = m[q - 1]};
        const struct as_launch l = {
            .kernel = k, .args = &arg, .args_n = 1, .workgroups = 10, .workgroup_size = 64, .reps = q, .queue = q};
        if (q == 4)
            check_fails(dev.queue->submit(&dev, &l, &err), AS_USAGE, &err, "there is no queue 4, the last is 3");
        else
            must(dev.queue->submit(&dev, &l, &err), &err);
    }
    for (unsigned q = 1; q <= 4; q++) {
        if (q < 4)
            must(dev.queue->wait_queue(&dev, q, &err), &err);
        must(dev.memory->read(&dev, m[q - 1], 0, values, sizeof values, &err), &err);
        assert_int_equal(values[0], q < 4 ? q * 640 : 0);
        dev.memory->free(&dev, m[q - 1]);
    }
    check_fails(dev.queue->wait_queue(&dev, 4, &err), AS_USAGE, &err, "there is no queue 4");
    check_fails(dev.queue->queues(&dev, AS_QUEUES_MAX + 1, 0, &err), AS_USAGE, &err, "at most 128");
    must(dev.queue->queues(&dev, 0, 0, &err), &err);
    check_fails(dev.queue->wait_queue(&dev, 1, &err), AS_USAGE, &err, "there is no queue 1");
    dev.program->kernel_destroy(&dev, k);
    dev.program->destroy(&dev, p);
}

/* A part is the whole's memory, for the host and for kernels; the whole survives it. */
static void test_parts(void **unused)
{
    enum { WHOLE = 4 << 20, AT = 2 << 20, BYTES = 64 };
    struct as_error err = {0};
    struct as_program *p = build("-DBIAS=0");
    struct as_kernel *k = kernel(p, "count");
    const uint32_t zeros[BYTES / 4] = {0};
    (void)unused;
    for (size_t i = 0; i < dev.info.allocators_n && dev.memory->part; i++) {
        struct as_memory *whole = NULL, *part = NULL;
        const struct as_memory_desc want = {.allocator = dev.info.allocators[i].name, .bytes = WHOLE, .node = -1};
        uint32_t values[BYTES / 4];
        if (dev.info.allocators[i].why_not[0])
            continue;
        must(dev.memory->alloc(&dev, &want, &whole, &err), &err);
        must(dev.memory->part(&dev, whole, AT, BYTES, &part, &err), &err);
        must(dev.memory->write(&dev, part, 0, zeros, BYTES, &err), &err);
        const struct as_arg arg = {.kind = AS_ARG_MEMORY, .u.memory = part};
        const struct as_launch l = {
            .kernel = k, .args = &arg, .args_n = 1, .workgroups = 10, .workgroup_size = 64, .reps = 2};
        must(dev.queue->submit(&dev, &l, &err), &err);
        must(dev.queue->wait(&dev, AS_WAIT_BLOCK, &err), &err);
        check_fails(dev.memory->write(&dev, part, BYTES, zeros, 1, &err), AS_USAGE, &err, "");
        dev.memory->free(&dev, part);
        must(dev.memory->read(&dev, whole, AT, values, BYTES, &err), &err);
        assert_int_equal(values[0], 2 * 640);
        dev.memory->free(&dev, whole);
    }
    dev.program->kernel_destroy(&dev, k);
    dev.program->destroy(&dev, p);
}

static void test_groups_and_atomics(void **unused)
{
    struct as_error err = {0};
    struct as_program *p = build("-DBIAS=0");
    struct as_kernel *k = kernel(p, "count");
    struct as_memory *m = NULL;
    const struct as_memory_desc want = {.allocator = "clCreateBuffer", .bytes = 64, .node = -1};
    uint32_t values[16] = {0};
    (void)unused;
    must(dev.memory->alloc(&dev, &want, &m, &err), &err);
    must(dev.memory->write(&dev, m, 0, values, sizeof values, &err), &err);
    const struct as_arg arg = {.kind = AS_ARG_MEMORY, .u.memory = m};
    const struct as_launch l = {
        .kernel = k, .args = &arg, .args_n = 1, .workgroups = 10, .workgroup_size = 64, .reps = 5};
    for (int how = AS_WAIT_BLOCK; how <= AS_WAIT_YIELD; how++) {
        must(dev.queue->submit(&dev, &l, &err), &err);
        must(dev.queue->wait(&dev, (enum as_wait)how, &err), &err);
    }
    must(dev.memory->read(&dev, m, 0, values, sizeof values, &err), &err);
    assert_int_equal(values[0], 3 * 5 * 640);
    assert_int_equal(values[1], 639);
    assert_int_equal(values[2], 640);
    dev.memory->free(&dev, m);
    dev.program->kernel_destroy(&dev, k);
    dev.program->destroy(&dev, p);
}

static struct as_code_identity code_of(const char *defines)
{
    dev.code = (struct as_code_identity){0};
    dev.program->destroy(&dev, build(defines));
    assert_int_equal(dev.code.programs, 1);
    return dev.code;
}

/* The same source and options are one program; other options are another. */
static void test_programs_are_kept(void **unused)
{
    struct as_code_identity a = code_of("-DBIAS=5"), b = code_of("-DBIAS=5"), c = code_of("-DBIAS=6");
    (void)unused;
    assert_true(a.source == b.source && a.source != c.source && a.source != 0);
    assert_true(a.binary == b.binary && (a.binary == 0 || a.binary != c.binary));
}

static void test_compiler_is_heard(void **unused)
{
    struct as_error err = {0};
    struct as_program *p = NULL;
    const struct as_program_desc desc = {.name = "wrong", .source = "KERNEL(x)(ARG_INDICES) { undeclared_thing = 1; }"};
    (void)unused;
    assert_int_equal(dev.program->build(&dev, &desc, &p, &err), AS_FAILED);
    assert_null(p);
    assert_non_null(strstr(err.text, "'wrong'"));
    assert_non_null(strstr(err.text, "undeclared_thing"));
}

static void test_alloc_is_timed(void **unused)
{
    struct as_error err = {0};
    (void)unused;
    for (size_t a = 0; a < dev.info.allocators_n; a++) {
        double alloc_s = -1, free_s = -1;
        if (dev.info.allocators[a].why_not[0])
            continue;
        must(dev.memory->time_alloc(&dev, dev.info.allocators[a].name, 4096, 10, &alloc_s, &free_s, &err), &err);
        assert_true(alloc_s > 0 && free_s > 0);
    }
}

/* More launches than are kept outstanding. */
static void test_many_launches(void **unused)
{
    struct as_error err = {0};
    struct as_program *p = build("-DBIAS=0");
    struct as_kernel *k = kernel(p, "count");
    struct as_memory *m = NULL;
    const struct as_memory_desc want = {.allocator = "clCreateBuffer", .bytes = 64, .node = -1};
    uint32_t values[16] = {0};
    struct as_timing t;
    (void)unused;
    must(dev.memory->alloc(&dev, &want, &m, &err), &err);
    must(dev.memory->write(&dev, m, 0, values, sizeof values, &err), &err);
    const struct as_arg arg = {.kind = AS_ARG_MEMORY, .u.memory = m};
    const struct as_launch l = {
        .kernel = k, .args = &arg, .args_n = 1, .workgroups = 1, .workgroup_size = 1, .reps = 5000};
    must(dev.queue->launch(&dev, &l, &t, &err), &err);
    must(dev.memory->read(&dev, m, 0, values, sizeof values, &err), &err);
    assert_int_equal(values[0], 5000);
    assert_true(isnan(t.device_s) || t.device_s <= t.host_s * 1.5);
    dev.memory->free(&dev, m);
    dev.program->kernel_destroy(&dev, k);
    dev.program->destroy(&dev, p);
}

static struct as_memory *filled(const char *allocator, uint32_t first)
{
    struct as_error err = {0};
    struct as_memory *m = NULL;
    uint32_t words[N];
    const struct as_memory_desc want = {.allocator = allocator, .bytes = sizeof words, .node = -1};
    for (uint32_t i = 0; i < N; i++)
        words[i] = (first + i) * 2654435761u;
    must(dev.memory->alloc(&dev, &want, &m, &err), &err);
    must(dev.memory->write(&dev, m, 0, words, sizeof words, &err), &err);
    return m;
}

static void holds(struct as_memory *m, uint32_t first, uint64_t bytes)
{
    struct as_error err = {0};
    uint32_t words[N];
    must(dev.memory->read(&dev, m, 0, words, sizeof words, &err), &err);
    for (uint32_t i = 0; i < bytes / 4; i++)
        assert_int_equal(words[i], (first + i) * 2654435761u);
}

/* Between every two kinds of memory, one way and both ways; what no command can do says so. */
static void test_copies(void **unused)
{
    const size_t kinds = dev.info.allocators_n;
    unsigned done = 0;
    (void)unused;
    for (size_t i = 0; i < 2 * kinds * kinds; i++) {
        const struct as_allocator *a = &dev.info.allocators[i / 2 / kinds], *b = &dev.info.allocators[i / 2 % kinds];
        bool both = i % 2;
        struct as_error err = {0};
        struct as_timing t;
        if (a->why_not[0] || b->why_not[0])
            continue;
        struct as_memory *m[4] = {filled(a->name, 1), filled(b->name, 20000), filled(b->name, 40000),
                                  filled(a->name, 60000)};
        const struct as_copy copy = {.to = m[1],
                                     .from = m[0],
                                     .back_to = both ? m[3] : NULL,
                                     .back_from = both ? m[2] : NULL,
                                     .bytes = N * 2,
                                     .reps = 3};
        enum as_status s = dev.queue->copy(&dev, &copy, &t, &err);
        if (s == AS_UNSUPPORTED) {
            assert_true(strstr(err.text, "no command copies") || strstr(err.text, "clEnqueueSVMMemcpy"));
        } else {
            must(s, &err);
            assert_true(t.host_s > 0 && (isnan(t.device_s) || t.device_s > 0));
            holds(m[1], 1, N * 2);
            holds(m[3], both ? 40000 : 60000, N * 2);
            done++;
        }
        for (size_t k = 0; k < 4; k++)
            dev.memory->free(&dev, m[k]);
    }
    assert_true(done >= 2 * 3 * 3); /* all buffers */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record_is_whole),    cmocka_unit_test(test_every_allocator),
        cmocka_unit_test(test_groups_and_atomics), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_further_queues),     cmocka_unit_test(test_programs_are_kept),
        cmocka_unit_test(test_compiler_is_heard),  cmocka_unit_test(test_alloc_is_timed),
        cmocka_unit_test(test_many_launches),      cmocka_unit_test(test_copies),
    };
    struct as_error err = {0};
    if (as_backend_opencl.open(&backend, &err) || as_backend_opencl.open_device(backend, 0, &dev, &err)) {
        printf("skipped: %s\n", err.text);
        return SKIPPED;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dev.device->close(&dev);
    as_backend_opencl.close(backend);
    return failed;
}
