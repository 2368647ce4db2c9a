/* Numbers as they are shown: bandwidths that are stored as times, and reasons told once. */
#include "base/text.h"
#include "report/display_unit.h"
#include "report/report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct as_cell cell(const char *probe, const char *what)
{
    struct as_error err;
    struct as_cell c = {.status = AS_CELL_OK, .lower_is_better = 1, .limit = 0.0125};
    as_copy_text(c.device, sizeof c.device, "cuda:0");
    as_copy_text(c.probe, sizeof c.probe, probe);
    as_copy_text(c.metric, sizeof c.metric, "time");
    as_copy_text(c.unit, sizeof c.unit, "ns");
    assert_int_equal(as_axes_add(&c.axes, "place", "L2", &err), AS_OK);
    assert_int_equal(as_axes_add(&c.axes, "what", what, &err), AS_OK);
    c.sum = (struct as_summary){.n = 3,
                                .trials = 1,
                                .median = 0.016,
                                .ci = {0.0128, 0.02},
                                .mad = 0.00016,
                                .min = 0.0125,
                                .max = 0.032,
                                .modes = 2,
                                .mode = {0.0125, 0.02},
                                .mode_share0 = 0.25};
    return c;
}

static void near(double v, double wanted)
{
    if (!(fabs(v / wanted - 1) < 1e-9))
        fail_msg("%.12g, not %.12g", v, wanted);
}

static void a_time_of_64_bytes_is_a_bandwidth(void **state)
{
    (void)state;
    double samples[] = {0.016, 0.032, 0.0128};
    struct as_cell c = cell("topology", "bandwidth");
    c.samples = samples;
    as_display_cell(&c);
    assert_string_equal(c.unit, "GB/s");
    assert_string_equal(c.metric, "bandwidth");
    assert_int_equal(c.lower_is_better, 0);
    near(c.sum.median, 4000);
    near(c.sum.ci.lo, 3200);
    near(c.sum.ci.hi, 5000);
    near(c.sum.min, 2000);
    near(c.sum.max, 5120);
    near(c.sum.mad, 40);
    near(c.sum.mode[0], 3200);
    near(c.sum.mode[1], 5120);
    near(c.sum.mode_share0, 0.75);
    near(c.limit, 5120);
    near(samples[1], 2000);
    as_display_cell(&c); /* what is turned is not turned back */
    near(c.sum.median, 4000);
}

static void other_cells_stay(void **state)
{
    (void)state;
    struct as_cell latency = cell("topology", "latency"), other = cell("latency", "bandwidth");
    struct as_cell none = cell("topology", "bandwidth");
    as_display_cell(&latency);
    as_display_cell(&other);
    near(latency.sum.median, 0.016);
    near(other.sum.median, 0.016);
    assert_string_equal(latency.unit, "ns");
    none.sum = (struct as_summary){.n = 0};
    as_display_cell(&none);
    assert_string_equal(none.unit, "GB/s");
    assert_true(none.sum.median == 0);
}

static const char *terminal(struct as_cell *cells, size_t n, struct as_buf *out)
{
    struct as_error err;
    const struct as_table_style style = {.width = 200, .unicode = 1};
    struct as_report_run run = {.cells = cells, .cells_n = n};
    assert_int_equal(as_report_terminal(&run, &style, out, &err), AS_OK);
    return as_buf_get(out);
}

static void latency_and_bandwidth_are_lines_of_their_own(void **state)
{
    (void)state;
    struct as_buf out = AS_BUF_INIT;
    struct as_cell cells[] = {cell("topology", "latency"), cell("topology", "bandwidth")};
    cells[0].sum.median = 164;
    for (size_t i = 0; i < 2; i++)
        as_display_cell(&cells[i]);
    const char *text = terminal(cells, 2, &out);
    assert_non_null(strstr(text, "164 ns"));
    assert_non_null(strstr(text, "4.00 TB/s"));
    assert_null(strstr(text, "0.016"));
    as_buf_finish(&out);
}

static void one_reason_of_several_probes_is_one_line(void **state)
{
    (void)state;
    struct as_buf out = AS_BUF_INIT;
    struct as_cell cells[5];
    static const char *const probes[] = {"onchip", "onchip_lines", "onchip", "copy", "link"};
    for (size_t i = 0; i < 5; i++) {
        cells[i] = cell(probes[i], "x");
        cells[i].status = AS_CELL_UNSUPPORTED;
        cells[i].sum = (struct as_summary){.n = 0};
        as_copy_text(cells[i].reason, sizeof cells[i].reason, i < 4 ? "the device lacks: source" : "no pair");
    }
    as_copy_text(cells[3].device, sizeof cells[3].device, "cpu");
    const char *text = terminal(cells, 5, &out);
    assert_non_null(strstr(text, "onchip, onchip_lines cuda:0: 3 unsupported: the device lacks: source\n"));
    assert_non_null(strstr(text, "copy cpu: 1 unsupported: the device lacks: source\n"));
    assert_non_null(strstr(text, "link cuda:0: 1 unsupported: no pair\n"));
    as_buf_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_of_64_bytes_is_a_bandwidth),
        cmocka_unit_test(other_cells_stay),
        cmocka_unit_test(latency_and_bandwidth_are_lines_of_their_own),
        cmocka_unit_test(one_reason_of_several_probes_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
