/* Latency of operations. */
#include "facts/rule.h"

#include "model/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_wait(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, const char *op)
{
    const struct as_cell *cell = as_cells_best(cells, n, "op", op);
    struct as_fact *f = cell ? as_fact_add_cell(c, AS_FACT_ALU_LATENCY, cell, NULL) : NULL;
    if (!f)
        return;
    /* the mean over several kinds of instructions, perhaps on several pipes, is the latency of none */
    char *steps = as_cell_note_text(cell, "instructions");
    const bool is_mixed = steps && strchr(steps, ',');
    as_fact_say(f, "The result of {op} can be used after {value}%s%s", is_mixed ? "; " : "", is_mixed ? steps : "");
    free(steps);
}

/* These need no linking operation. */
static const char *const told[] = {"ffma32", "ffma64", "ffma16", "ffma2_f16", "fadd32",
                                   "fmul32", "iadd32", "imul32", "imad32",    "xor32"};

/* On a CPU only scalars count; other devices have no other width. */
static bool alu_latency_is_scalar(const struct as_cell *cell)
{
    return as_cell_is(cell, "width", "scalar");
}

static void derive_waits(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "alu_latency", &cells), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (alu_latency_is_scalar(cells[i]))
            cells[kept++] = cells[i];
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        add_wait(c, cells, kept, told[i]);
    free(cells);
}

/* The control group: what a turn costs beside its steps, of an operation without a link. */
static void derive_loop(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "alu_latency", &cells);
    const struct as_cell *cell = as_cells_best(cells, n, "op", "ffma32");
    struct as_metric_value v;
    struct as_fact *f = cell && as_cell_metric(cell, "loop", &v) ? as_fact_add(c, AS_FACT_ALU_LOOP, NULL, NULL) : NULL;
    if (f) {
        const double steps = as_cell_note(cell, "steps");
        as_fact_number(f, v.value, (struct as_interval){fmax(v.ci.lo, 0), v.ci.hi});
        f->verdict = AS_SUPPORTED;
        as_fact_say(f, "Loop overhead is {value} per iteration of %.0f dependent %s; it is subtracted", steps,
                    as_cell_axis(cell, "op"));
        as_fact_evidence(f, cell);
    }
    free(cells);
}

const struct as_rule as_rules_alu_latency[] = {
    {"control group of operations", derive_loop,
     "the time of a turn of the long body less that of its steps, by the difference of two bodies",
     "a loop without steps that takes another time per turn"},
    {"latencies of operations", derive_waits, "the best valid measurement of an operation: its latency with one chain",
     "a faster chain of the same operation that passes the same gates"},
    {0},
};
