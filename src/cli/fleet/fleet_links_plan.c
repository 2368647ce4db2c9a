/* What a launch of `assay fleet links` measures, and what of it at once. */
#include "base/text.h"
#include "cli/fleet/fleet_links_job.h"
#include "device/host.h"
#include "fleet/fleet_link_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double SAMPLE_S = 2e-3;
/* Of each pair, and of all ranks together. */
static const char *const of_pairs[][2] = {{"latency", "8"}, {"bandwidth,both", "256KiB,4MiB"}};
static const char *const of_all[][2] = {{"bisection", "256KiB"}, {"allreduce", "8,256KiB"}};
static const char *const of_all_large[][2] = {{"bisection", "256KiB"}, {"allreduce", "8,256KiB,64MiB"}};
enum { OF_PAIRS = sizeof of_pairs / sizeof *of_pairs, OF_ALL = sizeof of_all / sizeof *of_all };
enum { MESSAGE_MAX = 1 << 26 }; /* bytes, as the probe's axis has them */

void as_links_job_finish(struct as_links_job *l)
{
    if (l->lock >= 0)
        close(l->lock);
    as_link_rank_finish(&l->rank);
    as_link_memory_close(&l->memory);
    as_link_steps_finish(&l->steps);
    as_plan_finish(&l->plan);
    as_run_request_finish(&l->request);
    free(l->hosts);
    free(l->node);
}

/* Rank 0 learns of each memory why a rank cannot use it: of several, the last one's reason. */
static void gather_memory(struct as_links_job *l)
{
    for (int kind = 0; kind < AS_LINK_MEMORIES; kind++) {
        char *own = l->memory.why[kind];
        const int size = sizeof l->memory.why[kind];
        const int which = (int)as_mpi_max(&l->mpi, own[0] ? l->mpi.rank : -1);
        if (which > 0 && l->mpi.rank == which)
            as_mpi_send(&l->mpi, own, size, 0);
        if (which < 0 || l->mpi.rank)
            continue;
        if (which > 0)
            as_mpi_recv(&l->mpi, own, size, which);
        own[size - 1] = 0;
        snprintf(l->why[kind], sizeof l->why[kind], "rank %d (%s): %s", which, l->hosts[which], own);
    }
}

/* Each rank learns whether it is the first of its host, and how many ranks that has. */
static void place_ranks(struct as_links_job *l)
{
    int32_t place[2] = {0, 0};
    for (int i = l->mpi.size; i-- > 0 && !l->mpi.rank;) {
        place[0] = l->node[i] == i;
        place[1] = 0;
        for (int k = 0; k < l->mpi.size; k++)
            place[1] += l->node[k] == l->node[i];
        if (i)
            as_mpi_send(&l->mpi, place, sizeof place, i);
    }
    if (l->mpi.rank)
        as_mpi_recv(&l->mpi, place, sizeof place, 0);
    l->is_first_of_host = place[0];
    l->ranks_on_host = place[1];
}

/* Per rank: send and receive buffers of each memory, their host copies, and as much for MPI. All ranks of a host
 * together may take half of its free memory. */
static void gather_free(struct as_links_job *l)
{
    enum { PARTS = 2 * AS_LINK_MEMORIES + 2, SHARE = 2 };
    const double needed = (double)PARTS * SHARE * MESSAGE_MAX * l->ranks_on_host,
                 available = (double)as_host_memory_available();
    l->has_large = as_mpi_max(&l->mpi, available < needed) == 0;
}

enum as_status as_links_job_gather(struct as_links_job *l, struct as_error *err)
{
    const size_t size = (size_t)l->mpi.size;
    char own[AS_LINKS_HOST_BYTES] = "";
    if (gethostname(own, sizeof own - 1))
        own[0] = 0;
    l->hosts = calloc(size, sizeof *l->hosts);
    l->node = calloc(size, sizeof *l->node);
    if (!l->hosts || !l->node)
        return as_nomem(err, size * sizeof *l->hosts, "host names");
    if (l->mpi.rank)
        as_mpi_send(&l->mpi, own, sizeof own, 0);
    else
        memcpy(l->hosts[0], own, sizeof own);
    for (int i = 1; i < l->mpi.size && !l->mpi.rank; i++) {
        as_mpi_recv(&l->mpi, l->hosts[i], AS_LINKS_HOST_BYTES, i);
        l->hosts[i][AS_LINKS_HOST_BYTES - 1] = 0;
        while (strcmp(l->hosts[l->node[i]], l->hosts[i]) != 0)
            l->node[i]++;
    }
    place_ranks(l);
    gather_memory(l);
    gather_free(l);
    return AS_OK;
}

/* A grid for the pairs of one lower rank, or for all ranks. */
static enum as_status links_grid(const struct as_links_job *l, struct as_grid *grid, const char *const words[2],
                                 const char *pairs, int from, const char *to, struct as_error *err)
{
    const struct as_axis *memory = as_probe_axis(as_probe_find("node_link"), "memory");
    struct as_buf memories = AS_BUF_INIT;
    char first[16];
    *grid = (struct as_grid){.probe = as_probe_find("node_link")};
    snprintf(first, sizeof first, "%d", from);
    for (int kind = 0; kind < AS_LINK_MEMORIES; kind++)
        if (!l->why[kind][0])
            as_buf_printf(&memories, "%s%s", memories.len ? "," : "", memory->words[kind]);
    const char *const axes[][2] = {{"what", words[0]}, {"size", words[1]}, {"pairs", pairs},
                                   {"from", first},    {"to", to},         {"memory", as_buf_get(&memories)}};
    enum as_status st = AS_OK;
    for (size_t i = 0; i < sizeof axes / sizeof *axes && !st; i++)
        st = as_grid_set(grid, axes[i][0], axes[i][1], err);
    as_buf_finish(&memories);
    return st;
}

/* Grids for sorted pairs: one for all upper ranks of each lower one. */
static enum as_status grids_of_pairs(const struct as_links_job *l, int (*pairs)[2], size_t n, struct as_grid *grids,
                                     size_t *used, struct as_error *err)
{
    const char *const together = l->mpi.size > AS_LINKS_ALL_PAIRS_UP_TO ? "together" : "alone";
    enum as_status st = AS_OK;
    struct as_buf to = AS_BUF_INIT;
    for (size_t i = 0; i < n && !st; i++) {
        as_buf_printf(&to, "%s%d", to.len ? "," : "", pairs[i][1]);
        if (i + 1 < n && pairs[i + 1][0] == pairs[i][0])
            continue;
        for (size_t k = 0; k < OF_PAIRS && !st; k++)
            st = links_grid(l, &grids[(*used)++], of_pairs[k], together, pairs[i][0], as_buf_get(&to), err);
        as_buf_clear(&to);
    }
    as_buf_finish(&to);
    return st;
}

/* --set pairs=... says nothing of what all ranks do together. */
static size_t sets_of_all(const struct as_run_options *o, const char **sets)
{
    size_t n = 0;
    for (size_t i = 0; i < o->sets_n; i++)
        if (strncmp(o->sets[i], "pairs=", 6) != 0 && strncmp(o->sets[i], "node_link.pairs=", 16) != 0)
            sets[n++] = o->sets[i];
    return n;
}

/* The index of the cell's word of an axis. */
static int32_t links_word(const struct as_cell *c, const char *name)
{
    const struct as_axis *axis = as_probe_axis(as_probe_find("node_link"), name);
    int32_t i = 0;
    while (axis->words[i] && strcmp(axis->words[i], as_axes_text(&c->axes, name)) != 0)
        i++;
    return i;
}

static bool is_of_pair(const struct as_cell *c)
{
    return as_link_is_of_pair((enum as_link_what)links_word(c, "what"));
}

/* Cells from the first one on that --set made of the other kind: of all ranks, for each pair, or the reverse. */
static void drop_others(struct as_plan *plan, size_t first, bool pairs)
{
    size_t kept = first;
    for (size_t i = first; i < plan->n; i++)
        if (is_of_pair(&plan->cells[i]) == pairs)
            plan->cells[kept++] = plan->cells[i];
        else
            as_cell_finish(&plan->cells[i]);
    for (size_t i = first; i < kept; i++)
        plan->cells[i].index = (int)i;
    plan->n = kept;
}

static enum as_status plan_grids(struct as_links_job *l, struct as_grid *grids, size_t n, bool pairs,
                                 const char *const *sets, size_t sets_n, struct as_error *err)
{
    const size_t before = l->plan.n;
    char(*devices)[128] = calloc(n + 1, sizeof *devices);
    const struct as_suite suite = {
        .grids = grids, .grids_n = n, .grid_devices = devices, .precision = l->request.options.precision};
    const enum as_status st = devices ? as_plan_add(&l->plan, &suite, &l->info, sets, sets_n, err)
                                      : as_nomem(err, n * sizeof *devices, "a plan");
    drop_others(&l->plan, before, pairs);
    free(devices);
    return st;
}

enum as_status as_links_job_plan(struct as_links_job *l, struct as_error *err)
{
    const struct as_run_options *o = &l->request.options;
    int(*pairs)[2] = NULL;
    size_t n = 0, used = 0;
    char last[16];
    struct as_grid *grids = calloc((size_t)l->mpi.size * OF_PAIRS + OF_ALL, sizeof *grids);
    const char **sets = calloc(o->sets_n + 1, sizeof *sets);
    enum as_status st = grids && sets ? AS_OK : as_nomem(err, (size_t)l->mpi.size * sizeof *grids, "a plan");
    if (!st)
        st = as_link_pairs(l->mpi.size, AS_LINKS_ALL_PAIRS_UP_TO, o->seed, &pairs, &n, err);
    if (!st)
        st = grids_of_pairs(l, pairs, n, grids, &used, err);
    if (!st)
        st = plan_grids(l, grids, used, true, o->sets, o->sets_n, err);
    snprintf(last, sizeof last, "%d", l->mpi.size - 1);
    for (size_t k = 0; k < OF_ALL && !st; k++)
        st = links_grid(l, &grids[k], l->has_large ? of_all_large[k] : of_all[k], "alone", 0, last, err);
    if (!st)
        st = plan_grids(l, grids, OF_ALL, false, sets, sets_of_all(o, sets), err);
    if (!st && !l->plan.n)
        st = as_fail(err, AS_USAGE, "nothing to measure: %s", l->plan.pruned);
    if (!st)
        st = as_links_job_check_memory(l, l->plan.cells, l->plan.n, err);
    free(grids);
    free((void *)sets);
    free(pairs);
    return st;
}

struct as_link_task as_links_job_task(const struct as_cell *c)
{
    return (struct as_link_task){.what = links_word(c, "what"),
                                 .memory = links_word(c, "memory"),
                                 .size = as_axes_u64(&c->axes, "size"),
                                 .sample_s = SAMPLE_S};
}

enum as_status as_links_job_check_memory(const struct as_links_job *l, const struct as_cell *cells, size_t n,
                                         struct as_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const double from = as_axes_number(&cells[i].axes, "from"), to = as_axes_number(&cells[i].axes, "to");
        const struct as_link_task t = as_links_job_task(&cells[i]);
        const int32_t memory = t.memory;
        if (!(from >= 0 && from < to && to < l->mpi.size) || t.what >= AS_LINK_WHATS || memory >= AS_LINK_MEMORIES ||
            t.size == 0 || t.size > MESSAGE_MAX)
            return as_fail(
                err, AS_USAGE,
                "cannot send %llu B from rank %.0f to rank %.0f: 'from' must be below 'to', both ranks 0 to %d, and a "
                "message at most 64 MiB",
                (unsigned long long)t.size, from, to, l->mpi.size - 1);
        if (!is_of_pair(&cells[i]) && (from != 0 || to != l->mpi.size - 1))
            return as_fail(err, AS_USAGE,
                           "bisection and all-reduce use all ranks: set from=0 and to=%d, not from=%.0f and to=%.0f",
                           l->mpi.size - 1, from, to);
        if (l->why[memory][0])
            return as_fail(err, AS_UNSUPPORTED, "%s memory cannot be sent: %s", as_axes_text(&cells[i].axes, "memory"),
                           l->why[memory]);
    }
    return AS_OK;
}

enum as_status as_links_job_check_hosts(const struct as_links_job *l, struct as_error *err)
{
    struct as_fleet_links links = {0};
    size_t n = 0;
    const struct as_cell *cells = as_direct_run_cells(l->run, &n);
    enum as_status st = AS_OK;
    for (size_t i = 0; i < n && !st; i++)
        st = as_fleet_links_add(&links, &cells[i], err);
    for (size_t i = 0; i < links.n && !st; i++) {
        const struct as_fleet_link *link = &links.v[i];
        const bool of_pair = links.kinds[link->kind].of_pair;
        if (link->rank[1] >= l->mpi.size || (!of_pair && link->rank[1] != l->mpi.size - 1))
            st = as_fail(err, AS_USAGE, "the run to resume has %d ranks, and this launch %d", links.ranks, l->mpi.size);
        for (int k = 0; k < 2 && !st; k++)
            if (link->host[k][0] && strcmp(link->host[k], l->hosts[link->rank[k]]) != 0)
                st = as_fail(err, AS_USAGE,
                             "rank %d was measured on '%s' and is on '%s' now; use the same order of hosts, or begin "
                             "anew without --resume",
                             link->rank[k], link->host[k], l->hosts[link->rank[k]]);
    }
    as_fleet_links_finish(&links);
    return st;
}

enum as_status as_links_job_schedule(struct as_links_job *l, struct as_error *err)
{
    size_t n = 0;
    const struct as_cell *cells = as_direct_run_cells(l->run, &n);
    struct as_link_item *items = calloc(n + 1, sizeof *items);
    if (!items)
        return as_nomem(err, n * sizeof *items, "a schedule");
    for (size_t i = 0; i < n; i++) {
        const struct as_link_task t = as_links_job_task(&cells[i]);
        items[i] = (struct as_link_item){
            .rank = {(int)as_axes_u64(&cells[i].axes, "from"), (int)as_axes_u64(&cells[i].axes, "to")},
            .kind = (t.size * AS_LINK_MEMORIES + (uint64_t)t.memory) * AS_LINK_WHATS + (uint64_t)t.what,
            .alone = strcmp(as_axes_text(&cells[i].axes, "pairs"), "together") != 0};
    }
    const enum as_status st =
        as_link_steps_make(items, n, l->node, (size_t)l->mpi.size, l->request.options.seed, &l->steps, err);
    free(items);
    return st;
}
