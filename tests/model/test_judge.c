/* From trials to numbers: each cause of width must detect its planted fault, and no other. */
#include "tests/model/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_all_well(void **state)
{
    struct scene *s = *state;
    scene_judge(s);
    const struct as_cell *c = &s->cells[0];
    assert_int_equal(c->status, AS_CELL_OK);
    assert_string_equal(c->reason, "");
    assert_int_equal(c->sum.n, TRIALS * N);
    assert_int_equal(c->sum.trials, TRIALS);
    assert_true(fabs(c->sum.median - 20) < 0.2 && c->sum.ci.lo < c->sum.median && c->sum.median < c->sum.ci.hi);
    assert_true(c->raw_low < c->sum.median && c->sum.median < c->raw_high);
    assert_int_equal(c->gates[AS_GATE_CODE].state, AS_GATE_NA);
    assert_true(s->judge.reference_hz == 4e9);
}

/* A clock that may be off by a factor widens what counts in its cycles, and says so; nothing else. */
static void test_clock_by_calibration(void **state)
{
    static const struct {
        const char *unit, *note;
        double off;
        bool wide;
    } rows[] = {{"ops/cycle", "{\"clock_off\": 1.2}", 1.2, true},
                {"cycles", "{\"clock_off\": 1.001}", 1.001, false},
                {"cycles", "{\"clock_off\": 1.5}", 1.5, true},
                {"GB/s", "{\"clock_off\": 1.5}", 1, false}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct scene *s = *state;
        scene_finish(s);
        scene_set_up(s);
        strcpy(s->cells[0].unit, rows[r].unit);
        scene_judge(s);
        const struct as_interval sure = s->cells[0].sum.ci;
        s->trials[0].v[1].detail = strdup(rows[r].note); /* the farthest of all trials counts */
        scene_judge(s);
        const struct as_cell *c = &s->cells[0];
        if (fabs(c->sum.ci.lo * rows[r].off - sure.lo) > 1e-9 || fabs(c->sum.ci.hi / rows[r].off - sure.hi) > 1e-9)
            fail_msg("row %zu: %g to %g of %g to %g", r, c->sum.ci.lo, c->sum.ci.hi, sure.lo, sure.hi);
        assert_int_equal(c->status, rows[r].wide ? AS_CELL_WIDE : AS_CELL_OK);
        assert_int_equal(c->causes, rows[r].wide ? AS_WIDE_CLOCK : 0);
        assert_true(!rows[r].wide || strstr(c->reason, "requested: clock"));
    }
}

/* A median of 0 makes every relative width infinite. */
static void test_zero_median_has_no_relative_width(void **state)
{
    struct scene *s = *state;
    for (size_t t = 0; t < TRIALS; t++)
        for (int i = 0; i < N; i++)
            s->trials[0].v[t].samples[i] = t == 1 && i % 3 == 0 ? 0.1 : 0;
    scene_judge(s);
    const struct as_cell *c = &s->cells[0];
    assert_true(c->sum.median == 0 && c->sum.ci.hi > 0);
    assert_int_equal(c->status, AS_CELL_WIDE);
    assert_non_null(strstr(c->reason, "the median is 0"));
    assert_null(strstr(c->reason, "inf"));
}

/* Trials that differ widen the interval, but do not reject. */
static void test_noise_is_width(void **state)
{
    struct scene *s = *state;
    for (int i = 0; i < N; i++)
        s->trials[0].v[1].samples[i] *= 1.15;
    scene_judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_WIDE);
    assert_true(s->cells[0].causes & AS_WIDE_PLACEMENT);
    assert_true(s->cells[0].sum.ci.lo < 20 && s->cells[0].sum.ci.hi > 20);
    assert_true(as_cell_is_valid(&s->cells[0]));
}

/* One trial of one sample has a number and a finite interval. */
static void test_out_of_time(void **state)
{
    struct scene *s = *state;
    for (int t = 1; t < TRIALS; t++)
        as_trial_finish(&s->trials[0].v[t]);
    s->trials[0].n = 1;
    s->trials[0].v[0].n = 1;
    scene_judge(s);
    assert_true(as_cell_is_valid(&s->cells[0]));
    assert_true(isfinite(s->cells[0].sum.ci.lo) && isfinite(s->cells[0].sum.ci.hi));
    if (s->cells[0].status == AS_CELL_WIDE)
        assert_true(s->cells[0].causes & AS_WIDE_TIME);
}

/* A number that follows the core's clock is normalised to the usual clock, however fast it ran. */
static void test_clock_of_a_core(void **state)
{
    struct scene *s = *state;
    for (size_t c = 0; c < CELLS; c++)
        for (int t = 0; t < TRIALS; t++)
            s->trials[c].v[t].footprint = 16 << 10, s->trials[c].v[t].claims_memory = 0;
    for (int i = 0; i < N; i++) {
        s->trials[0].v[1].core_hz[i] *= 0.8;
        s->trials[0].v[1].samples[i] *= 0.8;
    }
    scene_judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_OK);
    assert_true(s->cells[0].exponent == 1);
    assert_true(fabs(s->cells[0].sum.median - 20) < 0.2);
}

/* Memory has its own clock. */
static void test_clock_beside_memory(void **state)
{
    struct scene *s = *state;
    for (int i = 0; i < N; i++)
        s->trials[0].v[1].core_hz[i] *= 0.8;
    scene_judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_OK);
    assert_true(s->cells[0].exponent == 0);
}

/* The first n samples of each trial of cell 0 lose their weight and are scaled. */
static void contend(struct scene *s, int n, double by)
{
    for (int t = 0; t < TRIALS; t++)
        for (int i = 0; i < n; i++) {
            s->trials[0].v[t].weight[i] = 0;
            s->trials[0].v[t].samples[i] *= by;
        }
    scene_judge(s);
}

static void test_contended_samples(void **state)
{
    struct scene *s = *state;
    contend(s, N / 2, 0.6);
    assert_int_equal(s->cells[0].status, AS_CELL_OK);
    assert_true(fabs(s->cells[0].sum.median - 20) < 0.2);
    assert_true(as_cell_is_evidence(&s->cells[0]));
}

/* Other work in every trial leaves a bound: the interval is open on the better side, and the number is no evidence. */
/* Where one trial is left of several, its interval does not leave out what most of the others saw. */
static void test_one_trial_left_of_several(void **state)
{
    struct scene *s = *state;
    for (int t = 1; t < TRIALS; t++)
        for (int i = 0; i < N; i++) {
            s->trials[0].v[t].samples[i] /= 3;
            s->trials[0].v[t].weight[i] = 0;
        }
    scene_judge(s);
    const struct as_cell *c = &s->cells[0];
    assert_int_equal(c->sum.trials, 1);
    assert_true(c->sum.ci.lo <= c->raw_low && c->raw_low < 8);
    assert_true(c->sum.ci.hi >= c->raw_high);
}

static void test_contended_throughout(void **state)
{
    struct scene *s = *state;
    const struct as_cell *c = &s->cells[0];
    contend(s, N, 1.0 / 6); /* a rate */
    assert_true(as_cell_is_valid(c) && as_cell_is_busy(c) && !as_cell_is_evidence(c));
    assert_int_equal(c->status, AS_CELL_WIDE);
    assert_true(c->sum.ci.hi > 20 && c->sum.ci.lo > 0.9 * 20 / 6);
    assert_true(strncmp(c->reason, "other work in every trial: contention, ", 39) == 0);
    s->device.is_cpu = false; /* threads of its driver may be the other work */
    scene_judge(s);
    assert_true(!as_cell_is_busy(c) && c->sum.ci.hi < 20);
}

static void test_throttled(void **state)
{
    struct scene *s = *state;
    for (int i = 0; i < N; i++)
        s->trials[0].v[1].samples[i] *= 0.8;
    struct as_readings *r = &s->trials[0].v[1].readings;
    as_readings_clear(r);
    strcpy(r->sensor, "nvml");
    r->throttle = AS_THROTTLE_POWER_CAP;
    scene_judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_WIDE);
    assert_true(s->cells[0].causes & AS_WIDE_CLOCK);
    assert_non_null(strstr(s->cells[0].reason, "throttled: power cap"));
    s->context.own_power = true;
    scene_judge(s);
    assert_null(strstr(s->cells[0].reason, "throttled"));
}

/* Another process on the device disturbs every sample, so their scatter does not show it. */
static void test_shared_device(void **state)
{
    struct scene *s = *state;
    scene_judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_OK);
    for (size_t t = 0; t < s->trials[0].n; t++) {
        struct as_readings *r = &s->trials[0].v[t].readings;
        as_readings_clear(r);
        strcpy(r->sensor, "nvml");
        r->users = 1;
    }
    scene_judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_WIDE);
    assert_true(s->cells[0].causes & AS_WIDE_CONTENTION);
    assert_true(s->cells[0].sum.ci.lo <= s->cells[0].sum.min && s->cells[0].sum.ci.hi >= s->cells[0].sum.max);
    assert_non_null(strstr(s->cells[0].reason, "another process on the device in "));
}

/* Measurements before a crash count; a cell without any number gives the reason. */
static void test_crash(void **state)
{
    struct scene *s = *state;
    struct as_trial *last = &s->trials[0].v[TRIALS - 1];
    as_trial_finish(last);
    last->status = AS_CELL_CRASHED;
    strcpy(last->reason, "killed by signal 9");
    scene_judge(s);
    assert_true(as_cell_is_valid(&s->cells[0]));
    assert_int_equal(s->cells[0].sum.trials, TRIALS - 1);
    assert_non_null(strstr(s->cells[0].reason, "killed by signal 9"));
    for (int t = 0; t < TRIALS - 1; t++)
        as_trial_finish(&s->trials[0].v[t]);
    scene_judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_CRASHED);
    assert_string_equal(s->cells[0].reason, "killed by signal 9");
}

static void test_isolated_trials_do_not_count(void **state)
{
    struct scene *s = *state;
    s->trials[0].v[2].excluded = 1;
    s->trials[0].v[2].number = AS_ISOLATED_TRIAL;
    for (int i = 0; i < N; i++)
        s->trials[0].v[2].samples[i] = 1;
    s->judge.trials_asked = 2; /* further trials would widen the interval */
    scene_judge(s);
    assert_int_equal(s->cells[0].sum.trials, 2);
    assert_true(s->cells[0].sum.min > 15);
    const struct as_interval with = s->cells[0].sum.ci;
    as_trial_finish(&s->trials[0].v[--s->trials[0].n]);
    scene_judge(s);
    assert_true(s->cells[0].sum.ci.lo == with.lo && s->cells[0].sum.ci.hi == with.hi);
}

static void test_counts_are_exact(void **state)
{
    struct scene *s = *state;
    strcpy(s->cells[0].unit, "updates");
    for (int t = 0; t < TRIALS; t++) {
        s->trials[0].v[t].limit = NAN;
        for (int i = 0; i < N; i++)
            s->trials[0].v[t].samples[i] = 0;
    }
    scene_judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_OK);
    assert_true(s->cells[0].sum.median == 0 && s->cells[0].sum.ci.lo == 0 && s->cells[0].sum.ci.hi == 0);
}

static bool never_timed(const struct as_cell *cell)
{
    return strcmp(cell->probe, "accounting") == 0;
}

/* A neighbour makes no share of memory larger, and hides none. */
static void test_other_work_changes_no_amount(void **state)
{
    static const double seen[TRIALS] = {2, 1, 2};
    struct scene *s = *state;
    s->judge.is_untimed = never_timed;
    for (int t = 0; t < TRIALS; t++)
        s->trials[0].v[t].limit = NAN;
    for (int contended = 0; contended <= TRIALS; contended++) {
        strcpy(s->cells[0].unit, "x");
        strcpy(s->cells[0].probe, "accounting");
        for (int t = 0; t < TRIALS; t++)
            for (int i = 0; i < N; i++) {
                s->trials[0].v[t].samples[i] = seen[t];
                s->trials[0].v[t].weight[i] = t >= contended;
            }
        scene_judge(s);
        assert_true(!as_cell_is_busy(&s->cells[0]) && s->cells[0].sum.trials == TRIALS);
        assert_true(s->cells[0].sum.ci.lo == 1 && s->cells[0].sum.ci.hi == 2);
        strcpy(s->cells[0].unit, "updates");
        strcpy(s->cells[0].probe, "atomics_lost");
        scene_judge(s);
        assert_true(!as_cell_is_busy(&s->cells[0]) && s->cells[0].sum.trials == TRIALS);
        assert_true(s->cells[0].sum.ci.lo == 1 && s->cells[0].sum.ci.hi == 2);
    }
}

/* Neither few trials nor other work make physics uncertain. */
static void test_no_interval_passes_the_bound(void **state)
{
    struct scene *s = *state;
    struct as_cell *c = &s->cells[0];
    contend(s, N, 1); /* a rate of 20 at a bound of 25 */
    assert_true(c->sum.ci.hi == 25 && c->sum.ci.lo < 20);
    c->lower_is_better = true;
    for (int t = 0; t < TRIALS; t++)
        s->trials[0].v[t].limit = 15;
    scene_judge(s);
    assert_true(c->sum.ci.lo == 15 && c->sum.ci.hi > 20);
    for (int t = 0; t < TRIALS; t++)
        s->trials[0].v[t].limit = 19.9; /* and what is left is as narrow as requested */
    c->precision = 0.2;
    scene_judge(s);
    assert_int_equal(c->status, AS_CELL_OK);
}

static void test_causes_in_words(void **state)
{
    (void)state;
    struct as_buf b = AS_BUF_INIT;
    unsigned back;
    as_causes_text(AS_WIDE_TIME | AS_WIDE_MODES, &b);
    assert_string_equal(as_buf_get(&b), "time, modes");
    assert_int_equal(as_causes_parse("time, modes", &back, NULL), AS_OK);
    assert_int_equal(back, AS_WIDE_TIME | AS_WIDE_MODES);
    assert_int_equal(as_causes_parse("", &back, NULL), AS_OK);
    assert_int_equal(back, 0);
    assert_int_equal(as_causes_parse("luck", &back, NULL), AS_FORMAT);
    assert_non_null(as_cause_help("drift"));
    assert_null(as_cause_help("luck"));
    as_buf_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE_TEST(test_clock_by_calibration),
        SCENE_TEST(test_all_well),
        SCENE_TEST(test_zero_median_has_no_relative_width),
        SCENE_TEST(test_noise_is_width),
        SCENE_TEST(test_out_of_time),
        SCENE_TEST(test_clock_of_a_core),
        SCENE_TEST(test_clock_beside_memory),
        SCENE_TEST(test_contended_samples),
        SCENE_TEST(test_one_trial_left_of_several),
        SCENE_TEST(test_contended_throughout),
        SCENE_TEST(test_throttled),
        SCENE_TEST(test_shared_device),
        SCENE_TEST(test_crash),
        SCENE_TEST(test_isolated_trials_do_not_count),
        SCENE_TEST(test_counts_are_exact),
        SCENE_TEST(test_other_work_changes_no_amount),
        SCENE_TEST(test_no_interval_passes_the_bound),
        cmocka_unit_test(test_causes_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
