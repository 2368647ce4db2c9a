/* What the files of this probe share. */
#ifndef AS_PROBES_ONCHIP_ONCHIP_UNITS_ONCHIP_UNITS_H
#define AS_PROBES_ONCHIP_ONCHIP_UNITS_ONCHIP_UNITS_H

#include "lib/chase/chase.h"
#include "lib/timed/timed.h"

enum { UNITS_STEPS = 16, UNITS_PLACES = 4096 };

struct onchip_units {
    struct as_timed timed;
    struct as_kernel *walk, *each;
    struct as_memory *chain, *places, *took, *other;
    uint64_t *place; /* words of the chain, UNITS_PLACES of them */
    uint64_t *used;  /* those that are walked */
    uint64_t used_n;
    struct as_cycle cycle; /* over used */
    uint64_t walked;
    uint32_t unit, filler;
    bool fills, evicts; /* found; found or missed */
    int lost;
};

/* place.c */

/* Random places all over the chain's memory, each naming itself. */
enum as_status onchip_units_scatter(struct onchip_units *u, uint64_t seed, struct as_error *err);
/* The used places become one cycle. */
enum as_status onchip_units_link(struct onchip_units *u, uint64_t seed, struct as_error *err);
/* Keeps the places that are nearer or farther than the others as the unit sees them; AS_UNSUPPORTED where they are all
 * alike. */
enum as_status onchip_units_choose(struct onchip_units *u, bool near, struct as_trial_context *vc,
                                   struct as_error *err);

/* run.c */

/* turns of UNITS_STEPS steps, in the state of the caches that the experiment asks for. */
enum as_status onchip_units_walk(struct onchip_units *u, uint32_t turns, double *ns, double *seconds,
                                 struct as_error *err);

#endif
