/* What applications gain from one allocation for CPU and device, against explicit copies. */
#include "facts/rule.h"
#include "model/metrics.h"

#include <stdlib.h>

/* The explicit version of the same problem; of several allocators the fastest. */
static const struct as_cell *app_explicit(const struct as_cell *const *cells, size_t n, const struct as_cell *unified)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *cell = cells[i];
        if (!as_cell_is(cell, "version", "explicit") || !as_cells_same(cell, unified, "app") ||
            !as_cells_same(cell, unified, "size"))
            continue;
        if (!best || cell->sum.median < best->sum.median)
            best = cell;
    }
    return best;
}

static double app_metric(const struct as_cell *cell, const char *name)
{
    struct as_metric_value v;
    return as_cell_metric(cell, name, &v) ? v.value : NAN;
}

/* "", or ", with 40% less peak memory", where the intervals of the two lie apart: system counters see others too. */
static void say_memory(const struct as_cell *unified, const struct as_cell *apart, struct as_buf *out)
{
    struct as_metric_value a, b;
    if (!as_cell_metric(unified, "peak_memory", &a) || !as_cell_metric(apart, "peak_memory", &b))
        return;
    if (a.ci.hi < b.ci.lo)
        as_buf_printf(out, ", with %.0f%% less peak memory", 100 * (1 - a.value / b.value));
    else if (a.ci.lo > b.ci.hi)
        as_buf_printf(out, ", with %.0f%% more peak memory", 100 * (a.value / b.value - 1));
}

static void add_app(struct as_rule_context *c, const struct as_cell *unified, const struct as_cell *apart)
{
    const char *app = as_cell_axis(unified, "app"), *allocator = as_cell_axis(unified, "allocator");
    const double copies = app_metric(apart, "transfer") / apart->sum.median;
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_APP, unified, apart, AS_BY(.what = app));
    struct as_buf text = AS_BUF_INIT;
    if (!f)
        return;
    f->verdict = as_verdict_above((struct as_interval){1 / f->ci.hi, 1 / f->ci.lo}, 1);
    say_memory(unified, apart, &text);
    if (isfinite(copies))
        as_buf_printf(&text, "; copies are %.0f%% of the explicit time", 100 * copies);
    as_fact_say(f, "%.20s on %.40s: unified takes {value} as long as explicit%s", app, allocator, as_buf_get(&text));
    as_buf_finish(&text);
    as_fact_gain(f, apart->sum.median / unified->sum.median, as_cells_ratio(apart, unified));
    if (as_fact_side(f) > 0)
        as_fact_act(f, "Use one allocation for CPU and device: with copies, %.20s takes {gain} as long as in %.40s",
                    app, allocator);
    else if (as_fact_side(f) < 0)
        as_fact_act(f, "Copy between host and device explicitly: %.20s takes {gain} as long in %.40s", app, allocator);
}

static void derive_apps(struct as_rule_context *c)
{
    static const char *const kind[] = {"app", "version", "allocator", NULL};
    const struct as_cell **all, **cells;
    const size_t all_n = as_cells_of(c, "app", &all);
    size_t n = as_cells_of(c, "app", &cells);
    n = as_cells_keep_best(cells, n, kind, as_cell_is_larger);
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *apart =
            as_cell_is(cells[i], "version", "unified") ? app_explicit(all, all_n, cells[i]) : NULL;
        if (apart)
            add_app(c, cells[i], apart);
    }
    free(all);
    free(cells);
}

const struct as_rule as_rules_app[] = {
    {"applications", derive_apps,
     "total time of the unified version over that of the explicit one, at the largest size that both have; supported "
     "where unified is faster",
     "a run of the other version that is faster and passes the same gates"},
    {0},
};
