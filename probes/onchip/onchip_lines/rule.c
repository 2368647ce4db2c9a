/* Bytes fetched per cache miss, and lines per set. */
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>

static const double STEP_UP = 1.15; /* smaller differences may have other causes */

/* The first point above the middle between the curve's minimum and maximum; 0: none. */
static size_t onchip_lines_first_up(const struct as_curve *curve)
{
    size_t lo = 0, hi = 0;
    for (size_t i = 1; i < curve->n; i++) {
        lo = curve->y[i] < curve->y[lo] ? i : lo;
        hi = curve->y[i] > curve->y[hi] ? i : hi;
    }
    const struct as_interval step = as_ratio_interval(curve->y[hi], curve->ci[hi], curve->y[lo], curve->ci[lo]);
    if (!(curve->y[hi] > STEP_UP * curve->y[lo] && step.lo > 1))
        return 0;
    for (size_t i = 1; i < curve->n; i++)
        if (curve->y[i] > sqrt(curve->y[lo] * curve->y[hi]))
            return i;
    return 0;
}

/* A later point as low as those before `up`; 0: none. */
static size_t down_again(const struct as_curve *curve, size_t up)
{
    for (size_t i = up + 1; i < curve->n; i++)
        if (curve->ci[i].hi < sqrt(curve->y[up - 1] * curve->y[up]))
            return i;
    return 0;
}

static void add_fetch(struct as_rule_context *c, const struct as_curve *curve)
{
    const char *level = as_cell_axis(curve->cells[0], "level");
    size_t at = onchip_lines_first_up(curve);
    if (at == 0)
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_ONCHIP_SECTOR, NULL, AS_BY(.object = level, .level = level));
    if (!f)
        return;
    char size[32], other[32];
    as_fact_value_text(curve->x[at], AS_NO_INTERVAL, "B", size, sizeof size);
    const size_t down = down_again(curve, at);
    if (down) {
        f->verdict = AS_UNDECIDED;
        as_fact_say(f, "How much %s fetches per miss is inconclusive: the next load misses %s away and hits %s away",
                    level, size, as_fact_value_text(curve->x[down], AS_NO_INTERVAL, "B", other, sizeof other));
        as_fact_evidence(f, curve->cells[at]);
        as_fact_evidence(f, curve->cells[down]);
        return;
    }
    as_fact_number(f, curve->x[at], (struct as_interval){curve->x[at - 1], curve->x[at]});
    as_fact_say(f, "%s fetches %s per miss", level, size);
    as_curve_evidence(f, curve, at - 1, at);
}

/* Over all distances, the fewest lines that displace each other: those of one set. */
static void onchip_lines_add_ways(struct as_rule_context *c, const struct as_curve *curves, size_t n)
{
    const struct as_curve *best = NULL;
    size_t best_at = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = as_cell_is(curves[i].cells[0], "what", "ways") ? onchip_lines_first_up(&curves[i]) : 0;
        if (at > 0 && (!best || curves[i].x[at - 1] < best->x[best_at - 1])) {
            best = &curves[i];
            best_at = at;
        }
    }
    struct as_fact *f = best ? as_fact_add(c, AS_FACT_ONCHIP_WAYS, NULL, NULL) : NULL;
    if (!f)
        return;
    char distance[32], lines[48];
    as_fact_number(f, best->x[best_at - 1], (struct as_interval){best->x[best_at - 1], best->x[best_at] - 1});
    if (f->ci.lo < f->ci.hi)
        snprintf(lines, sizeof lines, "%.0f to %.0f", f->ci.lo, f->ci.hi);
    else
        snprintf(lines, sizeof lines, "%.0f", f->ci.lo);
    as_fact_say(f, "L1 keeps %s lines that are %s apart: an estimate of its ways", lines,
                as_fact_value_text(as_cell_axis_number(best->cells[0], "distance"), AS_NO_INTERVAL, "B", distance,
                                   sizeof distance));
    as_curve_evidence(f, best, best_at - 1, best_at);
}

static void derive_lines(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    as_curves_make(c, "onchip_lines", "distance", &curves, &n);
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(curves[i].cells[0], "what", "fetch") && curves[i].n >= 3)
            add_fetch(c, &curves[i]);
    as_curves_free(curves, n);
    as_curves_make(c, "onchip_lines", "lines", &curves, &n);
    onchip_lines_add_ways(c, curves, n);
    as_curves_free(curves, n);
}

const struct as_rule as_rules_onchip_lines[] = {
    {"sectors and ways", derive_lines,
     "the bytes per miss from the distance at which the next load misses too; ways from the smallest number of lines "
     "that evict each other",
     "a chase over other distances or lines with another result; published figures of the same chip that differ"},
    {0},
};
