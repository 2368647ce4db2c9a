/* For probes whose kernels time themselves: a toy that has what they need, and trials on the OpenCL of this machine. */
#ifndef TESTS_PROBES_KERNEL_TIMER_TRIALS_H
#define TESTS_PROBES_KERNEL_TIMER_TRIALS_H

#include "toy_device.h"

/* One like a GPU with memory of its own, whose kernels read a cycle counter. */
void kernel_timer_toy(struct toy *t);

struct kernel_timer_trial {
    const char *axes;
    uint64_t reps; /* of each of its two samples */
};
/* Each that applies to the device has to end with a positive value and a passed check, or with what such a device does
 * not have. Skips the test where there is no OpenCL. */
void kernel_timer_trials(const char *probe, const struct kernel_timer_trial *trials, size_t n);

#endif
