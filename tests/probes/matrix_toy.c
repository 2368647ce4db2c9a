#include "matrix_toy.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct matrix_toy matrix_toy;

static enum as_status unpack_documented(enum as_matrix_operand which, const unsigned char *image, uint64_t *out)
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

/* ---- operands of unspecified layout: an arbitrary one, with as many copies as their registers hold ---- */

static bool is_loaded(void)
{
    return matrix_toy.matrix->held[AS_MATRIX_C].held == AS_HELD_LOADED;
}

static unsigned toy_bits(enum as_matrix_operand which)
{
    return as_matrix_format(matrix_toy.matrix, which)->bits;
}

static size_t toy_slots(enum as_matrix_operand which)
{
    const struct as_matrix *m = matrix_toy.matrix;
    return (size_t)as_matrix_registers(m, which, matrix_toy.n) * m->lanes * m->held[which].register_bits /
           toy_bits(which);
}

/* The element in a slot: slots are a multiple of the elements, and 7 has no factor in common with a power of two. */
static size_t toy_element(enum as_matrix_operand which, size_t slot)
{
    return slot * 7 % as_matrix_count(matrix_toy.matrix, which, matrix_toy.n);
}

static uint64_t toy_get(const unsigned char *image, size_t slot, unsigned bits)
{
    uint64_t code = 0;
    memcpy(&code, image + slot * bits / 8, bits / 8);
    return code;
}

static void toy_set(unsigned char *image, size_t slot, unsigned bits, uint64_t code)
{
    memcpy(image + slot * bits / 8, &code, bits / 8);
}

static size_t toy_register_bytes(enum as_matrix_operand which)
{
    return toy_slots(which) * toy_bits(which) / 8;
}

/* From matrices to registers. */
static void load(void *const *args)
{
    for (int w = 0; w < AS_MATRIX_OPERANDS; w++) {
        const enum as_matrix_operand which = (enum as_matrix_operand)w;
        const size_t each = as_image_bytes(matrix_toy.matrix, which, matrix_toy.n);
        uint64_t *x = calloc(as_matrix_count(matrix_toy.matrix, which, matrix_toy.n), sizeof *x);
        assert_non_null(x);
        for (size_t g = 0; g < matrix_toy.toy.workgroups; g++) {
            unsigned char *to = (unsigned char *)args[AS_MATRIX_OPERANDS + w] + g * toy_register_bytes(which);
            as_image_unpack(matrix_toy.matrix, which, matrix_toy.n, (unsigned char *)args[w] + g * each, x);
            if (which == AS_MATRIX_B && matrix_toy.unloaded)
                x[0] = 0;
            for (size_t s = 0; s < toy_slots(which); s++)
                toy_set(to, s, toy_bits(which), x[toy_element(which, s)]);
            for (size_t i = 0; which == AS_MATRIX_B && matrix_toy.loaded_twice && i < toy_slots(which); i++)
                if (x[toy_element(which, i)])
                    toy_set(to, 1, toy_bits(which), x[toy_element(which, i)]);
        }
        free(x);
    }
}

/* Copies that differ make no number. */
static enum as_status unpack_loaded(enum as_matrix_operand which, const unsigned char *image, uint64_t *out)
{
    const size_t elements = as_matrix_count(matrix_toy.matrix, which, matrix_toy.n);
    for (size_t s = 0; s < toy_slots(which); s++) {
        const size_t from = matrix_toy.swapped && which == AS_MATRIX_A && s < 2 ? 1 - s : s;
        const uint64_t code = toy_get(image, from, toy_bits(which));
        if (s >= elements && code != out[toy_element(which, s)] && !(matrix_toy.swapped && which == AS_MATRIX_A))
            return AS_FAILED;
        out[toy_element(which, s)] = code;
    }
    return AS_OK;
}

static enum as_status unpack(enum as_matrix_operand which, const unsigned char *image, uint64_t *out)
{
    return is_loaded() ? unpack_loaded(which, image, out) : unpack_documented(which, image, out);
}

static void pack_result(const uint64_t *codes, unsigned char *image)
{
    if (!is_loaded())
        as_image_pack(matrix_toy.matrix, AS_MATRIX_C, matrix_toy.n, 0, codes, image);
    for (size_t s = 0; is_loaded() && s < toy_slots(AS_MATRIX_C); s++)
        toy_set(image, s, toy_bits(AS_MATRIX_C), codes[toy_element(AS_MATRIX_C, s)]);
}

static unsigned char *image_of(void *const *args, int which, size_t workgroup)
{
    const enum as_matrix_operand w = (enum as_matrix_operand)which;
    const size_t bytes = is_loaded() ? toy_register_bytes(w) : as_image_bytes(matrix_toy.matrix, w, matrix_toy.n);
    return (unsigned char *)args[which] + workgroup * bytes;
}

static void multiply(const char *name, void *const *args)
{
    const struct as_matrix *m = matrix_toy.matrix;
    struct as_matrix_model model;
    struct as_error err;
    uint64_t *x[AS_MATRIX_OPERANDS];
    if (is_loaded() && strcmp(name, "loaded") == 0) {
        load(args);
        return;
    }
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
        for (int w = 0; w < AS_MATRIX_OPERANDS; w++)
            assert_int_equal(unpack((enum as_matrix_operand)w, image_of(args, w, g), x[w]), AS_OK);
        model.unit.multiply(&model, 1, x[AS_MATRIX_A], x[AS_MATRIX_B], x[AS_MATRIX_C], x[AS_MATRIX_C], &err);
        pack_result(x[AS_MATRIX_C], image_of(args, AS_MATRIX_C, g));
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
