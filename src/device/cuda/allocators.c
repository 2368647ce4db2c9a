/* CUDA allocators, by the API's names. */
#include "device/cuda/cuda.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

static enum as_status cuda_allocators_get_plain(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    return as_gpu_check(gpu, as_cu_of(gpu)->cuMemAlloc_v2(&b->address, b->bytes), "cuMemAlloc", err);
}

static int cuda_allocators_release_plain(const struct as_gpu *gpu, struct as_gpu_block *b)
{
    return b->address ? as_cu_of(gpu)->cuMemFree_v2(b->address) : CUDA_SUCCESS;
}

static enum as_status get_pooled(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    CUresult code = as_cu_of(gpu)->cuMemAllocAsync(&b->address, b->bytes, gpu->stream);
    return as_gpu_check(gpu, code, "cuMemAllocAsync", err);
}

static int release_pooled(const struct as_gpu *gpu, struct as_gpu_block *b)
{
    return b->address ? as_cu_of(gpu)->cuMemFreeAsync(b->address, gpu->stream) : CUDA_SUCCESS;
}

/* Creates physical memory, reserves an address range, maps it and grants access. The handle is released at once, since
 * the mapping keeps the memory. b->taken is set while the range is reserved, b->page_size while memory is mapped. */
static enum as_status get_mapped(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    const struct as_cu_api *api = as_cu_of(gpu);
    const CUmemAllocationProp where = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {CU_MEM_LOCATION_TYPE_DEVICE, b->home.device}};
    const CUmemAccessDesc access[] = {
        {where.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {{CU_MEM_LOCATION_TYPE_DEVICE, gpu->here.device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
    };
    CUmemGenericAllocationHandle handle;
    size_t page = 0;
    CUresult code = api->cuMemGetAllocationGranularity(&page, &where, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (code || page == 0)
        return as_gpu_check(gpu, code ? code : CUDA_ERROR_NOT_SUPPORTED, "cuMemGetAllocationGranularity", err);
    uint64_t bytes = as_gpu_round_up(b->bytes, page);
    enum as_status st = as_gpu_check(gpu, api->cuMemCreate(&handle, bytes, &where, 0), "cuMemCreate", err);
    if (st)
        return st;
    st = as_gpu_check(gpu, api->cuMemAddressReserve(&b->address, bytes, 0, 0, 0), "cuMemAddressReserve", err);
    b->taken = st ? 0 : bytes;
    if (!st)
        st = as_gpu_check(gpu, api->cuMemMap(b->address, bytes, 0, handle, 0), "cuMemMap", err);
    if (!st) {
        b->page_size = page;
        size_t n = b->home.device == gpu->here.device ? 1 : 2;
        st = as_gpu_check(gpu, api->cuMemSetAccess(b->address, bytes, access, n), "cuMemSetAccess", err);
    }
    CUresult released = api->cuMemRelease(handle);
    return st ? st : as_gpu_check(gpu, released, "cuMemRelease", err);
}

static int release_mapped(const struct as_gpu *gpu, struct as_gpu_block *b)
{
    CUresult code = CUDA_SUCCESS;
    if (b->page_size)
        code = as_cu_of(gpu)->cuMemUnmap(b->address, b->taken);
    if (b->taken && !code)
        code = as_cu_of(gpu)->cuMemAddressFree(b->address, b->taken);
    return code;
}

/* Newer functions take a location in place of a device; libraries have one or both. The allocator's flags are the type
 * of the location. */
static CUmemLocation location_of(const struct as_gpu *gpu, const struct as_gpu_block *b)
{
    const bool host = b->how->flags == CU_MEM_LOCATION_TYPE_HOST;
    return (CUmemLocation){host ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE, host ? 0 : gpu->here.device};
}

static int device_of(const CUmemLocation *where)
{
    return where->type == CU_MEM_LOCATION_TYPE_HOST ? CU_DEVICE_CPU : where->id;
}

static enum as_status advise(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    const struct as_cu_api *api = as_cu_of(gpu);
    const CUmemLocation where = location_of(gpu, b);
    CUresult code = CUDA_ERROR_NOT_SUPPORTED;
    if (api->cuMemAdvise_v2)
        code = api->cuMemAdvise_v2(b->address, b->bytes, b->how->option, where);
    else if (api->cuMemAdvise)
        code = api->cuMemAdvise(b->address, b->bytes, b->how->option, device_of(&where));
    return as_gpu_check(gpu, code, "cuMemAdvise", err);
}

static enum as_status prefetch(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    const struct as_cu_api *api = as_cu_of(gpu);
    const CUmemLocation where = location_of(gpu, b);
    CUresult code = CUDA_ERROR_NOT_SUPPORTED;
    if (api->cuMemPrefetchAsync_v2)
        code = api->cuMemPrefetchAsync_v2(b->address, b->bytes, where, 0, gpu->stream);
    else if (api->cuMemPrefetchAsync)
        code = api->cuMemPrefetchAsync(b->address, b->bytes, device_of(&where), gpu->stream);
    enum as_status st = as_gpu_check(gpu, code, "cuMemPrefetchAsync", err);
    return st ? st : as_gpu_check(gpu, api->cuStreamSynchronize(gpu->stream), "cuMemPrefetchAsync", err);
}

static enum as_status cuda_allocators_get_managed(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    CUresult code = as_cu_of(gpu)->cuMemAllocManaged(&b->address, b->bytes, CU_MEM_ATTACH_GLOBAL);
    enum as_status st = as_gpu_check(gpu, code, "cuMemAllocManaged", err);
    if (st)
        return st;
    b->host = (void *)(uintptr_t)b->address;
    return b->how->settle ? b->how->settle(gpu, b, err) : AS_OK;
}

/* A static variable needs a module, compiled for its size. */
static enum as_status cuda_allocators_get_static(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    static const char source[] = "extern \"C\" { __device__ __managed__ unsigned char as_static[AS_STATIC_BYTES]; }\n";
    enum as_status st = as_gpu_load_static(gpu, b, source, err);
    if (st)
        return st;
    size_t got = 0;
    CUresult code = as_cu_of(gpu)->cuModuleGetGlobal_v2(&b->address, &got, b->module, "as_static");
    st = as_gpu_check(gpu, code, "cuModuleGetGlobal", err);
    if (!st && got < b->bytes)
        st =
            as_fail(err, AS_FAILED, "cuda: a static variable of %llu bytes has %zu", (unsigned long long)b->bytes, got);
    b->host = (void *)(uintptr_t)b->address;
    return st;
}

#define NEEDS(attribute) .needs = CU_DEVICE_ATTRIBUTE_##attribute, .needs_name = "CU_DEVICE_ATTRIBUTE_" #attribute
#define MANAGED                                                                                                        \
    .get = cuda_allocators_get_managed, .release = cuda_allocators_release_plain,                                      \
    .sources = AS_GPU_FROM_DEVICE | AS_GPU_FROM_HOST, .most = AS_GPU_MANAGED_MAX, .on_demand = true
#define PREFETCHED(where)                                                                                              \
    cuda_allocators_get_managed, cuda_allocators_release_plain, prefetch, NEEDS(CONCURRENT_MANAGED_ACCESS),            \
        .why_not = "its managed memory cannot be prefetched", .sources = AS_GPU_FROM_DEVICE | AS_GPU_FROM_HOST,        \
        .most = AS_GPU_MANAGED_MAX, .flags = CU_MEM_LOCATION_TYPE_##where
#define ADVISED(what, where)                                                                                           \
    MANAGED, NEEDS(CONCURRENT_MANAGED_ACCESS), .why_not = "it supports no advice on managed memory", .settle = advise, \
                                               .option = CU_MEM_ADVISE_SET_##what,                                     \
                                               .flags = CU_MEM_LOCATION_TYPE_##where

const struct as_gpu_allocator as_cu_allocators[] = {
    {"cuMemAlloc", cuda_allocators_get_plain, cuda_allocators_release_plain, .sources = AS_GPU_FROM_DEVICE,
     .anywhere = true},
    {"cuMemAllocAsync", get_pooled, release_pooled, NEEDS(MEMORY_POOLS_SUPPORTED), .why_not = "it has no memory pools",
     .sources = AS_GPU_FROM_DEVICE, .in_order = true},
    {"cuMemCreate", get_mapped, release_mapped, NEEDS(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
     .why_not = "it has no virtual memory management", .sources = AS_GPU_FROM_DEVICE, .anywhere = true,
     .granted = true},
    {"cuMemAllocManaged", MANAGED, NEEDS(MANAGED_MEMORY), .why_not = "it has no managed memory"},
    {"cuMemAllocManaged prefer device", ADVISED(PREFERRED_LOCATION, DEVICE)},
    {"cuMemAllocManaged prefer host", ADVISED(PREFERRED_LOCATION, HOST)},
    {"cuMemAllocManaged read mostly", ADVISED(READ_MOSTLY, DEVICE)},
    {"cuMemAllocManaged accessed by device", ADVISED(ACCESSED_BY, DEVICE)},
    {"cuMemAllocManaged prefetch", PREFETCHED(DEVICE), .again = AS_GPU_AFTER_HOST},
    {"cuMemAllocManaged prefetch to host", PREFETCHED(HOST), .again = AS_GPU_BEFORE_HOST},
    {"cuMemHostAlloc", as_gpu_get_pinned, as_gpu_release_pinned, NEEDS(CAN_MAP_HOST_MEMORY),
     .why_not = "it does not see host memory", .sources = AS_GPU_FROM_HOST, .coherent = true},
    {"cuMemHostAlloc write-combined", as_gpu_get_pinned, as_gpu_release_pinned, NEEDS(CAN_MAP_HOST_MEMORY),
     .why_not = "it does not see host memory", .flags = CU_MEMHOSTALLOC_WRITECOMBINED, .sources = AS_GPU_FROM_HOST},
    {"cuMemHostRegister malloc", as_gpu_get_registered, as_gpu_release_registered, NEEDS(HOST_REGISTER_SUPPORTED),
     .why_not = "memory cannot be registered with it", .sources = AS_GPU_FROM_HOST, .coherent = true},
    {"malloc", as_gpu_get_malloc, as_gpu_release_malloc, NEEDS(PAGEABLE_MEMORY_ACCESS),
     .why_not = "its kernels cannot access malloc memory", .sources = AS_GPU_FROM_HOST, .on_demand = true,
     .plain = true},
    {"malloc huge pages", as_gpu_get_malloc, as_gpu_release_malloc, NEEDS(PAGEABLE_MEMORY_ACCESS),
     .why_not = "its kernels cannot access malloc memory", .sources = AS_GPU_FROM_HOST, .on_demand = true,
     .plain = true, .pages = AS_GPU_HUGE_PAGES},
    {"hugetlb", as_gpu_get_pool, as_gpu_release_pool, NEEDS(PAGEABLE_MEMORY_ACCESS),
     .why_not = "its kernels cannot access memory of the process", .sources = AS_GPU_FROM_HOST, .on_demand = true,
     .plain = true, .pages = AS_GPU_POOL_PAGES},
    {"__managed__", cuda_allocators_get_static, as_gpu_release_static, NEEDS(MANAGED_MEMORY),
     .why_not = "it has no managed memory", .sources = AS_GPU_FROM_DEVICE | AS_GPU_FROM_HOST, .most = AS_GPU_STATIC_MAX,
     .on_demand = true, .is_static = true},
    {.name = NULL},
};
enum { ALLOCATORS_N = sizeof as_cu_allocators / sizeof *as_cu_allocators - 1 };
_Static_assert((size_t)ALLOCATORS_N <= (size_t)AS_ALLOCATORS_MAX, "the table of allocators outgrew as_device_info");

/* Whether host and kernel can use atomics there concurrently. They cannot if pages migrate on access. */
static void say_sharing(struct as_gpu *gpu, const struct as_gpu_allocator *a, struct as_allocator *out)
{
    const bool from_host = a->sources & AS_GPU_FROM_HOST;
    const bool combined = a->get == as_gpu_get_pinned && a->flags & CU_MEMHOSTALLOC_WRITECOMBINED;
    const bool stays = a->coherent || combined; /* in the host's memory */
    const int needs =
        stays ? CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED : CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
    if (!from_host)
        as_copy_text(out->no_sharing, sizeof out->no_sharing, "the host can access it only through a copy");
    else if (!a->plain && as_cu_attribute(gpu, needs) <= 0)
        snprintf(out->no_sharing, sizeof out->no_sharing, "the device has 0 for CU_DEVICE_ATTRIBUTE_%s",
                 stays ? "HOST_NATIVE_ATOMIC_SUPPORTED: its atomics are not atomic with respect to the host's"
                       : "CONCURRENT_MANAGED_ACCESS: the host may not use it while a kernel runs");
    else if (combined) /* Arm leaves undefined what atomics do in memory that is not cached */
        as_copy_text(out->no_sharing, sizeof out->no_sharing,
                     "the driver may map it uncached on the host, where the host's atomics need not work");
}

void as_cu_list_allocators(struct as_device *dev)
{
    struct as_gpu *gpu = dev->ctx;
    bool faults = as_cu_attribute(gpu, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) != 0;
    dev->info.allocators_n = ALLOCATORS_N;
    for (size_t i = 0; i < ALLOCATORS_N; i++) {
        const struct as_gpu_allocator *a = &as_cu_allocators[i];
        struct as_allocator *out = &dev->info.allocators[i];
        *out = (struct as_allocator){.host_access = (a->sources & AS_GPU_FROM_HOST) != 0,
                                     .on_demand = a->on_demand && (faults || a->plain),
                                     .coherent = a->coherent};
        as_copy_text(out->name, sizeof out->name, a->name);
        out->role = as_role_in(as_cu_roles, a->name);
        say_sharing(gpu, a, out);
        if (a->needs && as_cu_attribute(gpu, a->needs) <= 0)
            snprintf(out->why_not, sizeof out->why_not, "the device has 0 for %s: %s", a->needs_name, a->why_not);
        as_gpu_say_no_pages(a, out);
    }
}
