#include "summarize.h"

#include "stats/estimate.h"

#include <stdlib.h>

bool summarize(const double *x, const int *trial, size_t n, struct as_summary *out)
{
    struct as_estimate e;
    struct as_error err;
    size_t trials = 0;
    struct as_trial_samples *t = calloc(n, sizeof *t);
    if (!t)
        abort();
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || (trial && trial[i] != trial[i - 1]))
            t[trials++].x = &x[i];
        t[trials - 1].n++;
    }
    const enum as_status st = as_estimate_cell(t, trials, NULL, NULL, NULL, &e, &err);
    free(t);
    *out = (struct as_summary){.n = e.n,
                               .trials = e.trials,
                               .median = e.value,
                               .ci = e.ci,
                               .mad = e.mad,
                               .min = e.min,
                               .max = e.max,
                               .modes = e.modes,
                               .mode = {e.mode[0], e.mode[1]},
                               .mode_share0 = e.mode_share0};
    return st == AS_OK;
}
