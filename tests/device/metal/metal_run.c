/* Programs of the Metal backend on the stand-in, which really runs them: built, launched one by one and in rows, waited
 * for, copied around. */
#include "../gpu_tests.h"

#include <math.h>
#include <stdlib.h>

enum { GROUPS = 5, THREADS = 96, N = GROUPS * THREADS };

static const char source[] =
    /* each group turns its part round, through threadgroup memory */
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
    "KERNEL(numbers)(ARG_GLOBAL(0, u64, out), ARG_VALUE(1, u64, a), ARG_VALUE(2, f32, b), ARG_VALUE(3, u32, c) "
    "ARG_INDICES)\n"
    "{ out[GLOBAL_THREAD] = (a >> 8) + (u64)(b * 4.0f) + c + MORE; }\n";

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
    const struct as_program_desc desc = {.name = "run", .source = source, .defines = "-DMORE=2 -DUNUSED"};
    struct as_error err = {0};
    (void)state;
    fake("");
    open_card(&o, 0);
    check_ok(o.dev.program->build(&o.dev, &desc, &program, &err), &err);
    a = get("MTLStorageModePrivate", 8 * N);
    b = get("MTLStorageModeShared", 8 * N);
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

/* A pipeline tells its threadgroup memory, and how many threads its registers allow. */
static void test_kernel_info(void **state)
{
    struct as_kernel *const kernels[] = {kernel("turn"), kernel("tick")};
    static const uint64_t shared[] = {96 * 4, 0};
    struct as_kernel_info info;
    struct as_error err = {0};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        check_ok(o.dev.program->kernel_info(&o.dev, kernels[i], 64, 0, &info, &err), &err);
        assert_int_equal(info.shared_bytes, shared[i]);
        assert_int_equal(info.max_threads, 1024);
        assert_int_equal(info.registers + info.resident_workgroups, 0); /* unknown */
    }
    fake("registers");
    check_ok(o.dev.program->kernel_info(&o.dev, kernels[1], 64, 0, &info, &err), &err);
    assert_int_equal(info.max_threads, 448);
    fake("");
    for (size_t i = 0; i < 2; i++)
        o.dev.program->kernel_destroy(&o.dev, kernels[i]);
}

static void test_kinds_of_numbers(void **state)
{
    static uint64_t out[N];
    struct as_kernel *k = kernel("numbers");
    struct as_error err = {0};
    struct as_timing t;
    (void)state;
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = a}},
                                  {AS_ARG_U64, {.u64 = UINT64_C(1) << 48}},
                                  {AS_ARG_F32, {.f32 = 0.25F}},
                                  {AS_ARG_U32, {.u32 = 1000}}};
    const struct as_launch l = {
        .kernel = k, .args = args, .args_n = 4, .workgroups = GROUPS, .workgroup_size = THREADS, .reps = 1};
    check_ok(o.dev.queue->launch(&o.dev, &l, &t, &err), &err);
    check_ok(o.dev.memory->read(&o.dev, a, 0, out, sizeof out, &err), &err);
    for (uint32_t i = 0; i < N; i++)
        assert_true(out[i] == (UINT64_C(1) << 40) + 1003);
    o.dev.program->kernel_destroy(&o.dev, k);
}

static void check_count(struct as_memory *m, uint32_t expected)
{
    struct as_error err = {0};
    uint32_t n = 0;
    check_ok(o.dev.memory->read(&o.dev, m, 0, &n, sizeof n, &err), &err);
    assert_int_equal(n, expected);
    n = 0;
    check_ok(o.dev.memory->write(&o.dev, m, 0, &n, sizeof n, &err), &err);
}

/* Each launch counts once per thread: few, more than a command buffer holds, more than a queue holds, whatever waits.
 */
static void test_counts(void **state)
{
    static const uint64_t reps[] = {1, 7, 1500, 40000};
    struct as_kernel *k = kernel("tick");
    struct as_error err = {0};
    struct as_timing t;
    (void)state;
    check_ok(o.dev.memory->map(&o.dev, a, &err), &err);
    memset(a->host, 0, 4);
    check_ok(o.dev.memory->unmap(&o.dev, a, &err), &err);
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = a}}};
    struct as_launch l = {.kernel = k, .args = args, .args_n = 1, .workgroups = 1, .workgroup_size = 1};
    for (size_t i = 0; i < sizeof reps / sizeof *reps; i++) {
        l.reps = reps[i];
        check_ok(o.dev.queue->launch(&o.dev, &l, &t, &err), &err);
        check_count(a, (uint32_t)reps[i]);
    }
    l.workgroups = 3, l.workgroup_size = 65, l.reps = 7;
    for (enum as_wait how = AS_WAIT_BLOCK; how <= AS_WAIT_YIELD; how++) {
        check_ok(o.dev.queue->submit(&o.dev, &l, &err), &err);
        check_ok(o.dev.queue->wait(&o.dev, how, &err), &err);
        check_count(a, 7 * 3 * 65);
    }
    l.reps = 1;
    for (unsigned i = 0; i < 200; i++)
        check_ok(o.dev.queue->submit(&o.dev, &l, &err), &err);
    check_count(a, 200 * 3 * 65); /* a read comes after all that was submitted */
    check_ok(o.dev.queue->wait(&o.dev, AS_WAIT_BLOCK, &err), &err);
    o.dev.program->kernel_destroy(&o.dev, k);
}

/* The device's time is from the first command buffer's start to the last one's end, copies in both directions too. */
static void test_device_time(void **state)
{
    struct as_kernel *k = kernel("tick");
    struct as_error err = {0};
    struct as_timing t;
    (void)state;
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = a}}};
    struct as_launch l = {.kernel = k, .args = args, .args_n = 1, .workgroups = 1, .workgroup_size = 1, .reps = 1};
    fake("scripted");
    check_ok(o.dev.queue->launch(&o.dev, &l, &t, &err), &err);
    assert_float_equal(t.device_s, 0.5, 1e-9);
    l.reps = 1025; /* three command buffers */
    check_ok(o.dev.queue->launch(&o.dev, &l, &t, &err), &err);
    assert_float_equal(t.device_s, 2.5, 1e-9);
    l.reps = 100 * 512; /* more than a queue holds */
    check_ok(o.dev.queue->launch(&o.dev, &l, &t, &err), &err);
    assert_float_equal(t.device_s, 99.5, 1e-9);
    struct as_memory *const other[] = {get("MTLStorageModePrivate", 64), get("MTLStorageModeShared", 64)};
    const struct as_copy c = {.to = a, .from = b, .back_to = other[1], .back_from = other[0], .bytes = 64, .reps = 1};
    check_ok(o.dev.queue->copy(&o.dev, &c, &t, &err), &err);
    for (int i = 0; i < 2; i++)
        o.dev.memory->free(&o.dev, other[i]);
    assert_float_equal(t.device_s, 1.5, 1e-9);
    fake("");
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
    check_ok(q->queues(&o.dev, 3, 0, &err), &err);
    check_ok(o.dev.memory->write(&o.dev, b, 0, &word, sizeof word, &err), &err);
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = b}}};
    struct as_launch l = {
        .kernel = hear, .args = args, .args_n = 1, .workgroups = 1, .workgroup_size = 1, .reps = 1, .queue = 1};
    check_ok(q->submit(&o.dev, &l, &err), &err);
    l.kernel = tick, l.queue = 3;
    check_ok(q->submit(&o.dev, &l, &err), &err);
    check_ok(q->wait_queue(&o.dev, 3, &err), &err);
    check_ok(q->wait_queue(&o.dev, 1, &err), &err);
    check_count(b, 2);
    l.queue = 4;
    check_fails(q->submit(&o.dev, &l, &err), AS_USAGE, &err, "there is no queue 4, the last is 3");
    check_fails(q->wait_queue(&o.dev, 4, &err), AS_USAGE, &err, "there is no queue 4");
    check_fails(q->queues(&o.dev, 2, 1, &err), AS_UNSUPPORTED, &err, "no priorities");
    check_fails(q->queues(&o.dev, AS_QUEUES_MAX + 1, 0, &err), AS_USAGE, &err, "at most 128");
    fake("noqueue");
    check_fails(q->queues(&o.dev, 2, 0, &err), AS_FAILED, &err, "made no queue");
    fake("");
    check_ok(q->queues(&o.dev, AS_QUEUES_MAX, 0, &err), &err);
    check_ok(q->queues(&o.dev, 0, 0, &err), &err);
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

static void test_what_is_wrong(void **state)
{
    const struct as_program_desc broken = {.name = "broken",
                                           .source = "KERNEL(k)(ARG_GLOBAL(0, u32, p)) { p = nothing; }"};
    const struct as_program_desc native = {.name = "native"};
    const struct as_program_desc odd = {.name = "odd", .source = source, .defines = "-DMORE=2 -O3"};
    struct as_program *p = NULL;
    struct as_kernel *k = NULL;
    struct as_error err = {0};
    struct as_timing t;
    (void)state;
    check_fails(o.dev.program->build(&o.dev, &broken, &p, &err), AS_FAILED, &err, "nothing");
    check_fails(o.dev.program->build(&o.dev, &native, &p, &err), AS_UNSUPPORTED, &err, "no device source");
    check_fails(o.dev.program->build(&o.dev, &odd, &p, &err), AS_USAGE, &err, "'-O3' is no definition");
    check_fails(o.dev.program->kernel(&o.dev, program, "absent", &k, &err), AS_FAILED, &err, "has no kernel 'absent'");
    assert_null(k);
    k = kernel("tick");
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = a}}, {AS_ARG_F64, {.f64 = 1}}};
    struct as_launch l = {.kernel = k, .args = args, .args_n = 1, .workgroups = 1, .workgroup_size = 1025, .reps = 1};
    check_fails(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_UNSUPPORTED, &err, "its pipeline allows 1024");
    fake("registers");
    l.workgroup_size = 449;
    check_fails(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_UNSUPPORTED, &err, "its pipeline allows 448");
    fake("");
    l.workgroup_size = 1, l.shared_bytes = 16;
    check_fails(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_UNSUPPORTED, &err, "dynamic threadgroup memory");
    l.shared_bytes = 0, l.flags = AS_LAUNCH_GRAPH;
    check_fails(o.dev.queue->submit(&o.dev, &l, &err), AS_UNSUPPORTED, &err, "as a graph");
    l.flags = 0, l.workgroups = 0;
    check_fails(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_USAGE, &err, "must be at least 1");
    l.workgroups = UINT64_C(1) << 32;
    check_fails(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_UNSUPPORTED, &err, "in 32 bits");
    l.workgroups = 1, l.args_n = 2;
    check_fails(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_UNSUPPORTED, &err, "takes an f64");
    l.args_n = 32;
    check_fails(o.dev.queue->launch(&o.dev, &l, &t, &err), AS_USAGE, &err, "more than 31 arguments");
    o.dev.program->kernel_destroy(&o.dev, k);
}

/* The same source and definitions are one program; others are another. */
static void test_programs_are_kept(void **state)
{
    static const char *const defines[] = {"-DMORE=2 -DUNUSED", "-DMORE=3"};
    uint64_t source_hash[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct as_program_desc desc = {.name = "kept", .source = source, .defines = defines[i]};
        struct as_error err = {0};
        struct as_program *p = NULL;
        o.dev.code = (struct as_code_identity){0};
        const int live = fake_live();
        check_ok(o.dev.program->build(&o.dev, &desc, &p, &err), &err);
        assert_int_equal(fake_live() - live, i); /* the first is there already */
        assert_int_equal(o.dev.code.programs, 1);
        assert_true(o.dev.code.source != 0 && o.dev.code.binary == 0);
        source_hash[i] = o.dev.code.source;
        o.dev.program->destroy(&o.dev, p);
    }
    assert_true(source_hash[0] != source_hash[1]);
}

/* The last one: a group's teardown fails nothing. */
static void test_all_is_given_back(void **state)
{
    (void)state;
    o.dev.memory->free(&o.dev, a);
    o.dev.memory->free(&o.dev, b);
    o.dev.program->destroy(&o.dev, program);
    close_card(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_kernel_info),
        cmocka_unit_test(test_kinds_of_numbers),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_device_time),
        cmocka_unit_test(test_further_queues),
        cmocka_unit_test(test_runs_beside_the_host),
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_programs_are_kept),
        cmocka_unit_test(test_all_is_given_back),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
