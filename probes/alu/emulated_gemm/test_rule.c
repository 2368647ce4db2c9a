/* The rule of f64 GEMM from slices, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};

static void gemm(const char *axes, double rate, double bits)
{
    char metrics[200];
    snprintf(metrics, sizeof metrics,
             "[{\"name\":\"accuracy\",\"unit\":\"bits\",\"better\":\"more\",\"counts\":null,\"trials\":3,\"value\":%g,"
             "\"ci_low\":%g,\"ci_high\":%g}]",
             bits, bits, bits);
    made_add(&m, "emulated_gemm", "FLOP/s", rate, axes)->metrics = strdup(metrics);
}

UNIT_TEST(test_cost)
{
    gemm("op=f64 slices=0 input=random size=256", 1e12, 51);
    gemm("op=s8_slices slices=8 input=random size=256", 3e12, 52.5);
    gemm("op=s8_slices slices=8 input=wide size=256", 3e12, 20); /* no f64 of this input */
    gemm("op=f64_gemm slices=0 input=random size=2048", 4e13, 51);
    gemm("op=s8_gemm slices=8 input=random size=2048", 2e13, 52.5);
    made_derive(&m);
    made_near(&m, "emulated_gemm.unit.8_slices.random.2048", 0.5, 1e-6);
    made_says(made_get(&m, "emulated_gemm.unit.8_slices.random.2048"),
              "both by the fastest GEMM path (random, size 2048)");
    made_near(&m, "emulated_gemm.8_slices.random", 3, 1e-6);
    made_verdict(&m, "emulated_gemm.8_slices.random", AS_SUPPORTED);
    made_says(made_get(&m, "emulated_gemm.8_slices.random"), "with 52.5 correct bits (f64: 51.0)");
    assert_null(made_find(&m, "emulated_gemm.8_slices.wide"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {made_test(test_cost, &m)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
