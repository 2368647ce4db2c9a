/* Operations: how many a unit does in a cycle, after how many cycles their results can be used, what follows from both,
 * and which of them are several instructions. */
#include "base/text.h"
#include "facts/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 160 }; /* letters of names */

/* More than this share of an instruction beyond the first is a second one, in some steps. */
static const double SEVERAL = 1.25;

struct operations {
    const struct as_cell **rates, **waits;
    size_t rates_n, waits_n;
};

/* The best cell of an operation; NULL: no such. */
static const struct as_cell *best_of(const struct as_cell *const *cells, size_t n, const char *op)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (strcmp(cell_axis(cells[i], "op"), op) == 0 && (!best || as_cell_is_better(cells[i], best)))
            best = cells[i];
    return best;
}

/* Threads that go together; NAN on a CPU, and what that calls a unit may be two to a core. */
static double warp_of(const struct rule_context *c)
{
    return c->info && c->info->warp > 1 && !c->info->is_host_cpu && !c->info->vector_bytes ? c->info->warp : NAN;
}

/* ---- rates ---- */

static void add_rate(struct rule_context *c, const struct operations *o, const char *op)
{
    const struct as_cell *cell = best_of(o->rates, o->rates_n, op);
    struct as_fact *f = cell ? fact_add(c, "operations", cell->unit, "alu.throughput.%s", op) : NULL;
    if (!f)
        return;
    char value[96];
    const bool vectors = !cell_is(cell, "width", "scalar");
    fact_number(f, cell->sum.median, cell_interval(cell));
    fact_say(f, "A unit does %s of %s%s%.12s%s", fact_value_text(f->value, f->ci, f->unit, value, sizeof value), op,
             vectors ? ", in vectors of " : "", vectors ? cell_axis(cell, "width") : "", vectors ? " bits" : "");
    fact_evidence(f, cell);
}

/* The rate of a unit times its clock, as it was, and all units. */
static void add_peak(struct rule_context *c, const struct operations *o, const char *type, const char *const ops[2])
{
    const struct as_cell *cell = best_of(o->rates, o->rates_n, ops[0]);
    const struct as_cell *other = ops[1] ? best_of(o->rates, o->rates_n, ops[1]) : NULL;
    cell = !cell || (other && other->sum.median > cell->sum.median) ? other : cell;
    if (!cell || !c->info || !c->info->compute_units || !isfinite(warp_of(c)) || !(cell->clock_hz > 0) ||
        !isfinite(cell->clock_hz))
        return;
    struct as_fact *f = fact_add(c, "operations", "ops/s", "alu.peak.%s", type);
    if (!f)
        return;
    const double each = 2 * cell->clock_hz * c->info->compute_units;
    const struct as_interval ci = cell_interval(cell);
    char value[96], rate[96], clock[48];
    fact_number(f, cell->sum.median * each, (struct as_interval){ci.lo * each, ci.hi * each});
    fact_say(f, "%u units that each do %s of %s at %s reach %s, counting a multiply-add as two", c->info->compute_units,
             fact_value_text(cell->sum.median, NO_INTERVAL, cell->unit, rate, sizeof rate), cell_axis(cell, "op"),
             fact_value_text(cell->clock_hz, NO_INTERVAL, "Hz", clock, sizeof clock),
             fact_value_text(f->value, f->ci, f->unit, value, sizeof value));
    fact_evidence(f, cell);
}

/* ---- latencies ---- */

static void add_wait(struct rule_context *c, const struct operations *o, const char *op)
{
    const struct as_cell *cell = best_of(o->waits, o->waits_n, op);
    struct as_fact *f = cell ? fact_add(c, "operations", cell->unit, "alu.latency.%s", op) : NULL;
    if (!f)
        return;
    char value[96];
    fact_number(f, cell->sum.median, cell_interval(cell));
    fact_say(f, "The result of %s can be used after %s", op,
             fact_value_text(f->value, f->ci, f->unit, value, sizeof value));
    fact_evidence(f, cell);
}

/* ---- both ---- */

/* Threads that have one chain each fill a unit as Little's law says, or not: the farthest that a cell with one chain is
 * from it, 0 where there is none; *worst is that cell. */
static double farthest(const struct operations *o, const char *op, double wait, double rate, double warp,
                       const struct as_cell **worst)
{
    double most = 0;
    *worst = NULL;
    for (size_t i = 0; i < o->rates_n; i++) {
        const struct as_cell *cell = o->rates[i];
        const double warps = cell_axis_number(cell, "warps");
        if (strcmp(cell_axis(cell, "op"), op) != 0 || cell_axis_number(cell, "ilp") != 1 || !(warps > 0))
            continue;
        const double far = fabs(cell->sum.median / fmin(rate, warps * warp / wait) - 1);
        if (!*worst || far > most) {
            most = far;
            *worst = cell;
        }
    }
    return most;
}

static void add_flight(struct rule_context *c, const struct operations *o, const char *op)
{
    static const double AGREES = 0.1;
    const struct as_cell *rate = best_of(o->rates, o->rates_n, op), *wait = best_of(o->waits, o->waits_n, op);
    const double warp = warp_of(c);
    if (!rate || !wait || !isfinite(warp))
        return;
    struct as_fact *f = fact_add(c, "operations", "warps", "alu.flight.%s", op);
    if (!f)
        return;
    const struct as_interval r = cell_interval(rate), w = cell_interval(wait);
    const struct as_cell *worst;
    const double flight = rate->sum.median * wait->sum.median;
    const double far = farthest(o, op, wait->sum.median, rate->sum.median, warp, &worst);
    char value[96], curve[96] = "";
    fact_number(f, flight / warp, (struct as_interval){r.lo * w.lo / warp, r.hi * w.hi / warp});
    fact_evidence(f, rate);
    fact_evidence(f, wait);
    if (worst) {
        struct as_buf text = AS_BUF_INIT;
        as_buf_printf(&text, "; what was measured with one chain is within %.1f%% of that", 100 * far);
        as_copy_text(curve, sizeof curve, as_buf_get(&text));
        as_buf_finish(&text);
        fact_evidence(f, worst);
    }
    f->verdict = far > AGREES ? AS_REFUTED : AS_SUPPORTED;
    fact_say(f, "By Little's law %s of one chain per thread keep a unit busy with %s, %.0f in flight%s",
             fact_value_text(f->value, f->ci, f->unit, value, sizeof value), op, flight, curve);
}

/* ---- machine code ---- */

static bool is_named(const struct as_cell *const *cells, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(cell_axis(cells[k], "op"), cell_axis(cells[i], "op")) == 0)
            return true;
    return false;
}

static void add_several(struct rule_context *c, const struct operations *o)
{
    struct names names = NAMES(ROOM);
    struct as_buf name = AS_BUF_INIT;
    size_t known = 0, several = 0;
    int64_t evidence[AS_EVIDENCE_MAX];
    for (size_t i = 0; i < o->rates_n; i++) {
        const double each = cell_note(o->rates[i], "instructions_each") - cell_has_note(o->rates[i], "link");
        if (!(each > 0) || is_named(o->rates, i))
            continue;
        known++;
        if (each < SEVERAL)
            continue;
        if (several < AS_EVIDENCE_MAX)
            evidence[several] = o->rates[i]->id;
        several++;
        as_buf_clear(&name);
        as_buf_printf(&name, "%.47s (%.3g)", cell_axis(o->rates[i], "op"), each);
        names_add(&names, as_buf_get(&name));
    }
    struct as_fact *f = known ? fact_add(c, "operations", "", "alu.several") : NULL;
    if (f) {
        fact_number(f, (double)several, NO_INTERVAL);
        f->verdict = AS_SUPPORTED;
        fact_say(f, "Of %zu operations %zu are one machine instruction%s%s", known, known - several,
                 several ? ", the others several: " : "", names_text(&names));
        f->evidence_n = several < AS_EVIDENCE_MAX ? several : AS_EVIDENCE_MAX;
        memcpy(f->evidence, evidence, f->evidence_n * sizeof *evidence);
        if (!several)
            fact_evidence(f, o->rates[0]);
    }
    names_finish(&names);
    as_buf_finish(&name);
}

/* Of links there is none in these. */
static const char *const told[] = {"ffma32", "ffma64", "ffma16", "ffma2_f16", "fadd32",
                                   "fmul32", "iadd32", "imul32", "imad32",    "xor32"};
static const struct {
    const char *type, *ops[2];
} peaks[] = {{"f32", {"ffma32", NULL}}, {"f64", {"ffma64", NULL}}, {"f16", {"ffma16", "ffma2_f16"}}};

static void read_cells(struct rule_context *c, struct operations *o)
{
    o->rates_n = cells_of(c, "alu", &o->rates);
    o->waits_n = 0;
    size_t n = cells_of(c, "alu_latency", &o->waits);
    for (size_t i = 0; i < n; i++)
        if (cell_is(o->waits[i], "width", "scalar")) /* elsewhere than on a CPU there is no other */
            o->waits[o->waits_n++] = o->waits[i];
}

static void finish(struct operations *o)
{
    free(o->rates);
    free(o->waits);
}

void rule_alu(struct rule_context *c)
{
    struct operations o;
    read_cells(c, &o);
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
        add_peak(c, &o, peaks[i].type, peaks[i].ops);
    add_flight(c, &o, "ffma32");
    finish(&o);
}

void rule_alu_code(struct rule_context *c)
{
    struct operations o;
    read_cells(c, &o);
    add_several(c, &o);
    finish(&o);
}

void rule_alu_each(struct rule_context *c)
{
    struct operations o;
    read_cells(c, &o);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        add_rate(c, &o, told[i]);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        add_wait(c, &o, told[i]);
    finish(&o);
}
