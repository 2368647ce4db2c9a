/* Compares two numbers with intervals on their logarithms, where a ratio is a difference. */
#include "stats/order.h"

#include <math.h>

struct as_interval as_ratio_interval(double a, struct as_interval ca, double b, struct as_interval cb)
{
    struct as_interval none = {NAN, NAN};
    if (!(a > 0) || !(b > 0) || !(ca.lo > 0) || !(cb.lo > 0) || !(ca.hi >= ca.lo) || !(cb.hi >= cb.lo) ||
        !isfinite(ca.hi) || !isfinite(cb.hi))
        return none;
    /* widen an interval that rounding made miss its own value */
    double down = hypot(log(a / fmin(ca.lo, a)), log(fmax(cb.hi, b) / b));
    double up = hypot(log(fmax(ca.hi, a) / a), log(b / fmin(cb.lo, b)));
    return (struct as_interval){a / b * exp(-down), a / b * exp(up)};
}

struct as_interval as_difference_interval(double a, struct as_interval ca, double b, struct as_interval cb)
{
    return (struct as_interval){a - b - hypot(a - ca.lo, cb.hi - b), a - b + hypot(ca.hi - a, b - cb.lo)};
}

/* Among hundreds of cells compared at 95%, several would differ by chance. */
static const double SHOWN = 0.95, TO_DIFFER = 0.99;

/* From six trials on, a fifth is trimmed at either end. */
unsigned as_trials_df(size_t trials)
{
    const size_t kept = trials < 1000 ? trials : 1000;
    const size_t cut = kept < 6 ? 0 : kept / 5;
    return kept > 2 * cut + 1 ? (unsigned)(kept - 2 * cut - 1) : 0;
}

/* Widens a 95% interval to the confidence of a difference, by Student's t of both sides' trials. */
static struct as_interval compare_wider(struct as_interval ci, double ratio, unsigned df, double confidence)
{
    df = df > 0 ? df : 1;
    double factor = as_student(df, confidence) / as_student(df, SHOWN);
    return (struct as_interval){ratio * pow(ci.lo / ratio, factor), ratio * pow(ci.hi / ratio, factor)};
}

static enum as_verdict compare_judge(struct as_interval shown, struct as_interval differ, bool lower_is_better,
                                     double tolerance)
{
    double high = 1 + tolerance, low = 1 / high;
    if (differ.lo > high)
        return lower_is_better ? AS_SLOWER : AS_FASTER;
    if (differ.hi < low)
        return lower_is_better ? AS_FASTER : AS_SLOWER;
    return shown.lo >= low && shown.hi <= high ? AS_SAME : AS_CANNOT_TELL;
}

static bool is_exact(const struct as_estimated *s)
{
    return s->ci.lo == s->value && s->ci.hi == s->value;
}

void as_compare_numbers(const struct as_estimated *a, const struct as_estimated *b, unsigned df, double confidence,
                        bool lower_is_better, double tolerance, struct as_comparison *out)
{
    *out = (struct as_comparison){NAN, {NAN, NAN}, AS_CANNOT_TELL, {NAN, NAN}, {NAN, NAN}};
    const bool exact = is_exact(a) && is_exact(b); /* counts, possibly 0 */
    if (exact && a->value == b->value) {
        *out = (struct as_comparison){1, {1, 1}, AS_SAME, {1, 1}, {1, 1}};
        return;
    }
    out->ci = as_ratio_interval(b->value, b->ci, a->value, a->ci);
    if (isnan(out->ci.lo)) { /* no ratio; exact counts still get a verdict */
        if (exact)
            out->verdict = (b->value > a->value) == lower_is_better ? AS_SLOWER : AS_FASTER;
        return;
    }
    out->ratio = b->value / a->value;
    out->differ = compare_wider(out->ci, out->ratio, df, confidence);
    out->verdict = compare_judge(out->ci, out->differ, lower_is_better, tolerance);
    const bool beyond = out->ci.lo > 1 + tolerance || out->ci.hi < 1 / (1 + tolerance);
    out->shown = beyond ? out->differ : out->ci;
}

void as_compare(const struct as_summary *a, const struct as_summary *b, bool lower_is_better, double tolerance,
                struct as_comparison *out)
{
    const struct as_estimated x = {a->median, a->ci}, y = {b->median, b->ci};
    as_compare_numbers(&x, &y, as_trials_df(a->trials) + as_trials_df(b->trials), TO_DIFFER, lower_is_better, tolerance,
                       out);
}

struct as_interval as_comparison_interval(const struct as_comparison *c)
{
    return c->shown;
}

const char *as_verdict_word(enum as_verdict v)
{
    static const char *const words[] = {"same", "faster", "slower", "inconclusive"};
    size_t i = (size_t)v;
    return i < sizeof words / sizeof *words ? words[i] : "inconclusive";
}
