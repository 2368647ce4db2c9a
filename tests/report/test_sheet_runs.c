/* The runs that a machine's data sheet joins: changes, states, and what they say of another run. */
#include "tests/report/made_sheet.h"

#include <math.h>

/* The latest run first, as a store's runs are merged. */
static struct as_machine_sheet series(const double *scale, size_t n)
{
    struct as_machine_sheet m = made_sheet("cuda:0", MADE_ROWS, scale[n - 1], 0.001);
    for (size_t i = n - 1; i > 0; i--) {
        struct as_machine_sheet run = made_sheet("cuda:0", MADE_ROWS, scale[i - 1], 0.001);
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
    for (size_t i = 0; i < MADE_ROWS; i++) {
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
        struct as_machine_sheet run = made_sheet("cpu", MADE_ROWS, i % 2 ? 1.0005 : 0.9995, 0.001);
        run.virtual_machine = true;
        for (size_t k = 1; k < MADE_ROWS; k += 2) {
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
        for (size_t k = 0; k < MADE_ROWS; k += 2) {
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
        for (size_t i = 0; i < MADE_ROWS; i++) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_agreeing_runs),
        cmocka_unit_test(test_states),
    };
    return cmocka_run_group_tests_name("sheet runs", tests, NULL, NULL);
}
