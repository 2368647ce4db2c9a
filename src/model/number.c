#include "model/number.h"

#include "base/text.h"
#include "model/metrics.h"

#include <math.h>
#include <string.h>

static const double HALF_WIDTH_MAX = 0.25; /* half an interval that ± may stand for */
static const double RATIO_SPAN_MAX = 4;  /* between the ends of a ratio, or of another run, that still tell something */
static const double RANGE_SPAN_MAX = 10; /* between the ends of a range that still tells something */
static const double SIZE_SPAN_MAX = 100; /* the same of bytes: capacities lie between two sizes of a coarse grid */
/* The interval of so few trials is mostly what is usual for such cells: it does not tell that they scatter. */
enum { FEW_TRIALS = 3 };
enum { DIGITS = 3, ENDS = 4, NO_LIMIT = 17 };

double as_number_width(double v, struct as_interval ci)
{
    const double width = fmax(ci.hi - v, v - ci.lo) / fabs(v);
    return isfinite(ci.lo) && isfinite(ci.hi) && isfinite(width) ? width : NAN;
}

/* The power of ten of the first digit. */
static int number_place(double v)
{
    return (int)floor(log10(fabs(v)) + 1e-9);
}

/* The place of the last digit that half an interval supports. */
static int number_last_place(double half)
{
    static const double two = 3.55; /* begins with more than 35: one digit */
    const int place = number_place(half);
    return half / pow(10, place) < two ? place - 1 : place;
}

int as_number_digits(double v, double half)
{
    if (!(half > 0) || !isfinite(half) || v == 0 || !isfinite(v))
        return NO_LIMIT;
    const int digits = number_place(v) - number_last_place(half) + 1;
    return digits < 1 ? 1 : digits;
}

static int number_at_most(int digits, int most)
{
    return digits < most ? digits : most;
}

static double number_half(const struct as_number *n)
{
    return as_number_width(n->value, n->ci) * fabs(n->value);
}

static bool number_has_interval(const struct as_number *n)
{
    return isfinite(n->ci.lo) && isfinite(n->ci.hi) && n->ci.hi > n->ci.lo;
}

enum as_number_form as_number_form(const struct as_number *n)
{
    const struct as_interval ci = n->ci;
    const bool is_ratio = strcmp(n->unit, "x") == 0;
    if (!isfinite(n->value) || !number_has_interval(n))
        return n->trials == 1 && isfinite(n->value) && strcmp(n->unit, "B") != 0 ? AS_NUMBER_ONE_TRIAL
                                                                                 : AS_NUMBER_VALUE;
    if (strcmp(n->unit, "B") == 0)
        return n->trials && ci.lo > 0 && ci.hi > SIZE_SPAN_MAX * ci.lo ? AS_NUMBER_NOISY : AS_NUMBER_RANGE;
    const bool is_narrow = as_number_width(n->value, ci) <= HALF_WIDTH_MAX;
    if (n->bound && !is_narrow)
        return AS_NUMBER_BOUND;
    if (n->trials == 1 && (is_narrow || n->tried <= 1)) /* its interval is what is usual for such cells */
        return is_narrow ? AS_NUMBER_ONE_TRIAL : AS_NUMBER_NOISY;
    if (is_narrow)
        return AS_NUMBER_VALUE;
    if (n->modes == 2)
        return AS_NUMBER_MODES;
    if (is_ratio && !as_number_predicts(ci))
        return ci.lo > 1 || ci.hi < 1 ? AS_NUMBER_BOUND : AS_NUMBER_INCONCLUSIVE;
    if (n->trials && ci.lo > 0 && ci.hi > RANGE_SPAN_MAX * ci.lo)
        return AS_NUMBER_NOISY;
    return AS_NUMBER_RANGE;
}

double as_number_point(const struct as_number *n)
{
    return strcmp(n->unit, "B") == 0 && number_has_interval(n) ? NAN : n->value;
}

static int number_bound_of(const struct as_cell *c)
{
    if (as_cell_is_busy(c))
        return c->lower_is_better ? -1 : 1;
    /* few details have it, and none needs to be parsed to see that */
    return c->detail && strstr(c->detail, AS_NOTE_AT_MOST) && as_detail_number(c->detail, AS_NOTE_AT_MOST) > 0 ? -1 : 0;
}

struct as_interval as_number_interval_of_cell(const struct as_cell *c)
{
    struct as_interval ci = c->sum.ci;
    const double value = c->sum.median;
    if (!(ci.hi > ci.lo))
        return ci;
    if (value >= 0)
        ci.lo = fmax(ci.lo, 0);
    /* Contention makes no number better, and half of the samples reached the median; but a disturbed reading of the
     * clock may make a normalised one too good. */
    if (as_cell_is_busy(c) && !(fabs(c->exponent) > 0))
        *(c->lower_is_better ? &ci.hi : &ci.lo) = value;
    return as_cell_possible(c, ci);
}

struct as_number as_number_of_cell(const struct as_cell *c)
{
    return (struct as_number){.value = c->sum.median,
                              .ci = as_number_interval_of_cell(c),
                              .unit = c->unit,
                              .trials = c->sum.trials,
                              .tried = (size_t)c->trials_done,
                              .mode = {c->sum.mode[0], c->sum.mode[1]},
                              .share0 = c->sum.mode_share0,
                              .modes = c->sum.modes,
                              .bound = number_bound_of(c)};
}

struct as_number as_number_counted(const struct as_number *n, double counted, const char *unit)
{
    const double by = counted / n->value; /* the clock is known far better than the interval is wide */
    struct as_number out = *n;
    out.value = counted;
    out.ci = (struct as_interval){n->ci.lo * by, n->ci.hi * by};
    out.mode[0] *= by;
    out.mode[1] *= by;
    out.unit = unit;
    return out;
}

bool as_number_is_value(const struct as_number *n)
{
    const enum as_number_form form = as_number_form(n);
    return isfinite(n->value) && !n->bound && (form == AS_NUMBER_VALUE || form == AS_NUMBER_ONE_TRIAL);
}

bool as_number_is_said(const struct as_number *n)
{
    return isfinite(n->value) && (as_number_form(n) != AS_NUMBER_NOISY || n->trials <= FEW_TRIALS);
}

void as_number_plain(const struct as_number *n, struct as_buf *out)
{
    if (number_has_interval(n))
        as_format_number(out, n->value, number_at_most(as_number_digits(n->value, number_half(n)), DIGITS));
    else
        as_buf_printf(out, "%.6g", n->value);
}

static void number_add_value(const struct as_number *n, struct as_buf *out)
{
    const bool is_whole = !as_scale_of(n->value, n->unit) && isfinite(n->value); /* 4096 per cycle, not 4100 */
    const int supported = number_has_interval(n) ? as_number_digits(n->value, number_half(n)) : NO_LIMIT;
    const int digits = number_at_most(supported, is_whole ? as_unscaled_digits(n->value, DIGITS) : DIGITS);
    if (!as_unit_is_count(n->unit))
        as_format_value_to(out, n->value, n->unit, digits);
    else if (supported == NO_LIMIT)
        as_format_value(out, n->value, n->unit); /* exact */
    else {
        as_format_number(out, n->value, number_at_most(supported, DIGITS));
        as_buf_printf(out, " %s", n->unit);
    }
}

/* The ends, with at least two and at most so many digits. */
static void number_add_ends(const struct as_number *n, int place, int most, struct as_buf *out)
{
    const double ends[2] = {n->ci.lo, n->ci.hi};
    int digits[2];
    for (int i = 0; i < 2; i++) {
        const int at = ends[i] != 0 ? number_place(ends[i]) - place + 1 : 2;
        digits[i] = number_at_most(at > 2 ? at : 2, most);
    }
    if (!as_unit_is_count(n->unit)) {
        as_format_range_to(out, n->ci.lo, n->ci.hi, n->value, n->unit, digits);
        return;
    }
    struct as_buf texts[2] = {AS_BUF_INIT, AS_BUF_INIT};
    for (int i = 0; i < 2; i++)
        as_format_number(&texts[i], ends[i], digits[i]);
    as_format_ends(out, texts);
    as_buf_printf(out, " %s", n->unit);
}

/* Two digits of the half width: the ends are all that is known. */
static void number_add_range(const struct as_number *n, struct as_buf *out)
{
    number_add_ends(n, number_place(0.5 * (n->ci.hi - n->ci.lo)) - 1, DIGITS, out);
}

/* States of runs are as well known as any number; modes of samples are centres of clusters. */
static int number_mode_digits(const struct as_number *n)
{
    return n->of_runs ? DIGITS : DIGITS - 1;
}

/* The more frequent one first. */
static void number_add_modes(const struct as_number *n, struct as_buf *out)
{
    const int often = n->share0 < 0.5, digits = number_mode_digits(n);
    const double share = round(100 * (often ? 1 - n->share0 : n->share0));
    as_format_value_to(out, n->mode[often], n->unit, digits);
    as_buf_printf(out, " in %.0f%% of %s, ", share, n->of_runs ? "runs" : "samples");
    as_format_value_to(out, n->mode[!often], n->unit, digits);
    as_buf_printf(out, " in %.0f%%", 100 - share);
}

/* "one trial", "3 trials", "1 of 5 trials" */
static void number_add_trials(const struct as_number *n, struct as_buf *out)
{
    if (n->tried > n->trials)
        as_buf_printf(out, "%zu of %zu trials", n->trials, n->tried);
    else if (n->trials == 1)
        as_buf_str(out, "one trial");
    else
        as_buf_printf(out, "%zu trials", n->trials);
}

static void number_add_bound(const struct as_number *n, struct as_buf *out)
{
    if (n->bound)
        as_buf_str(out, n->bound > 0 ? "at least " : "at most ");
}

/* The end of a wide interval that is known. */
static void number_add_end(const struct as_number *n, struct as_buf *out)
{
    const bool is_least = n->bound ? n->bound > 0 : n->ci.lo > 1;
    number_add_bound(n, out);
    if (!n->bound)
        as_buf_str(out, is_least ? "over " : "under ");
    as_format_value_to(out, is_least ? n->ci.lo : n->ci.hi, n->unit, 2);
}

static void number_add_brief_modes(const struct as_number *n, struct as_buf *out)
{
    const struct as_scale *scale = as_scale_of(n->mode[0], n->unit);
    const int digits = number_mode_digits(n);
    if (scale == as_scale_of(n->mode[1], n->unit))
        as_format_number(out, scale ? n->mode[0] * scale->factor : n->mode[0], digits);
    else
        as_format_value_to(out, n->mode[0], n->unit, digits);
    as_buf_str(out, " or ");
    as_format_value_to(out, n->mode[1], n->unit, digits);
}

void as_number_brief(const struct as_number *n, struct as_buf *out)
{
    switch (as_number_form(n)) {
    case AS_NUMBER_VALUE:
    case AS_NUMBER_ONE_TRIAL:
        number_add_bound(n, out);
        number_add_value(n, out);
        break;
    case AS_NUMBER_RANGE:
        number_add_range(n, out);
        break;
    case AS_NUMBER_MODES:
        number_add_brief_modes(n, out);
        break;
    case AS_NUMBER_NOISY:
        as_buf_str(out, n->trials <= FEW_TRIALS ? "about " : "too noisy");
        if (n->trials <= FEW_TRIALS)
            as_format_value_to(out, n->value, n->unit, DIGITS - 1);
        break;
    case AS_NUMBER_BOUND:
        number_add_end(n, out);
        break;
    case AS_NUMBER_INCONCLUSIVE:
        as_buf_str(out, "inconclusive");
    }
}

/* Does the number of trials say how well it is known? */
static bool number_is_of_trials(const struct as_number *n)
{
    const enum as_number_form form = as_number_form(n);
    return form == AS_NUMBER_ONE_TRIAL || form == AS_NUMBER_NOISY || (form == AS_NUMBER_RANGE && n->trials == 1);
}

void as_number_text(const struct as_number *n, struct as_buf *out)
{
    const enum as_number_form form = as_number_form(n);
    if (form == AS_NUMBER_MODES)
        number_add_modes(n, out);
    else
        as_number_brief(n, out);
    if (number_is_of_trials(n) && form != AS_NUMBER_ONE_TRIAL) {
        as_buf_str(out, ", ");
        number_add_trials(n, out);
    }
}

void as_number_precision(const struct as_number *n, struct as_buf *out)
{
    const double percent = 100 * as_number_width(n->value, n->ci);
    if (number_is_of_trials(n))
        number_add_trials(n, out);
    else if (as_number_form(n) != AS_NUMBER_VALUE || n->bound || !isfinite(percent) || as_unit_is_count(n->unit))
        return;
    else if (percent < 0.05)
        as_buf_str(out, "<0.1%");
    else
        as_buf_printf(out, percent < 9.95 ? "%.1f%%" : "%.0f%%", percent);
}

bool as_number_predicts(struct as_interval another)
{
    return another.lo > 0 && another.hi <= RATIO_SPAN_MAX * another.lo;
}

bool as_number_has_interval(const struct as_number *n)
{
    return isfinite(n->value) && isfinite(n->ci.lo) && isfinite(n->ci.hi) && as_number_form(n) == AS_NUMBER_VALUE;
}

/* Would the ends look the same with so many digits? */
static bool number_ends_are_alike(const struct as_number *n, int digits)
{
    struct as_buf lo = AS_BUF_INIT, hi = AS_BUF_INIT;
    as_format_number(&lo, n->ci.lo, digits);
    as_format_number(&hi, n->ci.hi, digits);
    const bool alike = strcmp(as_buf_get(&lo), as_buf_get(&hi)) == 0;
    as_buf_finish(&lo);
    as_buf_finish(&hi);
    return alike;
}

void as_number_interval(const struct as_number *n, struct as_buf *out)
{
    if (!as_number_has_interval(n))
        return;
    if (n->ci.hi > n->ci.lo)
        number_add_ends(n, number_last_place(number_half(n)), number_ends_are_alike(n, DIGITS) ? ENDS : DIGITS, out);
    else
        as_format_range(out, n->ci.lo, n->ci.hi, n->value, n->unit, DIGITS);
}

void as_cell_number(const struct as_cell *c, struct as_buf *out)
{
    const struct as_number n = as_number_of_cell(c);
    char answer[64];
    if (as_cell_answer(c, c->sum.median, answer))
        as_buf_str(out, answer);
    else
        as_number_brief(&n, out);
}

/* Does the interval, as it is printed, differ from the value? */
static bool number_is_seen(const struct as_number *n)
{
    struct as_buf value = AS_BUF_INIT, end = AS_BUF_INIT;
    bool seen = false;
    number_add_value(n, &value);
    for (int i = 0; i < 2 && number_has_interval(n); i++) {
        as_buf_clear(&end);
        as_format_value(&end, i ? n->ci.hi : n->ci.lo, n->unit);
        seen |= strcmp(as_buf_get(&value), as_buf_get(&end)) != 0;
    }
    as_buf_finish(&value);
    as_buf_finish(&end);
    return seen;
}

void as_number_prose(const struct as_number *n, const char *per, const char *note, struct as_buf *out)
{
    const bool of_trials = number_is_of_trials(n);
    const bool is_noisy = as_number_form(n) == AS_NUMBER_NOISY && n->trials > FEW_TRIALS;
    struct as_buf ends = AS_BUF_INIT;
    if (as_number_form(n) == AS_NUMBER_VALUE && number_is_seen(n))
        number_add_ends(n, number_last_place(number_half(n)), DIGITS, &ends);
    const bool seen = strstr(as_buf_get(&ends), " to "); /* ends that are printed alike add nothing */
    /* a noisy number is a range: "takes too noisy" is no sentence */
    if (is_noisy)
        number_add_range(n, out);
    else if (of_trials)
        as_number_brief(n, out);
    else
        as_number_text(n, out);
    as_buf_str(out, per);
    if (of_trials || seen || note[0])
        as_buf_str(out, " (");
    as_buf_str(out, is_noisy ? "too noisy: " : "");
    if (of_trials)
        number_add_trials(n, out);
    else if (seen)
        as_buf_str(out, as_buf_get(&ends));
    if (note[0])
        as_buf_printf(out, "%s%s", of_trials || seen ? "; " : "", note);
    if (of_trials || seen || note[0])
        as_buf_char(out, ')');
    out->failed |= ends.failed;
    as_buf_finish(&ends);
}
