/* The side whose passes over a buffer are timed: the calling CPU thread or a device. */
#ifndef AS_PROBES_CONTENTION_RESIDUAL_PASSER_H
#define AS_PROBES_CONTENTION_RESIDUAL_PASSER_H

#include "sides.h"

struct passer {
    struct side_memory memory; /* word 0 of a line that is loaded holds the number of the next one */
    struct side_memory lead;   /* of a device: what the lead loads */
    struct side_work work;
    uint64_t found, want; /* by the last pass */
};
struct passer_desc {
    uint64_t bytes, stride; /* one line of every `stride` bytes is loaded */
    bool random;            /* by dependent loads in random order; else by independent ones in address order */
    uint64_t seed;
};
/* kernels: NULL for the calling CPU thread. After a failure the caller still finishes p. */
enum as_status as_passer_prepare(struct passer *p, struct side_kernels *kernels, const struct passer_desc *desc,
                                 struct as_error *err);
/* *seconds: by the device's time stamps where it has them. A device is kept busy by some loads of one line (the lead)
 * until the pass is queued: else its first time stamp comes long before the kernel, and what the CPU's caches lost
 * slows the launch. */
enum as_status as_passer_run(struct passer *p, double *seconds, struct as_error *err);
/* Did the last pass load all lines? */
bool as_passer_check(struct passer *p, char *why, size_t why_size);
void as_passer_finish(struct passer *p);

#endif
