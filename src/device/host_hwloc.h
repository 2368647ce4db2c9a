/* Shared by all users of hwloc. */
#ifndef AS_DEVICE_HOST_HWLOC_H
#define AS_DEVICE_HOST_HWLOC_H

#include "base/error.h"
#include "device/info.h"

#include <hwloc.h>

/* hwloc's topology, which the user's environment may replace; loads no drivers. Freed by hwloc_topology_destroy;
 * NULL on error. Not for binding, which silently does nothing if the topology is from a file. */
enum { AS_TOPOLOGY_CODE = 1 /* instruction caches */, AS_TOPOLOGY_IO = 2 /* PCI devices */ };
enum as_status as_host_topology(unsigned wanted, hwloc_topology_t *out, struct as_error *err);

/* Adds the caches of a logical CPU, from the core outwards. */
void as_host_caches_of(hwloc_topology_t t, unsigned cpu, struct as_device_info *info);

#endif
