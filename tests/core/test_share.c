/* Who may use how much of a time budget. */
#include "core/engine.h"

#include "scripted_clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS = 4, ROUNDS = 3 };

/* Two devices of two cells each, and 100 seconds. */
struct scene {
    struct as_engine engine;
    struct as_slot slots[2];
    struct as_progress progress[CELLS];
};

static const double BUDGET_S = 100, EXACT = 1e-6;

static void set_up(struct scene *s)
{
    memset(s, 0, sizeof *s);
    clock_script(0); /* stands still: how long the test takes is no matter */
    s->engine = (struct as_engine){.slots = s->slots,
                                   .slots_n = 2,
                                   .progress = s->progress,
                                   .cells_n = CELLS,
                                   .sentinels_first = CELLS,
                                   .rounds = ROUNDS,
                                   .start = as_now(),
                                   .measured_from = as_now(),
                                   .deadline = as_now() + BUDGET_S};
    for (size_t i = 0; i < CELLS; i++)
        s->progress[i].slot = &s->slots[i / 2];
}

/* Both cells of the device were visited once, which took so long each, preparation and samples alike. */
static void visit(struct scene *s, size_t slot, double seconds)
{
    for (size_t i = 2 * slot; i < 2 * slot + 2; i++) {
        s->progress[i].visits++;
        s->progress[i].prepare_s = s->progress[i].fewest_s = seconds / 2;
    }
    s->slots[slot].visits += 2;
    s->slots[slot].used_s += 2 * seconds;
    s->engine.deadline -= 2 * seconds;
    s->engine.start -= 2 * seconds;
    s->engine.measured_from -= 2 * seconds;
}

static double left(struct scene *s, size_t slot)
{
    return as_engine_slot_left(&s->engine, &s->slots[slot]);
}

static void assert_left(double x, double wanted)
{
    if (!(fabs(x - wanted) < EXACT))
        fail_msg("%g s, not %g", x, wanted);
}

static void unknown_devices_share_evenly(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    assert_left(left(&s, 0), 50);
    assert_left(left(&s, 1), 50);
}

static void what_one_does_not_want_the_other_has(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    visit(&s, 0, 1); /* 2 s used, 2 x 2 visits to come of 1 s, and as long again */
    assert_left(left(&s, 1), 90);
    assert_left(left(&s, 0), 8);
    visit(&s, 1, 40); /* wants far more than there is */
    assert_left(left(&s, 1), 10);
    assert_left(left(&s, 0), 8);
}

static void the_last_one_has_all(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    visit(&s, 0, 1);
    visit(&s, 0, 1);
    visit(&s, 0, 1);
    assert_left(left(&s, 1), 94);
    s.progress[2].over = s.progress[3].over = 1; /* unsupported, say */
    assert_left(left(&s, 0), 94);
}

static void a_greedy_one_gives_nothing_back(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    visit(&s, 0, 35); /* more than its half */
    assert_left(left(&s, 1), 30);
    assert_true(left(&s, 0) < 0);
}

/* What came before the first visit, and sentinels, take from all alike, and a device that is alone has what there is.
 */
static void overheads_starve_nobody(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    s.engine.start -= 300; /* compiling, say */
    visit(&s, 0, 1);
    assert_left(left(&s, 1), 90);
    s.engine.measured_from -= 198; /* of 200 s went 2 into visits */
    assert_left(left(&s, 1), 98);  /* its turn */
    s.engine.slots_n = 1;
    assert_left(left(&s, 0), 98);
}

static void without_a_budget_there_is_no_share(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    s.engine.deadline = INFINITY;
    assert_true(isinf(left(&s, 0)));
    set_up(&s);
    assert_left(as_engine_slot_left(&s.engine, NULL), 100); /* a device that is gone holds nobody up */
}

static void after_the_end_nothing_is_left(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    s.engine.deadline = as_now() - 1;
    assert_true(left(&s, 0) < 0 && left(&s, 1) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_devices_share_evenly),  cmocka_unit_test(what_one_does_not_want_the_other_has),
        cmocka_unit_test(the_last_one_has_all),          cmocka_unit_test(a_greedy_one_gives_nothing_back),
        cmocka_unit_test(overheads_starve_nobody),       cmocka_unit_test(without_a_budget_there_is_no_share),
        cmocka_unit_test(after_the_end_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
