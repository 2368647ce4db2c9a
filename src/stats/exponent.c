/* The exponent of a probe's clock: the median of slopes of ln time over ln clock between points that differ in little
 * but their clock, paired after Theil (1950, incomplete method): in order of the clock, each of the lower half with its
 * counterpart in the upper half. Only pairs at least 3% apart count. That errors of the readings bias a regression
 * towards 0 needs no correction then, since they are a tenth of that distance and the bias is at most 2%. */
#include "stats/estimate.h"
#include "stats/order.h"
#include "stats/weighted.h"

#include <math.h>
#include <stdlib.h>

enum { TRIALS_NEEDED = 10, POINTS_MAX = 64 };
static const double APART = 0.03;
/* A less precise exponent would add more scatter than it removes. */
static const double WIDEST = 0.5;

struct slopes {
    struct as_weighted *p, *point, *scratch; /* slopes; clock (x) and value (weight) of the points of a group */
    size_t n, points, trials;
    double sign;
};

/* Adds a point to a group: the logarithms of clock and value. */
static void add_point(struct slopes *s, double clock, double x)
{
    if (clock > 0 && x > 0)
        s->point[s->points++] = (struct as_weighted){log(clock), log(x)};
}

/* Slopes of the group's points; returns whether its clock moved enough. */
static bool end_group(struct slopes *s)
{
    size_t half = s->points / 2, before = s->n;
    as_weighted_sort(s->point, s->points, s->scratch);
    for (size_t i = 0; i < half; i++) {
        struct as_weighted a = s->point[i], b = s->point[i + s->points - half];
        if (b.x - a.x >= APART)
            s->p[s->n++] = (struct as_weighted){s->sign * (b.weight - a.weight) / (b.x - a.x), b.x - a.x};
    }
    s->points = 0;
    return s->n > before;
}

static bool steady(const struct as_trial_samples *t, size_t i)
{
    return t->clock_hz && !isnan(t->clock_hz[i]) && (!t->weight || t->weight[i] >= 1);
}

/* Within trials, where only the clock changes. One slope per trial, the median of its pairs. */
static void slopes_within(struct slopes *s, const struct as_cell_trials *cells, size_t n)
{
    for (size_t c = 0; c < n; c++)
        for (size_t k = 0; k < cells[c].n; k++) {
            const struct as_trial_samples *t = &cells[c].trials[k];
            size_t step = t->n / POINTS_MAX + 1, before = s->n;
            for (size_t i = 0; i < t->n; i += step)
                if (steady(t, i))
                    add_point(s, t->clock_hz[i], t->x[i]);
            if (!end_group(s))
                continue;
            as_weighted_sort(s->p + before, s->n - before, s->scratch);
            double weight = 0;
            for (size_t i = before; i < s->n; i++)
                weight += s->p[i].weight;
            s->p[before] = (struct as_weighted){as_weighted_quantile(s->p + before, s->n - before, 0.5), weight};
            s->n = before + 1;
            s->trials++;
        }
}

/* Median clock and value of the steady samples of a trial; scratch has room for twice POINTS_MAX. */
static void exponent_add_trial(struct slopes *s, const struct as_trial_samples *t, double *scratch)
{
    size_t n = 0, step = t->n / POINTS_MAX + 1;
    for (size_t i = 0; i < t->n; i += step)
        if (steady(t, i)) {
            scratch[n] = t->clock_hz[i];
            scratch[POINTS_MAX + n++] = t->x[i];
        }
    if (n > 0)
        add_point(s, as_median_in(scratch, n), as_median_in(scratch + POINTS_MAX, n));
}

/* Between trials of a cell. */
static void slopes_between(struct slopes *s, const struct as_cell_trials *cells, size_t n)
{
    double scratch[2 * POINTS_MAX];
    for (size_t c = 0; c < n; c++) {
        for (size_t k = 0; k < cells[c].n; k++)
            exponent_add_trial(s, &cells[c].trials[k], scratch);
        size_t before = s->n;
        end_group(s);
        s->trials += 2 * (s->n - before);
    }
}

static void exponent_judge(struct slopes *s, struct as_exponent *out)
{
    out->trials = s->trials;
    if (s->n == 0)
        return;
    as_weighted_sort(s->p, s->n, s->scratch);
    out->ci = as_weighted_interval(s->p, s->n);
    out->beta = fmin(fmax(as_weighted_quantile(s->p, s->n, 0.5), 0), 1);
    out->known = s->trials >= TRIALS_NEEDED && out->ci.hi - out->ci.lo <= WIDEST;
}

enum as_status as_exponent_fit(const struct as_cell_trials *cells, size_t n, bool rate, struct as_exponent *out,
                               struct as_error *err)
{
    size_t room = POINTS_MAX;
    for (size_t c = 0; c < n; c++)
        room += cells[c].n;
    struct slopes s = {.sign = rate ? 1 : -1};
    *out = (struct as_exponent){.beta = NAN, .ci = {NAN, NAN}};
    s.p = malloc(3 * room * sizeof *s.p);
    if (!s.p)
        return as_nomem(err, 3 * room * sizeof *s.p, "slopes");
    s.point = s.p + room;
    s.scratch = s.point + room;
    slopes_within(&s, cells, n);
    exponent_judge(&s, out);
    if (!out->known) {
        s.n = s.trials = 0;
        slopes_between(&s, cells, n);
        struct as_exponent between = {.beta = NAN, .ci = {NAN, NAN}};
        exponent_judge(&s, &between);
        if (between.known || isnan(out->beta))
            *out = between;
    }
    free(s.p);
    return AS_OK;
}
