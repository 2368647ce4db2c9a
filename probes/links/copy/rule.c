/* Copy bandwidth by kind of memory and by copy method. */
#include "facts/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "host" is plain memory of the process. */
static const char *copy_memory_text(const char *allocator)
{
    return strcmp(allocator, "host") == 0 ? "pageable host memory" : allocator;
}

/* The copy with these ends and method, else alike. */
static const struct as_cell *copy_beside(const struct as_cell *const *cells, size_t n, const struct as_cell *cell,
                                         const char *from, const char *to, const char *how)
{
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "from", from) && as_cell_is(cells[i], "to", to) && as_cell_is(cells[i], "how", how) &&
            as_cells_same(cells[i], cell, "direction") && as_cells_same(cells[i], cell, "size"))
            return cells[i];
    return NULL;
}

/* Pageable memory against pinned memory. */
static void add_pinning(const struct as_rule_context *c, struct as_fact *f, const struct as_cell *const *cells,
                        size_t n, const struct as_cell *cell)
{
    const char *from = as_cell_axis(cell, "from"), *to = as_cell_axis(cell, "to"),
               *pinned = as_role_allocator(c->device, AS_ROLE_PINNED);
    const bool is_from = strcmp(from, "host") == 0;
    if (!pinned[0] || (c->info && c->info->is_host_cpu) || is_from == (strcmp(to, "host") == 0))
        return;
    const struct as_cell *other =
        copy_beside(cells, n, cell, is_from ? pinned : from, is_from ? to : pinned, as_cell_axis(cell, "how"));
    if (!other)
        return;
    as_fact_gain(f, other->sum.median / cell->sum.median, as_cells_ratio(other, cell));
    if (as_fact_side(f) > 0)
        as_fact_act(f, "Pin host memory for copies: copies %s it run at {gain} the rate of pageable memory",
                    is_from ? "from" : "to");
}

/* The copy engine against a kernel. */
static void add_method(struct as_fact *f, const struct as_cell *const *cells, size_t n, const struct as_cell *cell)
{
    const char *from = as_cell_axis(cell, "from"), *to = as_cell_axis(cell, "to");
    const struct as_cell *engine =
        as_cell_is(cell, "how", "kernel") ? copy_beside(cells, n, cell, from, to, "engine") : NULL;
    if (!engine)
        return;
    as_fact_gain(f, cell->sum.median / engine->sum.median, as_cells_ratio(cell, engine));
    if (as_fact_side(f) > 0)
        as_fact_act(f, "From '%s' to '%s', use a copy kernel: {gain} the rate of the copy engine", from, to);
    else if (as_fact_side(f) < 0)
        as_fact_act(f, "From '%s' to '%s', use the copy engine: {gain} the rate of a copy kernel", from, to);
}

/* Copies both ways at once against each by itself. */
static void add_duplex(const struct as_rule_context *c, struct as_fact *f, const struct as_cell *const *cells, size_t n,
                       const struct as_cell *both)
{
    const char *from = as_cell_axis(both, "from"), *to = as_cell_axis(both, "to"), *how = as_cell_axis(both, "how");
    const struct as_cell *one = NULL, *other = NULL;
    if (!as_cell_is(both, "direction", "both") || !as_copy_crosses_bus(c, both))
        return;
    for (size_t i = 0; i < n; i++) {
        if (!as_cell_is(cells[i], "direction", "one") || !as_cell_is(cells[i], "how", how) ||
            !as_cells_same(cells[i], both, "size"))
            continue;
        one = as_cell_is(cells[i], "from", from) && as_cell_is(cells[i], "to", to) ? cells[i] : one;
        other = as_cell_is(cells[i], "from", to) && as_cell_is(cells[i], "to", from) ? cells[i] : other;
    }
    if (!one || !other)
        return;
    const struct as_interval a = as_cell_interval(one), b = as_cell_interval(other);
    const double apart = one->sum.median + other->sum.median;
    as_fact_gain(f, apart / both->sum.median,
                 as_ratio_interval(apart, (struct as_interval){a.lo + b.lo, a.hi + b.hi}, both->sum.median,
                                   as_cell_interval(both)));
    if (as_fact_side(f) > 0)
        as_fact_act(
            f,
            "Do not expect full bandwidth both ways on the host link: each direction is {gain} slower when both run");
}

/* Where the copied pages were, as far as the rate tells: the driver moves managed pages at the first copy, and later
 * ones find them there, whatever the host did before. */
static const char *pages_text(const struct as_rule_context *c, const struct as_cell *cell)
{
    if (!as_copy_is_of_managed(c, cell) || as_copy_crosses_bus(c, cell))
        return "";
    return as_claimed_bus(c, cell) > 0 ? ", managed pages in the device's memory"
                                       : ", managed pages wherever the driver left them";
}

static void add_copy(struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                     const struct as_cell *cell)
{
    const char *how = as_cell_axis(cell, "how");
    bool both = strcmp(as_cell_axis(cell, "direction"), "both") == 0;
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_COPY, cell, AS_BY(.direction = both ? "both" : ""));
    char value[200], size[32], note[160];
    if (!f)
        return;
    const bool within =
        strcmp(as_cell_axis(cell, "from"), as_cell_axis(cell, "to")) == 0 || !as_copy_crosses_bus(c, cell);
    snprintf(note, sizeof note, "%s, %s%s%s",
             as_fact_value_text(as_cell_size(cell), AS_NO_INTERVAL, "B", size, sizeof size),
             strcmp(how, "kernel") == 0        ? "copy kernel"
             : c->info && c->info->is_host_cpu ? "API copy"
                                               : "copy engine",
             within ? ", each byte counted once" : "", pages_text(c, cell));
    as_fact_say(f, both ? "Copies both ways between %.40s and %.40s: %s" : "Copy from %.40s to %.40s: %s",
                copy_memory_text(as_cell_axis(cell, "from")), copy_memory_text(as_cell_axis(cell, "to")),
                as_fact_noted_text(f, "", note, value, sizeof value));
    add_pinning(c, f, cells, n, cell);
    add_method(f, cells, n, cell);
    add_duplex(c, f, cells, n, cell);
}

static void derive_copies(struct as_rule_context *c)
{
    static const char *const kind[] = {"from", "to", "direction", "how", NULL};
    const struct as_cell **all, **cells;
    const size_t all_n = as_cells_of(c, "copy", &all);
    size_t n = as_cells_of(c, "copy", &cells);
    n = as_cells_keep_best(cells, n, kind, as_cell_is_larger);
    for (size_t i = 0; i < n; i++)
        add_copy(c, all, all_n, cells[i]);
    free(all);
    free(cells);
}

const struct as_rule as_rules_copy[] = {
    {"copies", derive_copies, "the largest measured copy, by kinds of memory and by copy method",
     "a copy between the same kinds of memory that is faster and passes the same gates"},
    {0},
};
