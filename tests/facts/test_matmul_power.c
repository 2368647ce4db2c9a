/* Effects of operands and pauses on GEMM and matrix instructions, on synthetic cells of two probes. */
#include "made.h"
#include "tests/unit_test.h"

#include "model/metrics.h"

#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};

static int empty_run(void **unused)
{
    (void)unused;
    made_end(&m);
    return 0;
}

static struct as_cell *product(const char *path, const char *type, int size, double tera)
{
    char axes[160];
    snprintf(axes, sizeof axes, "path=%s type=%s size=%d operands=random hold=burst", path, type, size);
    return made_add(&m, "matmul", "FLOP/s", tera * 1e12, axes);
}

static void add_rate(const char *operands, const char *hold, double tera, double ghz, double watts)
{
    char axes[120];
    struct as_error err = {0};
    const struct as_metric_value power = {
        .name = "power_w", .unit = "W", .lower_is_better = true, .trials = 3, .value = watts, .ci = {watts, watts}};
    snprintf(axes, sizeof axes, "instruction=wgmma_f16_f32 n=0 operands=%s hold=%s", operands, hold);
    struct as_cell *cell = made_add(&m, "matmul_rate", "FLOP/s", tera * 1e12, axes);
    cell->clock_hz = ghz * 1e9;
    assert_int_equal(as_cell_set_metrics(cell, &power, 1, &err), AS_OK);
    cell->detail = strdup("{\"power_w\":1}"); /* of the last trial alone: not what is told */
}

UNIT_TEST(test_power)
{
    add_rate("random", "burst", 950, 1.75, 600);
    add_rate("random", "sustained", 750, 1.4, 700);
    add_rate("zero", "burst", 1060, 1.98, 300);
    add_rate("zero", "sustained", 1060, 1.98, 400);
    product("wgmma", "f16", 8192, 750);
    made_add(&m, "matmul", "FLOP/s", 740e12, "path=wgmma type=f16 size=8192 operands=random hold=sustained");
    made_derive(&m);
    made_near(&m, "matmul.zeros.wgmma_f16_f32", 1060.0 / 750, 1e-6);
    made_verdict(&m, "matmul.zeros.wgmma_f16_f32", AS_SUPPORTED);
    made_says(made_get(&m, "matmul.zeros.wgmma_f16_f32"), "1.98 GHz at 400 W against 1.40 GHz at 700 W");
    made_near(&m, "matmul.burst.wgmma_f16_f32", 950.0 / 750, 1e-6);
    made_says(made_get(&m, "matmul.burst.wgmma_f16_f32"), "600 W including idle gaps against 1.40 GHz at 700 W");
    made_verdict(&m, "matmul.burst.wgmma_f16_8192", AS_UNDECIDED);
    made_acts(&m, "matmul.zeros.wgmma_f16_f32", "at 1.41x");
}

/* Ratios that may be 1, or on either side of the bar: no difference is stated. */
UNIT_TEST(test_zeros_may_be_no_faster)
{
    char axes[128];
    m.share = 0.1;
    for (int i = 0; i < 2; i++) {
        snprintf(axes, sizeof axes, "path=mma;type=f16;size=2048;operands=%s;hold=sustained", i ? "zero" : "random");
        made_add(&m, "matmul", "FLOP/s", i ? 101e12 : 100e12, axes);
    }
    made_derive(&m);
    m.share = 0.01;
    made_verdict(&m, "matmul.zeros.mma_f16_2048", AS_UNDECIDED);
    made_says(made_get(&m, "matmul.zeros.mma_f16_2048"), "statistically tied with that of random numbers, sustained");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_zeros_may_be_no_faster, empty_run),
        cmocka_unit_test_teardown(test_power, empty_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
