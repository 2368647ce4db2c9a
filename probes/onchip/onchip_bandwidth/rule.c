/* Bytes per cycle that a compute unit loads from its caches and shared memory, and the shared memory's banks. */
#include "facts/rule.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEVELS_MAX = 6, POINTS_MIN = 5, MIB = 1 << 20 };

static const struct as_cell *onchip_bandwidth_best_of(const struct as_cell *const *cells, size_t n, const char *what,
                                                      const char *units)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "what", what) && as_cell_is(cells[i], "compute_units", units) &&
            (!best || cells[i]->sum.median > best->sum.median))
            best = cells[i];
    return best;
}

static void onchip_bandwidth_add(struct as_rule_context *c, const struct as_cell *best, enum as_relation relation,
                                 const char *level, const char *which, const char *from, const char *whose)
{
    struct as_fact *f = best ? as_fact_add_cell(c, relation, best, AS_BY(.object = level, .level = level)) : NULL;
    if (!f)
        return;
    char size[32], over[64] = "";
    if (as_cell_axis_number(best, "size") > 0)
        snprintf(over, sizeof over, ", %s%s", whose,
                 as_fact_value_text(as_cell_axis_number(best, "size"), AS_NO_INTERVAL, "B", size, sizeof size));
    const bool stores = relation == AS_FACT_ONCHIP_STORES;
    as_fact_say(f,
                stores ? "%s stores {value} to %s (%s bits each%s)" : "%s loads {value} from %s (%s bits per load%s)",
                which, from, as_cell_axis(best, "width"), over);
}

/* Of blocks of all compute units together: the largest that the memory-side cache holds three quarters of, or the
 * smallest from which on they are in memory. NULL: there is none. */
static const struct as_cell *onchip_bandwidth_of_all(const struct as_rule_context *c,
                                                     const struct as_cell *const *cells, size_t n, bool in_memory)
{
    const struct as_cell *best = NULL;
    const struct as_cache *side = c->info ? as_info_memory_side(c->info) : NULL;
    if (!c->info || (!in_memory && !side))
        return NULL;
    const double units = c->info->compute_units, memory = (double)as_info_memory_least(c->info, NULL, 1),
                 above = 2 * (double)as_info_last_cache(c->info);
    for (size_t i = 0; i < n; i++) {
        const double size = as_cell_axis_number(cells[i], "size"), all = units * size;
        const bool fits = in_memory ? all >= memory : all > above && size >= MIB && all <= 0.75 * (double)side->size;
        if (!fits || !as_cell_is(cells[i], "what", "own") || !as_cell_is(cells[i], "stride", "1"))
            continue;
        const double known = best ? as_cell_axis_number(best, "size") : 0;
        const bool nearer = in_memory ? size < known : size > known;
        if (!best || nearer || (size == known && cells[i]->sum.median > best->sum.median))
            best = cells[i];
    }
    return best;
}

/* A two-way conflict takes twice as long (CONFLICT). Accesses without conflicts are at least NO_CONFLICT times as fast
 * as those with all lanes in one bank. */
static const double CONFLICT = 1.9, NO_CONFLICT = 1.5;

/* Ratio of one point to another. */
static struct as_interval ratio_to(const struct as_curve *curve, size_t under, size_t over)
{
    return as_ratio_interval(curve->y[over], curve->ci[over], curve->y[under], curve->ci[under]);
}

/* All lanes in one bank: what it delivers per cycle. */
static void onchip_bandwidth_add_bank_width(struct as_rule_context *c, const struct as_curve *curve, size_t slowest)
{
    struct as_fact *f = as_fact_add(c, AS_FACT_ONCHIP_BANK_WIDTH, NULL, NULL);
    if (!f)
        return;
    as_fact_number(f, curve->y[slowest], curve->ci[slowest]);
    f->verdict = AS_SUPPORTED;
    as_fact_say(f, "A bank of %s delivers {value} per cycle", as_shared_memory_name(c));
    as_fact_evidence(f, curve->cells[slowest]);
}

/* With a stride equal to the number of banks, all lanes access one bank: the slowest stride, and the smallest of those
 * as slow. */
static void add_banks(struct as_rule_context *c, const struct as_curve *curve)
{
    size_t slowest = 0;
    for (size_t i = 1; i < curve->n; i++)
        if (curve->y[i] < 0.98 * curve->y[slowest])
            slowest = i;
    if (curve->x[0] != 1 || slowest == 0 || slowest + 1 >= curve->n || !(ratio_to(curve, slowest, 0).lo > CONFLICT))
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_ONCHIP_BANKS, NULL, NULL);
    if (!f)
        return;
    char one[96], slower[96]; /* one: the rate of a single bank */
    as_fact_value_text(curve->y[slowest], curve->ci[slowest], "B/cycle", one, sizeof one);
    as_fact_gain(f, curve->y[0] / curve->y[slowest], ratio_to(curve, slowest, 0));
    as_noted_text(f->gain, f->gain_ci, "x", " slower", "", slower, sizeof slower);
    as_fact_number(f, curve->x[slowest], (struct as_interval){curve->x[slowest], curve->x[slowest]});
    if (!(ratio_to(curve, slowest, slowest + 1).lo > NO_CONFLICT))
        f->verdict = AS_UNDECIDED;
    char name[AS_TERM_SIZE];
    as_fact_say(f,
                f->verdict == AS_SUPPORTED
                    ? "%s has %.0f banks of %s; a %.0f-word stride is %s, a %.0f-word stride is not"
                    : "%s may have %.0f banks of %s; a %.0f-word stride is %s; whether a %.0f-word stride "
                      "is faster is inconclusive",
                as_capital(as_shared_memory_name(c), name), f->value, one, f->value, slower, curve->x[slowest + 1]);
    as_curve_evidence(f, curve, 0, curve->n - 1);
    if (f->verdict == AS_SUPPORTED)
        onchip_bandwidth_add_bank_width(c, curve, slowest);
}

/* The largest part of L2 that one compute unit reads as fast as a small one. */
static void onchip_bandwidth_add_reach(struct as_rule_context *c, const struct as_curve *curve)
{
    struct as_plateau p[LEVELS_MAX];
    size_t n = as_plateaus(curve->x, curve->y, curve->ci, curve->n, p, LEVELS_MAX);
    if (n < 2 || curve->n < POINTS_MIN || as_plateau_step(curve->ci, p) != AS_STEP_DOWN)
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_ONCHIP_REACH, NULL, NULL);
    if (!f)
        return;
    char range[64], level[64];
    as_fact_number(f, p[0].knee, p[0].knee_ci);
    as_fact_say(f, "L2 capacity that one %s alone reads at full rate (%s): %s", as_unit_name(c),
                as_fact_value_text(p[0].level, p[0].ci, "B/cycle", level, sizeof level),
                as_fact_range_text(f->ci, "B", range, sizeof range));
    as_curve_evidence(f, curve, p[0].first, p[1].last);
}

static void derive_bandwidth(struct as_rule_context *c)
{
    const struct as_cell **cells;
    struct as_curve *curves;
    size_t n = as_cells_of(c, "onchip_bandwidth", &cells), curves_n;
    char each[64], alone[64], all[64], same[64], side[96], memory[64];
    snprintf(each, sizeof each, "Each %s", as_unit_name(c));
    snprintf(alone, sizeof alone, "One %s alone", as_unit_name(c));
    snprintf(all, sizeof all, "L2 with all %ss active", as_unit_name(c));
    snprintf(same, sizeof same, "all %ss reading the same ", as_unit_name(c));
    snprintf(side, sizeof side, "the memory-side cache with all %ss active", as_unit_name(c));
    snprintf(memory, sizeof memory, "memory with all %ss active", as_unit_name(c));
    onchip_bandwidth_add(c, onchip_bandwidth_best_of(cells, n, "own", "every"), AS_FACT_ONCHIP_BANDWIDTH, "L1", each,
                         "its L1", "over ");
    onchip_bandwidth_add(c, onchip_bandwidth_best_of(cells, n, "common", "every"), AS_FACT_ONCHIP_BANDWIDTH, "L2", each,
                         all, same);
    onchip_bandwidth_add(c, onchip_bandwidth_best_of(cells, n, "common", "one"), AS_FACT_ONCHIP_BANDWIDTH_OF_ONE, "L2",
                         alone, "L2", "over ");
    onchip_bandwidth_add(c, onchip_bandwidth_best_of(cells, n, "shared", "every"), AS_FACT_ONCHIP_BANDWIDTH, "shared",
                         each, as_shared_memory_name(c), "");
    onchip_bandwidth_add(c, onchip_bandwidth_of_all(c, cells, n, false), AS_FACT_ONCHIP_BANDWIDTH, "memory_side", each,
                         side, "each over its own ");
    onchip_bandwidth_add(c, onchip_bandwidth_of_all(c, cells, n, true), AS_FACT_ONCHIP_BANDWIDTH, "memory", each,
                         memory, "each over its own ");
    onchip_bandwidth_add(c, onchip_bandwidth_best_of(cells, n, "own_stores", "every"), AS_FACT_ONCHIP_STORES, "L1",
                         each, "global memory", "over its own ");
    onchip_bandwidth_add(c, onchip_bandwidth_best_of(cells, n, "shared_stores", "every"), AS_FACT_ONCHIP_STORES,
                         "shared", each, as_shared_memory_name(c), "");
    free(cells);
    as_curves_make(c, "onchip_bandwidth", "stride", &curves, &curves_n);
    for (size_t i = 0; i < curves_n; i++)
        if (as_cell_is(curves[i].cells[0], "what", "shared") && as_cell_is(curves[i].cells[0], "width", "32") &&
            curves[i].n >= POINTS_MIN)
            add_banks(c, &curves[i]);
    as_curves_free(curves, curves_n);
    as_curves_make(c, "onchip_bandwidth", "size", &curves, &curves_n);
    for (size_t i = 0; i < curves_n; i++)
        if (as_cell_is(curves[i].cells[0], "what", "common") &&
            as_cell_is(curves[i].cells[0], "compute_units", "one") && as_cell_is(curves[i].cells[0], "stride", "1"))
            onchip_bandwidth_add_reach(c, &curves[i]);
    as_curves_free(curves, curves_n);
}

const struct as_rule as_rules_onchip_bandwidth[] = {
    {"bandwidth on the chip", derive_bandwidth,
     "bytes per cycle of the best valid measurement; banks from the slowest stride",
     "a faster measurement or another stride that passes the same gates"},
    {0},
};
