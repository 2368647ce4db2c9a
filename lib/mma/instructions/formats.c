/* Encoding and decoding of formats. */
#include "formats.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const struct as_number_format as_number_formats[] = {
    {"f64", "binary64", AS_NUMBER_FLOAT, 64, 11, 52, 1023, 0, AS_SPECIAL_IEEE},
    {"f32", "binary32", AS_NUMBER_FLOAT, 32, 8, 23, 127, 0, AS_SPECIAL_IEEE},
    {"tf32", "binary32 with 10 fraction bits", AS_NUMBER_FLOAT, 32, 8, 10, 127, 13, AS_SPECIAL_IEEE},
    {"bf16", "upper half of binary32", AS_NUMBER_FLOAT, 16, 8, 7, 127, 0, AS_SPECIAL_IEEE},
    {"f16", "binary16", AS_NUMBER_FLOAT, 16, 5, 10, 15, 0, AS_SPECIAL_IEEE},
    {"e4m3", "8 bits, 3 fraction bits (OCP)", AS_NUMBER_FLOAT, 8, 4, 3, 7, 0, AS_SPECIAL_NAN},
    {"e5m2", "8 bits, 2 fraction bits (OCP)", AS_NUMBER_FLOAT, 8, 5, 2, 15, 0, AS_SPECIAL_IEEE},
    {"e4m3fnuz", "8 bits, 3 fraction bits, NaN instead of -0", AS_NUMBER_FLOAT, 8, 4, 3, 8, 0, AS_SPECIAL_MINUS},
    {"e5m2fnuz", "8 bits, 2 fraction bits, NaN instead of -0", AS_NUMBER_FLOAT, 8, 5, 2, 16, 0, AS_SPECIAL_MINUS},
    {"e3m2", "6 bits, 2 fraction bits (OCP)", AS_NUMBER_FLOAT, 6, 3, 2, 3, 0, AS_SPECIAL_NONE},
    {"e2m3", "6 bits, 3 fraction bits (OCP)", AS_NUMBER_FLOAT, 6, 2, 3, 1, 0, AS_SPECIAL_NONE},
    {"e2m1", "4 bits, 1 fraction bit (OCP)", AS_NUMBER_FLOAT, 4, 2, 1, 1, 0, AS_SPECIAL_NONE},
    {"s64", "64-bit integers", AS_NUMBER_SIGNED, 64, 0, 0, 0, 0, AS_SPECIAL_NONE},
    {"s32", "32-bit integers", AS_NUMBER_SIGNED, 32, 0, 0, 0, 0, AS_SPECIAL_NONE},
    {"s16", "16-bit integers", AS_NUMBER_SIGNED, 16, 0, 0, 0, 0, AS_SPECIAL_NONE},
    {"s8", "8-bit integers", AS_NUMBER_SIGNED, 8, 0, 0, 0, 0, AS_SPECIAL_NONE},
    {"u8", "unsigned 8-bit integers", AS_NUMBER_UNSIGNED, 8, 0, 0, 0, 0, AS_SPECIAL_NONE},
    {"s4", "4-bit integers", AS_NUMBER_SIGNED, 4, 0, 0, 0, 0, AS_SPECIAL_NONE},
    {"u4", "unsigned 4-bit integers", AS_NUMBER_UNSIGNED, 4, 0, 0, 0, 0, AS_SPECIAL_NONE},
    {"b1", "single bits", AS_NUMBER_UNSIGNED, 1, 0, 0, 0, 0, AS_SPECIAL_NONE},
    {NULL, NULL, AS_NUMBER_FLOAT, 0, 0, 0, 0, 0, AS_SPECIAL_NONE},
};

const struct as_number_format *as_number_format(const char *word)
{
    for (const struct as_number_format *f = as_number_formats; f->word; f++)
        if (strcmp(f->word, word) == 0)
            return f;
    return NULL;
}

static uint64_t formats_ones(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Without sign and unused bits, codes are ordered by value: the functions below count in them. */
static uint64_t sign_of(const struct as_number_format *f)
{
    return UINT64_C(1) << (f->exponent + f->fraction);
}

static uint64_t largest_code(const struct as_number_format *f)
{
    switch (f->special) {
    case AS_SPECIAL_IEEE:
        return (formats_ones(f->exponent) << f->fraction) - 1;
    case AS_SPECIAL_NAN:
        return sign_of(f) - 2;
    case AS_SPECIAL_NONE:
    case AS_SPECIAL_MINUS:
        break;
    }
    return sign_of(f) - 1;
}

static uint64_t nan_code(const struct as_number_format *f)
{
    switch (f->special) {
    case AS_SPECIAL_IEEE:
        return (formats_ones(f->exponent) << f->fraction) | UINT64_C(1) << (f->fraction - 1);
    case AS_SPECIAL_NAN:
        return sign_of(f) - 1;
    case AS_SPECIAL_MINUS:
        return sign_of(f);
    case AS_SPECIAL_NONE:
        break;
    }
    return largest_code(f);
}

static double magnitude(const struct as_number_format *f, uint64_t code)
{
    uint64_t field = code >> f->fraction, digits = code & formats_ones(f->fraction);
    if (field == 0)
        field = 1;
    else
        digits |= UINT64_C(1) << f->fraction;
    return ldexp((double)digits, (int)field - f->bias - (int)f->fraction);
}

static double decode_integer(const struct as_number_format *f, uint64_t code)
{
    uint64_t low = code & formats_ones(f->bits), top = UINT64_C(1) << (f->bits - 1);
    if (f->kind == AS_NUMBER_SIGNED && (low & top))
        return -(double)(formats_ones(f->bits) - low + 1);
    return (double)low;
}

double as_number_decode(const struct as_number_format *f, uint64_t code)
{
    if (f->kind != AS_NUMBER_FLOAT)
        return decode_integer(f, code);
    uint64_t digits = (code & formats_ones(f->bits)) >> f->unused, sign = digits & sign_of(f),
             size = digits & ~sign_of(f);
    if (f->special == AS_SPECIAL_MINUS && digits == sign_of(f))
        return NAN;
    if (size > largest_code(f)) {
        bool infinite = f->special == AS_SPECIAL_IEEE && (size & formats_ones(f->fraction)) == 0;
        return !infinite ? NAN : sign ? -INFINITY : INFINITY;
    }
    double value = magnitude(f, size);
    return sign ? -value : value;
}

const struct as_rounding_word as_roundings[AS_ROUNDINGS] = {
    {AS_ROUND_TOWARD_ZERO, "toward zero"},
    {AS_ROUND_NEAREST_EVEN, "to nearest, ties to even"},
    {AS_ROUND_NEAREST_AWAY, "to nearest, ties away from zero"},
    {AS_ROUND_DOWN, "down"},
    {AS_ROUND_UP, "up"},
};

bool as_rounds_up(enum as_rounding rounding, bool negative, bool odd, double rest)
{
    switch (rounding) {
    case AS_ROUND_NEAREST_EVEN:
        return rest > 0.5 || (rest == 0.5 && odd);
    case AS_ROUND_NEAREST_AWAY:
        return rest >= 0.5;
    case AS_ROUND_TOWARD_ZERO:
        break;
    case AS_ROUND_DOWN:
        return rest > 0 && negative;
    case AS_ROUND_UP:
        return rest > 0 && !negative;
    }
    return false;
}

double as_round(enum as_rounding rounding, double value)
{
    double whole = floor(fabs(value));
    bool up = as_rounds_up(rounding, value < 0, fmod(whole, 2) != 0, fabs(value) - whole);
    return copysign(whole + (up ? 1 : 0), value);
}

static uint64_t encode_integer(const struct as_number_format *f, double value, enum as_rounding rounding,
                               enum as_overflow overflow)
{
    double least = f->kind == AS_NUMBER_SIGNED ? -ldexp(1, (int)f->bits - 1) : 0, most = as_number_largest(f);
    if (isnan(value))
        return 0;
    double rounded = isfinite(value) ? as_round(rounding, value) : value;
    if (overflow == AS_OVERFLOW_CLAMP || isinf(value))
        rounded = fmin(fmax(rounded, least), most);
    if ((overflow == AS_OVERFLOW_CLAMP || isinf(value)) && rounded >= most) /* which f64 may round up */
        return formats_ones(f->kind == AS_NUMBER_SIGNED ? f->bits - 1 : f->bits);
    double wrapped = fmod(rounded, ldexp(1, (int)f->bits));
    uint64_t size = (uint64_t)fabs(wrapped);
    return (wrapped < 0 ? 0 - size : size) & formats_ones(f->bits);
}

/* The remainder below the last kept bit: none, below a half, a half, above. */
static double rest_of(uint64_t digits, int dropped)
{
    if (dropped <= 0 || digits == 0)
        return 0;
    if (dropped > 64)
        return 0.25;
    uint64_t low = dropped == 64 ? digits : digits & formats_ones((unsigned)dropped), half = UINT64_C(1)
                                                                                             << (dropped - 1);
    return low == 0 ? 0 : low < half ? 0.25 : low == half ? 0.5 : 0.75;
}

/* The code of a magnitude above 0, beyond the largest on overflow. */
static uint64_t round_magnitude(const struct as_number_format *f, uint64_t digits, int exponent,
                                enum as_rounding rounding, bool negative)
{
    int top = 63 - __builtin_clzll(digits) + exponent, least = 1 - f->bias;
    if (top < least)
        top = least;
    if (top + f->bias > (int)formats_ones(f->exponent))
        return largest_code(f) + 1;
    int dropped = top - (int)f->fraction - exponent;
    uint64_t whole = dropped >= 64 ? 0 : dropped > 0 ? digits >> dropped : digits << -dropped;
    bool up = as_rounds_up(rounding, negative, whole & 1, rest_of(digits, dropped));
    /* A carry correctly increments the exponent. */
    return ((uint64_t)(top - least) << f->fraction) + whole + (up ? 1 : 0);
}

static uint64_t overflowed(const struct as_number_format *f, enum as_rounding rounding, enum as_overflow overflow,
                           bool negative, bool infinite)
{
    bool inward = rounding == AS_ROUND_TOWARD_ZERO || (rounding == AS_ROUND_DOWN && !negative) ||
                  (rounding == AS_ROUND_UP && negative);
    if (overflow == AS_OVERFLOW_CLAMP || f->special == AS_SPECIAL_NONE)
        return largest_code(f);
    if (overflow == AS_OVERFLOW_FORMAT && inward && !infinite)
        return largest_code(f);
    return f->special == AS_SPECIAL_IEEE ? largest_code(f) + 1 : nan_code(f);
}

/* If the code of -0 is NaN there is no -0, and NaN has that sign already. */
static uint64_t with_sign(const struct as_number_format *f, bool negative, uint64_t code)
{
    bool bare = f->special == AS_SPECIAL_MINUS && (code == 0 || code == nan_code(f));
    return (negative && !bare ? code | sign_of(f) : code) << f->unused;
}

uint64_t as_number_round(const struct as_number_format *f, bool negative, uint64_t digits, int exponent,
                         enum as_rounding rounding, enum as_overflow overflow)
{
    if (f->kind != AS_NUMBER_FLOAT) {
        double value = ldexp((double)digits, exponent);
        return encode_integer(f, negative ? -value : value, rounding, overflow);
    }
    uint64_t code = digits ? round_magnitude(f, digits, exponent, rounding, negative) : 0;
    if (code > largest_code(f))
        code = overflowed(f, rounding, overflow, negative, false);
    return with_sign(f, negative, code);
}

uint64_t as_number_encode(const struct as_number_format *f, double value, enum as_rounding rounding,
                          enum as_overflow overflow)
{
    if (f->kind != AS_NUMBER_FLOAT)
        return encode_integer(f, value, rounding, overflow);
    if (isnan(value))
        return nan_code(f) << f->unused;
    if (isinf(value))
        return with_sign(f, signbit(value), overflowed(f, rounding, overflow, signbit(value), true));
    int exponent = 0;
    double share = frexp(fabs(value), &exponent);
    return as_number_round(f, signbit(value), (uint64_t)ldexp(share, 53), exponent - 53, rounding, overflow);
}

double as_number_largest(const struct as_number_format *f)
{
    if (f->kind == AS_NUMBER_FLOAT)
        return magnitude(f, largest_code(f));
    return (double)formats_ones(f->kind == AS_NUMBER_SIGNED ? f->bits - 1 : f->bits);
}

double as_number_smallest(const struct as_number_format *f)
{
    return f->kind == AS_NUMBER_FLOAT ? magnitude(f, 1) : 1;
}

double as_number_smallest_normal(const struct as_number_format *f)
{
    return f->kind == AS_NUMBER_FLOAT ? magnitude(f, UINT64_C(1) << f->fraction) : 1;
}

bool as_number_has_infinity(const struct as_number_format *f)
{
    return f->kind == AS_NUMBER_FLOAT && f->special == AS_SPECIAL_IEEE;
}

bool as_number_has_nan(const struct as_number_format *f)
{
    return f->kind == AS_NUMBER_FLOAT && f->special != AS_SPECIAL_NONE;
}
