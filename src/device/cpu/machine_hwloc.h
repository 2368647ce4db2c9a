/* The machine by hwloc, as its files and their tests see it. */
#ifndef AS_DEVICE_CPU_MACHINE_HWLOC_H
#define AS_DEVICE_CPU_MACHINE_HWLOC_H

#include "device/cpu/machine.h"

#include <hwloc.h>

struct as_cpu_machine {
    hwloc_topology_t topology;
    hwloc_cpuset_t allowed;      /* logical CPUs that this process may use */
    hwloc_cpuset_t caller;       /* where the calling thread is kept now */
    hwloc_cpuset_t caller_start; /* and where it was when the machine was opened */
};
/* memory: bytes of the whole machine as the kernel says */
void as_cpu_topology_json(hwloc_topology_t topology, uint64_t memory, struct as_buf *json);

#endif
