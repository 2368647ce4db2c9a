/* Cores, caches and memory nodes of the host, and which threads and memory are where. One implementation by hwloc, one
 * for macOS. */
#ifndef AS_DEVICE_CPU_MACHINE_H
#define AS_DEVICE_CPU_MACHINE_H

#include "device/device.h"

struct as_cpu_machine;
enum as_status as_cpu_machine_open(struct as_cpu_machine **out, struct as_error *err);
/* The calling thread may run again where it did before. Takes NULL. */
void as_cpu_machine_close(struct as_cpu_machine *m);

/* The CPUs that this process may use, into a new array: one thread per core before SMT siblings, fastest core type
 * first, else machine order. */
enum as_status as_cpu_machine_order(const struct as_cpu_machine *m, int **order, size_t *n, struct as_error *err);
bool as_cpu_machine_allows(const struct as_cpu_machine *m, int cpu);
unsigned as_cpu_machine_cores(const struct as_cpu_machine *m);    /* with a CPU that this process may use; 0 unknown */
unsigned as_cpu_machine_packages(const struct as_cpu_machine *m); /* likewise */
unsigned as_cpu_machine_nodes(const struct as_cpu_machine *m);
/* AS_CAP_PIN where threads stay on the CPU that they are put on. */
unsigned as_cpu_machine_capabilities(const struct as_cpu_machine *m);
/* Puts the calling thread on a CPU; called by several threads at once. */
bool as_cpu_machine_pin(const struct as_cpu_machine *m, int cpu);
/* Where the caller waits: off these CPUs, on the first one's node if a CPU is left. */
void as_cpu_machine_keep_away(struct as_cpu_machine *m, const int *cpus, size_t n);
/* The caller may run on all that the process may use. */
void as_cpu_machine_release(struct as_cpu_machine *m);
/* Binds memory to a node; AS_USAGE: there is no such node. */
enum as_status as_cpu_machine_place(const struct as_cpu_machine *m, void *at, size_t bytes, int node,
                                    struct as_error *err);
/* Caches of a CPU, from the core outwards. */
void as_cpu_machine_caches(const struct as_cpu_machine *m, int cpu, struct as_device_info *info);
/* Vendor and model, "" unknown. */
void as_cpu_machine_names(const struct as_cpu_machine *m, struct as_device_info *info);
/* What the report draws as the machine. */
enum as_status as_cpu_topology(struct as_device *dev, struct as_buf *json, struct as_error *err);

#endif
