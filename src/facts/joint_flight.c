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

/* Threads that have one chain each fill a unit as Little's law says, or not. */
struct law {
    const struct as_cell *worst; /* the farthest from it; NULL: no cell has one chain */
    double far;
    size_t agree, differ, n; /* cells: all of the interval within the bound, none of it, all cells */
};

/* Registers that share a port, or loops that outgrow the instruction cache, slow a chain down. */
static bool is_usual(const struct as_cell *cell)
{
    return !(as_cell_axis_number(cell, "operands") > 0) && !(as_cell_axis_number(cell, "steps") > 0);
}

static struct law joint_flight_compare(const struct operations *o, const struct as_cell *rate,
                                       const struct as_cell *wait, double warp)
{
    static const double AGREES = 0.1;
    struct law law = {0};
    const char *op = as_cell_axis(rate, "op");
    const struct as_interval r = as_cell_interval(rate), w = as_cell_interval(wait);
    for (size_t i = 0; i < o->rates_n; i++) {
        const struct as_cell *cell = o->rates[i];
        const double warps = as_cell_axis_number(cell, "warps");
        if (strcmp(as_cell_axis(cell, "op"), op) != 0 || as_cell_axis_number(cell, "ilp") != 1 || !(warps > 0) ||
            !is_usual(cell))
            continue;
        const double filled = warps * warp, by_law = fmin(rate->sum.median, filled / wait->sum.median);
        const struct as_interval bounds = {fmin(r.lo, filled / w.hi), fmin(r.hi, filled / w.lo)};
        const struct as_interval ratio = as_ratio_interval(cell->sum.median, as_cell_interval(cell), by_law, bounds);
        const double far = fabs(cell->sum.median / by_law - 1);
        law.n++;
        law.agree += ratio.lo >= 1 - AGREES && ratio.hi <= 1 + AGREES;
        law.differ += ratio.hi < 1 - AGREES || ratio.lo > 1 + AGREES;
        if (!law.worst || far > law.far) {
            law.far = far;
            law.worst = cell;
        }
    }
    return law;
}

static void add_flight(struct as_rule_context *c, const struct operations *o, const char *op)
{
    const struct as_cell *rate = as_cells_best(o->rates, o->rates_n, "op", op),
                         *wait = as_cells_best(o->waits, o->waits_n, "op", op);
    const double warp = as_warp_of(c);
    const struct as_fact *best =
        as_fact_of(c->facts->v, c->facts->n, c->device, AS_FACT_ALU_THROUGHPUT, AS_BY(.op = op));
    if (!rate || !wait || !isfinite(warp) || (best && best->bound))
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_ALU_FLIGHT, rate, NULL);
    if (!f)
        return;
    const struct as_interval r = as_cell_interval(rate), w = as_cell_interval(wait);
    const struct law law = joint_flight_compare(o, rate, wait, warp);
    const double flight = rate->sum.median * wait->sum.median;
    char curve[128] = "";
    as_fact_number(f, flight / warp, (struct as_interval){r.lo * w.lo / warp, r.hi * w.hi / warp});
    f->verdict = law.differ ? AS_REFUTED : law.agree == law.n ? AS_SUPPORTED : AS_UNDECIDED;
    as_fact_evidence(f, rate);
    as_fact_evidence(f, wait);
    if (law.worst) {
        struct as_buf text = AS_BUF_INIT;
        as_buf_printf(&text, "; what was measured with one chain is up to %.1f%% off%s", 100 * law.far,
                      f->verdict == AS_UNDECIDED ? " by its median, with too wide an interval to decide" : "");
        as_copy_text(curve, sizeof curve, as_buf_get(&text));
        as_buf_finish(&text);
        as_fact_evidence(f, law.worst);
    }
    as_fact_say(f, "By Little's law {value} of one chain per thread keep each %s busy with {op}, %.0f in flight%s",
                as_unit_name(c), flight, curve);
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
     "a measurement with one chain per thread that is more than 10% off the law"},
    {0},
};
