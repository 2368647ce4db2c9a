/* Changes in a series of runs: segments of one level by optimal partitioning, in which a run that lies far off counts
 * as one odd run and moves no level (capped loss: Fearnhead and Rigaill 2019, JASA 114). */
#include "stats/between.h"
#include "stats/order.h"

#include <math.h>

static const double LARGEST_VARIANCE = 1e4;
/* What a median of squares is worth beside their mean, in degrees of freedom per step. */
static const double EFFICIENCY = 0.37;
/* A run that is known less well, by the standard error of its logarithm, tells of no change: half to double. */
static const double WIDEST = 0.35;
enum { BISECTIONS = 60, PASSES = 10, RUNS_MIN = 3, SEGMENT_MIN = 2, DF_MAX = 1000 };

/* Logarithms of the runs that have an interval. */
struct series {
    size_t n, of[AS_CHANGES_RUNS_MAX]; /* of: index among all runs */
    double y[AS_CHANGES_RUNS_MAX], own[AS_CHANGES_RUNS_MAX],
        v[AS_CHANGES_RUNS_MAX]; /* variances: own, and with tau^2 */
};

static struct series series_of(const struct as_estimated *runs, size_t n)
{
    struct series s = {.n = 0};
    for (size_t i = 0; i < n && s.n < AS_CHANGES_RUNS_MAX; i++) {
        const double error = as_between_error(&runs[i]);
        if (!(error <= WIDEST)) /* NAN too */
            continue;
        s.of[s.n] = i;
        s.y[s.n] = log(runs[i].value);
        s.own[s.n++] = error * error;
    }
    return s;
}

/* The quantile p of chi^2 with one degree of freedom, by bisection of its distribution erf(sqrt(x / 2)). */
static double chi2_quantile(double p)
{
    double lo = 0, hi = 50;
    for (int i = 0; i < BISECTIONS; i++) {
        const double middle = 0.5 * (lo + hi);
        if (erf(sqrt(middle / 2)) < p)
            lo = middle;
        else
            hi = middle;
    }
    return 0.5 * (lo + hi);
}

/* The lower median of the squared steps, each over its variance. */
static double median_step(const struct series *s, double tau2)
{
    double x[AS_CHANGES_RUNS_MAX];
    for (size_t i = 0; i + 1 < s->n; i++) {
        const double step = s->y[i + 1] - s->y[i];
        x[i] = step * step / (2 * tau2 + s->own[i] + s->own[i + 1]);
    }
    return as_select(x, s->n - 1, (s->n - 2) / 2);
}

static struct as_between steps_of(const struct series *s)
{
    if (s->n < RUNS_MIN)
        return (struct as_between){0, 0};
    const double m = (double)s->n - 1, rank = floor((m + 1) / 2);
    /* the median of that order statistic */
    const double target = chi2_quantile((rank - 1.0 / 3) / (m + 1.0 / 3));
    double lo = 0, hi = AS_BETWEEN_ERROR_MIN * AS_BETWEEN_ERROR_MIN;
    while (median_step(s, hi) > target && hi < LARGEST_VARIANCE)
        hi *= 4;
    if (!(median_step(s, 0) > target))
        hi = 0;
    for (int i = 0; i < BISECTIONS; i++) {
        const double middle = 0.5 * (lo + hi);
        if (median_step(s, middle) > target)
            lo = middle;
        else
            hi = middle;
    }
    return (struct as_between){0.5 * (lo + hi), EFFICIENCY * m};
}

struct as_between as_between_steps(const struct as_estimated *runs, size_t n)
{
    const struct series s = series_of(runs, n);
    return steps_of(&s);
}

/* ---- segments ---- */

/* The run at which half of the weight lies below. */
static double weighted_median(const struct series *s, size_t from, size_t to)
{
    double all = 0, best = s->y[from], nearest = INFINITY;
    for (size_t i = from; i < to; i++)
        all += 1 / s->v[i];
    for (size_t i = from; i < to; i++) {
        double below = 0.5 / s->v[i];
        for (size_t k = from; k < to; k++)
            below += s->y[k] < s->y[i] ? 1 / s->v[k] : 0;
        if (fabs(below - 0.5 * all) < nearest) {
            nearest = fabs(below - 0.5 * all);
            best = s->y[i];
        }
    }
    return best;
}

static double distance(const struct series *s, size_t i, double level)
{
    return (s->y[i] - level) * (s->y[i] - level) / s->v[i];
}

/* The mean of the runs that are not odd. */
static double level_of(const struct series *s, size_t from, size_t to, double odd)
{
    double level = weighted_median(s, from, to);
    for (int pass = 0; pass < PASSES; pass++) {
        double sum = 0, weights = 0;
        for (size_t i = from; i < to; i++)
            if (distance(s, i, level) < odd) {
                sum += s->y[i] / s->v[i];
                weights += 1 / s->v[i];
            }
        if (!(weights > 0) || sum / weights == level)
            break;
        level = sum / weights;
    }
    return level;
}

static double cost_of(const struct series *s, size_t from, size_t to, double odd)
{
    const double level = level_of(s, from, to, odd);
    double cost = 0;
    for (size_t i = from; i < to; i++)
        cost += fmin(distance(s, i, level), odd);
    return cost;
}

/* The start of the last segment of the first t runs, in starts[t]. */
static void partition(const struct series *s, double penalty, size_t *starts)
{
    double best[AS_CHANGES_RUNS_MAX + 1];
    for (size_t t = 1; t <= s->n; t++) {
        best[t] = cost_of(s, 0, t, penalty);
        starts[t] = 0;
        for (size_t from = SEGMENT_MIN; from + SEGMENT_MIN <= t; from++) {
            const double cost = best[from] + penalty + cost_of(s, from, t, penalty);
            if (cost < best[t]) {
                best[t] = cost;
                starts[t] = from;
            }
        }
    }
}

/* Student's quantile squared: what one step to another level, or one odd run, has to explain. */
static double penalty_of(struct series *s, struct as_between between, double confidence)
{
    double share = 0;
    for (size_t i = 0; i < s->n; i++) {
        s->v[i] = s->own[i] + between.variance;
        share += between.variance / s->v[i] / (double)s->n;
    }
    const double df = fmin(between.df / fmax(share, 1e-6), DF_MAX);
    const double t = as_student((unsigned)fmax(df, 1), 1 - (1 - confidence) / ((double)s->n - 1));
    return t * t;
}

void as_between_changes(const struct as_estimated *runs, size_t n, struct as_between between, double confidence,
                        enum as_run_place *place)
{
    struct series s = series_of(runs, n);
    size_t starts[AS_CHANGES_RUNS_MAX + 1];
    for (size_t i = 0; i < n; i++)
        place[i] = AS_RUN_STEADY;
    if (s.n < RUNS_MIN)
        return;
    const double penalty = penalty_of(&s, as_between_pool(between, steps_of(&s)), confidence);
    partition(&s, penalty, starts);
    for (size_t to = s.n; to > 0; to = starts[to]) {
        const size_t from = starts[to];
        const double level = level_of(&s, from, to, penalty);
        for (size_t i = from; i < to; i++)
            if (distance(&s, i, level) >= penalty)
                place[s.of[i]] = AS_RUN_ALONE;
        if (from)
            place[s.of[from]] = AS_RUN_CHANGED;
    }
}
