#include "chase_play.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Thread_local struct as_host_item as_host_item;

bool has_clock;
u64 steps_made;

static u64 follow(u64 at)
{
    steps_made++;
    return *(const u64 *)(uintptr_t)at;
}
#undef FOLLOW
#define FOLLOW(at) follow(at)
#undef HAVE_CYCLES
#define HAVE_CYCLES 1
#define CYCLES() (2 * STEP_NS * steps_made)
#define HAVE_NANOS 1
#define NANOS() (STEP_NS * steps_made)
#include "lib/kernel_timer/record.kernel"

#include "lib/stream/sweep.kernel"
#define PERSISTENT
#include "lib/chase/chase.kernel"

struct swept swept;

static void run_around(void *const *args)
{
    const u64 *list = args[3];
    u64 *chain = args[2], n;
    memcpy(&n, args[4], sizeof n);
    for (u64 i = 0; i + 1 < n; i++)
        swept.astray |= chain[list[i]] != (u64)(chain + list[i + 1]);
    around(args[0], args[1], chain, args[3], n);
    swept.listed += n, swept.before_steps = steps_made;
}

void run_kernel(const char *name, void *const *args)
{
    u64 a, b;
    u32 before, turns, most;
    struct as_record *record = args[0];
    as_host_item = (struct as_host_item){.threads = 1, .workgroups = 1};
    if (strcmp(name, "walk") == 0) {
        memcpy(&a, args[3], sizeof a);
        memcpy(&before, args[4], sizeof before);
        memcpy(&turns, args[5], sizeof turns);
        walk(args[0], args[1], args[2], a, before, turns);
        record->has = has_clock ? record->has : 0;
        return;
    }
    if (strcmp(name, "tell") == 0) {
        tell(args[0]);
        return;
    }
    if (strcmp(name, "persist") == 0) {
        memcpy(&a, args[4], sizeof a);
        memcpy(&most, args[5], sizeof most);
        persist(args[0], args[1], args[2], args[3], a, most);
        record->has = has_clock ? record->has : 0;
        return;
    }
    if (strcmp(name, "sweep_alone") == 0) {
        memcpy(&swept.elements, args[3], sizeof swept.elements);
        memcpy(&swept.words, args[4], sizeof swept.words);
        sweep_alone(args[0], args[1], args[2], swept.elements, swept.words);
        swept.alone++, swept.before_steps = steps_made;
        return;
    }
    if (strcmp(name, "sweep") == 0) {
        memcpy(&a, args[2], sizeof a);
        sweep(args[0], args[1], a);
        swept.all++, swept.before_steps = steps_made;
        return;
    }
    if (strcmp(name, "around") == 0) {
        run_around(args);
        return;
    }
    if (strcmp(name, "place") == 0) {
        memcpy(&a, args[2], sizeof a);
        place(args[0], args[1], a);
        return;
    }
    assert_string_equal(name, "relocate");
    memcpy(&a, args[1], sizeof a);
    memcpy(&b, args[2], sizeof b);
    relocate(args[0], a, b);
}

bool run_and_check(struct play *p)
{
    static const uint64_t reps[] = {1, 7, 100};
    char why[160] = "";
    for (size_t i = 0; i < sizeof reps / sizeof *reps; i++) {
        double ns = NAN, seconds = NAN;
        assert_int_equal(as_chase_run(&p->chase, reps[i], &ns, &seconds, NULL), AS_OK);
        assert_true(ns > 0 && seconds > 0);
    }
    bool right = as_chase_check(&p->chase, why, sizeof why);
    assert_true(why[0] != 0);
    as_chase_finish(&p->chase);
    assert_int_equal(p->toy.live, 0);
    return right;
}
