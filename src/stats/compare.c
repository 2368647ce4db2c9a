/* Comparison of two cells, on the logarithms, where a ratio is a difference. */
#include "stats/order.h"

#include <math.h>
#include <stdlib.h>

struct as_interval as_ratio_interval(double a, struct as_interval ca, double b, struct as_interval cb)
{
    struct as_interval none = {NAN, NAN};
    if (!(a > 0) || !(b > 0) || !(ca.lo > 0) || !(cb.lo > 0) || !(ca.hi >= ca.lo) || !(cb.hi >= cb.lo) ||
        !isfinite(ca.hi) || !isfinite(cb.hi))
        return none;
    /* an interval that does not hold its own number is widened to it: rounding, or another way of making it */
    double down = hypot(log(a / fmin(ca.lo, a)), log(fmax(cb.hi, b) / b));
    double up = hypot(log(fmax(ca.hi, a) / a), log(b / fmin(cb.lo, b)));
    return (struct as_interval){a / b * exp(-down), a / b * exp(up)};
}

/* Hundreds of cells are compared at a time: at 95% several of them would be called different by chance alone. */
static const double SHOWN = 0.95, TO_DIFFER = 0.99;

struct side {
    struct as_summary sum;
    struct as_interval within, within_differ; /* order-statistic intervals of all samples, SHOWN and TO_DIFFER */
    size_t visits;
    double mean, ss; /* of the logarithms of the trials' medians */
    bool usable;
};

static enum as_status side_make(const struct as_sampled *in, struct side *out, struct as_error *err)
{
    *out = (struct side){.within = {NAN, NAN}, .within_differ = {NAN, NAN}};
    enum as_status st = as_summarize(in->samples, in->visit, in->n, &out->sum, err);
    if (st || in->n == 0)
        return st;
    double *sorted = as_copy_values(in->samples, in->n);
    if (!sorted)
        return as_nomem(err, in->n * sizeof *sorted, "samples");
    as_sort(sorted, in->n);
    out->within = as_median_interval(sorted, in->n, SHOWN);
    out->within_differ = as_median_interval(sorted, in->n, TO_DIFFER);
    free(sorted);
    struct as_visits v;
    if ((st = as_visits_make(in->samples, in->visit, in->n, &v, err)))
        return st;
    out->visits = v.n;
    out->usable = out->sum.median > 0;
    for (size_t i = 0; i < v.n; i++)
        out->usable = out->usable && v.medians[i] > 0;
    for (size_t i = 0; out->usable && i < v.n; i++)
        out->mean += log(v.medians[i]) / (double)v.n;
    for (size_t i = 0; out->usable && i < v.n; i++)
        out->ss += pow(log(v.medians[i]) - out->mean, 2);
    as_visits_finish(&v);
    return AS_OK;
}

/* The trials of both sides are taken to scatter alike, so that one trial on a side is enough. */
static struct as_interval between(const struct side *a, const struct side *b, double confidence)
{
    size_t df = a->visits + b->visits - 2;
    if (df == 0)
        return (struct as_interval){NAN, NAN};
    double variance = (a->ss + b->ss) / (double)df * (1 / (double)a->visits + 1 / (double)b->visits);
    double half = as_student((unsigned)df, confidence) * sqrt(variance), middle = b->mean - a->mean;
    return (struct as_interval){exp(middle - half), exp(middle + half)};
}

/* The wider of the interval from the samples and the one from the trials, holding the ratio; NAN when there is none. */
static struct as_interval ratio_interval(const struct side *a, const struct side *b, double ratio, bool to_differ)
{
    struct as_interval ci = to_differ
                                ? as_ratio_interval(b->sum.median, b->within_differ, a->sum.median, a->within_differ)
                                : as_ratio_interval(b->sum.median, b->within, a->sum.median, a->within);
    struct as_interval visits = between(a, b, to_differ ? TO_DIFFER : SHOWN);
    if (isnan(ci.lo) || visits.hi / visits.lo > ci.hi / ci.lo)
        ci = visits;
    return isnan(ci.lo) ? ci : (struct as_interval){fmin(ci.lo, ratio), fmax(ci.hi, ratio)};
}

static enum as_verdict judge(struct as_interval shown, struct as_interval differ, bool better_less, double tolerance)
{
    double high = 1 + tolerance, low = 1 / high;
    if (differ.lo > high)
        return better_less ? AS_SLOWER : AS_FASTER;
    if (differ.hi < low)
        return better_less ? AS_FASTER : AS_SLOWER;
    return shown.lo >= low && shown.hi <= high ? AS_SAME : AS_CANNOT_TELL;
}

enum as_status as_compare(const struct as_sampled *a, const struct as_sampled *b, bool better_less, double tolerance,
                          struct as_comparison *out, struct as_error *err)
{
    *out = (struct as_comparison){NAN, {NAN, NAN}, AS_CANNOT_TELL, {NAN, NAN}};
    if (!(tolerance >= 0) || !isfinite(tolerance))
        return as_fail(err, AS_USAGE, "the tolerance of a comparison is a share of 0 or more");
    struct side sa, sb;
    enum as_status st = side_make(a, &sa, err);
    if (!st)
        st = side_make(b, &sb, err);
    if (st || !sa.usable || !sb.usable)
        return st;
    out->ratio = sb.sum.median / sa.sum.median;
    out->ci = ratio_interval(&sa, &sb, out->ratio, false);
    out->differ = ratio_interval(&sa, &sb, out->ratio, true);
    if (!isnan(out->ci.lo))
        out->verdict = judge(out->ci, out->differ, better_less, tolerance);
    return AS_OK;
}

const char *as_verdict_word(enum as_verdict v)
{
    static const char *const words[] = {"same", "faster", "slower", "cannot tell"};
    size_t i = (size_t)v;
    return i < sizeof words / sizeof *words ? words[i] : "cannot tell";
}
