/* The rule of arithmetic peaks, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>

UNIT_TEST(test_peaks)
{
    struct made m = {.share = 0.01, .info = {.id = "cuda:0", .backend = "cuda", .clock_max_hz = 2e9}};
    struct as_cell *peak = made_add(&m, "roofline", "FLOP/s", 30e12, "type=f64 threads=0 width=best");
    peak->limit = 40e12;
    peak->clock_hz = 1.5e9; /* of 2 GHz: the scaled bound is 30e12 */
    made_add(&m, "roofline", "FLOP/s", 60e12, "type=f32 threads=0 width=best");
    made_add(&m, "roofline", "FLOP/s", 50e12, "type=f32 threads=0 width=512");
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "arithmetic.peak.f64", 30e12, 1e-9);
    assert_true(fabs(f->claimed / 30e12 - 1) < 1e-9);
    made_says(f, "100.0% of the theoretical peak at 1.5");
    f = made_near(&m, "arithmetic.peak.f32", 60e12, 1e-9);
    assert_true(isnan(f->claimed));
    made_add(&m, "roofline", "FLOP/s", 1, "type=f32 threads=1 width=best")->status = AS_CELL_SKIPPED;
    made_add(&m, "roofline", "FLOP/s", 10e12, "type=f16 threads=0 width=128");
    made_add(&m, "roofline", "FLOP/s", 1, "type=f16 threads=0 width=best")->status = AS_CELL_SKIPPED;
    made_derive(&m);
    made_verdict(&m, "arithmetic.peak.f32", AS_SUPPORTED);
    made_verdict(&m, "arithmetic.peak.f16", AS_UNDECIDED); /* the best of all widths was left out */
    made_says(made_get(&m, "arithmetic.peak.f16"), "reach at least 10");
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
