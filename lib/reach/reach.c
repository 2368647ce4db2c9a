#include "reach.h"

#include "base/host.h"
#include "device/host.h"
#include "device/shared_host.h"
#include "lib/buffers/buffers.h"
#include "lib/checks/checks.h"
#include "lib/checks/nodes.h"
#include "lib/pages/pages.h"
#include "os/cpus.h"

#include <stdlib.h>

enum { LINE = 64 }; /* native kernels load whole cache lines */

const char *const as_reach_touch_words[] = {"cpu", "device", NULL};

static bool reach_is_device_first(const struct as_axes *a)
{
    return strcmp(as_axes_text(a, "touch"), "device") == 0;
}

/* CPUs of the node that this process may use: all of them where the system lists no nodes. */
static size_t reach_cpus(int node, int *out, size_t max)
{
    struct as_cpus of_node, usable, nodes;
    size_t n = 0;
    as_host_nodes("", &nodes);
    as_host_node_cpus("", node, &of_node);
    if (!as_usable_cpus(&usable))
        usable = of_node;
    if (as_cpus_count(&nodes) < 2 && node == 0 && as_cpus_count(&of_node) == 0)
        of_node = usable;
    for (int cpu = -1; (cpu = as_cpus_next(&usable, cpu)) >= 0;) {
        if (!as_cpus_has(&of_node, cpu))
            continue;
        if (n < max)
            out[n] = cpu;
        n++;
    }
    return n;
}

bool as_reach_has_cpus(const struct as_axes *a, double threads)
{
    return threads <= (double)reach_cpus((int)as_axes_u64(a, "from"), NULL, 0);
}

/* Of the CPU's own memory: between nodes of which each may have no CPUs, or no memory that can be bound. */
static enum as_applies reach_applies_to_nodes(const struct as_axes *a, const struct as_cpus *nodes,
                                              struct as_error *err)
{
    const int node = (int)as_axes_u64(a, "node");
    if (reach_is_device_first(a))
        return AS_PRUNED;
    if (as_cpus_count(nodes) < 2)
        return node == 0 && as_axes_u64(a, "from") == 0 ? as_inapplicable(err, "the host has one NUMA node")
                                                        : AS_PRUNED;
    return as_cpus_has(nodes, node) ? AS_APPLIES : AS_PRUNED;
}

static enum as_applies reach_applies_to_device(const struct as_device_info *info, const struct as_axes *a,
                                               struct as_error *err)
{
    const struct as_allocator *allocator = as_info_allocator(info, as_axes_text(a, "allocator"));
    if (as_axes_u64(a, "node") != 0 || (info->is_host_cpu && reach_is_device_first(a)))
        return AS_PRUNED;
    if (allocator && allocator->why_not[0])
        return as_inapplicable(err, "%s", allocator->why_not);
    if (allocator && !allocator->host_access)
        return as_inapplicable(err, "the CPU cannot access this memory");
    if (reach_is_device_first(a) && !(info->capabilities & AS_CAP_SOURCE))
        return as_inapplicable(err, "the device cannot compile kernels");
    return AS_APPLIES;
}

enum as_applies as_reach_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    struct as_cpus nodes;
    const int from = (int)as_axes_u64(a, "from");
    as_host_nodes("", &nodes);
    if (!as_info_shares_host(info))
        return as_pruned(err, "host threads cannot access a simulated device");
    if (reach_cpus(from, NULL, 0) == 0)
        return AS_PRUNED;
    return as_info_has_host_kernels(info) ? reach_applies_to_nodes(a, &nodes, err)
                                          : reach_applies_to_device(info, a, err);
}

/* ---- one trial ---- */

static enum as_status reach_find_cpus(struct as_reach *r, int node, struct as_error *err)
{
    const size_t n = reach_cpus(node, NULL, 0);
    if (n == 0)
        return as_fail(err, AS_UNSUPPORTED, "the CPU affinity of this process excludes NUMA node %d", node);
    r->cpus = malloc(n * sizeof *r->cpus);
    if (!r->cpus)
        return as_nomem(err, n * sizeof *r->cpus, "a list of CPUs");
    r->cpus_n = (unsigned)reach_cpus(node, r->cpus, n);
    return AS_OK;
}

/* A word of each page, by a kernel. */
static enum as_status reach_touch_by_device(struct as_reach *r, struct as_error *err)
{
    struct as_pages pages;
    double unused;
    enum as_status st = as_pages_prepare(&pages, r->dev, 0, err);
    const struct as_span all = {.memory = r->memory, .pages = st ? 0 : r->memory->bytes / pages.page};
    if (!st && all.pages)
        st = as_pages_touch(&pages, &all, &unused, err);
    as_pages_finish(&pages);
    return st;
}

static enum as_status reach_get_memory(struct as_reach *r, const struct as_axes *a, uint64_t bytes,
                                       struct as_error *err)
{
    const bool own = as_info_has_host_kernels(&r->dev->info);
    const struct as_allocator *allocator = as_info_allocator(&r->dev->info, as_axes_text(a, "allocator"));
    /* A first touch needs memory that nobody has touched. */
    const struct as_arena_desc desc = {.memory = {.allocator = as_axes_text(a, "allocator"),
                                                  .bytes = bytes,
                                                  .node = own ? (int)as_axes_u64(a, "node") : -1,
                                                  .fresh = !own && allocator && allocator->on_demand},
                                       .use = "reach"};
    enum as_status st = as_arena_take(r->dev, &desc, &r->memory, err);
    if (!st && r->by_device)
        st = reach_touch_by_device(r, err);
    if (!st)
        st = r->dev->memory->map(r->dev, r->memory, err);
    r->at = st ? NULL : r->memory->host;
    if (!st && !r->at)
        st = as_fail(err, AS_UNSUPPORTED, "the CPU cannot access this memory");
    if (!st && (uintptr_t)r->at % LINE)
        st = as_fail(err, AS_UNSUPPORTED, "memory from '%s' is not aligned to %d bytes", as_axes_text(a, "allocator"),
                     (int)LINE);
    return st;
}

enum as_status as_reach_prepare(struct as_reach *r, struct as_trial_context *tc, uint64_t bytes, struct as_error *err)
{
    *r = (struct as_reach){.dev = tc->dev, .by_device = reach_is_device_first(tc->axes)};
    enum as_status st = reach_find_cpus(r, (int)as_axes_u64(tc->axes, "from"), err);
    if (!st)
        st = as_check_room(tc->dev, bytes, bytes, err);
    if (!st)
        st = as_cpu_beside(tc->dev, &r->opened, &r->cpu, err);
    tc->host_work = true; /* the clock and the neighbours of the CPU count, not the device's */
    return st ? st : reach_get_memory(r, tc->axes, bytes, err);
}

enum as_status as_reach_look(const struct as_reach *r, struct as_trial_context *tc, struct as_error *err)
{
    const bool own = as_info_has_host_kernels(&r->dev->info);
    if (r->memory->page_size)
        as_note_number(tc, "page_size", (double)r->memory->page_size);
    return as_node_check(tc, own ? (int)as_axes_u64(tc->axes, "node") : -1, as_node_of(r->at), err);
}

enum as_status as_reach_prepare_chase(struct as_reach *r, struct as_chase *chase, struct as_trial_context *tc,
                                      struct as_chase_desc *desc, struct as_error *err)
{
    enum as_status st = as_reach_prepare(r, tc, desc->size, err);
    if (st)
        return st;
    const int cpu = r->cpus[tc->seed % r->cpus_n];
    desc->allocator = r->cpu->info.allocators[0].name;
    desc->at = r->at;
    desc->cpu = 1 + cpu;
    st = as_chase_prepare(chase, r->cpu, desc, err);
    if (!st)
        st = as_reach_look(r, tc, err);
    tc->footprint = chase->footprint;
    as_limit_one_cycle(tc, r->cpu->info.clock_max_hz);
    as_note_number(tc, "cpu", cpu);
    return st;
}

void as_reach_finish(struct as_reach *r)
{
    if (!r->dev)
        return;
    if (r->at)
        r->dev->memory->unmap(r->dev, r->memory, NULL);
    as_arena_give(r->dev, r->memory);
    as_device_close(&r->opened);
    free(r->cpus);
    *r = (struct as_reach){0};
}
