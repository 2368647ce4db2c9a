/* Comparison of two cells, on the logarithms, where a ratio is a difference. */
#include "stats/order.h"

#include <math.h>

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

struct side {
    struct as_summary sum;
    struct as_interval within; /* order-statistic interval of all samples */
    size_t visits;
    double mean, ss; /* of the logarithms of the visits' medians */
    bool usable;
};

static enum as_status side_make(const struct as_sampled *in, struct side *out, struct as_error *err)
{
    *out = (struct side){.within = {NAN, NAN}};
    enum as_status st = as_summarize(in->samples, in->visit, in->n, &out->sum, err);
    if (st || in->n == 0)
        return st;
    struct as_summary pooled;
    if ((st = as_summarize(in->samples, NULL, in->n, &pooled, err)))
        return st;
    out->within = pooled.ci;
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

/* The visits of both sides are taken to scatter alike, so that one visit on a side is enough. */
static struct as_interval between(const struct side *a, const struct side *b)
{
    size_t df = a->visits + b->visits - 2;
    if (df == 0)
        return (struct as_interval){NAN, NAN};
    double variance = (a->ss + b->ss) / (double)df * (1 / (double)a->visits + 1 / (double)b->visits);
    double half = as_student((unsigned)df, 0.95) * sqrt(variance), middle = b->mean - a->mean;
    return (struct as_interval){exp(middle - half), exp(middle + half)};
}

static enum as_verdict judge(struct as_interval ci, bool better_less, double tolerance)
{
    double high = 1 + tolerance, low = 1 / high;
    if (ci.lo > high)
        return better_less ? AS_SLOWER : AS_FASTER;
    if (ci.hi < low)
        return better_less ? AS_FASTER : AS_SLOWER;
    return ci.lo >= low && ci.hi <= high ? AS_SAME : AS_CANNOT_TELL;
}

enum as_status as_compare(const struct as_sampled *a, const struct as_sampled *b, bool better_less, double tolerance,
                          struct as_comparison *out, struct as_error *err)
{
    *out = (struct as_comparison){NAN, {NAN, NAN}, AS_CANNOT_TELL};
    if (!(tolerance >= 0) || !isfinite(tolerance))
        return as_fail(err, AS_USAGE, "the tolerance of a comparison is a share of 0 or more");
    struct side sa, sb;
    enum as_status st = side_make(a, &sa, err);
    if (!st)
        st = side_make(b, &sb, err);
    if (st || !sa.usable || !sb.usable)
        return st;
    out->ratio = sb.sum.median / sa.sum.median;
    struct as_interval ci = as_ratio_interval(sb.sum.median, sb.within, sa.sum.median, sa.within);
    struct as_interval visits = between(&sa, &sb);
    if (isnan(ci.lo) || visits.hi / visits.lo > ci.hi / ci.lo)
        ci = visits;
    if (isnan(ci.lo))
        return AS_OK;
    out->ci = (struct as_interval){fmin(ci.lo, out->ratio), fmax(ci.hi, out->ratio)};
    out->verdict = judge(out->ci, better_less, tolerance);
    return AS_OK;
}

const char *as_verdict_word(enum as_verdict v)
{
    static const char *const words[] = {"same", "faster", "slower", "cannot tell"};
    size_t i = (size_t)v;
    return i < sizeof words / sizeof *words ? words[i] : "cannot tell";
}
