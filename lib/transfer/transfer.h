/* Transfers: bytes from memory to memory, by the device's copy engines or by a kernel, in one lane or several at the
 * same time. Sources hold random bits, destinations other ones before; a destination is compared with what the pattern
 * says, not with its source. */
#ifndef AS_LIB_TRANSFER_TRANSFER_H
#define AS_LIB_TRANSFER_TRANSFER_H

#include "lib/prepare/prepare.h"

enum { AS_TRANSFER_LANES = 8 };

struct as_transfer_end {
    const char *allocator; /* NULL: plain memory of the process, which only the API's own copy call can take */
    const char *owner;     /* id of the device on which it lies, NULL own */
    int node;              /* NUMA node, -1 local */
};
struct as_transfer_lane {
    struct as_transfer_end from, to;
};
struct as_transfer_desc {
    struct as_transfer_lane lane[AS_TRANSFER_LANES];
    unsigned lanes;
    uint64_t bytes; /* of each lane; a multiple of 16 */
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
    void *plain; /* the end of lane 0 without an allocator */
    struct as_program *program;
    struct as_kernel *copy;
    struct as_transfer_grid grid;
    uint64_t sample; /* number of the last; its first and last words are unlike those of the one before */
};

/* Bytes of all blocks together. */
uint64_t as_transfer_footprint(const struct as_transfer_desc *desc);
enum as_status as_transfer_prepare(struct as_transfer *t, struct as_device *dev, const struct as_transfer_desc *desc,
                                   struct as_error *err);
/* "132 groups of 512", "copy engine", "write call" */
void as_transfer_variant(const struct as_transfer *t, char *out, size_t size);
void as_transfer_finish(struct as_transfer *t); /* takes one that prepare left half done */

/* For the records of probes whose state is a struct as_transfer or begins with one. The value counts each byte of each
 * lane once, in GB/s. Does every lane's destination hold what its source held in the last sample? Looks at every word
 * when whole_check is set or there are few, else at blocks drawn from the seed, and always at the first and the last.
 */
enum as_status as_transfer_sample(void *transfer, uint64_t reps, struct as_sample *out, struct as_error *err);
bool as_transfer_check(void *transfer, char *why, size_t size);

/* Parts of it, for tests: word i of a lane in a sample. */
uint64_t as_transfer_word(const struct as_transfer *t, unsigned lane, uint64_t i);

#endif
