/* Replaces the backend where it cannot be built. */
#include "device/cpu/roles.h"
#include "device/device.h"

extern const struct as_backend as_backend_cpu;
const struct as_backend as_backend_cpu = {
    .abi = AS_DEVICE_ABI,
    .name = "cpu",
    .title = "CPU, native kernels on pinned threads",
    .roles = as_cpu_roles,
    .single = true,
    .unbuilt = "the cpu backend is not built in: " AS_CPU_UNBUILT,
};
