#include "stats/weighted.h"
#include "stats/order.h"

#include <math.h>
#include <string.h>

static void weighted_merge(const struct as_weighted *a, size_t middle, size_t n, struct as_weighted *out)
{
    size_t i = 0, j = middle, k = 0;
    if (middle < n && a[middle - 1].x <=
                          a[middle].x) { /* often already sorted, since trials are sorted one by one before the merge */
        memcpy(out, a, n * sizeof *a);
        return;
    }
    while (i < middle && j < n) {
        size_t right = a[j].x < a[i].x;
        out[k++] = a[right ? j : i];
        j += right;
        i += !right;
    }
    memcpy(out + k, a + i, (middle - i) * sizeof *a);
    memcpy(out + k + (middle - i), a + j, (n - j) * sizeof *a);
}

static void insertion(struct as_weighted *p, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct as_weighted v = p[i];
        size_t j = i;
        for (; j > 0 && v.x < p[j - 1].x; j--)
            p[j] = p[j - 1];
        p[j] = v;
    }
}

/* Branch-free merge sort, three times as fast as qsort; runs for every cell after each round. */
void as_weighted_sort(struct as_weighted *p, size_t n, struct as_weighted *scratch)
{
    enum { RUN = 4 };
    for (size_t at = 0; at < n; at += RUN)
        insertion(p + at, n - at < RUN ? n - at : RUN);
    struct as_weighted *from = p, *to = scratch;
    for (size_t run = RUN; run < n; run *= 2) {
        for (size_t at = 0; at < n; at += 2 * run) {
            size_t left = n - at, length = left < 2 * run ? left : 2 * run;
            weighted_merge(from + at, length < run ? length : run, length, to + at);
        }
        struct as_weighted *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != p)
        memcpy(p, from, n * sizeof *p);
}

double as_weighted_quantile(const struct as_weighted *p, size_t n, double share)
{
    double total = 0;
    for (size_t i = 0; i < n; i++)
        total += p[i].weight;
    double aim = share * total, before = 0, middle = 0;
    for (size_t i = 0; i < n; i++) {
        double last = middle;
        middle = before + 0.5 * p[i].weight;
        before += p[i].weight;
        if (middle >= aim) {
            if (i == 0)
                return p[0].x;
            double part = (aim - last) / (middle - last);
            return (1 - part) * p[i - 1].x + part * p[i].x;
        }
    }
    return p[n - 1].x;
}

double as_weighted_number(const struct as_weighted *p, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += p[i].weight;
        squares += p[i].weight * p[i].weight;
    }
    return squares > 0 ? sum * sum / squares : 0;
}

struct as_interval as_weighted_interval(const struct as_weighted *p, size_t n)
{
    size_t number = (size_t)(as_weighted_number(p, n) + 0.5);
    struct as_median_ranks r = as_median_ranks(number, 0.95);
    if (r.rank == 0)
        return (struct as_interval){NAN, NAN};
    double share = ((double)r.rank - 0.5 + r.share) / (double)number;
    return (struct as_interval){as_weighted_quantile(p, n, share), as_weighted_quantile(p, n, 1 - share)};
}

/* Between whole degrees the logarithm of t is nearly linear in 1/df. */
double as_student95(double df)
{
    df = fmin(fmax(df, 1), 60);
    unsigned low = (unsigned)df;
    double t = as_student(low, 0.95), share = (1.0 / low - 1 / df) / (1.0 / low - 1.0 / (low + 1));
    return share > 0 ? t * pow(as_student(low + 1, 0.95) / t, share) : t;
}
