/* First and later touches of memory, the second part of probe alloc. */
#ifndef PROBES_ALLOC_TOUCH_H
#define PROBES_ALLOC_TOUCH_H

#include "probe/probe.h"

struct touch; /* one trial */

/* op: "first-touch", "touch-again", "touch-mapped". The caller owns *out, even after a failure. */
enum as_status as_alloc_touch_create(struct as_trial_context *tc, const char *op, struct touch **out,
                                     struct as_error *err);
/* Nanoseconds per base page, for one block. */
enum as_status as_alloc_touch_sample(struct touch *t, struct as_sample *out, struct as_error *err);
bool as_alloc_touch_check(struct touch *t, char *why, size_t why_size);
void as_alloc_touch_destroy(struct touch *t); /* accepts NULL */

#endif
