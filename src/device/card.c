#include "device/card.h"

#include "base/text.h"
#include "device/host.h"

#include <unistd.h>

#define LEFT_ALONE (UINT64_C(256) << 20) /* contexts, other processes, the display */

/* The timer steps by up to a microsecond, so that a step is waited for before each reading; the window between is long
 * against what is left of it. A timer that stands still is given up: then nothing was counted. */
const char as_card_clock_source[] = "KERNEL(as_clock)(ARG_GLOBAL(0, u64, out), ARG_VALUE(1, u64, ns) ARG_INDICES)\n"
                                    "{\n"
                                    "    u64 before = NANOS(), t0 = before, t1, c0, c1;\n"
                                    "    u32 patience = 1u << 20;\n"
                                    "    while (t0 == before && --patience)\n"
                                    "        t0 = NANOS();\n"
                                    "    c0 = CYCLES();\n"
                                    "    do\n"
                                    "        before = NANOS();\n"
                                    "    while (before - t0 < ns && --patience);\n"
                                    "    t1 = before;\n"
                                    "    while (t1 == before && --patience)\n"
                                    "        t1 = NANOS();\n"
                                    "    c1 = CYCLES();\n"
                                    "    out[0] = patience ? c1 - c0 : 0;\n"
                                    "    out[1] = patience ? t1 - t0 : 0;\n"
                                    "}\n";
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

enum as_status as_card_topology(const struct as_device_info *info, const char *unit, struct as_buf *json,
                                struct as_error *err)
{
    as_buf_str(json, "{\"type\":\"machine\",\"children\":[");
    open_node(json, "pci", info->bus_id);
    as_buf_str(json, ",\"bus_id\":");
    as_buf_json_str(json, info->bus_id);
    as_buf_str(json, ",\"children\":[");
    open_node(json, "device", info->name);
    as_buf_printf(json, ",\"units\":%u,\"lanes\":%u,\"children\":[", info->units, info->warp);
    open_node(json, "core", unit);
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

/* ---- how much may be asked for ---- */

uint64_t as_card_round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

uint64_t as_card_host_page(void)
{
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? (uint64_t)page : 4096;
}

enum as_status as_card_too_much(enum as_status s, const char *api, uint64_t bytes, uint64_t limit, const char *what,
                                struct as_error *err)
{
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "%s: asked for ", api);
    as_format_size(&b, bytes);
    as_buf_str(&b, ", ");
    as_format_size(&b, limit);
    as_buf_str(&b, what);
    s = as_fail(err, s, "%s", as_buf_get(&b));
    as_buf_finish(&b);
    return s;
}

enum as_status as_card_check_host(const char *api, uint64_t bytes, struct as_error *err)
{
    uint64_t half = as_host_memory_available() / 2;
    return bytes <= half
               ? AS_OK
               : as_card_too_much(AS_NOMEM, api, bytes, half, " are half of the host memory that is available", err);
}

enum as_status as_card_check_managed(const char *api, uint64_t bytes, uint64_t free, struct as_error *err)
{
    uint64_t host = as_host_memory_available(), most = (free < host ? free : host) / 10;
    return bytes <= most ? AS_OK
                         : as_card_too_much(AS_UNSUPPORTED, api, bytes, most,
                                            " are a tenth of what is free, and no more is taken of this kind", err);
}

enum as_status as_card_check_free(const char *api, uint64_t bytes, uint64_t free, uint64_t total, struct as_error *err)
{
    if (bytes > total)
        return as_card_too_much(AS_UNSUPPORTED, api, bytes, free, " are free", err);
    if (bytes > free || free - bytes < LEFT_ALONE)
        return as_card_too_much(AS_NOMEM, api, bytes, free, " are free, of which 256 MiB are left alone", err);
    return AS_OK;
}

enum as_status as_card_check_count(const char *api, uint64_t bytes, uint64_t count, struct as_error *err)
{
    if (bytes == 0 || bytes > INT64_MAX || count == 0 || count > INT64_MAX / bytes)
        return as_fail(err, AS_USAGE, "%s: %llu blocks of %llu bytes cannot be allocated", api,
                       (unsigned long long)count, (unsigned long long)bytes);
    return AS_OK;
}
