/* Peak arithmetic rates. */
#include "facts/rule.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>

static const char *const types[] = {"f64", "f32", "f16"};

/* The bound holds at the highest clock; scaled to the cell's clock. */
static double bound_at_clock(const struct as_rule_context *c, const struct as_cell *cell)
{
    bool known = c->info && c->info->clock_max_hz > 0 && cell->clock_hz > 0 && cell->limit > 0;
    return known && isfinite(cell->clock_hz) ? cell->limit * cell->clock_hz / c->info->clock_max_hz : NAN;
}

/* 0 threads are all there are. */
static bool has_more_threads(const struct as_cell *cell, const struct as_cell *best)
{
    const double a = as_cell_axis_number(cell, "threads"), b = as_cell_axis_number(best, "threads");
    return b != 0 && (a == 0 || a > b);
}

/* Cells of the type without a number that may be faster: the best of all widths, or more threads. */
static size_t roofline_left_out(const struct as_rule_context *c, const struct as_cell *best)
{
    size_t n = 0, at = 0;
    for (const struct as_cell *cell; (cell = as_cells_left_out(c, "roofline", &at));)
        n +=
            as_cells_same(cell, best, "type") &&
            (has_more_threads(cell, best) || (as_cell_is(cell, "width", "best") && !as_cell_is(best, "width", "best")));
    return n;
}

static void roofline_add_peak(struct as_rule_context *c, const struct as_cell *cell, const char *type)
{
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_ARITHMETIC_PEAK, cell, AS_BY(.type = type));
    char clock[32], share[80] = "";
    if (!f)
        return;
    as_fact_left_out(f, cell, roofline_left_out(c, cell));
    f->claimed = bound_at_clock(c, cell);
    if (isfinite(f->claimed)) {
        as_fact_value_text(cell->clock_hz, AS_NO_INTERVAL, "Hz", clock, sizeof clock);
        struct as_buf text = AS_BUF_INIT;
        as_buf_printf(&text, ", %.1f%% of the theoretical peak at %s", 100 * f->value / f->claimed, clock);
        as_copy_text(share, sizeof share, as_buf_get(&text));
        as_buf_finish(&text);
    }
    as_fact_say(f, "Fused multiply-adds of {type} reach {value}%s", share);
}

static void roofline_derive_peaks(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "roofline", &cells);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const struct as_cell *best = as_cells_best(cells, n, "type", types[t]);
        if (best)
            roofline_add_peak(c, best, types[t]);
    }
    free(cells);
}

const struct as_rule as_rules_roofline[] = {
    {"peaks of arithmetic", roofline_derive_peaks, "the fastest valid chains of fused multiply-adds of a type",
     "a faster chain that passes the same gates"},
    {0},
};
