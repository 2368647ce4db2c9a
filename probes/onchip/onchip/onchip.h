/* Shared by the files of this probe. */
#ifndef AS_PROBES_ONCHIP_ONCHIP_ONCHIP_H
#define AS_PROBES_ONCHIP_ONCHIP_ONCHIP_H

#include "lib/chase/chase.h"
#include "lib/kernel_timer/kernel_timer.h"

enum onchip_what {
    ONCHIP_GLOBAL,
    ONCHIP_READONLY,
    ONCHIP_CONSTANT,
    ONCHIP_SHARED,
    ONCHIP_CODE,
    ONCHIP_ATOMIC,
    ONCHIP_WHATS
};
extern const char *const onchip_what_words[]; /* in this order, ends with NULL */
/* Is it a chase over global memory, by any load or atomic path? */
bool as_onchip_is_global(enum onchip_what what);

/* A small chain is nearer to some cache slices than to others. */
enum { ONCHIP_PLACES = 8, ONCHIP_PLACED_MAX = 1 << 20, ONCHIP_PLACE_BYTES = 2 << 20 };

struct onchip {
    struct as_kernel_timer timer; /* first: the record's finish casts to it */
    struct as_kernel *kernel;
    enum onchip_what what;
    uint64_t size, stride, shared_bytes;
    struct as_cycle cycle;
    struct as_memory *chains[ONCHIP_PLACES]; /* each holds the same cycle */
    size_t places;
    uint64_t steps_done; /* position of each chase, modulo the cycle */
    uint32_t before;     /* untimed turns: a whole cycle if it is short */
    uint64_t ops;        /* code: operations per loop body */
    int lost;            /* a launch ended at a wrong element */
};

enum { ONCHIP_STEPS = 64, ONCHIP_CONSTANT_MAX = 64 << 10 };

/* memory.c: chases over global and shared memory */
enum as_status as_onchip_memory_prepare(struct onchip *o, struct as_trial_context *tc, struct as_error *err);
/* text.c: chases over constant memory and instruction loops, with a program per size */
enum as_status as_onchip_constant_prepare(struct onchip *o, struct as_trial_context *tc, struct as_error *err);
enum as_status as_onchip_code_prepare(struct onchip *o, struct as_trial_context *tc, struct as_error *err);

/* If kernels have no clock, a launch with only the warm-up is subtracted. */
enum as_status as_onchip_control(struct onchip *o, struct as_error *err);
/* One launch with this many turns per copy; *seconds in total. *ns: time per step or operation. Compares the end of the
 * chase with the expected element. */
enum as_status as_onchip_run(struct onchip *o, uint32_t turns, double *ns, double *seconds, struct as_error *err);

#endif
