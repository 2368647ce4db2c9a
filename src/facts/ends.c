/* CPU threads and memory that lies elsewhere: what another NUMA node costs, and an allocator of a device. */
#include "facts/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS_MAX = 48 }; /* per rule: keeps a run with too many kinds of cells readable */
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
        c->status = as_nomem(c->err, (n + 1) * sizeof *of_op, "cells of an operation");
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

/* "A CPU load from 'malloc' memory takes 230 ns", "CPU threads in 'malloc' memory, triad: 41 GB/s" */
static void ends_say(struct as_fact *f, const struct as_ends *e, const struct as_cell *cell, const char *value)
{
    const char *op = as_cell_axis(cell, "op"), *allocator = as_cell_axis(cell, "allocator");
    const char *touch = as_cell_is(cell, "touch", "device") ? " that the device touched first" : "";
    if (*op)
        as_fact_say(f, "%s '%s' memory%s, %s: %s", e->in, allocator, touch, op, value);
    else
        as_fact_say(f, "%s '%s' memory%s takes %s", e->in, allocator, touch, value);
}

static void ends_add_cost(struct as_rule_context *c, const struct as_ends *e, const struct as_cell *cell,
                          const struct as_cell *pageable)
{
    char object[64], against[96], value[192];
    const struct as_interval ci = as_cells_ratio(cell, pageable);
    if (ci.lo <= DIFFERS && ci.hi >= 1 / DIFFERS)
        return;
    as_allocator_object(as_cell_axis(cell, "allocator"), object, sizeof object);
    struct as_fact *f = as_fact_add_ratio(c, e->cost, cell, pageable, AS_BY(.object = object));
    if (!f)
        return;
    f->verdict = AS_SUPPORTED;
    snprintf(against, sizeof against, " %s '%.48s'", e->against, as_cell_axis(pageable, "allocator"));
    ends_say(f, e, cell, as_fact_noted_text(f, against, "", value, sizeof value));
    as_fact_gain(f, f->value, f->ci);
    const char *op = as_cell_axis(cell, "op");
    if (as_fact_side(f) == (e->lower_is_better ? 1 : -1))
        as_fact_act(f, "Avoid CPU access to '%s' memory%s: %s is {gain} slower than in '%s'",
                    as_cell_axis(cell, "allocator"),
                    as_cell_is(cell, "touch", "device") ? " that the device touched first" : "", *op ? op : "a load",
                    as_cell_axis(pageable, "allocator"));
}

static void ends_of_device(struct as_rule_context *c, const struct as_ends *e)
{
    static const char *const kind[] = {"allocator", "touch", "op", NULL};
    const struct as_cell **cells;
    const size_t n = ends_best(c, e, kind, &cells);
    for (size_t i = 0; i < n && i < FACTS_MAX; i++) {
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
        ends_say(f, e, cells[i], as_fact_noted_text(f, "", note, value, sizeof value));
        if (pageable && pageable != cells[i])
            ends_add_cost(c, e, cells[i], pageable);
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
