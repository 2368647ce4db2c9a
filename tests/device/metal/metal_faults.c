/* What goes wrong while the Metal backend runs: each call that fails, command buffers that end with an error, a device
 * that is lost, a command buffer that never ends, times that are none. Nothing leaks by it. */
#include "../gpu_tests.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char source[] = "KERNEL(tick)(ARG_GLOBAL(0, atomic_u32, n) ARG_INDICES)\n"
                             "{ ATOMIC_ADD(n, 1u, ORDER_RELAXED, SCOPE_DEVICE); }\n"
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
    open_card(&card, 0);
    check_ok(card.dev.program->build(&card.dev, &desc, &program, &err), &err);
    check_ok(card.dev.program->kernel(&card.dev, program, "tick", &k, &err), &err);
    check_ok(gpu_get("MTLStorageModePrivate", 4096, NULL, &m, &err), &err);
    check_ok(gpu_get("MTLStorageModeShared", 4096, NULL, &other, &err), &err);
    arg = (struct as_arg){AS_ARG_MEMORY, {.memory = other}};
    l = (struct as_launch){.kernel = k, .args = &arg, .args_n = 1, .workgroups = 1, .workgroup_size = 1, .reps = 1};
    return 0;
}

static void give_back(void)
{
    card.dev.memory->free(&card.dev, m);
    card.dev.memory->free(&card.dev, other);
    card.dev.program->kernel_destroy(&card.dev, k);
    card.dev.program->destroy(&card.dev, program);
}

static int teardown(void **state)
{
    (void)state;
    fake("");
    give_back();
    close_card(&card);
    return 0;
}

/* All ways of running something, each with this outcome. */
static void all_fail(enum as_status code, const char *part)
{
    struct as_error err = {0};
    const struct as_copy c = {.to = m, .from = other, .bytes = 64, .reps = 3};
    struct as_timing t = {1, 1, 1};
    char bytes[64] = {0};
    check_fails(card.dev.queue->launch(&card.dev, &l, &t, &err), code, &err, part);
    assert_true(isnan(t.host_s) && isnan(t.device_s));
    check_fails(card.dev.queue->copy(&card.dev, &c, &t, &err), code, &err, part);
    check_fails(card.dev.memory->write(&card.dev, m, 0, bytes, sizeof bytes, &err), code, &err, part);
    check_fails(card.dev.memory->read(&card.dev, m, 0, bytes, sizeof bytes, &err), code, &err, part);
    check_fails(card.dev.memory->map(&card.dev, m, &err), code, &err, part);
    assert_null(m->host);
}

/* Submitted work tells its fate to those who wait for it, once. */
static void submitted_fails(enum as_status code, const char *part)
{
    struct as_error err = {0};
    for (enum as_wait how = AS_WAIT_BLOCK; how <= AS_WAIT_YIELD; how++) {
        check_ok(card.dev.queue->submit(&card.dev, &l, &err), &err);
        check_fails(card.dev.queue->wait(&card.dev, how, &err), code, &err, part);
        check_ok(card.dev.queue->wait(&card.dev, how, &err), &err);
    }
    check_ok(card.dev.queue->queues(&card.dev, 1, 0, &err), &err);
    l.queue = 1;
    check_ok(card.dev.queue->submit(&card.dev, &l, &err), &err);
    l.queue = 0;
    check_ok(card.dev.queue->wait(&card.dev, AS_WAIT_BLOCK, &err), &err);
    check_fails(card.dev.queue->wait_queue(&card.dev, 1, &err), code, &err, part);
    check_ok(card.dev.queue->queues(&card.dev, 0, 0, &err), &err);
}

static void works(void)
{
    struct as_error err = {0};
    struct as_timing t;
    fake("");
    check_ok(card.dev.queue->launch(&card.dev, &l, &t, &err), &err);
    check_ok(card.dev.device->alive(&card.dev, &err), &err);
}

static void test_calls_that_give_nothing(void **state)
{
    struct as_error err = {0};
    (void)state;
    fake("nocommands");
    all_fail(AS_FAILED, "made no command buffer");
    check_fails(card.dev.queue->submit(&card.dev, &l, &err), AS_FAILED, &err, "made no command buffer");
    fake("noencoder");
    all_fail(AS_FAILED, "encoder");
    check_fails(card.dev.queue->submit(&card.dev, &l, &err), AS_FAILED, &err, "no compute encoder");
    works();
}

static void test_errors_of_command_buffers(void **state)
{
    static const struct {
        const char *words;
        enum as_status code;
        const char *part;
    } faults[] = {
        {"fault", AS_FAILED, "Caused GPU Address Fault Error"}, {"oom", AS_NOMEM, "Insufficient Memory"},
        {"timeout", AS_TIMEOUT, "Caused GPU Timeout Error"},    {"fault speechless", AS_FAILED, "no reason is given"},
        {"oom notext", AS_NOMEM, "no reason is given"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        fake(faults[i].words);
        all_fail(faults[i].code, faults[i].part);
        submitted_fails(faults[i].code, faults[i].part);
        works();
    }
}

/* Of a row of command buffers one fails in the middle: the launch does. */
static void test_one_of_many(void **state)
{
    struct as_error err = {0};
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        fake(i == 4 ? "fault" : "");
        check_ok(card.dev.queue->submit(&card.dev, &l, &err), &err);
    }
    fake("");
    check_fails(card.dev.queue->wait(&card.dev, AS_WAIT_BLOCK, &err), AS_FAILED, &err, "Address Fault");
    check_ok(card.dev.queue->wait(&card.dev, AS_WAIT_BLOCK, &err), &err);
    works();
}

/* What was submitted before fails a launch by its own name. */
static void test_earlier_failure(void **state)
{
    struct as_error err = {0};
    struct as_timing t;
    (void)state;
    fake("fault");
    check_ok(card.dev.queue->submit(&card.dev, &l, &err), &err);
    fake("");
    check_fails(card.dev.queue->launch(&card.dev, &l, &t, &err), AS_FAILED, &err, "an earlier kernel failed");
    works();
}

static void test_lost_device(void **state)
{
    static const char *const words[] = {"revoked", "removed"};
    static const char *const parts[] = {"Ignored (for causing prior/excessive GPU errors)", "Device removed"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct as_program_desc desc = {.name = "late", .source = source};
        struct as_error err = {0};
        struct as_timing t;
        struct as_memory *late = NULL;
        struct as_program *p = NULL;
        setup(state);
        check_ok(card.dev.device->alive(&card.dev, &err), &err);
        fake(words[i]);
        check_fails(card.dev.queue->launch(&card.dev, &l, &t, &err), AS_FAILED, &err, parts[i]);
        fake("");
        check_fails(card.dev.device->alive(&card.dev, &err), AS_FAILED, &err, parts[i]);
        assert_non_null(strstr(err.text, "has lost the device"));
        all_fail(AS_FAILED, "has lost the device");
        check_fails(card.dev.queue->submit(&card.dev, &l, &err), AS_FAILED, &err, "has lost the device");
        check_fails(card.dev.queue->wait(&card.dev, AS_WAIT_BLOCK, &err), AS_FAILED, &err, "has lost the device");
        check_fails(gpu_get("MTLStorageModeShared", 64, NULL, &late, &err), AS_FAILED, &err, "has lost the device");
        check_fails(card.dev.program->build(&card.dev, &desc, &p, &err), AS_FAILED, &err, "has lost the device");
        teardown(state);
    }
}

static void test_times_that_are_none(void **state)
{
    static const char *const words[] = {"timeless", "backwards"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct as_error err = {0};
        struct as_timing t;
        fake(words[i]);
        check_ok(card.dev.queue->launch(&card.dev, &l, &t, &err), &err);
        assert_true(t.host_s > 0 && isnan(t.device_s));
    }
    works();
}

/* A command buffer that never ends is waited for: the worker's parent ends the worker, as here. */
static void test_never_ends(void **state)
{
    int status = 0;
    pid_t child = fork(); /* before this process has threads, which ThreadSanitizer wants */
    if (child == 0) {
        struct as_error err = {0};
        struct as_timing t;
        setup(state);
        fake("hang");
        alarm(1);
        card.dev.queue->launch(&card.dev, &l, &t, &err);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
}

/* The stand-in sees threads that wait for others that do not come. */
static void test_stuck_kernel(void **state)
{
    struct as_error err = {0};
    struct as_timing t;
    struct as_kernel *stuck = NULL;
    (void)state;
    check_ok(card.dev.program->kernel(&card.dev, program, "stuck", &stuck, &err), &err);
    l.kernel = stuck, l.workgroup_size = 64;
    check_fails(card.dev.queue->launch(&card.dev, &l, &t, &err), AS_FAILED, &err, "Caused GPU Hang Error");
    assert_non_null(strstr(fake_broken(), "wait for others"));
    fake_reset();
    l.kernel = k, l.workgroup_size = 1;
    card.dev.program->kernel_destroy(&card.dev, stuck);
}

/* Closed with work under way and a queue left open. */
static void test_closed_while_busy(void **state)
{
    struct as_error err = {0};
    (void)state;
    setup(state);
    check_ok(card.dev.queue->queues(&card.dev, 2, 0, &err), &err);
    l.reps = 2000;
    for (l.queue = 0; l.queue <= 2; l.queue++)
        check_ok(card.dev.queue->submit(&card.dev, &l, &err), &err);
    teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_ends),
        cmocka_unit_test_setup_teardown(test_calls_that_give_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors_of_command_buffers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_of_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_earlier_failure, setup, teardown),
        cmocka_unit_test(test_lost_device),
        cmocka_unit_test_setup_teardown(test_times_that_are_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stuck_kernel, setup, teardown),
        cmocka_unit_test(test_closed_while_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
