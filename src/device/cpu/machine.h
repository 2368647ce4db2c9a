/* Cores, caches and memory nodes of the host, and placement of threads and memory. One implementation uses hwloc, one
 * is for macOS. */
#ifndef AS_DEVICE_CPU_MACHINE_H
#define AS_DEVICE_CPU_MACHINE_H

#include "device/device.h"

struct as_cpu_machine;
enum as_status as_cpu_machine_open(struct as_cpu_machine **out, struct as_error *err);
/* Restores the affinity of the calling thread. Accepts NULL. */
void as_cpu_machine_close(struct as_cpu_machine *m);

/* The usable CPUs in a new array: one thread per core before SMT siblings, fastest core type
 * first, else machine order. */
enum as_status as_cpu_machine_order(const struct as_cpu_machine *m, int **order, size_t *n, struct as_error *err);
bool as_cpu_machine_allows(const struct as_cpu_machine *m, int cpu);
unsigned as_cpu_machine_cores(const struct as_cpu_machine *m);    /* with a usable CPU; 0 unknown */
unsigned as_cpu_machine_packages(const struct as_cpu_machine *m); /* likewise */
unsigned as_cpu_machine_nodes(const struct as_cpu_machine *m);    /* with memory, at least 1 */
/* Moves the calling thread off these CPUs, to the first one's node if it has a CPU left. */
void as_cpu_machine_keep_away(struct as_cpu_machine *m, const int *cpus, size_t n);
/* Lets the calling thread run on all usable CPUs. */
void as_cpu_machine_release(struct as_cpu_machine *m);
/* Binds memory to a node. AS_USAGE: no such node. */
enum as_status as_cpu_machine_place(void *at, size_t bytes, int node, struct as_error *err);
/* Caches of a CPU, from the core outwards. */
void as_cpu_machine_caches(const struct as_cpu_machine *m, int cpu, struct as_device_info *info);
/* Vendor and model, "" if unknown. */
void as_cpu_machine_names(const struct as_cpu_machine *m, struct as_device_info *info);
/* The machine tree for the report. */
enum as_status as_cpu_topology(struct as_device *dev, struct as_buf *json, struct as_error *err);

#endif
