/* Latency of operations. */
#include "facts/rule.h"

#include "base/text.h"
#include "model/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char STEPS[] = "each step is ";

/* The cell whose step is one of this instruction; NULL: none. */
static const struct as_cell *cell_of_instruction(const struct as_cell *const *cells, size_t n, const char *name,
                                                 size_t length)
{
    const struct as_cell *found = NULL;
    for (size_t i = 0; i < n && !found; i++) {
        char *steps = as_cell_note_text(cells[i], "instructions");
        const char *only = steps && strncmp(steps, STEPS, sizeof STEPS - 1) == 0 ? steps + sizeof STEPS - 1 : "";
        if (strncmp(only, "1 ", 2) == 0 && strlen(only + 2) == length && strncmp(only + 2, name, length) == 0)
            found = cells[i];
        free(steps);
    }
    return found;
}

/* "; one of IADD3 alone takes 4.00 cycles" for the first instruction of the steps that a cell has alone. */
static void say_alone(struct as_fact *f, const struct as_cell *const *cells, size_t n, const char *steps,
                      struct as_buf *out)
{
    char value[96];
    for (const char *at = strchr(steps, ' '); at;) {
        const size_t length = strcspn(at + 1, ",");
        const struct as_cell *cell = cell_of_instruction(cells, n, at + 1, length);
        if (cell) {
            as_buf_printf(
                out, "; %.*s alone takes %s", (int)length, at + 1,
                as_fact_value_text(cell->sum.median, as_cell_interval(cell), cell->unit, value, sizeof value));
            as_fact_evidence(f, cell);
            return;
        }
        at = at[1 + length] ? strchr(at + 1 + length + 2, ' ') : NULL;
    }
}

/* Steps of less than one instruction each alternate between instructions, perhaps on several pipes: their mean is the
 * latency of none. */
static void add_wait(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, const char *op)
{
    const struct as_cell *cell = as_cells_best(cells, n, "op", op);
    struct as_fact *f = cell ? as_fact_add_cell(c, AS_FACT_ALU_LATENCY, cell, NULL) : NULL;
    if (!f)
        return;
    char *steps = as_cell_note_text(cell, "instructions");
    const bool is_known = steps && strncmp(steps, STEPS, sizeof STEPS - 1) == 0 && strchr(steps, ',');
    struct as_buf more = AS_BUF_INIT;
    if (is_known && strtod(steps + sizeof STEPS - 1, NULL) < 1) {
        say_alone(f, cells, n, steps + sizeof STEPS - 1, &more);
        as_fact_say(f, "A chain of {op} takes {value} per step, the mean over different instructions: %s%s", steps,
                    as_buf_get(&more));
    } else {
        as_fact_say(f, "The result of {op} can be used after {value}%s%s", is_known ? "; " : "", is_known ? steps : "");
    }
    as_buf_finish(&more);
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
