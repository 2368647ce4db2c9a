/* Cost of page faults, by scenario and allocator. */
#include "facts/rule.h"
#include "model/bins.h"
#include "model/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double AT_CEILING = 1.1; /* relative to the minimum time per page */

/* "thp", "mmap, loads" */
static const char *memory(const struct as_cell *cell, char *out, size_t size)
{
    snprintf(out, size, "%.48s%s", as_cell_axis(cell, "allocator"),
             strcmp(as_cell_axis(cell, "access"), "load") == 0 ? ", loads" : "");
    return out;
}

/* "all CPU threads, thp" */
static const char *fault_who(const struct as_cell *cell, char *out, size_t size)
{
    static const char *const words[][2] = {{"cpu-one", "one CPU thread"},
                                           {"cpu-12", "12 CPU threads"},
                                           {"cpu-all", "all CPU threads"},
                                           {"cpu-then-device", "CPU threads, then the device"},
                                           {"device-major", "device touches first"},
                                           {"device-minor", "device touches after CPU"},
                                           {"cpu-after-device", "one CPU thread after the device"}};
    const char *text = as_cell_axis(cell, "scenario");
    char own[64];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        text = strcmp(words[i][0], text) == 0 ? words[i][1] : text;
    snprintf(out, size, "%s, %s", text, memory(cell, own, sizeof own));
    return out;
}

static struct as_fact *fault_add(struct as_rule_context *c, enum as_relation relation, const struct as_cell *cell)
{
    char object[64];
    as_allocator_object(as_cell_axis(cell, "allocator"), object, sizeof object);
    const char *access = as_cell_axis(cell, "access");
    return as_fact_add(c, relation, cell, AS_BY(.object = object, .access = strcmp(access, "load") == 0 ? access : ""));
}

/* A further metric as text; stores of earlier versions have a note of the last trial instead. */
static const char *further_text(const struct as_cell *cell, const char *name, const char *note, char *out, size_t size)
{
    struct as_metric_value v;
    return as_cell_metric(cell, name, &v)
               ? as_fact_value_text(v.value, v.ci, v.unit, out, size)
               : as_fact_value_text(as_cell_note(cell, note), AS_NO_INTERVAL, "ns", out, size);
}

/* Then no number is an effect of the fault. */
static void say_drowned(struct as_fact *f, const struct as_cell *cell, const char *what)
{
    char text[96];
    f->verdict = AS_UNDECIDED;
    as_fact_say(f, "%s inconclusive: touching a resident page takes longer than the fault itself (%s)", what,
                fault_who(cell, text, sizeof text));
    as_fact_evidence(f, cell);
}

/* "; two modes: 9.10 µs (71%) and 16.1 µs", or "" */
static const char *modes_text(const struct as_cell *cell, char *out, size_t size)
{
    struct as_bins bins;
    double mode[2], share;
    char low[32], high[32];
    out[0] = 0;
    if (as_bins_of(cell, &bins) && as_bins_two_modes(&bins, mode, &share))
        snprintf(out, size, "; two modes: %s (%.0f%%) and %s",
                 as_fact_value_text(mode[0], AS_NO_INTERVAL, "ns", low, sizeof low), 100 * share,
                 as_fact_value_text(mode[1], AS_NO_INTERVAL, "ns", high, sizeof high));
    return out;
}

static void fault_add_latency(struct as_rule_context *c, const struct as_cell *cell)
{
    char value[200], mean[96], p95[96], text[96], modes[96];
    struct as_fact *f = fault_add(c, AS_FACT_FAULT_LATENCY, cell);
    if (!f)
        return;
    as_fact_number(f, cell->sum.median, as_cell_interval(cell));
    if (as_fault_is_drowned(c, cell)) {
        say_drowned(f, cell, "The time of a single page fault is");
        return;
    }
    as_fact_say(f, "A single page fault takes %s; mean %s, 95th percentile %s%s",
                as_fact_noted_text(f, "", fault_who(cell, text, sizeof text), value, sizeof value),
                further_text(cell, "mean", "mean_ns", mean, sizeof mean),
                further_text(cell, "p95", "p95_ns", p95, sizeof p95), modes_text(cell, modes, sizeof modes));
    as_fact_evidence(f, cell);
}

/* Of single faults. */
static void fault_add_p95(struct as_rule_context *c, const struct as_cell *cell)
{
    struct as_metric_value v;
    char text[96], value[200];
    if (!as_cell_metric(cell, "p95", &v) || as_fault_is_drowned(c, cell))
        return;
    struct as_fact *f = fault_add(c, AS_FACT_FAULT_P95, cell);
    if (!f)
        return;
    as_fact_number(f, v.value, v.ci);
    as_fact_say(f, "One page fault in 20 takes %s or longer",
                as_fact_noted_text(f, "", fault_who(cell, text, sizeof text), value, sizeof value));
    as_fact_evidence(f, cell);
}

static bool is_at_ceiling(const struct as_curve *curve, size_t i, size_t best)
{
    return i == best || curve->ci[i].hi <= AT_CEILING * curve->y[best];
}

/* Maximum pages per second, and the number of pages from which all that were measured reach it. */
static void add_ceiling(struct as_rule_context *c, const struct as_curve *curve)
{
    size_t best = 0, from = curve->n;
    for (size_t i = 1; i < curve->n; i++)
        best = curve->y[i] < curve->y[best] ? i : best;
    while (from > 0 && is_at_ceiling(curve, from - 1, best))
        from--;
    const struct as_cell *cell = curve->cells[best];
    char text[96];
    struct as_fact *f = fault_add(c, AS_FACT_FAULT_THROUGHPUT, cell);
    if (!f)
        return;
    const struct as_interval ci = curve->ci[best];
    as_fact_number(f, 1e9 / curve->y[best],
                   (struct as_interval){1e9 / ci.hi, ci.lo > 0 ? 1e9 / ci.lo : 1e9 / curve->y[best]});
    if (as_fault_is_drowned(c, cell)) {
        say_drowned(f, cell, "The throughput of page faults is");
        return;
    }
    const bool stays = from + 1 < curve->n;
    const double pages = curve->x[stays ? from : best];
    fault_who(cell, text, sizeof text);
    if (!stays && best + 1 < curve->n)
        as_fact_say(f, "Page fault throughput: {value} over %.0f page%s, the best of %zu sizes (%s)", pages,
                    pages == 1 ? "" : "s", curve->n, text);
    else
        as_fact_say(f,
                    stays ? "Page fault throughput: {value}, within 10%% of it from %.0f page%s on (%s)"
                          : "Page fault throughput: {value} over %.0f page%s, the most measured (%s)",
                    pages, pages == 1 ? "" : "s", text);
    for (size_t i = 0; i < curve->n; i++) /* the number is of these, at no other number of pages */
        if (i == best || (stays && i >= from))
            as_fact_evidence(f, curve->cells[i]);
}

/* Memory that was requested on a node has facts of its own. */
static bool is_near_fault(const struct as_cell *cell)
{
    return as_cell_is(cell, "what", "fault") && as_cell_is(cell, "node", "near");
}

/* The single fault of one CPU thread in the same memory. */
static const struct as_cell *fault_by_cpu(const struct as_rule_context *c, const struct as_cell *device)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->cells[i]->probe, "fault") == 0 && as_cell_is(c->cells[i], "scenario", "cpu-one") &&
            as_cells_alike(c->cells[i], device, "scenario"))
            return c->cells[i];
    return NULL;
}

/* What a single fault of the device takes against one of a CPU thread. */
static void fault_add_device(struct as_rule_context *c, const struct as_cell *device)
{
    char text[96], object[64];
    const char *access = as_cell_axis(device, "access");
    const bool by_device =
        as_cell_is(device, "scenario", "device-major") || as_cell_is(device, "scenario", "device-minor");
    const struct as_cell *cpu = by_device ? fault_by_cpu(c, device) : NULL;
    if (!cpu || as_fault_is_drowned(c, device) || as_fault_is_drowned(c, cpu))
        return;
    as_allocator_object(as_cell_axis(device, "allocator"), object, sizeof object);
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_FAULT_DEVICE, device, cpu,
                                          AS_BY(.object = object, .access = strcmp(access, "load") == 0 ? access : ""));
    if (f)
        as_fact_say(f,
                    as_fact_is_open(f)
                        ? "A single page fault of the device against one of a CPU thread is inconclusive (%s)"
                        : "A single page fault of the device takes {value} as long as one of a CPU thread (%s)",
                    fault_who(device, text, sizeof text));
}

static void curves(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    as_curves_make(c, "fault", "pages", &curves, &n);
    for (size_t i = 0; i < n; i++) {
        if (!is_near_fault(curves[i].cells[0]))
            continue;
        if (curves[i].x[0] == 1) {
            fault_add_latency(c, curves[i].cells[0]);
            fault_add_p95(c, curves[i].cells[0]);
            fault_add_device(c, curves[i].cells[0]);
        }
        if (curves[i].n > 1 || curves[i].x[0] > 1)
            add_ceiling(c, &curves[i]);
    }
    as_curves_free(curves, n);
}

#define OF_HUGE_PAGES(base, huge, Kind, kind)                                                                          \
    {                                                                                                                  \
        "allocator", base, huge, AS_FACT_FAULT_HUGE_PAGES, Kind " huge pages make first touches ", " as fast",         \
            " slower", "First touches of " kind " huge pages and of base pages",                                       \
            {"Use " kind " huge pages for fresh memory: first touches run", "as fast as on base pages"},               \
        {                                                                                                              \
            "Use base pages for fresh memory: first touches of " kind " huge pages are", "slower"                      \
        }                                                                                                              \
    }

/* Two cells that differ in one axis; the fact is the ratio of their times per page, or its inverse if below 1. */
static const struct comparison {
    const char *axis, *a, *b;
    enum as_relation relation;
    const char *says;
    const char *above, *below;       /* for a ratio above 1, and for the inverse of one below 1 */
    const char *tied;                /* what is compared */
    const char *act[2], *against[2]; /* what to do for a ratio above 1 and below, around the gain; NULL: nothing */
} comparisons[] = {
    OF_HUGE_PAGES("base_pages", "huge_pages", "Transparent", "transparent"),
    OF_HUGE_PAGES("base_pages", "reserved_huge_pages", "Reserved", "reserved"),
    OF_HUGE_PAGES("pageable", "pageable_huge", "Transparent", "transparent"),
    OF_HUGE_PAGES("pageable", "pageable_hugetlb", "Reserved", "reserved"),
    {"scenario",
     "cpu-one",
     "cpu-all",
     AS_FACT_FAULT_THREADS,
     "All CPU threads together fault pages ",
     " as fast as one",
     " slower than one",
     "Fault throughputs of all CPU threads and of one",
     {NULL, NULL},
     {"Touch fresh memory by one thread: all threads together are", "slower"}},
    {"scenario",
     "cpu-one",
     "cpu-12",
     AS_FACT_FAULT_THREADS,
     "12 CPU threads together fault pages ",
     " as fast as one",
     " slower than one",
     "Fault throughputs of 12 CPU threads and of one",
     {NULL, NULL},
     {"Touch fresh memory by one thread: 12 threads together are", "slower"}},
    {"scenario",
     "device-major",
     "cpu-then-device",
     AS_FACT_FAULT_PREFAULT,
     "Touching pages on the CPU and then on the device is ",
     " as fast as on the device alone",
     " slower than on the device alone",
     "First touches on the CPU and then on the device, and on the device alone,",
     {"Touch memory on the CPU before the device even where nothing overlaps: both in turn run", "as fast"},
     {"Touch memory on the CPU before the device only where that overlaps other work: both in turn are", "slower"}},
    {"scenario",
     "device-major",
     "device-minor",
     AS_FACT_FAULT_PREFAULT,
     "Where the CPU touched first, the device's own first touch is ",
     " as fast",
     " slower",
     "The device's own first touches before and after a touch by the CPU",
     {"Touch memory on the CPU first: the device's first access is then", "as fast"},
     {"Let the device touch memory first: after the CPU, the device's first access is", "slower"}},
    {"scenario",
     "cpu-one",
     "cpu-after-device",
     AS_FACT_FAULT_RETURN,
     "Where the device touched first, the CPU's own first touch is ",
     " as fast",
     " slower",
     "The CPU's own first touches before and after a touch by the device",
     {NULL, NULL},
     {"Touch memory on the CPU first: after the device, the CPU's first access is", "slower"}},
    {"what",
     "first",
     "fault",
     AS_FACT_FAULT_HOST_BACKING,
     "Faults on fresh memory take ",
     " as long as on reused pages (includes first touch of new guest memory)",
     " less time than on reused pages",
     "Faults on fresh memory and on reused pages",
     {"Keep memory instead of returning it to the system: faults on fresh memory take", "as long"},
     {NULL, NULL}},
};

static double pages_of(const struct as_pair *p)
{
    return as_cell_axis_number(p->a, "pages");
}

/* note: memory and pages */
static void fault_add_act(struct as_fact *f, const struct comparison *how, const char *note)
{
    as_fact_gain(f, f->value, f->ci);
    const char *const *act = as_fact_side(f) > 0 ? how->act : how->against;
    if (as_fact_side(f) != 0 && act[0])
        as_fact_act(f, "%s {gain} %s (%s)", act[0], act[1], note);
}

static void add_comparison(struct as_rule_context *c, const struct comparison *how, const struct as_pair *p)
{
    char ratio[300], text[96], note[128];
    struct as_fact *f = fault_add(c, how->relation, p->b);
    if (!f)
        return;
    as_fact_ratio(f, p->a, p->b);
    f->verdict = as_verdict_above(f->ci, 1);
    if (as_fault_is_drowned(c, p->a) || as_fault_is_drowned(c, p->b)) {
        say_drowned(f, as_fault_is_drowned(c, p->a) ? p->a : p->b, "A comparison of page faults is");
        as_fact_evidence(f, as_fault_is_drowned(c, p->a) ? p->b : p->a);
        return;
    }
    /* the sentence names the scenarios compared */
    const bool told = strcmp(how->axis, "scenario") == 0;
    snprintf(note, sizeof note, "%s, %.0f page%s",
             told ? memory(p->b, text, sizeof text) : fault_who(p->b, text, sizeof text), pages_of(p),
             pages_of(p) == 1 ? "" : "s");
    as_fact_say(f, f->verdict == AS_UNDECIDED ? "%s {tied}: %s" : "%s%s",
                f->verdict == AS_UNDECIDED ? how->tied : how->says,
                as_fact_ratio_text(f, how->above, how->below, note, ratio, sizeof ratio));
    fault_add_act(f, how, note);
    as_fact_evidence(f, p->a);
    as_fact_evidence(f, p->b);
}

/* One store into a huge page zeroes all of it, so the latency of single faults does not compare two ways to do the same
 * work. */
static void add_huge_page_cost(struct as_rule_context *c, const struct as_pair *p)
{
    char ratio[300], text[96], note[160];
    struct as_fact *f = fault_add(c, AS_FACT_FAULT_HUGE_PAGE_COST, p->b);
    if (!f)
        return;
    as_fact_ratio(f, p->b, p->a);
    f->verdict = as_verdict_above(f->ci, 1) == AS_UNDECIDED ? AS_UNDECIDED : AS_SUPPORTED;
    snprintf(note, sizeof note, "%s; the whole huge page is zeroed", fault_who(p->b, text, sizeof text));
    as_fact_say(f, "The first touch of a huge page takes %s",
                as_fact_noted_text(f, " as long as that of a base page", note, ratio, sizeof ratio));
    as_fact_evidence(f, p->a);
    as_fact_evidence(f, p->b);
}

/* For each allocator, the pair with the most pages. */
static void fault_compare(struct as_rule_context *c, const struct comparison *how)
{
    struct as_pair *pairs;
    size_t n, kept = 0;
    as_pairs_make(c, "fault", how->axis, how->a, how->b, &pairs, &n);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (!is_near_fault(pairs[i].b))
            continue;
        while (k < kept && (!as_cells_same(pairs[k].b, pairs[i].b, "scenario") ||
                            !as_cells_same(pairs[k].b, pairs[i].b, "allocator") ||
                            !as_cells_same(pairs[k].b, pairs[i].b, "access")))
            k++;
        if (k == kept || pages_of(&pairs[i]) > pages_of(&pairs[k]))
            pairs[k] = pairs[i];
        kept += k == kept;
    }
    for (size_t k = 0; k < kept; k++)
        if (how->relation == AS_FACT_FAULT_HUGE_PAGES && pages_of(&pairs[k]) == 1)
            add_huge_page_cost(c, &pairs[k]);
        else
            add_comparison(c, how, &pairs[k]);
    free(pairs);
}

/* ---- memory requested on a node ---- */

static bool has_more_pages(const struct as_cell *a, const struct as_cell *b)
{
    return as_cell_axis_number(a, "pages") > as_cell_axis_number(b, "pages");
}

static void add_node(struct as_rule_context *c, const struct as_cell *cell, const struct as_cell *near)
{
    char ratio[300], text[96], note[128];
    const double pages = as_cell_axis_number(cell, "pages");
    struct as_fact *f = fault_add(c, AS_FACT_FAULT_NODE, cell);
    if (!f)
        return;
    as_fact_ratio(f, cell, near);
    f->verdict = as_verdict_above(f->ci, 1);
    snprintf(note, sizeof note, "%s, %.0f page%s", fault_who(cell, text, sizeof text), pages, pages == 1 ? "" : "s");
    as_fact_say(f,
                f->verdict == AS_UNDECIDED ? "Page faults on node %s and by default placement {tied}: %s"
                                           : "Page faults on node %s take %s",
                as_cell_axis(cell, "node"),
                as_fact_ratio_text(f, " as long as by default placement", " less time than by default placement", note,
                                   ratio, sizeof ratio));
    as_fact_evidence(f, cell);
    as_fact_evidence(f, near);
}

/* Each node against the nearest, at the most pages. */
static void nodes(struct as_rule_context *c)
{
    static const char *const kind[] = {"node", "scenario", "allocator", "access", NULL};
    const struct as_cell **cells, **near;
    const size_t near_n = as_cells_of(c, "fault", &near);
    size_t n = as_cells_of(c, "fault", &cells), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "what", "fault") && !as_cell_is(cells[i], "node", "near"))
            cells[kept++] = cells[i];
    kept = as_cells_keep_best(cells, kept, kind, has_more_pages);
    for (size_t i = 0; i < kept; i++)
        for (size_t k = 0; k < near_n; k++)
            if (as_cell_is(near[k], "node", "near") && as_cells_alike(near[k], cells[i], "node")) {
                add_node(c, cells[i], near[k]);
                break;
            }
    free(cells);
    free(near);
}

static void derive_fault(struct as_rule_context *c)
{
    curves(c);
    nodes(c);
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        fault_compare(c, &comparisons[i]);
}

const struct as_rule as_rules_fault[] = {
    {"page faults", derive_fault,
     "time per page at first touch minus that at second touch, over the number of pages touched together: one for "
     "latency, the minimum of the curve for throughput; ratios of two measurements that differ in one axis",
     "another count of faults, or another program that measures a different time for the same touch"},
    {0},
};
