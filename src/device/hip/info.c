/* The description of a HIP device. */
#include "device/hip/hip.h"

#include "base/text.h"
#include "device/dialect/dialect.h"

#include <stdio.h>
#include <string.h>

static unsigned hip_info_count_of(const struct as_hip_device *hip, int attribute)
{
    return as_hip_count(as_hip_of(&hip->gpu), hip->gpu.here.device, attribute);
}

/* A mode is one word of capitals and digits. */
static void append_mode(const char *root, const char *bus_id, const char *file, char *out, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    char path[256];
    struct as_buf text = AS_BUF_INIT;
    snprintf(path, sizeof path, "%.128s/sys/bus/pci/devices/%.24s/%s", root, bus_id, file);
    if (as_buf_read_file(&text, path, 64, NULL) == AS_OK) {
        const char *mode = as_buf_get(&text);
        const size_t n = strspn(mode, letters), used = strlen(out);
        if (n && n <= 8 && mode[n + strspn(mode + n, " \n")] == 0)
            snprintf(out + used, size - used, ", %.*s", (int)n, mode);
    }
    as_buf_finish(&text);
}

void as_hip_partition_text(const char *root, const char *bus_id, char *out, size_t size)
{
    out[0] = 0;
    if (!bus_id[0] || bus_id[strspn(bus_id, "0123456789abcdefABCDEF:.")])
        return;
    append_mode(root, bus_id, "current_compute_partition", out, size);
    append_mode(root, bus_id, "current_memory_partition", out, size);
}

/* The driver's version, with settings that affect memory in this process. */
static void hip_info_fill_driver(struct as_device_info *info, const struct as_hip_device *hip)
{
    static const char *const replays[] = {
        [AS_HIP_XNACK_NONE] = "", [AS_HIP_XNACK_OFF] = ", XNACK off", [AS_HIP_XNACK_ON] = ", XNACK on"};
    int version = 0;
    char modes[32];
    as_hip_partition_text("", info->bus_id, modes, sizeof modes);
    if (as_hip_of(&hip->gpu)->hipRuntimeGetVersion(&version) || version < 0)
        version = 0;
    snprintf(info->driver, sizeof info->driver, "HIP %d.%d.%d%s%s", version / 10000000, version / 100000 % 100,
             version % 100000, replays[hip->target.xnack], modes);
}

/* Some runtimes fill the bytes with the hexadecimal digits of the chip's id, others with the id. */
static void hip_info_fill_uuid(struct as_device_info *info, const struct as_hip_device *hip)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    hipUUID uuid = {{0}};
    char text[sizeof uuid.bytes + 1] = "";
    if (as_hip_of(&hip->gpu)->hipDeviceGetUuid(&uuid, hip->gpu.here.device))
        return;
    memcpy(text, uuid.bytes, sizeof uuid.bytes);
    if (strspn(text, digits) == sizeof uuid.bytes) {
        snprintf(info->uuid, sizeof info->uuid, "GPU-%s", text);
        return;
    }
    unsigned char u[sizeof uuid.bytes], any = 0;
    memcpy(u, uuid.bytes, sizeof u);
    for (size_t i = 0; i < sizeof u; i++)
        any |= u[i];
    size_t n = any ? (size_t)snprintf(info->uuid, sizeof info->uuid, "GPU-") : 0;
    for (size_t i = 0; i < sizeof u && any; i++)
        n += (size_t)snprintf(info->uuid + n, sizeof info->uuid - n, "%02x", u[i]);
}

/* What HSA_XNACK does not change. A target that nobody knows may have XNACK. */
static void hip_info_fill_ignored(struct as_device_info *info, const struct as_hip_device *hip)
{
    static const char *const ignored
        [] = {[AS_HIP_XNACK_NONE] = "HSA_XNACK", [AS_HIP_XNACK_OFF] = "HSA_XNACK=0", [AS_HIP_XNACK_ON] = "HSA_XNACK=1"},
 *const why[] = {
     [AS_HIP_XNACK_NONE] = "has no XNACK", [AS_HIP_XNACK_OFF] = "has XNACK off", [AS_HIP_XNACK_ON] = "has XNACK on"};
    if (!hip->target.arch[0])
        return;
    as_copy_text(info->ignored, sizeof info->ignored, ignored[hip->target.xnack]);
    snprintf(info->ignored_why, sizeof info->ignored_why, "%s %s", hip->target.arch, why[hip->target.xnack]);
}

static void hip_info_fill_names(struct as_device_info *info, const struct as_hip_device *hip)
{
    char name[256] = "";
    if (as_hip_of(&hip->gpu)->hipDeviceGetName(name, sizeof name - 1, hip->gpu.here.device))
        name[0] = 0;
    name[sizeof name - 1] = 0;
    as_copy_clean(info->name, sizeof info->name, name[0] ? name : "device without a name");
    as_copy_text(info->vendor, sizeof info->vendor, "AMD");
    as_copy_text(info->arch, sizeof info->arch, hip->target.arch);
    as_copy_text(info->dialect, sizeof info->dialect, as_dialect_word(AS_DIALECT_HIP));
    hip_info_fill_driver(info, hip);
    hip_info_fill_uuid(info, hip);
    hip_info_fill_ignored(info, hip);
}

static unsigned hip_info_capabilities(const struct as_hip_device *hip)
{
    unsigned caps = AS_CAP_SOURCE | AS_CAP_FP64 | AS_CAP_FP16 | AS_CAP_ASYNC | AS_CAP_EVENTS | AS_CAP_GRAPHS |
                    AS_CAP_TOGETHER | AS_CAP_COPY | AS_CAP_FREE_COUNT | AS_CAP_QUEUES | AS_CAP_CODE | AS_CAP_PEERS;
    /* As in the dialect: other chips' cycle counter is too short. */
    bool counts = hip->target.generation == 9 || hip->target.generation == 10 || hip->target.generation == 12;
    if (counts && hip->target.wall_khz)
        caps |= AS_CAP_CLOCK | AS_CAP_CYCLES;
    if (hip_info_count_of(hip, hipDeviceAttributeHostNativeAtomicSupported) ||
        hip_info_count_of(hip, hipDeviceAttributeIntegrated))
        caps |= AS_CAP_SVM_ATOMICS;
    if (hip->gpu.backend->found_n > 1)
        caps |= AS_CAP_TEAM;
    return caps;
}

static void hip_info_fill_unit(struct as_device_info *info, const struct as_hip_device *hip)
{
    info->compute_units = hip_info_count_of(hip, hipDeviceAttributeMultiprocessorCount);
    info->threads = hip_info_count_of(hip, hipDeviceAttributeMaxThreadsPerBlock);
    info->warp = hip_info_count_of(hip, hipDeviceAttributeWarpSize);
    info->compute_unit_threads = hip_info_count_of(hip, hipDeviceAttributeMaxThreadsPerMultiProcessor);
    info->compute_unit_shared = hip_info_count_of(hip, hipDeviceAttributeMaxSharedMemoryPerMultiprocessor);
    info->workgroup_shared = hip_info_count_of(hip, hipDeviceAttributeMaxSharedMemoryPerBlock);
    info->clock_max_hz = 1e3 * hip_info_count_of(hip, hipDeviceAttributeClockRate);
}

static void hip_info_fill_memory(struct as_device_info *info, const struct as_hip_device *hip)
{
    size_t total = 0;
    if (as_hip_of(&hip->gpu)->hipDeviceTotalMem(&total, hip->gpu.here.device) == hipSuccess)
        info->memory_bytes = total;
    /* Both clocks are in kHz. HBM and DDR move data at both edges; what the chips from gfx10 on have moves several
     * words a clock, and the runtime does not say how many. */
    if (hip->target.generation == 9)
        info->peak_bandwidth = 2e3 * hip_info_count_of(hip, hipDeviceAttributeMemoryClockRate) *
                               hip_info_count_of(hip, hipDeviceAttributeMemoryBusWidth) / 8;
    info->is_host_memory = hip_info_count_of(hip, hipDeviceAttributeIntegrated) != 0;
    /* The only cache whose size the runtime reports. */
    unsigned l2 = hip_info_count_of(hip, hipDeviceAttributeL2CacheSize);
    if (l2)
        info->caches[info->caches_n++] =
            (struct as_cache){.level = 2, .kind = 'u', .size = l2, .shared = info->compute_units};
}

enum as_status as_hip_fill_info(struct as_device *dev, size_t index, struct as_error *err)
{
    const struct as_hip_device *hip = dev->ctx;
    struct as_device_info *info = &dev->info;
    as_gpu_fill_info(dev, index);
    hip_info_fill_names(info, hip);
    info->capabilities = hip_info_capabilities(hip);
    hip_info_fill_unit(info, hip);
    hip_info_fill_memory(info, hip);
    as_hip_list_allocators(dev);
    return as_gpu_fill_limits(dev, err);
}
