/* What translating addresses costs: walks over pages less walks over as many elements side by side. */
#include "facts/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MIN = 3, POINTS_MAX = 256, LEVELS_MAX = 6, FACTS_MAX = 32, AROUND = 6 };
static const double CLEAR = 0.10; /* of the control: less is not told from other differences of two allocations */

struct costs {
    size_t n;
    double x[POINTS_MAX], cost[POINTS_MAX], control[POINTS_MAX];
    struct as_interval ci[POINTS_MAX];
    const struct as_cell *pages[POINTS_MAX], *packed[POINTS_MAX];
};

static bool is_packed(const struct as_cell *cell)
{
    return cell_axis_number(cell, "stride") == 0;
}

/* Interval of a - b by the method of variance estimates recovery: Zou and Donner 2008. */
static struct as_interval difference(double a, struct as_interval ca, double b, struct as_interval cb)
{
    return (struct as_interval){a - b - hypot(a - ca.lo, cb.hi - b), a - b + hypot(ca.hi - a, b - cb.lo)};
}

static void subtract(const struct curve *pages, const struct curve *packed, struct costs *out)
{
    out->n = 0;
    for (size_t i = 0, k = 0; i < pages->n && k < packed->n && out->n < POINTS_MAX;) {
        if (pages->x[i] < packed->x[k])
            i++;
        else if (pages->x[i] > packed->x[k])
            k++;
        else {
            size_t at = out->n++;
            out->x[at] = pages->x[i];
            out->cost[at] = pages->y[i] - packed->y[k];
            out->control[at] = packed->y[k];
            out->ci[at] = difference(pages->y[i], pages->ci[i], packed->y[k], packed->ci[k]);
            out->pages[at] = pages->cells[i++];
            out->packed[at] = packed->cells[k++];
        }
    }
}

/* The control that has most sizes in common; of two alike the one on huge pages, which needs the fewest translations
 * itself, and else the one from the same allocator. */
static void choose_control(const struct curve *curves, size_t n, const struct curve *pages, struct costs *now,
                           struct costs *best)
{
    int best_rank = -1;
    best->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *cell = curves[i].cells[0];
        if (!is_packed(cell))
            continue;
        const bool own = cells_same(cell, pages->cells[0], "allocator");
        const int rank = cell_on_huge_pages(cell) ? 2 : own;
        subtract(pages, &curves[i], now);
        if (now->n > best->n || (now->n == best->n && rank > best_rank)) {
            *best = *now;
            best_rank = rank;
        }
    }
}

/* "mmap, a page every 4 KiB" */
static const char *what(const struct as_cell *cell, char *out, size_t size)
{
    char stride[32];
    fact_value_text(cell_axis_number(cell, "stride"), NO_INTERVAL, "B", stride, sizeof stride);
    snprintf(out, size, "%s, a page every %s", cell_axis(cell, "allocator"), stride);
    return out;
}

static struct as_fact *add(struct rule_context *c, const struct as_cell *cell, const char *unit, const char *kind)
{
    return fact_add(c, "TLB", unit, "tlb.%s.%s.%s", kind, cell_axis(cell, "allocator"), cell_axis(cell, "stride"));
}

static void add_evidence(struct as_fact *f, const struct costs *costs, size_t at)
{
    const size_t first = at > AROUND / 2 ? at - AROUND / 2 : 0;
    for (size_t i = first; i < costs->n && i < first + AROUND; i++) {
        fact_evidence(f, costs->pages[i]);
        fact_evidence(f, costs->packed[i]);
    }
}

/* One step: so many pages, which are so many bytes, and what a load takes more beyond. */
static void add_reach(struct rule_context *c, const struct costs *costs, const struct as_plateau *before, double step,
                      int level)
{
    const struct as_cell *cell = costs->pages[0];
    const double stride = cell_axis_number(cell, "stride"), clock = costs->pages[before->last]->clock_hz;
    const struct as_interval knee = before->knee_ci;
    char kind[24], ns[32], cycles[48] = "", text[96], reach[96];
    fact_value_text(step, NO_INTERVAL, "ns", ns, sizeof ns);
    what(cell, text, sizeof text);
    if (clock > 0)
        snprintf(cycles, sizeof cycles, ", %.0f cycles", step * clock / 1e9);
    snprintf(kind, sizeof kind, "reach%d", level);
    struct as_fact *f = add(c, cell, "pages", kind);
    if (!f)
        return;
    fact_number(f, before->knee, knee);
    fact_say(f, "The TLB holds %.0f to %.0f pages at level %d: beyond them a load waits %s%s longer (%s)", knee.lo,
             knee.hi, level, ns, cycles, text);
    add_evidence(f, costs, before->last);
    snprintf(kind, sizeof kind, "reach%d.bytes", level);
    f = add(c, cell, "B", kind);
    if (!f)
        return;
    fact_number(f, before->knee * stride, (struct as_interval){knee.lo * stride, knee.hi * stride});
    fact_value_text(f->value, f->ci, "B", reach, sizeof reach);
    fact_say(f, "Level %d of address translation reaches %s (%s)", level, reach, text);
    add_evidence(f, costs, before->last);
}

/* Steps in what translations cost, seen on top of a load of the control's shortest walk, so that logarithms can be
 * taken of it; below zero there is no cost. */
static void add_steps(struct rule_context *c, const struct costs *costs)
{
    struct as_plateau p[LEVELS_MAX];
    double y[POINTS_MAX];
    struct as_interval ci[POINTS_MAX];
    const double base = costs->control[0];
    for (size_t i = 0; i < costs->n; i++) {
        y[i] = base + fmax(costs->cost[i], 0);
        ci[i] = (struct as_interval){base + fmax(costs->ci[i].lo, 0), base + fmax(costs->ci[i].hi, 0)};
    }
    const size_t n = as_plateaus(costs->x, y, ci, costs->n, p, LEVELS_MAX);
    int level = 1;
    for (size_t i = 0; i + 1 < n; i++) {
        const double step = p[i + 1].level - p[i].level;
        if (step >= CLEAR * costs->control[p[i + 1].first])
            add_reach(c, costs, &p[i], step, level++);
    }
    if (level > 1)
        return;
    struct as_fact *f = add(c, costs->pages[0], "pages", "reach1");
    char text[96];
    if (!f)
        return;
    fact_say(f, "No step in the cost of translations up to %.0f pages (%s)", costs->x[costs->n - 1],
             what(costs->pages[0], text, sizeof text));
    add_evidence(f, costs, costs->n - 1);
}

static void add_miss(struct rule_context *c, const struct costs *costs)
{
    const size_t last = costs->n - 1;
    const struct as_cell *cell = costs->pages[last];
    char value[96], cycles[48] = "", text[96];
    struct as_fact *f = add(c, cell, "ns", "cost");
    if (!f)
        return;
    fact_number(f, costs->cost[last], costs->ci[last]);
    f->verdict = verdict_above(f->ci, 0);
    if (cell->clock_hz > 0)
        snprintf(cycles, sizeof cycles, ", %.0f cycles,", f->value * cell->clock_hz / 1e9);
    fact_value_text(f->value, f->ci, "ns", value, sizeof value);
    what(cell, text, sizeof text);
    if (f->verdict == AS_SUPPORTED)
        fact_say(f, "Over %.0f pages translations add %s%s to each load (%s)", costs->x[last], value, cycles, text);
    else
        fact_say(f, "Over %.0f pages translations do not show in the latency of a load: %s (%s)", costs->x[last], value,
                 text);
    fact_evidence(f, cell);
    fact_evidence(f, costs->packed[last]);
}

/* ---- what huge pages gain ---- */

static void add_gain(struct rule_context *c, const struct pair *p)
{
    char ratio[96], text[96];
    struct as_fact *f = add(c, p->b, "x", "gain");
    if (!f)
        return;
    fact_ratio(f, p->a, p->b);
    f->verdict = verdict_above(f->ci, 1);
    fact_value_text(f->value, f->ci, "x", ratio, sizeof ratio);
    what(p->b, text, sizeof text);
    fact_say(f,
             f->verdict == AS_SUPPORTED ? "Huge pages make loads from %.0f pages %s as fast as base pages (%s)"
                                        : "Huge pages do not make loads from %.0f pages faster: %s (%s)",
             cell_axis_number(p->a, "pages"), ratio, text);
    fact_evidence(f, p->a);
    fact_evidence(f, p->b);
}

/* Of each stride the pair with the most pages. */
static void gains(struct rule_context *c, const char *huge)
{
    struct pair *pairs;
    size_t n, kept = 0;
    pairs_make(c, "tlb", "allocator", "base_pages", huge, &pairs, &n);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (is_packed(pairs[i].a))
            continue;
        while (k < kept && !cells_same(pairs[k].b, pairs[i].b, "stride"))
            k++;
        if (k == kept || cell_axis_number(pairs[i].b, "pages") > cell_axis_number(pairs[k].b, "pages"))
            pairs[k] = pairs[i];
        kept += k == kept;
    }
    for (size_t k = 0; k < kept && k < FACTS_MAX; k++)
        add_gain(c, &pairs[k]);
    free(pairs);
}

void rule_translation(struct rule_context *c)
{
    struct curve *curves;
    size_t n;
    curves_make(c, "tlb", "pages", &curves, &n);
    struct costs *both = malloc(2 * sizeof *both);
    if (!both)
        c->status = as_nomem(c->err, 2 * sizeof *both, "costs");
    for (size_t i = 0, added = 0; both && i < n && added < FACTS_MAX; i++) {
        struct costs *best = &both[1];
        if (is_packed(curves[i].cells[0]))
            continue;
        choose_control(curves, n, &curves[i], &both[0], best);
        if (best->n < POINTS_MIN)
            continue;
        add_steps(c, best);
        add_miss(c, best);
        added++;
    }
    free(both);
    curves_free(curves, n);
    gains(c, "huge_pages");
    gains(c, "reserved_huge_pages");
}
