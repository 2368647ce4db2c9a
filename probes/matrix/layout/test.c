/* Probe layout on a device with a matrix instruction in software: from axes to value, correct and with two lanes
 * exchanged. */
#include "tests/probes/matrix_toy.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The layout does not depend on the order of additions: add all products of a result at once, which is cheapest. */
static void start_exact(const char *instruction, unsigned n)
{
    const struct as_matrix *m = as_matrix_find(instruction);
    assert_non_null(m);
    struct as_arithmetic how = as_arithmetic_of_fma(as_number_format(m->c));
    how.step = m->k;
    matrix_toy_start(instruction, n, &how);
}

UNIT_TEST(test_applies)
{
    static const struct {
        const char *axes;
        enum as_applies want;
    } rows[] = {
        {"instruction=wgmma_f16_f32 n=8 operand=a", AS_APPLIES},
        {"instruction=mma_sp_m16n8k32_f16_f32 n=8 operand=a", AS_APPLIES},
        {"instruction=wmma_m16n16k16_f16_f32 n=16 operand=a", AS_APPLIES},
    };
    start_exact("mma_m16n8k16_f16_f32", 8);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_error err = {0};
        if (toy_applies(&matrix_toy.toy, as_probe_find("layout"), rows[i].axes, &err) != rows[i].want)
            fail_msg("%s: %s", rows[i].axes, err.text);
    }
}

UNIT_TEST(test_layout)
{
    static const struct {
        const char *instruction, *operand, *text;
        unsigned n;
    } rows[] = {
        {"mma_m16n8k16_f16_f32", "a", "\"bits\":\"l2 l3 l4 r0 / e0 l0 l1 r1\"", 8},
        {"mma_m16n8k16_f16_f32", "b", "\"bits\":\"e0 l0 l1 r0 / l2 l3 l4\"", 8},
        {"mma_m16n8k16_f16_f32", "c", "\"bits\":\"l2 l3 l4 r1 / r0 l0 l1\"", 8},
        {"mma_m8n8k4_f64", "c", "\"lanes\":\"0 0 1 1 2 2 3 3 4 4", 8},
        {"mma_m8n8k4_f64", "c", "\"places\":\"0 1 0 1 0 1", 8},
        {"mma_m16n8k32_s8_s32", "b", "\"bits\":\"e0 e1 l0 l1 r0 / l2 l3 l4\"", 8},
        {"mma_sp_m16n8k16_f16_f32", "a", "\"bits\":\"l2 l3 l4 r0 / e0 0 l0 l1\",\"lanes\":\"0 0 - - 1 1 - -", 8},
        {"mma_sp_m16n8k16_f16_f32", "b", "\"held\":\"registers\",\"bits\":\"e0 0 l1 r0 / l2 l3 l4\"", 8},
        {"mma_sp_m16n8k8_tf32_f32", "a", "\"bits\":\"l2 l3 l4 r0 / 0 l0 l1\"", 8},
        {"mma_m16n8k16_f16_f32", "c", "\"base_rows\":8,\"base_columns\":8,", 8},
        {"mma_m16n8k16_f16_f32", "a", "\"base_rows\":8,\"base_columns\":8,", 8},
        {"wmma_16x16x16_f16_f32", "a", "\"base_rows\":16,\"base_columns\":1,", 16},
        {"wmma_16x16x16_f16_f32", "a", "\"bits\":\"l0 l1 l2 l3 / e0 r0 r1 r2\"", 16},
        {"wgmma_tf32_f32", "a", "\"held\":\"shared memory\"", 8},
    };
    /* Large units run the same code but take much longer; the sanitizer build skips them. */
    const uint64_t most = getenv("ASSAY_BRIEF") ? 16 * 8 * 16 : UINT64_MAX;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char axes[120], detail[12000];
        const struct as_matrix *m = as_matrix_find(rows[i].instruction);
        if ((uint64_t)m->m * rows[i].n * m->k > most)
            continue;
        start_exact(rows[i].instruction, rows[i].n);
        snprintf(axes, sizeof axes, "instruction=%s n=%u operand=%s", rows[i].instruction, rows[i].n, rows[i].operand);
        double value = matrix_toy_value("layout", axes, detail, sizeof detail);
        if (value != 0 || !strstr(detail, rows[i].text))
            fail_msg("%s: %g, %s", axes, value, detail);
    }
}

/* With two lanes exchanged, the probe names the operand and the place. */
UNIT_TEST(test_other_layout)
{
    char detail[12000];
    start_exact("mma_m16n8k16_f16_f32", 8);
    matrix_toy.swapped = true;
    double a = matrix_toy_value("layout", "instruction=mma_m16n8k16_f16_f32 n=8 operand=a", detail, sizeof detail);
    assert_true(a > 0);
    assert_non_null(strstr(detail, "expected: row"));
    start_exact("mma_sp_m16n8k8_tf32_f32", 8);
    matrix_toy.swapped = true;
    assert_true(matrix_toy_value("layout", "instruction=mma_sp_m16n8k8_tf32_f32 n=8 operand=a", detail, sizeof detail) >
                0);
    start_exact("mma_m16n8k16_f16_f32", 8);
    matrix_toy.skipped_k = 2;
    struct as_error err = {0};
    assert_int_equal(matrix_toy_refused("layout", "instruction=mma_m16n8k16_f16_f32 n=8 operand=b", &err), AS_FAILED);
}

/* An unspecified layout, with copies where registers hold more than the operand, is found by loading and by products.
 */
UNIT_TEST(test_loaded_layout)
{
    static const struct {
        const char *axes, *text;
    } rows[] = {
        {"instruction=wmma_m16n16k16_f16_f32 n=16 operand=a", "\"compared_with\":\"its load instruction\""},
        {"instruction=wmma_m16n16k16_f16_f32 n=16 operand=a", "\"lanes\":\"0 27 23 18 14 9 5 0 28"},
        {"instruction=wmma_m8n8k4_f64 n=8 operand=c", "\"rows\":8,\"columns\":8,\"held\":\"registers\""},
        {"instruction=wmma_m16n16k16_s8_s32 n=16 operand=b", "\"places\":\"0 "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char detail[12000], instruction[40];
        sscanf(rows[i].axes, "instruction=%39s", instruction);
        start_exact(instruction, 0);
        const double value = matrix_toy_value("layout", rows[i].axes, detail, sizeof detail);
        if (value != 0 || !strstr(detail, rows[i].text))
            fail_msg("%s: %g, %s", rows[i].axes, value, detail);
    }
}

/* Products that contradict the load instruction, and loads that lose or overwrite an element. */
UNIT_TEST(test_planted_loads)
{
    char detail[12000];
    struct as_error err = {0};
    start_exact("wmma_m16n16k8_tf32_f32", 0);
    matrix_toy.swapped = true;
    assert_true(matrix_toy_value("layout", "instruction=wmma_m16n16k8_tf32_f32 n=16 operand=a", detail, sizeof detail) >
                0);
    start_exact("wmma_m16n16k8_tf32_f32", 0);
    matrix_toy.unloaded = true;
    assert_int_equal(matrix_toy_refused("layout", "instruction=wmma_m16n16k8_tf32_f32 n=16 operand=b", &err),
                     AS_FAILED);
    assert_non_null(strstr(err.text, "drops row 0, column 0 of operand b"));
    start_exact("wmma_m16n16k8_tf32_f32", 0);
    matrix_toy.loaded_twice = true;
    assert_int_equal(matrix_toy_refused("layout", "instruction=wmma_m16n16k8_tf32_f32 n=16 operand=b", &err),
                     AS_FAILED);
    assert_non_null(strstr(err.text, "two elements"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applies),       cmocka_unit_test(test_layout),        cmocka_unit_test(test_other_layout),
        cmocka_unit_test(test_loaded_layout), cmocka_unit_test(test_planted_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
