/* Which pairs of ranks are measured, and which of them at once. */
#ifndef AS_FLEET_FLEET_PAIRS_H
#define AS_FLEET_FLEET_PAIRS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pairs to measure: all up to `all_up_to` ranks; beyond, a tournament of as many rounds as that, each a random
 * matching of all ranks. *pairs: the caller's (free), *n of them in order, the lower rank first. */
enum as_status as_link_pairs(int ranks, int all_up_to, uint64_t seed, int (**pairs)[2], size_t *n,
                             struct as_error *err);

/* One measurement to be scheduled. */
struct as_link_item {
    int rank[2];
    uint64_t kind; /* only items of a kind are measured at once */
    bool alone;    /* never beside another */
};
/* Steps that follow each other; the items of one run at once. */
struct as_link_steps {
    size_t *items;    /* owned; indices, those of a step one after the other */
    size_t *first;    /* owned; of step i, in items; n + 1 entries */
    size_t n, widest; /* steps, and items of the largest */
};
/* Puts items into few steps, in each of which a node takes part once. node: of each rank, a number below `nodes`. */
enum as_status as_link_steps_make(const struct as_link_item *items, size_t n, const int *node, size_t nodes,
                                  uint64_t seed, struct as_link_steps *out, struct as_error *err);
void as_link_steps_finish(struct as_link_steps *s);

#endif
