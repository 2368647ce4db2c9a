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

static const struct cluster_fact {
    const char *what;
    enum as_relation relation;
    const char *verb; /* of the compute unit, "Each SM loads"; NULL: lead is the sentence's beginning */
    const char *lead;
    const char *where; /* after the value, before the cluster's size */
    const char *own;   /* what a cluster of one block gives */
} facts[] = {
    {"latency", AS_FACT_CLUSTER_LATENCY, NULL, "A load from the shared memory of another block takes",
     "in a cluster of", "that of the block's own"},
    {"bandwidth", AS_FACT_CLUSTER_BANDWIDTH, "loads", NULL, "from the shared memory of another block in a cluster of",
     "that of the block's own"},
    {"multicast_latency", AS_FACT_CLUSTER_MULTICAST_LATENCY, NULL, "A multicast of 1 KiB reaches the issuing block in",
     "in a cluster of", "that of a copy to one block"},
    {"multicast", AS_FACT_CLUSTER_MULTICAST, "receives", NULL, "of multicasts to a cluster of",
     "the rate of the same loop in one block"},
    {"multicast_2d", AS_FACT_CLUSTER_MULTICAST_2D, "receives", NULL, "of multicasts of a 2D tensor to a cluster of",
     "the rate of the same loop in one block"},
};

/* own: the same in a cluster of one block; NULL where it was not measured. */
static void cluster_memory_add(struct as_rule_context *c, const struct cluster_fact *is, const struct as_cell *cell,
                               const struct as_cell *own)
{
    const char *cluster = as_cell_axis(cell, "cluster");
    struct as_fact *f = as_fact_add_cell(c, is->relation, cell, AS_BY(.size = cluster));
    char beside[160] = "", ratio[96], lead[64] = "";
    if (!f)
        return;
    if (own) {
        as_fact_value_text(cell->sum.median / own->sum.median, as_cells_ratio(cell, own), "x", ratio, sizeof ratio);
        snprintf(beside, sizeof beside, ", %s %s", ratio, is->own);
        as_fact_evidence(f, own);
    }
    if (is->verb)
        snprintf(lead, sizeof lead, "Each %s %s", as_unit_name(c), is->verb);
    as_fact_say(f, "%s {value} %s %s%s", is->verb ? lead : is->lead, is->where, cluster, beside);
}

static void derive_cluster_memory(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "cluster_memory", &cells);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof facts / sizeof *facts; k++)
            if (as_cell_is(cells[i], "what", facts[k].what) && !as_cell_is(cells[i], "cluster", "1"))
                cluster_memory_add(c, &facts[k], cells[i], cluster_memory_own(cells, n, facts[k].what));
    free(cells);
}

const struct as_rule as_rules_cluster_memory[] = {
    {"shared memory of a cluster", derive_cluster_memory,
     "the valid measurement of each cluster size, and that of cluster 1",
     "a chase, a read or a copy of the same cluster size with another result"},
    {0},
};
