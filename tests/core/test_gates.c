/* Every gate must be able to fail: one planted fault for each, beside the same visits without it. */
#include "base/clock.h"
#include "core/drift.h"
#include "core/gates.h"
#include "core/probe.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VISITS = 3, N = 30 };

struct scene {
    struct as_cell cell;
    struct as_visit visits[VISITS];
    double samples[VISITS][N];
    struct as_gate_context context;
};

static void set_up(struct scene *s)
{
    struct as_rng rng;
    as_rng_seed(&rng, 7);
    *s = (struct scene){.cell = {.unit = "GB/s", .precision = 0.02},
                        .context = {.last_cache = 32 << 20, .drift = AS_GATE_PASS}};
    for (int v = 0; v < VISITS; v++) {
        for (int i = 0; i < N; i++)
            s->samples[v][i] = 20 * (1 + 0.005 * as_rng_normal(&rng));
        s->visits[v] = (struct as_visit){.number = v,
                                         .n = N,
                                         .samples = s->samples[v],
                                         .clock_hz = 3e9,
                                         .clock_lo = 2.99e9,
                                         .clock_hi = 3.01e9,
                                         .limit = 25,
                                         .limit_why = "a bus",
                                         .checksum = AS_GATE_PASS,
                                         .status = AS_CELL_OK,
                                         .footprint = 256 << 20,
                                         .claims_memory = 1,
                                         .duration_s = 0.1};
    }
}

static void judge(struct scene *s)
{
    assert_int_equal(as_gates_evaluate(&s->cell, s->visits, VISITS, &s->context, NULL), AS_OK);
}

static void fails_only(struct scene *s, enum as_gate gate)
{
    judge(s);
    assert_int_equal(s->cell.status, AS_CELL_UNTRUSTED);
    for (int g = 0; g < AS_GATE_N; g++)
        if ((s->cell.gates[g].state == AS_GATE_FAIL) != (g == (int)gate))
            fail_msg("gate %s: %s (%s)", as_gate_name((enum as_gate)g), as_gate_state_word(s->cell.gates[g].state),
                     s->cell.gates[g].text);
    assert_int_equal(strncmp(s->cell.reason, as_gate_name(gate), strlen(as_gate_name(gate))), 0);
}

static void test_all_pass(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    judge(&s);
    assert_int_equal(s.cell.status, AS_CELL_OK);
    assert_string_equal(s.cell.reason, "");
    assert_int_equal(s.cell.sum.n, VISITS * N);
    assert_int_equal(s.cell.sum.visits, VISITS);
    assert_true(fabs(s.cell.sum.median - 20) < 0.1);
    assert_int_equal(s.cell.gates[AS_GATE_CODE].state, AS_GATE_NA);
}

static void test_wrong_kernel(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    s.visits[1].checksum = AS_GATE_FAIL;
    fails_only(&s, AS_GATE_CHECKSUM);
}

static void test_folded_loop(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    for (int v = 0; v < VISITS; v++)
        for (int i = 0; i < N; i++)
            s.samples[v][i] *= 50;
    fails_only(&s, AS_GATE_LIMIT);
}

static void test_limit_of_a_time(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    s.cell.better_less = 1;
    for (int v = 0; v < VISITS; v++)
        s.visits[v].limit = 19.9; /* no access can be faster than this */
    judge(&s);
    assert_int_equal(s.cell.status, AS_CELL_OK);
    for (int v = 0; v < VISITS; v++)
        s.visits[v].limit = 21;
    fails_only(&s, AS_GATE_LIMIT);
}

static void test_clock_halves(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    s.visits[2].clock_lo = 1.5e9;
    fails_only(&s, AS_GATE_CLOCK);
    set_up(&s);
    s.visits[0].clock_hz = s.visits[0].clock_lo = s.visits[0].clock_hi = 2.2e9;
    fails_only(&s, AS_GATE_CLOCK);
}

/* What a sensor saw in visit v. */
static struct as_readings *watched(struct scene *s, int v)
{
    struct as_readings *r = &s->visits[v].readings;
    as_readings_clear(r);
    strcpy(r->sensor, "nvml");
    r->throttle = 0;
    return r;
}

static void test_throttled(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    for (int v = 0; v < VISITS; v++)
        watched(&s, v)->throttle = AS_THROTTLE_IDLE | AS_THROTTLE_SETTING;
    judge(&s);
    assert_int_equal(s.cell.status, AS_CELL_OK);
    assert_non_null(strstr(s.cell.gates[AS_GATE_CLOCK].text, "not throttled"));
    s.visits[1].readings.throttle |= AS_THROTTLE_POWER_CAP;
    fails_only(&s, AS_GATE_CLOCK); /* though the clock was steady */
    s.context.own_cycles = true;   /* a number in the clock's own cycles is the same at any rate of it */
    judge(&s);
    assert_int_equal(s.cell.gates[AS_GATE_CLOCK].state, AS_GATE_PASS);
    assert_non_null(strstr(s.cell.gates[AS_GATE_CLOCK].text, "power cap; cycles are the clock's own"));
    s.context.own_cycles = false;
    s.context.own_power = true; /* what lowers the clock is asked for, unless it is heat */
    judge(&s);
    assert_int_equal(s.cell.gates[AS_GATE_CLOCK].state, AS_GATE_PASS);
    s.visits[1].readings.throttle |= AS_THROTTLE_THERMAL;
    fails_only(&s, AS_GATE_CLOCK);
    s.visits[1].readings.throttle &= ~AS_THROTTLE_THERMAL;
    s.context.own_power = false;
    judge(&s);
    assert_non_null(strstr(s.cell.gates[AS_GATE_CLOCK].text, "throttled: power cap"));
    s.visits[1].excluded = 1; /* what a visit saw that does not count */
    judge(&s);
    assert_int_equal(s.cell.status, AS_CELL_OK);
}

static void test_clock_of_the_sensor(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    for (int v = 0; v < VISITS; v++) {
        s.visits[v].clock_hz = s.visits[v].clock_lo = s.visits[v].clock_hi = NAN;
        struct as_readings *r = watched(&s, v);
        r->clock_hz = r->clock_hi = 1.98e9;
        r->clock_lo = 1.97e9;
        r->users = v;
    }
    judge(&s);
    assert_int_equal(s.cell.gates[AS_GATE_CLOCK].state, AS_GATE_PASS);
    assert_true(s.cell.clock_hz == 1.98e9);
    assert_non_null(strstr(s.cell.gates[AS_GATE_CLOCK].text, "1.98 GHz by nvml"));
    assert_non_null(strstr(s.cell.gates[AS_GATE_CLOCK].text, "2 other processes on the device"));
    s.visits[0].readings.clock_lo = 1.2e9;
    fails_only(&s, AS_GATE_CLOCK);
    s.visits[0].clock_hz = s.visits[0].clock_lo = s.visits[0].clock_hi = 1.98e9; /* a cycle counter knows better */
    judge(&s);
    assert_int_equal(s.cell.gates[AS_GATE_CLOCK].state, AS_GATE_PASS);
}

static void test_sensor_without_clock(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    for (int v = 0; v < VISITS; v++) {
        s.visits[v].clock_hz = NAN;
        watched(&s, v);
    }
    judge(&s);
    assert_int_equal(s.cell.gates[AS_GATE_CLOCK].state, AS_GATE_NA);
    s.visits[2].readings.throttle = AS_THROTTLE_THERMAL;
    fails_only(&s, AS_GATE_CLOCK);
}

static void test_instructions_missing(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    for (int v = 0; v < VISITS; v++) {
        s.visits[v].code = AS_GATE_PASS;
        strcpy(s.visits[v].code_text, "64 load.global in the machine code, at least 64 wanted");
    }
    judge(&s);
    assert_int_equal(s.cell.gates[AS_GATE_CODE].state, AS_GATE_PASS);
    s.visits[1].code = AS_GATE_FAIL;
    strcpy(s.visits[1].code_text, "0 load.global in the machine code, at least 64 wanted");
    fails_only(&s, AS_GATE_CODE);
    assert_string_equal(s.cell.gates[AS_GATE_CODE].text, s.visits[1].code_text);
}

/* What a probe expects, on a device that counts and on one that does not. */
static enum as_status count_some(struct as_device *dev, struct as_kernel *kernel, const char *operation, uint64_t *n,
                                 struct as_error *err)
{
    (void)dev, (void)kernel;
    *n = strcmp(operation, "load.global") == 0 ? 64 : 0;
    return strcmp(operation, "nonsense") ? AS_OK : as_fail(err, AS_USAGE, "no such operation");
}

static void test_expectations(void **state)
{
    (void)state;
    static const struct as_program_ops programs = {.count = count_some};
    struct as_device dev = {.program = &programs};
    struct as_visit_context vc = {.dev = &dev};
    as_expect_code(&vc, NULL, "load.global", 1);
    assert_int_equal(vc.code, AS_GATE_NA);
    assert_string_equal(vc.code_text, "this backend does not give the machine code to count in");
    assert_int_equal(vc.detail.len, 0);
    dev.info.capabilities = AS_CAP_CODE;
    as_expect_code(&vc, NULL, "nonsense", 1);
    assert_int_equal(vc.code, AS_GATE_NA);
    as_expect_code(&vc, NULL, "load.global", 64);
    assert_int_equal(vc.code, AS_GATE_PASS);
    as_expect_code(&vc, NULL, "store.global", 0);
    assert_int_equal(vc.code, AS_GATE_PASS);
    assert_non_null(strstr(vc.code_text, "; 0 store.global"));
    as_expect_code(&vc, NULL, "fma.f64", 1);
    assert_int_equal(vc.code, AS_GATE_FAIL);
    as_expect_code(&vc, NULL, "load.global", 1); /* the worst counts */
    assert_int_equal(vc.code, AS_GATE_FAIL);
    assert_string_equal(vc.code_text, "0 fma.f64 in the machine code, at least 1 wanted");
    assert_non_null(strstr(as_buf_get(&vc.detail), "\"code_load_global\":64"));
    as_buf_finish(&vc.detail);
}

static void test_noise(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    s.cell.precision = 1e-5;
    fails_only(&s, AS_GATE_NOISE);
}

static void test_too_few_visits(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    s.context.visits = 5;
    s.visits[1].excluded = 1;
    fails_only(&s, AS_GATE_NOISE);
    assert_non_null(strstr(s.cell.gates[AS_GATE_NOISE].text, "2 visits of the 3"));
    s.context.visits = 2; /* asked for no more */
    judge(&s);
    assert_int_equal(s.cell.status, AS_CELL_OK);
}

static void test_two_modes(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    for (int v = 0; v < VISITS; v++)
        for (int i = 0; i < N; i += 3)
            s.samples[v][i] *= 1.3;
    s.cell.precision = 0.2;
    judge(&s);
    assert_int_equal(s.cell.sum.modes, 2);
    assert_true(fabs(s.cell.sum.mode[0] - 20) < 0.5 && fabs(s.cell.sum.mode[1] - 26) < 0.5);
    fails_only(&s, AS_GATE_NOISE);
    assert_non_null(strstr(s.cell.gates[AS_GATE_NOISE].text, "two modes"));
}

static void test_cache_sold_as_memory(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    for (int v = 0; v < VISITS; v++)
        s.visits[v].footprint = 64 << 20;
    fails_only(&s, AS_GATE_FOOTPRINT);
}

static void test_drift(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    s.context.drift = AS_GATE_FAIL;
    fails_only(&s, AS_GATE_DRIFT);
}

static void test_excluded_visits_do_not_count(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    for (int i = 0; i < N; i++)
        s.samples[1][i] = 3;
    s.visits[1].excluded = 1;
    judge(&s);
    assert_int_equal(s.cell.status, AS_CELL_OK);
    assert_int_equal(s.cell.sum.n, 2 * N);
    assert_true(s.cell.sum.min > 19);
}

static void test_crash_is_never_ok(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s);
    s.visits[2] = (struct as_visit){.number = 2, .status = AS_CELL_CRASHED, .reason = "signal 11"};
    judge(&s);
    assert_int_equal(s.cell.status, AS_CELL_CRASHED);
    assert_string_equal(s.cell.reason, "signal 11");
    assert_int_equal(s.cell.sum.n, 2 * N); /* the numbers stay */
}

static void test_sentinel(void **state)
{
    (void)state;
    struct as_sentinel s = {.what = "memory"};
    struct as_rng rng;
    as_rng_seed(&rng, 3);
    for (int t = 0; t < 60; t++) {
        double episode = t >= 30 && t < 40 ? 1.5 : 1;
        assert_int_equal(as_sentinel_add(&s, t, 100 * episode * (1 + 0.01 * as_rng_normal(&rng)), NULL), AS_OK);
    }
    double tolerance = as_sentinel_tolerance(&s);
    assert_true(tolerance >= 0.1 && tolerance < 0.25);
    assert_true(as_sentinel_deviation(&s, 10.2, 10.8) < tolerance);
    assert_true(as_sentinel_deviation(&s, 35.2, 35.8) > tolerance);
    assert_true(as_sentinel_deviation(&s, 29.2, 29.8) > tolerance); /* the episode may have begun inside the visit */
    assert_true(as_sentinel_deviation(&s, 45.2, 58.8) < tolerance);
    assert_true(as_sentinel_deviation(&s, 5, 100) > tolerance);
    as_sentinel_finish(&s);
    assert_true(isnan(as_sentinel_deviation(&s, 0, 1)));
}

static void test_reachable_cache(void **state)
{
    (void)state;
    struct as_device_info i = {.threads = 24, .caches_n = 2, .capabilities = AS_CAP_HOST_KERNELS};
    i.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 1 << 20, .shared = 1};
    i.caches[1] = (struct as_cache){.level = 3, .kind = 'u', .size = 32 << 20, .shared = 8};
    assert_int_equal(as_reachable_cache(&i, 1), 32 << 20);
    assert_int_equal(as_reachable_cache(&i, 2), 64 << 20);
    assert_int_equal(as_reachable_cache(&i, 24), 96 << 20);
    assert_int_equal(as_reachable_cache(&i, NAN), 32 << 20);
    i.capabilities = 0; /* a card whose driver tells of a small cache */
    assert_int_equal(as_reachable_cache(&i, 1), 64 << 20);
    i.is_host_memory = true;
    assert_int_equal(as_reachable_cache(&i, 1), 32 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pass),
        cmocka_unit_test(test_wrong_kernel),
        cmocka_unit_test(test_folded_loop),
        cmocka_unit_test(test_limit_of_a_time),
        cmocka_unit_test(test_clock_halves),
        cmocka_unit_test(test_throttled),
        cmocka_unit_test(test_clock_of_the_sensor),
        cmocka_unit_test(test_sensor_without_clock),
        cmocka_unit_test(test_instructions_missing),
        cmocka_unit_test(test_expectations),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_two_modes),
        cmocka_unit_test(test_too_few_visits),
        cmocka_unit_test(test_cache_sold_as_memory),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_excluded_visits_do_not_count),
        cmocka_unit_test(test_crash_is_never_ok),
        cmocka_unit_test(test_sentinel),
        cmocka_unit_test(test_reachable_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
