/* Pairs of loads: one from a cold line, then one some bytes above it, each timed by the CPU's tick counter. */
#ifndef AS_PROBES_CACHES_REFILL_PAIRS_H
#define AS_PROBES_CACHES_REFILL_PAIRS_H

#include "lib/buffers/buffers.h"

enum { PAIRS_DISTANCE_MAX = 1024, PAIRS_START_MAX = 64, PAIRS_LOADS = 3 };
enum pairs_cold { PAIRS_COLD_L1, PAIRS_COLD_L2, PAIRS_COLD_ALL };
enum pairs_load { PAIRS_FIRST, PAIRS_SECOND, PAIRS_AGAIN }; /* again: repeats the second load, which must hit */

struct pairs_desc {
    const char *allocator;
    enum pairs_cold cold;
    uint64_t start, distance; /* in bytes: from an aligned block to the first load, and on to the second */
    uint64_t seed;
};
struct pairs {
    struct as_buffers own;
    struct pairs_desc desc;
    struct as_memory *memory, *evictor; /* read to displace the memory; NULL if lines are flushed */
    struct as_kernel *kernel;
    uint64_t n, span, evictor_bytes; /* pairs; bytes of the memory */
    uint64_t first;                  /* offset of the first pair */
    /* of the last run */
    uint64_t ticks[PAIRS_LOADS], overhead; /* sums over all pairs; overhead: of reading the counter */
    uint64_t least;                        /* minimum of the readings */
    uint64_t elapsed_ticks, elapsed_ns;
    uint64_t sum, passes; /* sum: of the second words, loaded twice */
    bool lost;            /* a sum of any run was wrong */
};
/* The overhead of one counter reading in ticks; *least: the minimum so far. A reading lengthened by an interrupt counts
 * as the minimum; otherwise a load could seem to take negative time. */
uint64_t as_refill_pairs_reading(uint64_t *least, uint64_t ticks);
/* Why these caches do not allow it; NULL if they do. */
const char *as_refill_pairs_why_not(const struct as_device_info *info, enum pairs_cold cold);
/* After a failure the caller still finishes p. */
enum as_status as_refill_pairs_prepare(struct pairs *p, struct as_device *dev, const struct pairs_desc *desc,
                                       struct as_error *err);
/* Evicts the caches and loads all pairs, `passes` times. ns: mean time of each load. */
enum as_status as_refill_pairs_run(struct pairs *p, uint64_t passes, double ns[PAIRS_LOADS], double *seconds,
                                   struct as_error *err);
uint64_t as_refill_pairs_footprint(const struct pairs *p);
void as_refill_pairs_finish(struct pairs *p);

#endif
