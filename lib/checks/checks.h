/* What probes check before a trial: words of axes, the device, memory; and bounds. */
#ifndef AS_LIB_CHECKS_CHECKS_H
#define AS_LIB_CHECKS_CHECKS_H

#include "device/device.h"
#include "probe/probe.h"

/* Index of the axis's word in `words` (NULL-terminated); the number of words if it is none of them. */
size_t as_word_index(const struct as_axes *a, const char *axis, const char *const *words);
bool as_word_is(const struct as_axes *a, const char *axis, const char *word);

/* as_probe.kernel_reaches for probes whose cells all do, and for those whose axis `how` may be "kernel". */
bool as_always_by_kernel(const struct as_axes *a);
bool as_how_is_kernel(const struct as_axes *a);

/* as_probe.patience of a short trial: the driver compiles its kernel first. */
double as_compile_patience(const struct as_device_info *info, const struct as_axes *a);

/* The number in the device's architecture name, 90 for "sm_90"; 0 without one. */
unsigned as_arch_number(const struct as_device_info *info);
/* Does the device run on the host's cores, through any API? */
bool as_runs_on_host(const struct as_device_info *info);

/* AS_UNSUPPORTED unless the bytes take at most half of the free memory and the largest block can be allocated. */
enum as_status as_check_room(struct as_device *dev, uint64_t bytes, uint64_t largest_block, struct as_error *err);

/* The same from stored device information, for plans without an open device. */
enum as_status as_check_fits(const struct as_device_info *info, uint64_t bytes, uint64_t largest_block,
                             struct as_error *err);

/* AS_UNSUPPORTED where the allocator gives fewer bytes at once. */
enum as_status as_check_cap(const struct as_device_info *info, const char *allocator, double bytes,
                            struct as_error *err);

/* Both, from stored device information, of one block. */
enum as_status as_check_block(const struct as_device_info *info, const char *allocator, double bytes,
                              struct as_error *err);

/* AS_UNSUPPORTED: "1 TiB requested, but the largest allocation is 4 GiB"; but and behind: the words around the limit.
 */
enum as_status as_too_large(double bytes, const char *but, double limit, const char *behind, struct as_error *err);

/* Notes the memory node where a block's pages are (as_node_check, with the node that was requested, -1: none), if the
 * host has mapped it, the device is in the host's memory or a node was requested, and the system tells. */
enum as_status as_note_node(struct as_trial_context *tc, struct as_memory *mem, int wanted, struct as_error *err);

/* Bound of a dependent load: one cycle. None if the clock is unknown (NAN or 0). */
void as_limit_one_cycle(struct as_trial_context *tc, double hz);
void as_limit_own_cycle(struct as_trial_context *tc); /* of the device's reported clock */

#endif
