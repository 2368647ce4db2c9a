/* Core-to-core latency: between cores, between a core and the device, between compute units. */
#include "facts/rule.h"

#include "base/text.h"
#include "model/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of pairs: the axis `peer`, the object of their facts, the name in ids, and what the two ends are. */
struct pair_kind {
    const char *peer, *object, *ids, *op; /* op: one operation for all pairs, the same in every run */
    const char *ends;                     /* "two cores" */
    const char *end;                      /* one end; NULL: the ends differ, and no pair is the nearest */
    bool is_within_device;                /* both ends are compute units, named by the backend */
};
static const struct pair_kind pair_kinds[] = {
    {"cpu", "link:cpu-cpu", "", "cas", .ends = "two cores", .end = "CPU"},
    {"device", "link:cpu-device", "device", "load", .ends = "a core and the device"},
    {"compute_unit", "units", "unit", "load", .is_within_device = true},
};

/* How the line was transferred, on which NUMA nodes of several, and how many pairs are tied. */
static const char *how_text(const struct as_cell *cell, size_t alike, char *out, size_t size)
{
    const char *op = as_cell_axis(cell, "op");
    char *nodes = as_cell_note_text(cell, "nodes");
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "%s%.16s", op[0] ? "by " : "", op);
    if (nodes)
        as_buf_printf(&b, "%s%s", b.len ? "; " : "", nodes);
    if (alike)
        as_buf_printf(&b, "%s%zu other%s statistically tied", b.len ? "; " : "", alike, alike == 1 ? "" : "s");
    as_copy_text(out, size, as_buf_get(&b));
    as_buf_finish(&b);
    free(nodes);
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

static struct as_fact *c2c_add_pair(struct as_rule_context *c, const struct as_cell *const *pairs, size_t n,
                                    const struct as_cell *cell, const struct pair_kind *kind, enum as_relation relation,
                                    const char *which)
{
    const size_t alike = count_alike(pairs, n, cell);
    /* if every pair is tied, none is the nearest */
    struct as_fact *f = NULL;
    if (alike + 1 < n)
        f = as_fact_add_cell(c, relation, cell, AS_BY(.object = kind->object, .ends = kind->ids));
    char value[200], how[128];
    if (!f)
        return NULL;
    how_text(cell, alike, how, sizeof how);
    as_fact_say(f, "The %s pair of %zu, %ss %s and %s, has a one-way latency of %s", which, n,
                kind->is_within_device ? as_unit_name(c) : kind->end, as_cell_axis(cell, "from"),
                as_cell_axis(cell, "to"), as_fact_noted_text(f, "", how, value, sizeof value));
    return f;
}

/* Threads are placed on CPUs, not on compute units. */
static void c2c_add_act(struct as_fact *f, const struct as_cell *near, const struct as_cell *far,
                        const struct pair_kind *kind)
{
    if (kind->is_within_device)
        return;
    as_fact_gain(f, far->sum.median / near->sum.median, as_cells_ratio(far, near));
    if (as_fact_side(f) > 0)
        as_fact_act(f,
                    "Pin threads that exchange data to nearby CPUs: a cache line takes {gain} as long between CPUs %s "
                    "and %s as "
                    "between %s and %s",
                    as_cell_axis(far, "from"), as_cell_axis(far, "to"), as_cell_axis(near, "from"),
                    as_cell_axis(near, "to"));
}

/* Interval of the median pair: at least as wide as those of single pairs. */
static struct as_interval interval_of_median(const struct as_cell *const *pairs, double *medians, double *room,
                                             size_t n)
{
    struct as_interval spread = as_spread_interval(medians, n);
    for (size_t i = 0; i < n; i++)
        room[i] = as_cell_interval(pairs[i]).lo;
    spread.lo = fmin(spread.lo, as_median(room, n));
    for (size_t i = 0; i < n; i++)
        room[i] = as_cell_interval(pairs[i]).hi;
    spread.hi = fmax(spread.hi, as_median(room, n));
    return spread;
}

static void add_median_pair(struct as_rule_context *c, const struct as_cell *const *pairs, size_t n,
                            const struct pair_kind *kind)
{
    double *v = malloc(2 * n * sizeof *v);
    struct as_fact *f =
        v ? as_fact_add(c, AS_FACT_C2C_MEDIAN, pairs[0], AS_BY(.object = kind->object, .ends = kind->ids)) : NULL;
    char value[200], note[128], units[64];
    snprintf(units, sizeof units, "two %ss", as_unit_name(c));
    if (!v)
        c->status = as_nomem(c->err, 2 * n * sizeof *v, "pairs");
    if (f) {
        for (size_t i = 0; i < n; i++)
            v[i] = pairs[i]->sum.median;
        double median = as_median(v, n);
        as_fact_number(f, median, n == 1 ? as_cell_interval(pairs[0]) : interval_of_median(pairs, v, v + n, n));
        const char *op = as_cell_axis(pairs[0], "op"), *allocator = as_cell_axis(pairs[0], "allocator");
        snprintf(note, sizeof note, "median of %zu pair%s%s%.16s%s%.40s", n, n == 1 ? "" : "s", op[0] ? ", by " : "",
                 op, allocator[0] ? ", " : "", allocator);
        as_fact_say(f, "One-way latency of a cache line between %s: %s", kind->is_within_device ? units : kind->ends,
                    as_fact_noted_text(f, "", note, value, sizeof value));
        for (size_t i = 0, step = (n + AS_EVIDENCE_MAX - 1) / AS_EVIDENCE_MAX; i < n; i += step)
            as_fact_evidence(f, pairs[i]);
    }
    free(v);
}

/* Pairs in one kind of memory are comparable: pinned memory between a core and the device if measured, else the memory
 * of the first cell. */
static const char *memory_of(const struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                             const struct pair_kind *kind)
{
    const char *pinned = as_role_allocator(c->device, AS_ROLE_PINNED), *first = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *own = as_cell_axis(cells[i], "allocator");
        if (!as_cell_is(cells[i], "peer", kind->peer) || !as_cell_is(cells[i], "op", kind->op))
            continue;
        if (strcmp(kind->peer, "device") == 0 && pinned[0] && strcmp(own, pinned) == 0)
            return own;
        first = first ? first : own;
    }
    return first;
}

static void core_to_core(struct as_rule_context *c, const struct as_cell **cells, size_t n,
                         const struct pair_kind *kind)
{
    const char *memory = memory_of(c, cells, n, kind);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *cell = cells[i];
        if (strcmp(as_cell_axis(cell, "peer"), kind->peer) != 0 || as_cell_axis(cell, "from")[0] == '\0' ||
            !as_cell_is(cell, "op", kind->op) || strcmp(as_cell_axis(cell, "allocator"), memory) != 0)
            continue;
        cells[i] = cells[kept]; /* swaps, so that other kinds of peers still find their cells */
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
    if (kept > 1 && (kind->end || kind->is_within_device)) {
        c2c_add_pair(c, cells, kept, near, kind, AS_FACT_C2C_NEAREST, "nearest");
        struct as_fact *f = c2c_add_pair(c, cells, kept, far, kind, AS_FACT_C2C_FARTHEST, "farthest");
        if (f)
            c2c_add_act(f, near, far, kind);
    }
}

static void derive_core_to_core(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "c2c", &cells);
    for (size_t i = 0; i < sizeof pair_kinds / sizeof *pair_kinds; i++)
        core_to_core(c, cells, n, &pair_kinds[i]);
    free(cells);
}

const struct as_rule as_rules_c2c[] = {
    {"core-to-core latency", derive_core_to_core,
     "one-way transfer time of a cache line between two cores, over all pairs measured with one operation in one "
     "memory: median; fastest and slowest pair where some pair differs from it by their intervals",
     "unmeasured pairs outside that range"},
    {0},
};
