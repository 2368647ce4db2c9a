#include "core/drift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Turbo moves a core by up to a tenth, which the clock gate looks at; memory of a shared machine is never steady, and
 * threads that meet wait for each other. Only episodes are to be caught. */
static const struct {
    const char *what;
    double floor;
} floors[] = {{"core", 0.1}, {"memory", 0.15}, {"pair", 0.25}};
static const double SCATTERS = 4;

enum { READINGS_MIN = 3 };

enum as_status as_sentinel_add(struct as_sentinel *s, double at, double value, struct as_error *err)
{
    enum as_status st = as_grow((void **)&s->readings, &s->cap, s->n + 1, sizeof *s->readings, err);
    if (!st)
        s->readings[s->n++] = (struct as_reading){at, value};
    return st;
}

void as_sentinel_finish(struct as_sentinel *s)
{
    free(s->readings);
    *s = (struct as_sentinel){0};
}

static double usual(const struct as_sentinel *s)
{
    double *x = malloc(s->n * sizeof *x);
    if (!x)
        return NAN;
    for (size_t i = 0; i < s->n; i++)
        x[i] = s->readings[i].value;
    double m = as_median(x, s->n);
    free(x);
    return m;
}

double as_sentinel_deviation(const struct as_sentinel *s, double from, double to)
{
    if (s->n < READINGS_MIN)
        return NAN;
    double m = usual(s), worst = 0;
    size_t after = 0;
    while (after < s->n && s->readings[after].at < to)
        after++;
    size_t first = after;
    while (first > 0 && s->readings[first - 1].at >= from)
        first--;
    first = first > 0 ? first - 1 : 0;
    for (size_t i = first; i < s->n && i <= after; i++)
        worst = fmax(worst, fabs(s->readings[i].value / m - 1));
    return worst;
}

static double floor_of(const char *what)
{
    size_t last = sizeof floors / sizeof *floors - 1, i = 0;
    while (i < last && strcmp(floors[i].what, what) != 0)
        i++;
    return floors[i].floor;
}

double as_sentinel_tolerance(const struct as_sentinel *s)
{
    double floor_ = floor_of(s->what);
    if (s->n < READINGS_MIN)
        return floor_;
    /* Steps between neighbours show the scatter of a reading and are blind to slow drift and to episodes. */
    double *step = malloc((s->n - 1) * sizeof *step);
    if (!step)
        return floor_;
    for (size_t i = 1; i < s->n; i++)
        step[i - 1] = fabs(s->readings[i].value - s->readings[i - 1].value);
    double scatter = as_median(step, s->n - 1) / usual(s);
    free(step);
    return fmax(floor_, SCATTERS * scatter);
}
