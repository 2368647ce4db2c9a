/* The machine tree of one Metal device. */
#include "device/metal/metal.h"

#include "base/json.h"
#include "device/tree_json.h"

enum as_status as_mtl_topology(struct as_device *dev, struct as_buf *json, struct as_error *err)
{
    const struct as_device_info *info = &dev->info;
    as_buf_str(json, "{\"type\":\"machine\"");
    as_tree_children(json);
    as_tree_open(json, "device", info->name);
    as_json_add_int(json, "units", info->compute_units);
    as_json_add_int(json, "lanes", info->warp);
    as_tree_children(json);
    as_tree_core(json, "GPU core", info->compute_units, info->warp);
    as_tree_memory(json, "memory", "threadgroup memory", info->workgroup_shared, 0);
    as_buf_str(json, "]}");
    as_tree_memory(json, "memory", info->is_host_memory ? "unified memory" : "device memory", info->memory_bytes, 0);
    as_buf_str(json, "]}]}");
    return as_buf_check(json, err);
}
