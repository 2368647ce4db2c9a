/* The two sides of a block: one is timed while it passes over a buffer, the other touches its own memory before. Either
 * is the calling CPU thread or the device. On the CPU backend both are threads of the device, on two cores. */
#ifndef AS_PROBES_CONTENTION_RESIDUAL_SIDES_H
#define AS_PROBES_CONTENTION_RESIDUAL_SIDES_H

#include "lib/buffers/buffers.h"

enum { SIDE_LINE = 64 };

/* Both kernels of a device, and its memory. Outlives the sides that use it. */
struct side_kernels {
    struct as_buffers own; /* released by as_buffers_finish */
    const char *allocator; /* of all memory of the device */
    struct as_kernel *touch, *pass;
    bool native;
};
/* After a failure the caller still finishes k->own. */
enum as_status as_side_kernels_prepare(struct side_kernels *k, struct as_device *dev, const char *allocator,
                                       struct as_error *err);

/* Lines of memory, and where each work-item stores the sum of its loads. */
struct side_memory {
    struct side_kernels *kernels; /* NULL: the CPU's, without `sums` */
    uint64_t *host;
    struct as_memory *device, *sums;
};
enum as_status as_side_memory_make(struct side_memory *m, struct side_kernels *kernels, uint64_t bytes,
                                   struct as_error *err);
void as_side_memory_free(struct side_memory *m);

struct side_work {
    uint64_t lines; /* loads or stores, one per line */
    uint64_t step;  /* from one line to the next, in words of 8 bytes */
    uint64_t mask;  /* applied to word indices: keeps them below this number of words */
    uint64_t value; /* touch: added to the line's number and stored; 0: loads. pass: not 0: follows the chain */
};
/* The calling thread touches, or passes. Returns the sum of the loads, or where the chain ended. */
uint64_t as_side_touch_here(uint64_t *data, const struct side_work *w);
uint64_t as_side_pass_here(const uint64_t *data, const struct side_work *w, uint64_t *ns);
/* One launch, which is waited for. */
enum as_status as_side_launch(const struct side_memory *m, bool pass, const struct side_work *w,
                              struct as_timing *timing, struct as_error *err);
/* The same without waiting, with AS_CAP_ASYNC: a later launch begins after it. */
enum as_status as_side_submit(const struct side_memory *m, bool pass, const struct side_work *w, struct as_error *err);
/* The sum that the last launch, of this work, left. */
enum as_status as_side_sum(const struct side_memory *m, bool pass, const struct side_work *w, uint64_t *sum,
                           struct as_error *err);

#endif
