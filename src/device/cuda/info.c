/* The description of a CUDA device. */
#include "device/cuda/cuda.h"

#include "base/text.h"
#include "device/dialect/dialect.h"

#include <stdio.h>
#include <string.h>

static int attribute_at(const struct as_cu_api *api, CUdevice id, int attribute)
{
    int value = 0;
    return api->cuDeviceGetAttribute(&value, attribute, id) == CUDA_SUCCESS ? value : 0;
}

int as_cu_attribute(const struct as_gpu *gpu, int attribute)
{
    return attribute_at(as_cu_of(gpu), gpu->here.device, attribute);
}

/* An attribute that is a count; 0 if negative. */
static unsigned cuda_info_count_of(const struct as_gpu *gpu, int attribute)
{
    int n = as_cu_attribute(gpu, attribute);
    return n > 0 ? (unsigned)n : 0;
}

void as_cu_find_target(struct as_gpu *gpu)
{
    snprintf(gpu->target, sizeof gpu->target, "sm_%u%u",
             cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) % 1000,
             cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) % 1000);
}

void as_cu_locate(const struct as_cu_api *api, struct as_gpu_found *found)
{
    char text[32] = "";
    if (api->cuDeviceGetPCIBusId(text, sizeof text - 1, found->id))
        text[0] = 0;
    as_gpu_locate(found, text, (unsigned)attribute_at(api, found->id, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                  (unsigned)attribute_at(api, found->id, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                  (unsigned)attribute_at(api, found->id, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
}

/* The first word of text that is a version ("580.82.07"); false if there is none. */
static bool find_version(const char *text, char *out, size_t size)
{
    for (const char *at = text + strspn(text, " \t\n"); *at; at += strspn(at, " \t\n")) {
        size_t n = strcspn(at, " \t\n");
        if (n < size && strspn(at, "0123456789.") == n && memchr(at, '.', n)) {
            memcpy(out, at, n);
            out[n] = 0;
            return true;
        }
        at += n;
    }
    return false;
}

/* How kernels reach memory that the host's allocator gave: by address translation services, which read the host's page
 * tables; by heterogeneous memory management, which mirrors them; or not at all, where only managed memory moves. */
static const char *unified_memory(const struct as_gpu *gpu)
{
    if (as_cu_attribute(gpu, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES))
        return ", ATS";
    if (as_cu_attribute(gpu, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS))
        return ", HMM";
    return as_cu_attribute(gpu, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) ? ", UVM" : "";
}

static void append_unified_memory(struct as_device_info *info, const struct as_gpu *gpu)
{
    const size_t n = strlen(info->driver);
    const bool direct = as_cu_attribute(gpu, CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST) != 0;
    snprintf(info->driver + n, sizeof info->driver - n, "%s%s", unified_memory(gpu),
             direct ? ", host access to managed memory on the device" : "");
}

static void cuda_info_fill_driver(struct as_device_info *info, const struct as_cu_api *api)
{
    struct as_buf file = AS_BUF_INIT;
    char version[32];
    int cuda = 0;
    if (api->cuDriverGetVersion(&cuda) || cuda < 0)
        cuda = 0;
    if (as_buf_read_file(&file, "/proc/driver/nvidia/version", 4096, NULL) == AS_OK &&
        find_version(as_buf_get(&file), version, sizeof version))
        snprintf(info->driver, sizeof info->driver, "driver %s, CUDA %d.%d", version, cuda / 1000, cuda % 1000 / 10);
    else
        snprintf(info->driver, sizeof info->driver, "CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
    as_buf_finish(&file);
}

static void cuda_info_fill_names(struct as_device_info *info, const struct as_gpu *gpu)
{
    char name[256] = "";
    CUuuid uuid = {{0}};
    if (as_cu_of(gpu)->cuDeviceGetName(name, sizeof name - 1, gpu->here.device))
        name[0] = 0;
    name[sizeof name - 1] = 0;
    as_copy_clean(info->name, sizeof info->name, name[0] ? name : "device without a name");
    as_copy_text(info->vendor, sizeof info->vendor, "NVIDIA");
    cuda_info_fill_driver(info, as_cu_of(gpu));
    append_unified_memory(info, gpu);
    if (as_cu_of(gpu)->cuDeviceGetUuid_v2(&uuid, gpu->here.device))
        return;
    unsigned char u[sizeof uuid.bytes];
    memcpy(u, uuid.bytes, sizeof u);
    snprintf(info->uuid, sizeof info->uuid, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

static unsigned cuda_info_capabilities(const struct as_gpu *gpu)
{
    unsigned caps = AS_CAP_SOURCE | AS_CAP_CLOCK | AS_CAP_FP64 | AS_CAP_ASYNC | AS_CAP_EVENTS | AS_CAP_GRAPHS |
                    AS_CAP_TOGETHER | AS_CAP_CODE | AS_CAP_CYCLES | AS_CAP_QUEUES | AS_CAP_FREE_COUNT | AS_CAP_PEERS;
    unsigned major = cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    if (major > 5 || (major == 5 && cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) >= 3))
        caps |= AS_CAP_FP16;
    if (cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT))
        caps |= AS_CAP_COPY;
    /* Without it, atomics of device and CPU on host memory are not mutually atomic. */
    if (cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED))
        caps |= AS_CAP_SVM_ATOMICS;
    if (gpu->backend->found_n > 1)
        caps |= AS_CAP_TEAM;
    return caps;
}

static void cuda_info_fill_unit(struct as_device_info *info, const struct as_gpu *gpu)
{
    info->compute_units = cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->threads = cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info->warp = cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    info->compute_unit_threads = cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    info->compute_unit_registers = cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    info->compute_unit_shared = cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    info->workgroup_shared = cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    as_copy_text(info->arch, sizeof info->arch, gpu->target);
    as_copy_text(info->dialect, sizeof info->dialect, as_dialect_word(AS_DIALECT_CUDA));
    info->clock_max_hz = 1e3 * cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
}

static void cuda_info_fill_memory(struct as_device_info *info, const struct as_gpu *gpu)
{
    size_t total = 0, page = 0;
    const CUmemAllocationProp on_device = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                           .location = {CU_MEM_LOCATION_TYPE_DEVICE, gpu->here.device}};
    if (as_cu_of(gpu)->cuDeviceTotalMem_v2(&total, gpu->here.device) == CUDA_SUCCESS)
        info->memory_bytes = total;
    if (cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) &&
        as_cu_of(gpu)->cuMemGetAllocationGranularity(&page, &on_device, CU_MEM_ALLOC_GRANULARITY_MINIMUM) ==
            CUDA_SUCCESS)
        info->page_size = page;
    /* Both clocks are in kHz; memory transfers data at both edges. */
    info->peak_bandwidth = 2e3 * cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *
                           cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
    /* Node 0 is the system's. */
    if (as_cu_attribute(gpu, CU_DEVICE_ATTRIBUTE_NUMA_CONFIG) == CU_DEVICE_NUMA_CONFIG_NUMA_NODE)
        info->memory_node = cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_NUMA_ID);
    info->is_host_memory = cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0;
    /* The only cache whose size the driver reports. */
    unsigned l2 = cuda_info_count_of(gpu, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    if (l2)
        info->caches[info->caches_n++] =
            (struct as_cache){.level = 2, .kind = 'u', .size = l2, .shared = info->compute_units};
}

enum as_status as_cu_fill_info(struct as_device *dev, size_t index, struct as_error *err)
{
    const struct as_gpu *gpu = dev->ctx;
    struct as_device_info *info = &dev->info;
    as_gpu_fill_info(dev, index);
    cuda_info_fill_names(info, gpu);
    info->capabilities = cuda_info_capabilities(gpu);
    cuda_info_fill_unit(info, gpu);
    cuda_info_fill_memory(info, gpu);
    as_cu_list_allocators(dev);
    return as_gpu_fill_limits(dev, err);
}
