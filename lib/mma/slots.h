/* Where numbers lie in a matrix unit, found without being told: a unit is asked with its operands as they lie in
 * registers or memory, place after place, and says by its results alone what belongs together. */
#ifndef AS_LIB_MMA_SLOTS_H
#define AS_LIB_MMA_SLOTS_H

#include "base/error.h"
#include "formats.h"

#include <stddef.h>

/* A unit whose operands are arrays of places ("slots"), each of which may hold a number. */
struct as_slot_unit {
    const struct as_number_format *a, *b, *c;
    size_t slots_a, slots_b, slots_c;
    unsigned m, n, k;
    /* d = a x b of `count` problems; the accumulator is 0. Codes by slot. */
    enum as_status (*multiply)(void *ctx, size_t count, const uint64_t *a, const uint64_t *b, uint64_t *d,
                               struct as_error *err);
    void *ctx;
};

enum { AS_SLOT_NONE = 0xffff };
struct as_slot {
    uint16_t row, column; /* AS_SLOT_NONE: no number is taken from here */
};
/* Rows, columns and k are numbered in the order in which they are met: that is all that products can tell. Whoever
 * numbers the rows of A and of the result in another way, both alike, sees the same results. */
struct as_slots {
    struct as_slot *a, *b, *c;
    size_t slots_a, slots_b, slots_c;
    unsigned m, n, k;
};
/* AS_FAILED where the results are those of no product of matrices, with what contradicts it. */
enum as_status as_slots_find(const struct as_slot_unit *unit, struct as_slots *out, struct as_error *err);
void as_slots_finish(struct as_slots *slots);

/* Numbers the rows, columns and k of `found` as `documented` does. Of those slots that say something else then: how
 * many there are, and the first in words. */
struct as_slots_difference {
    size_t unequal[3]; /* of a, b, c */
    char first[160];
};
enum as_status as_slots_compare(struct as_slots *found, const struct as_slots *documented,
                                struct as_slots_difference *out, struct as_error *err);

#endif
