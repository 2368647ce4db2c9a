/* One cell in numbers. */
#include "stats/order.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct weighed {
    double x, weight;
};

static int by_x(const void *a, const void *b)
{
    const struct weighed *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

static bool equal_visits(const struct as_visits *v)
{
    for (size_t k = 1; k < v->n; k++)
        if (v->starts[k + 1] - v->starts[k] != v->starts[1])
            return false;
    return true;
}

/* Median in which each trial weighs the same. With trials of one size it is the plain median. */
static enum as_status balanced_median(const double *x, const double *sorted, const struct as_visits *v, double *out,
                                      struct as_error *err)
{
    size_t n = v->starts[v->n];
    if (equal_visits(v)) {
        *out = as_median_sorted(sorted, n);
        return AS_OK;
    }
    struct weighed *w = malloc(n * sizeof *w);
    if (!w)
        return as_nomem(err, n * sizeof *w, "samples");
    for (size_t k = 0; k < v->n; k++)
        for (size_t i = v->starts[k]; i < v->starts[k + 1]; i++)
            w[i] = (struct weighed){x[i], 1.0 / (double)(v->starts[k + 1] - v->starts[k])};
    qsort(w, n, sizeof *w, by_x);
    const double half = 0.5 * (double)v->n, hair = 1e-9 * (double)v->n; /* rounding of the sum */
    double sum = w[0].weight;
    size_t i = 0;
    while (i + 1 < n && sum < half - hair)
        sum += w[++i].weight;
    *out = i + 1 < n && fabs(sum - half) <= hair ? 0.5 * w[i].x + 0.5 * w[i + 1].x : w[i].x;
    free(w);
    return AS_OK;
}

static void widen(struct as_interval *ci, double lo, double hi)
{
    ci->lo = fmin(ci->lo, lo);
    ci->hi = fmax(ci->hi, hi);
}

/* From so many trials on, the order-statistic interval of their medians is as good, and one trial that fell into a bad
 * moment does not make it wide. Of very many trials the first thousand are taken. */
/* With so few trials Yuen's approximation covers 1% too little; the factor was found by simulation. */
static const double TRIMMED_FACTOR = 1.06;
enum { TRIMMED_VISITS = 6, ROBUST_VISITS = 8, ROBUST_MAX = 1000 };

/* Student's interval on the medians of three or more trials: the trial is what was drawn independently. On their
 * logarithms where all are positive, as times and rates are, so that no bound falls below zero. From six trials on the
 * least and the largest are trimmed (Yuen 1974), so that one trial in a bad moment does not make it wide.
 * Where trials happen to agree better than the samples themselves allow, it is not narrower than a third of the pooled
 * interval. */
static struct as_interval visits_interval(const struct as_visits *v, struct as_interval pooled)
{
    double x[ROBUST_VISITS], mean = 0, ss = 0, middle = 0;
    size_t n = v->n, trimmed = n >= TRIMMED_VISITS ? 1 : 0;
    bool positive = true;
    for (size_t i = 0; i < n; i++)
        positive = positive && v->medians[i] > 0;
    for (size_t i = 0; i < n; i++)
        x[i] = positive ? log(v->medians[i]) : v->medians[i];
    as_sort(x, n);
    double kept = (double)(n - 2 * trimmed);
    for (size_t i = trimmed; i < n - trimmed; i++)
        middle += x[i] / kept;
    for (size_t i = 0; i < trimmed; i++) { /* what is trimmed counts as its neighbour in the spread */
        x[i] = x[trimmed];
        x[n - 1 - i] = x[n - 1 - trimmed];
    }
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        ss += (x[i] - mean) * (x[i] - mean);
    double error = sqrt(ss / (kept * (kept - 1)));
    double half = as_student((unsigned)(n - 2 * trimmed - 1), 0.95) * error;
    if (trimmed)
        half *= TRIMMED_FACTOR;
    if (!isnan(pooled.lo))
        half = fmax(half, (pooled.hi - pooled.lo) / 6 / (positive ? exp(middle) : 1));
    if (positive)
        return (struct as_interval){exp(middle - half), exp(middle + half)};
    return (struct as_interval){middle - half, middle + half};
}

static struct as_interval summary_interval(const double *sorted, size_t n, const struct as_visits *v, double median)
{
    struct as_interval ci = as_median_interval(sorted, n, 0.95);
    if (v->n >= ROBUST_VISITS) {
        double medians[ROBUST_MAX];
        size_t k = v->n < ROBUST_MAX ? v->n : ROBUST_MAX;
        memcpy(medians, v->medians, k * sizeof *medians);
        as_sort(medians, k);
        ci = as_median_interval(medians, k, 0.95);
    } else if (v->n >= 3)
        ci = visits_interval(v, ci);
    else if (v->n == 2 && !isnan(ci.lo))
        widen(&ci, fmin(v->medians[0], v->medians[1]), fmax(v->medians[0], v->medians[1]));
    if (!isfinite(ci.lo) || !isfinite(ci.hi)) /* too few samples, or an end beyond what a number holds */
        return (struct as_interval){NAN, NAN};
    widen(&ci, median, median);
    return ci;
}

enum as_status as_summarize(const double *samples, const int *visit, size_t n, struct as_summary *out,
                            struct as_error *err)
{
    *out = (struct as_summary){
        .median = NAN, .ci = {NAN, NAN}, .mad = NAN, .min = NAN, .max = NAN, .mode = {NAN, NAN}, .mode_share0 = NAN};
    if (n == 0)
        return AS_OK;
    if (!as_all_finite(samples, n))
        return as_fail(err, AS_FORMAT, "one of %zu samples is not a finite number", n);
    struct as_visits v;
    enum as_status st = as_visits_make(samples, visit, n, &v, err);
    if (st)
        return st;
    double *sorted = as_copy_values(samples, n), median = NAN;
    if (!sorted) {
        st = as_nomem(err, n * sizeof *sorted, "samples");
        goto done;
    }
    as_sort(sorted, n);
    if ((st = balanced_median(samples, sorted, &v, &median, err)))
        goto done;
    out->n = n;
    out->visits = v.n;
    out->median = median;
    out->ci = summary_interval(sorted, n, &v, median);
    out->min = sorted[0];
    out->max = sorted[n - 1];
    out->modes = as_two_modes_sorted(sorted, n, out->mode, &out->mode_share0) ? 2 : 1;
    for (size_t i = 0; i < n; i++)
        sorted[i] = fabs(sorted[i] - median);
    out->mad = as_median_in(sorted, n);
    if (!isfinite(out->mad))
        out->mad = NAN;
done:
    free(sorted);
    as_visits_finish(&v);
    return st;
}
