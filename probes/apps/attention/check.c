/* Compares rows of the result with f64. */
#include "attention.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 16 };
/* Tolerance, relative to a row's root mean square: a missing block of keys exceeds it, rounding of scores and weights
 * to f16 does not. */
static const double ROOM = 1.0 / 32;

static double attention_q_at(const struct as_attention *a, uint64_t place)
{
    return 4 * a->drawn[as_gemm_index(place, AS_SEED_A)];
}

/* The expected row; weights holds all keys. */
static void attention_want(const struct as_attention *a, uint64_t head, uint64_t row, double *weights, double *out)
{
    const uint64_t n = a->desc.length, base = head * n * AS_ATTENTION_WIDE;
    double most = -INFINITY, sum = 0, q[AS_ATTENTION_WIDE];
    for (uint64_t i = 0; i < AS_ATTENTION_WIDE; i++)
        q[i] = attention_q_at(a, base + row * AS_ATTENTION_WIDE + i);
    for (uint64_t j = 0; j < n; j++) {
        double s = 0;
        for (uint64_t i = 0; i < AS_ATTENTION_WIDE; i++)
            s += q[i] * a->drawn[as_gemm_index(base + j * AS_ATTENTION_WIDE + i, AS_SEED_B)];
        weights[j] = s / sqrt(AS_ATTENTION_WIDE);
        most = fmax(most, weights[j]);
    }
    for (uint64_t j = 0; j < n; j++)
        sum += weights[j] = exp(weights[j] - most);
    for (uint64_t i = 0; i < AS_ATTENTION_WIDE; i++) {
        out[i] = 0;
        for (uint64_t j = 0; j < n; j++)
            out[i] += weights[j] / sum * a->drawn[as_gemm_index(base + i * n + j, AS_SEED_BIAS)];
    }
}

/* False: `why` names the wrong element. */
static bool check_row(struct as_attention *a, uint64_t head, uint64_t row, double *weights, char *why, size_t size)
{
    struct as_error err = {0};
    uint16_t codes[AS_ATTENTION_WIDE];
    double wanted[AS_ATTENTION_WIDE], square = 0;
    const uint64_t at = (head * a->desc.length + row) * sizeof codes;
    if (a->dev->memory->read(a->dev, a->out, at, codes, sizeof codes, &err)) {
        snprintf(why, size, "%s", err.text);
        return false;
    }
    attention_want(a, head, row, weights, wanted);
    for (int i = 0; i < AS_ATTENTION_WIDE; i++)
        square += wanted[i] * wanted[i] / AS_ATTENTION_WIDE;
    for (int i = 0; i < AS_ATTENTION_WIDE; i++) {
        double got = as_number_decode(as_number_format("f16"), codes[i]), room = ROOM * sqrt(square);
        if (fabs(got - wanted[i]) <= room)
            continue;
        snprintf(why, size, "head %llu, row %llu, column %d is %.6g, not %.6g +- %.1g", (unsigned long long)head,
                 (unsigned long long)row, i, got, wanted[i], room);
        return false;
    }
    return true;
}

bool as_attention_check(struct as_attention *a, char *why, size_t size)
{
    struct as_rng rng;
    struct as_error err = {0};
    double unused, *weights = malloc(a->desc.length * sizeof *weights);
    bool good = weights != NULL;
    if (!weights)
        as_check_no_memory(why, size);
    else if (as_attention_run(a, 1, &unused, &err)) {
        snprintf(why, size, "%s", err.text);
        good = false;
    }
    as_rng_seed(&rng, a->desc.seed + UINT64_C(1));
    for (int i = 0; i < ROWS && good; i++)
        good = check_row(a, as_rng_below(&rng, a->desc.heads), as_rng_below(&rng, a->desc.length), weights, why, size);
    if (good)
        snprintf(why, size, "%d rows agree with f64", (int)ROWS);
    free(weights);
    return good;
}
