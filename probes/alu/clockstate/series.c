#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEN = 10, LEAST = 30 };
static const double STEADY = 0.02, CONFIDENCE = 0.95;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Finds the last group of ten whose level differs from that of the last third. All launches up to it are unsteady. */
static void find_settling(const struct as_series *s, struct as_series_found *out)
{
    const size_t third = s->n - s->n / 3;
    const double level = as_median(s->rate + third, s->n / 3);
    size_t unsteady = 0;
    for (size_t at = 0; at + TEN <= s->n; at += TEN)
        if (fabs(as_median(s->rate + at, TEN) / level - 1) > STEADY)
            unsteady = at + TEN;
    out->settles = unsteady <= third;
    out->launches = unsteady;
    out->seconds = unsteady ? s->ended[unsteady - 1] : 0;
}

bool as_series_find(const struct as_series *s, struct as_series_found *out)
{
    *out = (struct as_series_found){.modes = 1};
    double *sorted = s->n >= LEAST ? malloc(s->n * sizeof *sorted) : NULL;
    if (!sorted)
        return false;
    memcpy(sorted, s->rate, s->n * sizeof *sorted);
    qsort(sorted, s->n, sizeof *sorted, ascending);
    out->median = as_median(sorted, s->n);
    out->ci = as_median_interval(sorted, s->n, CONFIDENCE);
    out->low = as_quantile(sorted, s->n, 0.05);
    out->high = as_quantile(sorted, s->n, 0.95);
    out->first = s->rate[0] / out->median;
    free(sorted);
    if (as_two_modes(s->rate, s->n, out->mode, &out->share))
        out->modes = 2;
    find_settling(s, out);
    return true;
}
