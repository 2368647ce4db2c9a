/* Whether fused attention beats separate GEMMs and softmax. */
#include "facts/rule.h"
#include "base/text.h"
#include "model/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_length(const void *pa, const void *pb)
{
    double a = as_cell_axis_number(((const struct as_pair *)pa)->a, "length"),
           b = as_cell_axis_number(((const struct as_pair *)pb)->a, "length");
    return (a > b) - (a < b);
}

/* The paths, and the GEMM path that uses the same instructions: only against that is the ratio the gain of fusion. */
struct fused_path {
    const char *path, *gemm;
};
static const struct fused_path fused_paths[] = {
    {"flash", "mma"}, {"split", "mma"}, {"flash_wgmma", "wgmma"}, {"split_wgmma", "wgmma"}, {"scalar", "tiled"}};

/* "separate mma GEMMs and softmax"; unknown: without the GEMMs' path. */
static void say_separate(const char *products, struct as_buf *out)
{
    as_buf_printf(out, "separate %s%sGEMMs and softmax", products ? products : "", products ? " " : "");
}

/* The pairs have one number of heads and are sorted by length. */
static void add_attention(struct as_rule_context *c, const struct fused_path *p, const struct as_pair *pairs, size_t n)
{
    const char *path = p->path;
    const struct as_pair *longest = &pairs[n - 1];
    static const char *const verbs[] = {
        [AS_SUPPORTED] = "beats", [AS_REFUTED] = "does NOT beat", [AS_UNDECIDED] = "and"};
    size_t wins = 0;
    double from = NAN;
    for (size_t i = 0; i < n; i++)
        if (as_verdict_above(as_cells_ratio(pairs[i].a, pairs[i].b), 1) == AS_SUPPORTED) {
            wins++;
            from = from > 0 ? from : as_cell_axis_number(pairs[i].a, "length");
        }
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_ATTENTION, longest->a, longest->b, AS_BY(.path = path));
    if (!f)
        return;
    char value[96], faster[96];
    struct as_buf separate = AS_BUF_INIT;
    char *products = as_cell_note_text(longest->b, "products");
    const bool alike = products && strcmp(products, p->gemm) == 0;
    say_separate(products, &separate);
    as_fact_ratio_text(f, " as fast", " slower", "", value, sizeof value);
    if (wins)
        snprintf(faster, sizeof faster, "%zu of %zu lengths, the shortest %.0f", wins, n, from);
    else
        snprintf(faster, sizeof faster, "none of %zu lengths", n);
    as_fact_say(f,
                f->verdict == AS_UNDECIDED ? "Attention path %s %s %s {tied}: %s at length %s, %s heads; faster at %s%s"
                                           : "Attention path %s %s %s: %s at length %s, %s heads; faster at %s%s",
                path, verbs[f->verdict], as_buf_get(&separate), value, as_cell_axis(longest->a, "length"),
                as_cell_axis(longest->a, "heads"), faster,
                alike      ? ""
                : products ? "; the two use different instructions, and the ratio includes that"
                           : "; whether both use the same instructions is unknown");
    if (alike)
        as_fact_gain(f, f->value, f->ci);
    if (alike && as_fact_side(f) > 0)
        as_fact_act(f, "Fuse attention into one kernel: path %s runs {gain} as fast as %s (length %s)", path,
                    as_buf_get(&separate), as_cell_axis(longest->a, "length"));
    for (size_t i = 0; i < n; i++) {
        as_fact_evidence(f, pairs[i].a);
        as_fact_evidence(f, pairs[i].b);
    }
    as_buf_finish(&separate);
    free(products);
}

static void look_at_path(struct as_rule_context *c, const struct fused_path *path)
{
    struct as_pair *pairs, *same;
    size_t n;
    as_pairs_make(c, "attention", "path", path->path, "decomposed", &pairs, &n);
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
    for (size_t i = 0; i < sizeof fused_paths / sizeof *fused_paths; i++)
        look_at_path(c, &fused_paths[i]);
}

const struct as_rule as_rules_attention[] = {
    {"attention", derive_attention,
     "the rate of one kernel over that of separate GEMMs and softmax, same length and heads; the verdict is that of "
     "the longest; a gain of fusion only where the separate GEMMs (note products) use the same instructions",
     "a faster kernel of either kind that passes the same gates"},
    {0},
};
