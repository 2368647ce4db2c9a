/* The machine that this runs on. */
#ifndef AS_BASE_HOST_H
#define AS_BASE_HOST_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

uint64_t as_host_page(void); /* bytes of a page of its memory, of the smallest kind */

/* CPUs that this process may use; false when they cannot be read. A thread that is bound to fewer says so of itself, so
 * who binds the calling thread keeps before what it was, and forgets it after. */
bool as_usable_cpus(cpu_set_t *out);
void as_usable_cpus_keep(void);
void as_usable_cpus_forget(void);

#endif
