/* Memory-side caches, which a device's API does not report, and the host's caches on a device's path to memory. */
#ifndef AS_DEVICE_MEMORY_CACHE_H
#define AS_DEVICE_MEMORY_CACHE_H

#include "device/info.h"

/* Completes a description from the system: the memory-side cache; for a device other than the host's CPU, the
 * last-level caches of the host (host_cache); and whether the host is a virtual machine. Keeps values already set.
 * Simulated devices stay unchanged. */
void as_memory_cache_describe(struct as_device_info *info);
/* The memory-side cache alone, from files below root ("" for the running system), in this order: the GPU driver's
 * topology (KFD), the kernel's memory nodes, refs/memory_caches.csv by name. False if none is found. */
bool as_memory_cache_find(const char *root, const struct as_device_info *info, struct as_cache *out);

#endif
