#include "report/model/access.h"

#include "base/text.h"
#include "probe/main_memory.h"
#include "probe/probe.h"
#include "probe/view_role.h"

#include <stdio.h>
#include <string.h>

const char as_access_caption[] = "Each agent in each memory: latency of a dependent load, then bandwidth of reads. Of "
                                 "each pair the largest size, and "
                                 "the best of its allocators.";

/* Agents and memories have one numbering: NUMA nodes of the host that have cells, then devices of the run. */
enum { NODES = 64, NUMBERS = 1024 /* of nodes, at most */, DEVICES = 8, ENDS = NODES + DEVICES };
enum kind { LATENCY, BANDWIDTH, KINDS };

struct access {
    const struct as_report_run *run;
    bool many_nodes; /* cells tell nodes apart */
    int node[NODES]; /* their numbers, ascending */
    size_t nodes_n;
    bool agents[ENDS], memories[ENDS];             /* those that any cell has */
    const struct as_cell *best[KINDS][ENDS][ENDS]; /* by agent, by memory: a valid one, else one without a number */
};

/* The probes' ends. OWN: the cell's device uses memory that it allocates; CPU: threads of a node use it; PEER: the
 * device uses memory of the host or of another device. */
enum ends { OWN, CPU, PEER };
struct source {
    enum as_view_role role;
    enum kind kind;
    enum ends ends;
    const char *axes[2][2];
};
static const struct source sources[] = {
    {AS_VIEW_LATENCY, LATENCY, OWN, {{"pattern", "random"}}},
    {AS_VIEW_HOST_LATENCY, LATENCY, CPU, {{0}}},
    {AS_VIEW_LINK_LATENCY, LATENCY, PEER, {{"what", "load"}}},
    {AS_VIEW_BANDWIDTH, BANDWIDTH, OWN, {{"op", "read"}, {"level", "memory"}}},
    {AS_VIEW_HOST_BANDWIDTH, BANDWIDTH, CPU, {{"op", "read"}}},
    {AS_VIEW_LINK_BANDWIDTH, BANDWIDTH, PEER, {{"how", "kernel"}, {"direction", "from"}}},
};

static const struct source *source_of(const struct as_cell *cell)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        bool fits = as_has_role(cell, sources[i].role) && !as_axes_text(&cell->axes, AS_STATE_AXIS)[0];
        for (size_t k = 0; k < 2 && fits && sources[i].axes[k][0]; k++)
            fits = strcmp(as_axes_text(&cell->axes, sources[i].axes[k][0]), sources[i].axes[k][1]) == 0;
        if (fits)
            return &sources[i];
    }
    return NULL;
}

/* A device that another backend drives too counts once. */
static bool is_counted(const struct as_report_run *run, size_t device)
{
    char how[64];
    bool again = device >= DEVICES || run->devices[device].is_host_cpu;
    for (size_t i = 0; i < device && !again; i++)
        again = strcmp(run->devices[i].backend, run->devices[device].backend) != 0 &&
                as_info_same_hardware(&run->devices[i], &run->devices[device], how, sizeof how);
    return !again;
}

/* The number of a device; ENDS if it has none. */
static size_t end_of_device(const struct as_report_run *run, const char *id)
{
    for (size_t i = 0; i < run->devices_n; i++)
        if (strcmp(run->devices[i].id, id) == 0)
            return is_counted(run, i) ? NODES + i : (size_t)ENDS;
    return ENDS;
}

/* The number of the device whose memory is that node of the host; ENDS: of none. */
static size_t device_of_node(const struct as_report_run *run, double node)
{
    for (size_t i = 0; i < run->devices_n; i++)
        if (run->devices[i].memory_node && run->devices[i].memory_node == node && is_counted(run, i))
            return NODES + i;
    return ENDS;
}

static size_t end_of_node(const struct access *a, const struct as_cell *cell, const char *axis)
{
    const double node = as_axes_number(&cell->axes, axis);
    const size_t device = device_of_node(a->run, node);
    if (device != ENDS)
        return device;
    for (size_t i = 0; i < a->nodes_n; i++)
        if (a->node[i] == node)
            return i;
    return ENDS;
}

/* Keeps the numbers in order; of too many the first that come. */
static void add_node(struct access *a, double node)
{
    size_t at = 0;
    while (at < a->nodes_n && a->node[at] < node)
        at++;
    if (!(node >= 0 && node < NUMBERS) || a->nodes_n == NODES || (at < a->nodes_n && a->node[at] == node) ||
        device_of_node(a->run, node) != ENDS)
        return;
    memmove(&a->node[at + 1], &a->node[at], (a->nodes_n++ - at) * sizeof *a->node);
    a->node[at] = (int)node;
}

/* Those of cells, and node 0, which is the host's memory where cells name none. */
static void find_nodes(struct access *a)
{
    add_node(a, 0);
    for (size_t i = 0; i < a->run->cells_n; i++) {
        const struct as_cell *cell = &a->run->cells[i];
        const struct source *s = as_cell_is_valid(cell) ? source_of(cell) : NULL;
        if (s && s->ends == CPU)
            add_node(a, as_axes_number(&cell->axes, "from"));
        if (s && s->ends != OWN)
            add_node(a, as_axes_number(&cell->axes, "node"));
    }
    a->many_nodes |= a->nodes_n > 1;
}

static bool is_cpu(const struct as_device_info *info)
{
    return (info->capabilities & AS_CAP_HOST_KERNELS) != 0;
}

/* The memory of a device's own kind: that of the host's only node where it shares it. */
static size_t memory_of(const struct access *a, const struct as_device_info *info)
{
    if (info->is_host_memory && !a->many_nodes)
        return 0;
    return is_cpu(info) ? (size_t)ENDS : end_of_device(a->run, info->id);
}

static bool is_of_device(const struct as_cell *cell)
{
    const enum as_role role = as_allocator_role(cell->device, as_axes_text(&cell->axes, "allocator"));
    return role == AS_ROLE_DEVICE || role == AS_ROLE_DEVICE_POOL || role == AS_ROLE_DEVICE_MAPPED;
}

/* Is the cell's working set in memory? Of a peer's memory every size counts: what a device caches of it is not known.
 */
static bool is_large(const struct as_cell *cell, const struct as_device_info *info, enum ends ends)
{
    const double size = as_axes_number(&cell->axes, "size");
    const struct as_memory_path path = as_main_memory_path(info, cell->probe, &cell->axes);
    return ends == PEER || as_info_is_memory(info, path.allocator, 1, size);
}

static void find_peer(const struct access *a, const struct as_cell *cell, size_t *memory)
{
    char id[64];
    const char *peer = as_axes_text(&cell->axes, "peer");
    snprintf(id, sizeof id, "%.*s:%.16s", (int)strcspn(cell->device, ":"), cell->device, peer);
    *memory = strcmp(peer, "host") == 0 ? end_of_node(a, cell, "node") : end_of_device(a->run, id);
}

/* The cell's place; false if it has none. */
static bool find_ends(const struct access *a, const struct as_cell *cell, const struct source *s, size_t *agent,
                      size_t *memory)
{
    const struct as_device_info *info = as_report_device(a->run, cell->device);
    if (!info || !is_large(cell, info, s->ends))
        return false;
    *agent = is_cpu(info) ? 0 : end_of_device(a->run, info->id);
    if (s->ends == PEER) {
        find_peer(a, cell, memory);
    } else if (s->ends == CPU) {
        *agent = end_of_node(a, cell, "from");
        *memory = is_cpu(info) ? end_of_node(a, cell, "node") : memory_of(a, info);
    } else {
        *memory = memory_of(a, info);
    }
    const bool fits = s->ends == PEER || is_cpu(info) || is_of_device(cell);
    return fits && *agent < ENDS && *memory < ENDS;
}

static bool is_better(const struct as_cell *cell, const struct as_cell *best)
{
    if (!best || as_cell_is_valid(cell) != as_cell_is_valid(best))
        return !best || as_cell_is_valid(cell);
    const double size = as_axes_number(&cell->axes, "size"), of_best = as_axes_number(&best->axes, "size");
    if (size != of_best)
        return size > of_best;
    return cell->lower_is_better ? cell->sum.median < best->sum.median : cell->sum.median > best->sum.median;
}

static void access_find(const struct as_report_run *run, struct access *a)
{
    *a = (struct access){.run = run};
    for (size_t i = 0; i < run->devices_n; i++)
        a->many_nodes |= run->devices[i].numa_nodes > 1;
    find_nodes(a);
    for (size_t i = 0; i < run->cells_n; i++) {
        const struct as_cell *cell = &run->cells[i];
        const struct source *s = source_of(cell);
        size_t agent, memory;
        if (!s || !find_ends(a, cell, s, &agent, &memory))
            continue;
        const struct as_cell **best = &a->best[s->kind][agent][memory];
        *best = is_better(cell, *best) ? cell : *best;
        a->agents[agent] |= as_cell_is_valid(cell);
        a->memories[memory] |= as_cell_is_valid(cell);
    }
}

bool as_access_any(const struct as_report_run *run)
{
    struct access a;
    size_t pairs = 0;
    access_find(run, &a);
    for (size_t i = 0; i < ENDS; i++)
        for (size_t k = 0; k < ENDS; k++) {
            const struct as_cell *latency = a.best[LATENCY][i][k], *bandwidth = a.best[BANDWIDTH][i][k];
            pairs += (latency && as_cell_is_valid(latency)) || (bandwidth && as_cell_is_valid(bandwidth));
        }
    return pairs > 1;
}

bool as_access_is_of(const char *probe)
{
    return strcmp(probe, as_view_probes[AS_VIEW_HOST_LATENCY]) == 0 ||
           strcmp(probe, as_view_probes[AS_VIEW_LINK_LATENCY]) == 0;
}

/* ---- the table ---- */

static void name_end(const struct access *a, size_t end, const char *one, const char *each, const char *device,
                     char out[static 40])
{
    if (end >= NODES)
        snprintf(out, 40, "%s%.30s", device, a->run->devices[end - NODES].id);
    else if (a->many_nodes)
        snprintf(out, 40, "%s%d", each, a->node[end]);
    else
        snprintf(out, 40, "%s", one);
}

static void add_columns(const struct access *a, struct as_view_table *t)
{
    as_view_add_column(t, (struct as_view_column){.title = "by"});
    for (size_t k = 0; k < ENDS; k++) {
        struct as_view_column column = {.number = true};
        if (!a->memories[k])
            continue;
        name_end(a, k, "host memory", "memory of node ", "memory of ", column.title);
        as_view_add_column(t, column);
        as_view_add_column(t, (struct as_view_column){.title = "allocator", .under = true, .spare = true});
    }
}

/* What stands for a number: that nobody asked, or why there is none. */
static void add_missing(const struct as_cell *cell, struct as_view_table *t)
{
    as_view_text(t, cell ? as_cell_status_word(cell->status) : "not measured", AS_PAINT_DIM);
    as_view_text(t, "", AS_PAINT_DIM);
}

static void add_row(const struct access *a, enum kind kind, size_t agent, struct as_view_table *t)
{
    char name[40];
    name_end(a, agent, "CPU", "CPUs of node ", "", name);
    as_view_begin_row(t, true);
    as_view_text(t, name, AS_PAINT_NONE);
    for (size_t k = 0; k < ENDS; k++) {
        const struct as_cell *cell = a->best[kind][agent][k];
        if (!a->memories[k])
            continue;
        if (!cell || !as_cell_is_valid(cell)) {
            add_missing(cell, t);
            continue;
        }
        as_view_measured(t, cell, NULL);
        as_view_text(t, as_axes_text(&cell->axes, "allocator"), AS_PAINT_DIM);
    }
}

void as_access_view(const struct as_report_run *run, struct as_view_table *out)
{
    static const char *const headings[] = {
        [LATENCY] = "latency of a dependent load", [BANDWIDTH] = "bandwidth of reads"};
    struct access a;
    *out = (struct as_view_table){0};
    access_find(run, &a);
    add_columns(&a, out);
    for (enum kind kind = 0; kind < KINDS; kind++) {
        bool first = true;
        for (size_t i = 0; i < ENDS; i++) {
            if (!a.agents[i])
                continue;
            add_row(&a, kind, i, out);
            if (first)
                as_view_group(out, headings[kind]);
            first = false;
        }
    }
}
