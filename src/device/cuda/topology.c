/* The machine tree of one CUDA device, as far as its driver tells. */
#include "device/cuda/cuda.h"

static void open_node(struct as_buf *b, const char *type, const char *name)
{
    as_buf_str(b, "{\"type\":");
    as_buf_json_str(b, type);
    as_buf_str(b, ",\"name\":");
    as_buf_json_str(b, name);
}

static void sized_node(struct as_buf *b, const char *type, const char *name, uint64_t size)
{
    if (size == 0)
        return;
    as_buf_char(b, ',');
    open_node(b, type, name);
    as_buf_printf(b, ",\"size\":%llu}", (unsigned long long)size);
}

enum as_status as_cu_topology(struct as_device *dev, struct as_buf *json, struct as_error *err)
{
    const struct as_device_info *info = &dev->info;
    as_buf_str(json, "{\"type\":\"machine\",\"children\":[");
    open_node(json, "pci", info->bus_id);
    as_buf_str(json, ",\"bus_id\":");
    as_buf_json_str(json, info->bus_id);
    as_buf_str(json, ",\"children\":[");
    open_node(json, "device", info->name);
    as_buf_printf(json, ",\"units\":%u,\"lanes\":%u,\"children\":[", info->units, info->warp);
    open_node(json, "core", "SM");
    as_buf_printf(json, ",\"count\":%u,\"children\":[", info->units);
    open_node(json, "core", "lanes");
    as_buf_printf(json, ",\"count\":%u}", info->warp);
    sized_node(json, "memory", "shared memory", info->unit_local);
    sized_node(json, "memory", "registers", 4ull * info->unit_registers);
    as_buf_str(json, "]}");
    sized_node(json, "L2", "L2", as_info_cache(info, 2));
    sized_node(json, "memory", info->is_host_memory ? "host memory" : "device memory", info->memory_bytes);
    as_buf_str(json, "]}]}]}");
    return as_buf_check(json, err);
}
