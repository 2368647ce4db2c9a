/* What the files of this probe share. */
#ifndef AS_PROBES_ONCHIP_ONCHIP_ONCHIP_H
#define AS_PROBES_ONCHIP_ONCHIP_ONCHIP_H

#include "lib/chase/chase.h"
#include "lib/timed/timed.h"

enum onchip_what {
    ONCHIP_GLOBAL,
    ONCHIP_READONLY,
    ONCHIP_CONSTANT,
    ONCHIP_LOCAL,
    ONCHIP_CODE,
    ONCHIP_ATOMIC,
    ONCHIP_WHATS
};
extern const char *const onchip_what_words[]; /* in this order, ends with NULL */
/* Is it a walk over global memory, by one way or another? */
bool onchip_is_global(enum onchip_what what);

/* A chain within a page or two of a device lies nearer to some parts of its cache than to others. */
enum { ONCHIP_PLACES = 8, ONCHIP_PLACED_MAX = 1 << 20, ONCHIP_PLACE_BYTES = 2 << 20 };

struct onchip {
    struct as_timed timed;
    struct as_kernel *kernel;
    enum onchip_what what;
    uint64_t size, stride, shared_bytes;
    struct as_cycle cycle;
    struct as_memory *chains[ONCHIP_PLACES]; /* each holds the same cycle */
    size_t places;
    uint64_t walked; /* steps so far in each of them, modulo the cycle */
    uint32_t before; /* turns that are walked untimed: a whole cycle where that is short */
    uint64_t ops;    /* code: operations of the body */
    int lost;        /* a launch did not end where it must */
};

enum { ONCHIP_STEPS = 64, ONCHIP_CONSTANT_MAX = 64 << 10 };

/* memory.c: walks over global memory and LOCAL memory */
enum as_status onchip_memory_prepare(struct onchip *o, struct as_trial_context *vc, struct as_error *err);
/* text.c: walks over constant memory and loops of instructions, whose programs are written for each size */
enum as_status onchip_constant_prepare(struct onchip *o, struct as_trial_context *vc, struct as_error *err);
enum as_status onchip_code_prepare(struct onchip *o, struct as_trial_context *vc, struct as_error *err);

/* Where kernels have no clock, the launch that only walks beforehand is what is taken off. */
enum as_status onchip_control(struct onchip *o, struct as_error *err);
/* One launch of so many turns in each place, which take *seconds together. *ns is the time of one step or operation;
 * the end is compared with where it must be. */
enum as_status onchip_run(struct onchip *o, uint32_t turns, double *ns, double *seconds, struct as_error *err);

#endif
