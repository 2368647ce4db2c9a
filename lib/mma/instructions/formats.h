/* Numeric formats of matrix units on the host: every code is exactly a double, and doubles are rounded to codes in one
 * step. */
#ifndef AS_LIB_MMA_INSTRUCTIONS_FORMATS_H
#define AS_LIB_MMA_INSTRUCTIONS_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

enum as_number_kind {
    AS_NUMBER_FLOAT,
    AS_NUMBER_SIGNED, /* two's complement */
    AS_NUMBER_UNSIGNED,
};
/* Non-finite codes of a floating-point format. */
enum as_number_special {
    AS_SPECIAL_IEEE,  /* the largest exponent: infinities and NaNs */
    AS_SPECIAL_NAN,   /* all ones is NaN, either sign; no infinities (OCP e4m3) */
    AS_SPECIAL_NONE,  /* none (OCP e2m1, e2m3, e3m2) */
    AS_SPECIAL_MINUS, /* the code of -0 is NaN; no infinities, no -0 (the "fnuz" formats of gfx94x) */
};
struct as_number_format {
    const char *word, *title; /* "bf16", "brain floating point, 16 bits" */
    enum as_number_kind kind;
    unsigned bits;               /* of a code in memory, including unused low bits */
    unsigned exponent, fraction; /* bits of each */
    int bias;
    unsigned unused; /* unused low bits: 13 in tf32, which is stored as f32 */
    enum as_number_special special;
};
extern const struct as_number_format as_number_formats[];          /* ends with a NULL word */
const struct as_number_format *as_number_format(const char *word); /* NULL: none */

enum as_rounding {
    AS_ROUND_NEAREST_EVEN,
    AS_ROUND_NEAREST_AWAY, /* ties away from zero */
    AS_ROUND_TOWARD_ZERO,
    AS_ROUND_DOWN,
    AS_ROUND_UP,
};
/* Names, in the order in which probes number their answers, from 1. */
enum { AS_ROUNDINGS = 5 };
struct as_rounding_word {
    enum as_rounding rounding;
    const char *text;
};
extern const struct as_rounding_word as_roundings[AS_ROUNDINGS];
/* Does a magnitude with an odd or even integer part and this remainder round up? rest: 0 to 1; only 0, below, equal to
 * and above a half matter. */
bool as_rounds_up(enum as_rounding rounding, bool negative, bool odd, double rest);
double as_round(enum as_rounding rounding, double value); /* rounds to an integer; value is finite */

/* Overflow behaviour. */
enum as_overflow {
    AS_OVERFLOW_FORMAT,   /* as in IEEE 754: infinity, NaN without one; integers wrap */
    AS_OVERFLOW_CLAMP,    /* saturates, infinity too */
    AS_OVERFLOW_INFINITY, /* infinity, NaN without one, also in directed rounding */
};

/* The exact value of a code, of s64 to 53 digits; ignores unused and higher bits. */
double as_number_decode(const struct as_number_format *format, uint64_t code);
/* The code of a value. NaN becomes the quiet NaN without payload, the largest number in formats without NaN, 0 in
 * integers. */
uint64_t as_number_encode(const struct as_number_format *format, double value, enum as_rounding rounding,
                          enum as_overflow overflow);
/* The same for digits x 2^exponent. The lowest digit is sticky: with 56 digits or more the result is rounded once. */
uint64_t as_number_round(const struct as_number_format *format, bool negative, uint64_t digits, int exponent,
                         enum as_rounding rounding, enum as_overflow overflow);
/* The nearest code, ties to even, infinity on overflow. */
static inline uint64_t as_number_nearest(const struct as_number_format *format, double value)
{
    return as_number_encode(format, value, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT);
}

double as_number_largest(const struct as_number_format *format);         /* finite */
double as_number_smallest(const struct as_number_format *format);        /* above 0; 1 of integers */
double as_number_smallest_normal(const struct as_number_format *format); /* 1 of integers */
bool as_number_has_infinity(const struct as_number_format *format);
bool as_number_has_nan(const struct as_number_format *format);

#endif
