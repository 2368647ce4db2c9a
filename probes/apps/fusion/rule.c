/* Whether an epilogue fused into a GEMM pays. */
#include "facts/rule.h"
#include "base/text.h"

/* A fused kernel is one more to write and to test: the published study of Apple's tensor path ships one from this gain
 * on. */
static const double WORTH = 1.10;
static const char worth_text[] = "1.10x";

static void add_fusion(struct as_rule_context *c, const struct as_curve *curve)
{
    const struct as_cell *first = curve->cells[0];
    size_t most = 0, worth = 0;
    double last_worth = 0;
    char value[96], last[96];
    for (size_t i = 0; i < curve->n; i++) {
        most = curve->ci[i].lo > curve->ci[most].lo ? i : most; /* the size of the surest gain, not of the noisiest */
        if (curve->ci[i].lo > WORTH) {
            worth++;
            last_worth = curve->x[i];
        }
    }
    struct as_fact *f = as_fact_add(c, AS_FACT_FUSION, first, NULL);
    if (!f)
        return;
    as_fact_number(f, curve->y[most], curve->ci[most]);
    f->verdict = as_verdict_above(f->ci, 1);
    as_fact_value_text(f->value, f->ci, "x", value, sizeof value);
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(&text, "Fusing %s into %s (%s) %s: %s at %.0f", as_cell_axis(first, "operation"),
                  as_cell_axis(first, "path"), as_cell_axis(first, "type"),
                  f->verdict == AS_SUPPORTED ? "is faster than separate kernels"
                  : f->verdict == AS_REFUTED ? "is NOT faster than separate kernels"
                                             : "may be faster than separate kernels or not",
                  value, curve->x[most]);
    if (curve->n > 1 && most + 1 < curve->n)
        as_buf_printf(&text, ", %s at %.0f",
                      as_fact_value_text(curve->y[curve->n - 1], curve->ci[curve->n - 1], "x", last, sizeof last),
                      curve->x[curve->n - 1]);
    if (worth)
        as_buf_printf(&text, "; surely over %s at %zu of %zu sizes, the largest of them %.0f", worth_text, worth,
                      curve->n, last_worth);
    else
        as_buf_printf(&text, "; surely over %s at none of %zu sizes", worth_text, curve->n);
    as_fact_say(f, "%s", as_buf_get(&text));
    as_fact_gain(f, f->value, f->ci);
    if (as_fact_side(f) > 0)
        as_fact_act(f, "Fuse epilogues into GEMMs: a separate GEMM and %s take {gain} as long (%s, %s, size %.0f)",
                    as_cell_axis(first, "operation"), as_cell_axis(first, "path"), as_cell_axis(first, "type"),
                    curve->x[most]);
    as_buf_finish(&text);
    as_curve_evidence(f, curve, 0, curve->n - 1);
}

static void derive_fusion(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    as_curves_make(c, "fusion", "size", &curves, &n);
    for (size_t i = 0; i < n; i++)
        add_fusion(c, &curves[i]);
    as_curves_free(curves, n);
}

const struct as_rule as_rules_fusion[] = {
    {"fused epilogues", derive_fusion,
     "time of the GEMM and the kernels after it, divided by that of one fused kernel, over the size; stated for the "
     "size with the highest lower bound; worth a fused kernel where that bound exceeds 1.10",
     "a separate kernel that is faster and passes the same gates"},
    {0},
};
