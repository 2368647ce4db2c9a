/* Short formats, and operations that C lacks. */
#include "ops_reference.h"

#include "lib/mma/instructions/formats.h"

#include <string.h>

static const struct as_number_format *reference_half(void)
{
    return as_number_format("f16");
}

static const struct as_number_format *reference_brain(void)
{
    return as_number_format("bf16");
}

double as_op_get_f16(const union as_op_value *v, unsigned lane)
{
    return as_number_decode(reference_half(), v->half[lane]);
}

double as_op_get_bf16(const union as_op_value *v, unsigned lane)
{
    return as_number_decode(reference_brain(), v->half[lane]);
}

void as_op_set_f16(union as_op_value *v, unsigned lane, double x)
{
    v->half[lane] = (uint16_t)as_number_nearest(reference_half(), x);
}

void as_op_set_bf16(union as_op_value *v, unsigned lane, double x)
{
    v->half[lane] = (uint16_t)as_number_nearest(reference_brain(), x);
}

uint32_t as_op_pair16(double high, double low)
{
    return (uint32_t)(as_number_nearest(reference_half(), high) << 16 | as_number_nearest(reference_half(), low));
}

uint32_t as_op_pair16_cut(double high, double low)
{
    return (uint32_t)(as_number_encode(reference_half(), high, AS_ROUND_TOWARD_ZERO, AS_OVERFLOW_CLAMP) << 16 |
                      as_number_encode(reference_half(), low, AS_ROUND_TOWARD_ZERO, AS_OVERFLOW_CLAMP));
}

uint16_t as_op_pair8(double high, double low, const char *format)
{
    const struct as_number_format *f = as_number_format(format);
    return (uint16_t)(as_number_encode(f, high, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_CLAMP) << 8 |
                      as_number_encode(f, low, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_CLAMP));
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

int as_op_exponent(double x)
{
    int exponent;
    frexp(x, &exponent);
    return exponent;
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

/* ---- subgroups ---- */

uint64_t as_op_ballot(const union as_op_value (*v)[3], unsigned first, unsigned n, unsigned lane, char how)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < n; i++) {
        const union as_op_value *of = v[first + i];
        bool holds = how == '<'   ? of[0].u32 < of[1].u32
                     : how == 'f' ? of[0].f32 < of[1].f32
                     : how == '=' ? of[0].u32 == v[lane][0].u32
                                  : (of[0].u32 & 1) == (how == 'o');
        r |= (uint64_t)holds << i;
    }
    return r;
}

uint64_t as_op_fold(const union as_op_value (*v)[3], unsigned first, unsigned end, char how)
{
    uint64_t r = how == '*' ? 1 : how == '<' || how == '&' ? UINT64_MAX : 0;
    for (unsigned i = first; i < end; i++) {
        uint64_t x = v[i][0].u64;
        r = how == '+'   ? r + x
            : how == '*' ? r * x
            : how == '<' ? (x < r ? x : r)
            : how == '>' ? (x > r ? x : r)
            : how == '&' ? r & x
            : how == '|' ? r | x
                         : r ^ x;
    }
    return r;
}

double as_op_fold_real(const union as_op_value (*v)[3], enum as_op_type type, unsigned first, unsigned end, char how)
{
    double r = how == '*' ? 1 : how == '<' ? (double)INFINITY : how == '>' ? -(double)INFINITY : 0;
    for (unsigned i = first; i < end; i++) {
        double x = type == AS_OP_F16 ? as_op_get_f16(&v[i][0], 0) : (double)v[i][0].f32;
        r = how == '+' ? r + x : how == '*' ? r * x : how == '<' ? fmin(r, x) : fmax(r, x);
    }
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
