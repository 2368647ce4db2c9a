/* l2_latency: L2 latency by compute unit. See method.md. */
#include "l2_latency.h"

#include <stdio.h>
#include <stdlib.h>

extern const char as_kernel_l2_latency[];

enum what { ALL, NEAR, FAR, FOUND, MISSED, WHATS };
static const char *const what_words[] = {"hit", "near", "far", "found", "missed", NULL}; /* in this order */

static const struct as_axis axes[] = {
    AS_WORD_AXIS(
        "what", what_words, "near,far,missed",
        "L2 hits; hits in the near partition; in the far partition; hits on what another compute unit loaded; misses"),
    AS_COUNT_AXIS("compute_unit", 0, 1023, "0", "id of the compute unit that loads"),
    AS_COUNT_AXIS("filler", 0, 1023, "0", "found: id of the compute unit that loaded before; 0 otherwise"),
    {0},
};
static const char *const quick[] = {"what=near,far,missed compute_unit=0", "what=found compute_unit=0 filler=1", NULL};
static const char *const full[] = {"what=near,far compute_unit=0,1,2,3,4,5,6,7,8,12,16,24,32,48,64,80,96,112,128",
                                   "what=missed compute_unit=0",
                                   "what=found compute_unit=0 filler=0,1,2,3,4,8,16,32,48,64,96,128", NULL};

static enum what l2_latency_what_of(const struct as_axes *a)
{
    return (enum what)as_word_index(a, "what", what_words);
}

static enum as_applies l2_latency_applies(const struct as_device_info *info, const struct as_axes *a,
                                          struct as_error *err)
{
    if (!(info->capabilities & AS_CAP_CYCLES))
        return as_inapplicable(err, "kernels of this device cannot read their compute unit's number or a clock");
    double unit = as_axes_number(a, "compute_unit"), filler = as_axes_number(a, "filler");
    if (unit >= info->compute_units || filler >= info->compute_units || (filler > 0 && l2_latency_what_of(a) != FOUND))
        return AS_PRUNED;
    return AS_APPLIES;
}

/* Places lie in a block that fits L2; in a small one if L2's size is not reported. */
static uint64_t chain_bytes(const struct as_device_info *info)
{
    uint64_t cache = as_info_last_cache(info);
    uint64_t bytes = (cache ? cache : 4 << 20) / 4;
    bytes = bytes < 2 << 20 ? 2 << 20 : bytes;
    return bytes - bytes % 4096;
}

static enum as_status l2_latency_build(struct l2_latency *u, struct as_trial_context *tc, struct as_error *err)
{
    enum as_status st =
        as_kernel_timer_prepare(&u->timer, tc->dev, "l2_latency", as_kernel_sweep, as_kernel_l2_latency, NULL, 1, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&u->timer, "walk", &u->chase, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&u->timer, "each", &u->each, err);
    if (st)
        return st;
    as_expect_code(tc, u->chase, "load.global", L2_STEPS);
    as_expect_code(tc, u->each, "load.global", L2_STEPS);
    st = as_kernel_timer_pin_unit(&u->timer, u->unit, err);
    return st ? st : as_kernel_timer_need(&u->timer, AS_HAS_UNIT, err);
}

static enum as_status l2_latency_allocate(struct l2_latency *u, struct as_error *err)
{
    const struct {
        struct as_memory **memory;
        uint64_t bytes;
    } all[] = {{&u->chain, chain_bytes(&u->timer.dev->info)},
               {&u->places, L2_LINES * sizeof(uint64_t)},
               {&u->took, 3 * L2_LINES * sizeof(uint64_t)}};
    enum as_status st = AS_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !st; i++)
        st = as_kernel_timer_keep_memory(&u->timer, all[i].bytes, all[i].memory, err);
    return st;
}

static enum as_status l2_latency_warm_up(struct l2_latency *u, uint32_t turns, struct as_trial_context *tc,
                                         struct as_error *err)
{
    double ns, seconds;
    enum as_status st = as_l2_latency_run(u, turns, &ns, &seconds, err);
    if (!st)
        as_limit_one_cycle(tc, as_kernel_timer_clock(&u->timer));
    return st;
}

static enum as_status l2_latency_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct l2_latency *u = state;
    enum what what = l2_latency_what_of(tc->axes);
    u->unit = (uint32_t)as_axes_u64(tc->axes, "compute_unit");
    u->filler = (uint32_t)as_axes_u64(tc->axes, "filler");
    u->fills = what == FOUND;
    u->evicts = what == FOUND || what == MISSED;
    enum as_status st = l2_latency_build(u, tc, err);
    if (!st)
        st = l2_latency_allocate(u, err);
    if (!st && u->evicts)
        st = as_kernel_timer_evictor(&u->timer, &u->other, err);
    if (!st)
        st = as_l2_latency_scatter(u, tc->seed, err);
    if (!st && (what == NEAR || what == FAR))
        st = as_l2_latency_choose(u, what == NEAR, tc, err);
    if (!st)
        st = as_l2_latency_link(u, tc->seed, err);
    if (st)
        return st;
    tc->footprint = u->chain->bytes;
    tc->sample_s = 3e-3;
    tc->max_reps = 1 << 24;
    /* Cold places are used once: each chase covers half of them, the next one the other half. */
    uint32_t once = L2_LINES / L2_STEPS / 2;
    if (u->evicts)
        tc->min_reps = tc->max_reps = once;
    return l2_latency_warm_up(u, once, tc, err);
}

static enum as_status l2_latency_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct l2_latency *u = state;
    enum as_status st = as_l2_latency_run(u, (uint32_t)reps, &out->value, &out->seconds, err);
    if (!st)
        out->clock_hz = as_kernel_timer_clock(&u->timer);
    return st;
}

static bool l2_latency_check(void *state, char *why, size_t why_size)
{
    const struct l2_latency *u = state;
    snprintf(why, why_size,
             u->lost ? "a chase ended at an unexpected place"
                     : "every chase ended at the expected place, on the requested unit");
    return !u->lost;
}

static void l2_latency_finish(void *state)
{
    struct l2_latency *u = state;
    as_kernel_timer_finish(&u->timer);
    free(u->place);
    free(u->used);
}

const struct as_probe as_probe_l2_latency = {
    .name = "l2_latency",
    .title = "L2 latency by compute unit",
    .question = "Do all compute units share one L2, and are parts of it nearer?",
    .metric = "time",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "time of one dependent load of one thread on the chosen compute unit, bypassing L1, averaged over a "
              "pointer chase",
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, quick, full, l2_latency_applies),
    .patience_s = 30, /* the driver compiles the kernels first */
    AS_TRIAL(struct l2_latency, l2_latency_prepare, l2_latency_sample, l2_latency_check, l2_latency_finish),
};
