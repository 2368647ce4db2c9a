/* The CPUs of a trial's threads. */
#ifndef AS_PROBES_CONTENTION_INTERFERENCE_CPUS_H
#define AS_PROBES_CONTENTION_INTERFERENCE_CPUS_H

#include "device/device.h"

/* CPUs that this process may use, as known to the parent and the device. */
unsigned as_interference_cpus_usable(const struct as_device_info *info);
/* The first *n CPUs in the CPU backend's order (one thread per core before SMT siblings); 0: all. *cpus is the
 * caller's (free). dev: the trial's device. */
enum as_status as_interference_cpus_find(struct as_device *dev, unsigned *n, int **cpus, struct as_error *err);

#endif
