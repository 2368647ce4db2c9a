/* What backends have to know of the host. */
#ifndef AS_DEVICE_HOST_H
#define AS_DEVICE_HOST_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of memory that this process may still take, by the kernel and by the control groups above it; UINT64_MAX when
 * nothing says so. */
uint64_t as_host_memory_available(void);
/* The logical CPUs nearest to a PCI device ("0000:01:00.0") as a list ("0-15,32"); "" when unknown. */
void as_host_near_cpus(const char *bus_id, char *out, size_t size);
/* CPUs of such a list; false when it is none. */
bool as_cpu_list(const char *list, cpu_set_t *out);
/* Memory nodes of the host; at least 1. */
enum { AS_NODES_MAX = 64 };
unsigned as_host_nodes(void);

#endif
