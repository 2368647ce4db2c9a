#include "triads.h"

#include "device/cpu/features.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_bandwidth[];

const char *const as_stream_op_words[AS_STREAM_OPS + 1] = {"copy", "mul",   "add",     "triad", "dot",
                                                           "read", "write", "nstream", NULL};
const char *const as_stream_width_words[AS_WIDTHS + 1] = {"best", "scalar", "128", "256", "512", NULL};

enum { LINE = 64, ROUND = 1024 };
static const double SCALAR = 0.4;

static const struct {
    unsigned arrays;
    double moved;
    bool writes;
    unsigned first, second, output; /* arrays (a 0, b 1, c 2) that are read, and the one that is written */
} ops[AS_STREAM_OPS] = {
    [AS_STREAM_COPY] = {2, 2, true, 0, 0, 2},  [AS_STREAM_MUL] = {2, 2, true, 2, 2, 1},
    [AS_STREAM_ADD] = {3, 3, true, 0, 1, 2},   [AS_STREAM_TRIAD] = {3, 3, true, 1, 2, 0},
    [AS_STREAM_DOT] = {2, 2, false, 0, 1, 0},  [AS_STREAM_READ] = {1, 1, false, 0, 0, 0},
    [AS_STREAM_WRITE] = {1, 1, true, 0, 0, 0}, [AS_STREAM_NSTREAM] = {3, 4, true, 1, 2, 0},
};

unsigned as_stream_arrays(enum as_stream_op op)
{
    return ops[op].arrays;
}

double as_stream_moved(enum as_stream_op op)
{
    return ops[op].moved;
}

bool as_stream_writes(enum as_stream_op op)
{
    return ops[op].writes;
}

static const as_stream_fn (*table_of(enum as_stream_width width))[2]
{
    static const as_stream_fn(*const tables[AS_WIDTHS])[2] = {
        [AS_WIDTH_SCALAR] = as_stream_scalar,
        [AS_WIDTH_128] = as_stream_128,
        [AS_WIDTH_256] = as_stream_256,
        [AS_WIDTH_512] = as_stream_512,
    };
    return tables[width];
}

static enum as_stream_width widest(void)
{
    struct as_cpu_features f = as_cpu_features();
    if (f.avx512f && as_stream_512[0][0])
        return AS_WIDTH_512;
    if (f.avx2 && f.fma && as_stream_256[0][0])
        return AS_WIDTH_256;
    return as_stream_128[0][0] ? AS_WIDTH_128 : AS_WIDTH_SCALAR;
}

bool as_stream_width_usable(enum as_stream_width width)
{
    return width <= AS_WIDTH_SCALAR || (width <= widest() && table_of(width)[0][0]);
}

/* In [1, 2), different for each index and array: the upper bits of a product fill the mantissa. */
static double value_at(unsigned array, uint64_t i)
{
    uint64_t bits = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) * (2 * array + 3);
    bits = bits >> 12 | UINT64_C(0x3ff) << 52;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The part of a thread: whole lines, the last one takes the rest. */
static void slice_of(uint64_t n, unsigned thread, unsigned threads, uint64_t *from, uint64_t *count)
{
    uint64_t lines = n / (LINE / 8), each = lines / threads;
    *from = thread * each * (LINE / 8);
    *count = thread + 1 == threads ? n - *from : each * (LINE / 8);
}

/* args: 0 sums, 1 memory, 2 parameters as one block of u64 (a pointer's value, not the device's business) */
struct parameters {
    uint64_t n, offset[3];
    as_stream_fn run;
    unsigned op;
};

static void host_run(const struct as_host_call *call)
{
    const struct parameters *p;
    uint64_t from, count;
    memcpy(&p, call->args[2], sizeof p);
    slice_of(p->n, call->thread, call->threads, &from, &count);
    double *base = call->args[1];
    struct as_stream_slice slice = {base + p->offset[0] + from,
                                    base + p->offset[1] + from,
                                    base + p->offset[2] + from,
                                    count,
                                    SCALAR,
                                    (double *)call->args[0] + (size_t)call->thread * (LINE / 8),
                                    call->reps};
    p->run(&slice);
}

static bool is_output(enum as_stream_op op, unsigned array)
{
    return ops[op].writes && ops[op].output == array;
}

static bool is_used(enum as_stream_op op, unsigned array)
{
    return is_output(op, array) || (op != AS_STREAM_WRITE && (ops[op].first == array || ops[op].second == array));
}

/* Each thread fills what it will work on, so that its memory is near it. nstream adds to its output, so that starts as
 * a value too. */
static void fill_part(const struct parameters *p, double *base, uint64_t from, uint64_t count)
{
    enum as_stream_op op = (enum as_stream_op)p->op;
    for (unsigned array = 0; array < 3; array++) {
        if (!is_used(op, array))
            continue;
        double *x = base + p->offset[array];
        bool poison = is_output(op, array) && op != AS_STREAM_NSTREAM;
        for (uint64_t i = from; i < from + count; i++)
            x[i] = poison ? NAN : value_at(array, i);
    }
}

static void host_fill(const struct as_host_call *call)
{
    const struct parameters *p;
    uint64_t from, count;
    memcpy(&p, call->args[2], sizeof p);
    slice_of(p->n, call->thread, call->threads, &from, &count);
    fill_part(p, call->args[1], from, count);
}
static const struct as_host_kernel host_kernels[] = {{"run", host_run}, {"fill", host_fill}, {NULL, NULL}};

static double expected_at(const struct as_stream *s, uint64_t i)
{
    double a = value_at(0, i), b = value_at(1, i), c = value_at(2, i);
    const double by_op[AS_STREAM_OPS] = {
        [AS_STREAM_COPY] = a,       [AS_STREAM_MUL] = SCALAR * c,
        [AS_STREAM_ADD] = a + b,    [AS_STREAM_TRIAD] = b + SCALAR * c,
        [AS_STREAM_DOT] = a * b,    [AS_STREAM_READ] = a,
        [AS_STREAM_WRITE] = SCALAR, [AS_STREAM_NSTREAM] = a + (double)s->reps_done * (b + SCALAR * c),
    };
    return by_op[s->op];
}

/* In long double and in blocks, so that the reference is better than what it judges. Kept, since the values depend on
 * the index alone. */
static double expected_sum(const struct as_stream *s)
{
    static struct {
        enum as_stream_op op;
        uint64_t n;
        double sum;
    } known;
    if (known.n == s->n && known.op == s->op)
        return known.sum;
    long double total = 0;
    for (uint64_t i = 0; i < s->n;) {
        double block = 0;
        for (uint64_t end = i + 4096 < s->n ? i + 4096 : s->n; i < end; i++)
            block += expected_at(s, i);
        total += block;
    }
    known.op = s->op;
    known.n = s->n;
    known.sum = (double)total;
    return known.sum;
}

static enum as_status launch(struct as_stream *s, struct as_kernel *kernel, struct parameters *p, uint64_t reps,
                             struct as_timing *t, struct as_error *err)
{
    struct as_arg args[6] = {{.kind = AS_ARG_MEMORY, .u.memory = s->sums},
                             {.kind = AS_ARG_MEMORY, .u.memory = s->memory}};
    size_t n = 3;
    if (s->native)
        args[2] = (struct as_arg){.kind = AS_ARG_U64, .u.u64 = (uint64_t)(uintptr_t)p};
    else {
        for (int i = 0; i < 3; i++)
            args[2 + i] = (struct as_arg){.kind = AS_ARG_U32, .u.u32 = (uint32_t)(s->offset[i] / ROUND)};
        args[5] = (struct as_arg){.kind = AS_ARG_U32, .u.u32 = (uint32_t)(s->n / ROUND)};
        n = 6;
    }
    struct as_launch l = {.kernel = kernel,
                          .args = args,
                          .args_n = n,
                          .groups = s->groups,
                          .group_size = s->group_size,
                          .reps = reps,
                          .flags = kernel == s->kernel ? s->flags : 0,
                          .work = {.bytes = ops[s->op].moved * 8 * (double)s->n, .footprint = (double)s->footprint}};
    return s->dev->queue->launch(s->dev, &l, t, err);
}

static struct parameters parameters_of(const struct as_stream *s, const struct as_stream_desc *d)
{
    struct parameters p = {.n = s->n, .offset = {s->offset[0], s->offset[1], s->offset[2]}, .op = s->op};
    if (s->native && d) {
        enum as_stream_width w = d->width == AS_WIDTH_BEST ? widest() : d->width;
        p.run = table_of(w)[s->op][d->nontemporal];
    }
    return p;
}

/* Arrays that are used lie one behind the other. Each starts a third of a page after a page boundary further than the
 * one before, since loads that follow a store at the same offset in a page wait for it (4 KiB aliasing). */
static uint64_t place(struct as_stream *s)
{
    uint64_t at = 0, step = s->native ? 168 : ROUND; /* elements: 1344 bytes, 21 lines */
    unsigned used = 0;
    for (unsigned array = 0; array < 3; array++) {
        if (!is_used(s->op, array)) {
            s->offset[array] = 0;
            continue;
        }
        s->offset[array] = at + (s->native ? used * step : 0);
        at += (s->n + 511) / 512 * 512;
        if (!s->native)
            at = (at + ROUND - 1) / ROUND * ROUND;
        used++;
    }
    return 8 * (at + 3 * step);
}

static enum as_status build(struct as_stream *s, const struct as_stream_desc *d, struct as_error *err)
{
    char defines[64], name[32];
    snprintf(defines, sizeof defines, "-DROUND=%d", ROUND);
    struct as_program_desc desc = {
        .name = "bandwidth", .source = as_kernel_bandwidth, .defines = defines, .host = host_kernels};
    if (s->native) {
        if (!as_stream_width_usable(d->width))
            return as_fail(err, AS_UNSUPPORTED, "this CPU has no vectors of %s bits", as_stream_width_words[d->width]);
        if (!parameters_of(s, d).run)
            return as_fail(err, AS_UNSUPPORTED, "'%s' has no store that could be non-temporal",
                           as_stream_op_words[s->op]);
    }
    snprintf(name, sizeof name, s->native ? "run" : "%s", as_stream_op_words[s->op]);
    enum as_status st = s->dev->program->build(s->dev, &desc, &s->program, err);
    if (!st)
        st = s->dev->program->kernel(s->dev, s->program, name, &s->kernel, err);
    if (!st)
        st = s->dev->program->kernel(s->dev, s->program, s->native ? "fill" : "fill_all", &s->fill, err);
    return st;
}

/* The host writes everything through its own eyes, whoever uses it later. */
static enum as_status fill_by_host(struct as_stream *s, struct as_error *err)
{
    struct parameters p = parameters_of(s, NULL);
    enum as_status st = s->dev->memory->map(s->dev, s->memory, err);
    if (st)
        return st;
    fill_part(&p, s->memory->host, 0, s->n);
    return s->native ? AS_OK : s->dev->memory->unmap(s->dev, s->memory, err);
}

static enum as_status fill(struct as_stream *s, const struct as_stream_desc *d, struct as_error *err)
{
    struct parameters p = parameters_of(s, NULL);
    struct as_timing t;
    enum as_status st = AS_OK;
    if (s->native)
        return launch(s, s->fill, &p, 1, &t, err);
    /* A device's fill does not know the values of the host's hash in its own arithmetic, so it only touches. */
    if (!d->host_first)
        st = launch(s, s->fill, NULL, 1, &t, err);
    return st ? st : fill_by_host(s, err);
}

enum as_status as_stream_prepare(struct as_stream *s, struct as_device *dev, const struct as_stream_desc *d,
                                 struct as_error *err)
{
    *s = (struct as_stream){.dev = dev,
                            .op = d->op,
                            .native = (dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0,
                            .threads = d->threads ? d->threads : 1,
                            .flags = d->barrier ? AS_LAUNCH_BARRIER : 0};
    s->n = d->bytes / 8 / ops[d->op].arrays;
    if (!s->native)
        s->n -= s->n % ROUND;
    else if (s->n / 8 < s->threads)
        return as_fail(err, AS_UNSUPPORTED, "%llu bytes are less than a line for each of %u threads",
                       (unsigned long long)d->bytes, s->threads);
    if (s->n == 0)
        return as_fail(err, AS_UNSUPPORTED, "%llu bytes are too few for arrays of %d doubles",
                       (unsigned long long)d->bytes, s->native ? 8 : ROUND);
    if (!s->native && !(dev->info.capabilities & AS_CAP_FP64))
        return as_fail(err, AS_UNSUPPORTED, "the device has no double precision");
    s->footprint = s->n * 8 * ops[d->op].arrays;
    s->group_size = s->native ? 1 : 256;
    s->groups = s->native ? s->threads : s->n / ROUND;
    if (!ops[d->op].writes && !s->native)
        s->groups = s->n / ROUND < 4096 ? s->n / ROUND : 4096;
    struct as_memory_desc memory = {.allocator = d->allocator, .bytes = place(s), .node = -1, .fresh = d->fresh};
    struct as_memory_desc sums = {.allocator = d->allocator,
                                  .bytes = s->native ? (uint64_t)s->threads * LINE : s->groups * s->group_size * 8,
                                  .node = -1};
    enum as_status st = build(s, d, err);
    if (!st)
        st = dev->memory->alloc(dev, &memory, &s->memory, err);
    if (!st)
        st = dev->memory->alloc(dev, &sums, &s->sums, err);
    if (!st)
        st = fill(s, d, err);
    if (!st && !ops[d->op].writes)
        s->expected = expected_sum(s);
    s->variant = !s->native ? "device" : as_stream_width_words[d->width == AS_WIDTH_BEST ? widest() : d->width];
    s->run = st ? NULL : parameters_of(s, d).run;
    return st;
}

static enum as_status clear_sums(struct as_stream *s, struct as_error *err)
{
    enum as_status st = s->dev->memory->map(s->dev, s->sums, err);
    if (st)
        return st;
    memset(s->sums->host, 0, s->sums->bytes);
    return s->native ? AS_OK : s->dev->memory->unmap(s->dev, s->sums, err);
}

/* A device's sums are of its last repetition, a CPU's of all of them. */
static enum as_status look_at_sums(struct as_stream *s, uint64_t reps, struct as_error *err)
{
    double sum = 0;
    enum as_status st = s->dev->memory->map(s->dev, s->sums, err);
    if (st)
        return st;
    const double *x = s->sums->host;
    if (s->native)
        for (unsigned t = 0; t < s->threads; t++)
            sum += x[(size_t)t * (LINE / 8)];
    else
        for (size_t i = 0; i < s->groups * s->group_size; i++)
            sum += x[i];
    double expected = s->expected * (s->native ? (double)reps : 1);
    /* One wrong element changes the sum by more than this up to 10^8 elements; rounding is far below. */
    if (!(fabs(sum / expected - 1) < 2e-9))
        s->wrong_sum = 1;
    return s->native ? AS_OK : s->dev->memory->unmap(s->dev, s->sums, err);
}

enum as_status as_stream_run(struct as_stream *s, uint64_t reps, double *gbs, double *seconds, struct as_error *err)
{
    struct parameters p = {.n = s->n, .offset = {s->offset[0], s->offset[1], s->offset[2]}, .op = s->op, .run = s->run};
    struct as_timing t;
    enum as_status st = ops[s->op].writes ? AS_OK : clear_sums(s, err);
    if (!st)
        st = launch(s, s->kernel, &p, reps, &t, err);
    if (st)
        return st;
    s->reps_done += reps;
    *seconds = as_timing_seconds(&t);
    *gbs = ops[s->op].moved * 8 * (double)s->n * (double)reps / *seconds / 1e9;
    return ops[s->op].writes ? AS_OK : look_at_sums(s, reps, err);
}

static bool element_ok(const struct as_stream *s, const double *out, uint64_t i)
{
    double expected = expected_at(s, i);
    /* nstream adds up roundings; a fused multiply-add rounds once where the reference rounds twice. */
    double room = s->op == AS_STREAM_NSTREAM ? 1e-10 : 1e-14;
    return fabs(out[i] - expected) <= room * fabs(expected);
}

bool as_stream_check(struct as_stream *s, char *why, size_t size)
{
    enum { WHOLE = 1 << 20, PIECES = 4096, PIECE = 16 };
    if (!ops[s->op].writes) {
        snprintf(why, size, s->wrong_sum ? "a sum differs from the reference" : "every sum equals the reference");
        return !s->wrong_sum;
    }
    if (s->dev->memory->map(s->dev, s->memory, NULL)) {
        snprintf(why, size, "the output cannot be read");
        return false;
    }
    const double *out = (double *)s->memory->host + s->offset[ops[s->op].output];
    uint64_t bad = 0, seen = 0, step = s->n <= WHOLE ? PIECE : s->n / PIECES;
    for (uint64_t at = 0; at < s->n; at += step)
        for (uint64_t i = at; i < at + PIECE && i < s->n; i++, seen++)
            bad += !element_ok(s, out, i);
    for (uint64_t i = s->n > PIECE ? s->n - PIECE : 0; i < s->n; i++, seen++)
        bad += !element_ok(s, out, i);
    if (!s->native)
        s->dev->memory->unmap(s->dev, s->memory, NULL);
    snprintf(why, size, "%llu of %llu elements looked at differ from the reference", (unsigned long long)bad,
             (unsigned long long)seen);
    return bad == 0;
}

void as_stream_finish(struct as_stream *s)
{
    if (!s->dev)
        return;
    s->dev->program->kernel_destroy(s->dev, s->kernel);
    s->dev->program->kernel_destroy(s->dev, s->fill);
    s->dev->program->destroy(s->dev, s->program);
    s->dev->memory->free(s->dev, s->sums);
    s->dev->memory->free(s->dev, s->memory);
    *s = (struct as_stream){0};
}
