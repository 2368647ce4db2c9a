/* Whether fused attention beats separate GEMMs and softmax. */
#include "facts/rule.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int by_length(const void *pa, const void *pb)
{
    double a = as_cell_axis_number(((const struct as_pair *)pa)->a, "length"),
           b = as_cell_axis_number(((const struct as_pair *)pb)->a, "length");
    return (a > b) - (a < b);
}

/* The pairs have one number of heads and are sorted by length. */
static void add_attention(struct as_rule_context *c, const char *path, const struct as_pair *pairs, size_t n)
{
    const struct as_pair *longest = &pairs[n - 1];
    const char *heads = as_cell_axis(longest->a, "heads");
    size_t wins = 0;
    double from = NAN;
    for (size_t i = 0; i < n; i++)
        if (as_verdict_above(as_cells_ratio(pairs[i].a, pairs[i].b), 1) == AS_SUPPORTED) {
            wins++;
            from = from > 0 ? from : as_cell_axis_number(pairs[i].a, "length");
        }
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_ATTENTION, longest->a, longest->b, AS_BY(.path = path));
    char value[96], faster[96];
    if (!f)
        return;
    as_fact_ratio_text(f, " as fast", " slower", "", value, sizeof value);
    if (wins)
        snprintf(faster, sizeof faster, "%zu of %zu lengths, the shortest %.0f", wins, n, from);
    else
        snprintf(faster, sizeof faster, "none of %zu lengths", n);
    as_fact_say(f,
                f->verdict == AS_SUPPORTED
                    ? "Attention path %s beats separate GEMMs and softmax: %s at length %s, %s heads; faster at %s"
                : f->verdict == AS_REFUTED
                    ? "Attention path %s does NOT beat separate GEMMs and softmax: %s at length %s, %s heads; faster "
                      "at %s"
                    : "Attention path %s and separate GEMMs and softmax {tied}: %s at length %s, %s heads; faster at "
                      "%s",
                path, value, as_cell_axis(longest->a, "length"), heads, faster);
    as_fact_gain(f, f->value, f->ci);
    if (as_fact_side(f) > 0)
        as_fact_act(
            f, "Fuse attention into one kernel: path %s runs {gain} as fast as separate GEMMs and softmax (length %s)",
            path, as_cell_axis(longest->a, "length"));
    for (size_t i = 0; i < n; i++) {
        as_fact_evidence(f, pairs[i].a);
        as_fact_evidence(f, pairs[i].b);
    }
}

static void look_at_path(struct as_rule_context *c, const char *path)
{
    struct as_pair *pairs, *same;
    size_t n;
    as_pairs_make(c, "attention", "path", path, "decomposed", &pairs, &n);
    same = n ? malloc(n * sizeof *same) : NULL;
    if (n && !same)
        c->status = as_nomem(c->err, n * sizeof *same, "cells");
    for (size_t i = 0; same && i < n; i++) {
        size_t of = 0, before = 0;
        for (size_t k = 0; k < n; k++)
            if (as_cells_same(pairs[k].a, pairs[i].a, "heads")) {
                before += k < i;
                same[of++] = pairs[k];
            }
        if (before)
            continue;
        qsort(same, of, sizeof *same, by_length);
        add_attention(c, path, same, of);
    }
    free(same);
    free(pairs);
}

static void derive_attention(struct as_rule_context *c)
{
    static const char *const paths[] = {"flash", "split", "flash_wgmma", "split_wgmma", "scalar"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        look_at_path(c, paths[i]);
}

const struct as_rule as_rules_attention[] = {
    {"attention", derive_attention,
     "the rate of one kernel over that of separate GEMMs and softmax, same length and heads; the verdict is that of "
     "the longest",
     "a faster kernel of either kind that passes the same gates"},
    {0},
};
