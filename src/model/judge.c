#include "model/judge.h"
#include "model/bins.h"
#include "model/counters.h"
#include "model/gates.h"
#include "model/judge_metrics.h"
#include "model/judge_state.h"
#include "model/metrics.h"

#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A working set above this share of the minimum for main memory depends on the memory clock. */
static const double MOSTLY_MEMORY = 0.5;
/* Student's t for two distant trials is useless, so the interval is clipped at this factor beyond the extreme samples.
 */
static const double BEYOND_SAMPLES = 2;

enum behaviour {
    OWN_WORK,   /* independent of the host's clock: other devices, or counts of cycles */
    CORE_BOUND, /* one core and its own caches */
    CACHED,     /* shared caches, in separate clock domains */
    MEMORY,
    HOST_CALLS, /* driver and system calls on a host core */
};
static const char *const behaviour_words[] = {"own", "core", "cache", "memory", "host"};

struct as_kind {
    char device[32];
    char probe[32]; /* "" for all */
    enum behaviour behaviour;
    bool fitted; /* the exponent is fitted; otherwise it is given by construction */
    bool known;
    double beta;
    size_t trials; /* used for the fit */
    struct as_prior prior;
};

void as_trials_finish(struct as_trials *t)
{
    for (size_t i = 0; i < t->n; i++)
        as_trial_finish(&t->v[i]);
    free(t->v);
    *t = (struct as_trials){0};
}

uint64_t as_trials_memory_claim(const struct as_trials *t)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->v[i].claims_memory && t->v[i].footprint > bytes)
            bytes = t->v[i].footprint;
    return bytes;
}

enum as_status as_trials_add(struct as_trials *t, struct as_trial *trial, struct as_error *err)
{
    enum as_status st = as_grow((void **)&t->v, &t->cap, t->n + 1, sizeof *t->v, err);
    if (!st) {
        t->v[t->n++] = *trial;
        *trial = (struct as_trial){0};
    }
    return st;
}

bool as_judge_is_exact(const struct as_judge *j, const struct as_cell *cell)
{
    return as_unit_is_count(cell->unit) || (j->is_untimed && j->is_untimed(cell));
}

/* The n counting trials of a cell as input of the statistics. NULL: out of memory. */
static struct as_trial_samples *samples_of(const struct as_judge *j, const struct as_cell *cell,
                                           const struct as_trials *t, size_t *n)
{
    struct as_trial_samples *x = calloc(t->n ? t->n : 1, sizeof *x);
    const bool exact = as_judge_is_exact(j, cell);
    *n = 0;
    for (size_t i = 0; x && i < t->n; i++)
        if (as_trial_counts(&t->v[i]))
            x[(*n)++] = (struct as_trial_samples){.x = t->v[i].samples,
                                                  .clock_hz = t->v[i].core_hz,
                                                  .weight = exact ? NULL : t->v[i].weight,
                                                  .n = t->v[i].n,
                                                  .process = as_judge_process_of(j, cell, &t->v[i])};
    return x;
}

static const struct as_judge_device *judge_device_of(const struct as_judge *j, const char *id)
{
    static const struct as_judge_device unknown;
    for (size_t i = 0; i < j->devices_n; i++)
        if (strcmp(j->devices[i].id, id) == 0)
            return &j->devices[i];
    return &unknown;
}

/* "ns", "GB/s": times and rates. */
static bool is_timed(const char *unit)
{
    const size_t n = strlen(unit);
    return strcmp(unit, "ns") == 0 || strcmp(unit, "s") == 0 || strcmp(unit, "Hz") == 0 ||
           (n > 2 && strcmp(unit + n - 2, "/s") == 0);
}

static enum behaviour behaviour_of(const struct as_judge *j, const struct as_cell *cell, const struct as_trials *t)
{
    const struct as_judge_device *d = judge_device_of(j, cell->device);
    uint64_t footprint = 0;
    bool host = false;
    for (size_t i = 0; i < t->n; i++) {
        host |= as_trial_counts(&t->v[i]) && t->v[i].core_hz;
        footprint = t->v[i].footprint > footprint ? t->v[i].footprint : footprint;
    }
    if (!host || !is_timed(cell->unit))
        return OWN_WORK;
    if (!d->is_cpu || footprint == 0)
        return HOST_CALLS;
    if (footprint <= d->core_cache)
        return CORE_BOUND;
    return d->memory_least && (double)footprint > MOSTLY_MEMORY * (double)d->memory_least ? MEMORY : CACHED;
}

static struct as_kind *find_kind(const struct as_judge *j, const char *device, const char *probe, enum behaviour b)
{
    for (size_t i = 0; i < j->kinds_n; i++) {
        struct as_kind *k = &j->kinds[i];
        if (k->behaviour == b && strcmp(k->device, device) == 0 && strcmp(k->probe, probe) == 0)
            return k;
    }
    return NULL;
}

/* Core-bound and memory cells are pooled across probes. */
static const char *probe_of_kind(const struct as_cell *cell, enum behaviour b)
{
    return b == CORE_BOUND || b == MEMORY ? "" : cell->probe;
}

static struct as_kind *judge_kind_of(const struct as_judge *j, const struct as_cell *cell, const struct as_trials *t)
{
    const enum behaviour b = behaviour_of(j, cell, t);
    return find_kind(j, cell->device, probe_of_kind(cell, b), b);
}

/* Rebuilds the kinds; of[i] is the kind of cells[i], AS_NO_KIND if no trial counts. */
static enum as_status make_kinds(struct as_judge *j, const struct as_cell *cells, const struct as_trials *trials,
                                 size_t n, size_t *of, struct as_error *err)
{
    size_t cap = 0;
    free(j->kinds);
    j->kinds = NULL;
    j->kinds_n = 0;
    for (size_t i = 0; i < n; i++) {
        bool any = false;
        for (size_t k = 0; k < trials[i].n && !any; k++)
            any = as_trial_counts(&trials[i].v[k]);
        of[i] = AS_NO_KIND;
        if (!any)
            continue;
        const enum behaviour b = behaviour_of(j, &cells[i], &trials[i]);
        struct as_kind *k = find_kind(j, cells[i].device, probe_of_kind(&cells[i], b), b);
        if (!k) {
            enum as_status st = as_grow((void **)&j->kinds, &cap, j->kinds_n + 1, sizeof *j->kinds, err);
            if (st)
                return st;
            k = &j->kinds[j->kinds_n++];
            *k = (struct as_kind){.behaviour = b, .beta = b == CORE_BOUND, .known = b != CACHED && b != HOST_CALLS};
            as_copy_text(k->device, sizeof k->device, cells[i].device);
            as_copy_text(k->probe, sizeof k->probe, probe_of_kind(&cells[i], b));
        }
        of[i] = (size_t)(k - j->kinds);
    }
    return AS_OK;
}

/* The most frequent clock of all samples with a reading. */
static enum as_status learn_reference(struct as_judge *j, const struct as_trials *trials, size_t n,
                                      struct as_error *err)
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < trials[i].n; k++)
            total += trials[i].v[k].core_hz ? trials[i].v[k].n : 0;
    j->reference_hz = NAN;
    if (total == 0)
        return AS_OK;
    double *hz = malloc(total * sizeof *hz);
    if (!hz)
        return as_nomem(err, total * sizeof *hz, "clock readings");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < trials[i].n; k++) {
            const struct as_trial *v = &trials[i].v[k];
            for (size_t s = 0; v->core_hz && s < v->n; s++)
                if (isfinite(v->core_hz[s]) && v->core_hz[s] > 0)
                    hz[at++] = v->core_hz[s];
        }
    j->reference_hz = at ? as_reference_clock(hz, NULL, at) : NAN;
    free(hz);
    return AS_OK;
}

static const struct as_norm *norm_of(const struct as_judge *j, const struct as_kind *k, const struct as_cell *cell,
                                     struct as_norm *out)
{
    *out = (struct as_norm){.beta = k->beta, .reference_hz = j->reference_hz, .rate = !cell->lower_is_better};
    if (k->behaviour != OWN_WORK && !isfinite(j->reference_hz))
        return NULL;
    return k->known ? out : NULL;
}

/* Fits the exponent of one kind from the trials of its cells. */
static enum as_status fit_kind(struct as_judge *j, size_t kind, const struct as_cell *cells,
                               const struct as_trials *trials, const size_t *of, size_t n, struct as_error *err)
{
    struct as_kind *k = &j->kinds[kind];
    size_t m = 0;
    bool rate = false;
    enum as_status st = AS_OK;
    struct as_cell_trials *x = calloc(n ? n : 1, sizeof *x);
    struct as_exponent found = {0};
    if (!x)
        return as_nomem(err, n * sizeof *x, "trials");
    for (size_t i = 0; i < n && !st; i++) {
        if (of[i] != kind)
            continue;
        rate = !cells[i].lower_is_better;
        x[m].trials = samples_of(j, &cells[i], &trials[i], &x[m].n);
        if (!x[m++].trials)
            st = as_nomem(err, 0, "trials");
    }
    if (!st)
        st = as_exponent_fit(x, m, rate, &found, err);
    if (!st) {
        k->fitted = k->known = found.known;
        k->beta = found.known ? found.beta : 0;
        k->trials = found.trials;
    }
    for (size_t i = 0; i < m; i++)
        free((void *)x[i].trials);
    free(x);
    return st;
}

/* Threads of a driver compete for the host's CPUs too: what they take is part of its devices' numbers. */
static int contended_side(const struct as_judge *j, const struct as_cell *cell)
{
    return as_judge_is_exact(j, cell) || !judge_device_of(j, cell->device)->is_cpu ? 0 : cell->lower_is_better ? -1 : 1;
}

static enum as_status judge_estimate(const struct as_judge *j, const struct as_kind *k, const struct as_cell *cell,
                                     const struct as_trials *t, bool with_prior, struct as_estimate *out,
                                     struct as_error *err)
{
    size_t n;
    struct as_norm norm;
    struct as_trial_samples *x = samples_of(j, cell, t, &n);
    if (!x)
        return as_nomem(err, t->n * sizeof *x, "trials");
    const struct as_aim aim = {.width = isfinite(cell->precision) ? cell->precision : 0,
                               .trials = (size_t)j->trials_asked,
                               .exact = as_judge_is_exact(j, cell),
                               .stopped = n > (size_t)j->trials_asked,
                               .better = contended_side(j, cell)};
    enum as_status st =
        as_estimate_cell(x, n, norm_of(j, k, cell, &norm), with_prior ? &k->prior : NULL, &aim, out, err);
    free(x);
    return st;
}

/* Fits the scatter of a kind's cells. */
static enum as_status learn_prior(struct as_judge *j, size_t kind, const struct as_cell *cells,
                                  const struct as_trials *trials, const size_t *of, size_t n, struct as_error *err)
{
    size_t m = 0;
    enum as_status st = AS_OK;
    struct as_estimate *found = calloc(n ? n : 1, sizeof *found);
    if (!found)
        return as_nomem(err, n * sizeof *found, "estimates");
    for (size_t i = 0; i < n && !st; i++)
        if (of[i] == kind)
            st = judge_estimate(j, &j->kinds[kind], &cells[i], &trials[i], false, &found[m++], err);
    if (!st)
        st = as_prior_fit_cells(found, m, &j->kinds[kind].prior, err);
    free(found);
    return st;
}

enum as_status as_judge_learn(struct as_judge *j, const struct as_cell *cells, const struct as_trials *trials, size_t n,
                              struct as_error *err)
{
    size_t *of = calloc(n ? n : 1, sizeof *of);
    enum as_status st =
        of ? make_kinds(j, cells, trials, n, of, err) : as_nomem(err, n * sizeof *of, "kinds of measurements");
    if (!st)
        st = learn_reference(j, trials, n, err);
    for (size_t k = 0; k < j->kinds_n && !st; k++) {
        if (j->kinds[k].behaviour == CACHED || j->kinds[k].behaviour == HOST_CALLS)
            st = fit_kind(j, k, cells, trials, of, n, err);
        if (!st)
            st = learn_prior(j, k, cells, trials, of, n, err);
    }
    if (!st)
        st = as_judge_learn_metrics(j, cells, trials, of, n, err);
    free(of);
    return st;
}

void as_judge_finish(struct as_judge *j)
{
    free(j->kinds);
    j->kinds = NULL;
    j->kinds_n = 0;
    as_judge_forget_metrics(j);
}

static void take_estimate(struct as_cell *cell, const struct as_estimate *e, double exponent)
{
    cell->sum = (struct as_summary){.n = e->n + e->left_out,
                                    .trials = e->trials,
                                    .mad = e->mad,
                                    .min = e->min,
                                    .max = e->max,
                                    .modes = e->modes,
                                    .mode = {e->mode[0], e->mode[1]},
                                    .mode_share0 = e->mode_share0};
    /* Since exp(log(x)) loses the last digit. */
    cell->sum.median = fmin(fmax(e->value, e->min), e->max);
    cell->sum.ci.lo = fmin(e->ci.lo, cell->sum.median);
    cell->sum.ci.hi = fmax(e->ci.hi, cell->sum.median);
    if (e->min > 0 && !(e->causes & AS_WIDE_BUSY)) {
        cell->sum.ci.lo = fmax(cell->sum.ci.lo, e->min / BEYOND_SAMPLES);
        cell->sum.ci.hi = fmin(cell->sum.ci.hi, e->max * BEYOND_SAMPLES);
    }
    if (e->trials == 1 && cell->trials_done > 1) { /* what the trials left out saw; fmin and fmax pass over NAN */
        cell->sum.ci.lo = fmin(cell->sum.ci.lo, e->raw_lo);
        cell->sum.ci.hi = fmax(cell->sum.ci.hi, e->raw_hi);
    }
    cell->raw_low = e->raw_lo;
    cell->raw_high = e->raw_hi;
    cell->exponent = exponent;
    cell->causes = e->causes;
}

/* The last trial without samples, NULL if there is none. */
static const struct as_trial *broken_of(const struct as_trials *t)
{
    const struct as_trial *broken = NULL;
    for (size_t i = 0; i < t->n; i++)
        if (t->v[i].status != AS_CELL_OK && t->v[i].number < AS_ISOLATED_TRIAL)
            broken = &t->v[i];
    return broken;
}

/* The farthest that a clock by calibration may be off in a trial (lib/ops/tick.h); 1 for numbers not in cycles. */
static double clock_off(const struct as_cell *cell, const struct as_trials *t)
{
    double off = 1;
    for (size_t i = 0; i < t->n && strstr(cell->unit, "cycle"); i++)
        off = as_trial_counts(&t->v[i]) ? fmax(off, as_detail_number(t->v[i].detail, "clock_off")) : off;
    return off;
}

static size_t count_trials(const struct as_trials *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += as_trial_counts(&t->v[i]);
    return n;
}

static void judge_add_up(struct as_cell *cell, const struct as_trials *t)
{
    cell->trials_done = (int)t->n;
    cell->duration_s = 0;
    cell->started_at = t->n ? t->v[0].started_at : 0;
    for (size_t i = 0; i < t->n; i++)
        cell->duration_s += t->v[i].duration_s;
    cell->sum = (struct as_summary){.median = NAN, .mad = NAN, .min = NAN, .max = NAN, .ci = {NAN, NAN}};
    cell->exponent = cell->raw_low = cell->raw_high = NAN;
    cell->causes = 0;
}

enum as_status as_judge_cell(const struct as_judge *j, struct as_cell *cell, const struct as_trials *trials,
                             const struct as_judge_context *context, struct as_error *err)
{
    static const struct as_kind unlearned;
    const struct as_trial *broken = broken_of(trials);
    const struct as_kind *k = judge_kind_of(j, cell, trials);
    struct as_estimate e;
    judge_add_up(cell, trials);
    enum as_status st = judge_estimate(j, k ? k : &unlearned, cell, trials, k != NULL, &e, err);
    if (st)
        return st;
    if (e.n) {
        const bool normalised = k && k->known && k->behaviour != OWN_WORK && isfinite(j->reference_hz);
        take_estimate(cell, &e, normalised ? k->beta : NAN);
        as_gates_evaluate(cell, trials->v, trials->n, context);
        cell->sum.ci = as_cell_possible(cell, cell->sum.ci);
        e.wide = e.wide && 2 * as_cell_width(cell) > cell->precision;
        const struct as_disturbance d = {context->own_power ? 0 : as_gates_throttled(trials->v, trials->n),
                                         as_gates_shared(trials->v, trials->n), count_trials(trials),
                                         clock_off(cell, trials)};
        as_judge_set_state(cell, j->trials_asked, &e, &d, broken);
        st = as_bins_sum(cell, trials, err);
        if (!st)
            st = as_counters_gather(cell, trials, err);
        return st ? st : as_judge_set_metrics(j, k ? (size_t)(k - j->kinds) : AS_NO_KIND, cell, trials, err);
    }
    if (broken) {
        cell->status = broken->status;
        as_copy_text(cell->reason, sizeof cell->reason, broken->reason);
    } else
        cell->status = AS_CELL_PLANNED;
    return AS_OK;
}

void as_judge_exponents(const struct as_judge *j, struct as_buf *out)
{
    const char *lead = "[";
    for (size_t i = 0; i < j->kinds_n; i++) {
        const struct as_kind *k = &j->kinds[i];
        if (k->behaviour == OWN_WORK)
            continue;
        as_buf_printf(out, "%s{\"device\":", lead);
        as_buf_json_str(out, k->device);
        as_buf_str(out, ",\"probe\":");
        as_buf_json_str(out, k->probe);
        as_buf_printf(out, ",\"behaviour\":\"%s\",\"exponent\":", behaviour_words[k->behaviour]);
        if (k->known)
            as_buf_printf(out, "%.4g", k->beta);
        else
            as_buf_str(out, "null");
        as_buf_printf(out, ",\"fitted\":%s,\"trials\":%zu}", k->fitted ? "true" : "false", k->trials);
        lead = ",";
    }
    as_buf_str(out, lead[0] == '[' ? "[]" : "]");
}
