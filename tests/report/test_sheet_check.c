/* Checks of a machine's data sheet against others: verdicts and devices. */
#include "base/text.h"
#include "tests/report/made_sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many runs of one machine, the first of value scale, each later one larger by the fraction step. */
static struct as_machine_sheet runs_of_guest(size_t runs, double scale, double step)
{
    struct as_machine_sheet m = made_sheet("cpu", MADE_ROWS, scale, 0.001);
    m.virtual_machine = true;
    for (size_t i = 1; i < runs; i++) {
        struct as_machine_sheet more = made_sheet("cpu", MADE_ROWS, scale * (1 + step * (double)i), 0.001);
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
    struct as_machine_sheet a = made_sheet("cpu", MADE_ROWS, 1, 0.001), b = made_sheet("cpu", MADE_ROWS, 0.8, 0.001);
    struct as_check c = checked(&a, &b);
    static const enum as_check_verdict verdicts[MADE_ROWS] = {AS_CHECK_WORSE, AS_CHECK_BETTER, AS_CHECK_WORSE,
                                                              AS_CHECK_BETTER};
    assert_int_equal(c.n, MADE_ROWS);
    for (size_t i = 0; i < MADE_ROWS; i++) {
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
    struct as_machine_sheet a = made_sheet("cpu", MADE_ROWS, 1, 0.001), b = made_sheet("cpu", MADE_ROWS, 0.99, 0.001),
                            wide = made_sheet("cpu", MADE_ROWS, 0.8, 0.3);
    struct as_check c = checked(&a, &b);
    assert_int_equal(c.counts[AS_CHECK_SAME], MADE_ROWS);
    as_check_finish(&c);
    c = checked(&a, &wide);
    assert_int_equal(c.counts[AS_CHECK_UNDECIDED], MADE_ROWS);
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
    assert_int_equal(c.counts[AS_CHECK_WORSE] + c.counts[AS_CHECK_BETTER], MADE_ROWS);
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
    struct as_machine_sheet base = made_sheet("cpu", MADE_ROWS, 1, 0.001),
                            now = made_sheet("cpu", MADE_ROWS, 0.85, 0.001);
    for (int i = 1; i < 6; i++) {
        struct as_machine_sheet more = made_sheet("cpu", MADE_ROWS, i % 2 ? 0.93 : 1.07, 0.001);
        assert_int_equal(as_machine_sheet_merge(&base, &more, NULL), AS_OK);
        as_machine_sheet_finish(&more);
    }
    struct as_check c = checked(&base, &now);
    assert_int_equal(c.counts[AS_CHECK_UNDECIDED], MADE_ROWS);
    as_check_finish(&c);
    as_machine_sheet_finish(&base);
    as_machine_sheet_finish(&now);
}

/* A run against itself is the same, however little one run says; against another with its numbers it is not. */
UNIT_TEST(test_itself)
{
    struct as_machine_sheet a = made_sheet("cpu", MADE_ROWS, 1, 0.3), b = made_sheet("cpu", MADE_ROWS, 1, 0.3);
    struct as_check c = checked(&a, &b);
    assert_int_equal(c.counts[AS_CHECK_UNDECIDED], MADE_ROWS);
    as_check_finish(&c);
    as_copy_text(b.run[0], sizeof b.run[0], a.run[0]);
    b.v->runs[1].v[0].value *= 1.1; /* a file that was changed */
    c = checked(&a, &b);
    assert_int_equal(c.counts[AS_CHECK_SAME], MADE_ROWS - 1);
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
    struct as_machine_sheet base = made_sheet(device, 2, 1, 0.001), now = made_sheet(device, 2, first, 0.001),
                            more = made_sheet(device, 2, again, 0.001);
    for (int i = 0; i < 3; i++) {
        struct as_machine_sheet run = made_sheet(device, 2, 1, 0.001);
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

/* Two runs that agree need no repeat, and a disturbed one does not take them back. */
UNIT_TEST(test_two_runs_beside_a_disturbed_repeat)
{
    struct as_machine_sheet base = runs_of_guest(4, 1, 0), now = runs_of_guest(3, 0.6, 0);
    struct as_check before = checked(&base, &now), c = checked(&base, &now);
    assert_true(c.counts[AS_CHECK_WORSE] > 0);
    as_check_confirm(&c, &before, 2, 0.05, others_on_the_host, NULL);
    assert_int_equal(c.counts[AS_CHECK_WORSE], before.counts[AS_CHECK_WORSE]);
    as_check_finish(&before);
    as_check_finish(&c);
    as_machine_sheet_finish(&base);
    as_machine_sheet_finish(&now);
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

/* Another state than the base's is worse, until the checked machine shows both; the base's number stays its own. */
UNIT_TEST(test_states_checked)
{
    struct as_machine_sheet base = made_sheet("cpu", 2, 1, 0.005), now = made_sheet("cpu", 2, 3.9, 0.005),
                            back = made_sheet("cpu", 2, 1, 0.005);
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

/* A check shows of one run what its own sheet shows, also where a mode or a bound is on one side, and says of a line
 * that is inconclusive what is true of the numbers that it shows. */
UNIT_TEST(test_one_interval)
{
    static const struct {
        double base, now; /* half widths */
        const char *why;
    } cases[] = {
        {0.2, 0.2, "both intervals are wider than the tolerance"},
        {0.2, 0.001, "the base's interval is wider than the tolerance"},
        {0.001, 0.2, "the interval of the checked number is wider than the tolerance"},
        {0.001, 0.001, "the ratio's interval, including run-to-run variation, is wider than the tolerance"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_machine_sheet base = made_sheet("cpu", 1, 1, cases[i].base),
                                now = made_sheet("cpu", 1, 1, cases[i].now);
        base.virtual_machine = true; /* memory varies by 3% */
        struct as_sheet_row *row = &now.v->sheet.rows[0];
        row->ci.hi = now.v->runs[0].v[0].ci.hi = 1.5 * row->ci.hi;
        row->ci.hi = now.v->runs[0].v[0].ci.hi = i == 1 || i == 3 ? row->value * 1.001 : row->ci.hi;
        const struct as_interval own = row->ci;
        for (int again = 0; again < 2; again++) { /* a check may be made of joined rows */
            struct as_check c = checked(&base, &now);
            assert_int_equal(c.v[0].verdict, AS_CHECK_UNDECIDED);
            assert_string_equal(c.v[0].why, cases[i].why);
            assert_true(c.v[0].now_number.ci.lo == own.lo && c.v[0].now_number.ci.hi == own.hi);
            assert_true(row->ci.lo <= own.lo && row->ci.hi >= own.hi); /* the machine's number holds the run's */
            as_check_finish(&c);
        }
        as_machine_sheet_finish(&base);
        as_machine_sheet_finish(&now);
    }
}

/* Both numbers of threads stand where they differ, and ranges that print alike are the same. */
UNIT_TEST(test_labels)
{
    struct as_machine_sheet base = made_sheet("cpu", 2, 1, 0.01), now = made_sheet("cpu", 2, 1, 0.01);
    struct as_buf label = AS_BUF_INIT;
    strcpy(base.v->sheet.rows[0].shown, "read, 16 threads");
    strcpy(now.v->sheet.rows[0].shown, "read, 32 threads");
    for (int i = 0; i < 2; i++) {
        struct as_machine_sheet *m = i ? &now : &base;
        struct as_sheet_row *row = &m->v->sheet.rows[1];
        row->group = "L1";
        strcpy(row->label, "capacity");
        strcpy(row->unit, "B");
        row->of = as_quantity_of_line("L1", "capacity");
        assert_non_null(row->of);
        m->v->runs[1].v[0] =
            (struct as_estimated){row->value = 32768, row->ci = (struct as_interval){16384, 65536 + i}};
    }
    struct as_check c = checked(&base, &now);
    as_check_line_label(&c.v[0], &label);
    assert_string_equal(as_buf_get(&label), "read, 16 threads (checked: 32 threads)");
    assert_int_equal(c.v[1].verdict, AS_CHECK_SAME);
    as_buf_clear(&label);
    as_check_line_label(&c.v[1], &label);
    assert_string_equal(as_buf_get(&label), "capacity");
    as_buf_finish(&label);
    as_check_finish(&c);
    as_machine_sheet_finish(&base);
    as_machine_sheet_finish(&now);
}

/* Of a line that only some runs have, these alone count; a run without an interval counts where none has one. The same
 * run again says nothing new. */
UNIT_TEST(test_runs_of_a_line)
{
    struct as_machine_sheet one = made_sheet("cpu", 1, 1, 0.001), two = made_sheet("cpu", MADE_ROWS, 1, 0.001),
                            three = made_sheet("cpu", MADE_ROWS, 0.6, 0.001);
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
    struct as_machine_sheet a = made_sheet("cpu", MADE_ROWS, 1, 0.001), b = made_sheet("cpu", MADE_ROWS, 1, 0.001);
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
    assert_int_equal(c.counts[AS_CHECK_SAME], MADE_ROWS);
    assert_true(fabs(c.v[0].comparison.ratio - 1) < 1e-9 && fabs(c.v[1].comparison.ratio - 1) < 1e-9);
    as_check_finish(&c);
    assert_int_equal(as_machine_sheet_merge(&a, &b, NULL), AS_OK);
    assert_true(fabs(a.v->runs[0].v[1].value - 100) < 1e-9 && fabs(a.v->runs[1].v[1].value - 90) < 1e-9);
    as_machine_sheet_finish(&a);
    as_machine_sheet_finish(&b);
}

UNIT_TEST(test_lines_of_one_side)
{
    struct as_machine_sheet a = made_sheet("cuda:0", MADE_ROWS, 1, 0.001), b = made_sheet("cuda:1", 3, 1, 0.001),
                            cpu = made_sheet("cpu", 1, 1, 0.001);
    struct as_check c = checked(&a, &b); /* the only device of the backend on each side */
    assert_int_equal(c.counts[AS_CHECK_SAME], 3);
    assert_int_equal(c.v[3].verdict, AS_CHECK_MISSING);
    assert_string_equal(c.v[3].why, "its data sheet has no such line");
    assert_int_equal(c.unanswered, 0);
    as_check_finish(&c);
    const struct as_sheet_row *row = &a.v[0].sheet.rows[3]; /* measured in vain: listed, and no failure */
    struct as_sheet_gap *gap = b.v[0].sheet.gaps = calloc(1, sizeof *gap);
    assert_non_null(gap);
    *gap = (struct as_sheet_gap){.group = row->group, .reason = "contended: at least 2 GB/s", .undecided = true};
    as_copy_text(gap->label, sizeof gap->label, row->label);
    b.v[0].sheet.gaps_n = 1;
    c = checked(&a, &b);
    assert_int_equal(c.v[3].verdict, AS_CHECK_MISSING);
    assert_string_equal(c.v[3].why, "contended: at least 2 GB/s");
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
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_several_runs),
        cmocka_unit_test(test_measured_again),
        cmocka_unit_test(test_two_runs_beside_a_disturbed_repeat),
        cmocka_unit_test(test_states_checked),
        cmocka_unit_test(test_one_interval),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_runs_of_a_line),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_itself),
        cmocka_unit_test(test_one_run_against_many),
        cmocka_unit_test(test_lines_of_one_side),
    };
    return cmocka_run_group_tests_name("sheet check", tests, NULL, NULL);
}
