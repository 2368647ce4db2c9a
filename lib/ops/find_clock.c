#include "find_clock.h"

#include "chains_internal.h"

#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rounds change between the chains, so that all see the same clock. LONGER: than the launches that the timer just
 * resolves. FULL_ILP: chains per thread of full compute units, as of tick.c. */
enum { ROUNDS = 5, LONGER = 4, FULL_ILP = 4 };
/* LEAST: chains of a fit. SPARE: from so many on, a quarter need not be whole numbers. */
enum { LEAST = 3, SPARE = 5, FITS_MAX = 32 };

/* Short operations on different pipes. The first ones often decide: usually a single-cycle operation and a long one. */
static const char *const names[] = {"iadd32", "xor32", "imul32", "recip32", "ffma32", "shladd32", "fmin32", "ffma64"};
static const char full_name[] = "ffma32";
enum { NAMES = sizeof names / sizeof *names, FULL = NAMES, CHAINS_N };

/* Tried clocks differ by STEP. WHOLE: how far a whole number of cycles may be missed, in cycles. SAME:
 * difference of clocks that are hardly two. SURE: least relative
 * error of a fit. GUESS: how far a device under load may be from its reported clock. */
static const double STEP = 1e-4, WHOLE = 0.04, SAME = 0.02, SURE = 5e-4, GUESS = 1.5;
/* CLEAR: no further chains are needed if all fit and the remaining factor is below this. */
static const double CLEAR = 1.005;
static const double LEAST_HZ = 0.3e9, MOST_HZ = 3.5e9, LEAST_SHARE = 0.5, ABOVE = 1.02;

/* ---- the fit ---- */

static struct as_clock_fit match(const double *seconds, size_t n, double hz)
{
    struct as_clock_fit fit = {.hz = hz, .off = 1};
    for (size_t i = 0; i < n; i++) {
        const double each = seconds[i] * hz, nearest = round(each);
        fit.cycles[i] = nearest >= 1 && fabs(each - nearest) <= WHOLE ? (unsigned)nearest : 0;
        fit.miss += fit.cycles[i] ? fabs(each - nearest) : WHOLE;
        fit.chains += fit.cycles[i] != 0;
    }
    return fit;
}

/* The clock that the matched chains give, and how far they disagree. */
static void refine(const double *seconds, size_t n, struct as_clock_fit *fit)
{
    double hz[AS_CLOCK_CHAINS];
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (fit->cycles[i])
            hz[k++] = fit->cycles[i] / seconds[i];
    fit->hz = as_median(hz, k);
    fit->off = 1 + SURE;
    for (size_t i = 0; i < k; i++)
        fit->off = fmax(fit->off, 1 + fabs(hz[i] / fit->hz - 1));
}

/* Of clocks that hardly differ the one that the chains meet best; else the nearest to the reported one. */
static bool is_better(const struct as_clock_range *range, const struct as_clock_fit *a, const struct as_clock_fit *b)
{
    if (fabs(log(a->hz / b->hz)) < SAME)
        return a->miss < b->miss;
    return range->reported > 0 ? fabs(log(a->hz / range->reported)) < fabs(log(b->hz / range->reported))
                               : a->hz < b->hz;
}

/* Adds what fits at one clock, unless it is the last one at a better clock. */
static void keep_fit(struct as_clock_fit *fits, size_t *n, const struct as_clock_fit *fit)
{
    const bool same = *n && memcmp(fit->cycles, fits[*n - 1].cycles, sizeof fit->cycles) == 0;
    if (!same && *n < FITS_MAX)
        fits[(*n)++] = *fit;
    else if (same && fit->miss < fits[*n - 1].miss)
        fits[*n - 1] = *fit;
}

/* A quarter may be off, such as operations of fractional cycles. */
static unsigned least_chains(size_t n)
{
    return (unsigned)(n >= SPARE ? n - n / 4 : n);
}

/* The clocks at which the most chains fit, and at least so many. */
static size_t find_fits(const double *seconds, size_t n, unsigned least, const struct as_clock_range *range,
                        struct as_clock_fit *fits)
{
    unsigned most = least;
    const size_t steps = n < LEAST ? 0 : 1 + (size_t)(log(range->high / range->low) / STEP);
    size_t found = 0;
    for (size_t i = 0; i < steps; i++) {
        const struct as_clock_fit fit = match(seconds, n, range->low * exp(STEP * (double)i));
        found = fit.chains > most ? 0 : found;
        most = fit.chains > most ? fit.chains : most;
        if (fit.chains == most)
            keep_fit(fits, &found, &fit);
    }
    return found;
}

struct as_clock_fit as_clock_fit(const double *seconds, size_t n, const struct as_clock_range *range)
{
    struct as_clock_fit fits[FITS_MAX], best = {.hz = NAN, .off = 1};
    const size_t found = find_fits(seconds, n, least_chains(n), range, fits);
    for (size_t i = 0; i < found; i++) {
        refine(seconds, n, &fits[i]);
        if (isnan(best.hz) || is_better(range, &fits[i], &best))
            best = fits[i];
    }
    for (size_t i = 0; i < found; i++)
        best.off = fmax(best.off, exp(fabs(log(fits[i].hz / best.hz))));
    return best;
}

bool as_clock_is_decided(const double *seconds, size_t n, size_t more, const struct as_clock_range *range)
{
    struct as_clock_fit fits[FITS_MAX];
    const unsigned least = least_chains(n + more);
    if (n < LEAST)
        return false;
    if (least > more && find_fits(seconds, n, (unsigned)(least - more), range, fits) == 0)
        return true;
    const struct as_clock_fit fit = as_clock_fit(seconds, n, range);
    return n >= SPARE && fit.chains == n && fit.off < CLEAR;
}

/* ---- the measurement ---- */

struct finder {
    struct as_chains chains[CHAINS_N];
    uint32_t turns[CHAINS_N];
    bool used[CHAINS_N], untimed[CHAINS_N];
    double step_s[CHAINS_N][ROUNDS];
};

static struct as_chains_desc desc_of(const struct as_device_info *info, size_t i)
{
    struct as_chains_desc d = {.ilp = i == FULL ? FULL_ILP : 1,
                               .threads = i == FULL ? as_chains_full(info) : as_chains_warp(info),
                               .every_unit = i == FULL};
    const struct as_op *op = as_op_find(i == FULL ? full_name : names[i]);
    d.sequence = as_op_alone(op, op->two && i == FULL ? 2 : 0);
    return d;
}

static enum as_status make_chain(struct finder *f, size_t i, struct as_trial_context *tc, struct as_error *err)
{
    const struct as_chains_desc d = desc_of(&tc->dev->info, i);
    struct as_error lacks = {0};
    f->used[i] = as_chains_apply(&tc->dev->info, &d, &lacks) == AS_APPLIES;
    if (!f->used[i])
        return AS_OK;
    enum as_status st = as_chains_make(&f->chains[i], tc, &d, err);
    if (!st)
        st = as_chains_enough(&f->chains[i], &f->turns[i], err);
    f->turns[i] *= LONGER;
    return st;
}

/* All that are made. */
static enum as_status measure_chains(struct finder *f, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t k = 0; k < (size_t)ROUNDS * CHAINS_N && !st; k++) {
        const size_t i = k % CHAINS_N;
        double half = 0, whole = 0, unused;
        if (!f->used[i] || f->untimed[i])
            continue;
        st = as_chains_pair(&f->chains[i], &f->turns[i], &half, &whole, &unused, err);
        if (st == AS_UNSUPPORTED && i != FULL) { /* its compiler found a way around the steps */
            f->untimed[i] = true;
            st = AS_OK;
        }
        if (!st)
            f->step_s[i][k / CHAINS_N] = as_chains_step(&f->chains[i], f->turns[i], half, whole);
    }
    return st;
}

static size_t seconds_of(const struct finder *f, double *seconds)
{
    size_t n = 0;
    for (size_t i = 0; i < NAMES; i++)
        if (f->used[i] && !f->untimed[i])
            seconds[n++] = as_median(f->step_s[i], ROUNDS);
    return n;
}

/* Some compilers take a second per kernel: makes only as many chains as needed. *n: measured. */
static enum as_status measure_enough(struct finder *f, struct as_trial_context *tc, const struct as_clock_range *range,
                                     double *seconds, size_t *n, struct as_error *err)
{
    enum as_status st = make_chain(f, FULL, tc, err);
    bool decided = false;
    for (size_t i = 0; i < NAMES && !st && !decided; i++) {
        st = make_chain(f, i, tc, err);
        if (st || i + 1 < LEAST)
            continue;
        st = measure_chains(f, err);
        *n = seconds_of(f, seconds);
        decided = as_clock_is_decided(seconds, *n, NAMES - 1 - i, range);
    }
    return st;
}

static struct as_clock_range range_of(const struct as_device_info *info)
{
    const double reported = info->clock_max_hz;
    if (reported > 0 && isfinite(reported))
        return (struct as_clock_range){LEAST_SHARE * reported, ABOVE * reported, reported};
    return (struct as_clock_range){LEAST_HZ, MOST_HZ, 0};
}

static void take_fit(const struct as_clock_range *range, struct as_clock_fit *fit, struct as_found_clock *out)
{
    if (isfinite(fit->hz)) {
        snprintf(out->how, sizeof out->how, "by calibration: dependent chains of %u operations take whole cycles",
                 fit->chains);
    } else if (range->reported > 0) {
        *fit = (struct as_clock_fit){.hz = range->reported, .off = GUESS};
        snprintf(out->how, sizeof out->how, "clock reported by the driver; calibration found none");
    } else {
        *fit = (struct as_clock_fit){.hz = sqrt(range->low * range->high), .off = sqrt(range->high / range->low)};
        snprintf(out->how, sizeof out->how, "clock unknown, assumed between %.1f and %.1f GHz", range->low / 1e9,
                 range->high / 1e9);
    }
    out->off = fit->off;
}

static enum as_status find_with(struct finder *f, struct as_trial_context *tc, struct as_error *err)
{
    struct as_found_clock *out = &tc->dev->found;
    const struct as_clock_range range = range_of(&tc->dev->info);
    double seconds[NAMES];
    size_t n = 0;
    const enum as_status st = measure_enough(f, tc, &range, seconds, &n, err);
    if (st)
        return st;
    struct as_clock_fit fit = as_clock_fit(seconds, n, &range);
    take_fit(&range, &fit, out);
    out->fma = as_chains_results(&f->chains[FULL]) / (as_median(f->step_s[FULL], ROUNDS) * fit.hz);
    return AS_OK;
}

enum as_status as_clock_find(struct as_trial_context *tc, struct as_error *err)
{
    if (tc->dev->found.fma > 0)
        return AS_OK;
    struct finder *f = calloc(1, sizeof *f);
    if (!f)
        return as_nomem(err, sizeof *f, "chains");
    const enum as_status st = find_with(f, tc, err);
    for (size_t i = 0; i < CHAINS_N; i++)
        if (f->used[i])
            as_chains_finish(&f->chains[i]);
    free(f);
    return st;
}
