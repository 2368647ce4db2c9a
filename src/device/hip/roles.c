/* The roles of the allocators of HIP. The process decides which of the two managed ones can be used. */
#include "device/hip/hip.h"

const struct as_role_name as_hip_roles[] = {
    {AS_ROLE_DEVICE, "hipMalloc"},
    {AS_ROLE_DEVICE_POOL, "hipMallocAsync"},
    {AS_ROLE_DEVICE_MAPPED, "hipMemCreate"},
    {AS_ROLE_DEVICE_FINE, "hipExtMallocWithFlags fine-grained"},
    {AS_ROLE_MANAGED, "hipMallocManaged"},
    {AS_ROLE_MANAGED, "hipMallocManaged XNACK"},
    {AS_ROLE_MANAGED_DEVICE, "hipMallocManaged prefer device"},
    {AS_ROLE_MANAGED_HOST, "hipMallocManaged prefer host"},
    {AS_ROLE_MANAGED_READ_MOSTLY, "hipMallocManaged read mostly"},
    {AS_ROLE_MANAGED_ACCESSED, "hipMallocManaged accessed by device"},
    {AS_ROLE_MANAGED_COARSE, "hipMallocManaged coarse-grained"},
    {AS_ROLE_MANAGED_PREFETCH, "hipMallocManaged prefetch"},
    {AS_ROLE_MANAGED_PREFETCH_HOST, "hipMallocManaged prefetch to host"},
    {AS_ROLE_PINNED, "hipHostMalloc"},
    {AS_ROLE_PINNED_COHERENT, "hipHostMalloc coherent"},
    {AS_ROLE_PINNED_NONCOHERENT, "hipHostMalloc non-coherent"},
    {AS_ROLE_PINNED_PORTABLE, "hipHostMalloc portable"},
    {AS_ROLE_REGISTERED, "hipHostRegister malloc"},
    {AS_ROLE_PAGEABLE, "malloc"},
    {AS_ROLE_PAGEABLE_HUGE, "malloc huge pages"},
    {AS_ROLE_PAGEABLE_HUGETLB, "hugetlb"},
    {AS_ROLE_MANAGED_STATIC, "__managed__"},
    {AS_ROLE_UNKNOWN, NULL},
};
