/* Cost of allocation, of free, and of touching fresh memory. */
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void alloc_add_difference(struct as_rule_context *c, const struct as_cell *more, const struct as_cell *less,
                                 enum as_relation relation, const char *what)
{
    const char *allocator = as_cell_axis(more, "allocator");
    char object[64], value[160], size[32], note[80], capital[AS_TERM_SIZE];
    as_allocator_object(allocator, object, sizeof object);
    struct as_fact *f =
        as_fact_add(c, relation, more, AS_BY(.object = object, .allocator = allocator[0] ? allocator : "any"));
    if (!f)
        return;
    as_fact_number(
        f, more->sum.median - less->sum.median,
        as_difference_interval(more->sum.median, as_cell_interval(more), less->sum.median, as_cell_interval(less)));
    snprintf(note, sizeof note, "%.40s, %s blocks", allocator,
             as_fact_value_text(as_cell_axis_number(more, "size"), AS_NO_INTERVAL, "B", size, sizeof size));
    as_fact_noted_text(f, " per page", note, value, sizeof value);
    f->verdict = f->ci.lo > 0 ? AS_SUPPORTED : f->ci.hi < 0 ? AS_REFUTED : AS_UNDECIDED;
    as_fact_say(f,
                f->verdict == AS_SUPPORTED ? "%s costs %s"
                : f->verdict == AS_REFUTED ? "%s costs no time: the difference is %s"
                                           : "Whether %s costs time is inconclusive: the difference is %s",
                f->verdict == AS_UNDECIDED ? what : as_capital(what, capital), value);
    as_fact_evidence(f, more);
    as_fact_evidence(f, less);
}

static const char *alloc_allocator_of(const struct as_pair *p)
{
    return as_cell_axis(p->a, "allocator");
}

static double size_of(const struct as_pair *p)
{
    double size = as_cell_axis_number(p->a, "size");
    return isfinite(size) ? size : 0;
}

/* The cost per page depends on the amount touched at once, so all suites compare blocks of one size. */
static const double TOUCHED = 16 << 20;

/* For each allocator, its pair of cells at that size. */
static void differences(struct as_rule_context *c, const char *more, const char *less, enum as_relation relation,
                        const char *what)
{
    struct as_pair *pairs;
    size_t n, kept = 0;
    as_pairs_make(c, "alloc", "op", more, less, &pairs, &n);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < kept && strcmp(alloc_allocator_of(&pairs[k]), alloc_allocator_of(&pairs[i])) != 0)
            k++;
        if (k < kept || size_of(&pairs[i]) != TOUCHED)
            continue;
        pairs[kept++] = pairs[i];
    }
    for (size_t k = 0; k < kept; k++)
        alloc_add_difference(c, pairs[k].a, pairs[k].b, relation, what);
    free(pairs);
}

static void derive_first_touch(struct as_rule_context *c)
{
    differences(c, "first-touch", "touch-again", AS_FACT_MEMORY_HOST_BACKING, "first touch of new guest memory");
    differences(c, "touch-again", "touch-mapped", AS_FACT_MEMORY_FAULT, "a page fault");
}

static const struct as_cell *alloc_free_of(const struct as_rule_context *c, const struct as_cell *alloc)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->cells[i]->probe, "alloc") == 0 && as_cell_is(c->cells[i], "op", "free") &&
            as_cells_alike(c->cells[i], alloc, "op"))
            return c->cells[i];
    return NULL;
}

/* The largest copy from this memory into the device's own. */
static const struct as_cell *copy_from(const struct as_rule_context *c, const char *allocator)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->cells[i]->probe, "copy") == 0 && as_cell_is(c->cells[i], "direction", "one") &&
            as_cell_is(c->cells[i], "how", "engine") && as_cell_is(c->cells[i], "from", allocator) &&
            as_cell_is(c->cells[i], "to", as_role_allocator(c->device, AS_ROLE_DEVICE)) &&
            (!best || as_cell_is_larger(c->cells[i], best)))
            best = c->cells[i];
    return best;
}

/* Pinned memory costs its pages when it is allocated: against a copy of as much, what it is allocated for. */
static void alloc_add_act(const struct as_rule_context *c, struct as_fact *f, const struct as_cell *alloc)
{
    const char *allocator = as_cell_axis(alloc, "allocator"), *pinned = as_role_allocator(c->device, AS_ROLE_PINNED);
    const double bytes = as_cell_size(alloc);
    if (!as_cell_is(alloc, "op", "alloc") || !pinned[0] || strcmp(allocator, pinned) != 0 || !(bytes >= 1 << 20))
        return;
    const struct as_cell *freed = alloc_free_of(c, alloc), *copy = copy_from(c, allocator);
    if (!freed || !copy || strcmp(copy->unit, "GB/s") != 0)
        return;
    const struct as_interval a = as_cell_interval(alloc), b = as_cell_interval(freed), rate = as_cell_interval(copy);
    const double life = alloc->sum.median + freed->sum.median, copying = bytes / copy->sum.median; /* ns */
    const struct as_interval ci = as_ratio_interval(life, (struct as_interval){a.lo + b.lo, a.hi + b.hi}, copying,
                                                    (struct as_interval){bytes / rate.hi, bytes / rate.lo});
    char size[32];
    as_fact_gain(f, life / copying, ci);
    if (as_fact_side(f) > 0)
        as_fact_act(f, "Reuse pinned buffers: allocating and freeing %s takes {gain} as long as copying it",
                    as_fact_value_text(bytes, AS_NO_INTERVAL, "B", size, sizeof size));
}

static void alloc_add_allocator(struct as_rule_context *c, const struct as_curve *curve, size_t at)
{
    const struct as_cell *cell = curve->cells[at];
    const char *allocator = as_cell_axis(cell, "allocator"), *op = as_cell_axis(cell, "op");
    char object[64], size[32];
    as_allocator_object(allocator, object, sizeof object);
    as_fact_value_text(curve->x[at], AS_NO_INTERVAL, "B", size,
                       sizeof size); /* part of the id, since the valid sizes differ between runs */
    struct as_fact *f = as_fact_add_cell(
        c, AS_FACT_ALLOC, cell, AS_BY(.object = object, .allocator = allocator[0] ? allocator : "any", .size = size));
    if (!f)
        return;
    f->matter = "the cost of allocators";
    if (strcmp(op, "alloc") == 0 && as_is_promise(c->device, allocator, curve->x[at], cell->sum.median))
        as_fact_say(f, "%s: reserving %s takes {value}; its pages are allocated lazily", allocator, size);
    else
        as_fact_say(f, "%s: %s %s takes {value}", allocator, strcmp(op, "free") == 0 ? "freeing" : "allocating", size);
    alloc_add_act(c, f, cell);
}

static void derive_allocators(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    as_curves_make(c, "alloc", "size", &curves, &n);
    for (size_t i = 0; i < n; i++) {
        const char *op = as_cell_axis(curves[i].cells[0], "op");
        if (strcmp(op, "alloc") != 0 && strcmp(op, "free") != 0)
            continue;
        alloc_add_allocator(c, &curves[i], 0);
        if (curves[i].n > 1)
            alloc_add_allocator(c, &curves[i], curves[i].n - 1);
    }
    as_curves_free(curves, n);
}

/* ---- freeing against allocating ---- */

/* Of the sizes of one allocator, where freeing takes longest against allocating. */
static void add_free_over_alloc(struct as_rule_context *c, const struct as_pair *pairs, size_t n, size_t first)
{
    const struct as_pair *most = &pairs[first];
    const char *allocator = alloc_allocator_of(most);
    char object[64], size[32];
    size_t of = 0;
    for (size_t i = first; i < n; i++) {
        if (strcmp(alloc_allocator_of(&pairs[i]), allocator) != 0)
            continue;
        of++;
        if (pairs[i].a->sum.median / pairs[i].b->sum.median > most->a->sum.median / most->b->sum.median)
            most = &pairs[i];
    }
    as_allocator_object(allocator, object, sizeof object);
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_ALLOC_FREE, most->a, most->b,
                                          AS_BY(.object = object, .allocator = allocator[0] ? allocator : "any"));
    if (!f)
        return;
    f->matter = "the cost of allocators";
    as_fact_value_text(size_of(most), AS_NO_INTERVAL, "B", size, sizeof size);
    if (as_fact_is_open(f))
        as_fact_say(f, "%s: freeing %s against allocating it is inconclusive", allocator, size);
    else
        as_fact_say(f, "%s: freeing %s takes {value} as long as allocating it, the highest ratio of %zu size%s",
                    allocator, size, of, of == 1 ? "" : "s");
}

static void derive_free_over_alloc(struct as_rule_context *c)
{
    struct as_pair *pairs;
    size_t n;
    as_pairs_make(c, "alloc", "op", "free", "alloc", &pairs, &n);
    for (size_t i = 0; i < n; i++) {
        size_t before = 0;
        while (before < i && strcmp(alloc_allocator_of(&pairs[before]), alloc_allocator_of(&pairs[i])) != 0)
            before++;
        if (before == i)
            add_free_over_alloc(c, pairs, n, i);
    }
    free(pairs);
}

/* ---- granularity ---- */

enum { FLAT_MIN = 3 };            /* sizes whose calls take as long as that of the smallest */
static const double RISES = 1.25; /* times that differ less are alike */

static struct as_interval over_smallest(const struct as_curve *curve, size_t i)
{
    return as_ratio_interval(curve->y[i], curve->ci[i], curve->y[0], curve->ci[0]);
}

/* Between which sizes a call begins to take longer: *last surely takes as long as the smallest, *next and all above it
 * surely longer. False: the cells do not tell. */
static bool find_rise(const struct as_curve *curve, size_t *last, size_t *next)
{
    size_t flat = 0, above = curve->n;
    while (flat < curve->n && over_smallest(curve, flat).hi < RISES)
        flat++;
    while (above > flat && over_smallest(curve, above - 1).lo > RISES)
        above--;
    *last = flat ? flat - 1 : 0;
    *next = above;
    return flat >= FLAT_MIN && above < curve->n;
}

/* Pages that come at first touch, and a pool's, are not those of a call. */
static bool is_backed_by_calls(const struct as_rule_context *c, const struct as_curve *curve, const char *allocator)
{
    const struct as_allocator *a = c->info ? as_info_allocator(c->info, allocator) : NULL;
    const size_t largest = curve->n - 1;
    return !(a && a->on_demand) && as_allocator_role(c->device, allocator) != AS_ROLE_DEVICE_POOL &&
           !as_is_promise(c->device, allocator, curve->x[largest], curve->y[largest]);
}

static void add_granularity(struct as_rule_context *c, const struct as_curve *curve)
{
    const struct as_cell *smallest = curve->cells[0];
    const char *allocator = as_cell_axis(smallest, "allocator");
    char object[64], time[96], range[64];
    size_t last, next;
    if (!is_backed_by_calls(c, curve, allocator) || !find_rise(curve, &last, &next))
        return;
    as_allocator_object(allocator, object, sizeof object);
    struct as_fact *f = as_fact_add(c, AS_FACT_ALLOC_GRANULARITY, curve->cells[last], AS_BY(.object = object));
    if (!f)
        return;
    f->matter = "the cost of allocators";
    f->verdict = AS_SUPPORTED;
    as_fact_number(f, curve->x[last], (struct as_interval){curve->x[last], curve->x[next]});
    as_fact_say(f, "%s: allocation time first rises in the size range %s, from %s", allocator,
                as_fact_range_text(f->ci, "B", range, sizeof range),
                as_fact_value_text(curve->y[0], curve->ci[0], "ns", time, sizeof time));
    as_curve_evidence(f, curve, 0, next);
}

static void derive_granularity(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    as_curves_make(c, "alloc", "size", &curves, &n);
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(curves[i].cells[0], "op", "alloc"))
            add_granularity(c, &curves[i]);
    as_curves_free(curves, n);
}

const struct as_rule as_rules_alloc[] = {
    {"first touch", derive_first_touch,
     "first touch of fresh memory compared with that of reused memory of the same kind: the host backs fresh memory",
     "a machine whose memory is fully backed from the start and shows the same difference"},
    {"allocation cost", derive_allocators,
     "median time of one call, memory untouched, at the smallest and largest size",
     "the same call timed alone in a loop of another length"},
    {"freeing against allocating", derive_free_over_alloc,
     "median time of freeing over that of allocating, memory untouched, at the size where that ratio is highest",
     "a size at which freeing takes longer against allocating"},
    {"granularity of allocation", derive_granularity,
     "of allocators that back memory in the call: the largest size up to which the interval lies below 1.25 times the "
     "time of the smallest size, over at least three sizes, if all sizes from a larger one on lie above it",
     "a smaller size whose call takes longer"},
    {0},
};
