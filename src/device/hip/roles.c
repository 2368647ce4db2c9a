/* The roles of the allocators of HIP. The process decides which of the two managed ones can be used. */
#include "device/hip/hip.h"

const struct as_role_name as_hip_roles[] = {
    {AS_ROLE_DEVICE, "hipMalloc"},
    {AS_ROLE_DEVICE_POOL, "hipMallocAsync"},
    {AS_ROLE_DEVICE_FINE, "hipExtMallocWithFlags fine-grained"},
    {AS_ROLE_MANAGED, "hipMallocManaged"},
    {AS_ROLE_MANAGED, "hipMallocManaged XNACK"},
    {AS_ROLE_MANAGED_PREFETCH, "hipMallocManaged prefetch"},
    {AS_ROLE_PINNED, "hipHostMalloc"},
    {AS_ROLE_PINNED_COHERENT, "hipHostMalloc coherent"},
    {AS_ROLE_PINNED_NONCOHERENT, "hipHostMalloc non-coherent"},
    {AS_ROLE_REGISTERED, "hipHostRegister malloc"},
    {AS_ROLE_PAGEABLE, "malloc"},
    {AS_ROLE_MANAGED_STATIC, "__managed__"},
    {AS_ROLE_UNKNOWN, NULL},
};
