/* L2 latency by compute unit: near and far lines, hits and misses. */
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double STEP_UP = 1.15; /* smaller differences may have other causes */

static void add_near_far(struct as_rule_context *c, const struct as_pair *pair)
{
    const struct as_cell *near = pair->a, *far = pair->b;
    struct as_fact *f =
        as_fact_add_ratio(c, AS_FACT_ONCHIP_FAR, far, near, AS_BY(.compute_unit = as_cell_axis(near, "compute_unit")));
    if (!f)
        return;
    char a[96], b[96], share[48] = "";
    double near_share = as_cell_note(near, "near_share");
    if (isfinite(near_share))
        snprintf(share, sizeof share, "; %.0f%% of lines are near", 100 * near_share);
    as_fact_value_text(near->sum.median, as_cell_interval(near), "ns", a, sizeof a);
    as_fact_value_text(far->sum.median, as_cell_interval(far), "ns", b, sizeof b);
    if (f->verdict == AS_SUPPORTED)
        as_fact_say(f, "L2 latency from %s %s: near partition %s, far partition %s%s", as_unit_name(c),
                    as_cell_axis(near, "compute_unit"), a, b, share);
    else
        as_fact_say(f, "From %s %s, L2 lines that looked far %s: %s and %s per load", as_unit_name(c),
                    as_cell_axis(near, "compute_unit"),
                    f->verdict == AS_REFUTED ? "are no slower than the near ones"
                                             : "are statistically tied with the near ones",
                    b, a);
}

/* Does a compute unit hit lines that others loaded, faster than a miss by STEP_UP? One other unit is no evidence for
 * the rest. */
static void l2_latency_add_found(struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                                 const struct as_cell *missed)
{
    size_t others = 0, found = 0, open = 0;
    char inconclusive[48] = "", unit[AS_TERM_SIZE];
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "what", "found") &&
            as_cell_axis_number(cells[i], "filler") != as_cell_axis_number(cells[i], "compute_unit")) {
            const enum as_fact_verdict hit = as_verdict_above(as_cells_ratio(missed, cells[i]), STEP_UP);
            others++;
            found += hit == AS_SUPPORTED;
            open += hit == AS_UNDECIDED;
        }
    struct as_fact *f = others > 1 ? as_fact_add(c, AS_FACT_ONCHIP_SHARING, NULL, NULL) : NULL;
    if (!f)
        return;
    as_fact_number(f, (double)found, (struct as_interval){(double)found, (double)found});
    f->verdict = found == others ? AS_SUPPORTED : found + open == others ? AS_UNDECIDED : AS_REFUTED;
    if (open)
        snprintf(inconclusive, sizeof inconclusive, "; %zu inconclusive", open);
    as_capital(as_unit_name(c), unit);
    as_fact_say(f, "%s %s hits L2 lines loaded by %zu of %zu other %ss%s", unit, as_cell_axis(missed, "compute_unit"),
                found, others, as_unit_name(c), inconclusive);
    as_fact_evidence(f, missed);
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "what", "found"))
            as_fact_evidence(f, cells[i]);
}

static void l2_latency_add_miss(struct as_rule_context *c, const struct as_cell *missed)
{
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_ONCHIP_MISS_LATENCY, missed, NULL);
    if (!f)
        return;
    as_fact_say(f, "An L2 miss from %s %s takes {value}", as_unit_name(c), as_cell_axis(missed, "compute_unit"));
}

static void derive_units(struct as_rule_context *c)
{
    const struct as_cell **cells;
    struct as_pair *pairs;
    size_t n, pairs_n;
    as_pairs_make(c, "l2_latency", "what", "near", "far", &pairs, &pairs_n);
    for (size_t i = 0; i < pairs_n; i++)
        add_near_far(c, &pairs[i]);
    free(pairs);
    n = as_cells_of(c, "l2_latency", &cells);
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "what", "missed")) {
            l2_latency_add_miss(c, cells[i]);
            l2_latency_add_found(c, cells, n, cells[i]);
            break;
        }
    free(cells);
}

const struct as_rule as_rules_l2_latency[] = {
    {"near and far", derive_units, "misses from loads of uncached data; near and far from their ratio",
     "a faster measurement that passes the same gates, or another ratio"},
    {0},
};
