/* The CPU backend: launches, placement, clock. */
#include "base/clock.h"
#include "check.h"
#include "device/cpu/features.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct as_opened opened;
static cpu_set_t allowed; /* before the backend moves this thread out of its team's way */

static int open_cpu(void **state)
{
    (void)state;
    struct as_error err = {0};
    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return -1;
    return as_device_open("cpu", &opened, &err) ? -1 : 0;
}

static int close_cpu(void **state)
{
    (void)state;
    as_device_close(&opened);
    return 0;
}

static void store_cpu(const struct as_host_call *call)
{
    ((int32_t *)call->args[0])[call->thread] = sched_getcpu();
}

static void sleep_a_little(const struct as_host_call *call)
{
    (void)call;
    double end = as_now() + 0.005;
    while (as_now() < end)
        as_sleep(0.001);
}

static const struct as_host_kernel kernels[] = {{"cpu", store_cpu}, {"sleep", sleep_a_little}, {NULL, NULL}};

struct setup {
    struct as_program *program;
    struct as_kernel *kernel;
    struct as_memory *memory;
};

static struct setup set_up(const char *kernel)
{
    struct setup s = {0};
    struct as_error err = {0};
    struct as_device *d = &opened.device;
    check_ok(d->program->build(d, &(struct as_program_desc){.name = "test", .host = kernels}, &s.program, &err), &err);
    check_ok(d->program->kernel(d, s.program, kernel, &s.kernel, &err), &err);
    check_ok(d->memory->alloc(d, &(struct as_memory_desc){.allocator = "malloc", .bytes = 4096, .node = -1}, &s.memory,
                              &err),
             &err);
    check_ok(d->memory->map(d, s.memory, &err), &err);
    memset(s.memory->host, 0xff, 4096);
    return s;
}

static void tear_down(struct setup *s)
{
    struct as_device *d = &opened.device;
    d->memory->free(d, s->memory);
    d->program->kernel_destroy(d, s->kernel);
    d->program->destroy(d, s->program);
}

static void threads_are_where_they_should_be(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_device *d = &opened.device;
    struct setup s = set_up("cpu");
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = s.memory}}};
    struct as_launch l = {
        .kernel = s.kernel, .args = args, .args_n = 1, .workgroups = 1, .workgroup_size = 1, .reps = 1};
    struct as_timing t;
    const int32_t *got = s.memory->host;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        l.cpus = &cpu;
        if (CPU_ISSET(cpu, &allowed)) {
            check_ok(d->queue->launch(d, &l, &t, &err), &err);
            assert_int_equal(got[0], cpu);
        } else {
            check_fails(d->queue->launch(d, &l, &t, &err), AS_USAGE, &err, "may not use CPU");
        }
    }
    /* in the backend's order no two threads share a CPU while there are enough */
    l.cpus = NULL;
    l.workgroups = (size_t)CPU_COUNT(&allowed) < 64 ? (size_t)CPU_COUNT(&allowed) : 64;
    check_ok(d->queue->launch(d, &l, &t, &err), &err);
    for (size_t i = 0; i < l.workgroups; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(got[i], got[j]);
    l.workgroups *= 3; /* more threads than CPUs */
    check_ok(d->queue->launch(d, &l, &t, &err), &err);
    assert_true(got[l.workgroups - 1] >= 0);
    tear_down(&s);
}

static void time_covers_the_kernel(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_device *d = &opened.device;
    struct setup s = set_up("sleep");
    struct as_launch l = {
        .kernel = s.kernel, .workgroups = 3, .workgroup_size = 1, .reps = 2, .flags = AS_LAUNCH_BARRIER};
    struct as_timing t;
    double start = as_now();
    check_ok(d->queue->launch(d, &l, &t, &err), &err);
    double whole = as_now() - start;
    assert_true(t.host_s >= 0.01);
    assert_true(t.host_s <= whole);
    tear_down(&s);
}

static void clock_is_plausible(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_device *d = &opened.device;
    for (int i = 0; i < 5; i++) {
        double hz = 0;
        check_ok(d->device->clock(d, &hz, &err), &err);
        if (!(hz > 0.5e9 && hz < 7e9))
            fail_msg("the clock reads %g Hz", hz);
    }
}

static void information_is_plausible(void **state)
{
    (void)state;
    const struct as_device_info *i = &opened.device.info;
    assert_string_equal(i->id, "cpu");
    assert_true(i->compute_units >= 1 && i->threads >= 1 && i->numa_nodes >= 1);
    assert_true(as_info_cache(i, 1) >= 4096 && as_info_last_cache(i) >= as_info_cache(i, 1));
    assert_non_null(as_info_allocator(i, "malloc"));
    struct as_cpu_features f = as_cpu_features();
    assert_true(f.vector_bytes == 16 || f.vector_bytes == 32 || f.vector_bytes == 64);
    assert_true(f.sse2 != f.neon);
}

/* Sets of x86-64 on aarch64 and the reverse are not there, whatever has no bit for them. */
static void sets_of_another_kind(void **state)
{
    const as_cpu_sets others = as_cpu_features().neon ? AS_CPU_POPCNT | AS_CPU_AVX2 : AS_CPU_FPHP | AS_CPU_I8MM;
    char missing[200];
    (void)state;
    assert_true(as_cpu_has(0, missing, sizeof missing));
    for (as_cpu_sets set = 1; set <= others; set <<= 1)
        if (others & set) {
            assert_false(as_cpu_has(set, missing, sizeof missing));
            assert_true(missing[0]);
        }
}

/* In a process of its own, with one CPU: neither team nor barrier may wait for a thread that cannot run. */
static void one_cpu_is_enough(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        cpu_set_t all, one;
        struct as_error err = {0};
        CPU_ZERO(&one);
        sched_getaffinity(0, sizeof all, &all);
        for (int c = 0; c < CPU_SETSIZE && !CPU_COUNT(&one); c++)
            if (CPU_ISSET(c, &all))
                CPU_SET(c, &one);
        alarm(60);
        if (sched_setaffinity(0, sizeof one, &one) || as_device_open("cpu", &opened, &err))
            _exit(1);
        struct as_device *d = &opened.device;
        if (d->info.threads != 1 || d->info.compute_units != 1)
            _exit(2);
        struct setup s = set_up("cpu");
        const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = s.memory}}};
        struct as_timing t;
        double hz = 0;
        for (size_t n = 1; n <= 5; n++) {
            struct as_launch l = {.kernel = s.kernel,
                                  .args = args,
                                  .args_n = 1,
                                  .workgroups = n,
                                  .workgroup_size = 1,
                                  .reps = 200,
                                  .flags = AS_LAUNCH_BARRIER};
            if (d->queue->launch(d, &l, &t, &err) || d->device->clock(d, &hz, &err))
                _exit(3);
            for (int way = AS_WAIT_BLOCK; way <= AS_WAIT_YIELD; way++)
                if (d->queue->submit(d, &l, &err) || d->queue->wait(d, (enum as_wait)way, &err))
                    _exit(4);
        }
        tear_down(&s);
        as_device_close(&opened);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void caller_gets_its_cpus_back(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_opened mine, kept = opened;
    cpu_set_t before, during, after;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    check_ok(as_device_open("cpu", &mine, &err), &err);
    opened = mine;
    struct setup s = set_up("cpu");
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = s.memory}}};
    struct as_launch l = {
        .kernel = s.kernel, .args = args, .args_n = 1, .workgroups = 1, .workgroup_size = 1, .reps = 1};
    struct as_timing t;
    check_ok(mine.device.queue->launch(&mine.device, &l, &t, &err), &err);
    sched_getaffinity(0, sizeof during, &during);
    if (CPU_COUNT(&before) > 1)
        assert_false(CPU_ISSET(*(const int32_t *)s.memory->host, &during));
    tear_down(&s);
    as_device_close(&mine);
    opened = kept;
    sched_getaffinity(0, sizeof after, &after);
    assert_true(CPU_EQUAL(&before, &after));
}

int main(void)
{
    const struct CMUnitTest alone[] = {
        cmocka_unit_test(one_cpu_is_enough),
        cmocka_unit_test(caller_gets_its_cpus_back),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_where_they_should_be),
        cmocka_unit_test(time_covers_the_kernel),
        cmocka_unit_test(clock_is_plausible),
        cmocka_unit_test(information_is_plausible),
        cmocka_unit_test(sets_of_another_kind),
    };
    int failed = cmocka_run_group_tests(alone, NULL, NULL);
    return failed + cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
