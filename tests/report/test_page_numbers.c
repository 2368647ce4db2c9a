/* Numbers as a page prints them. */
#include "base/text.h"
#include "page_asserts.h"
#include "report/page/page.h"
#include "tests/unit_test.h"

#include <math.h>

/* No more trials could reach beyond the physical bound, so no band and no printed interval does. */
static void intervals_end_at_the_bound(void **state)
{
    (void)state;
    struct as_cell c = {.unit = "ns",
                        .lower_is_better = true,
                        .limit = 0.27,
                        .status = AS_CELL_WIDE,
                        .sum = {.n = 40, .trials = 5, .median = 1.15, .ci = {0.07, 1.43}, .min = 1, .max = 1.4}};
    struct as_buf text = AS_BUF_INIT;
    assert_true(as_number_interval_of_cell(&c).lo == c.limit && as_number_interval_of_cell(&c).hi == c.sum.ci.hi);
    as_page_cell_value(&text, &c);
    assert_has(&text, "0.27 to 1.43");
    c = (struct as_cell){.unit = "GB/s",
                         .limit = 3352,
                         .status = AS_CELL_WIDE,
                         .sum = {.n = 40, .trials = 5, .median = 3058, .ci = {1375, 3629}}};
    assert_true(as_number_interval_of_cell(&c).hi == c.limit && as_number_interval_of_cell(&c).lo == c.sum.ci.lo);
    c.sum.median = 3400; /* within the tolerance of the bound */
    assert_true(as_number_interval_of_cell(&c).hi == c.sum.median);
    c.limit = NAN;
    assert_true(as_number_interval_of_cell(&c).hi == c.sum.ci.hi);
    c.sum.ci.lo = -20; /* no rate is below 0 */
    assert_true(as_number_interval_of_cell(&c).lo == 0 && as_number_of_cell(&c).ci.lo == 0);
    c.sum.median = -1; /* what can be negative is */
    assert_true(as_number_interval_of_cell(&c).lo == -20);
    as_buf_finish(&text);
}

static void check_value(double v, const char *unit, const char *wanted)
{
    struct as_buf b = AS_BUF_INIT;
    as_page_value(&b, v, unit);
    assert_string_equal(as_buf_get(&b), wanted);
    as_buf_finish(&b);
}

static void values_have_three_digits_and_a_scale(void **state)
{
    (void)state;
    check_value(1.4631, "ns", "1.46\u00a0ns");
    check_value(50123, "ns", "50.1\u00a0µs");
    check_value(3.41e9, "Hz", "3.41\u00a0GHz");
    check_value(4372, "GB/s", "4.37\u00a0TB/s");
    check_value(0.0123, "GB/s", "12.3\u00a0MB/s");
    check_value(49152, "B", "48 KiB");
    check_value(1.456, "x", "1.46×");
    check_value(3548974, "updates", "3548974\u00a0updates"); /* a count is exact */
    check_value(NAN, "ns", "–");
    check_value(INFINITY, "B", "–");
    check_value(7, "<&", "7.00\u00a0&lt;&amp;");
}

static void intervals_keep_the_scale_of_the_value(void **state)
{
    (void)state;
    struct as_buf b = AS_BUF_INIT;
    as_page_interval(&b, &(struct as_number){.value = 1010, .ci = {990, 1030}, .unit = "ns"});
    assert_string_equal(as_buf_get(&b), "0.990 to 1.03\u00a0µs");
    as_buf_clear(&b);
    as_page_interval(&b, &(struct as_number){.value = 192, .ci = {192, 192.5}, .unit = "events"});
    assert_string_equal(as_buf_get(&b), "192 to 193\u00a0events");
    as_buf_clear(&b);
    as_page_interval(&b, &(struct as_number){.value = 1010, .ci = {NAN, NAN}, .unit = "ns"});
    assert_string_equal(as_buf_get(&b), "–");
    as_buf_finish(&b);
}

static struct as_fact size_fact(double v, double lo, double hi, double claimed)
{
    return (struct as_fact){
        .device = "cpu", .object = "L1", .unit = "B", .value = v, .ci = {lo, hi}, .claimed = claimed};
}

static void check_fact(struct as_fact f, enum as_said said, const char *wanted)
{
    struct as_buf b = AS_BUF_INIT;
    const struct as_number n = {.value = f.value, .ci = f.ci, .unit = f.unit};
    assert_int_equal(as_page_said(&n, f.claimed), said);
    as_page_fact_value(&b, &f);
    assert_string_equal(as_buf_get(&b), wanted);
    as_buf_finish(&b);
}

static void a_wide_size_has_no_middle(void **state)
{
    (void)state;
    const double k = 1024, m = k * k;
    check_fact(size_fact(44.2 * k, 16 * k, 64 * k, 32 * k), AS_SAID_CLAIMED, "32 KiB");
    check_fact(size_fact(44.2 * k, 16 * k, 64 * k, 16 * k), AS_SAID_CLAIMED, "16 KiB");
    check_fact(size_fact(44.2 * k, 40 * k, 64 * k, 32 * k), AS_SAID_BRACKET, "40–64 KiB");
    check_fact(size_fact(44.2 * k, 16 * k, 64 * k, NAN), AS_SAID_BRACKET, "16–64 KiB");
    check_fact(size_fact(m, 512 * k, 2 * m, NAN), AS_SAID_BRACKET, "512 KiB–2 MiB");
    check_fact(size_fact(32 * k, 31 * k, 33 * k, 64 * k), AS_SAID_VALUE, "31 to 33\u00a0KiB");
    check_fact(size_fact(32 * k, NAN, NAN, 64 * k), AS_SAID_VALUE, "32 KiB");
    struct as_fact clock = size_fact(3e9, 2e9, 4e9, 2.5e9);
    as_copy_text(clock.unit, sizeof clock.unit, "Hz");
    check_fact(clock, AS_SAID_VALUE, "2.0 to 4.0\u00a0GHz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_end_at_the_bound),
        cmocka_unit_test(values_have_three_digits_and_a_scale),
        cmocka_unit_test(intervals_keep_the_scale_of_the_value),
        cmocka_unit_test(a_wide_size_has_no_middle),
    };
    return cmocka_run_group_tests_name("report: numbers of a page", tests, NULL, NULL);
}
