/* The operations of probe emulated: what they are called in kernels, the same on the host, and exact arithmetic to
 * compare with. */
#ifndef AS_PROBES_EMULATED_ARITHMETIC_H
#define AS_PROBES_EMULATED_ARITHMETIC_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum as_emulated_format { AS_EMULATED_F32, AS_EMULATED_F64, AS_EMULATED_E8M48, AS_EMULATED_FP59, AS_EMULATED_INTEGER };
enum as_emulated_what { AS_EMULATED_ADD, AS_EMULATED_MUL, AS_EMULATED_WIDE, AS_EMULATED_FMA };

/* A number as kernels store it: a float's bits in the lowest word, e8m48 as two f32, an integer with its low word
 * first. */
struct as_emulated_number {
    uint64_t word[2];
};

struct as_emulated {
    const char *name;
    enum as_emulated_format format;
    enum as_emulated_what what;
    unsigned bits;      /* integers: of the operands (wide: of one of them) */
    const char *number; /* type in kernels: "E8M48" of IN_E8M48 */
    const char *call;   /* OP(a, b, c) in kernels */
    unsigned passes;    /* of the chains per turn: 8 of the language's own operations, else 1 */
    double bound;       /* largest relative error; 0: integers, exact */
    struct as_emulated_number (*apply)(struct as_emulated_number a, struct as_emulated_number b,
                                       struct as_emulated_number c); /* c: of a multiply-add */
};
extern const struct as_emulated as_emulated[]; /* ends with a NULL name */
const struct as_emulated *as_emulated_find(const char *name);

/* A float of the operation's format, rounded; of f64 with exponents of -60 to 60. */
struct as_emulated_number as_emulated_of(const struct as_emulated *op, double x);

/* Relative error of a result of three operands, the third of multiply-adds only, by exact arithmetic: 0 where it is
 * exact, infinity where an integer is wrong. */
double as_emulated_error(const struct as_emulated *op, const struct as_emulated_number operands[3],
                         struct as_emulated_number result);

/* Operands number i of a comparison: every other ones are random, the rest are hard cases: ties, carries, cancellation,
 * zeros, powers of two, far exponents. Floats have exponents of -20 to 20, addends some that exact arithmetic holds. */
void as_emulated_operands(const struct as_emulated *op, struct as_rng *rng, size_t i,
                          struct as_emulated_number operands[3]);

/* What a thread of a class computes in `turns` turns (emulated.kernel, chains) from its eight numbers; and these: four
 * of chains, and four operands that keep chains of floats in range. */
uint64_t as_emulated_chains(const struct as_emulated *op, const struct as_emulated_number start[8], uint64_t turns);
void as_emulated_start(const struct as_emulated *op, struct as_rng *rng, struct as_emulated_number start[8]);

#endif
