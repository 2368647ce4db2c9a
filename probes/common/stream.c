#include "stream.h"

#include "base/text.h"
#include "stream_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_bandwidth[];

/* Results of threads lie on lines of their own, two apart for prefetchers that fetch pairs. */
enum { RESULT_STRIDE = 16, LINE = 8, PAGE = 512, STAGGER = 80 };
/* Bytes from which it pays to fill with all threads. */
enum { FILL_TOGETHER = 8 << 20 };
static const enum as_stream_width DEVICE_WIDTH = AS_WIDTH_256;
static const uint64_t STAGGER_FROM = 1 << 20; /* bytes of an array */

static const struct as_stream_shape *shape(const struct as_stream *s)
{
    return &as_stream_shapes[s->desc.op];
}

/* ---- native ---- */

void as_stream_slice(uint64_t n, unsigned threads, unsigned t, uint64_t *first, uint64_t *count)
{
    uint64_t grain = n / threads >= 64 * PAGE ? PAGE : LINE, grains = (n + grain - 1) / grain;
    uint64_t from = grains * t / threads * grain, to = grains * (t + 1) / threads * grain;
    from = from < n ? from : n;
    to = to < n ? to : n;
    *first = from;
    *count = to - from;
}

struct native_args { /* of the native kernels, in this order */
    uint64_t *result;
    double *memory;
    uint64_t n, pitch, first, count;
    double scalar;
    uint32_t code; /* operation, width and store */
};
static uint32_t encode(enum as_stream_op op, enum as_stream_width width, bool nontemporal)
{
    return (uint32_t)op | (uint32_t)width << 8 | (uint32_t)nontemporal << 16;
}

static struct native_args decode_args(const struct as_host_call *call)
{
    struct native_args a = {.result = call->args[0], .memory = call->args[1]};
    memcpy(&a.pitch, call->args[2], sizeof a.pitch);
    memcpy(&a.first, call->args[3], sizeof a.first);
    memcpy(&a.count, call->args[4], sizeof a.count);
    memcpy(&a.scalar, call->args[5], sizeof a.scalar);
    memcpy(&a.code, call->args[6], sizeof a.code);
    return a;
}

static void host_stream(const struct as_host_call *call)
{
    struct native_args a = decode_args(call);
    enum as_stream_op op = (enum as_stream_op)(a.code & 0xff);
    const struct as_stream_shape *sh = &as_stream_shapes[op];
    as_stream_fn fn = as_stream_kernels((enum as_stream_width)(a.code >> 8 & 0xff))->of[op][a.code >> 16];
    uint64_t first, count;
    as_stream_slice(a.count, call->threads, call->thread, &first, &count);
    double *base = a.memory + a.first + first;
    union as_stream_sum sum =
        fn(base + sh->out * a.pitch, base + sh->x * a.pitch, base + sh->y * a.pitch, count, a.scalar, call->reps);
    a.result[(size_t)call->thread * RESULT_STRIDE] = sum.u;
}

/* Every thread fills what it will work on, all arrays side by side, so that it is the one who touches it first and the
 * caches hold the same part of each. args: memory, operands, count, pitch, arrays, outputs */
static void host_fill(const struct as_host_call *call)
{
    double *memory = call->args[0];
    const struct as_stream_data *data = call->args[1];
    uint64_t n, pitch, first, count;
    uint32_t arrays, outputs;
    memcpy(&n, call->args[2], sizeof n);
    memcpy(&pitch, call->args[3], sizeof pitch);
    memcpy(&arrays, call->args[5], sizeof arrays);
    memcpy(&outputs, call->args[6], sizeof outputs);
    as_stream_slice(n, call->threads, call->thread, &first, &count);
    for (uint64_t i = first; i < first + count; i += AS_STREAM_BLOCK) {
        uint64_t left = first + count - i, take = left < AS_STREAM_BLOCK ? left : AS_STREAM_BLOCK;
        for (uint32_t a = 0; a < arrays; a++)
            as_stream_fill(data, a, a < outputs, i, take, memory + a * pitch + i);
    }
}
static const struct as_host_kernel host_kernels[] = {{"stream", host_stream}, {"fill", host_fill}, {NULL, NULL}};

/* ---- launches ---- */

static struct as_arg arg_memory(struct as_memory *m)
{
    return (struct as_arg){.kind = AS_ARG_MEMORY, .u.memory = m};
}
static struct as_arg arg_u64(uint64_t v)
{
    return (struct as_arg){.kind = AS_ARG_U64, .u.u64 = v};
}
static struct as_arg arg_u32(uint32_t v)
{
    return (struct as_arg){.kind = AS_ARG_U32, .u.u32 = v};
}
static struct as_arg arg_f64(double v)
{
    return (struct as_arg){.kind = AS_ARG_F64, .u.f64 = v};
}

/* Whoever uses the memory touches it first, so that it is near; where all of it is equally near, all help. */
static size_t fill_threads(const struct as_stream *s)
{
    bool help = s->dev->info.numa_nodes <= 1 && s->footprint >= FILL_TOGETHER;
    return help && s->dev->info.threads > s->desc.threads ? s->dev->info.threads : s->desc.threads;
}

static enum as_status launch_fill(struct as_stream *s, unsigned arrays, struct as_error *err)
{
    const struct as_arg args[] = {arg_memory(s->memory),    arg_memory(s->table),  arg_u64(s->n),
                                  arg_u64(s->pitch),        arg_u32(s->data->key), arg_u32(arrays),
                                  arg_u32(shape(s)->writes)};
    struct as_launch l = {.kernel = s->fill,
                          .args = args,
                          .args_n = sizeof args / sizeof *args,
                          .groups = s->native ? fill_threads(s) : s->grid.groups,
                          .group_size = s->native ? 1 : s->grid.group_size,
                          .reps = 1,
                          .work = {.bytes = (double)s->footprint, .footprint = (double)s->footprint}};
    struct as_timing t;
    return s->dev->queue->launch(s->dev, &l, &t, err);
}

static enum as_status launch_native(struct as_stream *s, const struct as_stream_part *part, struct as_timing *t,
                                    struct as_error *err)
{
    const struct as_arg args[] = {arg_memory(s->result),
                                  arg_memory(s->memory),
                                  arg_u64(s->pitch),
                                  arg_u64(part->first),
                                  arg_u64(part->count),
                                  arg_f64(s->scalar),
                                  arg_u32(encode(s->desc.op, s->desc.width, s->desc.nontemporal))};
    struct as_launch l = {
        .kernel = s->kernel,
        .args = args,
        .args_n = sizeof args / sizeof *args,
        .groups = s->desc.threads,
        .group_size = 1,
        .reps = part->reps,
        .flags = s->desc.barrier && s->desc.threads > 1 ? AS_LAUNCH_BARRIER : 0,
        .work = {.bytes = as_stream_bytes(s) * (double)part->count / (double)s->n, .footprint = (double)s->footprint}};
    return s->dev->queue->launch(s->dev, &l, t, err);
}

static enum as_status launch_device(struct as_stream *s, const struct as_stream_part *part, struct as_timing *t,
                                    struct as_error *err)
{
    uint64_t threads = (uint64_t)s->grid.groups * s->grid.group_size;
    uint64_t piece = (s->n + threads - 1) / threads;
    const struct as_arg args[] = {arg_memory(s->result),
                                  arg_memory(s->memory),
                                  arg_u64(s->n),
                                  arg_u64(s->pitch),
                                  arg_f64(s->scalar),
                                  arg_u32(s->desc.barrier ? 1 : (uint32_t)part->reps),
                                  arg_u64(s->grid.interleaved ? 0 : (piece + LINE - 1) / LINE * LINE)};
    uint64_t launches = s->desc.barrier ? part->reps : 1;
    struct as_launch l = {
        .kernel = s->kernel,
        .args = args,
        .args_n = sizeof args / sizeof *args,
        .groups = s->grid.groups,
        .group_size = s->grid.group_size,
        .reps = launches,
        .work = {.bytes = as_stream_bytes(s) * (double)(part->reps / launches), .footprint = (double)s->footprint}};
    return s->dev->queue->launch(s->dev, &l, t, err);
}

enum as_status as_stream_launch(struct as_stream *s, const struct as_stream_part *part, struct as_timing *t,
                                struct as_error *err)
{
    return s->native ? launch_native(s, part, t, err) : launch_device(s, part, t, err);
}

/* ---- preparing ---- */

double as_stream_bytes(const struct as_stream *s)
{
    return (double)(shape(s)->reads + shape(s)->writes) * 8 * (double)s->n;
}

/* Arrays follow each other without a gap where they are to fit a cache together. Large ones start at pages, each some
 * lines further into its page than the one before, so that they do not fall on the same banks of memory all the time.
 */
static void lay_out(struct as_stream *s)
{
    s->n = s->desc.size / (8 * shape(s)->arrays) / LINE * LINE;
    s->pitch = s->n * 8 < STAGGER_FROM ? s->n : (s->n + PAGE - 1) / PAGE * PAGE + STAGGER;
    s->footprint = s->n * 8 * shape(s)->arrays;
}

/* Room for a sum of every thread of the largest grid, which is also the first choice. */
static void choose_room(struct as_stream *s)
{
    struct as_stream_grid grids[AS_STREAM_GRIDS_MAX];
    size_t n = as_stream_grids(s, grids);
    s->results = 1;
    for (size_t i = 0; i < n; i++) {
        size_t sums = grids[i].groups * (s->card ? 1 : grids[i].group_size);
        if (sums > s->results && !shape(s)->writes)
            s->results = sums;
    }
    s->grid = grids[n > 1 && !s->card];
}

static enum as_status get_memory(struct as_stream *s, struct as_error *err)
{
    const struct as_memory_ops *m = s->dev->memory;
    if (s->native)
        s->results = (size_t)s->desc.threads * RESULT_STRIDE;
    else
        choose_room(s);
    struct as_memory_desc arrays = {
        .allocator = s->desc.allocator, .bytes = s->pitch * shape(s)->arrays * 8, .node = -1, .fresh = s->desc.fresh};
    struct as_memory_desc result = {.allocator = s->desc.allocator, .bytes = s->results * 8, .node = -1};
    struct as_memory_desc table = {.allocator = s->desc.allocator, .bytes = sizeof *s->data, .node = -1};
    enum as_status st = m->alloc(s->dev, &arrays, &s->memory, err);
    if (!st)
        st = m->alloc(s->dev, &result, &s->result, err);
    if (!st)
        st = m->alloc(s->dev, &table, &s->table, err);
    return st ? st : m->write(s->dev, s->table, 0, s->data, sizeof *s->data, err);
}

/* A kernel for each way of a card that is tried. */
static enum as_status build_ways(struct as_stream *s, struct as_error *err)
{
    struct as_stream_grid grids[AS_STREAM_GRIDS_MAX];
    size_t n = as_stream_grids(s, grids);
    enum as_status st = AS_OK;
    for (size_t i = 0; i < n && !st; i++) {
        struct as_buf defines = AS_BUF_INIT;
        as_buf_printf(&defines, "-DOP=%d -DPER_ITEM=1 -DUNROLL=%u -DCACHE=%u -DGROUP_SIZE=%zu", (int)s->desc.op,
                      grids[i].unroll, grids[i].cache, grids[i].group_size);
        st = as_buf_check(&defines, err);
        struct as_program_desc desc = {
            .name = "bandwidth", .source = as_kernel_bandwidth, .defines = as_buf_get(&defines)};
        if (!st)
            st = s->dev->program->build(s->dev, &desc, &s->way_programs[i], err);
        if (!st)
            st = s->dev->program->kernel(s->dev, s->way_programs[i], "card", &s->ways[i], err);
        as_buf_finish(&defines);
    }
    s->kernel = s->ways[0];
    return st;
}

static enum as_status build(struct as_stream *s, struct as_error *err)
{
    struct as_buf defines = AS_BUF_INIT;
    as_buf_printf(&defines, "-DOP=%d -DPER_ITEM=%u", (int)s->desc.op, 1u << s->desc.width);
    enum as_status st = as_buf_check(&defines, err);
    struct as_program_desc desc = {
        .name = "bandwidth", .source = as_kernel_bandwidth, .defines = as_buf_get(&defines), .host = host_kernels};
    if (!st)
        st = s->dev->program->build(s->dev, &desc, &s->program, err);
    if (!st && !s->card)
        st = s->dev->program->kernel(s->dev, s->program, "stream", &s->kernel, err);
    if (!st)
        st = s->dev->program->kernel(s->dev, s->program, "fill", &s->fill, err);
    as_buf_finish(&defines);
    return st || !s->card ? st : build_ways(s, err);
}

/* The host fills a device's arrays in pieces, since it may have less memory than the device. */
static enum as_status fill_from_host(struct as_stream *s, unsigned arrays, struct as_error *err)
{
    const uint64_t piece = UINT64_C(1) << 20;
    double *buffer = malloc(piece * sizeof *buffer);
    enum as_status st = buffer ? AS_OK : as_nomem(err, piece * sizeof *buffer, "operands");
    for (uint64_t i = 0; i < s->n && !st; i += piece) {
        uint64_t take = s->n - i < piece ? s->n - i : piece;
        for (unsigned a = 0; a < arrays && !st; a++) {
            as_stream_fill(s->data, a, a < shape(s)->writes, i, take, buffer);
            st = s->dev->memory->write(s->dev, s->memory, (a * s->pitch + i) * 8, buffer, take * 8, err);
        }
    }
    free(buffer);
    return st;
}

/* Vectors are loaded as if they could not lie across lines. */
static enum as_status check_alignment(struct as_stream *s, struct as_error *err)
{
    const struct as_memory_ops *m = s->dev->memory;
    enum as_status st = m->map(s->dev, s->memory, err);
    if (st)
        return st;
    bool aligned = (uintptr_t)s->memory->host % 64 == 0;
    st = m->unmap(s->dev, s->memory, err);
    return st || aligned ? st
                         : as_fail(err, AS_UNSUPPORTED, "memory from '%s' does not start at a multiple of 64 bytes",
                                   s->desc.allocator);
}

/* The first `arrays` arrays; outputs come first. */
static enum as_status fill(struct as_stream *s, unsigned arrays, struct as_error *err)
{
    return s->native || s->desc.device_first ? launch_fill(s, arrays, err) : fill_from_host(s, arrays, err);
}

static enum as_status check_desc(const struct as_stream *s, struct as_error *err)
{
    const struct as_stream_desc *d = &s->desc;
    unsigned least = s->native ? d->threads : 1;
    if (s->native && d->threads == 0)
        return as_fail(err, AS_USAGE, "a stream on a CPU needs at least one thread");
    if (s->n < (uint64_t)least * LINE)
        return as_fail(err, AS_USAGE, "%llu bytes are less than a cache line of each array for every thread",
                       (unsigned long long)d->size);
    if (s->native && !d->choose_width && !as_stream_kernels(d->width))
        return as_fail(err, AS_UNSUPPORTED, "this CPU has no vectors of that width");
    if (d->nontemporal && !shape(s)->writes)
        return as_fail(err, AS_USAGE, "operation '%s' stores nothing", shape(s)->name);
    if (!s->native && !(s->dev->info.capabilities & AS_CAP_FP64))
        return as_fail(err, AS_UNSUPPORTED, "the device has no f64");
    return AS_OK;
}

enum as_status as_stream_prepare(struct as_stream *s, struct as_device *dev, const struct as_stream_desc *desc,
                                 struct as_error *err)
{
    *s = (struct as_stream){.dev = dev, .desc = *desc, .scalar = 3};
    s->native = (dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0;
    s->card = !s->native && !dev->info.is_host_memory && desc->choose_width;
    if (!s->native && desc->choose_width)
        s->desc.width = DEVICE_WIDTH;
    lay_out(s);
    enum as_status st = check_desc(s, err);
    if (st)
        return st;
    s->data = malloc(sizeof *s->data);
    if (!s->data)
        return as_nomem(err, sizeof *s->data, "operands");
    as_stream_data_init(s->data, desc->seed);
    if (!shape(s)->writes) {
        s->sum = as_stream_expected_sum(s->data, desc->op, s->n);
        s->sum_bits = as_stream_expected_bits(s->data, desc->op, s->n);
    }
    st = get_memory(s, err);
    if (!st)
        st = build(s, err);
    if (!st && s->native)
        st = check_alignment(s, err);
    if (!st)
        st = fill(s, shape(s)->arrays, err);
    bool ran = false;
    if (!st && (!s->native || desc->choose_width))
        st = as_stream_choose(s, &ran, err);
    if (!st && ran && shape(s)->writes)
        st = fill(s, shape(s)->writes, err); /* the trial has run over the outputs */
    return st;
}

/* At least one of each kind for every array: how many elements an instruction moves is the compiler's choice. */
void as_stream_expect(struct as_visit_context *vc, const struct as_stream *s)
{
    bool fused = s->desc.op == AS_STREAM_TRIAD || s->desc.op == AS_STREAM_NSTREAM || s->desc.op == AS_STREAM_DOT;
    if (shape(s)->reads)
        as_expect_code(vc, s->kernel, "load.global", shape(s)->reads);
    if (shape(s)->writes)
        as_expect_code(vc, s->kernel, "store.global", shape(s)->writes);
    if (fused)
        as_expect_code(vc, s->kernel, "fma.f64", 1);
}

/* ---- sampling and checking ---- */

static enum as_status check_sum(struct as_stream *s, struct as_error *err)
{
    if (!s->native && shape(s)->writes)
        return AS_OK; /* a device's threads write only sums */
    uint64_t *words = malloc(s->results * sizeof *words);
    if (!words)
        return as_nomem(err, s->results * sizeof *words, "results");
    enum as_status st = s->dev->memory->read(s->dev, s->result, 0, words, s->results * sizeof *words, err);
    uint64_t u = 0;
    double f = 0;
    size_t used = s->native ? s->results : s->card ? s->grid.groups : s->grid.groups * s->grid.group_size;
    for (size_t i = 0; i < used && !st; i += s->native ? RESULT_STRIDE : 1) {
        double v;
        memcpy(&v, &words[i], sizeof v);
        f += v;
        u += words[i];
    }
    free(words);
    if (st)
        return st;
    if (shape(s)->writes)
        s->wrong_sum |= u != s->last_reps * s->n;
    else if (s->native && s->desc.op == AS_STREAM_READ)
        s->wrong_sum |= u != s->last_reps * s->sum_bits;
    else
        s->wrong_sum |= f != (double)s->last_reps * s->sum;
    return AS_OK;
}

enum as_status as_stream_run(struct as_stream *s, uint64_t reps, double *gbs, double *seconds, struct as_error *err)
{
    struct as_timing t;
    struct as_stream_part part = {.count = s->n, .reps = reps};
    /* Another scalar each time, so that results of the sample before do not pass for this one's. A scripted device may
     * leave out launches that it has seen. */
    if (!(s->dev->info.capabilities & AS_CAP_SCRIPTED))
        s->scalar = 1 + (double)(s->samples++ % 7);
    enum as_status st = as_stream_launch(s, &part, &t, err);
    if (st)
        return st;
    s->reps += (double)reps;
    s->scalars += (double)reps * s->scalar;
    bool apart = s->desc.barrier && (!s->native || s->desc.threads > 1);
    s->last_reps = apart ? 1 : reps;
    *seconds = as_timing_seconds(&t);
    *gbs = as_stream_bytes(s) * (double)reps / *seconds * 1e-9;
    return check_sum(s, err);
}

static bool check_elements(struct as_stream *s, uint64_t first, uint64_t count, const double *got, char *why,
                           size_t size)
{
    for (uint64_t k = 0; k < count; k++) {
        double want = as_stream_expected(s->data, s->desc.op, first + k, s->scalar, s->reps, s->scalars);
        if (got[k] == want)
            continue;
        struct as_buf text = AS_BUF_INIT;
        as_buf_printf(&text, "element %llu is %.17g and must be %.17g", (unsigned long long)(first + k), got[k], want);
        as_copy_text(why, size, as_buf_get(&text));
        as_buf_finish(&text);
        return false;
    }
    return true;
}

enum { CHECK_WORDS = 1 << 16, CHECK_PIECES = 64 };

static bool check_piece(struct as_stream *s, uint64_t first, double *buffer, uint64_t words, char *why, size_t size)
{
    struct as_error err;
    uint64_t count = s->n - first < words ? s->n - first : words;
    if (s->dev->memory->read(s->dev, s->memory, (shape(s)->out * s->pitch + first) * 8, buffer, count * 8, &err)) {
        as_copy_text(why, size, err.text);
        return false;
    }
    return check_elements(s, first, count, buffer, why, size);
}

static bool check_output(struct as_stream *s, double *buffer, char *why, size_t size)
{
    if (s->whole_check || s->n <= (uint64_t)CHECK_WORDS * 4) {
        for (uint64_t i = 0; i < s->n; i += CHECK_WORDS)
            if (!check_piece(s, i, buffer, CHECK_WORDS, why, size))
                return false;
        snprintf(why, size, "all %llu elements and the sums are right", (unsigned long long)s->n);
        return true;
    }
    struct as_rng rng;
    as_rng_seed(&rng, s->desc.seed ^ s->samples);
    uint64_t blocks = (s->n + AS_STREAM_BLOCK - 1) / AS_STREAM_BLOCK;
    for (unsigned i = 0; i < CHECK_PIECES; i++) {
        uint64_t block = i == 0 ? 0 : i == 1 ? blocks - 1 : as_rng_below(&rng, blocks);
        if (!check_piece(s, block * AS_STREAM_BLOCK, buffer, AS_STREAM_BLOCK, why, size))
            return false;
    }
    snprintf(why, size, "%d drawn elements and the sums are right", CHECK_PIECES * AS_STREAM_BLOCK);
    return true;
}

void as_stream_variant(const struct as_stream *s, char *out, size_t size)
{
    static const char *const widths[AS_WIDTHS] = {"scalar", "128", "256", "512"};
    struct as_buf text = AS_BUF_INIT;
    if (s->native)
        as_buf_printf(&text, "%s", widths[s->desc.width]);
    else if (s->card)
        as_buf_printf(&text, "%s: %zu groups of %zu", s->way, s->grid.groups, s->grid.group_size);
    else
        as_buf_printf(&text, "%zu groups of %zu, %u f64 at once, %s", s->grid.groups, s->grid.group_size,
                      1u << s->desc.width, s->grid.interleaved ? "interleaved" : "in pieces");
    as_copy_text(out, size, as_buf_get(&text));
    as_buf_finish(&text);
}

bool as_stream_check(struct as_stream *s, char *why, size_t size)
{
    if (s->wrong_sum) {
        snprintf(why, size,
                 shape(s)->writes ? "not every element was done as often as asked"
                                  : "the sum differs from the reference");
        return false;
    }
    if (!shape(s)->writes) {
        snprintf(why, size, "the sum of all %llu elements is right", (unsigned long long)s->n);
        return true;
    }
    double *buffer = malloc(CHECK_WORDS * sizeof *buffer);
    if (!buffer) {
        snprintf(why, size, "out of memory for the check");
        return false;
    }
    bool right = check_output(s, buffer, why, size);
    free(buffer);
    return right;
}

void as_stream_finish(struct as_stream *s)
{
    if (!s->dev)
        return;
    for (size_t i = 0; i < AS_STREAM_GRIDS_MAX; i++) {
        s->dev->program->kernel_destroy(s->dev, s->ways[i]);
        s->dev->program->destroy(s->dev, s->way_programs[i]);
    }
    if (!s->card)
        s->dev->program->kernel_destroy(s->dev, s->kernel);
    s->dev->program->kernel_destroy(s->dev, s->fill);
    s->dev->program->destroy(s->dev, s->program);
    s->dev->memory->free(s->dev, s->table);
    s->dev->memory->free(s->dev, s->result);
    s->dev->memory->free(s->dev, s->memory);
    free(s->data);
    *s = (struct as_stream){0};
}
