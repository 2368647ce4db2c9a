#include "chains_internal.h"
#include "code.h"
#include "lib/buffers/buffers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_CORE = 96,
    BODY_CORE = 24, /* instructions of a CPU's long body: long ones compile slowly */
    LOOP = 16,      /* maximum loop overhead in instructions */
    GROUP_MAX = 1024,
    LANES_LEAST = 8, /* operations name lanes up to 5 */
    SPLIT_MAX = 4,   /* workgroups that replace one that would need too many registers */
};

/* ---- what applies ---- */

bool as_chains_core(const struct as_device_info *info)
{
    return as_runs_on_host(info) || info->vector_bytes != 0;
}

unsigned as_chains_warp(const struct as_device_info *info)
{
    return as_chains_core(info) || !info->warp ? 1 : info->warp;
}

unsigned as_chains_full(const struct as_device_info *info)
{
    unsigned most = info->threads && info->threads < GROUP_MAX ? info->threads : GROUP_MAX;
    return as_chains_core(info) ? 1 : most;
}

static enum as_dialect dialect_of(const struct as_device_info *info)
{
    return as_dialect_find(info->dialect);
}

/* Threads that a compute unit holds; of an unknown one two of its largest workgroups. */
static unsigned chains_resident(const struct as_device_info *info)
{
    const unsigned known = info->compute_unit_threads ? info->compute_unit_threads : info->unit_threads_published;
    return known ? known : 2 * as_chains_full(info);
}

static bool chains_needs(const struct as_op *op, enum as_op_type first, enum as_op_type second)
{
    const enum as_op_type types[] = {op->type, op->btype, op->ctype, op->result};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i] == first || types[i] == second)
            return true;
    return false;
}

static enum as_status has_subgroups(const struct as_device_info *info, const struct as_op *op, struct as_error *err)
{
    struct as_buf lacks = AS_BUF_INIT;
    as_capability_phrases(op->subgroups & ~info->capabilities, ", ", &lacks);
    enum as_status st = lacks.len ? as_fail(err, AS_UNSUPPORTED, "the device has no %s", as_buf_get(&lacks)) : AS_OK;
    as_buf_finish(&lacks);
    return st;
}

/* AS_UNSUPPORTED with what the device lacks for the operation. */
static enum as_status has_operation(const struct as_device_info *info, const struct as_op *op, struct as_error *err)
{
    enum as_dialect dialect = dialect_of(info);
    unsigned warp = as_chains_warp(info);
    if (chains_needs(op, AS_OP_F64, AS_OP_F64) && !(info->capabilities & AS_CAP_FP64))
        return as_fail(err, AS_UNSUPPORTED, "the device has no f64");
    if (dialect == AS_DIALECT_N || !(op->dialects & 1u << dialect))
        return as_fail(err, AS_UNSUPPORTED, "kernels of this device have no %s", op->name);
    if (chains_needs(op, AS_OP_F16, AS_OP_F16X2) && !(info->capabilities & AS_CAP_FP16))
        return as_fail(err, AS_UNSUPPORTED, "the device has no f16");
    if (dialect == AS_DIALECT_CUDA && as_arch_number(info) < op->cuda_least)
        return as_fail(err, AS_UNSUPPORTED, "%s needs an architecture from sm_%u on, this is %s", op->name,
                       op->cuda_least, info->arch);
    if (dialect == AS_DIALECT_CUDA && op->cuda_most && as_arch_number(info) > op->cuda_most)
        return as_fail(err, AS_UNSUPPORTED, "%s is two instructions of other operations beyond sm_%u, this is %s",
                       op->name, op->cuda_most, info->arch);
    if (dialect == AS_DIALECT_HIP && !as_op_on_amd(op, info->arch))
        return as_fail(err, AS_UNSUPPORTED, "only AMD's %s have %s, this is %s", op->amd_chips, op->name, info->arch);
    if (dialect == AS_DIALECT_OPENCL && has_subgroups(info, op, err))
        return AS_UNSUPPORTED;
    if (op->group_reference && (warp < LANES_LEAST || warp > AS_OP_GROUP_MOST || (warp & (warp - 1))))
        return as_fail(err, AS_UNSUPPORTED,
                       "%s needs a subgroup size that is a power of two from %d to %d; here it is %u", op->name,
                       (int)LANES_LEAST, (int)AS_OP_GROUP_MOST, warp);
    return AS_OK;
}

bool as_chains_packs(const struct as_device_info *info, const struct as_op *op)
{
    return op->alone && dialect_of(info) != AS_DIALECT_METAL;
}

static enum as_applies part_applies(const struct as_device_info *info, const struct as_op_part *part, unsigned ilp,
                                    struct as_error *err)
{
    const struct as_op *op = part->op;
    if ((part->operands == 2 && !op->two) || (part->operands == 1 && !op->one) ||
        (as_chains_packs(info, op) && part->count * ilp > 1))
        return AS_PRUNED;
    return has_operation(info, op, err) ? AS_INAPPLICABLE : AS_APPLIES;
}

enum as_applies as_chains_apply(const struct as_device_info *info, const struct as_chains_desc *desc,
                                struct as_error *err)
{
    enum as_applies applies = AS_APPLIES;
    if (desc->ilp > AS_CHAINS_MOST)
        return as_pruned(err, "axis 'ilp': '%u' is above the maximum %d", desc->ilp, AS_CHAINS_MOST);
    if (desc->steps % AS_OP_STEPS_LEAST != 0)
        return as_pruned(err, "axis 'steps': '%u' is not a multiple of %d", desc->steps, AS_OP_STEPS_LEAST);
    if (desc->threads == 0)
        return AS_PRUNED;
    if (as_chains_core(info) && (desc->threads > 1 || desc->steps > MOST_CORE))
        return AS_PRUNED;
    for (size_t i = 0; i < desc->sequence.n && applies == AS_APPLIES; i++)
        applies = part_applies(info, &desc->sequence.part[i], desc->ilp, err);
    if (applies != AS_APPLIES)
        return applies;
    if (!as_chains_core(info) && desc->threads > chains_resident(info))
        return as_pruned(err, "a compute unit holds %u threads, not %u", chains_resident(info), desc->threads);
    return AS_APPLIES;
}

/* Since sm_70 an SM has four schedulers that issue one warp instruction per cycle; earlier ones differ. 0: not
 * published. */
static unsigned schedulers(const struct as_device_info *info)
{
    enum { SCHEDULERS = 4 };
    return dialect_of(info) == AS_DIALECT_CUDA && as_arch_number(info) >= 70 ? SCHEDULERS : 0;
}

static void say_issue(struct as_trial_context *tc, unsigned each)
{
    snprintf(tc->limit_why, sizeof tc->limit_why, "%u warp instructions per cycle", each);
}

void as_limit_issue(struct as_trial_context *tc, const struct as_chains_desc *desc)
{
    const struct as_device_info *info = &tc->dev->info;
    enum as_op_type t = desc->sequence.n ? desc->sequence.part[0].op->type : AS_OP_I32;
    if (!schedulers(info))
        return;
    tc->limit = (double)schedulers(info) * info->warp * as_op_lanes(t);
    say_issue(tc, schedulers(info));
}

void as_limit_issue_cost(struct as_trial_context *tc, const struct as_chains_desc *desc)
{
    unsigned each = schedulers(&tc->dev->info);
    if (!each)
        return;
    tc->limit = (double)as_op_sequence_count(&desc->sequence) / each;
    say_issue(tc, each);
}

/* ---- before the first sample ---- */

static unsigned chains_steps_of(const struct as_device_info *info, const struct as_chains_desc *d)
{
    return d->steps ? d->steps
                    : as_op_sequence_steps(&d->sequence, d->ilp, as_chains_core(info) ? BODY_CORE : AS_OP_BODY);
}

static void draw_block(enum as_op_domain domain, enum as_op_type type, struct as_rng *rng, char *block)
{
    size_t bytes = as_op_bytes(type);
    for (size_t i = 0; i < AS_CHAINS_STARTS; i++) {
        union as_op_value v;
        as_op_draw(domain, type, (unsigned)(i % 4), rng, &v);
        memcpy(block + i * bytes, &v, bytes);
    }
}

/* The first, second or third operand of all operations. */
static enum as_status chains_fill(struct as_chains *c, size_t which, struct as_rng *rng, struct as_memory **out,
                                  struct as_error *err)
{
    const struct as_op_sequence *s = &c->desc.sequence;
    size_t bytes = s->n * AS_CHAINS_STARTS * sizeof(uint64_t);
    char *values = calloc(1, bytes);
    if (!values)
        return as_nomem(err, bytes, "operands");
    for (size_t i = 0; i < s->n; i++) {
        const struct as_op *op = s->part[i].op;
        const enum as_op_domain domains[] = {op->a, op->b, op->c};
        const enum as_op_type types[] = {op->type, op->btype, op->ctype};
        draw_block(domains[which], types[which], rng, values + i * AS_CHAINS_STARTS * sizeof(uint64_t));
    }
    enum as_status st = as_kernel_timer_keep_memory(&c->timer, bytes, out, err);
    if (!st)
        st = c->timer.dev->memory->write(c->timer.dev, *out, 0, values, bytes, err);
    free(values);
    return st;
}

/* Operands of the links. */
static enum as_status fill_words(struct as_chains *c, struct as_rng *rng, struct as_error *err)
{
    const struct as_op_sequence *s = &c->desc.sequence;
    uint32_t words[AS_OP_PARTS] = {0};
    for (size_t i = 0; i < s->n; i++) {
        const struct as_op *op = s->part[i].op;
        union as_op_value v;
        as_op_draw(op->m, op->type == AS_OP_F16 ? AS_OP_I16 : AS_OP_I32, 0, rng, &v);
        words[i] = op->type == AS_OP_F16 ? v.u16 : v.u32;
    }
    enum as_status st = as_kernel_timer_keep_memory(&c->timer, sizeof words, &c->words, err);
    return st ? st : c->timer.dev->memory->write(c->timer.dev, c->words, 0, words, sizeof words, err);
}

static enum as_status draw_operands(struct as_chains *c, uint64_t seed, struct as_error *err)
{
    struct as_memory **const out[] = {&c->starts, &c->seconds, &c->thirds};
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    enum as_status st = fill_words(c, &rng, err);
    for (size_t i = 0; i < sizeof out / sizeof *out && !st; i++)
        st = chains_fill(c, i, &rng, out[i], err);
    return st;
}

static enum as_status chains_build(struct as_chains *c, struct as_device *dev, struct as_error *err)
{
    static const char *const names[AS_CHAINS_KERNELS] = {"walk", "half_body", "whole_body", "once"};
    struct as_buf text = AS_BUF_INIT;
    bool one = c->dialect == AS_DIALECT_OPENCL;
    as_op_source(&c->desc.sequence, c->desc.ilp, c->desc.steps, one, &text);
    enum as_status st = as_buf_check(&text, err);
    if (!st)
        st = as_kernel_timer_prepare(&c->timer, dev, c->desc.sequence.part[0].op->name, "", as_buf_get(&text), NULL,
                                     SPLIT_MAX * c->workgroups + AS_CHAINS_STARTS, err);
    as_buf_finish(&text);
    for (int k = 0; k < AS_CHAINS_KERNELS && !st; k++) {
        if (one && k > 0)
            c->kernels[k] = c->kernels[0];
        else
            st = as_kernel_timer_keep_kernel(&c->timer, one ? "chains" : names[k], &c->kernels[k], err);
    }
    return st;
}

/* One workgroup per compute unit if it can be as large, else the fewest that share the warps equally. */
static void chains_shape(struct as_chains *c, const struct as_device_info *info)
{
    const unsigned full = as_chains_full(info), warps = c->desc.threads / as_chains_warp(info);
    c->resident_workgroups = (c->desc.threads + full - 1) / full;
    while (c->resident_workgroups < warps && warps % c->resident_workgroups)
        c->resident_workgroups++;
    c->workgroup_size = c->desc.threads / c->resident_workgroups;
    unsigned compute_units = c->desc.every_unit && info->compute_units ? info->compute_units : 1;
    compute_units = c->desc.share ? compute_units * c->desc.share / 100 : compute_units;
    c->workgroups = c->resident_workgroups * (compute_units ? compute_units : 1);
}

/* Registers may allow fewer threads per workgroup than the device does: then uses more and smaller ones. */
static enum as_status chains_fit(struct as_chains *c, struct as_error *err)
{
    struct as_device *dev = c->timer.dev;
    const size_t asked = c->workgroups;
    enum as_status st = AS_OK;
    for (int k = 0; k < AS_CHAINS_KERNELS && !st && dev->program->kernel_info; k++) {
        struct as_kernel_info info = {0};
        st = dev->program->kernel_info(dev, c->kernels[k], c->workgroup_size, 0, &info, err);
        while (!st && info.max_threads && c->workgroup_size > info.max_threads && c->workgroup_size % 2 == 0 &&
               c->workgroups < SPLIT_MAX * asked) {
            c->workgroup_size /= 2;
            c->workgroups *= 2;
            c->resident_workgroups *= 2;
        }
    }
    return st;
}

/* Without instruction names the code must at least be as long as its steps. */
static void chains_expect_code(struct as_chains *c, struct as_trial_context *tc)
{
    struct as_device *dev = c->timer.dev;
    struct as_instructions half, whole;
    char text[160];
    unsigned steps = c->desc.ilp * c->desc.steps;
    double each;
    if (!as_code_named(dev, c->kernels[AS_CHAINS_HALF], &half) ||
        !as_code_named(dev, c->kernels[AS_CHAINS_WHOLE], &whole)) {
        as_expect_code(tc, c->kernels[AS_CHAINS_WHOLE], "any",
                       (uint64_t)steps * as_op_sequence_count(&c->desc.sequence));
        return;
    }
    bool good = as_op_code_agrees(&half, &whole, steps / 2, &c->desc.sequence, c->dialect, &each, text, sizeof text);
    as_note(tc, "instructions", text);
    as_note_number(tc, "instructions_each", each);
    as_judge_code(tc, good ? AS_GATE_PASS : AS_GATE_FAIL, text);
}

static bool has_counter(const struct as_chains *c)
{
    return (c->timer.record[0].has & AS_HAS_CYCLES) != 0;
}

enum { EMPTY_TRIES = 3 };
/* The least time of launches that make no turn, where the host or the device's clock times them: 0 with a counter of
 * cycles, NAN for those of a host, which vary too much. */
static enum as_status time_empty(struct as_chains *c, struct as_error *err)
{
    enum as_status st = AS_OK;
    double least = INFINITY, seconds = 0;
    c->empty_s = has_counter(c) ? 0 : NAN;
    if (has_counter(c) || c->timer.dev->info.is_host_cpu)
        return AS_OK;
    for (int i = 0; i < EMPTY_TRIES && !st; i++) {
        st = as_chains_launch(c, AS_CHAINS_WHOLE, 0, &seconds, err);
        least = fmin(least, seconds);
    }
    c->empty_s = least;
    return st;
}

enum as_status as_chains_make(struct as_chains *c, struct as_trial_context *tc, const struct as_chains_desc *desc,
                              struct as_error *err)
{
    *c = (struct as_chains){.desc = *desc, .dialect = dialect_of(&tc->dev->info)};
    c->desc.steps = chains_steps_of(&tc->dev->info, desc);
    chains_shape(c, &tc->dev->info);
    c->ends_bytes =
        c->workgroups * c->workgroup_size * as_op_sequence_slots(&desc->sequence, c->desc.ilp) * sizeof(uint64_t);
    if (c->ends_bytes == 0)
        return as_fail(err, AS_USAGE, "a sequence without operations, or without threads, has no chains");
    for (int i = 0; i < 2; i++)
        if (!(c->end[i] = calloc(1, c->ends_bytes)))
            return as_nomem(err, c->ends_bytes, "results");
    size_t least = desc->sequence.n * AS_CHAINS_STARTS * sizeof(uint64_t);
    enum as_status st = chains_build(c, tc->dev, err);
    if (!st)
        st = chains_fit(c, err);
    if (!st)
        st = as_kernel_timer_keep_memory(&c->timer, c->ends_bytes > least ? c->ends_bytes : least, &c->ends, err);
    if (!st)
        st = draw_operands(c, tc->seed, err);
    /* Some drivers compile at the first launch, outside any sample. */
    double unused;
    if (!st)
        st = as_chains_launch(c, AS_CHAINS_WHOLE, 1, &unused, err);
    return st ? st : time_empty(c, err);
}

enum as_status as_chains_prepare(struct as_chains *c, struct as_trial_context *tc, const struct as_chains_desc *desc,
                                 struct as_error *err)
{
    enum as_status st = as_chains_make(c, tc, desc, err);
    if (!st)
        chains_expect_code(c, tc);
    return st ? st : as_tick_prepare(&c->tick, tc, desc->every_unit, err);
}

void as_chains_finish(struct as_chains *c)
{
    as_tick_finish(c->tick);
    as_kernel_timer_finish(&c->timer);
    free(c->end[0]);
    free(c->end[1]);
    *c = (struct as_chains){0};
}

/* ---- a measurement ---- */

enum as_status as_chains_launch(struct as_chains *c, enum as_chains_kernel which, uint32_t turns, double *seconds,
                                struct as_error *err)
{
    const struct as_arg args[] = {
        as_memory_arg(c->timer.memory), as_memory_arg(c->starts), as_memory_arg(c->seconds), as_memory_arg(c->thirds),
        as_memory_arg(c->ends),         as_memory_arg(c->words),  as_u32_arg(turns),         as_u32_arg(which),
    };
    struct as_launch l =
        as_launch_of(c->kernels[which], args, sizeof args / sizeof *args, c->workgroups, c->workgroup_size);
    l.work.accesses = (double)turns * c->desc.steps;
    return as_kernel_timer_launch(&c->timer, &l, seconds, err);
}

enum { SPREAD_TRIES = 4, PAIR_TRIES = 6 };
static const double SCATTER = 0.005; /* of launches, relative to a sample */

/* Cycles of a launch, or its seconds without a cycle counter. */
static enum as_status chains_run(struct as_chains *c, enum as_chains_kernel which, uint32_t turns, double *cycles,
                                 double *seconds, struct as_error *err)
{
    for (int i = 0; i < SPREAD_TRIES; i++) {
        enum as_status st = as_chains_launch(c, which, turns, seconds, err);
        if (st)
            return st;
        *cycles = has_counter(c) ? as_kernel_timer_longest(&c->timer, c->workgroups, c->resident_workgroups) : *seconds;
        if (*cycles > 0)
            return AS_OK;
    }
    return as_fail(
        err, AS_UNSUPPORTED,
        "workgroups are not distributed evenly over the compute units; let this process use the whole device");
}

double as_chains_results(const struct as_chains *c)
{
    const struct as_op_sequence *s = &c->desc.sequence;
    unsigned results = 0;
    for (size_t i = 0; i < s->n; i++) {
        enum as_op_type t = s->part[i].op->type;
        results += s->part[i].count * as_op_lanes(t);
    }
    return (double)c->resident_workgroups * (double)c->workgroup_size * c->desc.ilp * results;
}

static double sequences_of(const struct as_chains *c)
{
    return (double)c->resident_workgroups * (double)c->workgroup_size / as_chains_warp(&c->timer.dev->info) *
           c->desc.ilp;
}

/* Preemption may make the shorter body take longer. */
enum as_status as_chains_pair(struct as_chains *c, uint32_t *turns, double *half, double *whole, double *seconds,
                              struct as_error *err)
{
    for (int i = 0; i < PAIR_TRIES; i++) {
        double half_s, whole_s;
        enum as_status st = chains_run(c, AS_CHAINS_HALF, *turns, half, &half_s, err);
        if (!st)
            st = chains_run(c, AS_CHAINS_WHOLE, *turns, whole, &whole_s, err);
        if (st)
            return st;
        *seconds = half_s + whole_s;
        if (*whole > *half)
            return AS_OK;
        if (!has_counter(c) && i + 1 < PAIR_TRIES && *turns < AS_CHAINS_TURNS_MAX / 2)
            *turns *= 2;
    }
    return as_fail(
        err, AS_UNSUPPORTED,
        "by the device's timer, %u iterations of a body of %u steps take no longer than those of half the body", *turns,
        c->desc.steps);
}

static enum as_status chains_time_both(void *user, uint32_t turns, double *difference_s, double *longer_s,
                                       struct as_error *err)
{
    struct as_chains *c = user;
    double half = 0, whole = 0, seconds = 0;
    enum as_status st = chains_run(c, AS_CHAINS_HALF, turns, &half, &seconds, err);
    if (!st)
        st = chains_run(c, AS_CHAINS_WHOLE, turns, &whole, longer_s, err);
    *difference_s = has_counter(c) ? INFINITY : whole - half; /* a counter resolves any */
    return st;
}

enum as_status as_chains_enough(struct as_chains *c, uint32_t *turns, struct as_error *err)
{
    uint64_t least;
    enum as_status st = as_tick_turns(chains_time_both, c, AS_CHAINS_TURNS_MAX, &least, err);
    *turns = (uint32_t)least;
    return st;
}

/* Long and short body differ by half of the steps if the compiler generated equivalent code: the loop itself is a few
 * instructions, so a larger discrepancy shows that it did not. Without a counter launches count, less empty ones, whose
 * scatter must not matter; those of a host vary too much. */
double as_chains_step(const struct as_chains *c, uint32_t turns, double half, double whole)
{
    const double body = (double)c->desc.ilp * c->desc.steps * as_op_sequence_weight(&c->desc.sequence);
    const double loop = fmin(LOOP / body, 0.5), twice = 2 * (whole - half), all = whole - c->empty_s;
    const double scatter = has_counter(c) ? 0 : SCATTER;
    const bool alike = twice <= (1 + scatter) * all && twice >= (1 - loop - scatter) * all;
    /* Empty launches that took no less were disturbed. */
    return (alike || !(all > 0) ? twice : all) / ((double)turns * c->desc.steps);
}

enum as_status as_chains_measure(struct as_chains *c, uint32_t turns, struct as_chains_time *out, struct as_error *err)
{
    double half, whole, seconds = 0, hz = NAN;
    enum as_status st = as_chains_pair(c, &turns, &half, &whole, &seconds, err);
    if (st)
        return st;
    if (c->tick)
        st = as_tick_measure(c->tick, seconds, &hz, err);
    else
        st = as_kernel_timer_need(&c->timer, AS_HAS_CYCLES, err);
    const double scale = c->tick ? hz : 1; /* without a counter these are seconds so far */
    double steps = (double)turns * c->desc.steps;
    const double raw = whole - (isnan(c->empty_s) ? 0 : c->empty_s);
    *out = (struct as_chains_time){.seconds = seconds,
                                   .cycles = as_chains_step(c, turns, half, whole) * scale,
                                   .raw = raw > 0 ? raw / steps * scale : NAN,
                                   .clock_hz = c->tick ? hz : as_kernel_timer_clock(&c->timer),
                                   .operations = as_chains_results(c),
                                   .sequences = sequences_of(c)};
    double compute_units = (double)c->workgroups / (double)c->resident_workgroups;
    out->rate = out->operations * compute_units * 1.5 * steps / seconds; /* the short body has half the steps */
    return st;
}
