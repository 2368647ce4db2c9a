/* The thread team: every part runs once, in order, also with more threads than CPUs. For the thread sanitizer too. */
#include "check.h"
#include "device/cpu/team.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS = 8 };

static bool pin_anywhere(int cpu)
{
    (void)cpu;
    return true;
}

static bool pin_even(int cpu)
{
    return cpu % 2 == 0;
}

static struct as_team *create(unsigned usable)
{
    struct as_team *team = NULL;
    struct as_error err = {0};
    check_ok(as_team_create(pin_anywhere, usable, &team, &err), &err);
    return team;
}

struct record {
    _Atomic unsigned calls[THREADS];
    _Atomic unsigned wrong;
    unsigned threads;
    uint64_t reps;
};

static void count_calls(const struct as_host_call *call)
{
    struct record *r = call->args[0];
    atomic_fetch_add(&r->calls[call->thread], 1);
    if (call->threads != r->threads || call->reps != r->reps || *(const uint32_t *)call->args[1] != 7 ||
        *(const double *)call->args[2] != 2.5)
        atomic_fetch_add(&r->wrong, 1);
}

/* Whoever comes here in repetition n has met all others, so each of them has ended n - 1. */
static void meet_in_step(const struct as_host_call *call)
{
    struct record *r = call->args[0];
    unsigned mine = atomic_load(&r->calls[call->thread]);
    for (unsigned i = 0; i < call->threads; i++)
        if (atomic_load(&r->calls[i]) < mine)
            atomic_fetch_add(&r->wrong, 1);
    if (call->reps != 1)
        atomic_fetch_add(&r->wrong, 1);
    atomic_fetch_add(&r->calls[call->thread], 1);
}

static const int two_cpus[THREADS] = {0, 1, 0, 1, 0, 1, 0, 1};

static struct as_team_job job_of(struct record *r, void (*run)(const struct as_host_call *),
                                 union as_team_value *values)
{
    static const bool is_memory[3] = {true, false, false};
    values[0].memory = r;
    values[1].u32 = 7;
    values[2].f64 = 2.5;
    return (struct as_team_job){.run = run,
                                .values = values,
                                .is_memory = is_memory,
                                .args_n = 3,
                                .cpus = two_cpus,
                                .threads = r->threads,
                                .reps = r->reps};
}

static void every_thread_runs_once(void **state)
{
    (void)state;
    struct as_error err = {0};
    for (unsigned usable = 1; usable <= 8; usable *= 2) {
        struct as_team *team = create(usable);
        for (unsigned n = 1; n <= THREADS; n++) {
            struct record r = {.threads = n, .reps = 5};
            union as_team_value values[3];
            struct as_team_job job = job_of(&r, count_calls, values);
            for (int again = 0; again < 20; again++) {
                double seconds = -1;
                check_ok(as_team_submit(team, &job, &err), &err);
                as_team_wait(team, AS_WAIT_BLOCK, &seconds);
                assert_true(seconds >= 0);
            }
            for (unsigned i = 0; i < THREADS; i++)
                assert_int_equal(atomic_load(&r.calls[i]), i < n ? 20 : 0);
            assert_int_equal(atomic_load(&r.wrong), 0);
            assert_int_equal(as_team_size(team), n);
        }
        as_team_destroy(team);
    }
}

static void barrier_keeps_step(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_team *team = create(2);
    for (unsigned n = 1; n <= THREADS; n++) {
        struct record r = {.threads = n, .reps = 50};
        union as_team_value values[3];
        struct as_team_job job = job_of(&r, meet_in_step, values);
        job.barrier = true;
        check_ok(as_team_submit(team, &job, &err), &err);
        as_team_wait(team, AS_WAIT_BLOCK, NULL);
        for (unsigned i = 0; i < n; i++)
            assert_int_equal(atomic_load(&r.calls[i]), 50);
        assert_int_equal(atomic_load(&r.wrong), 0);
    }
    as_team_destroy(team);
}

struct line {
    unsigned n, at[600]; /* not atomic: jobs must not overlap */
};

static void append(const struct as_host_call *call)
{
    struct line *l = call->args[0];
    if (call->thread == 0)
        l->at[l->n++] = *(const uint32_t *)call->args[1];
}

static void jobs_keep_their_order(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_team *team = create(2);
    struct line *l = calloc(1, sizeof *l);
    assert_non_null(l);
    static const bool is_memory[2] = {true, false};
    const enum as_wait ways[] = {AS_WAIT_BLOCK, AS_WAIT_YIELD, AS_WAIT_SPIN};
    for (uint32_t i = 0; i < 600; i++) {
        union as_team_value values[2] = {{.memory = l}, {.u32 = i}};
        struct as_team_job job = {.run = append,
                                  .values = values,
                                  .is_memory = is_memory,
                                  .args_n = 2,
                                  .cpus = two_cpus + i % 2,
                                  .threads = 1 + i % 3,
                                  .reps = 1};
        check_ok(as_team_submit(team, &job, &err), &err);
        if (i % 100 == 99)
            as_team_wait(team, ways[i / 100 % 3], NULL);
    }
    as_team_wait(team, AS_WAIT_BLOCK, NULL);
    assert_int_equal(l->n, 600);
    for (unsigned i = 0; i < 600; i++)
        assert_int_equal(l->at[i], i);
    assert_true(as_team_size(team) <= 4); /* two on each CPU at most */
    as_team_destroy(team);
    free(l);
}

static void destroy_waits_for_what_is_queued(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_team *team = create(2);
    struct record r = {.threads = 2, .reps = 1};
    union as_team_value values[3];
    struct as_team_job job = job_of(&r, count_calls, values);
    for (int i = 0; i < 50; i++)
        check_ok(as_team_submit(team, &job, &err), &err);
    as_team_destroy(team);
    assert_int_equal(atomic_load(&r.calls[0]), 50);
    assert_int_equal(atomic_load(&r.calls[1]), 50);
}

static void wrong_requests(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_team *team = NULL;
    check_ok(as_team_create(pin_even, 2, &team, &err), &err);
    struct record r = {.threads = 2, .reps = 1};
    union as_team_value values[3];
    struct as_team_job job = job_of(&r, count_calls, values);
    check_fails(as_team_submit(team, &job, &err), AS_UNSUPPORTED, &err, "CPU 1");
    job.threads = 0;
    check_fails(as_team_submit(team, &job, &err), AS_USAGE, &err, "0 threads");
    job.threads = AS_TEAM_THREADS_MAX + 1;
    check_fails(as_team_submit(team, &job, &err), AS_USAGE, &err, "4097 threads");
    job.threads = 1;
    job.cpus = (const int[]){-1};
    check_fails(as_team_submit(team, &job, &err), AS_USAGE, &err, "CPU -1");
    job.cpus = (const int[]){1 << 30};
    check_fails(as_team_submit(team, &job, &err), AS_USAGE, &err, "there is no CPU");
    job.args_n = AS_TEAM_ARGS_MAX + 1;
    check_fails(as_team_submit(team, &job, &err), AS_USAGE, &err, "arguments");
    /* it still works */
    job = job_of(&r, count_calls, values);
    job.threads = r.threads = 1;
    check_ok(as_team_submit(team, &job, &err), &err);
    as_team_wait(team, AS_WAIT_BLOCK, NULL);
    assert_int_equal(atomic_load(&r.calls[0]), 1);
    assert_int_equal(atomic_load(&r.wrong), 0);
    as_team_destroy(team);
    as_team_destroy(NULL);
}

/* 4 ms until the other thread got its CPU, of a kernel of 0.7 ms; the skew of a barrier, of a long and a short kernel.
 */
static void late_starts_are_seen(void **state)
{
    static const struct {
        struct as_team_span spans[2];
        bool late;
    } cases[] = {
        {{{1000, 701000}, {4001000, 4701000}}, true},   {{{4001000, 4701000}, {1000, 701000}}, true},
        {{{1000, 701000}, {1100, 701900}}, false},      {{{1000, 3000}, {2500, 4500}}, false},
        {{{1000, 50001000}, {26000, 50026000}}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (as_team_started_late(cases[i].spans, 2) != cases[i].late)
            fail_msg("case %zu", i);
    assert_false(as_team_started_late(cases[0].spans, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_runs_once), cmocka_unit_test(barrier_keeps_step),
        cmocka_unit_test(jobs_keep_their_order),  cmocka_unit_test(late_starts_are_seen),
        cmocka_unit_test(wrong_requests),         cmocka_unit_test(destroy_waits_for_what_is_queued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
