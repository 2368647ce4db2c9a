/* The host: page size and usable CPUs. */
#ifndef AS_BASE_HOST_H
#define AS_BASE_HOST_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

uint64_t as_host_page(void); /* bytes of a page of its memory, of the smallest kind */

/* CPUs that this process may use; false if unknown. sched_getaffinity reports the calling thread's mask, so call _keep
 * before binding this thread and _forget after restoring it. */
bool as_usable_cpus(cpu_set_t *out);
void as_usable_cpus_keep(void);
void as_usable_cpus_forget(void);

#endif
