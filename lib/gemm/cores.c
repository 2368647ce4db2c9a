/* GEMM by a CPU's matrix instructions; by SME's see outer.c, where the CPU has it. All threads first pack both operands
 * into register images of the instruction; then each thread multiplies register blocks along parts of K, from panels of
 * B that fit L2. The instruction's layout places the words, and its micro-kernel (cores.py) does the rest. */
#include "cores_internal.h"

#include "base/text.h"
#include "device/cpu/features.h"
#include "lib/kernel_timer/kernel_timer.h"
#include "lib/mma/instructions/layout.h"
#include "lib/ops/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum {
    PART_BYTES = 1024,    /* bytes of K per block step */
    CACHED = 512 << 10,   /* of panels of B: at most half of L2 */
    PACKED_STEPS = 16,    /* steps packed at a time: a cache line of words, for vectors */
    OFFSET = 128,         /* bias of unsigned operands */
    SPIN_NS = 200 * 1000, /* approximate cost of packing */
};

/* Best first. Unsigned operands are signed ones plus OFFSET, whose contribution is subtracted afterwards. */
static const struct choice {
    enum as_gemm_type type;
    const char *name;
    bool offset;
} choices[] = {
    {AS_GEMM_S8, "tdpbssd_s8_s32", false},        {AS_GEMM_S8, "smmla_s8_s32", false},
    {AS_GEMM_S8, "vpdpbusd_512_u8_s8_s32", true}, {AS_GEMM_S8, "vpdpbusd_256_u8_s8_s32", true},
    {AS_GEMM_S8, "sdot_sve_512_s8_s32", false},   {AS_GEMM_S8, "sdot_sve_256_s8_s32", false},
    {AS_GEMM_S8, "sdot_s8_s32", false},           {AS_GEMM_BF16, "tdpbf16ps_bf16_f32", false},
    {AS_GEMM_BF16, "bfmmla_bf16_f32", false},     {AS_GEMM_BF16, "vdpbf16ps_512_bf16_f32", false},
    {AS_GEMM_BF16, "bfdot_bf16_f32", false},      {AS_GEMM_F16, "tdpfp16ps_f16_f32", false},
};
enum { CHOICES = sizeof choices / sizeof *choices };

static const struct as_outer *choose_outer(const struct as_gemm_desc *d)
{
    char missing[200];
    const struct as_outer *o = as_outer_find(d->type);
    return o && as_outer_has(o, missing, sizeof missing) ? o : NULL;
}

static const struct choice *cores_choose(const struct as_gemm_desc *d)
{
    char missing[200];
    for (const struct choice *c = choices; c < choices + CHOICES; c++) {
        const struct as_core *core = c->type == d->type ? as_core_find(c->name) : NULL;
        if (core && as_core_has(core, missing, sizeof missing))
            return c;
    }
    return NULL;
}

/* "AMX-TILE, AMX-INT8; or AVX-VNNI" */
static void write_missing(const struct as_gemm_desc *d, struct as_buf *out)
{
    char missing[200], before[200] = ""; /* of the alternatives */
    const struct as_outer *o = as_outer_find(d->type);
    if (o && !as_outer_has(o, missing, sizeof missing))
        as_buf_str(out, missing);
    for (const struct choice *c = choices; c < choices + CHOICES; c++) {
        const struct as_core *core = c->type == d->type ? as_core_find(c->name) : NULL;
        if (!core || as_core_has(core, missing, sizeof missing) || strcmp(missing, before) == 0)
            continue;
        snprintf(before, sizeof before, "%s", missing);
        as_buf_printf(out, "%s%s", out->len ? "; or " : "", missing);
    }
}

enum as_applies as_gemm_cores_apply(const struct as_gemm_desc *d, struct as_error *err)
{
    bool any = as_outer_find(d->type);
    for (const struct choice *c = choices; c < choices + CHOICES; c++)
        any |= c->type == d->type;
    if (!any || d->epilogue != AS_GEMM_PLAIN || d->batch > 1) {
        if (any)
            as_fail(err, AS_UNSUPPORTED, "path mma of a CPU has only plain GEMMs, one at a time");
        else
            as_fail(err, AS_UNSUPPORTED, "this CPU architecture has no matrix instruction for %s",
                    as_gemm_type_words[d->type]);
        return AS_PRUNED;
    }
    if (choose_outer(d) || cores_choose(d))
        return AS_APPLIES;
    struct as_buf text = AS_BUF_INIT;
    write_missing(d, &text);
    if (text.len)
        as_fail(err, AS_UNSUPPORTED, "path mma for %s needs what this CPU lacks: %s", as_gemm_type_words[d->type],
                as_buf_get(&text));
    else
        as_fail(err, AS_UNSUPPORTED, "this CPU architecture has no matrix instruction for %s",
                as_gemm_type_words[d->type]);
    as_buf_finish(&text);
    return AS_INAPPLICABLE;
}

/* ---- preparation ---- */

/* Lines run along K: the position of each of their words. */
static bool place_words(struct as_packing *p, const struct as_matrix *m, enum as_matrix_operand which)
{
    const unsigned per = 32 / as_matrix_format(m, which)->bits, words = m->k / per;
    const unsigned lanes = m->held[which].held == AS_HELD_SPREAD ? 1 : m->lanes;
    struct as_layout layout;
    p->image_lines = which == AS_MATRIX_A ? m->m : m->n;
    p->image_words = (unsigned)(as_image_bytes(m, which, 0) / sizeof(uint32_t));
    if (p->image_lines > AS_PACKED_LINES || words > AS_PACKED_WORDS || !as_layout_parse(&m->held[which], &layout))
        return false;
    for (unsigned line = 0; line < p->image_lines; line++)
        for (unsigned w = 0; w < words; w++) {
            struct as_layout_place at;
            bool a = which == AS_MATRIX_A;
            if (!as_layout_place(&layout, a ? line : w * per, a ? w * per : line, &at) || at.element)
                return false;
            p->place[line][w] = at.reg * lanes + at.lane;
        }
    return true;
}

/* Accumulators are row-major. */
static bool sums_in_rows(const struct as_matrix *m)
{
    struct as_layout layout;
    struct as_layout_place at;
    bool good = as_layout_parse(&m->held[AS_MATRIX_C], &layout);
    for (unsigned i = 0; i < m->m * m->n && good; i++)
        good = as_layout_place(&layout, i / m->n, i % m->n, &at) && at.reg * m->lanes + at.lane == i;
    return good;
}

uint64_t as_gemm_panels(const struct as_packing *p)
{
    const uint64_t lines = (uint64_t)p->images * p->image_lines;
    return lines ? (p->lines + lines - 1) / lines : 0;
}

/* Words per panel step. */
static uint64_t step_of(const struct as_packing *p)
{
    return (uint64_t)p->images * p->image_words;
}

static uint64_t cores_bytes_of(const struct as_gemm_cores *c, const struct as_packing *p)
{
    return as_gemm_panels(p) * c->steps * step_of(p) * sizeof(uint32_t);
}

static enum as_status cores_allocate(struct as_gemm *p, struct as_error *err)
{
    const struct as_gemm_cores *c = p->cores;
    const struct as_gemm_format *f = &as_gemm_formats[c->type];
    const uint64_t d = c->outer && f->out_bytes == c->outer->word ? 1 : c->a.lines * c->b.lines;
    const uint64_t bytes[] = {
        cores_bytes_of(c, &c->a), cores_bytes_of(c, &c->b),
        c->outer ? d * sizeof(float) : as_gemm_panels(&c->a) * as_gemm_panels(&c->b) * c->tile_bytes,
        c->outer ? sizeof(int32_t) : as_gemm_panels(&c->b) * c->b.images * c->b.image_lines * sizeof(int32_t)};
    uint64_t all = 0, largest = 0;
    for (size_t i = 0; i < AS_GEMM_PACKED; i++) {
        all += bytes[i];
        largest = bytes[i] > largest ? bytes[i] : largest;
    }
    enum as_status st = as_check_room(p->dev, all, largest, err);
    for (size_t i = 0; i < AS_GEMM_PACKED && !st; i++)
        st = as_buffers_keep_memory(&p->own, NULL, bytes[i], &p->packed[i], err);
    return st;
}

/* The instruction of the table, and the word positions in its images. */
static enum as_status set_core(struct as_gemm_cores *c, const struct choice *choice, struct as_error *err)
{
    const struct as_matrix *m = as_matrix_find(choice->name);
    const unsigned k_bytes = m->k * as_gemm_formats[c->type].in_bytes;
    c->core = as_core_find(choice->name);
    c->matrix = m;
    snprintf(c->name, sizeof c->name, "%s", choice->name);
    c->a.images = c->core->rows;
    c->a.flip = choice->offset ? 0x80808080 : 0;
    c->b.images = c->core->columns;
    c->step_words = k_bytes / (unsigned)sizeof(uint32_t);
    c->part = PART_BYTES / k_bytes;
    c->tile_bytes = (size_t)c->core->rows * c->core->columns * as_image_bytes(m, AS_MATRIX_C, 0);
    if (!place_words(&c->a, m, AS_MATRIX_A) || !place_words(&c->b, m, AS_MATRIX_B) || !sums_in_rows(m))
        return as_fail(err, AS_FAILED, "operands of %s are not words along K", m->name);
    return AS_OK;
}

enum as_status as_gemm_cores_prepare(struct as_gemm *p, struct as_error *err)
{
    const struct as_gemm_desc *d = &p->desc;
    const struct as_outer *outer = choose_outer(d);
    const struct choice *choice = outer ? NULL : cores_choose(d);
    if (!outer && !choice)
        return as_fail(err, AS_UNSUPPORTED, "this CPU has no matrix instruction for %s", as_gemm_type_words[d->type]);
    struct as_gemm_cores *c = aligned_alloc(_Alignof(struct as_gemm_cores), sizeof *c);
    if (!c)
        return as_nomem(err, sizeof *c, "a GEMM");
    memset(c, 0, sizeof *c);
    p->cores = c;
    c->type = d->type;
    c->a.lines = d->m;
    c->b.lines = d->n;
    if (outer)
        as_gemm_outer_set(c, outer);
    enum as_status st = outer ? AS_OK : set_core(c, choice, err);
    if (st)
        return st;
    c->words = d->k * as_gemm_formats[d->type].in_bytes / sizeof(uint32_t);
    c->steps = (c->words + c->step_words - 1) / c->step_words;
    c->meet.threads = (uint32_t)(p->dev->info.threads ? p->dev->info.threads : 1);
    c->meet.spin_ns = SPIN_NS;
    return cores_allocate(p, err);
}

const char *as_gemm_cores_name(const struct as_gemm *p)
{
    return p->cores->name;
}

/* Does the micro-kernel have exactly one instruction per accumulator and step? */
enum as_gate_state as_gemm_cores_gate(const struct as_gemm *p, char *text, size_t size)
{
    const struct as_core *core = p->cores->core;
    const struct as_outer *outer = p->cores->outer;
    const char *code = outer ? outer->code : p->cores->matrix->code;
    struct as_instructions list;
    if (!as_core_counted(outer ? outer->symbol : core->symbol, outer ? "" : "_block", &list, text, size))
        return AS_GATE_NA;
    uint64_t n = as_code_count(&list, code), want = outer ? outer->instructions : (uint64_t)core->rows * core->columns;
    snprintf(text, size, "%llu of %s per %s, expected %llu", (unsigned long long)n, code,
             outer ? "micro-kernel" : "step of K", (unsigned long long)want);
    return n == want ? AS_GATE_PASS : AS_GATE_FAIL;
}

/* ---- packing ---- */

/* Packs n steps of one line into the images; zeros past the line's end, and for a missing line (NULL). */
static void pack_line(const struct as_gemm_cores *c, const struct as_packing *p, const uint32_t *line,
                      const unsigned *place, struct as_share steps, uint32_t *image)
{
    const unsigned step_words = c->step_words;
    const uint64_t stride = step_of(p), end = line ? c->words : 0;
    uint64_t at = steps.from * step_words;
    for (uint64_t step = steps.from; step < steps.to; step++, image += stride)
        for (unsigned w = 0; w < step_words; w++, at++)
            image[place[w]] = (at < end ? line[at] : 0) ^ p->flip;
}

/* Packs one panel; a few steps of all lines at a time, for locality. */
static void cores_pack(const struct as_gemm_cores *c, const struct as_packing *p, const uint32_t *from, uint64_t panel,
                       uint32_t *to)
{
    const uint64_t lines = (uint64_t)p->images * p->image_lines, first = panel * lines;
    for (struct as_share steps = {0, 0}; steps.from < c->steps; steps.from = steps.to) {
        steps.to = c->steps - steps.from < PACKED_STEPS ? c->steps : steps.from + PACKED_STEPS;
        for (uint64_t l = 0; l < lines; l++)
            pack_line(c, p, first + l < p->lines ? from + (first + l) * c->words : NULL, p->place[l % p->image_lines],
                      steps, to + steps.from * step_of(p) + l / p->image_lines * p->image_words);
    }
}

/* OFFSET times the sum of each column's signed bytes. */
static int32_t excess(const uint32_t *column, uint64_t words)
{
    uint64_t sum = 0;
    for (uint64_t w = 0; w < words; w++) {
        uint32_t bytes = column[w] ^ 0x80808080; /* each plus 128 */
        uint32_t pairs = (bytes & 0xff00ff) + (bytes >> 8 & 0xff00ff);
        sum += (pairs & 0xffff) + (pairs >> 16);
    }
    return (int32_t)(OFFSET * ((int64_t)sum - (int64_t)(4 * OFFSET * words)));
}

struct as_share as_gemm_share(uint64_t n, unsigned which, unsigned of)
{
    return of ? (struct as_share){n * which / of, n * (which + 1) / of} : (struct as_share){0, 0};
}

static void pack_all(const struct as_gemm_cores *c, const struct as_host_call *call)
{
    const struct as_packing *const sides[] = {&c->a, &c->b};
    for (int side = 0; side < 2; side++) {
        const struct as_packing *p = sides[side];
        const struct as_share own = as_gemm_share(as_gemm_panels(p), call->thread, call->threads);
        for (uint64_t panel = own.from; panel < own.to; panel++)
            cores_pack(c, p, call->args[side], panel, (uint32_t *)call->args[4 + side] + panel * c->steps * step_of(p));
    }
    const struct as_share columns = as_gemm_share(c->b.lines, call->thread, call->threads);
    for (uint64_t j = columns.from; j < columns.to; j++)
        ((int32_t *)call->args[7])[j] =
            c->a.flip ? excess((const uint32_t *)call->args[1] + j * c->words, c->words) : 0;
}

/* ---- results ---- */

typedef uint32_t u32x4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint16_t u16x4 __attribute__((vector_size(8), aligned(2), may_alias));

/* Round to nearest even; sums are finite. */
static u16x4 as_bf16(u32x4 sum)
{
    return __builtin_convertvector((sum + 0x7fff + (sum >> 16 & 1)) >> 16, u16x4);
}

#if defined(__x86_64__)
__attribute__((target("f16c"))) static uint16_t as_f16(uint32_t sum)
{
    float f;
    memcpy(&f, &sum, sizeof f);
    return (uint16_t)_cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT);
}
#elif defined(__aarch64__)
static uint16_t as_f16(uint32_t sum)
{
    return vget_lane_u16(vreinterpret_u16_f16(vcvt_f16_f32(vreinterpretq_f32_u32(vdupq_n_u32(sum)))), 0);
}
#else
static uint16_t as_f16(uint32_t sum)
{
    float f;
    memcpy(&f, &sum, sizeof f);
    return (uint16_t)as_number_nearest(as_number_format("f16"), (double)f);
}
#endif

void as_gemm_store_row(const struct as_gemm_cores *c, const uint32_t *sums, uint64_t n, const int32_t *more, void *d,
                       uint64_t at)
{
    uint64_t i = 0;
    if (c->type == AS_GEMM_S8) {
        for (; i + 4 <= n; i += 4)
            *(u32x4 *)((uint32_t *)d + at + i) = *(const u32x4 *)(sums + i) - *(const u32x4 *)(more + i);
        for (; i < n; i++)
            ((uint32_t *)d)[at + i] = sums[i] - (uint32_t)more[i];
        return;
    }
    uint16_t *to = (uint16_t *)d + at;
    for (; c->type == AS_GEMM_BF16 && i + 4 <= n; i += 4)
        *(u16x4 *)(to + i) = as_bf16(*(const u32x4 *)(sums + i));
    for (; i < n; i++)
        to[i] = c->type == AS_GEMM_F16 ? as_f16(sums[i]) : as_bf16((u32x4){sums[i]})[0];
}

/* Stores one block. more: the offset of unsigned operands per column, else zeros. */
static void cores_store(const struct as_gemm_cores *c, const uint32_t *tile, uint64_t ia, uint64_t jb,
                        const int32_t *more, void *d)
{
    const unsigned m = c->matrix->m, n = c->matrix->n;
    for (unsigned i = 0; i < c->core->rows * m; i++) {
        const uint64_t row = (ia * c->core->rows * m) + i;
        for (unsigned j = 0; j < c->core->columns && row < c->a.lines; j++) {
            const uint64_t column = (jb * c->core->columns + j) * n;
            const uint32_t *sums = tile + ((size_t)(i / m * c->core->columns + j) * m + i % m) * n;
            if (column < c->b.lines)
                as_gemm_store_row(c, sums, c->b.lines - column < n ? c->b.lines - column : n, more + column, d,
                                  row * c->b.lines + column);
        }
    }
}

/* ---- blocks ---- */

/* A thread's panels of A and B: the split that minimises the largest share. */
static void cores_divide(const struct as_gemm_cores *c, const struct as_host_call *call, struct as_share *rows,
                         struct as_share *columns)
{
    const uint64_t a = as_gemm_panels(&c->a), b = as_gemm_panels(&c->b);
    uint64_t least = UINT64_MAX;
    unsigned beside = 1;
    for (unsigned n = 1; n <= call->threads; n++) {
        const unsigned above = call->threads / n;
        const uint64_t most = ((a + above - 1) / above) * ((b + n - 1) / n);
        if (call->threads % n == 0 && most < least) {
            least = most;
            beside = n;
        }
    }
    *rows = as_gemm_share(a, call->thread / beside, call->threads / beside);
    *columns = as_gemm_share(b, call->thread % beside, beside);
}

/* All blocks of a thread along one part of K, `cached` panels of B at a time. */
static void multiply_part(const struct as_gemm_cores *c, const struct as_host_call *call, const struct as_share *rows,
                          const struct as_share *columns, uint64_t step)
{
    const uint64_t steps = c->steps - step < c->part ? c->steps - step : c->part;
    const uint64_t panel_bytes = c->part * step_of(&c->b) * sizeof(uint32_t), cached = CACHED / panel_bytes + 1;
    const uint32_t *a = call->args[4], *b = call->args[5];
    for (uint64_t first = columns->from; first < columns->to; first += cached)
        for (uint64_t i = rows->from; i < rows->to; i++)
            for (uint64_t j = first; j < first + cached && j < columns->to; j++) {
                unsigned char *tile = (unsigned char *)call->args[6] + (i * as_gemm_panels(&c->b) + j) * c->tile_bytes;
                if (step == 0)
                    memset(tile, 0, c->tile_bytes);
                c->core->block(a + (i * c->steps + step) * step_of(&c->a), b + (j * c->steps + step) * step_of(&c->b),
                               tile, steps);
                if (step + steps == c->steps)
                    cores_store(c, (const uint32_t *)(const void *)tile, i, j, call->args[7], call->args[2]);
            }
}

static void run_mma(const struct as_host_call *call)
{
    struct as_gemm_cores *c = as_pointer_in(call->args[3]);
    struct as_share rows, columns;
    if (c->outer) {
        as_gemm_outer_run(c, call);
        return;
    }
    cores_divide(c, call, &rows, &columns);
    for (uint64_t rep = 0; rep < call->reps; rep++) {
        pack_all(c, call);
        as_barrier_wait(&c->meet);
        for (uint64_t step = 0; step < c->steps; step += c->part)
            multiply_part(c, call, &rows, &columns, step);
        as_barrier_wait(&c->meet);
    }
}

const struct as_host_kernel as_gemm_native_mma[] = {{"gemm_mma", run_mma}, {NULL, NULL}};
