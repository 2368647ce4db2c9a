/* What a device has in common with this host. A simulated device has nothing: its times, memory and machine code are
 * those of another machine, and it may leave out launches that it has seen. */
#ifndef AS_DEVICE_SHARED_HOST_H
#define AS_DEVICE_SHARED_HOST_H

#include "device/info.h"

/* Do this host's clocks, counters, memory and faults reflect the device's work? */
static inline bool as_info_shares_host(const struct as_device_info *info)
{
    return !(info->capabilities & AS_CAP_SIMULATED);
}

/* Do the host's own cores run its kernels, in the host's time? */
static inline bool as_info_runs_native(const struct as_device_info *info)
{
    return (info->capabilities & AS_CAP_HOST_KERNELS) && as_info_shares_host(info);
}

#endif
