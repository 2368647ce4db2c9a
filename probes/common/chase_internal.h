/* The two ways in which a cycle is written and walked. */
#ifndef AS_PROBES_COMMON_CHASE_INTERNAL_H
#define AS_PROBES_COMMON_CHASE_INTERNAL_H

#include "chase.h"

struct as_chase_way {
    uint64_t loads; /* that the walk's machine code holds at least */
    enum as_status (*build)(struct as_chase *c, const struct as_chase_desc *desc, struct as_error *err);
    enum as_status (*fill)(struct as_chase *c, struct as_error *err);
    /* From c->at. *line is where it ended, *seconds what reps * AS_CHASE_STEPS steps took. */
    enum as_status (*walk)(struct as_chase *c, uint64_t reps, uint64_t *line, double *seconds, struct as_error *err);
};
extern const struct as_chase_way as_chase_native; /* the CPU's own kernels: chase_native.c */
extern const struct as_chase_way as_chase_device; /* chase_device.c */

#endif
