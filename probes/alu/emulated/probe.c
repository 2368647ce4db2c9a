/* emulated: rate and accuracy of arithmetic made of narrower operations. See method.md. */
#include "arithmetic.h"

#include "lib/kernel_timer/kernel_timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

extern const char as_kernel_emulated[];

static const char *const op_words[] = {"f32_add",         "f32_mul",  "f64_add",        "f64_mul",
                                       "f32_fma",         "f64_fma",  "fp59_fma",       "e8m48_add",
                                       "e8m48_mul",       "fp59_add", "fp59_mul",       "i64_add",
                                       "i64_mul",         "i64_wide", "i64_add_pieces", "i64_mul_pieces",
                                       "i64_wide_pieces", "i128_add", "i128_mul",       "i128_add_pieces",
                                       "i128_mul_pieces", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS(
        "op", op_words, "e8m48_add,e8m48_mul",
        "e8m48: two f32 (double-float); fp59: 1 + 11 + 48 bits by integers; pieces: of 32 bits; wide: 64 x 64 = 128 "
        "bits; f32, f64 and i64 as the language has them"),
    {0},
};
static const char *const quick[] = {"op=all", NULL};

enum {
    GROUP_THREADS = 256,
    GROUPS_PER_UNIT = 8,
    CLASSES = 4,       /* of threads, which begin with different numbers */
    CLASS_NUMBERS = 8, /* as in the kernel */
    PASS_OPERATIONS = 16,
    PAIRS = 1 << 14, /* compared with exact arithmetic */
    TURNS_MAX = 1 << 20
};

static const struct as_emulated *emulated_of(const struct as_axes *a)
{
    return as_emulated_find(as_axes_text(a, "op"));
}

static enum as_applies emulated_applies(const struct as_device_info *info, const struct as_axes *a,
                                        struct as_error *err)
{
    const struct as_emulated *op = emulated_of(a);
    if (!op)
        return AS_PRUNED;
    if (op->format == AS_EMULATED_F64 && !(info->capabilities & AS_CAP_FP64))
        return as_inapplicable(err, "kernels of this device have no f64");
    return AS_APPLIES;
}

struct state {
    struct as_kernel_timer timer;
    const struct as_emulated *op;
    struct as_kernel *chains;
    struct as_memory *start, *digests;
    struct as_emulated_number first[CLASSES * CLASS_NUMBERS];
    size_t workgroups;
    uint64_t *digest; /* of the host */
    double worst;     /* relative error */
    int wrong;
};

static size_t emulated_threads(const struct state *s)
{
    return s->workgroups * GROUP_THREADS;
}

/* The kernel's results of many pairs, against exact arithmetic. */
static enum as_status emulated_compare(struct state *s, uint64_t seed, struct as_error *err)
{
    struct as_device *dev = s->timer.dev;
    struct as_memory *in = NULL, *out = NULL;
    struct as_rng rng;
    struct as_emulated_number *operands = malloc(4 * PAIRS * sizeof *operands),
                              *result = operands ? operands + 3 * PAIRS : NULL;
    enum as_status st = operands ? AS_OK : as_nomem(err, 4 * PAIRS * sizeof *operands, "operands");
    as_rng_seed(&rng, seed);
    for (size_t i = 0; i < PAIRS && !st; i++)
        as_emulated_operands(s->op, &rng, i, &operands[3 * i]);
    if (!st)
        st = as_kernel_timer_keep_memory(&s->timer, 3 * PAIRS * sizeof *operands, &in, err);
    if (!st)
        st = as_kernel_timer_keep_memory(&s->timer, PAIRS * sizeof *operands, &out, err);
    if (!st)
        st = dev->memory->write(dev, in, 0, operands, 3 * PAIRS * sizeof *operands, err);
    const struct as_arg args[] = {as_memory_arg(out), as_memory_arg(in), as_u32_arg(PAIRS)};
    if (!st)
        st = as_kernel_timer_once(&s->timer, "results", args, 3, PAIRS / GROUP_THREADS, GROUP_THREADS, err);
    if (!st)
        st = dev->memory->read(dev, out, 0, result, PAIRS * sizeof *operands, err);
    for (size_t i = 0; i < PAIRS && !st; i++)
        s->worst = fmax(s->worst, as_emulated_error(s->op, &operands[3 * i], result[i]));
    free(operands);
    return st;
}

static enum as_status emulated_build(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    const struct as_emulated *op = s->op;
    char head[160];
    snprintf(head, sizeof head, "#define IN_%s\n#define OP(a, b, c) %s\n#define CLASSES %d\n#define PASSES %u\n%s",
             op->number, op->call, (int)CLASSES, op->passes,
             op->format == AS_EMULATED_INTEGER ? "#define WEAVES\n" : "");
    enum as_status st = as_kernel_timer_prepare(&s->timer, tc->dev, "emulated", head, as_kernel_emulated, NULL, 1, err);
    return st ? st : as_kernel_timer_keep_kernel(&s->timer, "chains", &s->chains, err);
}

static enum as_status emulated_allocate(struct state *s, uint64_t seed, struct as_error *err)
{
    struct as_device *dev = s->timer.dev;
    const size_t bytes = emulated_threads(s) * sizeof *s->digest;
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    for (size_t i = 0; i < CLASSES; i++)
        as_emulated_start(s->op, &rng, &s->first[i * CLASS_NUMBERS]);
    s->digest = calloc(emulated_threads(s), sizeof *s->digest);
    enum as_status st = s->digest ? AS_OK : as_nomem(err, bytes, "results");
    if (!st)
        st = as_kernel_timer_keep_memory(&s->timer, sizeof s->first, &s->start, err);
    if (!st)
        st = as_kernel_timer_keep_memory(&s->timer, bytes, &s->digests, err);
    return st ? st : dev->memory->write(dev, s->start, 0, s->first, sizeof s->first, err);
}

static enum as_status emulated_launch(struct state *s, uint64_t turns, double *seconds, struct as_error *err)
{
    const struct as_arg args[] = {as_memory_arg(s->digests), as_memory_arg(s->start), as_u32_arg(turns)};
    const struct as_launch l = as_launch_of(s->chains, args, 3, s->workgroups, GROUP_THREADS);
    return as_kernel_timer_launch(&s->timer, &l, seconds, err);
}

static enum as_status emulated_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    const unsigned units = tc->dev->info.compute_units;
    s->op = emulated_of(tc->axes);
    s->workgroups = (units ? units : 1) * (size_t)GROUPS_PER_UNIT;
    tc->max_reps = TURNS_MAX;
    tc->sample_s = 1e-2;
    tc->footprint = emulated_threads(s) * sizeof *s->digest;
    enum as_status st = emulated_build(s, tc, err);
    if (!st)
        st = emulated_allocate(s, tc->seed, err);
    if (!st)
        st = emulated_compare(s, tc->seed, err);
    const struct as_arg args[] = {as_memory_arg(s->digests), as_memory_arg(s->start), as_u32_arg(0)};
    const struct as_launch nothing = as_launch_of(s->chains, args, 3, s->workgroups, GROUP_THREADS);
    if (!st)
        st = as_kernel_timer_overhead(&s->timer, &nothing, err);
    if (!st && s->op->bound > 0 && s->worst > 0)
        as_note_number(tc, "accuracy", -log2(s->worst));
    return st;
}

static enum as_status emulated_judge(struct state *s, uint64_t turns, struct as_error *err)
{
    struct as_device *dev = s->timer.dev;
    enum as_status st = dev->memory->read(dev, s->digests, 0, s->digest, emulated_threads(s) * sizeof *s->digest, err);
    for (size_t i = 0; i < CLASSES && !st; i++) {
        const uint64_t want = as_emulated_chains(s->op, &s->first[i * CLASS_NUMBERS], turns);
        for (size_t k = i; k < emulated_threads(s); k += CLASSES)
            s->wrong |= s->digest[k] != want;
    }
    return st;
}

static enum as_status emulated_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    enum as_status st = emulated_launch(s, reps, &out->seconds, err);
    if (!st)
        st = emulated_judge(s, reps, err);
    const double seconds = out->seconds > s->timer.overhead_s ? out->seconds - s->timer.overhead_s : out->seconds;
    out->clock_hz = NAN;
    out->value = (double)reps * PASS_OPERATIONS * s->op->passes * (double)emulated_threads(s) / seconds;
    return st;
}

static bool emulated_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    if (s->worst > s->op->bound && s->op->bound > 0)
        snprintf(why, why_size, "a relative error of 2^%.2f exceeds the bound, 2^%.2f", log2(s->worst),
                 log2(s->op->bound));
    else if (s->worst > s->op->bound)
        snprintf(why, why_size, "a result is not the exact one");
    else
        snprintf(why, why_size, "%s",
                 s->wrong ? "the chains end with other numbers than the host's"
                          : "results are within the bound of exact arithmetic, and chains end as the host's");
    return !s->wrong && s->worst <= s->op->bound;
}

static void emulated_finish(void *state)
{
    struct state *s = state;
    as_kernel_timer_finish(&s->timer);
    free(s->digest);
}

static const struct as_metric further[] = {
    {"accuracy", "bits", false,
     "bits that are right: the largest relative error of the pairs compared, as a power of 2", NULL},
    {0}};

const struct as_probe as_probe_emulated = {
    .name = "emulated",
    .title = "Emulated arithmetic",
    .question = "What does arithmetic made of narrower operations cost, and how accurate is it?",
    .metric = "rate",
    .unit = "OP/s",
    .counts =
        "operations of that format per second on the whole device, each an addition, multiplication or multiply-add",
    .further = further,
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, quick, quick, emulated_applies),
    .patience_s = 30, /* the driver compiles the kernels first */
    AS_TRIAL(struct state, emulated_prepare, emulated_sample, emulated_check, emulated_finish),
};
