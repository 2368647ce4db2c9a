/* alu: throughput of operations per compute unit and cycle. See method.md. */
#include "lib/ops/trial.h"

static const struct as_axis axes[] = {
    AS_OP_AXIS("all"),
    AS_COUNT_AXIS("ilp", 0, 18, "4",
                  "independent chains per thread; 0, CPU: as many as its registers hold: 8, 12, or 18 with SVE",
                  .zero = "most"),
    AS_WARPS_AXIS,
    AS_WIDTH_AXIS,
    AS_OPERANDS_AXIS,
    AS_STEPS_AXIS,
    {0},
};
static const char *const quick[] = {
    "op=iadd32,imul32,imad32,xor32,fadd32,fmul32,ffma32,ffma64,ffma16,recip32 ilp=4",
    "op=iadd32,imul32,ixor32,fadd32,fmul32,ffma32,ffma64,fdiv32 ilp=0 width=scalar,256,sve", NULL};
static const char *const full[] = {"op=all ilp=4", "op=all ilp=0 width=all",
                                   "op=ffma32,fadd16,iadd32 ilp=1..4 warps=1,2,4,8,16,24,32,48,64,88,96", NULL};

static struct as_chains_desc alu_desc_of(const struct as_device_info *info, const struct as_axes *a)
{
    struct as_chains_desc d = as_ops_desc(info, a);
    d.ilp = (unsigned)as_axes_u64(a, "ilp");
    d.every_unit = true;
    as_op_sequence_pass(&d.sequence);
    return d;
}

static enum as_applies alu_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const struct as_chains_desc d = alu_desc_of(info, a);
    if (d.sequence.n == 0 || ((info->capabilities & AS_CAP_HOST_KERNELS) && as_axes_u64(a, "warps")))
        return AS_PRUNED;
    return as_ops_apply(info, a, &d, err);
}

static enum as_status alu_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    const struct as_chains_desc d = alu_desc_of(&tc->dev->info, tc->axes);
    enum as_status st = as_ops_prepare(tc, &d, state, err);
    as_limit_issue(tc, &d);
    return st;
}

static enum as_status alu_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct as_ops_trial *v = state;
    enum as_status st = as_ops_sample(v, reps, out, err);
    out->value = v->last.operations / v->last.cycles;
    return st;
}

const struct as_probe as_probe_alu = {
    .name = "alu",
    .title = "Throughput of operations",
    .question = "How many operations of each kind does a compute unit do per cycle?",
    .metric = "throughput",
    .unit = "ops/cycle",
    .counts = "results per cycle of a compute unit; a multi-instruction operation counts one, so does a fused "
              "multiply-add, a packed one two; slowest compute unit, no loop",
    .further = as_ops_rate,
    .needs = 0,
    AS_CELLS(axes, quick, full, alu_applies),
    .about = as_op_about,
    .patience_s = 30, /* the driver compiles the kernels first */
    AS_TRIAL(struct as_ops_trial, alu_prepare, alu_sample, as_ops_check, as_ops_finish),
};
