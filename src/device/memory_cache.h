/* Caches in front of memory: those that a device's API does not report, and those of the host on a device's way. */
#ifndef AS_DEVICE_MEMORY_CACHE_H
#define AS_DEVICE_MEMORY_CACHE_H

#include "device/info.h"

/* Adds to a description what the system knows: the memory-side cache and, for a device other than the host's CPU, the
 * last-level caches of the host (host_cache); and whether the host is a virtual machine. What it has already stays. Of
 * a simulated device the system knows nothing. */
void as_memory_cache_describe(struct as_device_info *info);
/* The memory-side cache alone, from files below root ("" for the system's own), in this order: the GPU driver's
 * topology (KFD), the memory nodes of the kernel, refs/memory_caches.csv by name. false where none tells of one. */
bool as_memory_cache_find(const char *root, const struct as_device_info *info, struct as_cache *out);

#endif
