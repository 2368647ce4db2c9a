/* First and later touches of memory: the second half of probe alloc. */
#ifndef PROBES_ALLOC_TOUCH_H
#define PROBES_ALLOC_TOUCH_H

#include "probe/probe.h"

struct touch; /* one trial */

/* op: "first-touch", "touch-again", "touch-mapped". The caller owns *out, even after a failure. */
enum as_status touch_create(struct as_trial_context *vc, const char *op, struct touch **out, struct as_error *err);
/* Nanoseconds per base page of one block. */
enum as_status touch_sample(struct touch *t, struct as_sample *out, struct as_error *err);
bool touch_check(struct touch *t, char *why, size_t why_size);
void touch_destroy(struct touch *t); /* accepts NULL */

#endif
