/* Internals of the hwloc implementation, for its files and tests. */
#ifndef AS_DEVICE_CPU_MACHINE_HWLOC_H
#define AS_DEVICE_CPU_MACHINE_HWLOC_H

#include "device/cpu/machine.h"

#include <hwloc.h>

struct as_cpu_machine {
    hwloc_topology_t topology;
    hwloc_cpuset_t allowed;      /* logical CPUs that this process may use */
    hwloc_cpuset_t caller;       /* current affinity of the calling thread */
    hwloc_cpuset_t caller_start; /* its affinity when the machine was opened */
};
/* Memory nodes that have memory. */
unsigned as_cpu_topology_nodes(hwloc_topology_t topology);
/* memory: bytes of the whole machine according to the kernel */
void as_cpu_topology_json(hwloc_topology_t topology, uint64_t memory, struct as_buf *json);

#endif
