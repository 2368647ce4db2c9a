/* The loaded-latency curve: unloaded latency, latency at peak bandwidth, and where it doubles. */
#include "facts/rule.h"
#include "model/metrics.h"

#include <stdio.h>
#include <stdlib.h>

enum { POINTS_MIN = 3, CURVES_MAX = 32 };
static const double TWICE = 2, NEARLY_ALL = 0.9;

/* A loaded cell: latency relative to the unloaded one, and achieved bandwidth. */
struct point {
    const struct as_cell *cell;
    double times, gbs;
    struct as_interval times_ci, gbs_ci;
};
/* In order of rising load, starting with the unloaded cell. */
struct loads {
    const struct as_cell *idle;
    struct point *at;
    size_t n, peak; /* peak: the highest bandwidth */
};

static bool is_idle(const struct as_cell *cell)
{
    return as_cell_is(cell, "op", "none");
}

/* Larger size first, then more threads. */
static bool surpasses(const struct as_cell *a, const struct as_cell *b)
{
    if (as_cell_size(a) != as_cell_size(b))
        return as_cell_is_larger(a, b);
    return as_cell_axis_number(a, "threads") > as_cell_axis_number(b, "threads");
}

static const struct as_cell *find_idle(const struct as_cell *const *cells, size_t n, const struct as_cell *loaded)
{
    for (size_t i = 0; i < n; i++)
        if (is_idle(cells[i]) && as_cells_same(cells[i], loaded, "size") &&
            as_cells_same(cells[i], loaded, "allocator"))
            return cells[i];
    return NULL;
}

static int by_falling_delay(const void *a, const void *b)
{
    const double x = as_cell_axis_number(*(const struct as_cell *const *)a, "delay");
    const double y = as_cell_axis_number(*(const struct as_cell *const *)b, "delay");
    return (x < y) - (x > y);
}

/* Cells without a bandwidth are skipped. */
static void fill_points(struct loads *l, const struct as_cell *const *cells, size_t n)
{
    l->at[0] = (struct point){.cell = l->idle, .times = 1, .times_ci = {1, 1}};
    l->n = 1;
    for (size_t i = 0; i < n; i++) {
        struct as_metric_value v;
        if (!as_cell_metric(cells[i], "bandwidth", &v) || !(v.value > 0))
            continue;
        const bool known = isfinite(v.ci.lo) && isfinite(v.ci.hi);
        l->at[l->n] = (struct point){.cell = cells[i],
                                     .times = cells[i]->sum.median / l->idle->sum.median,
                                     .gbs = v.value,
                                     .times_ci = as_cells_ratio(cells[i], l->idle),
                                     .gbs_ci = known ? v.ci : (struct as_interval){v.value, v.value}};
        if (l->peak == 0 || v.value > l->at[l->peak].gbs)
            l->peak = l->n;
        l->n++;
    }
}

static const char *bandwidth_text(double gbs, char *out, size_t size)
{
    return as_fact_value_text(gbs, AS_NO_INTERVAL, "GB/s", out, size);
}

/* "read, cuMemAlloc" */
static const char *curve_text(const struct point *p, char *out, size_t size)
{
    snprintf(out, size, "%.24s, %.48s", as_cell_axis(p->cell, "op"), as_cell_axis(p->cell, "allocator"));
    return out;
}

static void loaded_latency_add_evidence(struct as_fact *f, const struct loads *l)
{
    for (size_t i = 0; i < l->n; i++)
        as_fact_evidence(f, l->at[i].cell);
}

static void loaded_latency_add_peak(struct as_rule_context *c, const struct loads *l)
{
    const struct point *p = &l->at[l->peak];
    char gbs[48], times[200], note[128];
    struct as_fact *f = as_fact_add(c, AS_FACT_LOADED_PEAK, p->cell, NULL);
    if (!f)
        return;
    as_fact_number(f, p->cell->sum.median, as_cell_interval(p->cell));
    const bool decided = as_verdict_above(p->times_ci, 1) != AS_UNDECIDED;
    const bool tied =
        !decided && as_number_form(&(struct as_number){.value = p->times, .ci = p->times_ci, .unit = "x"}) !=
                        AS_NUMBER_INCONCLUSIVE;
    f->verdict = decided ? AS_SUPPORTED : AS_UNDECIDED;
    as_fact_say(f, "At the highest bandwidth (%s, delay %.0f) latency is {value}%s%s",
                bandwidth_text(p->gbs, gbs, sizeof gbs), as_cell_axis_number(p->cell, "delay"),
                tied ? ", statistically tied with the unloaded one: " : ", ",
                as_noted_text(p->times, p->times_ci, "x", tied ? "" : " the unloaded latency",
                              curve_text(p, note, sizeof note), times, sizeof times));
    as_fact_evidence(f, l->idle);
    as_fact_evidence(f, p->cell);
}

/* shares: of peak bandwidth. An interval over nearly all of it decides nothing. */
static void say_doubling(struct as_fact *f, const struct point *at, double gbs, double peak, struct as_interval shares,
                         bool sure)
{
    char share[300], text[48], of[48], curve[96], note[200];
    curve_text(at, curve, sizeof curve);
    if (shares.hi - shares.lo >= NEARLY_ALL) {
        f->verdict = AS_UNDECIDED;
        as_fact_say(f, "Whether latency doubles below peak bandwidth is inconclusive: the intervals are too wide (%s)",
                    curve);
        return;
    }
    as_fact_number(f, 100 * gbs / peak, (struct as_interval){100 * shares.lo, 100 * shares.hi});
    f->verdict = sure ? AS_SUPPORTED : AS_UNDECIDED;
    snprintf(note, sizeof note, "%s of %s; %s", bandwidth_text(gbs, text, sizeof text),
             bandwidth_text(peak, of, sizeof of), curve);
    as_fact_say(f, "Latency %s at %s", sure ? "doubles" : "may double",
                as_fact_noted_text(f, " of peak bandwidth", note, share, sizeof share));
}

/* Interpolated between two cells. The interval reaches from the last cell with surely less than twice the latency to
 * the first with surely more, since the curve between cells is unknown. */
static void add_doubling(struct as_rule_context *c, const struct loads *l)
{
    const double peak = l->at[l->peak].gbs;
    size_t up = 1, below = 0, above;
    while (up < l->n && l->at[up].times < TWICE)
        up++;
    if (up >= l->n)
        return;
    while (below + 1 < up && l->at[below + 1].times_ci.hi < TWICE)
        below++;
    for (above = up; above < l->n && !(l->at[above].times_ci.lo > TWICE);)
        above++;
    const struct point *a = &l->at[up - 1], *b = &l->at[up];
    const double gbs = a->gbs + (TWICE - a->times) / (b->times - a->times) * (b->gbs - a->gbs);
    const double lo = below ? l->at[below].gbs_ci.lo : 0, hi = above < l->n ? l->at[above].gbs_ci.hi : peak;
    const struct as_interval shares = {fmin(lo, gbs) / peak, fmin(1, fmax(hi, gbs) / peak)};
    struct as_fact *f = as_fact_add(c, AS_FACT_LOADED_DOUBLES, b->cell, NULL);
    if (!f)
        return;
    say_doubling(f, b, gbs, peak, shares, above < l->n);
    loaded_latency_add_evidence(f, l);
}

/* of: one cell of the curve; alike, points: space for n cells and one more */
static void add_curve(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, const struct as_cell *of,
                      const struct as_cell **alike, struct point *points)
{
    struct loads l = {.idle = find_idle(cells, n, of), .at = points};
    size_t alike_n = 0;
    if (!l.idle)
        return;
    for (size_t i = 0; i < n; i++)
        if (as_cells_alike(cells[i], of, "delay"))
            alike[alike_n++] = cells[i];
    qsort(alike, alike_n, sizeof *alike, by_falling_delay);
    fill_points(&l, alike, alike_n);
    if (l.n > 1)
        loaded_latency_add_peak(c, &l);
    if (l.n > POINTS_MIN)
        add_doubling(c, &l);
}

/* For each operation and allocator, a cell in main memory that no other cell surpasses. */
static size_t loaded_latency_choose(const struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                                    const struct as_cell *chosen[CURVES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (!as_cell_holds_memory(c, cells[i]))
            continue;
        while (k < count &&
               (!as_cells_same(chosen[k], cells[i], "op") || !as_cells_same(chosen[k], cells[i], "allocator")))
            k++;
        if (k == CURVES_MAX)
            continue;
        if (k == count || surpasses(cells[i], chosen[k]))
            chosen[k] = cells[i];
        count += k == count;
    }
    return count;
}

static void add_unloaded(struct as_rule_context *c, const struct as_cell *cell)
{
    char ns[200], size[48], note[128];
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_LOADED_UNLOADED, cell, NULL);
    if (!f)
        return;
    snprintf(note, sizeof note, "%.48s, random order over %s", as_cell_axis(cell, "allocator"),
             as_fact_value_text(as_cell_size(cell), AS_NO_INTERVAL, "B", size, sizeof size));
    as_fact_say(f, "Unloaded, a dependent load takes %s", as_fact_noted_text(f, "", note, ns, sizeof ns));
}

static void loaded_latency_derive(struct as_rule_context *c)
{
    const struct as_cell **cells, *chosen[CURVES_MAX];
    const size_t n = as_cells_of(c, "loaded_latency", &cells), chosen_n = loaded_latency_choose(c, cells, n, chosen);
    const struct as_cell **alike = calloc(n + 1, sizeof *alike);
    struct point *points = calloc(n + 1, sizeof *points);
    if (!alike || !points)
        c->status = as_nomem(c->err, (n + 1) * sizeof *points, "a loaded-latency curve");
    for (size_t i = 0; alike && points && i < chosen_n; i++) {
        if (is_idle(chosen[i]))
            add_unloaded(c, chosen[i]);
        else
            add_curve(c, cells, n, chosen[i], alike, points);
    }
    free(points);
    free(alike);
    free(cells);
}

const struct as_rule as_rules_loaded_latency[] = {
    {"loaded latency", loaded_latency_derive,
     "latency over the bandwidth that other threads achieve, at the largest size in main memory; the bandwidth at "
     "which latency is twice the unloaded one, interpolated between neighbouring measurements",
     "another tool's curve (such as Intel MLC's) that doubles outside the interval"},
    {0},
};
