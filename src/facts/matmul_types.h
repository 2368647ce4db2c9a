/* Operand types of GEMM as the rules compare them. */
#ifndef AS_FACTS_MATMUL_TYPES_H
#define AS_FACTS_MATMUL_TYPES_H

#include "facts/rule.h"

/* A type counts as accelerated from this multiple of the rate of the next wider type. Half the width lets twice as many
 * multipliers stand on the same area and moves half the bytes, so dedicated hardware comes near 2. Formats that only
 * read fewer bytes, or save some instructions around the same multipliers, stay well below 1.5 in GEMMs that are bound
 * by arithmetic. 1.5 lies between the two, and is also the bar of the published study of Apple's tensor path. */
#define AS_MATMUL_ACCELERATED 1.5

enum { AS_MATMUL_WIDER = 2 };
struct as_matmul_type {
    const char *word;
    const char *wider[AS_MATMUL_WIDER]; /* the next wider type, or the one after that if it was not measured */
    const char *vector;                 /* the only vector ALU type to compare with; NULL: the fastest one */
    unsigned bytes;
};
extern const struct as_matmul_type as_matmul_types[]; /* terminated by a NULL word */

/* Peaks of the vector ALU: cells of the probe roofline, and the peak of s8, a cell of the probe alu scaled to
 * operations per second of the device: dot products of four bytes or, where the device has none, the faster of 32-bit
 * multiply-adds and floating point, which multiplies bytes exactly. */
struct as_matmul_roofs {
    const struct as_cell **cells;
    size_t n;
    bool has_integers;
    struct as_cell integers;
};
void as_matmul_roofs_make(struct as_rule_context *c, struct as_matmul_roofs *out);
void as_matmul_roofs_free(struct as_matmul_roofs *roofs);
/* The peak of the vector ALU for comparable numbers; NULL: unknown. Its name: the type, or the operation. */
const struct as_cell *as_matmul_ceiling(const struct as_matmul_roofs *roofs, const struct as_matmul_type *t);
const char *as_matmul_roof_name(const struct as_cell *roof);

/* Statements use the size of the highest rank. The data sheet's size ranks above all others, so that runs with and
 * without larger sizes state the same. 0 without a size. */
double as_matmul_rank(const struct as_rule_context *c, const struct as_cell *cell);

#endif
