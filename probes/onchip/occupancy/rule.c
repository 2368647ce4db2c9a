/* Registers, shared memory and threads of a compute unit, from the number of resident workgroups. */
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Cells that bound a resource of which every workgroup takes a share. */
struct share {
    const struct as_cell *cell;
    double workgroups, each;
    bool exhausted; /* fewer workgroups are resident than with threads as the only limit */
};
struct shares {
    struct share *v;
    size_t n;
};

static void add_share(struct shares *s, const struct as_cell *cell, double each, double workgroups_max)
{
    const double workgroups = cell->sum.median;
    if (each > 0 && workgroups >= 1 && workgroups < 1e9)
        s->v[s->n++] = (struct share){cell, workgroups, each, workgroups < workgroups_max};
}

/* Capacity if each workgroup takes `reserved` bytes beyond its request: at least what fitted, less than what did not.
 */
struct capacity {
    double lo, hi;
    const struct as_cell *lo_cell, *hi_cell;
};
static struct capacity capacity_of(const struct shares *s, double reserved)
{
    struct capacity r = {.hi = INFINITY};
    for (size_t i = 0; i < s->n; i++) {
        const struct share *x = &s->v[i];
        double fits = x->workgroups * (x->each + reserved), exceeds = (x->workgroups + 1) * (x->each + reserved);
        if (fits > r.lo) {
            r.lo = fits;
            r.lo_cell = x->cell;
        }
        if (x->exhausted && exceeds < r.hi) {
            r.hi = exceeds;
            r.hi_cell = x->cell;
        }
    }
    return r;
}

/* The reserved bytes are unknown: the interval spans every value that agrees with the cells. */
static struct capacity widest_capacity(const struct shares *s, double reserved_max, double *reserved_lo,
                                       double *reserved_hi)
{
    struct capacity all = {.lo = INFINITY, .hi = 0};
    *reserved_lo = *reserved_hi = NAN;
    for (int step = 0; step * 64.0 <= reserved_max; step++) {
        double reserved = step * 64.0;
        struct capacity r = capacity_of(s, reserved);
        if (!r.lo_cell || !r.hi_cell || !(r.lo < r.hi))
            continue;
        *reserved_lo = isnan(*reserved_lo) ? reserved : *reserved_lo;
        *reserved_hi = reserved;
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

/* Counts are printed in full: a difference of 1% matters. */
static const char *amount(double v, const char *unit, char *out, size_t size)
{
    if (unit[0])
        return as_fact_value_text(v, AS_NO_INTERVAL, unit, out, size);
    snprintf(out, size, "%.0f", v);
    return out;
}

static void add_capacity(struct as_rule_context *c, const struct shares *s, const char *object, const char *unit,
                         const char *id, const char *what, double claim, double reserved_max)
{
    double reserved_lo, reserved_hi;
    struct capacity r = widest_capacity(s, reserved_max, &reserved_lo, &reserved_hi);
    struct as_fact *f = r.lo_cell && r.hi_cell ? as_fact_add(c, object, unit, "onchip.%s", id) : NULL;
    if (!f)
        return;
    char lo[32], hi[32], text[32], reported[64] = "", reserved[96] = "";
    as_fact_number(f, r.lo, (struct as_interval){r.lo, r.hi});
    if (claim > 0) {
        f->claimed = claim;
        f->verdict = as_claim_fits(claim, f->ci, 0.02) ? AS_SUPPORTED : AS_REFUTED;
        snprintf(reported, sizeof reported, "; the driver reports %s", amount(claim, unit, text, sizeof text));
    }
    if (reserved_lo > 0)
        snprintf(reserved, sizeof reserved, ", if each %s takes %.0f to %.0f B beyond its request",
                 as_workgroup_name(c), reserved_lo, reserved_hi);
    as_fact_say(f, "Each %s holds at least %s and %s than %s %s%s%s", as_unit_name(c),
                amount(r.lo, unit, lo, sizeof lo), unit[0] ? "less" : "fewer", amount(r.hi, unit, hi, sizeof hi), what,
                reserved, reported);
    as_fact_evidence(f, r.lo_cell);
    as_fact_evidence(f, r.hi_cell);
}

/* Resident workgroups of this many threads where threads are the only limit. */
static double workgroups_by_threads(const struct as_cell *const *cells, size_t n, double threads)
{
    for (size_t i = 0; i < n; i++)
        if (as_cell_axis_number(cells[i], "threads") == threads && as_cell_axis_number(cells[i], "values") == 0 &&
            as_cell_axis_number(cells[i], "shared") == 0)
            return cells[i]->sum.median;
    return 0;
}

static void derive_limits(struct as_rule_context *c)
{
    enum { REGISTERS, SHARED, THREADS, KINDS };
    const double reserved_max = 4096; /* bytes per workgroup */
    const struct as_cell **cells;
    struct shares s[KINDS] = {0};
    size_t n = as_cells_of(c, "occupancy", &cells);
    struct share *all = n ? calloc(KINDS * n, sizeof *all) : NULL;
    if (n && !all)
        c->status = as_nomem(c->err, KINDS * n * sizeof *all, "cells by resource");
    for (size_t i = 0; i < KINDS && all; i++)
        s[i].v = all + i * n;
    for (size_t i = 0; i < n && all; i++) {
        double each = as_cell_axis_number(cells[i], "threads"), workgroups_max = workgroups_by_threads(cells, n, each);
        if (as_cell_axis_number(cells[i], "shared") > 0)
            add_share(&s[SHARED], cells[i], as_cell_axis_number(cells[i], "shared"), workgroups_max);
        else if (as_cell_axis_number(cells[i], "values") > 0 && !(as_cell_note(cells[i], "spilled_bytes") > 0))
            add_share(&s[REGISTERS], cells[i], each * as_cell_note(cells[i], "registers"), workgroups_max);
        else if (as_cell_axis_number(cells[i], "values") == 0)
            add_share(&s[THREADS], cells[i], each, INFINITY);
    }
    const struct as_device_info nothing = {0}, *info = c->info ? c->info : &nothing;
    char of_shared[40];
    snprintf(of_shared, sizeof of_shared, "of %s", as_shared_memory_name(c));
    add_capacity(c, &s[REGISTERS], "registers", "", "unit.registers", "32-bit registers", info->compute_unit_registers,
                 0);
    add_capacity(c, &s[SHARED], "shared", "B", "unit.shared", of_shared, (double)info->compute_unit_shared,
                 reserved_max);
    add_capacity(c, &s[THREADS], "core", "", "unit.threads", "resident threads", info->compute_unit_threads, 0);
    free(all);
    free(cells);
}

const struct as_rule as_rules_occupancy[] = {
    {"occupancy limits", derive_limits, "limits of a compute unit from the number of resident workgroups",
     "one more workgroup that passes the same gates"},
    {0},
};
