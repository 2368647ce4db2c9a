#include "device/cpu/machine_hwloc.h"

#include "base/host.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum as_status load(struct as_cpu_machine *m, struct as_error *err)
{
    if (hwloc_topology_init(&m->topology)) {
        m->topology = NULL;
        return as_nomem(err, 0, "the machine's topology");
    }
    hwloc_topology_set_icache_types_filter(m->topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(m->topology))
        return as_fail(err, AS_FAILED, "hwloc cannot read the machine's topology");
    m->allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(m->topology));
    m->caller_start = hwloc_bitmap_alloc();
    if (!m->allowed || !m->caller_start)
        return as_nomem(err, 0, "a set of CPUs");
    if (hwloc_get_cpubind(m->topology, m->caller_start, HWLOC_CPUBIND_THREAD))
        return as_fail(err, AS_UNSUPPORTED, "cannot read on what CPUs this process may run: %s", strerror(errno));
    as_usable_cpus_keep();
    hwloc_bitmap_and(m->allowed, m->allowed, m->caller_start);
    m->caller = hwloc_bitmap_dup(m->caller_start);
    return m->caller ? AS_OK : as_nomem(err, 0, "a set of CPUs");
}

enum as_status as_cpu_machine_open(struct as_cpu_machine **out, struct as_error *err)
{
    struct as_cpu_machine *m = *out = calloc(1, sizeof *m);
    if (!m)
        return as_nomem(err, sizeof *m, "the machine's topology");
    enum as_status s = load(m, err);
    if (s) {
        as_cpu_machine_close(m);
        *out = NULL;
    }
    return s;
}

void as_cpu_machine_close(struct as_cpu_machine *m)
{
    if (!m)
        return;
    if (m->caller_start && m->caller && !hwloc_bitmap_isequal(m->caller, m->caller_start))
        hwloc_set_cpubind(m->topology, m->caller_start, HWLOC_CPUBIND_THREAD);
    as_usable_cpus_forget();
    hwloc_bitmap_free(m->allowed);
    hwloc_bitmap_free(m->caller);
    hwloc_bitmap_free(m->caller_start);
    if (m->topology)
        hwloc_topology_destroy(m->topology);
    free(m);
}

bool as_cpu_machine_allows(const struct as_cpu_machine *m, int cpu)
{
    return cpu >= 0 && hwloc_bitmap_isset(m->allowed, (unsigned)cpu);
}

unsigned as_cpu_machine_cores(const struct as_cpu_machine *m)
{
    unsigned n = 0;
    for (hwloc_obj_t c = NULL; (c = hwloc_get_next_obj_by_type(m->topology, HWLOC_OBJ_CORE, c));)
        n += hwloc_bitmap_intersects(c->cpuset, m->allowed) != 0;
    return n;
}

unsigned as_cpu_machine_nodes(const struct as_cpu_machine *m)
{
    const int nodes = hwloc_get_nbobjs_by_type(m->topology, HWLOC_OBJ_NUMANODE);
    return nodes > 0 ? (unsigned)nodes : 1;
}

unsigned as_cpu_machine_capabilities(const struct as_cpu_machine *m)
{
    (void)m;
    return AS_CAP_PIN;
}

bool as_cpu_machine_pin(const struct as_cpu_machine *m, int cpu)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (!set)
        return false;
    hwloc_bitmap_only(set, (unsigned)cpu);
    bool good = hwloc_set_cpubind(m->topology, set, HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT) == 0;
    hwloc_bitmap_free(set);
    return good;
}

void as_cpu_machine_keep_away(struct as_cpu_machine *m, const int *cpus, size_t n)
{
    hwloc_bitmap_t team = hwloc_bitmap_alloc(), rest = hwloc_bitmap_dup(m->allowed), near = hwloc_bitmap_alloc();
    hwloc_obj_t node = NULL;
    if (!team || !rest || !near)
        goto done;
    for (size_t i = 0; i < n; i++)
        hwloc_bitmap_set(team, (unsigned)cpus[i]);
    hwloc_bitmap_andnot(rest, m->allowed, team);
    while ((node = hwloc_get_next_obj_by_type(m->topology, HWLOC_OBJ_NUMANODE, node)) != NULL)
        if (hwloc_bitmap_isset(node->cpuset, (unsigned)cpus[0]))
            hwloc_bitmap_and(near, rest, node->cpuset);
    const struct hwloc_bitmap_s *where = !hwloc_bitmap_iszero(near)   ? near
                                         : !hwloc_bitmap_iszero(rest) ? rest
                                                                      : m->allowed;
    if (!hwloc_bitmap_isequal(where, m->caller) && hwloc_set_cpubind(m->topology, where, HWLOC_CPUBIND_THREAD) == 0)
        hwloc_bitmap_copy(m->caller, where);
done:
    hwloc_bitmap_free(team);
    hwloc_bitmap_free(rest);
    hwloc_bitmap_free(near);
}

void as_cpu_machine_release(struct as_cpu_machine *m)
{
    if (hwloc_set_cpubind(m->topology, m->allowed, HWLOC_CPUBIND_THREAD) == 0)
        hwloc_bitmap_copy(m->caller, m->allowed);
}

enum as_status as_cpu_machine_place(const struct as_cpu_machine *m, void *at, size_t bytes, int number,
                                    struct as_error *err)
{
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(m->topology, HWLOC_OBJ_NUMANODE, node)) != NULL)
        if (node->os_index == (unsigned)number)
            break;
    if (!node)
        return as_fail(err, AS_USAGE, "there is no NUMA node %d", number);
    if (hwloc_set_area_membind(m->topology, at, bytes, node->nodeset, HWLOC_MEMBIND_BIND,
                               HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_STRICT))
        return as_fail(err, AS_UNSUPPORTED, "cannot place memory on NUMA node %d: %s", number, strerror(errno));
    return AS_OK;
}

void as_cpu_machine_caches(const struct as_cpu_machine *m, int cpu, struct as_device_info *info)
{
    static const char kinds[] = {
        [HWLOC_OBJ_CACHE_UNIFIED] = 'u', [HWLOC_OBJ_CACHE_DATA] = 'd', [HWLOC_OBJ_CACHE_INSTRUCTION] = 'i'};
    hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(m->topology, (unsigned)cpu);
    for (hwloc_obj_t o = pu; o; o = o->parent) {
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

void as_cpu_machine_names(const struct as_cpu_machine *m, struct as_device_info *info)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(m->topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    const char *vendor = package ? hwloc_obj_get_info_by_name(package, "CPUVendor") : NULL;
    as_copy_text(info->vendor, sizeof info->vendor, vendor ? vendor : "");
    as_copy_text(info->name, sizeof info->name, model ? model : "");
}
