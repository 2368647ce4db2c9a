/* Clocks of samples: the reference clock of the run, and the weight of each sample. */
#include "stats/estimate.h"
#include "stats/weighted.h"

#include <math.h>
#include <stdlib.h>

/* Clocks this close count as equal; readings of a steady clock differ by a tenth of this. */
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

double as_sample_weight(double before_hz, double after_hz, double slowest_hz, bool contended, double *clock_hz)
{
    bool a = is_clock(before_hz), b = is_clock(after_hz);
    double low = a && b ? fmin(before_hz, after_hz) : a ? before_hz : after_hz;
    double high = a && b ? fmax(before_hz, after_hz) : low;
    bool slow = slowest_hz > 0 && low < slowest_hz;
    *clock_hz = (a || b) && !slow ? 0.5 * (low + high) : NAN;
    return slow || contended ? 0 : high > low * (1 + SAME_CLOCK) ? UNSTEADY_WEIGHT : 1;
}
