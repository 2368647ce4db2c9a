/* Copies to shared memory: latency, bandwidth, the bytes in flight that reach it, and what asynchronous ones gain. */
#include "facts/rule.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const paths[] = {"load", "cp_async", "bulk", "tensor", "to_lds", NULL};
static const char *const levels[] = {"L2", "memory", NULL};
static const double ENOUGH = 0.9; /* of the best bandwidth */

static const char *async_copy_name(const char *path)
{
    static const struct {
        const char *path, *name;
    } names[] = {{"load", "loads through registers"},
                 {"cp_async", "cp.async"},
                 {"bulk", "bulk copies (TMA)"},
                 {"tensor", "bulk copies of a 2D tensor (TMA)"},
                 {"to_lds", "global loads to LDS"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].path, path) == 0)
            return names[i].name;
    return path;
}

static bool async_copy_is(const struct as_cell *cell, const char *what, const char *path, const char *level)
{
    return as_cell_is(cell, "what", what) && as_cell_is(cell, "path", path) && as_cell_is(cell, "level", level);
}

static double async_copy_tile(const struct as_cell *cell)
{
    return as_cell_axis_number(cell, "tile");
}

static double async_copy_flight(const struct as_cell *cell)
{
    return async_copy_tile(cell) * as_cell_axis_number(cell, "stages");
}

static const char *size_text(double bytes, char out[32])
{
    return as_fact_value_text(bytes, AS_NO_INTERVAL, "B", out, 32);
}

/* The best bandwidth of a path. */
static const struct as_cell *async_copy_best(const struct as_cell *const *cells, size_t n, const char *path,
                                             const char *level)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (async_copy_is(cells[i], "bandwidth", path, level) && (!best || as_cell_is_faster(cells[i], best)))
            best = cells[i];
    return best;
}

/* Loads through registers of the same tile and stages. */
static const struct as_cell *async_copy_loads(const struct as_cell *const *cells, size_t n, const struct as_cell *like)
{
    for (size_t i = 0; i < n; i++)
        if (async_copy_is(cells[i], "bandwidth", paths[0], as_cell_axis(like, "level")) &&
            as_cells_alike(cells[i], like, "path"))
            return cells[i];
    return NULL;
}

/* The best bandwidth of a path among tiles and stages that loads were measured with too. */
static const struct as_cell *async_copy_best_pair(const struct as_cell *const *cells, size_t n, const char *path,
                                                  const char *level)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (async_copy_is(cells[i], "bandwidth", path, level) && async_copy_loads(cells, n, cells[i]) &&
            (!best || as_cell_is_faster(cells[i], best)))
            best = cells[i];
    return best;
}

/* In cycles where the cell knows its clock. */
static struct as_interval async_copy_cost(const struct as_cell *cell, double *value)
{
    const double factor = cell->clock_hz > 0 ? cell->clock_hz * 1e-9 : 1,
                 off = fmax(as_cell_note(cell, "clock_off"), 1);
    const struct as_interval ci = as_cell_interval(cell);
    *value = cell->sum.median * factor;
    return (struct as_interval){ci.lo * factor / off, ci.hi * factor * off};
}

static const char *async_copy_cost_unit(const struct as_cell *cell)
{
    return cell->clock_hz > 0 ? "cycles" : "ns";
}

/* ", 570 cycles": at the clock of the cell. */
static void async_copy_cycles(const struct as_cell *cell, char *out, size_t size)
{
    double value;
    char text[48];
    const struct as_interval ci = async_copy_cost(cell, &value);
    const bool at_most = as_cell_note(cell, AS_NOTE_AT_MOST) > 0;
    snprintf(out, size, at_most ? ", at most %s" : ", %s",
             as_fact_value_text(at_most ? ci.hi : value, at_most ? AS_NO_INTERVAL : ci, async_copy_cost_unit(cell),
                                text, sizeof text));
}

static void async_copy_add_latency(struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                                   const char *path)
{
    const struct as_cell *least = NULL;
    char size[32], cycles[64] = "";
    for (size_t i = 0; i < n; i++)
        if (async_copy_is(cells[i], "latency", path, "L2") &&
            (!least || async_copy_tile(cells[i]) < async_copy_tile(least)))
            least = cells[i];
    struct as_fact *f = least ? as_fact_add_cell(c, AS_FACT_ASYNC_LATENCY, least, NULL) : NULL;
    if (!f)
        return;
    if (least->clock_hz > 0)
        async_copy_cycles(least, cycles, sizeof cycles);
    as_fact_say(f, "A copy of %s from L2 to %s by %s takes {value}%s", size_text(async_copy_tile(least), size),
                as_shared_memory_name(c), async_copy_name(path), cycles);
}

static void async_copy_add_bandwidth(struct as_rule_context *c, const struct as_cell *best, const char *path,
                                     const char *from)
{
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_ASYNC_BANDWIDTH, best, NULL);
    char size[32];
    if (f)
        as_fact_say(f, "Each %s copies {value} from %s to %s by %s (%.0f x %s in flight)", as_unit_name(c), from,
                    as_shared_memory_name(c), async_copy_name(path), as_cell_axis_number(best, "stages"),
                    size_text(async_copy_tile(best), size));
}

/* The fewest bytes in flight that surely reach the share, and the most below them that surely do not. */
static void async_copy_add_flight(struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                                  const struct as_cell *best, const char *path, const char *from)
{
    const struct as_cell *full = NULL, *less = NULL;
    const char *level = as_cell_axis(best, "level");
    const struct as_interval top = as_cell_interval(best);
    for (size_t i = 0; i < n; i++)
        if (async_copy_is(cells[i], "bandwidth", path, level) && as_cell_interval(cells[i]).lo >= ENOUGH * top.hi &&
            (!full || async_copy_flight(cells[i]) < async_copy_flight(full)))
            full = cells[i];
    for (size_t i = 0; i < n && full; i++)
        if (async_copy_is(cells[i], "bandwidth", path, level) && as_cell_interval(cells[i]).hi < ENOUGH * top.lo &&
            async_copy_flight(cells[i]) < async_copy_flight(full) &&
            (!less || async_copy_flight(cells[i]) > async_copy_flight(less) ||
             (async_copy_flight(cells[i]) == async_copy_flight(less) && as_cell_is_faster(cells[i], less))))
            less = cells[i];
    struct as_fact *f = less ? as_fact_add(c, AS_FACT_ASYNC_FLIGHT, full, NULL) : NULL;
    if (!f)
        return;
    char enough[32], few[32];
    const double bytes = async_copy_flight(full), fewer = async_copy_flight(less);
    as_fact_number(f, bytes, (struct as_interval){fewer, bytes});
    as_fact_say(f, "%s in flight per %s reach 90%% of the bandwidth of %s from %s; %s reach %.0f%%",
                size_text(bytes, enough), as_unit_name(c), async_copy_name(path), from, size_text(fewer, few),
                100 * less->sum.median / best->sum.median);
    as_fact_evidence(f, full);
    as_fact_evidence(f, less);
    as_fact_evidence(f, best);
}

static void async_copy_add_gain(struct as_rule_context *c, const struct as_cell *best, const struct as_cell *loads,
                                const char *path, const char *from)
{
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_ASYNC_GAIN, best, loads, NULL);
    char text[160], size[32], flight[64];
    if (!f)
        return;
    snprintf(flight, sizeof flight, "%.0f x %s", as_cell_axis_number(best, "stages"),
             size_text(async_copy_tile(best), size));
    as_fact_say(f, "Bandwidth from %s to %s by %s, against loads through registers (both with %s in flight): %s", from,
                as_shared_memory_name(c), async_copy_name(path), flight,
                as_fact_noted_text(f, "", "", text, sizeof text));
    as_fact_gain(f, f->value, f->ci);
    if (as_fact_side(f) > 0)
        as_fact_act(f, "Fill %s by %s: {gain} the bandwidth of loads through registers (both with %s in flight)",
                    as_shared_memory_name(c), async_copy_name(path), flight);
}

/* Of the measurement with most copies in flight; NULL: none. */
static const struct as_cell *async_copy_issue(const struct as_cell *const *cells, size_t n, const char *path)
{
    const struct as_cell *most = NULL;
    for (size_t i = 0; i < n; i++)
        if (async_copy_is(cells[i], "issue", path, "L2") &&
            (!most || async_copy_flight(cells[i]) > async_copy_flight(most)))
            most = cells[i];
    return most;
}

/* loads: the same by a load and its store. */
static void async_copy_add_issue(struct as_rule_context *c, const struct as_cell *cell, const struct as_cell *loads,
                                 const char *path)
{
    struct as_fact *f = as_fact_add(c, AS_FACT_ASYNC_ISSUE, cell, AS_BY(.unit = async_copy_cost_unit(cell)));
    char what[96] = "load and store", name[96] = "loads through registers", beside[128] = "", time[48], size[32];
    double value;
    if (!f)
        return;
    struct as_interval ci = async_copy_cost(cell, &value);
    as_fact_number(f, value, ci);
    as_fact_evidence(f, cell);
    if (loads != cell) {
        as_copy_text(name, sizeof name, async_copy_name(path));
        as_copy_text(what, sizeof what, "copy instruction");
    }
    if (loads && loads != cell) {
        as_fact_evidence(f, loads);
        ci = async_copy_cost(loads, &value);
        snprintf(beside, sizeof beside, "; load and store: %s per %s",
                 as_fact_value_text(value, ci, async_copy_cost_unit(loads), time, sizeof time),
                 size_text(as_cell_note(loads, "bytes_per_instruction"), size));
    }
    as_fact_say(f, "Issue cost of %s: {value} per %s of %s%s", name, what,
                size_text(as_cell_note(cell, "bytes_per_instruction"), size), beside);
}

static void derive_async_copy(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "async_copy", &cells);
    for (size_t p = 0; paths[p]; p++) {
        async_copy_add_latency(c, cells, n, paths[p]);
        const struct as_cell *issue = async_copy_issue(cells, n, paths[p]);
        if (issue)
            async_copy_add_issue(c, issue, async_copy_issue(cells, n, paths[0]), paths[p]);
        for (size_t l = 0; levels[l]; l++) {
            const struct as_cell *best = async_copy_best(cells, n, paths[p], levels[l]),
                                 *pair = p ? async_copy_best_pair(cells, n, paths[p], levels[l]) : NULL;
            if (!best)
                continue;
            async_copy_add_bandwidth(c, best, paths[p], levels[l]);
            async_copy_add_flight(c, cells, n, best, paths[p], levels[l]);
            if (pair)
                async_copy_add_gain(c, pair, async_copy_loads(cells, n, pair), paths[p], levels[l]);
        }
    }
    free(cells);
}

const struct as_rule as_rules_async_copy[] = {
    {"copies to shared memory", derive_async_copy,
     "the best valid measurement of each path; bytes in flight by tile times stages; the ratio of two paths with "
     "the same tile and stages",
     "a larger bandwidth with fewer bytes in flight that passes the same gates"},
    {0},
};
