/* mix: cost of interleaved operations on a compute unit. See method.md. */
#include "lib/ops/trial.h"

#include <string.h>

extern const char *const as_mix_words[];

static const struct as_axis axes[] = {
    AS_WORD_AXIS("mix", as_mix_words, "all", "operations with counts: imul32+3*ffma32"),
    AS_COUNT_AXIS("ilp", 0, 12, "0",
                  "chains per thread and operation of the sequence; 0: two, four where a thread has a core",
                  .zero = "fitting"),
    AS_WARPS_AXIS,
    AS_OPERANDS_AXIS,
    AS_STEPS_AXIS,
    {0},
};
static const char *const quick[] = {"mix=ffma32,iadd32,imad32,xor32,ffma64,recip32",
                                    "mix=ffma32+iadd32,ffma32+imad32,ffma32+xor32,ffma32+ffma64,ffma32+recip32",
                                    "mix=imad32+iadd32,iadd32+xor32,ffma64+iadd32,recip32+4*ffma32", NULL};
static const char *const full[] = {"mix=all", NULL};

/* The same number in every sequence, so that operations alone and in sequences have the same dependencies. */
enum { CHAINS = 2, CHAINS_CORE = 4 };

static enum as_status mix_desc_of(const struct as_device_info *info, const struct as_axes *a,
                                  struct as_chains_desc *out, struct as_error *err)
{
    unsigned warps = (unsigned)as_axes_u64(a, "warps"), operands = (unsigned)as_axes_u64(a, "operands");
    *out = (struct as_chains_desc){.steps = (unsigned)as_axes_u64(a, "steps"),
                                   .ilp = (unsigned)as_axes_u64(a, "ilp"),
                                   .threads = warps ? warps * as_chains_warp(info) : as_chains_full(info),
                                   .every_unit = true};
    enum as_status st = as_op_sequence_parse(as_axes_text(a, "mix"), &out->sequence, err);
    for (size_t i = 0; i < out->sequence.n && operands; i++) {
        struct as_op_part *part = &out->sequence.part[i];
        if (operands == 3 || (operands == 2 && part->op->two) || (operands == 1 && part->op->one))
            part->operands = operands;
    }
    as_op_sequence_pass(&out->sequence);
    if (!out->ilp)
        out->ilp = as_chains_warp(info) > 1 ? CHAINS : CHAINS_CORE;
    return st;
}

/* What the device lacks is said once: of the operation alone, with the fewest chains. */
static enum as_applies mix_lacks(const struct as_axes *a)
{
    return strpbrk(as_axes_text(a, "mix"), "+*") || as_axes_u64(a, "ilp") > 1 ? AS_PRUNED : AS_INAPPLICABLE;
}

static enum as_applies mix_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    struct as_chains_desc d;
    if (mix_desc_of(info, a, &d, err))
        return mix_lacks(a);
    if (d.ilp * as_op_sequence_count(&d.sequence) > AS_OP_CHAINS)
        return AS_PRUNED;
    if (as_chains_warp(info) == 1 && as_axes_u64(a, "warps") > 1)
        return as_inapplicable(err, "axis 'warps': each thread of this device has its own core");
    const enum as_applies applies = as_chains_apply(info, &d, err);
    return applies == AS_INAPPLICABLE ? mix_lacks(a) : applies;
}

static enum as_status mix_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct as_chains_desc d;
    enum as_status st = mix_desc_of(&tc->dev->info, tc->axes, &d, err);
    if (st)
        return st;
    as_note_number(tc, "operations", as_op_sequence_count(&d.sequence));
    as_note_number(tc, "chains", d.ilp * as_op_sequence_count(&d.sequence));
    st = as_ops_prepare(tc, &d, state, err);
    as_limit_issue_cost(tc, &d);
    ((struct as_ops_trial *)state)->per_sequence = true;
    return st;
}

static enum as_status mix_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct as_ops_trial *v = state;
    enum as_status st = as_ops_sample(v, reps, out, err);
    out->value = v->last.cycles / v->last.sequences;
    return st;
}

const struct as_probe as_probe_mix = {
    .name = "mix",
    .title = "Sequences of operations",
    .question = "How long does a compute unit take for a sequence of operations?",
    .metric = "cost",
    .unit = "cycles",
    .lower_is_better = true,
    .counts =
        "cycles of a fully occupied compute unit per warp and sequence; slowest compute unit, without loop overhead",
    .further = as_ops_time,
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, quick, full, mix_applies),
    .patience_s = 30, /* the driver compiles the kernels first */
    AS_TRIAL(struct as_ops_trial, mix_prepare, mix_sample, as_ops_check, as_ops_finish),
};
