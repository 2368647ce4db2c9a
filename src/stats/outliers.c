#include "stats/outliers.h"
#include "stats/order.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS_OF = 2000, NODES_MIN = AS_OUTLIERS_OTHERS + 1 };
static const double NORMAL95 = 1.959964;
/* What Qn keeps of the efficiency of the standard deviation. */
static const double EFFICIENCY = 0.82;
/* Variance of a median relative to that of a mean, for normal values. */
static const double MEDIAN_VAR = 1.5708;

/* The factors of Croux and Rousseeuw (1992) that make Qn unbiased. */
static double small_sample(size_t n)
{
    static const double factors[] = {0, 0, 0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872};
    const double size = (double)n;
    if (n < sizeof factors / sizeof *factors)
        return factors[n];
    return n % 2 ? size / (size + 1.4) : size / (size + 3.8);
}

static double mad_scale(double *x, size_t n)
{
    const double middle = as_median_in(x, n);
    for (size_t i = 0; i < n; i++)
        x[i] = fabs(x[i] - middle);
    return 1.4826 * as_median_in(x, n);
}

double as_robust_scale(double *x, size_t n)
{
    const size_t h = n / 2 + 1, pairs = n * (n - (n > 0)) / 2;
    size_t at = 0;
    if (n < 2)
        return 0;
    double *apart = n <= PAIRS_OF ? malloc(pairs * sizeof *apart) : NULL;
    if (!apart)
        return mad_scale(x, n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            apart[at++] = fabs(x[i] - x[k]);
    const double scale = 2.2191 * small_sample(n) * as_select(apart, pairs, h * (h - 1) / 2 - 1);
    free(apart);
    return scale;
}

/* Two-sided, of Student's t with df degrees of freedom. */
static double tail(double t, double df)
{
    const double z = (8 * df + 1) / (8 * df + 3) * sqrt(df * log1p(t * t / df));
    return erfc(z / sqrt(2));
}

double as_outliers_least(double spread, double df, double p, double ignored)
{
    double lo = 0, hi = 38; /* normal quantiles: erfc is 0 beyond */
    if (!isfinite(spread) || !isfinite(df))
        return NAN;
    for (int i = 0; i < 60; i++) {
        const double z = 0.5 * (lo + hi);
        if (erfc(z / sqrt(2)) > p)
            lo = z;
        else
            hi = z;
    }
    const double z = hi * (8 * df + 3) / (8 * df + 1);
    return fmax(ignored, spread * sqrt(df * expm1(z * z / df)));
}

/* How values scatter about their centres. */
struct scatter {
    double scale, error; /* error: the usual own error of a value, which the scale contains */
    size_t n;
};

/* others: on how many values its centre rests. */
static struct as_deviation deviation_of(double effect, double error, const struct scatter *a, size_t others,
                                        double ignored)
{
    const double own = fmax(0, error * error - a->error * a->error);
    /* not below its own error: else it could be found though its interval reaches 0 */
    const double spread = fmax(error, sqrt(a->scale * a->scale + own)), n = (double)a->n;
    const double of_middle = sqrt(MEDIAN_VAR / (double)others) * a->scale;
    const double half = NORMAL95 * sqrt(error * error + of_middle * of_middle);
    struct as_deviation d = {effect, {effect - half, effect + half}, 1, spread, fmax(1, EFFICIENCY * (n - 1))};
    if (fabs(effect) > ignored && spread > 0)
        d.p = tail(effect / spread, d.df);
    return d;
}

/* Scratch of one judgement. */
struct outliers_work {
    size_t *first, *order; /* the devices of node i are order[first[i]] to order[first[i + 1]] */
    double *sorted;        /* the values of node i, sorted, from first[i] on */
    double *effect;        /* of each device, from the median of the others */
    double *x, *error;     /* those that are judged together */
};

static bool outliers_begin(struct outliers_work *w, size_t n, size_t nodes)
{
    const size_t most = n + nodes + 1;
    *w = (struct outliers_work){.first = calloc(nodes + 2, sizeof *w->first),
                                .order = calloc(n + 1, sizeof *w->order),
                                .sorted = malloc((n + 1) * sizeof *w->sorted),
                                .effect = malloc((n + 1) * sizeof *w->effect),
                                .x = malloc(most * sizeof *w->x),
                                .error = malloc(most * sizeof *w->error)};
    return w->first && w->order && w->sorted && w->effect && w->x && w->error;
}

static void outliers_end(struct outliers_work *w)
{
    free(w->first);
    free(w->order);
    free(w->sorted);
    free(w->effect);
    free(w->x);
    free(w->error);
}

static void outliers_group(struct outliers_work *w, const struct as_observation *obs, size_t n, size_t nodes)
{
    for (size_t i = 0; i < n; i++)
        w->first[obs[i].node + 2]++;
    for (size_t i = 2; i < nodes + 2; i++)
        w->first[i] += w->first[i - 1];
    for (size_t i = 0; i < n; i++)
        w->order[w->first[obs[i].node + 1]++] = i;
    for (size_t i = 0; i < n; i++)
        w->sorted[i] = obs[w->order[i]].y;
    for (size_t i = 0; i < nodes; i++)
        as_sort(w->sorted + w->first[i], w->first[i + 1] - w->first[i]);
}

static size_t count_of(const struct outliers_work *w, size_t node)
{
    return w->first[node + 1] - w->first[node];
}

/* Is a device compared within its node, rather than across nodes? */
static bool is_compared_within_node(const struct outliers_work *w, size_t node)
{
    return count_of(w, node) > AS_OUTLIERS_OTHERS;
}

/* The median of sorted values without one of them: with it, the values near the middle would seem to scatter less. */
static double median_without(const double *sorted, size_t n, double one)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (sorted[mid] < one)
            lo = mid + 1;
        else
            hi = mid;
    }
    const size_t m = n - 1, right = m / 2, left = m % 2 ? right : right - 1;
    return 0.5 * (sorted[left + (left >= lo)] + sorted[right + (right >= lo)]);
}

static struct scatter scatter_of(struct outliers_work *w, size_t m)
{
    struct scatter a = {.n = m, .scale = as_robust_scale(w->x, m)};
    a.error = as_median_in(w->error, m);
    return a;
}

/* Devices that are compared within their node, or the others across nodes. */
static void judge_devices(struct outliers_work *w, const struct as_observation *obs, size_t n, bool across,
                          double ignored, struct as_deviation *out)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (is_compared_within_node(w, obs[i].node) != across)
            w->x[m++] = obs[i].y;
    if (m <= AS_OUTLIERS_OTHERS)
        return;
    double *all = w->x; /* sorted here, and used up before it is overwritten below */
    as_sort(all, m);
    for (size_t i = 0; i < n; i++) {
        const size_t node = obs[i].node;
        if (is_compared_within_node(w, node) != across)
            w->effect[i] =
                obs[i].y - (across ? median_without(all, m, obs[i].y)
                                   : median_without(w->sorted + w->first[node], count_of(w, node), obs[i].y));
    }
    m = 0;
    for (size_t i = 0; i < n; i++)
        if (is_compared_within_node(w, obs[i].node) != across) {
            w->x[m] = w->effect[i];
            w->error[m++] = obs[i].error;
        }
    const struct scatter a = scatter_of(w, m);
    for (size_t i = 0; i < n; i++)
        if (is_compared_within_node(w, obs[i].node) != across)
            out[i] = deviation_of(w->effect[i], obs[i].error, &a, across ? m : count_of(w, obs[i].node), ignored);
}

static double error_of_node(const struct outliers_work *w, const struct as_observation *obs, size_t node)
{
    const size_t c = count_of(w, node);
    double sum = 0;
    for (size_t k = w->first[node]; k < w->first[node + 1]; k++)
        sum += obs[w->order[k]].error;
    return sum / (double)c / sqrt((double)c);
}

static void judge_nodes(struct outliers_work *w, const struct as_observation *obs, size_t nodes, double ignored,
                        struct as_deviation *out)
{
    size_t m = 0;
    for (size_t i = 0; i < nodes; i++)
        if (count_of(w, i) > 1)
            w->x[m++] = as_median_sorted(w->sorted + w->first[i], count_of(w, i));
    if (m < NODES_MIN)
        return;
    as_sort(w->x, m);
    for (size_t i = 0; i < nodes; i++)
        if (count_of(w, i) > 1) {
            const double y = as_median_sorted(w->sorted + w->first[i], count_of(w, i));
            out[i].effect = y - median_without(w->x, m, y);
        }
    m = 0;
    for (size_t i = 0; i < nodes; i++)
        if (count_of(w, i) > 1) {
            w->x[m] = out[i].effect;
            w->error[m++] = error_of_node(w, obs, i);
        }
    const struct scatter a = scatter_of(w, m);
    for (size_t i = 0; i < nodes; i++)
        if (count_of(w, i) > 1)
            out[i] = deviation_of(out[i].effect, error_of_node(w, obs, i), &a, m, ignored);
}

enum as_status as_outliers_judge(const struct as_observation *obs, size_t n, size_t nodes, double ignored,
                                 struct as_deviation *of_device, struct as_deviation *of_node, struct as_error *err)
{
    static const struct as_deviation unknown = {NAN, {NAN, NAN}, 1, NAN, NAN};
    struct outliers_work w;
    for (size_t i = 0; i < n; i++)
        of_device[i] = unknown;
    for (size_t i = 0; i < nodes; i++)
        of_node[i] = unknown;
    const bool begun = outliers_begin(&w, n, nodes);
    if (begun) {
        outliers_group(&w, obs, n, nodes);
        judge_devices(&w, obs, n, false, ignored, of_device);
        judge_devices(&w, obs, n, true, ignored, of_device);
        judge_nodes(&w, obs, nodes, ignored, of_node);
    }
    outliers_end(&w);
    return begun ? AS_OK : as_nomem(err, n * sizeof *obs, "devices");
}

double as_discoveries_below(double *p, size_t n, size_t tests, double rate)
{
    as_sort(p, n);
    for (size_t i = n; i-- > 0;)
        if (p[i] <= rate * (double)(i + 1) / (double)tests)
            return p[i];
    return -1;
}
