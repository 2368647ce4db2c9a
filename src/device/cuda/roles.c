/* The roles of the allocators of CUDA. */
#include "device/cuda/cuda.h"

const struct as_role_name as_cu_roles[] = {
    {AS_ROLE_DEVICE, "cuMemAlloc"},
    {AS_ROLE_DEVICE_POOL, "cuMemAllocAsync"},
    {AS_ROLE_DEVICE_MAPPED, "cuMemCreate"},
    {AS_ROLE_MANAGED, "cuMemAllocManaged"},
    {AS_ROLE_MANAGED_DEVICE, "cuMemAllocManaged prefer device"},
    {AS_ROLE_MANAGED_HOST, "cuMemAllocManaged prefer host"},
    {AS_ROLE_MANAGED_READ_MOSTLY, "cuMemAllocManaged read mostly"},
    {AS_ROLE_MANAGED_ACCESSED, "cuMemAllocManaged accessed by device"},
    {AS_ROLE_MANAGED_PREFETCH, "cuMemAllocManaged prefetch"},
    {AS_ROLE_MANAGED_PREFETCH_HOST, "cuMemAllocManaged prefetch to host"},
    {AS_ROLE_PINNED, "cuMemHostAlloc"},
    {AS_ROLE_PINNED_WC, "cuMemHostAlloc write-combined"},
    {AS_ROLE_REGISTERED, "cuMemHostRegister malloc"},
    {AS_ROLE_PAGEABLE, "malloc"},
    {AS_ROLE_PAGEABLE_HUGE, "malloc huge pages"},
    {AS_ROLE_PAGEABLE_HUGETLB, "hugetlb"},
    {AS_ROLE_MANAGED_STATIC, "__managed__"},
    {AS_ROLE_UNKNOWN, NULL},
};
