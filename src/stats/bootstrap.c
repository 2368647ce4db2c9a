/* Bootstrap of a ratio of medians (Efron 1979; percentile interval, Efron and Tibshirani 1993, chapter 13). Samples of
 * one trial are not independent, so trials are drawn first and samples within them second (Davison and Hinkley 1997,
 * 3.8). */
#include "base/clock.h"
#include "stats/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct side {
    struct as_visits visits;
    double *sorted;
    uint32_t *rank; /* of each sample in sorted */
    double *weight; /* how much each rank was drawn in this round */
};

struct placed {
    double x;
    uint32_t at;
};

static int by_x(const void *a, const void *b)
{
    const struct placed *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

static void side_finish(struct side *s)
{
    as_visits_finish(&s->visits);
    free(s->sorted);
    free(s->rank);
    free(s->weight);
}

static enum as_status side_make(const double *x, const int *visit, size_t n, struct side *s, struct as_error *err)
{
    if (n == 0 || n > UINT32_MAX || !as_all_finite(x, n))
        return as_fail(err, AS_USAGE, "a ratio needs finite samples on both sides");
    enum as_status st = as_visits_make(x, visit, n, &s->visits, err);
    if (st)
        return st;
    struct placed *order = malloc(n * sizeof *order);
    s->sorted = malloc(n * sizeof *s->sorted);
    s->rank = malloc(n * sizeof *s->rank);
    s->weight = malloc(n * sizeof *s->weight);
    if (!order || !s->sorted || !s->rank || !s->weight) {
        free(order);
        return as_nomem(err, n * sizeof *order, "samples");
    }
    for (size_t i = 0; i < n; i++)
        order[i] = (struct placed){x[i], (uint32_t)i};
    qsort(order, n, sizeof *order, by_x);
    for (size_t i = 0; i < n; i++) {
        s->sorted[i] = order[i].x;
        s->rank[order[i].at] = (uint32_t)i;
    }
    free(order);
    return AS_OK;
}

/* The median of one resample, without sorting it: the draws are counted at their ranks. */
static double resampled_median(struct side *s, struct as_rng *rng)
{
    const struct as_visits *v = &s->visits;
    size_t n = v->starts[v->n];
    memset(s->weight, 0, n * sizeof *s->weight);
    for (size_t k = 0; k < v->n; k++) {
        size_t drawn = v->n > 1 ? (size_t)as_rng_below(rng, v->n) : 0;
        size_t first = v->starts[drawn], len = v->starts[drawn + 1] - first;
        double one = 1.0 / (double)len;
        for (size_t i = 0; i < len; i++)
            s->weight[s->rank[first + (size_t)as_rng_below(rng, len)]] += one;
    }
    const double half = 0.5 * (double)v->n, hair = 1e-9 * (double)v->n;
    double sum = 0;
    size_t i = 0;
    while ((sum += s->weight[i]) < half - hair && i + 1 < n)
        i++;
    if (fabs(sum - half) > hair)
        return s->sorted[i];
    size_t next = i + 1;
    while (next + 1 < n && s->weight[next] == 0)
        next++;
    return next < n ? 0.5 * s->sorted[i] + 0.5 * s->sorted[next] : s->sorted[i];
}

enum as_status as_bootstrap_ratio(const double *a, const int *va, size_t na, const double *b, const int *vb, size_t nb,
                                  double confidence, unsigned rounds, uint64_t seed, struct as_interval *out,
                                  struct as_error *err)
{
    struct side sa = {0}, sb = {0};
    double *ratio = NULL;
    *out = (struct as_interval){NAN, NAN};
    if (!(confidence > 0 && confidence < 1) || rounds == 0)
        return as_fail(err, AS_USAGE, "a bootstrap needs at least one round and a confidence between 0 and 1");
    enum as_status st = side_make(a, va, na, &sa, err);
    if (!st)
        st = side_make(b, vb, nb, &sb, err);
    if (st)
        goto done;
    ratio = malloc(rounds * sizeof *ratio);
    if (!ratio) {
        st = as_nomem(err, rounds * sizeof *ratio, "ratios");
        goto done;
    }
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    for (unsigned i = 0; i < rounds; i++) {
        double top = resampled_median(&sa, &rng), bottom = resampled_median(&sb, &rng);
        ratio[i] = top / bottom;
    }
    if (!as_all_finite(ratio, rounds)) {
        st = as_fail(err, AS_USAGE, "a ratio needs a median other than 0 below the line");
        goto done;
    }
    out->lo = as_quantile(ratio, rounds, 0.5 * (1 - confidence));
    out->hi = as_quantile(ratio, rounds, 0.5 * (1 + confidence));
done:
    free(ratio);
    side_finish(&sa);
    side_finish(&sb);
    return st;
}
