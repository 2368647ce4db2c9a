/* Who is visited next: the cells of the host while it is as fast as usual, the device's own meanwhile. */
#include "core/engine.h"

#include "scripted_clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS = 6, KNOWN = 40 };

static double host_ns = 14000, for_once_ns; /* what the next reading says; 0: as the others */
static int readings;

static double scripted(void)
{
    const double ns = for_once_ns > 0 ? for_once_ns : host_ns;
    for_once_ns = 0;
    readings++;
    return ns;
}

/* Cells 0, 2 and 4 are of probe "copy", in which the host has a part, 1, 3 and 5 of "latency". */
struct scene {
    struct as_engine engine;
    struct as_slot slot;
    struct as_cell cells[CELLS];
    struct as_progress progress[CELLS];
    size_t order[CELLS];
};

static void set_up(struct scene *s)
{
    clock_script(1e-6);
    *s = (struct scene){.engine = {.sentinels_first = CELLS, .cells_n = CELLS, .pace = {.read = scripted}}};
    s->engine.cells = s->cells;
    s->engine.progress = s->progress;
    for (size_t i = 0; i < CELLS; i++) {
        snprintf(s->cells[i].probe, sizeof s->cells[i].probe, "%s", i % 2 ? "latency" : "copy");
        s->cells[i].precision = 0.15;
        s->progress[i] = (struct as_progress){.slot = &s->slot, .host = i % 2 == 0};
        s->order[i] = i;
    }
    host_ns = 14000;
    for (int i = 0; i < KNOWN; i++)
        (void)as_pace_now(&s->engine.pace);
}

/* The host is so slow from now on: what was read before is a while ago. */
static void host_takes(double ns)
{
    host_ns = ns;
    clock_pass(10);
}

static bool choose(struct scene *s, bool may_wait)
{
    return as_engine_choose(&s->engine, s->order, CELLS, may_wait);
}

static void assert_order(const struct scene *s, const size_t wanted[CELLS])
{
    assert_memory_equal(s->order, wanted, sizeof s->order);
}

static void order_stays_while_the_host_is_steady(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    assert_true(choose(&s, true));
    assert_order(&s, (size_t[]){0, 1, 2, 3, 4, 5});
    host_takes(14600); /* a step of its clock */
    assert_true(choose(&s, true));
    assert_order(&s, (size_t[]){0, 1, 2, 3, 4, 5});
    as_pace_finish(&s.engine.pace);
}

static void device_goes_on_while_the_host_is_slow(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    host_takes(14900); /* by more than a step or two */
    assert_true(choose(&s, false));
    assert_order(&s, (size_t[]){1, 0, 2, 3, 4, 5});
    s.progress[1].over = 1;
    assert_true(choose(&s, false));
    assert_order(&s, (size_t[]){3, 1, 0, 2, 4, 5});
    as_pace_finish(&s.engine.pace);
}

static void host_waits_where_it_may(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    for (size_t i = 1; i < CELLS; i += 2)
        s.progress[i].over = 1;
    host_takes(16000);
    assert_false(choose(&s, true));
    assert_true(choose(&s, false)); /* nothing else is left */
    assert_int_equal(s.order[0], 0);
    host_takes(14000);
    assert_true(choose(&s, true));
    assert_int_equal(s.order[0], 0);
    as_pace_finish(&s.engine.pace);
}

/* On a host that is often slow the good moments are for those that need them. */
static void host_goes_first_where_good_moments_are_rare(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    s.order[0] = 1, s.order[1] = 0;
    assert_true(choose(&s, true));
    assert_int_equal(s.order[0], 1);
    host_takes(16000);
    for (int i = 0; i < 3; i++) /* of 44 looks; a few are nothing */
        assert_true(as_pace_now(&s.engine.pace) > 0.1);
    assert_false(as_pace_is_scarce(&s.engine.pace));
    for (int i = 0; i < 4; i++)
        assert_true(as_pace_now(&s.engine.pace) > 0.1);
    host_takes(14000);
    assert_true(as_pace_is_scarce(&s.engine.pace));
    assert_true(choose(&s, true));
    assert_order(&s, (size_t[]){0, 1, 2, 3, 4, 5});
    as_pace_finish(&s.engine.pace);
}

/* A neighbour on the reader's own core for a moment is not a slow host. */
static void one_bad_reading_says_nothing(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    host_ns = 25000;
    assert_true(as_pace_now(&s.engine.pace) < 0.01);
    clock_pass(0.5);
    assert_true(as_pace_now(&s.engine.pace) < 0.01);
    assert_false(as_pace_is_scarce(&s.engine.pace));
    as_pace_finish(&s.engine.pace);
}

/* Nor is it where nothing was read for a while: it is looked at again before it is believed to be slow. */
static void slowness_is_looked_at_thrice(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    host_takes(14000);
    for_once_ns = 25000;
    readings = 0;
    assert_true(as_pace_now(&s.engine.pace) < 0.01);
    assert_int_equal(readings, 2);
    host_takes(25000);
    readings = 0;
    assert_true(as_pace_now(&s.engine.pace) > 0.5);
    assert_int_equal(readings, 3);
    assert_int_equal(s.engine.pace.slow, 1);
    assert_true(as_pace_now(&s.engine.pace) > 0.5);
    assert_int_equal(readings, 4);
    as_pace_finish(&s.engine.pace);
}

static void cells_of_both_kinds_are_seen(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    assert_true(as_engine_is_mixed(&s.engine, s.order, CELLS));
    assert_false(as_engine_is_mixed(&s.engine, s.order, 1));
    for (size_t i = 1; i < CELLS; i += 2)
        s.progress[i].over = 1;
    assert_false(as_engine_is_mixed(&s.engine, s.order, CELLS));
    as_pace_finish(&s.engine.pace);
}

static void nobody_waits_where_nothing_is_known(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    as_pace_finish(&s.engine.pace);
    s.engine.pace = (struct as_pace){.read = scripted};
    assert_true(isnan(as_pace_now(&s.engine.pace)));
    assert_true(choose(&s, true));
    assert_order(&s, (size_t[]){0, 1, 2, 3, 4, 5});
    as_pace_finish(&s.engine.pace);
    s.engine.pace = (struct as_pace){.read = NULL};
    assert_true(choose(&s, true));
    assert_order(&s, (size_t[]){0, 1, 2, 3, 4, 5});
}

static void visits_tell_whose_cells_they_are(void **state)
{
    struct scene s;
    (void)state;
    set_up(&s);
    s.progress[2].visits = 1;
    as_engine_learn_host(&s.engine, 0, false);
    assert_false(s.progress[0].host);
    assert_true(s.progress[2].host); /* its own visit said so */
    assert_false(s.progress[4].host);
    as_engine_learn_host(&s.engine, 1, true);
    assert_true(s.progress[1].host && s.progress[3].host && s.progress[5].host);
    assert_false(s.progress[0].host);
    struct as_slot another = {0};
    s.progress[5].slot = &another;
    as_engine_learn_host(&s.engine, 1, false);
    assert_false(s.progress[3].host);
    assert_true(s.progress[5].host); /* on another device */
    as_pace_finish(&s.engine.pace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_stays_while_the_host_is_steady),
        cmocka_unit_test(device_goes_on_while_the_host_is_slow),
        cmocka_unit_test(host_waits_where_it_may),
        cmocka_unit_test(host_goes_first_where_good_moments_are_rare),
        cmocka_unit_test(one_bad_reading_says_nothing),
        cmocka_unit_test(slowness_is_looked_at_thrice),
        cmocka_unit_test(cells_of_both_kinds_are_seen),
        cmocka_unit_test(nobody_waits_where_nothing_is_known),
        cmocka_unit_test(visits_tell_whose_cells_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
