/* Bytes fetched per miss, compared with the reported line; 4 KiB aliasing; associativity of the L1. */
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first load must take this many times the repeated one; otherwise the caches were not cold. */
static const double COLD = 2;
/* A chase over more lines that is slower by less than STEP_UP has no misses. At larger distances lines conflict in the
 * TLB too. */
static const double STEP_UP = 1.15, DISTANCE_MAX = 16 << 10;

enum { WORD = 8, PAGE = 4096 };

static const struct as_cache *refill_l1(const struct as_rule_context *c)
{
    for (size_t i = 0; c->info && i < c->info->caches_n && i < AS_CACHES_MAX; i++)
        if (c->info->caches[i].level == 1 && c->info->caches[i].kind != 'i')
            return &c->info->caches[i];
    return NULL;
}

/* Compares the reported value with the interval. */
static void refill_claim(struct as_fact *f, double claimed)
{
    f->claimed = claimed;
    f->verdict = claimed >= f->ci.lo && claimed <= f->ci.hi ? AS_SUPPORTED : AS_REFUTED;
}

static bool refill_is_known(const struct as_cache *cache)
{
    return cache && cache->ways > 0 && cache->ways != (unsigned)-1;
}

/* ---- sector ---- */

enum outcome { HIT, MISS, UNCLEAR };

/* Whether the second load hit: its whole interval is nearer to the repeated or to the cold load. */
static enum outcome refill_outcome_of(const struct as_cell *cell)
{
    const double first = as_cell_note(cell, "first"), again = as_cell_note(cell, "again");
    const struct as_interval ci = as_cell_interval(cell);
    if (!(again > 0 && first > COLD * again))
        return UNCLEAR;
    const double middle = sqrt(first * again);
    return ci.hi < middle ? HIT : ci.lo > middle ? MISS : UNCLEAR;
}

static const char *miss_text(const struct as_cell *cell)
{
    return as_cell_is(cell, "level", "L1")   ? "An L1 miss"
           : as_cell_is(cell, "level", "L2") ? "An L2 miss"
                                             : "A last-level cache miss";
}

static size_t last_hit_of(const struct as_curve *curve, size_t n)
{
    while (n > 0 && refill_outcome_of(curve->cells[n - 1]) != HIT)
        n--;
    return n; /* 1 + its index; 0: none */
}

static void refill_say_contradiction(struct as_fact *f, const struct as_curve *curve, size_t miss, size_t hit)
{
    char near[32], far[32];
    f->verdict = AS_UNDECIDED;
    as_fact_evidence(f, curve->cells[miss]);
    as_fact_evidence(f, curve->cells[hit]);
    as_fact_say(f, "%s: how much it fetches is inconclusive: a second load misses %s away and hits %s away",
                miss_text(curve->cells[0]), as_fact_value_text(curve->x[miss], AS_NO_INTERVAL, "B", near, sizeof near),
                as_fact_value_text(curve->x[hit], AS_NO_INTERVAL, "B", far, sizeof far));
}

static struct as_fact *add_of_level(struct as_rule_context *c, enum as_relation relation, const char *level)
{
    return as_fact_add(c, relation, NULL,
                       AS_BY(.object = strcmp(level, "LLC") == 0 ? "memory" : level, .level = level));
}

/* The first distance at which the second load misses, and the last one before at which it hits. */
static void add_sector(struct as_rule_context *c, const struct as_curve *curve)
{
    const struct as_cell *cell = curve->cells[0];
    const char *level = as_cell_axis(cell, "level");
    char range[64], size[32], line_text[64] = "";
    size_t miss = 0;
    while (miss < curve->n && refill_outcome_of(curve->cells[miss]) != MISS)
        miss++;
    const size_t hit = last_hit_of(curve, miss), last_hit = last_hit_of(curve, curve->n);
    if (miss == curve->n || last_hit == 0)
        return;
    const struct as_cache *l1 = refill_l1(c);
    struct as_fact *f = add_of_level(c, AS_FACT_REFILL_SECTOR, level);
    if (!f)
        return;
    if (last_hit > miss) {
        refill_say_contradiction(f, curve, miss, last_hit - 1);
        return;
    }
    as_fact_number(f, curve->x[miss], (struct as_interval){curve->x[hit - 1] + WORD, curve->x[miss]});
    as_curve_evidence(f, curve, hit - 1, miss);
    f->verdict = AS_SUPPORTED;
    if (l1 && l1->line && strcmp(level, "L1") == 0) /* a prefetcher may fetch more into the next caches */
        refill_claim(f, l1->line);
    if (l1 && l1->line) {
        snprintf(line_text, sizeof line_text, "; reported line: %u B", l1->line);
    }
    as_fact_range_text(f->ci, "B", range, sizeof range);
    as_fact_say(f, "%s fetches %s (%s%s)", miss_text(cell),
                as_fact_value_text(f->value, AS_NO_INTERVAL, "B", size, sizeof size), range, line_text);
}

static const struct as_cell *refill_find(struct as_rule_context *c, const char *level, double start, double distance)
{
    const struct as_cell **cells, *found = NULL;
    const size_t n = as_cells_of(c, "refill", &cells);
    for (size_t i = 0; i < n && !found; i++)
        if (as_cell_is(cells[i], "what", "sector") && as_cell_is(cells[i], "level", level) &&
            as_cell_axis_number(cells[i], "start") == start && as_cell_axis_number(cells[i], "distance") == distance)
            found = cells[i];
    free(cells);
    return found;
}

/* The other line of an aligned pair, and the next line, which belongs to another pair. */
static void add_pairs(struct as_rule_context *c, const char *level)
{
    const struct as_cache *l1 = refill_l1(c);
    const double line = l1 && l1->line ? l1->line : 64;
    const struct as_cell *pair = refill_find(c, level, 0, line), *next = refill_find(c, level, line, line);
    const enum outcome of_pair = pair ? refill_outcome_of(pair) : UNCLEAR,
                       of_next = next ? refill_outcome_of(next) : UNCLEAR;
    if (of_pair == UNCLEAR || (of_pair == HIT && of_next == UNCLEAR))
        return;
    struct as_fact *f = add_of_level(c, AS_FACT_REFILL_PAIRS, level);
    if (!f)
        return;
    as_fact_number(f, pair->sum.median, as_cell_interval(pair));
    as_fact_evidence(f, pair);
    if (next)
        as_fact_evidence(f, next);
    if (of_pair == MISS)
        as_fact_say(f, "%s brings in one line: the other line of its pair misses too", miss_text(pair));
    else if (of_next == MISS)
        as_fact_say(f, "%s brings in a pair of lines, %.0f B", miss_text(pair), 2 * line);
    else
        as_fact_say(f, "%s brings in the next line too, whether it is of the same pair or not", miss_text(pair));
}

static void derive_sectors(struct as_rule_context *c)
{
    static const char *const levels[] = {"L1", "L2", "LLC"};
    struct as_curve *curves;
    size_t n;
    as_curves_make(c, "refill", "distance", &curves, &n);
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(curves[i].cells[0], "what", "sector") && as_cell_axis_number(curves[i].cells[0], "start") == 0)
            add_sector(c, &curves[i]);
    as_curves_free(curves, n);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        add_pairs(c, levels[i]);
}

/* ---- alias ---- */

/* Offset of the load within the page, relative to the store. */
static double offset_of(const struct as_cell *cell)
{
    return fmod(as_cell_axis_number(cell, "distance"), PAGE);
}

/* Controls are at least a line away from any alias. */
static bool is_apart(const struct as_cell *cell)
{
    return offset_of(cell) >= 64 && offset_of(cell) <= PAGE - 64;
}

static void derive_alias(struct as_rule_context *c)
{
    const struct as_cell **cells, *alias = NULL, *apart = NULL;
    const size_t n = as_cells_of(c, "refill", &cells);
    for (size_t i = 0; i < n; i++) {
        if (!as_cell_is(cells[i], "what", "alias"))
            continue;
        if (!alias && offset_of(cells[i]) == 0)
            alias = cells[i];
        /* the slowest control: an effect that it shows too is not aliasing */
        if (is_apart(cells[i]) && (!apart || cells[i]->sum.median > apart->sum.median))
            apart = cells[i];
    }
    free(cells);
    struct as_fact *f = alias && apart ? as_fact_add(c, AS_FACT_REFILL_ALIAS, NULL, NULL) : NULL;
    if (!f)
        return;
    char cycles[48] = "", value[120];
    as_fact_number(
        f, alias->sum.median - apart->sum.median,
        as_difference_interval(alias->sum.median, as_cell_interval(alias), apart->sum.median, as_cell_interval(apart)));
    f->verdict = as_verdict_above(f->ci, 0);
    as_fact_evidence(f, alias);
    as_fact_evidence(f, apart);
    if (f->verdict != AS_SUPPORTED) {
        f->verdict = AS_UNDECIDED;
        as_fact_say(f, "Whether a load 4 KiB above a recent store takes longer is inconclusive: {value}");
        return;
    }
    as_fact_gain(f, alias->sum.median / apart->sum.median, as_cells_ratio(alias, apart));
    if (as_fact_side(f) > 0)
        as_fact_act(f,
                    "Avoid loads 4 KiB above recent stores: such a load takes {gain} as long as others after a store");
    if (alias->clock_hz > 0)
        snprintf(cycles, sizeof cycles, "%.1f cycles", f->value * 1e-9 * alias->clock_hz);
    as_fact_say(f, "A load 4 KiB above a recent store takes %s longer",
                as_fact_noted_text(f, "", cycles, value, sizeof value));
}

/* ---- conflict ---- */

/* The first number of lines that is slower than the fewest, with all larger numbers slower as well. */
static size_t refill_first_up(const struct as_curve *v)
{
    size_t up = v->n;
    for (size_t i = v->n; i-- > 1;) {
        const struct as_interval step = as_ratio_interval(v->y[i], v->ci[i], v->y[0], v->ci[0]);
        if (!(step.lo > STEP_UP))
            break;
        up = i;
    }
    return up < v->n ? up : 0;
}

/* Over all distances, the fewest lines that displace each other: those of one set. */
static const struct as_curve *narrowest(const struct as_curve *curves, size_t n)
{
    const struct as_curve *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *cell = curves[i].cells[0];
        if (!as_cell_is(cell, "what", "conflict") || as_cell_axis_number(cell, "distance") > DISTANCE_MAX)
            continue;
        const size_t up = refill_first_up(&curves[i]);
        if (up == 0)
            continue;
        const double x = curves[i].x[up], best_x = best ? best->x[refill_first_up(best)] : INFINITY;
        const bool nearer =
            best && as_cell_axis_number(cell, "distance") < as_cell_axis_number(best->cells[0], "distance");
        if (x < best_x || (x == best_x && nearer))
            best = &curves[i];
    }
    return best;
}

static bool is_hit(const struct as_curve *v, size_t i)
{
    return as_ratio_interval(v->y[i], v->ci[i], v->y[0], v->ci[0]).hi < STEP_UP;
}

/* Lines spread over several sets need to be more before they displace each other. */
static bool has_farther(const struct as_curve *curves, size_t n, double distance)
{
    for (size_t i = 0; i < n; i++) {
        const double d = as_cell_axis_number(curves[i].cells[0], "distance");
        if (as_cell_is(curves[i].cells[0], "what", "conflict") && d > distance && d <= DISTANCE_MAX)
            return true;
    }
    return distance >= DISTANCE_MAX;
}

static void refill_add_ways(struct as_rule_context *c, const struct as_curve *v)
{
    const size_t up = refill_first_up(v);
    const struct as_cache *l1 = refill_l1(c);
    char distance[32], range[48], reported[48] = "";
    struct as_fact *f = as_fact_add(c, AS_FACT_REFILL_WAYS, NULL, NULL);
    if (!f)
        return;
    size_t hit = up - 1; /* the largest number of lines that surely hit */
    while (hit > 0 && !is_hit(v, hit))
        hit--;
    as_fact_number(f, v->x[up] - 1, (struct as_interval){v->x[hit], v->x[up] - 1});
    as_curve_evidence(f, v, hit, up);
    if (refill_is_known(l1)) {
        refill_claim(f, l1->ways);
        snprintf(reported, sizeof reported, "; reported: %u", l1->ways);
    }
    if (f->ci.lo < f->ci.hi)
        snprintf(range, sizeof range, "%.0f to %.0f", f->ci.lo, f->ci.hi);
    else
        snprintf(range, sizeof range, "%.0f", f->ci.hi);
    as_fact_say(f, "The L1 data cache has %s ways: so many lines %s apart hit%s", range,
                as_fact_value_text(as_cell_axis_number(v->cells[0], "distance"), AS_NO_INTERVAL, "B", distance,
                                   sizeof distance),
                reported);
}

/* At half the distance lines spread over two sets, so more of them fit. */
static void add_way_size(struct as_rule_context *c, const struct as_curve *curves, size_t n, const struct as_curve *v)
{
    const double distance = as_cell_axis_number(v->cells[0], "distance");
    const struct as_curve *below = NULL;
    for (size_t i = 0; i < n; i++) {
        const double d = as_cell_axis_number(curves[i].cells[0], "distance");
        if (as_cell_is(curves[i].cells[0], "what", "conflict") && d < distance && curves[i].n > 1 &&
            curves[i].x[curves[i].n - 1] >= v->x[refill_first_up(v)] &&
            (!below || d > as_cell_axis_number(below->cells[0], "distance")))
            below = &curves[i];
    }
    size_t same = 0; /* this many lines at the lower distance surely hit */
    while (below && same + 1 < below->n && below->x[same] < v->x[refill_first_up(v)])
        same++;
    struct as_fact *f = below && is_hit(below, same) ? as_fact_add(c, AS_FACT_REFILL_WAY_SIZE, NULL, NULL) : NULL;
    if (!f)
        return;
    const struct as_cache *l1 = refill_l1(c);
    char size[32], lower[32], reported[64] = "", text[32];
    const double other = as_cell_axis_number(below->cells[0], "distance");
    as_fact_number(f, distance, (struct as_interval){other + WORD, distance});
    as_curve_evidence(f, v, 0, refill_first_up(v));
    as_curve_evidence(f, below, 0, below->n - 1);
    if (refill_is_known(l1) && l1->size) {
        refill_claim(f, (double)l1->size / l1->ways);
        snprintf(reported, sizeof reported, "; reported size by ways: %s",
                 as_fact_value_text(f->claimed, AS_NO_INTERVAL, "B", text, sizeof text));
    }
    as_fact_say(f, "L1 sets repeat every %s: lines %s apart conflict later%s",
                as_fact_value_text(distance, AS_NO_INTERVAL, "B", size, sizeof size),
                as_fact_value_text(other, AS_NO_INTERVAL, "B", lower, sizeof lower), reported);
}

static void derive_conflicts(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    as_curves_make(c, "refill", "lines", &curves, &n);
    const struct as_curve *v = narrowest(curves, n);
    if (v && has_farther(curves, n, as_cell_axis_number(v->cells[0], "distance"))) {
        refill_add_ways(c, v);
        add_way_size(c, curves, n, v);
    }
    as_curves_free(curves, n);
}

const struct as_rule as_rules_refill[] = {
    {"bytes per refill", derive_sectors,
     "the first distance above a cold load at which the next load is nearer to a miss than to a hit, by its interval; "
     "measurements whose first load takes less than twice the repeated one do not count",
     "a load within the refill that misses, or one beyond it that hits"},
    {"4 KiB aliasing", derive_alias,
     "time of a store and a load 4 KiB apart less that of the slowest pair that is not a multiple of 4 KiB apart",
     "an interval of the difference that holds 0"},
    {"ways of the L1", derive_conflicts,
     "the fewest lines that displace one another at distances up to 16 KiB, and the smallest distance at which so few "
     "do",
     "a chase over as many lines, as far apart, that hits or misses against the rule"},
    {0},
};
