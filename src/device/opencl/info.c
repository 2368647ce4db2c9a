/* The description of an OpenCL device. */
#include "device/opencl/opencl.h"

#include "base/host.h"
#include "base/text.h"
#include "device/arena.h"
#include "device/dialect/dialect.h"
#include "device/host.h"
#include "device/host_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Missing in some versions of the headers. */
enum { WARP_SIZE_NV = 0x4003, GLOBAL_FREE_MEMORY_AMD = 0x4039, WAVEFRONT_WIDTH_AMD = 0x4043 };

static bool opencl_info_is_cpu(const struct as_cl_device *cl)
{
    return (cl->type & CL_DEVICE_TYPE_CPU) != 0;
}

enum as_status as_cl_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    if (opencl_info_is_cpu(cl)) {
        /* CPU drivers report memory that changes with use; the kernel's numbers do not. */
        struct as_host_limits host;
        enum as_status st = as_host_limits_now(&host, err);
        *bytes = st ? 0 : host.free + as_arenas_idle(dev);
        return st;
    }
    size_t kib[2] = {0, 0};
    if (as_cl_has_extension(cl->api, cl->id, "cl_amd_device_attribute_query") &&
        cl->api->clGetDeviceInfo(cl->id, GLOBAL_FREE_MEMORY_AMD, sizeof kib, kib, NULL) == CL_SUCCESS)
        *bytes = (uint64_t)kib[0] << 10;
    else /* the standard has no query for free memory, so use by other processes is not visible */
        *bytes = cl->total > cl->held ? cl->total - cl->held : 0;
    return AS_OK;
}

/* The newest language version that the device compiles; 3.0 devices report it only in the list of all versions. */
static const char *newest_language(const struct as_cl_api *api, cl_device_id id)
{
    cl_name_version list[64] = {{0}};
    size_t n = 0;
    unsigned major = 1, minor = 2;
    char text[64];
    as_cl_device_text(api, id, CL_DEVICE_OPENCL_C_VERSION, text, sizeof text);
    if (sscanf(text, "OpenCL C %u.%u", &major, &minor) != 2)
        major = 1;
    /* A size larger than the buffer passed is invalid. */
    if (!api->clGetDeviceInfo(id, CL_DEVICE_OPENCL_C_ALL_VERSIONS, sizeof list, list, &n) && n <= sizeof list)
        for (size_t i = 0; i < n / sizeof *list; i++)
            if (CL_VERSION_MAJOR(list[i].version) > major)
                major = CL_VERSION_MAJOR(list[i].version);
    return major >= 3 ? "-cl-std=CL3.0" : major == 2 ? "-cl-std=CL2.0" : "-cl-std=CL1.2";
}

static void opencl_info_fill_text(struct as_device_info *info, const struct as_cl_api *api,
                                  const struct as_cl_found *found)
{
    char version[96], driver[64], raw[256] = "";
    as_cl_device_text(api, found->id, CL_DEVICE_NAME, info->name, sizeof info->name);
    as_cl_device_text(api, found->id, CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor);
    as_cl_device_text(api, found->id, CL_DRIVER_VERSION, driver, sizeof driver);
    if (!api->clGetPlatformInfo(found->platform, CL_PLATFORM_NAME, sizeof raw - 1, raw, NULL))
        as_copy_clean(version, sizeof version, raw);
    else
        as_copy_text(version, sizeof version, "OpenCL");
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "%s %s", version, driver);
    as_copy_text(info->driver, sizeof info->driver, as_buf_get(&b));
    as_buf_finish(&b);
    if (info->name[0] == 0)
        as_copy_text(info->name, sizeof info->name, "device without a name");
}

static void opencl_info_fill_uuid(struct as_device_info *info, const struct as_cl_api *api, cl_device_id id)
{
    unsigned char u[CL_UUID_SIZE_KHR];
    size_t n = 0;
    if (!as_cl_has_extension(api, id, "cl_khr_device_uuid") ||
        api->clGetDeviceInfo(id, CL_DEVICE_UUID_KHR, sizeof u, u, &n) || n != sizeof u)
        return;
    static const unsigned dash_before[] = {4, 6, 8, 10};
    char *at = info->uuid;
    for (unsigned i = 0, d = 0; i < sizeof u; i++) {
        if (d < sizeof dash_before / sizeof *dash_before && i == dash_before[d]) {
            *at++ = '-';
            d++;
        }
        at += snprintf(at, 3, "%02x", u[i]);
    }
}

static const struct {
    const char *name;
    unsigned capability;
} extensions[] = {
    {"cl_khr_fp16", AS_CAP_FP16},
    {"cl_khr_integer_dot_product", AS_CAP_DOT_4X8},
    {"cl_khr_subgroups", AS_CAP_SUBGROUPS},
    {"cl_khr_subgroup_ballot", AS_CAP_SUBGROUP_BALLOT},
    {"cl_khr_subgroup_shuffle", AS_CAP_SUBGROUP_SHUFFLE},
    {"cl_khr_subgroup_non_uniform_arithmetic", AS_CAP_SUBGROUP_ARITHMETIC},
    {"cl_khr_subgroup_clustered_reduce", AS_CAP_SUBGROUP_CLUSTERED},
};

static unsigned opencl_info_capabilities(const struct as_cl_device *cl)
{
    unsigned caps = AS_CAP_SOURCE | AS_CAP_ASYNC | AS_CAP_EVENTS | AS_CAP_COPY | AS_CAP_QUEUES;
    const cl_device_svm_capabilities shared = CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS;
    if (as_cl_device_number(cl->api, cl->id, CL_DEVICE_DOUBLE_FP_CONFIG))
        caps |= AS_CAP_FP64;
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (as_cl_has_extension(cl->api, cl->id, extensions[i].name))
            caps |= extensions[i].capability;
    if ((cl->svm & shared) == shared)
        caps |= AS_CAP_SVM_ATOMICS;
    if (!opencl_info_is_cpu(cl) && as_cl_has_extension(cl->api, cl->id, "cl_amd_device_attribute_query"))
        caps |= AS_CAP_FREE_COUNT;
    if (as_cl_device_number(cl->api, cl->id, CL_DEVICE_QUEUE_PROPERTIES) & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        caps |= AS_CAP_TOGETHER;
    /* NVIDIA's compiler takes PTX, whose counters the prelude reads. */
    if (!cl->no_counter && as_cl_has_extension(cl->api, cl->id, "cl_nv_device_attribute_query"))
        caps |= AS_CAP_CYCLES;
    return caps;
}

/* Subgroup size: the standard query came with 3.0. */
static unsigned opencl_info_lanes(const struct as_cl_device *cl)
{
    static const cl_device_info queries[] = {CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, WARP_SIZE_NV,
                                             WAVEFRONT_WIDTH_AMD};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        uint64_t n = as_cl_device_number(cl->api, cl->id, queries[i]);
        if (n)
            return (unsigned)n;
    }
    return 1;
}

/* SIMD width of one work-item; devices with scalar work-items report 1 for each type. */
static unsigned vector_bytes(const struct as_cl_device *cl)
{
    static const struct {
        cl_device_info query;
        unsigned bytes;
    } types[] = {{CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4}, {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 8}};
    unsigned most = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        uint64_t lanes = as_cl_device_number(cl->api, cl->id, types[i].query);
        if (lanes > 1 && lanes <= 16 && lanes * types[i].bytes > most)
            most = (unsigned)lanes * types[i].bytes;
    }
    return most;
}

static void opencl_info_fill_memory(struct as_device *dev)
{
    struct as_cl_device *cl = dev->ctx;
    struct as_device_info *info = &dev->info;
    const struct as_cl_api *api = cl->api;
    cl->total = as_cl_device_number(api, cl->id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->memory_bytes = cl->total;
    info->max_alloc = as_cl_device_number(api, cl->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->is_host_cpu = opencl_info_is_cpu(cl);
    as_copy_text(info->dialect, sizeof info->dialect, as_dialect_word(AS_DIALECT_OPENCL));
    info->is_host_memory =
        opencl_info_is_cpu(cl) || as_cl_device_number(api, cl->id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    if (opencl_info_is_cpu(cl)) {
        struct as_host_limits host;
        if (as_host_limits_now(&host, NULL) == AS_OK)
            info->memory_bytes = host.total;
        info->page_size = as_host_page();
        /* CPU drivers report one cache at most. A GPU's "global memory cache" may be one L1, all L1s or the L2,
         * depending on the driver, so it is ignored. */
        as_host_caches(info);
    }
    as_cl_memory_free(dev, &info->memory_free, NULL);
}

enum as_status as_cl_fill_info(struct as_device *dev, const struct as_cl_found *found, size_t index,
                               struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    struct as_device_info *info = &dev->info;
    const struct as_cl_api *api = cl->api;
    if (!as_cl_device_number(api, cl->id, CL_DEVICE_AVAILABLE))
        return as_fail(err, AS_UNSUPPORTED, "opencl: the driver reports device %zu as not available", index);
    if (!as_cl_device_number(api, cl->id, CL_DEVICE_COMPILER_AVAILABLE))
        return as_fail(err, AS_UNSUPPORTED, "opencl: device %zu has no kernel compiler", index);
    cl->type = as_cl_device_number(api, cl->id, CL_DEVICE_TYPE);
    cl->svm = api->clSVMAlloc ? as_cl_device_number(api, cl->id, CL_DEVICE_SVM_CAPABILITIES) : 0;
    cl->language = newest_language(api, cl->id);
    const char *counter = getenv(AS_CL_COUNTER);
    cl->no_counter = counter && strcmp(counter, "0") == 0;
    snprintf(info->id, sizeof info->id, "opencl:%zu", index);
    as_copy_text(info->backend, sizeof info->backend, "opencl");
    as_copy_text(info->bus_id, sizeof info->bus_id, found->bus_id);
    opencl_info_fill_text(info, api, found);
    opencl_info_fill_uuid(info, api, cl->id);
    info->capabilities = opencl_info_capabilities(cl);
    info->compute_units = (unsigned)as_cl_device_number(api, cl->id, CL_DEVICE_MAX_COMPUTE_UNITS);
    info->threads = (unsigned)as_cl_device_number(api, cl->id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    info->warp = opencl_info_lanes(cl);
    info->vector_bytes = vector_bytes(cl);
    info->clock_max_hz = 1e6 * (double)as_cl_device_number(api, cl->id, CL_DEVICE_MAX_CLOCK_FREQUENCY);
    info->numa_nodes = 1;
    opencl_info_fill_memory(dev);
    as_cl_list_allocators(dev);
    return AS_OK;
}
