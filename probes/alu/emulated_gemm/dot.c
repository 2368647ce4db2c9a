#include "dot.h"

#include <math.h>
#include <stdint.h>

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

/* A fixed-point number of all bits that a sum of products may have: words of 32 bits, carries not yet propagated. */
enum { LIMBS = 48, LOWEST = -640 /* exponent of the first bit */ };
struct accumulator {
    int64_t limb[LIMBS];
};

static void dot_add(struct accumulator *s, i128 m, int exponent)
{
    const int at = exponent - LOWEST, first = at / 32;
    u128 rest = (u128)(m < 0 ? -m : m);
    const int sign = m < 0 ? -1 : 1;
    uint64_t carry = (uint64_t)(rest & UINT32_MAX) << (at % 32);
    for (int i = first; rest || carry; i++) {
        s->limb[i] += sign * (int64_t)(carry & UINT32_MAX);
        rest >>= 32;
        carry = (carry >> 32) + ((uint64_t)(rest & UINT32_MAX) << (at % 32));
    }
}

static void dot_add_product(struct accumulator *s, double a, double b)
{
    int p, q;
    const double m = frexp(a, &p), n = frexp(b, &q);
    if (a != 0 && b != 0)
        dot_add(s, (i128)(int64_t)(m * 0x1p53) * (int64_t)(n * 0x1p53), p + q - 106);
}

static double dot_value(struct accumulator *s)
{
    double sum = 0;
    for (int i = 0; i + 1 < LIMBS; i++) {
        const int64_t carry = s->limb[i] >> 32;
        s->limb[i] -= carry * ((int64_t)1 << 32);
        s->limb[i + 1] += carry;
    }
    for (int i = LIMBS; i-- > 0;)
        sum += ldexp((double)s->limb[i], LOWEST + 32 * i);
    return sum;
}

static double dot_above(double largest)
{
    int e;
    return largest > 0 ? (frexp(largest, &e), ldexp(1, e)) : 0;
}

struct as_dot as_dot_error(const double *a, const double *b, size_t n, double computed)
{
    struct accumulator sum = {{0}};
    struct as_dot d = {0, 0, 0};
    double left = 0, right = 0;
    for (size_t i = 0; i < n; i++) {
        dot_add_product(&sum, a[i], b[i]);
        d.size += fabs(a[i] * b[i]);
        left = fmax(left, fabs(a[i]));
        right = fmax(right, fabs(b[i]));
    }
    d.error = INFINITY;
    if (isfinite(computed)) {
        dot_add_product(&sum, -1, computed);
        d.error = fabs(dot_value(&sum));
    }
    d.largest = dot_above(left) * dot_above(right);
    return d;
}

double as_dot_bound(const struct as_dot *d, size_t n, unsigned slices)
{
    const double terms = (double)n;
    if (!slices)
        return terms * 0x1p-53 * 1.01 * d->size;
    /* pairs below the last slice, and what both splits leave over; then roundings, of which each step has 2^7 as much
     * to round as the one before */
    return terms * d->largest * ((slices + 3) * ldexp(1, -7 * (int)slices) + 1.01 * 0x1p-52);
}
