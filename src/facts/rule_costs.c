/* The clock, and what single actions cost: allocating, touching, launching, handing a cache line over. */
#include "base/text.h"
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_CELLS = 20 }; /* of so many it is worth saying what nine of ten do */
enum { FACTS_MAX = 32 };  /* of one rule: a run of absurdly many kinds of cells stays readable */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts v. */
static struct as_interval spread_interval(double *v, size_t n)
{
    qsort(v, n, sizeof *v, by_value);
    return n < 6 ? (struct as_interval){v[0], v[n - 1]} : as_median_interval(v, n, 0.95);
}

void rule_clock(struct as_rule_context *c)
{
    double *hz = malloc(c->n * sizeof *hz);
    size_t n = 0;
    if (!hz) {
        c->status = as_nomem(c->err, c->n * sizeof *hz, "clocks");
        return;
    }
    for (size_t i = 0; i < c->n; i++)
        if (isfinite(c->cells[i]->clock_hz) && c->cells[i]->clock_hz > 0)
            hz[n++] = c->cells[i]->clock_hz;
    struct as_fact *f = n ? as_fact_add(c, "core", "Hz", "clock.core") : NULL;
    if (f) {
        double median = as_median(hz, n), low = as_quantile(hz, n, 0.05), high = as_quantile(hz, n, 0.95);
        as_fact_number(f, median, spread_interval(hz, n));
        char value[96], claim[32], lo[32], hi[32];
        as_fact_value_text(median, AS_NO_INTERVAL, "Hz", value, sizeof value);
        as_fact_value_text(low, AS_NO_INTERVAL, "Hz", lo, sizeof lo);
        as_fact_value_text(high, AS_NO_INTERVAL, "Hz", hi, sizeof hi);
        if (c->info && c->info->clock_max_hz > 0 && isfinite(c->info->clock_max_hz))
            f->claimed = c->info->clock_max_hz;
        as_fact_value_text(f->claimed, AS_NO_INTERVAL, "Hz", claim, sizeof claim);
        char range[72] = "", seen_in[128];
        if (strcmp(lo, hi) != 0)
            snprintf(range, sizeof range, "%s to %s ", lo, hi);
        if (n < MANY_CELLS)
            snprintf(seen_in, sizeof seen_in, "%sin %zu valid cell%s", range, n, n == 1 ? "" : "s");
        else
            snprintf(seen_in, sizeof seen_in, "%sin nine of ten cells", range);
        if (f->claimed > 0 && median > 1.02 * f->claimed) {
            f->verdict = AS_REFUTED;
            as_fact_say(f, "The core runs at %s, above its reported maximum of %s (%s)", value, claim, seen_in);
        } else {
            as_fact_say(f, "The core runs at %s (%s)%s%s", value, seen_in,
                        f->claimed > 0 ? ", within its reported maximum of " : "", f->claimed > 0 ? claim : "");
        }
        for (size_t i = 0, step = n / AS_EVIDENCE_MAX + 1, seen = 0; i < c->n; i++)
            if (isfinite(c->cells[i]->clock_hz) && c->cells[i]->clock_hz > 0 && seen++ % step == 0)
                as_fact_evidence(f, c->cells[i]);
    }
    free(hz);
}

/* a - b with its interval (MOVER, as for ratios) */
static struct as_interval difference(const struct as_cell *a, const struct as_cell *b)
{
    struct as_interval ca = as_cell_interval(a), cb = as_cell_interval(b);
    double d = a->sum.median - b->sum.median;
    return (struct as_interval){d - hypot(a->sum.median - ca.lo, cb.hi - b->sum.median),
                                d + hypot(ca.hi - a->sum.median, b->sum.median - cb.lo)};
}

static void add_difference(struct as_rule_context *c, const struct as_cell *more, const struct as_cell *less,
                           const char *id, const char *what, const char *nothing)
{
    const char *allocator = as_cell_axis(more, "allocator");
    char object[64], value[96], size[32];
    as_allocator_object(allocator, object, sizeof object);
    struct as_fact *f = as_fact_add(c, object, more->unit, "%s.%s", id, allocator[0] ? allocator : "any");
    if (!f)
        return;
    as_fact_number(f, more->sum.median - less->sum.median, difference(more, less));
    as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
    as_fact_value_text(as_cell_axis_number(more, "size"), AS_NO_INTERVAL, "B", size, sizeof size);
    f->verdict = f->ci.lo > 0 ? AS_SUPPORTED : f->ci.hi < 0 ? AS_REFUTED : AS_UNDECIDED;
    if (f->verdict == AS_SUPPORTED)
        as_fact_say(f, "%s %s per page (%s, blocks of %s)", what, value, allocator, size);
    else
        as_fact_say(f, "%s: the difference is %s per page (%s, blocks of %s)", nothing, value, allocator, size);
    as_fact_evidence(f, more);
    as_fact_evidence(f, less);
}

static const char *allocator_of(const struct as_pair *p)
{
    return as_cell_axis(p->a, "allocator");
}

static double size_of(const struct as_pair *p)
{
    double size = as_cell_axis_number(p->a, "size");
    return isfinite(size) ? size : 0;
}

/* For each allocator the pair of cells at the largest size that both have. */
static void differences(struct as_rule_context *c, const char *more, const char *less, const char *id, const char *what,
                        const char *nothing)
{
    struct as_pair *pairs;
    size_t n, kept = 0;
    as_pairs_make(c, "alloc", "op", more, less, &pairs, &n);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < kept && strcmp(allocator_of(&pairs[k]), allocator_of(&pairs[i])) != 0)
            k++;
        if (k == FACTS_MAX)
            continue;
        if (k == kept || size_of(&pairs[i]) > size_of(&pairs[k]))
            pairs[k] = pairs[i];
        kept += k == kept;
    }
    for (size_t k = 0; k < kept; k++)
        add_difference(c, pairs[k].a, pairs[k].b, id, what, nothing);
    free(pairs);
}

void rule_first_touch(struct as_rule_context *c)
{
    differences(c, "first-touch", "touch-again", "memory.host_backing", "The host backs untouched memory at a cost of",
                "No cost of host backing is visible");
    differences(c, "touch-again", "touch-mapped", "memory.fault", "A page fault costs",
                "No cost of a page fault is visible");
}

static void add_allocator(struct as_rule_context *c, const struct as_curve *curve, size_t at)
{
    const struct as_cell *cell = curve->cells[at];
    const char *allocator = as_cell_axis(cell, "allocator"), *op = as_cell_axis(cell, "op");
    char object[64], value[96], size[32];
    as_allocator_object(allocator, object, sizeof object);
    as_fact_value_text(curve->x[at], AS_NO_INTERVAL, "B", size,
                       sizeof size); /* in the name: which sizes are valid differs by run */
    struct as_fact *f =
        as_fact_add(c, object, cell->unit, "alloc.%s.%s.%s", allocator[0] ? allocator : "any", op, size);
    if (!f)
        return;
    as_fact_number(f, cell->sum.median, as_cell_interval(cell));
    as_fact_say(f, "%s: %s of %s takes %s", allocator, op, size,
                as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value));
    as_fact_evidence(f, cell);
}

void rule_allocators(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    as_curves_make(c, "alloc", "size", &curves, &n);
    for (size_t i = 0, added = 0; i < n && added < FACTS_MAX; i++) {
        const char *op = as_cell_axis(curves[i].cells[0], "op");
        if (strcmp(op, "alloc") != 0 && strcmp(op, "free") != 0)
            continue;
        add_allocator(c, &curves[i], 0);
        if (curves[i].n > 1)
            add_allocator(c, &curves[i], curves[i].n - 1);
        added += 2;
    }
    as_curves_free(curves, n);
}

/* Who hands lines to whom: the axis `peer`, what a fact of it is about, its name, and the words. */
struct pair_kind {
    const char *peer, *object, *id, *between;
    const char *one; /* of the pair; NULL: the nearest and the farthest are not told apart */
};
static const struct pair_kind pair_kinds[] = {
    {"cpu", "link:cpu-cpu", "c2c", "two cores", "CPU"},
    {"device", "link:cpu-device", "c2c.device", "a core and the device", NULL},
    {"unit", "units", "c2c.unit", "two units of the device", "unit"},
};

/* How the line was handed over, and how many pairs may be as near or as far. */
static const char *how_text(const struct as_cell *cell, size_t alike, char *out, size_t size)
{
    const char *op = as_cell_axis(cell, "op");
    const int n = snprintf(out, size, "%s%.16s", op[0] ? ", by " : "", op);
    if (alike && n >= 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, "; %zu other%s statistically tied with it", alike, alike == 1 ? "" : "s");
    return out;
}

static size_t count_alike(const struct as_cell *const *pairs, size_t n, const struct as_cell *like)
{
    const struct as_interval of = as_cell_interval(like);
    size_t alike = 0;
    for (size_t i = 0; i < n; i++) {
        const struct as_interval ci = as_cell_interval(pairs[i]);
        alike += pairs[i] != like && ci.lo <= of.hi && of.lo <= ci.hi;
    }
    return alike;
}

static void add_pair(struct as_rule_context *c, const struct as_cell *cell, const struct pair_kind *kind,
                     const char *end, const char *which, size_t alike)
{
    struct as_fact *f = as_fact_add(c, kind->object, cell->unit, "%s.%s", kind->id, end);
    char value[96], how[80];
    if (!f)
        return;
    as_fact_number(f, cell->sum.median, as_cell_interval(cell));
    as_fact_say(f, "The %s pair, %s %s and %s, transfers a cache line in %s%s", which, kind->one,
                as_cell_axis(cell, "from"), as_cell_axis(cell, "to"),
                as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value),
                how_text(cell, alike, how, sizeof how));
    as_fact_evidence(f, cell);
}

static void add_median_pair(struct as_rule_context *c, const struct as_cell *const *pairs, size_t n,
                            const struct pair_kind *kind)
{
    double *v = malloc(n * sizeof *v);
    struct as_fact *f = v ? as_fact_add(c, kind->object, pairs[0]->unit, "%s.median", kind->id) : NULL;
    char value[96];
    if (!v)
        c->status = as_nomem(c->err, n * sizeof *v, "pairs");
    if (f) {
        for (size_t i = 0; i < n; i++)
            v[i] = pairs[i]->sum.median;
        double median = as_median(v, n);
        as_fact_number(f, median, n == 1 ? as_cell_interval(pairs[0]) : spread_interval(v, n));
        as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
        const char *op = as_cell_axis(pairs[0], "op"), *allocator = as_cell_axis(pairs[0], "allocator");
        as_fact_say(f, "A one-way transfer of a cache line between %s takes %s (median of %zu pair%s%s%s%s%.40s)",
                    kind->between, value, n, n == 1 ? "" : "s", op[0] ? ", by " : "", op, allocator[0] ? ", " : "",
                    allocator);
        for (size_t i = 0, step = (n + AS_EVIDENCE_MAX - 1) / AS_EVIDENCE_MAX; i < n; i += step)
            as_fact_evidence(f, pairs[i]);
    }
    free(v);
}

/* One kind of waiting in one kind of memory, so that all pairs are alike: those of the first cell. */
static bool is_alike(const struct as_cell *cell, const struct as_cell *first)
{
    return as_cells_same(cell, first, "op") && as_cells_same(cell, first, "allocator");
}

static void core_to_core(struct as_rule_context *c, const struct as_cell **cells, size_t n,
                         const struct pair_kind *kind)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *cell = cells[i];
        if (strcmp(as_cell_axis(cell, "peer"), kind->peer) != 0 || as_cell_axis(cell, "from")[0] == '\0' ||
            (kept && !is_alike(cell, cells[0])))
            continue;
        cells[i] = cells[kept]; /* a swap: the others are still looked at for the other kinds of peer */
        cells[kept++] = cell;
    }
    if (kept == 0)
        return;
    add_median_pair(c, cells, kept, kind);
    const struct as_cell *near = cells[0], *far = cells[0];
    for (size_t i = 1; i < kept; i++) {
        near = cells[i]->sum.median < near->sum.median ? cells[i] : near;
        far = cells[i]->sum.median > far->sum.median ? cells[i] : far;
    }
    if (kept > 1 && kind->one) {
        add_pair(c, near, kind, "min", "nearest", count_alike(cells, kept, near));
        add_pair(c, far, kind, "max", "farthest", count_alike(cells, kept, far));
    }
}

void rule_core_to_core(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "c2c", &cells);
    for (size_t i = 0; i < sizeof pair_kinds / sizeof *pair_kinds; i++)
        core_to_core(c, cells, n, &pair_kinds[i]);
    free(cells);
}

void rule_launch(struct as_rule_context *c)
{
    static const struct {
        const char *what, *says;
    } says[] = {{"roundtrip", "Launching an empty kernel and waiting for it takes"},
                {"submit", "Queueing a launch takes"},
                {"batch", "Each of many launches back to back takes"},
                {"graph-1", "A launch recorded as a graph takes"},
                {"graph-10", "Each of 10 launches recorded as a graph takes"},
                {"graph-100", "Each of 100 launches recorded as a graph takes"},
                {"graph-1000", "Each of 1000 launches recorded as a graph takes"}};
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "launch", &cells), added = 0;
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, as_cell_axis_number(cells[i], "threads"));
    for (size_t i = 0; i < n && added < FACTS_MAX; i++) {
        double threads = as_cell_axis_number(cells[i], "threads");
        if (isfinite(threads) && threads > least)
            continue;
        const char *what = as_cell_axis(cells[i], "what"), *wait = as_cell_axis(cells[i], "wait");
        const char *text = "An empty kernel takes";
        for (size_t k = 0; k < sizeof says / sizeof *says; k++)
            text = strcmp(says[k].what, what) == 0 ? says[k].says : text;
        struct as_fact *f = as_fact_add(c, "launch", cells[i]->unit, "launch.%s.%s", what, wait);
        char value[96];
        if (!f)
            break;
        as_fact_number(f, cells[i]->sum.median, as_cell_interval(cells[i]));
        as_fact_say(f, "%s %s%s%s", text, as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value),
                    wait[0] ? ", waiting by " : "", wait);
        as_fact_evidence(f, cells[i]);
        added++;
    }
    free(cells);
}
