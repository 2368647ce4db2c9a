/* The machine tree of one OpenCL device, as reported by its driver. */
#include "device/opencl/opencl.h"

#include "base/json.h"
#include "device/tree_json.h"

enum as_status as_cl_topology(struct as_device *dev, struct as_buf *json, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    const struct as_device_info *info = &dev->info;
    const struct as_cl_api *api = cl->api;
    as_buf_str(json, "{\"type\":\"machine\"");
    as_tree_children(json);
    if (info->bus_id[0]) {
        as_tree_open(json, "pci", info->bus_id);
        as_tree_children(json);
    }
    as_tree_open(json, "device", info->name);
    as_json_add_int(json, "units", info->compute_units);
    as_json_add_int(json, "lanes", info->warp);
    as_tree_children(json);
    as_tree_core(json, "compute unit", info->compute_units, info->warp);
    as_tree_memory(json, "memory", "local memory", as_cl_device_number(api, cl->id, CL_DEVICE_LOCAL_MEM_SIZE), 0);
    as_buf_str(json, "]}");
    if (info->is_host_cpu)
        as_tree_memory(json, "L3", "global memory cache",
                       as_cl_device_number(api, cl->id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
                       as_cl_device_number(api, cl->id, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE));
    else if (as_info_cache(info, 2))
        as_tree_memory(json, "L2", "L2 cache", as_info_cache(info, 2), 0);
    as_tree_memory(json, "memory", "global memory", info->memory_bytes, 0);
    as_buf_str(json, info->bus_id[0] ? "]}]}]}" : "]}]}");
    return as_buf_check(json, err);
}
