/* Host facts that backends need. */
#ifndef AS_DEVICE_HOST_H
#define AS_DEVICE_HOST_H

#include "os/cpus.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that this process may still allocate, by the kernel and its control groups; UINT64_MAX if unknown. */
uint64_t as_host_memory_available(void);
/* The logical CPUs nearest to a PCI device ("0000:01:00.0") as a list ("0-15,32"); "" when unknown. */
void as_host_near_cpus(const char *bus_id, char *out, size_t size);
/* CPUs of such a list; false when it is none. */
bool as_cpu_list(const char *list, struct as_cpus *out);
struct as_device_info;
/* Adds the data caches of a CPU that this process may use, of the fastest kind, from the core outwards. */
void as_host_caches(struct as_device_info *info);
/* Bytes of all its last-level caches together; 0 unknown. */
uint64_t as_host_last_caches(void);
/* The environment variable that replaces the system's topology ("HWLOC_XMLFILE='node.xml'"); "" none. */
enum { AS_TOPOLOGY_ORIGIN = 112 };
void as_host_topology_origin(char *out, size_t size);
/* Restrictions and overrides that affect this process's numbers: "threads are bound to no CPU: ..."; "" none. */
void as_host_caveats(char *out, size_t size);
/* The numbers of the host's memory nodes, which may have gaps; without any in sysfs, 0. root: "" but in tests. */
void as_host_nodes(const char *root, struct as_cpus *out);
/* Is it a virtual machine? By the CPU's own word on x86, elsewhere by the system's. */
bool as_host_is_virtual(void);

#endif
