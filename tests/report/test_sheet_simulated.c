/* By simulation: how often checks of an unchanged machine alarm, and what joined intervals hold. */
#include "base/clock.h"
#include "stats/order.h"
#include "tests/report/made_sheet.h"

#include <math.h>

/* A run of a guest whose line i lies at tau[i] times a normal number, with the interval of `trials` trials. */
static struct as_machine_sheet drawn(const double *tau, size_t trials, struct as_rng *rng)
{
    struct as_machine_sheet m = made_sheet("cpu", MADE_ROWS, 1, 0);
    m.virtual_machine = true;
    for (size_t i = 0; i < m.v->sheet.n; i++) {
        struct as_sheet_row *r = &m.v->sheet.rows[i];
        const double run = tau[i] * as_rng_normal(rng);
        double sum = 0, squares = 0;
        for (size_t t = 0; t < trials; t++) {
            const double x = 0.02 * as_rng_normal(rng);
            sum += x;
            squares += x * x;
        }
        const double n = (double)trials, mean = sum / n, sd = sqrt((squares - sum * mean) / (n - 1));
        const double half = as_student((unsigned)trials - 1, 0.95) * sd / sqrt(n);
        r->value = 100 * exp(run + mean);
        r->ci = (struct as_interval){100 * exp(run + mean - half), 100 * exp(run + mean + half)};
        r->trials = trials;
        m.v->runs[i].v[0] = (struct as_estimated){r->value, r->ci};
    }
    return m;
}

static struct as_machine_sheet drawn_runs(size_t runs, const double *tau, size_t trials, struct as_rng *rng)
{
    struct as_machine_sheet m = drawn(tau, trials, rng);
    for (size_t i = 1; i < runs; i++) {
        struct as_machine_sheet more = drawn(tau, trials, rng);
        assert_int_equal(as_machine_sheet_merge(&m, &more, NULL), AS_OK);
        as_machine_sheet_finish(&more);
    }
    return m;
}

/* Standard deviations between runs that follow the prior of each line's group. */
static void draw_tau(double tau[MADE_ROWS], struct as_rng *rng)
{
    enum { PRIOR_DF = 4 };
    static const double prior[MADE_ROWS] = {0.031, 0.031, 0.008, 0.022};
    for (size_t r = 0; r < MADE_ROWS; r++) {
        double chi2 = 0;
        for (int d = 0; d < PRIOR_DF; d++) {
            const double z = as_rng_normal(rng);
            chi2 += z * z;
        }
        tau[r] = prior[r] * sqrt(PRIOR_DF / chi2);
    }
}

/* Without any tolerance a machine that did not change is found worse in about 1% of checks, for any trials and runs. */
UNIT_TEST(test_false_alarms)
{
    enum { CHECKS = 2000 };
    static const struct {
        size_t base, now, trials;
    } cases[] = {{1, 1, 3}, {1, 1, 12}, {12, 1, 3}, {12, 1, 6}, {5, 5, 5}, {2, 2, 12}};
    struct as_rng rng;
    as_rng_seed(&rng, 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        size_t alarms = 0;
        for (int i = 0; i < CHECKS; i++) {
            double tau[MADE_ROWS];
            draw_tau(tau, &rng);
            struct as_machine_sheet a = drawn_runs(cases[k].base, tau, cases[k].trials, &rng),
                                    b = drawn_runs(cases[k].now, tau, cases[k].trials, &rng);
            struct as_check c;
            assert_int_equal(as_sheet_check(&a, &b, 0, &c, NULL), AS_OK);
            alarms += c.counts[AS_CHECK_WORSE] > 0;
            as_check_finish(&c);
            as_machine_sheet_finish(&a);
            as_machine_sheet_finish(&b);
        }
        print_message("%zu runs against %zu, of %zu trials: %zu of %d alarm\n", cases[k].base, cases[k].now,
                      cases[k].trials, alarms, CHECKS);
        assert_in_range(alarms, 0, 3 * CHECKS / 200);
    }
}

/* Share of lines whose joined interval holds the machine's number, 100, and of one more run's in that of another run:
 * of machines whose tau are `times` those of the stored prior. */
static double joined_coverage(size_t runs, double times, struct as_rng *rng, double *another)
{
    enum { MACHINES = 500, TRIALS = 12 };
    size_t held = 0, held_another = 0;
    for (int i = 0; i < MACHINES; i++) {
        double tau[MADE_ROWS];
        draw_tau(tau, rng);
        for (size_t k = 0; k < MADE_ROWS; k++)
            tau[k] *= times;
        struct as_machine_sheet m = drawn_runs(runs, tau, TRIALS, rng), more = drawn(tau, TRIALS, rng);
        assert_int_equal(as_machine_sheet_join(&m, NULL), AS_OK);
        for (size_t k = 0; k < MADE_ROWS; k++) {
            const struct as_interval ci = m.v->sheet.rows[k].ci, next = m.v->runs[k].another;
            const double v = more.v->sheet.rows[k].value;
            held += ci.lo <= 100 && 100 <= ci.hi;
            held_another += next.lo <= v && v <= next.hi;
        }
        as_machine_sheet_finish(&m);
        as_machine_sheet_finish(&more);
    }
    *another = (double)held_another / (MACHINES * MADE_ROWS);
    return (double)held / (MACHINES * MADE_ROWS);
}

/* A prior that counts no further than the line's own runs allow does not make intervals too narrow. */
UNIT_TEST(test_joined_coverage)
{
    static const size_t runs[] = {1, 2, 3, 5, 12};
    struct as_rng rng;
    as_rng_seed(&rng, 21);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        double another, noisy_another;
        const double c = joined_coverage(runs[i], 1, &rng, &another),
                     noisy = joined_coverage(runs[i], 3, &rng, &noisy_another);
        print_message("%zu runs: %.3f, another %.3f; of unsteady machines %.3f, %.3f\n", runs[i], c, another, noisy,
                      noisy_another);
        assert_true(c >= 0.92 && another >= 0.92);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_joined_coverage), cmocka_unit_test(test_false_alarms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
