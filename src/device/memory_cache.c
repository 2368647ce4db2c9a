#include "device/memory_cache.h"

#include "base/text.h"
#include "device/host.h"
#include "device/kfd.h"
#include "device/shared_host.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

extern const char as_memory_caches[]; /* refs/memory_caches.csv */

enum { FILE_MAX_BYTES = 64 << 10, CACHES_MAX = 4096, LAST_LEVEL = 3, INDEX_MAX = 4 };
/* Some machines use whole memories as caches (Optane, HBM in cache mode). Those count as memory here. */
static const uint64_t SIZE_MIN = UINT64_C(1) << 20, SIZE_MAX_BYTES = UINT64_C(4) << 30;

static bool memory_cache_is_usable(uint64_t size)
{
    return size >= SIZE_MIN && size <= SIZE_MAX_BYTES;
}

static bool memory_cache_read_file(const char *path, struct as_buf *out)
{
    as_buf_clear(out);
    return as_buf_read_file(out, path, FILE_MAX_BYTES, NULL) == AS_OK;
}

/* ---- KFD ---- */

/* The last level of a node; sizes are in KiB. */
static uint64_t last_level_of(const char *root, unsigned node, struct as_buf *text)
{
    char file[48];
    uint64_t level, kib, largest = 0;
    for (unsigned i = 0; i < CACHES_MAX; i++) {
        snprintf(file, sizeof file, "caches/%u/properties", i);
        if (!as_kfd_read(root, node, file, text))
            break;
        if (as_kfd_property(as_buf_get(text), "level", &level) && as_kfd_property(as_buf_get(text), "size", &kib) &&
            level == LAST_LEVEL && kib <= SIZE_MAX_BYTES >> 10 && kib << 10 > largest)
            largest = kib << 10;
    }
    return largest;
}

static bool find_in_kfd(const char *root, const struct as_device_info *info, struct as_buf *text, struct as_cache *out)
{
    unsigned node;
    if (!as_kfd_find(root, info->bus_id, &node, text))
        return false;
    out->size = last_level_of(root, node, text);
    as_copy_text(out->name, sizeof out->name, "Infinity Cache");
    as_copy_text(out->source, sizeof out->source, "kfd");
    return memory_cache_is_usable(out->size);
}

/* ---- the kernel's memory nodes ---- */

static bool is_of_host(const struct as_device_info *info)
{
    return info->is_host_memory || info->capabilities & AS_CAP_HOST_KERNELS;
}

static uint64_t cache_of_node(const char *root, unsigned node, struct as_buf *text)
{
    char path[256], value[24];
    uint64_t size, largest = 0;
    for (unsigned i = 1; i <= INDEX_MAX; i++) {
        snprintf(path, sizeof path, "%.128s/sys/devices/system/node/node%u/memory_side_cache/index%u/size", root, node,
                 i);
        if (!memory_cache_read_file(path, text))
            continue;
        as_copy_text(value, sizeof value, as_buf_get(text));
        value[strcspn(value, "\n")] = 0;
        if (as_parse_u64(value, &size, NULL) == AS_OK && memory_cache_is_usable(size) && size > largest)
            largest = size;
    }
    return largest;
}

/* Number of CPUs per instance. */
static unsigned shared_by(const struct as_device_info *info, unsigned caches)
{
    return caches && info->threads > caches ? info->threads / caches : 1;
}

static bool find_in_nodes(const char *root, const struct as_device_info *info, struct as_buf *text,
                          struct as_cache *out)
{
    unsigned nodes = 0;
    struct as_cpus numbers = {{0}};
    if (is_of_host(info))
        as_host_nodes(root, &numbers);
    for (int node = -1; (node = as_cpus_next(&numbers, node)) >= 0;) {
        const uint64_t size = cache_of_node(root, (unsigned)node, text);
        nodes += size != 0;
        out->size = size > out->size ? size : out->size;
    }
    if (!nodes)
        return false;
    out->shared = shared_by(info, nodes);
    as_copy_text(out->name, sizeof out->name, "memory-side cache");
    as_copy_text(out->source, sizeof out->source, "sysfs");
    return true;
}

/* ---- the table ---- */

/* Column `index` of a line that has no quotes before it; false if it does not fit. */
static bool memory_cache_column(const char *line, unsigned index, char *out, size_t size)
{
    for (; index && line; index--)
        line = strchr(line, ','), line += line != NULL;
    const size_t n = line ? strcspn(line, ",\n") : size;
    if (n >= size)
        return false;
    memcpy(out, line, n);
    out[n] = 0;
    return true;
}

static bool find_by_name(const char *device, struct as_cache *out)
{
    for (const char *line = strchr(as_memory_caches, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        char match[64], bytes[24];
        if (!memory_cache_column(line + 1, 0, match, sizeof match) || fnmatch(match, device, FNM_NOESCAPE) != 0 ||
            !memory_cache_column(line + 1, 1, out->name, sizeof out->name) ||
            !memory_cache_column(line + 1, 2, bytes, sizeof bytes) || as_parse_u64(bytes, &out->size, NULL))
            continue;
        as_copy_text(out->source, sizeof out->source, "table");
        return memory_cache_is_usable(out->size);
    }
    return false;
}

/* The host's processor, whose memory-side cache serves all users of its memory. */
static void host_name(const char *root, char *out, size_t size)
{
    char path[160];
    snprintf(path, sizeof path, "%.128s/proc/cpuinfo", root);
    out[0] = 0;
    FILE *f = fopen(path, "re");
    for (char line[256]; f && !out[0] && fgets(line, sizeof line, f);) {
        char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (!value)
            continue;
        value += 1 + strspn(value + 1, " \t");
        value[strcspn(value, "\n")] = 0;
        as_copy_text(out, size, value);
    }
    if (f)
        fclose(f);
}

static bool find_in_table(const char *root, const struct as_device_info *info, struct as_buf *text,
                          struct as_cache *out)
{
    char host[128];
    bool found = find_by_name(info->name, out);
    (void)text;
    if (!found && is_of_host(info)) {
        host_name(root, host, sizeof host);
        found = find_by_name(host, out);
    }
    if (found && info->capabilities & AS_CAP_HOST_KERNELS)
        out->shared = shared_by(info, info->numa_nodes); /* one per package, and each package has at least one node */
    return found;
}

/* It is the last level. Drivers count from the core, so one behind a device's L2 is L3. */
static unsigned level_behind(const struct as_device_info *info)
{
    unsigned level = LAST_LEVEL - 1;
    for (size_t i = 0; i < info->caches_n; i++)
        if (info->caches[i].level > level)
            level = info->caches[i].level;
    return level + 1;
}

bool as_memory_cache_find(const char *root, const struct as_device_info *info, struct as_cache *out)
{
    struct as_buf text = AS_BUF_INIT;
    static bool (*const ways[])(const char *, const struct as_device_info *, struct as_buf *,
                                struct as_cache *) = {find_in_kfd, find_in_nodes, find_in_table};
    bool found = false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !found; i++) {
        *out = (struct as_cache){.level = level_behind(info), .kind = 'u', .memory_side = true};
        found = ways[i](root, info, &text, out);
    }
    as_buf_finish(&text);
    return found;
}

static bool has_one(const struct as_device_info *info)
{
    for (size_t i = 0; i < info->caches_n; i++)
        if (info->caches[i].memory_side)
            return true;
    return false;
}

void as_memory_cache_describe(struct as_device_info *info)
{
    struct as_cache found;
    if (!as_info_shares_host(info))
        return;
    if (info->caches_n < AS_CACHES_MAX && !has_one(info) && as_memory_cache_find("", info, &found))
        info->caches[info->caches_n++] = found;
    if (!(info->capabilities & AS_CAP_HOST_KERNELS) && info->host_cache == 0)
        info->host_cache = as_host_last_caches();
    info->virtual_machine = as_host_is_virtual();
}
