/* Which visits count: the yardstick of the host's core, the clock, and when too few would be left. */
#include "core/engine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { VISITS = 6, USUAL = 40 };

struct scene {
    struct as_run run;
    struct as_engine engine;
    struct as_cell cell;
    struct as_visit visits[VISITS];
    double samples[VISITS];
    char detail[VISITS][64];
    struct as_gate_context context;
    struct as_error err;
};

static void set_up(struct scene *s, double usual_ns)
{
    *s = (struct scene){.run = {.visits = VISITS}, .cell = {.precision = 0.02}};
    s->engine = (struct as_engine){.run = &s->run};
    snprintf(s->cell.device, sizeof s->cell.device, "cpu");
    snprintf(s->cell.probe, sizeof s->cell.probe, "latency");
    for (int i = 0; i < USUAL; i++)
        assert_int_equal(as_yardsticks_add(&s->engine.yardsticks, usual_ns + i % 5, &s->err), AS_OK);
    for (int v = 0; v < VISITS; v++) {
        s->samples[v] = 10;
        s->visits[v] = (struct as_visit){.number = v,
                                         .n = 1,
                                         .samples = &s->samples[v],
                                         .status = AS_CELL_OK,
                                         .clock_hz = 3e9,
                                         .clock_lo = 3e9,
                                         .clock_hi = 3e9,
                                         .detail = s->detail[v]};
        snprintf(s->detail[v], sizeof s->detail[v], "{\"lines\":64,\"yardstick_ns\":%d}", 13000);
    }
}

static void slow(struct scene *s, int v)
{
    snprintf(s->detail[v], sizeof s->detail[v], "{\"yardstick_ns\":19500,\"more\":1}");
    s->samples[v] = 14;
}

static size_t judge(struct scene *s)
{
    size_t excluded = 0;
    assert_int_equal(as_engine_judge_visits(&s->engine, &s->cell, s->visits, VISITS, 0, &s->context, &s->err), AS_OK);
    for (int v = 0; v < VISITS; v++)
        excluded += s->visits[v].excluded != 0;
    return excluded;
}

static void test_slow_host_is_left_out(void **unused)
{
    struct scene s;
    (void)unused;
    set_up(&s, 13000);
    assert_int_equal(judge(&s), 0);
    slow(&s, 1), slow(&s, 4);
    assert_int_equal(judge(&s), 2);
    assert_true(s.visits[1].excluded && s.visits[4].excluded);
    assert_string_equal(s.visits[1].reason, "drift: the host's core was 50% slower than usual");
    assert_non_null(strstr(s.context.drift_text, "the host's core was slow in 2 of 6"));
    assert_int_not_equal(s.context.drift, AS_GATE_FAIL);
    /* what the whole run read decides: it may have been slow all along */
    as_yardsticks_finish(&s.engine.yardsticks);
    for (int i = 0; i < USUAL; i++)
        assert_int_equal(as_yardsticks_add(&s.engine.yardsticks, 19400, &s.err), AS_OK);
    assert_int_equal(judge(&s), 0);
    assert_string_equal(s.visits[1].reason, "");
    as_yardsticks_finish(&s.engine.yardsticks);
}

static void test_enough_must_be_left(void **unused)
{
    struct scene s;
    (void)unused;
    set_up(&s, 13000);
    slow(&s, 0), slow(&s, 1), slow(&s, 2);
    assert_int_equal(judge(&s), 3);
    assert_int_not_equal(s.context.drift, AS_GATE_FAIL);
    slow(&s, 3); /* then the number is not the machine's */
    assert_int_equal(judge(&s), 0);
    assert_int_equal(s.context.drift, AS_GATE_FAIL);
    assert_non_null(strstr(s.context.drift_text, "slow in 4 of 6 visits, too few others"));
    as_yardsticks_finish(&s.engine.yardsticks);
}

static void test_slow_host_that_does_not_matter(void **unused)
{
    struct scene s;
    (void)unused;
    set_up(&s, 13000);
    for (int v = 0; v < 3; v++)
        slow(&s, v), s.samples[v] = 10.05; /* what they measured is within half the precision of the others */
    assert_int_equal(judge(&s), 0);
    assert_int_not_equal(s.context.drift, AS_GATE_FAIL);
    assert_non_null(strstr(s.context.drift_text, "slow in 3 of 6 visits, in 3 the number is"));
    s.samples[2] = 10.3; /* one was disturbed */
    assert_int_equal(judge(&s), 1);
    assert_true(s.visits[2].excluded);
    s.samples[2] = 10.05;
    slow(&s, 3); /* two others are too few to vouch for them: that they were steady was perhaps only not seen */
    s.samples[3] = 10.05;
    for (int i = 0; i < USUAL; i++)
        assert_int_equal(as_yardsticks_add(&s.engine.yardsticks, 13000, &s.err), AS_OK);
    assert_int_equal(judge(&s), 0);
    assert_int_equal(s.context.drift, AS_GATE_FAIL);
    as_yardsticks_finish(&s.engine.yardsticks);
}

static void test_clock_and_host_together(void **unused)
{
    struct scene s;
    (void)unused;
    set_up(&s, 13000);
    slow(&s, 0);
    s.visits[5].clock_lo = 2e9;
    assert_int_equal(judge(&s), 2);
    assert_string_equal(s.visits[5].reason, "clock: it moved by 33.3%");
    slow(&s, 1), slow(&s, 2); /* three are left only as long as the one with the clock is one of them */
    assert_int_equal(judge(&s), 3);
    assert_int_equal(s.visits[5].excluded, 0);
    as_yardsticks_finish(&s.engine.yardsticks);
}

static void test_few_readings_say_nothing(void **unused)
{
    struct as_yardsticks y = {0};
    struct as_error err;
    (void)unused;
    for (int i = 0; i < 7; i++) {
        assert_int_equal(as_yardsticks_add(&y, 100 - i, &err), AS_OK);
        assert_true(isnan(as_yardstick_excess(&y, 200)));
    }
    assert_int_equal(as_yardsticks_add(&y, NAN, &err), AS_OK);
    assert_int_equal(as_yardsticks_add(&y, -1, &err), AS_OK);
    assert_int_equal(y.n, 7);
    assert_int_equal(as_yardsticks_add(&y, 50, &err), AS_OK);
    for (size_t i = 1; i < y.n; i++)
        assert_true(y.ns[i - 1] <= y.ns[i]);
    assert_true(fabs(as_yardstick_excess(&y, 100) - 1) < 1e-12); /* 50 94 95 ... */
    for (int i = 0; i < 12; i++)
        assert_int_equal(as_yardsticks_add(&y, 100, &err), AS_OK);
    assert_true(fabs(as_yardstick_excess(&y, 188) - 1) < 1e-12); /* of twenty, the lowest is left aside */
    assert_true(isnan(as_yardstick_excess(&y, NAN)));
    as_yardsticks_finish(&y);
}

static void test_what_a_visit_read(void **unused)
{
    static const struct {
        char detail[80];
        double ns;
    } rows[] = {{"{\"yardstick_ns\":13019.5}", 13019.5},
                {"{\"a\":1,\"yardstick_ns\":1e4,\"b\":2}", 1e4},
                {"{\"yardstick_ns\":null}", NAN},
                {"{\"yardstick_ns\":-5}", NAN},
                {"{\"yardstick_ns\":", NAN},
                {"{\"yardstick_ns\":11111111111111111111111111111111111111111111111111}", NAN},
                {"{}", NAN}};
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char copy[80];
        memcpy(copy, rows[i].detail, sizeof copy);
        double ns = as_yardstick_of(&(struct as_visit){.detail = copy});
        assert_true(isnan(rows[i].ns) ? isnan(ns) : ns == rows[i].ns);
    }
    assert_true(isnan(as_yardstick_of(&(struct as_visit){.detail = NULL})));
}

static void test_the_work_takes_time(void **unused)
{
    (void)unused;
    /* 8000 turns cannot take less than a cycle each: a folded loop would */
    double ns = as_yardstick_now();
    assert_true(ns > 1000);
    assert_true(isfinite(ns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_host_is_left_out),
        cmocka_unit_test(test_enough_must_be_left),
        cmocka_unit_test(test_slow_host_that_does_not_matter),
        cmocka_unit_test(test_clock_and_host_together),
        cmocka_unit_test(test_few_readings_say_nothing),
        cmocka_unit_test(test_what_a_visit_read),
        cmocka_unit_test(test_the_work_takes_time),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
