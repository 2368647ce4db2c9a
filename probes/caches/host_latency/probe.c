/* host_latency: latency of CPU loads from memory of each NUMA node, and of a device's allocators. See method.md. */
#include "lib/chase/chase.h"
#include "lib/checks/checks.h"
#include "lib/reach/reach.h"

enum { STRIDE = 64 };

static const struct as_axis axes[] = {
    AS_REACH_AXES,
    AS_SIZE_AXIS("size", 2 * STRIDE, 0, "DRAM1", "bytes of the buffer"),
    {0},
};
static const char *const quick[] = {
    "allocator=largest_pages size=DRAM1 devices=cpu",
    "from=0 node=0 allocator=all touch=all size=1MiB,256MiB devices=cuda,hip,opencl,metal", NULL};
static const char *const full[] = {
    "allocator=largest_pages,base_pages size=DRAM1 devices=cpu",
    "from=0 node=0 allocator=all touch=all size=1KiB..4GiB x1 devices=cuda,hip,opencl,metal",
    "node=0 allocator=all touch=all size=1GiB devices=cuda,hip,opencl,metal", NULL};

struct state {
    struct as_chase chase; /* first: the trial's functions of a chase take the state */
    struct as_reach reach;
};

static enum as_applies host_latency_applies(const struct as_device_info *info, const struct as_axes *a,
                                            struct as_error *err)
{
    const enum as_applies applies = as_reach_applies(info, a, err);
    const bool fits =
        applies != AS_APPLIES || !as_check_block(info, as_axes_text(a, "allocator"), as_axes_number(a, "size"), err);
    return fits ? applies : AS_INAPPLICABLE;
}

static enum as_status host_latency_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    const uint64_t size = as_axes_u64(tc->axes, "size");
    struct as_chase_desc desc = {.size = size, .stride = STRIDE, .pattern = AS_PATTERN_RANDOM, .seed = tc->seed};
    tc->max_reps = UINT32_MAX / AS_CHASE_STEPS;
    return as_reach_prepare_chase(&s->reach, &s->chase, tc, &desc, err);
}

static void host_latency_finish(void *state)
{
    struct state *s = state;
    as_chase_finish(&s->chase);
    as_reach_finish(&s->reach);
}

static double host_latency_patience(const struct as_device_info *info, const struct as_axes *a)
{
    (void)info;
    return 10 + as_axes_number(a, "size") / 100e6;
}

const struct as_probe as_probe_host_latency = {
    .name = "host_latency",
    .title = "CPU latency in each kind of memory",
    .question = "How long does a CPU load take from each NUMA node, and from memory of a device's allocators?",
    .metric = "latency",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "time of one dependent load by a CPU thread, address translation included, averaged over a pointer chase",
    AS_CELLS(axes, quick, full, host_latency_applies),
    .patience = host_latency_patience,
    AS_TRIAL(struct state, host_latency_prepare, as_chase_trial_sample, as_chase_trial_check, host_latency_finish),
};
