/* What page faults cost, by who touches and on what memory. */
#include "facts/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS_MAX = 32 };
static const double AT_CEILING = 1.1; /* times the least time of a page */

/* "all threads of the CPU, thp" */
static const char *who(const struct as_cell *cell, char *out, size_t size)
{
    static const char *const words[][2] = {{"cpu-one", "one thread of the CPU"},
                                           {"cpu-all", "all threads of the CPU"},
                                           {"device-major", "the device, first"},
                                           {"device-minor", "the device, after the CPU"}};
    const char *text = cell_axis(cell, "scenario");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        text = strcmp(words[i][0], text) == 0 ? words[i][1] : text;
    snprintf(out, size, "%s; %s%s", text, cell_axis(cell, "allocator"),
             strcmp(cell_axis(cell, "access"), "load") == 0 ? ", loads" : "");
    return out;
}

static struct as_fact *add(struct rule_context *c, const struct as_cell *cell, const char *unit, const char *kind)
{
    char object[64];
    allocator_object(cell_axis(cell, "allocator"), object, sizeof object);
    return fact_add(c, object, unit, "fault.%s.%s.%s%s", kind, cell_axis(cell, "scenario"),
                    cell_axis(cell, "allocator"), strcmp(cell_axis(cell, "access"), "load") == 0 ? ".load" : "");
}

static void add_latency(struct rule_context *c, const struct as_cell *cell)
{
    char value[96], mean[32], p95[32], text[96];
    struct as_fact *f = add(c, cell, cell->unit, "latency");
    if (!f)
        return;
    fact_number(f, cell->sum.median, cell_interval(cell));
    fact_value_text(cell_note(cell, "mean_ns"), NO_INTERVAL, "ns", mean, sizeof mean);
    fact_value_text(cell_note(cell, "p95_ns"), NO_INTERVAL, "ns", p95, sizeof p95);
    fact_say(f, "A single page fault takes %s (%s; mean %s, 95th percentile %s in the last trial)",
             fact_value_text(f->value, f->ci, f->unit, value, sizeof value), who(cell, text, sizeof text), mean, p95);
    fact_evidence(f, cell);
}

/* The most pages a second, and from how many on. */
static void add_ceiling(struct rule_context *c, const struct curve *curve)
{
    size_t best = 0, from = 0;
    for (size_t i = 1; i < curve->n; i++)
        best = curve->y[i] < curve->y[best] ? i : best;
    while (curve->y[from] > AT_CEILING * curve->y[best])
        from++;
    const struct as_cell *cell = curve->cells[best];
    char value[96], text[96];
    struct as_fact *f = add(c, cell, "pages/s", "throughput");
    if (!f)
        return;
    const struct as_interval ci = curve->ci[best];
    fact_number(f, 1e9 / curve->y[best],
                (struct as_interval){1e9 / ci.hi, ci.lo > 0 ? 1e9 / ci.lo : 1e9 / curve->y[best]});
    fact_say(f, "Page faults are served at up to %s, and nearly at that rate from %.0f pages on (%s)",
             fact_value_text(f->value, f->ci, f->unit, value, sizeof value), curve->x[from],
             who(cell, text, sizeof text));
    curve_evidence(f, curve, 0, curve->n - 1);
}

static void curves(struct rule_context *c)
{
    struct curve *curves;
    size_t n;
    curves_make(c, "fault", "pages", &curves, &n);
    for (size_t i = 0, added = 0; i < n && added < FACTS_MAX; i++) {
        if (strcmp(cell_axis(curves[i].cells[0], "what"), "fault") != 0)
            continue;
        if (curves[i].x[0] == 1)
            add_latency(c, curves[i].cells[0]);
        if (curves[i].n > 1 || curves[i].x[0] > 1)
            add_ceiling(c, &curves[i]);
        added++;
    }
    curves_free(curves, n);
}

/* Two cells that differ in one axis; the fact is how many times longer a page takes in the first. The ratio stands
 * between the two halves of what it says. */
static const struct comparison {
    const char *axis, *a, *b;
    const char *id, *says, *then;
    const char *not_so;
} comparisons[] = {
    {"allocator", "base_pages", "huge_pages", "huge_pages", "Transparent huge pages make first touches ", " as fast",
     "Transparent huge pages do not make first touches faster: "},
    {"scenario", "cpu-one", "cpu-all", "threads", "All threads of the CPU are served ", " the faults of one",
     "All threads of the CPU together are served no more faults than one: "},
    {"scenario", "device-major", "device-minor", "prefault",
     "Where the CPU touched first, the device's own first touch is ", " as fast",
     "That the CPU touched first does not make the device's own first touch faster: "},
    {"what", "first", "fault", "host_backing", "Fresh memory takes ",
     " the time of reused pages, since the host backs it", "Fresh memory takes no longer than reused pages: "},
};

static double pages_of(const struct pair *p)
{
    return cell_axis_number(p->a, "pages");
}

static void add_comparison(struct rule_context *c, const struct comparison *how, const struct pair *p)
{
    char ratio[96], text[96];
    struct as_fact *f = add(c, p->b, "x", how->id);
    if (!f)
        return;
    fact_ratio(f, p->a, p->b);
    f->verdict = verdict_above(f->ci, 1);
    fact_value_text(f->value, f->ci, "x", ratio, sizeof ratio);
    who(p->b, text, sizeof text);
    const bool so = f->verdict == AS_SUPPORTED;
    fact_say(f, "%s%s%s (%s, %.0f pages)", so ? how->says : how->not_so, ratio, so ? how->then : "", text, pages_of(p));
    fact_evidence(f, p->a);
    fact_evidence(f, p->b);
}

/* Of each kind the pair with the most pages. */
static void compare(struct rule_context *c, const struct comparison *how)
{
    struct pair *pairs;
    size_t n, kept = 0;
    pairs_make(c, "fault", how->axis, how->a, how->b, &pairs, &n);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (strcmp(cell_axis(pairs[i].b, "what"), "fault") != 0)
            continue;
        while (k < kept &&
               (!cells_same(pairs[k].b, pairs[i].b, "scenario") || !cells_same(pairs[k].b, pairs[i].b, "allocator") ||
                !cells_same(pairs[k].b, pairs[i].b, "access")))
            k++;
        if (k == FACTS_MAX)
            continue;
        if (k == kept || pages_of(&pairs[i]) > pages_of(&pairs[k]))
            pairs[k] = pairs[i];
        kept += k == kept;
    }
    for (size_t k = 0; k < kept; k++)
        add_comparison(c, how, &pairs[k]);
    free(pairs);
}

void rule_fault(struct rule_context *c)
{
    curves(c);
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        compare(c, &comparisons[i]);
}
