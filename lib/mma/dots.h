/* Batches of dot products plus an accumulator, with exact operands, through a matrix unit: the experiments' only access
 * to it. A leaf is one summand: the product of one k, or the accumulator. */
#ifndef AS_LIB_MMA_DOTS_H
#define AS_LIB_MMA_DOTS_H

#include "unit.h"

struct dots {
    const struct as_matrix_unit *unit;
    bool subnormal_a, subnormal_b; /* operands may be subnormal */
    size_t n, room;
    uint64_t *a, *b; /* k of each */
    uint64_t *c, *d;
    bool lost;    /* an operand was not representable: the batch is invalid */
    bool no_room; /* out of memory: reported by dots_run */
};
void dots_start(struct dots *s, const struct as_matrix_unit *unit);
void dots_clear(struct dots *s); /* no sums, the rest unchanged */
void dots_finish(struct dots *s);
/* Adds a sum with all operands 0. */
size_t dots_add(struct dots *s);
/* Sets a summand to digits x 2^exponent; of a product the digits are in a. leaf: k, or unit->k for the accumulator.
 */
void dots_put(struct dots *s, size_t dot, unsigned leaf, double digits, int exponent);
/* Sets one product's operands, or the accumulator, by codes. */
void dots_put_codes(struct dots *s, size_t dot, unsigned leaf, uint64_t a, uint64_t b);
void dots_put_c(struct dots *s, size_t dot, uint64_t c);
enum as_status dots_run(struct dots *s, struct as_error *err);
double dots_result(const struct dots *s, size_t dot);

/* Exponent range common to products, accumulator and result, with a margin of a factor of 8 at both ends. */
struct dots_range {
    int low, high;
};
struct dots_range dots_range(const struct dots *s, bool subnormal_results);

#endif
