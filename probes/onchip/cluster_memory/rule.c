/* Latency and bandwidth of the shared memory of other blocks, beside a block's own. */
#include "facts/rule.h"

#include <stdio.h>
#include <stdlib.h>

static const struct as_cell *cluster_memory_own(const struct as_cell *const *cells, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "what", what) && as_cell_is(cells[i], "cluster", "1"))
            return cells[i];
    return NULL;
}

/* own: the same in the block's own memory, NULL where it was not measured. */
static void cluster_memory_add(struct as_rule_context *c, const struct as_cell *cell, const struct as_cell *own)
{
    const bool is_latency = as_cell_is(cell, "what", "latency");
    const char *cluster = as_cell_axis(cell, "cluster");
    struct as_fact *f = as_fact_add_cell(c, is_latency ? AS_FACT_CLUSTER_LATENCY : AS_FACT_CLUSTER_BANDWIDTH, cell,
                                         AS_BY(.size = cluster));
    char beside[160] = "", ratio[96];
    if (!f)
        return;
    if (own) {
        as_fact_value_text(cell->sum.median / own->sum.median, as_cells_ratio(cell, own), "x", ratio, sizeof ratio);
        snprintf(beside, sizeof beside, ", %s that of the block's own", ratio);
        as_fact_evidence(f, own);
    }
    if (is_latency)
        as_fact_say(f, "A load from the shared memory of another block takes {value} in a cluster of %s%s", cluster,
                    beside);
    else
        as_fact_say(f, "Each %s loads {value} from the shared memory of another block in a cluster of %s%s",
                    as_unit_name(c), cluster, beside);
}

/* own: a cluster of one block, which copies everything itself. */
static void cluster_memory_add_multicast(struct as_rule_context *c, const struct as_cell *cell,
                                         const struct as_cell *own)
{
    const bool is_latency = as_cell_is(cell, "what", "multicast_latency");
    const char *cluster = as_cell_axis(cell, "cluster");
    struct as_fact *f = as_fact_add_cell(c, is_latency ? AS_FACT_CLUSTER_MULTICAST_LATENCY : AS_FACT_CLUSTER_MULTICAST,
                                         cell, AS_BY(.size = cluster));
    char beside[160] = "", ratio[96];
    if (!f)
        return;
    if (own) {
        as_fact_value_text(cell->sum.median / own->sum.median, as_cells_ratio(cell, own), "x", ratio, sizeof ratio);
        snprintf(beside, sizeof beside, ", %s that of copies to one block", ratio);
        as_fact_evidence(f, own);
    }
    if (is_latency)
        as_fact_say(f, "A multicast of 1 KiB to a cluster of %s reaches the issuing block in {value}%s", cluster,
                    beside);
    else
        as_fact_say(f, "Each %s receives {value} of copies from L2 to all blocks of a cluster of %s%s", as_unit_name(c),
                    cluster, beside);
}

static void derive_cluster_memory(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "cluster_memory", &cells);
    for (size_t i = 0; i < n; i++)
        if (!as_cell_is(cells[i], "cluster", "1"))
            (as_cell_is(cells[i], "what", "latency") || as_cell_is(cells[i], "what", "bandwidth")
                 ? cluster_memory_add
                 : cluster_memory_add_multicast)(c, cells[i],
                                                 cluster_memory_own(cells, n, as_cell_axis(cells[i], "what")));
    free(cells);
}

const struct as_rule as_rules_cluster_memory[] = {
    {"shared memory of a cluster", derive_cluster_memory, "the valid cell of each cluster size, and that of cluster 1",
     "a chase, a read or a copy of the same cluster size with another result"},
    {0},
};
