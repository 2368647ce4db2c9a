/* Memory of the stand-in: allocated, mapped, copied; every block knows its kind and its context. */
#include "inside.h"

#include <string.h>

/* ---- memory ---- */

static CUresult drop(void *at, const char *what, unsigned kinds)
{
    return fake_drop(at, kinds, fake_current) ? CUDA_SUCCESS : fake_broke(what, CUDA_ERROR_INVALID_VALUE);
}

static struct block *find(CUdeviceptr address, size_t size)
{
    return fake_find((const void *)(uintptr_t)address, size);
}

static CUresult add(void **at, size_t size, enum kind kind, unsigned flags)
{
    return fake_block(at, size, kind, fake_current, flags) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult add_address(CUdeviceptr *address, size_t size, enum kind kind)
{
    void *at = NULL;
    CUresult code = add(&at, size, kind, 0);
    *address = (CUdeviceptr)(uintptr_t)at;
    return code;
}
#define POINTER(address) ((void *)(uintptr_t)(address))

API CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    ENTER();
    return add_address(address, bytes, DEVICE_MEMORY);
}

API CUresult cuMemFree_v2(CUdeviceptr address)
{
    ENTER();
    return drop(POINTER(address), __func__, 1u << DEVICE_MEMORY | 1u << MANAGED);
}

API CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    IN_CONTEXT(stream);
    return add_address(address, bytes, POOLED);
}

API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    IN_CONTEXT(stream);
    return drop(POINTER(address), __func__, 1u << POOLED);
}

API CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags)
{
    ENTER();
    if (flags != CU_MEM_ATTACH_GLOBAL || bytes > (size_t)1 << 30)
        return fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
    return add_address(address, bytes, MANAGED);
}

static CUresult advised(CUdeviceptr address, size_t bytes, CUmem_advise advice, int device)
{
    struct block *b = find(address, bytes);
    ENTER();
    if (!b || b->kind != MANAGED || (device != CU_DEVICE_CPU && fake_real(device) < 0) || advice < 1 ||
        advice >= ADVICES)
        return fake_broke("cuMemAdvise", CUDA_ERROR_INVALID_VALUE);
    b->advised[advice] = device + 3;
    return CUDA_SUCCESS;
}

#ifndef FAKE_OLD
/* What was advised of the block; with the word "numa" the preferred location is a node of the host. */
API CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute, CUdeviceptr address,
                                    size_t bytes)
{
    static const int advice_of[] = {[CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY] = CU_MEM_ADVISE_SET_READ_MOSTLY,
                                    [CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION] = CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                                    [CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY] = CU_MEM_ADVISE_SET_ACCESSED_BY,
                                    [CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION] = PREFETCHED};
    const struct block *b = find(address, bytes);
    int value = 0;
    ENTER();
    if (!b || b->kind != MANAGED || size != sizeof value)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE && fake_asked("numa"))
        value = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    else if (attribute == CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID && fake_asked("numa"))
        value = 1;
    else if (attribute < 1 || attribute > CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION)
        return CUDA_ERROR_INVALID_VALUE;
    else if (attribute == CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY)
        value = b->advised[CU_MEM_ADVISE_SET_READ_MOSTLY] != 0;
    else
        value = b->advised[advice_of[attribute]] - 3;
    if (attribute > CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY && attribute <= CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION &&
        !b->advised[advice_of[attribute]])
        value = CU_DEVICE_INVALID;
    memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
}
#endif

API CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device)
{
    return advised(address, bytes, advice, device);
}

#ifndef FAKE_OLD
static int place(CUmemLocation location)
{
    return location.type == CU_MEM_LOCATION_TYPE_HOST ? CU_DEVICE_CPU : location.id;
}

API CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location)
{
    return advised(address, bytes, advice, place(location));
}

#endif

API CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream)
{
    IN_CONTEXT(stream);
    return advised(address, bytes, PREFETCHED, device);
}

#ifndef FAKE_OLD
API CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags,
                                   CUstream stream)
{
    IN_CONTEXT(stream);
    return flags ? CUDA_ERROR_INVALID_VALUE : advised(address, bytes, PREFETCHED, place(location));
}

#endif

API CUresult cuMemHostAlloc(void **host, size_t bytes, unsigned int flags)
{
    ENTER();
    *host = NULL;
    return add(host, bytes, PINNED, flags);
}

API CUresult cuMemFreeHost(void *host)
{
    ENTER();
    return drop(host, __func__, 1u << PINNED);
}

API CUresult cuMemHostRegister_v2(void *host, size_t bytes, unsigned int flags)
{
    ENTER();
    if (!(flags & CU_MEMHOSTREGISTER_DEVICEMAP) || (uintptr_t)host % 4096 || bytes % 4096)
        return fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
    for (size_t at = 0; at < bytes; at += 4096) /* pinned */
        ((volatile char *)host)[at] = ((volatile char *)host)[at];
    return add(&host, bytes, REGISTERED, 0);
}

API CUresult cuMemHostUnregister(void *host)
{
    ENTER();
    return drop(host, __func__, 1u << REGISTERED);
}

API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned int flags)
{
    struct block *b = find((CUdeviceptr)(uintptr_t)host, 1);
    ENTER();
    *address = (CUdeviceptr)(uintptr_t)host;
    if (flags || !b || (b->kind == PINNED && !(b->flags & CU_MEMHOSTALLOC_DEVICEMAP)))
        return fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

/* ---- memory that is mapped ---- */

static int good_property(const CUmemAllocationProp *p)
{
    return p->type == CU_MEM_ALLOCATION_TYPE_PINNED && p->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
           fake_real(p->location.id) >= 0 && !p->win32HandleMetaData;
}

API CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *property,
                                           CUmemAllocationGranularity_flags which)
{
    *granularity = PAGE;
    return which || !good_property(property) ? fake_broke(__func__, CUDA_ERROR_INVALID_VALUE) : CUDA_SUCCESS;
}

API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *property,
                         unsigned long long flags)
{
    if (fake_asked("nomem"))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (flags || bytes % PAGE || !good_property(property))
        return fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
    fake_count(1);
    *handle = bytes;
    return CUDA_SUCCESS;
}

API CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    fake_count(-1);
    return handle % PAGE ? fake_broke(__func__, CUDA_ERROR_INVALID_VALUE) : CUDA_SUCCESS;
}

API CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                                 unsigned long long flags)
{
    ENTER();
    if (bytes % PAGE || alignment || wanted || flags)
        return fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
    return add_address(address, bytes, RESERVED);
}

API CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    struct block *b = find(address, bytes);
    ENTER();
    return b && b->size == bytes ? drop(POINTER(address), __func__, 1u << RESERVED)
                                 : fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
}

API CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                      unsigned long long flags)
{
    struct block *b = find(address, bytes);
    if (offset || flags || handle != bytes || !b || b->kind != RESERVED || b->mapped)
        return fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
    b->mapped = bytes;
    return CUDA_SUCCESS;
}

API CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    struct block *b = find(address, bytes);
    if (!b || b->mapped != bytes)
        return fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
    b->mapped = 0;
    return CUDA_SUCCESS;
}

API CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count)
{
    struct block *b = find(address, bytes);
    if (fake_asked("noaccess"))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!b || b->mapped != bytes)
        return fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; i++)
        if (access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE && fake_real(access[i].location.id) >= 0)
            b->access |= 1u << fake_real(access[i].location.id);
    return CUDA_SUCCESS;
}

/* ---- copies ---- */

static CUresult reached(CUdeviceptr address, size_t bytes)
{
    struct block *b = find(address, bytes);
    if (!b)
        return fake_broke("a copy outside of memory", CUDA_ERROR_INVALID_VALUE);
    if (b->kind == RESERVED && !(b->mapped && b->access & 1u << fake_current->device))
        return fake_broke("a copy without access", CUDA_ERROR_INVALID_VALUE);
    const struct as_gpu_context *of = b->owner;
    if (b->kind == DEVICE_MEMORY && of != fake_current && !(fake_current->peers & 1u << of->device))
        return fake_broke("a copy to a peer that was not enabled", CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    IN_CONTEXT(stream);
    CUresult code = reached(to, bytes);
    if (!code)
        memcpy(POINTER(to), from, bytes);
    return code;
}

API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    IN_CONTEXT(stream);
    CUresult code = reached(from, bytes);
    if (!code)
        memcpy(to, POINTER(from), bytes);
    return code;
}

/* Memory that the driver did not give is the host's, which these devices read. */
static CUresult reached_or_pageable(CUdeviceptr address, size_t bytes)
{
    return !find(address, 1) && !fake_asked("plain") ? CUDA_SUCCESS : reached(address, bytes);
}

API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    IN_CONTEXT(stream);
    CUresult code = reached_or_pageable(from, bytes);
    if (!code)
        code = reached_or_pageable(to, bytes);
    if (!code)
        memmove(POINTER(to), POINTER(from), bytes);
    return code;
}
