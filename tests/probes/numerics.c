/* Probes of how a matrix instruction computes and where its numbers lie, on a device whose kernel is a unit in
 * software: from the axes to the value, and with planted faults. */
#include "lib/mma/find.h"
#include "probes/matrix/layout/layout_unit.h"
#include "toy_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct toy toy;
static struct {
    const struct as_matrix *matrix;
    unsigned n;
    struct as_arithmetic how;
    unsigned skipped_k;
    bool swapped; /* the first two words of A's image change places */
} device;

static enum as_status unpack(enum as_matrix_operand which, const unsigned char *image, uint64_t *out)
{
    size_t bytes = as_image_bytes(device.matrix, which, device.n);
    unsigned char *own = malloc(bytes);
    if (!own)
        return AS_NOMEM;
    memcpy(own, image, bytes);
    if (which == AS_MATRIX_A && device.swapped) {
        memcpy(own, image + 4, 4);
        memcpy(own + 4, image, 4);
    }
    as_image_unpack(device.matrix, which, device.n, own, out);
    free(own);
    return AS_OK;
}

static void multiply(const char *name, void *const *args)
{
    const struct as_matrix *m = device.matrix;
    struct as_matrix_model model;
    struct as_error err;
    uint64_t *x[AS_MATRIX_OPERANDS];
    assert_string_equal(name, "multiply");
    assert_int_equal(as_matrix_model_start(&model, m->a, m->b, m->c, m->m, device.n, m->k, &device.how, &err), AS_OK);
    model.skipped_k = device.skipped_k;
    for (int w = 0; w < AS_MATRIX_OPERANDS; w++) {
        enum as_matrix_operand which = (enum as_matrix_operand)w;
        x[w] = calloc(as_matrix_count(m, which, device.n), sizeof *x[w]);
        assert_non_null(x[w]);
    }
    for (size_t g = 0; g < toy.workgroups; g++) {
        unsigned char *c = (unsigned char *)args[AS_MATRIX_C] + g * as_image_bytes(m, AS_MATRIX_C, device.n);
        for (int w = 0; w < AS_MATRIX_OPERANDS; w++) {
            size_t bytes = as_image_bytes(m, (enum as_matrix_operand)w, device.n);
            unpack((enum as_matrix_operand)w, (unsigned char *)args[w] + g * bytes, x[w]);
        }
        model.unit.multiply(&model, 1, x[AS_MATRIX_A], x[AS_MATRIX_B], x[AS_MATRIX_C], x[AS_MATRIX_C], &err);
        as_image_pack(m, AS_MATRIX_C, device.n, 0, x[AS_MATRIX_C], c);
    }
    for (int w = 0; w < AS_MATRIX_OPERANDS; w++)
        free(x[w]);
}

static void start(const char *instruction, unsigned n, const struct as_arithmetic *how)
{
    memset(&device, 0, sizeof device);
    device.matrix = as_matrix_find(instruction);
    assert_non_null(device.matrix);
    device.n = n ? n : device.matrix->n;
    device.how = *how;
    toy_init_sm90(&toy, multiply);
    if (device.matrix->dialect == AS_DIALECT_HIP) {
        snprintf(toy.dev.info.dialect, sizeof toy.dev.info.dialect, "hip");
        snprintf(toy.dev.info.arch, sizeof toy.dev.info.arch, "gfx1100");
    }
}

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

static double value_of(const char *probe, const char *axes, char *detail, size_t room)
{
    const struct as_probe *p = as_probe_find(probe);
    struct toy_trial v;
    struct as_sample s;
    struct as_error err = {0};
    char why[200] = "";
    assert_int_equal(toy_prepare(&toy, p, axes, &v, NULL), AS_OK);
    assert_int_equal(p->sample(v.state, 1, &s, &err), AS_OK);
    assert_true(p->check(v.state, why, sizeof why) && why[0]);
    snprintf(detail, room, "%s", as_buf_get(&v.vc.detail));
    toy_finish(p, &v);
    return s.value;
}

static void test_numerics(void **unused)
{
    (void)unused;
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
        start(rows[i].instruction, rows[i].n, rows[i].how);
        snprintf(axes, sizeof axes, "instruction=%s n=%u property=%s", rows[i].instruction, rows[i].n,
                 rows[i].property);
        double value = value_of("numerics", axes, detail, sizeof detail);
        if (value != rows[i].value || !strstr(detail, rows[i].text))
            fail_msg("%s: %g, %s", axes, value, detail);
    }
}

static enum as_status refused(const char *probe, const char *axes, struct as_error *err)
{
    const struct as_probe *p = as_probe_find(probe);
    struct toy_trial v;
    enum as_status st = toy_prepare(&toy, p, axes, &v, err);
    toy_finish(p, &v);
    return st;
}

static void test_faults(void **unused)
{
    (void)unused;
    struct as_error err = {0};
    start("mma_m16n8k16_f16_f32", 8, &hopper);
    device.skipped_k = 16;
    assert_int_equal(refused("numerics", "instruction=mma_m16n8k16_f16_f32 n=8 property=kept", &err), AS_FAILED);
    assert_non_null(strstr(err.text, "small integers"));
    start("mma_m16n8k16_f16_f32", 8, &hopper);
    device.swapped = true;
    assert_int_equal(refused("numerics", "instruction=mma_m16n8k16_f16_f32 n=8 property=kept", &err), AS_FAILED);
    /* What a unit does not show is no number. */
    start("mma_m16n8k16_f16_f32", 8, &hopper);
    assert_int_equal(refused("numerics", "instruction=mma_m16n8k16_f16_f32 n=8 property=overflow", &err),
                     AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "no product is large enough"));
}

static void test_applies(void **unused)
{
    (void)unused;
    static const struct {
        const char *probe, *axes;
        enum as_applies want;
    } rows[] = {
        {"numerics", "instruction=wgmma_f16_f32 n=8 property=kept", AS_APPLIES},
        {"numerics", "instruction=wgmma_f16_f32 n=12 property=kept", AS_PRUNED},
        {"numerics", "instruction=wgmma_s8_s32 n=8 property=kept", AS_PRUNED},
        {"numerics", "instruction=wgmma_s8_s32 n=8 property=overflow", AS_APPLIES},
        {"numerics", "instruction=wgmma_sp_f16_f32 n=8 property=kept", AS_INAPPLICABLE},
        {"layout", "instruction=wgmma_f16_f32 n=8 operand=a", AS_APPLIES},
        {"layout", "instruction=mma_sp_m16n8k32_f16_f32 n=8 operand=a", AS_APPLIES},
        {"layout", "instruction=wmma_m16n16k16_f16_f32 n=16 operand=a", AS_INAPPLICABLE},
    };
    start("mma_m16n8k16_f16_f32", 8, &hopper);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_error err = {0};
        if (toy_applies(&toy, as_probe_find(rows[i].probe), rows[i].axes, &err) != rows[i].want)
            fail_msg("%s: %s", rows[i].axes, err.text);
    }
}

/* ---- layouts ---- */

/* Where numbers lie does not depend on how they are added: all products of a result at once, which is the least work.
 */
static void start_exact(const char *instruction, unsigned n)
{
    const struct as_matrix *m = as_matrix_find(instruction);
    assert_non_null(m);
    struct as_arithmetic how = as_arithmetic_of_fma(as_number_format(m->c));
    how.step = m->k;
    start(instruction, n, &how);
}

static void test_layout(void **unused)
{
    (void)unused;
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
        {"mma_sp_m16n8k16_f16_f32", "b", "\"bits\":\"e0 0 l1 r0 / l2 l3 l4\"", 8},
        {"mma_sp_m16n8k8_tf32_f32", "a", "\"bits\":\"l2 l3 l4 r0 / 0 l0 l1\"", 8},
        {"wmma_16x16x16_f16_f32", "a", "\"bits\":\"l0 l1 l2 l3 / e0 r0 r1 r2\"", 16},
        {"wgmma_tf32_f32", "a", "\"held\":\"shared memory\"", 8},
    };
    /* Large units take far longer than the others, by the same code; sanitizers need them not. */
    const uint64_t most = getenv("ASSAY_BRIEF") ? 16 * 8 * 16 : UINT64_MAX;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char axes[120], detail[12000];
        const struct as_matrix *m = as_matrix_find(rows[i].instruction);
        if ((uint64_t)m->m * rows[i].n * m->k > most)
            continue;
        start_exact(rows[i].instruction, rows[i].n);
        snprintf(axes, sizeof axes, "instruction=%s n=%u operand=%s", rows[i].instruction, rows[i].n, rows[i].operand);
        double value = value_of("layout", axes, detail, sizeof detail);
        if (value != 0 || !strstr(detail, rows[i].text))
            fail_msg("%s: %g, %s", axes, value, detail);
    }
}

/* Two lanes hold each other's numbers: seen, in the operand in which it is, and where. */
static void test_other_layout(void **unused)
{
    (void)unused;
    char detail[12000];
    start_exact("mma_m16n8k16_f16_f32", 8);
    device.swapped = true;
    double a = value_of("layout", "instruction=mma_m16n8k16_f16_f32 n=8 operand=a", detail, sizeof detail);
    assert_true(a > 0);
    assert_non_null(strstr(detail, "documented: row"));
    start_exact("mma_sp_m16n8k8_tf32_f32", 8);
    device.swapped = true;
    assert_true(value_of("layout", "instruction=mma_sp_m16n8k8_tf32_f32 n=8 operand=a", detail, sizeof detail) > 0);
    start_exact("mma_m16n8k16_f16_f32", 8);
    device.skipped_k = 2;
    struct as_error err = {0};
    assert_int_equal(refused("layout", "instruction=mma_m16n8k16_f16_f32 n=8 operand=b", &err), AS_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numerics), cmocka_unit_test(test_faults),       cmocka_unit_test(test_applies),
        cmocka_unit_test(test_layout),   cmocka_unit_test(test_other_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
