/* Energy per operation: the slope of power over rate as more compute units work. */
#include "facts/rule.h"
#include "model/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 16, POINTS_LEAST = 3, SAID = 5 };

/* Two-sided 95% quantiles of Student's t, by degrees of freedom from 1. */
static const double t95[POINTS_MAX] = {12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                       2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120};

struct line {
    double slope, error; /* J per operation; half width of its 95% interval, and what the points' own intervals add */
    double base;         /* W */
};

/* Least squares (Draper, Smith 1998, chapter 1). half: half the width of each point's interval. Points may lie on a
 * line by luck: their own errors, as independent ones, are added. The error is NAN if there are too few. */
static struct line power_fit(const double *x, const double *y, const double *half, size_t n)
{
    double mx = 0, my = 0, xx = 0, xy = 0, rest = 0, own = 0;
    if (n < POINTS_LEAST || n > POINTS_MAX)
        return (struct line){.error = NAN};
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
    for (size_t i = 0; i < n; i++)
        own += (x[i] - mx) * half[i] * (x[i] - mx) * half[i];
    l.error = t95[n - POINTS_LEAST] * sqrt(rest / (double)(n - 2) / xx) + sqrt(own) / xx;
    return l;
}

/* Of the whole board by one of these metrics; NAN unknown. Stores of before the metric have the last trial's. */
static const struct meter {
    const char *metric, *word;
} meters[] = {{"power_w", "readings of power"}, {"counted_w", "the energy counter"}};
enum { METERS = sizeof meters / sizeof *meters };

static double metered_of(const struct as_cell *cell, const struct meter *meter, struct as_interval *ci)
{
    struct as_metric_value m;
    const bool found = as_cell_metric(cell, meter->metric, &m);
    *ci = found ? m.ci : AS_NO_INTERVAL;
    return found ? m.value : as_cell_note(cell, meter->metric);
}

static double watts_of(const struct as_cell *cell, struct as_interval *ci)
{
    return metered_of(cell, &meters[0], ci);
}

static bool is_idle(const struct as_cell *cell)
{
    return as_cell_axis_number(cell, "share") == 0;
}

/* Power over rate of one operation, by one meter. */
struct points {
    double x[POINTS_MAX], y[POINTS_MAX], half[POINTS_MAX];
    const struct as_cell *used[POINTS_MAX], *busiest;
    size_t n;
    const struct meter *meter;
    struct line line; /* error NAN: there is none */
};

static struct points points_of(const struct as_cell *const *cells, size_t n, const char *op, const struct meter *meter)
{
    struct points p = {.meter = meter};
    for (size_t i = 0; i < n && p.n < POINTS_MAX; i++) {
        struct as_interval ci;
        const double watts = metered_of(cells[i], meter, &ci);
        if (strcmp(as_cell_axis(cells[i], "op"), op) != 0 || as_cell_axis_number(cells[i], "warps") != 0 ||
            is_idle(cells[i]) || !(watts > 0))
            continue;
        p.busiest = !p.busiest || cells[i]->sum.median > p.busiest->sum.median ? cells[i] : p.busiest;
        p.used[p.n] = cells[i];
        p.x[p.n] = cells[i]->sum.median;
        p.half[p.n] = isfinite(ci.hi - ci.lo) ? (ci.hi - ci.lo) / 2 : 0;
        p.y[p.n++] = watts;
    }
    p.line = power_fit(p.x, p.y, p.half, p.n);
    return p;
}

/* By the last meter that gives a line: to choose by the interval would make it too narrow. */
static void add_energy(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, const char *op)
{
    struct points p = {.line = {.error = NAN}};
    unsigned lines = 0;
    for (size_t i = 0; i < METERS; i++) {
        const struct points by = points_of(cells, n, op, &meters[i]);
        const bool is_line = isfinite(by.line.slope) && isfinite(by.line.error);
        if (is_line)
            p = by;
        lines += is_line;
    }
    struct as_fact *f = p.busiest ? as_fact_add(c, AS_FACT_POWER_ENERGY, p.busiest, NULL) : NULL;
    if (!f)
        return;
    const struct line l = p.line;
    char rate[96], clock[64] = "", by[96] = "";
    struct as_interval unused;
    as_fact_number(f, 1e12 * fmax(l.slope, 0),
                   (struct as_interval){1e12 * fmax(l.slope - l.error, 0), 1e12 * fmax(l.slope + l.error, 0)});
    f->verdict = l.slope > l.error ? AS_SUPPORTED : AS_UNDECIDED;
    if (p.busiest->clock_hz > 0)
        snprintf(clock, sizeof clock, " and %.2f GHz", p.busiest->clock_hz / 1e9);
    if (lines > 1)
        snprintf(by, sizeof by, "; by %s", p.meter->word);
    as_fact_say(
        f, "Each {op} costs {value}: at %s%s the board draws %.0f W, extrapolated to zero rate: %.0f W%s",
        as_fact_value_text(p.busiest->sum.median, as_cell_interval(p.busiest), p.busiest->unit, rate, sizeof rate),
        clock, metered_of(p.busiest, p.meter, &unused), l.base, by);
    for (size_t i = 0; i < p.n; i++)
        as_fact_evidence(f, p.used[i]);
}

/* Without work, and with a single warp: the ends of the curve below full compute units. */
static void add_ends(struct as_rule_context *c, const struct as_cell *const *cells, size_t n)
{
    const struct as_cell *idle = NULL, *warp = NULL;
    struct as_interval ci;
    for (size_t i = 0; i < n; i++) {
        const bool least = as_cell_axis_number(cells[i], "warps") == 1 && as_cell_axis_number(cells[i], "share") == 1;
        idle = is_idle(cells[i]) ? cells[i] : idle;
        warp = least && watts_of(cells[i], &ci) > 0 ? cells[i] : warp;
    }
    struct as_fact *f = idle ? as_fact_add(c, AS_FACT_POWER_IDLE, idle, NULL) : NULL;
    if (f) {
        as_fact_number(f, idle->sum.median, as_cell_interval(idle));
        if (idle->clock_hz > 0)
            as_fact_say(f, "The idle board draws {value}, with the device open at %.2f GHz", idle->clock_hz / 1e9);
        else
            as_fact_say(f, "The idle board draws {value}, with the device open");
        as_fact_evidence(f, idle);
    }
    f = warp ? as_fact_add(c, AS_FACT_POWER_WARP, warp, NULL) : NULL;
    if (!f)
        return;
    const double watts = watts_of(warp, &ci);
    const unsigned units = c->info && c->info->compute_units >= 200 ? c->info->compute_units / 100 : 1; /* 1% */
    char where[48];
    as_fact_number(f, watts, ci);
    snprintf(where, sizeof where, "%u %s%s", units, as_unit_name(c), units > 1 ? "s" : "");
    if (idle)
        as_fact_say(f, "With one warp on %s the board draws {value}, %.1f W more than when idle", where,
                    watts - idle->sum.median);
    else
        as_fact_say(f, "With one warp on %s the board draws {value}", where);
    as_fact_evidence(f, warp);
    if (idle)
        as_fact_evidence(f, idle);
}

/* Every compute unit busy with one operation, by rising number of warps on each, last all that fit. */
struct warps {
    const struct as_cell *v[POINTS_MAX];
    size_t n;
};

static double warps_of(const struct as_cell *cell)
{
    const double warps = as_cell_axis_number(cell, "warps");
    return warps > 0 ? warps : INFINITY;
}

static struct warps warps_make(const struct as_cell *const *cells, size_t n, const char *op)
{
    struct warps w = {.n = 0};
    struct as_interval unused;
    for (size_t i = 0; i < n && w.n < POINTS_MAX; i++) {
        if (strcmp(as_cell_axis(cells[i], "op"), op) != 0 || as_cell_axis_number(cells[i], "share") != 100 ||
            !(watts_of(cells[i], &unused) > 0))
            continue;
        size_t at = w.n++;
        for (; at > 0 && warps_of(w.v[at - 1]) > warps_of(cells[i]); at--)
            w.v[at] = w.v[at - 1];
        w.v[at] = cells[i];
    }
    return w;
}

/* "163 W (162 to 164 W) with 1 warp, 1.98 GHz" */
static void say_warps(const struct as_cell *cell, bool with_clock, struct as_buf *out)
{
    struct as_interval ci;
    char text[96];
    const double watts = watts_of(cell, &ci), warps = as_cell_axis_number(cell, "warps");
    as_buf_str(out, as_fact_value_text(watts, ci, "W", text, sizeof text));
    if (warps > 0)
        as_buf_printf(out, " with %.0f warp%s", warps, warps == 1 ? "" : "s");
    else
        as_buf_str(out, " at full occupancy");
    if (with_clock && cell->clock_hz > 0)
        as_buf_printf(out, ", %.2f GHz", cell->clock_hz / 1e9);
}

/* What more warps on each compute unit cost, from one to all. */
static void add_warps(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, const char *op)
{
    const struct warps w = warps_make(cells, n, op);
    if (w.n < 2 || warps_of(w.v[0]) != 1 || isfinite(warps_of(w.v[w.n - 1])))
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_POWER_WARPS, w.v[w.n - 1], NULL);
    struct as_interval one, all;
    if (!f)
        return;
    const double rise = watts_of(w.v[w.n - 1], &all) - watts_of(w.v[0], &one);
    as_fact_number(f, rise, (struct as_interval){all.lo - one.hi, all.hi - one.lo});
    f->verdict = f->ci.lo > 0 ? AS_SUPPORTED : f->ci.hi < 0 ? AS_REFUTED : AS_UNDECIDED;
    struct as_buf list = AS_BUF_INIT;
    for (size_t i = 0; i < w.n; i++) {
        const bool is_end = i == 0 || i + 1 == w.n;
        as_fact_evidence(f, w.v[i]);
        if (!is_end && i > SAID)
            continue;
        as_buf_str(&list, i == 0 ? "" : i + 1 == w.n ? "; and " : "; ");
        say_warps(w.v[i], is_end, &list);
    }
    as_fact_say(f,
                f->verdict == AS_SUPPORTED
                    ? "Running {op}, the board draws {value} more at full occupancy than with one warp per %s: %s"
                    : "Running {op}, the board's power changes by {value} from one warp per %s to full occupancy: %s",
                as_unit_name(c), as_buf_get(&list));
    as_buf_finish(&list);
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
        if (!first)
            continue;
        add_energy(c, cells, n, op);
        add_warps(c, cells, n, op);
    }
    add_ends(c, cells, n);
    free(cells);
}

const struct as_rule as_rules_power[] = {
    {"energy", power_derive,
     "the slope of the board's power over the rate of an operation on increasing numbers of units, by least squares; "
     "the interval is that of the slope, with what the intervals of its points add, of the energy counter where there "
     "is one, else of readings of power; power "
     "without work, with one warp and with more on every unit as the sensor reads it",
     "a meter at the board's supply with another slope; points that deviate from the line"},
    {0},
};
