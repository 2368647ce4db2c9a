/* Effects of several queues: concurrent kernels, launch rate, and priorities. */
#include "facts/rule.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Share of the kernels tried from which all count as concurrent: some end before the last one is launched. */
static const double NEARLY_ALL = 0.85;
/* Fewer than so many at a time are one after another. */
static const double ONE_BY_ONE = 1.5;

/* The three experiments of long kernels: how they are submitted. */
static const struct experiment {
    const char *what, *name;
    const char *where; /* of kernels in one queue or submission; NULL: each has a queue */
    bool names_queue;  /* the device's word for a queue follows */
} experiments[] = {
    {"busy", "kernels", NULL, true},
    {"in_queue", "in_queue", "in one ", true},
    {"together", "together", "submitted as one", false},
};
enum { EXPERIMENTS = sizeof experiments / sizeof *experiments };

/* Of the cells with several queues, the one with the least time per kernel. */
static const struct as_cell *least_share(const struct as_curve *v, double *queues)
{
    size_t best = 1;
    for (size_t i = 2; i < v->n; i++)
        best = v->y[i] < v->y[best] ? i : best;
    *queues = v->x[best];
    return v->cells[best];
}

/* A kernel that had to wait for another would double the total time. The rest of the increase is launch overhead. */
static void say_all(struct as_fact *f, double queues, const char *where, struct as_interval share)
{
    char longer[96];
    const struct as_interval ci = {queues / share.hi, queues / share.lo};
    as_fact_value_text(queues / f->value, ci, "x", longer, sizeof longer);
    as_fact_number(f, queues, (struct as_interval){queues, queues});
    f->bound = 1; /* another grid may go further */
    as_fact_say(f,
                "At least %g single-thread kernels%s (the maximum tested) run concurrently: launches included, they "
                "take %s as long as one",
                queues, where, longer);
}

/* The fewest kernels that ran at a time if every launch took the time that an empty one takes; NAN unknown. Launches
 * behind a running kernel cost nothing, so this is no estimate of fewer than all. */
static double least_without_launches(struct as_rule_context *c, const struct as_cell *one, const struct as_cell *most)
{
    const struct as_cell **cells, *launch = NULL;
    const size_t n = as_cells_of(c, "concurrency", &cells);
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "what", "rate") && as_cell_axis_number(cells[i], "queues") == 1)
            launch = cells[i];
    free(cells);
    if (!launch)
        return NAN;
    const struct as_interval rest =
        as_difference_interval(most->sum.median, as_cell_interval(most), launch->sum.median, as_cell_interval(launch));
    return as_ratio_interval(one->sum.median, as_cell_interval(one), most->sum.median - launch->sum.median, rest).lo;
}

static void concurrency_add_at_once(struct as_rule_context *c, const struct as_curve *v, const struct experiment *x)
{
    double queues;
    char value[96], where[96], all[64] = "";
    const struct as_cell *one = v->cells[0], *most = least_share(v, &queues);
    struct as_fact *f =
        as_fact_add_ratio(c, AS_FACT_CONCURRENCY, one, most, AS_BY(.what = x->name, .counted = "kernels"));
    if (!f)
        return;
    /* no more run at a time than were submitted */
    f->value = fmin(f->value, queues);
    f->ci = (struct as_interval){fmin(f->ci.lo, queues), fmin(f->ci.hi, queues)};
    as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
    const char *queue = x->names_queue ? as_queue_name(c) : "";
    if (x->where) {
        snprintf(all, sizeof all, " %s%s", x->where, queue);
        snprintf(where, sizeof where, " of %g%s", queues, all);
    } else {
        snprintf(where, sizeof where, " in %g %ss", queues, queue);
    }
    const bool in_order = x->where && x->names_queue;
    if (f->ci.hi < ONE_BY_ONE) /* a queue promises that order */
        f->verdict = in_order ? AS_SUPPORTED : AS_REFUTED;
    const double least = fmax(f->ci.lo, x->names_queue ? least_without_launches(c, one, most) : NAN);
    if (least > NEARLY_ALL * v->x[v->n - 1])
        say_all(f, queues, all, f->ci);
    else if (in_order && f->ci.hi < ONE_BY_ONE)
        as_fact_say(f, "Single-thread kernels%s run one after another: %s at a time", all, value);
    else if (f->verdict == AS_SUPPORTED)
        as_fact_say(f, "%s single-thread kernels%s run concurrently", value, where);
    else
        as_fact_say(f,
                    f->verdict == AS_REFUTED
                        ? "Single-thread kernels do not run concurrently: %s at a time%s"
                        : "Whether single-thread kernels run concurrently is inconclusive: %s at a time%s",
                    value, where);
    as_curve_evidence(f, v, 0, v->n - 1);
}

static const struct experiment *experiment_of(const struct as_cell *cell)
{
    for (size_t i = 0; i < EXPERIMENTS; i++)
        if (as_cell_is(cell, "what", experiments[i].what))
            return &experiments[i];
    return NULL;
}

static void concurrency_add_rate(struct as_rule_context *c, const struct as_curve *v)
{
    double queues;
    char value[160], than[64];
    const char *queue = as_queue_name(c);
    const struct as_cell *one = v->cells[0], *most = least_share(v, &queues);
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_CONCURRENCY_RATE, one, most, NULL);
    if (!f)
        return;
    snprintf(than, sizeof than, " slower than in one %s", queue);
    if (f->verdict == AS_REFUTED)
        as_fact_say(f, "Empty kernels round-robin in %g %ss run %s", queues, queue,
                    as_fact_inverse_text(f, than, "", value, sizeof value));
    else
        as_fact_say(f,
                    f->verdict == AS_SUPPORTED
                        ? "Empty kernels round-robin in %g %ss run at {value} the rate of one %s"
                        : "Empty kernels round-robin in %g %ss and in one {tied}: {wide}{value} the rate of one %s",
                    queues, queue, queue);
    as_fact_gain(f, f->value, f->ci);
    if (as_fact_side(f) > 0)
        as_fact_act(f, "Spread small kernels over %ss: %g %ss run them {gain} as fast as one", queue, queues, queue);
    else if (as_fact_side(f) < 0)
        as_fact_act(f, "Launch small kernels in one %s: %g %ss are {gain} slower", queue, queues, queue);
    as_curve_evidence(f, v, 0, v->n - 1);
}

static void add_priority(struct as_rule_context *c)
{
    struct as_pair *pairs;
    size_t n;
    char value[96];
    as_pairs_make(c, "concurrency", "priority", "same", "high", &pairs, &n);
    struct as_fact *f = n ? as_fact_add_ratio(c, AS_FACT_CONCURRENCY_PRIORITY, pairs[0].a, pairs[0].b, NULL) : NULL;
    if (f) {
        const char *queue = as_queue_name(c);
        if (f->verdict == AS_UNDECIDED)
            as_fact_say(f,
                        "Whether a high-priority %s helps behind work that fills the device is inconclusive: "
                        "{wide}{value}",
                        queue);
        else
            as_fact_say(f, "Behind work that fills the device, a kernel in a high-priority %s finishes %s", queue,
                        as_fact_ratio_text(f, " sooner", " later", "", value, sizeof value));
        as_fact_gain(f, f->value, f->ci);
        if (as_fact_side(f) > 0)
            as_fact_act(
                f,
                "Put urgent kernels into a high-priority %s: behind work that fills the device they take {gain} "
                "as long to finish without it",
                queue);
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
        const struct experiment *x = known ? experiment_of(curves[i].cells[0]) : NULL;
        if (x)
            concurrency_add_at_once(c, &curves[i], x);
        else if (known && as_cell_is(curves[i].cells[0], "what", "rate"))
            concurrency_add_rate(c, &curves[i]);
    }
    as_curves_free(curves, n);
    add_priority(c);
}

const struct as_rule as_rules_concurrency[] = {
    {"queues", derive_concurrency,
     "time per kernel from the first call to the last end, with one queue over the minimum with more, at most as many "
     "as were submitted; a kernel's time "
     "behind work that fills the device, in a queue of the same priority over one of the highest",
     "a device trace in which another number of these kernels overlap"},
    {0},
};
