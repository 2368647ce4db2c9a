/* Plateaus and knees of a curve on log-log axes: cache levels in a latency or bandwidth curve. */
#include "stats/order.h"

#include <math.h>
#include <stdlib.h>

/* Tuning constants, on natural logarithms of y unless stated otherwise */
static const double least_noise = 0.07; /* tolerance per point, since real levels are not flat */
static const double segment_cost = 9;   /* cost of starting a plateau, in squared deviations */
static const double loose_cost = 5;    /* cost of a point outside plateaus: two such points cost as much as a plateau */
static const double same_level = 0.14; /* neighbours within 15% are merged */
static const double least_octaves = 0.7;   /* minimum span of a plateau */
static const double steepest_octave = 0.2; /* maximum rise of a plateau per octave */

struct curve {
    size_t n;
    size_t *index;   /* index in the caller's arrays */
    double *lx, *ly; /* log2 of x, natural log of y */
    double *noise;   /* measured standard deviation of ly */
    double *best;
    size_t *from; /* start of the last plateau of the best cut; the point itself if it is loose */
};

struct span {
    size_t first, last; /* points of the curve */
    double level;       /* median of ly */
};

static bool plateau_make_curve(struct curve *c, size_t n)
{
    if (n > SIZE_MAX / 8 / sizeof(double))
        return false;
    double *numbers = malloc(4 * (n + 1) * sizeof *numbers);
    size_t *places = malloc(2 * (n + 1) * sizeof *places);
    *c = (struct curve){.index = places,
                        .lx = numbers,
                        .ly = numbers + (n + 1),
                        .noise = numbers + 2 * (n + 1),
                        .best = numbers + 3 * (n + 1),
                        .from = places + (n + 1)};
    if (numbers && places)
        return true;
    free(numbers);
    free(places);
    return false;
}

/* Copies the valid points; noise comes from the intervals if there are any, else from the steps of the curve. */
static void curve_fill(struct curve *c, const double *x, const double *y, const struct as_interval *ci, size_t n,
                       double *scratch)
{
    for (size_t i = 0; i < n; i++) {
        bool good = isfinite(x[i]) && isfinite(y[i]) && x[i] > 0 && y[i] > 0;
        if (!good || (c->n > 0 && !(log2(x[i]) > c->lx[c->n - 1])))
            continue;
        size_t k = c->n++;
        c->index[k] = i;
        c->lx[k] = log2(x[i]);
        c->ly[k] = log(y[i]);
        bool known = ci && ci[i].lo > 0 && ci[i].hi >= ci[i].lo && isfinite(ci[i].hi);
        c->noise[k] = known ? (log(ci[i].hi) - log(ci[i].lo)) / 3.92 : NAN;
    }
    for (size_t k = 1; k < c->n; k++)
        scratch[k - 1] = fabs(c->ly[k] - c->ly[k - 1]) * 1.4826 / sqrt(2);
    double steps = c->n > 1 ? as_select(scratch, c->n - 1, (c->n - 1) / 2) : 0;
    for (size_t k = 0; k < c->n; k++)
        if (isnan(c->noise[k]))
            c->noise[k] = fmin(steps, least_noise);
}

/* Optimal cut into flat segments and loose points (dynamic programming as for change points). */
static void plateau_segment(struct curve *c)
{
    c->best[0] = 0;
    for (size_t t = 1; t <= c->n; t++) {
        double sum = 0, square = 0;
        c->best[t] = c->best[t - 1] + loose_cost;
        c->from[t] = t;
        for (size_t s = t; s-- > 0;) {
            double d = (c->ly[s] - c->ly[t - 1]) / least_noise;
            sum += d;
            square += d * d;
            double off = square - sum * sum / (double)(t - s);
            if (c->best[s] + off + segment_cost < c->best[t]) {
                c->best[t] = c->best[s] + off + segment_cost;
                c->from[t] = s;
            }
        }
    }
}

/* A point counts for the level of its plateau unless others there are known so much better: within a factor of this
 * of the best, or as well as real levels are flat. */
static const double known_enough = 3;

static double least_known(const struct curve *c, size_t first, size_t last)
{
    double best = INFINITY;
    for (size_t i = first; i <= last; i++)
        best = fmin(best, c->noise[i]);
    return fmax(known_enough * best, least_noise);
}

/* Their values to out; returns how many. */
static size_t known_points(const struct curve *c, size_t first, size_t last, double *out)
{
    const double most = least_known(c, first, last);
    size_t n = 0;
    for (size_t i = first; i <= last; i++)
        if (c->noise[i] <= most)
            out[n++] = c->ly[i];
    return n;
}

static double span_level(const struct curve *c, size_t first, size_t last)
{
    return as_median(c->best, known_points(c, first, last, c->best));
}

/* Removes plateaus that are too short or rise, as in a ramp cut into steps. */
static bool is_flat(const struct curve *c, size_t first, size_t last)
{
    double n = (double)(last - first + 1), mx = 0, my = 0, sxx = 0, sxy = 0, noise = 0;
    for (size_t i = first; i <= last; i++) {
        mx += c->lx[i] / n;
        my += c->ly[i] / n;
        noise += c->noise[i] / n;
    }
    for (size_t i = first; i <= last; i++) {
        sxx += (c->lx[i] - mx) * (c->lx[i] - mx);
        sxy += (c->lx[i] - mx) * (c->ly[i] - my);
    }
    if (c->lx[last] - c->lx[first] < least_octaves)
        return false;
    return fabs(sxy / sxx) <= steepest_octave + 2 * noise / sqrt(sxx);
}

static size_t plateau_collect(const struct curve *c, struct span *spans)
{
    size_t n = 0;
    for (size_t t = c->n; t > 0;) {
        size_t s = c->from[t];
        if (s == t) {
            t--;
            continue;
        }
        if (t - s >= 2 && is_flat(c, s, t - 1))
            spans[n++] = (struct span){s, t - 1, span_level(c, s, t - 1)};
        t = s;
    }
    for (size_t i = 0; i < n / 2; i++) {
        struct span swap = spans[i];
        spans[i] = spans[n - 1 - i];
        spans[n - 1 - i] = swap;
    }
    return n;
}

/* Merges neighbours of about the same level, the closest first. */
static size_t plateau_merge(const struct curve *c, struct span *spans, size_t n)
{
    while (n > 1) {
        size_t near = 0;
        for (size_t i = 1; i + 1 < n; i++)
            if (fabs(spans[i + 1].level - spans[i].level) < fabs(spans[near + 1].level - spans[near].level))
                near = i;
        if (fabs(spans[near + 1].level - spans[near].level) >= same_level)
            break;
        spans[near].last = spans[near + 1].last;
        spans[near].level = span_level(c, spans[near].first, spans[near].last);
        n--;
        for (size_t i = near + 1; i < n; i++)
            spans[i] = spans[i + 1];
    }
    return n;
}

/* At its ends a plateau takes in points on the way to the level beyond: they say nothing of its own. */
static const double on_the_way = 0.01; /* and twice the point's noise from the level, towards what lies beyond */
enum { POINTS_MIN = 3 };

static bool is_on_the_way(const struct curve *c, size_t point, double level, double beyond)
{
    const double sign = beyond > level ? 1 : -1;
    return sign * (c->ly[point] - level) > 2 * c->noise[point] + on_the_way;
}

/* The points between, if they are enough; else all. */
static struct span plateau_core(const struct curve *c, const struct span *s)
{
    struct span core = *s;
    while (s->first > 0 && core.first < core.last && is_on_the_way(c, core.first, s->level, c->ly[s->first - 1]))
        core.first++;
    while (s->last + 1 < c->n && core.last > core.first && is_on_the_way(c, core.last, s->level, c->ly[s->last + 1]))
        core.last--;
    if (core.last - core.first + 1 < POINTS_MIN)
        return *s;
    core.level = span_level(c, core.first, core.last);
    return core;
}

/* 95% interval of the level: order statistics if there are enough points, else the range of their intervals. */
static struct as_interval level_interval(const struct curve *c, const struct span *s, double *scratch)
{
    const double most = least_known(c, s->first, s->last);
    struct as_interval ci = {INFINITY, -INFINITY};
    for (size_t i = s->first; i <= s->last; i++) {
        const double half = 1.96 * c->noise[i];
        if (c->noise[i] <= most)
            ci = (struct as_interval){fmin(ci.lo, c->ly[i] - half), fmax(ci.hi, c->ly[i] + half)};
    }
    const size_t n = known_points(c, s->first, s->last, scratch);
    as_sort(scratch, n);
    if (n >= 6)
        ci = as_median_interval(scratch, n, 0.95);
    return (struct as_interval){exp(ci.lo), exp(ci.hi)};
}

/* Where the curve is halfway (in log y) from a to b, and the points between which it left a. */
static void find_knee(const struct curve *c, const struct span *a, const struct span *b, struct as_plateau *out)
{
    double half = 0.5 * (a->level + b->level), sign = b->level > a->level ? 1 : -1;
    size_t up = a->last + 1;
    while (up < b->first && sign * (c->ly[up] - half) < 0)
        up++;
    double before = c->ly[up - 1], after = c->ly[up];
    double share = sign * (after - before) > 0 ? (half - before) / (after - before) : 0.5;
    share = fmin(fmax(share, 0), 1);
    out->knee = exp2((1 - share) * c->lx[up - 1] + share * c->lx[up]);
    /* the last points of a may already be on the rise if they deviate from its level by more than noise */
    size_t left = a->last;
    while (left > a->first && is_on_the_way(c, left, a->level, b->level) && c->lx[a->last] - c->lx[left - 1] <= 1)
        left--;
    while (up < b->first && sign * (c->ly[up] - half) < 2 * c->noise[up])
        up++;
    out->knee_ci = (struct as_interval){exp2(c->lx[left]), exp2(c->lx[up])};
}

size_t as_plateaus(const double *x, const double *y, const struct as_interval *y_ci, size_t n, struct as_plateau *out,
                   size_t max)
{
    struct curve c;
    size_t found = 0;
    if (n == 0 || max == 0 || !plateau_make_curve(&c, n))
        return 0;
    struct span *spans = malloc((n / 2 + 1) * sizeof *spans);
    if (!spans)
        goto done;
    curve_fill(&c, x, y, y_ci, n, c.best);
    plateau_segment(&c);
    found = plateau_merge(&c, spans, plateau_collect(&c, spans));
    found = found < max ? found : max;
    for (size_t i = 0; i < found; i++) {
        const struct span *s = &spans[i], core = plateau_core(&c, s);
        out[i] = (struct as_plateau){.first = c.index[s->first],
                                     .last = c.index[s->last],
                                     .level = exp(core.level),
                                     .ci = level_interval(&c, &core, c.best),
                                     .knee = NAN,
                                     .knee_ci = {NAN, NAN}};
        if (i + 1 < found)
            find_knee(&c, s, s + 1, &out[i]);
    }
done:
    free(spans);
    free(c.lx);
    free(c.index);
    return found;
}

static struct as_interval points_interval(const struct as_interval *ci, const struct as_plateau *p)
{
    const size_t n = p->last - p->first + 1;
    double *ends = malloc(2 * n * sizeof *ends);
    struct as_interval out = {NAN, NAN};
    if (!ends)
        return out;
    for (size_t i = 0; i < n; i++) {
        ends[i] = ci[p->first + i].lo;
        ends[n + i] = ci[p->first + i].hi;
    }
    out = (struct as_interval){as_median(ends, n), as_median(ends + n, n)};
    free(ends);
    return out;
}

enum as_step as_plateau_step(const struct as_interval *y_ci, const struct as_plateau p[2])
{
    const struct as_interval a = points_interval(y_ci, &p[0]), b = points_interval(y_ci, &p[1]);
    return b.lo > a.hi ? AS_STEP_UP : b.hi < a.lo ? AS_STEP_DOWN : AS_STEP_NONE;
}
