/* Probe numerics on a device with a matrix instruction in software: from axes to value, correct and with planted
 * faults. */
#include "tests/probes/matrix_toy.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static const struct as_arithmetic hopper = {
    .step = 16, .kept = 25, .cut = AS_ROUND_TOWARD_ZERO, .result = AS_ROUND_TOWARD_ZERO, .nan = 0x7fffffff};
static const struct as_arithmetic hopper_8 = {.step = 32,
                                              .kept = 13,
                                              .cut = AS_ROUND_TOWARD_ZERO,
                                              .digits = 13,
                                              .result = AS_ROUND_TOWARD_ZERO,
                                              .nan = 0x7fffffff};

static const struct as_arithmetic two_sums = {
    .step = 1, .sums = 2, .start = AS_START_LAST, .result = AS_ROUND_NEAREST_EVEN, .nan = 0x7fffffff};

UNIT_TEST(test_numerics)
{
    static const struct {
        const char *instruction, *property;
        unsigned n;
        const struct as_arithmetic *how;
        double value;
        const char *text;
    } rows[] = {
        {"mma_m16n8k16_f16_f32", "accumulator", 8, &hopper, 24, "24 significant bits of the 24 of f32"},
        {"mma_m16n8k16_f16_f32", "kept", 8, &hopper, 25, "25 fraction bits"},
        {"mma_m16n8k16_f16_f32", "step", 8, &hopper, 16, "16 products at once"},
        {"mma_m16n8k16_f16_f32", "product", 8, &hopper, 20, "exact"},
        {"mma_m16n8k16_f16_f32", "rounding", 8, &hopper, AS_CUT_TOWARD_ZERO, "toward zero, to 23 fraction bits"},
        {"mma_m16n8k16_bf16_f32", "sums", 8, &two_sums, 2, "2 partial sums from 0, which take the products in turn"},
        {"mma_m16n8k16_bf16_f32", "explained", 8, &two_sums, 100, "0 of "},
        {"mma_m16n8k32_e4m3_f32", "accumulator", 8, &hopper_8, 14, "14 significant bits of the 24 of f32"},
        {"mma_m16n8k32_e4m3_f32", "explained", 8, &hopper_8, 100, "0 of "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char axes[120], detail[2000];
        matrix_toy_start(rows[i].instruction, rows[i].n, rows[i].how);
        snprintf(axes, sizeof axes, "instruction=%s n=%u property=%s", rows[i].instruction, rows[i].n,
                 rows[i].property);
        double value = matrix_toy_value("numerics", axes, detail, sizeof detail);
        if (value != rows[i].value || !strstr(detail, rows[i].text))
            fail_msg("%s: %g, %s", axes, value, detail);
    }
}

UNIT_TEST(test_faults)
{
    struct as_error err = {0};
    matrix_toy_start("mma_m16n8k16_f16_f32", 8, &hopper);
    matrix_toy.skipped_k = 16;
    assert_int_equal(matrix_toy_refused("numerics", "instruction=mma_m16n8k16_f16_f32 n=8 property=kept", &err),
                     AS_FAILED);
    assert_non_null(strstr(err.text, "small integers"));
    matrix_toy_start("mma_m16n8k16_f16_f32", 8, &hopper);
    matrix_toy.swapped = true;
    assert_int_equal(matrix_toy_refused("numerics", "instruction=mma_m16n8k16_f16_f32 n=8 property=kept", &err),
                     AS_FAILED);
    /* A property that the unit does not show has no value. */
    matrix_toy_start("mma_m16n8k16_f16_f32", 8, &hopper);
    assert_int_equal(matrix_toy_refused("numerics", "instruction=mma_m16n8k16_f16_f32 n=8 property=overflow", &err),
                     AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "no product is large enough"));
}

UNIT_TEST(test_applies)
{
    static const struct {
        const char *axes;
        enum as_applies want;
    } rows[] = {
        {"instruction=wgmma_f16_f32 n=8 property=kept", AS_APPLIES},
        {"instruction=wgmma_f16_f32 n=12 property=kept", AS_PRUNED},
        {"instruction=wgmma_s8_s32 n=8 property=kept", AS_PRUNED},
        {"instruction=wgmma_s8_s32 n=8 property=overflow", AS_APPLIES},
        {"instruction=wgmma_sp_f16_f32 n=8 property=kept", AS_INAPPLICABLE},
    };
    matrix_toy_start("mma_m16n8k16_f16_f32", 8, &hopper);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_error err = {0};
        if (toy_applies(&matrix_toy.toy, as_probe_find("numerics"), rows[i].axes, &err) != rows[i].want)
            fail_msg("%s: %s", rows[i].axes, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numerics),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_applies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
