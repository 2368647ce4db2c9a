/* Command buffers of the Metal backend on the stand-in: many of them, one that fails among others, one that never ends,
 * invalid times; the rest is in the conformance suite. */
#include "../stand_in.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char source[] = "KERNEL(tick)(ARG_GLOBAL(0, atomic_u32, n) ARG_INDICES)\n"
                             "{ ATOMIC_ADD(n, 1u, ORDER_RELAXED, SCOPE_DEVICE); }\n"
                             "KERNEL(share)(ARG_GLOBAL(0, u32, n) ARG_INDICES)\n"
                             "{\n    LOCAL u32 part[96];\n    part[THREAD] = THREAD;\n    BARRIER();\n"
                             "    n[THREAD] = part[THREADS - 1 - THREAD];\n}\n"
                             "KERNEL(stuck)(ARG_GLOBAL(0, u32, n) ARG_INDICES)\n"
                             "{\n    if (THREAD < 7)\n        BARRIER();\n    n[0] = 1;\n}\n";

static struct as_program *program;
static struct as_kernel *k;
static struct as_memory *m, *other;
static struct as_arg arg;
static struct as_launch l;

static int setup(void **state)
{
    const struct as_program_desc desc = {.name = "faults", .source = source};
    struct as_error err = {0};
    (void)state;
    fake("");
    open_gpu(&gpu, 0);
    check_ok(gpu.dev.program->build(&gpu.dev, &desc, &program, &err), &err);
    check_ok(gpu.dev.program->kernel(&gpu.dev, program, "tick", &k, &err), &err);
    check_ok(gpu_get("MTLStorageModePrivate", 4096, NULL, &m, &err), &err);
    check_ok(gpu_get("MTLStorageModeShared", 4096, NULL, &other, &err), &err);
    arg = (struct as_arg){AS_ARG_MEMORY, {.memory = other}};
    l = (struct as_launch){.kernel = k, .args = &arg, .args_n = 1, .workgroups = 1, .workgroup_size = 1, .reps = 1};
    return 0;
}

static void give_back(void)
{
    gpu.dev.memory->free(&gpu.dev, m);
    gpu.dev.memory->free(&gpu.dev, other);
    gpu.dev.program->kernel_destroy(&gpu.dev, k);
    gpu.dev.program->destroy(&gpu.dev, program);
}

static int teardown(void **state)
{
    (void)state;
    fake("");
    give_back();
    close_gpu(&gpu);
    return 0;
}

static void works(void)
{
    struct as_error err = {0};
    struct as_timing t;
    fake("");
    check_ok(gpu.dev.queue->launch(&gpu.dev, &l, &t, &err), &err);
    check_ok(gpu.dev.device->alive(&gpu.dev, &err), &err);
}

/* If one of several command buffers fails, the launch fails. */
static void test_one_of_many(void **state)
{
    struct as_error err = {0};
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        fake(i == 4 ? "fault" : "");
        check_ok(gpu.dev.queue->submit(&gpu.dev, &l, &err), &err);
    }
    fake("");
    check_fails(gpu.dev.queue->wait(&gpu.dev, AS_WAIT_BLOCK, &err), AS_FAILED, &err, "Address Fault");
    check_ok(gpu.dev.queue->wait(&gpu.dev, AS_WAIT_BLOCK, &err), &err);
    works();
}

/* A failure of earlier submitted work fails a launch, and is named as such. */
static void test_earlier_failure(void **state)
{
    struct as_error err = {0};
    struct as_timing t;
    (void)state;
    fake("fault");
    check_ok(gpu.dev.queue->submit(&gpu.dev, &l, &err), &err);
    fake("");
    check_fails(gpu.dev.queue->launch(&gpu.dev, &l, &t, &err), AS_FAILED, &err, "an earlier kernel failed");
    works();
}

static void test_times_that_are_none(void **state)
{
    static const char *const words[] = {"timeless", "backwards"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct as_error err = {0};
        struct as_timing t;
        fake(words[i]);
        check_ok(gpu.dev.queue->launch(&gpu.dev, &l, &t, &err), &err);
        assert_true(t.host_s > 0 && isnan(t.device_s));
    }
    works();
}

/* The wait for a command buffer that never ends does not return: the worker's parent ends the worker, as here. */
static void test_never_ends(void **state)
{
    int status = 0;
    pid_t child = fork(); /* before this process has threads, as ThreadSanitizer requires */
    if (child == 0) {
        struct as_error err = {0};
        struct as_timing t;
        setup(state);
        fake("hang");
        alarm(1);
        gpu.dev.queue->launch(&gpu.dev, &l, &t, &err);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
}

/* The stand-in detects threads that wait for others that do not arrive. */
static void test_stuck_kernel(void **state)
{
    struct as_error err = {0};
    struct as_timing t;
    struct as_kernel *stuck = NULL;
    (void)state;
    check_ok(gpu.dev.program->kernel(&gpu.dev, program, "stuck", &stuck, &err), &err);
    l.kernel = stuck, l.workgroup_size = 64;
    check_fails(gpu.dev.queue->launch(&gpu.dev, &l, &t, &err), AS_FAILED, &err, "Caused GPU Hang Error");
    assert_non_null(strstr(fake_broken(), "wait for others"));
    fake_reset();
    l.kernel = k, l.workgroup_size = 1;
    gpu.dev.program->kernel_destroy(&gpu.dev, stuck);
}

/* Closed with work in flight and a queue left open. */
static void test_closed_while_busy(void **state)
{
    struct as_error err = {0};
    (void)state;
    setup(state);
    check_ok(gpu.dev.queue->queues(&gpu.dev, 2, 0, &err), &err);
    l.reps = 2000;
    for (l.queue = 0; l.queue <= 2; l.queue++)
        check_ok(gpu.dev.queue->submit(&gpu.dev, &l, &err), &err);
    teardown(state);
}

/* A pipeline reports its threadgroup memory, and the number of threads that its registers allow. */
static void test_kernel_info(void **state)
{
    static const char *const names[] = {"share", "tick"};
    static const uint64_t shared[] = {96 * 4, 0};
    struct as_kernel *kernels[2];
    struct as_kernel_info info;
    struct as_error err = {0};
    (void)state;
    for (size_t i = 0; i < 2; i++)
        check_ok(gpu.dev.program->kernel(&gpu.dev, program, names[i], &kernels[i], &err), &err);
    for (size_t i = 0; i < 2; i++) {
        check_ok(gpu.dev.program->kernel_info(&gpu.dev, kernels[i], 64, 0, &info, &err), &err);
        assert_int_equal(info.shared_bytes, shared[i]);
        assert_int_equal(info.max_threads, 1024);
        assert_int_equal(info.registers + info.resident_workgroups, 0); /* unknown */
    }
    fake("registers");
    check_ok(gpu.dev.program->kernel_info(&gpu.dev, kernels[1], 64, 0, &info, &err), &err);
    assert_int_equal(info.max_threads, 448);
    fake("");
    for (size_t i = 0; i < 2; i++)
        gpu.dev.program->kernel_destroy(&gpu.dev, kernels[i]);
}

/* Each launch counts once: more than fit a command buffer, more than fit a queue. */
static void test_counts(void **state)
{
    static const uint64_t reps[] = {1500, 33000};
    struct as_error err = {0};
    struct as_timing t;
    uint32_t n = 0, sum = 200;
    (void)state;
    check_ok(gpu.dev.memory->write(&gpu.dev, other, 0, &n, sizeof n, &err), &err);
    for (size_t i = 0; i < sizeof reps / sizeof *reps; i++) {
        l.reps = reps[i];
        check_ok(gpu.dev.queue->launch(&gpu.dev, &l, &t, &err), &err);
        sum += (uint32_t)reps[i];
    }
    l.reps = 1;
    for (unsigned i = 0; i < 200; i++)
        check_ok(gpu.dev.queue->submit(&gpu.dev, &l, &err), &err);
    check_ok(gpu.dev.memory->read(&gpu.dev, other, 0, &n, sizeof n, &err), &err);
    assert_int_equal(n, sum); /* a read waits for all submitted work */
    check_ok(gpu.dev.queue->wait(&gpu.dev, AS_WAIT_BLOCK, &err), &err);
}

/* The device's time runs from the first command buffer's start to the last one's end, including copies in both
 * directions. */
static void test_device_time(void **state)
{
    struct as_error err = {0};
    struct as_timing t;
    (void)state;
    fake("scripted");
    check_ok(gpu.dev.queue->launch(&gpu.dev, &l, &t, &err), &err);
    assert_float_equal(t.device_s, 0.5, 1e-9);
    l.reps = 1025; /* three command buffers */
    check_ok(gpu.dev.queue->launch(&gpu.dev, &l, &t, &err), &err);
    assert_float_equal(t.device_s, 2.5, 1e-9);
    l.reps = 65 * 512; /* more than fit a queue */
    check_ok(gpu.dev.queue->launch(&gpu.dev, &l, &t, &err), &err);
    assert_float_equal(t.device_s, 64.5, 1e-9);
    struct as_memory *back[2]; /* both directions at once, so no bytes of one are those of the other */
    for (int i = 0; i < 2; i++)
        check_ok(gpu_get("MTLStorageModeShared", 4096, NULL, &back[i], &err), &err);
    const struct as_copy c = {.to = m, .from = other, .back_to = back[0], .back_from = back[1], .bytes = 64, .reps = 1};
    check_ok(gpu.dev.queue->copy(&gpu.dev, &c, &t, &err), &err);
    assert_float_equal(t.device_s, 1.5, 1e-9);
    for (int i = 0; i < 2; i++)
        gpu.dev.memory->free(&gpu.dev, back[i]);
    fake("");
}

/* Launches that a pipeline or the API refuses. */
static void test_what_is_wrong(void **state)
{
    const struct as_program_desc odd = {.name = "odd", .source = source, .defines = "-DMORE=2 -O3"};
    const struct as_arg args[] = {arg, {AS_ARG_F64, {.f64 = 1}}};
    struct as_program *p = NULL;
    struct as_error err = {0};
    struct as_timing t;
    (void)state;
    check_fails(gpu.dev.program->build(&gpu.dev, &odd, &p, &err), AS_USAGE, &err, "'-O3' is not a definition");
    fake("registers");
    struct as_launch bad = l;
    bad.workgroup_size = 449;
    check_fails(gpu.dev.queue->launch(&gpu.dev, &bad, &t, &err), AS_UNSUPPORTED, &err, "its pipeline allows 448");
    fake("");
    bad = l, bad.args = args, bad.args_n = 2;
    check_fails(gpu.dev.queue->launch(&gpu.dev, &bad, &t, &err), AS_UNSUPPORTED, &err, "takes an f64");
}

/* Equal source and definitions give the same program. */
static void test_programs_are_kept(void **state)
{
    static const char *const defines[] = {NULL, "-DMORE=3"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct as_program_desc desc = {.name = "kept", .source = source, .defines = defines[i]};
        struct as_error err = {0};
        struct as_program *p = NULL;
        const int live = fake_live();
        check_ok(gpu.dev.program->build(&gpu.dev, &desc, &p, &err), &err);
        assert_int_equal(fake_live() - live, i); /* the first exists already */
        gpu.dev.program->destroy(&gpu.dev, p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_ends),
        cmocka_unit_test_setup_teardown(test_one_of_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_earlier_failure, setup, teardown),
        cmocka_unit_test_setup_teardown(test_times_that_are_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stuck_kernel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_kernel_info, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_device_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_wrong, setup, teardown),
        cmocka_unit_test_setup_teardown(test_programs_are_kept, setup, teardown),
        cmocka_unit_test(test_closed_while_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
