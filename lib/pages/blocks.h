/* A sequence of fresh blocks of memory: kept allocated, so that none reuses pages, or freed in between. */
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
    uint64_t limit; /* limit of allocated bytes */
};
enum as_status as_blocks_add(struct as_blocks *b, struct as_error *err);
struct as_memory *as_blocks_last(const struct as_blocks *b); /* a current block exists */
void as_blocks_drop(struct as_blocks *b);                    /* the kept blocks */
void as_blocks_finish(struct as_blocks *b);                  /* accepts a zeroed one */

/* For blocks of memory new to this process. The kernel reuses freed pages first, so p touches ballast of the process's
 * peak size, noted as "ballast" and kept. Blocks may then take a quarter of the free memory, but not more than `most`.
 */
enum as_status as_blocks_never_had(struct as_blocks *b, struct as_trial_context *vc, struct as_pages *p, uint64_t most,
                                   struct as_error *err);
/* AS_TIMEOUT beyond the limit. */
enum as_status as_blocks_add_never_had(struct as_blocks *b, struct as_error *err);

#endif
