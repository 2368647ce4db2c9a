/* Numbers of fewer bits than the host computes with, and what C has no operator for. */
#include "ops_reference.h"

#include <stdio.h>
#include <string.h>

struct format {
    int mantissa, bias, highest; /* bits; of the exponent; largest exponent of a finite number as it is stored */
    double largest;
};
static const struct format half = {10, 15, 30, 65504}, brain = {7, 127, 254, 0x1.fep127};

static double unpack(unsigned bits, const struct format *f, int exponent_bits)
{
    int exponent = (int)(bits >> f->mantissa) & ((1 << exponent_bits) - 1);
    unsigned fraction = bits & ((1u << f->mantissa) - 1), sign = bits >> (f->mantissa + exponent_bits) & 1;
    double x = exponent > f->highest ? (fraction ? NAN : INFINITY)
               : exponent            ? ldexp((double)(fraction | 1u << f->mantissa), exponent - f->bias - f->mantissa)
                                     : ldexp((double)fraction, 1 - f->bias - f->mantissa);
    return sign ? -x : x;
}

/* To the nearest, ties to even. */
static unsigned pack(double x, const struct format *f, int exponent_bits, bool saturate)
{
    unsigned sign = signbit(x) ? 1u << (f->mantissa + exponent_bits) : 0;
    unsigned infinite = (unsigned)(f->highest + 1) << f->mantissa;
    double size = fabs(x);
    int exponent;
    if (isnan(x))
        return sign | infinite | 1u << (f->mantissa - 1);
    if (size == 0)
        return sign;
    frexp(size, &exponent);
    exponent = exponent - 1 < 1 - f->bias ? 1 - f->bias : exponent - 1;
    double step = ldexp(1, exponent - f->mantissa), rounded = rint(size / step) * step;
    if (rounded > f->largest)
        return sign | (saturate ? pack(f->largest, f, exponent_bits, false) : infinite);
    frexp(rounded, &exponent);
    exponent = exponent - 1 < 1 - f->bias ? 1 - f->bias : exponent - 1;
    unsigned units = (unsigned)ldexp(rounded, f->mantissa - exponent);
    unsigned stored = units >> f->mantissa ? (unsigned)(exponent + f->bias) : 0;
    return sign | stored << f->mantissa | (units & ((1u << f->mantissa) - 1));
}

double as_op_get_f16(const union as_op_value *v, unsigned lane)
{
    return unpack(v->half[lane], &half, 5);
}

double as_op_get_bf16(const union as_op_value *v, unsigned lane)
{
    return unpack(v->half[lane], &brain, 8);
}

void as_op_set_f16(union as_op_value *v, unsigned lane, double x)
{
    v->half[lane] = (uint16_t)pack(x, &half, 5, false);
}

void as_op_set_bf16(union as_op_value *v, unsigned lane, double x)
{
    v->half[lane] = (uint16_t)pack(x, &brain, 8, false);
}

uint32_t as_op_pair16(double high, double low)
{
    return pack(high, &half, 5, false) << 16 | pack(low, &half, 5, false);
}

uint32_t as_op_pair16_cut(double high, double low)
{
    const double x[] = {low, high};
    uint32_t r = 0;
    for (int i = 0; i < 2; i++) {
        int exponent;
        double cut = trunc(ldexp(frexp(x[i], &exponent), half.mantissa + 1));
        r |= pack(ldexp(cut, exponent - half.mantissa - 1), &half, 5, true) << 16 * i;
    }
    return r;
}

uint16_t as_op_pair8(double high, double low, unsigned mantissa)
{
    static const struct format e4m3 = {3, 7, 15, 448}, e5m2 = {2, 15, 30, 57344};
    const struct format *f = mantissa == 3 ? &e4m3 : &e5m2;
    int exponent_bits = mantissa == 3 ? 4 : 5;
    return (uint16_t)(pack(high, f, exponent_bits, true) << 8 | pack(low, f, exponent_bits, true));
}

uint64_t as_op_reverse(uint64_t x, unsigned bits)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < bits; i++)
        r |= (x >> i & 1) << (bits - 1 - i);
    return r;
}

uint64_t as_op_high(uint64_t a, uint64_t b)
{
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (uint32_t)middle;
    return ah * bh + (middle >> 32) + (other >> 32);
}

uint32_t as_op_permute(uint32_t a, uint32_t b, uint32_t choice)
{
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++)
        r |= (uint32_t)(both >> 8 * (choice >> 4 * i & 7) & 255) << 8 * i;
    return r;
}

uint64_t as_op_gather(uint64_t a, uint64_t mask)
{
    uint64_t r = 0;
    unsigned n = 0;
    for (unsigned i = 0; i < 64; i++)
        if (mask >> i & 1)
            r |= (a >> i & 1) << n++;
    return r;
}

uint64_t as_op_scatter(uint64_t a, uint64_t mask)
{
    uint64_t r = 0;
    unsigned n = 0;
    for (unsigned i = 0; i < 64; i++)
        if (mask >> i & 1)
            r |= (a >> n++ & 1) << i;
    return r;
}

uint32_t as_op_bits32(float x)
{
    const union as_op_value v = {.f32 = x};
    return v.u32;
}

uint64_t as_op_bits64(double x)
{
    const union as_op_value v = {.f64 = x};
    return v.u64;
}

float as_op_f32(uint32_t x)
{
    const union as_op_value v = {.u32 = x};
    return v.f32;
}

double as_op_f64(uint64_t x)
{
    const union as_op_value v = {.u64 = x};
    return v.f64;
}

uint32_t as_op_permute_bytes(uint32_t a, uint32_t b, uint32_t choice)
{
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++)
        r |= (uint32_t)(both >> 8 * (choice >> 8 * i & 7) & 255) << 8 * i;
    return r;
}

uint32_t as_op_dot(uint32_t a, uint32_t b, uint32_t c, unsigned bits)
{
    const uint32_t mask = (1u << bits) - 1;
    for (unsigned at = 0; at < 32; at += bits)
        c += (a >> at & mask) * (b >> at & mask);
    return c;
}

uint32_t as_op_sad(uint32_t a, uint32_t b, uint32_t c, unsigned bits)
{
    const uint32_t mask = (1u << bits) - 1;
    for (unsigned at = 0; at < 32; at += bits) {
        uint32_t x = a >> at & mask, y = b >> at & mask;
        c += x < y ? y - x : x - y;
    }
    return c;
}

double as_op_fraction(double x)
{
    int exponent;
    return frexp(x, &exponent);
}

double as_op_sinpi(double x)
{
    return sin(acos(-1) * x);
}

float as_op_rounded(float x)
{
    volatile float stored = x;
    return stored;
}

/* ---- lanes that go together ---- */

uint32_t as_op_ballot(const union as_op_value (*v)[3], unsigned lanes, unsigned lane, char how)
{
    uint32_t r = 0;
    for (unsigned i = 0; i < lanes && i < 32; i++) {
        uint32_t x = v[i][0].u32;
        bool holds = how == '<' ? x < v[i][1].u32 : how == '=' ? x == v[lane][0].u32 : x & 1;
        r |= (uint32_t)holds << i;
    }
    return r;
}

uint32_t as_op_fold(const union as_op_value (*v)[3], unsigned lanes, char how)
{
    uint32_t r = v[0][0].u32;
    for (unsigned i = 1; i < lanes; i++) {
        uint32_t x = v[i][0].u32;
        r = how == '+'   ? r + x
            : how == '<' ? (x < r ? x : r)
            : how == '>' ? (x > r ? x : r)
            : how == '&' ? r & x
            : how == '|' ? r | x
                         : r ^ x;
    }
    return r;
}

uint32_t as_op_prefix(const union as_op_value (*v)[3], unsigned lane)
{
    uint32_t r = 0;
    for (unsigned i = 0; i <= lane; i++)
        r += v[i][0].u32;
    return r;
}

float as_op_butterfly(const union as_op_value (*v)[3], unsigned lanes, unsigned lane, unsigned farthest, char how)
{
    float x[AS_OP_GROUP_MOST], y[AS_OP_GROUP_MOST];
    for (unsigned i = 0; i < lanes; i++)
        x[i] = v[i][0].f32;
    for (unsigned far = farthest; far; far /= 2) {
        for (unsigned i = 0; i < lanes; i++)
            y[i] = how == '+' ? x[i] + x[i ^ far] : x[i] * x[i ^ far];
        memcpy(x, y, lanes * sizeof *x);
    }
    return x[lane];
}
