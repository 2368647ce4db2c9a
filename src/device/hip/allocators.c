/* HIP allocators, by the API's names. */
#include "device/hip/hip.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* If device and host share memory, the host uses device allocations in place. */
static void *host_of(const struct as_gpu *gpu, const struct as_gpu_block *b)
{
    return gpu->host_uses && b->home.device == gpu->here.device ? as_hip_pointer(b->address) : NULL;
}

static enum as_status hip_allocators_get_plain(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    void *address = NULL;
    enum as_status st = as_gpu_check(gpu, as_hip_of(gpu)->hipMalloc(&address, b->bytes), "hipMalloc", err);
    b->address = st ? 0 : (uintptr_t)address;
    b->host = host_of(gpu, b);
    return st;
}

static enum as_status get_pooled(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    const struct as_hip_api *api = as_hip_of(gpu);
    void *address = NULL;
    if (!api->hipMallocAsync || !api->hipFreeAsync)
        return as_fail(err, AS_UNSUPPORTED, "hip: this runtime has no memory pools");
    enum as_status st = as_gpu_check(gpu, api->hipMallocAsync(&address, b->bytes, gpu->stream), "hipMallocAsync", err);
    b->address = st ? 0 : (uintptr_t)address;
    b->host = host_of(gpu, b);
    return st;
}

static int release_pooled(const struct as_gpu *gpu, struct as_gpu_block *b)
{
    return b->address ? as_hip_of(gpu)->hipFreeAsync(as_hip_pointer(b->address), gpu->stream) : hipSuccess;
}

static enum as_status get_fine(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    void *address = NULL;
    hipError_t code = as_hip_of(gpu)->hipExtMallocWithFlags(&address, b->bytes, b->how->flags);
    b->address = code ? 0 : (uintptr_t)address;
    b->host = host_of(gpu, b);
    return as_gpu_check(gpu, code, "hipExtMallocWithFlags", err);
}

/* Without the flag of mapped memory, which makes memory coherent in any case; host memory is mapped without it too. */
static enum as_status get_unmapped(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    void *address = NULL;
    enum as_status st = AS_GPU_DO(gpu, err, host_alloc, &b->host, b->bytes, b->how->flags);
    if (!st)
        st = as_gpu_check(gpu, as_hip_of(gpu)->hipHostGetDevicePointer(&address, b->host, 0), "hipHostGetDevicePointer",
                          err);
    b->address = (uintptr_t)address;
    return st;
}

/* Is host memory coherent where its flags do not say? */
static bool is_host_coherent(void)
{
    const char *coherent = getenv("HIP_HOST_COHERENT");
    return coherent && strtol(coherent, NULL, 10) != 0;
}

static enum as_status hip_allocators_get_managed(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    void *address = NULL;
    hipError_t code = as_hip_of(gpu)->hipMallocManaged(&address, b->bytes, hipMemAttachGlobal);
    b->host = code ? NULL : address;
    b->address = (uintptr_t)b->host;
    enum as_status st = as_gpu_check(gpu, code, "hipMallocManaged", err);
    return st || !b->how->settle ? st : b->how->settle(gpu, b, err);
}

/* Whom advice and prefetches are for. The allocator's flags: FOR_HOST, or the device. */
enum { FOR_DEVICE, FOR_HOST };
static int device_for(const struct as_gpu *gpu, const struct as_gpu_block *b)
{
    return b->how->flags == FOR_HOST ? hipCpuDeviceId : gpu->here.device;
}

/* The moved pages are there when it returns. */
static enum as_status prefetch(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    const struct as_hip_api *api = as_hip_of(gpu);
    if (!api->hipMemPrefetchAsync)
        return as_fail(err, AS_UNSUPPORTED, "hip: this runtime cannot prefetch");
    hipError_t code = api->hipMemPrefetchAsync(b->host, b->bytes, device_for(gpu, b), gpu->stream);
    const enum as_status st = as_gpu_check(gpu, code, "hipMemPrefetchAsync", err);
    return st ? st : AS_GPU_DO(gpu, err, stream_synchronize, gpu->stream);
}

/* One function per advice, since an allocator's option is the XNACK mode. */
static enum as_status advise(struct as_gpu *gpu, const struct as_gpu_block *b, hipMemoryAdvise advice,
                             struct as_error *err)
{
    const struct as_hip_api *api = as_hip_of(gpu);
    if (!api->hipMemAdvise)
        return as_fail(err, AS_UNSUPPORTED, "hip: this runtime lacks hipMemAdvise");
    hipError_t code = api->hipMemAdvise(b->host, b->bytes, advice, device_for(gpu, b));
    return as_gpu_check(gpu, code, "hipMemAdvise", err);
}

static enum as_status advise_preferred(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    return advise(gpu, b, hipMemAdviseSetPreferredLocation, err);
}

static enum as_status advise_read_mostly(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    return advise(gpu, b, hipMemAdviseSetReadMostly, err);
}

static enum as_status advise_accessed(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    return advise(gpu, b, hipMemAdviseSetAccessedBy, err);
}

static enum as_status advise_coarse(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    return advise(gpu, b, hipMemAdviseSetCoarseGrain, err);
}

static int hip_allocators_release_plain(const struct as_gpu *gpu, struct as_gpu_block *b)
{
    return b->address ? as_hip_of(gpu)->hipFree(as_hip_pointer(b->address)) : hipSuccess;
}

/* Creates physical memory, reserves an address range, maps it and grants access. b->taken is set while the range is
 * reserved, b->page_size while memory is mapped. */
static enum as_status get_mapped(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    const struct as_hip_api *api = as_hip_of(gpu);
    const hipMemAllocationProp where = {.type = hipMemAllocationTypePinned,
                                        .location = {hipMemLocationTypeDevice, b->home.device}};
    const hipMemAccessDesc access[] = {
        {where.location, hipMemAccessFlagsProtReadWrite},
        {{hipMemLocationTypeDevice, gpu->here.device}, hipMemAccessFlagsProtReadWrite},
    };
    hipMemGenericAllocationHandle_t handle = NULL;
    void *address = NULL;
    size_t page = 0;
    if (!api->hipMemGetAllocationGranularity || !api->hipMemCreate || !api->hipMemRelease ||
        !api->hipMemAddressReserve || !api->hipMemAddressFree || !api->hipMemMap || !api->hipMemUnmap ||
        !api->hipMemSetAccess)
        return as_fail(err, AS_UNSUPPORTED, "hip: this runtime has no virtual memory management");
    hipError_t code = api->hipMemGetAllocationGranularity(&page, &where, hipMemAllocationGranularityMinimum);
    if (code || page == 0)
        return as_gpu_check(gpu, code ? code : hipErrorNotSupported, "hipMemGetAllocationGranularity", err);
    const uint64_t bytes = as_gpu_round_up(b->bytes, page);
    enum as_status st = as_gpu_check(gpu, api->hipMemCreate(&handle, bytes, &where, 0), "hipMemCreate", err);
    if (st)
        return st;
    b->physical = handle;
    st = as_gpu_check(gpu, api->hipMemAddressReserve(&address, bytes, 0, NULL, 0), "hipMemAddressReserve", err);
    b->taken = st ? 0 : bytes;
    b->address = (uintptr_t)address;
    if (!st)
        st = as_gpu_check(gpu, api->hipMemMap(address, bytes, 0, handle, 0), "hipMemMap", err);
    if (st)
        return st;
    b->page_size = page;
    const size_t n = b->home.device == gpu->here.device ? 1 : 2;
    return as_gpu_check(gpu, api->hipMemSetAccess(address, bytes, access, n), "hipMemSetAccess", err);
}

static int release_mapped(const struct as_gpu *gpu, struct as_gpu_block *b)
{
    const struct as_hip_api *api = as_hip_of(gpu);
    hipError_t code = hipSuccess;
    if (b->page_size)
        code = api->hipMemUnmap(as_hip_pointer(b->address), b->taken);
    if (b->taken && !code)
        code = api->hipMemAddressFree(as_hip_pointer(b->address), b->taken);
    if (!b->physical)
        return code;
    const hipError_t released = api->hipMemRelease(b->physical);
    return code ? code : released;
}

/* Only a kernel knows the address of its static variable: in some versions of the runtime the exported symbol is a
 * pointer to it. */
static enum as_status ask_where(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    const struct as_gpu_functions *f = gpu->f;
    void *host = NULL;
    unsigned long long out = 0;
    void *parameters[] = {&out};
    hipFunction_t where = NULL;
    enum as_status st = AS_GPU_DO(gpu, err, module_function, &where, b->module, "as_where");
    if (!st)
        st = AS_GPU_DO(gpu, err, host_alloc, &host, sizeof(uint64_t), gpu->api->host_mapped);
    if (st)
        return st;
    *(volatile uint64_t *)host = 0;
    int code = gpu->api->host_address(gpu, host, &out);
    if (!code)
        code = f->launch.call(where, 1, 1, 1, 1, 1, 1, 0, gpu->stream, parameters, NULL);
    int waited = f->stream_synchronize.call(gpu->stream);
    st = as_gpu_check(gpu, code ? code : waited, "as_where", err);
    b->address = *(volatile uint64_t *)host;
    f->host_free.call(host);
    if (!st && !b->address)
        st = as_fail(err, AS_UNSUPPORTED, "hip: this runtime allocates no memory for a module's __managed__ variables");
    return st;
}

/* A static variable needs a module, compiled for its size. */
static enum as_status hip_allocators_get_static(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    static const char source[] = "__attribute__((device, managed)) unsigned char as_static[AS_STATIC_BYTES];\n"
                                 "KERNEL(as_where)(ARG_GLOBAL(0, u64, out) ARG_INDICES)\n"
                                 "{ out[0] = (u64)&as_static[0]; }\n";
    enum as_status st = as_gpu_load_static(gpu, b, source, err);
    if (!st)
        st = ask_where(gpu, b, err);
    b->host = as_hip_pointer(b->address);
    return st;
}

#define NEEDS(attribute) .needs = hipDeviceAttribute##attribute, .needs_name = "hipDeviceAttribute" #attribute
#define PINNED PINNED_BY(as_gpu_get_pinned)
#define PINNED_BY(get)                                                                                                 \
    get, as_gpu_release_pinned, NEEDS(CanMapHostMemory), .why_not = "it does not see host memory",                     \
                                                         .sources = AS_GPU_FROM_HOST
#define MANAGED                                                                                                        \
    hip_allocators_get_managed, hip_allocators_release_plain, NEEDS(ManagedMemory),                                    \
        .why_not = "it has no managed memory", .sources = AS_GPU_FROM_DEVICE | AS_GPU_FROM_HOST,                       \
        .most = AS_GPU_MANAGED_MAX, .coherent = true

#define SETTLED(how, for_whom)                                                                                         \
    hip_allocators_get_managed, hip_allocators_release_plain, how, NEEDS(ConcurrentManagedAccess),                     \
        .sources = AS_GPU_FROM_DEVICE | AS_GPU_FROM_HOST, .most = AS_GPU_MANAGED_MAX, .flags = for_whom
#define ADVISED(how, for_whom)                                                                                         \
    SETTLED(how, for_whom), .why_not = "it supports no advice on managed memory", .coherent = true
#define PREFETCHED(for_whom)                                                                                           \
    SETTLED(prefetch, for_whom), .why_not = "its managed memory cannot be prefetched", .coherent = true

/* option: the XNACK mode in which the entry is unavailable; AS_HIP_XNACK_NONE: always available. */
const struct as_gpu_allocator as_hip_allocators[] = {
    {"hipMalloc", hip_allocators_get_plain, hip_allocators_release_plain, .sources = AS_GPU_FROM_DEVICE,
     .anywhere = true},
    {"hipMallocAsync", get_pooled, release_pooled, NEEDS(MemoryPoolsSupported), .why_not = "it has no memory pools",
     .sources = AS_GPU_FROM_DEVICE, .in_order = true},
    {"hipMemCreate", get_mapped, release_mapped, NEEDS(VirtualMemoryManagementSupported),
     .why_not = "it has no virtual memory management", .sources = AS_GPU_FROM_DEVICE, .anywhere = true,
     .granted = true},
    {"hipExtMallocWithFlags fine-grained", get_fine, hip_allocators_release_plain, NEEDS(FineGrainSupport),
     .why_not = "it has no fine-grained memory", .flags = hipDeviceMallocFinegrained, .sources = AS_GPU_FROM_DEVICE,
     .anywhere = true},
    {"hipMallocManaged", MANAGED, .option = AS_HIP_XNACK_ON},
    {"hipMallocManaged XNACK", MANAGED, .option = AS_HIP_XNACK_OFF, .on_demand = true},
    {"hipMallocManaged prefer device", ADVISED(advise_preferred, FOR_DEVICE)},
    {"hipMallocManaged prefer host", ADVISED(advise_preferred, FOR_HOST)},
    {"hipMallocManaged read mostly", ADVISED(advise_read_mostly, FOR_DEVICE)},
    {"hipMallocManaged accessed by device", ADVISED(advise_accessed, FOR_DEVICE)},
    {"hipMallocManaged coarse-grained", SETTLED(advise_coarse, FOR_DEVICE),
     .why_not = "it supports no advice on managed memory"},
    {"hipMallocManaged prefetch", PREFETCHED(FOR_DEVICE), .again = AS_GPU_AFTER_HOST},
    {"hipMallocManaged prefetch to host", PREFETCHED(FOR_HOST), .again = AS_GPU_BEFORE_HOST},
    {"hipHostMalloc", PINNED, .coherent = true},
    {"hipHostMalloc coherent", PINNED, .flags = hipHostMallocCoherent, .coherent = true},
    {"hipHostMalloc non-coherent", PINNED_BY(get_unmapped), .flags = hipHostMallocNonCoherent},
    {"hipHostMalloc portable", PINNED_BY(get_unmapped), .flags = hipHostMallocPortable},
    {"hipHostRegister malloc", as_gpu_get_registered, as_gpu_release_registered, NEEDS(CanMapHostMemory),
     .why_not = "it does not see host memory", .sources = AS_GPU_FROM_HOST, .coherent = true},
    {"malloc", as_gpu_get_malloc, as_gpu_release_malloc, NEEDS(PageableMemoryAccess),
     .why_not = "its kernels cannot access malloc memory; HSA_XNACK=1 allows it on chips with XNACK",
     .sources = AS_GPU_FROM_HOST, .on_demand = true, .coherent = true, .plain = true},
    {"malloc huge pages", as_gpu_get_malloc, as_gpu_release_malloc, NEEDS(PageableMemoryAccess),
     .why_not = "its kernels cannot access malloc memory; HSA_XNACK=1 allows it on chips with XNACK",
     .sources = AS_GPU_FROM_HOST, .on_demand = true, .coherent = true, .plain = true, .pages = AS_GPU_HUGE_PAGES},
    {"hugetlb", as_gpu_get_pool, as_gpu_release_pool, NEEDS(PageableMemoryAccess),
     .why_not = "its kernels cannot access memory of the process; HSA_XNACK=1 allows it on chips with XNACK",
     .sources = AS_GPU_FROM_HOST, .on_demand = true, .coherent = true, .plain = true, .pages = AS_GPU_POOL_PAGES},
    {"__managed__", hip_allocators_get_static, as_gpu_release_static, NEEDS(ManagedMemory),
     .why_not = "it has no managed memory", .sources = AS_GPU_FROM_DEVICE | AS_GPU_FROM_HOST, .most = AS_GPU_STATIC_MAX,
     .is_static = true},
    {.name = NULL},
};
enum { ALLOCATORS_N = sizeof as_hip_allocators / sizeof *as_hip_allocators - 1 };
_Static_assert((size_t)ALLOCATORS_N <= (size_t)AS_ALLOCATORS_MAX, "the table of allocators outgrew as_device_info");

/* Names with XNACK are for processes in which page faults are replayed, names without it for all others. */
static void say_why_not(const struct as_hip_device *hip, const struct as_gpu_allocator *a, struct as_allocator *out)
{
    bool replays = hip->target.xnack == AS_HIP_XNACK_ON;
    if (a->needs && as_hip_count(as_hip_of(&hip->gpu), hip->gpu.here.device, a->needs) == 0)
        snprintf(out->why_not, sizeof out->why_not, "the device has 0 for %s: %s", a->needs_name, a->why_not);
    else if (a->option == AS_HIP_XNACK_ON && replays)
        as_copy_text(out->why_not, sizeof out->why_not, "XNACK is on in this process; HSA_XNACK=0 turns it off");
    else if (a->option == AS_HIP_XNACK_OFF && !replays)
        as_copy_text(out->why_not, sizeof out->why_not,
                     hip->target.xnack == AS_HIP_XNACK_OFF
                         ? "XNACK is off in this process; HSA_XNACK=1 turns it on"
                         : "the device cannot replay page faults: its target has no XNACK");
}

void as_hip_list_allocators(struct as_device *dev)
{
    const struct as_hip_device *hip = dev->ctx;
    bool one_memory = hip->gpu.host_uses;
    dev->info.allocators_n = ALLOCATORS_N;
    for (size_t i = 0; i < ALLOCATORS_N; i++) {
        const struct as_gpu_allocator *a = &as_hip_allocators[i];
        struct as_allocator *out = &dev->info.allocators[i];
        bool fine = a->get == get_fine, open = a->get == get_unmapped && a->flags == hipHostMallocPortable;
        *out = (struct as_allocator){.host_access = (a->sources & AS_GPU_FROM_HOST) != 0 || (one_memory && !a->granted),
                                     .on_demand = a->on_demand,
                                     .coherent = a->coherent || (fine && one_memory) || (open && is_host_coherent())};
        as_copy_text(out->name, sizeof out->name, a->name);
        out->role = as_role_in(as_hip_roles, a->name);
        say_why_not(hip, a, out);
        as_gpu_say_no_pages(a, out);
        if (a->granted)
            as_copy_text(out->no_sharing, sizeof out->no_sharing, "the host can access it only through a copy");
        else if (hip->gpu.in_host_memory && !out->host_access)
            as_copy_text(out->no_sharing, sizeof out->no_sharing,
                         "the device has the host's memory, but a value written there was not read by the host");
    }
}
