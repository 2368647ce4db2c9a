/* Description fields common to all GPUs. */
#include "device/gpu/gpu.h"

#include "base/json.h"
#include "base/text.h"
#include "device/host.h"
#include "device/tree_json.h"

#include <stdio.h>

void as_gpu_fill_info(struct as_device *dev, size_t index)
{
    const struct as_gpu *gpu = dev->ctx;
    struct as_device_info *info = &dev->info;
    snprintf(info->id, sizeof info->id, "%s:%zu", gpu->api->name, index);
    as_copy_text(info->backend, sizeof info->backend, gpu->api->name);
    as_copy_text(info->bus_id, sizeof info->bus_id, gpu->backend->found[index].bus_id);
    as_host_near_cpus(info->bus_id, info->near_cpus, sizeof info->near_cpus);
    info->numa_nodes = 1;
    as_gpu_fill_peers(dev, index);
}

/* ---- the machine tree, as far as the driver reports it ---- */

enum as_status as_gpu_topology(struct as_device *dev, struct as_buf *json, struct as_error *err)
{
    const struct as_device_info *info = &dev->info;
    as_buf_str(json, "{\"type\":\"machine\"");
    as_tree_children(json);
    as_tree_open(json, "pci", info->bus_id);
    as_json_add_text(json, "bus_id", info->bus_id);
    as_tree_children(json);
    as_tree_open(json, "device", info->name);
    as_json_add_int(json, "units", info->compute_units);
    as_json_add_int(json, "lanes", info->warp);
    as_tree_children(json);
    as_tree_core(json, ((const struct as_gpu *)dev->ctx)->api->unit, info->compute_units, info->warp);
    as_tree_memory(json, "memory", "shared memory", info->compute_unit_shared, 0);
    as_tree_memory(json, "memory", "registers", 4ull * info->compute_unit_registers, 0);
    as_buf_str(json, "]}");
    as_tree_memory(json, "L2", "L2", as_info_cache(info, 2), 0);
    as_tree_memory(json, "memory", info->is_host_memory ? "host memory" : "device memory", info->memory_bytes, 0);
    as_buf_str(json, "]}]}]}");
    return as_buf_check(json, err);
}
