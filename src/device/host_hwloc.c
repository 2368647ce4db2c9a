/* The host as described by hwloc, and the CPUs near a PCI device. */
#include "device/host_hwloc.h"

#include "base/buf.h"
#include "base/host.h"
#include "base/text.h"
#include "device/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Disabled: components that load drivers, which only the backends may do, and libpciaccess, since sysfs has the same
 * data. */
static void exclude_drivers(hwloc_topology_t t)
{
    static const char *const unwanted[] = {"pci", "opencl", "cuda", "nvml", "rsmi", "levelzero", "gl"};
    for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++)
        hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, unwanted[i]);
}

void as_host_topology_origin(char *out, size_t size)
{
    /* hwloc follows the first that is set, and ignores XML that it cannot read */
    static const char *const names[] = {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_CPUID_PATH", "HWLOC_FSROOT",
                                        "HWLOC_COMPONENTS"};
    out[0] = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && !out[0]; i++) {
        const char *value = getenv(names[i]);
        if (value && value[0] && (i > 0 || access(value, R_OK) == 0))
            snprintf(out, size, "%s='%.80s'", names[i], value);
    }
}

enum as_status as_host_topology(unsigned wanted, hwloc_topology_t *out, struct as_error *err)
{
    char origin[AS_TOPOLOGY_ORIGIN];
    if (hwloc_topology_init(out)) {
        *out = NULL;
        return as_nomem(err, 0, "the machine's topology");
    }
    if (wanted & AS_TOPOLOGY_CODE)
        hwloc_topology_set_icache_types_filter(*out, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (wanted & AS_TOPOLOGY_IO)
        hwloc_topology_set_io_types_filter(*out, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    exclude_drivers(*out);
    errno = 0;
    if (hwloc_topology_load(*out) == 0)
        return AS_OK;
    const int why = errno;
    hwloc_topology_destroy(*out);
    *out = NULL;
    as_host_topology_origin(origin, sizeof origin);
    return as_fail(err, AS_UNSUPPORTED, "hwloc cannot read the machine's topology%s%s: %s%s", origin[0] ? " with " : "",
                   origin, why ? strerror(why) : "no reason given", origin[0] ? "; unset that variable" : "");
}

/* Some drivers write the domain with eight digits or in capitals. */
void as_host_near_cpus(const char *bus_id, char *out, size_t size)
{
    unsigned domain, bus, device, function;
    char path[96];
    struct as_buf list = AS_BUF_INIT;
    out[0] = 0;
    if (sscanf(bus_id, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
        return;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%04x:%02x:%02x.%x/local_cpulist", domain, bus, device, function);
    if (as_buf_read_file(&list, path, 64 << 10, NULL) == AS_OK) {
        const char *text = as_buf_get(&list);
        const size_t n = strspn(text, "0123456789,-");
        as_copy_text(out, n < size ? n + 1 : size, text);
        char *last = n < size ? NULL : strrchr(out, ','); /* half a range would name the wrong CPUs */
        if (n >= size)
            *(last ? last : out) = 0;
    }
    as_buf_finish(&list);
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
    if (as_host_topology(0, &t, NULL))
        return 0;
    const uint64_t sum = sum_of_last(t);
    hwloc_topology_destroy(t);
    return sum;
}

void as_host_caches_of(hwloc_topology_t t, unsigned cpu, struct as_device_info *info)
{
    static const char kinds[] = {
        [HWLOC_OBJ_CACHE_UNIFIED] = 'u', [HWLOC_OBJ_CACHE_DATA] = 'd', [HWLOC_OBJ_CACHE_INSTRUCTION] = 'i'};
    for (hwloc_obj_t o = hwloc_get_pu_obj_by_os_index(t, cpu); o; o = o->parent) {
        if (!hwloc_obj_type_is_cache(o->type) && !hwloc_obj_type_is_icache(o->type))
            continue;
        const struct hwloc_cache_attr_s *a = &o->attr->cache;
        if (a->size && info->caches_n < AS_CACHES_MAX)
            info->caches[info->caches_n++] =
                (struct as_cache){.level = a->depth,
                                  .kind = kinds[a->type],
                                  .size = a->size,
                                  .line = a->linesize,
                                  .ways = a->associativity < 0 ? (unsigned)-1 : (unsigned)a->associativity,
                                  .shared = (unsigned)hwloc_bitmap_weight(o->cpuset)};
    }
}

/* The first usable CPU of the fastest kind. */
static hwloc_obj_t first_pu(hwloc_topology_t t)
{
    struct as_cpus usable;
    const bool known = as_usable_cpus(&usable);
    hwloc_obj_t first = NULL;
    int fastest = -1;
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, pu));) {
        const int kind = hwloc_cpukinds_get_by_cpuset(t, pu->cpuset, 0);
        if ((known && !as_cpus_has(&usable, (int)pu->os_index)) || (first && kind <= fastest))
            continue;
        first = pu;
        fastest = kind;
    }
    return first;
}

void as_host_caches(struct as_device_info *info)
{
    hwloc_topology_t t;
    if (as_host_topology(0, &t, NULL))
        return;
    const struct hwloc_obj *pu = first_pu(t);
    if (pu)
        as_host_caches_of(t, pu->os_index, info);
    hwloc_topology_destroy(t);
}
