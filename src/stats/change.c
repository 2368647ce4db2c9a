/* Change points of a sequence, and the end of the warm-up. */
#include "stats/order.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLES_MIN = 5 }; /* minimum number of samples */

struct ranked {
    double x;
    size_t at;
};

static int change_by_x(const void *a, const void *b)
{
    const struct ranked *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

/* y[i]: the rank of x[i] (ties share theirs) in units of the ranks' noise. Ranks, so that spikes, tails and two
 * modes are not changes; noise from successive differences, which a few steps of the level hardly affect (von
 * Neumann 1941). False when all are equal, or out of memory. */
static bool standardize(const double *x, size_t n, double *y)
{
    struct ranked *r = malloc(n * sizeof *r);
    if (!r) {
        as_memory_failed();
        return false;
    }
    for (size_t i = 0; i < n; i++)
        r[i] = (struct ranked){x[i], i};
    qsort(r, n, sizeof *r, change_by_x);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && r[end].x == r[i].x; end++)
            ;
        for (size_t k = i; k < end; k++)
            y[r[k].at] = 0.5 * ((double)(i + end) - (double)n); /* around the middle rank */
    }
    free(r);
    double square = 0;
    for (size_t i = 1; i < n; i++)
        square += (y[i] - y[i - 1]) * (y[i] - y[i - 1]);
    double sigma = sqrt(square / (2 * (double)(n - 1)));
    for (size_t i = 0; i < n && sigma > 0; i++)
        y[i] /= sigma;
    return sigma > 0;
}

struct pelt {
    double *sum, *square; /* of the first i values */
    double *best;         /* cost of the best segmentation of the first i values */
    size_t *from;         /* where its last segment starts */
    size_t *open;         /* starts that can still be optimal */
};

static double segment_cost(const struct pelt *p, size_t from, size_t to)
{
    double s = p->sum[to] - p->sum[from];
    return p->square[to] - p->square[from] - s * s / (double)(to - from);
}

static void pelt_run(struct pelt *p, const double *y, size_t n, double penalty)
{
    size_t open_n = 0;
    p->sum[0] = p->square[0] = 0;
    p->best[0] = -penalty;
    for (size_t t = 1; t <= n; t++) {
        p->sum[t] = p->sum[t - 1] + y[t - 1];
        p->square[t] = p->square[t - 1] + y[t - 1] * y[t - 1];
        p->open[open_n++] = t - 1;
        p->best[t] = INFINITY;
        for (size_t i = 0; i < open_n; i++) {
            double c = p->best[p->open[i]] + segment_cost(p, p->open[i], t) + penalty;
            if (c < p->best[t]) {
                p->best[t] = c;
                p->from[t] = p->open[i];
            }
        }
        size_t kept = 0;
        for (size_t i = 0; i < open_n; i++)
            if (p->best[p->open[i]] + segment_cost(p, p->open[i], t) <= p->best[t])
                p->open[kept++] = p->open[i];
        open_n = kept;
    }
}

size_t as_change_points(const double *x, size_t n, double penalty, size_t *at, size_t max)
{
    if (n < SAMPLES_MIN || n > SIZE_MAX / 8 / sizeof(double) || !as_all_finite(x, n))
        return 0;
    if (isnan(penalty))
        penalty = 3 * log((double)n);
    double *numbers = malloc(4 * (n + 1) * sizeof *numbers);
    size_t *places = malloc(2 * (n + 1) * sizeof *places);
    size_t found = 0;
    if (!numbers || !places)
        goto done;
    double *y = numbers;
    struct pelt p = {.sum = numbers + (n + 1),
                     .square = numbers + 2 * (n + 1),
                     .best = numbers + 3 * (n + 1),
                     .from = places,
                     .open = places + (n + 1)};
    if (!standardize(x, n, y))
        goto done;
    pelt_run(&p, y, n, penalty);
    for (size_t t = p.from[n]; t > 0; t = p.from[t])
        found++;
    size_t i = found;
    for (size_t t = p.from[n]; t > 0; t = p.from[t])
        if (--i < max)
            at[i] = t;
    found = found < max ? found : max;
done:
    free(numbers);
    free(places);
    return found;
}

/* Samples at the start of a segment that are far from its rest (a first launch that compiles), too few to be a
 * separate segment. */
static size_t far_off(const double *x, size_t n)
{
    double middle = as_median(x, n), far = 8 * 1.4826 * as_mad(x, n);
    size_t i = 0;
    while (i < SAMPLES_MIN && i < n / 2 && far > 0 && fabs(x[i] - middle) > far)
        i++;
    return i;
}

size_t as_warmup_end(const double *x, size_t n)
{
    enum { CHANGES = 64 };
    size_t at[CHANGES + 1] = {0}, end = 0;
    if (n < 2 * SAMPLES_MIN || !as_all_finite(x, n))
        return 0;
    /* the second half defines the settled level; a change there is not warm-up */
    double settled = as_median(x + n / 2, n - n / 2);
    size_t changes = as_change_points(x, n, NAN, at, CHANGES), counted = 0, next = 0;
    while (counted < changes && at[counted] <= n / 2)
        counted++;
    if (counted == changes)
        at[changes] = n;
    double before = as_median(x, at[0]);
    for (; next < counted; next++) {
        double after = as_median(x + at[next], at[next + 1] - at[next]);
        if (!(fabs(after - settled) < fabs(before - settled)))
            break; /* not closer to the settled level: not warm-up */
        end = at[next];
        before = after;
    }
    return end + far_off(x + end, at[next] - end);
}
