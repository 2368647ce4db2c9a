/* Memory of the host that a device uses and that lies on another memory node than its nearest. */
#include "facts/engine.h"

#include <stdlib.h>

/* Did the trials note where the memory was, and was no node requested? A device's own node is not far. */
static bool is_far(const struct as_cell *cell, const struct as_device_info *info)
{
    const double node = as_cell_note(cell, "node"), near = as_cell_note(cell, "near_node");
    const bool own = info && info->memory_node && node == info->memory_node;
    return as_cell_is(cell, "node", "near") && as_cell_axis(cell, "allocator")[0] && node >= 0 && near >= 0 &&
           node != near && !own;
}

static void add_far(struct as_rule_context *c, const struct as_cell *const *cells, size_t n)
{
    char object[64];
    const char *allocator = as_cell_axis(cells[0], "allocator");
    const double near = as_cell_note(cells[0], "near_node");
    as_allocator_object(allocator, object, sizeof object);
    struct as_fact *f = as_fact_add(c, AS_FACT_MEMORY_NODE, cells[0], AS_BY(.object = object));
    if (!f)
        return;
    as_fact_say(f, "Memory of '%s' is on NUMA node %.0f, not on the device's nearest, node %.0f (%zu measurement%s)",
                allocator, as_cell_note(cells[0], "node"), near, n, n == 1 ? "" : "s");
    as_fact_act(f, "Bind the process to the device's node: numactl --cpunodebind=%.0f --membind=%.0f", near, near);
    for (size_t i = 0; i < n; i++)
        as_fact_evidence(f, cells[i]);
}

static void derive_nodes(struct as_rule_context *c)
{
    const struct as_cell **far = malloc((c->n + 1) * sizeof *far), **of = malloc((c->n + 1) * sizeof *of);
    size_t n = 0;
    if (!far || !of)
        c->status = as_nomem(c->err, (c->n + 1) * sizeof *far, "cells");
    for (size_t i = 0; far && of && i < c->n; i++)
        if (is_far(c->cells[i], c->info))
            far[n++] = c->cells[i];
    for (size_t i = 0; far && of && i < n; i++) {
        size_t before = 0, have = 0;
        while (before < i && !as_cells_same(far[before], far[i], "allocator"))
            before++;
        for (size_t k = i; k < n && before == i; k++)
            if (as_cells_same(far[k], far[i], "allocator"))
                of[have++] = far[k];
        if (have)
            add_far(c, of, have);
    }
    free(far);
    free(of);
}

const struct as_rule as_rules_joint_node[] = {
    {"NUMA node of memory", derive_nodes,
     "the node that the system reports for the pages of a measurement, where no node was requested, against that of "
     "the "
     "CPUs nearest to the device",
     "the same allocator with pages on the nearest node"},
    {0},
};
