/* Clock of single launches: one mode or two, and when it is steady. */
#include "facts/rule.h"
#include "base/text.h"

#include <math.h>

static void add_launches(struct as_rule_context *c, const struct as_curve *curve)
{
    const struct as_cell *first = curve->cells[0], *slowest = NULL, *two = NULL, *widest = NULL;
    double latest = 0, spread = 0, least = INFINITY;
    size_t unsteady = 0;
    for (size_t i = 0; i < curve->n; i++) {
        const struct as_cell *cell = curve->cells[i];
        double s = as_cell_note(cell, "steady_s"), wide = as_cell_note(cell, "p95") / as_cell_note(cell, "p5");
        unsteady += !isfinite(s);
        least = fmin(least, wide);
        if (wide > spread) {
            spread = wide;
            widest = cell;
        }
        if (s >= latest) {
            latest = s;
            slowest = cell;
        }
        if (as_cell_note(cell, "modes") == 2)
            two = cell;
    }
    if (!widest) /* without notes the cell has no data on single launches */
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_CLOCKSTATE, first, NULL);
    if (!f)
        return;
    as_fact_number(f, spread, (struct as_interval){least, spread}); /* over the sizes */
    f->verdict = two ? AS_REFUTED : AS_SUPPORTED;
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(&text, "Single launches (%s, %s): ", as_cell_axis(first, "path"), as_cell_axis(first, "type"));
    if (two) {
        as_buf_printf(&text, "two modes at size %s, ", as_cell_axis(two, "size"));
        as_format_value(&text, as_cell_note(two, "mode_low"), two->unit);
        as_buf_printf(&text, " (%.0f%% of launches) and ", 100 * as_cell_note(two, "mode_share"));
        as_format_value(&text, as_cell_note(two, "mode_high"), two->unit);
    } else {
        as_buf_printf(&text, "one mode at %zu size%s, 90%% of launches at ", curve->n, curve->n == 1 ? "" : "s");
        as_format_range(&text, as_cell_note(widest, "p5"), as_cell_note(widest, "p95"), widest->sum.median,
                        widest->unit, 3);
        as_buf_printf(&text, " (size %s)", as_cell_axis(widest, "size"));
    }
    if (unsteady) {
        as_buf_str(&text, "; no steady state within 300 launches");
        if (curve->n > 1)
            as_buf_printf(&text, " at %zu of %zu sizes", unsteady, curve->n);
    } else if (slowest && latest > 0) {
        as_buf_str(&text, "; steady after at most ");
        as_format_value(&text, latest, "s");
        as_buf_printf(&text, " (size %s)", as_cell_axis(slowest, "size"));
    } else
        as_buf_str(&text, "; steady from the first ten launches");
    as_fact_say(f, "%s", as_buf_get(&text));
    as_buf_finish(&text);
    as_curve_evidence(f, curve, 0, curve->n - 1);
}

/* How many states the launches of one size see. */
static void clockstate_add_modes(struct as_rule_context *c, const struct as_cell *cell)
{
    const double modes = as_cell_note(cell, "modes");
    struct as_fact *f = modes > 0 ? as_fact_add(c, AS_FACT_CLOCKSTATE_MODES, cell, AS_BY(.counted = "modes")) : NULL;
    if (!f)
        return;
    as_fact_number(f, modes, (struct as_interval){modes, modes});
    f->verdict = modes == 1 ? AS_SUPPORTED : AS_REFUTED;
    as_fact_say(f, "Times of single launches (%s, %s, size %s) have %s", as_cell_axis(cell, "path"),
                as_cell_axis(cell, "type"), as_cell_axis(cell, "size"), modes == 1 ? "one mode" : "two modes");
    as_fact_evidence(f, cell);
}

static void derive_clockstate(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    as_curves_make(c, "clockstate", "size", &curves, &n);
    for (size_t i = 0; i < n; i++)
        add_launches(c, &curves[i]);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < curves[i].n; k++)
            clockstate_add_modes(c, curves[i].cells[k]);
    as_curves_free(curves, n);
}

const struct as_rule as_rules_clockstate[] = {
    {"single launches", derive_clockstate,
     "series of 300 launches after a pause: two modes where the dip test is significant; steady once no ten launches "
     "differ by more than 2% from the last third",
     "a longer series, or a longer pause, with other modes"},
    {0},
};
