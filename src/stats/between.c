#include "stats/between.h"

#include "stats/order.h"

#include <math.h>
#include <stdlib.h>

static const double NORMAL = 1.959964; /* half width of a 95% interval in standard errors */
static const double LARGEST_VARIANCE = 1e4;
enum { STEPS = 60, DF_MAX = 1000 };

double as_between_error(const struct as_estimated *run)
{
    const struct as_interval ci = run->ci;
    if (!(run->value > 0 && ci.lo > 0 && ci.hi >= ci.lo && isfinite(ci.hi)))
        return NAN;
    return fmax((log(ci.hi) - log(ci.lo)) / (2 * NORMAL), AS_BETWEEN_ERROR_MIN);
}

static bool has_interval(const struct as_estimated *run)
{
    return isfinite(as_between_error(run));
}

/* The runs that count, and the variance of each one's own error. A number without an interval counts only where none
 * has one: its error is then part of the scatter. */
struct counted {
    const struct as_estimated *runs;
    size_t n, used;
    bool by_interval;
};

static struct counted count(const struct as_estimated *runs, size_t n)
{
    struct counted c = {.runs = runs, .n = n};
    for (size_t i = 0; i < n; i++)
        c.used += has_interval(&runs[i]);
    c.by_interval = c.used > 0;
    for (size_t i = 0; i < n && !c.by_interval; i++)
        c.used += runs[i].value > 0;
    return c;
}

static bool is_used(const struct counted *c, size_t i)
{
    return c->by_interval ? has_interval(&c->runs[i]) : c->runs[i].value > 0;
}

static double own_variance(const struct counted *c, size_t i)
{
    const double error = c->by_interval ? as_between_error(&c->runs[i]) : AS_BETWEEN_ERROR_MIN;
    return error * error;
}

static double between_mean(const struct counted *c, double tau2, double *weights)
{
    double sum = 0;
    *weights = 0;
    for (size_t i = 0; i < c->n; i++)
        if (is_used(c, i)) {
            const double w = 1 / (own_variance(c, i) + tau2);
            sum += w * log(c->runs[i].value);
            *weights += w;
        }
    return sum / *weights;
}

/* Cochran's Q less a target, such as what is expected of it; it falls as tau2 rises. */
static double excess(const struct counted *c, double tau2, double target)
{
    double weights, q = 0;
    const double mean = between_mean(c, tau2, &weights);
    for (size_t i = 0; i < c->n; i++)
        if (is_used(c, i)) {
            const double off = log(c->runs[i].value) - mean;
            q += off * off / (own_variance(c, i) + tau2);
        }
    return q - target;
}

/* The tau2 at which Q is the target. */
static double tau2_of(const struct counted *c, double target)
{
    double lo = 0, hi = AS_BETWEEN_ERROR_MIN * AS_BETWEEN_ERROR_MIN;
    if (excess(c, 0, target) <= 0)
        return 0;
    while (excess(c, hi, target) > 0 && hi < LARGEST_VARIANCE)
        hi *= 4;
    for (int i = 0; i < STEPS; i++) {
        const double middle = 0.5 * (lo + hi);
        if (excess(c, middle, target) > 0)
            lo = middle;
        else
            hi = middle;
    }
    return 0.5 * (lo + hi);
}

struct as_between as_between_of(const struct as_estimated *runs, size_t n)
{
    const struct counted c = count(runs, n);
    const double df = c.used > 1 ? (double)c.used - 1 : 0;
    return (struct as_between){df > 0 ? tau2_of(&c, df) : 0, df};
}

double as_between_most(const struct as_estimated *runs, size_t n)
{
    static const double quartile = -0.6745; /* of a normal distribution */
    const struct counted c = count(runs, n);
    const double df = (double)c.used - 1;
    if (c.used < 2)
        return INFINITY;
    return tau2_of(&c, df * pow(1 - 2 / (9 * df) + quartile * sqrt(2 / (9 * df)), 3));
}

struct as_between as_between_pool(struct as_between a, struct as_between b)
{
    const double df = a.df + b.df;
    return (struct as_between){df > 0 ? (a.df * a.variance + b.df * b.variance) / df : a.variance, df};
}

static int by_variance(const void *a, const void *b)
{
    const double x = ((const struct as_between *)a)->variance, y = ((const struct as_between *)b)->variance;
    return (x > y) - (x < y);
}

struct as_between as_between_group(struct as_between *v, size_t n)
{
    for (size_t i = 0; i < n; i++) /* Wilson and Hilferty (1931) */
        v[i].variance /= pow(1 - 2 / (9 * v[i].df), 3);
    qsort(v, n, sizeof *v, by_variance);
    return (struct as_between){n ? 0.5 * (v[(n - 1) / 2].variance + v[n / 2].variance) : NAN, 0};
}

/* Of the variance of the mean, the share that is tau2's. */
static double share_of_between(const struct counted *c, double tau2)
{
    double between = 0, all = 0;
    for (size_t i = 0; i < c->n; i++)
        if (is_used(c, i)) {
            const double w = 1 / (own_variance(c, i) + tau2);
            between += w * w * tau2;
            all += w;
        }
    return between / all;
}

/* Of one run, as precise as the median of those that count. */
static double error_of_another(const struct counted *c)
{
    double v[AS_CHANGES_RUNS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < c->n && n < AS_CHANGES_RUNS_MAX; i++)
        if (is_used(c, i))
            v[n++] = own_variance(c, i);
    return as_median(v, n);
}

static unsigned df_of(double between_df, double share)
{
    return (unsigned)fmin(between_df / fmax(share, 1e-6), DF_MAX);
}

/* mu varies by 1 / weights, another run by tau^2 and its own error beside that. */
static struct as_interval another_run(const struct counted *c, struct as_between between, double mean, double weights,
                                      double share)
{
    const double all = 1 / weights + between.variance + error_of_another(c);
    const unsigned df = df_of(between.df, (share / weights + between.variance) / all);
    const double half = as_student(df, 0.95) * sqrt(all);
    return (struct as_interval){exp(mean - half), exp(mean + half)};
}

/* One run keeps the sides of its interval: two modes, or a bound, are not in its middle. */
static struct as_interval ends_of_one_run(const struct as_estimated *run, struct as_between between, double student)
{
    const double down = fmax(log(run->value / run->ci.lo) / NORMAL, AS_BETWEEN_ERROR_MIN),
                 up = fmax(log(run->ci.hi / run->value) / NORMAL, AS_BETWEEN_ERROR_MIN);
    return (struct as_interval){run->value * exp(-student * sqrt(down * down + between.variance)),
                                run->value * exp(student * sqrt(up * up + between.variance))};
}

bool as_join_runs(const struct as_estimated *runs, size_t n, struct as_between between, struct as_joined *out)
{
    const struct counted c = count(runs, n);
    double weights;
    *out = (struct as_joined){.value = NAN, .ci = {NAN, NAN}, .another = {NAN, NAN}};
    if (c.used == 0 || (c.used == 1 && !c.by_interval))
        return false;
    const double mean = between_mean(&c, between.variance, &weights), share = share_of_between(&c, between.variance);
    out->df = df_of(between.df, share);
    out->share = share;
    const double half = as_student(out->df, 0.95) / sqrt(weights);
    out->value = n == 1 ? runs[0].value : exp(mean);
    out->ci = (struct as_interval){exp(mean - half), exp(mean + half)};
    out->another = another_run(&c, between, mean, weights, share);
    if (n == 1) { /* another run varies by as much again */
        const double student = as_student(out->df, 0.95);
        out->ci = ends_of_one_run(&runs[0], between, student);
        out->another = ends_of_one_run(&runs[0], between, student * sqrt(2));
    }
    return true;
}

unsigned as_joined_df(const struct as_joined *joined, struct as_between between, unsigned own)
{
    const double df = 1 / (joined->share / between.df + (1 - joined->share) / fmax(own, 1));
    return (unsigned)fmin(fmax(df, 1), DF_MAX);
}
