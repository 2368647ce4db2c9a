#include "tick.h"

#include "chains_internal.h"
#include "find_clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FULL_ILP = 4,                   /* chains per thread that fill a GPU's pipes at full occupancy */
    TURNS_CORE = 8192,              /* on a CPU, whose launches vary more */
    TURNS_MAX = AS_CHAINS_TURNS_MAX /* turns are counted in steps, too */
};

/* The overhead of launches varies by a few microseconds. */
static const double ENOUGH_S = 200e-6, GROW_MOST = 8, LONGEST_S = 0.1;

struct as_tick {
    struct as_chains chains;
    double each; /* operations per cycle and compute unit */
    uint32_t turns, turns_min;
};

static struct as_chains_desc tick_desc_of(const struct as_device_info *info, bool every_unit)
{
    if (info->is_host_cpu)
        return (struct as_chains_desc){.sequence = as_op_alone(as_op_find("iadd32"), 3), .ilp = 1, .threads = 1};
    return (struct as_chains_desc){.sequence = as_op_alone(as_op_find("ffma32"), 2),
                                   .ilp = FULL_ILP,
                                   .threads = as_chains_full(info),
                                   .every_unit = every_unit};
}

/* Operations per cycle and compute unit; notes where that is known from. */
static enum as_status known_rate(struct as_trial_context *tc, double *each, struct as_error *err)
{
    char text[80];
    const struct as_device_info *info = &tc->dev->info;
    *each = info->is_host_cpu ? 1 : info->unit_fma;
    if (info->is_host_cpu)
        as_note(tc, "cycles", "by calibration: one dependent addition per cycle");
    else if (info->unit_fma) {
        snprintf(text, sizeof text, "by calibration: %u ffma32 per %s and cycle", info->unit_fma,
                 as_info_words(info)->compute_unit);
        as_note(tc, "cycles", text);
    } else {
        const enum as_status st = as_clock_find(tc, err);
        if (st)
            return st;
        *each = tc->dev->found.fma;
        as_note(tc, "cycles", tc->dev->found.how);
        as_note_number(tc, "clock_off", tc->dev->found.off);
    }
    return AS_OK;
}

enum as_status as_tick_turns(as_tick_pair_fn pair, void *user, uint64_t most, uint64_t *turns, struct as_error *err)
{
    double difference = 0, longer = 0;
    uint64_t next = 1;
    enum as_status st = AS_OK;
    do {
        *turns = next;
        st = pair(user, (uint32_t)next, &difference, &longer, err);
        const double grow = difference > ENOUGH_S / GROW_MOST ? 1.2 * ENOUGH_S / difference : GROW_MOST;
        next = (uint64_t)((double)next * grow) + 1;
    } while (!st && difference < ENOUGH_S && longer < LONGEST_S && next < most);
    return st;
}

enum as_status as_tick_prepare(struct as_tick **out, struct as_trial_context *tc, bool every_unit, struct as_error *err)
{
    const struct as_device_info *info = &tc->dev->info;
    *out = NULL;
    if (info->capabilities & AS_CAP_CYCLES)
        return AS_OK;
    const struct as_chains_desc d = tick_desc_of(info, every_unit);
    struct as_tick *t = calloc(1, sizeof *t);
    if (!t)
        return as_nomem(err, sizeof *t, "a clock");
    t->turns = t->turns_min = TURNS_CORE;
    *out = t;
    enum as_status st = known_rate(tc, &t->each, err);
    if (!st)
        st = as_chains_make(&t->chains, tc, &d, err);
    if (!st && !info->is_host_cpu)
        st = as_chains_enough(&t->chains, &t->turns_min, err);
    t->turns = t->turns_min;
    return st;
}

enum as_status as_tick_measure(struct as_tick *t, double seconds, double *hz, struct as_error *err)
{
    double half, whole, took;
    *hz = NAN;
    uint32_t turns = t->turns;
    enum as_status st = as_chains_pair(&t->chains, &turns, &half, &whole, &took, err);
    if (st)
        return st;
    *hz = as_chains_results(&t->chains) / t->each / as_chains_step(&t->chains, turns, half, whole);
    if (took > 0 && (took < 0.5 * seconds || took > 2 * seconds))
        t->turns = (uint32_t)fmax(fmin(turns * seconds / took, TURNS_MAX), t->turns_min);
    return AS_OK;
}

static enum as_status tick_optional(enum as_status st, struct as_tick **t)
{
    if (st != AS_UNSUPPORTED)
        return st;
    as_tick_finish(*t);
    *t = NULL;
    return AS_OK;
}

enum as_status as_tick_prepare_optional(struct as_tick **t, struct as_trial_context *tc, struct as_error *err)
{
    return tick_optional(as_tick_prepare(t, tc, false, err), t);
}

enum as_status as_tick_measure_optional(struct as_tick **t, double seconds, double *hz, struct as_error *err)
{
    *hz = NAN;
    return *t ? tick_optional(as_tick_measure(*t, seconds, hz, err), t) : AS_OK;
}

void as_tick_finish(struct as_tick *t)
{
    if (t)
        as_chains_finish(&t->chains);
    free(t);
}
