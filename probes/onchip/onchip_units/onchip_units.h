/* Shared by the files of this probe. */
#ifndef AS_PROBES_ONCHIP_ONCHIP_UNITS_ONCHIP_UNITS_H
#define AS_PROBES_ONCHIP_ONCHIP_UNITS_ONCHIP_UNITS_H

#include "lib/chase/chase.h"
#include "lib/timed/timed.h"

enum { UNITS_STEPS = 16, UNITS_PLACES = 4096 };

struct onchip_units {
    struct as_timed timed;
    struct as_kernel *walk, *each;
    struct as_memory *chain, *places, *took, *other;
    uint64_t *place; /* UNITS_PLACES words of the chain */
    uint64_t *used;  /* those in the chase */
    uint64_t used_n;
    struct as_cycle cycle; /* over used */
    uint64_t walked;
    uint32_t unit, filler;
    bool fills, evicts; /* found; found or missed */
    int lost;
};

/* place.c */

/* Draws random places in the chain's memory, each pointing to itself. */
enum as_status onchip_units_scatter(struct onchip_units *u, uint64_t seed, struct as_error *err);
/* Links the used places into one cycle. */
enum as_status onchip_units_link(struct onchip_units *u, uint64_t seed, struct as_error *err);
/* Keeps the near or the far places of the compute unit; AS_UNSUPPORTED if all are alike. */
enum as_status onchip_units_choose(struct onchip_units *u, bool near, struct as_trial_context *vc,
                                   struct as_error *err);

/* run.c */

/* Turns of UNITS_STEPS steps, in the experiment's cache state. */
enum as_status onchip_units_walk(struct onchip_units *u, uint32_t turns, double *ns, double *seconds,
                                 struct as_error *err);

#endif
