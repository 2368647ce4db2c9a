/* Transfers: copies between memories, by the device's copy engines or by a kernel, in one or several concurrent lanes.
 * Sources hold random bits, destinations their complement; a destination is compared with the pattern, not with its
 * source. */
#ifndef AS_LIB_TRANSFER_TRANSFER_H
#define AS_LIB_TRANSFER_TRANSFER_H

#include "lib/buffers/buffers.h"

enum { AS_TRANSFER_LANES = 8, AS_TRANSFER_ARGS = 2 * AS_TRANSFER_LANES + 2 };

struct as_transfer_end {
    const char *allocator; /* NULL: pageable memory, for the API's copy call only */
    const char *owner;     /* id of its device, NULL own */
    int node;              /* NUMA node, -1 local */
};
struct as_transfer_lane {
    struct as_transfer_end from, to;
};
struct as_transfer_desc {
    struct as_transfer_lane lane[AS_TRANSFER_LANES];
    unsigned lanes;
    uint64_t bytes; /* bytes per lane; a multiple of 16 */
    bool kernel;    /* by a kernel, else by the copy engines (at most two lanes) */
    bool whole_check;
    uint64_t seed;
};
struct as_transfer_grid {
    size_t workgroups, workgroup_size;
};
struct as_transfer {
    struct as_device *dev;
    struct as_transfer_desc desc;
    struct as_memory *from[AS_TRANSFER_LANES], *to[AS_TRANSFER_LANES];
    void *plain;           /* the end of lane 0 without an allocator */
    struct as_buffers own; /* the kernel */
    struct as_kernel *copy;
    struct as_transfer_grid grid;
    uint64_t sample; /* number of the last; first and last words change per sample */
};

/* Total bytes of all blocks. */
uint64_t as_transfer_footprint(const struct as_transfer_desc *desc);
enum as_status as_transfer_prepare(struct as_transfer *t, struct as_device *dev, const struct as_transfer_desc *desc,
                                   struct as_error *err);
/* What a sample does, for callers that start it beside other work: first as_transfer_mark, which changes the sources'
 * first and last words, then the part, which points into work. Not for pageable memory. */
struct as_transfer_work {
    struct as_copy copy;
    struct as_launch launch;
    struct as_arg args[AS_TRANSFER_ARGS];
};
enum as_status as_transfer_mark(struct as_transfer *t, struct as_error *err);
struct as_part as_transfer_part(const struct as_transfer *t, uint64_t reps, struct as_transfer_work *work);
/* "132 workgroups of 512", "copy engine", "write call" */
void as_transfer_variant(const struct as_transfer *t, char *out, size_t size);
void as_transfer_finish(void *transfer); /* accepts one that prepare left incomplete */

/* For records of probes whose state is or begins with a struct as_transfer. The value counts each byte of each lane
 * once, in GB/s. The check compares every word if whole_check is set or there are few, else blocks drawn from the seed,
 * including the first and the last.
 */
enum as_status as_transfer_sample(void *transfer, uint64_t reps, struct as_sample *out, struct as_error *err);
bool as_transfer_check(void *transfer, char *why, size_t size);

#endif
