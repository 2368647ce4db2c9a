/* Cache eviction: onset, cost, what one rewarming pass restores, and how long the eviction persists. */
#include "facts/rule.h"
#include "model/metrics.h"
#include "stats/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Slowdowns up to this do not count as eviction: the measurement's own code and data cause as much. */
static const double CLEARLY = 1.02;

static bool is_core(const struct as_rule_context *c)
{
    return c->info && (c->info->capabilities & AS_CAP_HOST_KERNELS) != 0;
}

/* "after another core read 64 MiB", "after the device read 64 MiB (cuMemAlloc)" */
static const char *residual_after(const struct as_rule_context *c, const struct as_cell *cell, char *out, size_t size)
{
    char touched[32];
    const char *other = as_cell_is(cell, "side", "device") ? "the CPU" : is_core(c) ? "another core" : "the device";
    as_fact_value_text(as_cell_axis_number(cell, "touched"), AS_NO_INTERVAL, "B", touched, sizeof touched);
    const int n =
        snprintf(out, size, "after %s %s %s", other, as_cell_is(cell, "op", "write") ? "wrote" : "read", touched);
    if (!is_core(c) && n > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, " (%s)", as_cell_axis(cell, "allocator"));
    return out;
}

/* "the device's first linear pass over 16 MiB", with the stride if lines are skipped */
static const char *pass_of(const struct as_cell *cell, const char *which, char *out, size_t size)
{
    char bytes[32], step[32], stride[64] = "";
    as_fact_value_text(as_cell_size(cell), AS_NO_INTERVAL, "B", bytes, sizeof bytes);
    if (as_cell_axis_number(cell, "stride") > 64) {
        as_fact_value_text(as_cell_axis_number(cell, "stride"), AS_NO_INTERVAL, "B", step, sizeof step);
        snprintf(stride, sizeof stride, " with a stride of %s", step);
    }
    snprintf(out, size, "the %s %s %s pass over %s%s", as_cell_is(cell, "side", "device") ? "device's" : "CPU's", which,
             as_cell_axis(cell, "pattern"), bytes, stride);
    return out;
}

/* touched: its size for the fact's id; "" for none */
static struct as_fact *residual_add(struct as_rule_context *c, enum as_relation relation, const struct as_cell *cell,
                                    const char *touched)
{
    char size[32], stride[32];
    snprintf(size, sizeof size, "%.0f", as_cell_size(cell));
    snprintf(stride, sizeof stride, "%.0f", as_cell_axis_number(cell, "stride"));
    return as_fact_add(c, relation, cell, AS_BY(.touched = touched, .size = size, .stride = stride));
}

static bool is_slower(struct as_interval ci)
{
    return ci.lo > CLEARLY;
}

static void say_no_onset(struct as_rule_context *c, struct as_fact *f, const struct as_curve *v)
{
    char text[96], pass[96];
    bool none = true;
    for (size_t i = 0; i < v->n; i++)
        none = none && v->ci[i].hi <= CLEARLY;
    f->verdict = none ? AS_SUPPORTED : AS_UNDECIDED;
    as_fact_say(f, "Up to the maximum tested, %s is %s slower %s", pass_of(v->cells[0], "first", pass, sizeof pass),
                none ? "at most 2%" : "not clearly", residual_after(c, v->cells[v->n - 1], text, sizeof text));
}

static void add_onset(struct as_rule_context *c, const struct as_curve *v)
{
    char text[96], pass[96], range[64];
    size_t i = 0;
    while (i < v->n && !is_slower(v->ci[i]))
        i++;
    struct as_fact *f = residual_add(c, AS_FACT_RESIDUAL_BEGINS, v->cells[0], "");
    if (!f)
        return;
    as_curve_evidence(f, v, i > 0 && i < v->n ? i - 1 : 0, i < v->n ? i : v->n - 1);
    if (i == v->n) {
        say_no_onset(c, f, v);
        return;
    }
    /* the last footprint before it after which the pass is surely not slower */
    size_t clean = i;
    while (clean > 0 && v->ci[clean - 1].hi > CLEARLY)
        clean--;
    f->verdict = AS_SUPPORTED;
    for (size_t k = i; k < v->n; k++)
        f->verdict = v->ci[k].hi <= CLEARLY ? AS_UNDECIDED : f->verdict; /* a larger footprint evicts nothing */
    as_fact_number(f, v->x[i], (struct as_interval){clean > 0 ? v->x[clean - 1] : 0, v->x[i]});
    as_fact_range_text(f->ci, "B", range, sizeof range);
    as_fact_say(f, "Eviction begins at %s: %s slows down %s or less", range,
                pass_of(v->cells[i], "first", pass, sizeof pass), residual_after(c, v->cells[i], text, sizeof text));
}

/* The same pass after loads within one page. */
static const struct as_cell *residual_control(struct as_rule_context *c, const struct as_cell *cell)
{
    static const char *const same[] = {"side", "pattern", "size", "stride", "pass"};
    const struct as_cell **cells, *found = NULL;
    const size_t n = as_cells_of(c, "residual", &cells);
    for (size_t i = 0; i < n && !found; i++) {
        bool alike = as_cell_axis_number(cells[i], "touched") == 0 && as_cell_is(cells[i], "control", "launch");
        for (size_t k = 0; k < sizeof same / sizeof *same; k++)
            alike = alike && as_cells_same(cells[i], cell, same[k]);
        found = alike ? cells[i] : NULL;
    }
    free(cells);
    return found;
}

static void add_one_cost(struct as_rule_context *c, const struct as_curve *v, size_t i, const char *touched)
{
    char text[96], pass[96];
    struct as_fact *f = residual_add(c, AS_FACT_RESIDUAL_SLOWDOWN, v->cells[i], touched);
    if (!f)
        return;
    as_fact_number(f, v->y[i], v->ci[i]);
    const bool includes_one = f->ci.lo <= 1 && f->ci.hi >= 1;
    f->verdict = !includes_one || as_verdict_control(f->ci) == AS_SUPPORTED ? AS_SUPPORTED : AS_UNDECIDED;
    as_fact_evidence(f, v->cells[i]);
    char capital[96];
    snprintf(capital, sizeof capital, "T%s", pass_of(v->cells[i], "first", pass, sizeof pass) + 1);
    as_fact_say(f, "%s takes {value} as long %s as after the control%s", capital,
                residual_after(c, v->cells[i], text, sizeof text),
                includes_one ? "; the interval includes no effect" : "");
    as_fact_gain(f, f->value, f->ci);
    const struct as_cell *control = residual_control(c, v->cells[i]);
    if (control)
        as_fact_gain_beside(f, as_cell_interval(control));
    if (as_fact_side(f) > 0)
        as_fact_act(f, "Finish with cached data before %s streams through memory: %s takes {gain} as long %s",
                    is_core(c) ? "another core" : "the other side", pass, text);
}

/* The sizes of the published study have their own facts. */
static const struct {
    double touched;
    const char *name;
} published[] = {{64 << 20, "64mib"}, {512 << 20, "512mib"}};
enum { PUBLISHED = sizeof published / sizeof *published };

static void add_costs(struct as_rule_context *c, const struct as_curve *v)
{
    for (size_t k = 0; k < PUBLISHED; k++)
        for (size_t i = 0; i < v->n; i++)
            if (v->x[i] == published[k].touched)
                add_one_cost(c, v, i, published[k].name);
    bool is_published = false;
    for (size_t k = 0; k < PUBLISHED; k++)
        is_published = is_published || v->x[v->n - 1] == published[k].touched;
    if (!is_published)
        add_one_cost(c, v, v->n - 1, "");
}

static const char *published_size(const struct as_cell *cell)
{
    for (size_t k = 0; k < PUBLISHED; k++)
        if (as_cell_axis_number(cell, "touched") == published[k].touched)
            return published[k].name;
    return "";
}

/* Cells with the usual control that differ from the defaults only in the axis of the curve. */
static bool residual_is_plain(const struct as_cell *cell, const char *axis)
{
    static const struct {
        const char *axis, *value;
    } usual[] = {{"pass", "1"}, {"delay", "0"}, {"stride", "64"}};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcmp(usual[i].axis, axis) != 0 && !as_cell_is(cell, usual[i].axis, usual[i].value))
            return false;
    return as_cell_is(cell, "control", "launch");
}

/* Without a footprint the ratio must be 1; then there is no fact. */
static void add_controls(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "residual", &cells);
    for (size_t i = 0; i < n; i++) {
        char pass[96];
        const enum as_fact_verdict verdict = as_verdict_control(as_cell_interval(cells[i]));
        if (as_cell_axis_number(cells[i], "touched") > 0 || !residual_is_plain(cells[i], "") || verdict == AS_SUPPORTED)
            continue;
        struct as_fact *f = residual_add(c, AS_FACT_RESIDUAL_CONTROL, cells[i], "");
        if (!f)
            break;
        as_fact_number(f, cells[i]->sum.median, as_cell_interval(cells[i]));
        f->verdict = verdict;
        as_fact_evidence(f, cells[i]);
        as_fact_say(f, "After loads within one page, %s takes {value} as long as after the control (expected: 1)",
                    pass_of(cells[i], "first", pass, sizeof pass));
    }
    free(cells);
}

/* The gain of the second pass over the first, and the cost of the first. */
static void add_rewarm(struct as_rule_context *c, const struct as_curve *v)
{
    char text[96], pass[96], cost[64];
    struct as_metric_value first;
    if (v->x[0] != 1 || v->x[1] != 2 || !is_slower(v->ci[0]) || !as_cell_metric(v->cells[0], "after_touch", &first))
        return;
    struct as_fact *f = residual_add(c, AS_FACT_RESIDUAL_REWARM, v->cells[1], published_size(v->cells[1]));
    if (!f)
        return;
    const struct as_interval r = as_ratio_interval(v->y[1], v->ci[1], v->y[0], v->ci[0]);
    as_fact_number(f, 100 * (1 - v->y[1] / v->y[0]), (struct as_interval){100 * (1 - r.hi), 100 * (1 - r.lo)});
    f->verdict = as_verdict_above(f->ci, 0);
    as_curve_evidence(f, v, 0, 1);
    const double lines = as_cell_size(v->cells[0]) / as_cell_axis_number(v->cells[0], "stride");
    as_fact_value_text(lines * first.value, AS_NO_INTERVAL, "ns", cost, sizeof cost);
    as_fact_say(f, "One pass of rewarming, which takes %s, shortens %s by {value} %s, each relative to its control",
                cost, pass_of(v->cells[1], "second", pass, sizeof pass),
                residual_after(c, v->cells[1], text, sizeof text));
}

/* The first pass that is not clearly slower. */
static void add_recovery(struct as_rule_context *c, const struct as_curve *v)
{
    char text[96], pass[96];
    size_t i = 0;
    while (i < v->n && is_slower(v->ci[i]))
        i++;
    if (i == 0 || i == v->n) /* no slowdown, or no recovery within the timed passes */
        return;
    struct as_fact *f = residual_add(c, AS_FACT_RESIDUAL_RECOVERS, v->cells[i], "");
    if (!f)
        return;
    as_fact_number(f, v->x[i], AS_NO_INTERVAL);
    f->verdict = v->ci[i].hi <= CLEARLY ? AS_SUPPORTED : AS_UNDECIDED;
    as_curve_evidence(f, v, 0, i);
    as_fact_say(f, "The slowdown ends at pass %.0f %s: %s", v->x[i], residual_after(c, v->cells[i], text, sizeof text),
                pass_of(v->cells[i], "repeated", pass, sizeof pass));
}

/* The curve's cell without a delay; NULL if it was not measured. */
static const struct as_cell *without_delay(struct as_rule_context *c, const struct as_cell *like)
{
    const struct as_cell **cells, *found = NULL;
    const size_t n = as_cells_of(c, "residual", &cells);
    for (size_t i = 0; i < n && !found; i++)
        if (as_cell_is(cells[i], "delay", "0") && as_cells_alike(cells[i], like, "delay"))
            found = cells[i];
    free(cells);
    return found;
}

/* The first delay after which at most half of the slowdown remains. */
static void add_half_life(struct as_rule_context *c, const struct as_curve *v)
{
    char text[96], pass[96], range[64];
    const struct as_cell *start = without_delay(c, v->cells[0]);
    if (!start || !is_slower(as_cell_interval(start)))
        return;
    const double half = (start->sum.median - 1) / 2;
    size_t i = 0;
    while (i < v->n && !(v->ci[i].hi - 1 <= half))
        i++;
    const size_t last = i < v->n ? i : v->n - 1;
    struct as_fact *f = residual_add(c, AS_FACT_RESIDUAL_HALF_LIFE, start, "");
    if (!f)
        return;
    as_fact_evidence(f, start);
    as_curve_evidence(f, v, 0, last);
    pass_of(start, "first", pass, sizeof pass);
    residual_after(c, start, text, sizeof text);
    f->verdict = i < v->n || v->ci[last].lo - 1 > half ? AS_SUPPORTED : AS_UNDECIDED;
    if (i == v->n) {
        as_fact_value_text(1e3 * v->x[last], AS_NO_INTERVAL, "ns", range, sizeof range);
        as_fact_say(f, "Waiting %s does not %shalve the slowdown of %s %s", range,
                    f->verdict == AS_SUPPORTED ? "" : "clearly ", pass, text);
        return;
    }
    as_fact_number(f, 1e3 * v->x[i], (struct as_interval){i > 0 ? 1e3 * v->x[i - 1] : 0, 1e3 * v->x[i]});
    as_fact_range_text(f->ci, "ns", range, sizeof range);
    as_fact_say(f, "The slowdown of %s %s halves after %s", pass, text, range);
}

/* The stride whose sets show eviction most. */
static void add_stride(struct as_rule_context *c, const struct as_curve *v)
{
    char text[96], ratio[96], stride[32];
    size_t best = 0;
    for (size_t i = 1; i < v->n; i++)
        best = v->y[i] > v->y[best] ? i : best;
    if (v->n < 3 || !is_slower(v->ci[best]))
        return;
    struct as_fact *f = residual_add(c, AS_FACT_RESIDUAL_STRIDE, v->cells[best], "");
    if (!f)
        return;
    as_fact_number(f, v->x[best], AS_NO_INTERVAL);
    f->verdict = AS_SUPPORTED;
    for (size_t i = 0; i < v->n; i++)
        f->verdict = i != best && v->ci[i].hi >= v->ci[best].lo ? AS_UNDECIDED : f->verdict;
    as_curve_evidence(f, v, 0, v->n - 1);
    as_fact_value_text(v->x[best], AS_NO_INTERVAL, "B", stride, sizeof stride);
    as_fact_say(f, "A pass with a stride of %s shows eviction most: %s as long %s", stride,
                as_fact_value_text(v->y[best], v->ci[best], "x", ratio, sizeof ratio),
                residual_after(c, v->cells[best], text, sizeof text));
}

static void residual_derive(struct as_rule_context *c)
{
    static const struct {
        const char *axis;
        size_t least; /* two footprints beside a full curve have no onset of their own */
        void (*add)(struct as_rule_context *c, const struct as_curve *v);
    } facts[] = {{"touched", 3, add_onset}, {"touched", 1, add_costs},   {"pass", 2, add_rewarm},
                 {"pass", 2, add_recovery}, {"delay", 2, add_half_life}, {"stride", 3, add_stride}};
    add_controls(c);
    for (size_t k = 0; k < sizeof facts / sizeof *facts; k++) {
        struct as_curve *curves;
        size_t n;
        as_curves_make(c, "residual", facts[k].axis, &curves, &n);
        for (size_t i = 0; i < n; i++)
            if (curves[i].n >= facts[k].least && residual_is_plain(curves[i].cells[0], facts[k].axis))
                facts[k].add(c, &curves[i]);
        as_curves_free(curves, n);
    }
}

const struct as_rule as_rules_residual[] = {
    {"cache eviction", residual_derive,
     "time of a pass over a buffer after the other side touched memory of its own, over that of the control in the "
     "same "
     "matched block; a pass is clearly slower if the interval lies above 1.02",
     "a ratio that changes when the order of the arms is reversed, or a touch within one page whose ratio is not 1"},
    {0},
};
