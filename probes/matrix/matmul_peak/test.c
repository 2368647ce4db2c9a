/* Probe matmul_peak: which cells apply. lib/mma has its own tests. */
#include "lib/mma/instructions/layout.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>

extern const struct as_probe as_probe_matmul_peak;

UNIT_TEST(test_which_cells)
{
    static const struct {
        const char *axes;
        enum as_applies want;
    } rows[] = {
        {"instruction=wgmma_f16_f32 n=0 chains=0 warps=0 operands=random", AS_APPLIES},
        {"instruction=wgmma_f16_f32 n=12 chains=0 warps=0 operands=random", AS_PRUNED},
        {"instruction=wgmma_f16_f32 n=0 chains=0 warps=3 operands=random", AS_PRUNED},
        {"instruction=wgmma_f16_f32 n=0 chains=2 warps=0 operands=random", AS_INAPPLICABLE},
        {"instruction=mma_m16n8k32_e4m3_f32 n=0 chains=0 warps=0 operands=random", AS_INAPPLICABLE},
    };
    struct toy t;
    toy_init_sm90(&t, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_error err = {0};
        if (toy_applies(&t, &as_probe_matmul_peak, rows[i].axes, &err) != rows[i].want)
            fail_msg("%s: %s", rows[i].axes, err.text);
    }
}

/* Operations per cycle that shared memory can feed: below the documented rate of sparse wgmma, not of dense. */
UNIT_TEST(test_shared_memory)
{
    const struct as_matrix *sparse = as_matrix_find("wgmma_sp_f16_f32"), *dense = as_matrix_find("wgmma_f16_f32");
    assert_int_equal(as_matrix_shared_bytes(sparse, 256), 18432);
    assert_true(fabs(as_matrix_shared_rate(sparse, 256) - 7281.8) < 0.1);
    assert_true(fabs(as_matrix_shared_rate(dense, 8) - 910.2) < 0.1);
    assert_true(as_matrix_shared_rate(dense, 256) > as_matrix_documented(dense, "sm_90a"));
    assert_true(isinf(as_matrix_shared_rate(as_matrix_find("mma_m16n8k16_f16_f32"), 8)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_which_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
