/* Matrices of the language on the stand-in, with the published layout: which devices have them, every instruction of
 * the table with checked results, and a wrong layout is detected. */
#include "../stand_in.h"
#include "lib/mma/instructions/fragments.h"
#include "lib/mma/rate/peak.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROBLEMS = 3 };

/* ---- which devices support them ---- */

static void has(const char *words, const char *arch, unsigned capabilities)
{
    struct opened o;
    fake(words);
    open_gpu(&o, 0);
    assert_string_equal(o.dev.info.arch, arch);
    assert_int_equal(o.dev.info.capabilities & (AS_CAP_MATRIX | AS_CAP_BF16 | AS_CAP_TENSOR_OPS | AS_CAP_TENSOR_FP8 |
                                                AS_CAP_TENSOR_FRAGMENTS),
                     capabilities);
    close_gpu(&o);
}

static void test_gate(void **state)
{
    (void)state;
    has("", "apple9", AS_CAP_MATRIX | AS_CAP_BF16);
    has("old", "apple9", AS_CAP_MATRIX);
    has("apple6", "apple6", 0);
    has("nomatrix", "apple9", 0);
    const unsigned tensors = AS_CAP_MATRIX | AS_CAP_BF16 | AS_CAP_TENSOR_OPS;
    has("apple10 metal4", "apple10", tensors | AS_CAP_TENSOR_FRAGMENTS);
    has("metal41", "apple9", tensors | AS_CAP_TENSOR_FRAGMENTS | AS_CAP_TENSOR_FP8);
    has("metal4 nofragments", "apple9", tensors);
    has("metal4 nompp", "apple9", AS_CAP_MATRIX | AS_CAP_BF16);
    has("intel", "mac2", 0);
}

/* ---- each instruction ---- */

static double at(const struct as_matrix *m, enum as_matrix_operand which, const uint64_t *codes, size_t i)
{
    return as_number_decode(as_matrix_format(m, which), codes[i]);
}

/* Small integers that differ from element to element. */
static void draw_integers(const struct as_matrix *m, enum as_matrix_operand which, uint64_t *codes)
{
    const size_t each = as_matrix_count(m, which, 0);
    for (size_t i = 0; i < PROBLEMS * each; i++)
        codes[i] = as_number_nearest(as_matrix_format(m, which), (double)((i * 7 + (size_t)which * 3) % 11) - 5);
}

static void check_results(const struct as_matrix *m, uint64_t *const x[], const uint64_t *d)
{
    for (size_t p = 0; p < PROBLEMS; p++)
        for (size_t i = 0; i < m->m; i++)
            for (size_t j = 0; j < m->n; j++) {
                const size_t to = (p * m->m + i) * m->n + j;
                double sum = at(m, AS_MATRIX_C, x[AS_MATRIX_C], to);
                for (size_t k = 0; k < m->k; k++)
                    sum += at(m, AS_MATRIX_A, x[AS_MATRIX_A], (p * m->m + i) * m->k + k) *
                           at(m, AS_MATRIX_B, x[AS_MATRIX_B], (p * m->k + k) * m->n + j);
                if (at(m, AS_MATRIX_C, d, to) != sum)
                    fail_msg("%s: row %zu, column %zu is %g, not %g", m->name, i, j, at(m, AS_MATRIX_C, d, to), sum);
            }
}

static void check_instruction(struct opened *o, const struct as_matrix *m)
{
    struct as_fragments f;
    struct as_error err = {0};
    uint64_t *x[AS_MATRIX_OPERANDS], *d = calloc(PROBLEMS * as_matrix_count(m, AS_MATRIX_C, 0), sizeof *d);
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS; which++) {
        x[which] = calloc(PROBLEMS * as_matrix_count(m, (enum as_matrix_operand)which, 0), sizeof *x[which]);
        draw_integers(m, (enum as_matrix_operand)which, x[which]);
    }
    check_ok(as_fragments_open(&f, &o->dev, m, 0, &err), &err);
    check_ok(f.unit.multiply(f.unit.ctx, PROBLEMS, x[AS_MATRIX_A], x[AS_MATRIX_B], x[AS_MATRIX_C], d, &err), &err);
    check_results(m, x, d);
    as_fragments_close(&f);
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS; which++)
        free(x[which]);
    free(d);
}

static void check_instructions(const char *words, size_t wanted)
{
    struct opened o;
    size_t n = 0;
    fake(words);
    open_gpu(&o, 0);
    for (const struct as_matrix *m = as_matrices; m->name; m++)
        if (as_matrix_applies(m, &o.dev.info, NULL) == AS_APPLIES) {
            check_instruction(&o, m);
            n++;
        }
    assert_int_equal(n, wanted);
    close_gpu(&o);
}

static void test_instructions(void **state)
{
    (void)state;
    check_instructions("", 4);
    check_instructions("metal4", 8);
    check_instructions("metal41", 10);
}

/* Repeated on accumulators in registers, on a whole small device. */
static void check_rate(const char *instruction)
{
    struct opened o;
    struct as_peak p;
    struct as_peak_time t = {.rate = 0};
    struct as_error err = {0};
    char why[200] = "";
    fake("metal41");
    open_gpu(&o, 0);
    o.dev.info.compute_units = 1;
    struct as_trial_context tc = {.dev = &o.dev, .seed = 5};
    struct as_peak_desc d = {.matrix = as_matrix_find(instruction)};
    d.rate_only = true;
    assert_int_equal(as_peak_applies(&o.dev.info, &d, &err), AS_APPLIES);
    check_ok(as_peak_prepare(&p, &tc, &d, &err), &err);
    check_ok(as_peak_measure(&p, 2, &t, &err), &err);
    assert_true(t.rate > 0 && t.seconds > 0);
    assert_true(isnan(t.cycles));
    if (!as_peak_check(&p, why, sizeof why))
        fail_msg("%s", why);
    as_peak_finish(&p);
    o.dev.info.unit_fma = 128; /* which calibrate the clock */
    d.rate_only = false;
    assert_int_equal(as_peak_applies(&o.dev.info, &d, &err), AS_APPLIES);
    check_ok(as_peak_prepare(&p, &tc, &d, &err), &err);
    check_ok(as_peak_measure(&p, 2, &t, &err), &err);
    assert_true(t.cycles > 0 && t.clock_hz > 0);
    /* per compute unit and step: chains of all its warps */
    assert_true(t.operations == 2.0 * d.matrix->m * d.matrix->n * d.matrix->k * p.desc.chains * p.desc.warps * 2);
    as_peak_finish(&p);
    as_buf_finish(&tc.detail);
    close_gpu(&o);
}

static void test_rate(void **state)
{
    (void)state;
    check_rate("simdgroup_m8n8k8_bf16_f32");
    check_rate("matmul2d_m16n32k16_f16_f32");
    check_rate("matmul2d_m16n32k16_e4m3_f32");
}

/* ---- a layout that is not the hardware's ---- */

static void test_wrong_layout(void **state)
{
    struct as_matrix wrong = *as_matrix_find("simdgroup_m8n8k8_f32");
    struct as_fragments f;
    struct as_error err = {0};
    struct opened o;
    uint64_t a[64], b[64], c[64] = {0}, d[64];
    size_t differ = 0;
    (void)state;
    fake("");
    open_gpu(&o, 0);
    wrong.held[AS_MATRIX_C].row = "l1 l2 l3"; /* bit l4 */
    wrong.held[AS_MATRIX_C].column = "r0 l0 l4";
    for (size_t i = 0; i < 64; i++) {
        a[i] = as_number_nearest(as_number_format("f32"), i % 9 == 0);
        b[i] = as_number_nearest(as_number_format("f32"), (double)i);
    }
    check_ok(as_fragments_open(&f, &o.dev, &wrong, 0, &err), &err);
    check_ok(f.unit.multiply(f.unit.ctx, 1, a, b, c, d, &err), &err);
    for (size_t i = 0; i < 64; i++)
        differ += d[i] != b[i]; /* the identity times b */
    assert_int_equal(differ, 32);
    as_fragments_close(&f);
    close_gpu(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gate), cmocka_unit_test(test_instructions),
                                       cmocka_unit_test(test_rate), cmocka_unit_test(test_wrong_layout)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
