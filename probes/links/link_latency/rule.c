/* Latency of loads from, and atomic adds to, the memory of another device or the host. */
#include "facts/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_smaller_or_slower(const struct as_cell *a, const struct as_cell *b)
{
    return as_cell_size(a) < as_cell_size(b) || (as_cell_size(a) == as_cell_size(b) && a->sum.median > b->sum.median);
}

/* "host memory", "host memory node 1", "memory of device 3" */
static const char *link_latency_memory_text(const struct as_cell *cell, char *out, size_t size)
{
    char peer[64];
    const bool host = strcmp(as_cell_axis(cell, "peer"), "host") == 0;
    as_peer_text(cell, peer, sizeof peer);
    snprintf(out, size, "%s%s%s", host ? "" : "memory of ", peer, strcmp(peer, "host") == 0 ? " memory" : "");
    return out;
}

static void derive_latencies(struct as_rule_context *c)
{
    static const char *const kind[] = {"peer", "node", "what", NULL};
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "link_latency", &cells);
    n = as_cells_keep_best(cells, n, kind, is_smaller_or_slower);
    for (size_t i = 0; i < n; i++) {
        const char *what = as_cell_axis(cells[i], "what");
        char value[96], memory[96];
        struct as_fact *f = as_fact_add_peer(c, AS_FACT_LINK_LATENCY, cells[i]);
        if (!f)
            break;
        as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
        as_fact_say(f, "%s %s takes %s", strcmp(what, "atomic") == 0 ? "An atomic add in" : "A load from",
                    link_latency_memory_text(cells[i], memory, sizeof memory), value);
    }
    free(cells);
}

const struct as_rule as_rules_link_latency[] = {
    {"link latency", derive_latencies, "median time of a dependent load or atomic add in the smallest buffer measured",
     "the same pointer chase by another tool with another result"},
    {0},
};
