/* emulated_gemm: f64 GEMM by f64 arithmetic and by integer products of slices, rate and error. See method.md. */
#include "dot.h"
#include "products.h"

#include "lib/kernel_timer/kernel_timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_emulated_gemm[];

static const char *const op_words[] = {"f64", "s8_slices", "f64_gemm", "s8_gemm", NULL};
static const char *const input_words[] = {"random", "wide", "cancel", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("op", op_words, "all",
                 "f64: native arithmetic; s8_slices: integer products of slices of 7 bits, both by plain kernels; "
                 "f64_gemm, s8_gemm: the same by the device's best GEMM path for f64 and s8"),
    AS_COUNT_AXIS("slices", 0, AS_SLICES_MAX, "0", "slices per number, 2 to 9; f64: 0"),
    AS_WORD_AXIS("input", input_words, "random",
                 "random: between -1 and 1; wide: with exponents from -60 to 60; cancel: sums far below their terms"),
    AS_COUNT_AXIS("size", 16, 4096, "256", "rows and columns of all three matrices"),
    {0},
};
static const char *const quick[] = {"op=f64 slices=0 input=random", "op=s8_slices slices=8 input=random",
                                    "op=f64_gemm slices=0 input=random size=256,2048",
                                    "op=s8_gemm slices=8 input=random size=256,2048", NULL};
static const char *const full[] = {"op=f64 slices=0 input=all", "op=s8_slices slices=4,6,8,9 input=all",
                                   "op=f64_gemm slices=0 input=all size=256,2048,4096",
                                   "op=s8_gemm slices=4,6,8,9 input=all size=256,2048,4096", NULL};

enum { GROUP_THREADS = 128, CHECKED = 256 /* results */, LARGEST_CORES = 512 };
struct state {
    struct as_kernel_timer timer;
    unsigned slices, size;
    bool by_path;
    struct as_products products;
    struct as_kernel *scale, *slice, *multiply;
    struct as_memory *a, *b, *d, *scales[2];
    struct as_memory *part[2][AS_SLICES_MAX],
        *sum[AS_SLICES_MAX]; /* of each product; one part each for plain kernels */
    double *left, *right;    /* of the host */
    double bits;             /* correct ones, of the worst result */
    char why[160];           /* "" if all results are within the bound */
};

static bool emulated_gemm_by_path(const struct as_axes *a)
{
    return strstr(as_axes_text(a, "op"), "_gemm") != NULL;
}

/* Both operands, the result and scales; of each product its slices, and by a GEMM path its sums. */
static uint64_t emulated_gemm_bytes(const struct as_axes *a, uint64_t *largest)
{
    const uint64_t size = as_axes_u64(a, "size"), n = size * size, slices = as_axes_u64(a, "slices");
    const bool by_path = emulated_gemm_by_path(a);
    uint64_t bytes = (3 * n + 2 * size) * sizeof(double);
    for (uint64_t t = by_path || !slices ? 0 : slices - 1; t < slices; t++)
        bytes += 2 * n * (t + 1) + (by_path ? n * sizeof(int32_t) : 0);
    *largest = n * (slices > sizeof(double) ? slices : sizeof(double));
    return bytes;
}

static enum as_applies emulated_gemm_applies(const struct as_device_info *info, const struct as_axes *a,
                                             struct as_error *err)
{
    const bool sliced = as_axes_text(a, "op")[0] == 's';
    const unsigned slices = (unsigned)as_axes_u64(a, "slices");
    if (sliced != (slices > 0))
        return AS_PRUNED;
    if (!(info->capabilities & AS_CAP_FP64))
        return as_inapplicable(err, "kernels of this device have no f64");
    if (slices == 1)
        return as_pruned(err, "at least two slices are needed");
    if (as_axes_u64(a, "size") % 4)
        return as_inapplicable(err, "the size is not a multiple of 4");
    if (as_runs_on_host(info) && as_axes_u64(a, "size") > LARGEST_CORES)
        return as_inapplicable(err, "a CPU would take many seconds for one GEMM of this size from slices");
    uint64_t largest;
    const uint64_t bytes = emulated_gemm_bytes(a, &largest);
    if (as_check_fits(info, bytes, largest, err))
        return AS_INAPPLICABLE;
    return emulated_gemm_by_path(a) ? as_products_apply(info, as_axes_u64(a, "size"), slices, err) : AS_APPLIES;
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

/* Operands of the products: f64, or slices concatenated along K, t + 1 of the t-th product; for plain kernels all of
 * them.
 */
static enum as_status emulated_gemm_allocate(struct state *s, struct as_error *err)
{
    const size_t n = (size_t)s->size * s->size;
    struct as_memory **const blocks[] = {&s->a, &s->b, &s->d, &s->scales[0], &s->scales[1]};
    const size_t row = s->size * sizeof(double), all = n * sizeof(double), bytes[] = {all, all, all, row, row};
    enum as_status st = AS_OK;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks && !st; i++)
        st = as_kernel_timer_keep_memory(&s->timer, bytes[i], blocks[i], err);
    for (unsigned t = 0; t < s->slices && !st; t++) {
        if (!s->by_path && t + 1 < s->slices)
            continue;
        for (size_t i = 0; i < 2 && !st; i++)
            st = as_kernel_timer_keep_memory(&s->timer, n * (t + 1), &s->part[i][t], err);
        if (!st && s->by_path)
            st = as_kernel_timer_keep_memory(&s->timer, n * sizeof(int32_t), &s->sum[t], err);
    }
    if (st || !s->by_path)
        return st;
    if (s->slices)
        return as_products_prepare(&s->products, s->timer.dev, s->size, s->slices, s->part[0], s->part[1], s->sum, err);
    return as_products_prepare(&s->products, s->timer.dev, s->size, 0, &s->a, &s->b, &s->d, err);
}

static size_t emulated_gemm_groups(uint64_t threads)
{
    return (size_t)((threads + GROUP_THREADS - 1) / GROUP_THREADS);
}

/* Adds the launch's time. */
static enum as_status emulated_gemm_launch(struct state *s, struct as_kernel *kernel, const struct as_arg *args,
                                           size_t args_n, size_t workgroups, double *seconds, struct as_error *err)
{
    const struct as_launch l = as_launch_of(kernel, args, args_n, workgroups, GROUP_THREADS);
    double part;
    const enum as_status st = as_kernel_timer_launch(&s->timer, &l, &part, err);
    *seconds += st ? 0 : part;
    return st;
}

/* Scales and slices of one operand, the second one's last slice first where products are of concatenated slices. */
static enum as_status emulated_gemm_split(struct state *s, size_t which, double *seconds, struct as_error *err)
{
    const uint64_t n = s->size;
    const struct as_arg of_rows[] = {as_memory_arg(s->scales[which]), as_memory_arg(which ? s->b : s->a),
                                     as_u32_arg(n)};
    enum as_status st = emulated_gemm_launch(s, s->scale, of_rows, 3, n, seconds, err);
    for (unsigned t = 0; t < s->slices && !st; t++) {
        if (!s->part[which][t])
            continue;
        const struct as_arg args[] = {as_memory_arg(s->part[which][t]),
                                      as_memory_arg(s->scales[which]),
                                      as_memory_arg(which ? s->b : s->a),
                                      as_u32_arg(n),
                                      as_u32_arg(n),
                                      as_u32_arg(t + 1),
                                      as_u32_arg(which && s->by_path)};
        st = emulated_gemm_launch(s, s->slice, args, 7, emulated_gemm_groups(n * n / 4), seconds, err);
    }
    return st;
}

/* By the GEMM path: all products, and the sum of what slices give. */
static enum as_status emulated_gemm_products(struct state *s, double *seconds, struct as_error *err)
{
    struct as_arg args[3 + AS_SLICES_MAX + 2] = {as_memory_arg(s->d), as_memory_arg(s->scales[0]),
                                                 as_memory_arg(s->scales[1])};
    double products;
    enum as_status st = as_products_run(&s->products, &products, err);
    *seconds += st ? 0 : products;
    if (st || !s->slices)
        return st;
    for (unsigned t = 0; t < AS_SLICES_MAX; t++)
        args[3 + t] = as_memory_arg(s->sum[t < s->slices ? t : 0]);
    args[3 + AS_SLICES_MAX] = args[4 + AS_SLICES_MAX] = as_u32_arg(s->size);
    return emulated_gemm_launch(s, s->multiply, args, sizeof args / sizeof *args,
                                emulated_gemm_groups((uint64_t)s->size * s->size), seconds, err);
}

/* One GEMM: with slices, both splits and the products. */
static enum as_status emulated_gemm_once(struct state *s, double *seconds, struct as_error *err)
{
    const uint64_t n = s->size;
    enum as_status st = AS_OK;
    *seconds = 0;
    for (size_t i = 0; i < 2 && s->slices && !st; i++)
        st = emulated_gemm_split(s, i, seconds, err);
    if (st)
        return st;
    if (s->by_path)
        return emulated_gemm_products(s, seconds, err);
    const unsigned last = s->slices ? s->slices - 1 : 0;
    const struct as_arg native[] = {as_memory_arg(s->d), as_memory_arg(s->a), as_memory_arg(s->b),
                                    as_u32_arg(n),       as_u32_arg(n),       as_u32_arg(n)};
    const struct as_arg sliced[] = {as_memory_arg(s->d),
                                    as_memory_arg(s->part[0][last]),
                                    as_memory_arg(s->scales[0]),
                                    as_memory_arg(s->part[1][last]),
                                    as_memory_arg(s->scales[1]),
                                    as_u32_arg(n),
                                    as_u32_arg(n),
                                    as_u32_arg(n)};
    return emulated_gemm_launch(s, s->multiply, s->slices ? sliced : native, s->slices ? 8 : 6,
                                emulated_gemm_groups(n * n), seconds, err);
}

static enum as_status emulated_gemm_build(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    char head[64];
    snprintf(head, sizeof head, "#define SLICES %u\n#define GROUP_THREADS %d\n", s->slices ? s->slices : 1,
             (int)GROUP_THREADS);
    enum as_status st =
        as_kernel_timer_prepare(&s->timer, tc->dev, "emulated_gemm", head, as_kernel_emulated_gemm, NULL, 1, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&s->timer, "scales", &s->scale, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&s->timer, "slices", &s->slice, err);
    const char *multiply = !s->slices ? "native" : s->by_path ? "join" : "sliced";
    return st ? st : as_kernel_timer_keep_kernel(&s->timer, multiply, &s->multiply, err);
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
    s->by_path = emulated_gemm_by_path(tc->axes);
    tc->min_reps = tc->max_reps = 1;
    uint64_t largest;
    tc->footprint = emulated_gemm_bytes(tc->axes, &largest);
    enum as_status st = as_check_room(tc->dev, tc->footprint, largest, err);
    if (!st)
        st = emulated_gemm_build(s, tc, err);
    if (!st)
        st = emulated_gemm_allocate(s, err);
    if (!st)
        st = emulated_gemm_fill(s, tc->axes, tc->seed, err);
    if (!st)
        st = emulated_gemm_once(s, &seconds, err);
    if (!st)
        st = emulated_gemm_compare(s, tc->seed, err);
    if (st)
        return st;
    as_note_number(tc, "accuracy", s->bits);
    if (s->by_path) {
        as_note(tc, "path", as_gemm_path_words[s->products.gemm[0].desc.path]);
        as_gemm_note(&s->products.gemm[s->products.n - 1], tc);
        as_gemm_expect(&s->products.gemm[s->products.n - 1], tc);
    }
    return AS_OK;
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
    as_products_finish(&s->products);
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
    .patience_s = 60, /* the driver compiles the kernels first, and loads a library */
    AS_TRIAL(struct state, emulated_gemm_prepare, emulated_gemm_sample, emulated_gemm_check, emulated_gemm_finish),
};
