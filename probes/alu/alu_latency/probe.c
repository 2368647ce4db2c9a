/* alu_latency: latency of operations in dependent chains. See method.md. */
#include "lib/ops/trial.h"

static const struct as_axis axes[] = {AS_OP_AXIS("all"), AS_WIDTH_AXIS, AS_OPERANDS_AXIS, AS_STEPS_AXIS, {0}};
static const char *const quick[] = {"op=iadd32,imul32,imad32,xor32,fadd32,fmul32,ffma32,ffma64,ffma16,recip32",
                                    "op=iadd32,imul32,ixor32,fadd32,ffma32 width=256,sve", NULL};
static const char *const full[] = {"op=all operands=0 width=all", NULL};

static struct as_chains_desc alu_latency_desc_of(const struct as_device_info *info, const struct as_axes *a)
{
    struct as_chains_desc d = as_ops_desc(info, a);
    d.ilp = 1;
    d.threads = as_chains_warp(info);
    return d;
}

static enum as_applies alu_latency_applies(const struct as_device_info *info, const struct as_axes *a,
                                           struct as_error *err)
{
    const struct as_chains_desc d = alu_latency_desc_of(info, a);
    return d.sequence.n ? as_ops_apply(info, a, &d, err) : AS_PRUNED;
}

static enum as_status alu_latency_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    const struct as_chains_desc d = alu_latency_desc_of(&tc->dev->info, tc->axes);
    as_ops_limit_chain(tc, &d);
    return as_ops_prepare(tc, &d, state, err);
}

static enum as_status alu_latency_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct as_ops_trial *v = state;
    enum as_status st = as_ops_sample(v, reps, out, err);
    out->value = v->last.cycles;
    return st;
}

const struct as_probe as_probe_alu_latency = {
    .name = "alu_latency",
    .title = "Latency of operations",
    .question = "After how many cycles can an operation use the result of another?",
    .metric = "latency",
    .unit = "cycles",
    .lower_is_better = true,
    .counts = "cycles per operation of a dependent chain, including the link where one is noted, without loop overhead",
    .further = as_ops_time,
    .needs = 0,
    AS_CELLS(axes, quick, full, alu_latency_applies),
    .about = as_op_about,
    .patience_s = 30, /* the driver compiles the kernels first */
    AS_TRIAL(struct as_ops_trial, alu_latency_prepare, alu_latency_sample, as_ops_check, as_ops_finish),
};
