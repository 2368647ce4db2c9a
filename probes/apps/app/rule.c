/* What applications gain from one allocation for CPU and device, against explicit copies. */
#include "facts/rule.h"
#include "model/metrics.h"

#include <stdlib.h>
#include <string.h>

/* As ported without a strategy. */
static bool is_plain(const struct as_cell *cell)
{
    return as_cell_is(cell, "strategy", "none");
}

/* The explicit version of the same problem without a strategy; of several allocators the fastest. */
static const struct as_cell *app_explicit(const struct as_cell *const *cells, size_t n, const struct as_cell *unified)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *cell = cells[i];
        if (!as_cell_is(cell, "version", "explicit") || !is_plain(cell) || !as_cells_same(cell, unified, "app") ||
            !as_cells_same(cell, unified, "size"))
            continue;
        if (!best || cell->sum.median < best->sum.median)
            best = cell;
    }
    return best;
}

/* "", or ", 0.65x from input to output (0.60 to 0.70x)", where that interval and the total's lie apart. */
static void say_compute(const struct as_cell *cell, const struct as_fact *f, struct as_buf *out)
{
    struct as_metric_value v;
    char text[64];
    if (as_cell_metric(cell, "compute_against_explicit", &v) && (v.ci.hi < f->ci.lo || v.ci.lo > f->ci.hi))
        as_buf_printf(out, ", %s", as_noted_text(v.value, v.ci, "x", " from input to output", "", text, sizeof text));
}

/* "", or ", with 40% less peak memory" by this metric, where several trials decide it: system counters see others too.
 */
static void say_memory(const struct as_rule_context *c, const struct as_cell *cell, const char *metric,
                       struct as_buf *out)
{
    struct as_metric_value v;
    if (!as_app_peak_counts(c, cell) || !as_cell_metric(cell, metric, &v) || v.trials < 2)
        return;
    if (v.ci.hi < 1)
        as_buf_printf(out, ", with %.0f%% less peak memory", 100 * (1 - v.value));
    else if (v.ci.lo > 1)
        as_buf_printf(out, ", with %.0f%% more peak memory", 100 * (v.value - 1));
}

/* Phases that do not overlap. */
static const struct {
    const char *metric, *name;
} phases[] = {{"allocate", "allocation"}, {"input", "input by the host"},   {"transfer", "copies"},
              {"kernel", "kernels"},      {"output", "output to the host"}, {"free", "freeing"}};
enum { PHASES = sizeof phases / sizeof *phases };
/* A smaller share of the explicit version's time is no reason for a difference. */
static const double PHASE_SHARE_MIN = 0.05;

/* "; phases: copies -8.0 ms, kernels +5.1 ms", of those whose intervals in the two versions lie apart. */
static void say_phases(const struct as_cell *unified, const struct as_cell *apart, struct as_buf *out)
{
    size_t said = 0;
    for (size_t k = 0; apart && k < PHASES; k++) {
        struct as_metric_value a, b;
        if (!as_cell_metric(unified, phases[k].metric, &a) || !as_cell_metric(apart, phases[k].metric, &b))
            continue;
        const double more = a.value - b.value;
        if (!(fabs(more) >= PHASE_SHARE_MIN * apart->sum.median) || !(a.ci.lo > b.ci.hi || a.ci.hi < b.ci.lo))
            continue;
        as_buf_printf(out, "%s%s %s", said++ ? ", " : "; phases: ", phases[k].name, more > 0 ? "+" : "-");
        as_format_value_to(out, fabs(more), "ns", 2);
    }
}

/* A fact whose number is a metric of the cell; NULL without it. The other cell (NULL: none) is evidence, too. */
static struct as_fact *app_fact(struct as_rule_context *c, enum as_relation relation, const struct as_cell *cell,
                                const struct as_cell *other, const char *metric, const struct as_fact_fields *by)
{
    struct as_metric_value v;
    struct as_fact *f = as_cell_metric(cell, metric, &v) ? as_fact_add(c, relation, cell, by) : NULL;
    if (!f)
        return NULL;
    as_fact_number(f, v.value, v.ci);
    f->verdict = as_verdict_above((struct as_interval){1 / f->ci.hi, 1 / f->ci.lo}, 1);
    as_fact_evidence(f, cell);
    if (other)
        as_fact_evidence(f, other);
    return f;
}

static void add_app(struct as_rule_context *c, const struct as_cell *unified, const struct as_cell *apart)
{
    const char *app = as_cell_axis(unified, "app"), *allocator = as_cell_axis(unified, "allocator");
    struct as_fact *f = app_fact(c, AS_FACT_APP, unified, apart, "against_explicit", AS_BY(.what = app));
    struct as_buf text = AS_BUF_INIT;
    if (!f)
        return;
    say_compute(unified, f, &text);
    say_memory(c, unified, "peak_against_explicit", &text);
    say_phases(unified, apart, &text);
    as_fact_say(f,
                as_fact_is_open(f) ? "%.20s on %.40s: unified against explicit is inconclusive%s"
                                   : "%.20s on %.40s: unified takes {value} the time of explicit%s",
                app, allocator, as_buf_get(&text));
    as_buf_finish(&text);
    as_fact_gain(f, 1 / f->value, (struct as_interval){1 / f->ci.hi, 1 / f->ci.lo});
    if (as_fact_side(f) > 0)
        as_fact_act(f, "Use one allocation for CPU and device: with copies, %.20s takes {gain} as long as in %.40s",
                    app, allocator);
    else if (as_fact_side(f) < 0)
        as_fact_act(f, "Copy between host and device explicitly: %.20s takes {gain} as long in %.40s", app, allocator);
}

static void derive_apps(struct as_rule_context *c)
{
    static const char *const kind[] = {"app", "version", "strategy", "allocator", NULL};
    const struct as_cell **all, **cells;
    const size_t all_n = as_cells_of(c, "app", &all);
    size_t n = as_cells_of(c, "app", &cells);
    n = as_cells_keep_best(cells, n, kind, as_cell_is_larger);
    for (size_t i = 0; i < n; i++)
        add_app(c, cells[i], app_explicit(all, all_n, cells[i]));
    free(all);
    free(cells);
}

/* ---- strategies ---- */

/* What a strategy is compared with: by default the same without it. Static variables hold two frames in turn, too, and
 * are compared with managed memory. */
static const struct {
    const char *app, *strategy, *other; /* app NULL: any */
    const char *with, *without;
} compared[] = {
    {NULL, "double-buffering", "none", "with two buffers in turn", "with one"},
    {NULL, "memory-check", "none", "with a count of free memory before it", "without"},
    {NULL, "partial-transfers", "none", "with copies part by part", "with whole arrays"},
    {NULL, "stack", "none", "with a stack variable read by kernels", "with an allocated one"},
    {"heartwall", "static", "double-buffering", "with static variables", "with managed memory"},
    {NULL, "static", "none", "with static variables", "with managed memory"},
    {NULL, "hidden-allocator", "none", "with an array that grows as a container does",
     "with its final size from the start"},
};
enum { COMPARED = sizeof compared / sizeof *compared };

static size_t app_compared(const struct as_cell *cell)
{
    const char *strategy = as_cell_axis(cell, "strategy");
    size_t k = 0;
    while (k < COMPARED && (strcmp(compared[k].strategy, strategy) != 0 ||
                            (compared[k].app && !as_cell_is(cell, "app", compared[k].app))))
        k++;
    return k;
}

static bool app_is_managed(const struct as_rule_context *c, const struct as_cell *cell)
{
    const struct as_allocator *a = c->info ? as_info_allocator(c->info, as_cell_axis(cell, "allocator")) : NULL;
    return a && a->role == AS_ROLE_MANAGED;
}

static const struct as_cell *app_without(const struct as_rule_context *c, const struct as_cell *with, const char *other)
{
    const bool is_static = as_cell_is(with, "strategy", "static");
    for (size_t i = 0; i < c->n; i++) {
        const struct as_cell *cell = c->cells[i];
        if (strcmp(cell->probe, "app") == 0 && strcmp(as_cell_axis(cell, "strategy"), other) == 0 &&
            as_cells_same(cell, with, "app") && as_cells_same(cell, with, "version") &&
            as_cells_same(cell, with, "size") &&
            (is_static ? app_is_managed(c, cell) : as_cells_same(cell, with, "allocator")))
            return cell;
    }
    return NULL;
}

static void add_strategy(struct as_rule_context *c, const struct as_cell *with, const struct as_cell *without, size_t k)
{
    const char *app = as_cell_axis(with, "app");
    struct as_buf text = AS_BUF_INIT;
    struct as_fact *f = app_fact(c, AS_FACT_APP_STRATEGY, with, without, "against_plain",
                                 AS_BY(.what = app, .scenario = compared[k].strategy));
    if (!f)
        return;
    say_memory(c, with, "peak_against_plain", &text);
    as_fact_say(f,
                as_fact_is_open(f) ? "Whether %.20s on %.40s is faster %s than %s is inconclusive%s"
                                   : "%.20s on %.40s takes {value} as long %s as %s%s",
                app, as_cell_axis(with, "allocator"), compared[k].with, compared[k].without, as_buf_get(&text));
    as_buf_finish(&text);
}

static void derive_strategies(struct as_rule_context *c)
{
    static const char *const kind[] = {"app", "version", "strategy", "allocator", NULL};
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "app", &cells);
    n = as_cells_keep_best(cells, n, kind, as_cell_is_larger);
    for (size_t i = 0; i < n; i++) {
        const size_t k = app_compared(cells[i]);
        if (k < COMPARED)
            add_strategy(c, cells[i], app_without(c, cells[i], compared[k].other), k);
    }
    free(cells);
}

/* ---- without a device ---- */

/* The fastest version on the device. */
static const struct as_cell *app_fastest(const struct as_rule_context *c, const struct as_cell *host)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < c->n; i++) {
        const struct as_cell *cell = c->cells[i];
        if (strcmp(cell->probe, "app") == 0 && !as_cell_is(cell, "version", "host") &&
            as_cells_same(cell, host, "app") && as_cells_same(cell, host, "size") &&
            (!best || cell->sum.median < best->sum.median))
            best = cell;
    }
    return best;
}

static void add_host(struct as_rule_context *c, const struct as_cell *host, const struct as_cell *best)
{
    const char *app = as_cell_axis(host, "app");
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_APP_HOST, host, best, AS_BY(.what = app));
    if (f)
        as_fact_say(f,
                    as_fact_is_open(f) ? "%.20s: one CPU thread against the device is inconclusive (%s, %.40s)"
                                       : "%.20s on one CPU thread takes {value} the time on the device (%s, %.40s)",
                    app, as_cell_axis(best, "version"), as_cell_axis(best, "allocator"));
}

static void derive_host(struct as_rule_context *c)
{
    static const char *const kind[] = {"app", "version", NULL};
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "app", &cells);
    n = as_cells_keep_best(cells, n, kind, as_cell_is_larger);
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *best = as_cell_is(cells[i], "version", "host") ? app_fastest(c, cells[i]) : NULL;
        if (best)
            add_host(c, cells[i], best);
    }
    free(cells);
}

const struct as_rule as_rules_app[] = {
    {"applications", derive_apps,
     "total time of the unified version over that of the explicit one, which copies from and to pageable memory, run "
     "back to back with it in each sample, at the largest size; supported where unified is faster",
     "a run of the other version that is faster and passes the same gates"},
    {"porting strategies", derive_strategies,
     "total time with a strategy over that of the same application in the same memory without it, run back to back; "
     "static variables over managed memory; supported where the strategy is faster",
     "a run without the strategy that is faster and passes the same gates"},
    {"applications on the host", derive_host,
     "total time of one thread of the CPU over that of the fastest version on the device, of the same size",
     "a run on the host that is faster and passes the same gates"},
    {0},
};
