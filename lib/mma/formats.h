/* The numeric formats of matrix units, on the host: every code of a format is a double exactly, and a double is
 * rounded to a code in one step. */
#ifndef AS_LIB_MMA_FORMATS_H
#define AS_LIB_MMA_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

enum as_number_kind {
    AS_NUMBER_FLOAT,
    AS_NUMBER_SIGNED, /* two's complement */
    AS_NUMBER_UNSIGNED,
};
/* Which codes of a floating-point format are no finite numbers. */
enum as_number_special {
    AS_SPECIAL_IEEE,  /* the largest exponent: infinities and NaNs */
    AS_SPECIAL_NAN,   /* all ones is NaN, either sign; there are no infinities (OCP e4m3) */
    AS_SPECIAL_NONE,  /* none (OCP e2m1, e2m3, e3m2) */
    AS_SPECIAL_MINUS, /* the code of -0 is NaN; there are no infinities and no -0 (the "fnuz" formats of gfx94x) */
};
struct as_number_format {
    const char *word, *title; /* "bf16", "brain floating point, 16 bits" */
    enum as_number_kind kind;
    unsigned bits;               /* of a code as it lies in memory, its unused low bits counted */
    unsigned exponent, fraction; /* bits of each */
    int bias;
    unsigned unused; /* low bits that no digit stands in: 13 of tf32, which lies in a word of f32 */
    enum as_number_special special;
};
extern const struct as_number_format as_number_formats[];          /* ends with a NULL word */
const struct as_number_format *as_number_format(const char *word); /* NULL: there is none */

enum as_rounding {
    AS_ROUND_NEAREST_EVEN,
    AS_ROUND_NEAREST_AWAY, /* halves away from zero */
    AS_ROUND_TOWARD_ZERO,
    AS_ROUND_DOWN,
    AS_ROUND_UP,
};
/* What they are called, in the order in which probes number their answers, from 1 on. */
enum { AS_ROUNDINGS = 5 };
struct as_rounding_word {
    enum as_rounding rounding;
    const char *text;
};
extern const struct as_rounding_word as_roundings[AS_ROUNDINGS];
/* Does a magnitude of so many whole digits (odd or not) and a rest of them go up? rest: 0 to 1, of which nothing counts
 * but whether it is 0, below a half, a half, or above. */
bool as_rounds_up(enum as_rounding rounding, bool negative, bool odd, double rest);
double as_round(enum as_rounding rounding, double value); /* to an integer; value is finite */

/* What becomes of a number past the largest. */
enum as_overflow {
    AS_OVERFLOW_FORMAT,   /* as IEEE 754 rounds: infinity, NaN where there is none; integers wrap */
    AS_OVERFLOW_CLAMP,    /* the largest finite number, of infinity too */
    AS_OVERFLOW_INFINITY, /* infinity, NaN where there is none, also where IEEE 754 rounds inward */
};

/* The value of a code exactly; its unused bits and bits past it do not count. */
double as_number_decode(const struct as_number_format *format, uint64_t code);
/* The code of a value. NaN becomes the quiet one without payload, in a format that has none the largest number, in an
 * integer 0. */
uint64_t as_number_encode(const struct as_number_format *format, double value, enum as_rounding rounding,
                          enum as_overflow overflow);
/* The same of digits x 2^exponent. Where digits lie below those, the last one is set instead of them: with 56 digits or
 * more the result is that of rounding the whole once. */
uint64_t as_number_round(const struct as_number_format *format, bool negative, uint64_t digits, int exponent,
                         enum as_rounding rounding, enum as_overflow overflow);
/* The code nearest to a value, with halves to even and infinity past the range. */
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
