/* Change points, the end of the warm-up, plateaus, two modes: known answers and simulation. */
#include "sim.h"

#include "stats/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 16 };

/* Levels one after the other, `each` samples long, with noise around them. */
static size_t steps(struct as_rng *r, const double *levels, size_t count, size_t each, double noise, double *x)
{
    size_t n = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < each; i++)
            x[n++] = levels[k] + noise * as_rng_normal(r);
    return n;
}

static void test_changes(void **state)
{
    (void)state;
    struct as_rng r;
    as_rng_seed(&r, 1);
    double x[400];
    size_t at[MAX];
    const double levels[] = {10, 12, 9};
    for (int round = 0; round < 200; round++) {
        size_t n = steps(&r, levels, 3, 40, 0.3, x);
        assert_int_equal(as_change_points(x, n, NAN, at, MAX), 2);
        assert_in_range(at[0], 39, 41);
        assert_in_range(at[1], 79, 81);
        assert_int_equal(as_change_points(x, n, NAN, at, 1), 1);
        assert_in_range(at[0], 39, 41);
        assert_int_equal(as_change_points(x, n, 1e9, at, MAX), 0);
    }
}

/* No change: normal, skewed and two-mode noise, and lone spikes */
static void test_no_changes(void **state)
{
    (void)state;
    double x[100];
    size_t at[MAX];
    for (size_t k = 0; k <= KINDS; k++) {
        struct as_rng r;
        as_rng_seed(&r, k);
        int alarms = 0, rounds = 600;
        for (int round = 0; round < rounds; round++) {
            for (size_t i = 0; i < 100; i++)
                x[i] = k < KINDS ? kinds[k].draw(&r) : as_rng_double(&r) < 0.03 ? 1000.0 : 1 + 0.01 * as_rng_normal(&r);
            alarms += as_change_points(x, 100, NAN, at, MAX) > 0;
        }
        print_message("%s: %.2f%% false alarms\n", k < KINDS ? kinds[k].name : "spikes", 100.0 * alarms / rounds);
        assert_true(alarms <= 0.05 * rounds);
    }
}

static void test_change_edges(void **state)
{
    (void)state;
    size_t at[MAX];
    double x[100] = {0};
    assert_int_equal(as_change_points(x, 100, NAN, at, MAX), 0); /* constant */
    for (int i = 50; i < 100; i++)
        x[i] = 1;
    assert_int_equal(as_change_points(x, 100, NAN, at, MAX), 1); /* a step without noise */
    assert_int_equal(at[0], 50);
    assert_int_equal(as_change_points(x, 100, NAN, at, 0), 0);
    assert_int_equal(as_change_points(x, 0, NAN, at, MAX), 0);
    x[7] = NAN;
    assert_int_equal(as_change_points(x, 100, NAN, at, MAX), 0);
}

static void test_warmup(void **state)
{
    (void)state;
    struct as_rng r;
    as_rng_seed(&r, 3);
    double x[200];
    int good = 0, none = 0, first = 0, late = 0;
    for (int round = 0; round < 500; round++) {
        /* ten slow samples, then ten less so, then steady */
        for (size_t i = 0; i < 100; i++)
            x[i] = (i < 10 ? 3 : i < 20 ? 1.5 : 1) * (1 + 0.02 * as_rng_normal(&r));
        good += as_warmup_end(x, 100) >= 19 && as_warmup_end(x, 100) <= 24;
        for (size_t i = 0; i < 100; i++)
            x[i] = 1 + 0.02 * as_rng_normal(&r);
        none += as_warmup_end(x, 100) == 0;
        x[0] = 50; /* a first launch that compiles */
        first += as_warmup_end(x, 100) == 1;
        x[0] = 1;
        for (size_t i = 70; i < 100; i++)
            x[i] *= 1.5; /* a change in the second half is not warm-up */
        late += as_warmup_end(x, 100) == 0;
    }
    print_message("of 500: end found %d, none where none is %d, first sample alone %d, late change left alone %d\n",
                  good, none, first, late);
    assert_true(good >= 490 && none >= 490 && first >= 490 && late >= 490);
    /* a clock that rises to its steady state: the rest is steady */
    for (size_t i = 0; i < 200; i++)
        x[i] = 1 + exp(-(double)i / 10) + 0.005 * as_rng_normal(&r);
    size_t end = as_warmup_end(x, 200);
    print_message("exponential approach: %zu\n", end);
    assert_in_range(end, 20, 100);
    assert_int_equal(as_warmup_end(x, 3), 0);
    assert_int_equal(as_warmup_end(x, 0), 0);
}

/* As many samples as in a long run: still no change. */
static void test_many_samples(void **state)
{
    (void)state;
    static double x[3000];
    struct as_rng r;
    as_rng_seed(&r, 4);
    for (size_t i = 0; i < 3000; i++)
        x[i] = as_rng_normal(&r);
    size_t at[MAX];
    assert_int_equal(as_change_points(x, 3000, NAN, at, MAX), 0);
    for (size_t i = 2100; i < 3000; i++)
        x[i] += 1;
    assert_int_equal(as_change_points(x, 3000, NAN, at, MAX), 1);
    assert_in_range(at[0], 2080, 2120);
}

/* ---- the dip ---- */

/* Whether a unimodal distribution with its mode at x[mode] lies within d/n of the empirical one. Left of the mode: the
 * least value at the mode that a convex curve in the band can end at; the right is the mirror image. */
static bool convex_fits(const double *x, size_t m, double d, double end)
{
    end = fmin(end, (double)m + d);
    for (size_t i = 0; i < m; i++) {
        double hull = (double)i + d;
        for (size_t a = 0; a <= i; a++)
            for (size_t b = i; b <= m; b++)
                if (b > a) {
                    double ya = (double)a + d, yb = b == m ? end : (double)b + d;
                    hull = fmin(hull, ya + (x[i] - x[a]) / (x[b] - x[a]) * (yb - ya));
                }
        if (hull < (double)(i + 1) - d - 1e-12)
            return false;
    }
    return true;
}

static double least_end(const double *x, size_t m, double d)
{
    double lo = -1, hi = (double)m + d;
    if (m == 0)
        return 0;
    if (!convex_fits(x, m, d, hi))
        return INFINITY;
    for (int k = 0; k < 45; k++) {
        double mid = 0.5 * (lo + hi);
        if (convex_fits(x, m, d, mid))
            hi = mid;
        else
            lo = mid;
    }
    return hi;
}

static double dip_by_definition(const double *x, size_t n)
{
    double mirror[16], best = INFINITY;
    for (size_t i = 0; i < n; i++)
        mirror[i] = -x[n - 1 - i];
    for (size_t m = 0; m < n; m++) {
        double lo = 0.5, hi = (double)n;
        for (int k = 0; k < 40; k++) {
            double d = 0.5 * (lo + hi);
            if (least_end(x, m, d) <= (double)n - least_end(mirror, n - 1 - m, d) + 1e-9)
                hi = d;
            else
                lo = d;
        }
        best = fmin(best, hi);
    }
    return best / (double)n;
}

static void test_dip(void **state)
{
    (void)state;
    const double even[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, two[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, one[] = {3, 3, 3};
    assert_true(fabs(as_dip(even, 10) - 0.05) < 1e-12); /* 1/(2n), the minimum */
    assert_true(fabs(as_dip(two, 10) - 0.25) < 1e-12);  /* the maximum */
    assert_true(fabs(as_dip(one, 3) - 1.0 / 6) < 1e-12);
    struct as_rng r;
    as_rng_seed(&r, 5);
    for (int round = 0; round < 300; round++) {
        size_t n = 2 + (size_t)as_rng_below(&r, 12);
        double x[16];
        for (size_t i = 0; i < n; i++) {
            double u = as_rng_double(&r);
            x[i] = round % 3 == 0 ? u * u + (as_rng_double(&r) < 0.4) : round % 3 == 1 ? as_rng_normal(&r) : u;
        }
        as_sort(x, n);
        double ours = as_dip(x, n), truth = dip_by_definition(x, n);
        if (fabs(ours - truth) > 1e-9)
            fail_msg("dip %.9g, by definition %.9g, n %zu", ours, truth, n);
    }
}

static void test_dip_table(void **state)
{
    (void)state;
    static const size_t sizes[] = {11, 35, 130, 800};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct as_rng r;
        as_rng_seed(&r, 60 + k);
        double x[800];
        int above = 0, rounds = 6000;
        for (int round = 0; round < rounds; round++) {
            double sum = 0;
            for (size_t i = 0; i < sizes[k]; i++)
                x[i] = sum -= log(1 - as_rng_double(&r));
            above += as_dip(x, sizes[k]) >= as_dip_critical(sizes[k]);
        }
        print_message("n %zu: %.2f%% of uniform data above the critical value\n", sizes[k], 100.0 * above / rounds);
        assert_true(above >= 0.006 * rounds && above <= 0.014 * rounds);
    }
    assert_true(isinf(as_dip_critical(5)));
    assert_true(as_dip_critical(1000000) < as_dip_critical(10000));
}

static void test_modes(void **state)
{
    (void)state;
    struct as_rng r;
    as_rng_seed(&r, 6);
    double x[200], mode[2], share;
    int found = 0, false_alarms = 0, rounds = 1000;
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < 60; i++)
            x[i] = (as_rng_double(&r) < 0.6 ? 1 : 1.3) * (1 + 0.01 * as_rng_normal(&r));
        if (as_two_modes(x, 60, mode, &share)) {
            found++;
            assert_true(fabs(mode[0] - 1) < 0.02 && fabs(mode[1] - 1.3) < 0.02 && share > 0.3 && share < 0.9);
        }
        for (size_t i = 0; i < 60; i++)
            x[i] = kinds[round % 3].draw(&r);
        false_alarms += as_two_modes(x, 60, mode, &share);
    }
    print_message("two modes found %.1f%%, false alarms %.2f%%\n", 100.0 * found / rounds,
                  100.0 * false_alarms / rounds);
    assert_true(found >= 0.99 * rounds);
    assert_true(false_alarms <= 0.01 * rounds);
    /* nearer than 1%, and a second mode of one in twenty: one mode */
    for (size_t i = 0; i < 200; i++)
        x[i] = (i % 2 ? 1 : 1.005) * (1 + 0.0001 * as_rng_normal(&r));
    assert_false(as_two_modes(x, 200, mode, &share));
    assert_true(isnan(mode[0]) && isnan(share));
    for (size_t i = 0; i < 200; i++)
        x[i] = (i % 20 ? 1 : 2) * (1 + 0.01 * as_rng_normal(&r));
    assert_false(as_two_modes(x, 200, mode, &share));
    for (size_t i = 0; i < 200; i++)
        x[i] = 5;
    assert_false(as_two_modes(x, 200, mode, &share));
    assert_false(as_two_modes(x, 0, mode, &share));
    x[0] = NAN;
    assert_false(as_two_modes(x, 200, mode, &share));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_changes),      cmocka_unit_test(test_no_changes),
                                       cmocka_unit_test(test_change_edges), cmocka_unit_test(test_warmup),
                                       cmocka_unit_test(test_many_samples), cmocka_unit_test(test_dip),
                                       cmocka_unit_test(test_dip_table),    cmocka_unit_test(test_modes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
