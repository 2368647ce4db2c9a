/* A device's caches by pointer chase from one thread: sizes, latencies, line size. */
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEVELS_MAX = 6, POINTS_MIN = 5 };
static const double STEP_UP = 1.15; /* smaller differences may have other causes */
static const double MISSES = 1.03;  /* for atomic additions, which differ by less than 1% within a cache */

/* ---- plateaus: sizes and latencies ---- */

/* The reported size of a level; 0 if unknown. */
static double claimed_size(const struct as_rule_context *c, unsigned level)
{
    for (size_t i = 0; c->info && i < c->info->caches_n && i < AS_CACHES_MAX; i++)
        if (c->info->caches[i].level == level && c->info->caches[i].kind != 'i')
            return (double)c->info->caches[i].size;
    return 0;
}

/* A path to memory: its cells' `what`, the kind of its levels, its name in ids, and its first level. Atomic additions
 * execute in the cache that all compute units share, where each line has one place: they see all of it. Loads may copy
 * lines of a far partition to the near one. */
enum path_index { PATH_GLOBAL, PATH_READONLY, PATH_CONSTANT, PATH_CODE, PATH_ATOMIC, PATHS };
static const struct path {
    const char *what, *id, *kind, *loads;
    size_t first; /* level of its first plateau */
} paths[PATHS] = {
    [PATH_GLOBAL] = {"global", "", "", "A dependent load", 1},
    [PATH_READONLY] = {"readonly", "readonly", "read-only ", "A dependent load through the read-only path", 1},
    [PATH_CONSTANT] = {"constant", "constant", "constant ", "A dependent load from constant memory", 1},
    [PATH_CODE] = {"ifetch", "code", "instruction ", "An instruction of one warp", 1},
    [PATH_ATOMIC] = {"atomic", "whole", "", "A dependent atomic add", 2},
};

struct seen {
    const struct path *path;
    const struct as_curve *curve;
    const struct as_plateau *plateau;
    size_t level; /* from 1 */
    bool part;    /* a step within the level: some of it is nearer than the rest */
    char name[32];
    double shared; /* shared memory that the workgroup also held, in bytes */
};

static struct as_fact *onchip_add(struct as_rule_context *c, enum as_relation relation, const struct seen *s,
                                  const char *unit)
{
    char level[24], shared[32];
    snprintf(level, sizeof level, "L%zu", s->level);
    snprintf(shared, sizeof shared, "%.0f", s->shared);
    return as_fact_add(c, relation, NULL,
                       AS_BY(.object = s->name, .unit = unit, .path = s->path->id, .level = level,
                             .part = s->part ? "part" : "", .shared = shared));
}

static void onchip_add_latency(struct as_rule_context *c, const struct seen *s)
{
    double hz = s->curve->cells[s->plateau->first]->clock_hz;
    bool cycles = hz > 0;
    double factor = cycles ? hz * 1e-9 : 1;
    const char *unit = cycles ? "cycles" : "ns";
    struct as_fact *f = onchip_add(c, AS_FACT_ONCHIP_LATENCY, s, unit);
    if (!f)
        return;
    as_fact_number(f, s->plateau->level * factor,
                   (struct as_interval){s->plateau->ci.lo * factor, s->plateau->ci.hi * factor});
    as_fact_say(f, "%s that hits the %s cache takes {value}", s->path->loads, s->name);
    as_curve_evidence(f, s->curve, s->plateau->first, s->plateau->last);
}

/* A cache that shares storage with shared memory has the reported size minus the shared memory; no driver reports the
 * rest. */
static void judge_claim(struct as_rule_context *c, const struct seen *s, struct as_fact *f)
{
    bool whole = s->path == &paths[PATH_GLOBAL] || s->path == &paths[PATH_ATOMIC];
    double claim = whole && s->shared == 0 && !s->part ? claimed_size(c, (unsigned)s->level) : 0;
    char bytes[32], range[64], name[AS_TERM_SIZE];
    as_fact_range_text(f->ci, "B", range, sizeof range);
    as_capital(s->name, name);
    if (claim > 0) {
        f->claimed = claim;
        f->verdict = as_claim_fits(claim, f->ci, 0.07) ? AS_SUPPORTED : AS_REFUTED;
        as_fact_say(f, "%s cache capacity%s: %s, %s the reported %s", name,
                    s->path == &paths[PATH_ATOMIC] ? ", by atomic adds" : "", range,
                    f->verdict == AS_SUPPORTED ? "in agreement with" : "NOT",
                    as_fact_value_text(claim, AS_NO_INTERVAL, "B", bytes, sizeof bytes));
    } else if (s->shared > 0) {
        as_fact_say(f, "%s cache capacity: %s while a %s holds %s of %s (split chosen by the driver)", name, range,
                    as_workgroup_name(c), as_fact_value_text(s->shared, AS_NO_INTERVAL, "B", bytes, sizeof bytes),
                    as_shared_memory_name(c));
    } else if (s->part) {
        as_fact_say(f, "L%zu that one %s reaches at the lowest latency, by loads one line apart: %s", s->level,
                    as_unit_name(c), range);
    } else
        as_fact_say(f, "%s cache capacity: %s", name, range);
}

static void onchip_add_size(struct as_rule_context *c, const struct seen *s)
{
    if (!isfinite(s->plateau->knee))
        return;
    struct as_fact *f = onchip_add(c, s->shared > 0 ? AS_FACT_ONCHIP_SIZE_BESIDE : AS_FACT_ONCHIP_SIZE, s, "B");
    if (!f)
        return;
    as_fact_number(f, s->plateau->knee, s->plateau->knee_ci);
    judge_claim(c, s, f);
    size_t past = s->plateau->last + 1 < s->curve->n ? s->plateau->last + 1 : s->plateau->last;
    as_curve_evidence(f, s->curve, s->plateau->first, past);
}

/* Does the curve show this path, with an element in every line? */
static const struct path *onchip_path_of(const struct as_curve *curve)
{
    const struct as_cell *cell = curve->cells[0];
    if (curve->n < POINTS_MIN || as_cell_axis_number(cell, "stride") != 64)
        return NULL;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (as_cell_is(cell, "what", paths[i].what))
            return &paths[i];
    return NULL;
}

/* The first level shares storage with shared memory; together they have at most this many times what drivers report of
 * the latter. */
static const double STORAGE = 1.5;

/* The largest size that the first level may hold; INFINITY unknown. */
static double most_of_first(const struct as_rule_context *c)
{
    const double claim = claimed_size(c, 1), storage = c->info ? STORAGE * (double)c->info->compute_unit_shared : 0;
    return claim > 0 ? claim : storage > 0 ? storage : INFINITY;
}

/* The plateau of global memory that ends the second level: nearest to the reported size, or its first plateau if none
 * is reported. Plateaus from `from` to it are parts of that level; plateaus after it are not caches. */
static size_t second_level(const struct as_rule_context *c, const struct as_plateau *p, size_t from, size_t n)
{
    double claim = claimed_size(c, 2), best_off = INFINITY;
    size_t best = from;
    for (size_t i = from; i < n && claim > 0; i++) {
        double off = fabs(log2(p[i].knee / claim));
        if (off < best_off) {
            best_off = off;
            best = i;
        }
    }
    return best;
}

static void end_between(const struct as_curve *curve, struct as_plateau *p, size_t last)
{
    p->last = last;
    p->knee_ci = (struct as_interval){curve->x[last], curve->x[last + 1]};
    p->knee = sqrt(p->knee_ci.lo * p->knee_ci.hi);
}

/* If the grid ends before the curve is flat again, the last plateau ends before the first point that exceeds it. */
static void end_last(const struct as_curve *curve, struct as_plateau *p)
{
    if (!isfinite(p->knee) && p->last + 1 < curve->n && curve->ci[p->last + 1].lo > STEP_UP * p->level)
        end_between(curve, p, p->last);
}

/* The first size from which atomic additions stay slower is a miss, since within the cache they take the same time
 * everywhere. */
static size_t whole_plateau(const struct as_curve *curve, struct as_plateau *out)
{
    size_t past = curve->n;
    double level = as_median(curve->y, curve->n < 3 ? curve->n : 3);
    while (past > 0 && curve->ci[past - 1].lo > MISSES * level)
        past--;
    if (past < 2)
        return 0;
    *out = (struct as_plateau){.first = 0, .last = past - 1, .level = level, .ci = curve->ci[0], .knee = NAN};
    for (size_t i = 1; i < past; i++)
        out->ci = (struct as_interval){fmin(out->ci.lo, curve->ci[i].lo), fmax(out->ci.hi, curve->ci[i].hi)};
    if (past < curve->n)
        end_between(curve, out, past - 1);
    return 1;
}

static void name_level(struct seen *s)
{
    snprintf(s->name, sizeof s->name, s->part ? "%sL%zu (part)" : "%sL%zu", s->path->kind, s->level);
}

/* Of several plateaus behind the first level, keeps the one over most octaves: while loads hit less and less, the curve
 * has short plateaus that are no levels. */
static size_t keep_widest(const struct as_curve *curve, struct as_plateau *p, size_t from, size_t n)
{
    double octaves_max = 0;
    for (size_t i = from; i < n; i++) {
        double octaves = log2(curve->x[p[i].last] / curve->x[p[i].first]);
        if (octaves <= octaves_max)
            continue;
        octaves_max = octaves;
        p[from] = p[i];
    }
    return n < from + 1 ? n : from + 1;
}

/* Is a plateau below the reported size only a part of L2? Yes if the latency near the reported size is closer to the
 * plateau than to memory (log scale), or unmeasured. */
static bool is_part_only(const struct as_rule_context *c, const struct as_curve *curve, const struct as_plateau *p)
{
    const double claim = claimed_size(c, 2);
    size_t near = 0;
    if (!(p->knee_ci.hi < claim))
        return false;
    while (near + 1 < curve->n && curve->x[near + 1] <= claim)
        near++;
    return near + 1 == curve->n || curve->y[near] < sqrt(p->level * curve->y[curve->n - 1]);
}

/* Its latency is that of its level if its end is known; without an end, if its sizes stay within the level. */
static bool onchip_is_level(const struct as_rule_context *c, const struct seen *s, bool is_alone)
{
    const double claim = claimed_size(c, 2), most = s->level == 1 ? most_of_first(c) : claim > 0 ? claim : INFINITY;
    const bool is_within = s->path != &paths[PATH_GLOBAL] || s->curve->x[s->plateau->last] <= most;
    return isfinite(s->plateau->knee) || (is_alone && is_within);
}

/* With shared memory in use, only the first level differs. whole_known: another path shows the end of the second level,
 * so this path's plateaus are parts of it. */
static void derive_path(struct as_rule_context *c, const struct as_curve *curve, const struct path *path,
                        bool whole_known)
{
    struct as_plateau p[LEVELS_MAX];
    size_t n = path == &paths[PATH_ATOMIC] ? whole_plateau(curve, p) : as_levels_of(curve, c->info, p, LEVELS_MAX);
    const bool global = path == &paths[PATH_GLOBAL];
    for (size_t i = 0; i + 1 < n; i++)
        if (as_level_end_of(curve, p, i, n) != AS_END_CLEAR)
            p[i].knee = NAN;
    if (n > 0)
        end_last(curve, &p[n - 1]);
    double shared = as_cell_axis_number(curve->cells[0], "shared");
    const size_t from = global && n > 0 && curve->x[p[0].first] > most_of_first(c) ? 0 : 1; /* of the second level */
    if (global && whole_known)
        n = keep_widest(curve, p, from, n);
    size_t second = global ? second_level(c, p, from, n) : n;
    while (global && second + 1 < n && is_part_only(c, curve, &p[second]))
        second++;
    const bool all_parts = whole_known || (global && second < n && is_part_only(c, curve, &p[second]));
    for (size_t i = 0; i < n && i <= second && !(shared > 0 && i > 0); i++) {
        struct seen s = {.path = path, .curve = curve, .plateau = &p[i], .level = path->first + i, .shared = shared};
        s.part = global && i >= from && (i < second || all_parts);
        s.level = global && i >= from ? 2 : s.level;
        name_level(&s);
        onchip_add_size(c, &s);
        s.part &= !all_parts; /* latency of the part that one unit reaches is the latency of the level */
        name_level(&s);
        if (shared == 0 && onchip_is_level(c, &s, n == 1))
            onchip_add_latency(c, &s);
    }
}

/* ---- the line of a tag ---- */

static const struct as_curve *global_curve(const struct as_curve *curves, size_t n, double stride)
{
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(curves[i].cells[0], "what", "global") &&
            as_cell_axis_number(curves[i].cells[0], "shared") == 0 && curves[i].n >= POINTS_MIN &&
            as_cell_axis_number(curves[i].cells[0], "stride") == stride)
            return &curves[i];
    return NULL;
}

/* A stride larger than a line skips lines: the chase then exceeds the cache at a larger size, by the ratio of stride to
 * line. */
static void derive_line(struct as_rule_context *c, const struct as_curve *curves, size_t n)
{
    const struct as_curve *dense = global_curve(curves, n, 64);
    char apart[32];
    for (size_t i = 0; i < n && dense; i++) {
        double stride = as_cell_axis_number(curves[i].cells[0], "stride");
        if (!(stride > 64) || &curves[i] != global_curve(curves, n, stride))
            continue;
        struct as_plateau a[LEVELS_MAX], b[LEVELS_MAX];
        size_t an = as_plateaus(dense->x, dense->y, dense->ci, dense->n, a, LEVELS_MAX);
        size_t bn = as_plateaus(curves[i].x, curves[i].y, curves[i].ci, curves[i].n, b, LEVELS_MAX);
        if (an < 2 || bn < 2 || !(b[0].knee > STEP_UP * a[0].knee))
            continue;
        struct as_interval ratio = as_ratio_interval(a[0].knee, a[0].knee_ci, b[0].knee, b[0].knee_ci);
        snprintf(apart, sizeof apart, "%.0f", stride);
        struct as_fact *f = as_fact_add(c, AS_FACT_ONCHIP_LINE, NULL, AS_BY(.stride = apart));
        if (!f)
            return;
        as_fact_number(f, stride * a[0].knee / b[0].knee, (struct as_interval){stride * ratio.lo, stride * ratio.hi});
        char text[160], note[64];
        snprintf(note, sizeof note, "from a pointer chase with a stride of %.0f B", stride);
        as_fact_say(f, "L1 cache line: %s", as_fact_noted_text(f, "", note, text, sizeof text));
        as_curve_evidence(f, dense, a[0].first, a[0].last);
        as_curve_evidence(f, &curves[i], b[0].first, b[0].last);
    }
}

/* Shared memory has no levels: the smallest buffer counts. */
static void derive_local(struct as_rule_context *c)
{
    const struct as_cell **cells, *smallest = NULL;
    size_t n = as_cells_of(c, "onchip", &cells);
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "what", "shared") &&
            (!smallest || as_cell_axis_number(cells[i], "size") < as_cell_axis_number(smallest, "size")))
            smallest = cells[i];
    double hz = smallest ? smallest->clock_hz : NAN, factor = hz > 0 ? hz * 1e-9 : 1;
    const char *unit = hz > 0 ? "cycles" : "ns";
    struct as_fact *f = smallest ? as_fact_add(c, AS_FACT_ONCHIP_SHARED_LATENCY, NULL, AS_BY(.unit = unit)) : NULL;
    if (f) {
        struct as_interval ci = as_cell_interval(smallest);
        as_fact_number(f, smallest->sum.median * factor, (struct as_interval){ci.lo * factor, ci.hi * factor});
        as_fact_say(f, "A dependent load from %s takes {value}", as_shared_memory_name(c));
        as_fact_evidence(f, smallest);
    }
    free(cells);
}

static bool shows_whole(const struct as_curve *curve)
{
    struct as_plateau p[1];
    return onchip_path_of(curve) == &paths[PATH_ATOMIC] && whole_plateau(curve, p) > 0 && isfinite(p[0].knee);
}

static void derive_sizes(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    bool whole_known = false;
    as_curves_make(c, "onchip", "size", &curves, &n);
    for (size_t i = 0; i < n; i++)
        whole_known |= shows_whole(&curves[i]);
    for (size_t i = 0; i < n; i++) {
        const struct path *path = onchip_path_of(&curves[i]);
        if (path)
            derive_path(c, &curves[i], path, whole_known);
    }
    derive_line(c, curves, n);
    as_curves_free(curves, n);
}

static void derive_onchip(struct as_rule_context *c)
{
    derive_sizes(c);
    derive_local(c);
}

const struct as_rule as_rules_onchip[] = {
    {"on-chip caches", derive_onchip, "plateaus and knees of load latency over the working set, by path",
     "a chase in another order whose knees lie outside the intervals; published figures of the same chip that differ"},
    {0},
};
