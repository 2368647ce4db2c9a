/* The host of a device: available memory, near CPUs, NUMA nodes. */
#include "device/host.h"

#include "base/text.h"
#include "device/host_hwloc.h"
#include "device/host_limits.h"

#include <hwloc.h>
#include <hwloc/helper.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LIST_MAX = 256 };

uint64_t as_host_memory_available(void)
{
    struct as_host_limits limits;
    return as_host_limits_now(&limits, NULL) ? UINT64_MAX : limits.free;
}

void as_host_exclude_drivers(hwloc_topology_t t)
{
    static const char *const unwanted[] = {"pci", "opencl", "cuda", "nvml", "rsmi", "levelzero", "gl"};
    for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++)
        hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, unwanted[i]);
}

void as_host_near_cpus(const char *bus_id, char *out, size_t size)
{
    hwloc_topology_t t;
    out[0] = 0;
    if (!bus_id[0] || hwloc_topology_init(&t))
        return;
    hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    as_host_exclude_drivers(t);
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

bool as_cpu_list(const char *list, cpu_set_t *out)
{
    char text[LIST_MAX];
    CPU_ZERO(out);
    if (!list[0] || strlen(list) >= sizeof text)
        return false;
    as_copy_text(text, sizeof text, list);
    for (char *rest = text, *item; (item = strsep(&rest, ","));) {
        uint64_t low, high;
        char *dash = strchr(item, '-');
        if (dash)
            *dash++ = 0;
        if (as_parse_u64(item, &low, NULL) || as_parse_u64(dash ? dash : item, &high, NULL) || low > high ||
            high >= CPU_SETSIZE)
            return false;
        for (uint64_t cpu = low; cpu <= high; cpu++)
            CPU_SET((size_t)cpu, out);
    }
    return true;
}

static uint64_t sum_of_last(hwloc_topology_t t)
{
    static const hwloc_obj_type_t levels[] = {HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE,
                                              HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof levels / sizeof *levels && !sum; i++)
        for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(t, levels[i], o));)
            sum += o->attr->cache.size;
    return sum;
}

uint64_t as_host_last_caches(void)
{
    hwloc_topology_t t;
    if (hwloc_topology_init(&t))
        return 0;
    as_host_exclude_drivers(t);
    const uint64_t sum = hwloc_topology_load(t) ? 0 : sum_of_last(t);
    hwloc_topology_destroy(t);
    return sum;
}

unsigned as_host_nodes(void)
{
    unsigned n = 0;
    char path[64];
    do
        snprintf(path, sizeof path, "/sys/devices/system/node/node%u", n);
    while (access(path, F_OK) == 0 && ++n < AS_NODES_MAX);
    return n ? n : 1;
}
