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
    if (flags != hipMemAttachGlobal || bytes > (size_t)1 << 30)
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

API hipError_t hipMemPrefetchAsync(const void *address, size_t bytes, int device, hipStream_t stream)
{
    CAN_FAIL();
    const struct block *b = fake_find(address, bytes);
    return device >= 0 && stream && b && b->kind == MANAGED ? hipSuccess : fake_broke(__func__, hipErrorInvalidValue);
}

API hipError_t hipFree(void *address)
{
    return drop(address, __func__, 1u << DEVICE_MEMORY | 1u << MANAGED);
}

API hipError_t hipHostMalloc(void **host, size_t bytes, unsigned int flags)
{
    CAN_FAIL();
    unsigned coherence = flags & (hipHostMallocCoherent | hipHostMallocNonCoherent);
    *host = NULL;
    if ((flags & ~coherence) != hipHostMallocMapped || coherence == (hipHostMallocCoherent | hipHostMallocNonCoherent))
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
