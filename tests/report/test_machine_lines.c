/* Lines over the runs of a machine: what stands beside the number is of all runs, too. */
#include "base/text.h"
#include "report/sheet/machine_sheet.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A machine with a latency of so many ns at a clock, counted in cycles. */
static struct as_machine_sheet made(double value, double hz)
{
    static unsigned runs;
    struct as_machine_sheet m = {
        .v = calloc(1, sizeof *m.v), .n = 1, .runs = 1, .run = calloc(AS_MACHINE_RUNS_MAX, sizeof *m.run)};
    assert_true(m.v && m.run);
    snprintf(m.run[0], sizeof m.run[0], "run %u", runs++);
    as_copy_text(m.v->id, sizeof m.v->id, "cpu");
    m.clock_hz = hz;
    m.v->sheet.rows = calloc(1, sizeof *m.v->sheet.rows);
    assert_non_null(m.v->sheet.rows);
    m.v->sheet.n = 1;
    m.v->sheet.rows[0] = (struct as_sheet_row){.group = "L2",
                                               .label = "latency",
                                               .unit = "ns",
                                               .value = value,
                                               .ci = {value * 0.999, value * 1.001},
                                               .trials = 10,
                                               .specified = NAN,
                                               .clock_exponent = NAN,
                                               .counted = value * hz * 1e-9,
                                               .counted_unit = "cycles",
                                               .further = "by the neighbours' load",
                                               .of = as_quantity_named("L2.latency")};
    assert_non_null(m.v->sheet.rows[0].of);
    assert_int_equal(as_device_sheet_add_run(m.v, NULL), AS_OK);
    return m;
}

static struct as_machine_sheet joined(const double *value, const double *hz, size_t n)
{
    struct as_machine_sheet m = made(value[0], hz[0]);
    for (size_t i = 1; i < n; i++) {
        struct as_machine_sheet more = made(value[i], hz[i]);
        assert_int_equal(as_machine_sheet_merge(&m, &more, NULL), AS_OK);
        as_machine_sheet_finish(&more);
    }
    assert_int_equal(as_machine_sheet_join(&m, NULL), AS_OK);
    return m;
}

/* The cycles are those of the value, not of the last run. */
UNIT_TEST(test_counted)
{
    static const double value[] = {4.0, 4.2, 3.8}, hz[] = {4e9, 4e9, 4e9};
    struct as_machine_sheet m = joined(value, hz, 3);
    const struct as_sheet_row *row = &m.v->sheet.rows[0];
    struct as_buf details = AS_BUF_INIT;
    assert_true(fabs(row->counted - 4 * row->value) < 1e-9);
    as_sheet_details(row, &details);
    assert_string_equal(as_buf_get(&details), "16.0 cycles, by the neighbours' load");
    as_buf_finish(&details);
    as_machine_sheet_finish(&m);
}

/* As many cycles at another clock are another time. */
UNIT_TEST(test_counted_at_other_clocks)
{
    static const double value[] = {4.0, 16 / 4.1, 16 / 3.9}, hz[] = {4e9, 4.1e9, 3.9e9};
    struct as_machine_sheet m = joined(value, hz, 3);
    assert_true(fabs(m.v->sheet.rows[0].counted - 16) < 0.02);
    as_machine_sheet_finish(&m);
}

/* A run that did not count does not take the others' counts away. */
UNIT_TEST(test_counted_by_some)
{
    struct as_machine_sheet m = made(4, 4e9), more = made(4, 4e9);
    more.v->runs[0].of[0].counted = NAN;
    assert_int_equal(as_machine_sheet_merge(&m, &more, NULL), AS_OK);
    assert_int_equal(as_machine_sheet_join(&m, NULL), AS_OK);
    assert_true(fabs(m.v->sheet.rows[0].counted - 16) < 0.02);
    as_machine_sheet_finish(&more);
    as_machine_sheet_finish(&m);
}

UNIT_TEST(test_another)
{
    static const struct {
        struct as_interval another;
        size_t states;
        const char *text;
    } cases[] = {{{98, 102}, 0, "2.0%"},
                 {{60, 140}, 0, "60 to 140 ns"},
                 {{31, 144}, 0, "not yet known"},
                 {{20, 400}, 2, "27.0 or 121 ns"},
                 {{NAN, NAN}, 0, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct as_sheet_row row = {.value = 100,
                                         .unit = "ns",
                                         .ci = cases[i].states ? cases[i].another : (struct as_interval){99, 101},
                                         .trials = 10,
                                         .modes = cases[i].states,
                                         .of_runs = true,
                                         .mode = {27, 121},
                                         .mode_share0 = 0.5};
        const struct as_line_runs runs = {.n = 3, .another = cases[i].another, .states = {.n = cases[i].states}};
        struct as_buf text = AS_BUF_INIT;
        as_line_another(&row, &runs, &text);
        assert_string_equal(as_buf_get(&text), cases[i].text);
        as_buf_finish(&text);
    }
}

/* A later run that did not ask for a line does not hide why an earlier one has no number. */
UNIT_TEST(test_reasons)
{
    static const struct {
        struct as_sheet_gap last, earlier;
        const char *reason;
    } cases[] = {
        {{.reason = "", .not_asked = true}, {.reason = "rejected: checksum"}, "rejected: checksum"},
        {{.reason = "the run measured too few sizes", .not_asked = true}, {.reason = "crashed"}, "crashed"},
        {{.reason = "crashed"}, {.reason = "rejected: checksum"}, "crashed"},
        {{.reason = "", .not_asked = true}, {.reason = "contended", .undecided = true}, "contended"},
        {{.reason = "crashed"}, {.reason = "the run measured too few sizes", .not_asked = true}, "crashed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double value[] = {4, 4}, hz = 4e9;
        struct as_machine_sheet m = made(value[0], hz), more = made(value[1], hz);
        struct as_sheet *const sheets[] = {&m.v->sheet, &more.v->sheet};
        for (int k = 0; k < 2; k++) {
            sheets[k]->gaps = calloc(1, sizeof *sheets[k]->gaps);
            assert_non_null(sheets[k]->gaps);
            sheets[k]->gaps[0] = k ? cases[i].earlier : cases[i].last;
            sheets[k]->gaps[0].of = as_quantity_named("L3.latency");
            sheets[k]->gaps_n = 1;
        }
        assert_int_equal(as_machine_sheet_merge(&m, &more, NULL), AS_OK);
        assert_string_equal(m.v->sheet.gaps[0].reason, cases[i].reason);
        assert_int_equal(m.v->sheet.gaps[0].undecided, strcmp(cases[i].reason, "contended") == 0);
        as_machine_sheet_finish(&m);
        as_machine_sheet_finish(&more);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counted),         cmocka_unit_test(test_counted_at_other_clocks),
        cmocka_unit_test(test_counted_by_some), cmocka_unit_test(test_another),
        cmocka_unit_test(test_reasons),
    };
    return cmocka_run_group_tests_name("lines of a machine", tests, NULL, NULL);
}
