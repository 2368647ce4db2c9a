/* Peak rates of arithmetic, and the ridge points that they make with the bandwidth of memory and caches. */
#include "base/text.h"
#include "facts/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOFS_MAX = 8 };

/* The bound holds at the highest clock; this is what it would be at the cell's. */
static double bound_at_clock(const struct rule_context *c, const struct as_cell *cell)
{
    bool known = c->info && c->info->clock_max_hz > 0 && cell->clock_hz > 0 && cell->limit > 0;
    return known && isfinite(cell->clock_hz) ? cell->limit * cell->clock_hz / c->info->clock_max_hz : NAN;
}

static void add_peak(struct rule_context *c, const struct as_cell *cell, const char *type)
{
    struct as_fact *f = fact_add(c, "arithmetic", cell->unit, "arithmetic.peak.%.16s", type);
    char value[96], clock[32], share[80] = "";
    if (!f)
        return;
    fact_number(f, cell->sum.median, cell_interval(cell));
    f->claimed = bound_at_clock(c, cell);
    if (isfinite(f->claimed)) {
        fact_value_text(cell->clock_hz, NO_INTERVAL, "Hz", clock, sizeof clock);
        struct as_buf text = AS_BUF_INIT;
        as_buf_printf(&text, ", %.1f%% of the units' peak at the cell's %s", 100 * f->value / f->claimed, clock);
        as_copy_text(share, sizeof share, as_buf_get(&text));
        as_buf_finish(&text);
    }
    fact_say(f, "Fused multiply-adds of %.16s reach %s%s", type,
             fact_value_text(f->value, f->ci, f->unit, value, sizeof value), share);
    fact_evidence(f, cell);
}

/* A roof that slopes: the fastest operation of a level, as another rule found it. */
struct roof {
    char object[32];
    double gbs;
    struct as_interval ci;
    int64_t evidence;
};

static void add_roof(struct roof roofs[ROOFS_MAX], size_t *n, const char *object, double gbs, struct as_interval ci,
                     int64_t evidence)
{
    size_t k = 0;
    while (k < *n && strcmp(roofs[k].object, object) != 0)
        k++;
    if (k == ROOFS_MAX || (k < *n && roofs[k].gbs >= gbs))
        return;
    roofs[k] = (struct roof){.gbs = gbs, .ci = ci, .evidence = evidence};
    as_copy_text(roofs[k].object, sizeof roofs[k].object, object);
    *n += k == *n;
}

/* What every unit has of its own: bytes a cycle of one of them, at the clock of the cell, times all. */
static void add_own_roofs(struct rule_context *c, struct roof roofs[ROOFS_MAX], size_t *n)
{
    static const char *const what[][2] = {{"own", "L1"}, {"local", "LOCAL"}};
    const struct as_cell **cells;
    size_t have = cells_of(c, "onchip_bandwidth", &cells);
    for (size_t i = 0; i < have && c->info && c->info->compute_units; i++)
        for (size_t k = 0; k < sizeof what / sizeof *what; k++) {
            if (strcmp(cell_axis(cells[i], "what"), what[k][0]) != 0 ||
                strcmp(cell_axis(cells[i], "units"), "every") != 0 || !(cells[i]->clock_hz > 0))
                continue;
            double each = cells[i]->clock_hz * c->info->compute_units * 1e-9;
            struct as_interval ci = cell_interval(cells[i]);
            add_roof(roofs, n, what[k][1], cells[i]->sum.median * each,
                     (struct as_interval){ci.lo * each, ci.hi * each}, cells[i]->id);
        }
    free(cells);
}

/* Facts of this device come before those of this rule; one thread's bandwidth is no roof of the whole device's. */
static size_t find_roofs(struct rule_context *c, struct roof roofs[ROOFS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        size_t len = strlen(f->id);
        if (strcmp(f->device, c->device) != 0 || strncmp(f->id, "bandwidth.", strlen("bandwidth.")) != 0 ||
            len < strlen(".all") || strcmp(f->id + len - strlen(".all"), ".all") != 0 || strcmp(f->unit, "GB/s") != 0 ||
            f->verdict == AS_REFUTED || !(f->value > 0) || f->evidence_n == 0)
            continue;
        add_roof(roofs, &n, f->object, f->value, f->ci, f->evidence[0]);
    }
    add_own_roofs(c, roofs, &n);
    return n;
}

static void add_ridge(struct rule_context *c, const struct as_cell *cell, const char *type, const struct roof *roof)
{
    struct as_fact *f = fact_add(c, "arithmetic", "ops/B", "ridge.%.16s.%.16s", type, roof->object);
    if (!f)
        return;
    struct as_interval bytes = {roof->ci.lo * 1e9, roof->ci.hi * 1e9};
    char value[96], bandwidth[96];
    fact_number(f, cell->sum.median / (roof->gbs * 1e9),
                as_ratio_interval(cell->sum.median, cell_interval(cell), roof->gbs * 1e9, bytes));
    fact_say(f, "The ridge point of %.16s with %.24s lies at %s: below it, its bandwidth of %s is the bound", type,
             strcmp(roof->object, "LOCAL") == 0 ? local_name(c) : roof->object,
             fact_value_text(f->value, f->ci, f->unit, value, sizeof value),
             fact_value_text(roof->gbs, NO_INTERVAL, "GB/s", bandwidth, sizeof bandwidth));
    fact_evidence(f, cell);
    f->evidence[f->evidence_n++] = roof->evidence;
}

void rule_roofline(struct rule_context *c)
{
    static const char *const types[] = {"f64", "f32", "f16"};
    const struct as_cell **cells;
    struct roof roofs[ROOFS_MAX];
    size_t n = cells_of(c, "roofline", &cells), roofs_n = find_roofs(c, roofs);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const struct as_cell *best = NULL;
        for (size_t i = 0; i < n; i++)
            if (strcmp(cell_axis(cells[i], "type"), types[t]) == 0 &&
                (!best || cells[i]->sum.median > best->sum.median))
                best = cells[i];
        if (!best)
            continue;
        add_peak(c, best, types[t]);
        for (size_t r = 0; r < roofs_n; r++)
            add_ridge(c, best, types[t], &roofs[r]);
    }
    free(cells);
}
