/* Trials of the probes of atomics: on a toy that runs their kernel as host C, one thread after the other, and on real
 * devices. */
#ifndef TESTS_PROBES_ATOMICS_TRIAL_H
#define TESTS_PROBES_ATOMICS_TRIAL_H

#include "device/device.h"
#include "lib/atomics/atomics.h"
#include "toy_device.h"

extern const struct as_probe as_probe_atomics, as_probe_atomics_lost;

/* Planted in the toy's kernel; none after atomics_toy(). */
extern struct atomics_faults {
    bool unable;       /* has no addition of the type */
    bool next_element; /* writes the element behind the one it drew */
    bool idle;         /* says that it did what it did not */
    bool lazy;         /* does not say all that it did */
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
/* allocator: for names with a space, which the text of axes cannot hold; NULL: it is in the axes */
void atomics_trial_in(struct atomics_one *o, struct as_device *dev, const struct as_probe *probe, const char *axes,
                      const char *allocator);
/* The cell applies as wanted, and the reason holds the text, where one is given. */
void atomics_expect(const struct toy *t, const struct as_probe *probe, const char *axes, enum as_applies want,
                    const char *why);
void atomics_open_or_skip(const char *id, struct as_opened *dev);

#endif
