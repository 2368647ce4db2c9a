/* power: energy per operation, from long runs on part of the compute units while the sensor reads power. See
 * method.md. */
#include "lib/ops/trial.h"

#include "base/clock.h"

#include <math.h>

static const struct as_axis axes[] = {
    AS_OP_AXIS("ffma32"),
    AS_COUNT_AXIS("share", 0, 100, "0,25,50,75,100", "percent of the compute units that work, at least one; 0: none",
                  .zero = "idle"),
    AS_WARPS_AXIS,
    {0},
};
static const char *const quick[] = {"op=ffma32 share=0,25,50,100", "op=ffma32 share=1 warps=1", NULL};
static const char *const full[] = {"op=ffma32,ffma64,ffma2_f16,imad32,and32,recip32 share=25,50,75,100",
                                   "op=ffma32 share=0", "op=ffma32 share=1 warps=0,1,4,16",
                                   "op=ffma32 share=100 warps=1,2,4,8,16", NULL};

static const struct as_own_metric own[] = {{"share",
                                            "0",
                                            {.name = "idle",
                                             .unit = "W",
                                             .lower_is_better = true,
                                             .counts = "power of the whole board after one second without work"}},
                                           {0}};
static const struct as_metric further[] = {
    {"power_w", "W", true, "power of the whole board, by the device's sensor", NULL},
    {"counted_w", "W", true, "the same by the device's energy counter: its growth over the samples", NULL},
    {0}};

/* A trial must outlast the sensor's lag. Idle clocks and power come after a while without work. */
static const double SAMPLE_S = 0.4, SETTLE_S = 1, PAUSE_S = 0.15;

struct state {
    struct as_ops_trial ops; /* first, so that the functions of lib/ops/trial.h take this */
    struct as_trial_context *tc;
    bool idle;
};

/* Where a compiler shares out packed operations between two pipes, four chains reach 72% of their rate. */
enum { CHAINS = 4, CHAINS_PACKED = 12, WARPS_PACKED = 24 };

static struct as_chains_desc power_desc_of(const struct as_device_info *info, const struct as_axes *a)
{
    struct as_chains_desc d = as_ops_desc(info, a);
    const struct as_op *op = d.sequence.n ? d.sequence.part[0].op : NULL;
    d.ilp = CHAINS;
    if (op && as_op_lanes(op->type) > 1) {
        const unsigned fewer = WARPS_PACKED * as_chains_warp(info);
        d.ilp = CHAINS_PACKED;
        d.threads = as_axes_u64(a, "warps") || fewer > d.threads ? d.threads : fewer;
    } else if (op && as_chains_packs(info, op)) {
        d.ilp = 1;
    }
    d.every_unit = true;
    as_op_sequence_pass(&d.sequence);
    d.share = (unsigned)as_axes_u64(a, "share");
    return d;
}

static enum as_applies power_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const struct as_chains_desc d = power_desc_of(info, a);
    if (!d.sequence.n || (info->capabilities & AS_CAP_HOST_KERNELS))
        return AS_PRUNED;
    if (d.share == 0 && (as_axes_u64(a, "warps") || !as_word_is(a, "op", "ffma32")))
        return as_pruned(err, "axis 'share': an idle device has no operation and no warps");
    if (!info->sensor[0] || info->is_host_cpu)
        return as_inapplicable(err, "no sensor reports the power of this device");
    return as_chains_apply(info, &d, err);
}

/* Sleeps, so that the host's core does not work either. */
static enum as_status idle_prepare(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    s->idle = true;
    tc->min_reps = tc->max_reps = 1;
    if (!tc->power_now || isnan(tc->power_now(tc)))
        return as_fail(err, AS_UNSUPPORTED, "the sensor reports averages only, no power at one moment");
    as_sleep(SETTLE_S);
    return AS_OK;
}

static enum as_status power_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    const struct as_chains_desc d = power_desc_of(&tc->dev->info, tc->axes);
    s->tc = tc;
    tc->sample_s = SAMPLE_S;
    return d.share ? as_ops_prepare(tc, &d, &s->ops, err) : idle_prepare(s, tc, err);
}

static enum as_status power_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    if (s->idle) {
        as_sleep(PAUSE_S);
        *out = (struct as_sample){.value = s->tc->power_now(s->tc), .seconds = PAUSE_S, .clock_hz = NAN};
        return isnan(out->value) ? as_fail(err, AS_FAILED, "the sensor no longer reports power") : AS_OK;
    }
    enum as_status st = as_ops_sample(&s->ops, reps, out, err);
    out->value = s->ops.last.rate;
    return st;
}

static bool power_check(void *state, char *why, size_t size)
{
    struct state *s = state;
    return s->idle || as_ops_check(&s->ops, why, size);
}

const struct as_probe as_probe_power = {
    .name = "power",
    .title = "Power of operations",
    .question = "How much power does a device draw while part of its compute units repeat one operation?",
    .metric = "rate",
    .unit = AS_UNIT_RATE,
    .counts =
        "results per second of all active compute units; beside it the power that the sensor reports for the whole "
        "board",
    .own_metrics = own,
    .further = further,
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, quick, full, power_applies),
    .patience_s = 30, /* the driver compiles the kernels first */
    AS_TRIAL(struct state, power_prepare, power_sample, power_check, as_ops_finish),
};
