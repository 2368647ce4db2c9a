/* Facts about the host that backends need. */
#ifndef AS_DEVICE_HOST_H
#define AS_DEVICE_HOST_H

#include "os/cpus.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that this process may still allocate according to the kernel and its control groups; UINT64_MAX if unknown. */
uint64_t as_host_memory_available(void);
/* The logical CPUs nearest to a PCI device ("0000:01:00.0") as a list ("0-15,32"); "" when unknown. */
void as_host_near_cpus(const char *bus_id, char *out, size_t size);
/* Parses such a list; false if it is malformed. */
bool as_cpu_list(const char *list, struct as_cpus *out);
struct as_device_info;
/* Adds the data caches of a usable CPU of the fastest kind, from the core outwards. */
void as_host_caches(struct as_device_info *info);
/* Total bytes of the host's last-level caches; 0 unknown. */
uint64_t as_host_last_caches(void);
/* The environment variable that replaces the system's topology ("HWLOC_XMLFILE='node.xml'"); "" if none. */
enum { AS_TOPOLOGY_ORIGIN = 112 };
void as_host_topology_origin(char *out, size_t size);
/* Restrictions and overrides that affect this process's numbers: "threads are bound to no CPU: ..."; "" if none. */
void as_host_caveats(char *out, size_t size);
/* The numbers of the host's nodes that have memory, which may have gaps: a driver may reserve numbers that stay empty.
 * Node 0 if sysfs has none. root: "" except in tests. */
void as_host_nodes(const char *root, struct as_cpus *out);
/* Values of node axes: nodes with memory or CPUs, and node 0, which also stands for memory on no node. */
void as_host_node_values(const char *root, struct as_cpus *out);
/* The logical CPUs of a memory node; none where it has none. */
void as_host_node_cpus(const char *root, int node, struct as_cpus *out);
/* The memory node of a device's nearest CPUs (as_device_info.near_cpus); -1 unknown, or there is only one node. */
int as_host_near_node(const char *root, const char *near_cpus);
/* Where two CPUs lie on a host whose CPUs are on several nodes: "within node 0", "nodes 0 and 1, same socket", "nodes 0
 * and 2, sockets 0 and 1"; "" elsewhere. */
void as_host_pair_nodes(const char *root, int a, int b, char *out, size_t size);
/* Whether the host is a virtual machine, as reported by CPUID on x86 and elsewhere by the system. */
bool as_host_is_virtual(void);

#endif
