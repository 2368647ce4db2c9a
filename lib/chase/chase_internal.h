/* The instruments of a chase: how a cycle is written and followed. */
#ifndef AS_LIB_CHASE_CHASE_INTERNAL_H
#define AS_LIB_CHASE_CHASE_INTERNAL_H

#include "chase.h"

/* Assembly of four dependent loads; operand 0 is the pointer. Undefined elsewhere. */
#if defined(__x86_64__)
#define AS_CHASE_STEP4 "mov (%0), %0\n\tmov (%0), %0\n\tmov (%0), %0\n\tmov (%0), %0\n\t"
#elif defined(__aarch64__)
#define AS_CHASE_STEP4 "ldr %0, [%0]\n\tldr %0, [%0]\n\tldr %0, [%0]\n\tldr %0, [%0]\n\t"
#endif
#define AS_CHASE_TIMES10(x) x x x x x x x x x x
#define AS_CHASE_TIMES16(x) AS_CHASE_TIMES10(x) x x x x x x

/* One run, starting at c->at. */
struct as_chase_result {
    uint64_t line; /* where it ended */
    double seconds;
    uint64_t timed, untimed; /* timed steps, and untimed ones */
};
struct as_chase_method {
    unsigned steps; /* steps per repetition */
    uint64_t loads; /* minimum number of loads in the machine code */
    bool warms;     /* has c->before untimed warm-up repetitions */
    enum as_status (*build)(struct as_chase *c, const struct as_chase_desc *desc, struct as_error *err);
    enum as_status (*fill)(struct as_chase *c, struct as_error *err);
    uint64_t (*steps_max)(const struct as_chase *c,
                          uint64_t reps); /* (optional) steps of a run; NULL: fill writes all */
    enum as_status (*run)(struct as_chase *c, uint64_t reps, struct as_chase_result *out, struct as_error *err);
};
extern const struct as_chase_method as_chase_native; /* the CPU's own kernels: chase_native.c */
extern const struct as_chase_method as_chase_device; /* chase_device.c */
/* chase_persistent.c: the kernel counts its steps, and a host thread reads the counter */
extern const struct as_chase_method as_chase_native_persistent, as_chase_device_persistent;

/* Writes the cycle: a CPU's kernels "fill" and "link", which c->program must have, and a device's "relocate". */
void as_chase_host_fill(const struct as_host_call *call);
void as_chase_host_link(const struct as_host_call *call);
/* Links at least this many further steps. */
enum as_status as_chase_link_native(struct as_chase *c, uint64_t steps, struct as_error *err);
enum as_status as_chase_fill_native(struct as_chase *c, struct as_error *err);
enum as_status as_chase_fill_device(struct as_chase *c, struct as_error *err);

#endif
