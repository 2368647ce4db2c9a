/* The host beside a device: memory that is left, CPUs that are near. */
#include "device/host.h"

#include "base/buf.h"
#include "base/text.h"

#include <hwloc.h>
#include <hwloc/helper.h>
#include <stdio.h>
#include <string.h>

enum { PROC_MAX = 1 << 20 };

/* The number behind `key` in a file of lines, or the file's first number where key is ""; UINT64_MAX for "max", a
 * missing or a damaged file. */
static uint64_t file_number(const char *path, const char *key)
{
    struct as_buf b = AS_BUF_INIT;
    unsigned long long v;
    uint64_t out = UINT64_MAX;
    if (as_buf_read_file(&b, path, PROC_MAX, NULL) == AS_OK) {
        const char *at = strstr(as_buf_get(&b), key);
        if (at && sscanf(at + strlen(key), "%llu", &v) == 1)
            out = v;
    }
    as_buf_finish(&b);
    return out;
}

static uint64_t group_number(const char *group, const char *file)
{
    struct as_buf path = AS_BUF_INIT;
    as_buf_printf(&path, "/sys/fs/cgroup%s/%s", group, file);
    uint64_t v = path.failed ? UINT64_MAX : file_number(as_buf_get(&path), "");
    as_buf_finish(&path);
    return v;
}

/* The group of this process (version 2), as a path; "" when there is none. */
static void read_group(char *out, size_t size)
{
    struct as_buf b = AS_BUF_INIT;
    out[0] = 0;
    if (as_buf_read_file(&b, "/proc/self/cgroup", PROC_MAX, NULL) == AS_OK) {
        const char *line = strstr(as_buf_get(&b), "0::/");
        as_copy_text(out, size, line ? line + strlen("0::") : "");
        out[strcspn(out, "\n")] = 0;
    }
    as_buf_finish(&b);
}

uint64_t as_host_memory_available(void)
{
    char group[1024];
    uint64_t kib = file_number("/proc/meminfo", "MemAvailable:");
    uint64_t left = kib > UINT64_MAX >> 10 ? UINT64_MAX : kib << 10;
    read_group(group, sizeof group);
    /* The limits of the groups above count too; the root has none, and inside a container "/" is the container's. */
    for (char *slash = group; slash; *slash = 0) {
        uint64_t most = group_number(group, "memory.max"), used = group_number(group, "memory.current");
        if (most != UINT64_MAX && used != UINT64_MAX) {
            uint64_t free = most > used ? most - used : 0;
            left = free < left ? free : left;
        }
        slash = strrchr(group, '/');
        if (!slash)
            break;
    }
    return left;
}

void as_host_near_cpus(const char *bus_id, char *out, size_t size)
{
    /* Parts of hwloc that would load drivers; each of those belongs to a backend of its own. */
    static const char *const unwanted[] = {"pci", "opencl", "cuda", "nvml", "rsmi", "levelzero", "gl"};
    hwloc_topology_t t;
    out[0] = 0;
    if (!bus_id[0] || hwloc_topology_init(&t))
        return;
    hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++)
        hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, unwanted[i]);
    hwloc_obj_t device = hwloc_topology_load(t) ? NULL : hwloc_get_pcidev_by_busidstring(t, bus_id);
    hwloc_obj_t near = device ? hwloc_get_non_io_ancestor_obj(t, device) : NULL;
    if (near && near->cpuset) {
        int n = hwloc_bitmap_list_snprintf(out, size, near->cpuset);
        if (n < 0 || (size_t)n >= size) { /* half a range would name other CPUs */
            char *last = strrchr(out, ',');
            *(last ? last : out) = 0;
        }
    }
    hwloc_topology_destroy(t);
}
