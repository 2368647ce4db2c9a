/* The description of a Metal device. */
#include "device/metal/metal.h"

#include "base/host.h"
#include "base/text.h"
#include "device/dialect/dialect.h"
#include "device/host_limits.h"

#include <inttypes.h>
#include <stdio.h>

enum as_status as_mtl_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    struct as_host_limits host;
    const uint64_t used = AS_SEND(d->api, allocated, d->device);
    (void)err;
    *bytes = d->total > used ? d->total - used : 0;
    /* Metal does not report memory used by other processes, but the host does if the GPU uses host memory. */
    if (d->unified && as_host_limits_now(&host, NULL) == AS_OK && host.free < *bytes)
        *bytes = host.free;
    return AS_OK;
}

bool as_mtl_supports(const struct as_mtl_device *d, long family)
{
    return AS_SEND_WITH(d->api, supports_family, d->device, family) != 0;
}

/* "apple9": the newest GPU family that it supports. */
static void fill_family(const struct as_mtl_device *d, struct as_device_info *info)
{
    for (long f = AS_MTL_APPLE_LAST; f >= AS_MTL_APPLE1; f--)
        if (as_mtl_supports(d, f)) {
            snprintf(info->arch, sizeof info->arch, "apple%ld", f - AS_MTL_APPLE1 + 1);
            return;
        }
    as_copy_text(info->arch, sizeof info->arch, as_mtl_supports(d, AS_MTL_MAC2) ? "mac2" : "");
}

/* Apple's description of a core: 128 ALUs, each of which does one fused multiply-add of f32 per cycle, in Macs from the
 * M1 (family apple7) on; measured as 1.02 cycles for 32 lanes of one scheduler at full occupancy (P. Turner,
 * metal-benchmarks, "ALU Layout" and "ALU Bottlenecks"). Cores of newer families are not published. */
static unsigned unit_fma(const struct as_mtl_device *d)
{
    enum { ALUS = 128, FIRST = AS_MTL_APPLE1 + 6, LAST = AS_MTL_APPLE1 + 8 };
    return as_mtl_supports(d, FIRST) && !as_mtl_supports(d, LAST + 1) ? ALUS : 0;
}

/* Of families apple7 and apple8, 96 simdgroups of 32 (the same source, "On-Chip Memory"). */
static unsigned metal_info_unit_threads(const struct as_mtl_device *d)
{
    enum { THREADS = 3072, FIRST = AS_MTL_APPLE1 + 6, LAST = AS_MTL_APPLE1 + 7 };
    return as_mtl_supports(d, FIRST) && !as_mtl_supports(d, LAST + 1) ? THREADS : 0;
}

static void metal_info_fill_text(const struct as_mtl_device *d, struct as_device_info *info)
{
    const struct as_mtl_api *m = d->api;
    char version[96] = "";
    as_objc_id process = AS_SEND(m, process_info, m->get_class("NSProcessInfo"));
    as_mtl_text(m, process ? AS_SEND(m, system_version, process) : NULL, version, sizeof version);
    as_mtl_text(m, AS_SEND(m, name, d->device), info->name, sizeof info->name);
    if (info->name[0] == 0)
        as_copy_text(info->name, sizeof info->name, "device without a name");
    as_copy_text(info->vendor, sizeof info->vendor, info->arch[0] == 'a' ? "Apple" : "");
    snprintf(info->driver, sizeof info->driver, "Metal%s, macOS %s",
             as_mtl_supports(d, AS_MTL_METAL4)   ? " 4"
             : as_mtl_supports(d, AS_MTL_METAL3) ? " 3"
                                                 : "",
             version);
}

static void metal_info_fill_memory(struct as_device *dev)
{
    struct as_mtl_device *d = dev->ctx;
    struct as_device_info *info = &dev->info;
    const struct as_mtl_api *m = d->api;
    d->total = AS_SEND(m, working_set, d->device);
    info->memory_bytes = d->total;
    info->max_alloc = AS_SEND(m, buffer_most, d->device);
    info->is_host_memory = d->unified;
    info->page_size = d->unified ? as_host_page() : 0;
    info->workgroup_shared = AS_SEND(m, group_memory, d->device);
    as_mtl_memory_free(dev, &info->memory_free, NULL);
}

enum as_status as_mtl_fill_info(struct as_device *dev, size_t index, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    struct as_device_info *info = &dev->info;
    const struct as_mtl_api *m = d->api;
    const uint64_t registry_id = AS_SEND(m, registry_id, d->device);
    d->unified = AS_SEND(m, unified, d->device) != 0;
    snprintf(info->id, sizeof info->id, "metal:%zu", index);
    as_copy_text(info->backend, sizeof info->backend, "metal");
    as_copy_text(info->dialect, sizeof info->dialect, as_dialect_word(AS_DIALECT_METAL));
    snprintf(info->uuid, sizeof info->uuid, "%016" PRIx64, registry_id);
    fill_family(d, info);
    metal_info_fill_text(d, info);
    info->capabilities = AS_CAP_SOURCE | AS_CAP_ASYNC | AS_CAP_EVENTS | AS_CAP_FP16 | AS_CAP_COPY | AS_CAP_QUEUES |
                         AS_CAP_TOGETHER | AS_CAP_RECOMMENDED;
    if (d->unified)
        info->capabilities |= AS_CAP_SVM_ATOMICS;
    info->compute_units = as_mtl_cores(m, registry_id);
    info->unit_fma = unit_fma(d);
    info->unit_threads_published = metal_info_unit_threads(d);
    info->threads = (unsigned)AS_SEND(m, group_most, d->device).width;
    info->numa_nodes = 1;
    metal_info_fill_memory(dev);
    as_mtl_list_allocators(dev);
    return as_mtl_fill_language(d, info, err);
}
