/* Trials of the atomics probes: on a toy that runs their kernel as host C, one thread after the other, and on real
 * devices. */
#ifndef TESTS_PROBES_ATOMICS_TRIAL_H
#define TESTS_PROBES_ATOMICS_TRIAL_H

#include "device/device.h"
#include "lib/atomics/atomics.h"
#include "toy_device.h"

extern const struct as_probe as_probe_atomics, as_probe_atomics_lost;

/* Planted in the toy's kernel; atomics_toy() removes them. */
extern struct atomics_faults {
    bool unable;       /* lacks the addition of this type */
    bool next_element; /* updates the element after the one drawn */
    bool idle;         /* counts updates that it did not make */
    bool lazy;         /* does not count all its updates */
    size_t threads;
} atomics_planted;
void atomics_toy(struct toy *t, size_t threads);

/* One trial with one sample. */
struct atomics_one {
    struct toy_trial trial;
    struct as_sample sample;
    enum as_status status;
    bool passed, by_lse;
    char why[160];
    struct as_error err;
};

/* Ready to prepare. */
void atomics_begin(struct atomics_one *o, struct as_device *dev, const char *axes);
void atomics_trial(struct atomics_one *o, struct as_device *dev, const struct as_probe *probe, const char *axes);
/* allocator: for names with a space, which the text of axes cannot hold; NULL: given in the axes */
void atomics_trial_in(struct atomics_one *o, struct as_device *dev, const struct as_probe *probe, const char *axes,
                      const char *allocator);
/* Asserts that the cell applies as expected, and that the reason contains the text, if given. */
void atomics_expect(const struct toy *t, const struct as_probe *probe, const char *axes, enum as_applies want,
                    const char *why);
void atomics_open_or_skip(const char *id, struct as_opened *dev);
/* OpenCL; returns the name of memory in which atomics of the CPU and of the device meet. */
const char *atomics_open_shared_or_skip(struct as_opened *cl);

#endif
