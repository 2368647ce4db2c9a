/* The clock of a device whose kernels have no cycle counter: operations of known rate, timed beside each sample. On a
 * CPU an addition in a dependent chain takes one cycle. On a GPU fully occupied compute units do a number of fused
 * multiply-adds per cycle that is published (as_device_info.unit_fma) or was found (find_clock.h). */
#ifndef AS_LIB_OPS_TICK_H
#define AS_LIB_OPS_TICK_H

#include "lib/checks/checks.h"

struct as_chains;
struct as_tick;

/* *out is NULL if kernels can read a cycle counter. every_unit: the sample runs on all compute units, else on one.
 * Notes where cycles come from, and by which factor the clock may be off ("clock_off"), which widens the cell's
 * interval. */
enum as_status as_tick_prepare(struct as_tick **out, struct as_trial_context *tc, bool every_unit,
                               struct as_error *err);
/* Clock in Hz, right after a sample of that length; takes about as long. */
enum as_status as_tick_measure(struct as_tick *t, double seconds, double *hz, struct as_error *err);
/* The same where the number does not need the clock: a failed calibration does not fail the trial. Without a
 * clock *t is NULL, and measuring gives NAN. */
enum as_status as_tick_prepare_optional(struct as_tick **t, struct as_trial_context *tc, struct as_error *err);
enum as_status as_tick_measure_optional(struct as_tick **t, double seconds, double *hz, struct as_error *err);
/* Launches two bodies with this many turns: the difference in seconds, and the seconds of the longer one. */
typedef enum as_status (*as_tick_pair_fn)(void *user, uint32_t turns, double *difference_s, double *longer_s,
                                          struct as_error *err);
/* The smallest number of turns, below `most`, whose difference the device's timestamps resolve. If both bodies take
 * equally long there is none, and watchdogs kill launches of seconds: the search stops at launches of 0.1 s. */
enum as_status as_tick_turns(as_tick_pair_fn pair, void *user, uint64_t most, uint64_t *turns, struct as_error *err);
void as_tick_finish(struct as_tick *t); /* accepts NULL */

#endif
