/* Operands that device and host generate alike, and the check of results. */
#include "gemm.h"

#include "base/clock.h"
#include "lib/kernel_timer/kernel_timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Accumulator bits of matrix units: about 14 for 8-bit floats on Hopper (DeepSeek-V3 technical report, 2024, sec.
 * 3.3.2); 22 for others, whose rounding is undocumented. */
const struct as_gemm_format as_gemm_formats[AS_GEMM_TYPES] = {
    [AS_GEMM_F64] = {"f64", "IN_F64", "f64", "f64", "f64", 8, 8, 53, 52, 4},
    [AS_GEMM_F32] = {"f32", "IN_F32", "f32", "f32", "f32", 4, 4, 24, 22, 1},
    [AS_GEMM_TF32] = {"tf32", "IN_TF32", "tf32", "f32", "f32", 4, 4, 24, 22, 4},
    [AS_GEMM_BF16] = {"bf16", "IN_BF16", "bf16", "f32", "bf16", 2, 2, 24, 22, 8},
    [AS_GEMM_F16] = {"f16", "IN_F16", "f16", "f32", "f16", 2, 2, 24, 22, 8},
    [AS_GEMM_E4M3] = {"e4m3", "IN_E4M3", "e4m3", "f32", "f16", 1, 2, 24, 14, 32},
    [AS_GEMM_E5M2] = {"e5m2", "IN_E5M2", "e5m2", "f32", "f16", 1, 2, 24, 14, 32},
    [AS_GEMM_E4M3FNUZ] = {"e4m3fnuz", "IN_E4M3FNUZ", "e4m3fnuz", "f32", "f16", 1, 2, 24, 22, 16},
    [AS_GEMM_E5M2FNUZ] = {"e5m2fnuz", "IN_E5M2FNUZ", "e5m2fnuz", "f32", "f16", 1, 2, 24, 22, 16},
    [AS_GEMM_S8] = {"s8", "IN_S8", "s8", "s32", "s32", 1, 4, 64, 64, 16},
};

uint32_t as_gemm_index(uint64_t place, uint32_t seed)
{
    uint32_t x = (uint32_t)place + seed;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return (x ^ x >> 16) >> 22;
}

/* Between -1 and 1, for 8-bit integers all values, in the format's encoding. */
void as_gemm_draw(struct as_gemm *p)
{
    const struct as_number_format *f = as_number_format(as_gemm_formats[p->desc.type].in);
    const double most = f->kind == AS_NUMBER_SIGNED ? 127 : 1;
    struct as_rng rng;
    as_rng_seed(&rng, p->desc.seed);
    for (size_t i = 0; i < AS_GEMM_DRAWN; i++) {
        double x = most * (2 * as_rng_double(&rng) - 1);
        p->drawn[i] = p->desc.zero ? 0 : as_number_decode(f, as_number_nearest(f, x));
        p->drawn_bias[i] = p->desc.zero ? 0 : (double)(float)(4 * as_rng_double(&rng) - 2);
    }
}

/* ---- in memory ---- */

enum { CHUNK = 16 << 20 };

static enum as_status fill_on_host(struct as_gemm *p, struct as_memory *to, const unsigned char *codes, uint64_t n,
                                   uint32_t seed, struct as_error *err)
{
    const unsigned bytes = as_gemm_formats[p->desc.type].in_bytes;
    unsigned char *all = malloc(n * bytes);
    if (!all)
        return as_nomem(err, n * bytes, "an operand");
    for (uint64_t i = 0; i < n; i++)
        memcpy(all + i * bytes, codes + as_gemm_index(i, seed) * bytes, bytes);
    enum as_status st = p->dev->memory->write(p->dev, to, 0, all, n * bytes, err);
    free(all);
    return st;
}

enum as_status as_gemm_fill(struct as_device *dev, struct as_program *program, struct as_memory *to,
                            struct as_memory *table, uint64_t n, uint32_t seed, struct as_error *err)
{
    struct as_kernel *fill = NULL;
    struct as_timing unused;
    const struct as_arg args[] = {as_memory_arg(to), as_memory_arg(table), as_u32_arg(n), as_u32_arg(seed)};
    enum as_status st = dev->program->kernel(dev, program, "fill", &fill, err);
    const struct as_launch l = {.kernel = fill,
                                .args = args,
                                .args_n = sizeof args / sizeof *args,
                                .workgroups = 8 * (size_t)(dev->info.compute_units ? dev->info.compute_units : 1),
                                .workgroup_size = 256,
                                .reps = 1};
    if (!st)
        st = dev->queue->launch(dev, &l, &unused, err);
    dev->program->kernel_destroy(dev, fill);
    return st;
}

enum as_status as_gemm_spoil(struct as_gemm *p, struct as_error *err)
{
    unsigned char *ones = malloc(CHUNK);
    enum as_status st = ones ? AS_OK : as_nomem(err, CHUNK, "a result");
    if (ones)
        memset(ones, 0xff, CHUNK);
    for (uint64_t at = 0; at < p->d->bytes && !st; at += CHUNK) {
        uint64_t left = p->d->bytes - at;
        st = p->dev->memory->write(p->dev, p->d, at, ones, left < CHUNK ? left : CHUNK, err);
    }
    free(ones);
    return st;
}

static enum as_status fill_operands(struct as_gemm *p, struct as_error *err)
{
    const struct as_gemm_desc *d = &p->desc;
    const struct as_gemm_format *f = &as_gemm_formats[d->type];
    unsigned char codes[AS_GEMM_DRAWN * 8];
    struct as_memory *table = NULL;
    as_gemm_draw(p);
    for (size_t i = 0; i < AS_GEMM_DRAWN; i++) {
        uint64_t code = as_number_nearest(as_number_format(f->in), p->drawn[i]);
        memcpy(codes + i * f->in_bytes, &code, f->in_bytes);
    }
    if (!p->plain) {
        enum as_status st = fill_on_host(p, p->a, codes, d->m * d->k, AS_SEED_A, err);
        return st ? st : fill_on_host(p, p->b, codes, d->n * d->k, AS_SEED_B, err);
    }
    enum as_status st = as_device_memory(p->dev, AS_GEMM_DRAWN * (uint64_t)f->in_bytes, &table, err);
    if (!st)
        st = p->dev->memory->write(p->dev, table, 0, codes, table->bytes, err);
    if (!st)
        st = as_gemm_fill(p->dev, p->plain, p->a, table, d->m * d->k, AS_SEED_A, err);
    if (!st)
        st = as_gemm_fill(p->dev, p->plain, p->b, table, d->n * d->k, AS_SEED_B, err);
    p->dev->memory->free(p->dev, table);
    return st;
}

static enum as_status fill_bias(struct as_gemm *p, struct as_error *err)
{
    float *bias = malloc(p->desc.n * sizeof *bias);
    if (!bias)
        return as_nomem(err, p->desc.n * sizeof *bias, "a bias");
    for (uint64_t i = 0; i < p->desc.n; i++)
        bias[i] = (float)p->drawn_bias[i % AS_GEMM_DRAWN];
    enum as_status st = p->dev->memory->write(p->dev, p->bias, 0, bias, p->desc.n * sizeof *bias, err);
    free(bias);
    return st;
}

static enum as_status take_given(struct as_gemm *p, struct as_error *err)
{
    const struct as_gemm_desc *d = &p->desc;
    const struct as_gemm_format *f = &as_gemm_formats[d->type];
    const uint64_t batch = as_gemm_batch(d);
    p->a = d->a, p->b = d->b, p->d = d->d;
    enum as_status st = as_memory_check(p->a, 0, batch * d->m * d->k * f->in_bytes, err);
    if (!st)
        st = as_memory_check(p->b, 0, batch * d->n * d->k * f->in_bytes, err);
    if (!st)
        st = as_memory_check(p->d, 0, batch * d->m * d->n * f->out_bytes, err);
    return st ? st : as_buffers_keep_memory(&p->own, NULL, d->n * sizeof(float), &p->bias, err);
}

enum as_status as_gemm_operands(struct as_gemm *p, struct as_error *err)
{
    const struct as_gemm_desc *d = &p->desc;
    const struct as_gemm_format *f = &as_gemm_formats[d->type];
    const struct {
        struct as_memory **memory;
        uint64_t bytes;
    } blocks[] = {{&p->a, d->m * d->k * f->in_bytes},
                  {&p->b, d->n * d->k * f->in_bytes},
                  {&p->d, d->m * d->n * f->out_bytes},
                  {&p->bias, d->n * sizeof(float)}};
    uint64_t largest = 0;
    if (d->a)
        return take_given(p, err);
    for (size_t i = 0; i < 3; i++)
        largest = blocks[i].bytes > largest ? blocks[i].bytes : largest;
    enum as_status st = as_check_room(p->dev, as_gemm_bytes(d), largest, err);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks && !st; i++)
        st = as_buffers_keep_memory(&p->own, NULL, blocks[i].bytes, blocks[i].memory, err);
    if (!st)
        st = fill_operands(p, err);
    if (!st)
        st = fill_bias(p, err);
    return st ? st : as_gemm_spoil(p, err);
}

/* ---- the check ---- */

enum { CHECKED = 1024, ALL = 1 << 24 /* in multiply-adds: up to this, every result is checked */ };

/* One expected result, and its tolerance. */
struct expected {
    double value, tolerance;
};

static double operands_gelu(double x)
{
    return x / (1 + exp(-2 * 0.7978845608 * (x + 0.044715 * x * x * x)));
}

static bool by_unit(const struct as_gemm_desc *d)
{
    return d->path <= AS_GEMM_WMMA && d->type != AS_GEMM_F32;
}

/* Each step rounds or truncates the sum to one ulp of the largest partial sum; rounding of products mostly cancels. */
static double tolerance_of(const struct as_gemm *p, double largest, double value)
{
    const struct as_gemm_format *f = &as_gemm_formats[p->desc.type];
    const struct as_number_format *out = as_number_format(f->out);
    if (out->kind != AS_NUMBER_FLOAT)
        return 0;
    double k = (double)p->desc.k, digit = ldexp(largest, 1 - (int)(by_unit(&p->desc) ? f->unit_bits : f->sum_bits));
    double steps = by_unit(&p->desc) ? k / f->unit_k : k;
    double tolerance = digit * (steps + sqrt(k)) + ldexp(fabs(value), -(int)out->fraction);
    if (p->desc.epilogue != AS_GEMM_PLAIN)
        tolerance +=
            ldexp(4 + fabs(value), -(int)(out->fraction < 20 ? out->fraction : 20)); /* a slope of at most 1.13 */
    return 1.2 * tolerance;
}

static struct expected operands_want(const struct as_gemm *p, const double *row, uint64_t column)
{
    const uint64_t k = p->desc.k;
    double sum = 0, largest = 0;
    for (uint64_t i = 0; i < k; i++) {
        sum += row[i] * p->drawn[as_gemm_index(column * k + i, AS_SEED_B)];
        largest = fmax(largest, fabs(sum));
    }
    double value = sum;
    if (p->desc.epilogue != AS_GEMM_PLAIN)
        value += p->drawn_bias[column % AS_GEMM_DRAWN];
    if (p->desc.epilogue == AS_GEMM_GELU)
        value = operands_gelu(value);
    return (struct expected){value, tolerance_of(p, largest, value)};
}

struct look {
    const struct as_gemm *p;
    double *row;           /* row of a */
    unsigned char *result; /* a row of d, as stored */
    uint64_t of;           /* row + 1 */
    size_t seen, wrong;
    uint64_t r, c; /* the first wrong one */
    double got;
    struct expected wanted;
};

static enum as_status operands_take_row(struct look *l, uint64_t r, struct as_error *err)
{
    const struct as_gemm *p = l->p;
    const uint64_t bytes = p->desc.n * as_gemm_formats[p->desc.type].out_bytes;
    if (l->of == r + 1)
        return AS_OK;
    for (uint64_t i = 0; i < p->desc.k; i++)
        l->row[i] = p->drawn[as_gemm_index(r * p->desc.k + i, AS_SEED_A)];
    enum as_status st = p->dev->memory->read(p->dev, p->d, r * bytes, l->result, bytes, err);
    l->of = st ? 0 : r + 1; /* the row of a is replaced either way */
    return st;
}

static enum as_status operands_look(struct look *l, uint64_t r, uint64_t c, struct as_error *err)
{
    const struct as_gemm_format *f = &as_gemm_formats[l->p->desc.type];
    uint64_t code = 0;
    enum as_status st = operands_take_row(l, r, err);
    if (st)
        return st;
    memcpy(&code, l->result + c * f->out_bytes, f->out_bytes);
    const struct expected w = operands_want(l->p, l->row, c);
    const double got = as_number_decode(as_number_format(f->out), code);
    bool wrong = !(fabs(got - w.value) <= w.tolerance);
    if (wrong && l->wrong == 0) {
        l->r = r;
        l->c = c;
        l->got = got;
        l->wanted = w;
    }
    l->seen++;
    l->wrong += wrong;
    return AS_OK;
}

/* A quarter of the checks along a row, a quarter along a column, the others random. */
static enum as_status check_sample(struct look *l, struct as_error *err)
{
    const struct as_gemm_desc *d = &l->p->desc;
    struct as_rng rng;
    enum as_status st = AS_OK;
    as_rng_seed(&rng, d->seed + UINT64_C(1));
    uint64_t row = as_rng_below(&rng, d->m), column = as_rng_below(&rng, d->n);
    bool all = d->m * d->n * d->k <= ALL;
    for (uint64_t i = 0; all && i < d->m * d->n && !st; i++)
        st = operands_look(l, i / d->n, i % d->n, err);
    for (uint64_t i = 0; !all && i < CHECKED && !st; i++) {
        uint64_t r = i < CHECKED / 4 ? row : as_rng_below(&rng, d->m);
        uint64_t c = i >= CHECKED / 4 && i < CHECKED / 2 ? column : as_rng_below(&rng, d->n);
        st = operands_look(l, r, c, err);
    }
    return st;
}

bool as_gemm_check(const struct as_gemm *p, char *why, size_t size)
{
    struct look l = {.p = p,
                     .row = calloc(p->desc.k, sizeof(double)),
                     .result = malloc(p->desc.n * as_gemm_formats[p->desc.type].out_bytes)};
    struct as_error err = {0};
    enum as_status st =
        l.row && l.result ? check_sample(&l, &err) : as_nomem(&err, p->desc.k * sizeof(double), "a row");
    free(l.row);
    free(l.result);
    if (st)
        snprintf(why, size, "%s", err.text);
    else if (l.wrong)
        snprintf(why, size, "%zu of %zu results are wrong, the first in row %llu, column %llu: %.6g, not %.6g +- %.1g",
                 l.wrong, l.seen, (unsigned long long)l.r, (unsigned long long)l.c, l.got, l.wanted.value,
                 l.wanted.tolerance);
    else
        snprintf(why, size, "%zu results agree with f64", l.seen);
    return !st && !l.wrong;
}
