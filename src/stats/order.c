#include "stats/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void order_swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

/* Hoare's FIND with the median of three as pivot, drawn at random, so that no order of the data is bad. */
double as_select(double *x, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;
    uint32_t draw = 0x9e3779b9u;
    while (hi - lo > 2) {
        double three[3];
        for (size_t i = 0; i < 3; i++) {
            draw = draw * 1664525u + 1013904223u;
            three[i] = x[lo + (size_t)(((uint64_t)draw * (hi - lo + 1)) >> 32)];
        }
        double pivot = fmax(fmin(three[0], three[1]), fmin(fmax(three[0], three[1]), three[2]));
        size_t i = lo, j = hi;
        for (;;) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i >= j)
                break;
            order_swap(&x[i++], &x[j--]);
        }
        /* x[lo..i) <= pivot <= x[i..hi]; with i == j the element there equals the pivot */
        if (i == j && i == k)
            return x[k];
        if (k < i)
            hi = i - 1;
        else
            lo = i + (i == j);
    }
    for (size_t i = lo + 1; i <= hi; i++)
        for (size_t j = i; j > lo && x[j] < x[j - 1]; j--)
            order_swap(&x[j], &x[j - 1]);
    return x[k];
}

static int order_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void as_sort(double *x, size_t n)
{
    if (n > 1)
        qsort(x, n, sizeof *x, order_by_value);
}

bool as_all_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

double *as_copy_values(const double *x, size_t n)
{
    if (n == 0 || n > SIZE_MAX / sizeof *x)
        return NULL;
    double *copy = malloc(n * sizeof *copy);
    if (copy)
        memcpy(copy, x, n * sizeof *copy);
    else
        as_memory_failed();
    return copy;
}

double as_median_sorted(const double *x, size_t n)
{
    if (n == 0)
        return NAN;
    return n % 2 ? x[n / 2] : 0.5 * x[n / 2 - 1] + 0.5 * x[n / 2];
}

double as_median_in(double *x, size_t n)
{
    double upper = as_select(x, n, n / 2);
    if (n % 2)
        return upper;
    double lower = x[0];
    for (size_t i = 1; i < n / 2; i++)
        lower = fmax(lower, x[i]);
    return 0.5 * lower + 0.5 * upper;
}

double as_median(const double *x, size_t n)
{
    double *copy = as_copy_values(x, n);
    double m = copy && as_all_finite(x, n) ? as_median_in(copy, n) : NAN;
    free(copy);
    return m;
}

double as_quantile(const double *x, size_t n, double p)
{
    double *copy = as_copy_values(x, n);
    double q = NAN;
    if (copy && p >= 0 && p <= 1 && as_all_finite(x, n)) {
        double at = p * (double)(n - 1);
        size_t k = (size_t)at;
        double share = at - (double)k;
        q = as_select(copy, n, k);
        if (share > 0) {
            double next = copy[k + 1];
            for (size_t i = k + 2; i < n; i++)
                next = fmin(next, copy[i]);
            q = (1 - share) * q + share * next;
        }
    }
    free(copy);
    return q;
}

double as_mad(const double *x, size_t n)
{
    double *copy = as_copy_values(x, n);
    double mad = NAN;
    if (copy && as_all_finite(x, n)) {
        double m = as_median_in(copy, n);
        for (size_t i = 0; i < n; i++)
            copy[i] = fabs(copy[i] - m);
        mad = as_median_in(copy, n);
    }
    free(copy);
    return mad;
}
