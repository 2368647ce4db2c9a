/* A trial of the engine that is one chase. */
#include "chase.h"
#include "lib/checks/checks.h"
#include "lib/ops/tick.h"

#include <math.h>

/* Beyond the caches a chase waits for memory, which has another clock. */
static enum as_status chase_trial_clock(struct as_chase *c, struct as_trial_context *tc, struct as_error *err)
{
    const struct as_device_info *info = &tc->dev->info;
    if (as_info_only_host_kernels(info) || c->footprint > as_info_memory_least(info, NULL, 1) / 4)
        return AS_OK;
    return as_tick_prepare_optional(&c->tick, tc, err);
}

enum as_status as_chase_trial_prepare(struct as_trial_context *tc, struct as_chase *c, const struct as_chase_desc *desc,
                                      struct as_error *err)
{
    enum as_status st = as_chase_prepare(c, tc->dev, desc, err);
    if (st)
        return st;
    as_chase_expect(tc, c);
    tc->footprint = c->footprint;
    as_limit_own_cycle(tc);
    tc->max_reps = UINT32_MAX / AS_CHASE_STEPS;
    tc->sample_s = as_chase_sample_s(c);
    as_chase_note(tc, c);
    return desc->clocked && !desc->persistent ? chase_trial_clock(c, tc, err) : AS_OK;
}

enum as_status as_chase_trial_sample(void *chase, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct as_chase *c = chase;
    enum as_status st = as_chase_run(c, reps, &out->value, &out->seconds, err);
    if (!st && c->tick)
        st = as_tick_measure_optional(&c->tick, out->seconds, &c->clock_hz, err);
    out->clock_hz = c->clock_hz;
    return st;
}

bool as_chase_trial_check(void *chase, char *why, size_t why_size)
{
    return as_chase_check(chase, why, why_size);
}
