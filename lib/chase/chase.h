/* Pointer chases: a cycle over the lines of a buffer in an order that nobody can guess, built and checked without
 * walking it.
 *
 * The order is the plain cycle 0, 1, .. n-1 seen through a keyed bijection p of [0, n): line p(i) names line p(i + 1).
 * Both p and its inverse are a few multiplications, so the buffer is written in address order at the speed of memory,
 * and after k steps from line p(0) the chase must stand at line p(k mod n).
 *
 * A CPU's cycle that no cache can hold a part of worth naming is written only as far as it is followed: its first steps
 * in prepare, more before a walk that needs them. Those stores leave nothing in the caches. */
#ifndef AS_LIB_CHASE_CHASE_H
#define AS_LIB_CHASE_CHASE_H

#include "device/arena.h"
#include "lib/timed/timed.h"

enum as_pattern {
    AS_PATTERN_RANDOM, /* over the whole buffer */
    AS_PATTERN_PAGE,   /* over the lines of a page, then those of the next page, pages in random order */
    AS_PATTERN_STRIDE, /* line after line: what a prefetcher can guess */
};

enum { AS_BIJECTION_ROUNDS = 4 };
/* A keyed bijection of [0, n), n from 1 to 2^48. */
struct as_bijection {
    uint64_t n, mask;
    unsigned shift;
    uint64_t multiply[AS_BIJECTION_ROUNDS], inverse[AS_BIJECTION_ROUNDS], add[AS_BIJECTION_ROUNDS];
};
void as_bijection_init(struct as_bijection *b, uint64_t n, uint64_t seed);
uint64_t as_bijection_at(const struct as_bijection *b, uint64_t i);
uint64_t as_bijection_index(const struct as_bijection *b, uint64_t value); /* the inverse */

struct as_cycle {
    uint64_t lines;    /* of the cycle */
    uint64_t per_page; /* lines of a page for AS_PATTERN_PAGE, else all of them */
    enum as_pattern pattern;
    struct as_bijection page, line; /* order of the pages, order of the lines of a page */
};
/* lines of `stride` bytes; pages of `page` bytes */
void as_cycle_init(struct as_cycle *c, enum as_pattern pattern, uint64_t lines, uint64_t stride, uint64_t page,
                   uint64_t seed);
uint64_t as_cycle_at(const struct as_cycle *c, uint64_t i);      /* line at step i (i < lines) */
uint64_t as_cycle_next(const struct as_cycle *c, uint64_t line); /* line after this one */

/* Writes the cycle for a kernel: the first word_bytes (4 or 8) of each line say where the next one is, counted in
 * `unit` bytes. */
enum as_status as_cycle_write(const struct as_cycle *c, struct as_device *dev, struct as_memory *to, uint64_t stride,
                              uint64_t unit, size_t word_bytes, struct as_error *err);

/* A chase on a device: the buffer with its cycle, and the kernel that walks it. */
struct as_chase {
    struct as_device *dev;
    const struct as_chase_way *way; /* the CPU's own kernels or a device's, timed or persistent */
    struct as_cycle cycle;
    uint64_t stride;
    uint64_t spread; /* bytes of a cache line where elements are spread, else 0 */
    struct as_memory *memory;
    struct as_kernel *kernel;
    struct as_memory *result;   /* of the CPU's kernels; what a persistent walk shares with who reads its counter */
    struct as_program *program; /* of the CPU's kernels */
    struct as_timed timed;      /* a device's kernels, which time themselves */
    uint64_t before;            /* repetitions that each walk makes before its time starts */
    uint64_t walked;            /* steps so far, modulo lines */
    uint64_t linked;            /* steps from the start that can be followed; lines: all of them */
    unsigned laps;              /* around the cycle by many threads of the unit, before the first walk */
    uint64_t at;                /* line where the next sample starts */
    double clock_hz;            /* in the last walk, NAN where the kernel cannot tell */
    bool lost;                  /* a walk did not end where it must */
    unsigned missed;            /* persistent walks that were over before they were read, at most 2 */
    uint64_t footprint;         /* bytes; of spread elements those of their cache lines */
};
struct as_chase_desc {
    const char *allocator;
    uint64_t size;   /* bytes of the buffer, at least two lines */
    uint64_t stride; /* bytes from line to line, a multiple of 8, at most size / 2 */
    enum as_pattern pattern;
    uint64_t seed;
    bool fresh;        /* never memory that was kept from another trial */
    const char *owner; /* id of the device on which the buffer lies, NULL own */
    bool persistent;   /* the walk runs on while a thread of the host reads how far it is */
    uint64_t spread;   /* bytes of a cache line: each element lies in another line of its stride (as_chase_offset), and
                          nothing is written between elements; a power of two, as the stride then is; 0: each element
                          starts its stride */
};
enum { AS_CHASE_STEPS = 64, AS_CHASE_COUNTED = 200 }; /* accesses of one repetition, and of a persistent walk's */
enum as_status as_chase_prepare(struct as_chase *c, struct as_device *dev, const struct as_chase_desc *desc,
                                struct as_error *err);
/* Bytes from the start of the buffer to an element. Spread elements fill the sets of every cache evenly, as elements
 * that lie side by side do: which line of its stride one takes is the sum of the digits of its number, to the base of
 * lines in a stride. */
uint64_t as_chase_offset(const struct as_chase *c, uint64_t element);
/* Seconds of a sample: long against a tick of a kernel's clock, or against what a launch and its control scatter; 0:
 * the engine's choice. */
double as_chase_sample_s(const struct as_chase *c);
/* For the code gate: every step of the walk is a load. */
void as_chase_expect(struct as_trial_context *vc, const struct as_chase *c);
/* The allocator whose memory a kernel and the host can both use while the kernel runs, as a device's persistent walk
 * needs; NULL where there is none, or where nothing else can be done while a kernel runs. */
const char *as_chase_shared_allocator(const struct as_device_info *info);
#define AS_CHASE_NOT_SHARED "the host and a kernel of this device do not see each other's stores while the kernel runs"
/* Into the cell: lines, page size, and what a device walked beforehand. */
void as_chase_note(struct as_trial_context *vc, const struct as_chase *c);
/* So many repetitions, which take *seconds. *ns is the time of one access. */
enum as_status as_chase_walk(struct as_chase *c, uint64_t reps, double *ns, double *seconds, struct as_error *err);
/* Does the chase stand where it must? */
bool as_chase_check(const struct as_chase *c, char *why, size_t size);
void as_chase_finish(struct as_chase *c); /* takes one that prepare left half done */

/* A trial that is one chase: its state is a chase of malloc, and these are what the engine calls. prepare also says
 * what the code gate expects, the footprint, the bound of a cycle and how long samples are. */
enum as_status as_chase_trial_prepare(struct as_trial_context *vc, void **state, const struct as_chase_desc *desc,
                                      struct as_error *err);
enum as_status as_chase_trial_sample(void *chase, uint64_t reps, struct as_sample *out, struct as_error *err);
bool as_chase_trial_check(void *chase, char *why, size_t why_size);
void as_chase_trial_finish(void *chase); /* NULL too */

#endif
