/* What explain says of a cell's samples. */
#include "cli/explain/explain.h"

#include "report/terminal/terminal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Minimum and maximum are of samples with weight: what lies beyond stands in rows of its own, which say where they
 * begin. */
static void test_distribution(void **state)
{
    (void)state;
    double samples[] = {100, 101, 102, 103, 104, 105, 106, 107, 108, 110, 900, 950, 90};
    enum { N = sizeof samples / sizeof *samples };
    const struct as_explained e = {
        .cell = {
            .id = 1,
            .status = AS_CELL_OK,
            .unit = "ns",
            .samples = samples,
            .limit = NAN,
            .clock_hz = NAN,
            .precision = NAN,
            .sum = {
                .n = N, .trials = 3, .median = 104, .ci = {103, 105}, .mad = 1, .min = 100, .max = 110, .modes = 1}}};
    struct as_buf out = AS_BUF_INIT;
    assert_int_equal(as_explain_cell(&e, &(struct as_table_style){.width = 100}, &out, NULL), AS_OK);
    const char *text = as_buf_get(&out);
    assert_non_null(strstr(text, "below 100.0 ns      1 "));
    assert_non_null(strstr(text, "above 110.0 ns      2 "));
    assert_non_null(strstr(text, "    110.0 ns      1 ")); /* the last bin's own sample */
    assert_null(strstr(text, "653"));                      /* a mean with those beyond */
    as_buf_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_distribution)};
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
