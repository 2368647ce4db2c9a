/* Ratios and comparison: known answers, power and false alarms. */
#include "sim.h"
#include "summarize.h"

#include "stats/estimate.h"

#include <math.h>
#include <string.h>

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.12g is not %.12g", a, b);
}

static void test_ratio_interval(void **state)
{
    (void)state;
    struct as_interval r = as_ratio_interval(10, (struct as_interval){9, 11}, 5, (struct as_interval){5, 5});
    assert_near(r.lo, 1.8, 1e-12);
    assert_near(r.hi, 2.2, 1e-12);
    r = as_ratio_interval(10, (struct as_interval){9, 11}, 5, (struct as_interval){4.5, 5.5});
    assert_near(r.lo, 2 * exp(-hypot(log(10.0 / 9), log(5.5 / 5))), 1e-12);
    assert_true(isnan(as_ratio_interval(0, (struct as_interval){0, 1}, 5, (struct as_interval){4, 6}).lo));
    assert_true(isnan(as_ratio_interval(1, (struct as_interval){NAN, NAN}, 5, (struct as_interval){4, 6}).lo));
    assert_true(isnan(as_ratio_interval(1, (struct as_interval){1, INFINITY}, 5, (struct as_interval){4, 6}).hi));
}

struct trial {
    size_t trials, each;
    double between, within;
};

/* One side as in a run: trials of samples, in a group whose scatter is known from about ten cells. */
static struct as_summary draw_summary(const struct trial *t, double level, struct as_rng *r)
{
    static double x[500];
    struct as_trial_samples trials[10] = {0};
    size_t n = 0;
    for (size_t k = 0; k < t->trials; k++) {
        const double shifted = level * exp(t->between * as_rng_normal(r));
        trials[k] = (struct as_trial_samples){.x = &x[n], .n = t->each};
        for (size_t i = 0; i < t->each; i++, n++) {
            /* timing noise: mostly narrow, with a tail to the slow side */
            double tail = as_rng_double(r) < 0.1 ? -log(1 - as_rng_double(r)) * 5 : 0;
            x[n] = shifted * (1 + t->within * (as_rng_normal(r) + tail));
        }
    }
    const double var = t->between * t->between + 1.6 * t->within * t->within / (double)t->each;
    const struct as_prior group = {.df = 16, .var = var, .upper_var = 1.6 * var};
    struct as_estimate e;
    struct as_error err;
    assert_int_equal(as_estimate_cell(trials, t->trials, NULL, &group, NULL, &e, &err), AS_OK);
    return (struct as_summary){.trials = e.trials, .median = e.value, .ci = e.ci};
}

/* Share of comparisons in which b, slower by the factor, gets this verdict; AS_CANNOT_TELL: share called different. */
static double share_of(const struct trial *t, double factor, double tolerance, enum as_verdict verdict, uint64_t seed)
{
    enum { ROUNDS = 1000 };
    struct as_rng r;
    as_rng_seed(&r, seed);
    int found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct as_summary a = draw_summary(t, 1, &r), b = draw_summary(t, factor, &r);
        struct as_comparison c;
        as_compare(&a, &b, true, tolerance, &c);
        assert_true(c.ci.lo <= c.ratio && c.ratio <= c.ci.hi && c.differ.lo <= c.ci.lo && c.ci.hi <= c.differ.hi);
        if (verdict == AS_CANNOT_TELL)
            found += c.verdict == AS_SLOWER || c.verdict == AS_FASTER;
        else
            found += c.verdict == verdict;
    }
    return (double)found / ROUNDS;
}

static void test_power(void **state)
{
    (void)state;
    static const struct trial trials[] = {
        {3, 20, 0.002, 0.01}, {3, 50, 0.003, 0.01}, {5, 20, 0.004, 0.01}, {8, 20, 0.006, 0.02}};
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        const struct trial *t = &trials[i];
        double slower = share_of(t, 1.02, 0, AS_SLOWER, i), faster = share_of(t, 1 / 1.02, 0, AS_FASTER, i);
        double strict = share_of(t, 1, 0, AS_CANNOT_TELL, 100 + i);
        double different = share_of(t, 1, 0.03, AS_CANNOT_TELL, 200 + i), same = share_of(t, 1, 0.03, AS_SAME, 300 + i);
        print_message("%zu trials of %zu: 2%% slower found %.1f%%, faster %.1f%%; none called different %.2f%% (at 3%% "
                      "%.2f%%), the same at 3%% %.1f%%\n",
                      t->trials, t->each, 100 * slower, 100 * faster, 100 * strict, 100 * different, 100 * same);
        assert_true(slower >= 0.85 && faster >= 0.85);
        assert_true(strict <= 0.02); /* 1%, and three standard errors of 1000 comparisons */
        assert_true(different <= 0.01);
        assert_true(same >= 0.95);
    }
}

static struct as_summary number(double median, double lo, double hi, size_t trials)
{
    return (struct as_summary){.n = 6 * trials, .trials = trials, .median = median, .ci = {lo, hi}};
}

static void test_edges(void **state)
{
    (void)state;
    struct as_comparison c;
    const struct as_summary one = number(1, 0.99, 1.01, 8), two = number(2, 1.98, 2.02, 8), zero = number(0, 0, 0, 8),
                            around = number(0.5, -1, 2, 8), none = number(NAN, NAN, NAN, 0);
    as_compare(&one, &two, true, 0.1, &c);
    assert_int_equal(c.verdict, AS_SLOWER);
    assert_near(c.ratio, 2, 0);
    as_compare(&one, &two, false, 0.1, &c);
    assert_int_equal(c.verdict, AS_FASTER);
    as_compare(&two, &one, true, 0.1, &c);
    assert_int_equal(c.verdict, AS_FASTER);
    as_compare(&one, &two, true, 1.5, &c);
    assert_int_equal(c.verdict, AS_SAME);
    as_compare(&one, &one, true, 0.005, &c);
    assert_int_equal(c.verdict, AS_CANNOT_TELL); /* equal numbers are inconclusive within their interval */
    const struct as_summary *odd[] = {&zero, &around, &none};
    for (size_t i = 0; i < 3; i++) {
        as_compare(&one, odd[i], true, 0.1, &c);
        assert_int_equal(c.verdict, AS_CANNOT_TELL);
        assert_true(isnan(c.ratio));
    }
    as_compare(&one, &two, true, NAN, &c);
    assert_int_equal(c.verdict, AS_CANNOT_TELL);
    assert_string_equal(as_verdict_word(AS_CANNOT_TELL), "inconclusive");
    assert_string_equal(as_verdict_word(AS_SAME), "same");
}

/* Counts are exact: equal ones are the same, including 0, others differ. */
static void test_counts(void **state)
{
    (void)state;
    struct as_comparison c;
    const struct as_summary zero = number(0, 0, 0, 3), five = number(5, 5, 5, 3), six = number(6, 6, 6, 3);
    as_compare(&zero, &zero, true, 0, &c);
    assert_int_equal(c.verdict, AS_SAME);
    as_compare(&five, &five, true, 0, &c);
    assert_int_equal(c.verdict, AS_SAME);
    as_compare(&five, &six, true, 0.1, &c);
    assert_int_equal(c.verdict, AS_SLOWER);
    as_compare(&zero, &five, true, 0.1, &c);
    assert_int_equal(c.verdict, AS_SLOWER);
    assert_true(isnan(c.ratio));
    as_compare(&zero, &five, false, 0.1, &c);
    assert_int_equal(c.verdict, AS_FASTER);
}

/* With few trials, disjoint intervals are not enough to differ. */
static void test_few_trials(void **state)
{
    (void)state;
    struct as_comparison many, few;
    struct as_summary a = number(1, 0.9, 1.1, 50), b = number(1.25, 1.13, 1.37, 50);
    as_compare(&a, &b, true, 0, &many);
    assert_int_equal(many.verdict, AS_SLOWER);
    a.trials = b.trials = 1;
    as_compare(&a, &b, true, 0, &few);
    assert_int_equal(few.verdict, AS_CANNOT_TELL);
    assert_near(few.ci.lo, many.ci.lo, 0);
    assert_true(few.differ.lo < many.differ.lo);
}

/* The helper of other tests. */
static void test_summarize(void **state)
{
    (void)state;
    struct as_summary s;
    const double x[] = {4, 1, 3, 2, 100, 5, 6}, bad[] = {1, INFINITY};
    const int trial[] = {0, 0, 0, 1, 1, 2, 2};
    assert_true(summarize(x, NULL, 7, &s));
    assert_near(s.median, 4, 1e-12);
    assert_int_equal(s.trials, 1);
    assert_true(s.min == 1 && s.max == 100 && s.ci.lo <= 4 && s.ci.hi >= 4);
    assert_true(summarize(x, trial, 7, &s));
    assert_int_equal(s.trials, 3);
    assert_false(summarize(bad, NULL, 2, &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ratio_interval), cmocka_unit_test(test_power),
                                       cmocka_unit_test(test_edges),          cmocka_unit_test(test_counts),
                                       cmocka_unit_test(test_few_trials),     cmocka_unit_test(test_summarize)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
