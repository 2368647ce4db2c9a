/* Operands and kernels of each attention path. */
#include "attention.h"

#include "device/dialect/dialect.h"
#include "lib/kernel_timer/kernel_timer.h"

#include <stdlib.h>
#include <string.h>

extern const char as_kernel_gemm_simple[], as_kernel_attention[];

const char *const as_attention_path_words[] = {"decomposed",  "scalar",      "flash", "split",
                                               "flash_wgmma", "split_wgmma", NULL};

enum { SCALAR_ROWS = 16, LENGTHS = 128 /* lengths are multiples of this */, BYTES = 2 };
/* Attention with more FLOP takes many seconds on CPU cores. */
static const double SLOW_CORES = 4e9;

double as_attention_flop(const struct as_attention_desc *d)
{
    return 4.0 * (double)d->length * (double)d->length * AS_ATTENTION_WIDE * (double)d->heads;
}

static uint64_t attention_numbers(const struct as_attention_desc *d)
{
    return d->heads * d->length * AS_ATTENTION_WIDE;
}

static enum as_gemm_path gemm_path(const struct as_device_info *info)
{
    struct as_error unused;
    const struct as_gemm_desc d = {.path = AS_GEMM_MMA, .type = AS_GEMM_F16, .m = 128, .n = 128, .k = 128, .batch = 2};
    return as_gemm_applies(info, &d, &unused) == AS_APPLIES ? AS_GEMM_MMA : AS_GEMM_TILED;
}

enum as_applies as_attention_applies(const struct as_device_info *info, const struct as_attention_desc *d,
                                     struct as_error *err)
{
    if (d->path >= AS_ATTENTION_PATHS)
        return AS_PRUNED;
    if (d->length % LENGTHS || attention_numbers(d) > UINT32_MAX / 2)
        as_fail(err, AS_UNSUPPORTED, "lengths are multiples of %d, up to 2^31 elements in all", (int)LENGTHS);
    else if (as_runs_on_host(info) && as_attention_flop(d) > SLOW_CORES)
        as_fail(err, AS_UNSUPPORTED, "this would take many seconds on the host's cores");
    else
        return d->path < AS_ATTENTION_FLASH ? AS_APPLIES : as_attention_flash_applies(info, d, err);
    return AS_INAPPLICABLE;
}

/* ---- operands ---- */

static enum as_status attention_write_table(struct as_attention *a, struct as_memory *table, double factor,
                                            struct as_error *err)
{
    const struct as_number_format *f = as_number_format("f16");
    uint16_t codes[AS_GEMM_DRAWN];
    for (size_t i = 0; i < AS_GEMM_DRAWN; i++)
        codes[i] = (uint16_t)as_number_nearest(f, factor * a->drawn[i]);
    return a->dev->memory->write(a->dev, table, 0, codes, sizeof codes, err);
}

static enum as_status make_operands(struct as_attention *a, struct as_error *err)
{
    const uint64_t n = attention_numbers(&a->desc);
    struct as_gemm draw = {.desc = {.type = AS_GEMM_F16, .seed = a->desc.seed}};
    struct as_memory *table = NULL;
    struct as_memory **const all[] = {&a->q, &a->k, &a->v, &a->out};
    as_gemm_draw(&draw);
    memcpy(a->drawn, draw.drawn, sizeof a->drawn);
    enum as_status st = as_check_room(a->dev, 4 * n * BYTES, n * BYTES, err);
    for (size_t i = 0; i < sizeof all / sizeof *all && !st; i++)
        st = as_buffers_keep_memory(&a->own, NULL, n * BYTES, all[i], err);
    if (!st)
        st = as_buffers_keep_memory(&a->own, NULL, AS_GEMM_DRAWN * BYTES, &table, err);
    if (!st)
        st = attention_write_table(a, table, 4, err);
    if (!st)
        st = as_gemm_fill(a->dev, a->program, a->q, table, n, AS_SEED_A, err);
    if (!st)
        st = attention_write_table(a, table, 1, err);
    if (!st)
        st = as_gemm_fill(a->dev, a->program, a->k, table, n, AS_SEED_B, err);
    if (!st)
        st = as_gemm_fill(a->dev, a->program, a->v, table, n, AS_SEED_BIAS, err);
    draw.dev = a->dev, draw.d = a->out;
    return st ? st : as_gemm_spoil(&draw, err);
}

/* ---- launches ---- */

enum as_status as_attention_launch(struct as_attention *a, struct as_program *program, const char *name,
                                   const struct as_arg *args, size_t n, size_t workgroups, size_t workgroup_size,
                                   struct as_error *err)
{
    const size_t i = a->launches_n;
    enum as_status st = as_buffers_keep_kernel(&a->own, program, name, &a->kernels[i], err);
    if (st)
        return st;
    memcpy(a->args[i], args, n * sizeof *args);
    a->launches[i] = (struct as_launch){.kernel = a->kernels[i],
                                        .args = a->args[i],
                                        .args_n = n,
                                        .workgroups = workgroups,
                                        .workgroup_size = workgroup_size};
    a->launches_n++;
    return AS_OK;
}

static enum as_status prepare_scalar(struct as_attention *a, struct as_error *err)
{
    const struct as_arg args[] = {as_memory_arg(a->q), as_memory_arg(a->k), as_memory_arg(a->v), as_memory_arg(a->out),
                                  as_u32_arg(a->desc.length)};
    return as_attention_launch(a, a->program, "attention", args, 5, a->desc.heads * a->desc.length / SCALAR_ROWS, 256,
                               err);
}

static enum as_status prepare_decomposed(struct as_attention *a, struct as_error *err)
{
    const struct as_attention_desc *d = &a->desc;
    const uint64_t bytes = d->heads * d->length * d->length * BYTES;
    struct as_gemm_desc p = {.path = gemm_path(&a->dev->info),
                             .type = AS_GEMM_F16,
                             .m = d->length,
                             .n = d->length,
                             .k = AS_ATTENTION_WIDE,
                             .batch = (unsigned)d->heads,
                             .a = a->q,
                             .b = a->k};
    enum as_status st = as_check_room(a->dev, bytes, bytes, err);
    if (!st)
        st = as_buffers_keep_memory(&a->own, NULL, bytes, &a->scores, err);
    p.d = a->scores;
    if (!st)
        st = as_gemm_prepare(&a->score, a->dev, &p, err);
    p.n = AS_ATTENTION_WIDE, p.k = d->length;
    p.a = a->scores, p.b = a->v, p.d = a->out;
    if (!st)
        st = as_gemm_prepare(&a->value, a->dev, &p, err);
    const struct as_arg args[] = {as_memory_arg(a->scores), as_u32_arg(d->length)};
    return st ? st : as_attention_launch(a, a->program, "softmax", args, 2, d->heads * d->length, 256, err);
}

static enum as_status attention_run_build(struct as_attention *a, struct as_error *err)
{
    struct as_buf source = AS_BUF_INIT;
    as_buf_printf(&source, "%s%s", as_kernel_gemm_simple, as_kernel_attention);
    const struct as_program_desc desc = {
        .name = "attention", .source = as_buf_get(&source), .defines = "-DIN_F16 -DEPILOGUE=0"};
    enum as_status st = as_buf_check(&source, err);
    if (!st)
        st = as_buffers_keep_program(&a->own, &desc, &a->program, err);
    as_buf_finish(&source);
    return st;
}

enum as_status as_attention_prepare(struct as_attention *a, struct as_device *dev, const struct as_attention_desc *d,
                                    struct as_error *err)
{
    *a = (struct as_attention){.dev = dev, .own = {.dev = dev}, .desc = *d};
    enum as_status st = attention_run_build(a, err);
    if (!st)
        st = make_operands(a, err);
    return st                               ? st
           : d->path >= AS_ATTENTION_FLASH  ? as_attention_flash_prepare(a, err)
           : d->path == AS_ATTENTION_SCALAR ? prepare_scalar(a, err)
                                            : prepare_decomposed(a, err);
}

static enum as_status add_time(enum as_status st, const struct as_timing *t, double *seconds)
{
    *seconds += st ? 0 : as_timing_seconds(t);
    return st;
}

enum as_status as_attention_run(struct as_attention *a, uint64_t reps, double *seconds, struct as_error *err)
{
    struct as_timing t;
    enum as_status st = AS_OK;
    *seconds = 0;
    if (a->scores)
        st = add_time(as_gemm_run(&a->score, reps, &t, err), &t, seconds);
    for (size_t i = 0; i < a->launches_n && !st; i++) {
        a->launches[i].reps = reps;
        st = add_time(a->dev->queue->launch(a->dev, &a->launches[i], &t, err), &t, seconds);
    }
    if (a->scores && !st)
        st = add_time(as_gemm_run(&a->value, reps, &t, err), &t, seconds);
    return st;
}

void as_attention_finish(void *attention)
{
    struct as_attention *a = attention;
    as_gemm_finish(&a->score);
    as_gemm_finish(&a->value);
    as_buffers_finish(&a->own);
    *a = (struct as_attention){0};
}
