/* Trials of probes on the scripted device. */
#ifndef TESTS_PROBES_SCRIPTED_H
#define TESTS_PROBES_SCRIPTED_H

#include "device/device.h"
#include "toy_device.h"

struct scripted {
    struct as_opened opened;
    struct as_device *dev;
};
/* json: the script. Fails the test if it cannot be opened. */
void scripted_open(struct scripted *s, const char *json);
void scripted_close(struct scripted *s);
/* Prepares a trial and takes `samples` samples of one repetition; *value is the last one's. A failure fails the
 * test. */
void scripted_trial(struct scripted *s, const struct as_probe *probe, const char *axes, int samples,
                    struct toy_trial *v, double *value);
/* The same, then checks and finishes; returns the check's result. */
bool scripted_check(struct scripted *s, const struct as_probe *probe, const char *axes, int samples, double *value,
                    char *why, size_t why_size);
enum as_applies scripted_applies(const struct scripted *s, const struct as_probe *probe, const char *axes,
                                 struct as_error *err);

#endif
