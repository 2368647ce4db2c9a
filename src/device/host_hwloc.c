/* The host as hwloc knows it: near CPUs and caches. */
#include "device/host_hwloc.h"

#include "device/host.h"
#include "device/info.h"

#include <hwloc/helper.h>
#include <string.h>

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

void as_host_caches(struct as_device_info *info)
{
    static const hwloc_obj_type_t levels[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE};
    hwloc_topology_t t;
    if (hwloc_topology_init(&t))
        return;
    const bool loaded = hwloc_topology_load(t) == 0;
    for (size_t i = 0; loaded && i < sizeof levels / sizeof *levels; i++) {
        hwloc_obj_t o = hwloc_get_obj_by_type(t, levels[i], 0);
        if (o && o->attr->cache.size && info->caches_n < AS_CACHES_MAX)
            info->caches[info->caches_n++] =
                (struct as_cache){.level = o->attr->cache.depth,
                                  .kind = o->attr->cache.type == HWLOC_OBJ_CACHE_DATA ? 'd' : 'u',
                                  .size = o->attr->cache.size,
                                  .line = o->attr->cache.linesize,
                                  .ways = (unsigned)o->attr->cache.associativity,
                                  .shared = (unsigned)hwloc_bitmap_weight(o->cpuset)};
    }
    hwloc_topology_destroy(t);
}
