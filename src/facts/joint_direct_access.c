/* Copying first against direct access: from how many passes over the data on a copy pays. */
#include "facts/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_reading(const struct as_cell *cell, const char *allocator)
{
    return strcmp(as_cell_axis(cell, "op"), "read") == 0 && strcmp(as_cell_axis(cell, "level"), "memory") == 0 &&
           strcmp(as_cell_axis(cell, "allocator"), allocator) == 0 && as_cell_axis_number(cell, "threads") == 0;
}

/* The best valid reading of memory of this kind by the device that has one of the device's own beside it with all
 * else as there: how much is read matters more than from where. */
static const struct as_cell *reading(const struct as_cell *const *cells, size_t n, const char *allocator,
                                     const char *own, const struct as_cell **near)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n && is_reading(cells[i], allocator) && (!best || as_cell_is_faster(cells[i], best));
             k++)
            if (is_reading(cells[k], own) && as_cells_alike(cells[k], cells[i], "allocator")) {
                best = cells[i];
                *near = cells[k];
            }
    return best;
}

/* Of bandwidths; infinite where it never pays. */
static double passes_of(double copy, double direct, double own)
{
    return direct < own ? (1 / copy) / (1 / direct - 1 / own) : INFINITY;
}

bool as_passes_to_pay(const struct as_cell *copy, const struct as_cell *direct, const struct as_cell *own,
                      double *passes, struct as_interval *ci)
{
    struct as_interval cc = as_cell_interval(copy), cd = as_cell_interval(direct), co = as_cell_interval(own);
    *passes = passes_of(copy->sum.median, direct->sum.median, own->sum.median);
    *ci = (struct as_interval){passes_of(cc.hi, cd.lo, co.hi), passes_of(cc.lo, cd.hi, co.lo)};
    return isfinite(*passes) && isfinite(ci->hi);
}

const char *as_passes_text(struct as_interval passes, const char *reads, char *out, size_t size)
{
    if (passes.hi <= 1)
        snprintf(out, size, "even if you %s once", reads);
    else
        snprintf(out, size, "if you %s %.0f times or more", reads, ceil(passes.hi));
    return out;
}

static void add_direct(struct as_rule_context *c, const struct as_cell *copy, const struct as_cell *direct,
                       const struct as_cell *own)
{
    const char *from = as_cell_axis(copy, "from");
    struct as_fact *f = as_fact_add(c, AS_FACT_COPY_PAYS, copy, NULL);
    if (!f)
        return;
    double passes;
    struct as_interval ci;
    char reads[96], copies[96], size[32];
    as_fact_value_text(direct->sum.median, as_cell_interval(direct), direct->unit, reads, sizeof reads);
    as_fact_value_text(copy->sum.median, as_cell_interval(copy), copy->unit, copies, sizeof copies);
    if (as_passes_to_pay(copy, direct, own, &passes, &ci)) {
        as_fact_number(f, passes, ci);
        char when[96];
        as_fact_value_text(as_cell_size(copy), AS_NO_INTERVAL, "B", size, sizeof size);
        as_fact_say(f, "A kernel reads %.40s directly at %s, a copy of %s of it runs at %s: copy it first %s", from,
                    reads, size, copies, as_passes_text(ci, "read it", when, sizeof when));
    } else {
        const bool slower = as_cells_ratio(direct, own).lo < 1; /* perhaps */
        f->verdict = slower ? AS_UNDECIDED : AS_REFUTED;
        as_fact_say(f, "A kernel reads %.40s directly at %s, %s", from, reads,
                    slower ? "and may be as fast as in its own memory: whether to copy it first is inconclusive"
                           : "no slower than its own memory: do not copy it first");
    }
    as_fact_evidence(f, copy);
    as_fact_evidence(f, direct);
    as_fact_evidence(f, own);
}

/* Is it memory of the device, as that of its first allocator is, which nobody has to bring there? */
static bool is_on_device(const struct as_rule_context *c, const char *allocator, const char *own)
{
    const struct as_allocator *a = c->info ? as_info_allocator(c->info, allocator) : NULL,
                              *first = c->info ? as_info_allocator(c->info, own) : NULL;
    return strcmp(allocator, own) == 0 || (a && first && !a->host_access && !first->host_access);
}

static void derive_direct_access(struct as_rule_context *c)
{
    static const char *const kind[] = {"from", "to", NULL};
    const struct as_cell **copies, **reads;
    size_t n = as_cells_of(c, "copy", &copies), reads_n = as_cells_of(c, "bandwidth", &reads), kept = 0;
    const char *own = c->info && c->info->allocators_n ? c->info->allocators[0].name : "";
    for (size_t i = 0; i < n; i++)
        if (strcmp(as_cell_axis(copies[i], "direction"), "one") == 0 &&
            strcmp(as_cell_axis(copies[i], "how"), "engine") == 0 && strcmp(as_cell_axis(copies[i], "to"), own) == 0 &&
            !is_on_device(c, as_cell_axis(copies[i], "from"), own) && as_copy_crosses_bus(c, copies[i]))
            copies[kept++] = copies[i];
    kept = as_cells_keep_best(copies, kept, kind, as_cell_is_larger);
    for (size_t i = 0; i < kept; i++) {
        const struct as_cell *near = NULL,
                             *direct = reading(reads, reads_n, as_cell_axis(copies[i], "from"), own, &near);
        if (direct)
            add_direct(c, copies[i], direct, near);
    }
    free(copies);
    free(reads);
}

const struct as_rule as_rules_joint_direct_access[] = {
    {"copy or direct access", derive_direct_access,
     "passes over the data from which a copy plus passes in the device's memory is faster than direct access: 1/copy / "
     "(1/direct - 1/own), of the bandwidths for equal amounts of reads",
     "an algorithm, timed both ways, that breaks even at another number"},
    {0},
};
