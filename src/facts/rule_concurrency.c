/* What several queues give: kernels at once, launches a second, and what a priority is worth. */
#include "facts/rules.h"

#include <stdlib.h>

static struct as_interval ratio(const struct as_cell *a, const struct as_cell *b)
{
    return as_ratio_interval(a->sum.median, cell_interval(a), b->sum.median, cell_interval(b));
}

/* The cell of one queue over the one of those with more whose share of a kernel is least. */
static void add_gain(struct rule_context *c, const struct curve *v, const char *what)
{
    size_t best = 1;
    if (v->n < 2 || v->x[0] != 1 || !cell_is(v->cells[0], "what", what))
        return;
    for (size_t i = 2; i < v->n; i++)
        best = v->y[i] < v->y[best] ? i : best;
    const struct as_cell *one = v->cells[0], *most = v->cells[best];
    struct as_fact *f = fact_add(c, "concurrency", "x", "concurrency.%s", what);
    if (!f)
        return;
    char value[96];
    fact_number(f, one->sum.median / most->sum.median, ratio(one, most));
    if (what[0] == 'b')
        fact_say(f,
                 "%s as many kernels of one thread end in a given time from %g queues as from one: so many run at once",
                 fact_value_text(f->value, f->ci, f->unit, value, sizeof value), v->x[best]);
    else
        fact_say(f, "Empty kernels spread over %g queues are launched at %s the rate of one queue", v->x[best],
                 fact_value_text(f->value, f->ci, f->unit, value, sizeof value));
    curve_evidence(f, v, 0, v->n - 1);
}

static void add_priority(struct rule_context *c)
{
    struct pair *pairs;
    size_t n;
    char value[96];
    pairs_make(c, "concurrency", "priority", "same", "high", &pairs, &n);
    struct as_fact *f = n ? fact_add(c, "concurrency", "x", "concurrency.priority") : NULL;
    if (f) {
        fact_number(f, pairs[0].a->sum.median / pairs[0].b->sum.median, ratio(pairs[0].a, pairs[0].b));
        fact_say(f,
                 "A kernel that comes while other work fills the device ends %s as early when its queue has priority",
                 fact_value_text(f->value, f->ci, f->unit, value, sizeof value));
        fact_evidence(f, pairs[0].a);
        fact_evidence(f, pairs[0].b);
    }
    free(pairs);
}

void rule_concurrency(struct rule_context *c)
{
    struct curve *curves;
    size_t n;
    curves_make(c, "concurrency", "queues", &curves, &n);
    for (size_t i = 0; i < n; i++) {
        add_gain(c, &curves[i], "rate");
        add_gain(c, &curves[i], "busy");
    }
    curves_free(curves, n);
    add_priority(c);
}
