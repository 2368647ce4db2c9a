/* Chases on a toy device, whose kernels run on the host. */
#ifndef TESTS_PROBES_CHASE_PLAY_H
#define TESTS_PROBES_CHASE_PLAY_H

#include "device/dialect/host_prelude.h"
#include "lib/chase/chase.h"
#include "toy_device.h"

/* The kernels on the host. Without a clock they end as on a device without one. With a clock they report STEP_NS per
 * step, which shows the number of timed steps. */
enum { STEP_NS = 3 };
extern bool has_clock;
extern u64 steps_made;
void run_kernel(const char *name, void *const *args);

/* Sweeps before the first chase. */
struct swept {
    int all, alone;
    u64 elements, words;
    u64 before_steps; /* number of them at the last one */
    u64 listed;       /* elements read from lists */
    bool astray;      /* a list was not in chase order */
};
extern struct swept swept;

struct play {
    struct toy toy;
    struct as_chase chase;
};

/* Chases three times, checks and finishes. Did all end at the expected line? */
bool run_and_check(struct play *p);

#endif
