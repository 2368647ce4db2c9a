/* Peaks of matrix instructions: against the documented rates, and older instructions against newer ones. */
#include "facts/rule.h"

#include <stdlib.h>
#include <string.h>

/* Share of a documented rate that counts as reached, because published clocks and unit counts are rounded. */
static const double REACHED = 0.98;
/* Instructions within this factor are equally fast; the first in the table represents them. */
static const double ALIKE = 1.001;

/* Factor formats, as they appear in instruction names. */
static const char *const formats[] = {"f64", "f32",      "tf32",     "bf16", "f16", "e4m3", "e5m2",
                                      "s8",  "e4m3fnuz", "e5m2fnuz", "u8",   "s4",  "u4",   "b1"};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Is this the first format in the instruction's name? "mma_m16n8k16_f16_f32": f16. */
static bool matmul_peak_is_of(const char *instruction, const char *format)
{
    for (const char *at = strchr(instruction, '_'); at; at = strchr(at + 1, '_')) {
        const char *word = at + 1;
        size_t len = strcspn(word, "_");
        for (size_t i = 0; i < FORMATS; i++)
            if (strlen(formats[i]) == len && strncmp(formats[i], word, len) == 0)
                return strcmp(formats[i], format) == 0;
    }
    return false;
}

static bool is_sparse(const char *instruction)
{
    return strstr(instruction, "_sp_") != NULL;
}

static bool is_newer(const char *instruction)
{
    return strncmp(instruction, "wgmma", strlen("wgmma")) == 0;
}

enum which { ANY, NEWER, OLDER };

/* The fastest dense instruction of the format, on random operands. */
static const struct as_cell *matmul_peak_best_of(const struct as_cell *const *cells, size_t n, const char *format,
                                                 enum which which)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *name = as_cell_axis(cells[i], "instruction");
        if (matmul_peak_is_of(name, format) && !is_sparse(name) &&
            (which == ANY || is_newer(name) == (which == NEWER)) && as_cell_is(cells[i], "operands", "random") &&
            (!best || cells[i]->sum.median > ALIKE * best->sum.median))
            best = cells[i];
    }
    return best;
}

/* Has it as many columns, chains and warps as the best cell, or more? 0 stands for the usual, which is fast. */
static bool is_as_large(const struct as_cell *cell, const struct as_cell *best)
{
    static const char *const axes[] = {"n", "chains", "warps"};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        const double a = as_cell_axis_number(cell, axes[i]), b = as_cell_axis_number(best, axes[i]);
        if (a != 0 && (b == 0 || a < b))
            return false;
    }
    return true;
}

/* Cells without a number that may be faster than the best. */
static size_t matmul_peak_left_out(const struct as_rule_context *c, const struct as_cell *best, const char *format)
{
    size_t n = 0, at = 0;
    for (const struct as_cell *cell; (cell = as_cells_left_out(c, "matmul_peak", &at));)
        n += matmul_peak_is_of(as_cell_axis(cell, "instruction"), format) &&
             !is_sparse(as_cell_axis(cell, "instruction")) && as_cell_is(cell, "operands", "random") &&
             is_as_large(cell, best);
    return n;
}

static void matmul_peak_add(struct as_rule_context *c, const struct as_cell *cell, const char *format)
{
    const char *name = as_cell_axis(cell, "instruction"), *unit = as_unit_name(c);
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_MATMUL_PEAK, cell, AS_BY(.type = format));
    if (!f)
        return;
    const bool reached = cell->limit > 0 && f->ci.lo >= REACHED * cell->limit;
    as_fact_left_out(f, cell, reached ? 0 : matmul_peak_left_out(c, cell, format));
    if (!(cell->limit > 0)) {
        as_fact_say(f, "%s does {value} per %s, the maximum measured for %s; none are documented", name, unit, format);
        return;
    }
    f->claimed = cell->limit;
    f->verdict = reached ? AS_SUPPORTED : f->ci.hi < REACHED * cell->limit && !f->bound ? AS_REFUTED : AS_UNDECIDED;
    if (f->verdict == AS_REFUTED)
        as_fact_say(f, "%s does {value} per %s, NOT the documented %.0f (%.1f%%)", name, unit, f->claimed,
                    100 * f->value / f->claimed);
    else
        as_fact_say(f, "%s does {value} per %s, %.1f%% of the documented %.0f", name, unit, 100 * f->value / f->claimed,
                    f->claimed);
}

static void add_older(struct as_rule_context *c, const struct as_cell *older, const struct as_cell *newer,
                      const char *format)
{
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_MATMUL_OLDER, older, newer, AS_BY(.type = format));
    if (!f)
        return;
    f->verdict = as_verdict_above(f->ci, REACHED);
    as_fact_say(f, "%s runs at {value} the rate of %s in %s", as_cell_axis(older, "instruction"),
                as_cell_axis(newer, "instruction"), format);
    as_fact_gain(f, f->value, f->ci);
    if (as_fact_side(f) < 0)
        as_fact_act(f, "Use the newer matrix instructions: %s runs at {gain} the rate of %s",
                    as_cell_axis(newer, "instruction"), as_cell_axis(older, "instruction"));
}

static void matmul_peak_derive_peaks(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "matmul_peak", &cells);
    for (size_t i = 0; i < FORMATS && n; i++) {
        const struct as_cell *best = matmul_peak_best_of(cells, n, formats[i], ANY),
                             *older = matmul_peak_best_of(cells, n, formats[i], OLDER),
                             *newer = matmul_peak_best_of(cells, n, formats[i], NEWER);
        if (best)
            matmul_peak_add(c, best, formats[i]);
        if (older && newer)
            add_older(c, older, newer, formats[i]);
    }
    free(cells);
}

/* With one chain in one group of lanes each instruction waits for the result of the one before: its operations divided
 * by those per cycle are its latency. */
static void add_latency(struct as_rule_context *c, const struct as_cell *cell)
{
    const double operations = as_cell_note(cell, "operations");
    const struct as_interval rate = as_cell_interval(cell), cycles = {operations / rate.hi, operations / rate.lo};
    if (as_cell_note(cell, "chains") != 1 || as_cell_note(cell, "teams") != 1 || !(operations > 0))
        return;
    struct as_buf name = AS_BUF_INIT;
    as_instruction_name(cell, &name);
    const struct as_fact_fields by = {.instruction = as_buf_get(&name)};
    /* the default number of chains and groups may be one of each, too */
    const bool is_told = as_fact_of(c->facts->v, c->facts->n, c->device, AS_FACT_MATMUL_LATENCY, &by) != NULL;
    struct as_fact *f = is_told ? NULL : as_fact_add(c, AS_FACT_MATMUL_LATENCY, cell, &by);
    if (f) {
        as_fact_number(f, operations / cell->sum.median, cycles);
        as_fact_say(f, "%s takes {value} from accumulator to accumulator", as_buf_get(&name));
        as_fact_evidence(f, cell);
    }
    as_buf_finish(&name);
}

static void derive_latency(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "matmul_peak", &cells);
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "operands", "random"))
            add_latency(c, cells[i]);
    free(cells);
}

const struct as_rule as_rules_matmul_peak[] = {
    {"peaks of matrix instructions", matmul_peak_derive_peaks,
     "the fastest valid measurement of a dense instruction, by the format of its first operand, compared with the "
     "documented "
     "rate of the architecture; reached from 98% on",
     "a chain of the same instruction with another rate in cycles that passes the same gates"},
    {"latency of matrix instructions", derive_latency,
     "one chain of accumulations in one group of lanes: operations of an instruction divided by operations per cycle",
     "a chain of the same instruction with another time that passes the same gates"},
    {0},
};
