/* What all uses of hwloc share. */
#ifndef AS_DEVICE_HOST_HWLOC_H
#define AS_DEVICE_HOST_HWLOC_H

#include <hwloc.h>

/* Excludes the components that would load drivers, which only the backends do, and libpciaccess, since sysfs has the
 * same data. Before hwloc_topology_load. */
void as_host_exclude_drivers(hwloc_topology_t t);

#endif
