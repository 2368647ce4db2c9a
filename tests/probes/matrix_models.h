/* Matrix instructions of CPUs as specified in their manuals: x86-64 (SDM) and aarch64 (Arm ARM). */
#ifndef TESTS_PROBES_MATRIX_MODELS_H
#define TESTS_PROBES_MATRIX_MODELS_H

#include "f32_bits.h"
#include "lib/mma/instructions/matrix.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* One sum as the manuals define it: row of A, column of B, the accumulator. */
typedef uint64_t model_fn(const struct as_matrix *m, const uint64_t *a, const uint64_t *b, uint64_t c);

static float bf16(uint64_t code)
{
    return f32_flushed(f32_of(code << 16));
}

/* SDM, VDPBF16PS: fused, rounded to nearest even, the odd product first, subnormals are flushed to 0. */
static uint64_t model_bf16(const struct as_matrix *m, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    float sum = f32_flushed(f32_of(c));
    for (unsigned k = 0; k < m->k; k += 2)
        for (unsigned odd = 2; odd-- > 0;)
            sum = f32_flushed(fmaf(bf16(a[k + odd]), bf16(b[k + odd]), sum));
    return f32_bits(sum);
}

/* SDM, TDPBF16PS: two such sums from 0, of the even and of the odd products; their sum is added to the accumulator. */
static uint64_t model_tiles_bf16(const struct as_matrix *m, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    float sum[2] = {0, 0};
    for (unsigned k = 0; k < m->k; k++)
        sum[k & 1] = f32_flushed(fmaf(bf16(a[k]), bf16(b[k]), sum[k & 1]));
    return f32_bits(f32_flushed(f32_flushed(f32_of(c)) + f32_flushed(sum[0] + sum[1])));
}

static int64_t whole(const struct as_matrix *m, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    int64_t sum = (int32_t)(uint32_t)c;
    for (unsigned k = 0; k < m->k; k++)
        sum += (int64_t)as_number_decode(as_matrix_format(m, AS_MATRIX_A), a[k]) *
               (int64_t)as_number_decode(as_matrix_format(m, AS_MATRIX_B), b[k]);
    return sum;
}

static uint64_t model_wraps(const struct as_matrix *m, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    return (uint32_t)whole(m, a, b, c);
}

static uint64_t model_s64(const struct as_matrix *m, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    uint64_t sum = c;
    for (unsigned k = 0; k < m->k; k++)
        sum += (uint64_t)((int64_t)(int16_t)a[k] * (int16_t)b[k]);
    return sum;
}

static uint64_t model_saturates(const struct as_matrix *m, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    int64_t sum = whole(m, a, b, c);
    return (uint32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum);
}

static uint64_t model_f32(const struct as_matrix *m, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    (void)m;
    return f32_bits(fmaf(f32_of(a[0]), f32_of(b[0]), f32_of(c)));
}

static uint64_t model_f64(const struct as_matrix *m, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    double x, y, z;
    uint64_t bits;
    (void)m;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    memcpy(&z, &c, sizeof z);
    z = fma(x, y, z);
    memcpy(&bits, &z, sizeof bits);
    return bits;
}

/* A double holds the product, and the sum where it is not c alone, so that it is rounded once. */
static uint64_t model_f16(const struct as_matrix *m, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    const struct as_number_format *f = as_matrix_format(m, AS_MATRIX_C);
    return as_number_nearest(f, fma(as_number_decode(f, *a), as_number_decode(f, *b), as_number_decode(f, c)));
}

static model_fn *model_of(const struct as_matrix *m)
{
    static const struct {
        const char *begin;
        model_fn *model;
    } rows[] = {{"vpdpbusds", model_saturates},
                {"vdpbf16ps", model_bf16},
                {"tdpbf16ps", model_tiles_bf16},
                {"vfmadd231ps", model_f32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strncmp(m->name, rows[i].begin, strlen(rows[i].begin)) == 0)
            return rows[i].model;
    if (m->k == 1) /* of Advanced SIMD, SVE and SME */
        return strcmp(m->c, "f32") == 0   ? model_f32
               : strcmp(m->c, "f64") == 0 ? model_f64
               : strcmp(m->c, "f16") == 0 ? model_f16
                                          : NULL;
    return strcmp(m->c, "s32") == 0 ? model_wraps : strcmp(m->c, "s64") == 0 ? model_s64 : NULL;
}

#endif
