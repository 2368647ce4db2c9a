/* Cache eviction: where it begins, what the largest touch costs, and after how many passes it is over. */
#include "facts/rule.h"

#include <stdio.h>

/* A pass that is slower by no more is not called displaced: code and data of the measurement itself take as much. */
static const double CLEARLY = 1.02;

/* "after another core read 64 MiB" */
static const char *after(const struct as_rule_context *c, const struct as_cell *cell, double bytes, char *out,
                         size_t size)
{
    char touched[32];
    const bool core = c->info && (c->info->capabilities & AS_CAP_HOST_KERNELS);
    as_fact_value_text(bytes, AS_NO_INTERVAL, "B", touched, sizeof touched);
    snprintf(out, size, "after %s %s %s", core ? "another core" : "the device",
             as_cell_is(cell, "op", "write") ? "wrote" : "read", touched);
    return out;
}

static const char *pass_of(const struct as_cell *cell, char *out, size_t size)
{
    char buffer[32];
    as_fact_value_text(as_cell_size(cell), AS_NO_INTERVAL, "B", buffer, sizeof buffer);
    snprintf(out, size, "%s pass over %s", as_cell_axis(cell, "pattern"), buffer);
    return out;
}

static struct as_fact *add(struct as_rule_context *c, const struct as_cell *cell, const char *unit, const char *what)
{
    return as_fact_add(c, "shared cache", unit, "residual.%s.%s.%s.%s.%.0f", what, as_cell_axis(cell, "op"),
                       as_cell_axis(cell, "pattern"), as_cell_axis(cell, "allocator"), as_cell_size(cell));
}

static void add_onset(struct as_rule_context *c, const struct as_curve *v)
{
    char text[96], pass[64], range[64];
    size_t i = 0;
    while (i < v->n && !(v->ci[i].lo > CLEARLY))
        i++;
    struct as_fact *f = add(c, v->cells[0], "B", "begins");
    if (!f)
        return;
    as_curve_evidence(f, v, i > 0 ? i - 1 : 0, i < v->n ? i : v->n - 1);
    if (i == v->n) {
        f->verdict = AS_UNDECIDED;
        as_fact_say(f, "The first %s is not clearly slower %s (the maximum tested)",
                    pass_of(v->cells[0], pass, sizeof pass), after(c, v->cells[0], v->x[v->n - 1], text, sizeof text));
        return;
    }
    f->verdict = AS_SUPPORTED;
    as_fact_number(f, v->x[i], (struct as_interval){i > 0 ? v->x[i - 1] : v->x[i], v->x[i]});
    as_fact_range_text(f->ci, "B", range, sizeof range);
    as_fact_say(f, "The first %s slows down %s or less (onset at %s)", pass_of(v->cells[0], pass, sizeof pass),
                after(c, v->cells[0], v->x[i], text, sizeof text), range);
}

static void add_cost(struct as_rule_context *c, const struct as_curve *v)
{
    const struct as_cell *last = v->cells[v->n - 1];
    char text[96], pass[64], ratio[96];
    struct as_fact *f = add(c, last, "x", "slowdown");
    if (!f)
        return;
    as_fact_number(f, v->y[v->n - 1], v->ci[v->n - 1]);
    f->verdict = as_verdict_above(f->ci, 1);
    if (f->verdict == AS_REFUTED)
        f->verdict = AS_UNDECIDED;
    as_fact_evidence(f, last);
    as_fact_say(f, "The first %s takes %s as long %s as after the wait alone", pass_of(last, pass, sizeof pass),
                as_fact_value_text(f->value, f->ci, "x", ratio, sizeof ratio),
                after(c, last, v->x[v->n - 1], text, sizeof text));
}

/* The first pass that is not clearly slower any more. */
static void add_recovery(struct as_rule_context *c, const struct as_curve *v)
{
    char text[96], pass[64];
    size_t i = 0;
    while (i < v->n && v->ci[i].lo > CLEARLY)
        i++;
    if (i == 0 || i == v->n) /* nothing to recover from, or not within the passes that were timed */
        return;
    struct as_fact *f = add(c, v->cells[i], "passes", "recovers");
    if (!f)
        return;
    as_fact_number(f, v->x[i], AS_NO_INTERVAL);
    f->verdict = AS_SUPPORTED;
    as_curve_evidence(f, v, 0, i);
    as_fact_say(f, "Pass %.0f of the repeated %s is the first that is not clearly slower %s", v->x[i],
                pass_of(v->cells[i], pass, sizeof pass),
                after(c, v->cells[i], as_cell_axis_number(v->cells[i], "touched"), text, sizeof text));
}

static void derive(struct as_rule_context *c)
{
    static const struct {
        const char *axis;
        void (*add)(struct as_rule_context *c, const struct as_curve *v);
    } facts[] = {{"touched", add_onset}, {"touched", add_cost}, {"pass", add_recovery}};
    for (size_t k = 0; k < sizeof facts / sizeof *facts; k++) {
        struct as_curve *curves;
        size_t n;
        as_curves_make(c, "residual", facts[k].axis, &curves, &n);
        for (size_t i = 0; i < n; i++)
            if (curves[i].n > 1 && as_cell_is(curves[i].cells[0], "pass", "1") &&
                as_cell_is(curves[i].cells[0], "delay", "0"))
                facts[k].add(c, &curves[i]);
        as_curves_free(curves, n);
    }
}

const struct as_rule as_rules_residual[] = {
    {"cache eviction", derive,
     "time of a pass over a CPU buffer after a device or another core touched memory, over that of the control in the "
     "same matched block; a pass is clearly slower if the interval lies above 1.02",
     "a ratio that changes when the order of the arms is reversed, or an empty touch whose ratio is not 1"},
    {0},
};
