/* Quantiles, intervals of the median, the stopping rule: known answers and coverage. */
#include "sim.h"

#include "stats/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.12g is not %.12g", a, b);
}

static void test_order(void **state)
{
    (void)state;
    const double x[] = {5, 1, 4, 2, 3};
    assert_near(as_median(x, 5), 3, 0);
    assert_near(as_median(x, 4), 3, 0);
    assert_near(as_median(x, 1), 5, 0);
    assert_true(isnan(as_median(x, 0)));
    assert_near(as_mad(x, 5), 1, 0);
    assert_near(as_quantile(x, 5, 0), 1, 0);
    assert_near(as_quantile(x, 5, 1), 5, 0);
    assert_near(as_quantile(x, 5, 0.1), 1.4, 1e-15);
    assert_near(as_quantile(x, 4, 0.5), 3, 1e-15);
    assert_true(isnan(as_quantile(x, 5, 1.5)));
    assert_true(isnan(as_quantile(x, 5, NAN)));
    const double bad[] = {1, NAN, 2};
    assert_true(isnan(as_median(bad, 3)));
    assert_true(isnan(as_mad(bad, 3)));
}

static void test_select(void **state)
{
    (void)state;
    struct as_rng r;
    as_rng_seed(&r, 1);
    double x[300], y[300], sorted[300];
    for (int round = 0; round < 2000; round++) {
        size_t n = 1 + (size_t)as_rng_below(&r, 300);
        uint64_t values = round % 3 == 0 ? 3 : round % 3 == 1 ? 50 : 1000000; /* many ties, some ties, hardly any */
        for (size_t i = 0; i < n; i++)
            x[i] = round % 5 == 4 ? (double)i : (double)as_rng_below(&r, values);
        memcpy(sorted, x, n * sizeof *x);
        as_sort(sorted, n);
        size_t k = (size_t)as_rng_below(&r, n);
        memcpy(y, x, n * sizeof *x);
        assert_near(as_select(y, n, k), sorted[k], 0);
        for (size_t i = 0; i < n; i++)
            assert_true(i < k ? y[i] <= y[k] : y[i] >= y[k]);
        assert_near(as_median(x, n), as_median_sorted(sorted, n), 0);
    }
}

/* Tables of Student's t and of the ranks for the median */
static void test_tables(void **state)
{
    (void)state;
    assert_near(as_student(1, 0.95), 12.7062047362, 1e-8);
    assert_near(as_student(2, 0.95), 4.3026527297, 1e-8);
    assert_near(as_student(3, 0.95), 3.1824463053, 1e-8);
    assert_near(as_student(10, 0.95), 2.2281388520, 1e-8);
    assert_near(as_student(30, 0.99), 2.7499956536, 1e-8);
    assert_near(as_student(1000, 0.95), 1.9623390808, 1e-7);
    assert_true(isnan(as_student(0, 0.95)));
    /* the rank pairs of the exact 95% interval: n = 6 (1, 6), 10 (2, 9), 20 (6, 15), 100 (40, 61) */
    static const size_t rows[][2] = {{6, 1}, {8, 1}, {9, 2}, {10, 2}, {11, 2}, {12, 3}, {20, 6}, {50, 18}, {100, 40}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(as_median_ranks(rows[i][0], 0.95).rank, rows[i][1]);
    assert_int_equal(as_median_ranks(5, 0.95).rank, 0);
    assert_int_equal(as_median_ranks(0, 0.95).rank, 0);
    assert_int_equal(as_median_ranks(100, 1.5).rank, 0);
    /* where n is large, the normal approximation: n/2 - 0.98 sqrt(n) */
    assert_near((double)as_median_ranks(1000000, 0.95).rank, 500000 - 0.98 * 1000, 2);
}

static void test_interval_values(void **state)
{
    (void)state;
    double x[10];
    for (int i = 0; i < 10; i++)
        x[i] = i + 1;
    /* n = 10, d = 2: coverages 0.978516 and 0.890625; I = 0.324444, share = 8 I / (2 + 6 I) = 0.657658 */
    struct as_interval ci = as_median_interval(x, 10, 0.95);
    assert_near(ci.lo, 2 + 0.657658, 1e-5);
    assert_near(ci.hi, 9 - 0.657658, 1e-5);
    ci = as_median_interval(x, 5, 0.95);
    assert_true(isnan(ci.lo) && isnan(ci.hi));
}

static void test_coverage(void **state)
{
    (void)state;
    enum { ROUNDS = 40000 };
    static const size_t sizes[] = {11, 25, 50, 100};
    double x[100];
    for (size_t k = 0; k < KINDS; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct as_rng r;
            as_rng_seed(&r, 100 * k + s);
            int inside = 0;
            for (int round = 0; round < ROUNDS; round++) {
                for (size_t i = 0; i < sizes[s]; i++)
                    x[i] = kinds[k].draw(&r);
                as_sort(x, sizes[s]);
                struct as_interval ci = as_median_interval(x, sizes[s], 0.95);
                inside += ci.lo <= kinds[k].median && kinds[k].median <= ci.hi;
            }
            double coverage = (double)inside / ROUNDS;
            print_message("%s, n %zu: %.2f%%\n", kinds[k].name, sizes[s], 100 * coverage);
            if (!(coverage >= 0.94 && coverage <= 0.96))
                fail_msg("coverage %.4f for %s, n %zu", coverage, kinds[k].name, sizes[s]);
        }
}

static void test_stopping(void **state)
{
    (void)state;
    struct as_rng r;
    as_rng_seed(&r, 9);
    double x[2000], sorted[2000];
    for (int round = 0; round < 4000; round++) {
        size_t n = 1 + (size_t)as_rng_below(&r, round % 10 ? 60 : 2000);
        for (size_t i = 0; i < n; i++)
            x[i] = round % 7 ? 1 + 0.02 * as_rng_normal(&r) : (double)as_rng_below(&r, 4);
        memcpy(sorted, x, n * sizeof *x);
        as_sort(sorted, n);
        struct as_interval ci = as_median_interval(sorted, n, 0.95);
        double precision = round % 2 ? 0.01 : 0.003;
        bool expect = n >= 6 && ci.hi - ci.lo <= precision * fabs(as_median_sorted(sorted, n));
        assert_int_equal(as_precise_enough(x, n, precision), expect);
    }
    for (size_t i = 0; i < 10; i++)
        x[i] = 7;
    assert_false(as_precise_enough(x, 5, 0.01));
    assert_true(as_precise_enough(x, 6, 0.01));
    assert_true(as_precise_enough(x, 10, 0));
    assert_false(as_precise_enough(x, 10, NAN));
    x[3] = NAN;
    assert_false(as_precise_enough(x, 10, 0.5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order),    cmocka_unit_test(test_select),
                                       cmocka_unit_test(test_tables),   cmocka_unit_test(test_interval_values),
                                       cmocka_unit_test(test_coverage), cmocka_unit_test(test_stopping)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
