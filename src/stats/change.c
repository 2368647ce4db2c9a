/* Change points of a sequence, and the end of the warm-up. */
#include "stats/order.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOW = 5 }; /* of the running median: spikes of one or two samples are no change of level */

/* y[i]: x in units of its noise around the middle of the sequence, with lone spikes clipped to three deviations from
 * the running median, so that they cost at most 9 each and cannot pay for a segment of their own (the bounded loss of
 * Fearnhead and Rigaill 2019). False when there is no noise at all and no change either, or no memory. */
static bool standardize(const double *x, size_t n, double *y, double *scratch)
{
    const double to_sigma = 1.4826; /* of a MAD of normal data */
    for (size_t i = 1; i < n; i++)
        scratch[i - 1] = fabs(x[i] - x[i - 1]);
    double step = to_sigma * as_select(scratch, n - 1, (n - 1) / 2), clip = 3 * step / sqrt(2);
    for (size_t i = 0; i < n; i++) {
        double near[WINDOW];
        size_t half = WINDOW / 2, first = i < half ? 0 : i + half >= n ? n - WINDOW : i - half;
        for (size_t j = 0; j < WINDOW; j++)
            near[j] = x[first + j];
        double middle = as_select(near, WINDOW, half);
        y[i] = step > 0 ? fmin(fmax(x[i], middle - clip), middle + clip) : middle;
    }
    /* the noise from successive differences: steps of the level hardly count in it (von Neumann 1941) */
    double square = 0, most = step > 0 ? 3 * sqrt(2) * step : INFINITY, centre = y[n / 2];
    for (size_t i = 1; i < n; i++)
        square += pow(fmin(fabs(y[i] - y[i - 1]), most), 2);
    double sigma = sqrt(square / (2 * (double)(n - 1)));
    if (!(sigma > 0) || !isfinite(sigma))
        return false;
    for (size_t i = 0; i < n; i++)
        y[i] = (y[i] - centre) / sigma;
    return true;
}

struct pelt {
    double *sum, *square; /* of the first i values */
    double *best;         /* cost of the best segmentation of the first i values */
    size_t *from;         /* where its last segment starts */
    size_t *open;         /* starts that can still be best */
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
    if (n < WINDOW || n > SIZE_MAX / 8 / sizeof(double) || !as_all_finite(x, n))
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
    if (!standardize(x, n, y, p.best))
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

size_t as_warmup_end(const double *x, size_t n)
{
    enum { CHANGES = 64 };
    size_t at[CHANGES + 1], end = 0;
    if (n < 2 * WINDOW || !as_all_finite(x, n))
        return 0;
    /* where it settles is judged by the second half; a change there is no warm-up */
    double settled = as_median(x + n / 2, n - n / 2), spread = as_mad(x + n / 2, n - n / 2);
    size_t changes = as_change_points(x, n, NAN, at, CHANGES);
    while (changes > 0 && at[changes - 1] > n / 2)
        changes--;
    at[changes] = n; /* the segment after the last change that counts */
    double before = as_median(x, at[0]);
    for (size_t i = 0; i < changes; i++) {
        double after = as_median(x + at[i], at[i + 1] - at[i]);
        if (!(fabs(after - settled) < fabs(before - settled)))
            break; /* not nearer to where it settles: something else than a warm-up */
        end = at[i];
        before = after;
    }
    /* a first sample or two far off (a first launch that compiles) are too few to be a segment */
    while (end < n / 2 && fabs(x[end] - settled) > 8 * 1.4826 * spread && spread > 0)
        end++;
    return end;
}
