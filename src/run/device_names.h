/* Words that people write for devices. */
#ifndef AS_RUN_DEVICE_NAMES_H
#define AS_RUN_DEVICE_NAMES_H

#include "run/run.h"

/* "cpu" and "opencl:1" are devices of a backend of this build; "opencl", "all" and "gpu:0" have to be looked up. */
bool as_is_device_id(const char *word);
/* Devices of this backend are used only where they are asked for by name. */
bool as_is_on_request(const char *backend);
/* The device that drives the same hardware as found[i] and is preferred to it: the native one, of two of one portable
 * API the first; NULL: found[i] is that itself. A CPU behind a portable API is the same hardware as native kernels. */
const char *as_found_same(const struct as_found_device *found, size_t n, size_t i);
/* Fails with why a word means no device: the reason of its backend, and the devices that there are. */
enum as_status as_unknown_device(const char *word, const struct as_found_device *found, size_t n, struct as_error *err);
/* Does the word name a backend or device, and can none of that name be used? */
bool as_all_unusable(const char *word, const struct as_found_device *found, size_t n);
/* Fails with why none of a suite's devices ("cuda,hip,metal") can be used. */
enum as_status as_no_listed_device(const struct as_found_device *found, size_t n, const char *list,
                                   struct as_error *err);

#endif
