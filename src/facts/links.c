/* Links: the best cell of each kind, the bus that the driver tells of, and the device or host at the other end. */
#include "facts/rule.h"
#include "refs/bounds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double as_cell_size(const struct as_cell *cell)
{
    double size = as_cell_axis_number(cell, "size");
    return isfinite(size) ? size : 0;
}

size_t as_cells_keep_best(const struct as_cell **cells, size_t n, const char *const *kind,
                          bool (*surpasses)(const struct as_cell *a, const struct as_cell *b))
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        for (bool same = false; k < kept && !same; k += !same) {
            same = true;
            for (size_t x = 0; kind[x] && same; x++)
                same = as_cells_same(cells[k], cells[i], kind[x]);
        }
        if (k == kept)
            cells[kept++] = cells[i];
        else if (surpasses(cells[i], cells[k]))
            cells[k] = cells[i];
    }
    return kept;
}

bool as_cell_is_larger(const struct as_cell *a, const struct as_cell *b)
{
    return as_cell_size(a) > as_cell_size(b);
}

bool as_cell_is_faster(const struct as_cell *a, const struct as_cell *b)
{
    return a->sum.median > b->sum.median;
}

double as_claimed_bus(const struct as_rule_context *c, const struct as_cell *cell)
{
    const bool both = strcmp(as_cell_axis(cell, "direction"), "both") == 0;
    return as_reported_line(c->info, "Host link", both ? "bidirectional" : "to device", "GB/s");
}

bool as_copy_is_of_managed(const struct as_rule_context *c, const struct as_cell *copy)
{
    return !(c->info && c->info->is_host_memory) &&
           (as_role_is_managed(as_allocator_role(copy->device, as_cell_axis(copy, "from"))) ||
            as_role_is_managed(as_allocator_role(copy->device, as_cell_axis(copy, "to"))));
}

/* A copy that is faster than the bus did not go over it: memory that moves lay on the device already. Where no bus is
 * known there may be none, but nothing tells where pages are that may move. */
bool as_copy_crosses_bus(const struct as_rule_context *c, const struct as_cell *copy)
{
    const double bus = as_claimed_bus(c, copy);
    return bus > 0 ? copy->sum.median <= bus : !as_copy_is_of_managed(c, copy);
}

const char *as_peer_text(const struct as_cell *cell, char *out, size_t size)
{
    const char *peer = as_cell_axis(cell, "peer"), *node = as_cell_axis(cell, "node");
    if (strcmp(peer, "host") == 0)
        snprintf(out, size, strcmp(node, "0") == 0 ? "host" : "host memory node %.8s", node);
    else
        snprintf(out, size, strcmp(peer, "every") == 0 ? "all other devices" : "device %.8s", peer);
    return out;
}

struct as_fact *as_fact_add_peer(struct as_rule_context *c, enum as_relation relation, const struct as_cell *cell)
{
    const char *peer = as_cell_axis(cell, "peer");
    const bool host = strcmp(peer, "host") == 0;
    char object[48], end[40];
    snprintf(end, sizeof end, "%.16s%s%.8s", peer, host ? "-" : "", host ? as_cell_axis(cell, "node") : "");
    snprintf(object, sizeof object, "link:%s", end);
    return as_fact_add_cell(c, relation, cell, AS_BY(.object = object, .peer = end));
}
