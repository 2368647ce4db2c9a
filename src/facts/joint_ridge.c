/* The ridge points that peak rates of arithmetic make with the bandwidth of memory and caches. */
#include "base/text.h"
#include "facts/rule.h"

#include <stdlib.h>
#include <string.h>

static const char *const types[] = {"f64", "f32", "f16"};

enum { ROOFS_MAX = 8 };

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

/* What all units read at once: bytes per cycle of one of them, at the clock of the cell, times all. L2 is the number of
 * the data sheet: all units read the same 16 MiB. */
static void add_unit_roofs(struct as_rule_context *c, struct roof roofs[ROOFS_MAX], size_t *n)
{
    static const char *const what[][2] = {{"own", "L1"}, {"shared", "shared"}, {"common", "L2"}};
    const double common = 0x1p24;
    const struct as_cell **cells;
    size_t have = as_cells_of(c, "onchip_bandwidth", &cells);
    for (size_t i = 0; i < have && c->info && c->info->compute_units; i++)
        for (size_t k = 0; k < sizeof what / sizeof *what; k++) {
            if (strcmp(as_cell_axis(cells[i], "what"), what[k][0]) != 0 || !as_cell_is(cells[i], "width", "128") ||
                !as_cell_is(cells[i], "stride", "1") || strcmp(as_cell_axis(cells[i], "compute_units"), "every") != 0 ||
                !(cells[i]->clock_hz > 0) ||
                (strcmp(what[k][0], "common") == 0 &&
                 (as_cell_axis_number(cells[i], "size") != common ||
                  (as_info_cache(c->info, 2) && (double)as_info_cache(c->info, 2) < common))))
                continue;
            double each = cells[i]->clock_hz * c->info->compute_units * 1e-9;
            struct as_interval ci = as_cell_interval(cells[i]);
            add_roof(roofs, n, what[k][1], cells[i]->sum.median * each,
                     (struct as_interval){ci.lo * each, ci.hi * each}, cells[i]->id);
        }
    free(cells);
}

static bool has_roof(const struct roof *roofs, size_t n, const char *object)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(roofs[i].object, object) == 0)
            return true;
    return false;
}

/* Facts of this device come before those of this rule; one thread's bandwidth is no roof of the whole device's. A level
 * that all units read at once has that roof and no other. */
static size_t find_roofs(struct as_rule_context *c, struct roof roofs[ROOFS_MAX])
{
    size_t n = 0;
    add_unit_roofs(c, roofs, &n);
    const size_t units = n;
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        if (strcmp(f->device, c->device) != 0 ||
            !as_fact_is(f, AS_FACT_BANDWIDTH, AS_BY(.threads = "all", .unit = "GB/s")) || f->verdict == AS_REFUTED ||
            !(f->value > 0) || f->evidence_n == 0 || has_roof(roofs, units, f->object))
            continue;
        add_roof(roofs, &n, f->object, f->value, f->ci, f->evidence[0]);
    }
    return n;
}

static void add_ridge(struct as_rule_context *c, const struct as_cell *cell, const char *type, const struct roof *roof)
{
    struct as_fact *f = as_fact_add(c, AS_FACT_RIDGE, cell, AS_BY(.type = type, .level = roof->object));
    if (!f)
        return;
    struct as_interval bytes = {roof->ci.lo * 1e9, roof->ci.hi * 1e9};
    char bandwidth[96];
    as_fact_number(f, cell->sum.median / (roof->gbs * 1e9),
                   as_ratio_interval(cell->sum.median, as_cell_interval(cell), roof->gbs * 1e9, bytes));
    as_fact_say(f, "The {type} ridge point for %.24s is {value}: code below it is bandwidth-bound (%s)",
                strcmp(roof->object, "shared") == 0 ? as_shared_memory_name(c) : roof->object,
                as_fact_value_text(roof->gbs, AS_NO_INTERVAL, "GB/s", bandwidth, sizeof bandwidth));
    as_fact_evidence(f, cell);
    f->evidence[f->evidence_n++] = roof->evidence;
}

static void derive_ridges(struct as_rule_context *c)
{
    const struct as_cell **cells;
    struct roof roofs[ROOFS_MAX];
    size_t n = as_cells_of(c, "roofline", &cells), roofs_n = find_roofs(c, roofs);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const struct as_cell *best = as_cells_best(cells, n, "type", types[t]);
        for (size_t r = 0; best && r < roofs_n; r++)
            add_ridge(c, best, types[t], &roofs[r]);
    }
    free(cells);
}

const struct as_rule as_rules_joint_ridge[] = {
    {"ridge points", derive_ridges,
     "the rate of the fastest valid chains of fused multiply-adds over the best bandwidth of memory or of a cache, all "
     "threads",
     "a program that exceeds the ridge's rate with fewer operations per byte"},
    {0},
};
