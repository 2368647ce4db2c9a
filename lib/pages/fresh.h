/* A sequence of fresh blocks of memory: kept allocated, so that none reuses pages, or freed in between. */
#ifndef AS_LIB_PAGES_FRESH_H
#define AS_LIB_PAGES_FRESH_H

#include "pages.h"

struct as_fresh {
    struct as_device *dev;
    const char *allocator;
    uint64_t bytes; /* per block */
    bool map;       /* for the host */
    int on_node;    /* 1 + the memory node to which they are bound; 0: to none */
    struct as_memory **held;
    size_t n, cap;
    /* set by as_fresh_never_had */
    struct as_memory *ballast;
    uint64_t limit; /* limit of allocated bytes */
};
enum as_status as_fresh_add(struct as_fresh *b, struct as_error *err);
struct as_memory *as_fresh_last(const struct as_fresh *b); /* a current block exists */
void as_fresh_drop(struct as_fresh *b);                    /* the kept blocks */
void as_fresh_finish(struct as_fresh *b);                  /* accepts a zeroed one */

/* Limits the blocks to memory that is new to this process. The kernel reuses freed pages first, so p touches ballast of
 * the process's peak size, which stays allocated and is noted as "ballast". Blocks may then take a quarter of the free
 * memory, but at most `most`. */
enum as_status as_fresh_never_had(struct as_fresh *b, struct as_trial_context *tc, struct as_pages *p, uint64_t most,
                                  struct as_error *err);
/* AS_TIMEOUT beyond that limit. */
enum as_status as_fresh_add_never_had(struct as_fresh *b, struct as_error *err);

#endif
