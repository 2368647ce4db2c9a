/* The rule of fused epilogues, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};

static void fusion(const char *operation, int size, double ratio)
{
    char axes[120];
    snprintf(axes, sizeof axes, "path=wgmma type=f16 size=%d operation=%s", size, operation);
    made_add(&m, "fusion", "x", ratio, axes);
}

UNIT_TEST(test_fusion)
{
    fusion("bias_gelu", 1024, 1.129);
    fusion("bias_gelu", 2048, 1.065);
    fusion("bias_gelu", 8192, 1.001);
    fusion("bias", 1024, 0.9);
    made_derive(&m);
    made_near(&m, "fusion.bias_gelu.wgmma.f16", 1.129, 0);
    made_verdict(&m, "fusion.bias_gelu.wgmma.f16", AS_SUPPORTED);
    made_says(made_get(&m, "fusion.bias_gelu.wgmma.f16"),
              "is faster than separate kernels: 1.13x (1.12 to 1.14x) at 1024, 1.00x (0.991 to 1.01x) at 8192; surely "
              "over 1.10x at 1 of 3 sizes, the largest of them 1024");
    assert_int_equal(made_get(&m, "fusion.bias_gelu.wgmma.f16")->evidence_n, 3);
    made_acts(&m, "fusion.bias_gelu.wgmma.f16",
              "Fuse epilogues into GEMMs: a separate GEMM and bias_gelu take 1.13x (1.12 to 1.14x) as long");
    made_verdict(&m, "fusion.bias.wgmma.f16", AS_REFUTED);
    made_says(made_get(&m, "fusion.bias.wgmma.f16"), "is NOT faster than separate kernels: ");
}

/* A wide interval with the highest median does not hide the sizes that are clear. */
UNIT_TEST(test_noisiest_size)
{
    fusion("bias", 512, 1.47);
    m.cells[m.n - 1].sum.ci = (struct as_interval){0.78, 2.8};
    fusion("bias", 1024, 1.41);
    fusion("bias", 8192, 1.12);
    made_derive(&m);
    made_verdict(&m, "fusion.bias.wgmma.f16", AS_SUPPORTED);
    made_says(made_get(&m, "fusion.bias.wgmma.f16"),
              "is faster than separate kernels: 1.41x (1.40 to 1.42x) at 1024, 1.12x (1.11 to 1.13x) at 8192; surely "
              "over 1.10x at 2 of 3 sizes, the largest of them 8192");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_fusion, &m),
        made_test(test_noisiest_size, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
