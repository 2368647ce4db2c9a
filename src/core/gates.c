#include "core/gates.h"

#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number may exceed its bound by the error of the bound itself. */
static const double LIMIT_ROOM = 0.02;
/* Clock readings scatter by less than 1% on a steady machine, and a move smaller than the precision asked for cannot
 * spoil a number. From visit to visit turbo may choose another bin, whose effect is in the interval; throttling moves
 * more. */
static const double CLOCK_ROOM = 0.05, CLOCK_ROOM_VISITS = 0.2;
static const double MEMORY_FACTOR = 4;
/* No card has a larger last cache that its driver does not tell. */
static const uint64_t CARD_CACHE = UINT64_C(64) << 20;
/* With fewer the interval knows only the noise within a stay, which is the smaller part on most machines. */
static const int VISITS_MIN = 3;

size_t as_visits_wanted(int asked)
{
    return (size_t)(asked < VISITS_MIN ? asked : VISITS_MIN);
}

static int counts(const struct as_visit *v)
{
    return !v->excluded && v->n > 0 && v->status == AS_CELL_OK;
}

static void set_gate(struct as_gate_result *g, enum as_gate_state state, const struct as_buf *text)
{
    g->state = state;
    as_copy_text(g->text, sizeof g->text, as_buf_get(text));
}

static enum as_status summarize(struct as_cell *cell, const struct as_visit *visits, size_t n, struct as_error *err)
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        total += counts(&visits[i]) ? visits[i].n : 0;
    cell->sum = (struct as_summary){.median = NAN, .mad = NAN, .min = NAN, .max = NAN, .ci = {NAN, NAN}};
    if (total == 0)
        return AS_OK;
    double *x = malloc(total * sizeof *x);
    int *visit = malloc(total * sizeof *visit);
    enum as_status s = x && visit ? AS_OK : as_nomem(err, total * sizeof *x, "samples");
    for (size_t i = 0; i < n && !s; i++)
        for (size_t j = 0; counts(&visits[i]) && j < visits[i].n; j++) {
            x[at] = visits[i].samples[j];
            visit[at++] = visits[i].number;
        }
    if (!s)
        s = as_summarize(x, visit, total, &cell->sum, err);
    free(x);
    free(visit);
    return s;
}

/* The worst of what the visits that count say; where none says anything, why. */
static void gate_worst(struct as_gate_result *g, const struct as_visit *visits, size_t n, size_t state, size_t text)
{
    *g = (struct as_gate_result){.state = AS_GATE_NA};
    for (size_t i = 0; i < n; i++) {
        const char *visit = (const char *)&visits[i];
        enum as_gate_state s = *(const enum as_gate_state *)(const void *)(visit + state);
        if (counts(&visits[i]) && s > g->state) {
            g->state = s;
            as_copy_text(g->text, sizeof g->text, visit + text);
        }
    }
    if (g->state == AS_GATE_NA && n)
        as_copy_text(g->text, sizeof g->text, (const char *)&visits[n - 1] + text);
}

static void gate_limit(struct as_cell *cell, const struct as_visit *visits, size_t n, struct as_buf *text)
{
    const char *why = "";
    cell->limit = NAN;
    for (size_t i = 0; i < n; i++)
        if (counts(&visits[i]) && isfinite(visits[i].limit)) {
            cell->limit = visits[i].limit;
            why = visits[i].limit_why;
        }
    as_buf_clear(text);
    if (!isfinite(cell->limit)) {
        as_buf_str(text, "no physical bound is known for this cell");
        set_gate(&cell->gates[AS_GATE_LIMIT], AS_GATE_NA, text);
        return;
    }
    double ratio = cell->better_less ? cell->limit / cell->sum.median : cell->sum.median / cell->limit;
    as_buf_printf(text, "%.1f%% of the bound ", 100 * ratio);
    as_format_value(text, cell->limit, cell->unit);
    as_buf_printf(text, " (%s)", why);
    set_gate(&cell->gates[AS_GATE_LIMIT], ratio <= 1 + LIMIT_ROOM ? AS_GATE_PASS : AS_GATE_FAIL, text);
}

/* By a cycle counter or the device itself where there is one, else by the sensor. */
static bool clock_of(const struct as_visit *v, double *hz, double *lo, double *hi)
{
    bool own = v->clock_hz > 0, has_sensor = v->readings.sensor[0] && v->readings.clock_hz > 0;
    *hz = own ? v->clock_hz : v->readings.clock_hz;
    *lo = own ? v->clock_lo : v->readings.clock_lo;
    *hi = own ? v->clock_hi : v->readings.clock_hi;
    return own || has_sensor;
}

double as_clock_moved(const struct as_visit *v)
{
    double hz, lo, hi;
    return clock_of(v, &hz, &lo, &hi) ? (hi - lo) / hi : NAN;
}

double as_clock_room(double precision)
{
    return fmax(CLOCK_ROOM, precision);
}

/* What slowed the device down in any of the visits that count, whether a sensor would have seen it, and who else was
 * on the device. */
struct seen {
    int slowed;
    bool known;
    double users;
    const char *sensor;
};
static struct seen seen_in(const struct as_visit *visits, size_t n)
{
    struct seen seen = {.sensor = ""};
    for (size_t i = 0; i < n; i++) {
        const struct as_readings *r = &visits[i].readings;
        if (!counts(&visits[i]) || !r->sensor[0])
            continue;
        seen.sensor = r->sensor;
        seen.known |= r->throttle >= 0;
        seen.slowed |= r->throttle > 0 ? r->throttle & ~(int)AS_THROTTLE_HARMLESS : 0;
        seen.users = fmax(seen.users, r->users);
    }
    return seen;
}

static void say_seen(const struct seen *seen, struct as_buf *text)
{
    if (seen->slowed) {
        as_buf_str(text, ", throttled: ");
        as_throttle_text(seen->slowed, text);
    } else if (seen->known)
        as_buf_str(text, ", not throttled");
    if (seen->users > 0)
        as_buf_printf(text, ", %.0f other process%s on the device", seen->users, seen->users == 1 ? "" : "es");
}

static void gate_clock(struct as_cell *cell, const struct as_visit *visits, size_t n,
                       const struct as_gate_context *context, struct as_buf *text)
{
    double lo = INFINITY, hi = -INFINITY, sum = 0, within = 0;
    size_t known = 0, left_out = 0;
    bool by_sensor = false;
    const struct seen seen = seen_in(visits, n);
    for (size_t i = 0; i < n; i++) {
        double hz, least, most;
        left_out += visits[i].excluded && as_clock_moved(&visits[i]) > as_clock_room(cell->precision);
        if (!counts(&visits[i]) || !clock_of(&visits[i], &hz, &least, &most))
            continue;
        known++;
        sum += hz;
        lo = fmin(lo, hz);
        hi = fmax(hi, hz);
        within = fmax(within, (most - least) / most);
        by_sensor |= !(visits[i].clock_hz > 0);
    }
    cell->clock_hz = known ? sum / (double)known : NAN;
    as_buf_clear(text);
    double between = known ? (hi - lo) / hi : 0;
    enum as_gate_state state = seen.slowed || within > as_clock_room(cell->precision) || between > CLOCK_ROOM_VISITS
                                   ? AS_GATE_FAIL
                                   : AS_GATE_PASS;
    if (known) {
        as_format_value(text, cell->clock_hz, "Hz");
        as_buf_printf(text, " by %s", by_sensor ? seen.sensor : "the device itself");
        as_buf_printf(text, ", moved %.1f%% within a visit, %.1f%% between visits", 100 * within, 100 * between);
        if (left_out)
            as_buf_printf(text, ", %zu of %zu visits left out in which it moved more", left_out, n);
    } else {
        as_buf_str(text, seen.known ? "the clock is not known" : "the device has no cycle counter and no clock sensor");
        state = seen.slowed ? AS_GATE_FAIL : AS_GATE_NA;
    }
    say_seen(&seen, text);
    if (context->own_cycles && state == AS_GATE_FAIL) {
        as_buf_str(text, "; cycles are the clock's own, however fast it runs");
        state = AS_GATE_PASS;
    }
    if (context->own_power && state == AS_GATE_FAIL && !(seen.slowed & ~(int)AS_THROTTLE_POWER_CAP)) {
        as_buf_str(text, "; the clock that the load leaves is a part of what is asked");
        state = AS_GATE_PASS;
    }
    if (as_unit_is_count(cell->unit)) /* the same at any clock */
        state = AS_GATE_NA;
    set_gate(&cell->gates[AS_GATE_CLOCK], state, text);
}

static void gate_noise(struct as_cell *cell, int visits, struct as_buf *text)
{
    const struct as_summary *s = &cell->sum;
    as_buf_clear(text);
    if (as_unit_is_count(cell->unit)) {
        as_buf_str(text, "a count is exact, and what differs from run to run is a part of what is found");
        set_gate(&cell->gates[AS_GATE_NOISE], AS_GATE_NA, text);
        return;
    }
    double width = (s->ci.hi - s->ci.lo) / fabs(s->median);
    size_t wanted = as_visits_wanted(visits);
    int pass = width <= cell->precision && s->visits >= wanted;
    if (s->modes == 2 && (s->mode[1] - s->mode[0]) > cell->precision * fabs(s->median)) {
        as_buf_str(text, "two modes: ");
        as_format_value(text, s->mode[0], cell->unit);
        as_buf_printf(text, " (%.0f%%) and ", 100 * s->mode_share0);
        as_format_value(text, s->mode[1], cell->unit);
        pass = 0;
    } else if (!isfinite(width))
        as_buf_printf(text, "%zu sample%s too few for an interval", s->n, s->n == 1 ? " is" : "s are");
    else if (s->visits < wanted)
        as_buf_printf(text, "%zu visit%s of the %zu that an interval needs to hold what differs between visits",
                      s->visits, s->visits == 1 ? "" : "s", wanted);
    else
        as_buf_printf(text, "interval %.2f%% of the median, asked %.3g%%", 100 * width, 100 * cell->precision);
    set_gate(&cell->gates[AS_GATE_NOISE], pass ? AS_GATE_PASS : AS_GATE_FAIL, text);
}

static void gate_footprint(struct as_cell *cell, const struct as_visit *visits, size_t n, uint64_t last_cache,
                           struct as_buf *text)
{
    int claims = 0;
    cell->footprint = 0;
    for (size_t i = 0; i < n; i++) {
        claims |= visits[i].claims_memory;
        cell->footprint = visits[i].footprint > cell->footprint ? visits[i].footprint : cell->footprint;
    }
    as_buf_clear(text);
    enum as_gate_state state = AS_GATE_NA;
    if (!claims)
        as_buf_str(text, "the cell does not claim to be a number of main memory");
    else if (last_cache == 0)
        as_buf_str(text, "the size of the last cache is not known");
    else {
        as_format_size(text, cell->footprint);
        as_buf_printf(text, " touched, %.1f times the last cache of ", (double)cell->footprint / (double)last_cache);
        as_format_size(text, last_cache);
        as_buf_str(text, ", 4 times wanted");
        state = (double)cell->footprint >= MEMORY_FACTOR * (double)last_cache * 0.999 ? AS_GATE_PASS : AS_GATE_FAIL;
    }
    set_gate(&cell->gates[AS_GATE_FOOTPRINT], state, text);
}

static void judge(struct as_cell *cell)
{
    struct as_buf reason = AS_BUF_INIT;
    for (int g = 0; g < AS_GATE_N; g++)
        if (cell->gates[g].state == AS_GATE_FAIL)
            as_buf_printf(&reason, "%s%s: %s", reason.len ? "; " : "", as_gate_name((enum as_gate)g),
                          cell->gates[g].text);
    cell->status = reason.len ? AS_CELL_UNTRUSTED : AS_CELL_OK;
    as_copy_text(cell->reason, sizeof cell->reason, as_buf_get(&reason));
    as_buf_finish(&reason);
}

enum as_status as_gates_evaluate(struct as_cell *cell, const struct as_visit *visits, size_t n,
                                 const struct as_gate_context *context, struct as_error *err)
{
    const struct as_visit *broken = NULL;
    cell->visits_done = (int)n;
    cell->duration_s = 0;
    cell->started_at = n ? visits[0].started_at : 0;
    for (size_t i = 0; i < n; i++) {
        cell->duration_s += visits[i].duration_s;
        if (visits[i].status != AS_CELL_OK)
            broken = &visits[i];
    }
    enum as_status s = summarize(cell, visits, n, err);
    if (s)
        return s;
    struct as_buf text = AS_BUF_INIT;
    if (cell->sum.n) {
        gate_worst(&cell->gates[AS_GATE_CHECKSUM], visits, n, offsetof(struct as_visit, checksum),
                   offsetof(struct as_visit, checksum_text));
        gate_worst(&cell->gates[AS_GATE_CODE], visits, n, offsetof(struct as_visit, code),
                   offsetof(struct as_visit, code_text));
        gate_limit(cell, visits, n, &text);
        gate_clock(cell, visits, n, context, &text);
        gate_noise(cell, context->visits, &text);
        gate_footprint(cell, visits, n, context->last_cache, &text);
        cell->gates[AS_GATE_DRIFT].state = context->drift;
        as_copy_text(cell->gates[AS_GATE_DRIFT].text, sizeof cell->gates[0].text, context->drift_text);
        judge(cell);
    }
    as_buf_finish(&text);
    if (broken) {
        cell->status = broken->status;
        as_copy_text(cell->reason, sizeof cell->reason, broken->reason);
    } else if (!cell->sum.n)
        cell->status = AS_CELL_PLANNED;
    return AS_OK;
}

uint64_t as_reachable_cache(const struct as_device_info *info, double threads)
{
    uint64_t one = as_info_last_cache(info);
    unsigned shared = 0, level = 0;
    /* Drivers of cards with memory of their own tell a part of the last cache, or none of it. */
    if (!(info->capabilities & AS_CAP_HOST_KERNELS) && !info->is_host_memory && one < CARD_CACHE)
        return CARD_CACHE;
    for (size_t i = 0; i < info->caches_n; i++)
        if (info->caches[i].kind != 'i' && info->caches[i].level >= level) {
            level = info->caches[i].level;
            shared = info->caches[i].shared;
        }
    if (!(threads > 1) || shared == 0 || info->threads <= shared)
        return one;
    double instances = ceil((double)info->threads / shared);
    return one * (uint64_t)fmin(instances, threads);
}
