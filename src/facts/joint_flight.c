/* Rate times latency of an operation: what keeps a unit busy, by Little's law. */
#include "base/text.h"
#include "facts/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct operations {
    const struct as_cell **rates, **waits;
    size_t rates_n, waits_n;
};

/* Threads that have one chain each fill a unit as Little's law says, or not: the farthest that a cell with one chain is
 * from it, 0 where there is none; *worst is that cell. */
static double farthest(const struct operations *o, const char *op, double wait, double rate, double warp,
                       const struct as_cell **worst)
{
    double most = 0;
    *worst = NULL;
    for (size_t i = 0; i < o->rates_n; i++) {
        const struct as_cell *cell = o->rates[i];
        const double warps = as_cell_axis_number(cell, "warps");
        if (strcmp(as_cell_axis(cell, "op"), op) != 0 || as_cell_axis_number(cell, "ilp") != 1 || !(warps > 0))
            continue;
        const double far = fabs(cell->sum.median / fmin(rate, warps * warp / wait) - 1);
        if (!*worst || far > most) {
            most = far;
            *worst = cell;
        }
    }
    return most;
}

static void add_flight(struct as_rule_context *c, const struct operations *o, const char *op)
{
    static const double AGREES = 0.1;
    const struct as_cell *rate = as_cells_best(o->rates, o->rates_n, "op", op),
                         *wait = as_cells_best(o->waits, o->waits_n, "op", op);
    const double warp = as_warp_of(c);
    if (!rate || !wait || !isfinite(warp))
        return;
    struct as_fact *f = as_fact_add(c, "operations", "warps", "alu.flight.%s", op);
    if (!f)
        return;
    const struct as_interval r = as_cell_interval(rate), w = as_cell_interval(wait);
    const struct as_cell *worst;
    const double flight = rate->sum.median * wait->sum.median;
    const double far = farthest(o, op, wait->sum.median, rate->sum.median, warp, &worst);
    char value[96], curve[96] = "";
    as_fact_number(f, flight / warp, (struct as_interval){r.lo * w.lo / warp, r.hi * w.hi / warp});
    as_fact_evidence(f, rate);
    as_fact_evidence(f, wait);
    if (worst) {
        struct as_buf text = AS_BUF_INIT;
        as_buf_printf(&text, "; what was measured with one chain is within %.1f%% of that", 100 * far);
        as_copy_text(curve, sizeof curve, as_buf_get(&text));
        as_buf_finish(&text);
        as_fact_evidence(f, worst);
    }
    f->verdict = far > AGREES ? AS_REFUTED : AS_SUPPORTED;
    as_fact_say(f, "By Little's law %s of one chain per thread keep a unit busy with %s, %.0f in flight%s",
                as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value), op, flight, curve);
}

static void derive_flight(struct as_rule_context *c)
{
    struct operations o = {0};
    o.rates_n = as_cells_of(c, "alu", &o.rates);
    size_t n = as_cells_of(c, "alu_latency", &o.waits);
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(o.waits[i], "width", "scalar")) /* elsewhere than on a CPU there is no other */
            o.waits[o.waits_n++] = o.waits[i];
    add_flight(c, &o, "ffma32");
    free(o.rates);
    free(o.waits);
}

const struct as_rule as_rules_joint_flight[] = {
    {"units at work", derive_flight,
     "the best valid rate of a multiply-add times its latency: warps in flight (Little's law)",
     "a cell with one chain per thread that is more than 10% off the law"},
    {0},
};
