/* What numbers past the range of a short format become. */
#include "facts/rule.h"

#include <math.h>
#include <stdlib.h>

/* The answers of the probe, from 1 on. */
static const char *const answers[] = {"infinity", "the largest finite number", "NaN", "what is left after wrapping",
                                      "another number"};
enum { SATURATES = 2, ANSWERS = sizeof answers / sizeof *answers };

static const struct {
    const char *property, *what;
} inputs[] = {{"overflow", "a number far past the range"}, {"infinity", "infinity"}};

static void conversion_add(struct as_rule_context *c, const struct as_cell *cell, size_t input)
{
    const int answer = cell->sum.median >= 1 && cell->sum.median <= ANSWERS ? (int)cell->sum.median : ANSWERS;
    const bool saturates = answer == SATURATES;
    const double result = saturates ? as_cell_note(cell, "result") : NAN;
    struct as_fact *f = NULL;
    if (isfinite(result) || !saturates) /* a cell may know that it saturates, but have no note of the number */
        f = as_fact_add(c, AS_FACT_CONVERSION_SATURATES, cell,
                        AS_BY(.what = inputs[input].property, .counted = "value"));
    if (!f)
        return;
    as_fact_evidence(f, cell);
    f->verdict = AS_SUPPORTED; /* formats with infinities keep them, as IEEE 754 says */
    if (isfinite(result)) {
        as_fact_number(f, result, (struct as_interval){result, result});
        as_fact_say(f, "{op} saturates: %s becomes %g", inputs[input].what, result);
    } else
        as_fact_say(f, "{op} does not saturate: %s becomes %s", inputs[input].what, answers[answer - 1]);
}

static void conversion_derive(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "conversion", &cells);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++)
            if (as_cell_is(cells[i], "property", inputs[k].property))
                conversion_add(c, cells[i], k);
    free(cells);
}

const struct as_rule as_rules_conversion[] = {
    {"conversions past the range", conversion_derive,
     "results of the conversion instruction for sixteen times the largest number of the format, and for infinity",
     "an input past the range that converts to something else"},
    {0},
};
