/* What a unit holds: registers, shared memory and threads, from how many groups it runs at a time. */
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/* What groups hold that take `besides` more than they ask for: at least what fitted, less than what did not. */
struct capacity {
    double lo, hi;
    const struct as_cell *lo_cell, *hi_cell;
};
static struct capacity capacity_of(const struct shares *s, double besides)
{
    struct capacity r = {.hi = INFINITY};
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
static struct capacity widest_capacity(const struct shares *s, double besides_max, double *besides_lo,
                                       double *besides_hi)
{
    struct capacity all = {.lo = INFINITY, .hi = 0};
    *besides_lo = *besides_hi = NAN;
    for (int step = 0; step * 64.0 <= besides_max; step++) {
        double besides = step * 64.0;
        struct capacity r = capacity_of(s, besides);
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
        return as_fact_value_text(v, AS_NO_INTERVAL, unit, out, size);
    snprintf(out, size, "%.0f", v);
    return out;
}

static void add_capacity(struct as_rule_context *c, const struct shares *s, const char *object, const char *unit,
                         const char *id, const char *what, double claim, double besides_max)
{
    double least, most;
    struct capacity r = widest_capacity(s, besides_max, &least, &most);
    struct as_fact *f = r.lo_cell && r.hi_cell ? as_fact_add(c, object, unit, "onchip.%s", id) : NULL;
    if (!f)
        return;
    char lo[32], hi[32], text[32], said[64] = "", besides[96] = "";
    as_fact_number(f, r.lo, (struct as_interval){r.lo, r.hi});
    if (claim > 0) {
        f->claimed = claim;
        f->verdict = as_claim_fits(claim, f->ci, 0.02) ? AS_SUPPORTED : AS_REFUTED;
        snprintf(said, sizeof said, "; the driver reports %s", amount(claim, unit, text, sizeof text));
    }
    if (least > 0)
        snprintf(besides, sizeof besides, ", if each %s takes %.0f to %.0f B beyond its request", as_workgroup_name(c),
                 least, most);
    as_fact_say(f, "Each %s holds at least %s and %s than %s %s%s%s", as_unit_name(c),
                amount(r.lo, unit, lo, sizeof lo), unit[0] ? "less" : "fewer", amount(r.hi, unit, hi, sizeof hi), what,
                besides, said);
    as_fact_evidence(f, r.lo_cell);
    as_fact_evidence(f, r.hi_cell);
}

/* Groups that a unit holds when they take next to nothing, with so many threads each. */
static double groups_unhindered(const struct as_cell *const *cells, size_t n, double threads)
{
    for (size_t i = 0; i < n; i++)
        if (as_cell_axis_number(cells[i], "threads") == threads && as_cell_axis_number(cells[i], "values") == 0 &&
            as_cell_axis_number(cells[i], "shared") == 0)
            return cells[i]->sum.median;
    return 0;
}

static void derive_groups(struct as_rule_context *c)
{
    enum { REGISTERS, LOCAL, THREADS, KINDS };
    const double besides_max = 4096; /* bytes of a group that a device keeps for itself */
    const struct as_cell **cells;
    struct shares s[KINDS] = {0};
    size_t n = as_cells_of(c, "occupancy", &cells);
    struct share *all = n ? calloc(KINDS * n, sizeof *all) : NULL;
    if (n && !all)
        c->status = as_nomem(c->err, KINDS * n * sizeof *all, "cells by resource");
    for (size_t i = 0; i < KINDS && all; i++)
        s[i].v = all + i * n;
    for (size_t i = 0; i < n && all; i++) {
        double each = as_cell_axis_number(cells[i], "threads"), most = groups_unhindered(cells, n, each);
        if (as_cell_axis_number(cells[i], "shared") > 0)
            add_share(&s[LOCAL], cells[i], as_cell_axis_number(cells[i], "shared"), most);
        else if (as_cell_axis_number(cells[i], "values") > 0 && !(as_cell_note(cells[i], "spilled_bytes") > 0))
            add_share(&s[REGISTERS], cells[i], each * as_cell_note(cells[i], "registers"), most);
        else if (as_cell_axis_number(cells[i], "values") == 0)
            add_share(&s[THREADS], cells[i], each, INFINITY);
    }
    const struct as_device_info nothing = {0}, *info = c->info ? c->info : &nothing;
    char of_local[40];
    snprintf(of_local, sizeof of_local, "of %s", as_shared_memory_name(c));
    add_capacity(c, &s[REGISTERS], "registers", "", "unit.registers", "32-bit registers", info->compute_unit_registers,
                 0);
    add_capacity(c, &s[LOCAL], "shared", "B", "unit.shared", of_local, (double)info->compute_unit_shared, besides_max);
    add_capacity(c, &s[THREADS], "core", "", "unit.threads", "resident threads", info->compute_unit_threads, 0);
    free(all);
    free(cells);
}

const struct as_rule as_rules_occupancy[] = {
    {"occupancy limits", derive_groups, "limits of a compute unit from the number of resident workgroups",
     "one more workgroup that passes the same gates"},
    {0},
};
