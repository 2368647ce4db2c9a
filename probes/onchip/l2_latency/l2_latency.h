/* Shared by the files of this probe. */
#ifndef AS_PROBES_ONCHIP_L2_LATENCY_L2_LATENCY_H
#define AS_PROBES_ONCHIP_L2_LATENCY_L2_LATENCY_H

#include "lib/chase/chase.h"
#include "lib/kernel_timer/kernel_timer.h"

enum { L2_STEPS = 16, L2_LINES = 4096 };

struct l2_latency {
    struct as_kernel_timer timer;
    struct as_kernel *chase, *each;
    struct as_memory *chain, *places, *took, *other;
    uint64_t *place; /* L2_LINES word indices in the chain */
    uint64_t *used;  /* places in the chase */
    uint64_t used_n;
    struct as_cycle cycle; /* over used */
    uint64_t steps_done;   /* position, modulo the cycle */
    uint32_t unit, filler;
    bool fills, evicts; /* expected; expected or not */
    int lost;
};

/* place.c */

/* Draws random places in the chain's memory and makes each point to itself. */
enum as_status as_l2_latency_scatter(struct l2_latency *u, uint64_t seed, struct as_error *err);
/* Links the used places into one cycle. */
enum as_status as_l2_latency_link(struct l2_latency *u, uint64_t seed, struct as_error *err);
/* Keeps the near or the far places of the compute unit; AS_UNSUPPORTED if all have the same latency. */
enum as_status as_l2_latency_choose(struct l2_latency *u, bool near, struct as_trial_context *tc, struct as_error *err);

/* run.c */

/* Turns of L2_STEPS steps, in the experiment's cache state. */
enum as_status as_l2_latency_run(struct l2_latency *u, uint32_t turns, double *ns, double *seconds,
                                 struct as_error *err);

#endif
