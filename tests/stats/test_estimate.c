/* Known answers for estimates of cells. */
#include "sim.h"

#include "stats/estimate.h"
#include "stats/order.h"
#include "stats/weighted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.12g is not %.12g", a, b);
}

static struct as_estimate estimate_of(const struct as_trial_samples *t, size_t n, const struct as_prior *prior)
{
    struct as_estimate e;
    assert_int_equal(as_estimate_cell(t, n, NULL, prior, NULL, &e, NULL), AS_OK);
    assert_true(e.ci.lo <= e.value && e.value <= e.ci.hi);
    return e;
}

static void test_weighted(void **state)
{
    (void)state;
    struct as_weighted p[100], scratch[100];
    double x[100];
    struct as_rng r;
    as_rng_seed(&r, 1);
    for (size_t n = 1; n <= 100; n++) {
        for (size_t i = 0; i < n; i++) {
            x[i] = (double)as_rng_below(&r, 50);
            p[i] = (struct as_weighted){x[i], 3};
        }
        as_weighted_sort(p, n, scratch);
        for (size_t i = 1; i < n; i++)
            assert_true(p[i - 1].x <= p[i].x);
        assert_near(as_weighted_quantile(p, n, 0.5), as_median(x, n), 1e-12);
        assert_near(as_weighted_number(p, n), (double)n, 1e-9);
    }
    const struct as_weighted q[] = {{1, 1}, {2, 1}, {3, 8}};
    assert_near(as_weighted_quantile(q, 3, 0.5), 3 - 1.0 / 4.5, 1e-12);
    assert_near(as_weighted_quantile(q, 3, 0), 1, 0);
    assert_near(as_weighted_quantile(q, 3, 1), 3, 0);
    assert_near(as_student95(20), as_student(20, 0.95), 0);
    assert_near(as_student95(1e9), as_student(60, 0.95), 0);
    assert_near(as_student95(2.5), 3.5747, 0.02); /* by integration of the density */
    assert_true(as_student95(1.5) < as_student95(1) && as_student95(1.5) > as_student95(2));
}

/* Three trials of one sample without a prior: Student's interval on three logarithms. */
static void test_three(void **state)
{
    (void)state;
    const double x[] = {9, 10, 11};
    const struct as_trial_samples t[] = {
        {&x[0], NULL, NULL, 1, 0}, {&x[1], NULL, NULL, 1, 0}, {&x[2], NULL, NULL, 1, 0}};
    struct as_estimate e = estimate_of(t, 3, NULL);
    double m = (log(9) + log(10) + log(11)) / 3, ss = pow(log(9) - m, 2) + pow(log(10) - m, 2) + pow(log(11) - m, 2);
    assert_near(e.ci.lo, exp(m - as_student(2, 0.95) * sqrt(ss / 6)), 1e-6);
    assert_near(e.ci.hi, exp(m + as_student(2, 0.95) * sqrt(ss / 6)), 1e-6);
    assert_near(e.value, 10, 0);
    assert_near(e.log_var, ss / 2, 1e-12);
    assert_int_equal(e.df, 2);
    assert_int_equal(e.trials, 3);
    /* a steady group narrows it, but not below half */
    struct as_prior steady = {.df = 32, .var = 1e-6, .upper_var = 1e-6};
    e = estimate_of(t, 3, &steady);
    assert_near(log(e.ci.hi / e.ci.lo), as_student(2, 0.95) * sqrt(ss / 6), 1e-6);
    /* and one that scatters widens it */
    struct as_prior wild = {.df = 32, .var = 0.1, .upper_var = 0.1};
    e = estimate_of(t, 3, &wild);
    assert_near(log(e.ci.hi / e.ci.lo), 2 * as_student95(34) * sqrt((32 * 0.1 + ss) / 34 / 3), 1e-6);
}

/* One trial of one sample has a finite interval, with or without a prior. */
static void test_one(void **state)
{
    (void)state;
    const double x[] = {10};
    const struct as_trial_samples t = {x, NULL, NULL, 1, 0};
    struct as_estimate e = estimate_of(&t, 1, NULL);
    assert_near(e.ci.lo, 5, 1e-3);
    assert_near(e.ci.hi, 20, 1e-3);
    assert_int_equal(e.df, 0);
    assert_true(e.wide && e.causes == AS_WIDE_TIME);
    struct as_prior group = {.df = 4, .var = 1e-4, .upper_var = 4e-4};
    e = estimate_of(&t, 1, &group);
    assert_near(log(e.ci.hi / e.ci.lo), 2 * 1.96 * 0.02, 1e-5);
    group.sample_var = 0.01; /* single samples scatter by 10% */
    e = estimate_of(&t, 1, &group);
    assert_near(log(e.ci.hi / e.ci.lo), 2 * 1.96 * 0.1 * sqrt(1.5708), 1e-4);
    struct as_estimate none;
    assert_int_equal(as_estimate_cell(NULL, 0, NULL, NULL, NULL, &none, NULL), AS_OK);
    assert_true(isnan(none.value) && isnan(none.ci.lo) && none.n == 0);
}

static void test_not_positive(void **state)
{
    (void)state;
    const double zero[] = {0, 0, 0}, mixed[] = {-1, 0, 1}, negative[] = {-10};
    const struct as_trial_samples z = {zero, NULL, NULL, 3, 0}, m = {negative, NULL, NULL, 1, 0};
    const struct as_trial_samples three[] = {
        {&mixed[0], NULL, NULL, 1, 0}, {&mixed[1], NULL, NULL, 1, 0}, {&mixed[2], NULL, NULL, 1, 0}};
    const struct as_trial_samples zeros[] = {z, z, z};
    struct as_prior group = {.df = 4, .var = 1e-4, .upper_var = 4e-4};
    struct as_estimate e = estimate_of(zeros, 3, &group);
    assert_near(e.value, 0, 0);
    assert_near(e.ci.hi, 0, 0);
    e = estimate_of(three, 3, NULL);
    assert_near(e.ci.lo, -as_student(2, 0.95) / sqrt(3), 1e-6);
    assert_int_equal(e.df, 0);
    e = estimate_of(&m, 1, &group);
    assert_near(e.ci.lo, -10 - 10 * 1.96 * 0.02, 1e-4);
    e = estimate_of(&m, 1, NULL);
    assert_true(e.ci.lo < -15 && e.ci.hi > -5 && isfinite(e.ci.lo));
}

static void test_exact(void **state)
{
    (void)state;
    const double x[] = {64, 64, 64}, y[] = {63, 64, 64};
    struct as_trial_samples t = {x, NULL, NULL, 3, 0};
    const struct as_aim count = {.exact = true};
    struct as_estimate e;
    assert_int_equal(as_estimate_cell(&t, 1, NULL, NULL, &count, &e, NULL), AS_OK);
    assert_near(e.ci.lo, 64, 0);
    assert_near(e.ci.hi, 64, 0);
    assert_false(e.wide);
    t.x = y;
    assert_int_equal(as_estimate_cell(&t, 1, NULL, NULL, &count, &e, NULL), AS_OK);
    assert_near(e.ci.lo, 63, 0);
    assert_true(e.wide);
}

/* Times at 4 GHz and 2 GHz are equal at the reference clock, as are rates; raw numbers stay. */
static void test_clock(void **state)
{
    (void)state;
    const double times[] = {10, 20, 10, 20}, rates[] = {20, 10, 20, 10}, hz[] = {4e9, 2e9, 4e9, 2e9};
    struct as_trial_samples t = {times, hz, NULL, 4, 0};
    struct as_norm norm = {.beta = 1, .reference_hz = 4e9};
    struct as_estimate e;
    assert_int_equal(as_estimate_cell(&t, 1, &norm, NULL, NULL, &e, NULL), AS_OK);
    assert_near(e.value, 10, 1e-12);
    assert_near(e.mad, 0, 1e-12);
    assert_near(e.raw_value, 15, 1e-12);
    assert_near(e.raw_lo, 10, 0);
    assert_near(e.raw_hi, 20, 0);
    t.x = rates;
    norm.rate = true;
    assert_int_equal(as_estimate_cell(&t, 1, &norm, NULL, NULL, &e, NULL), AS_OK);
    assert_near(e.value, 20, 1e-12);
    norm.beta = 0.5;
    assert_int_equal(as_estimate_cell(&t, 1, &norm, NULL, NULL, &e, NULL), AS_OK);
    assert_near(e.max, 20, 1e-12);
    assert_near(e.min, 10 * sqrt(2), 1e-12);
    /* a sample of unknown clock does not count beside enough others; all count if no clock is known */
    const double partly[] = {4e9, 2e9, NAN, 2e9};
    t.clock_hz = partly;
    assert_int_equal(as_estimate_cell(&t, 1, &norm, NULL, NULL, &e, NULL), AS_OK);
    assert_int_equal(e.n, 3);
    t.clock_hz = NULL;
    assert_int_equal(as_estimate_cell(&t, 1, &norm, NULL, NULL, &e, NULL), AS_OK);
    assert_int_equal(e.n, 4);
    assert_true(e.causes & AS_WIDE_CLOCK);
    t.clock_hz = hz;
    assert_int_equal(as_estimate_cell(&t, 1, NULL, NULL, NULL, &e, NULL), AS_OK);
    assert_true(e.causes & AS_WIDE_CLOCK); /* the clock moved, with unknown effect */
    norm.beta = 0;
    assert_int_equal(as_estimate_cell(&t, 1, &norm, NULL, NULL, &e, NULL), AS_OK);
    assert_false(e.causes & AS_WIDE_CLOCK);
}

static void test_weights(void **state)
{
    (void)state;
    const double x[] = {10, 11, 12, 99, 98, 97}, w[] = {1, 1, 1, 0, 0, 0}, few[] = {1, 1, 0, 0, 0, 0};
    struct as_trial_samples t[2] = {{x, NULL, w, 6, 0}, {x, NULL, w, 6, 0}};
    struct as_estimate e = estimate_of(t, 1, NULL);
    assert_near(e.value, 11, 0);
    assert_near(e.max, 12, 0);
    assert_int_equal(e.left_out, 3);
    assert_false(e.causes & AS_WIDE_CONTENTION);
    t[1].weight = few; /* loses its weight */
    e = estimate_of(t, 2, NULL);
    assert_int_equal(e.trials, 1);
    assert_true(e.causes & AS_WIDE_CONTENTION);
    t[0].weight = few; /* no trial is left, so all samples count */
    e = estimate_of(t, 2, NULL);
    assert_int_equal(e.trials, 2);
    assert_int_equal(e.n, 12);
    assert_true((e.causes & AS_WIDE_CONTENTION) && !(e.causes & AS_WIDE_BUSY));
    assert_true(log(e.ci.hi / e.ci.lo) >= 2 * log(2) - 1e-3);
    /* a group that was not contended does not narrow the interval, which is open where the number would be better */
    struct as_prior steady = {.df = 32, .var = 1e-6, .upper_var = 1e-6};
    const double y[] = {1, 1, 1, 1, 1, 1};
    for (int better = -1; better <= 1; better += 2) {
        const struct as_aim aim = {.better = better};
        assert_int_equal(as_estimate_cell(t, 2, NULL, &steady, &aim, &e, NULL), AS_OK);
        assert_true(better > 0 ? e.ci.lo >= 10 : e.ci.lo <= 10.0 / 16);
        assert_true(better < 0 ? e.ci.hi <= 99 : e.ci.hi >= 99.0 * 16);
    }
    e = estimate_of(t, 2, &steady);
    t[1].x = y; /* nor does it hide that trials are far apart */
    e = estimate_of(t, 2, &steady);
    assert_true(log(e.ci.hi / e.ci.lo) > 2 * 6.3 * log(10) / 2);
    const double a[] = {4.900449}, b[] = {4.900566}, c[] = {4.900445}; /* three that agree are evidence */
    const struct as_trial_samples agree[] = {{a, NULL, w + 5, 1, 0}, {b, NULL, w + 5, 1, 0}, {c, NULL, w + 5, 1, 0}};
    e = estimate_of(agree, 3, &steady);
    assert_true((e.causes & AS_WIDE_CONTENTION) && log(e.ci.hi / e.ci.lo) < 0.005);
    assert_true(log(estimate_of(agree, 2, &steady).ci.hi / estimate_of(agree, 2, &steady).ci.lo) > log(2));
    const double tiny[] = {1e-300}, huge[] = {1e300};
    const struct as_trial_samples far[] = {{tiny, NULL, NULL, 1, 0}, {huge, NULL, NULL, 1, 0}};
    assert_true(isfinite(estimate_of(far, 2, NULL).ci.hi));
}

/* Other work makes no number better: a contended trial counts if it is better than those that seemed undisturbed. */
static void test_better_though_contended(void **state)
{
    (void)state;
    const double slow[] = {21}, fast[] = {203}, contended[] = {0};
    const struct {
        const double *seemed_clean, *contended;
        int better;
        size_t trials;
    } rows[] = {{slow, fast, 1, 2}, {fast, slow, 1, 1}, {fast, slow, -1, 2}, {slow, fast, -1, 1}, {slow, fast, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct as_trial_samples t[] = {{rows[i].seemed_clean, NULL, NULL, 1, 0},
                                             {rows[i].contended, NULL, contended, 1, 0}};
        const struct as_aim aim = {.better = rows[i].better};
        struct as_estimate e;
        assert_int_equal(as_estimate_cell(t, 2, NULL, NULL, &aim, &e, NULL), AS_OK);
        assert_int_equal(e.trials, rows[i].trials);
        if (e.trials == 2)
            assert_true(e.ci.lo <= 21 && e.ci.hi >= 203 && !(e.causes & AS_WIDE_BUSY));
    }
}

/* A long trial does not outweigh a short one. */
static void test_balance(void **state)
{
    (void)state;
    double x[33];
    for (int i = 0; i < 33; i++)
        x[i] = i < 20 ? 10 + 0.001 * i : 20 + 0.001 * i;
    const struct as_trial_samples t[] = {
        {x, NULL, NULL, 20, 0}, {x + 20, NULL, NULL, 6, 0}, {x + 26, NULL, NULL, 7, 0}};
    assert_near(estimate_of(t, 3, NULL).value, 20, 0.1);
}

/* Share of cells whose interval covers the truth if each process has a random speed. */
static double coverage_over_processes(int processes, int trials_each, bool known)
{
    enum { CELLS = 2000, SAMPLES = 10 };
    struct as_rng r;
    size_t inside = 0;
    as_rng_seed(&r, 40);
    for (int c = 0; c < CELLS; c++) {
        double x[24][SAMPLES];
        struct as_trial_samples t[24];
        size_t n = 0;
        for (int p = 0; p < processes; p++) {
            const double speed = 1 + 0.08 * as_rng_normal(&r);
            for (int k = 0; k < trials_each; k++, n++) {
                for (int i = 0; i < SAMPLES; i++)
                    x[n][i] = speed * (1 + 0.005 * as_rng_normal(&r));
                t[n] = (struct as_trial_samples){.x = x[n], .n = SAMPLES, .process = known ? p + 1 : 0};
            }
        }
        const struct as_estimate e = estimate_of(t, n, NULL);
        inside += e.ci.lo <= 1 && 1 <= e.ci.hi;
    }
    return (double)inside / CELLS;
}

/* Many trials of few processes show how these differ, not how all processes do. */
static void test_processes(void **state)
{
    (void)state;
    static const struct {
        int processes, trials_each;
    } cases[] = {{3, 1}, {3, 4}, {5, 2}, {8, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double covered = coverage_over_processes(cases[i].processes, cases[i].trials_each, true);
        if (!(covered >= 0.93 && covered <= 0.995))
            fail_msg("%d processes of %d trials: %.3f", cases[i].processes, cases[i].trials_each, covered);
    }
    /* as if trials were independent; with a single process no rule helps */
    const double apart = coverage_over_processes(3, 4, false), alone = coverage_over_processes(1, 12, true);
    if (!(apart < 0.85 && alone < 0.3))
        fail_msg("%.3f, %.3f", apart, alone);
}

static void test_refused(void **state)
{
    (void)state;
    double x[] = {1, 2, 3}, hz[] = {1e9, 1e9, 1e9}, w[] = {1, 1, 1};
    const struct as_trial_samples t = {x, hz, w, 3, 0};
    struct as_estimate e;
    double *const at[] = {&x[1], &hz[1], &w[1]}, bad[] = {INFINITY, 0, -1};
    for (size_t i = 0; i < 3; i++) {
        double good = *at[i];
        *at[i] = bad[i];
        assert_int_equal(as_estimate_cell(&t, 1, NULL, NULL, NULL, &e, NULL), AS_FORMAT);
        *at[i] = good;
    }
    assert_string_equal(as_wide_word(AS_WIDE_MODES), "modes");
    assert_null(as_wide_word(3));
}

static void test_drift_and_modes(void **state)
{
    (void)state;
    double x[5][20];
    struct as_trial_samples t[5];
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < 20; i++)
            x[k][i] = 10 + k + 0.01 * i;
        t[k] = (struct as_trial_samples){.x = x[k], .n = 20};
    }
    struct as_estimate e = estimate_of(t, 5, NULL);
    assert_near(e.drift, log(1.4), 0.02);
    assert_true((e.causes & AS_WIDE_DRIFT) && (e.causes & AS_WIDE_PLACEMENT));
    /* trials alternate between two modes: the interval holds both */
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 20; i++)
            x[k][i] = (k % 2 ? 20 : 10) + 0.01 * i;
    e = estimate_of(t, 5, NULL);
    assert_int_equal(e.modes, 2);
    assert_false(e.modes_decided);
    assert_true(e.ci.lo <= e.mode[0] && e.ci.hi >= e.mode[1] && (e.causes & AS_WIDE_MODES));
    /* each trial has a few in the other mode: decided */
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 20; i++)
            x[k][i] = (i % 5 == k % 5 ? 20 : 10) + 0.01 * i;
    e = estimate_of(t, 5, NULL);
    assert_int_equal(e.modes, 2);
    assert_true(e.modes_decided && e.ci.hi < 11);
}

static void test_prior(void **state)
{
    (void)state;
    enum { CELLS = 200 };
    double var[CELLS];
    unsigned df[CELLS];
    struct as_prior p;
    struct as_rng r;
    as_rng_seed(&r, 5);
    assert_int_equal(as_prior_fit(var, df, 0, &p, NULL), AS_OK);
    assert_near(p.df, 0, 0);
    /* all alike: much weight, and no wider for one trial than Student's t */
    for (int i = 0; i < CELLS; i++) {
        double a = as_rng_normal(&r), b = as_rng_normal(&r);
        df[i] = 2;
        var[i] = 1e-4 * (a * a + b * b) / 2;
    }
    assert_int_equal(as_prior_fit(var, df, CELLS, &p, NULL), AS_OK);
    assert_true(p.df >= 11);
    assert_near(sqrt(p.var), 0.01, 0.001);
    assert_true(p.upper_var < 4e-4 && p.cells == CELLS);
    /* a tenth of them a hundred times as wide: hardly any weight, and wide for one trial */
    for (int i = 0; i < CELLS; i += 10)
        var[i] *= 1e4;
    assert_int_equal(as_prior_fit(var, df, CELLS, &p, NULL), AS_OK);
    assert_true(p.df < 4 && sqrt(p.upper_var) > 0.02);
    /* two cells cannot show that they are alike; variances of 0 are not trusted */
    assert_int_equal(as_prior_fit((const double[]){1e-4, 1.1e-4}, (const unsigned[]){2, 2}, 2, &p, NULL), AS_OK);
    assert_true(p.df <= 2);
    assert_int_equal(as_prior_fit((const double[]){0, 0, 0}, (const unsigned[]){2, 2, 2}, 3, &p, NULL), AS_OK);
    assert_true(p.var > 0 && isfinite(p.upper_var));
}

static void test_reference_clock(void **state)
{
    (void)state;
    const double hz[] = {3.6e9, 3.601e9, 4.1e9, 4.102e9, 4.101e9, NAN, 0, 2e9}, w[] = {1, 1, 1, 1, 0, 1, 1, 5};
    assert_near(as_reference_clock(hz, NULL, 8), 4.101e9, 0);
    assert_near(as_reference_clock(hz, w, 8), 2e9, 0);
    assert_true(isnan(as_reference_clock(hz + 5, NULL, 1)));
    assert_true(isnan(as_reference_clock(NULL, NULL, 0)));
}

static void test_sample_weights(void **state)
{
    (void)state;
    static const struct {
        double before, after;
        bool contended;
        double weight, hz;
    } rows[] = {{4e9, 4e9, false, 1, 4e9}, {4e9, 3.9e9, false, 0.1, 3.95e9}, {4e9, NAN, false, 1, 4e9},
                {NAN, NAN, false, 1, NAN}, {1e9, 4e9, false, 0, NAN},        {4e9, 4e9, true, 0, 4e9}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double hz;
        assert_near(as_sample_weight(rows[i].before, rows[i].after, 2e9, rows[i].contended, &hz), rows[i].weight, 0);
        if (isnan(rows[i].hz))
            assert_true(isnan(hz)); /* a disturbed reading gives no clock */
        else
            assert_near(hz, rows[i].hz, 1);
    }
    double hz;
    assert_near(as_sample_weight(1e9, 4e9, 0, false, &hz), 0.1, 0);
}

/* Samples of trials whose clock hops, or differs from trial to trial, with errors in its readings. */
static struct as_exponent exponent_of(double beta, double moves, bool within, bool rate, double error)
{
    enum { CELLS = 4, TRIALS = 6, EACH = 30 };
    static double x[CELLS][TRIALS][EACH], hz[CELLS][TRIALS][EACH];
    static struct as_trial_samples t[CELLS][TRIALS];
    struct as_cell_trials cells[CELLS];
    struct as_rng r;
    as_rng_seed(&r, 6);
    for (int c = 0; c < CELLS; c++) {
        for (int k = 0; k < TRIALS; k++) {
            double level = (1 + c) * (within ? exp(0.2 * as_rng_normal(&r)) : 1), all = as_rng_double(&r) * moves;
            for (int i = 0; i < EACH; i++) {
                double ln = within ? as_rng_double(&r) * moves : all;
                x[c][k][i] = level * exp((rate ? beta : -beta) * ln + 0.01 * as_rng_normal(&r));
                hz[c][k][i] = 4e9 * exp(ln + error * as_rng_normal(&r));
            }
            t[c][k] = (struct as_trial_samples){.x = x[c][k], .clock_hz = hz[c][k], .n = EACH};
        }
        cells[c] = (struct as_cell_trials){t[c], TRIALS};
    }
    struct as_exponent e;
    assert_int_equal(as_exponent_fit(cells, CELLS, rate, &e, NULL), AS_OK);
    return e;
}

static void test_exponent(void **state)
{
    (void)state;
    static const double betas[] = {0, 0.5, 1};
    for (int b = 0; b < 3; b++)
        for (int within = 0; within < 2; within++)
            for (int rate = 0; rate < 2; rate++) {
                struct as_exponent e = exponent_of(betas[b], 0.13, within, rate, 0.0025);
                assert_true(e.known && e.trials >= 10);
                assert_near(e.beta, betas[b], 0.06);
                assert_true(e.beta >= 0 && e.beta <= 1);
            }
    assert_false(exponent_of(1, 0.02, true, false, 0.001).known); /* moved by less than 3% */
    assert_false(exponent_of(1, 0, false, false, 0).known);
    struct as_exponent none;
    assert_int_equal(as_exponent_fit(NULL, 0, false, &none, NULL), AS_OK);
    assert_false(none.known);
}

/* Printed, not checked, since it depends on other work on the machine. */
static void test_speed(void **state)
{
    (void)state;
    enum { TRIALS = 5, EACH = 200, ROUNDS = 200 };
    static double x[TRIALS][EACH], hz[TRIALS][EACH];
    struct as_trial_samples t[TRIALS];
    struct as_rng r;
    as_rng_seed(&r, 7);
    for (int k = 0; k < TRIALS; k++) {
        for (int i = 0; i < EACH; i++) {
            x[k][i] = 1 + 0.01 * as_rng_normal(&r);
            hz[k][i] = 3.6e9 + 5e8 * as_rng_double(&r);
        }
        t[k] = (struct as_trial_samples){.x = x[k], .clock_hz = hz[k], .n = EACH};
    }
    const struct as_norm norm = {.beta = 0.7, .reference_hz = 4e9};
    const struct as_prior prior = {.df = 4, .var = 1e-4, .upper_var = 4e-4};
    struct as_estimate e;
    double start = as_now();
    for (int i = 0; i < ROUNDS; i++)
        assert_int_equal(as_estimate_cell(t, TRIALS, &norm, &prior, NULL, &e, NULL), AS_OK);
    print_message("5 trials of 200 samples: %.0f us\n", 1e6 * (as_now() - start) / ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_weighted),
                                       cmocka_unit_test(test_three),
                                       cmocka_unit_test(test_one),
                                       cmocka_unit_test(test_not_positive),
                                       cmocka_unit_test(test_exact),
                                       cmocka_unit_test(test_clock),
                                       cmocka_unit_test(test_weights),
                                       cmocka_unit_test(test_better_though_contended),
                                       cmocka_unit_test(test_balance),
                                       cmocka_unit_test(test_processes),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_drift_and_modes),
                                       cmocka_unit_test(test_prior),
                                       cmocka_unit_test(test_reference_clock),
                                       cmocka_unit_test(test_sample_weights),
                                       cmocka_unit_test(test_exponent),
                                       cmocka_unit_test(test_speed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
