/* Checks of a machine's data sheet against others: verdicts and devices. */
#include "base/clock.h"
#include "base/text.h"
#include "report/sheet/sheet_check.h"
#include "stats/order.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4 };

/* A machine with one device and `n` rows of scaled values. */
static struct as_machine_sheet made(const char *device, size_t rows, double scale, double half)
{
    static const struct as_sheet_row all[ROWS] = {
        {.group = "Memory", .label = "read", .value = 100, .unit = "GB/s"},
        {.group = "Memory", .label = "latency", .value = 90, .unit = "ns"},
        {.group = "Clock", .label = "core", .value = 3e9, .unit = "Hz"},
        {.group = "Launch", .label = "launch + sync", .value = 5000, .unit = "ns"}};
    static unsigned runs;
    struct as_machine_sheet m = {
        .v = calloc(1, sizeof *m.v), .n = 1, .runs = 1, .run = calloc(AS_MACHINE_RUNS_MAX, sizeof *m.run)};
    assert_true(m.v && m.run);
    snprintf(m.run[0], sizeof m.run[0], "run %u", runs++);
    as_copy_text(m.suite, sizeof m.suite, "quick");
    as_copy_text(m.v->id, sizeof m.v->id, device);
    m.v->sheet.rows = calloc(ROWS, sizeof *m.v->sheet.rows);
    assert_non_null(m.v->sheet.rows);
    m.v->sheet.n = rows;
    for (size_t i = 0; i < rows; i++) {
        struct as_sheet_row *r = &m.v->sheet.rows[i];
        *r = all[i];
        r->value *= scale;
        r->ci = (struct as_interval){r->value * (1 - half), r->value * (1 + half)};
        r->specified = NAN;
        r->trials = 10;
        r->clock_exponent = NAN;
        r->of = as_quantity_of_line(r->group, r->label);
        assert_non_null(r->of);
    }
    m.clock_hz = NAN;
    assert_int_equal(as_device_sheet_add_run(m.v, NULL), AS_OK);
    return m;
}

/* So many runs of one machine, the first of value scale, each later one larger by the fraction step. */
static struct as_machine_sheet runs_of_guest(size_t runs, double scale, double step)
{
    struct as_machine_sheet m = made("cpu", ROWS, scale, 0.001);
    m.virtual_machine = true;
    for (size_t i = 1; i < runs; i++) {
        struct as_machine_sheet more = made("cpu", ROWS, scale * (1 + step * (double)i), 0.001);
        assert_int_equal(as_machine_sheet_merge(&m, &more, NULL), AS_OK);
        as_machine_sheet_finish(&more);
    }
    return m;
}

static struct as_check checked(struct as_machine_sheet *base, struct as_machine_sheet *now)
{
    struct as_check c;
    assert_int_equal(as_sheet_check(base, now, 0.05, &c, NULL), AS_OK);
    return c;
}

/* Higher rates and lower times are better. */
UNIT_TEST(test_directions)
{
    struct as_machine_sheet a = made("cpu", ROWS, 1, 0.001), b = made("cpu", ROWS, 0.8, 0.001);
    struct as_check c = checked(&a, &b);
    static const enum as_check_verdict verdicts[ROWS] = {AS_CHECK_WORSE, AS_CHECK_BETTER, AS_CHECK_WORSE,
                                                         AS_CHECK_BETTER};
    assert_int_equal(c.n, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(c.v[i].verdict, verdicts[i]);
        assert_true(fabs(c.v[i].comparison.ratio - 0.8) < 1e-9);
    }
    assert_int_equal(c.counts[AS_CHECK_WORSE], 2);
    as_check_finish(&c);
    as_machine_sheet_finish(&a);
    as_machine_sheet_finish(&b);
}

/* Within the tolerance nothing is worse, and wide intervals decide nothing. */
UNIT_TEST(test_noise)
{
    struct as_machine_sheet a = made("cpu", ROWS, 1, 0.001), b = made("cpu", ROWS, 0.99, 0.001),
                            wide = made("cpu", ROWS, 0.8, 0.3);
    struct as_check c = checked(&a, &b);
    assert_int_equal(c.counts[AS_CHECK_SAME], ROWS);
    as_check_finish(&c);
    c = checked(&a, &wide);
    assert_int_equal(c.counts[AS_CHECK_UNDECIDED], ROWS);
    as_check_finish(&c);
    wide.v->sheet.rows[0].ci = (struct as_interval){NAN, NAN}; /* no interval decides nothing either */
    c = checked(&a, &wide);
    assert_int_equal(c.v[0].verdict, AS_CHECK_UNDECIDED);
    as_check_finish(&c);
    as_machine_sheet_finish(&a);
    as_machine_sheet_finish(&b);
    as_machine_sheet_finish(&wide);
}

/* One run on either side cannot say that a guest's memory became slower by a fifth, five can. */
UNIT_TEST(test_several_runs)
{
    struct as_machine_sheet one = runs_of_guest(1, 1, 0), slow_one = runs_of_guest(1, 0.8, 0),
                            base = runs_of_guest(5, 1, 0.005), slow = runs_of_guest(5, 0.8, 0.005),
                            same = runs_of_guest(5, 1.004, 0.004);
    struct as_check c = checked(&one, &slow_one);
    const struct as_interval memory = c.v[0].base->ci;
    assert_true(memory.hi > 107 && memory.hi < 112); /* by the prior */
    assert_int_equal(c.v[0].verdict, AS_CHECK_UNDECIDED);
    as_check_finish(&c);
    c = checked(&base, &slow);
    assert_int_equal(c.counts[AS_CHECK_WORSE] + c.counts[AS_CHECK_BETTER], ROWS);
    as_check_finish(&c);
    c = checked(&base, &same);
    assert_int_equal(c.counts[AS_CHECK_WORSE], 0);
    as_check_finish(&c);
    as_machine_sheet_finish(&one);
    as_machine_sheet_finish(&slow_one);
    as_machine_sheet_finish(&base);
    as_machine_sheet_finish(&slow);
    as_machine_sheet_finish(&same);
}

/* What varies on one side varies on the other too: a single run may lie as far off as the base's runs differ. */
UNIT_TEST(test_one_run_against_many)
{
    struct as_machine_sheet base = made("cpu", ROWS, 1, 0.001), now = made("cpu", ROWS, 0.85, 0.001);
    for (int i = 1; i < 6; i++) {
        struct as_machine_sheet more = made("cpu", ROWS, i % 2 ? 0.93 : 1.07, 0.001);
        assert_int_equal(as_machine_sheet_merge(&base, &more, NULL), AS_OK);
        as_machine_sheet_finish(&more);
    }
    struct as_check c = checked(&base, &now);
    assert_int_equal(c.counts[AS_CHECK_UNDECIDED], ROWS);
    as_check_finish(&c);
    as_machine_sheet_finish(&base);
    as_machine_sheet_finish(&now);
}

/* A run against itself is the same, however little one run says; against another with its numbers it is not. */
UNIT_TEST(test_itself)
{
    struct as_machine_sheet a = made("cpu", ROWS, 1, 0.3), b = made("cpu", ROWS, 1, 0.3);
    struct as_check c = checked(&a, &b);
    assert_int_equal(c.counts[AS_CHECK_UNDECIDED], ROWS);
    as_check_finish(&c);
    as_copy_text(b.run[0], sizeof b.run[0], a.run[0]);
    b.v->runs[1].v[0].value *= 1.1; /* a file that was changed */
    c = checked(&a, &b);
    assert_int_equal(c.counts[AS_CHECK_SAME], ROWS - 1);
    assert_int_equal(c.v[1].verdict, AS_CHECK_UNDECIDED);
    as_check_finish(&c);
    as_machine_sheet_finish(&a);
    as_machine_sheet_finish(&b);
}

static const char *no_others(void *user, size_t run, const char *device, const struct as_quantity *q)
{
    (void)user, (void)run, (void)device, (void)q;
    return NULL;
}

static const char *others_on_the_host(void *user, size_t run, const char *device, const struct as_quantity *q)
{
    (void)user, (void)run;
    return as_line_is_of_host(device, q) ? "others used 1.0 CPUs meanwhile" : NULL;
}

/* Four runs at 1 against one at `first`, and one at `again` after it. */
static size_t worse_after(double first, double again, as_others_fn others, const char *device)
{
    struct as_machine_sheet base = made(device, 2, 1, 0.001), now = made(device, 2, first, 0.001),
                            more = made(device, 2, again, 0.001);
    for (int i = 0; i < 3; i++) {
        struct as_machine_sheet run = made(device, 2, 1, 0.001);
        assert_int_equal(as_machine_sheet_merge(&base, &run, NULL), AS_OK);
        as_machine_sheet_finish(&run);
    }
    struct as_check before = checked(&base, &now), c;
    assert_int_equal(as_machine_sheet_merge(&now, &more, NULL), AS_OK);
    c = checked(&base, &now);
    as_check_confirm(&c, &before, 1, 0.05, others, NULL);
    const size_t worse = c.counts[AS_CHECK_WORSE];
    for (size_t i = 0; i < c.n; i++) {
        assert_int_equal(c.v[i].again, before.v[i].verdict == AS_CHECK_WORSE);
        assert_true(!c.v[i].why[0] || c.v[i].verdict == AS_CHECK_UNDECIDED);
    }
    assert_int_equal(c.counts[AS_CHECK_SAME] + c.counts[AS_CHECK_BETTER] + worse + c.counts[AS_CHECK_UNDECIDED], c.n);
    as_check_finish(&before);
    as_check_finish(&c);
    as_machine_sheet_finish(&base);
    as_machine_sheet_finish(&now);
    as_machine_sheet_finish(&more);
    return worse;
}

/* What the run that measured again does not show is not worse, nor is what others may have slowed down. */
UNIT_TEST(test_measured_again)
{
    assert_int_equal(worse_after(0.8, 0.8, no_others, "cuda:0"), 1); /* the rate; the time became better */
    assert_int_equal(worse_after(0.8, 1, no_others, "cuda:0"), 0);
    assert_int_equal(worse_after(0.8, 0.97, no_others, "cuda:0"), 0);
    assert_int_equal(worse_after(1.25, 1.25, no_others, "cuda:0"), 1); /* the time */
    assert_int_equal(worse_after(1.25, 1, no_others, "cuda:0"), 0);
    assert_int_equal(worse_after(0.8, 0.8, no_others, "cpu"), 1);
    assert_int_equal(worse_after(0.8, 0.8, others_on_the_host, "cpu"), 0);
    assert_int_equal(worse_after(0.8, 0.8, others_on_the_host, "cuda:0"), 1);
    assert_int_equal(worse_after(1, 0.8, no_others, "cuda:0"), 0); /* looked fine: not worse by one run */
}

/* ---- runs of a machine ---- */

/* The latest run first, as a store's runs are merged. */
static struct as_machine_sheet series(const double *scale, size_t n)
{
    struct as_machine_sheet m = made("cuda:0", ROWS, scale[n - 1], 0.001);
    for (size_t i = n - 1; i > 0; i--) {
        struct as_machine_sheet run = made("cuda:0", ROWS, scale[i - 1], 0.001);
        assert_int_equal(as_machine_sheet_merge(&m, &run, NULL), AS_OK);
        as_machine_sheet_finish(&run);
    }
    return m;
}

UNIT_TEST(test_changes)
{
    static const double scale[] = {1, 1.002, 1.3, 0.999, 1, 0.9, 0.901, 0.899};
    enum { RUNS = sizeof scale / sizeof *scale };
    struct as_machine_sheet m = series(scale, RUNS);
    assert_int_equal(as_machine_sheet_changes(&m, NULL), AS_OK);
    for (size_t i = 0; i < ROWS; i++) {
        const struct as_line_runs *line = &m.v->runs[i];
        assert_int_equal(line->n, RUNS);
        for (size_t k = 0; k < RUNS; k++)
            assert_int_equal(line->place[k], k == RUNS - 1 - 5   ? AS_RUN_CHANGED
                                             : k == RUNS - 1 - 2 ? AS_RUN_ALONE
                                                                 : AS_RUN_STEADY);
        assert_int_equal(as_line_since_change(line), 3);
    }
    as_machine_sheet_finish(&m);
}

/* A second run narrows the interval; another run may lie further off than the machine's number. */
UNIT_TEST(test_joined)
{
    static const double scale[] = {1, 1.001, 0.999};
    double last = INFINITY;
    for (size_t n = 1; n <= 3; n++) {
        struct as_machine_sheet m = series(scale, n);
        assert_int_equal(as_machine_sheet_join(&m, NULL), AS_OK);
        const struct as_interval ci = m.v->sheet.rows[0].ci, another = m.v->runs[0].another;
        assert_true(ci.hi - ci.lo < last && another.lo < ci.lo && another.hi > ci.hi);
        last = ci.hi - ci.lo;
        as_machine_sheet_finish(&m);
    }
}

/* So many runs of a guest: read and clock agree within 0.1%, the other lines of their groups scatter. */
static struct as_machine_sheet half_agreeing(size_t runs)
{
    static const double scatter[] = {1, 1.3, 0.8, 1.1, 0.75};
    struct as_machine_sheet m = {0};
    for (size_t i = 0; i < runs; i++) {
        struct as_machine_sheet run = made("cpu", ROWS, i % 2 ? 1.0005 : 0.9995, 0.001);
        run.virtual_machine = true;
        for (size_t k = 1; k < ROWS; k += 2) {
            const struct as_estimated v = run.v->runs[k].v[0];
            run.v->runs[k].v[0] =
                (struct as_estimated){v.value * scatter[i], {v.ci.lo * scatter[i], v.ci.hi * scatter[i]}};
        }
        if (!i) {
            m = run;
            continue;
        }
        assert_int_equal(as_machine_sheet_merge(&m, &run, NULL), AS_OK);
        as_machine_sheet_finish(&run);
    }
    assert_int_equal(as_machine_sheet_join(&m, NULL), AS_OK);
    return m;
}

/* Runs that agree never know less than the first of them did, whatever other lines do. */
UNIT_TEST(test_agreeing_runs)
{
    static const size_t runs[] = {2, 3, 5};
    struct as_machine_sheet one = half_agreeing(1);
    for (size_t n = 0; n < sizeof runs / sizeof *runs; n++) {
        struct as_machine_sheet m = half_agreeing(runs[n]);
        for (size_t k = 0; k < ROWS; k += 2) {
            const struct as_interval first = one.v->sheet.rows[k].ci, all = m.v->sheet.rows[k].ci,
                                     another_first = one.v->runs[k].another, another = m.v->runs[k].another;
            assert_true(all.hi / all.lo < first.hi / first.lo);
            assert_true(another.hi / another.lo < another_first.hi / another_first.lo);
        }
        as_machine_sheet_finish(&m);
    }
    as_machine_sheet_finish(&one);
}

/* A line that goes to and fro has two states: no run is alone, no third value is made up. */
UNIT_TEST(test_states)
{
    static const double scale[] = {3.9, 1, 1.01, 0.99, 1, 3.92, 1, 1.01, 3.9, 1}, few[] = {3.9, 1, 1.01};
    static const struct {
        const double *scale;
        size_t n, high;
    } cases[] = {{scale, sizeof scale / sizeof *scale, 3}, {few, 2, 1}, {few, 3, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct as_machine_sheet m = series(cases[c].scale, cases[c].n);
        assert_int_equal(as_machine_sheet_changes(&m, NULL), AS_OK);
        assert_int_equal(as_machine_sheet_join(&m, NULL), AS_OK);
        for (size_t i = 0; i < ROWS; i++) {
            const struct as_sheet_row *row = &m.v->sheet.rows[i];
            const struct as_line_runs *line = &m.v->runs[i];
            const struct as_number n = as_sheet_number(row);
            assert_int_equal(line->states.n, 2);
            assert_int_equal(line->states.runs[1], cases[c].high);
            assert_int_equal(as_number_form(&n), AS_NUMBER_MODES);
            assert_true(row->mode[1] / row->mode[0] > 3.7 && row->mode[1] / row->mode[0] < 4);
            assert_true(row->value == row->mode[0] || row->value == row->mode[1]);
            for (size_t k = 0; line->place && k < line->n; k++)
                assert_int_equal(line->place[k], AS_RUN_STEADY);
        }
        as_machine_sheet_finish(&m);
    }
}

/* Another state than the base's is worse, until the checked machine shows both; the base's number stays its own. */
UNIT_TEST(test_states_checked)
{
    struct as_machine_sheet base = made("cpu", 2, 1, 0.005), now = made("cpu", 2, 3.9, 0.005),
                            back = made("cpu", 2, 1, 0.005);
    struct as_check c = checked(&base, &now);
    const struct as_interval alone = c.v[1].base_number.ci;
    assert_int_equal(c.v[1].verdict, AS_CHECK_WORSE);
    as_check_finish(&c);
    assert_int_equal(as_machine_sheet_merge(&now, &back, NULL), AS_OK);
    c = checked(&base, &now);
    assert_int_equal(c.v[1].verdict, AS_CHECK_UNDECIDED);
    assert_string_equal(c.v[1].why, "the checked runs are in one of two states");
    assert_true(c.v[1].base_number.ci.lo == alone.lo && c.v[1].base_number.ci.hi == alone.hi);
    assert_int_equal(as_number_form(&c.v[1].now_number), AS_NUMBER_MODES);
    as_check_finish(&c);
    as_machine_sheet_finish(&base);
    as_machine_sheet_finish(&now);
    as_machine_sheet_finish(&back);
}

/* Of a line that only some runs have, these alone count; a run without an interval counts where none has one. The same
 * run again says nothing new. */
UNIT_TEST(test_runs_of_a_line)
{
    struct as_machine_sheet one = made("cpu", 1, 1, 0.001), two = made("cpu", ROWS, 1, 0.001),
                            three = made("cpu", ROWS, 0.6, 0.001);
    struct as_error err;
    assert_int_equal(as_machine_sheet_merge(&one, &two, NULL), AS_OK);
    assert_int_equal(as_machine_sheet_merge(&one, &two, &err), AS_USAGE);
    three.v->runs[0].v[0].ci = (struct as_interval){NAN, NAN};
    assert_int_equal(as_machine_sheet_merge(&one, &three, NULL), AS_OK);
    const struct as_sheet_row *read = as_sheet_find(&one.v->sheet, "Memory", "read"),
                              *latency = as_sheet_find(&one.v->sheet, "Memory", "latency");
    for (size_t i = 0; i < one.v->sheet.n; i++) { /* in the order of the table */
        assert_true(i == 0 || one.v->sheet.rows[i - 1].of < one.v->sheet.rows[i].of);
        const bool is_read = &one.v->sheet.rows[i] == read; /* the first run has nothing else */
        assert_int_equal(one.v->runs[i].n, is_read ? 3 : 2);
        assert_int_equal(one.v->runs[i].run[one.v->runs[i].n - 1], 2);
        assert_int_equal(one.v->sheet.rows[i].trials, is_read ? 30 : 20);
    }
    struct as_check c = checked(&one, &two);
    assert_true(fabs(latency->value - 90 * sqrt(0.6)) < 1e-6);
    assert_true(fabs(read->value - 100) < 1e-6);
    as_check_finish(&c);
    as_machine_sheet_finish(&one);
    as_machine_sheet_finish(&two);
    as_machine_sheet_finish(&three);
}

/* What follows the core's clock is carried over to the clock of the base. */
UNIT_TEST(test_clock)
{
    struct as_machine_sheet a = made("cpu", ROWS, 1, 0.001), b = made("cpu", ROWS, 1, 0.001);
    a.clock_hz = 4e9;
    b.clock_hz = 3.6e9;
    for (size_t i = 0; i < 2; i++) /* a rate and a time of a core, as measured at the lower clock */
        b.v->sheet.rows[i].clock_exponent = 1;
    b.v->sheet.rows[0].value *= 0.9;
    b.v->sheet.rows[1].value /= 0.9;
    for (size_t i = 0; i < 2; i++) {
        struct as_sheet_row *r = &b.v->sheet.rows[i];
        r->ci = (struct as_interval){r->value * 0.999, r->value * 1.001};
        b.v->runs[i].v[0] = (struct as_estimated){r->value, r->ci};
    }
    struct as_check c = checked(&a, &b);
    assert_int_equal(c.counts[AS_CHECK_SAME], ROWS);
    assert_true(fabs(c.v[0].comparison.ratio - 1) < 1e-9 && fabs(c.v[1].comparison.ratio - 1) < 1e-9);
    as_check_finish(&c);
    assert_int_equal(as_machine_sheet_merge(&a, &b, NULL), AS_OK);
    assert_true(fabs(a.v->runs[0].v[1].value - 100) < 1e-9 && fabs(a.v->runs[1].v[1].value - 90) < 1e-9);
    as_machine_sheet_finish(&a);
    as_machine_sheet_finish(&b);
}

/* A run of a guest whose line i lies at tau[i] times a normal number, with the interval of `trials` trials. */
static struct as_machine_sheet drawn(const double *tau, size_t trials, struct as_rng *rng)
{
    struct as_machine_sheet m = made("cpu", ROWS, 1, 0);
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
static void draw_tau(double tau[ROWS], struct as_rng *rng)
{
    enum { PRIOR_DF = 4 };
    static const double prior[ROWS] = {0.031, 0.031, 0.008, 0.022};
    for (size_t r = 0; r < ROWS; r++) {
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
            double tau[ROWS];
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
        double tau[ROWS];
        draw_tau(tau, rng);
        for (size_t k = 0; k < ROWS; k++)
            tau[k] *= times;
        struct as_machine_sheet m = drawn_runs(runs, tau, TRIALS, rng), more = drawn(tau, TRIALS, rng);
        assert_int_equal(as_machine_sheet_join(&m, NULL), AS_OK);
        for (size_t k = 0; k < ROWS; k++) {
            const struct as_interval ci = m.v->sheet.rows[k].ci, next = m.v->runs[k].another;
            const double v = more.v->sheet.rows[k].value;
            held += ci.lo <= 100 && 100 <= ci.hi;
            held_another += next.lo <= v && v <= next.hi;
        }
        as_machine_sheet_finish(&m);
        as_machine_sheet_finish(&more);
    }
    *another = (double)held_another / (MACHINES * ROWS);
    return (double)held / (MACHINES * ROWS);
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

UNIT_TEST(test_lines_of_one_side)
{
    struct as_machine_sheet a = made("cuda:0", ROWS, 1, 0.001), b = made("cuda:1", 3, 1, 0.001),
                            cpu = made("cpu", 1, 1, 0.001);
    struct as_check c = checked(&a, &b); /* the only device of the backend on each side */
    assert_int_equal(c.counts[AS_CHECK_SAME], 3);
    assert_int_equal(c.v[3].verdict, AS_CHECK_MISSING);
    assert_string_equal(c.v[3].why, "its data sheet has no such line");
    assert_int_equal(c.unanswered, 0);
    as_check_finish(&c);
    const struct as_sheet_row *row = &a.v[0].sheet.rows[3]; /* measured in vain: listed, and no failure */
    struct as_sheet_gap *gap = b.v[0].sheet.gaps = calloc(1, sizeof *gap);
    assert_non_null(gap);
    *gap = (struct as_sheet_gap){.group = row->group, .reason = "contended: over 2 GB/s", .undecided = true};
    as_copy_text(gap->label, sizeof gap->label, row->label);
    b.v[0].sheet.gaps_n = 1;
    c = checked(&a, &b);
    assert_int_equal(c.v[3].verdict, AS_CHECK_MISSING);
    assert_string_equal(c.v[3].why, "contended: over 2 GB/s");
    assert_true(c.v[3].unanswered && c.unanswered == 1);
    as_check_finish(&c);
    c = checked(&b, &a);
    assert_int_equal(c.v[3].verdict, AS_CHECK_NEW);
    as_check_finish(&c);
    c = checked(&cpu, &a);
    assert_int_equal(c.counts[AS_CHECK_MISSING] + c.counts[AS_CHECK_NEW], c.n);
    assert_string_equal(c.v[0].why, "the device was not measured");
    as_check_finish(&c);
    as_machine_sheet_finish(&a);
    as_machine_sheet_finish(&b);
    as_machine_sheet_finish(&cpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directions),      cmocka_unit_test(test_noise),
        cmocka_unit_test(test_several_runs),    cmocka_unit_test(test_measured_again),
        cmocka_unit_test(test_changes),         cmocka_unit_test(test_joined),
        cmocka_unit_test(test_agreeing_runs),   cmocka_unit_test(test_states),
        cmocka_unit_test(test_joined_coverage), cmocka_unit_test(test_states_checked),
        cmocka_unit_test(test_runs_of_a_line),  cmocka_unit_test(test_clock),
        cmocka_unit_test(test_itself),          cmocka_unit_test(test_one_run_against_many),
        cmocka_unit_test(test_false_alarms),    cmocka_unit_test(test_lines_of_one_side),
    };
    return cmocka_run_group_tests_name("sheet check", tests, NULL, NULL);
}
