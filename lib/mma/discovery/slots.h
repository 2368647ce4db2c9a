/* Infers the operand layouts of a matrix unit: its operands are set place by place, as in registers or memory, and its
 * results reveal rows, columns and k. */
#ifndef AS_LIB_MMA_DISCOVERY_SLOTS_H
#define AS_LIB_MMA_DISCOVERY_SLOTS_H

#include "base/error.h"
#include "lib/mma/instructions/formats.h"

#include <stddef.h>

/* A unit whose operands are arrays of places ("slots") for elements. */
struct as_slot_unit {
    const struct as_number_format *a, *b, *c;
    size_t slots_a, slots_b, slots_c;
    unsigned m, n, k;
    /* d = a x b for `count` problems with accumulator 0. Codes by slot. */
    enum as_status (*multiply)(void *ctx, size_t count, const uint64_t *a, const uint64_t *b, uint64_t *d,
                               struct as_error *err);
    void *ctx;
};

enum { AS_SLOT_NONE = 0xffff };
struct as_slot {
    uint16_t row, column; /* AS_SLOT_NONE: unused */
};
/* Rows, columns and k are numbered in the order found: products are invariant under a common renumbering of the rows of
 * A and the result, and so on. */
struct as_slots {
    struct as_slot *a, *b, *c;
    size_t slots_a, slots_b, slots_c;
    unsigned m, n, k;
};
/* AS_FAILED if the results contradict a matrix multiplication, with the contradiction. */
enum as_status as_slots_find(const struct as_slot_unit *unit, struct as_slots *out, struct as_error *err);
void as_slots_finish(struct as_slots *slots);

/* Renumbers the rows, columns and k of `found` as in `documented`. Returns the number of differing slots and describes
 * the first one. */
struct as_slots_difference {
    size_t unequal[3]; /* of a, b, c */
    char first[160];
};
enum as_status as_slots_compare(struct as_slots *found, const struct as_slots *documented,
                                struct as_slots_difference *out, struct as_error *err);

#endif
