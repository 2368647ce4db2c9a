/* Batches of dot products plus an accumulator, with exact operands, through a matrix unit: the experiments' only access
 * to it. A leaf is one summand: the product of one k, or the accumulator. */
#ifndef AS_LIB_MMA_DISCOVERY_DOTS_H
#define AS_LIB_MMA_DISCOVERY_DOTS_H

#include "lib/mma/instructions/unit.h"

struct as_dots {
    const struct as_matrix_unit *unit;
    bool subnormal_a, subnormal_b; /* operands may be subnormal */
    size_t n, room;
    uint64_t *a, *b; /* k of each */
    uint64_t *c, *d;
    bool lost;    /* an operand was not representable: the batch is invalid */
    bool no_room; /* out of memory: reported by as_dots_run */
};
void as_dots_start(struct as_dots *s, const struct as_matrix_unit *unit);
void as_dots_clear(struct as_dots *s); /* removes all sums and keeps the rest */
void as_dots_finish(struct as_dots *s);
/* Adds a sum with all operands 0. */
size_t as_dots_add(struct as_dots *s);
/* Sets a summand to digits x 2^exponent; of a product the digits are in a. leaf: k, or unit->k for the accumulator.
 */
void as_dots_put(struct as_dots *s, size_t dot, unsigned leaf, double digits, int exponent);
/* Sets one product's operands, or the accumulator, by codes. */
void as_dots_put_codes(struct as_dots *s, size_t dot, unsigned leaf, uint64_t a, uint64_t b);
void as_dots_put_c(struct as_dots *s, size_t dot, uint64_t c);
enum as_status as_dots_run(struct as_dots *s, struct as_error *err);
double as_dots_result(const struct as_dots *s, size_t dot);

/* Exponent range common to products, accumulator and result, with a margin of a factor of 8 at both ends. */
struct as_dots_range {
    int low, high;
};
struct as_dots_range as_dots_range(const struct as_dots *s, bool subnormal_results);

#endif
