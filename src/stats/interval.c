/* Intervals of the median, and the quantiles they need. */
#include "stats/order.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

static double log_factorial(size_t n)
{
    int sign;
    return lgamma_r((double)n + 1, &sign);
}

/* P(X = k) of the binomial distribution with p = 1/2 */
static double binomial_pmf(size_t n, size_t k)
{
    return exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) - (double)n * log(2));
}

/* P(X <= k); the sum goes down from k, where the terms are largest, until they no longer count */
static double binomial_cdf(size_t n, size_t k)
{
    double term = binomial_pmf(n, k), sum = 0;
    for (size_t i = k;; i--) {
        sum += term;
        if (i == 0 || term < sum * 1e-17)
            return sum;
        term *= (double)i / (double)(n - i + 1);
    }
}

struct as_median_ranks as_median_ranks(size_t n, double confidence)
{
    struct as_median_ranks none = {0, 0};
    double tail = 0.5 * (1 - confidence);
    if (n < 2 || !(confidence > 0 && confidence < 1) || pow(0.5, (double)n) > tail)
        return none;
    /* the largest rank d with P(X <= d - 1) <= tail: start low by the normal approximation, then step up */
    double guess = 0.5 * (double)n - sqrt(-0.5 * log(tail)) * sqrt((double)n);
    size_t d = guess > 1 ? (size_t)guess : 1;
    double below = binomial_cdf(n, d - 1), mass = binomial_pmf(n, d);
    while (below + mass <= tail && d + 1 <= n / 2) {
        below += mass;
        mass *= (double)(n - d) / (double)(d + 1);
        d++;
    }
    double wide = 1 - 2 * below, narrow = 1 - 2 * (below + mass);
    double i = (wide - confidence) / (wide - narrow), nn = (double)n, dd = (double)d;
    double share = (nn - dd) * i / (dd + (nn - 2 * dd) * i);
    return (struct as_median_ranks){d, fmin(fmax(share, 0), 1)};
}

static double interval_blend(double a, double b, double share)
{
    return (1 - share) * a + share * b;
}

struct as_interval as_median_interval(const double *sorted, size_t n, double confidence)
{
    struct as_median_ranks r = as_median_ranks(n, confidence);
    if (r.rank == 0)
        return (struct as_interval){NAN, NAN};
    return (struct as_interval){interval_blend(sorted[r.rank - 1], sorted[r.rank], r.share),
                                interval_blend(sorted[n - r.rank], sorted[n - r.rank - 1], r.share)};
}

bool as_precise_enough(const double *x, size_t n, double precision)
{
    struct as_median_ranks r = as_median_ranks(n, 0.95);
    double small[512], *v = small;
    if (n < 6 || r.rank == 0 || !(precision >= 0) || !as_all_finite(x, n))
        return false;
    if (n > sizeof small / sizeof *small && !(v = malloc(n * sizeof *v)))
        return false;
    for (size_t i = 0; i < n; i++)
        v[i] = x[i];
    /* each selection continues in the upper part of the previous one: together they cost little more than one */
    size_t a = r.rank - 1, b = n - r.rank - 1;
    double lo0 = as_select(v, n, a), lo1 = as_select(v + a + 1, n - a - 1, 0);
    double m1 = as_select(v + a + 1, n - a - 1, n / 2 - a - 1);
    double m0 = n % 2 ? m1 : as_select(v + a + 1, n / 2 - a - 1, n / 2 - a - 2);
    double hi1 = b >= n / 2 ? as_select(v + n / 2, n - n / 2, b - n / 2) : m0;
    double hi0 = as_select(v + b + 1, n - b - 1, 0);
    if (v != small)
        free(v);
    double median = 0.5 * m0 + 0.5 * m1;
    double width = interval_blend(hi0, hi1, r.share) - interval_blend(lo0, lo1, r.share);
    return width <= precision * fabs(median);
}

/* P(|T| <= t) for whole degrees of freedom (Abramowitz, Stegun 26.7.3 and 26.7.4) */
static double student_inside(unsigned df, double t)
{
    double theta = atan(t / sqrt((double)df)), c2 = cos(theta) * cos(theta), sum = 0;
    bool odd = df % 2 == 1;
    double term = odd ? cos(theta) : 1;
    for (unsigned k = odd ? 1 : 0; k + 2 <= df; k += 2) {
        sum += term;
        term *= c2 * (double)(k + 1) / (double)(k + 2);
    }
    return odd ? 2 / pi * (theta + sin(theta) * sum) : sin(theta) * sum;
}

double as_student(unsigned df, double confidence)
{
    if (df == 0 || !(confidence > 0 && confidence < 1))
        return NAN;
    if (df > 10000) /* the quantile then differs from that of 10,000 by less than 0.01% */
        df = 10000;
    double lo = 0, hi = 2;
    while (student_inside(df, hi) < confidence && hi < 1e12)
        hi *= 2;
    for (int i = 0; i < 80 && hi - lo > 1e-12 * hi; i++) {
        double mid = 0.5 * (lo + hi);
        if (student_inside(df, mid) < confidence)
            lo = mid;
        else
            hi = mid;
    }
    return 0.5 * (lo + hi);
}
