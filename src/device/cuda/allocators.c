/* The ways to get memory from CUDA, by the API's own names. */
#include "device/cuda/memory.h"

#include "base/text.h"
#include "device/card.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

enum {
    MANAGED_MIB = 1024, /* managed memory pushes others' pages out instead of failing */
    STATIC_MIB = 256,   /* a module has to be loaded whole */
};

static enum as_status get_plain(struct as_cu_device *cu, struct as_cu_block *b, struct as_error *err)
{
    return as_cu_check(cu->api, cu, cu->api->cuMemAlloc_v2(&b->address, b->bytes), "cuMemAlloc", err);
}

static CUresult release_plain(const struct as_cu_device *cu, struct as_cu_block *b)
{
    return b->address ? cu->api->cuMemFree_v2(b->address) : CUDA_SUCCESS;
}

static enum as_status get_pooled(struct as_cu_device *cu, struct as_cu_block *b, struct as_error *err)
{
    CUresult code = cu->api->cuMemAllocAsync(&b->address, b->bytes, cu->stream);
    return as_cu_check(cu->api, cu, code, "cuMemAllocAsync", err);
}

static CUresult release_pooled(const struct as_cu_device *cu, struct as_cu_block *b)
{
    return b->address ? cu->api->cuMemFreeAsync(b->address, cu->stream) : CUDA_SUCCESS;
}

/* Physical memory, an address range, the one mapped to the other, and the right to use it. The handle goes at once: the
 * mapping keeps the memory. b->taken is set while the range is reserved, b->page_size while memory is mapped there. */
static enum as_status get_mapped(struct as_cu_device *cu, struct as_cu_block *b, struct as_error *err)
{
    const struct as_cu_api *api = cu->api;
    const CUmemAllocationProp where = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {CU_MEM_LOCATION_TYPE_DEVICE, b->home.device}};
    const CUmemAccessDesc access[] = {
        {where.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {{CU_MEM_LOCATION_TYPE_DEVICE, cu->id}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
    };
    CUmemGenericAllocationHandle handle;
    size_t page = 0;
    CUresult code = api->cuMemGetAllocationGranularity(&page, &where, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (code || page == 0)
        return as_cu_check(api, cu, code ? code : CUDA_ERROR_NOT_SUPPORTED, "cuMemGetAllocationGranularity", err);
    uint64_t bytes = as_card_round_up(b->bytes, page);
    enum as_status s = as_cu_check(api, cu, api->cuMemCreate(&handle, bytes, &where, 0), "cuMemCreate", err);
    if (s)
        return s;
    s = as_cu_check(api, cu, api->cuMemAddressReserve(&b->address, bytes, 0, 0, 0), "cuMemAddressReserve", err);
    b->taken = s ? 0 : bytes;
    if (!s)
        s = as_cu_check(api, cu, api->cuMemMap(b->address, bytes, 0, handle, 0), "cuMemMap", err);
    if (!s) {
        b->page_size = page;
        size_t n = b->home.device == cu->id ? 1 : 2;
        s = as_cu_check(api, cu, api->cuMemSetAccess(b->address, bytes, access, n), "cuMemSetAccess", err);
    }
    CUresult released = api->cuMemRelease(handle);
    return s ? s : as_cu_check(api, cu, released, "cuMemRelease", err);
}

static CUresult release_mapped(const struct as_cu_device *cu, struct as_cu_block *b)
{
    CUresult code = CUDA_SUCCESS;
    if (b->page_size)
        code = cu->api->cuMemUnmap(b->address, b->taken);
    if (b->taken && !code)
        code = cu->api->cuMemAddressFree(b->address, b->taken);
    return code;
}

/* The functions that take a device became ones that take a location; libraries have either or both. */
static enum as_status advise(struct as_cu_device *cu, struct as_cu_block *b, struct as_error *err)
{
    const struct as_cu_api *api = cu->api;
    bool host = b->how->advise_host;
    const CUmemLocation where = {host ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE, host ? 0 : cu->id};
    CUresult code = CUDA_ERROR_NOT_SUPPORTED;
    if (api->cuMemAdvise_v2)
        code = api->cuMemAdvise_v2(b->address, b->bytes, b->how->advice, where);
    else if (api->cuMemAdvise)
        code = api->cuMemAdvise(b->address, b->bytes, b->how->advice, host ? CU_DEVICE_CPU : cu->id);
    return as_cu_check(api, cu, code, "cuMemAdvise", err);
}

static enum as_status prefetch(struct as_cu_device *cu, struct as_cu_block *b, struct as_error *err)
{
    const struct as_cu_api *api = cu->api;
    const CUmemLocation where = {CU_MEM_LOCATION_TYPE_DEVICE, cu->id};
    CUresult code = CUDA_ERROR_NOT_SUPPORTED;
    if (api->cuMemPrefetchAsync_v2)
        code = api->cuMemPrefetchAsync_v2(b->address, b->bytes, where, 0, cu->stream);
    else if (api->cuMemPrefetchAsync)
        code = api->cuMemPrefetchAsync(b->address, b->bytes, cu->id, cu->stream);
    enum as_status s = as_cu_check(api, cu, code, "cuMemPrefetchAsync", err);
    return s ? s : as_cu_check(api, cu, api->cuStreamSynchronize(cu->stream), "cuMemPrefetchAsync", err);
}

static enum as_status get_managed(struct as_cu_device *cu, struct as_cu_block *b, struct as_error *err)
{
    CUresult code = cu->api->cuMemAllocManaged(&b->address, b->bytes, CU_MEM_ATTACH_GLOBAL);
    enum as_status s = as_cu_check(cu->api, cu, code, "cuMemAllocManaged", err);
    if (s)
        return s;
    b->host = (void *)(uintptr_t)b->address;
    return b->how->settle ? b->how->settle(cu, b, err) : AS_OK;
}

static enum as_status see_host(struct as_cu_device *cu, struct as_cu_block *b, struct as_error *err)
{
    CUresult code = cu->api->cuMemHostGetDevicePointer_v2(&b->address, b->host, 0);
    return as_cu_check(cu->api, cu, code, "cuMemHostGetDevicePointer", err);
}

static enum as_status get_pinned(struct as_cu_device *cu, struct as_cu_block *b, struct as_error *err)
{
    CUresult code = cu->api->cuMemHostAlloc(&b->host, b->bytes, CU_MEMHOSTALLOC_DEVICEMAP | b->how->flags);
    enum as_status s = as_cu_check(cu->api, cu, code, "cuMemHostAlloc", err);
    return s ? s : see_host(cu, b, err);
}

static CUresult release_pinned(const struct as_cu_device *cu, struct as_cu_block *b)
{
    return b->host ? cu->api->cuMemFreeHost(b->host) : CUDA_SUCCESS;
}

static enum as_status get_malloc(struct as_cu_device *cu, struct as_cu_block *b, struct as_error *err)
{
    (void)cu;
    /* Whole pages, so that nothing else lies in them. */
    if (posix_memalign(&b->host, as_card_host_page(), as_card_round_up(b->bytes, as_card_host_page()))) {
        b->host = NULL;
        return as_nomem(err, b->bytes, "host memory for a device");
    }
    b->address = (CUdeviceptr)(uintptr_t)b->host;
    return AS_OK;
}

static CUresult release_malloc(const struct as_cu_device *cu, struct as_cu_block *b)
{
    (void)cu;
    free(b->host);
    return CUDA_SUCCESS;
}

/* b->taken is set while it is registered. */
static enum as_status get_registered(struct as_cu_device *cu, struct as_cu_block *b, struct as_error *err)
{
    enum as_status s = get_malloc(cu, b, err);
    if (s)
        return s;
    uint64_t bytes = as_card_round_up(b->bytes, as_card_host_page());
    CUresult code = cu->api->cuMemHostRegister_v2(b->host, bytes, CU_MEMHOSTREGISTER_DEVICEMAP);
    s = as_cu_check(cu->api, cu, code, "cuMemHostRegister", err);
    b->taken = s ? 0 : bytes;
    return s ? s : see_host(cu, b, err);
}

static CUresult release_registered(const struct as_cu_device *cu, struct as_cu_block *b)
{
    CUresult code = b->taken ? cu->api->cuMemHostUnregister(b->host) : CUDA_SUCCESS;
    free(b->host);
    return code;
}

/* A static comes with a module: one of its own, compiled for the size. */
static enum as_status get_static(struct as_cu_device *cu, struct as_cu_block *b, struct as_error *err)
{
    static const char source[] = "extern \"C\" { __device__ __managed__ unsigned char as_static[AS_STATIC_BYTES]; }\n";
    struct as_nvrtc_api *nvrtc = &cu->backend->nvrtc;
    const struct as_cu_api *api = cu->api;
    char defines[64], arch[16];
    unsigned char *cubin = NULL;
    size_t bytes = 0;
    enum as_status s = nvrtc->library ? AS_OK : as_nvrtc_load(nvrtc, err);
    if (s)
        return s;
    snprintf(defines, sizeof defines, "-DAS_STATIC_BYTES=%llu", (unsigned long long)b->bytes);
    as_cu_arch(api, b->home.device, arch, sizeof arch);
    const struct as_program_desc desc = {.name = "managed static", .source = source, .defines = defines};
    s = as_cu_compile(nvrtc, &desc, arch, &cubin, &bytes, err);
    if (!s)
        s = as_cu_check(api, cu, api->cuModuleLoadData(&b->module, cubin), "cuModuleLoadData", err);
    free(cubin);
    if (s) {
        b->module = NULL;
        return s;
    }
    size_t got = 0;
    s = as_cu_check(api, cu, api->cuModuleGetGlobal_v2(&b->address, &got, b->module, "as_static"), "cuModuleGetGlobal",
                    err);
    if (!s && got < b->bytes)
        s = as_fail(err, AS_FAILED, "cuda: a static of %llu bytes came out with %zu", (unsigned long long)b->bytes,
                    got);
    b->host = (void *)(uintptr_t)b->address;
    return s;
}

static CUresult release_static(const struct as_cu_device *cu, struct as_cu_block *b)
{
    return b->module ? cu->api->cuModuleUnload(b->module) : CUDA_SUCCESS;
}

#define NEEDS(attribute) .needs = CU_DEVICE_ATTRIBUTE_##attribute, .needs_name = "CU_DEVICE_ATTRIBUTE_" #attribute
#define MANAGED                                                                                                        \
    .get = get_managed, .release = release_plain, .sources = AS_CU_FROM_DEVICE | AS_CU_FROM_HOST,                      \
    .most = MANAGED_MIB * MIB, .on_demand = true
#define ADVISED(what)                                                                                                  \
    MANAGED, NEEDS(CONCURRENT_MANAGED_ACCESS), .why_not = "its managed memory takes no advice", .settle = advise,      \
                                               .advice = CU_MEM_ADVISE_SET_##what

static const struct as_cu_allocator allocators[] = {
    {"cuMemAlloc", get_plain, release_plain, .sources = AS_CU_FROM_DEVICE, .anywhere = true},
    {"cuMemAllocAsync", get_pooled, release_pooled, NEEDS(MEMORY_POOLS_SUPPORTED), .why_not = "it has no memory pools",
     .sources = AS_CU_FROM_DEVICE, .in_order = true},
    {"cuMemCreate", get_mapped, release_mapped, NEEDS(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
     .why_not = "it has no virtual memory management", .sources = AS_CU_FROM_DEVICE, .anywhere = true, .granted = true},
    {"cuMemAllocManaged", MANAGED, NEEDS(MANAGED_MEMORY), .why_not = "it has no managed memory"},
    {"cuMemAllocManaged prefer device", ADVISED(PREFERRED_LOCATION)},
    {"cuMemAllocManaged prefer host", ADVISED(PREFERRED_LOCATION), .advise_host = true},
    {"cuMemAllocManaged read mostly", ADVISED(READ_MOSTLY)},
    {"cuMemAllocManaged accessed by device", ADVISED(ACCESSED_BY)},
    {"cuMemAllocManaged prefetch", get_managed, release_plain, prefetch, NEEDS(CONCURRENT_MANAGED_ACCESS),
     .why_not = "its managed memory cannot be prefetched", .sources = AS_CU_FROM_DEVICE | AS_CU_FROM_HOST,
     .most = MANAGED_MIB * MIB, .settle_again = true},
    {"cuMemHostAlloc", get_pinned, release_pinned, NEEDS(CAN_MAP_HOST_MEMORY), .why_not = "it does not see host memory",
     .sources = AS_CU_FROM_HOST, .coherent = true},
    {"cuMemHostAlloc write-combined", get_pinned, release_pinned, NEEDS(CAN_MAP_HOST_MEMORY),
     .why_not = "it does not see host memory", .flags = CU_MEMHOSTALLOC_WRITECOMBINED, .sources = AS_CU_FROM_HOST},
    {"cuMemHostRegister malloc", get_registered, release_registered, NEEDS(HOST_REGISTER_SUPPORTED),
     .why_not = "memory cannot be registered with it", .sources = AS_CU_FROM_HOST, .coherent = true},
    {"malloc", get_malloc, release_malloc, NEEDS(PAGEABLE_MEMORY_ACCESS),
     .why_not = "its kernels cannot use what malloc gives", .sources = AS_CU_FROM_HOST, .on_demand = true,
     .plain = true},
    {"__managed__", get_static, release_static, NEEDS(MANAGED_MEMORY), .why_not = "it has no managed memory",
     .sources = AS_CU_FROM_DEVICE | AS_CU_FROM_HOST, .most = STATIC_MIB * MIB, .on_demand = true, .is_static = true},
};
enum { ALLOCATORS_N = sizeof allocators / sizeof *allocators };
_Static_assert((size_t)ALLOCATORS_N <= (size_t)AS_ALLOCATORS_MAX, "the table of allocators outgrew as_device_info");

/* Whether atomics of the host and of a running kernel may meet there. Where pages go to whoever asks for them, only one
 * has them at a time. */
static void say_sharing(struct as_cu_device *cu, const struct as_cu_allocator *a, struct as_allocator *out)
{
    bool from_host = a->sources & AS_CU_FROM_HOST;
    int needs =
        a->coherent ? CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED : CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
    if (!from_host)
        as_copy_text(out->no_sharing, sizeof out->no_sharing, "the host reaches it only by a copy");
    else if (a->flags & CU_MEMHOSTALLOC_WRITECOMBINED)
        as_copy_text(out->no_sharing, sizeof out->no_sharing, "the host does not see it in its caches");
    else if (!a->plain && as_cu_attribute(cu->api, cu->id, needs) <= 0)
        snprintf(out->no_sharing, sizeof out->no_sharing, "the device has 0 for CU_DEVICE_ATTRIBUTE_%s",
                 a->coherent ? "HOST_NATIVE_ATOMIC_SUPPORTED: its atomics there and the host's do not see each other"
                             : "CONCURRENT_MANAGED_ACCESS: the host may not use it while a kernel runs");
}

void as_cu_list_allocators(struct as_device *dev)
{
    struct as_cu_device *cu = dev->ctx;
    bool faults = as_cu_attribute(cu->api, cu->id, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) != 0;
    dev->info.allocators_n = ALLOCATORS_N;
    for (size_t i = 0; i < ALLOCATORS_N; i++) {
        const struct as_cu_allocator *a = &allocators[i];
        struct as_allocator *out = &dev->info.allocators[i];
        *out = (struct as_allocator){.host_access = (a->sources & AS_CU_FROM_HOST) != 0,
                                     .on_demand = a->on_demand && (faults || a->plain),
                                     .coherent = a->coherent};
        as_copy_text(out->name, sizeof out->name, a->name);
        say_sharing(cu, a, out);
        if (a->needs && as_cu_attribute(cu->api, cu->id, a->needs) <= 0)
            snprintf(out->why_not, sizeof out->why_not, "the device has 0 for %s: %s", a->needs_name, a->why_not);
    }
}

enum as_status as_cu_find_allocator(const struct as_device *dev, const char *name, const struct as_cu_allocator **out,
                                    struct as_error *err)
{
    for (size_t i = 0; i < ALLOCATORS_N; i++) {
        if (strcmp(allocators[i].name, name) != 0)
            continue;
        const char *why_not = dev->info.allocators[i].why_not; /* listed in the same order */
        if (why_not[0])
            return as_fail(err, AS_UNSUPPORTED, "allocator '%s': %s", name, why_not);
        *out = &allocators[i];
        return AS_OK;
    }
    return as_fail(err, AS_USAGE, "cuda has no allocator '%s'; assay devices lists them", name);
}

enum as_status as_cu_check_host(uint64_t bytes, struct as_error *err)
{
    return as_card_check_host("cuda", bytes, err);
}

static enum as_status check_device(struct as_cu_device *cu, const struct as_cu_home *home, uint64_t bytes, bool managed,
                                   struct as_error *err)
{
    const struct as_cu_api *api = cu->api;
    size_t free = 0, total = 0;
    enum as_status s = as_cu_check(api, cu, api->cuCtxSetCurrent(home->context), "cuCtxSetCurrent", err);
    if (!s)
        s = as_cu_check(api, cu, api->cuMemGetInfo_v2(&free, &total), "cuMemGetInfo", err);
    api->cuCtxSetCurrent(cu->context);
    if (!s && managed)
        s = as_card_check_managed("cuda", bytes, free, err);
    return s ? s : as_card_check_free("cuda", bytes, free, total, err);
}

enum as_status as_cu_check_size(struct as_cu_device *cu, const struct as_cu_allocator *how,
                                const struct as_cu_home *home, uint64_t bytes, uint64_t count, struct as_error *err)
{
    enum as_status s = as_card_check_count("cuda", bytes, count, err);
    if (s)
        return s;
    if (how->most && bytes > how->most)
        return as_card_too_much(AS_UNSUPPORTED, "cuda", bytes, how->most, " is the most that is taken of this kind",
                                err);
    /* What comes at first touch is only promised; each block could still be touched whole. */
    uint64_t all = how->on_demand ? bytes : bytes * count;
    s = how->sources & AS_CU_FROM_HOST ? as_cu_check_host(all, err) : AS_OK;
    if (s)
        return s;
    bool managed = how->most && how->sources & AS_CU_FROM_HOST;
    return how->sources & AS_CU_FROM_DEVICE ? check_device(cu, home, all, managed, err) : AS_OK;
}
