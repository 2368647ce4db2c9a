/* For probes whose kernels time themselves: a toy with all that they need, and trials on this machine's OpenCL. */
#ifndef TESTS_PROBES_KERNEL_TIMER_TRIALS_H
#define TESTS_PROBES_KERNEL_TIMER_TRIALS_H

#include "toy_device.h"

/* A GPU-like toy with its own memory, whose kernels read a cycle counter. */
void kernel_timer_toy(struct toy *t);

struct kernel_timer_trial {
    const char *axes;
    uint64_t reps; /* of each of its two samples */
};
/* Each applicable trial must end with a positive value and a passed check, or name what such a device lacks. Skips the
 * test without OpenCL. */
void kernel_timer_trials(const char *probe, const struct kernel_timer_trial *trials, size_t n);

#endif
