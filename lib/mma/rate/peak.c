#include "lib/buffers/buffers.h"
#include "peak_internal.h"

#include "lib/ops/code.h"
#include "lib/ops/tick.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHAINS = 4,       /* default */
    CHAIN_ROOM = 128, /* registers available for accumulators */
    LANE_ROOM = 224,  /* maximum that leaves room for operands and addresses */
    WARPS = 16,       /* default */
    WARPS_WAIT = 8,   /* two warpgroups: one issues while the other waits */
    BODY = 128,       /* instructions of the long body */
    BODY_WIDE = 16,   /* of instructions with the most columns */
    LONGER = 8,       /* factor for rates: each body ends with a wait */
    STEPS_LEAST = 8,
    STEPS_MOST = 64,
    GROUP_MAX = 1024,
    PARTS = 4,         /* workgroups that share the warps of a compute unit if no single one can be placed on it */
    WAVES = 2,         /* this many sets of them per compute unit, so that uneven placement matters less */
    LEAST_TURNS = 512, /* on a CPU: enough for the tick counter to resolve each part */
    MANY_WORDS = 48,   /* per lane: beyond this compilers use over 128 registers, and fewer warps fit */
};

static bool peak_waits(const struct as_matrix *m)
{
    return m->held[AS_MATRIX_B].held == AS_HELD_SHARED;
}

static unsigned words_of(const struct as_peak_desc *d, enum as_matrix_operand operand)
{
    return as_matrix_registers(d->matrix, operand, d->n ? d->n : d->matrix->n) *
           d->matrix->held[operand].register_bits / 32;
}

static unsigned accumulator_words(const struct as_peak_desc *d)
{
    return words_of(d, AS_MATRIX_C);
}

/* Words per lane: two fragments of each operand, and all accumulators. */
static unsigned lane_words(const struct as_peak_desc *d)
{
    return 2 * (words_of(d, AS_MATRIX_A) + words_of(d, AS_MATRIX_B)) + d->chains * accumulator_words(d);
}

void as_peak_usual(const struct as_device_info *info, struct as_peak_desc *d)
{
    if (as_info_only_host_kernels(info)) {
        const struct as_core *core = as_core_find(d->matrix->name);
        d->n = d->matrix->n;
        d->chains = d->chains || !core ? d->chains : as_core_body(core, 0)->chains;
        d->warps = d->warps ? d->warps : 1;
        return;
    }
    unsigned fits = CHAIN_ROOM / accumulator_words(d);
    unsigned usual = peak_waits(d->matrix) ? 1 : CHAINS;
    unsigned team = info->warp ? (d->matrix->lanes + info->warp - 1) / info->warp : 1;
    d->n = d->n ? d->n : d->matrix->n;
    d->chains = d->chains ? d->chains : fits > usual ? usual : fits ? fits : 1;
    unsigned warps = peak_waits(d->matrix) ? WARPS_WAIT : lane_words(d) > MANY_WORDS ? WARPS / 2 : WARPS;
    d->warps = d->warps ? d->warps : warps > team ? warps : team;
}

/* A core has one kernel thread, and bodies for some numbers of chains. */
static enum as_applies core_applies(const struct as_peak_desc *d, struct as_error *err)
{
    const struct as_core *core = as_core_find(d->matrix->name);
    if (d->warps > 1)
        return AS_PRUNED;
    if (as_core_body(core, d->chains))
        return AS_APPLIES;
    struct as_buf counts = AS_BUF_INIT;
    for (const struct as_core_body *b = core->bodies; b < core->bodies + AS_CORE_BODIES && b->name; b++)
        as_buf_printf(&counts, "%s%u", b == core->bodies ? "" : ", ", b->chains);
    as_fail(err, AS_UNSUPPORTED, "kernels of %s have %s chains, not %u", core->name, as_buf_get(&counts), d->chains);
    as_buf_finish(&counts);
    return AS_INAPPLICABLE;
}

enum as_applies as_peak_applies(const struct as_device_info *info, const struct as_peak_desc *desc,
                                struct as_error *err)
{
    struct as_peak_desc d = *desc;
    if (!as_matrix_columns(d.matrix, d.n))
        return AS_PRUNED;
    enum as_applies applies = as_matrix_applies(d.matrix, info, err);
    if (applies != AS_APPLIES)
        return applies;
    if (as_info_only_host_kernels(info))
        return core_applies(&d, err);
    if (as_matrix_emulated(d.matrix, info->arch))
        return as_inapplicable(err, "%s has no machine instruction for %s, compilers emulate it", info->arch,
                               d.matrix->name);
    as_peak_usual(info, &d);
    size_t threads = (size_t)d.warps * info->warp;
    if (threads % d.matrix->lanes)
        return AS_PRUNED;
    if (d.chains * accumulator_words(&d) > LANE_ROOM)
        return as_inapplicable(err, "%u accumulators of %s do not fit in the registers of a lane", d.chains,
                               d.matrix->name);
    if (threads > GROUP_MAX || threads > info->threads)
        return as_inapplicable(err, "a workgroup has at most %u threads, %u warps are %zu",
                               info->threads < GROUP_MAX ? info->threads : GROUP_MAX, d.warps, threads);
    if (!(info->capabilities & (AS_CAP_CYCLES | AS_CAP_HOST_KERNELS)) && !info->compute_units)
        return as_inapplicable(err, "the number of compute units is unknown");
    return AS_APPLIES;
}

/* ---- operands ---- */

static double peak_draw(const struct as_peak *p, const struct as_number_format *f, enum as_peak_operands how,
                        struct as_rng *rng)
{
    int least = f->kind == AS_NUMBER_UNSIGNED ? 0 : -1;
    if (how == AS_PEAK_ZERO)
        return 0;
    if (how == AS_PEAK_WHOLE) {
        /* Sums of f16 are exact to 2048. */
        int most = as_matrix_format(p->desc.matrix, AS_MATRIX_C)->fraction == 10 || f->bits < 4 ? 1 : 3;
        return least * most + (double)as_rng_below(rng, (uint64_t)(most - least * most) + 1);
    }
    if (f->kind == AS_NUMBER_FLOAT)
        return (as_rng_u64(rng) & 1 ? -1 : 1) * (0.5 + 1.5 * as_rng_double(rng));
    double most = as_number_largest(f); /* symmetric, so that it can be negated */
    return least * most + (double)as_rng_below(rng, (uint64_t)(most - least * most) + 1);
}

static void draw_numbers(struct as_peak *p, enum as_matrix_operand which, enum as_peak_operands how, struct as_rng *rng)
{
    const struct as_matrix *m = p->desc.matrix;
    const struct as_number_format *f = as_matrix_format(m, which);
    size_t n = as_matrix_count(p->desc.matrix, which, p->desc.n);
    unsigned columns = as_matrix_cols(m, which, p->desc.n);
    /* Unsigned values cannot be negated: their sums wrap. */
    bool mirror = which == AS_MATRIX_A && how == AS_PEAK_RANDOM && f->kind != AS_NUMBER_UNSIGNED;
    for (int set = 0; set < 2; set++)
        for (size_t v = 0; v < AS_MATRIX_VARIANTS; v++)
            for (size_t i = 0; i < n; i++) {
                uint64_t *to = &p->numbers[which][set][v * n + i];
                bool held = as_image_holds(m, which, (unsigned)(i / columns), (unsigned)(i % columns));
                double value = held ? peak_draw(p, f, how, rng) : 0;
                if (mirror && set == 1)
                    value = -as_number_decode(f, p->numbers[which][0][v * n + i]);
                *to = as_number_nearest(f, value);
            }
}

/* In registers each variant has two consecutive images; in shared memory all share one that holds both. */
static enum as_status write_factor(struct as_peak *p, enum as_matrix_operand which, struct as_error *err)
{
    const struct as_matrix *m = p->desc.matrix;
    size_t bytes = as_image_bytes(m, which, p->desc.n), n = as_matrix_count(p->desc.matrix, which, p->desc.n);
    bool shared = m->held[which].held == AS_HELD_SHARED;
    memset(p->image, 0, p->images[which] * bytes);
    for (unsigned v = 0; v < (shared ? 1 : AS_MATRIX_VARIANTS); v++)
        for (unsigned set = 0; set < 2; set++)
            as_image_pack(m, which, p->desc.n, shared ? set : 0, p->numbers[which][set] + v * n,
                          p->image + (shared ? 0 : (2 * v + set) * bytes));
    return p->timer.dev->memory->write(p->timer.dev, p->factor[which], 0, p->image, p->images[which] * bytes, err);
}

enum as_status as_peak_write(struct as_peak *p, enum as_peak_operands how, struct as_error *err)
{
    struct as_rng rng;
    as_rng_seed(&rng, p->seed);
    enum as_status st = AS_OK;
    for (int which = AS_MATRIX_A; which <= AS_MATRIX_B && !st; which++) {
        draw_numbers(p, (enum as_matrix_operand)which, how, &rng);
        st = write_factor(p, (enum as_matrix_operand)which, err);
    }
    return st;
}

/* ---- before the first sample ---- */

static void peak_shape(struct as_peak *p, const struct as_device_info *info)
{
    const struct as_matrix *m = p->desc.matrix;
    unsigned n = p->desc.n, chains = p->desc.chains;
    const unsigned times = p->desc.long_bodies && !p->no_cycles ? LONGER : 1;
    unsigned steps = times * (peak_waits(m) ? BODY_WIDE * m->n / n : BODY) / chains / STEPS_LEAST * STEPS_LEAST;
    p->body = (struct as_matrix_body){.chains = chains,
                                      .steps = steps < STEPS_LEAST          ? STEPS_LEAST
                                               : steps > times * STEPS_MOST ? times * STEPS_MOST
                                                                            : steps};
    if (p->core)
        p->body.steps = p->core_body->steps;
    p->workgroups = info->compute_units ? info->compute_units : 1;
    p->workgroup_size = p->core ? 1 : (size_t)p->desc.warps * info->warp;
    if (p->no_cycles && p->desc.warps % PARTS == 0) {
        p->workgroups *= PARTS * WAVES;
        p->workgroup_size /= PARTS;
    }
    p->teams = p->core ? 1 : p->workgroup_size / m->lanes;
    for (int which = AS_MATRIX_A; which <= AS_MATRIX_B; which++)
        p->images[which] = m->held[which].held == AS_HELD_SHARED ? 1 : 2 * (size_t)AS_MATRIX_VARIANTS;
    p->ends_bytes = p->workgroups * p->teams * chains * as_image_bytes(m, AS_MATRIX_C, n);
    p->bound = 4 * 4 * m->k;
}

static enum as_status peak_host_memory(struct as_peak *p, struct as_error *err)
{
    size_t image = 1;
    for (int which = AS_MATRIX_A; which <= AS_MATRIX_B; which++) {
        size_t bytes = p->images[which] * as_image_bytes(p->desc.matrix, (enum as_matrix_operand)which, p->desc.n);
        size_t n = as_matrix_count(p->desc.matrix, (enum as_matrix_operand)which, p->desc.n) * AS_MATRIX_VARIANTS;
        image = bytes > image ? bytes : image;
        for (int set = 0; set < 2; set++)
            if (!(p->numbers[which][set] = calloc(n, sizeof(uint64_t))))
                return as_nomem(err, n * sizeof(uint64_t), "operands");
    }
    p->image = malloc(image);
    p->end = malloc(p->ends_bytes);
    return p->image && p->end ? AS_OK : as_nomem(err, image + p->ends_bytes, "operands");
}

static enum as_status device_memory(struct as_peak *p, struct as_error *err)
{
    enum as_status st = as_kernel_timer_keep_memory(&p->timer, p->ends_bytes, &p->ends, err);
    for (int which = AS_MATRIX_A; which <= AS_MATRIX_B && !st; which++)
        st = as_kernel_timer_keep_memory(
            &p->timer, p->images[which] * as_image_bytes(p->desc.matrix, (enum as_matrix_operand)which, p->desc.n),
            &p->factor[which], err);
    return st;
}

static enum as_status peak_build(struct as_peak *p, struct as_device *dev, struct as_error *err)
{
    static const char *const names[AS_PEAK_KERNELS] = {"half_body", "whole_body"};
    struct as_buf text = AS_BUF_INIT;
    enum as_status st = AS_OK;
    if (!p->core) {
        as_matrix_source(p->desc.matrix, p->desc.n, &p->body, &text);
        st = as_buf_check(&text, err);
    }
    if (!st && p->core)
        st = as_core_prepare(p->core, &p->timer, dev, p->workgroups, err);
    else if (!st)
        st = as_kernel_timer_prepare(&p->timer, dev, p->desc.matrix->name, "", as_buf_get(&text), NULL, p->workgroups,
                                     err);
    as_buf_finish(&text);
    for (int k = 0; k < AS_PEAK_KERNELS && !st; k++)
        st = as_kernel_timer_keep_kernel(&p->timer, names[k], &p->kernels[k], err);
    return st;
}

/* Checks the compiler's register allocation: too many registers prevent the launch, and spilled accumulators would be
 * measured. */
static enum as_status look_at_kernel(struct as_peak *p, struct as_trial_context *tc, struct as_error *err)
{
    struct as_device *dev = p->timer.dev;
    struct as_kernel_info info;
    if (!dev->program->kernel_info ||
        dev->program->kernel_info(dev, p->kernels[AS_PEAK_LONG], p->workgroup_size, 0, &info, NULL))
        return AS_OK;
    if (info.registers)
        as_note_number(tc, "registers", info.registers);
    if (info.private_bytes)
        return as_fail(err, AS_UNSUPPORTED, "the compiler spills %llu bytes of accumulators per lane",
                       (unsigned long long)info.private_bytes);
    if (info.max_threads && info.max_threads < p->workgroup_size)
        return as_fail(err, AS_UNSUPPORTED, "the kernel's registers allow at most %u threads per workgroup, not %zu",
                       info.max_threads, p->workgroup_size);
    return AS_OK;
}

/* Machine code is counted if its instructions have names. */
static void peak_expect_code(struct as_peak *p, struct as_trial_context *tc)
{
    struct as_device *dev = p->timer.dev;
    const struct as_code_want want = {p->desc.matrix->code, 1};
    struct as_instructions half, whole;
    char text[160];
    double each;
    unsigned steps = p->body.chains * p->body.steps / 2;
    enum as_gate_state gate = AS_GATE_NA;
    if (p->core) {
        gate = as_core_code_gate(p->desc.matrix, p->core_body, &each, text, sizeof text);
    } else if (!as_code_named(dev, p->kernels[AS_PEAK_HALF], &half) ||
               !as_code_named(dev, p->kernels[AS_PEAK_LONG], &whole)) {
        as_expect_code(tc, p->kernels[AS_PEAK_LONG], "matrix", 2 * (uint64_t)steps);
        return;
    } else {
        bool good = as_code_agrees(&half, &whole, steps, &want, 1, 0, &each, text, sizeof text);
        gate = good ? AS_GATE_PASS : AS_GATE_FAIL;
    }
    if (gate != AS_GATE_NA) {
        as_note(tc, "instructions", text);
        as_note_number(tc, "instructions_each", each);
    }
    as_judge_code(tc, gate, text);
}

static enum as_status peak_time_both(void *user, uint32_t turns, double *difference_s, double *longer_s,
                                     struct as_error *err)
{
    struct as_peak *p = user;
    double unused, half_s = 0;
    enum as_status st = as_peak_launch(p, AS_PEAK_HALF, turns, &unused, &half_s, err);
    if (!st)
        st = as_peak_launch(p, AS_PEAK_LONG, turns, &unused, longer_s, err);
    *difference_s = *longer_s - half_s;
    return st;
}

enum as_status as_peak_prepare(struct as_peak *p, struct as_trial_context *tc, const struct as_peak_desc *desc,
                               struct as_error *err)
{
    *p = (struct as_peak){.desc = *desc, .seed = tc->seed};
    as_peak_usual(&tc->dev->info, &p->desc);
    p->core = as_info_only_host_kernels(&tc->dev->info) ? as_core_find(p->desc.matrix->name) : NULL;
    p->no_cycles = !p->core && !(tc->dev->info.capabilities & AS_CAP_CYCLES);
    p->core_body = p->core ? as_core_body(p->core, p->desc.chains) : NULL;
    tc->min_reps = p->core ? LEAST_TURNS : tc->min_reps;
    peak_shape(p, &tc->dev->info);
    enum as_status st = peak_build(p, tc->dev, err);
    if (!st)
        st = look_at_kernel(p, tc, err);
    if (!st)
        st = peak_host_memory(p, err);
    if (!st)
        st = device_memory(p, err);
    if (!st)
        st = as_peak_write(p, p->desc.operands, err);
    if (st)
        return st;
    tc->max_reps = UINT32_MAX / 2;
    as_note_number(tc, "steps", p->body.steps);
    as_note_number(tc, "chains", p->body.chains);
    as_note_number(tc, "warps", p->desc.warps);
    as_note_number(tc, "columns", p->desc.n);
    peak_expect_code(p, tc);
    if (p->no_cycles)
        st = as_tick_turns(peak_time_both, p, UINT32_MAX / 2, &tc->min_reps, err);
    return st || !p->no_cycles || p->desc.rate_only ? st : as_tick_prepare(&p->tick, tc, true, err);
}

void as_peak_finish(struct as_peak *p)
{
    as_tick_finish(p->tick);
    as_kernel_timer_finish(&p->timer);
    for (int which = AS_MATRIX_A; which <= AS_MATRIX_B; which++)
        for (int set = 0; set < 2; set++)
            free(p->numbers[which][set]);
    free(p->image);
    free(p->end);
    *p = (struct as_peak){.workgroups = 0};
}

/* ---- samples ---- */

enum { SPREAD_TRIES = 4, PAIR_TRIES = 4 };

enum as_status as_peak_launch(struct as_peak *p, int which, uint32_t turns, double *cycles, double *seconds,
                              struct as_error *err)
{
    const struct as_arg args[] = {
        as_memory_arg(p->timer.memory),
        as_memory_arg(p->factor[AS_MATRIX_A]),
        as_memory_arg(p->factor[AS_MATRIX_B]),
        as_memory_arg(p->ends),
        as_u32_arg(turns),
        as_pointer_arg(p->core),
        as_pointer_arg(p->core_body),
    };
    const size_t n = sizeof args / sizeof *args - (p->core ? 0 : 2);
    struct as_launch l = as_launch_of(p->kernels[which], args, n, p->workgroups, p->workgroup_size);
    l.flags = p->core ? AS_LAUNCH_BARRIER : 0;
    l.work.accesses = (double)turns * p->body.steps;
    *cycles = NAN;
    if (p->no_cycles)
        return as_kernel_timer_launch(&p->timer, &l, seconds, err);
    for (int i = 0; i < SPREAD_TRIES; i++) {
        enum as_status st = as_kernel_timer_launch(&p->timer, &l, seconds, err);
        if (st)
            return st;
        for (size_t g = 0; g < p->workgroups && p->core; g++)
            *seconds = g == 0 || (double)p->timer.record[g].nanos * 1e-9 > *seconds
                           ? (double)p->timer.record[g].nanos * 1e-9
                           : *seconds;
        *cycles = as_kernel_timer_longest(&p->timer, p->workgroups, 1);
        if (*cycles > 0)
            return AS_OK;
    }
    return as_fail(
        err, AS_UNSUPPORTED,
        "workgroups are not distributed evenly over the compute units; let this process use the whole device");
}

enum as_status as_peak_measure(struct as_peak *p, uint32_t turns, struct as_peak_time *out, struct as_error *err)
{
    const struct as_matrix *m = p->desc.matrix;
    double half = 0, whole = 0, half_s = 0, whole_s = 0, hz = NAN;
    const double *const first = p->no_cycles ? &half_s : &half, *const second = p->no_cycles ? &whole_s : &whole;
    for (int i = 0; i < PAIR_TRIES && *second <= *first; i++) {
        enum as_status st = as_peak_launch(p, AS_PEAK_HALF, turns, &half, &half_s, err);
        if (!st)
            st = as_peak_launch(p, AS_PEAK_LONG, turns, &whole, &whole_s, err);
        if (st)
            return st;
        if (p->no_cycles && *second <= *first && i + 1 < PAIR_TRIES && turns < UINT32_MAX / 4)
            turns *= 2;
    }
    if (*second <= *first)
        return as_fail(err, AS_UNSUPPORTED, "%u turns of %u steps take no longer than those of half of them", turns,
                       p->body.steps);
    if (p->tick) {
        enum as_status st = as_tick_measure(p->tick, half_s + whole_s, &hz, err);
        if (st)
            return st;
    }
    const struct as_device_info *info = &p->timer.dev->info;
    const double steps = (double)turns * p->body.steps, units = info->compute_units ? info->compute_units : 1;
    double operations = 2.0 * m->m * p->desc.n * m->k * p->body.chains * (double)p->teams;
    *out = (struct as_peak_time){.seconds = half_s + whole_s,
                                 .cycles = (p->no_cycles ? (whole_s - half_s) * hz : whole - half) / (steps / 2),
                                 .operations = p->no_cycles ? operations * (double)p->workgroups / units : operations,
                                 .clock_hz = p->no_cycles ? hz : as_kernel_timer_clock(&p->timer),
                                 .rate = operations * (double)p->workgroups * steps / whole_s};
    return AS_OK;
}
