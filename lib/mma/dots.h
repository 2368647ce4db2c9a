/* Many sums of products and an accumulator, each made of numbers that are given exactly, put through a matrix unit at
 * once: the experiments' only way to it. A leaf is one summand of a sum: the product of one k, or the accumulator. */
#ifndef AS_LIB_MMA_DOTS_H
#define AS_LIB_MMA_DOTS_H

#include "unit.h"

struct dots {
    const struct as_matrix_unit *unit;
    bool subnormal_a, subnormal_b; /* operands may be subnormal */
    size_t n, room;
    uint64_t *a, *b; /* k of each */
    uint64_t *c, *d;
    bool lost;    /* a number had no code: no sum of the batch means anything */
    bool no_room; /* out of memory: dots_run tells */
};
void dots_start(struct dots *s, const struct as_matrix_unit *unit);
void dots_clear(struct dots *s); /* no sums, the rest as it was */
void dots_finish(struct dots *s);
/* Another sum, all of whose operands are 0. */
size_t dots_add(struct dots *s);
/* A summand that is digits x 2^exponent; of a product the digits stand in a. leaf: k, or unit->k for the accumulator.
 */
void dots_put(struct dots *s, size_t dot, unsigned leaf, double digits, int exponent);
/* One product's operands, or the accumulator, by their codes. */
void dots_put_codes(struct dots *s, size_t dot, unsigned leaf, uint64_t a, uint64_t b);
void dots_put_c(struct dots *s, size_t dot, uint64_t c);
enum as_status dots_run(struct dots *s, struct as_error *err);
double dots_result(const struct dots *s, size_t dot);

/* Exponents that a product, the accumulator and the result can have, with a factor of up to 8 at both ends. */
struct dots_range {
    int low, high;
};
struct dots_range dots_range(const struct dots *s, bool subnormal_results);

#endif
