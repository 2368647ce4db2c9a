/* Work on one chosen compute unit: the unmodified kernels, with workgroups on threads that start at the same time, each
 * on a unit that the test assigns. One workgroup works, on the requested unit, after all others have ended; if that is
 * impossible, it is reported. */
#include "device/dialect/host_prelude.h"
#include "lib/chase/chase.h"
#include "tests/unit_test.h"
#include "toy_device.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

_Thread_local struct as_host_item as_host_item;
static _Thread_local u32 my_unit;

enum { UNITS = 3, GROUPS_OF_UNIT = 4, GROUPS_N = UNITS * GROUPS_OF_UNIT, STEP_NS = 3 };

static struct play {
    struct toy toy;
    struct as_chase chase;
    unsigned away;   /* this many launches place no workgroup on unit 0 */
    bool one_by_one; /* a workgroup starts when the previous one has ended */
    unsigned starts; /* launches for one compute unit */
} play;

static atomic_uint_fast64_t steps_made;
static atomic_bool contended; /* another workgroup chased before the others had ended */
static const u32 no_choice[4], *choice_now = no_choice;
static size_t groups_now;

/* Each step checks whether the workgroup runs alone. */
static u64 follow(u64 at)
{
    if (choice_now[0] && __atomic_load_n(&choice_now[3], __ATOMIC_RELAXED) != groups_now - 1)
        atomic_store(&contended, true);
    steps_made++;
    return *(const u64 *)(uintptr_t)at;
}
#undef FOLLOW
#define FOLLOW(at) follow(at)
#undef HAVE_CYCLES
#define HAVE_CYCLES 1
#define CYCLES() (2 * STEP_NS * atomic_load(&steps_made))
#define HAVE_NANOS 1
#define NANOS() (STEP_NS * atomic_load(&steps_made))
#define HAVE_UNIT 1
#define UNIT() my_unit
#define CHOICE_LOOKS (play.one_by_one ? 1000u : UINT32_MAX) /* on a busy machine a thread may start late */
#include "lib/kernel_timer/record.kernel"
#define PERSISTENT
#include "lib/chase/chase.kernel"

/* ---- a device with compute units ---- */

struct group {
    pthread_t thread;
    const char *name;
    void *const *args;
    u32 group, workgroups, unit;
};

static void *run_group(void *arg)
{
    const struct group *g = arg;
    void *const *a = g->args;
    u64 start;
    u32 before, turns, most;
    as_host_item = (struct as_host_item){.threads = 1, .group = g->group, .workgroups = g->workgroups};
    my_unit = g->unit;
    if (strcmp(g->name, "walk") == 0) {
        memcpy(&start, a[3], sizeof start);
        memcpy(&before, a[4], sizeof before);
        memcpy(&turns, a[5], sizeof turns);
        walk(a[0], a[1], a[2], start, before, turns);
    } else {
        memcpy(&start, a[4], sizeof start);
        memcpy(&most, a[5], sizeof most);
        persist(a[0], a[1], a[2], a[3], start, most);
    }
    return NULL;
}

static void run_groups(const char *name, void *const *args)
{
    struct group workgroups[GROUPS_N];
    u32 n = (u32)play.toy.workgroups, away = play.away ? 1 : 0;
    assert_true(n <= GROUPS_N);
    choice_now = args[1];
    groups_now = n;
    play.starts += n > 1;
    play.away -= n > 1 ? away : 0;
    for (u32 i = 0; i < n; i++) {
        u32 unit = away ? 1 + i % (UNITS - 1) : i % UNITS;
        workgroups[i] = (struct group){.name = name, .args = args, .group = i, .workgroups = n, .unit = unit};
        assert_int_equal(pthread_create(&workgroups[i].thread, NULL, run_group, &workgroups[i]), 0);
        if (play.one_by_one)
            pthread_join(workgroups[i].thread, NULL);
    }
    for (u32 i = 0; i < n && !play.one_by_one; i++)
        pthread_join(workgroups[i].thread, NULL);
}

static void run_kernel(const char *name, void *const *args)
{
    u64 a, b;
    as_host_item = (struct as_host_item){.threads = 1, .workgroups = 1};
    if (strcmp(name, "tell") == 0) {
        tell(args[0]);
    } else if (strcmp(name, "relocate") == 0) {
        memcpy(&a, args[1], sizeof a);
        memcpy(&b, args[2], sizeof b);
        relocate(args[0], a, b);
    } else {
        run_groups(name, args);
    }
}

static enum as_status start(bool persistent, struct as_error *err)
{
    struct as_chase_desc d = {.allocator = "toy", .size = 4096, .stride = 64, .seed = 3, .persistent = persistent};
    toy_init(&play.toy, AS_CAP_SOURCE | AS_CAP_ASYNC);
    play.toy.dev.info.compute_units = UNITS;
    play.toy.dev.info.is_host_cpu = true; /* nothing evicts its caches, which are small */
    play.toy.dev.info.caches_n = 1;
    play.toy.dev.info.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 1 << 10, .shared = 1};
    play.toy.kernel = run_kernel;
    play.starts = 0;
    contended = false;
    return as_chase_prepare(&play.chase, &play.toy.dev, &d, err);
}

static void end(void)
{
    as_chase_finish(&play.chase);
    assert_int_equal(play.toy.live, 0);
    play.away = 0;
    play.one_by_one = false;
}

static void check_walks(bool persistent)
{
    struct as_error err = {0};
    char why[160];
    for (int i = 0; i < 5; i++) {
        double ns, seconds;
        if (as_chase_run(&play.chase, 10, &ns, &seconds, &err))
            fail_msg("%s", err.text);
        assert_true(ns > 0);
        assert_true(persistent || fabs(ns - STEP_NS) < 1e-9); /* the steps of one workgroup only */
        assert_int_equal(play.chase.timer.record[0].unit, AS_TIMER_UNIT + 1);
    }
    assert_true(as_chase_check(&play.chase, why, sizeof why));
    assert_false(contended);
}

UNIT_TEST(test_one_group_walks_alone)
{
    struct as_error err = {0};
    const struct as_axes axes = {.n = 0};
    struct as_trial_context tc = {.dev = &play.toy.dev, .axes = &axes};
    for (int persistent = 0; persistent < 2; persistent++) {
        assert_int_equal(start(persistent, &err), AS_OK);
        check_walks(persistent);
        as_chase_note(&tc, &play.chase);
        assert_non_null(strstr(as_buf_get(&tc.detail), "\"unit\":0"));
        as_buf_finish(&tc.detail);
        end();
    }
}

UNIT_TEST(test_no_group_on_the_unit)
{
    struct as_error err = {0};
    double ns, seconds;
    for (int persistent = 0; persistent < 2; persistent++) {
        assert_int_equal(start(persistent, &err), AS_OK);
        unsigned before = play.starts;
        play.away = 3;
        assert_int_equal(as_chase_run(&play.chase, 10, &ns, &seconds, &err), AS_OK);
        assert_true(play.starts >= before + 4); /* a persistent chase may also be read too late */
        check_walks(persistent);
        play.away = 1000;
        before = play.starts;
        assert_int_equal(as_chase_run(&play.chase, 10, &ns, &seconds, &err), AS_UNSUPPORTED);
        assert_non_null(strstr(err.text, "ran a workgroup on unit 0"));
        assert_int_equal(play.starts, before + AS_TIMER_TRIES);
        end();
    }
}

/* Workgroups that start only when others end: the chasing one is never alone. It gives up, and nothing hangs. */
UNIT_TEST(test_others_do_not_end)
{
    struct as_error err = {0};
    play.one_by_one = true;
    assert_int_equal(start(false, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "alone"));
    assert_int_equal(play.starts, AS_TIMER_TRIES);
    assert_false(contended);
    end();
}

/* The host would wait for a counter that does not move. */
UNIT_TEST(test_host_is_told_that_nobody_walks)
{
    u64 result[8] = {0}, chain[1] = {(u64)(uintptr_t)chain};
    u32 choice[4] = {AS_TIMER_UNIT + 1}, shared[128] = {0};
    for (u32 g = 0; g < 3; g++) {
        assert_int_equal(shared[COUNT], 0);
        as_host_item = (struct as_host_item){.threads = 1, .group = g, .workgroups = 3};
        my_unit = AS_TIMER_UNIT + 1;
        persist(result, choice, chain, shared, 0, 10);
    }
    assert_true(shared[COUNT] == NEVER);
    assert_int_equal(result[3], 0);
}

/* ---- workgroups of several threads ---- */

enum { THREADS_N = 3 };
struct item {
    pthread_t thread;
    struct as_host_item item;
    u32 *choice, unit, part;
};

static void *ask_part(void *arg)
{
    struct item *i = arg;
    as_host_item = i->item;
    my_unit = i->unit;
    i->part = PART(i->choice);
    return NULL;
}

static void ask_all(u32 unit, struct item items[GROUPS_N][THREADS_N])
{
    pthread_barrier_t barriers[GROUPS_N];
    u32 choice[4] = {unit};
    for (u32 g = 0; g < GROUPS_N; g++) {
        assert_int_equal(pthread_barrier_init(&barriers[g], NULL, THREADS_N), 0);
        for (u32 t = 0; t < THREADS_N; t++) {
            struct item *i = &items[g][t];
            *i = (struct item){.item = {t, THREADS_N, g, GROUPS_N, &barriers[g]}, .choice = choice, .unit = g % UNITS};
            assert_int_equal(pthread_create(&i->thread, NULL, ask_part, i), 0);
        }
    }
    for (u32 g = 0; g < GROUPS_N; g++) {
        for (u32 t = 0; t < THREADS_N; t++)
            pthread_join(items[g][t].thread, NULL);
        pthread_barrier_destroy(&barriers[g]);
    }
}

UNIT_TEST(test_threads_of_a_group_agree)
{
    for (u32 unit = 0; unit <= UNITS; unit++) {
        struct item items[GROUPS_N][THREADS_N];
        u32 work = 0;
        ask_all(unit, items);
        for (u32 g = 0; g < GROUPS_N; g++) {
            u32 part = items[g][0].part;
            for (u32 t = 1; t < THREADS_N; t++)
                assert_int_equal(items[g][t].part, part);
            work += part != 0;
            assert_true(unit ? part == 0 || (part == 1 && g % UNITS == unit - 1) : part == g + 1);
        }
        assert_int_equal(work, unit ? 1 : GROUPS_N);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_group_walks_alone),    cmocka_unit_test(test_no_group_on_the_unit),
        cmocka_unit_test(test_others_do_not_end),        cmocka_unit_test(test_host_is_told_that_nobody_walks),
        cmocka_unit_test(test_threads_of_a_group_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
