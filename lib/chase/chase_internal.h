/* The two ways in which a cycle is written and walked. */
#ifndef AS_LIB_CHASE_CHASE_INTERNAL_H
#define AS_LIB_CHASE_CHASE_INTERNAL_H

#include "chase.h"

/* One walk from c->at on. */
struct as_chase_walked {
    uint64_t line; /* where it ended */
    double seconds;
    uint64_t timed, untimed; /* steps that took these seconds, and others */
};
struct as_chase_way {
    unsigned steps; /* of one repetition */
    uint64_t loads; /* that the walk's machine code holds at least */
    bool warms;     /* walks c->before repetitions before it times any */
    enum as_status (*build)(struct as_chase *c, const struct as_chase_desc *desc, struct as_error *err);
    enum as_status (*fill)(struct as_chase *c, struct as_error *err);
    uint64_t (*most)(const struct as_chase *c, uint64_t reps); /* (optional) steps of a walk; NULL: fill writes all */
    enum as_status (*walk)(struct as_chase *c, uint64_t reps, struct as_chase_walked *out, struct as_error *err);
};
extern const struct as_chase_way as_chase_native; /* the CPU's own kernels: chase_native.c */
extern const struct as_chase_way as_chase_device; /* chase_device.c */
/* chase_persistent.c: the kernel counts its steps while it runs, and a thread of the host reads the counter */
extern const struct as_chase_way as_chase_native_persistent, as_chase_device_persistent;

/* Writes the cycle: a CPU's kernels "fill" and "link", which c->program must have, and a device's "relocate". */
void as_chase_host_fill(const struct as_host_call *call);
void as_chase_host_link(const struct as_host_call *call);
/* Writes on, so that at least so many further steps can be walked. */
enum as_status as_chase_link_native(struct as_chase *c, uint64_t steps, struct as_error *err);
enum as_status as_chase_fill_native(struct as_chase *c, struct as_error *err);
enum as_status as_chase_fill_device(struct as_chase *c, struct as_error *err);

#endif
