/* What many probes do alike before they measure: read the words of axes, see that memory suffices, set a bound. */
#ifndef AS_LIB_PREPARE_PREPARE_H
#define AS_LIB_PREPARE_PREPARE_H

#include "probe/probe.h"

/* Which of the words (they end with NULL) the axis has; their number when it is none of them. */
size_t as_word_index(const struct as_axes *a, const char *axis, const char *const *words);
bool as_word_is(const struct as_axes *a, const char *axis, const char *word);

/* The number in the name of the device's architecture, 90 of "sm_90"; 0 where it has none. */
unsigned as_arch_number(const struct as_device_info *info);
/* Is what runs there run by the host's cores, by whichever API? */
bool as_runs_on_host(const struct as_device_info *info);

/* AS_UNSUPPORTED unless all bytes together take at most half of what is free now and the largest block can be had. */
enum as_status as_check_room(struct as_device *dev, uint64_t bytes, uint64_t largest_block, struct as_error *err);

/* AS_UNSUPPORTED unless a block of so many bytes takes at most half of what was free when the device was looked at, and
 * the allocator gives as much: for rules that have no open device. */
enum as_status as_check_block(const struct as_device_info *info, const char *allocator, double bytes,
                              struct as_error *err);

/* Bound of a load that waits for the one before it: one cycle. None where the clock is not known (NAN or 0). */
void as_limit_one_cycle(struct as_trial_context *vc, double hz);
void as_limit_own_cycle(struct as_trial_context *vc); /* of the clock that the device reports */

#endif
