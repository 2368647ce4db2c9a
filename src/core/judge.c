/* Which visits of a cell count: those in a bad episode of the machine do not. */
#include "core/engine.h"

#include "base/buf.h"
#include "base/text.h"
#include "stats/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WATCHERS = 2 };

/* Do threads meet in it? */
static int has_threads(const struct as_cell *cell)
{
    const struct as_probe *probe = as_probe_find(cell->probe);
    for (const struct as_axis *a = probe ? probe->axes : NULL; a && a->name; a++)
        if (a->domain == AS_DOMAIN_CPU)
            return 1;
    return as_axes_number(&cell->axes, "threads") > 1;
}

/* The sentinels that watch over a cell: the one of the core or of memory, and that of pairs where threads meet. */
static size_t sentinels_for(const struct as_engine *e, const struct as_cell *cell, uint64_t footprint,
                            const struct as_sentinel *out[WATCHERS])
{
    const struct as_slot *slot = as_engine_slot((struct as_engine *)e, cell);
    uint64_t last = slot ? as_info_last_cache(&slot->info) : 0;
    const char *wanted[WATCHERS] = {last && footprint > last / 2 ? "memory" : "core", has_threads(cell) ? "pair" : ""};
    size_t n = 0;
    for (size_t w = 0; w < WATCHERS; w++)
        for (size_t i = 0; i < e->cells_n - e->sentinels_first; i++)
            if (strcmp(e->sentinels[i].device, cell->device) == 0 && strcmp(e->sentinels[i].what, wanted[w]) == 0)
                out[n++] = &e->sentinels[i];
    return n;
}

/* What the sentinels said of the visits of a cell. */
struct watch {
    const struct as_sentinel *by; /* the one that was off most, against what it may be off */
    double worst, tolerance;      /* of that one */
    int known;
};

/* Was one of them off around the visit? */
static int in_bad_episode(const struct as_engine *e, const struct as_cell *cell, const struct as_visit *v,
                          struct watch *watch)
{
    const struct as_sentinel *sentinels[WATCHERS];
    size_t n = sentinels_for(e, cell, v->footprint, sentinels);
    int bad = 0;
    for (size_t i = 0; i < n; i++) {
        double d = as_sentinel_deviation(sentinels[i], v->started_at, v->started_at + v->duration_s);
        double tolerance = as_sentinel_tolerance(sentinels[i]);
        if (!isfinite(d))
            continue;
        bad |= d > tolerance;
        if (!watch->known || d / tolerance > watch->worst / watch->tolerance)
            *watch = (struct watch){sentinels[i], d, tolerance, 1};
    }
    return bad;
}

/* Why a visit is left out of the cell's number. */
enum fault { FAULT_NONE, FAULT_DRIFT, FAULT_HOST, FAULT_CLOCK };
enum { VISITS_JUDGED = 64 };
/* A visit measured the same as others when it is off by less than this part of the precision asked for. */
static const double AGREES = 0.5;

static bool is_judged(const struct as_visit *v)
{
    return v->n > 0 && v->number < AS_ISOLATED_VISIT;
}

/* Finds the visits of bad episodes and says so in the drift gate. None is to be left out where all are bad. */
static void find_drift(const struct as_engine *e, const struct as_cell *cell, const struct as_visit *visits, size_t n,
                       enum fault *fault, struct as_gate_context *context)
{
    size_t measured = 0, bad = 0;
    struct watch watch = {0};
    for (size_t i = 0; i < n; i++) {
        if (!is_judged(&visits[i]))
            continue;
        measured++;
        fault[i] = in_bad_episode(e, cell, &visits[i], &watch) ? FAULT_DRIFT : FAULT_NONE;
        bad += fault[i] == FAULT_DRIFT;
    }
    context->drift = !watch.known ? AS_GATE_NA : bad && bad == measured ? AS_GATE_FAIL : AS_GATE_PASS;
    if (!watch.known)
        snprintf(context->drift_text, sizeof context->drift_text, "no sentinel was read often enough yet");
    else
        snprintf(context->drift_text, sizeof context->drift_text,
                 "%zu of %zu visits in a bad episode (%s sentinel off by at most %.1f%%, allowed %.1f%%)", bad,
                 measured, watch.by->what, 100 * watch.worst, 100 * watch.tolerance);
    if (bad == measured)
        memset(fault, FAULT_NONE, n * sizeof *fault);
}

/* By how much the host's core took longer than usual for its yardstick while the visit was measured. */
static double host_excess(const struct as_engine *e, const struct as_visit *v)
{
    return as_yardstick_excess(&e->yardsticks, as_yardstick_of(v));
}

static bool host_slowed(const struct as_engine *e, const struct as_cell *cell, const struct as_visit *v)
{
    return host_excess(e, v) > as_yardstick_room(cell->precision);
}

/* What the visits with a steady host measured: the median of their medians, NAN where they are too few to say what the
 * machine does when it is left alone: one that looks steady may have been disturbed between two readings. */
static double steady_value(const struct as_engine *e, const struct as_cell *cell, const struct as_visit *visits,
                           size_t n, const enum fault *fault)
{
    double medians[VISITS_JUDGED];
    size_t steady = 0;
    for (size_t i = 0; i < n; i++)
        if (is_judged(&visits[i]) && fault[i] == FAULT_NONE && !host_slowed(e, cell, &visits[i]))
            medians[steady++] = as_median(visits[i].samples, visits[i].n);
    return steady >= as_visits_wanted(e->run->visits) ? as_median(medians, steady) : NAN;
}

/* Who shares the core slows down what fills its issue slots, as the yardstick does, but not a chain of misses: a visit
 * that measured what the steady ones did was not disturbed. */
static bool has_fault(const struct as_engine *e, const struct as_cell *cell, const struct as_visit *v, enum fault kind,
                      double steady)
{
    if (kind == FAULT_CLOCK)
        return as_clock_moved(v) > as_clock_room(cell->precision);
    return host_slowed(e, cell, v) &&
           !(fabs(as_median(v->samples, v->n) - steady) <= AGREES * cell->precision * fabs(steady));
}

/* What was found of one fault. */
struct found {
    size_t measured, has; /* visits, and those with the fault */
    size_t slowed;        /* those in which the host's core was slow, whatever they measured */
    bool left_out;        /* enough others are left, so these do not count */
};

/* Leaves out the visits with this fault as long as enough others are left. */
static struct found find_fault(const struct as_engine *e, const struct as_cell *cell, const struct as_visit *visits,
                               size_t n, enum fault kind, enum fault *fault)
{
    const double steady = kind == FAULT_HOST ? steady_value(e, cell, visits, n, fault) : NAN;
    bool has[VISITS_JUDGED] = {false};
    struct found found = {0};
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_judged(&visits[i]))
            continue;
        has[i] = has_fault(e, cell, &visits[i], kind, steady);
        found.measured++;
        found.has += has[i];
        found.slowed += host_slowed(e, cell, &visits[i]);
        left += fault[i] == FAULT_NONE && !has[i];
    }
    found.left_out = left >= as_visits_wanted(e->run->visits);
    for (size_t i = 0; i < n && found.left_out; i++)
        if (has[i] && fault[i] == FAULT_NONE)
            fault[i] = kind;
    return found;
}

static void say_fault(const struct as_engine *e, const struct as_visit *v, enum fault fault, char *out, size_t size)
{
    if (fault == FAULT_CLOCK)
        snprintf(out, size, "clock: it moved by %.1f%%", 100 * as_clock_moved(v));
    else if (fault == FAULT_HOST)
        snprintf(out, size, "drift: the host's core was %.0f%% slower than usual", 100 * host_excess(e, v));
    else
        snprintf(out, size, "%s", fault == FAULT_DRIFT ? "drift: the sentinel was off" : "");
}

/* A number that rests on visits in which the host's core was slow is one of the neighbours, not of the machine. */
static void judge_host(const struct found *host, struct as_gate_context *context)
{
    struct as_buf text = AS_BUF_INIT;
    if (!host->slowed)
        return;
    const bool fails = !host->left_out && 2 * host->has > host->measured;
    as_buf_printf(&text, "the host's core was slow in %zu of %zu visits", host->slowed, host->measured);
    if (host->has < host->slowed)
        as_buf_printf(&text, ", in %zu the number is that of the others", host->slowed - host->has);
    if (!host->left_out)
        as_buf_str(&text, fails ? ", too few others are left" : ", which count as well, since too few others are left");
    as_buf_printf(&text, "; %s", context->drift_text);
    as_copy_text(context->drift_text, sizeof context->drift_text, as_buf_get(&text));
    as_buf_finish(&text);
    if (fails)
        context->drift = AS_GATE_FAIL;
}

enum as_status as_engine_judge_visits(struct as_engine *e, const struct as_cell *cell, struct as_visit *visits,
                                      size_t n, size_t stored, struct as_gate_context *context, struct as_error *err)
{
    enum fault fault[VISITS_JUDGED] = {FAULT_NONE};
    enum as_status st = AS_OK;
    const size_t judged = n < VISITS_JUDGED ? n : VISITS_JUDGED;
    if (as_unit_is_count(cell->unit)) {
        context->drift = AS_GATE_NA;
        snprintf(context->drift_text, sizeof context->drift_text, "a count is the same however fast the machine is");
        return AS_OK;
    }
    find_drift(e, cell, visits, judged, fault, context);
    const struct found host = find_fault(e, cell, visits, judged, FAULT_HOST, fault);
    judge_host(&host, context);
    /* Where too few would be left, the clock gate says it. */
    if (!context->own_cycles && !context->own_power)
        (void)find_fault(e, cell, visits, judged, FAULT_CLOCK, fault);
    for (size_t i = 0; i < judged && !st; i++) {
        const bool exclude = fault[i] != FAULT_NONE;
        if (!is_judged(&visits[i]) || exclude == (visits[i].excluded != 0))
            continue;
        visits[i].excluded = exclude;
        say_fault(e, &visits[i], fault[i], visits[i].reason, sizeof visits[i].reason);
        if (i < stored)
            st = as_store_exclude_visit(e->store, visits[i].cell_id, visits[i].number, exclude, visits[i].reason, err);
    }
    return st;
}
