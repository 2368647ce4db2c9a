/* Whether the write rate holds up to the recommended working set. */
#include "facts/rule.h"

#include <stdlib.h>

static double near_limit_share(const struct as_cell *cell)
{
    return as_cell_axis_number(cell, "share");
}

static void near_limit_add(struct as_rule_context *c, const struct as_cell *most, const struct as_cell *least)
{
    struct as_fact *f =
        as_fact_add_ratio(c, AS_FACT_NEAR_LIMIT, most, least, AS_BY(.allocator = as_cell_axis(most, "allocator")));
    if (!f)
        return;
    as_fact_say(f,
                "Writing %.0f%% of the recommended working set runs at {value} the rate of writing %.0f%% "
                "('{allocator}')",
                near_limit_share(most), near_limit_share(least));
    as_fact_gain(f, f->value, f->ci);
    if (as_fact_side(f) < 0)
        as_fact_act(f,
                    "Keep buffers below %.0f%% of the recommended working set: near it, '{allocator}' "
                    "is {gain} slower",
                    near_limit_share(most));
}

/* For each allocator the largest share against the smallest. */
static void derive_near_limit(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    as_curves_make(c, "near_limit", "share", &curves, &n);
    for (size_t i = 0; i < n; i++)
        if (curves[i].n > 1)
            near_limit_add(c, curves[i].cells[curves[i].n - 1], curves[i].cells[0]);
    as_curves_free(curves, n);
}

const struct as_rule as_rules_near_limit[] = {
    {"memory near the recommended limit", derive_near_limit,
     "ratio of the rates over the largest and the smallest share measured, of one allocator",
     "a run in which the rate over the larger share differs by another factor"},
    {0},
};
