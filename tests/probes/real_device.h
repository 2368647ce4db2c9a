/* One trial of a probe on a real device of this machine. */
#ifndef TESTS_PROBES_REAL_DEVICE_H
#define TESTS_PROBES_REAL_DEVICE_H

#include "probe/probe.h"

/* For tests that count touched pages, first in main: makes malloc leave memory untouched, although meson sets
 * MALLOC_PERTURB_. */
void real_leave_untouched(void);

struct real {
    struct as_sample sample; /* the last one */
    char detail[2048];       /* the probe's notes, as JSON members */
};
/* Prepares, takes `n` samples of `reps` repetitions, checks; the test fails if that fails. False, with the reason
 * printed: no such device or allocator, or it does not support the cell. axes: as toy_axes. */
bool real_trial(const struct as_probe *probe, const char *device, const char *axes, int samples, uint64_t reps,
                struct real *out);
/* Skips the test unless a trial since the last call has measured. */
void real_or_skip(void);

/* Was a measurement refused because the longer of two loops was not slower? That is correct if the shorter one was
 * preempted. */
bool real_was_disturbed(enum as_status status, const struct as_error *err);

#endif
