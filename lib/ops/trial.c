#include "trial.h"

#include "chains_internal.h"

#include "lib/checks/checks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CORE_TURNS = 8192 };

const struct as_metric as_ops_time[] = {
    {"time", "ns", true, "the same in nanoseconds, at the clock of the sample", NULL},
    {"loop", "cycles", true, "control group: loop overhead in cycles per iteration", NULL},
    {0}};
const struct as_metric as_ops_rate[] = {
    {"rate", "GOP/s", false, "results per second and compute unit, at the clock of the sample", NULL}, {0}};

struct as_chains_desc as_ops_desc(const struct as_device_info *info, const struct as_axes *axes)
{
    const struct as_op *op = as_op_find(as_axes_text(axes, "op"));
    unsigned warps = (unsigned)as_axes_u64(axes, "warps");
    struct as_chains_desc d = {.steps = (unsigned)as_axes_u64(axes, "steps"),
                               .threads = warps ? warps * as_chains_warp(info) : as_chains_full(info)};
    if (op)
        d.sequence = as_op_alone(op, (unsigned)as_axes_u64(axes, "operands"));
    return d;
}

/* Additional parts of each step. */
static void note_links(struct as_trial_context *tc, const struct as_op_sequence *s)
{
    struct as_buf links = AS_BUF_INIT;
    for (size_t i = 0; i < s->n; i++)
        if (as_op_part_link(&s->part[i]))
            as_buf_printf(&links, "%s%s", links.len ? ", " : "", as_op_part_link(&s->part[i]));
    if (links.len)
        as_note(tc, "link", as_buf_get(&links));
    as_buf_finish(&links);
}

static struct as_native_desc native_desc(const struct as_axes *axes, const struct as_chains_desc *desc)
{
    return (struct as_native_desc){.op = desc->sequence.part[0].op,
                                   .width = (enum as_native_width)as_word_index(axes, "width", as_native_width_words),
                                   .chains = desc->ilp};
}

static enum as_applies left_out(struct as_error *err, const char *why)
{
    return as_pruned(err, "%s", why);
}

/* A device has one value per lane; a CPU has bodies of fixed length whose operands all differ. */
enum as_applies as_ops_apply(const struct as_device_info *info, const struct as_axes *axes,
                             const struct as_chains_desc *desc, struct as_error *err)
{
    const struct as_native_desc native = native_desc(axes, desc);
    if (native.width >= AS_NATIVE_WIDTHS)
        return AS_PRUNED;
    if (as_info_only_host_kernels(info)) {
        bool usual = as_axes_u64(axes, "operands") % 3 == 0 && desc->steps == 0;
        return usual ? as_native_apply(info, &native, err)
                     : left_out(err, "axes 'operands' and 'steps': native CPU instructions have 0 in both");
    }
    if (native.width != AS_NATIVE_SCALAR)
        return left_out(err, "axis 'width': only native CPU instructions have vectors");
    if (desc->ilp == 0)
        return left_out(err, "axis 'ilp': only native CPU instructions have 0");
    for (size_t i = 0; i < desc->sequence.n; i++)
        if (!desc->sequence.part[i].op->dialects)
            return left_out(err, "this operation is a native CPU instruction, not one of kernels");
    return as_chains_apply(info, desc, err);
}

static enum as_status prepare_chains(struct as_ops_trial *v, struct as_trial_context *tc,
                                     const struct as_chains_desc *desc, struct as_error *err)
{
    uint32_t least = CORE_TURNS;
    tc->max_reps = AS_CHAINS_TURNS_MAX;
    tc->host_work = tc->dev->info.is_host_cpu;
    enum as_status st = as_chains_prepare(&v->chains, tc, desc, err);
    if (!st && !tc->dev->info.is_host_cpu)
        st = as_chains_enough(&v->chains, &least, err);
    if (st)
        return st;
    tc->min_reps = least;
    as_note_number(tc, "steps", v->chains.desc.steps);
    as_note_number(tc, "threads", desc->threads);
    note_links(tc, &desc->sequence);
    return AS_OK;
}

enum as_status as_ops_prepare(struct as_trial_context *tc, const struct as_chains_desc *desc, struct as_ops_trial *v,
                              struct as_error *err)
{
    v->is_native = as_info_only_host_kernels(&tc->dev->info);
    v->with_loop = desc->steps != 0;
    const struct as_native_desc native = native_desc(tc->axes, desc);
    return v->is_native ? as_native_prepare(&v->native, tc, &native, err) : prepare_chains(v, tc, desc, err);
}

void as_ops_limit_chain(struct as_trial_context *tc, const struct as_chains_desc *desc)
{
    const struct as_device_info *info = &tc->dev->info;
    if (!as_chains_core(info) || as_info_only_host_kernels(info))
        return;
    for (size_t i = 0; i < desc->sequence.n; i++)
        if (strcmp(desc->sequence.part[i].op->kind, "convert") == 0)
            return;
    tc->limit = 1;
    snprintf(tc->limit_why, sizeof tc->limit_why,
             "one cycle: the minimum of a dependent step; the compiler may have emitted a branch");
}

enum as_status as_ops_sample(struct as_ops_trial *v, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct as_chains_time *t = &v->last;
    enum as_status st = v->is_native ? as_native_measure(&v->native, reps, t, err)
                                     : as_chains_measure(&v->chains, (uint32_t)reps, t, err);
    if (st)
        return st;
    const double loop = v->is_native ? NAN : fmax((t->raw - t->cycles) * v->chains.desc.steps, 0);
    if (v->with_loop)
        t->cycles = t->raw;
    *out = (struct as_sample){.seconds = t->seconds, .clock_hz = t->clock_hz};
    const double ns = t->cycles / t->clock_hz * 1e9;
    if (!(t->clock_hz > 0) || !(ns > 0))
        return AS_OK;
    out->further[0] = (struct as_sample_number){"time", ns / (v->per_sequence ? t->sequences : 1)};
    out->further[1] = (struct as_sample_number){"rate", t->operations / ns};
    if (isfinite(t->raw))
        out->further[2] = (struct as_sample_number){"loop", loop};
    return AS_OK;
}

bool as_ops_check(void *state, char *why, size_t size)
{
    struct as_ops_trial *v = state;
    const struct as_native_trial *n = &v->native;
    return v->is_native ? as_native_check(n->native, n->op, n->body, n->seed, why, size)
                        : as_chains_check(&v->chains, why, size);
}

void as_ops_finish(void *state)
{
    struct as_ops_trial *v = state;
    if (v->is_native)
        as_native_finish(&v->native);
    else
        as_chains_finish(&v->chains);
}
