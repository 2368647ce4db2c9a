/* The rule of matrix arithmetic, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}};

static struct as_cell *found(const char *instruction, int n, const char *property, double value)
{
    char axes[160];
    snprintf(axes, sizeof axes, "instruction=%s n=%d property=%s", instruction, n, property);
    struct as_cell *cell = made_add(&m, "numerics", "found", value, axes);
    cell->detail = strdup("{\"format_bits\":24}");
    return cell;
}

UNIT_TEST(test_accumulators)
{
    found("wgmma_f16_f32", 8, "accumulator", 24);
    found("wgmma_e4m3_f32", 8, "accumulator", 14);
    found("mma_m16n8k16_f16_f32", 0, "accumulator", 24);
    made_derive(&m);
    assert_int_equal(m.facts_n, 3);
    const struct as_fact *f = made_get(&m, "numerics.accumulator.wgmma_f16_f32_n_8");
    assert_int_equal(f->verdict, AS_SUPPORTED);
    made_says(f, "with all 24 significand bits");
    f = made_near(&m, "numerics.accumulator.wgmma_e4m3_f32_n_8", 14, 0);
    assert_int_equal(f->verdict, AS_REFUTED);
    assert_true(f->claimed == 24);
    made_says(f, "NOT the 24 of its result format");
    made_acts(&m, f->id, "Split long sums into partial sums: wgmma_e4m3_f32");
    made_says(made_get(&m, "numerics.accumulator.mma_m16n8k16_f16_f32"), "mma_m16n8k16_f16_f32 accumulates");
}

UNIT_TEST(test_answers)
{
    found("wgmma_f16_f32", 8, "rounding", 1);
    found("wgmma_f16_f32", 256, "rounding", 1);
    found("mma_m8n8k4_f64", 8, "rounding", 2);
    found("wgmma_bf16_f32", 8, "overflow", 1);
    found("wgmma_s8_s32", 8, "overflow", 4);
    found("wgmma_f16_f32", 8, "explained", 100);
    found("wgmma_e4m3_f32", 8, "explained", 99.9);
    found("wgmma_f16_f32", 8, "subnormal", 4);
    found("wgmma_bf16_f32", 8, "subnormal", 0);
    made_derive(&m);
    assert_int_equal(m.facts_n, 7);
    made_says(made_get(&m, "numerics.rounding.zero"), ": wgmma_f16_f32 n=8, wgmma_f16_f32 n=256");
    assert_int_equal(made_get(&m, "numerics.rounding.zero")->evidence_n, 2);
    assert_int_equal(made_get(&m, "numerics.rounding.zero")->verdict, AS_REFUTED);
    made_says(made_get(&m, "numerics.rounding.nearest"),
              "to nearest, ties to even, the IEEE 754 default: mma_m8n8k4_f64");
    made_says(made_get(&m, "numerics.overflow.wraps"), "wgmma_s8_s32");
    made_says(made_get(&m, "numerics.explained"), "wgmma_f16_f32");
    made_says(made_get(&m, "numerics.unexplained"), "wgmma_e4m3_f32");
    assert_int_equal(made_get(&m, "numerics.unexplained")->verdict, AS_REFUTED);
    assert_null(strstr(made_get(&m, "numerics.subnormal")->sentence, "bf16"));
}

UNIT_TEST(test_many)
{
    for (int i = 0; i < 40; i++) {
        char name[40];
        snprintf(name, sizeof name, "instruction%d", i);
        found(name, 8, "rounding", 1);
    }
    made_derive(&m);
    assert_int_equal(m.facts_n, 1);
    made_says(made_get(&m, "numerics.rounding.zero"), " more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_accumulators, &m),
        made_test(test_answers, &m),
        made_test(test_many, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
