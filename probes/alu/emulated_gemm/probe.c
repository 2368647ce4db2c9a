/* emulated_gemm: f64 GEMM by f64 arithmetic and by integer products of slices, rate and error. See method.md. */
#include "dot.h"

#include "lib/kernel_timer/kernel_timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

extern const char as_kernel_emulated_gemm[];

static const char *const op_words[] = {"f64", "s8_slices", NULL};
static const char *const input_words[] = {"random", "wide", "cancel", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("op", op_words, "all", "f64: native arithmetic; s8_slices: integer products of slices of 7 bits"),
    AS_COUNT_AXIS("slices", 0, 9, "0", "slices per number, 2 to 9; f64: 0"),
    AS_WORD_AXIS("input", input_words, "random",
                 "random: between -1 and 1; wide: with exponents from -60 to 60; cancel: sums far below their terms"),
    AS_COUNT_AXIS("size", 16, 2048, "256", "rows and columns of all three matrices"),
    {0},
};
static const char *const quick[] = {"op=f64 slices=0 input=random", "op=s8_slices slices=8 input=random", NULL};
static const char *const full[] = {"op=f64 slices=0 input=all", "op=s8_slices slices=4,6,8,9 input=all", NULL};

enum { GROUP_THREADS = 128, CHECKED = 256 /* results */ };
struct state {
    struct as_kernel_timer timer;
    unsigned slices, size;
    struct as_kernel *split_kernel, *multiply;
    struct as_memory *a, *b, *d, *split[2], *scales[2];
    double *left, *right; /* of the host */
    double bits;          /* correct ones, of the worst result */
    char why[160];        /* "" if all results are within the bound */
};

static enum as_applies emulated_gemm_applies(const struct as_device_info *info, const struct as_axes *a,
                                             struct as_error *err)
{
    const bool sliced = as_word_is(a, "op", "s8_slices");
    const unsigned slices = (unsigned)as_axes_u64(a, "slices");
    if (sliced != (slices > 0))
        return AS_PRUNED;
    if (!(info->capabilities & AS_CAP_FP64))
        return as_inapplicable(err, "kernels of this device have no f64");
    if (slices == 1)
        return as_pruned(err, "at least two slices are needed");
    if (as_axes_u64(a, "size") % 4)
        return as_inapplicable(err, "the size is not a multiple of 4");
    return AS_APPLIES;
}

/* Pairs of a row that cancel: each second product is the first one's negative, but for its last bits. */
static double emulated_gemm_draw(struct as_rng *rng, const char *input, size_t at, double before)
{
    const double x = 2 * as_rng_double(rng) - 1;
    if (input[0] == 'w')
        return ldexp(x, (int)as_rng_below(rng, 121) - 60);
    return input[0] == 'c' && at % 2 ? -before * (1 + ldexp(x, -40)) : x;
}

static enum as_status emulated_gemm_fill(struct state *s, const struct as_axes *a, uint64_t seed, struct as_error *err)
{
    struct as_device *dev = s->timer.dev;
    const char *input = as_axes_text(a, "input");
    const size_t n = (size_t)s->size * s->size, bytes = n * sizeof(double);
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    s->left = malloc(bytes);
    s->right = malloc(bytes);
    if (!s->left || !s->right)
        return as_nomem(err, bytes, "operands");
    for (size_t i = 0; i < n; i++) {
        s->left[i] = emulated_gemm_draw(&rng, input, i, i ? s->left[i - 1] : 0);
        /* with equal neighbours products of one row cancel where the other one's do */
        s->right[i] = input[0] == 'c' && i % 2 ? s->right[i - 1] : emulated_gemm_draw(&rng, input, 0, 0);
    }
    enum as_status st = dev->memory->write(dev, s->a, 0, s->left, bytes, err);
    return st ? st : dev->memory->write(dev, s->b, 0, s->right, bytes, err);
}

static enum as_status emulated_gemm_allocate(struct state *s, struct as_error *err)
{
    const size_t n = (size_t)s->size * s->size;
    struct as_memory **const blocks[] = {&s->a, &s->b, &s->d, &s->split[0], &s->split[1], &s->scales[0], &s->scales[1]};
    const size_t slices = s->slices ? n * s->slices : sizeof(double), row = s->size * sizeof(double);
    const size_t bytes[] = {n * sizeof(double), n * sizeof(double), n * sizeof(double), slices, slices, row, row};
    enum as_status st = AS_OK;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks && !st; i++)
        st = as_kernel_timer_keep_memory(&s->timer, bytes[i], blocks[i], err);
    return st;
}

static size_t emulated_gemm_groups(uint64_t threads)
{
    return (size_t)((threads + GROUP_THREADS - 1) / GROUP_THREADS);
}

/* One GEMM: with slices, both splits and the products. */
static enum as_status emulated_gemm_once(struct state *s, double *seconds, struct as_error *err)
{
    const uint64_t n = s->size;
    struct as_memory *const in[] = {s->a, s->b};
    enum as_status st = AS_OK;
    double part;
    *seconds = 0;
    for (size_t i = 0; i < 2 && s->slices && !st; i++) {
        const struct as_arg args[] = {as_memory_arg(s->split[i]), as_memory_arg(s->scales[i]), as_memory_arg(in[i]),
                                      as_u32_arg(n), as_u32_arg(n)};
        const struct as_launch l = as_launch_of(s->split_kernel, args, 5, emulated_gemm_groups(n), GROUP_THREADS);
        st = as_kernel_timer_launch(&s->timer, &l, &part, err);
        *seconds += st ? 0 : part;
    }
    const struct as_arg native[] = {as_memory_arg(s->d), as_memory_arg(s->a), as_memory_arg(s->b),
                                    as_u32_arg(n),       as_u32_arg(n),       as_u32_arg(n)};
    const struct as_arg sliced[] = {as_memory_arg(s->d),
                                    as_memory_arg(s->split[0]),
                                    as_memory_arg(s->scales[0]),
                                    as_memory_arg(s->split[1]),
                                    as_memory_arg(s->scales[1]),
                                    as_u32_arg(n),
                                    as_u32_arg(n),
                                    as_u32_arg(n)};
    if (st)
        return st;
    const struct as_launch l = as_launch_of(s->multiply, s->slices ? sliced : native, s->slices ? 8 : 6,
                                            emulated_gemm_groups(n * n), GROUP_THREADS);
    st = as_kernel_timer_launch(&s->timer, &l, &part, err);
    *seconds += st ? 0 : part;
    return st;
}

static enum as_status emulated_gemm_build(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    char head[40];
    snprintf(head, sizeof head, "#define SLICES %u\n", s->slices ? s->slices : 1);
    enum as_status st =
        as_kernel_timer_prepare(&s->timer, tc->dev, "emulated_gemm", head, as_kernel_emulated_gemm, NULL, 1, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&s->timer, "split", &s->split_kernel, err);
    return st ? st : as_kernel_timer_keep_kernel(&s->timer, s->slices ? "sliced" : "native", &s->multiply, err);
}

/* Results all over d against exact dot products. */
static enum as_status emulated_gemm_compare(struct state *s, uint64_t seed, struct as_error *err)
{
    const size_t n = s->size;
    double *row = malloc(n * sizeof *row), worst = 0;
    enum as_status st = row ? AS_OK : as_nomem(err, n * sizeof *row, "a row");
    struct as_rng rng;
    as_rng_seed(&rng, seed + 1);
    for (int i = 0; i < CHECKED && !st; i++) {
        const size_t r = as_rng_below(&rng, n), c = as_rng_below(&rng, n);
        st = s->timer.dev->memory->read(s->timer.dev, s->d, r * n * sizeof *row, row, n * sizeof *row, err);
        if (st)
            break;
        const struct as_dot d = as_dot_error(s->left + r * n, s->right + c * n, n, row[c]);
        const double bound = as_dot_bound(&d, n, s->slices);
        if (!(d.error <= bound) && !s->why[0])
            snprintf(s->why, sizeof s->why, "row %zu, column %zu is wrong by %.3g, more than the bound of %.3g", r, c,
                     d.error, bound);
        worst = fmax(worst, d.size > 0 ? d.error / d.size : 0);
    }
    free(row);
    s->bits = -log2(fmax(worst, 0x1p-60));
    return st;
}

static enum as_status emulated_gemm_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    double seconds;
    s->slices = (unsigned)as_axes_u64(tc->axes, "slices");
    s->size = (unsigned)as_axes_u64(tc->axes, "size");
    tc->min_reps = tc->max_reps = 1;
    tc->footprint = 3 * (uint64_t)s->size * s->size * sizeof(double);
    enum as_status st = emulated_gemm_build(s, tc, err);
    if (!st)
        st = emulated_gemm_allocate(s, err);
    if (!st)
        st = emulated_gemm_fill(s, tc->axes, tc->seed, err);
    if (!st)
        st = emulated_gemm_once(s, &seconds, err);
    if (!st)
        st = emulated_gemm_compare(s, tc->seed, err);
    if (!st)
        as_note_number(tc, "accuracy", s->bits);
    return st;
}

static enum as_status emulated_gemm_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    const double n = s->size;
    (void)reps;
    const enum as_status st = emulated_gemm_once(s, &out->seconds, err);
    out->value = 2 * n * n * n / out->seconds;
    out->clock_hz = NAN;
    return st;
}

static bool emulated_gemm_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    snprintf(why, why_size, "%s", s->why[0] ? s->why : "results are within the bound of exact dot products");
    return !s->why[0];
}

static void emulated_gemm_finish(void *state)
{
    struct state *s = state;
    as_kernel_timer_finish(&s->timer);
    free(s->left);
    free(s->right);
}

static const struct as_metric further[] = {
    {"accuracy", "bits", false,
     "correct bits: -log2 of the largest error relative to the sum of the products' magnitudes", NULL},
    {0}};

const struct as_probe as_probe_emulated_gemm = {
    .name = "emulated_gemm",
    .title = "f64 GEMM from 8-bit integers",
    .question = "What does f64 GEMM from integer products cost, and how accurate is it?",
    .metric = "rate",
    .unit = "FLOP/s",
    .counts = "2 x size x size x size operations per second, whatever the slices take",
    .further = further,
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, quick, full, emulated_gemm_applies),
    .patience_s = 30, /* the driver compiles the kernels first */
    AS_TRIAL(struct state, emulated_gemm_prepare, emulated_gemm_sample, emulated_gemm_check, emulated_gemm_finish),
};
