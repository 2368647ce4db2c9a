/* Pairs of a store and a load whose addresses differ by a fixed distance. Each load's address depends on the previous
 * load. */
#ifndef AS_PROBES_CACHES_REFILL_ALIAS_H
#define AS_PROBES_CACHES_REFILL_ALIAS_H

#include "lib/buffers/buffers.h"

enum { ALIAS_DISTANCE_MAX = 1 << 20, ALIAS_PAIRS = 64 /* per repetition */ };

struct alias {
    struct as_buffers own;
    struct as_memory *memory;
    struct as_kernel *kernel;
    uint64_t distance;
    bool lost; /* a load or store was wrong */
};
/* After a failure the caller still finishes a. */
enum as_status as_refill_alias_prepare(struct alias *a, struct as_device *dev, const char *allocator, uint64_t distance,
                                       struct as_error *err);
/* *ns: per pair */
enum as_status as_refill_alias_run(struct alias *a, uint64_t reps, double *ns, double *seconds, struct as_error *err);
void as_refill_alias_finish(struct alias *a);

#endif
