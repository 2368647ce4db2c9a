/* A pointer chase over a few lines at a fixed distance. */
#ifndef AS_PROBES_CACHES_REFILL_CONFLICT_H
#define AS_PROBES_CACHES_REFILL_CONFLICT_H

#include "lib/buffers/buffers.h"

enum { CONFLICT_LINES_MAX = 32, CONFLICT_LOADS = 64 /* per repetition */ };

struct conflict {
    struct as_buffers own;
    struct as_memory *memory;
    struct as_kernel *kernel;
    uint64_t lines, distance;
    uint64_t order[CONFLICT_LINES_MAX]; /* of the lines in the cycle */
    uint64_t steps;                     /* done so far, modulo lines */
    bool lost;                          /* a chase ended at a wrong line */
};
/* Uses huge pages if the allocator has them: the block is at least one large. After a failure the caller still finishes
 * c. */
enum as_status as_refill_conflict_prepare(struct conflict *c, struct as_device *dev, const char *allocator,
                                          uint64_t lines, uint64_t distance, uint64_t seed, struct as_error *err);
/* *ns: per load */
enum as_status as_refill_conflict_run(struct conflict *c, uint64_t reps, double *ns, double *seconds,
                                      struct as_error *err);
void as_refill_conflict_finish(struct conflict *c);

#endif
