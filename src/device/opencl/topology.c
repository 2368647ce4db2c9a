/* The machine tree of one OpenCL device, as far as its driver tells. */
#include "device/opencl/opencl.h"

static void open_node(struct as_buf *b, const char *type, const char *name)
{
    as_buf_str(b, "{\"type\":");
    as_buf_json_str(b, type);
    as_buf_str(b, ",\"name\":");
    as_buf_json_str(b, name);
}

static void sized_node(struct as_buf *b, const char *type, const char *name, uint64_t size, uint64_t line)
{
    if (size == 0)
        return;
    as_buf_char(b, ',');
    open_node(b, type, name);
    as_buf_printf(b, ",\"size\":%llu", (unsigned long long)size);
    if (line)
        as_buf_printf(b, ",\"line\":%llu", (unsigned long long)line);
    as_buf_char(b, '}');
}

enum as_status as_cl_topology(struct as_device *dev, struct as_buf *json, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    const struct as_device_info *info = &dev->info;
    const struct as_cl_api *api = cl->api;
    as_buf_str(json, "{\"type\":\"machine\",\"children\":[");
    if (info->bus_id[0]) {
        open_node(json, "pci", info->bus_id);
        as_buf_str(json, ",\"children\":[");
    }
    open_node(json, "device", info->name);
    as_buf_printf(json, ",\"units\":%u,\"lanes\":%u,\"children\":[", info->units, info->warp);
    open_node(json, "core", "compute unit");
    as_buf_printf(json, ",\"count\":%u,\"children\":[", info->units);
    open_node(json, "core", "lanes");
    as_buf_printf(json, ",\"count\":%u}", info->warp);
    sized_node(json, "memory", "local memory", as_cl_device_number(api, cl->id, CL_DEVICE_LOCAL_MEM_SIZE), 0);
    as_buf_str(json, "]}");
    sized_node(json, info->is_host_memory ? "L3" : "L2", "global memory cache",
               as_cl_device_number(api, cl->id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
               as_cl_device_number(api, cl->id, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE));
    sized_node(json, "memory", "global memory", info->memory_bytes, 0);
    as_buf_str(json, info->bus_id[0] ? "]}]}]}" : "]}]}");
    return as_buf_check(json, err);
}
