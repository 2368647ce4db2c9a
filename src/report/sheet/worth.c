#include "report/sheet/worth.h"

#include "base/clock.h"
#include "base/text.h"
#include "report/model/same_hardware.h"
#include "report/sheet/machine_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double EFFECT_MIN = 1.1; /* an effect below it changes nobody's program */
static const double DEVIATES = 1.5;   /* beyond the usual range, what fits any machine is news */
enum { PER_RELATION = 2, WORTH_MIN = 2 };

/* How much an effect of a relation counts, where its size depends on the experiment more than on the machine. */
static const struct {
    enum as_relation relation;
    double share; /* of the effect's logarithm */
} relevance[] = {
    {AS_FACT_CONCURRENCY_PRIORITY, 0.25}, /* grows with the work that the probe puts before the kernel */
    {AS_FACT_ATOMICS_SHARED, 0.5},        /* the worst of many pairs of thread counts, which do nothing else */
    {AS_FACT_ATTENTION, 0.5},             /* the other way is known to be slow */
};

/* Advice that fits nearly any machine, and the range of its gain in the runs of samples/: H100 and H200, whose hosts
 * are virtual machines on Emerald Rapids. text: only facts whose field starts with it. */
static const struct usual {
    enum as_relation relation;
    enum as_fact_field field;
    const char *text; /* NULL: of all facts of the relation */
    double lo, hi;
} usual_gains[] = {
    {AS_FACT_ALLOC, AS_FIELD_OP, NULL, 22, 38},
    {AS_FACT_CONCURRENCY_PRIORITY, AS_FIELD_OP, NULL, 44, 60},
    {AS_FACT_COPY, AS_FIELD_FROM, "host", 3.2, 8.8},
    {AS_FACT_COPY, AS_FIELD_TO, "host", 3.2, 8.8},
    {AS_FACT_FAULT_HUGE_PAGES, AS_FIELD_OP, NULL, 2.4, 3.1},
    {AS_FACT_LAUNCH, AS_FIELD_WHAT, "graph-", 0.25, 0.5},
    {AS_FACT_LAUNCH, AS_FIELD_WHAT, "roundtrip", 1.07, 6.1},
    {AS_FACT_MATMUL_ACCELERATED, AS_FIELD_TYPE, "f16", 1.8, 2},
    {AS_FACT_MATMUL_ACCELERATED, AS_FIELD_TYPE, "bf16", 1.9, 2},
    {AS_FACT_MATMUL_ACCELERATED, AS_FIELD_TYPE, "e4m3", 1.9, 2.1},
    {AS_FACT_MATMUL_ACCELERATED, AS_FIELD_TYPE, "e5m2", 1.9, 2.1},
    {AS_FACT_MATMUL_ACCELERATED, AS_FIELD_TYPE, "s8", 1.9, 2.1},
    {AS_FACT_TLB_COST, AS_FIELD_OP, NULL, 1.8, 3.6},
    {AS_FACT_TLB_GAIN, AS_FIELD_OP, NULL, 1.8, 3.6},
};

/* NULL: what the fact tells is of this machine. */
static const struct usual *usual_of(const struct as_fact *f)
{
    for (size_t i = 0; i < sizeof usual_gains / sizeof *usual_gains; i++) {
        const struct usual *u = &usual_gains[i];
        if (u->relation == f->relation &&
            (!u->text || strncmp(as_fact_field(f, u->field), u->text, strlen(u->text)) == 0))
            return u;
    }
    return NULL;
}

/* By which factor a gain lies beyond a usual range at least; 1: the interval reaches into it. */
static double beyond_usual(const struct usual *u, struct as_interval gain)
{
    return gain.lo > u->hi ? gain.lo / u->hi : gain.hi < u->lo ? u->lo / gain.hi : 1;
}

/* Facts that tell of a device that is not as it should be, however little a program feels of it. */
static const enum as_relation faults[] = {AS_FACT_ALIKE, AS_FACT_LINK_COUNTER};

static bool is_fault(const struct as_fact *f)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (f->relation == faults[i])
            return f->act[0];
    return false;
}

/* By how much a device deviates at least. Errors of a link have no such measure and come first. */
static double deviation_of(const struct as_fact *f)
{
    if (f->relation != AS_FACT_ALIKE || !(f->ci.lo > 0))
        return INFINITY;
    return f->ci.hi < 1 ? -log(f->ci.hi) : log(f->ci.lo);
}

/* A refuted claim has no gain: it counts as soon as something is to be done about it. */
static bool is_claim(const struct as_fact *f)
{
    return f->verdict == AS_REFUTED && f->act[0] && isnan(f->gain);
}

static double score_of(const struct as_fact *f, double effect)
{
    double share = 1;
    if (is_fault(f))
        return deviation_of(f);
    for (size_t i = 0; i < sizeof relevance / sizeof *relevance; i++)
        share *= relevance[i].relation == f->relation ? relevance[i].share : 1;
    return is_claim(f) ? INFINITY : share * log(effect);
}

static bool is_same_backend(const char *a, const char *b)
{
    const size_t n = strcspn(a, ":");
    return n == strcspn(b, ":") && strncmp(a, b, n) == 0;
}

/* What is to be done stands before the colon. */
static bool calls_for_same(const struct as_fact *a, const struct as_fact *b)
{
    const size_t n = strcspn(a->act, ":");
    return is_same_backend(a->device, b->device) && n == strcspn(b->act, ":") && strncmp(a->act, b->act, n) == 0;
}

/* ---- other runs ---- */

/* Of a ratio below 1 the inverse, so that above 1 is the side of the fact. */
static struct as_interval gain_on_side(const struct as_fact *f, const struct as_fact *other)
{
    const struct as_interval ci = other->gain_ci;
    return f->gain_ci.hi < 1 ? (struct as_interval){1 / ci.hi, 1 / ci.lo} : ci;
}

/* Of a claim its own value. */
static struct as_interval range_of(const struct as_fact *f, const struct as_fact *other)
{
    return is_claim(f) ? other->ci : gain_on_side(f, other);
}

enum answer { SAYS_NOTHING, SAYS_SAME, OPEN, DENIES };

/* Another run denies an effect that it sees on the other side, or excludes at this size. */
static enum answer answer_of(const struct as_fact *f, const struct as_fact *other)
{
    if (is_fault(f))
        return is_fault(other) ? SAYS_SAME : SAYS_NOTHING;
    if (is_claim(f))
        return other->verdict == AS_REFUTED ? SAYS_SAME : other->verdict == AS_SUPPORTED ? DENIES : OPEN;
    const struct as_interval own = gain_on_side(f, f), its = gain_on_side(f, other);
    if (!isfinite(its.lo) || !isfinite(its.hi))
        return SAYS_NOTHING;
    return its.lo > 1 ? SAYS_SAME : its.hi < own.lo ? DENIES : OPEN;
}

/* What the other runs say of it; false: one denies it. */
static bool look_at_others(const struct as_report_run *run, int64_t own_run, struct as_worth *w, double *effect)
{
    const struct as_fact *f = w->fact;
    const struct as_interval own = range_of(f, f);
    *effect = as_fact_effect(f);
    w->seen = w->looked = 1;
    w->ranges = own;
    for (size_t i = 0; i < run->others_n; i++) {
        const struct as_other_fact *o = &run->others[i];
        if (o->run == own_run || strcmp(o->fact.id, f->id) != 0 || strcmp(o->fact.device, f->device) != 0)
            continue;
        const enum answer answer = answer_of(f, &o->fact);
        if (answer == DENIES)
            return false;
        w->looked += answer != SAYS_NOTHING;
        if (answer != SAYS_SAME)
            continue;
        const struct as_interval its = range_of(f, &o->fact);
        w->seen++;
        if (is_claim(f)) /* which states its range */
            w->differ |= its.lo < own.lo || its.hi > own.hi;
        else
            w->differ |= its.hi < own.lo || its.lo > own.hi;
        *effect = is_claim(f) ? *effect : fmin(*effect, its.lo);
        w->ranges = (struct as_interval){fmin(w->ranges.lo, its.lo), fmax(w->ranges.hi, its.hi)};
    }
    return true;
}

/* By which factor all runs deviate from what is usual at least; infinite where nothing is. */
static double deviation_from_usual(const struct as_worth *w)
{
    const struct usual *u = is_claim(w->fact) || is_fault(w->fact) ? NULL : usual_of(w->fact);
    const bool is_inverse = w->fact->gain_ci.hi < 1; /* as gain_on_side */
    const struct as_interval gain = is_inverse ? (struct as_interval){1 / w->ranges.hi, 1 / w->ranges.lo} : w->ranges;
    return u ? beyond_usual(u, gain) : INFINITY;
}

/* ---- the list ---- */

/* Puts it at its place among those there; returns how many there are then. */
static size_t insert_worth(const struct as_worth *w, struct as_worth *v, size_t n)
{
    size_t at = n;
    for (; at > 0 && v[at - 1].score < w->score; at--)
        v[at] = v[at - 1];
    v[at] = *w;
    return n + 1;
}

static size_t consider(const struct as_report_run *run, const struct as_fact *f, int64_t of_run, struct as_worth *v,
                       size_t n)
{
    struct as_worth w = {.fact = f};
    double effect;
    if (!f->act[0] || !look_at_others(run, of_run, &w, &effect) ||
        (!is_fault(f) && !is_claim(f) && !(effect >= EFFECT_MIN)))
        return n;
    w.score = score_of(f, effect);
    w.is_usual = deviation_from_usual(&w) < DEVIATES;
    return insert_worth(&w, v, n);
}

/* Does a later run of the machine have this fact with something to do? */
static bool is_told_before(const struct as_report_run *run, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (run->others[i].fact.act[0] && strcmp(run->others[i].fact.id, run->others[at].fact.id) == 0 &&
            strcmp(run->others[i].fact.device, run->others[at].fact.device) == 0)
            return true;
    return false;
}

static bool is_among(const struct as_fact *f, const char *const *devices)
{
    while (*devices && strcmp(*devices, f->device) != 0)
        devices++;
    return *devices;
}

/* Faults, or what else is worth knowing; left_out: devices, up to NULL. */
static size_t candidates_of(const struct as_report_run *run, bool of_faults, const char *const *left_out,
                            struct as_worth *v)
{
    size_t n = 0;
    for (size_t i = 0; !run->of_machine && i < run->facts_n; i++)
        if (is_fault(&run->facts[i]) == of_faults && !is_among(&run->facts[i], left_out))
            n = consider(run, &run->facts[i], run->run.id, v, n);
    for (size_t i = 0; run->of_machine && i < run->others_n; i++)
        if (is_fault(&run->others[i].fact) == of_faults && !is_among(&run->others[i].fact, left_out) &&
            !is_told_before(run, i))
            n = consider(run, &run->others[i].fact, run->others[i].run, v, n);
    return n;
}

/* The best of either, without devices that drive the hardware of another. *v is the caller's (free). */
static size_t worth_candidates(const struct as_report_run *run, bool of_faults, struct as_worth **v)
{
    const char **duplicates = calloc(run->devices_n + 1, sizeof *duplicates);
    size_t n = 0, duplicates_n = 0;
    *v = calloc(run->facts_n + run->others_n + 1, sizeof **v);
    for (size_t i = 0; duplicates && i < run->devices_n; i++)
        if (as_hardware_representative(run, i) != i)
            duplicates[duplicates_n++] = run->devices[i].id;
    if (*v && duplicates)
        n = candidates_of(run, of_faults, duplicates, *v);
    free(duplicates);
    return n;
}

/* Of those that call for the same, only those that most runs show. */
static size_t keep_reproduced(struct as_worth *v, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (calls_for_same(v[i].fact, v[k].fact) && v[k].seen > v[i].seen)
                v[i].score = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (v[i].score > -INFINITY)
            v[kept++] = v[i];
    return kept;
}

/* Few of one relation, and one of those that call for the same. */
static bool is_further(const struct as_fact *f, const struct as_worth *before, size_t n)
{
    size_t of_relation = 0;
    for (size_t i = 0; i < n; i++) {
        of_relation += before[i].fact->relation == f->relation;
        if (calls_for_same(before[i].fact, f))
            return false;
    }
    return of_relation < PER_RELATION;
}

size_t as_worth_faults(const struct as_report_run *run, struct as_worth *out, size_t most)
{
    struct as_worth *v;
    const size_t n = worth_candidates(run, true, &v);
    size_t kept = 0;
    for (size_t i = 0; i < n && kept < most; i++) {
        bool is_told = false;
        for (size_t k = 0; k < kept; k++)
            is_told |= strcmp(out[k].fact->device, v[i].fact->device) == 0 && calls_for_same(out[k].fact, v[i].fact);
        if (!is_told)
            out[kept++] = v[i];
    }
    free(v);
    return kept;
}

size_t as_worth_knowing(const struct as_report_run *run, struct as_worth *out, size_t most)
{
    struct as_worth *v;
    size_t n = worth_candidates(run, false, &v);
    n = keep_reproduced(v, n);
    size_t kept = 0;
    for (size_t i = 0; i < n && kept < most; i++)
        if (!v[i].is_usual && is_further(v[i].fact, out, kept))
            out[kept++] = v[i];
    for (size_t i = 0; i < n && kept < most && kept < WORTH_MIN; i++)
        if (v[i].is_usual && is_further(v[i].fact, out, kept))
            out[kept++] = v[i];
    free(v);
    return kept;
}

void as_worth_text(const struct as_worth *w, struct as_buf *out)
{
    if (is_fault(w->fact))
        as_buf_printf(out, "%s: %s. ", w->fact->device, w->fact->sentence);
    as_buf_str(out, w->fact->act);
    if (w->looked == 1)
        as_buf_str(out, "; seen once");
    else if (w->seen == w->looked)
        as_buf_printf(out, "; seen in %zu runs", w->seen);
    else
        as_buf_printf(out, "; seen in %zu of %zu runs", w->seen, w->looked);
    if (w->differ) {
        as_buf_str(out, ": ");
        as_format_range(out, w->ranges.lo, w->ranges.hi, NAN, is_claim(w->fact) ? w->fact->unit : "x", 2);
    }
}

/* ---- facts of other runs ---- */

static bool bears_on_worth(const struct as_fact *f)
{
    return f->act[0] || isfinite(f->gain) || f->relation == AS_FACT_LOST || f->relation == AS_FACT_CACHE_SIZE ||
           f->relation == AS_FACT_NUMERICS_ACCUMULATOR;
}

static bool is_device_same(const struct as_machine_state *a, const struct as_machine_state *b, const char *device)
{
    struct as_buf what = AS_BUF_INIT;
    if (as_machine_state_has(a, device) && as_machine_state_has(b, device))
        as_machine_state_device(a, b, device, &what);
    const bool same = !what.len;
    as_buf_finish(&what);
    return same;
}

static bool is_host_same(const struct as_machine_state *a, const struct as_machine_state *b)
{
    struct as_buf what = AS_BUF_INIT;
    as_machine_state_host(a, b, &what);
    const bool same = !what.len && as_machine_state_is_same_host(a, b);
    as_buf_finish(&what);
    return same;
}

static uint64_t measured_of(const struct as_cell *cell)
{
    struct {
        uint64_t key;
        char device[sizeof cell->device];
    } of = {.key = cell->key};
    as_copy_text(of.device, sizeof of.device, cell->device);
    return as_hash(&of, sizeof of);
}

/* Is it a fault that none of the runs there has, though one measured the same? */
static bool is_gone(const struct as_worth_runs *runs, const struct as_fact *f, const struct as_report_run *of)
{
    const struct as_cell *cell = f->evidence_n ? as_report_cell(of, f->evidence[0]) : NULL;
    if (!cell || !is_fault(f))
        return false;
    for (size_t i = 0; i < runs->n; i++)
        if (strcmp(runs->v[i].fact.id, f->id) == 0 && strcmp(runs->v[i].fact.device, f->device) == 0)
            return false;
    for (size_t i = 0; i < runs->measured_n; i++)
        if (runs->measured[i] == measured_of(cell))
            return true;
    return false;
}

static enum as_status add_measured(struct as_worth_runs *runs, const struct as_report_run *run, struct as_error *err)
{
    void *grown = runs->measured;
    const enum as_status st =
        as_grow(&grown, &runs->measured_cap, runs->measured_n + run->cells_n, sizeof *runs->measured, err);
    runs->measured = grown;
    for (size_t i = 0; i < run->cells_n && !st; i++)
        if (as_cell_is_evidence(&run->cells[i]))
            runs->measured[runs->measured_n++] = measured_of(&run->cells[i]);
    return st;
}

void as_worth_runs_finish(struct as_worth_runs *runs)
{
    free(runs->v);
    free(runs->measured);
    *runs = (struct as_worth_runs){0};
}

enum as_status as_worth_add_run(struct as_worth_runs *runs, const struct as_run *now, const struct as_report_run *other,
                                struct as_error *err)
{
    struct as_machine_state a = as_machine_state_of(now), b = as_machine_state_of(&other->run);
    enum as_status st = AS_OK;
    void *grown = runs->v;
    const bool same_host = is_host_same(&a, &b);
    for (size_t i = 0; i < other->facts_n && same_host && !st; i++) {
        const struct as_fact *f = &other->facts[i];
        if (!bears_on_worth(f) || !is_device_same(&a, &b, f->device) || is_gone(runs, f, other))
            continue;
        st = as_grow(&grown, &runs->cap, runs->n + 1, sizeof *runs->v, err);
        runs->v = grown;
        if (!st)
            runs->v[runs->n++] = (struct as_other_fact){.run = other->run.id, .fact = *f};
    }
    if (!st && same_host)
        st = add_measured(runs, other, err);
    as_machine_state_finish(&a);
    as_machine_state_finish(&b);
    return st;
}
