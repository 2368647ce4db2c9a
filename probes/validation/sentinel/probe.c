/* sentinel: small fixed work, repeated throughout a run to detect disturbances. Its numbers are compared only with each
 * other. See method.md. */
#include "lib/buffers/buffers.h"

#include "device/arena.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_sentinel[];

static const char *const what_words[] = {"core", "memory", "pair", NULL};
static const struct as_axis axes[] = {
    AS_WORD_AXIS("what", what_words, "all",
                 "arithmetic, reads of main memory, or a cache line passed between two CPUs"),
    {0},
};
static const char *const grids[] = {"what=all", NULL};

enum { WINDOW = 8 << 20, CORE_STEPS = 4096, PAIR_STEPS = 16, DEVICE_THREADS = 64 };
enum what { CORE, MEMORY, PAIR }; /* in the order of the words */

struct sentinel {
    struct as_device *dev;
    enum what what;
    int native;
    uint64_t passed;                /* pair: passes before this sample */
    uint64_t core_reps, core_value; /* core: the expected product */
    uint32_t *sums;                 /* memory, on a device: one per thread */
    struct as_buffers own;
    struct as_memory *block, *result;
    struct as_kernel *kernel;
    uint64_t bytes, window; /* bytes of the block; bytes read per sample */
    uint64_t from;          /* offset of the window */
    int wrong;
    size_t workgroups, workgroup_size;
};

static void host_core(const struct as_host_call *call)
{
    uint64_t x = 1;
    for (uint64_t r = call->reps * (CORE_STEPS / 8); r; r--) {
#if defined(__x86_64__)
        __asm__ volatile("imul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\t"
                         "imul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0"
                         : "+r"(x));
#else
        for (int i = 0; i < 8; i++) {
            x *= 3;
            __asm__ volatile("" : "+r"(x));
        }
#endif
    }
    *(uint64_t *)call->args[0] = x;
}

/* Four sums, so that additions are not the bottleneck. */
static void sentinel_host_memory(const struct as_host_call *call)
{
    const uint64_t *p = call->args[1];
    uint64_t from, bytes, s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    memcpy(&from, call->args[2], sizeof from);
    memcpy(&bytes, call->args[3], sizeof bytes);
    p += from / 8;
    for (uint64_t r = call->reps; r; r--)
        for (uint64_t i = 0; i < bytes / 8; i += 8) {
            s0 += p[i];
            s1 += p[i + 2];
            s2 += p[i + 4];
            s3 += p[i + 6];
            __asm__ volatile("" : "+r"(s0), "+r"(s1), "+r"(s2), "+r"(s3));
        }
    *(uint64_t *)call->args[0] = s0 + s1 + s2 + s3;
}

/* Two threads increment a word in turn. */
static void host_pair(const struct as_host_call *call)
{
    _Atomic uint64_t *ball = (_Atomic uint64_t *)call->args[0] + 8;
    uint64_t first;
    memcpy(&first, call->args[2], sizeof first);
    const uint64_t end = first + 2 * PAIR_STEPS * call->reps;
    for (uint64_t want = first + call->thread; want < end; want += 2) {
        uint64_t seen = want;
        while (
            !atomic_compare_exchange_strong_explicit(ball, &seen, want + 1, memory_order_acq_rel, memory_order_relaxed))
            seen = want;
    }
}
static const struct as_host_kernel host_kernels[] = {
    {"core", host_core}, {"memory", sentinel_host_memory}, {"pair", host_pair}, {NULL, NULL}};

static enum as_applies sentinel_applies(const struct as_device_info *info, const struct as_axes *a,
                                        struct as_error *err)
{
    (void)err;
    bool pair = as_word_is(a, "what", "pair");
    return pair && (!(info->capabilities & AS_CAP_HOST_KERNELS) || info->threads < 2) ? AS_PRUNED : AS_APPLIES;
}

static enum as_status sentinel_get_memory(struct sentinel *s, struct as_error *err)
{
    const char *allocator = NULL;
    for (size_t i = 0; i < s->dev->info.allocators_n && !allocator; i++)
        if (!s->dev->info.allocators[i].why_not[0])
            allocator = s->dev->info.allocators[i].name;
    if (!allocator)
        return as_fail(err, AS_UNSUPPORTED, "the device has no usable allocator");
    uint64_t result_bytes = s->sums ? s->workgroups * s->workgroup_size * sizeof *s->sums : 4096;
    s->result = as_buffers_memory(&s->own, allocator, result_bytes, err);
    if (s->own.status || s->what == CORE)
        return s->own.status;
    if (s->what == PAIR)
        return s->dev->memory->write(s->dev, s->result, 64, &s->passed, sizeof s->passed, err);
    /* Each sample reads the window read least recently. At most 1 GiB, even with larger caches: a sentinel must be
     * cheap, and is only compared with itself. */
    uint64_t want = as_info_memory_least(&s->dev->info, NULL, 1) + WINDOW, most = s->dev->info.memory_free / 8;
    want = want < 8 * (uint64_t)WINDOW ? 8 * (uint64_t)WINDOW : want > UINT64_C(1) << 30 ? UINT64_C(1) << 30 : want;
    s->window = WINDOW;
    s->bytes = (want < most ? want : most) / WINDOW * WINDOW;
    if (s->bytes < WINDOW)
        return as_fail(err, AS_UNSUPPORTED, "too little memory is free for the sentinel");
    const struct as_arena_desc block = {.memory = {.allocator = allocator, .bytes = s->bytes, .node = -1},
                                        .use = "sentinel"};
    return as_arena_take(s->dev, &block, &s->block, err);
}

enum { STEP = 1 << 20, PIECES = STEP / AS_ARENA_PIECE };

static bool is_filled(const uint8_t *pieces)
{
    bool filled = true;
    for (size_t i = 0; i < PIECES; i++)
        filled &= pieces[i] == AS_PIECE_FILLED;
    return filled;
}

/* Memory of an arena is written once, which populates it and gives it the values that the sums expect. */
static enum as_status fill_block(struct sentinel *s, struct as_error *err)
{
    enum as_status st = AS_OK;
    static const uint64_t marks[8] = {1, 0, 2, 0, 3, 0, 4, 0};
    struct as_arena_content there = {0};
    const bool kept = as_arena_content(s->dev, s->block, &there) && there.offset % AS_ARENA_PIECE == 0;
    uint64_t *page = malloc(STEP);
    if (!page)
        return as_nomem(err, STEP, "a page");
    for (size_t i = 0; i < STEP / 8; i++)
        page[i] = marks[i % 8];
    for (uint64_t at = 0; at < s->bytes && !st; at += STEP) {
        uint8_t *pieces = kept ? &there.pieces[(there.offset + at) / AS_ARENA_PIECE] : NULL;
        if (kept && is_filled(pieces))
            continue;
        st = s->dev->memory->write(s->dev, s->block, at, page, STEP, err);
        if (kept && !st)
            memset(pieces, AS_PIECE_FILLED, PIECES);
    }
    free(page);
    return st;
}

static enum as_status sentinel_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct sentinel *s = state;
    s->dev = tc->dev;
    s->what = (enum what)as_word_index(tc->axes, "what", what_words);
    if (s->what > PAIR)
        return as_fail(err, AS_USAGE, "unknown sentinel '%s'", as_axes_text(tc->axes, "what"));
    s->native = (tc->dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0;
    s->workgroup_size = s->native ? 1 : DEVICE_THREADS;
    s->workgroups = s->what == PAIR ? 2 : 1;
    if (!s->native && s->what == MEMORY) {
        s->workgroups = 4 * (size_t)(tc->dev->info.compute_units ? tc->dev->info.compute_units : 1);
        s->sums = calloc(s->workgroups * s->workgroup_size, sizeof *s->sums);
        if (!s->sums)
            return as_nomem(err, s->workgroups * s->workgroup_size * sizeof *s->sums, "sums");
    }
    struct as_program_desc desc = {.name = "sentinel", .source = as_kernel_sentinel, .host = host_kernels};
    as_buffers_open(&s->own, tc->dev, &desc, err);
    s->kernel = as_buffers_kernel(&s->own, what_words[s->what], err);
    enum as_status st = s->own.status ? s->own.status : sentinel_get_memory(s, err);
    if (!st && s->what == MEMORY) {
        s->from = tc->seed % (s->bytes / s->window) * s->window;
        st = fill_block(s, err);
    }
    tc->footprint = s->what == MEMORY ? s->bytes : 64;
    if (s->what == MEMORY)
        tc->min_reps = tc->max_reps = 1;
    else
        tc->sample_s = 5e-4;
    return st;
}

/* Accesses per repetition, and the unit of the value. */
static double sentinel_steps_of(const struct sentinel *s)
{
    static const double steps[] = {[CORE] = CORE_STEPS, [MEMORY] = 0, [PAIR] = 2 * PAIR_STEPS};
    return s->what == MEMORY ? (double)(s->window / 64) : steps[s->what];
}

/* The chain of multiplications, as in the kernels for CPU and device. */
static uint64_t core_value(bool native, uint64_t reps)
{
    if (!native) {
        uint32_t x = 1;
        for (uint32_t t = 0; t < (uint32_t)reps * 512; t++)
            for (uint32_t factor = 3; factor <= 17; factor += 2)
                x = x * factor + t;
        return x;
    }
    uint64_t x = 1, power = 3;
    for (uint64_t n = reps * CORE_STEPS; n; n >>= 1) {
        x *= n & 1 ? power : 1;
        power *= power;
    }
    return x;
}

static bool core_is_right(struct sentinel *s, uint64_t reps, uint64_t got)
{
    if (s->core_reps != reps) {
        s->core_value = core_value(s->native, reps);
        s->core_reps = reps;
    }
    return (s->native ? got : (uint32_t)got) == s->core_value;
}

static enum as_status look_at_result(struct sentinel *s, uint64_t reps, struct as_error *err)
{
    uint64_t got[9] = {0}, sum = 0;
    const size_t threads = s->sums ? s->workgroups * s->workgroup_size : 0;
    enum as_status st = s->sums ? s->dev->memory->read(s->dev, s->result, 0, s->sums, threads * sizeof *s->sums, err)
                                : s->dev->memory->read(s->dev, s->result, 0, got, sizeof got, err);
    if (st)
        return st;
    for (size_t i = 0; i < threads; i++)
        sum += s->sums[i];
    if (s->what == CORE)
        s->wrong |= !core_is_right(s, reps, got[0]);
    if (s->what == MEMORY)
        s->wrong |= (s->sums ? sum : got[0]) != reps * (s->window / 64) * (1 + 2 + 3 + 4);
    if (s->what == PAIR) {
        s->passed += 2 * PAIR_STEPS * reps;
        s->wrong |= got[8] != s->passed;
    }
    return AS_OK;
}

static enum as_status sentinel_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct sentinel *s = state;
    const bool memory = s->what == MEMORY;
    struct as_arg args[4] = {as_memory_arg(s->result), as_memory_arg(memory ? s->block : s->result)};
    if (s->native) {
        args[2] = as_u64_arg(s->what == PAIR ? s->passed : s->from);
        args[3] = as_u64_arg(s->window);
    } else {
        args[2] = as_u32_arg((s->from / 4));
        args[3] = as_u32_arg(memory ? (uint32_t)(s->window / 4) : (uint32_t)reps);
    }
    struct as_launch l = {.kernel = s->kernel,
                          .args = args,
                          .args_n = 4,
                          .workgroups = s->workgroups,
                          .workgroup_size = s->workgroup_size,
                          .reps = s->native || memory ? reps : 1,
                          .work = {.bytes = memory ? (double)s->window : 0,
                                   .accesses = memory ? 0 : sentinel_steps_of(s) * (s->native ? 1 : (double)reps),
                                   .footprint = memory ? (double)s->bytes : 64}};
    struct as_timing t;
    enum as_status st = s->dev->queue->launch(s->dev, &l, &t, err);
    if (!st)
        st = look_at_result(s, reps, err);
    if (st)
        return st;
    if (memory)
        s->from = (s->from + s->window) % s->bytes;
    out->seconds = as_timing_seconds(&t);
    out->value = out->seconds / ((double)reps * sentinel_steps_of(s)) * 1e9;
    return AS_OK;
}

static bool sentinel_check(void *state, char *why, size_t size)
{
    const struct sentinel *s = state;
    static const char *const outcome[] = {
        [CORE] = "the product", [MEMORY] = "the sum over the window", [PAIR] = "the count of passes"};
    snprintf(why, size, "%s is %s", outcome[s->what], s->wrong ? "wrong" : "right");
    return !s->wrong;
}

static void sentinel_finish(void *state)
{
    struct sentinel *s = state;
    as_buffers_finish(&s->own);
    if (s->block)
        as_arena_give(s->dev, s->block);
    free(s->sums);
}

const struct as_probe as_probe_sentinel = {
    .name = "sentinel",
    .title = "Sentinel",
    .question = "Has the machine's speed changed since the run began?",
    .metric = "time",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "time of one multiplication (core), of one cache line read sequentially (memory), or passed (pair)",
    .hidden = true,
    AS_CELLS(axes, grids, grids, sentinel_applies),
    .patience_s = 30, /* the driver compiles the kernel first */
    AS_TRIAL(struct sentinel, sentinel_prepare, sentinel_sample, sentinel_check, sentinel_finish),
};
