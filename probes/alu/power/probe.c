/* power: energy per operation, from long runs on part of the compute units while the sensor reads power. See
 * method.md. */
#include "lib/ops/trial.h"

static const struct as_axis axes[] = {
    AS_OP_AXIS("ffma32"),
    AS_COUNT_AXIS("share", 1, 100, "25,50,75,100", "percent of the compute units that work"),
    AS_WARPS_AXIS,
    {0},
};
static const char *const quick[] = {"op=ffma32 share=25,50,100", NULL};
static const char *const full[] = {"op=ffma32,ffma64,ffma2_f16,imad32,and32,recip32 share=25,50,75,100",
                                   "op=ffma32 share=100 warps=4,8,16", NULL};

/* A trial must outlast the sensor's lag. */
static const double SAMPLE_S = 0.4;

static struct as_chains_desc power_desc_of(const struct as_device_info *info, const struct as_axes *a)
{
    struct as_chains_desc d = as_ops_desc(info, a);
    d.ilp = d.sequence.n && d.sequence.part[0].op->alone ? 1 : 4;
    d.every_unit = true;
    d.share = (unsigned)as_axes_u64(a, "share");
    return d;
}

static enum as_applies power_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const struct as_chains_desc d = power_desc_of(info, a);
    if (!d.sequence.n || (info->capabilities & AS_CAP_HOST_KERNELS))
        return AS_PRUNED;
    if (!info->sensor[0] || info->is_host_cpu)
        return as_inapplicable(err, "no sensor reports the power of this device");
    return as_chains_apply(info, &d, err);
}

static enum as_status power_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    const struct as_chains_desc d = power_desc_of(&tc->dev->info, tc->axes);
    tc->sample_s = SAMPLE_S;
    return as_ops_prepare(tc, &d, state, err);
}

static enum as_status power_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct as_ops_trial *v = state;
    enum as_status st = as_ops_sample(v, reps, out, err);
    out->value = v->last.rate;
    return st;
}

const struct as_probe as_probe_power = {
    .name = "power",
    .title = "Power of operations",
    .question = "How much power does a device draw while part of its compute units repeat one operation?",
    .metric = "rate",
    .unit = AS_UNIT_RATE,
    .counts = "results per second of all active compute units; the notes have the power that the sensor reports for "
              "the whole board",
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, quick, full, power_applies),
    .patience_s = 30, /* the driver compiles the kernels first */
    AS_TRIAL(struct as_ops_trial, power_prepare, power_sample, as_ops_check, as_ops_finish),
};
