/* The rule of emulated arithmetic, on synthetic cells. */
#include "model/metrics.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

UNIT_TEST(test_cost)
{
    struct made *m = made_gpu();
    made_add(m, "emulated", "OP/s", 30e12, "op=f32_add");
    made_add(m, "emulated", "OP/s", 15e12, "op=f64_add");
    made_add(m, "emulated", "OP/s", 1.5e12, "op=e8m48_add");
    made_add(m, "emulated", "OP/s", 8e12, "op=i64_mul_pieces");
    made_add(m, "emulated", "OP/s", 8e12, "op=i64_mul");
    made_derive(m);
    made_near(m, "emulated.e8m48_add.f64_add", 0.1, 1e-3);
    made_verdict(m, "emulated.e8m48_add.f64_add", AS_SUPPORTED);
    made_says(made_get(m, "emulated.e8m48_add.f64_add"), "e8m48_add runs 10");
    made_says(made_get(m, "emulated.e8m48_add.f64_add"), "slower than f64_add");
    made_says(made_get(m, "emulated.e8m48_add.f32_add"), "slower than f32_add");
    made_verdict(m, "emulated.i64_mul_pieces.i64_mul", AS_UNDECIDED);
    assert_null(made_find(m, "emulated.fp59_add.f64_add"));
    assert_null(made_find(m, "emulated.e8m48_add.accuracy"));
    made_free(m);
}

UNIT_TEST(test_accuracy)
{
    struct made *m = made_gpu();
    const struct as_metric_value v = {.name = "accuracy", .unit = "bits", .trials = 3, .value = 46.9, .ci = {46.8, 47}};
    struct as_error err = {0};
    assert_int_equal(as_cell_set_metrics(made_add(m, "emulated", "OP/s", 1e12, "op=e8m48_add"), &v, 1, &err), AS_OK);
    made_derive(m);
    made_near(m, "emulated.e8m48_add.accuracy", 46.9, 1e-9);
    made_says(made_get(m, "emulated.e8m48_add.accuracy"), "e8m48_add is accurate to 46.9 bits");
    made_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cost), cmocka_unit_test(test_accuracy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
