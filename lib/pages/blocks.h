/* Blocks of memory taken one after the other, each fresh: held, so that none has pages of the one before, or given back
 * in between. */
#ifndef AS_LIB_PAGES_BLOCKS_H
#define AS_LIB_PAGES_BLOCKS_H

#include "pages.h"

struct as_blocks {
    struct as_device *dev;
    const char *allocator;
    uint64_t bytes; /* of each */
    bool map;       /* for the host */
    struct as_memory **held;
    size_t n, cap;
    /* by as_blocks_never_had */
    struct as_memory *ballast;
    uint64_t limit; /* bytes that may be held */
};
enum as_status as_blocks_add(struct as_blocks *b, struct as_error *err);
struct as_memory *as_blocks_last(const struct as_blocks *b); /* there is one */
void as_blocks_drop(struct as_blocks *b);                    /* all that are held */
void as_blocks_finish(struct as_blocks *b);                  /* takes one of zeros */

/* For blocks of memory that this process never had. Pages that it gave back come first when it asks again: as much as
 * it ever had is taken and touched by p, noted as "ballast" and held. Blocks may then take a quarter of the free
 * memory, but not more than `most`. */
enum as_status as_blocks_never_had(struct as_blocks *b, struct as_trial_context *vc, struct as_pages *p, uint64_t most,
                                   struct as_error *err);
/* AS_TIMEOUT where it would go beyond the limit. */
enum as_status as_blocks_add_never_had(struct as_blocks *b, struct as_error *err);

#endif
