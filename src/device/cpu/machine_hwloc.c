#include "device/cpu/machine_hwloc.h"

#include "base/host.h"
#include "base/text.h"
#include "device/host.h"
#include "device/host_hwloc.h"
#include "os/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* hwloc describes the machine. Threads are bound by system calls, since hwloc's binding silently does nothing if its
 * topology comes from a file. */
static bool cpu_machine_hwloc_keep_on(hwloc_const_bitmap_t set)
{
    struct as_cpus cpus = {{0}};
    for (int cpu = -1; (cpu = hwloc_bitmap_next(set, cpu)) >= 0 && cpu < AS_CPUS_MAX;)
        as_cpus_add(&cpus, cpu);
    return as_thread_keep_on(&cpus);
}

static bool find_own_cpus(hwloc_bitmap_t out)
{
    struct as_cpus cpus;
    if (!as_thread_cpus(&cpus))
        return false;
    for (int cpu = -1; (cpu = as_cpus_next(&cpus, cpu)) >= 0;)
        hwloc_bitmap_set(out, (unsigned)cpu);
    return true;
}

static enum as_status cpu_machine_hwloc_load(struct as_cpu_machine *m, struct as_error *err)
{
    enum as_status st = as_host_topology(AS_TOPOLOGY_CODE, &m->topology, err);
    if (st)
        return st;
    m->allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(m->topology));
    m->caller_start = hwloc_bitmap_alloc();
    if (!m->allowed || !m->caller_start)
        return as_nomem(err, 0, "a set of CPUs");
    if (!find_own_cpus(m->caller_start))
        return as_fail(err, AS_UNSUPPORTED, "cannot read the process's CPU affinity: %s", strerror(errno));
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
    enum as_status st = cpu_machine_hwloc_load(m, err);
    if (st) {
        as_cpu_machine_close(m);
        *out = NULL;
    }
    return st;
}

void as_cpu_machine_close(struct as_cpu_machine *m)
{
    if (!m)
        return;
    if (m->caller_start && m->caller && !hwloc_bitmap_isequal(m->caller, m->caller_start))
        cpu_machine_hwloc_keep_on(m->caller_start);
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

static unsigned cpu_machine_hwloc_usable(const struct as_cpu_machine *m, hwloc_obj_type_t type)
{
    unsigned n = 0;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(m->topology, type, o));)
        n += hwloc_bitmap_intersects(o->cpuset, m->allowed) != 0;
    return n;
}

unsigned as_cpu_machine_cores(const struct as_cpu_machine *m)
{
    return cpu_machine_hwloc_usable(m, HWLOC_OBJ_CORE);
}

unsigned as_cpu_machine_packages(const struct as_cpu_machine *m)
{
    return cpu_machine_hwloc_usable(m, HWLOC_OBJ_PACKAGE);
}

unsigned as_cpu_machine_nodes(const struct as_cpu_machine *m)
{
    const unsigned n = as_cpu_topology_nodes(m->topology);
    return n ? n : 1;
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
    if (!hwloc_bitmap_isequal(where, m->caller) && cpu_machine_hwloc_keep_on(where))
        hwloc_bitmap_copy(m->caller, where);
done:
    hwloc_bitmap_free(team);
    hwloc_bitmap_free(rest);
    hwloc_bitmap_free(near);
}

void as_cpu_machine_release(struct as_cpu_machine *m)
{
    if (cpu_machine_hwloc_keep_on(m->allowed))
        hwloc_bitmap_copy(m->caller, m->allowed);
}

/* By the kernel's list: hwloc's may lack nodes that belong to a GPU, or be another machine's. */
enum as_status as_cpu_machine_place(void *at, size_t bytes, int number, struct as_error *err)
{
    struct as_cpus nodes;
    as_host_nodes("", &nodes);
    if (!as_cpus_has(&nodes, number))
        return as_fail(err, AS_USAGE, "there is no NUMA node %d", number);
    if (as_bind_memory(at, bytes, number))
        return as_fail(err, AS_UNSUPPORTED, "cannot place memory on NUMA node %d: %s", number, strerror(errno));
    return AS_OK;
}

void as_cpu_machine_caches(const struct as_cpu_machine *m, int cpu, struct as_device_info *info)
{
    as_host_caches_of(m->topology, (unsigned)cpu, info);
}

void as_cpu_machine_names(const struct as_cpu_machine *m, struct as_device_info *info)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(m->topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    const char *vendor = package ? hwloc_obj_get_info_by_name(package, "CPUVendor") : NULL;
    as_copy_clean(info->vendor, sizeof info->vendor, vendor ? vendor : "");
    as_copy_clean(info->name, sizeof info->name, model ? model : "");
}
