/* Collectives: the bus bandwidth of the largest size, and the time of a small one. */
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double SMALL = 4096; /* the size that every grid has */

static const struct collective_name {
    const char *op, *name, *one;
} names[] = {
    {"all_reduce", "All-reduce", "An all-reduce"},
    {"all_gather", "All-gather", "An all-gather"},
    {"reduce_scatter", "Reduce-scatter", "A reduce-scatter"},
    {"all_to_all", "All-to-all", "An all-to-all"},
    {"broadcast", "Broadcast", "A broadcast"},
};

static const struct collective_name *name_of(const struct as_cell *cell)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (as_cell_is(cell, "op", names[i].op))
            return &names[i];
    return NULL;
}

static const char *size_of(const struct as_cell *cell, char out[32])
{
    return as_fact_value_text(as_cell_size(cell), AS_NO_INTERVAL, "B", out, 32);
}

static bool is_smaller(const struct as_cell *a, const struct as_cell *b)
{
    return as_cell_size(a) == SMALL || (as_cell_size(b) != SMALL && as_cell_size(a) < as_cell_size(b));
}

/* Bytes of bus bandwidth per call: by them the cell's value is a time. */
static double bus_bytes(const struct as_cell *cell, double ranks)
{
    const double bytes = as_cell_size(cell), part = floor(bytes / sizeof(float) / ranks) * sizeof(float);
    return as_cell_is(cell, "op", "broadcast")    ? bytes
           : as_cell_is(cell, "op", "all_reduce") ? 2 * (ranks - 1) / ranks * bytes
                                                  : (ranks - 1) * part;
}

static void add_bandwidth(struct as_rule_context *c, const struct as_cell *cell, const struct collective_name *name)
{
    char value[200], note[80], size[32];
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_COLLECTIVE, cell, AS_BY(.op = name->op));
    if (!f)
        return;
    snprintf(note, sizeof note, "%s per device%s%.40s", size_of(cell, size), c->info ? ", " : "",
             c->info ? c->info->collectives : "");
    as_fact_noted_text(f, " of bus bandwidth", note, value, sizeof value);
    as_fact_say(f, "%s over %.0f devices: %s", name->name, as_cell_note(cell, "ranks"), value);
}

static void add_time(struct as_rule_context *c, const struct as_cell *cell, const struct collective_name *name)
{
    const double ranks = as_cell_note(cell, "ranks"), bytes = bus_bytes(cell, ranks);
    const struct as_interval ci = as_cell_interval(cell);
    char value[96], size[32];
    struct as_fact *f =
        as_fact_add(c, AS_FACT_COLLECTIVE_TIME, cell, AS_BY(.op = name->op, .size = as_cell_axis(cell, "size")));
    if (!f)
        return;
    as_fact_evidence(f, cell);
    as_fact_number(f, bytes / cell->sum.median, (struct as_interval){bytes / ci.hi, bytes / ci.lo});
    as_fact_say(f, "%s of %s over %.0f devices takes %s", name->one, size_of(cell, size), ranks,
                as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value));
}

static void derive_collectives(struct as_rule_context *c, bool small)
{
    static const char *const kind[] = {"op", NULL};
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "collective", &cells);
    n = as_cells_keep_best(cells, n, kind, small ? is_smaller : as_cell_is_larger);
    for (size_t i = 0; i < n; i++) {
        const struct collective_name *name = name_of(cells[i]);
        if (!name || !(as_cell_note(cells[i], "ranks") > 1))
            continue;
        if (small)
            add_time(c, cells[i], name);
        else
            add_bandwidth(c, cells[i], name);
    }
    free(cells);
}

static void derive_bandwidths(struct as_rule_context *c)
{
    derive_collectives(c, false);
}

static void derive_times(struct as_rule_context *c)
{
    derive_collectives(c, true);
}

const struct as_rule as_rules_collective[] = {
    {"collectives", derive_bandwidths, "bus bandwidth of the largest size measured, as nccl-tests define it",
     "the same collective by nccl-tests with another bus bandwidth"},
    {"time of collectives", derive_times, "time per call of 4 KiB, or of the smallest size measured",
     "the same collective by nccl-tests with another time"},
    {0},
};
