/* Energy per operation: the slope of power over rate as more compute units work. */
#include "facts/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 16, POINTS_LEAST = 3 };

/* Two-sided 95% quantiles of Student's t, by degrees of freedom from 1. */
static const double t95[POINTS_MAX] = {12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                       2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120};

struct line {
    double slope, error; /* J per operation; half width of its 95% interval */
    double base;         /* W */
};

/* Least squares (Draper, Smith 1998, chapter 1). */
static struct line power_fit(const double *x, const double *y, size_t n)
{
    double mx = 0, my = 0, xx = 0, xy = 0, rest = 0;
    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
    }
    struct line l = {.slope = xy / xx};
    l.base = my - l.slope * mx;
    for (size_t i = 0; i < n; i++)
        rest += (y[i] - l.base - l.slope * x[i]) * (y[i] - l.base - l.slope * x[i]);
    l.error = t95[n - POINTS_LEAST] * sqrt(rest / (double)(n - 2) / xx);
    return l;
}

static void add_energy(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, const char *op)
{
    double x[POINTS_MAX], y[POINTS_MAX];
    const struct as_cell *used[POINTS_MAX], *busiest = NULL;
    size_t k = 0;
    for (size_t i = 0; i < n && k < POINTS_MAX; i++) {
        const double watts = as_cell_note(cells[i], "power_w");
        if (strcmp(as_cell_axis(cells[i], "op"), op) != 0 || as_cell_axis_number(cells[i], "warps") != 0 ||
            !(watts > 0))
            continue;
        busiest = !busiest || cells[i]->sum.median > busiest->sum.median ? cells[i] : busiest;
        used[k] = cells[i];
        x[k] = cells[i]->sum.median;
        y[k++] = watts;
    }
    if (k < POINTS_LEAST || !busiest)
        return;
    const struct line l = power_fit(x, y, k);
    struct as_fact *f =
        isfinite(l.slope) && isfinite(l.error) ? as_fact_add(c, AS_FACT_POWER_ENERGY, busiest, NULL) : NULL;
    if (!f)
        return;
    char rate[96];
    const struct as_interval ci = {1e12 * (l.slope - l.error), 1e12 * (l.slope + l.error)};
    as_fact_number(f, 1e12 * l.slope, ci);
    f->verdict = ci.lo > 0 ? AS_SUPPORTED : AS_UNDECIDED;
    as_fact_say(f, "Each {op} costs {value}: at %s the board draws %.0f W, extrapolated to idle %.0f W",
                as_fact_value_text(busiest->sum.median, as_cell_interval(busiest), busiest->unit, rate, sizeof rate),
                as_cell_note(busiest, "power_w"), l.base);
    for (size_t i = 0; i < k; i++)
        as_fact_evidence(f, used[i]);
}

static void power_derive(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "power", &cells);
    for (size_t i = 0; i < n; i++) {
        const char *op = as_cell_axis(cells[i], "op");
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = strcmp(as_cell_axis(cells[k], "op"), op) != 0;
        if (first)
            add_energy(c, cells, n, op);
    }
    free(cells);
}

const struct as_rule as_rules_power[] = {
    {"energy", power_derive,
     "the slope of the board's power over the rate of an operation on increasing numbers of units, by least squares; "
     "the interval is that of the slope",
     "a meter at the board's supply with another slope; points that deviate from the line"},
    {0},
};
