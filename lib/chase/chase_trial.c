/* A trial of the engine that is one chase. */
#include "chase.h"
#include "lib/checks/checks.h"

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
    return AS_OK;
}

enum as_status as_chase_trial_sample(void *chase, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct as_chase *c = chase;
    enum as_status st = as_chase_run(c, reps, &out->value, &out->seconds, err);
    out->clock_hz = c->clock_hz;
    return st;
}

bool as_chase_trial_check(void *chase, char *why, size_t why_size)
{
    return as_chase_check(chase, why, why_size);
}
