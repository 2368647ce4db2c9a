/* Touching memory for the first time, and again: the second half of probe alloc. */
#ifndef PROBES_ALLOC_TOUCH_H
#define PROBES_ALLOC_TOUCH_H

#include "probe/probe.h"

struct touch; /* one trial */

/* op: "first-touch", "touch-again", "touch-mapped". *out belongs to the caller also after a failure. */
enum as_status touch_create(struct as_trial_context *vc, const char *op, struct touch **out, struct as_error *err);
/* Nanoseconds a base page over one block. */
enum as_status touch_sample(struct touch *t, struct as_sample *out, struct as_error *err);
bool touch_check(struct touch *t, char *why, size_t why_size);
void touch_destroy(struct touch *t); /* takes NULL */

#endif
