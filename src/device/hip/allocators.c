/* The ways to get memory from HIP, by the API's own names. */
#include "device/hip/memory.h"

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

static bool shares_host_memory(const struct as_hip_device *hip)
{
    return as_hip_attribute(hip->api, hip->id, hipDeviceAttributeIntegrated) > 0;
}

/* Where device and host have one memory, the host uses what the device allocates in place. */
static void see_device(const struct as_hip_device *hip, struct as_hip_block *b)
{
    if (b->home == hip->id && shares_host_memory(hip))
        b->host = b->address;
}

static enum as_status get_plain(struct as_hip_device *hip, struct as_hip_block *b, struct as_error *err)
{
    enum as_status s = as_hip_check(hip->api, hip, hip->api->hipMalloc(&b->address, b->bytes), "hipMalloc", err);
    if (!s)
        see_device(hip, b);
    return s;
}

static enum as_status get_fine(struct as_hip_device *hip, struct as_hip_block *b, struct as_error *err)
{
    hipError_t code = hip->api->hipExtMallocWithFlags(&b->address, b->bytes, b->how->flags);
    enum as_status s = as_hip_check(hip->api, hip, code, "hipExtMallocWithFlags", err);
    if (!s)
        see_device(hip, b);
    return s;
}

static enum as_status get_managed(struct as_hip_device *hip, struct as_hip_block *b, struct as_error *err)
{
    hipError_t code = hip->api->hipMallocManaged(&b->address, b->bytes, hipMemAttachGlobal);
    b->host = code ? NULL : b->address;
    return as_hip_check(hip->api, hip, code, "hipMallocManaged", err);
}

static hipError_t release_plain(const struct as_hip_device *hip, struct as_hip_block *b)
{
    return b->address ? hip->api->hipFree(b->address) : hipSuccess;
}

static enum as_status see_host(struct as_hip_device *hip, struct as_hip_block *b, struct as_error *err)
{
    hipError_t code = hip->api->hipHostGetDevicePointer(&b->address, b->host, 0);
    return as_hip_check(hip->api, hip, code, "hipHostGetDevicePointer", err);
}

static enum as_status get_pinned(struct as_hip_device *hip, struct as_hip_block *b, struct as_error *err)
{
    hipError_t code = hip->api->hipHostMalloc(&b->host, b->bytes, hipHostMallocMapped | b->how->flags);
    enum as_status s = as_hip_check(hip->api, hip, code, "hipHostMalloc", err);
    return s ? s : see_host(hip, b, err);
}

static hipError_t release_pinned(const struct as_hip_device *hip, struct as_hip_block *b)
{
    return b->host ? hip->api->hipHostFree(b->host) : hipSuccess;
}

static enum as_status get_malloc(struct as_hip_device *hip, struct as_hip_block *b, struct as_error *err)
{
    (void)hip;
    uint64_t page = as_card_host_page();
    /* Whole pages, so that nothing else lies in them. */
    if (posix_memalign(&b->host, page, as_card_round_up(b->bytes, page))) {
        b->host = NULL;
        return as_nomem(err, b->bytes, "host memory for a device");
    }
    b->address = b->host;
    return AS_OK;
}

static hipError_t release_malloc(const struct as_hip_device *hip, struct as_hip_block *b)
{
    (void)hip;
    free(b->host);
    return hipSuccess;
}

static enum as_status get_registered(struct as_hip_device *hip, struct as_hip_block *b, struct as_error *err)
{
    enum as_status s = get_malloc(hip, b, err);
    if (s)
        return s;
    uint64_t bytes = as_card_round_up(b->bytes, as_card_host_page());
    hipError_t code = hip->api->hipHostRegister(b->host, bytes, hipHostRegisterMapped);
    s = as_hip_check(hip->api, hip, code, "hipHostRegister", err);
    b->registered = s == AS_OK;
    return s ? s : see_host(hip, b, err);
}

static hipError_t release_registered(const struct as_hip_device *hip, struct as_hip_block *b)
{
    hipError_t code = b->registered ? hip->api->hipHostUnregister(b->host) : hipSuccess;
    free(b->host);
    return code;
}

/* Only a kernel knows for sure where its static lies: the name that the module exports is of a pointer to it in some
 * versions of the runtime. */
static enum as_status ask_where(struct as_hip_device *hip, struct as_hip_block *b, struct as_error *err)
{
    const struct as_hip_api *api = hip->api;
    void *host = NULL, *address = NULL, *parameters[] = {&address};
    hipFunction_t where = NULL;
    enum as_status s =
        as_hip_check(api, hip, api->hipModuleGetFunction(&where, b->module, "as_where"), "hipModuleGetFunction", err);
    if (!s)
        s = as_hip_check(api, hip, api->hipHostMalloc(&host, sizeof(uint64_t), hipHostMallocMapped), "hipHostMalloc",
                         err);
    if (s)
        return s;
    *(volatile uint64_t *)host = 0;
    hipError_t code = api->hipHostGetDevicePointer(&address, host, 0);
    if (!code)
        code = api->hipModuleLaunchKernel(where, 1, 1, 1, 1, 1, 1, 0, hip->stream, parameters, NULL);
    hipError_t waited = api->hipStreamSynchronize(hip->stream);
    s = as_hip_check(api, hip, code ? code : waited, "as_where", err);
    b->address = (void *)(uintptr_t) * (volatile uint64_t *)host;
    api->hipHostFree(host);
    if (!s && !b->address)
        s = as_fail(err, AS_UNSUPPORTED, "hip: this runtime gives a module's __managed__ statics no memory");
    return s;
}

/* A static comes with a module: one of its own, compiled for the size. */
static enum as_status get_static(struct as_hip_device *hip, struct as_hip_block *b, struct as_error *err)
{
    static const char source[] = "__attribute__((device, managed)) unsigned char as_static[AS_STATIC_BYTES];\n"
                                 "KERNEL(as_where)(ARG_GLOBAL(0, u64, out) ARG_INDICES)\n"
                                 "{ out[0] = (u64)&as_static[0]; }\n";
    struct as_hiprtc_api *rtc = &hip->backend->rtc;
    char defines[64];
    unsigned char *code = NULL;
    size_t bytes = 0;
    enum as_status s = rtc->library ? AS_OK : as_hiprtc_load(rtc, hip->api->library, err);
    if (s)
        return s;
    snprintf(defines, sizeof defines, "-DAS_STATIC_BYTES=%llu", (unsigned long long)b->bytes);
    const struct as_program_desc desc = {.name = "managed static", .source = source, .defines = defines};
    s = as_hip_compile(rtc, &desc, &hip->target, &code, &bytes, err);
    if (!s)
        s = as_hip_check(hip->api, hip, hip->api->hipModuleLoadData(&b->module, code), "hipModuleLoadData", err);
    free(code);
    if (s) {
        b->module = NULL;
        return s;
    }
    s = ask_where(hip, b, err);
    b->host = b->address;
    return s;
}

static hipError_t release_static(const struct as_hip_device *hip, struct as_hip_block *b)
{
    return b->module ? hip->api->hipModuleUnload(b->module) : hipSuccess;
}

#define NEEDS(attribute) .needs = hipDeviceAttribute##attribute, .needs_name = "hipDeviceAttribute" #attribute
#define PINNED                                                                                                         \
    get_pinned, release_pinned, NEEDS(CanMapHostMemory), .why_not = "it does not see host memory",                     \
                                                         .sources = AS_HIP_FROM_HOST
#define MANAGED                                                                                                        \
    get_managed, release_plain, NEEDS(ManagedMemory), .why_not = "it has no managed memory",                           \
                                                      .sources = AS_HIP_FROM_DEVICE | AS_HIP_FROM_HOST,                \
                                                      .most = MANAGED_MIB * MIB, .coherent = true

static const struct as_hip_allocator allocators[] = {
    {"hipMalloc", get_plain, release_plain, .sources = AS_HIP_FROM_DEVICE, .anywhere = true},
    {"hipExtMallocWithFlags fine-grained", get_fine, release_plain, NEEDS(FineGrainSupport),
     .why_not = "it has no fine-grained memory", .flags = hipDeviceMallocFinegrained, .sources = AS_HIP_FROM_DEVICE,
     .anywhere = true},
    {"hipMallocManaged", MANAGED, .never = AS_HIP_XNACK_ON},
    {"hipMallocManaged XNACK", MANAGED, .never = AS_HIP_XNACK_OFF, .on_demand = true},
    {"hipHostMalloc", PINNED, .coherent = true},
    {"hipHostMalloc coherent", PINNED, .flags = hipHostMallocCoherent, .coherent = true},
    {"hipHostMalloc non-coherent", PINNED, .flags = hipHostMallocNonCoherent},
    {"hipHostRegister malloc", get_registered, release_registered, NEEDS(CanMapHostMemory),
     .why_not = "it does not see host memory", .sources = AS_HIP_FROM_HOST, .coherent = true},
    {"malloc", get_malloc, release_malloc, NEEDS(PageableMemoryAccess),
     .why_not = "its kernels cannot use what malloc gives; HSA_XNACK=1 allows it on chips that can",
     .sources = AS_HIP_FROM_HOST, .on_demand = true, .coherent = true, .plain = true},
    {"__managed__", get_static, release_static, NEEDS(ManagedMemory), .why_not = "it has no managed memory",
     .sources = AS_HIP_FROM_DEVICE | AS_HIP_FROM_HOST, .most = STATIC_MIB * MIB, .is_static = true},
};
enum { ALLOCATORS_N = sizeof allocators / sizeof *allocators };
_Static_assert((size_t)ALLOCATORS_N <= (size_t)AS_ALLOCATORS_MAX, "the table of allocators outgrew as_device_info");

/* A name with XNACK is of processes in which page faults are replayed, the same name without it of all others. */
static void say_why_not(const struct as_hip_device *hip, const struct as_hip_allocator *a, struct as_allocator *out)
{
    bool replays = hip->target.xnack == AS_HIP_XNACK_ON;
    if (a->needs && as_hip_attribute(hip->api, hip->id, a->needs) <= 0)
        snprintf(out->why_not, sizeof out->why_not, "the device has 0 for %s: %s", a->needs_name, a->why_not);
    else if (a->never == AS_HIP_XNACK_ON && replays)
        as_copy_text(out->why_not, sizeof out->why_not, "XNACK is on in this process; HSA_XNACK=0 turns it off");
    else if (a->never == AS_HIP_XNACK_OFF && !replays)
        as_copy_text(out->why_not, sizeof out->why_not,
                     hip->target.xnack == AS_HIP_XNACK_OFF
                         ? "XNACK is off in this process; HSA_XNACK=1 turns it on"
                         : "the device does not replay page faults: its target has no XNACK");
}

void as_hip_list_allocators(struct as_device *dev)
{
    const struct as_hip_device *hip = dev->ctx;
    bool one_memory = shares_host_memory(hip);
    dev->info.allocators_n = ALLOCATORS_N;
    for (size_t i = 0; i < ALLOCATORS_N; i++) {
        const struct as_hip_allocator *a = &allocators[i];
        struct as_allocator *out = &dev->info.allocators[i];
        bool fine = a->flags == hipDeviceMallocFinegrained;
        *out = (struct as_allocator){.host_access = (a->sources & AS_HIP_FROM_HOST) != 0 || one_memory,
                                     .on_demand = a->on_demand,
                                     .coherent = a->coherent || (fine && one_memory)};
        as_copy_text(out->name, sizeof out->name, a->name);
        say_why_not(hip, a, out);
    }
}

enum as_status as_hip_find_allocator(const struct as_device *dev, const char *name, const struct as_hip_allocator **out,
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
    return as_fail(err, AS_USAGE, "hip has no allocator '%s'; assay devices lists them", name);
}

static enum as_status check_device(struct as_hip_device *hip, int home, uint64_t bytes, bool managed,
                                   struct as_error *err)
{
    const struct as_hip_api *api = hip->api;
    size_t free = 0, total = 0;
    enum as_status s = as_hip_check(api, hip, api->hipSetDevice(home), "hipSetDevice", err);
    if (!s)
        s = as_hip_check(api, hip, api->hipMemGetInfo(&free, &total), "hipMemGetInfo", err);
    api->hipSetDevice(hip->id);
    if (!s && managed)
        s = as_card_check_managed("hip", bytes, free, err);
    return s ? s : as_card_check_free("hip", bytes, free, total, err);
}

enum as_status as_hip_check_size(struct as_hip_device *hip, const struct as_hip_allocator *how, int home,
                                 uint64_t bytes, uint64_t count, struct as_error *err)
{
    enum as_status s = as_card_check_count("hip", bytes, count, err);
    if (s)
        return s;
    if (how->most && bytes > how->most)
        return as_card_too_much(AS_UNSUPPORTED, "hip", bytes, how->most, " is the most that is taken of this kind",
                                err);
    /* What comes at first touch is only promised; each block could still be touched whole. */
    uint64_t all = how->on_demand ? bytes : bytes * count;
    bool from_host = (how->sources & AS_HIP_FROM_HOST) || (home == hip->id && shares_host_memory(hip));
    s = from_host ? as_card_check_host("hip", all, err) : AS_OK;
    if (s)
        return s;
    bool managed = how->most && how->sources & AS_HIP_FROM_HOST;
    return how->sources & AS_HIP_FROM_DEVICE ? check_device(hip, home, all, managed, err) : AS_OK;
}
