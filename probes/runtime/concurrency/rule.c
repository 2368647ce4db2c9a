/* What several queues give: kernels at once, launches per second, and what a priority is worth. */
#include "facts/rule.h"

#include <stdlib.h>

/* Of as many kernels as were tried; what is missing went by before the last was launched. */
static const double NEARLY_ALL = 0.85;

/* Of the cells with several queues the one whose kernels have the least share each. */
static const struct as_cell *least_share(const struct as_curve *v, double *queues)
{
    size_t best = 1;
    for (size_t i = 2; i < v->n; i++)
        best = v->y[i] < v->y[best] ? i : best;
    *queues = v->x[best];
    return v->cells[best];
}

/* Where one had to wait for another to end, together they would take twice as long as one: what they take longer is
 * their launches' part. */
static void say_all(struct as_fact *f, double queues, struct as_interval share)
{
    char longer[96];
    const struct as_interval ci = {queues / share.hi, queues / share.lo};
    as_fact_value_text(queues / f->value, ci, "x", longer, sizeof longer);
    as_fact_number(f, queues, (struct as_interval){queues, queues});
    as_fact_say(
        f,
        "%g single-thread kernels, the most measured, run concurrently: with their launches they take %s as long "
        "as one",
        queues, longer);
}

static void add_at_once(struct as_rule_context *c, const struct as_curve *v)
{
    double queues;
    char value[96];
    const struct as_cell *one = v->cells[0], *most = least_share(v, &queues);
    struct as_fact *f = as_fact_add(c, "concurrency", "", "concurrency.kernels");
    if (!f)
        return;
    as_fact_ratio(f, one, most);
    f->verdict = as_verdict_above(f->ci, 1);
    as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
    if (f->ci.lo > NEARLY_ALL * v->x[v->n - 1])
        say_all(f, queues, f->ci);
    else if (f->verdict == AS_SUPPORTED)
        as_fact_say(f, "%s single-thread kernels run concurrently, from %g queues", value, queues);
    else
        as_fact_say(f,
                    f->verdict == AS_REFUTED
                        ? "Single-thread kernels do not run concurrently: %s at a time in %g queues"
                        : "Whether single-thread kernels run concurrently is undecided: %s at a "
                          "time in %g queues",
                    value, queues);
    as_curve_evidence(f, v, 0, v->n - 1);
}

static void add_rate(struct as_rule_context *c, const struct as_curve *v)
{
    double queues;
    char value[96];
    const struct as_cell *one = v->cells[0], *most = least_share(v, &queues);
    struct as_fact *f = as_fact_add(c, "concurrency", "x", "concurrency.rate");
    if (!f)
        return;
    as_fact_ratio(f, one, most);
    f->verdict = as_verdict_above(f->ci, 1);
    as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
    as_fact_say(f,
                f->verdict == AS_UNDECIDED
                    ? "The rate of empty kernels round-robin in %g queues is statistically tied with that of one "
                      "queue: %s"
                    : "Empty kernels round-robin in %g queues reach %s the rate of one queue",
                queues, value);
    as_curve_evidence(f, v, 0, v->n - 1);
}

static void add_priority(struct as_rule_context *c)
{
    struct as_pair *pairs;
    size_t n;
    char value[96];
    as_pairs_make(c, "concurrency", "priority", "same", "high", &pairs, &n);
    struct as_fact *f = n ? as_fact_add(c, "concurrency", "x", "concurrency.priority") : NULL;
    if (f) {
        as_fact_ratio(f, pairs[0].a, pairs[0].b);
        f->verdict = as_verdict_above(f->ci, 1);
        as_fact_say(
            f,
            f->verdict == AS_SUPPORTED
                ? "A kernel behind work that fills the device ends %s sooner when its queue has priority"
            : f->verdict == AS_REFUTED
                ? "A high-priority queue does not let a kernel behind work that fills the device end sooner: %s"
                : "A high-priority queue makes no significant difference to a kernel behind work that fills the "
                  "device: %s",
            as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value));
        as_fact_evidence(f, pairs[0].a);
        as_fact_evidence(f, pairs[0].b);
    }
    free(pairs);
}

static void derive_concurrency(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    as_curves_make(c, "concurrency", "queues", &curves, &n);
    for (size_t i = 0; i < n; i++) {
        bool known = curves[i].n > 1 && curves[i].x[0] == 1;
        if (known && as_cell_is(curves[i].cells[0], "what", "busy"))
            add_at_once(c, &curves[i]);
        else if (known && as_cell_is(curves[i].cells[0], "what", "rate"))
            add_rate(c, &curves[i]);
    }
    as_curves_free(curves, n);
    add_priority(c);
}

const struct as_rule as_rules_concurrency[] = {
    {"queues", derive_concurrency,
     "time per kernel from the first call to the last end, with one queue over the minimum with more; a kernel's time "
     "behind work that fills the device, in a queue of the same priority over one of the highest",
     "a device trace in which another number of these kernels overlap"},
    {0},
};
