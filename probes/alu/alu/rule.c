/* Throughput of operations per compute unit, peak of the whole device, and which operations take several
 * instructions. */
#include "facts/rule.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 160 }; /* length of a list of names */

/* More instructions per operation than this: some steps of the operation take more than one. */
static const double SEVERAL = 1.25;

static void alu_add_rate(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, const char *op)
{
    const struct as_cell *cell = as_cells_best(cells, n, "op", op);
    struct as_fact *f = cell ? as_fact_add_cell(c, AS_FACT_ALU_THROUGHPUT, cell, NULL) : NULL;
    if (!f)
        return;
    const bool sve = as_cell_is(cell, "width", "sve"), vectors = !sve && !as_cell_is(cell, "width", "scalar");
    as_fact_say(f, "Each %s executes {value} of {op}%s%.12s%s", as_unit_name(c),
                sve       ? ", in SVE vectors"
                : vectors ? ", in vectors of "
                          : "",
                vectors ? as_cell_axis(cell, "width") : "", vectors ? " bits" : "");
}

/* Peak of all compute units: the rate per cycle times the clock during the measurement. */
static void alu_add_peak(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, const char *type,
                         const char *const ops[2])
{
    const struct as_cell *cell = as_cells_best(cells, n, "op", ops[0]);
    const struct as_cell *other = ops[1] ? as_cells_best(cells, n, "op", ops[1]) : NULL;
    cell = !cell || (other && other->sum.median > cell->sum.median) ? other : cell;
    if (!cell || !c->info || !c->info->compute_units || !isfinite(as_warp_of(c)) || !(cell->clock_hz > 0) ||
        !isfinite(cell->clock_hz))
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_ALU_PEAK, cell, AS_BY(.unit = AS_UNIT_RATE, .type = type));
    if (!f)
        return;
    const double each = 2 * cell->clock_hz * c->info->compute_units;
    const struct as_interval ci = as_cell_interval(cell);
    char rate[96], clock[48];
    as_fact_number(f, cell->sum.median * each, (struct as_interval){ci.lo * each, ci.hi * each});
    as_fact_say(f, "%u %s%s with %s of %s each at %s reach {value}, counting a multiply-add as two",
                c->info->compute_units, as_unit_name(c), c->info->compute_units == 1 ? "" : "s",
                as_fact_value_text(cell->sum.median, ci, cell->unit, rate, sizeof rate), as_cell_axis(cell, "op"),
                as_fact_value_text(cell->clock_hz, AS_NO_INTERVAL, "Hz", clock, sizeof clock));
    as_fact_evidence(f, cell);
}

static bool is_named(const struct as_cell *const *cells, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(as_cell_axis(cells[k], "op"), as_cell_axis(cells[i], "op")) == 0)
            return true;
    return false;
}

static void add_several(struct as_rule_context *c, const struct as_cell *const *cells, size_t n)
{
    struct as_names names = AS_NAMES(ROOM);
    struct as_buf name = AS_BUF_INIT;
    size_t known = 0, several = 0;
    int64_t evidence[AS_EVIDENCE_MAX];
    for (size_t i = 0; i < n; i++) {
        const double each = as_cell_note(cells[i], "instructions_each") - as_cell_has_note(cells[i], "link");
        if (!(each > 0) || is_named(cells, i))
            continue;
        known++;
        if (each < SEVERAL)
            continue;
        if (several < AS_EVIDENCE_MAX)
            evidence[several] = cells[i]->id;
        several++;
        as_buf_clear(&name);
        as_buf_printf(&name, "%.47s (%.3g)", as_cell_axis(cells[i], "op"), each);
        as_names_add(&names, as_buf_get(&name));
    }
    struct as_fact *f = known ? as_fact_add(c, AS_FACT_ALU_SEVERAL, NULL, NULL) : NULL;
    if (f) {
        as_fact_number(f, (double)several, AS_NO_INTERVAL);
        f->verdict = AS_SUPPORTED;
        as_fact_say(f, "Of %zu operations %zu are one machine instruction%s%s", known, known - several,
                    several ? ", the others several: " : "", as_names_text(&names));
        f->evidence_n = several < AS_EVIDENCE_MAX ? several : AS_EVIDENCE_MAX;
        memcpy(f->evidence, evidence, f->evidence_n * sizeof *evidence);
        if (!several)
            as_fact_evidence(f, cells[0]);
    }
    as_names_finish(&names);
    as_buf_finish(&name);
}

/* These need no linking operation. */
static const char *const told[] = {"ffma32", "ffma64", "ffma16", "ffma2_f16", "fadd32",
                                   "fmul32", "iadd32", "imul32", "imad32",    "xor32"};

static const struct {
    const char *type, *ops[2];
} peaks[] = {{"f32", {"ffma32", NULL}}, {"f64", {"ffma64", NULL}}, {"f16", {"ffma16", "ffma2_f16"}}};

static void alu_derive_peaks(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "alu", &cells);
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
        alu_add_peak(c, cells, n, peaks[i].type, peaks[i].ops);
    free(cells);
}

static void derive_code(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "alu", &cells);
    add_several(c, cells, n);
    free(cells);
}

static void derive_rates(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "alu", &cells);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        alu_add_rate(c, cells, n, told[i]);
    free(cells);
}

const struct as_rule as_rules_alu[] = {
    {"peaks of operations", alu_derive_peaks,
     "the best valid cell of a multiply-add: two operations each, times clock and units",
     "a faster chain that passes the same gates"},
    {"code of operations", derive_code,
     "instructions per step, from the difference of a longer and a shorter body, minus the link that turns a result "
     "into an operand",
     "a disassembly with another number of instructions"},
    {"rates of operations", derive_rates,
     "the best valid cell of an operation: its rate with any number of chains and warps",
     "a faster chain of the same operation that passes the same gates"},
    {0},
};
