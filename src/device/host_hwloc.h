/* What all uses of hwloc share. */
#ifndef AS_DEVICE_HOST_HWLOC_H
#define AS_DEVICE_HOST_HWLOC_H

#include "base/error.h"
#include "device/info.h"

#include <hwloc.h>

/* The topology that hwloc tells of, also one that the user's variables name: without drivers, and without what is not
 * wanted here. On success hwloc_topology_destroy frees it, else it is NULL. For reading only: hwloc's binding calls do
 * nothing, and succeed, where the topology is from a file. */
enum { AS_TOPOLOGY_CODE = 1 /* instruction caches */, AS_TOPOLOGY_IO = 2 /* PCI devices */ };
enum as_status as_host_topology(unsigned wanted, hwloc_topology_t *out, struct as_error *err);

/* Adds the caches of a logical CPU, from the core outwards. */
void as_host_caches_of(hwloc_topology_t t, unsigned cpu, struct as_device_info *info);

#endif
