/* What a unit of a device does and holds: bytes a cycle, banks, the shared cache as it sees it, groups at a time. */
#include "base/text.h"
#include "facts/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 6, POINTS_MIN = 5 };
static const double STEP_UP = 1.15; /* less is not told from what else differs between two cells */

/* ---- bandwidth and banks ---- */

static const struct as_cell *best_of(const struct as_cell *const *cells, size_t n, const char *what,
                                     const char *compute_units)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (cell_is(cells[i], "what", what) && cell_is(cells[i], "units", compute_units) &&
            (!best || cells[i]->sum.median > best->sum.median))
            best = cells[i];
    return best;
}

static void add_bandwidth(struct rule_context *c, const struct as_cell *best, const char *object, const char *id,
                          const char *from)
{
    struct as_fact *f = best ? fact_add(c, object, "B/cycle", "onchip.%s.bandwidth", id) : NULL;
    if (!f)
        return;
    char text[96], size[32], over[40] = "";
    if (cell_axis_number(best, "size") > 0)
        snprintf(over, sizeof over, ", over %s",
                 fact_value_text(cell_axis_number(best, "size"), NO_INTERVAL, "B", size, sizeof size));
    fact_number(f, best->sum.median, cell_interval(best));
    fact_say(f, "A unit loads %s from %s (%s bits per load%s)",
             fact_value_text(f->value, f->ci, "B/cycle", text, sizeof text), from, cell_axis(best, "width"), over);
    fact_evidence(f, best);
}

/* Neighbours that are as many words apart as there are banks all want the same one: the slowest stride, and of those as
 * slow as it the smallest. */
static void add_banks(struct rule_context *c, const struct curve *curve)
{
    size_t slowest = 0;
    for (size_t i = 1; i < curve->n; i++)
        if (curve->y[i] < 0.98 * curve->y[slowest])
            slowest = i;
    if (curve->x[0] != 1 || slowest == 0 || slowest + 1 >= curve->n || !(curve->y[0] > 1.9 * curve->y[slowest]))
        return;
    struct as_fact *f = fact_add(c, "LOCAL", "banks", "onchip.local.banks");
    if (!f)
        return;
    double degree = curve->y[0] / curve->y[slowest], one = curve->y[slowest]; /* there a single bank is at work */
    fact_number(f, curve->x[slowest], (struct as_interval){curve->x[slowest], curve->x[slowest]});
    fact_say(
        f,
        "A unit's %s has %.0f banks of %.3g B per cycle: an access with a stride of as many words is %.3gx slower, "
        "and one of %.0f words is not",
        local_name(c), f->value, one, degree, curve->x[slowest + 1]);
    if (!(curve->y[slowest + 1] > 1.5 * curve->y[slowest]))
        f->verdict = AS_UNDECIDED;
    curve_evidence(f, curve, 0, curve->n - 1);
}

/* Up to which size one unit reads the shared cache as fast as a small part of it. */
static void add_reach(struct rule_context *c, const struct curve *curve)
{
    struct as_plateau p[LEVELS_MAX];
    size_t n = as_plateaus(curve->x, curve->y, curve->ci, curve->n, p, LEVELS_MAX);
    if (n < 2 || curve->n < POINTS_MIN)
        return;
    struct as_fact *f = fact_add(c, "L2", "B", "onchip.L2.reach_of_unit");
    if (!f)
        return;
    char lo[32], hi[32], level[64];
    fact_number(f, p[0].knee, p[0].knee_ci);
    fact_say(f, "A single unit reads %s from blocks up to %s to %s, and less from larger ones",
             fact_value_text(p[0].level, p[0].ci, "B/cycle", level, sizeof level),
             fact_value_text(f->ci.lo, NO_INTERVAL, "B", lo, sizeof lo),
             fact_value_text(f->ci.hi, NO_INTERVAL, "B", hi, sizeof hi));
    curve_evidence(f, curve, p[0].first, p[1].last);
}

static void derive_bandwidth(struct rule_context *c)
{
    const struct as_cell **cells;
    struct curve *curves;
    size_t n = cells_of(c, "onchip_bandwidth", &cells), curves_n;
    add_bandwidth(c, best_of(cells, n, "own", "every"), "L1", "L1", "its own cache");
    add_bandwidth(c, best_of(cells, n, "common", "every"), "L2", "L2", "the L2 cache, all units at work");
    add_bandwidth(c, best_of(cells, n, "common", "one"), "L2", "L2.one_unit", "the L2 cache, alone");
    add_bandwidth(c, best_of(cells, n, "local", "every"), "LOCAL", "local", local_name(c));
    free(cells);
    curves_make(c, "onchip_bandwidth", "stride", &curves, &curves_n);
    for (size_t i = 0; i < curves_n; i++)
        if (cell_is(curves[i].cells[0], "what", "local") && cell_is(curves[i].cells[0], "width", "32") &&
            curves[i].n >= POINTS_MIN)
            add_banks(c, &curves[i]);
    curves_free(curves, curves_n);
    curves_make(c, "onchip_bandwidth", "size", &curves, &curves_n);
    for (size_t i = 0; i < curves_n; i++)
        if (cell_is(curves[i].cells[0], "what", "common") && cell_is(curves[i].cells[0], "units", "one") &&
            cell_is(curves[i].cells[0], "stride", "1"))
            add_reach(c, &curves[i]);
    curves_free(curves, curves_n);
}

/* ---- near and far, found and missed ---- */

static void add_near_far(struct rule_context *c, const struct pair *pair)
{
    const struct as_cell *near = pair->a, *far = pair->b;
    struct as_fact *f = fact_add(c, "L2", "x", "onchip.L2.far.unit%s", cell_axis(near, "unit"));
    if (!f)
        return;
    char a[96], b[96], share[48] = "";
    double near_share = cell_note(near, "near_share");
    if (isfinite(near_share))
        snprintf(share, sizeof share, ", and %.0f%% of its lines are near", 100 * near_share);
    fact_ratio(f, far, near);
    if (!(f->ci.lo > 1))
        f->verdict = AS_UNDECIDED;
    fact_say(f, "For unit %s the L2 cache has a near part, %s per load, and a far part, %s%s", cell_axis(near, "unit"),
             fact_value_text(near->sum.median, cell_interval(near), "ns", a, sizeof a),
             fact_value_text(far->sum.median, cell_interval(far), "ns", b, sizeof b), share);
    fact_evidence(f, near);
    fact_evidence(f, far);
}

/* Does a unit find what another one brought in? As far from a miss as from what it brought in itself. */
static void add_found(struct rule_context *c, const struct as_cell *const *cells, size_t n,
                      const struct as_cell *missed)
{
    size_t others = 0, found = 0;
    for (size_t i = 0; i < n; i++)
        if (cell_is(cells[i], "what", "found") &&
            cell_axis_number(cells[i], "filler") != cell_axis_number(cells[i], "unit")) {
            others++;
            found += cells[i]->sum.median < missed->sum.median / STEP_UP;
        }
    struct as_fact *f = others ? fact_add(c, "L2", "units", "onchip.L2.sharing") : NULL;
    if (!f)
        return;
    fact_number(f, (double)found, (struct as_interval){(double)found, (double)found});
    f->verdict = found == others ? AS_SUPPORTED : AS_REFUTED;
    fact_say(f, "Unit %s hits L2 lines that %zu of %zu other units loaded", cell_axis(missed, "unit"), found, others);
    fact_evidence(f, missed);
    for (size_t i = 0; i < n; i++)
        if (cell_is(cells[i], "what", "found"))
            fact_evidence(f, cells[i]);
}

static void add_miss(struct rule_context *c, const struct as_cell *missed)
{
    struct as_fact *f = fact_add(c, "memory", missed->unit, "onchip.memory.latency");
    char text[96];
    if (!f)
        return;
    fact_number(f, missed->sum.median, cell_interval(missed));
    fact_say(f, "A load of unit %s that misses the L2 cache takes %s", cell_axis(missed, "unit"),
             fact_value_text(f->value, f->ci, f->unit, text, sizeof text));
    fact_evidence(f, missed);
}

static void derive_units(struct rule_context *c)
{
    const struct as_cell **cells;
    struct pair *pairs;
    size_t n, pairs_n;
    pairs_make(c, "onchip_units", "what", "near", "far", &pairs, &pairs_n);
    for (size_t i = 0; i < pairs_n; i++)
        add_near_far(c, &pairs[i]);
    free(pairs);
    n = cells_of(c, "onchip_units", &cells);
    for (size_t i = 0; i < n; i++)
        if (cell_is(cells[i], "what", "missed")) {
            add_miss(c, cells[i]);
            add_found(c, cells, n, cells[i]);
            break;
        }
    free(cells);
}

/* ---- what a unit holds ---- */

/* Cells that tell how large something is of which every group takes a share. */
struct share {
    const struct as_cell *cell;
    double groups, each;
    bool ran_out; /* with one more group it would have been too little: fewer are held than by threads alone */
};
struct shares {
    struct share *v;
    size_t n;
};

static void add_share(struct shares *s, const struct as_cell *cell, double each, double most)
{
    double groups = cell->sum.median;
    if (each > 0 && groups >= 1 && groups < 1e9)
        s->v[s->n++] = (struct share){cell, groups, each, groups < most};
}

/* The room for groups that take `besides` more than they ask for: at least what fitted, less than what did not. */
struct room {
    double lo, hi;
    const struct as_cell *lo_cell, *hi_cell;
};
static struct room room_of(const struct shares *s, double besides)
{
    struct room r = {.hi = INFINITY};
    for (size_t i = 0; i < s->n; i++) {
        const struct share *x = &s->v[i];
        double fits = x->groups * (x->each + besides), not = (x->groups + 1) * (x->each + besides);
        if (fits > r.lo) {
            r.lo = fits;
            r.lo_cell = x->cell;
        }
        if (x->ran_out && not < r.hi) {
            r.hi = not ;
            r.hi_cell = x->cell;
        }
    }
    return r;
}

/* What a group takes besides is not told: all that agrees with the cells is in the interval. */
static struct room widest_room(const struct shares *s, double besides_max, double *besides_lo, double *besides_hi)
{
    struct room all = {.lo = INFINITY, .hi = 0};
    *besides_lo = *besides_hi = NAN;
    for (int step = 0; step * 64.0 <= besides_max; step++) {
        double besides = step * 64.0;
        struct room r = room_of(s, besides);
        if (!r.lo_cell || !r.hi_cell || !(r.lo < r.hi))
            continue;
        *besides_lo = isnan(*besides_lo) ? besides : *besides_lo;
        *besides_hi = besides;
        if (r.lo < all.lo) {
            all.lo = r.lo;
            all.lo_cell = r.lo_cell;
        }
        if (r.hi > all.hi) {
            all.hi = r.hi;
            all.hi_cell = r.hi_cell;
        }
    }
    return all;
}

/* Counts are said in full: a difference of a hundredth matters here. */
static const char *amount(double v, const char *unit, char *out, size_t size)
{
    if (unit[0])
        return fact_value_text(v, NO_INTERVAL, unit, out, size);
    snprintf(out, size, "%.0f", v);
    return out;
}

static void add_room(struct rule_context *c, const struct shares *s, const char *object, const char *unit,
                     const char *id, const char *what, double claim, double besides_max)
{
    double least, most;
    struct room r = widest_room(s, besides_max, &least, &most);
    struct as_fact *f = r.lo_cell && r.hi_cell ? fact_add(c, object, unit, "onchip.%s", id) : NULL;
    if (!f)
        return;
    char lo[32], hi[32], text[32], said[64] = "", besides[96] = "";
    fact_number(f, r.lo, (struct as_interval){r.lo, r.hi});
    if (claim > 0) {
        f->claimed = claim;
        f->verdict = claim_fits(claim, f->ci, 0.02) ? AS_SUPPORTED : AS_REFUTED;
        snprintf(said, sizeof said, "; the driver says %s", amount(claim, unit, text, sizeof text));
    }
    if (least > 0)
        snprintf(besides, sizeof besides, ", if each group takes %.0f to %.0f beyond its request", least, most);
    fact_say(f, "A unit has at least %s and less than %s %s%s%s", amount(r.lo, unit, lo, sizeof lo),
             amount(r.hi, unit, hi, sizeof hi), what, besides, said);
    fact_evidence(f, r.lo_cell);
    fact_evidence(f, r.hi_cell);
}

/* Groups that a unit holds when they take next to nothing, with so many threads each. */
static double groups_unhindered(const struct as_cell *const *cells, size_t n, double threads)
{
    for (size_t i = 0; i < n; i++)
        if (cell_axis_number(cells[i], "threads") == threads && cell_axis_number(cells[i], "values") == 0 &&
            cell_axis_number(cells[i], "local") == 0)
            return cells[i]->sum.median;
    return 0;
}

static void derive_groups(struct rule_context *c)
{
    enum { REGISTERS, LOCAL, THREADS, KINDS };
    const double besides_max = 4096; /* bytes of a group that a device keeps for itself */
    const struct as_cell **cells;
    struct shares s[KINDS] = {0};
    size_t n = cells_of(c, "onchip_groups", &cells);
    struct share *all = n ? calloc(KINDS * n, sizeof *all) : NULL;
    if (n && !all)
        c->status = as_nomem(c->err, KINDS * n * sizeof *all, "groups");
    for (size_t i = 0; i < KINDS && all; i++)
        s[i].v = all + i * n;
    for (size_t i = 0; i < n && all; i++) {
        double each = cell_axis_number(cells[i], "threads"), most = groups_unhindered(cells, n, each);
        if (cell_axis_number(cells[i], "local") > 0)
            add_share(&s[LOCAL], cells[i], cell_axis_number(cells[i], "local"), most);
        else if (cell_axis_number(cells[i], "values") > 0 && !(cell_note(cells[i], "spilled_bytes") > 0))
            add_share(&s[REGISTERS], cells[i], each * cell_note(cells[i], "registers"), most);
        else if (cell_axis_number(cells[i], "values") == 0)
            add_share(&s[THREADS], cells[i], each, INFINITY);
    }
    const struct as_device_info nothing = {0}, *info = c->info ? c->info : &nothing;
    char of_local[40];
    snprintf(of_local, sizeof of_local, "of %s", local_name(c));
    add_room(c, &s[REGISTERS], "registers", "", "unit.registers", "registers of 32 bits", info->compute_unit_registers,
             0);
    add_room(c, &s[LOCAL], "LOCAL", "B", "unit.local", of_local, (double)info->compute_unit_shared, besides_max);
    add_room(c, &s[THREADS], "core", "", "unit.threads", "threads at a time", info->compute_unit_threads, 0);
    free(all);
    free(cells);
}

void rule_onchip_units(struct rule_context *c)
{
    derive_bandwidth(c);
    derive_units(c);
    derive_groups(c);
}
