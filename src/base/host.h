/* The host: page size and usable CPUs. */
#ifndef AS_BASE_HOST_H
#define AS_BASE_HOST_H

#include "os/cpus.h"

#include <stdbool.h>
#include <stdint.h>

uint64_t as_host_page(void); /* bytes of a base page */

/* CPUs that this process may use; false if unknown. The system reports those of the calling thread, so call _keep
 * before binding this thread and _forget after restoring it. */
bool as_usable_cpus(struct as_cpus *out);
void as_usable_cpus_keep(void);
void as_usable_cpus_forget(void);

#endif
