/* How matrix instructions compute: one fact per accumulator width; other properties in one sentence per answer, which
 * lists the instructions. */
#include "facts/rule.h"
#include "base/text.h"

#include <stdlib.h>

static void add_accumulator(struct as_rule_context *c, const struct as_cell *cell)
{
    double bits = cell->sum.median, format_bits = as_cell_note(cell, "format_bits");
    struct as_buf name = AS_BUF_INIT;
    if (!(format_bits > 0))
        return;
    as_instruction_name(cell, &name);
    struct as_fact *f = as_fact_add(c, AS_FACT_NUMERICS_ACCUMULATOR, NULL, AS_BY(.instruction = as_buf_get(&name)));
    if (f) {
        as_fact_number(f, bits, AS_NO_INTERVAL);
        as_fact_evidence(f, cell);
        f->claimed = format_bits;
        f->verdict = bits >= format_bits ? AS_SUPPORTED : AS_REFUTED;
        if (bits >= format_bits)
            as_fact_say(f, "%s accumulates with all %.0f significand bits of its result format", as_buf_get(&name),
                        format_bits);
        else
            as_fact_say(f,
                        "%s accumulates with %.0f significand bits, NOT the %.0f of its result format: long sums lose "
                        "accuracy",
                        as_buf_get(&name), bits, format_bits);
        if (bits < format_bits)
            as_fact_act(f, "Split long sums into partial sums: %s accumulates with %.0f significand bits, not %.0f",
                        as_buf_get(&name), bits, format_bits);
    }
    as_buf_finish(&name);
}

static const struct sort {
    const char *property;
    double value;
    enum as_fact_verdict verdict;
    enum as_relation relation;
    const char *sentence;
} sorts[] = {
    {"rounding", 1, AS_REFUTED, AS_FACT_NUMERICS_ROUNDING_ZERO,
     "Sums are rounded toward zero, NOT to nearest, the IEEE 754 default"},
    {"rounding", 2, AS_SUPPORTED, AS_FACT_NUMERICS_ROUNDING_NEAREST,
     "Sums are rounded to nearest, ties to even, the IEEE 754 default"},
    {"cut", 1, AS_SUPPORTED, AS_FACT_NUMERICS_CUT, "Addends are aligned and truncated before they are added"},
    {"overflow", 1, AS_SUPPORTED, AS_FACT_NUMERICS_OVERFLOW_INFINITY, "Overflow gives infinity"},
    {"overflow", 2, AS_SUPPORTED, AS_FACT_NUMERICS_OVERFLOW_SATURATES,
     "Overflow saturates to the largest finite number"},
    {"overflow", 3, AS_SUPPORTED, AS_FACT_NUMERICS_OVERFLOW_NAN, "Overflow gives NaN"},
    {"overflow", 4, AS_SUPPORTED, AS_FACT_NUMERICS_OVERFLOW_WRAPS, "Integer overflow wraps around"},
    {"subnormal", 4, AS_SUPPORTED, AS_FACT_NUMERICS_SUBNORMAL,
     "Subnormals are preserved in inputs, accumulator and result"},
    {"nan", 1, AS_SUPPORTED, AS_FACT_NUMERICS_NAN, "NaN results have one canonical bit pattern"},
    {"explained", 100, AS_SUPPORTED, AS_FACT_NUMERICS_EXPLAINED,
     "A model of these findings reproduces the results for random inputs bit for bit"},
};

static bool numerics_is_of_sort(const struct as_cell *cell, const void *what)
{
    const struct sort *s = what;
    return as_cell_is(cell, "property", s->property) && cell->sum.median == s->value;
}

static bool is_unexplained(const struct as_cell *cell, const void *what)
{
    (void)what;
    return as_cell_is(cell, "property", "explained") && cell->sum.median < 100;
}

static void derive_numerics(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "numerics", &cells);
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "property", "accumulator"))
            add_accumulator(c, cells[i]);
    for (size_t s = 0; s < sizeof sorts / sizeof *sorts; s++) {
        struct as_fact *f = as_fact_list(c, cells, n, as_instruction_name, &sorts[s], numerics_is_of_sort,
                                         sorts[s].relation, sorts[s].sentence);
        if (f)
            f->verdict = sorts[s].verdict;
    }
    struct as_fact *f =
        as_fact_list(c, cells, n, as_instruction_name, NULL, is_unexplained, AS_FACT_NUMERICS_UNEXPLAINED,
                     "A model of these findings does NOT reproduce the results for random inputs bit for bit");
    if (f)
        f->verdict = AS_REFUTED;
    free(cells);
}

const struct as_rule as_rules_numerics[] = {
    {"arithmetic of matrix instructions", derive_numerics,
     "sums of a few exact numbers of which one is lost, or results that match one rounding mode; confirmed by a model "
     "of all findings, which must reproduce the results for random inputs bit for bit",
     "operands for which instruction and model differ"},
    {0},
};
