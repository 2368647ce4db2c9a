/* The table of CPU instructions: one row each, its latencies as one value or a range, never of two instructions mixed.
 */
#include "base/text.h"
#include "report/operations/instructions.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELLS_MAX = 16 };
static struct as_cell cells[CELLS_MAX];
static struct as_report_run run;

static struct as_cell *add(const char *instruction, const char *what, double cycles)
{
    struct as_cell *c = &cells[run.cells_n];
    struct as_error err = {0};
    char axes[160];
    assert_true(run.cells_n < CELLS_MAX);
    run.cells = cells;
    *c = (struct as_cell){.id = (int64_t)++run.cells_n, .status = AS_CELL_OK, .lower_is_better = true};
    as_copy_text(c->device, sizeof c->device, "cpu");
    as_copy_text(c->probe, sizeof c->probe, "cpu_operands");
    as_copy_text(c->unit, sizeof c->unit, "cycles");
    c->sum =
        (struct as_summary){.n = 30, .trials = 3, .median = cycles, .ci = {0.999 * cycles, 1.001 * cycles}, .modes = 1};
    snprintf(axes, sizeof axes, "{\"instruction\":\"%s\",\"what\":\"%s\"}", instruction, what);
    assert_int_equal(as_axes_from_json(axes, &c->axes, &err), AS_OK);
    return c;
}

static const char *word(const struct as_view_table *t, size_t row, size_t column)
{
    return t->cells[row * t->columns_n + column].text;
}

UNIT_TEST(test_rows)
{
    static const struct {
        const char *name, *latency, *by_operand;
        double each;
    } want[] = {
        {"add_r64_r64", "1.00", "", 0.25},
        {"mul_r64", "3.00 to 4.00", "1torax 3.00, 1tordx 4.00", 1},
        {"nop", "–", "", 0.125},
        {"shl_r64_cl", "1.00", "", NAN},
    };
    struct as_view_table t;
    run = (struct as_report_run){.cells_n = 0};
    add("add_r64_r64", "1to1", 1);
    add("add_r64_r64", "imul_r64_r64", 4)->detail = (char *)"{\"first\":4,\"second\":4}"; /* both in turn */
    add("mul_r64", "1torax", 3);
    add("add_r64_r64", "2to1", 1.01);
    add("add_r64_r64", "throughput", 0.25);
    add("mul_r64", "1tordx", 4);
    add("mul_r64", "throughput", 1);
    add("nop", "throughput", 0.125);
    add("shl_r64_cl", "clto1", 0.999)->detail = (char *)"{\"at_most\":1}";
    add("shl_r64_cl", "1to1", 1.002);
    add("vpermd_zmm_zmm_zmm", "2to1", NAN)->status = AS_CELL_UNSUPPORTED;
    as_instructions_view(&run, &t);
    assert_false(t.failed);
    assert_int_equal(t.rows_n, sizeof want / sizeof *want);
    for (size_t i = 0; i < t.rows_n; i++) {
        const struct as_view_cell *each = &t.cells[i * t.columns_n + 3];
        assert_string_equal(word(&t, i, 0), want[i].name);
        assert_string_equal(word(&t, i, 1), want[i].latency);
        assert_string_equal(word(&t, i, 2), want[i].by_operand);
        assert_true(isnan(want[i].each) ? !each->cell : each->cell && each->cell->sum.median == want[i].each);
    }
    as_view_finish(&t);
}

/* A bound at the end of a range is said to be one. */
UNIT_TEST(test_bounds)
{
    struct as_view_table t;
    run = (struct as_report_run){.cells_n = 0};
    add("lea", "indexto1", 1);
    add("lea", "baseto1", 2)->detail = (char *)"{\"at_most\":1}";
    as_instructions_view(&run, &t);
    assert_int_equal(t.rows_n, 1);
    assert_string_equal(word(&t, 0, 1), "1.00 to at most 2.00");
    assert_string_equal(word(&t, 0, 2), "indexto1 1.00, baseto1 at most 2.00");
    as_view_finish(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
