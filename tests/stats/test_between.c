/* Runs of one machine joined: known answers, and coverage on drawn machines. */
#include "base/clock.h"
#include "stats/between.h"
#include "tests/unit_test.h"

#include <math.h>

static const double NORMAL = 1.959964;

static struct as_estimated number(double log_value, double error)
{
    return (struct as_estimated){exp(log_value), {exp(log_value - NORMAL * error), exp(log_value + NORMAL * error)}};
}

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.12g is not %.12g", a, b);
}

/* With equal errors tau^2 is the variance of the runs less that of the errors. */
UNIT_TEST(test_variance)
{
    const struct as_estimated apart[] = {number(0, 0.05), number(0.1, 0.05), number(0.2, 0.05)},
                              alike[] = {number(0, 0.05), number(0.05, 0.05), number(0.01, 0.05)},
                              without[] = {{1, {NAN, NAN}}, {exp(0.1), {NAN, NAN}}, {exp(0.2), {NAN, NAN}}},
                              one_without[] = {number(0, 0.05), number(0.1, 0.05), number(0.2, 0.05), {5, {NAN, NAN}}};
    near(as_between_of(apart, 3).variance, 0.0075, 1e-9);
    near(as_between_of(alike, 3).variance, 0, 0);
    near(as_between_of(apart, 1).variance, 0, 0);
    near(as_between_of(without, 3).variance, 0.01, 1e-7);
    near(as_between_of(one_without, 4).variance, 0.0075, 1e-9);
}

UNIT_TEST(test_group)
{
    struct as_between v[] = {{9, 1}, {2, 1}, {1, 1}}, pooled = as_between_pool((struct as_between){3, 1}, v[1]);
    near(pooled.variance, 2.5, 0);
    near(pooled.df, 2, 0);
    near(as_between_of(NULL, 0).df, 0, 0);
    near(as_between_pool(v[0], (struct as_between){0, 0}).variance, 9, 0);
    near(as_between_group(v, 3).variance, 2 / 0.4705, 1e-3); /* the median of chi^2 with one degree is 0.455 */
    assert_true(isnan(as_between_group(v, 0).variance));
}

UNIT_TEST(test_join)
{
    const struct as_estimated runs[] = {number(0, 0.01), number(0.1, 0.01)}, none[] = {{1, {NAN, NAN}}},
                              zero[] = {{0, {0, 0}}}, exact[] = {{7, {7, 7}}};
    const struct as_between nothing = {0, 4}, prior = {0.0009, 4};
    struct as_joined j;
    assert_true(as_join_runs(runs, 1, nothing, &j)); /* nothing varies between runs: the run's own interval */
    near(j.value, 1, 1e-12);
    near(log(j.ci.hi), NORMAL * 0.01, 1e-4);
    assert_true(as_join_runs(runs, 1, prior, &j)); /* 4 degrees of freedom of nine tenths of the variance */
    assert_in_range(j.df, 4, 6);
    assert_true(log(j.ci.hi) > 2.57 * hypot(0.03, 0.01) && log(j.ci.hi) < 2.78 * hypot(0.03, 0.01));
    assert_true(as_join_runs(runs, 2, prior, &j));
    near(log(j.value), 0.05, 1e-9);
    assert_true(as_join_runs(exact, 1, nothing, &j));
    near(j.value, 7, 1e-9);
    assert_false(as_join_runs(none, 1, prior, &j));
    assert_true(isnan(j.ci.lo));
    assert_false(as_join_runs(zero, 1, prior, &j));
    assert_false(as_join_runs(zero, 0, prior, &j));
}

/* ---- changes ---- */

enum { SERIES = 12 };

/* A series of so many runs around 1 that vary by sd, from one of them on at another level, and one run apart. */
struct plan {
    size_t n, from, alone;
    double level, odd;
};

static void make_series(const struct plan *p, double sd, struct as_rng *rng, struct as_estimated *runs)
{
    for (size_t i = 0; i < p->n; i++) {
        const double error = 0.005 + 0.02 * as_rng_double(rng);
        const double level = (p->from && i >= p->from ? p->level : 0) + (p->odd != 0 && i == p->alone ? p->odd : 0);
        runs[i] = number(level + sd * as_rng_normal(rng) + error * as_rng_normal(rng), error);
    }
}

UNIT_TEST(test_changes)
{
    static const struct plan plans[] = {{SERIES, 5, 0, -0.3, 0}, {SERIES, 10, 0, 0.3, 0},  {SERIES, 0, 3, 0, 0.4},
                                        {SERIES, 0, 0, 0, -0.4}, {SERIES, 0, 11, 0, -0.4}, {4, 2, 0, -0.3, 0},
                                        {SERIES, 6, 2, 0.3, 0.4}};
    const struct as_between prior = {0.0004, 4};
    struct as_rng rng;
    as_rng_seed(&rng, 7);
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
        struct as_estimated runs[SERIES];
        enum as_run_place place[SERIES];
        make_series(&plans[k], 0.01, &rng, runs);
        as_between_changes(runs, plans[k].n, prior, 0.95, place);
        for (size_t i = 0; i < plans[k].n; i++)
            assert_int_equal(place[i], plans[k].from && i == plans[k].from        ? AS_RUN_CHANGED
                                       : plans[k].odd != 0 && i == plans[k].alone ? AS_RUN_ALONE
                                                                                  : AS_RUN_STEADY);
    }
}

/* Two runs do not tell which of them is odd; runs without an interval do not count; equal runs are steady. */
UNIT_TEST(test_changes_without_evidence)
{
    const struct as_estimated two[] = {number(0, 0.001), number(1, 0.001)},
                              gaps[] = {number(0, 0.001),
                                        {5, {NAN, NAN}},
                                        number(0, 0.001),
                                        {0, {0, 0}},
                                        number(0, 0.001)},
                              equal[] = {{7, {7, 7}}, {7, {7, 7}}, {7, {7, 7}}, {7, {7, 7}}};
    const struct as_between prior = {0.0001, 4}, none = {0, 4};
    enum as_run_place place[5];
    as_between_changes(two, 2, prior, 0.95, place);
    assert_int_equal(place[1], AS_RUN_STEADY);
    as_between_changes(gaps, 5, prior, 0.95, place);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(place[i], AS_RUN_STEADY);
    as_between_changes(equal, 4, none, 0.95, place);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(place[i], AS_RUN_STEADY);
    near(as_between_steps(two, 2).df, 0, 0);
    near(as_between_steps(equal, 4).variance, 0, 1e-12);
}

/* One step to another level leaves the scatter from run to run as it is. */
UNIT_TEST(test_steps)
{
    enum { MACHINES = 400 };
    static const struct plan plans[] = {{SERIES, 0, 0, 0, 0}, {SERIES, 6, 0, 1, 0}};
    struct as_rng rng;
    as_rng_seed(&rng, 3);
    for (size_t k = 0; k < 2; k++) {
        double sum = 0;
        for (int m = 0; m < MACHINES; m++) {
            struct as_estimated runs[SERIES];
            make_series(&plans[k], 0.05, &rng, runs);
            sum += as_between_steps(runs, SERIES).variance / MACHINES;
        }
        print_message("level %zu: tau %.4f\n", k, sqrt(sum));
        assert_true(sqrt(sum) > 0.04 && sqrt(sum) < 0.07);
    }
}

/* Of machines whose tau^2 follow the prior and that do not change, how many show anything? */
UNIT_TEST(test_false_changes)
{
    enum { MACHINES = 1000, PRIOR_DF = 4 };
    static const size_t runs_n[] = {3, 4, 5, 8, 12};
    struct as_rng rng;
    as_rng_seed(&rng, 5);
    for (size_t k = 0; k < sizeof runs_n / sizeof *runs_n; k++) {
        size_t any = 0;
        for (int m = 0; m < MACHINES; m++) {
            struct as_estimated runs[SERIES];
            enum as_run_place place[SERIES];
            double chi2 = 0;
            for (int i = 0; i < PRIOR_DF; i++) {
                const double z = as_rng_normal(&rng);
                chi2 += z * z;
            }
            make_series(&(struct plan){.n = runs_n[k]}, 0.02 * sqrt(PRIOR_DF / chi2), &rng, runs);
            as_between_changes(runs, runs_n[k], (struct as_between){0.0004, PRIOR_DF}, 0.95, place);
            bool odd = false;
            for (size_t i = 0; i < runs_n[k]; i++)
                odd |= place[i] != AS_RUN_STEADY;
            any += odd;
        }
        print_message("%zu runs: %zu of %d show a change\n", runs_n[k], any, MACHINES);
        assert_true(any <= MACHINES * 7 / 100);
    }
}

/* Machines whose tau^2 follow the prior: of n runs of each, does the interval hold the machine's value, and
 * that of another run its value? */
static double coverage(size_t n, struct as_rng *rng, double *another)
{
    enum { MACHINES = 4000, RUNS = 12, PRIOR_DF = 4 };
    const struct as_between prior = {0.02 * 0.02, PRIOR_DF};
    size_t held = 0, held_another = 0;
    for (size_t m = 0; m < MACHINES; m++) {
        struct as_estimated runs[RUNS + 1];
        struct as_joined j;
        double chi2 = 0;
        for (int i = 0; i < PRIOR_DF; i++) {
            const double z = as_rng_normal(rng);
            chi2 += z * z;
        }
        const double tau = sqrt(prior.variance * PRIOR_DF / chi2);
        for (size_t i = 0; i <= n; i++) { /* and one more */
            const double error = 0.005 + 0.02 * as_rng_double(rng);
            runs[i] = number(tau * as_rng_normal(rng) + error * as_rng_normal(rng), error);
        }
        assert_true(as_join_runs(runs, n, as_between_pool(prior, as_between_of(runs, n)), &j));
        held += j.ci.lo <= 1 && 1 <= j.ci.hi;
        held_another += j.another.lo <= runs[n].value && runs[n].value <= j.another.hi;
    }
    *another = (double)held_another / MACHINES;
    return (double)held / MACHINES;
}

UNIT_TEST(test_coverage)
{
    static const size_t runs[] = {1, 2, 3, 5, 12};
    struct as_rng rng;
    as_rng_seed(&rng, 42);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        double another;
        const double c = coverage(runs[i], &rng, &another);
        print_message("%zu runs: %.3f, another run %.3f\n", runs[i], c, another);
        assert_true(c >= 0.93 && c <= 0.98);
        assert_true(another >= 0.93 && another <= 0.98);
    }
}

/* Which series have two states: 'n' or 's'; each value is known to 1%. */
UNIT_TEST(test_states)
{
    enum { MOST = 8 };
    static const struct {
        double ratio[MOST];
        size_t n;
        bool has;
    } cases[] = {
        {{4, 1, 1.01, 0.99, 1, 4.02, 1}, 7, true},
        {{4, 1}, 2, true},
        {{1.6, 1}, 2, false},                     /* two runs do not show what is usual */
        {{1, 1.01, 4}, 3, true},                  /* which of them is odd is not known */
        {{1, 1.01, 4, 0.99, 1}, 5, false},        /* a single odd run */
        {{1, 1.01, 1, 4, 4.01, 4}, 6, false},     /* a change that stays */
        {{1, 1.2, 1.4, 1.7, 1.1, 1.5}, 6, false}, /* scatter */
        {{1, 1.01, 1, 1}, 4, false},
        {{1}, 1, false},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct as_estimated runs[MOST];
        for (size_t i = 0; i < cases[c].n; i++)
            runs[i] = number(log(cases[c].ratio[i]), 0.01);
        const double between = as_between_states(runs, cases[c].n, (struct as_between){0.0001, 4});
        assert_int_equal(isfinite(between), cases[c].has);
        assert_true(!cases[c].has || (between > 1.1 && between < 3.9));
    }
}

/* Runs that do not vary allow little, one run anything; three of four series of an ordinary machine allow what it is.
 */
UNIT_TEST(test_most)
{
    enum { MACHINES = 2000 };
    const struct as_estimated alike[] = {number(0, 0.001), number(0, 0.001)};
    struct as_rng rng;
    size_t held = 0;
    assert_true(isinf(as_between_most(alike, 1)));
    near(as_between_most(alike, 2), 0, 1e-12);
    as_rng_seed(&rng, 11);
    for (int m = 0; m < MACHINES; m++) {
        struct as_estimated runs[SERIES];
        make_series(&(struct plan){.n = 5}, 0.05, &rng, runs);
        held += as_between_most(runs, 5) >= 0.05 * 0.05;
    }
    print_message("%zu of %d allow it\n", held, MACHINES);
    assert_in_range(held, MACHINES * 70 / 100, MACHINES * 80 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variance), cmocka_unit_test(test_group),
                                       cmocka_unit_test(test_join),     cmocka_unit_test(test_coverage),
                                       cmocka_unit_test(test_changes),  cmocka_unit_test(test_changes_without_evidence),
                                       cmocka_unit_test(test_steps),    cmocka_unit_test(test_states),
                                       cmocka_unit_test(test_most),     cmocka_unit_test(test_false_changes)};
    return cmocka_run_group_tests_name("between runs", tests, NULL, NULL);
}
