/* The rule of matrix instruction peaks, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};

static void peak(const char *instruction, double value, double documented)
{
    char axes[120];
    snprintf(axes, sizeof axes, "instruction=%s n=0 chains=0 warps=0 operands=random", instruction);
    made_add(&m, "matmul_peak", "ops/cycle", value, axes)->limit = documented;
}

UNIT_TEST(test_peaks)
{
    m.share = 0.0001;
    peak("wgmma_f16_f32", 4096, 4096);
    peak("wgmma_sp_f16_f32", 7281, 8192);
    peak("mma_m16n8k16_f16_f32", 2730, 4096);
    peak("mma_m16n8k32_u8_s32", 5461, 8192);
    peak("mma_m16n8k256_b1_s32", 43690, NAN);
    made_derive(&m);
    m.share = 0.01;
    made_near(&m, "matmul.peak.f16", 4096, 0);
    assert_true(made_get(&m, "matmul.peak.f16")->claimed == 4096);
    made_says(made_get(&m, "matmul.peak.f16"), "100.0% of the documented 4096");
    made_verdict(&m, "matmul.peak.u8", AS_REFUTED);
    made_says(made_get(&m, "matmul.peak.u8"), "NOT the documented 8192 (66.7%)");
    made_near(&m, "matmul.older.f16", 2730.0 / 4096, 1e-6);
    made_verdict(&m, "matmul.older.f16", AS_REFUTED);
    made_acts(&m, "matmul.older.f16", "Use the newer matrix instructions: wgmma_f16_f32 runs at 1.50x");
    assert_null(made_find(&m, "matmul.older.u8"));
    made_says(made_get(&m, "matmul.peak.b1"), "none are documented");
    assert_null(made_find(&m, "matmul.peak.f32")); /* f32 is the format of the sum */
    /* What the budget left out may reach what is documented. */
    made_add(&m, "matmul_peak", "ops/cycle", 1, "instruction=wgmma_u8_s32 n=0 chains=0 warps=0 operands=random")
        ->status = AS_CELL_SKIPPED;
    made_derive(&m);
    made_add(&m, "matmul_peak", "ops/cycle", 1, "instruction=mma_m16n8k32_s8_s32 n=0 chains=1 warps=0 operands=random")
        ->status = AS_CELL_SKIPPED; /* with fewer chains it cannot be faster */
    peak("mma_m16n8k32_s8_s32", 5461, 8192);
    made_derive(&m);
    made_verdict(&m, "matmul.peak.s8", AS_REFUTED);
    made_verdict(&m, "matmul.peak.u8", AS_UNDECIDED);
    made_says(made_get(&m, "matmul.peak.u8"), "does at least 5461");
    made_verdict(&m, "matmul.peak.f16", AS_SUPPORTED);
}

/* Ratios that may be 1, or on either side of the bar: no difference is stated. */
UNIT_TEST(test_older_may_reach)
{
    char axes[128];
    m.share = 0.1;
    for (int i = 0; i < 2; i++) {
        snprintf(axes, sizeof axes, "instruction=%s;operands=random",
                 i ? "wgmma_m64n256k16_f16_f32" : "mma_m16n8k16_f16_f32");
        made_add(&m, "matmul_peak", "ops/cycle", 1000, axes);
    }
    made_derive(&m);
    m.share = 0.01;
    made_verdict(&m, "matmul.older.f16", AS_UNDECIDED);
    made_says(made_get(&m, "matmul.older.f16"), " the rate of ");
}

/* The latency is as precise as the rate of the same cell; of several chains or groups there is none. */
UNIT_TEST(test_latency)
{
    static const struct {
        const char *instruction, *detail;
        double rate, operations, cycles;
    } rows[] = {
        {"mma_m16n8k16_f16_f32", "{\"chains\":1,\"teams\":1,\"operations\":4096}", 170.667, 4096, 24},
        {"mma_m8n8k4_f64", "{\"chains\":1,\"teams\":1,\"operations\":512}", 19.6923, 512, 26},
        {"wgmma_f16_f32", "{\"chains\":1,\"teams\":2,\"operations\":16384}", 910.222, 16384, NAN},
        {"mma_m16n8k8_tf32_f32", "{\"chains\":2,\"teams\":1,\"operations\":2048}", 170.667, 2048, NAN},
    };
    m.share = 0.001;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char axes[120], id[80];
        snprintf(axes, sizeof axes, "instruction=%s n=0 chains=1 warps=1 operands=random", rows[i].instruction);
        made_add(&m, "matmul_peak", "ops/cycle", rows[i].rate, axes)->detail = strdup(rows[i].detail);
        made_derive(&m);
        snprintf(id, sizeof id, "matmul.latency.%s", rows[i].instruction);
        if (isnan(rows[i].cycles)) {
            assert_null(made_find(&m, id));
            continue;
        }
        const struct as_fact *f = made_near(&m, id, rows[i].operations / rows[i].rate, 1e-9);
        assert_true(fabs(f->value - rows[i].cycles) < 0.01);
        assert_true(fabs(f->ci.lo / f->value - 0.999) < 1e-3 && fabs(f->ci.hi / f->value - 1.001) < 1e-3);
    }
    m.share = 0.01;
    made_says(made_get(&m, "matmul.latency.mma_m16n8k16_f16_f32"), "takes 24.0 cycles");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_older_may_reach, &m),
        made_test(test_peaks, &m),
        made_test(test_latency, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
