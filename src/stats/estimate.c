/* The estimate of one cell: which samples count, scatter between trials, the interval, and the causes of its width. */
#include "stats/estimate.h"
#include "stats/order.h"
#include "stats/weighted.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { TRIMMED_TRIALS = 6, FEW_SAMPLES = 3, DRIFT_TRIALS = 4 };
/* Yuen's approximation covers too little with so few trials; by simulation. */
static const double TRIMMED_FACTOR = 1.06;
/* Correction for optional stopping, by simulation. */
static const double STOPPED_FACTOR = 1.12;
static const double NORMAL95 = 1.959964;
/* Other work may have made the best of contended samples worse by so much: twice what was seen, since two threads that
 * wait for each other, beside a busy loop on either CPU, read memory at an eighth of the speed. */
static const double BUSY_FACTOR = 16;
/* Without knowledge of the group: half to double for one trial (ln 2 = 12.706 sd), and the equivalent for two. */
static const struct as_prior UNKNOWN_GROUP = {.df = 1, .var = 0.00297591, .upper_var = 0.125068};
/* Variance of a median relative to that of a mean, for normal samples. */
static const double MEDIAN_VAR = 1.5708;

struct cell {
    struct as_weighted *p, *scratch; /* samples that count; weights of a trial add up to 1 */
    double *median;                  /* medians of the trials that count, in order of time */
    int *process;                    /* process of each of these */
    size_t n, trials, total;
    size_t units;       /* independent units: trials or processes */
    size_t measured;    /* trials with enough samples to show their spread; sums over them: */
    double within;      /* variance of a trial's relative median due to its samples */
    double sample_var;  /* relative variance of its samples */
    bool positive;      /* logarithms can be taken */
    bool contended;     /* a trial had few samples with weight */
    bool forced;        /* all trials were contended, so contended samples count */
    bool clock_unknown; /* for half of the samples */
    bool clock_moved;
};

/* Scatter of the trials, on logarithms if possible. */
struct spread {
    double middle, var; /* var / trials is the variance of middle */
    unsigned df;
    double plain_var; /* of all trials, untrimmed */
    double drift, drift_share;
};

const char *as_wide_word(unsigned cause)
{
    static const char *const words[AS_WIDE_CAUSES] = {"time",      "contention", "clock", "drift",
                                                      "placement", "modes",      "busy"};
    for (unsigned i = 0; i < AS_WIDE_CAUSES; i++)
        if (cause == 1u << i)
            return words[i];
    return NULL;
}

static double estimate_clock_of(const struct as_trial_samples *t, size_t i)
{
    return t->clock_hz ? t->clock_hz[i] : NAN;
}

static double weight_of(const struct as_trial_samples *t, size_t i)
{
    return t->weight ? t->weight[i] : 1;
}

static enum as_status estimate_check_trials(const struct as_trial_samples *t, size_t n, size_t *total,
                                            struct as_error *err)
{
    for (size_t k = 0; k < n; k++) {
        *total += t[k].n;
        for (size_t i = 0; i < t[k].n; i++) {
            double clock = estimate_clock_of(&t[k], i), weight = weight_of(&t[k], i);
            if (!isfinite(t[k].x[i]))
                return as_fail(err, AS_FORMAT, "sample %zu of trial %zu is not a finite number", i, k);
            if (!isfinite(weight) || weight < 0)
                return as_fail(err, AS_FORMAT, "sample %zu of trial %zu has the weight %g", i, k, weight);
            if (!isnan(clock) && !(clock > 0 && isfinite(clock)))
                return as_fail(err, AS_FORMAT, "sample %zu of trial %zu has the clock %g Hz", i, k, clock);
        }
    }
    return AS_OK;
}

/* Whether the clock, over all samples, moved by 3% or is unknown. */
static void look_at_clock(struct cell *c, const struct as_trial_samples *t, size_t n)
{
    size_t unknown = 0;
    double lo = INFINITY, hi = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < t[k].n; i++) {
            double clock = estimate_clock_of(&t[k], i);
            unknown += isnan(clock);
            lo = fmin(lo, clock);
            hi = fmax(hi, clock);
        }
    c->clock_unknown = 2 * unknown > c->total;
    c->clock_moved = hi > 1.03 * lo;
}

static bool normalises(const struct as_norm *norm)
{
    return norm && norm->beta != 0 && norm->reference_hz > 0;
}

static double normalised(double x, double clock, const struct as_norm *norm)
{
    if (!normalises(norm) || isnan(clock))
        return x;
    double ratio = norm->rate ? norm->reference_hz / clock : clock / norm->reference_hz;
    return x * (norm->beta == 1 ? ratio : exp(norm->beta * log(ratio)));
}

/* The samples of a trial that count; with `all` also those without weight or clock. */
static size_t estimate_pick(struct as_weighted *p, const struct as_trial_samples *t, const struct as_norm *norm,
                            bool all)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n; i++) {
        double clock = estimate_clock_of(t, i), weight = weight_of(t, i);
        if (all || (weight > 0 && !(normalises(norm) && isnan(clock))))
            p[kept++] = (struct as_weighted){normalised(t->x[i], clock, norm), all ? 1 : weight};
    }
    return kept;
}

static void take_trial(struct cell *c, size_t kept, int process)
{
    struct as_weighted *p = c->p + c->n;
    double sum = 0;
    as_weighted_sort(p, kept, c->scratch);
    for (size_t i = 0; i < kept; i++)
        sum += p[i].weight;
    for (size_t i = 0; i < kept; i++)
        p[i].weight /= sum;
    double median = as_weighted_quantile(p, kept, 0.5);
    if (kept > FEW_SAMPLES && median != 0) {
        double quartiles = as_weighted_quantile(p, kept, 0.75) - as_weighted_quantile(p, kept, 0.25);
        double var = pow(quartiles / 1.349 / median, 2);
        c->within += MEDIAN_VAR * var / as_weighted_number(p, kept);
        c->sample_var += var;
        c->measured++;
    }
    c->process[c->trials] = process;
    c->median[c->trials++] = median;
    c->positive = c->positive && median > 0;
    c->n += kept;
}

/* Above this contended share the rest of the trial is not trusted either, since detection misses some contention. */
static const double CONTENDED_MAX = 0.75;

/* A contended trial that is better by so much, more than clocks differ, shows that those that count were disturbed. */
static const double BETTER = 0.1;

static bool is_contended(const struct as_trial_samples *t)
{
    size_t weighed = 0;
    for (size_t i = 0; i < t->n; i++)
        weighed += weight_of(t, i) > 0;
    return weighed < t->n && (weighed < FEW_SAMPLES || (double)weighed < (1 - CONTENDED_MAX) * (double)t->n);
}

static double median_of_trial(struct cell *c, const struct as_trial_samples *t)
{
    struct as_weighted *p = c->p + c->n;
    const size_t kept = estimate_pick(p, t, NULL, true);
    as_weighted_sort(p, kept, c->scratch);
    return as_weighted_quantile(p, kept, 0.5);
}

/* Other work makes no number better: a contended trial that is better than all that count was disturbed less than they
 * were. Its clock is not known well, so that it counts as measured. */
static void take_better(struct cell *c, const struct as_trial_samples *t, size_t n, int better)
{
    const size_t plain = c->trials;
    double best = c->median[0];
    for (size_t k = 1; k < plain; k++)
        best = better > 0 ? fmax(best, c->median[k]) : fmin(best, c->median[k]);
    for (size_t k = 0; k < n; k++)
        if (t[k].n && is_contended(&t[k]) && better * (median_of_trial(c, &t[k]) - best) > BETTER * fabs(best))
            take_trial(c, estimate_pick(c->p + c->n, &t[k], NULL, true), t[k].process);
}

/* Drops trials with few uncontended samples if others remain; otherwise all samples count. */
static void take_trials(struct cell *c, const struct as_trial_samples *t, size_t n, const struct as_norm *norm,
                        int better)
{
    c->positive = true;
    for (int all = 0; all < 2 && c->trials == 0; all++) {
        c->forced = all && c->contended;
        for (size_t k = 0; k < n; k++) {
            size_t kept = estimate_pick(c->p + c->n, &t[k], norm, all);
            bool contended = is_contended(&t[k]), enough = kept >= FEW_SAMPLES || (kept > 0 && kept == t[k].n);
            if (enough && (all || !contended))
                take_trial(c, kept, t[k].process);
            c->contended = c->contended || contended;
        }
    }
    if (c->trials && !c->forced && better)
        take_better(c, t, n, better);
    c->within /= (double)c->measured; /* NAN if there is none, as intended */
    c->sample_var /= (double)c->measured;
    as_weighted_sort(c->p, c->n, c->scratch);
}

static double variance(const double *x, size_t n, double *mean)
{
    double ss = 0;
    *mean = 0;
    for (size_t i = 0; i < n; i++)
        *mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        ss += (x[i] - *mean) * (x[i] - *mean);
    return n > 1 ? ss / (double)(n - 1) : 0;
}

/* Linear drift over the trials: slope, and share of variance explained. */
static void look_at_drift(const double *x, size_t n, struct spread *s)
{
    double xy = 0, xx = 0, at = 0.5 * (double)(n - 1);
    for (size_t i = 0; i < n; i++) {
        xy += ((double)i - at) * (x[i] - s->middle);
        xx += ((double)i - at) * ((double)i - at);
    }
    double total = s->plain_var * (double)(n - 1);
    s->drift = n >= DRIFT_TRIALS ? xy / xx * (double)(n - 1) : NAN;
    s->drift_share = n >= DRIFT_TRIALS && total > 0 ? xy * xy / xx / total : 0;
}

/* Trimmed mean and winsorized variance (Yuen 1974), a fifth at either end. Sorts x. */
static void estimate_trim(double *x, size_t n, struct spread *s)
{
    size_t cut = n / 5 > 0 ? n / 5 : 1;
    double mean, kept = (double)(n - 2 * cut);
    as_sort(x, n);
    s->middle = 0;
    for (size_t i = cut; i < n - cut; i++)
        s->middle += x[i] / kept;
    for (size_t i = 0; i < cut; i++) { /* trimmed values are replaced by their neighbour for the spread */
        x[i] = x[cut];
        x[n - 1 - i] = x[n - 1 - cut];
    }
    double ss = variance(x, n, &mean) * (double)(n - 1);
    s->var = ss / (kept * (kept - 1)) * (double)n;
    s->df = (unsigned)(n - 2 * cut - 1);
}

/* Replaces x by its means per process, in order of first trials, and returns their number. With a single process
 * the scatter between processes is unknown, so its trials stay. */
static size_t merge_processes(const struct cell *c, double *x)
{
    size_t n = 0;
    bool several = false;
    for (size_t i = 1; i < c->trials; i++)
        several |= c->process[i] != c->process[0];
    if (!several)
        return c->trials;
    for (size_t i = 0; i < c->trials; i++) {
        double sum = x[i], of = 1;
        bool first = true;
        for (size_t k = 0; k < c->trials && c->process[i]; k++) {
            if (k == i || c->process[k] != c->process[i])
                continue;
            first &= k > i;
            sum += k > i ? x[k] : 0; /* entries after the first trial are not overwritten yet */
            of++;
        }
        if (first)
            x[n++] = sum / of;
    }
    return n;
}

static void look_at_spread(struct cell *c, struct spread *s)
{
    double *x = c->median;
    if (c->positive)
        for (size_t i = 0; i < c->trials; i++)
            x[i] = log(x[i]);
    c->units = merge_processes(c, x);
    s->plain_var = s->var = variance(x, c->units, &s->middle);
    s->df = (unsigned)c->units - 1;
    look_at_drift(x, c->units, s);
    if (c->units >= TRIMMED_TRIALS)
        estimate_trim(x, c->units, s);
}

static double few_trials(const struct cell *c, const struct spread *s, const struct as_prior *prior, double scale)
{
    double k = (double)c->units, unit = scale * scale;
    if (c->units == 1)
        return NORMAL95 * sqrt(prior->upper_var * unit);
    double df = prior->df + s->df, var = (prior->df * prior->var * unit + s->df * s->var) / df;
    double own = as_student95(s->df) * sqrt(s->var / k);
    return fmax(as_student95(df) * sqrt(var / k), 0.5 * own);
}

/* Half-width of the interval from the scatter of trials. scale: 1 on logarithms, else the number's size. */
static double estimate_half_width(const struct cell *c, const struct spread *s, const struct as_prior *prior,
                                  double scale)
{
    bool known = prior && prior->df > 0;
    if (!known && c->units < 3)
        prior = &UNKNOWN_GROUP;
    double half =
        prior && prior->df > 0 ? few_trials(c, s, prior, scale) : as_student95(s->df) * sqrt(s->var / (double)c->units);
    if (c->units >= TRIMMED_TRIALS)
        half *= TRIMMED_FACTOR;
    if (known && prior->sample_var > 0) /* a group whose trials have more samples underestimates the scatter */
        half = fmax(half, NORMAL95 * scale * sqrt(MEDIAN_VAR * prior->sample_var / (double)c->n));
    return half;
}

static void estimate_hold(struct as_interval *ci, double lo, double hi)
{
    ci->lo = fmin(ci->lo, lo);
    ci->hi = fmax(ci->hi, hi);
}

static bool is_bound(const struct cell *c, const struct as_aim *aim)
{
    return c->forced && aim && aim->better;
}

/* Contended samples bound the number on one side. */
static void hold_unseen(const struct cell *c, int better, struct as_interval *ci)
{
    const double lo = c->p[0].x, hi = c->p[c->n - 1].x;
    if (better < 0)
        ci->lo = fmin(ci->lo, c->positive ? lo / BUSY_FACTOR : lo - fabs(lo) * BUSY_FACTOR);
    if (better > 0)
        ci->hi = fmax(ci->hi, fmin(c->positive ? hi * BUSY_FACTOR : hi + fabs(hi) * BUSY_FACTOR, DBL_MAX));
}

static struct as_interval interval_of(const struct cell *c, const struct spread *s, const struct as_prior *prior,
                                      const struct as_aim *aim, double value)
{
    double scale = c->positive ? 1 : fmax(fabs(c->p[0].x), fabs(c->p[c->n - 1].x));
    double half = estimate_half_width(c, s, prior, scale);
    /* treating all samples as independent */
    struct as_interval pooled = as_weighted_interval(c->p, c->n);
    if (!isnan(pooled.lo)) /* agreement closer than the samples allow is chance */
        half = fmax(half, (pooled.hi - pooled.lo) / 6 / (c->positive ? value : 1));
    if (c->forced && !is_bound(c, aim)) /* the group had no contention: as if it were unknown */
        half = fmax(half, c->units < 3 ? NORMAL95 * scale * sqrt(UNKNOWN_GROUP.upper_var)
                                       : as_student95(s->df) * sqrt(s->var / (double)c->units));
    if (aim && aim->stopped)
        half *= STOPPED_FACTOR;
    struct as_interval ci = {s->middle - half, s->middle + half};
    if (c->positive)
        ci = (struct as_interval){exp(ci.lo), fmin(exp(ci.hi), DBL_MAX)};
    estimate_hold(&ci, value, value);
    if (c->units == 1 && !isnan(pooled.lo))
        estimate_hold(&ci, pooled.lo, pooled.hi);
    if (is_bound(c, aim))
        hold_unseen(c, aim->better, &ci);
    return ci;
}

static void look_at_modes(const struct cell *c, double *x, struct as_estimate *out)
{
    for (size_t i = 0; i < c->n; i++)
        x[i] = c->p[i].x;
    out->modes = as_two_modes_sorted(x, c->n, out->mode, &out->mode_share0) ? 2 : 1;
    size_t low = 0;
    for (size_t k = 0; k < c->trials; k++)
        low += out->modes == 2 && c->median[k] < 0.5 * (out->mode[0] + out->mode[1]);
    out->modes_decided = out->modes == 1 || (c->trials >= 3 && (low == 0 || low == c->trials));
}

static void estimate_describe(const struct cell *c, double *x, struct as_estimate *out)
{
    out->min = c->p[0].x;
    out->max = c->p[c->n - 1].x;
    for (size_t i = 0; i < c->n; i++)
        x[i] = fabs(c->p[i].x - out->value);
    out->mad = as_median_in(x, c->n);
}

static void describe_raw(const struct as_trial_samples *t, size_t n, double *x, size_t total, struct as_estimate *out)
{
    size_t at = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < t[k].n; i++)
            x[at++] = t[k].x[i];
    out->raw_value = as_median_in(x, total);
    out->raw_lo = as_select(x, total, (total - 1) / 4);
    out->raw_hi = as_select(x, total, total - 1 - (total - 1) / 4);
}

static unsigned causes_of(const struct cell *c, const struct spread *s, const struct as_norm *norm,
                          const struct as_aim *aim, const struct as_estimate *out)
{
    unsigned causes = 0;
    double t2 = s->drift_share / (1 - s->drift_share) * ((double)c->units - 2), t = as_student95((double)c->units - 2);
    if (c->contended)
        causes |= AS_WIDE_CONTENTION | (is_bound(c, aim) ? AS_WIDE_BUSY : 0);
    if (normalises(norm) ? c->clock_unknown : !norm && c->clock_moved)
        causes |= AS_WIDE_CLOCK;
    if (c->units >= DRIFT_TRIALS && s->drift_share >= 0.5 && t2 > t * t)
        causes |= AS_WIDE_DRIFT;
    if (c->trials >= 2 && c->positive && s->plain_var > 4 * c->within)
        causes |= AS_WIDE_PLACEMENT;
    if (!out->modes_decided)
        causes |= AS_WIDE_MODES;
    if (causes == 0 || (aim && c->trials < aim->trials))
        causes |= AS_WIDE_TIME;
    return causes;
}

static void estimate_cell(struct cell *c, const struct as_norm *norm, const struct as_prior *prior,
                          const struct as_aim *aim, double *x, struct as_estimate *out)
{
    struct spread s;
    out->n = c->n;
    out->trials = c->trials;
    out->left_out = c->total - c->n;
    out->value = as_weighted_quantile(c->p, c->n, 0.5);
    out->sample_var = c->sample_var;
    look_at_modes(c, x, out);
    look_at_spread(c, &s);
    out->ci = interval_of(c, &s, prior, aim, out->value);
    estimate_describe(c, x, out);
    if (!out->modes_decided)
        estimate_hold(&out->ci, as_weighted_quantile(c->p, c->n, 0.025), as_weighted_quantile(c->p, c->n, 0.975));
    if (aim && aim->exact)
        out->ci = (struct as_interval){out->min, out->max};
    out->df = c->positive ? s.df : 0;
    out->log_var = out->df ? s.var : NAN;
    out->drift = c->positive ? s.drift : NAN;
    double asked = aim ? aim->width * fabs(out->value) : 0;
    out->wide = out->ci.hi - out->ci.lo > asked;
    out->causes = out->wide ? causes_of(c, &s, norm, aim, out) : 0;
}

enum as_status as_estimate_cell(const struct as_trial_samples *trials, size_t n, const struct as_norm *norm,
                                const struct as_prior *prior, const struct as_aim *aim, struct as_estimate *out,
                                struct as_error *err)
{
    struct cell c = {0};
    *out = (struct as_estimate){.value = NAN, .ci = {NAN, NAN}, .raw_value = NAN, .raw_lo = NAN, .raw_hi = NAN};
    out->mad = out->min = out->max = out->log_var = out->sample_var = out->drift = NAN;
    out->mode[0] = out->mode[1] = out->mode_share0 = NAN;
    enum as_status st = estimate_check_trials(trials, n, &c.total, err);
    if (st || c.total == 0)
        return st;
    c.p = malloc(c.total * sizeof *c.p);
    c.scratch = malloc(c.total * sizeof *c.scratch);
    c.median = malloc(n * sizeof *c.median);
    c.process = malloc(n * sizeof *c.process);
    double *x = malloc(c.total * sizeof *x);
    if (!c.p || !c.scratch || !c.median || !c.process || !x) {
        st = as_nomem(err, c.total * 5 * sizeof *x, "samples");
    } else {
        look_at_clock(&c, trials, n);
        take_trials(&c, trials, n, norm, aim ? aim->better : 0);
        estimate_cell(&c, norm, prior, aim, x, out);
        describe_raw(trials, n, x, c.total, out);
    }
    free(c.p);
    free(c.scratch);
    free(c.median);
    free(c.process);
    free(x);
    return st;
}
