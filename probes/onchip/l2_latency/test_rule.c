/* The rule of near and far lines, on synthetic cells of a known device. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include "base/text.h"

#include <string.h>

UNIT_TEST(test_units)
{
    struct made *m = made_gpu();
    struct as_cell *near = made_add(m, "l2_latency", "ns", 105, "what=near compute_unit=3 filler=0");
    near->detail = as_strdup("{\"near_share\":0.52}");
    made_add(m, "l2_latency", "ns", 140, "what=far compute_unit=3 filler=0");
    made_add(m, "l2_latency", "ns", 380, "what=missed compute_unit=0 filler=0");
    made_add(m, "l2_latency", "ns", 120, "what=found compute_unit=0 filler=0");
    made_add(m, "l2_latency", "ns", 150, "what=found compute_unit=0 filler=64");
    made_add(m, "l2_latency", "ns", 150, "what=found compute_unit=0 filler=8");
    made_derive(m);
    const struct as_fact *far = made_get(m, "onchip.L2.far.unit3");
    made_holds(far, 140.0 / 105);
    assert_non_null(strstr(far->sentence, "52%"));
    const struct as_fact *sharing = made_get(m, "onchip.L2.sharing");
    assert_true(sharing->verdict == AS_SUPPORTED && sharing->value == 2);
    m->cells[4].sum.median = 379;
    m->cells[4].sum.ci = (struct as_interval){378, 380};
    made_derive(m);
    assert_int_equal(made_get(m, "onchip.L2.sharing")->verdict, AS_REFUTED);
    made_free(m);
}

/* By the medians there are far lines and shared ones; by the intervals neither. */
UNIT_TEST(test_wide_intervals)
{
    struct made *m = made_gpu();
    m->share = 0.4;
    made_add(m, "l2_latency", "ns", 100, "what=near compute_unit=3 filler=0");
    made_add(m, "l2_latency", "ns", 140, "what=far compute_unit=3 filler=0");
    made_add(m, "l2_latency", "ns", 150, "what=missed compute_unit=3 filler=0");
    made_add(m, "l2_latency", "ns", 110, "what=found compute_unit=3 filler=1");
    made_derive(m);
    const struct as_fact *f = made_get(m, "onchip.L2.far.unit3");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "are statistically tied with the near ones");
    assert_null(made_find(m, "onchip.L2.sharing")); /* only one other unit */
    made_add(m, "l2_latency", "ns", 110, "what=found compute_unit=3 filler=2");
    made_derive(m);
    f = made_get(m, "onchip.L2.sharing");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "SM 3 hits L2 lines loaded by 0 of 2 other SMs; 2 inconclusive");
    made_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide_intervals),
        cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
