/* What emulated arithmetic costs beside what the language has, and how many bits of it are right. */
#include "facts/rule.h"
#include "model/metrics.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *op, *beside;
} pairs[] = {
    {"e8m48_add", "f64_add"},        {"e8m48_add", "f32_add"},        {"e8m48_mul", "f64_mul"},
    {"e8m48_mul", "f32_mul"},        {"fp59_add", "f64_add"},         {"fp59_add", "f32_add"},
    {"fp59_mul", "f64_mul"},         {"fp59_mul", "f32_mul"},         {"fp59_fma", "f64_fma"},
    {"fp59_fma", "f32_fma"},         {"i64_add_pieces", "i64_add"},   {"i64_mul_pieces", "i64_mul"},
    {"i64_wide_pieces", "i64_wide"}, {"i64_wide", "i64_mul"},         {"i128_add", "i64_add"},
    {"i128_mul", "i64_mul"},         {"i128_add_pieces", "i128_add"}, {"i128_mul_pieces", "i128_mul"},
};

static const struct as_cell *emulated_cell(const struct as_cell *const *cells, size_t n, const char *op)
{
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "op", op))
            return cells[i];
    return NULL;
}

static void emulated_add_cost(struct as_rule_context *c, const struct as_cell *cell, const struct as_cell *native)
{
    const char *other = as_cell_axis(native, "op");
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_EMULATED_COST, cell, native, AS_BY(.other = other));
    char faster[64], slower[64], text[160];
    if (!f)
        return;
    snprintf(faster, sizeof faster, " as fast as %.24s", other);
    snprintf(slower, sizeof slower, " slower than %.24s", other);
    as_fact_ratio_text(f, faster, slower, "", text, sizeof text);
    if (f->verdict == AS_UNDECIDED)
        as_fact_say(f, "{op} and %.24s {tied}: %s", other, text);
    else
        as_fact_say(f, "{op} runs %s", text);
    as_fact_expects_nothing(f); /* that hardware is faster is no surprise */
}

static void emulated_add_accuracy(struct as_rule_context *c, const struct as_cell *cell)
{
    struct as_metric_value v;
    struct as_fact *f =
        as_cell_metric(cell, "accuracy", &v) ? as_fact_add(c, AS_FACT_EMULATED_ACCURACY, cell, NULL) : NULL;
    if (!f)
        return;
    as_fact_number(f, v.value, v.ci);
    as_fact_say(f, "{op} is accurate to {value} on the operands tested, by exact arithmetic");
    as_fact_evidence(f, cell);
}

static void derive_emulated(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "emulated", &cells);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct as_cell *cell = emulated_cell(cells, n, pairs[i].op),
                             *native = emulated_cell(cells, n, pairs[i].beside);
        if (cell && native)
            emulated_add_cost(c, cell, native);
    }
    for (size_t i = 0; i < n; i++)
        emulated_add_accuracy(c, cells[i]);
    free(cells);
}

const struct as_rule as_rules_emulated[] = {
    {"emulated arithmetic", derive_emulated,
     "the ratio of two rates of the same kind of kernel; accuracy from the largest relative error of the pairs "
     "compared",
     "a pair of operands with a larger error; an operation that the compiler replaced by another"},
    {0},
};
