/* Who gets the time that is left after the rounds. */
#include "core/engine.h"

#include "scripted_clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS = 5, ROUNDS = 3, MOST = 12 };

/* Cells of one device that asks 5% of each, in a suite that asks 1%: visited thrice, 0.1 s each, trusted and precise.
 */
struct scene {
    struct as_run run;
    struct as_engine engine;
    struct as_slot slot;
    struct as_cell cells[CELLS];
    struct as_progress progress[CELLS];
    size_t order[CELLS], n;
};

static void interval(struct scene *s, size_t i, double width)
{
    s->cells[i].sum.median = 10;
    s->cells[i].sum.ci.lo = 10 - 5 * width;
    s->cells[i].sum.ci.hi = 10 + 5 * width;
    s->cells[i].gates[AS_GATE_NOISE].state = width > s->cells[i].precision ? AS_GATE_FAIL : AS_GATE_PASS;
}

static void set_up(struct scene *s, double left_s)
{
    clock_script(0);
    *s = (struct scene){.run = {.precision = 0.01, .visits = ROUNDS}};
    s->engine = (struct as_engine){.run = &s->run,
                                   .slots = &s->slot,
                                   .slots_n = 1,
                                   .cells = s->cells,
                                   .progress = s->progress,
                                   .cells_n = CELLS,
                                   .sentinels_first = CELLS,
                                   .rounds = ROUNDS,
                                   .start = as_now() - 10,
                                   .measured_from = as_now() - 10,
                                   .deadline = as_now() + left_s};
    for (size_t i = 0; i < CELLS; i++) {
        s->cells[i].precision = 0.05;
        s->progress[i] = (struct as_progress){.slot = &s->slot, .visits = ROUNDS, .clean = ROUNDS, .took_s = 0.1};
        interval(s, i, 0.005);
    }
}

static void find_some(struct scene *s, bool trust_only)
{
    struct as_error err;
    assert_int_equal(as_engine_find_wanting(&s->engine, MOST, trust_only, s->order, &s->n, &err), AS_OK);
}

static void find(struct scene *s)
{
    find_some(s, false);
}

static void nothing_is_wanted_where_all_is_precise(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s, 100);
    find(&s);
    assert_int_equal(s.n, 0);
}

/* Trust before more precision, and of each what takes least first. */
static void the_cheapest_come_first(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s, 100);
    interval(&s, 0, 0.02); /* more precise than asked of it, less than the suite is */
    interval(&s, 1, 0.08);
    interval(&s, 2, 0.06);
    interval(&s, 3, 0.06);
    s.progress[3].took_s = 5;
    find(&s);
    assert_int_equal(s.n, 4);
    assert_memory_equal(s.order, ((size_t[]){2, 1, 3, 0}), 4 * sizeof *s.order);
}

static void what_cannot_be_reached_waits_for_all_others(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s, 10);
    interval(&s, 0, 5); /* no number of visits does */
    interval(&s, 1, 0.06);
    interval(&s, 2, 0.06);
    s.progress[2].took_s = 20; /* nor is there time for one of these */
    find(&s);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.order[0], 1);
    interval(&s, 1, 0.005);
    find(&s);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.order[0] + s.order[1], 2);
    s.engine.deadline = INFINITY; /* all have the time */
    interval(&s, 1, 0.06);
    find(&s);
    assert_int_equal(s.n, 3);
}

static void visits_have_an_end(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s, 100);
    interval(&s, 0, 0.06);
    interval(&s, 1, 0.06);
    interval(&s, 2, 0.06);
    s.progress[0].visits = ROUNDS + MOST;
    s.progress[1].over = 1;
    find(&s);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.order[0], 2);
    interval(&s, 2, 0.005);
    find(&s);
    assert_int_equal(s.n, 0);
    s.progress[0].visits--;
    find(&s);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.order[0], 0);
}

/* While any can be brought to trust, those that are trusted wait for them, if that is asked. */
static void trust_comes_before_more_precision(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s, 100);
    interval(&s, 0, 0.02);
    interval(&s, 1, 0.06);
    find(&s);
    assert_int_equal(s.n, 2);
    find_some(&s, true);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.order[0], 1);
    interval(&s, 1, 5); /* no number of visits does */
    find_some(&s, true);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.order[0], 0);
}

/* The suite's precision is for what the budget leaves; of a cell that missed its own more is not asked. */
static void more_precision_is_for_what_is_left(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s, 100);
    interval(&s, 0, 0.02);
    find(&s);
    assert_int_equal(s.n, 1);
    s.engine.deadline = INFINITY;
    find(&s);
    assert_int_equal(s.n, 0);
    s.engine.deadline = as_now() + 100;
    s.cells[0].gates[AS_GATE_NOISE].state = AS_GATE_NA;
    find(&s);
    assert_int_equal(s.n, 0);
}

static void lost_visits_are_made_up_for(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s, 100);
    s.progress[0].clean = ROUNDS - 1;
    s.cells[1].gates[AS_GATE_DRIFT].state = AS_GATE_FAIL;
    s.progress[2] = (struct as_progress){.slot = &s.slot}; /* had no visit at all */
    s.cells[2].sum.median = NAN;
    s.cells[3].gates[AS_GATE_NOISE].state = AS_GATE_FAIL; /* two modes, near to each other */
    find(&s);
    assert_int_equal(s.n, 4);
    assert_int_equal(s.order[0], 2);
    assert_int_equal(s.order[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_wanted_where_all_is_precise),
        cmocka_unit_test(the_cheapest_come_first),
        cmocka_unit_test(what_cannot_be_reached_waits_for_all_others),
        cmocka_unit_test(visits_have_an_end),
        cmocka_unit_test(trust_comes_before_more_precision),
        cmocka_unit_test(more_precision_is_for_what_is_left),
        cmocka_unit_test(lost_visits_are_made_up_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
