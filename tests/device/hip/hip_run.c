/* Programs of the HIP backend on a stand-in runtime that really runs them: built, launched one by one, in rows and as
 * graphs, waited for, copied around, and what is wrong with them said. */
#include "../gpu_tests.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

enum { GROUPS = 5, THREADS = 96, N = GROUPS * THREADS };

static const char source[] =
    /* each group turns its part round, through shared memory */
    "KERNEL(turn)(ARG_GLOBAL(0, u32, to), ARG_GLOBAL(1, const u32, from), ARG_VALUE(2, u32, add) ARG_INDICES)\n"
    "{\n"
    "    LOCAL u32 part[96];\n"
    "    part[THREAD] = from[GLOBAL_THREAD];\n"
    "    BARRIER();\n"
    "    to[GLOBAL_THREAD] = part[THREADS - 1 - THREAD] + add;\n"
    "}\n"
    "KERNEL(tick)(ARG_GLOBAL(0, atomic_u32, n) ARG_INDICES)\n"
    "{ ATOMIC_ADD(n, 1u, ORDER_RELAXED, SCOPE_DEVICE); }\n"
    "KERNEL(hear)(ARG_GLOBAL(0, atomic_u32, word) ARG_INDICES)\n"
    "{\n"
    "    for (u64 i = 0; i < 4000000000u && ATOMIC_LOAD(word, ORDER_ACQUIRE, SCOPE_SYSTEM) == 0; i++)\n"
    "        ;\n"
    "    ATOMIC_ADD(word, 1u, ORDER_ACQ_REL, SCOPE_SYSTEM);\n"
    "}\n"
    "#ifdef MORE\n"
    "KERNEL(more)(ARG_GLOBAL(0, f64, out), ARG_VALUE(1, f64, a), ARG_VALUE(2, u64, b) ARG_INDICES)\n"
    "{ out[GLOBAL_THREAD] = MORE * a + b; }\n"
    "#endif\n";

static struct opened o;
static struct as_program *program;
static struct as_memory *a, *b;

static struct as_memory *get(const char *allocator, uint64_t bytes)
{
    struct as_error err = {0};
    struct as_memory *m = NULL;
    const struct as_memory_desc want = {.allocator = allocator, .bytes = bytes, .node = -1};
    check_ok(o.dev.memory->alloc(&o.dev, &want, &m, &err), &err);
    return m;
}

static int setup(void **state)
{
    const struct as_program_desc desc = {.name = "run", .source = source, .defines = "-DMORE=2"};
    struct as_error err = {0};
    (void)state;
    fake("");
    open_card(&o, 0);
    check_ok(o.dev.program->build(&o.dev, &desc, &program, &err), &err);
    a = get("hipMalloc", 8 * N);
    b = get("hipHostMalloc", 8 * N);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    o.dev.memory->free(&o.dev, a);
    o.dev.memory->free(&o.dev, b);
    o.dev.program->destroy(&o.dev, program);
    close_card(&o);
    return 0;
}

static struct as_kernel *kernel(const char *name)
{
    struct as_kernel *k = NULL;
    struct as_error err = {0};
    check_ok(o.dev.program->kernel(&o.dev, program, name, &k, &err), &err);
    return k;
}

static void test_groups(void **state)
{
    static uint32_t in[N], out[N];
    struct as_kernel *k = kernel("turn");
    struct as_error err = {0};
    struct as_timing t;
    (void)state;
    for (uint32_t i = 0; i < N; i++)
        in[i] = i * 7;
    check_ok(o.dev.memory->write(&o.dev, b, 0, in, sizeof in, &err), &err);
    const struct as_arg args[] = {
        {AS_ARG_MEMORY, {.memory = a}}, {AS_ARG_MEMORY, {.memory = b}}, {AS_ARG_U32, {.u32 = 9}}};
    const struct as_launch l = {
        .kernel = k, .args = args, .args_n = 3, .workgroups = GROUPS, .workgroup_size = THREADS, .reps = 2};
    check_ok(o.dev.queue->launch(&o.dev, &l, &t, &err), &err);
    assert_true(t.host_s > 0 && t.device_s > 0 && t.device_s <= t.host_s && isnan(t.cycles));
    check_ok(o.dev.memory->read(&o.dev, a, 0, out, sizeof out, &err), &err);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(out[i], (i / THREADS * THREADS + THREADS - 1 - i % THREADS) * 7 + 9);
    o.dev.program->kernel_destroy(&o.dev, k);
}

static void test_kinds_of_numbers(void **state)
{
    static double out[N];
    struct as_kernel *k = kernel("more");
    struct as_error err = {0};
    struct as_timing t;
    (void)state;
    const struct as_arg args[] = {
        {AS_ARG_MEMORY, {.memory = a}}, {AS_ARG_F64, {.f64 = 0.25}}, {AS_ARG_U64, {.u64 = UINT64_C(1) << 40}}};
    const struct as_launch l = {
        .kernel = k, .args = args, .args_n = 3, .workgroups = GROUPS, .workgroup_size = THREADS, .reps = 1};
    check_ok(o.dev.queue->launch(&o.dev, &l, &t, &err), &err);
    check_ok(o.dev.memory->read(&o.dev, a, 0, out, sizeof out, &err), &err);
    for (uint32_t i = 0; i < N; i++)
        assert_true(out[i] == 0.5 + (double)(UINT64_C(1) << 40));
    o.dev.program->kernel_destroy(&o.dev, k);
}

/* Each launch counts once a work-item, whether it comes alone, in a row or in a graph. */
static void test_counts(void **state)
{
    static const unsigned flags[] = {0, AS_LAUNCH_GRAPH};
    struct as_kernel *k = kernel("tick");
    struct as_error err = {0};
    struct as_timing t;
    uint32_t n = 0;
    (void)state;
    check_ok(o.dev.memory->write(&o.dev, a, 0, &n, sizeof n, &err), &err);
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = a}}};
    struct as_launch l = {.kernel = k, .args = args, .args_n = 1, .workgroups = 3, .workgroup_size = 65, .reps = 7};
    for (size_t i = 0; i < 2; i++) {
        l.flags = flags[i];
        check_ok(o.dev.queue->launch(&o.dev, &l, &t, &err), &err);
    }
    l.flags = 0;
    for (enum as_wait how = AS_WAIT_BLOCK; how <= AS_WAIT_YIELD; how++) {
        check_ok(o.dev.queue->submit(&o.dev, &l, &err), &err);
        check_ok(o.dev.queue->wait(&o.dev, how, &err), &err);
    }
    check_ok(o.dev.memory->read(&o.dev, a, 0, &n, sizeof n, &err), &err);
    assert_int_equal(n, 5 * 7 * 3 * 65);
    o.dev.program->kernel_destroy(&o.dev, k);
}

/* Each further queue does its own, and none waits for another: the first one's kernel ends when the second's has run.
 */
static void test_further_queues(void **state)
{
    struct as_kernel *hear = kernel("hear"), *tick = kernel("tick");
    struct as_error err = {0};
    const struct as_queue_ops *q = o.dev.queue;
    uint32_t word = 0;
    (void)state;
    assert_true(o.dev.info.capabilities & AS_CAP_QUEUES);
    check_ok(q->queues(&o.dev, 3, 1, &err), &err);
    check_ok(o.dev.memory->write(&o.dev, b, 0, &word, sizeof word, &err), &err);
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = b}}};
    struct as_launch l = {
        .kernel = hear, .args = args, .args_n = 1, .workgroups = 1, .workgroup_size = 1, .reps = 1, .queue = 1};
    check_ok(q->submit(&o.dev, &l, &err), &err);
    l.kernel = tick, l.queue = 3;
    check_ok(q->submit(&o.dev, &l, &err), &err);
    check_ok(q->wait_queue(&o.dev, 3, &err), &err);
    check_ok(q->wait_queue(&o.dev, 1, &err), &err);
    check_ok(o.dev.memory->read(&o.dev, b, 0, &word, sizeof word, &err), &err);
    assert_int_equal(word, 2);
    l.queue = 4;
    check_fails(q->submit(&o.dev, &l, &err), AS_USAGE, &err, "there is no queue 4, the last is 3");
    fake("equal");
    check_fails(q->queues(&o.dev, 2, 1, &err), AS_UNSUPPORTED, &err, "the device has no priorities");
    check_ok(q->queues(&o.dev, AS_QUEUES_MAX, 0, &err), &err);
    check_ok(q->queues(&o.dev, 0, 0, &err), &err);
    fake("");
    o.dev.program->kernel_destroy(&o.dev, hear);
    o.dev.program->kernel_destroy(&o.dev, tick);
}

/* The host goes on while a kernel runs, and each sees what the other stores. */
static void test_runs_beside_the_host(void **state)
{
    struct as_kernel *k = kernel("hear");
    struct as_error err = {0};
    (void)state;
    check_ok(o.dev.memory->map(&o.dev, b, &err), &err);
    uint32_t *word = b->host;
    *word = 0;
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = b}}};
    const struct as_launch l = {
        .kernel = k, .args = args, .args_n = 1, .workgroups = 1, .workgroup_size = 1, .reps = 1};
    check_ok(o.dev.queue->submit(&o.dev, &l, &err), &err);
    __atomic_store_n(word, 41, __ATOMIC_RELEASE);
    check_ok(o.dev.queue->wait(&o.dev, AS_WAIT_BLOCK, &err), &err);
    assert_int_equal(__atomic_load_n(word, __ATOMIC_ACQUIRE), 42);
    check_ok(o.dev.memory->unmap(&o.dev, b, &err), &err);
    o.dev.program->kernel_destroy(&o.dev, k);
}

static void test_kernel_info(void **state)
{
    struct as_kernel *k = kernel("turn");
    struct as_kernel_info info;
    struct as_error err = {0};
    double hz[15];
    uint64_t n = 0;
    (void)state;
    check_ok(o.dev.program->kernel_info(&o.dev, k, THREADS, 0, &info, &err), &err);
    assert_int_equal(info.max_threads, 1024);
    assert_int_equal(info.resident_workgroups, 16);
    assert_true(info.code_bytes > 8 && info.code_bytes < 4096);
    assert_true(o.dev.code.source != 0 && o.dev.code.binary != 0);
    /* the stand-in's code is the host's, and no AMD chip's */
    check_fails(o.dev.program->count(&o.dev, k, "any", &n, &err), AS_UNSUPPORTED, &err, "for another chip");
    check_fails(o.dev.program->count(&o.dev, k, "fma.f128", &n, &err), AS_USAGE, &err, "'fma.f128'");
    /* Between timer and counter a thread of the host may lose its CPU: in few of many readings. */
    for (size_t i = 0; i < sizeof hz / sizeof *hz; i++)
        check_ok(o.dev.device->clock(&o.dev, &hz[i], &err), &err);
    assert_true(fabs(as_median(hz, sizeof hz / sizeof *hz) - 1.5e9) < 1.5e8);
    o.dev.program->kernel_destroy(&o.dev, k);
}

static void test_what_is_wrong(void **state)
{
    const struct as_program_desc broken = {.name = "broken",
                                           .source = "KERNEL(k)(ARG_GLOBAL(0, u32, p)) { p = nothing; }"};
    const struct as_program_desc native = {.name = "native"};
    struct as_program *p = NULL;
    struct as_kernel *k = NULL;
    struct as_error err = {0};
    struct as_timing t;
    (void)state;
    check_fails(o.dev.program->build(&o.dev, &broken, &p, &err), AS_FAILED, &err, "nothing");
    check_fails(o.dev.program->build(&o.dev, &native, &p, &err), AS_UNSUPPORTED, &err, "no device source");
    check_fails(o.dev.program->kernel(&o.dev, program, "absent", &k, &err), AS_FAILED, &err, "has no kernel 'absent'");
    assert_null(k);
    k = kernel("tick");
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = a}}};
    struct as_launch l = {.kernel = k, .args = args, .args_n = 1, .workgroups = 1, .workgroup_size = 1025, .reps = 1};
    check_fails(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_UNSUPPORTED, &err, "allows 1024");
    l.workgroup_size = 1, l.shared_bytes = (64 << 10) + 1;
    check_fails(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_UNSUPPORTED, &err, "bytes of shared memory");
    l.shared_bytes = 0, l.workgroups = 0;
    check_fails(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_USAGE, &err, "must be at least 1");
    o.dev.program->kernel_destroy(&o.dev, k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_kinds_of_numbers),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_further_queues),
        cmocka_unit_test(test_runs_beside_the_host),
        cmocka_unit_test(test_kernel_info),
        cmocka_unit_test(test_what_is_wrong),
    };
    setenv("ASSAY_CACHE", "off", 1);
    return cmocka_run_group_tests(tests, setup, teardown);
}
