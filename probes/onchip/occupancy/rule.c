/* Registers, shared memory, threads and workgroups per compute unit, from the number of resident workgroups. */
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A resource that the workgroups of a cell use: the pieces per workgroup, and the amount in each. */
struct use {
    const struct as_cell *cell;
    double workgroups, pieces, each;
    bool fits;      /* so many workgroups were resident */
    bool exhausted; /* the resource is the limit: threads and workgroups would allow more */
};
struct uses {
    struct use *v;
    size_t n;
};

/* How a device may allocate a resource: pieces rounded up to a grain, plus a reserved amount, in equal partitions of
 * the compute unit that each hold whole pieces. */
struct allocation {
    double grain, reserved, parts;
};

static double occupancy_needs(const struct use *u, const struct allocation *a, double workgroups)
{
    const double piece = ceil(u->each / a->grain) * a->grain + a->reserved;
    return a->parts * ceil(workgroups * u->pieces / a->parts) * piece;
}

struct bounds {
    double lo, hi; /* at least what was resident; less than one workgroup more would need */
    const struct as_cell *lo_cell, *hi_cell;
};

static struct bounds bounds_of(const struct uses *s, const struct allocation *a)
{
    struct bounds b = {.hi = INFINITY};
    for (size_t i = 0; i < s->n; i++) {
        const struct use *u = &s->v[i];
        const double fits = occupancy_needs(u, a, u->workgroups), exceeds = occupancy_needs(u, a, u->workgroups + 1);
        if (u->fits && fits > b.lo) {
            b.lo = fits;
            b.lo_cell = u->cell;
        }
        if (u->exhausted && exceeds < b.hi) {
            b.hi = exceeds;
            b.hi_cell = u->cell;
        }
    }
    return b;
}

/* The allocation schemes to try. */
struct tried {
    double grains[8];   /* zero-terminated */
    unsigned parts_max; /* partitions: powers of two up to this */
    unsigned reserved_max;
};
static const struct tried tried_registers = {{1, 2, 4, 8, 16, 24, 32}, 4, 0}, /* per thread of a warp */
    tried_shared = {{1, 128, 256, 512, 1024}, 1, 4096}, tried_threads = {{1}, 1, 0};

struct found {
    struct bounds all;       /* the union over all schemes consistent with the cells; lo_cell NULL: none is */
    struct bounds nearest;   /* of the scheme with the smallest contradiction */
    struct allocation least; /* each amount by itself, of the consistent schemes; most likewise */
    struct allocation most;
};

static struct allocation by_amount(double (*choose)(double, double), const struct allocation *a,
                                   const struct allocation *b)
{
    return (struct allocation){choose(a->grain, b->grain), choose(a->reserved, b->reserved),
                               choose(a->parts, b->parts)};
}

static void occupancy_widen(struct found *f, const struct bounds *b, const struct allocation *a)
{
    if (!b->lo_cell)
        return;
    if (b->lo >= b->hi) {
        if (!f->nearest.lo_cell || b->lo / b->hi < f->nearest.lo / f->nearest.hi)
            f->nearest = *b;
        return;
    }
    if (!f->all.lo_cell) {
        f->all = *b;
        f->least = f->most = *a;
    }
    f->least = by_amount(fmin, &f->least, a);
    f->most = by_amount(fmax, &f->most, a);
    if (b->lo < f->all.lo) {
        f->all.lo = b->lo;
        f->all.lo_cell = b->lo_cell;
    }
    if (b->hi > f->all.hi) {
        f->all.hi = b->hi;
        f->all.hi_cell = b->hi_cell;
    }
}

static struct found search(const struct uses *s, const struct tried *t, double scale)
{
    enum { RESERVED_STEP = 64 };
    struct found f = {0};
    for (const double *grain = t->grains; *grain > 0; grain++)
        for (unsigned parts = 1; parts <= t->parts_max; parts *= 2)
            for (unsigned reserved = 0; reserved <= t->reserved_max; reserved += RESERVED_STEP) {
                const struct allocation a = {*grain * scale, reserved, parts};
                if (t->reserved_max && *grain > RESERVED_STEP && fmod(reserved, *grain) > 0)
                    continue; /* what is reserved is allocated in pieces too */
                const struct bounds b = bounds_of(s, &a);
                occupancy_widen(&f, &b, &a);
            }
    return f;
}

static const char *occupancy_range(double lo, double hi, char *out, size_t size)
{
    snprintf(out, size, lo < hi ? "%.0f to %.0f" : "%.0f", lo, hi);
    return out;
}

/* Counts are printed in full: a difference of 1% matters. */
static const char *amount(double v, const char *unit, char *out, size_t size)
{
    if (unit[0])
        return as_fact_value_text(v, AS_NO_INTERVAL, unit, out, size);
    snprintf(out, size, "%.0f", v);
    return out;
}

/* A resource, with its words in facts. */
struct resource {
    const char *object, *unit, *counted, *what;
    const char *pieces, *user; /* what a request is for, and who makes one */
    double claim;
};

static void occupancy_say_contradiction(struct as_rule_context *c, const struct resource *r, const struct bounds *b)
{
    char lo[32], hi[32];
    struct as_fact *f = as_fact_add(c, AS_FACT_UNIT_CONTRADICTION, NULL,
                                    AS_BY(.object = r->object, .unit = r->unit, .counted = r->counted));
    if (!f)
        return;
    f->verdict = AS_UNDECIDED;
    as_fact_say(f,
                "How many %s each %s holds is inconclusive: resident %ss of one measurement need at least %s, another "
                "%s than %s",
                r->what, as_unit_name(c), as_workgroup_name(c), amount(b->lo, r->unit, lo, sizeof lo),
                r->unit[0] ? "less" : "fewer", amount(b->hi, r->unit, hi, sizeof hi));
    as_fact_evidence(f, b->lo_cell);
    as_fact_evidence(f, b->hi_cell);
}

/* Without an upper bound no number can be stated as the capacity. */
static void say_capacity(struct as_rule_context *c, const struct resource *r, const struct found *found)
{
    const struct bounds *b = &found->all;
    struct as_fact *f =
        as_fact_add(c, AS_FACT_UNIT_HOLDS, NULL, AS_BY(.object = r->object, .unit = r->unit, .counted = r->counted));
    if (!f)
        return;
    char lo[32], hi[32], text[48], less[64] = "", reported[80] = "", reserved[128] = "";
    amount(b->lo, r->unit, lo, sizeof lo);
    if (b->hi_cell) {
        as_fact_number(f, b->lo, (struct as_interval){b->lo, b->hi});
        if (strcmp(lo, amount(b->hi, r->unit, hi, sizeof hi)) == 0) { /* bounds closer than three digits tell apart */
            snprintf(lo, sizeof lo, "%.0f %s", b->lo, r->unit);
            snprintf(hi, sizeof hi, "%.0f %s", b->hi, r->unit);
        }
        snprintf(less, sizeof less, " and %s than %s", r->unit[0] ? "less" : "fewer", hi);
    }
    if (r->claim > 0) {
        f->claimed = r->claim;
        f->verdict = b->lo > r->claim * 1.02                                             ? AS_REFUTED
                     : !b->hi_cell                                                       ? AS_UNDECIDED
                     : as_claim_fits(r->claim, (struct as_interval){b->lo, b->hi}, 0.02) ? AS_SUPPORTED
                                                                                         : AS_REFUTED;
        snprintf(reported, sizeof reported, "; the driver reports %s", amount(r->claim, r->unit, text, sizeof text));
    }
    if (found->least.reserved > 0)
        snprintf(reserved, sizeof reserved, ", if each %s takes %s B beyond its request", as_workgroup_name(c),
                 occupancy_range(found->least.reserved, found->most.reserved, text, sizeof text));
    as_fact_say(f, "Each %s holds at least %s%s %s%s%s", as_unit_name(c), lo, less, r->what, reserved, reported);
    as_fact_evidence(f, b->lo_cell);
    if (b->hi_cell)
        as_fact_evidence(f, b->hi_cell);
}

static void occupancy_say_grain(struct as_rule_context *c, const struct resource *r, const struct found *found)
{
    const double lo = found->least.grain, hi = found->most.grain;
    char text[48];
    struct as_fact *f =
        as_fact_add(c, AS_FACT_UNIT_GRAIN, NULL, AS_BY(.object = r->object, .unit = r->unit, .counted = r->counted));
    if (!f)
        return;
    as_fact_number(f, hi, (struct as_interval){lo, hi});
    as_fact_say(f, "Each %s allocates %s to a %s in multiples of %s%s%s", as_unit_name(c), r->pieces, r->user,
                occupancy_range(lo, hi, text, sizeof text), r->unit[0] ? " " : "", r->unit);
    as_fact_evidence(f, found->all.lo_cell);
}

static void occupancy_say_parts(struct as_rule_context *c, const struct resource *r, const struct found *found)
{
    const double lo = found->least.parts, hi = found->most.parts;
    char text[48];
    struct as_fact *f = as_fact_add(c, AS_FACT_UNIT_PARTS, NULL, AS_BY(.object = r->object, .counted = r->counted));
    if (!f)
        return;
    as_fact_number(f, hi, (struct as_interval){lo, hi});
    as_fact_say(f, "The %s of each %s are in %s equal part%s; those of a %s are in one of them", r->pieces,
                as_unit_name(c), occupancy_range(lo, hi, text, sizeof text), hi > 1 ? "s" : "", r->user);
    as_fact_evidence(f, found->all.lo_cell);
}

static double coarsest(const struct tried *t)
{
    double last = 0;
    for (const double *grain = t->grains; *grain > 0; grain++)
        last = *grain;
    return last;
}

/* The cells tell something: of all the amounts tried, not all are consistent with them. */
static bool excludes(double tried_lo, double tried_hi, double lo, double hi)
{
    return lo > tried_lo || hi < tried_hi;
}

static void add_capacity(struct as_rule_context *c, const struct uses *s, const struct tried *t, double scale,
                         const struct resource *r)
{
    const struct found found = search(s, t, scale);
    if (found.all.lo_cell) {
        say_capacity(c, r, &found);
        if (excludes(t->grains[0] * scale, coarsest(t) * scale, found.least.grain, found.most.grain))
            occupancy_say_grain(c, r, &found);
        if (excludes(1, t->parts_max, found.least.parts, found.most.parts))
            occupancy_say_parts(c, r, &found);
    }
    if (!found.all.lo_cell && found.nearest.lo_cell)
        occupancy_say_contradiction(c, r, &found.nearest);
}

/* The limit of workgroups per compute unit: cells reach it although there are threads for one more. */
static void add_workgroups(struct as_rule_context *c, const struct uses *threads, double workgroups, double resident)
{
    const struct use *limited = NULL;
    for (size_t i = 0; i < threads->n && !limited; i++)
        if (threads->v[i].workgroups == workgroups && (workgroups + 1) * threads->v[i].each <= resident)
            limited = &threads->v[i];
    struct as_fact *f = NULL;
    if (limited)
        f = as_fact_add(c, AS_FACT_UNIT_HOLDS, NULL, AS_BY(.object = "core", .counted = "workgroups"));
    if (!f)
        return;
    as_fact_number(f, workgroups, (struct as_interval){workgroups, workgroups});
    as_fact_say(f, "Each %s holds at most %.0f %ss, however small", as_unit_name(c), workgroups, as_workgroup_name(c));
    as_fact_evidence(f, limited->cell);
}

enum { REGISTERS, SHARED, THREADS, KINDS };

static int occupancy_kind_of(const struct as_cell *cell)
{
    if (as_cell_axis_number(cell, "shared") > 0)
        return SHARED;
    return as_cell_axis_number(cell, "values") > 0 ? REGISTERS : THREADS;
}

static struct use use_of(const struct as_cell *cell, double warp)
{
    const double warps = ceil(as_cell_axis_number(cell, "threads") / warp);
    struct use u = {.cell = cell, .workgroups = cell->sum.median, .pieces = 1, .fits = true};
    switch (occupancy_kind_of(cell)) {
    case SHARED:
        u.each = as_cell_axis_number(cell, "shared");
        break;
    case REGISTERS:
        u.pieces = warps;
        u.each = as_cell_note(cell, "spilled_bytes") > 0 ? 0 : warp * as_cell_note(cell, "registers");
        break;
    default:
        u.each = warps * warp;
    }
    return u;
}

static void add_use(struct uses *s, const struct use *u)
{
    if (u->each > 0 && u->workgroups >= 0 && u->workgroups < 1e9)
        s->v[s->n++] = *u;
}

/* Where a cell notes between which two requests the number of resident workgroups falls, each bounds the capacity: the
 * smaller one from below, the larger one from above, whatever the limit of workgroups. */
static void add_uses(struct uses *s, const struct use *u)
{
    const double most = as_cell_note(u->cell, "shared_most"), over = as_cell_note(u->cell, "shared_over");
    struct use below = *u, above = *u;
    if (u->workgroups < 1)
        return;
    if (most > 0) {
        below.each = most;
        below.exhausted = false;
        add_use(s, &below);
    }
    if (over > 0) {
        above.each = over;
        above.workgroups--;
        above.fits = false;
        above.exhausted = true;
    }
    add_use(s, &above);
}

static void derive_from(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, struct uses s[KINDS])
{
    const struct as_device_info nothing = {0}, *info = c->info ? c->info : &nothing;
    const double warp = info->warp ? info->warp : 1;
    double workgroups = 0, resident = 0; /* the largest number in any cell */
    for (size_t i = 0; i < n; i++) {
        workgroups = fmax(workgroups, cells[i]->sum.median);
        resident = fmax(resident, cells[i]->sum.median * ceil(as_cell_axis_number(cells[i], "threads") / warp) * warp);
    }
    for (size_t i = 0; i < n; i++) {
        const double threads = ceil(as_cell_axis_number(cells[i], "threads") / warp) * warp;
        struct use u = use_of(cells[i], warp);
        const int kind = occupancy_kind_of(cells[i]);
        u.exhausted = u.workgroups < workgroups && (kind == THREADS || (u.workgroups + 1) * threads <= resident);
        add_uses(&s[kind], &u);
    }
    char of_shared[40];
    snprintf(of_shared, sizeof of_shared, "of %s", as_shared_memory_name(c));
    const struct as_vocabulary *words = as_info_words(info);
    const struct resource registers = {"registers",
                                       "",
                                       "registers",
                                       "32-bit registers",
                                       "registers",
                                       words->subgroup,
                                       info->compute_unit_registers},
                          shared = {"shared",
                                    "B",
                                    "shared",
                                    of_shared,
                                    words->shared_memory,
                                    words->workgroup,
                                    (double)info->compute_unit_shared},
                          of_threads = {"core",
                                        "",
                                        "threads",
                                        "resident threads",
                                        "threads",
                                        words->workgroup,
                                        info->compute_unit_threads};
    add_capacity(c, &s[REGISTERS], &tried_registers, warp, &registers);
    add_capacity(c, &s[SHARED], &tried_shared, 1, &shared);
    add_capacity(c, &s[THREADS], &tried_threads, 1, &of_threads);
    add_workgroups(c, &s[THREADS], workgroups, resident);
}

static void derive_limits(struct as_rule_context *c)
{
    const struct as_cell **cells;
    struct uses s[KINDS] = {0};
    size_t n = as_cells_of(c, "occupancy", &cells);
    const size_t uses = 2 * n; /* at most two of a cell */
    struct use *all = n ? calloc(KINDS * uses, sizeof *all) : NULL;
    if (n && !all)
        c->status = as_nomem(c->err, KINDS * uses * sizeof *all, "measurements by resource");
    for (size_t i = 0; i < KINDS && all; i++)
        s[i].v = all + i * uses;
    if (all)
        derive_from(c, cells, n, s);
    free(all);
    free(cells);
}

const struct as_rule as_rules_occupancy[] = {
    {"occupancy limits", derive_limits, "limits of a compute unit from the number of resident workgroups",
     "one more workgroup that passes the same gates"},
    {0},
};
