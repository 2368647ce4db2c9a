/* What is said of every card alike. */
#include "device/card/card.h"

#include "base/text.h"
#include "device/host.h"

#include <stdio.h>

void as_card_fill_info(struct as_device *dev, size_t index)
{
    const struct as_card *card = dev->ctx;
    struct as_device_info *info = &dev->info;
    snprintf(info->id, sizeof info->id, "%s:%zu", card->api->name, index);
    as_copy_text(info->backend, sizeof info->backend, card->api->name);
    as_copy_text(info->bus_id, sizeof info->bus_id, card->backend->found[index].bus_id);
    as_host_near_cpus(info->bus_id, info->near_cpus, sizeof info->near_cpus);
    info->numa_nodes = 1;
}

/* ---- the machine tree, as far as the driver tells ---- */

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

enum as_status as_card_topology(struct as_device *dev, struct as_buf *json, struct as_error *err)
{
    const struct as_device_info *info = &dev->info;
    as_buf_str(json, "{\"type\":\"machine\",\"children\":[");
    open_node(json, "pci", info->bus_id);
    as_buf_str(json, ",\"bus_id\":");
    as_buf_json_str(json, info->bus_id);
    as_buf_str(json, ",\"children\":[");
    open_node(json, "device", info->name);
    as_buf_printf(json, ",\"units\":%u,\"lanes\":%u,\"children\":[", info->units, info->warp);
    open_node(json, "core", ((const struct as_card *)dev->ctx)->api->unit);
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
