/* Clocks of samples: which one is the run's, and what a sample counts by them. */
#include "stats/estimate.h"
#include "stats/weighted.h"

#include <math.h>
#include <stdlib.h>

/* Clocks within this share are one clock: readings of a steady one differ by a tenth of it. */
static const double SAME_CLOCK = 0.01;
static const double UNSTEADY_WEIGHT = 0.1;

static bool is_clock(double hz)
{
    return isfinite(hz) && hz > 0;
}

double as_reference_clock(const double *hz, const double *weight, size_t n)
{
    struct as_weighted *p = n <= SIZE_MAX / 2 / sizeof *p ? malloc((2 * n + 1) * sizeof *p) : NULL;
    size_t known = 0, first = 0, best = 0, best_n = 0;
    if (!p)
        return NAN;
    for (size_t i = 0; i < n; i++)
        if (is_clock(hz[i]) && (!weight || weight[i] > 0))
            p[known++] = (struct as_weighted){hz[i], weight ? weight[i] : 1};
    as_weighted_sort(p, known, p + n);
    double held = 0, most = 0;
    for (size_t i = 0; i < known; i++) {
        held += p[i].weight;
        for (; p[first].x < p[i].x / (1 + SAME_CLOCK); first++)
            held -= p[first].weight;
        if (held > most * (1 + 1e-12)) {
            most = held;
            best = first;
            best_n = i - first + 1;
        }
    }
    double clock = known ? as_weighted_quantile(p + best, best_n, 0.5) : NAN;
    free(p);
    return clock;
}

size_t as_sample_weights(const double *before_hz, const double *after_hz, const double *gap_s, size_t n,
                         const struct as_quiet *quiet, double *clock_hz, double *weight)
{
    size_t contended = 0;
    for (size_t i = 0; i < n; i++) {
        bool a = is_clock(before_hz[i]), b = is_clock(after_hz[i]);
        double low = a && b ? fmin(before_hz[i], after_hz[i]) : a ? before_hz[i] : after_hz[i];
        double high = a && b ? fmax(before_hz[i], after_hz[i]) : low;
        clock_hz[i] = a || b ? 0.5 * (low + high) : NAN;
        weight[i] = high > low * (1 + SAME_CLOCK) ? UNSTEADY_WEIGHT : 1;
        bool slow = quiet && quiet->slowest_hz > 0 && low < quiet->slowest_hz;
        bool gap = quiet && quiet->gap_s > 0 && gap_s && gap_s[i] > quiet->gap_s;
        if (slow)
            clock_hz[i] = NAN;
        if (slow || gap) {
            weight[i] = 0;
            contended++;
        }
    }
    return contended;
}
