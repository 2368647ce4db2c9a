/* Summary of a cell, ratios and comparison: known answers, coverage with visits that differ, power and false alarms. */
#include "sim.h"

#include "stats/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.12g is not %.12g", a, b);
}

static void test_known(void **state)
{
    (void)state;
    struct as_summary s;
    struct as_error err;
    assert_int_equal(as_summarize(NULL, NULL, 0, &s, &err), AS_OK);
    assert_int_equal(s.n, 0);
    assert_true(isnan(s.median) && isnan(s.ci.lo));
    const double x[] = {4, 1, 3, 2, 100, 5, 6};
    assert_int_equal(as_summarize(x, NULL, 7, &s, &err), AS_OK);
    near(s.median, 4, 0);
    near(s.mad, 2, 0);
    near(s.min, 1, 0);
    near(s.max, 100, 0);
    assert_int_equal(s.visits, 1);
    assert_int_equal(s.modes, 1);
    assert_true(s.ci.lo >= 1 && s.ci.lo <= 4 && s.ci.hi >= 4);
    const double bad[] = {1, INFINITY};
    assert_int_equal(as_summarize(bad, NULL, 2, &s, &err), AS_FORMAT);
    const int disorder[] = {1, 0};
    assert_int_equal(as_summarize(x, disorder, 2, &s, &err), AS_FORMAT);
}

/* A long visit does not outvote a short one. */
static void test_balance(void **state)
{
    (void)state;
    double x[33];
    int visit[33];
    for (int i = 0; i < 33; i++) {
        visit[i] = i < 30 ? 0 : 1;
        x[i] = i < 30 ? 10 + 0.001 * i : 20 + 0.001 * i;
    }
    struct as_summary s;
    assert_int_equal(as_summarize(x, visit, 33, &s, NULL), AS_OK);
    near(s.median, 15, 0.1);                           /* half the weight below, half above */
    assert_true(s.ci.lo <= 10.02 && s.ci.hi >= 20.03); /* both visits' medians */
    assert_int_equal(s.visits, 2);
    /* visits of one size: the plain median */
    struct as_rng r;
    as_rng_seed(&r, 4);
    for (int i = 0; i < 33; i++) {
        visit[i] = i / 11;
        x[i] = as_rng_double(&r);
    }
    assert_int_equal(as_summarize(x, visit, 33, &s, NULL), AS_OK);
    near(s.median, as_median(x, 33), 0);
    assert_int_equal(as_summarize(x, visit, 22, &s, NULL), AS_OK);
    near(s.median, as_median(x, 22), 1e-15);
}

/* Three visits of one sample each: Student's interval on three numbers. */
static void test_few(void **state)
{
    (void)state;
    const double x[] = {9, 10, 11};
    const int visit[] = {0, 1, 2};
    struct as_summary s;
    assert_int_equal(as_summarize(x, visit, 3, &s, NULL), AS_OK);
    /* on logarithms: mean and spread of log 9, log 10, log 11 */
    double m = (log(9) + log(10) + log(11)) / 3, ss = pow(log(9) - m, 2) + pow(log(10) - m, 2) + pow(log(11) - m, 2);
    near(s.ci.lo, exp(m - 4.30265273 * sqrt(ss / 6)), 1e-7);
    near(s.ci.hi, exp(m + 4.30265273 * sqrt(ss / 6)), 1e-7);
    const double negative[] = {-1, 0, 1};
    assert_int_equal(as_summarize(negative, visit, 3, &s, NULL), AS_OK);
    near(s.ci.lo, -4.30265273 / sqrt(3), 1e-7);
    assert_int_equal(as_summarize(x, NULL, 3, &s, NULL), AS_OK);
    assert_true(isnan(s.ci.lo));
}

/* x[0..visits*each) with visits that differ by a factor of standard deviation `between`; returns their number */
static size_t draw_visits(struct as_rng *r, const struct kind *kind, size_t visits, size_t each, double between,
                          double *x, int *visit)
{
    size_t n = 0;
    for (size_t v = 0; v < visits; v++) {
        double level = exp(between * as_rng_normal(r));
        for (size_t i = 0; i < each; i++, n++) {
            x[n] = level * kind->draw(r);
            visit[n] = (int)v;
        }
    }
    return n;
}

static double visits_coverage(const struct kind *kind, size_t visits, size_t each, double between, uint64_t seed)
{
    enum { ROUNDS = 5000 };
    static double x[1000];
    static int visit[1000];
    struct as_rng r;
    as_rng_seed(&r, seed);
    int inside = 0;
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = draw_visits(&r, kind, visits, each, between, x, visit);
        struct as_summary s;
        assert_int_equal(as_summarize(x, visit, n, &s, NULL), AS_OK);
        inside += s.ci.lo <= kind->median && kind->median <= s.ci.hi;
    }
    return (double)inside / ROUNDS;
}

/* Whether visits scatter not at all, about as much as the samples allow, or far more. With a visit of 11 samples the
 * median of two modes is itself of two modes, and Student's t does not hold for it. */
static void test_visits(void **state)
{
    (void)state;
    static const size_t visits[] = {3, 6, 7, 10}, each[] = {11, 50};
    static const double between[] = {0, 0.03, 0.3};
    for (size_t k = 0; k < KINDS; k++)
        for (size_t v = 0; v < 4; v++)
            for (size_t e = 0; e < 2; e++)
                for (size_t b = 0; b < 3 && !(k == 3 && e == 0); b++) {
                    uint64_t seed = k + 10 * v + 100 * e + 1000 * b;
                    double c = visits_coverage(&kinds[k], visits[v], each[e], between[b], seed);
                    print_message("%s, %zu visits of %zu, apart %.2f: %.2f%%\n", kinds[k].name, visits[v], each[e],
                                  between[b], 100 * c);
                    if (!(c >= 0.94 && c <= 0.96))
                        fail_msg("coverage %.4f", c);
                }
}

/* Median of a, and of a as the ratio to b = 1 */
static void test_bootstrap(void **state)
{
    (void)state;
    enum { ROUNDS = 1500, N = 40 };
    struct as_rng r;
    as_rng_seed(&r, 77);
    double a[N], b[N];
    int inside = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            a[i] = 3 * kinds[1].draw(&r);
            b[i] = kinds[1].draw(&r);
        }
        struct as_interval ci;
        assert_int_equal(as_bootstrap_ratio(a, NULL, N, b, NULL, N, 0.95, 400, (uint64_t)round, &ci, NULL), AS_OK);
        inside += ci.lo <= 3 && 3 <= ci.hi;
    }
    double coverage = (double)inside / ROUNDS;
    print_message("bootstrap: %.2f%%\n", 100 * coverage);
    assert_true(coverage > 0.93 && coverage < 0.975);

    struct as_interval first, second;
    as_bootstrap_ratio(a, NULL, N, b, NULL, N, 0.95, 400, 5, &first, NULL);
    as_bootstrap_ratio(a, NULL, N, b, NULL, N, 0.95, 400, 5, &second, NULL);
    near(first.lo, second.lo, 0);
    near(first.hi, second.hi, 0);
    as_bootstrap_ratio(a, NULL, N, a, NULL, N, 0.5, 400, 5, &second, NULL);
    assert_true(second.lo <= 1 && second.hi >= 1);
    b[3] = NAN;
    assert_int_equal(as_bootstrap_ratio(a, NULL, N, b, NULL, N, 0.95, 400, 5, &first, NULL), AS_USAGE);
    assert_int_equal(as_bootstrap_ratio(a, NULL, 0, a, NULL, N, 0.95, 400, 5, &first, NULL), AS_USAGE);
    assert_int_equal(as_bootstrap_ratio(a, NULL, N, a, NULL, N, 1.5, 400, 5, &first, NULL), AS_USAGE);
    memset(b, 0, sizeof b);
    assert_int_equal(as_bootstrap_ratio(a, NULL, N, b, NULL, N, 0.95, 400, 5, &first, NULL), AS_USAGE);
}

/* Drawing visits makes the interval of cells whose visits differ as wide as it has to be. */
static void test_bootstrap_visits(void **state)
{
    (void)state;
    enum { VISITS = 10, EACH = 20, N = VISITS * EACH };
    struct as_rng r;
    as_rng_seed(&r, 78);
    double a[N], b[N];
    int visit[N];
    struct as_interval with, without;
    for (int i = 0; i < N; i++)
        visit[i] = i / EACH;
    for (int v = 0; v < VISITS; v++) {
        double la = exp(0.1 * as_rng_normal(&r)), lb = exp(0.1 * as_rng_normal(&r));
        for (int i = v * EACH; i < (v + 1) * EACH; i++) {
            a[i] = la * (1 + 0.01 * as_rng_normal(&r));
            b[i] = lb * (1 + 0.01 * as_rng_normal(&r));
        }
    }
    as_bootstrap_ratio(a, visit, N, b, visit, N, 0.95, 2000, 1, &with, NULL);
    as_bootstrap_ratio(a, NULL, N, b, NULL, N, 0.95, 2000, 1, &without, NULL);
    assert_true(with.hi - with.lo > 1.5 * (without.hi - without.lo));
}

static void test_bootstrap_speed(void **state)
{
    (void)state;
    static double a[1000], b[1000];
    struct as_rng r;
    as_rng_seed(&r, 79);
    for (int i = 0; i < 1000; i++) {
        a[i] = as_rng_double(&r);
        b[i] = as_rng_double(&r);
    }
    struct as_interval ci;
    double start = as_now();
    assert_int_equal(as_bootstrap_ratio(a, NULL, 1000, b, NULL, 1000, 0.95, 2000, 1, &ci, NULL), AS_OK);
    print_message("2000 rounds over twice 1000 samples: %.1f ms\n", 1e3 * (as_now() - start));
}

static void test_ratio_interval(void **state)
{
    (void)state;
    struct as_interval r = as_ratio_interval(10, (struct as_interval){9, 11}, 5, (struct as_interval){5, 5});
    near(r.lo, 1.8, 1e-12);
    near(r.hi, 2.2, 1e-12);
    r = as_ratio_interval(10, (struct as_interval){9, 11}, 5, (struct as_interval){4.5, 5.5});
    near(r.lo, 2 * exp(-hypot(log(10.0 / 9), log(5.5 / 5))), 1e-12);
    assert_true(isnan(as_ratio_interval(0, (struct as_interval){0, 1}, 5, (struct as_interval){4, 6}).lo));
    assert_true(isnan(as_ratio_interval(1, (struct as_interval){NAN, NAN}, 5, (struct as_interval){4, 6}).lo));
    assert_true(isnan(as_ratio_interval(1, (struct as_interval){1, INFINITY}, 5, (struct as_interval){4, 6}).hi));
}

struct trial {
    size_t visits, each;
    double between, within;
};

/* Share of trials in which b, slower by the factor, gets this verdict */
static double share_of(const struct trial *t, double factor, double tolerance, enum as_verdict verdict, uint64_t seed)
{
    enum { ROUNDS = 1000 };
    static double x[2][500];
    static int visit[2][500];
    struct as_rng r;
    as_rng_seed(&r, seed);
    int found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = 0;
        for (int side = 0; side < 2; side++) {
            n = 0;
            for (size_t v = 0; v < t->visits; v++) {
                double level = (side ? factor : 1) * exp(t->between * as_rng_normal(&r));
                for (size_t i = 0; i < t->each; i++, n++) {
                    /* timing noise: mostly narrow, with a tail to the slow side */
                    double tail = as_rng_double(&r) < 0.1 ? -log(1 - as_rng_double(&r)) * 5 : 0;
                    x[side][n] = level * (1 + t->within * (as_rng_normal(&r) + tail));
                    visit[side][n] = (int)v;
                }
            }
        }
        struct as_sampled a = {x[0], visit[0], n}, b = {x[1], visit[1], n};
        struct as_comparison c;
        assert_int_equal(as_compare(&a, &b, true, tolerance, &c, NULL), AS_OK);
        assert_true(c.ci.lo <= c.ratio && c.ratio <= c.ci.hi);
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
    static const struct trial trials[] = {{1, 30, 0, 0.01},     {1, 100, 0, 0.02},    {3, 20, 0.002, 0.01},
                                          {3, 50, 0.003, 0.01}, {5, 20, 0.004, 0.01}, {8, 20, 0.006, 0.02}};
    const double small = 0.005; /* a difference that nobody cares for */
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        const struct trial *t = &trials[i];
        double slower = share_of(t, 1.02, 0, AS_SLOWER, i), faster = share_of(t, 1 / 1.02, 0, AS_FASTER, i);
        double alarms = share_of(t, 1, small, AS_CANNOT_TELL, 100 + i),
               strict = share_of(t, 1, 0, AS_CANNOT_TELL, 100 + i);
        double different = share_of(t, 1, 0.03, AS_CANNOT_TELL, 200 + i), same = share_of(t, 1, 0.03, AS_SAME, 300 + i);
        print_message("%zu visits of %zu: 2%% slower found %.1f%%, faster %.1f%%; none called different %.2f%% at "
                      "0.5%% (strictly "
                      "%.2f%%, at 3%% %.2f%%), the same at 3%% %.1f%%\n",
                      t->visits, t->each, 100 * slower, 100 * faster, 100 * alarms, 100 * strict, 100 * different,
                      100 * same);
        double wanted = t->visits == 3 ? 0.85 : 0.92; /* it takes 99%, and Student's t of few visits is wide */
        assert_true(slower >= wanted && faster >= wanted);
        assert_true(alarms <= 0.01);
        assert_true(strict <= 0.02); /* 1%, and three standard errors of 1000 trials */
        assert_true(different <= 0.01);
        assert_true(same >= 0.95);
    }
}

static void test_compare_edges(void **state)
{
    (void)state;
    struct as_comparison c;
    const double x[] = {1, 1, 1, 1, 1, 1, 1, 1}, y[] = {2, 2, 2, 2, 2, 2, 2, 2}, z[] = {0, 0, 0, 0, 0, 0, 0, 0},
                 w[] = {-1, -1, -1, -1, -1, -1, -1, -1};
    struct as_sampled a = {x, NULL, 8}, b = {y, NULL, 8}, zero = {z, NULL, 8}, negative = {w, NULL, 8},
                      few = {x, NULL, 2}, six = {x, NULL, 6}, empty = {NULL, NULL, 0};
    assert_int_equal(as_compare(&a, &b, true, 0.1, &c, NULL), AS_OK);
    assert_int_equal(c.verdict, AS_SLOWER);
    near(c.ratio, 2, 0);
    as_compare(&a, &b, false, 0.1, &c, NULL);
    assert_int_equal(c.verdict, AS_FASTER);
    as_compare(&b, &a, true, 0.1, &c, NULL);
    assert_int_equal(c.verdict, AS_FASTER);
    as_compare(&a, &b, true, 1.5, &c, NULL);
    assert_int_equal(c.verdict, AS_SAME);
    as_compare(&a, &a, true, 0, &c, NULL);
    assert_int_equal(c.verdict, AS_SAME);
    const struct as_sampled *odd[] = {&zero, &negative, &empty};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(as_compare(&a, odd[i], true, 0.1, &c, NULL), AS_OK);
        assert_int_equal(c.verdict, AS_CANNOT_TELL);
        assert_true(isnan(c.ratio));
    }
    assert_int_equal(as_compare(&a, &few, true, 0.1, &c, NULL), AS_OK);
    assert_int_equal(c.verdict, AS_CANNOT_TELL);
    near(c.ratio, 1, 0);
    /* six samples have a 95% interval, but none of 99%: enough to see the same, not enough to call it different */
    as_compare(&six, &a, true, 0.1, &c, NULL);
    assert_int_equal(c.verdict, AS_SAME);
    as_compare(&six, &b, true, 0.1, &c, NULL);
    assert_int_equal(c.verdict, AS_CANNOT_TELL);
    assert_int_equal(as_compare(&a, &b, true, -1, &c, NULL), AS_USAGE);
    assert_int_equal(as_compare(&a, &b, true, NAN, &c, NULL), AS_USAGE);
    assert_string_equal(as_verdict_word(AS_CANNOT_TELL), "cannot tell");
    assert_string_equal(as_verdict_word(AS_SAME), "same");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known),
                                       cmocka_unit_test(test_balance),
                                       cmocka_unit_test(test_few),
                                       cmocka_unit_test(test_visits),
                                       cmocka_unit_test(test_bootstrap),
                                       cmocka_unit_test(test_bootstrap_visits),
                                       cmocka_unit_test(test_bootstrap_speed),
                                       cmocka_unit_test(test_ratio_interval),
                                       cmocka_unit_test(test_power),
                                       cmocka_unit_test(test_compare_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
