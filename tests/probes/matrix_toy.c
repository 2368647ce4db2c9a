#include "matrix_toy.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct matrix_toy matrix_toy;

static enum as_status unpack(enum as_matrix_operand which, const unsigned char *image, uint64_t *out)
{
    size_t bytes = as_image_bytes(matrix_toy.matrix, which, matrix_toy.n);
    unsigned char *own = malloc(bytes);
    if (!own)
        return AS_NOMEM;
    memcpy(own, image, bytes);
    if (which == AS_MATRIX_A && matrix_toy.swapped) {
        memcpy(own, image + 4, 4);
        memcpy(own + 4, image, 4);
    }
    as_image_unpack(matrix_toy.matrix, which, matrix_toy.n, own, out);
    free(own);
    return AS_OK;
}

static void multiply(const char *name, void *const *args)
{
    const struct as_matrix *m = matrix_toy.matrix;
    struct as_matrix_model model;
    struct as_error err;
    uint64_t *x[AS_MATRIX_OPERANDS];
    assert_string_equal(name, "multiply");
    assert_int_equal(as_matrix_model_start(&model, m->a, m->b, m->c, m->m, matrix_toy.n, m->k, &matrix_toy.how, &err),
                     AS_OK);
    model.skipped_k = matrix_toy.skipped_k;
    for (int w = 0; w < AS_MATRIX_OPERANDS; w++) {
        enum as_matrix_operand which = (enum as_matrix_operand)w;
        x[w] = calloc(as_matrix_count(m, which, matrix_toy.n), sizeof *x[w]);
        assert_non_null(x[w]);
    }
    for (size_t g = 0; g < matrix_toy.toy.workgroups; g++) {
        unsigned char *c = (unsigned char *)args[AS_MATRIX_C] + g * as_image_bytes(m, AS_MATRIX_C, matrix_toy.n);
        for (int w = 0; w < AS_MATRIX_OPERANDS; w++) {
            size_t bytes = as_image_bytes(m, (enum as_matrix_operand)w, matrix_toy.n);
            unpack((enum as_matrix_operand)w, (unsigned char *)args[w] + g * bytes, x[w]);
        }
        model.unit.multiply(&model, 1, x[AS_MATRIX_A], x[AS_MATRIX_B], x[AS_MATRIX_C], x[AS_MATRIX_C], &err);
        as_image_pack(m, AS_MATRIX_C, matrix_toy.n, 0, x[AS_MATRIX_C], c);
    }
    for (int w = 0; w < AS_MATRIX_OPERANDS; w++)
        free(x[w]);
}

void matrix_toy_start(const char *instruction, unsigned n, const struct as_arithmetic *how)
{
    memset(&matrix_toy, 0, sizeof matrix_toy);
    matrix_toy.matrix = as_matrix_find(instruction);
    assert_non_null(matrix_toy.matrix);
    matrix_toy.n = n ? n : matrix_toy.matrix->n;
    matrix_toy.how = *how;
    toy_init_sm90(&matrix_toy.toy, multiply);
    if (matrix_toy.matrix->dialect == AS_DIALECT_HIP) {
        snprintf(matrix_toy.toy.dev.info.dialect, sizeof matrix_toy.toy.dev.info.dialect, "hip");
        snprintf(matrix_toy.toy.dev.info.arch, sizeof matrix_toy.toy.dev.info.arch, "gfx1100");
    }
}

double matrix_toy_value(const char *probe, const char *axes, char *detail, size_t room)
{
    const struct as_probe *p = as_probe_find(probe);
    struct toy_trial v;
    struct as_sample s;
    struct as_error err = {0};
    char why[200] = "";
    assert_int_equal(toy_prepare(&matrix_toy.toy, p, axes, &v, NULL), AS_OK);
    assert_int_equal(p->sample(v.state, 1, &s, &err), AS_OK);
    assert_true(p->check(v.state, why, sizeof why) && why[0]);
    snprintf(detail, room, "%s", as_buf_get(&v.tc.detail));
    toy_finish(p, &v);
    return s.value;
}

enum as_status matrix_toy_refused(const char *probe, const char *axes, struct as_error *err)
{
    const struct as_probe *p = as_probe_find(probe);
    struct toy_trial v;
    enum as_status st = toy_prepare(&matrix_toy.toy, p, axes, &v, err);
    toy_finish(p, &v);
    return st;
}
