/* A chase beside loading threads: the load, its reference, and the instruments that run both concurrently. */
#ifndef AS_PROBES_CONTENTION_LOADED_LATENCY_LOADED_H
#define AS_PROBES_CONTENTION_LOADED_LATENCY_LOADED_H

#include "lib/chase/chase_internal.h"
#include "lib/kernel_timer/kernel_timer.h"

/* ---- what the loading threads read ---- */

enum { LOAD_WORDS = 1024, LOAD_BLOCK = LOAD_WORDS * 8 }; /* per block */

/* Each loader has a slice of `blocks` blocks and reads it cyclically, also across samples. Block k of loader l is block
 * l * lead + k * step of the memory; word j of block b is table[j] + b * key, plus one for every update of the block.
 * All modulo 2^64. */
struct load {
    struct as_device *dev;
    size_t loaders;
    uint64_t blocks, lead, step;
    bool update; /* increment every word, else read it */
    uint32_t delay;
    uint64_t key, table[LOAD_WORDS], table_sum;
    struct as_memory *memory;   /* the blocks of all loaders */
    struct as_memory *progress; /* per loader: blocks so far and the sum of what was read, two u64 */
};
struct load_desc {
    const char *allocator;
    uint64_t bytes; /* of all loaders, each with at least one block */
    size_t loaders;
    bool interleaved; /* neighbouring blocks belong to neighbouring loaders; else to the same loader */
    bool update;
    uint32_t delay; /* dependent arithmetic steps after each block */
    uint64_t seed;
};
/* Allocates; the instrument fills the memory. */
enum as_status as_load_prepare(struct load *l, struct as_device *dev, const struct load_desc *desc,
                               struct as_error *err);
uint64_t as_load_bytes(const struct load *l);
/* A word as filled. */
uint64_t as_load_word(const struct load *l, uint64_t block, uint64_t word);
/* Expected sum of a loader after this many blocks. */
uint64_t as_load_sum(const struct load *l, size_t loader, uint64_t done);
/* Checks the sums of all loaders and, after updates, the words of some blocks. `why` names the mismatch. */
bool as_load_check(const struct load *l, char *why, size_t why_size);
void as_load_finish(struct load *l); /* accepts one that prepare left incomplete */

/* ---- one trial ---- */

struct loaded {
    struct as_chase chase; /* first: an instrument of a chase reaches the rest through it */
    struct load load;
    struct as_kernel_timer timer; /* records: of the chase, then one per loader */
    struct as_kernel *kernel;     /* NULL: no load */
    struct as_memory *control;    /* of a device */
    size_t workgroup_size;
    double bytes_s, seconds; /* of a sample: bandwidth times seconds, and seconds */
};
/* Takes ownership of the prepared chase s->chase. `bytes` and the rest of desc as for as_load_prepare; for a device,
 * the instrument chooses the number of loaders. */
enum as_status as_loaded_native(struct loaded *s, const struct load_desc *desc, struct as_error *err);
enum as_status as_loaded_device(struct loaded *s, const struct load_desc *desc, struct as_error *err);
/* Adds the bandwidth of a sample from the records of its loaders. A loader without a clock took launch_s. */
void as_loaded_count(struct loaded *s, double launch_s);

#endif
