/* CPU threads and memory that lies elsewhere: what another NUMA node costs, and an allocator of a device. */
#include "facts/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A smaller difference from the host's own memory is not worth a sentence. */
static const double DIFFERS = 1.05;

static bool ends_is_larger(const struct as_cell *a, const struct as_cell *b, bool *decided)
{
    *decided = as_cell_size(a) != as_cell_size(b);
    return as_cell_size(a) > as_cell_size(b);
}

static bool ends_is_lower(const struct as_cell *a, const struct as_cell *b)
{
    bool decided;
    const bool larger = ends_is_larger(a, b, &decided);
    return decided ? larger : a->sum.median < b->sum.median;
}

static bool ends_is_higher(const struct as_cell *a, const struct as_cell *b)
{
    bool decided;
    const bool larger = ends_is_larger(a, b, &decided);
    return decided ? larger : a->sum.median > b->sum.median;
}

static size_t ends_best(struct as_rule_context *c, const struct as_ends *e, const char *const *kind,
                        const struct as_cell ***out)
{
    const size_t n = as_cells_of(c, e->probe, out);
    return as_cells_keep_best(*out, n, kind, e->lower_is_better ? ends_is_lower : ends_is_higher);
}

static bool ends_is_own(const struct as_cell *cell)
{
    return as_cell_axis_number(cell, "from") == as_cell_axis_number(cell, "node");
}

static int ends_by_median(const void *a, const void *b)
{
    const double x = (*(const struct as_cell *const *)a)->sum.median,
                 y = (*(const struct as_cell *const *)b)->sum.median;
    return (x > y) - (x < y);
}

/* ---- NUMA nodes ---- */

/* Of sorted cells of one operation: the middle one between a node and itself, or the worst between two nodes. */
static void ends_add_nodes(struct as_rule_context *c, const struct as_ends *e, const struct as_cell *const *cells,
                           size_t n, bool own)
{
    const struct as_cell *of[AS_EVIDENCE_MAX];
    char note[96], value[192];
    size_t have = 0;
    for (size_t i = 0; i < n && have < AS_EVIDENCE_MAX; i++)
        if (ends_is_own(cells[i]) == own)
            of[have++] = cells[i];
    if (have == 0)
        return;
    const struct as_cell *cell = own ? of[(have - 1) / 2] : of[e->lower_is_better ? have - 1 : 0];
    struct as_fact *f = as_fact_add_cell(c, e->nodes, cell, AS_BY(.object = "memory", .what = own ? "own" : "other"));
    if (!f)
        return;
    if (own)
        snprintf(note, sizeof note, have == 1 ? "1 node" : "median of %zu nodes", have);
    else
        snprintf(note, sizeof note, "CPUs of node %.8s, memory of node %.8s, the worst of %zu pairs",
                 as_cell_axis(cell, "from"), as_cell_axis(cell, "node"), have);
    const char *op = as_cell_axis(cell, "op");
    as_fact_noted_text(f, "", note, value, sizeof value);
    if (*op)
        as_fact_say(f, "%s, %s: %s", own ? e->own : e->other, op, value);
    else
        as_fact_say(f, "%s %s", own ? e->own : e->other, value);
    for (size_t i = 0; i < have; i++)
        as_fact_evidence(f, of[i]);
}

/* One cell per pair and operation: of the allocator that the plan lists first, by all CPUs of a node. */
static size_t ends_between_nodes(struct as_rule_context *c, const struct as_ends *e, const struct as_cell ***out)
{
    static const char *const kind[] = {"from", "node", "op", NULL};
    const size_t n = as_cells_of(c, e->probe, out);
    const struct as_cell **cells = *out;
    const char *allocator = n ? as_cell_axis(cells[0], "allocator") : "";
    size_t have = 0;
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "allocator", allocator) && as_cell_is(cells[i], "threads", "0") &&
            as_cell_is(cells[i], "touch", "cpu") && isfinite(as_cell_axis_number(cells[i], "from")))
            cells[have++] = cells[i];
    return as_cells_keep_best(cells, have, kind, as_cell_is_larger);
}

static void ends_of_nodes(struct as_rule_context *c, const struct as_ends *e)
{
    const struct as_cell **cells, **of_op;
    const size_t n = ends_between_nodes(c, e, &cells);
    of_op = malloc((n + 1) * sizeof *of_op);
    if (!of_op)
        c->status = as_nomem(c->err, (n + 1) * sizeof *of_op, "measurements of an operation");
    for (size_t i = 0; i < n && of_op; i++) {
        size_t before = 0, have = 0;
        while (before < i && !as_cells_same(cells[before], cells[i], "op"))
            before++;
        for (size_t k = i; k < n && before == i; k++)
            if (as_cells_same(cells[k], cells[i], "op"))
                of_op[have++] = cells[k];
        if (have > 1)
            qsort(of_op, have, sizeof *of_op, ends_by_median);
        ends_add_nodes(c, e, of_op, have, true);
        ends_add_nodes(c, e, of_op, have, false);
    }
    free(of_op);
    free(cells);
}

/* ---- allocators of a device ---- */

/* The host's own memory beside a cell: pageable memory that the CPU touched first. */
static const struct as_cell *ends_pageable(const struct as_cell *const *cells, size_t n, const struct as_cell *beside)
{
    for (size_t i = 0; i < n; i++)
        if (as_allocator_role(cells[i]->device, as_cell_axis(cells[i], "allocator")) == AS_ROLE_PAGEABLE &&
            as_cell_is(cells[i], "touch", "cpu") && as_cells_same(cells[i], beside, "op") &&
            as_cell_size(cells[i]) == as_cell_size(beside))
            return cells[i];
    return NULL;
}

static bool ends_is_of_device(const struct as_cell *cell)
{
    return as_allocator_role(cell->device, as_cell_axis(cell, "allocator")) == AS_ROLE_DEVICE;
}

/* The device's own memory beside a cell of the same first touch, where the CPU reaches it. */
static const struct as_cell *ends_of_own(const struct as_cell *const *cells, size_t n, const struct as_cell *beside)
{
    for (size_t i = 0; i < n; i++)
        if (ends_is_of_device(cells[i]) && as_cells_same(cells[i], beside, "touch") &&
            as_cells_same(cells[i], beside, "op") && as_cell_size(cells[i]) == as_cell_size(beside))
            return cells[i];
    return NULL;
}

/* "A CPU load from 'malloc' memory takes 230 ns", "CPU threads in 'malloc' memory, triad: 41 GB/s" */
static void ends_say(struct as_fact *f, const struct as_ends *e, const struct as_cell *cell, const char *value,
                     const char *because)
{
    const char *op = as_cell_axis(cell, "op"), *allocator = as_cell_axis(cell, "allocator");
    const char *touch = as_cell_is(cell, "touch", "device") ? " that the device touched first" : "";
    if (*op)
        as_fact_say(f, "%s '%s' memory%s, %s: %s%s", e->in, allocator, touch, op, value, because);
    else
        as_fact_say(f, "%s '%s' memory%s takes %s%s", e->in, allocator, touch, value, because);
}

/* Page faults of ten triads in the allocator's memory; NULL where they were not counted. */
static const struct as_cell *ends_triads(struct as_rule_context *c, const struct as_cell *like)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->cells[i]->probe, "page_events") == 0 &&
            strcmp(as_cell_axis(c->cells[i], "what"), "triads") == 0 && as_cells_same(c->cells[i], like, "allocator") &&
            as_cells_same(c->cells[i], like, "touch"))
            return c->cells[i];
    return NULL;
}

/* What may explain a difference between two allocators: how their pages are mapped. */
static void ends_say_because(struct as_rule_context *c, const struct as_cell *cell, const struct as_cell *own,
                             char *out, size_t size)
{
    const struct as_cell *here = ends_triads(c, cell), *there = ends_triads(c, own);
    out[0] = '\0';
    if (here && there && as_cells_alike(here, there, "allocator"))
        snprintf(out, size, "; ten triads fault %.0f times in '%.40s', %.0f times in '%.40s'", here->sum.median,
                 as_cell_axis(cell, "allocator"), there->sum.median, as_cell_axis(own, "allocator"));
}

/* What to do where the CPU is surely slower than in the other memory. */
static void ends_add_act(struct as_fact *f, const struct as_ends *e, const struct as_cell *cell,
                         const struct as_cell *base)
{
    const char *op = *as_cell_axis(cell, "op") ? as_cell_axis(cell, "op") : "a load";
    const char *allocator = as_cell_axis(cell, "allocator"), *other = as_cell_axis(base, "allocator");
    as_fact_gain(f, f->value, f->ci);
    if (as_fact_side(f) != (e->lower_is_better ? 1 : -1))
        return;
    if (ends_is_of_device(base))
        as_fact_act(f, "Use '%s' for memory that the CPU uses heavily: %s is {gain} slower in '%s'", other, op,
                    allocator);
    else
        as_fact_act(f, "Avoid CPU access to '%s' memory%s: %s is {gain} slower than in '%s'", allocator,
                    as_cell_is(cell, "touch", "device") ? " that the device touched first" : "", op, other);
}

/* Against pageable memory; of that against the device's own: "malloc costs the CPU 13% of triad". */
static void ends_add_cost(struct as_rule_context *c, const struct as_ends *e, const struct as_cell *cell,
                          const struct as_cell *base)
{
    char object[64], against[96], value[192], because[160] = "";
    const struct as_interval ci = as_cells_ratio(cell, base);
    if (ci.lo <= DIFFERS && ci.hi >= 1 / DIFFERS)
        return;
    as_allocator_object(as_cell_axis(cell, "allocator"), object, sizeof object);
    struct as_fact *f = as_fact_add_ratio(c, e->cost, cell, base, AS_BY(.object = object));
    if (!f)
        return;
    f->verdict = AS_SUPPORTED;
    snprintf(against, sizeof against, " %s '%.48s'", e->against, as_cell_axis(base, "allocator"));
    if (ends_is_of_device(base))
        ends_say_because(c, cell, base, because, sizeof because);
    ends_say(f, e, cell, as_fact_noted_text(f, against, "", value, sizeof value), because);
    ends_add_act(f, e, cell, base);
}

static void ends_of_device(struct as_rule_context *c, const struct as_ends *e)
{
    static const char *const kind[] = {"allocator", "touch", "op", NULL};
    const struct as_cell **cells;
    const size_t n = ends_best(c, e, kind, &cells);
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *pageable = ends_pageable(cells, n, cells[i]);
        char object[64], size[32], note[96], value[192];
        as_allocator_object(as_cell_axis(cells[i], "allocator"), object, sizeof object);
        struct as_fact *f = as_fact_add_cell(c, e->device, cells[i], AS_BY(.object = object));
        if (!f)
            break;
        const double threads = as_cell_note(cells[i], "threads");
        as_fact_value_text(as_cell_size(cells[i]), AS_NO_INTERVAL, "B", size, sizeof size);
        if (threads > 1)
            snprintf(note, sizeof note, "%s, %.0f threads", size, threads);
        else
            snprintf(note, sizeof note, "%s, 1 thread", size);
        ends_say(f, e, cells[i], as_fact_noted_text(f, "", note, value, sizeof value), "");
        if (pageable && pageable != cells[i])
            ends_add_cost(c, e, cells[i], pageable);
        const struct as_cell *own = pageable == cells[i] ? ends_of_own(cells, n, cells[i]) : NULL;
        if (own)
            ends_add_cost(c, e, cells[i], own);
    }
    free(cells);
}

void as_facts_of_ends(struct as_rule_context *c, const struct as_ends *e)
{
    if (c->info && c->info->capabilities & AS_CAP_HOST_KERNELS)
        ends_of_nodes(c, e);
    else
        ends_of_device(c, e);
}
