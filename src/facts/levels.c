/* Levels of a curve over sizes: which plateaus are distinct, and which of their sizes a level's number comes from. */
#include "facts/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum as_step levels_step(const struct as_curve *curve, const struct as_plateau *a, const struct as_plateau *b)
{
    const struct as_plateau pair[2] = {*a, *b};
    return as_plateau_step(curve->ci, pair);
}

/* Does a cache that is reported end between the plateaus? Then they are two levels, distinct or not. */
static bool levels_have_end_between(const struct as_device_info *info, double last, double first)
{
    for (size_t i = 0; info && i < info->caches_n && i < AS_CACHES_MAX; i++) {
        const double size = (double)info->caches[i].size;
        if (info->caches[i].kind != 'i' && size >= last && size < first)
            return true;
    }
    return false;
}

/* The medians of the points and of their intervals' ends: a disturbed point does not decide. */
static void levels_measure(const struct as_curve *curve, struct as_plateau *p)
{
    const size_t n = p->last - p->first + 1;
    double *ends = malloc(2 * n * sizeof *ends);
    if (!ends)
        return;
    for (size_t i = 0; i < n; i++) {
        ends[i] = curve->ci[p->first + i].lo;
        ends[n + i] = curve->ci[p->first + i].hi;
    }
    p->level = as_median(&curve->y[p->first], n);
    p->ci = (struct as_interval){as_median(ends, n), as_median(ends + n, n)};
    free(ends);
}

static void levels_join(const struct as_curve *curve, struct as_plateau *a, const struct as_plateau *b)
{
    a->last = b->last;
    a->knee = b->knee;
    a->knee_ci = b->knee_ci;
    levels_measure(curve, a);
}

size_t as_levels_of(const struct as_curve *curve, const struct as_device_info *info, struct as_plateau *out, size_t max)
{
    const size_t found = as_plateaus(curve->x, curve->y, curve->ci, curve->n, out, max);
    size_t n = 0;
    for (size_t i = 0; i < found; i++) {
        struct as_plateau *before = n ? &out[n - 1] : NULL;
        if (before && levels_step(curve, before, &out[i]) == AS_STEP_NONE &&
            !levels_have_end_between(info, curve->x[before->last], curve->x[out[i].first]))
            levels_join(curve, before, &out[i]);
        else
            out[n++] = out[i];
    }
    return n;
}

enum as_level_end as_level_end_of(const struct as_curve *curve, const struct as_plateau *p, size_t i, size_t n)
{
    if (i + 1 == n)
        return AS_END_BEYOND;
    if (levels_step(curve, &p[i], &p[i + 1]) == AS_STEP_UP)
        return AS_END_CLEAR;
    for (size_t k = i + 2; k < n; k++)
        if (levels_step(curve, &p[i], &p[k]) == AS_STEP_UP)
            return AS_END_UNRESOLVED;
    return AS_END_NONE;
}

bool as_level_keep(const struct as_curve *curve, double beyond, struct as_plateau *p)
{
    struct as_plateau kept = *p;
    while (kept.first < p->last && curve->x[kept.first] <= beyond)
        kept.first++;
    if (curve->x[kept.first] <= beyond)
        return false;
    if (kept.first != p->first)
        levels_measure(curve, &kept);
    *p = kept;
    return true;
}

double as_levels_pair(const double *knee, size_t knees, const struct as_cache *const *caches, size_t caches_n,
                      size_t *cache)
{
    if (knees == 0 || caches_n == 0) {
        for (size_t i = 0; i < knees; i++)
            cache[i] = SIZE_MAX;
        return 0;
    }
    size_t rest[AS_LEVELS_MAX];
    double best = INFINITY;
    if (knees >= caches_n) { /* the last knee may belong to no cache */
        for (size_t drop = 0; drop < 2; drop++) {
            if (drop && knees == caches_n)
                break;
            double cost = as_levels_pair(knee, knees - 1, caches, caches_n - !drop, rest);
            cost += drop ? 0 : fabs(log2(knee[knees - 1] / (double)caches[caches_n - 1]->size));
            if (cost < best) {
                best = cost;
                memcpy(cache, rest, (knees - 1) * sizeof *cache);
                cache[knees - 1] = drop ? SIZE_MAX : caches_n - 1;
            }
        }
        return best;
    }
    for (size_t last = knees; last <= caches_n; last++) {
        double cost = as_levels_pair(knee, knees - 1, caches, last - 1, rest);
        cost += fabs(log2(knee[knees - 1] / (double)caches[last - 1]->size));
        if (cost < best) {
            best = cost;
            memcpy(cache, rest, (knees - 1) * sizeof *cache);
            cache[knees - 1] = last - 1;
        }
    }
    return best;
}
