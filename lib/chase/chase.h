/* Pointer chases: a cycle over the lines of a buffer in random order, built and checked without following it.
 *
 * The order is the cycle 0, 1, .. n-1 permuted by a keyed bijection p of [0, n): line p(i) points to line p(i + 1).
 * Both p and its inverse are a few multiplications, so the buffer is written in address order at memory bandwidth, and
 * after k steps from line p(0) the chase must be at line p(k mod n).
 *
 * A CPU's cycle much larger than all caches is linked only as far as it is followed: its first steps in prepare, more
 * before a sample that needs them, by stores that leave nothing in the caches. */
#ifndef AS_LIB_CHASE_CHASE_H
#define AS_LIB_CHASE_CHASE_H

#include "device/arena.h"
#include "lib/kernel_timer/kernel_timer.h"

enum as_pattern {
    AS_PATTERN_RANDOM, /* over the whole buffer */
    AS_PATTERN_PAGE,   /* over the lines of a page, then those of the next page, pages in random order */
    AS_PATTERN_STRIDE, /* sequential: what prefetchers detect */
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

/* Writes the cycle for a kernel: the first word_bytes (4 or 8) of each line hold the next one's offset, in `unit`
 * bytes. */
enum as_status as_cycle_write(const struct as_cycle *c, struct as_device *dev, struct as_memory *to, uint64_t stride,
                              uint64_t unit, size_t word_bytes, struct as_error *err);

/* A chase on a device: the buffer with its cycle, and the kernel. */
struct as_chase {
    struct as_device *dev;
    const struct as_chase_method *method; /* the CPU's own kernels or a device's, timed or persistent */
    struct as_cycle cycle;
    uint64_t stride;
    uint64_t spread; /* bytes of a cache line if elements are spread, else 0 */
    struct as_memory *memory;
    struct as_kernel *kernel;
    struct as_memory *result;     /* of the CPU's kernels; shared by a persistent chase and the reader of its counter */
    struct as_program *program;   /* of the CPU's kernels */
    struct as_kernel_timer timer; /* a device's kernels, which time themselves */
    uint64_t before;              /* untimed warm-up repetitions per run */
    uint64_t steps_done;          /* steps so far, modulo lines */
    uint64_t linked;              /* linked steps from the start; lines: all of them */
    bool past_own;                /* its loads bypass the compute unit's own caches */
    unsigned laps;                /* laps by many threads of the compute unit, before the first run */
    uint64_t at;                  /* line where the next sample starts */
    double clock_hz;              /* of the last run, NAN if it is not known */
    struct as_tick *tick;         /* the clock of a trial whose kernel has no counter (lib/ops/tick.h); NULL: none */
    bool lost;                    /* a run ended at a wrong line */
    unsigned missed;              /* persistent runs that ended before they were read, at most 2 */
    int cpu;                      /* of a CPU's chase, if chosen */
    const int *cpus;              /* NULL, or that one */
    uint64_t footprint;           /* bytes; of spread elements those of their cache lines */
};
struct as_chase_desc {
    const char *allocator;
    uint64_t size;   /* bytes of the buffer, at least two lines */
    uint64_t stride; /* bytes from line to line, a multiple of 8, at most size / 2 */
    enum as_pattern pattern;
    uint64_t seed;
    bool fresh;        /* never memory kept from another trial */
    void *at;          /* CPU: the buffer is this memory of the caller's (struct as_memory_desc); NULL: its own */
    int cpu;           /* CPU: 1 + the logical CPU that chases; 0: the backend's order */
    const char *owner; /* id of the device on which the buffer lies, NULL own */
    bool persistent;   /* a host thread reads the progress of the running chase */
    bool clocked;      /* a trial finds the clock where kernels have no counter, and the chase stays in the caches */
    bool past_own;   /* timed kernels of a device: loads bypass the compute unit's own caches where it has such loads */
    uint64_t spread; /* bytes of a cache line: each element lies in another line of its stride (as_chase_offset), and
                        nothing is written between elements; then it and the stride are powers of two; 0: each element
                        starts its stride */
};
enum { AS_CHASE_STEPS = 64, AS_CHASE_COUNTED = 200 }; /* accesses per repetition, timed and persistent */
enum as_status as_chase_prepare(struct as_chase *c, struct as_device *dev, const struct as_chase_desc *desc,
                                struct as_error *err);
/* Bytes from the start of the buffer to an element. Spread elements fill the sets of every cache as evenly as
 * contiguous ones: the line within the stride is the digit sum of the element's number, in the base of lines per
 * stride. */
uint64_t as_chase_offset(const struct as_chase *c, uint64_t element);
/* Seconds per sample: long against a tick of a kernel's clock, or against the scatter of launch and control; 0: the
 * engine's choice. */
double as_chase_sample_s(const struct as_chase *c);
/* For the code gate: each step must be a load. */
void as_chase_expect(struct as_trial_context *tc, const struct as_chase *c);
/* The allocator whose memory kernel and host can access while the kernel runs, as a persistent chase needs; NULL if
 * there is none or launches are synchronous. */
const char *as_chase_shared_allocator(const struct as_device_info *info);
#define AS_CHASE_NOT_SHARED "host and running kernel of this device do not see each other's stores"
/* Notes: lines, page size, and the device's warm-up. */
void as_chase_note(struct as_trial_context *tc, const struct as_chase *c);
/* Runs `reps` repetitions, which take *seconds. *ns is the time per access. */
enum as_status as_chase_run(struct as_chase *c, uint64_t reps, double *ns, double *seconds, struct as_error *err);
/* Did the last run end at the expected line? */
bool as_chase_check(const struct as_chase *c, char *why, size_t size);
void as_chase_finish(void *chase); /* accepts one that prepare left incomplete */

/* A trial that is one chase: its state is a chase, and the engine calls these and as_chase_finish. prepare also sets
 * the code gate's expectation, the footprint, the one-cycle bound and the sample length. */
enum as_status as_chase_trial_prepare(struct as_trial_context *tc, struct as_chase *c, const struct as_chase_desc *desc,
                                      struct as_error *err);
enum as_status as_chase_trial_sample(void *chase, uint64_t reps, struct as_sample *out, struct as_error *err);
bool as_chase_trial_check(void *chase, char *why, size_t why_size);

#endif
