/* Scatter of trials in a group of cells: variances of cells follow s0^2 d0 / chi^2(d0), so measured ones follow F
 * (Smyth 2004). Fitted by maximum likelihood, which needs no floor for variances of 0 and is robust against outliers.
 */
#include "stats/estimate.h"
#include "stats/order.h"
#include "stats/weighted.h"

#include <math.h>
#include <stdlib.h>

/* Lower bound of the scatter, 0.01%: timers have finite resolution. */
static const double VARIANCE_MIN = 1e-8;
/* Chooses the smallest degrees of freedom whose log likelihood is within this of the maximum, so that few cells
 * are not assumed to be alike. */
static const double NEAR_ENOUGH = 1;

/* One trial: bounded by the 90th percentile of the scatter. */
static const double UPPER = 0.9;

struct scatter {
    const double *var;
    const unsigned *df;
    size_t n;
};

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* Derivative of the log likelihood by log s0^2, which falls with it. */
static double prior_slope(const struct scatter *s, double d0, double var)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        double d = s->df[i], u = d * s->var[i] / (d0 * var);
        if (d > 0)
            sum += (d + d0) / 2 * u / (1 + u) - d / 2;
    }
    return sum;
}

static double best_var(const struct scatter *s, double d0)
{
    double lo = log(VARIANCE_MIN), hi = log(VARIANCE_MIN);
    for (size_t i = 0; i < s->n; i++)
        if (s->df[i] > 0 && s->var[i] > 0)
            hi = fmax(hi, log(s->var[i]) + 3);
    while (hi - lo > 1e-4) {
        double middle = 0.5 * (lo + hi);
        if (prior_slope(s, d0, exp(middle)) > 0)
            lo = middle;
        else
            hi = middle;
    }
    return exp(hi);
}

static double log_likelihood(const struct scatter *s, double d0, double var)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        double d = s->df[i];
        if (d > 0)
            sum += log_gamma((d + d0) / 2) - log_gamma(d0 / 2) - d / 2 * log(d0 * var) -
                   (d + d0) / 2 * log1p(d * s->var[i] / (d0 * var));
    }
    return sum;
}

static enum as_status upper_quantile(const struct scatter *s, double *out, struct as_error *err)
{
    double *known = calloc(s->n, sizeof *known);
    size_t n = 0;
    if (!known)
        return as_nomem(err, s->n * sizeof *known, "variances");
    for (size_t i = 0; i < s->n; i++)
        if (s->df[i] > 0)
            known[n++] = s->var[i];
    as_sort(known, n);
    *out = known[(size_t)(UPPER * (double)(n - 1) + 0.5)];
    free(known);
    return AS_OK;
}

enum as_status as_prior_fit(const double *var, const unsigned *df, size_t n, struct as_prior *out, struct as_error *err)
{
    static const double grid[] = {1, 1.4, 2, 2.8, 4, 5.6, 8, 11, 16, 23, 32};
    enum { GRID = sizeof grid / sizeof *grid };
    struct scatter s = {var, df, n};
    double at[GRID], likelihood[GRID], most = -INFINITY;
    *out = (struct as_prior){0};
    for (size_t i = 0; i < n; i++)
        out->cells += df[i] > 0;
    if (out->cells == 0)
        return AS_OK;
    for (size_t i = 0; i < GRID; i++) {
        at[i] = best_var(&s, grid[i]);
        likelihood[i] = log_likelihood(&s, grid[i], at[i]);
        most = fmax(most, likelihood[i]);
    }
    size_t i = 0;
    while (likelihood[i] < most - NEAR_ENOUGH)
        i++;
    double upper = 0;
    enum as_status st = upper_quantile(&s, &upper, err);
    if (st)
        return st;
    out->df = grid[i];
    out->var = at[i];
    /* The model's error of one trial is s0 t(d0); observed outliers widen it. */
    out->upper_var = fmax(out->var * pow(as_student95(out->df) / as_student95(60), 2), upper);
    return AS_OK;
}

enum as_status as_prior_fit_cells(const struct as_estimate *cells, size_t n, struct as_prior *out, struct as_error *err)
{
    *out = (struct as_prior){0};
    double *var = calloc(n + 1, sizeof *var), *within = calloc(n + 1, sizeof *within);
    unsigned *df = calloc(n + 1, sizeof *df);
    size_t known = 0;
    enum as_status st = AS_OK;
    if (!var || !within || !df) {
        st = as_nomem(err, (n + 1) * sizeof *var, "variances");
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        df[i] = isfinite(cells[i].log_var) ? cells[i].df : 0;
        var[i] = df[i] ? cells[i].log_var : 0;
        if (isfinite(cells[i].sample_var))
            within[known++] = cells[i].sample_var;
    }
    st = as_prior_fit(var, df, n, out, err);
    out->sample_var = known ? as_median_in(within, known) : 0;
done:
    free(var);
    free(within);
    free(df);
    return st;
}
