#include "model/gates.h"

#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Tolerance for errors of the bound. */
static const double LIMIT_TOLERANCE = 0.02;

static void set_gate(struct as_gate_result *g, enum as_gate_state state, const struct as_buf *text)
{
    g->state = state;
    as_copy_text(g->text, sizeof g->text, as_buf_get(text));
}

/* The worst state among the trials that count; if none has one, the text says why. */
static void gate_worst(struct as_gate_result *g, const struct as_trial *trials, size_t n, size_t state, size_t text)
{
    *g = (struct as_gate_result){.state = AS_GATE_NA};
    for (size_t i = 0; i < n; i++) {
        const char *trial = (const char *)&trials[i];
        enum as_gate_state s = *(const enum as_gate_state *)(const void *)(trial + state);
        if (as_trial_counts(&trials[i]) && s > g->state) {
            g->state = s;
            as_copy_text(g->text, sizeof g->text, trial + text);
        }
    }
    if (g->state == AS_GATE_NA && n)
        as_copy_text(g->text, sizeof g->text, (const char *)&trials[n - 1] + text);
}

/* The loosest bound of all trials: many rest on a clock, and contention makes one look slow. */
static const struct as_trial *loosest_of(const struct as_cell *cell, const struct as_trial *trials, size_t n)
{
    const struct as_trial *loosest = NULL;
    for (size_t i = 0; i < n; i++)
        if (as_trial_counts(&trials[i]) && isfinite(trials[i].limit) &&
            (!loosest || (trials[i].limit < loosest->limit) == cell->lower_is_better))
            loosest = &trials[i];
    return loosest;
}

static void gate_limit(struct as_cell *cell, const struct as_trial *trials, size_t n, struct as_buf *text)
{
    const struct as_trial *loosest = loosest_of(cell, trials, n);
    const char *why = loosest ? loosest->limit_why : "";
    cell->limit = loosest ? loosest->limit : NAN;
    as_buf_clear(text);
    if (!isfinite(cell->limit)) {
        as_buf_str(text, "no physical bound is known for this measurement");
        set_gate(&cell->gates[AS_GATE_LIMIT], AS_GATE_NA, text);
        return;
    }
    /* An interval that overlaps the possible range passes the gate. */
    const double end = cell->lower_is_better ? cell->sum.ci.hi : cell->sum.ci.lo, value = cell->sum.median,
                 least = isfinite(end) ? end : value;
    const double surely = cell->lower_is_better ? cell->limit / least : least / cell->limit;
    if (cell->lower_is_better)
        as_buf_printf(text, "%.3g times the bound ", value / cell->limit);
    else
        as_buf_printf(text, "%.1f%% of the bound ", 100 * value / cell->limit);
    as_format_value(text, cell->limit, cell->unit);
    as_buf_printf(text, " (%s)", why);
    set_gate(&cell->gates[AS_GATE_LIMIT], surely <= 1 + LIMIT_TOLERANCE ? AS_GATE_PASS : AS_GATE_FAIL, text);
}

int as_gates_throttled(const struct as_trial *trials, size_t n)
{
    int slowed = 0;
    for (size_t i = 0; i < n; i++) {
        const int bits = trials[i].readings.throttle;
        if (as_trial_counts(&trials[i]) && trials[i].readings.sensor[0] && bits > 0)
            slowed |= bits & ~(int)AS_THROTTLE_HARMLESS;
    }
    return slowed;
}

size_t as_gates_shared(const struct as_trial *trials, size_t n)
{
    size_t shared = 0;
    for (size_t i = 0; i < n; i++)
        shared += as_trial_counts(&trials[i]) && trials[i].readings.sensor[0] && trials[i].readings.users >= 1;
    return shared;
}

/* The mean of the trials. */
static double clock_of_cell(const struct as_trial *trials, size_t n)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        const double hz = trials[i].clock_hz > 0 ? trials[i].clock_hz : trials[i].readings.clock_hz;
        if (!as_trial_counts(&trials[i]) || !(hz > 0))
            continue;
        sum += hz;
        known++;
    }
    return known ? sum / (double)known : NAN;
}

/* The largest latency ratio that a cache of 1/share of the larger array explains, if the larger array never hits. */
static double step_beside_cache(double share, const struct as_memory_step *step)
{
    const double apart = step->size / step->half;
    return apart < share ? share / (share - apart) : INFINITY;
}

/* "; 128 MiB takes 1.02 to 1.05 times as long per access as 64 MiB" */
static void say_step(struct as_buf *text, const struct as_memory_step *step)
{
    as_buf_str(text, "; ");
    as_format_size(text, (uint64_t)step->size);
    as_buf_printf(text, " takes %.3g to %.3g times as long per access as ", step->slower.lo, step->slower.hi);
    as_format_size(text, (uint64_t)step->half);
}

/* "64 MiB touched, 2.0 times the last-level cache of 32 MiB, at least 128 MiB required" */
static void say_sizes(struct as_buf *text, const struct as_judge_context *context, double bytes)
{
    const double largest = (double)context->largest_cache;
    as_format_size(text, (uint64_t)bytes);
    if (context->largest_cache == 0) {
        as_buf_str(text, " touched, at least ");
        as_format_size(text, context->memory_least);
        as_buf_str(text, " required where no cache size is known");
        return;
    }
    as_buf_printf(text, " touched, %.1f times the %s of ", bytes / largest,
                  context->largest_cache_name ? context->largest_cache_name : "last-level cache");
    as_format_size(text, context->largest_cache);
    as_buf_str(text, ", at least ");
    as_format_size(text, context->memory_least);
    as_buf_str(text, " required");
}

enum as_gate_state as_gates_main_memory(const struct as_judge_context *context, double bytes, struct as_buf *text)
{
    static const double rounding = 0.999; /* sizes are whole cache lines */
    static const double quarter = 4, sixth = 6;
    const struct as_memory_step *step = &context->memory_step, *rise = &context->memory_rise;
    const double sure = quarter * (double)context->largest_cache;
    const bool sizes_decide = (double)context->memory_least >= sure || bytes >= rounding * sure;
    as_buf_clear(text);
    say_sizes(text, context, bytes);
    if (bytes < rounding * (double)context->memory_least)
        return AS_GATE_FAIL;
    if (rise->half > 0 && rise->slower.lo > step_beside_cache(quarter, rise)) {
        say_step(text, rise);
        as_buf_str(text, ": a cache holds over a quarter of it");
        return AS_GATE_FAIL;
    }
    if (step->half > 0)
        say_step(text, step);
    if (context->largest_cache > 0 && sizes_decide)
        return AS_GATE_PASS;
    if (step->half > 0 && step->faster_below && step->slower.hi <= step_beside_cache(sixth, step))
        return AS_GATE_PASS;
    as_buf_str(text, "; cannot distinguish memory from a cache: no plateau in this run's latencies");
    return AS_GATE_NA;
}

static void gate_footprint(struct as_cell *cell, const struct as_trial *trials, size_t n,
                           const struct as_judge_context *context, struct as_buf *text)
{
    int claims = 0;
    cell->footprint = 0;
    for (size_t i = 0; i < n; i++) {
        claims |= trials[i].claims_memory;
        cell->footprint = trials[i].footprint > cell->footprint ? trials[i].footprint : cell->footprint;
    }
    enum as_gate_state state = AS_GATE_NA;
    as_buf_clear(text);
    if (claims)
        state = as_gates_main_memory(context, (double)cell->footprint, text);
    else
        as_buf_str(text, "one size of a sweep, which does not claim to measure DRAM; DRAM numbers that rest on it are "
                         "checked separately");
    set_gate(&cell->gates[AS_GATE_FOOTPRINT], state, text);
}

bool as_gates_failed(const struct as_cell *cell)
{
    for (int g = 0; g < AS_GATE_N; g++)
        if (cell->gates[g].state == AS_GATE_FAIL)
            return true;
    return false;
}

void as_gates_reason(const struct as_cell *cell, struct as_buf *out)
{
    const char *lead = "";
    for (int g = 0; g < AS_GATE_N; g++) {
        if (cell->gates[g].state != AS_GATE_FAIL)
            continue;
        as_buf_printf(out, "%s%s: %s", lead, as_gate_name((enum as_gate)g), cell->gates[g].text);
        lead = "; ";
    }
}

void as_gates_evaluate(struct as_cell *cell, const struct as_trial *trials, size_t n,
                       const struct as_judge_context *context)
{
    struct as_buf text = AS_BUF_INIT;
    cell->clock_hz = clock_of_cell(trials, n);
    gate_worst(&cell->gates[AS_GATE_CHECKSUM], trials, n, offsetof(struct as_trial, checksum),
               offsetof(struct as_trial, checksum_text));
    gate_worst(&cell->gates[AS_GATE_CODE], trials, n, offsetof(struct as_trial, code),
               offsetof(struct as_trial, code_text));
    gate_limit(cell, trials, n, &text);
    if (!context->keeps_footprint)
        gate_footprint(cell, trials, n, context, &text);
    as_buf_finish(&text);
}
