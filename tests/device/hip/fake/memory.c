/* Memory of the stand-in: every block knows its kind. */
#include "inside.h"

static hipError_t add(void **at, size_t size, enum kind kind, unsigned flags)
{
    if (fake_is_lost())
        return hipErrorIllegalAddress;
    return fake_block(at, size, kind, NULL, flags) ? hipSuccess : hipErrorOutOfMemory;
}

static hipError_t drop(void *at, const char *what, unsigned kinds)
{
    if (!fake_drop(at, kinds, NULL))
        return fake_broke(what, hipErrorInvalidValue);
    return fake_is_lost() ? hipErrorIllegalAddress : hipSuccess;
}

API hipError_t hipMalloc(void **address, size_t bytes)
{
    CAN_FAIL();
    return add(address, bytes, DEVICE_MEMORY, 0);
}

API hipError_t hipExtMallocWithFlags(void **address, size_t bytes, unsigned int flags)
{
    CAN_FAIL();
    if (flags != hipDeviceMallocFinegrained)
        return fake_broke(__func__, hipErrorInvalidValue);
    return add(address, bytes, DEVICE_MEMORY, flags);
}

API hipError_t hipMallocManaged(void **address, size_t bytes, unsigned int flags)
{
    CAN_FAIL();
    if (flags != hipMemAttachGlobal || (bytes > (size_t)1 << 30 && fake_replays() && !fake_asked("apu")))
        return fake_broke(__func__, hipErrorInvalidValue);
    return add(address, bytes, MANAGED, 0);
}

API hipError_t hipMallocAsync(void **address, size_t bytes, hipStream_t stream)
{
    CAN_FAIL();
    return stream ? add(address, bytes, DEVICE_MEMORY, 0) : fake_broke(__func__, hipErrorInvalidValue);
}

API hipError_t hipFreeAsync(void *address, hipStream_t stream)
{
    return stream ? drop(address, __func__, 1u << DEVICE_MEMORY) : fake_broke(__func__, hipErrorInvalidValue);
}

enum { COARSE_GRAIN = 0 }; /* its place among the advice of a block */

/* The device that the last prefetch or advice was for. */
static int settled_for;
API int fake_driver_settled_for(void)
{
    return settled_for;
}

static hipError_t settle(const void *address, size_t bytes, int device, int advice, const char *what)
{
    struct block *b = fake_find(address, bytes);
    settled_for = device;
    if ((device != hipCpuDeviceId && fake_real(device) < 0) || !b || b->kind != MANAGED)
        return fake_broke(what, hipErrorInvalidValue);
    b->advised[advice] = device + 3;
    return hipSuccess;
}

/* What was advised of the block. */
API hipError_t hipMemRangeGetAttribute(void *data, size_t size, hipMemRangeAttribute attribute, const void *address,
                                       size_t bytes)
{
    static const struct {
        hipMemRangeAttribute attribute;
        int advice;
    } places[] = {{hipMemRangeAttributePreferredLocation, hipMemAdviseSetPreferredLocation},
                  {hipMemRangeAttributeAccessedBy, hipMemAdviseSetAccessedBy},
                  {hipMemRangeAttributeLastPrefetchLocation, PREFETCHED}};
    const struct block *b = fake_find(address, bytes);
    int value = -1;
    CAN_FAIL();
    if (!b || b->kind != MANAGED || size != sizeof value)
        return hipErrorInvalidValue;
    if (attribute == hipMemRangeAttributeCoherencyMode)
        value = b->advised[COARSE_GRAIN] ? hipMemRangeCoherencyModeCoarseGrain : hipMemRangeCoherencyModeFineGrain;
    else if (attribute == hipMemRangeAttributeReadMostly)
        value = b->advised[hipMemAdviseSetReadMostly] != 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].attribute == attribute)
            value = b->advised[places[i].advice] ? b->advised[places[i].advice] - 3 : hipInvalidDeviceId;
    *(int *)data = value;
    return hipSuccess;
}

API hipError_t hipMemPrefetchAsync(const void *address, size_t bytes, int device, hipStream_t stream)
{
    CAN_FAIL();
    return stream ? settle(address, bytes, device, PREFETCHED, __func__) : fake_broke(__func__, hipErrorInvalidValue);
}

API hipError_t hipMemAdvise(const void *address, size_t bytes, hipMemoryAdvise advice, int device)
{
    CAN_FAIL();
    const bool known = (advice >= 1 && advice <= 6) || advice == hipMemAdviseSetCoarseGrain;
    return known ? settle(address, bytes, device, advice > 6 ? COARSE_GRAIN : advice, __func__)
                 : fake_broke(__func__, hipErrorInvalidValue);
}

API hipError_t hipFree(void *address)
{
    return drop(address, __func__, 1u << DEVICE_MEMORY | 1u << MANAGED);
}

API hipError_t hipHostMalloc(void **host, size_t bytes, unsigned int flags)
{
    CAN_FAIL();
    /* Some runtimes ignore that memory should not be coherent if it is to be mapped. */
    static const unsigned accepted[] = {hipHostMallocMapped, hipHostMallocMapped | hipHostMallocCoherent,
                                        hipHostMallocNonCoherent, hipHostMallocPortable};
    size_t i = 0;
    *host = NULL;
    while (i < sizeof accepted / sizeof *accepted && accepted[i] != flags)
        i++;
    if (i == sizeof accepted / sizeof *accepted)
        return fake_broke(__func__, hipErrorInvalidValue);
    return add(host, bytes, PINNED, flags);
}

API hipError_t hipHostFree(void *host)
{
    return drop(host, __func__, 1u << PINNED);
}

API hipError_t hipHostRegister(void *host, size_t bytes, unsigned int flags)
{
    CAN_FAIL();
    if (flags != hipHostRegisterMapped || (uintptr_t)host % 4096 || bytes % 4096)
        return fake_broke(__func__, hipErrorInvalidValue);
    for (size_t at = 0; at < bytes; at += 4096) /* pinned */
        ((volatile char *)host)[at] = ((volatile char *)host)[at];
    return add(&host, bytes, REGISTERED, flags);
}

API hipError_t hipHostUnregister(void *host)
{
    return drop(host, __func__, 1u << REGISTERED);
}

API hipError_t hipHostGetDevicePointer(void **address, void *host, unsigned int flags)
{
    CAN_FAIL();
    const struct block *b = fake_find(host, 1);
    *address = host;
    return !flags && b && (b->kind == PINNED || b->kind == REGISTERED) ? hipSuccess
                                                                       : fake_broke(__func__, hipErrorInvalidValue);
}

/* ---- memory that is mapped; a handle is a block of its own, as large as the memory ---- */

enum { GRANULARITY = 2 << 20 };

static bool good_property(const hipMemAllocationProp *p)
{
    return p->type == hipMemAllocationTypePinned && p->location.type == hipMemLocationTypeDevice &&
           fake_real(p->location.id) >= 0 && !p->win32HandleMetaData;
}

API hipError_t hipMemGetAllocationGranularity(size_t *granularity, const hipMemAllocationProp *property,
                                              hipMemAllocationGranularity_flags which)
{
    CAN_FAIL();
    *granularity = GRANULARITY;
    return which || !good_property(property) ? fake_broke(__func__, hipErrorInvalidValue) : hipSuccess;
}

API hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t bytes, const hipMemAllocationProp *property,
                            unsigned long long flags)
{
    CAN_FAIL();
    void *at = NULL;
    if (flags || bytes % GRANULARITY || !good_property(property))
        return fake_broke(__func__, hipErrorInvalidValue);
    const hipError_t code = add(&at, bytes, POOLED, 0);
    *handle = at;
    return code;
}

/* Earlier than the mapping is gone it may not be released: not all runtimes keep the memory. */
API hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle)
{
    return drop(handle, __func__, 1u << POOLED);
}

API hipError_t hipMemAddressReserve(void **address, size_t bytes, size_t alignment, void *wanted,
                                    unsigned long long flags)
{
    CAN_FAIL();
    if (bytes % GRANULARITY || alignment || wanted || flags)
        return fake_broke(__func__, hipErrorInvalidValue);
    return add(address, bytes, RESERVED, 0);
}

API hipError_t hipMemAddressFree(void *address, size_t bytes)
{
    const struct block *b = fake_find(address, bytes);
    return b && b->size == bytes ? drop(address, __func__, 1u << RESERVED) : fake_broke(__func__, hipErrorInvalidValue);
}

API hipError_t hipMemMap(void *address, size_t bytes, size_t offset, hipMemGenericAllocationHandle_t handle,
                         unsigned long long flags)
{
    struct block *b = fake_find(address, bytes), *memory = fake_find(handle, bytes);
    CAN_FAIL();
    if (offset || flags || !b || b->kind != RESERVED || b->mapped || !memory || memory->mapped)
        return fake_broke(__func__, hipErrorInvalidValue);
    b->owner = memory;
    b->mapped = memory->mapped = bytes;
    return hipSuccess;
}

API hipError_t hipMemUnmap(void *address, size_t bytes)
{
    struct block *b = fake_find(address, bytes);
    if (!b || b->mapped != bytes)
        return fake_broke(__func__, hipErrorInvalidValue);
    ((struct block *)b->owner)->mapped = b->mapped = 0;
    b->owner = NULL;
    return hipSuccess;
}

API hipError_t hipMemSetAccess(void *address, size_t bytes, const hipMemAccessDesc *access, size_t count)
{
    const struct block *b = fake_find(address, bytes);
    CAN_FAIL();
    if (!b || b->mapped != bytes || !count)
        return fake_broke(__func__, hipErrorInvalidValue);
    for (size_t i = 0; i < count; i++)
        if (access[i].flags != hipMemAccessFlagsProtReadWrite || fake_real(access[i].location.id) < 0)
            return fake_broke(__func__, hipErrorInvalidValue);
    return hipSuccess;
}
