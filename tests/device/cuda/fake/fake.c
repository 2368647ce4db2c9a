/* A libcuda.so.1 for tests: three devices in scrambled PCI order that say hostile things, with host memory behind their
 * addresses, and errors on demand. It is stricter than the real one: what needs a context needs the right one, and what
 * was not given back is counted.
 * FAKE_CUDA in the environment is a list of words:
 *   none       cuInit finds no device       zero      cuInit works, but there are no devices
 *   mismatch   kernel and library differ    nameless  an error code that nobody knows
 *   busy       no context can be made       nomem     no memory of any kind
 *   fault      the next wait ends with an illegal address, and the context is lost
 *   nopeer     no device reaches another    peererror peer access cannot be switched on
 *   plain      attributes of everything newer than plain memory are 0
 *   noaccess   mapped memory cannot be made accessible
 * FAKE_CUDA_STATIC is the size of the only variable of every module. Built with FAKE_OLD it has only those advice
 * functions that old drivers have. What is not here is in absent.c. */
#include "fake.h"

#include "device/cuda/driver_functions.h"
#include "device/cuda/driver_types.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(name, parameters) API CUresult name parameters;
AS_CU_REQUIRED(DECLARE)
AS_CU_OPTIONAL(DECLARE)

enum { DEVICES = 3, PAGE = 2 << 20 };
static const size_t total_bytes = (size_t)141 << 30, free_bytes = (size_t)139 << 30;

struct CUctx_st {
    int device, retained, lost;
    unsigned peers; /* bits */
};
struct CUstream_st {
    CUcontext context;
};
struct CUevent_st {
    CUcontext context;
};
struct CUmod_st {
    CUcontext context;
    void *bytes;
    size_t size;
};
enum kind { DEVICE_MEMORY, POOLED, MANAGED, PINNED, REGISTERED, RESERVED };
struct block {
    struct block *next;
    char *at;
    size_t size;
    enum kind kind;
    CUcontext context;
    size_t mapped;   /* RESERVED: bytes */
    unsigned access; /* RESERVED: bits of devices */
    unsigned flags;  /* PINNED */
};

static struct CUctx_st contexts[DEVICES] = {{.device = 0}, {.device = 1}, {.device = 2}};
static __thread CUcontext current;
static struct block *blocks;
static int live, handles;
static char broken[160];

static int asked(const char *word)
{
    const char *list = getenv("FAKE_CUDA");
    return list && strstr(list, word);
}

static CUresult broke(const char *what, CUresult code)
{
    if (!broken[0])
        snprintf(broken, sizeof broken, "%s", what);
    return code;
}

API int fake_cuda_live(void)
{
    int n = live + handles;
    for (int i = 0; i < DEVICES; i++)
        n += contexts[i].retained;
    return n;
}

API const char *fake_cuda_broken(void)
{
    return broken;
}

API void fake_cuda_reset(void)
{
    while (blocks) {
        struct block *next = blocks->next;
        if (blocks->kind != REGISTERED)
            free(blocks->at);
        free(blocks);
        blocks = next;
    }
    live = handles = 0;
    broken[0] = 0;
}

/* The context that a call works in, or why it does not. */
static CUresult entered(const char *what)
{
    if (!current || !current->retained)
        return broke(what, CUDA_ERROR_INVALID_CONTEXT);
    return current->lost ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}
#define ENTER()                                                                                                        \
    do {                                                                                                               \
        CUresult entered_ = entered(__func__);                                                                         \
        if (entered_)                                                                                                  \
            return entered_;                                                                                           \
    } while (0)
#define IN_CONTEXT(thing)                                                                                              \
    do {                                                                                                               \
        ENTER();                                                                                                       \
        if (!(thing) || (thing)->context != current)                                                                   \
            return broke(__func__, CUDA_ERROR_INVALID_HANDLE);                                                         \
    } while (0)

/* ---- start ---- */

/* CUDA_VISIBLE_DEVICES: which of the devices, in which order. */
static int visible(int list[DEVICES])
{
    const char *text = getenv("CUDA_VISIBLE_DEVICES");
    int n = 0;
    if (!text)
        text = "0,1,2";
    for (; *text && n < DEVICES; text += *text == ',') {
        char *end;
        long i = strtol(text, &end, 10);
        if (end == text || i < 0 || i >= DEVICES)
            break;
        list[n++] = (int)i;
        text = end;
    }
    return asked("zero") ? 0 : n;
}

/* Ordinals are places in that list. */
static int real(CUdevice device)
{
    int list[DEVICES], n = visible(list);
    return device >= 0 && device < n ? list[device] : -1;
}

API CUresult cuInit(unsigned int flags)
{
    int list[DEVICES];
    if (asked("mismatch"))
        return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    if (asked("nameless"))
        return 31337;
    if (asked("none") || (visible(list) == 0 && !asked("zero")))
        return CUDA_ERROR_NO_DEVICE;
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

API CUresult cuDriverGetVersion(int *version)
{
    *version = 13000;
    return CUDA_SUCCESS;
}

API CUresult cuGetErrorName(CUresult error, const char **name)
{
    *name = error == CUDA_ERROR_OUT_OF_MEMORY        ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == CUDA_ERROR_ILLEGAL_ADDRESS    ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == CUDA_ERROR_DEVICE_UNAVAILABLE ? "CUDA_ERROR_DEVICE_UNAVAILABLE"
            : error == CUDA_ERROR_TOO_MANY_PEERS     ? "CUDA_ERROR_TOO_MANY_PEERS"
                                                     : NULL;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : NULL;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- devices ---- */

API CUresult cuDeviceGetCount(int *count)
{
    int list[DEVICES];
    *count = visible(list);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return real(ordinal) < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

/* The last one fills all that it gets and does not end it. */
API CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    static const char *const names[] = {"<script>alert(1)</script>", "\x1B[31mred \xC0\xAF end"};
    int d = real(device);
    if (d < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    if (d == 2)
        memset(name, 'A', (size_t)size);
    else
        snprintf(name, (size_t)size, "%s", names[d]);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(0xDE + i * 3);
    return real(device) == 1 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

API CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
    static const char *const ids[] = {"0000:C1:00.0", "no address", "0000:41:1F.7"};
    snprintf(id, (size_t)size, "%s", ids[real(device)]);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    *bytes = total_bytes;
    return real(device) < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

struct attribute {
    int attribute, value;
};
static const struct attribute everywhere[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0x0A},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 3},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 60 << 20},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
};
static const int newer[] = {
    CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,          CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
    CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,  CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
};

API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    int d = real(device);
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        if (newer[i] == attribute) {
            *value = !asked("plain");
            return CUDA_SUCCESS;
        }
    for (size_t i = 0; i < sizeof everywhere / sizeof *everywhere; i++)
        if (everywhere[i].attribute == attribute) {
            *value = d == 2 ? -everywhere[i].value : everywhere[i].value;
            return CUDA_SUCCESS;
        }
    *value = -7;
    return CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    *can = !asked("nopeer") && device != peer;
    return CUDA_SUCCESS;
}

/* ---- contexts ---- */

API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    if (asked("busy"))
        return CUDA_ERROR_DEVICE_UNAVAILABLE;
    if (real(device) < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *context = &contexts[real(device)];
    (*context)->retained++;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUcontext c = &contexts[real(device)];
    if (!c->retained)
        return broke(__func__, CUDA_ERROR_INVALID_CONTEXT);
    if (--c->retained == 0)
        c->lost = 0, c->peers = 0;
    return CUDA_SUCCESS;
}

API CUresult cuCtxSetCurrent(CUcontext context)
{
    current = context;
    return CUDA_SUCCESS;
}

API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    ENTER();
    if (asked("peererror"))
        return CUDA_ERROR_TOO_MANY_PEERS;
    if (flags || !peer->retained)
        return CUDA_ERROR_INVALID_VALUE;
    if (current->peers & 1u << peer->device)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    current->peers |= 1u << peer->device;
    return CUDA_SUCCESS;
}

static CUresult waited(void)
{
    ENTER();
    if (asked("fault"))
        current->lost = 1;
    return current->lost ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

API CUresult cuCtxSynchronize(void)
{
    return waited();
}

API CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
    ENTER();
    *free = free_bytes;
    *total = total_bytes;
    return CUDA_SUCCESS;
}

/* ---- memory ---- */

static struct block *find(CUdeviceptr address, size_t size)
{
    const char *at = (const char *)(uintptr_t)address;
    for (struct block *b = blocks; b; b = b->next)
        if (at >= b->at && size <= b->size && (size_t)(at - b->at) <= b->size - size)
            return b;
    return NULL;
}

static CUresult add(void **at, size_t size, enum kind kind)
{
    struct block *b = asked("nomem") && kind != REGISTERED ? NULL : calloc(1, sizeof *b);
    if (!b)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *b = (struct block){.next = blocks, .at = *at, .size = size, .kind = kind, .context = current};
    if (kind != REGISTERED && posix_memalign((void **)&b->at, PAGE, (size + PAGE - 1) / PAGE * PAGE)) {
        free(b);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    blocks = b;
    live++;
    *at = b->at;
    return CUDA_SUCCESS;
}

static CUresult drop(void *at, const char *what, unsigned kinds)
{
    for (struct block **link = &blocks; *link; link = &(*link)->next) {
        struct block *b = *link;
        if (b->at != at)
            continue;
        if (!(kinds & 1u << b->kind) || b->context != current || b->mapped)
            return broke(what, CUDA_ERROR_INVALID_VALUE);
        *link = b->next;
        live--;
        if (b->kind != REGISTERED)
            free(b->at);
        free(b);
        return CUDA_SUCCESS;
    }
    return broke(what, CUDA_ERROR_INVALID_VALUE);
}

static CUresult add_address(CUdeviceptr *address, size_t size, enum kind kind)
{
    void *at = NULL;
    CUresult code = add(&at, size, kind);
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
        return broke(__func__, CUDA_ERROR_INVALID_VALUE);
    return add_address(address, bytes, MANAGED);
}

static CUresult advised(CUdeviceptr address, size_t bytes, CUmem_advise advice, int device)
{
    struct block *b = find(address, bytes);
    ENTER();
    if (!b || b->kind != MANAGED || (device != CU_DEVICE_CPU && real(device) < 0) || advice < 1 || advice > 6)
        return broke("cuMemAdvise", CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

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
    return advised(address, bytes, 1, device);
}

#ifndef FAKE_OLD
API CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags,
                                   CUstream stream)
{
    IN_CONTEXT(stream);
    return flags ? CUDA_ERROR_INVALID_VALUE : advised(address, bytes, 1, place(location));
}

#endif

API CUresult cuMemHostAlloc(void **host, size_t bytes, unsigned int flags)
{
    ENTER();
    *host = NULL;
    CUresult code = add(host, bytes, PINNED);
    if (!code)
        blocks->flags = flags;
    return code;
}

API CUresult cuMemFreeHost(void *host)
{
    ENTER();
    return drop(host, __func__, 1u << PINNED);
}

API CUresult cuMemHostRegister_v2(void *host, size_t bytes, unsigned int flags)
{
    ENTER();
    if (asked("nomem"))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!(flags & CU_MEMHOSTREGISTER_DEVICEMAP) || (uintptr_t)host % 4096 || bytes % 4096)
        return broke(__func__, CUDA_ERROR_INVALID_VALUE);
    return add(&host, bytes, REGISTERED);
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
        return broke(__func__, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

/* ---- memory that is mapped ---- */

static int good_property(const CUmemAllocationProp *p)
{
    return p->type == CU_MEM_ALLOCATION_TYPE_PINNED && p->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
           real(p->location.id) >= 0 && !p->win32HandleMetaData;
}

API CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *property,
                                           CUmemAllocationGranularity_flags which)
{
    *granularity = PAGE;
    return which || !good_property(property) ? broke(__func__, CUDA_ERROR_INVALID_VALUE) : CUDA_SUCCESS;
}

API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *property,
                         unsigned long long flags)
{
    if (asked("nomem"))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (flags || bytes % PAGE || !good_property(property))
        return broke(__func__, CUDA_ERROR_INVALID_VALUE);
    handles++;
    *handle = bytes;
    return CUDA_SUCCESS;
}

API CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    handles--;
    return handle % PAGE ? broke(__func__, CUDA_ERROR_INVALID_VALUE) : CUDA_SUCCESS;
}

API CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                                 unsigned long long flags)
{
    ENTER();
    if (bytes % PAGE || alignment || wanted || flags)
        return broke(__func__, CUDA_ERROR_INVALID_VALUE);
    return add_address(address, bytes, RESERVED);
}

API CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    struct block *b = find(address, bytes);
    ENTER();
    return b && b->size == bytes ? drop(POINTER(address), __func__, 1u << RESERVED)
                                 : broke(__func__, CUDA_ERROR_INVALID_VALUE);
}

API CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                      unsigned long long flags)
{
    struct block *b = find(address, bytes);
    if (offset || flags || handle != bytes || !b || b->kind != RESERVED || b->mapped)
        return broke(__func__, CUDA_ERROR_INVALID_VALUE);
    b->mapped = bytes;
    return CUDA_SUCCESS;
}

API CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    struct block *b = find(address, bytes);
    if (!b || b->mapped != bytes)
        return broke(__func__, CUDA_ERROR_INVALID_VALUE);
    b->mapped = 0;
    return CUDA_SUCCESS;
}

API CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count)
{
    struct block *b = find(address, bytes);
    if (asked("noaccess"))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!b || b->mapped != bytes)
        return broke(__func__, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; i++)
        if (access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            b->access |= 1u << real(access[i].location.id);
    return CUDA_SUCCESS;
}

/* ---- copies ---- */

static CUresult reached(CUdeviceptr address, size_t bytes)
{
    struct block *b = find(address, bytes);
    if (!b)
        return broke("a copy outside of memory", CUDA_ERROR_INVALID_VALUE);
    if (b->kind == RESERVED && !(b->mapped && b->access & 1u << current->device))
        return broke("a copy without access", CUDA_ERROR_INVALID_VALUE);
    if (b->kind == DEVICE_MEMORY && b->context != current && !(current->peers & 1u << b->context->device))
        return broke("a copy to a peer that was not enabled", CUDA_ERROR_INVALID_VALUE);
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

/* ---- streams, events, modules ---- */

#define MAKE(type, handle)                                                                                             \
    do {                                                                                                               \
        ENTER();                                                                                                       \
        *(handle) = calloc(1, sizeof(struct type));                                                                    \
        (*(handle))->context = current;                                                                                \
        live++;                                                                                                        \
    } while (0)
#define UNMAKE(handle)                                                                                                 \
    do {                                                                                                               \
        if (!(handle) || (handle)->context != current)                                                                 \
            return broke(__func__, CUDA_ERROR_INVALID_HANDLE);                                                         \
        live--;                                                                                                        \
        free(handle);                                                                                                  \
    } while (0)

API CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    MAKE(CUstream_st, stream);
    return flags == CU_STREAM_NON_BLOCKING ? CUDA_SUCCESS : broke(__func__, CUDA_SUCCESS);
}

API CUresult cuStreamDestroy_v2(CUstream stream)
{
    UNMAKE(stream);
    return CUDA_SUCCESS;
}

API CUresult cuStreamSynchronize(CUstream stream)
{
    IN_CONTEXT(stream);
    return waited();
}

API CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    MAKE(CUevent_st, event);
    return flags & CU_EVENT_DISABLE_TIMING ? broke(__func__, CUDA_SUCCESS) : CUDA_SUCCESS;
}

API CUresult cuEventDestroy_v2(CUevent event)
{
    UNMAKE(event);
    return CUDA_SUCCESS;
}

API CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    const char *size = getenv("FAKE_CUDA_STATIC");
    if (!image || !size)
        return CUDA_ERROR_INVALID_IMAGE;
    MAKE(CUmod_st, module);
    (*module)->size = strtoul(size, NULL, 10);
    CUresult code = add(&(*module)->bytes, (*module)->size, MANAGED);
    if (code) {
        live--;
        free(*module);
    }
    return code;
}

API CUresult cuModuleUnload(CUmodule module)
{
    ENTER();
    CUresult code = drop(module->bytes, __func__, 1u << MANAGED);
    UNMAKE(module);
    return code;
}

API CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    IN_CONTEXT(module);
    *address = (CUdeviceptr)(uintptr_t)module->bytes;
    *bytes = module->size;
    return strcmp(name, "as_static") ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
