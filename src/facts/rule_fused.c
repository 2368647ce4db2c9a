/* What it pays to do more in one kernel: epilogues of products, attention; and the clock that single launches see. */
#include "base/text.h"
#include "facts/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fused kernel is one more to write and to test: from this gain on the published study of Apple's tensor path ships
 * one. */
static const double WORTH = 1.10;

/* ---- epilogues ---- */

static void add_fusion(struct rule_context *c, const struct curve *curve)
{
    const struct as_cell *first = curve->cells[0];
    size_t most = 0, worth = 0;
    double last_worth = 0;
    char value[96];
    for (size_t i = 0; i < curve->n; i++) {
        most = curve->y[i] > curve->y[most] ? i : most;
        if (curve->ci[i].lo > WORTH) {
            worth++;
            last_worth = curve->x[i];
        }
    }
    struct as_fact *f = fact_add(c, "matrix", "x", "fusion.%s.%s.%s", cell_axis(first, "operation"),
                                 cell_axis(first, "path"), cell_axis(first, "type"));
    if (!f)
        return;
    fact_number(f, curve->y[most], curve->ci[most]);
    f->verdict = verdict_above(f->ci, 1);
    fact_value_text(f->value, f->ci, "x", value, sizeof value);
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(&text, "%s in the epilogue of %s (%s) %s: separate kernels take %s the time at %.0f",
                  cell_axis(first, "operation"), cell_axis(first, "path"), cell_axis(first, "type"),
                  f->verdict == AS_SUPPORTED ? "pays"
                  : f->verdict == AS_REFUTED ? "does NOT pay"
                                             : "makes no significant difference",
                  value, curve->x[most]);
    if (curve->n > 1)
        as_buf_printf(&text, ", %.3g at %.0f", curve->y[curve->n - 1], curve->x[curve->n - 1]);
    if (worth)
        as_buf_printf(&text, "; more than %.2f times up to %.0f", WORTH, last_worth);
    else
        as_buf_printf(&text, "; nowhere more than %.2f times", WORTH);
    fact_say(f, "%s", as_buf_get(&text));
    as_buf_finish(&text);
    curve_evidence(f, curve, 0, curve->n - 1);
}

void rule_fusion(struct rule_context *c)
{
    struct curve *curves;
    size_t n;
    curves_make(c, "fusion", "size", &curves, &n);
    for (size_t i = 0; i < n; i++)
        add_fusion(c, &curves[i]);
    curves_free(curves, n);
}

/* ---- attention ---- */

static int by_length(const void *pa, const void *pb)
{
    double a = cell_axis_number(((const struct pair *)pa)->a, "length"),
           b = cell_axis_number(((const struct pair *)pb)->a, "length");
    return (a > b) - (a < b);
}

/* Pairs of one number of heads, from the shortest on. */
static void add_attention(struct rule_context *c, const char *path, const struct pair *pairs, size_t n)
{
    const struct pair *longest = &pairs[n - 1];
    const char *heads = cell_axis(longest->a, "heads");
    size_t wins = 0;
    double from = NAN;
    for (size_t i = 0; i < n; i++)
        if (verdict_above(cells_ratio(pairs[i].a, pairs[i].b), 1) == AS_SUPPORTED) {
            wins++;
            from = from > 0 ? from : cell_axis_number(pairs[i].a, "length");
        }
    struct as_fact *f = fact_add(c, "matrix", "x", "attention.%s.%s_heads", path, heads);
    char value[96];
    if (!f)
        return;
    fact_ratio(f, longest->a, longest->b);
    f->verdict = verdict_above(f->ci, 1);
    fact_value_text(f->value, f->ci, "x", value, sizeof value);
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(&text, "Attention by path %s %s separate GEMMs and softmax: %s the rate at length %s, %s heads", path,
                  f->verdict == AS_SUPPORTED ? "beats"
                  : f->verdict == AS_REFUTED ? "does NOT beat"
                                             : "is statistically tied with",
                  value, cell_axis(longest->a, "length"), heads);
    if (wins)
        as_buf_printf(&text, "; faster at %zu of %zu lengths, the least of them %.0f", wins, n, from);
    else
        as_buf_printf(&text, "; faster at none of %zu lengths", n);
    fact_say(f, "%s", as_buf_get(&text));
    as_buf_finish(&text);
    for (size_t i = 0; i < n; i++) {
        fact_evidence(f, pairs[i].a);
        fact_evidence(f, pairs[i].b);
    }
}

static void look_at_path(struct rule_context *c, const char *path)
{
    struct pair *pairs, *same;
    size_t n;
    pairs_make(c, "attention", "path", path, "decomposed", &pairs, &n);
    same = n ? malloc(n * sizeof *same) : NULL;
    if (n && !same)
        c->status = as_nomem(c->err, n * sizeof *same, "cells");
    for (size_t i = 0; same && i < n; i++) {
        size_t of = 0, before = 0;
        for (size_t k = 0; k < n; k++)
            if (cells_same(pairs[k].a, pairs[i].a, "heads")) {
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

void rule_attention(struct rule_context *c)
{
    static const char *const paths[] = {"flash", "split", "flash_wgmma", "split_wgmma", "scalar"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        look_at_path(c, paths[i]);
}

/* ---- single launches ---- */

static void add_launches(struct rule_context *c, const struct curve *curve)
{
    const struct as_cell *first = curve->cells[0], *slowest = NULL, *two = NULL;
    double latest = 0, spread = 0;
    size_t unsteady = 0;
    for (size_t i = 0; i < curve->n; i++) {
        const struct as_cell *cell = curve->cells[i];
        double s = cell_note(cell, "steady_s"), wide = cell_note(cell, "p95") / cell_note(cell, "p5");
        unsteady += !isfinite(s);
        spread = wide > spread ? wide : spread;
        if (s >= latest) {
            latest = s;
            slowest = cell;
        }
        if (cell_note(cell, "modes") == 2)
            two = cell;
    }
    if (!(spread > 0)) /* cells without notes tell nothing of single launches */
        return;
    struct as_fact *f =
        fact_add(c, "matrix", "x", "clockstate.%s.%s", cell_axis(first, "path"), cell_axis(first, "type"));
    if (!f)
        return;
    fact_number(f, spread, NO_INTERVAL);
    f->verdict = two ? AS_REFUTED : AS_SUPPORTED;
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(&text, "Single launches (%s, %s) ", cell_axis(first, "path"), cell_axis(first, "type"));
    if (two) {
        as_buf_printf(&text, "of size %s do NOT run at one rate: ", cell_axis(two, "size"));
        as_format_value(&text, cell_note(two, "mode_low"), as_cell_unit(two));
        as_buf_printf(&text, " (%.0f%% of them) and ", 100 * cell_note(two, "mode_share"));
        as_format_value(&text, cell_note(two, "mode_high"), as_cell_unit(two));
    } else {
        as_buf_printf(&text, "run at one rate at %zu size%s, nine of ten within a factor of %.3g", curve->n,
                      curve->n == 1 ? "" : "s", spread);
    }
    if (unsteady)
        as_buf_printf(&text, "; not steady after 300 launches at %zu of %zu", unsteady, curve->n);
    else if (slowest && latest > 0)
        as_buf_printf(&text, "; steady after %.2g s at the latest (size %s)", latest, cell_axis(slowest, "size"));
    else
        as_buf_str(&text, "; steady from the first ten on");
    fact_say(f, "%s", as_buf_get(&text));
    as_buf_finish(&text);
    curve_evidence(f, curve, 0, curve->n - 1);
}

void rule_clockstate(struct rule_context *c)
{
    struct curve *curves;
    size_t n;
    curves_make(c, "clockstate", "size", &curves, &n);
    for (size_t i = 0; i < n; i++)
        add_launches(c, &curves[i]);
    curves_free(curves, n);
}
