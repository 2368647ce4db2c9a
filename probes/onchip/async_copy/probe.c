/* async_copy: copies from global to shared memory, through registers and by asynchronous instructions. See method.md.
 */
#include "lib/kernel_timer/kernel_timer.h"
#include "lib/ops/tick.h"

#include "device/dialect/dialect.h"

#include <stdio.h>
#include <stdlib.h>

extern const char as_kernel_async_copy[], as_kernel_warpgroup[];

static const char *const what_words[] = {"latency", "bandwidth", "issue", NULL};
enum what { LATENCY, BANDWIDTH, ISSUE };
static const char *const path_words[] = {"load", "cp_async", "bulk", "tensor", "to_lds", NULL};
static const char *const level_words[] = {"L2", "memory", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS(
        "what", what_words, "bandwidth",
        "latency: one copy at a time on one compute unit; bandwidth: `stages` copies in flight on every compute "
        "unit; issue: cost of each additional copy instruction to one warp, with latency hidden by arithmetic, up to "
        "`stages` copies in flight"),
    AS_WORD_AXIS(
        "path", path_words, "load",
        "load: loads to registers, then stores to shared memory; cp_async: 16 bytes per thread (cp.async, sm_80); "
        "bulk: one copy by the TMA (cp.async.bulk, sm_90); tensor: the same of a 2D tensor; to_lds: 4 bytes per lane "
        "(AMD's global loads to LDS)"),
    AS_WORD_AXIS("level", level_words, "L2", "where the data is"),
    AS_SIZE_AXIS("tile", 1 << 10, 32 << 10, "8KiB", "bytes per copy of a workgroup, a power of 2"),
    AS_COUNT_AXIS("stages", 1, 8, "1", "copies in flight per workgroup: 1, 2, 4 or 8"),
    {0},
};
static const char *const quick[] = {"what=latency path=all tile=1KiB,8KiB", "what=issue path=all tile=1KiB stages=8",
                                    "what=bandwidth path=all level=all tile=8KiB stages=1,2,4,8", NULL};
static const char *const full[] = {"what=latency path=all tile=1KiB..32KiB x2",
                                   "what=issue path=all tile=1KiB stages=4,8",
                                   "what=bandwidth path=all level=all tile=1KiB..32KiB x2 stages=1,2,4,8", NULL};

/* ---- which cells ---- */

enum { WARPGROUP_LEAST = 90, LOAD_BYTES = 16, LDS_BYTES = 4, GROUP_MOST = 256, HELD_MOST = 256 };
enum { TENSOR_ROW = 128, TENSOR_ELEMENT = 4 }; /* bytes; tiles of tensors begin at multiples of a row */

static const struct path {
    const char *word, *define, *head;
    enum as_dialect dialect; /* AS_DIALECT_N: any */
    unsigned least;          /* architecture number */
    const char *chips;       /* prefix of the architectures that have it */
    const char *operation;   /* in machine code, per stage: */
    unsigned bytes;          /* per thread and instruction; 0: one for a copy */
    bool is_tensor;
} paths[] = {
    {"load", "LOAD", "", AS_DIALECT_N, 0, "", "load.global.128", LOAD_BYTES, false},
    {"cp_async", "CP_ASYNC", "", AS_DIALECT_CUDA, 80, "", "load.async", LOAD_BYTES, false},
    {"bulk", "BULK", as_kernel_warpgroup, AS_DIALECT_CUDA, WARPGROUP_LEAST, "", "load.async", 0, false},
    {"tensor", "TENSOR", as_kernel_warpgroup, AS_DIALECT_CUDA, WARPGROUP_LEAST, "", "load.async", 0, true},
    {"to_lds", "TO_LDS", "", AS_DIALECT_HIP, 0, "gfx9", "load.async", LDS_BYTES, false},
};

struct shape {
    const struct path *path;
    enum what what;
    bool in_memory;
    uint64_t bytes, stages, threads;
    uint64_t buffer; /* bytes */
};

static uint64_t power_of_2_up_to(uint64_t bytes)
{
    uint64_t p = 1;
    while (p <= bytes / 2)
        p *= 2;
    return p;
}

enum { BUFFER_LEAST = 1 << 20, UNKNOWN_L2 = 4 << 20 };

static uint64_t async_copy_buffer(const struct as_device_info *info, bool in_memory)
{
    uint64_t l2 = as_info_cache(info, 2), half = (l2 ? l2 : UNKNOWN_L2) / 2;
    if (in_memory) { /* of four times the L2 a quarter may still hit: replacement need not be by age */
        const uint64_t least = 2 * power_of_2_up_to(as_info_memory_least(info, NULL, 1) - 1);
        uint64_t set = power_of_2_up_to(as_info_memory_set(info));
        while (set > least && set > info->memory_free / 2)
            set /= 2;
        return set > least ? set : least;
    }
    return power_of_2_up_to(half > BUFFER_LEAST ? half : BUFFER_LEAST);
}

static void async_copy_shape(const struct as_device_info *info, const struct as_axes *a, struct shape *s)
{
    *s = (struct shape){.path = &paths[as_word_index(a, "path", path_words)],
                        .what = (enum what)as_word_index(a, "what", what_words),
                        .in_memory = as_word_is(a, "level", "memory"),
                        .bytes = as_axes_u64(a, "tile"),
                        .stages = as_axes_u64(a, "stages"),
                        .threads = GROUP_MOST};
    if (s->what == ISSUE && info->warp > 1)
        s->threads = info->warp;
    while (s->threads > 1 && (s->threads > info->threads || s->threads * LOAD_BYTES > s->bytes))
        s->threads /= 2;
    s->buffer = async_copy_buffer(info, s->in_memory);
}

static enum as_applies async_copy_path_applies(const struct as_device_info *info, const struct path *p,
                                               struct as_error *err)
{
    const enum as_dialect dialect = as_dialect_find(info->dialect);
    if (p->dialect != AS_DIALECT_N && p->dialect != dialect)
        return as_pruned(err, "this device has no path %s", p->word);
    if (p->least && as_arch_number(info) < p->least)
        return as_inapplicable(err, "path %s needs an architecture from sm_%u on, this is %s", p->word, p->least,
                               info->arch);
    if (strncmp(info->arch, p->chips, strlen(p->chips)) != 0)
        return as_inapplicable(err, "path %s needs %s, this is %s", p->word, p->chips, info->arch);
    return AS_APPLIES;
}

static enum as_applies async_copy_applies(const struct as_device_info *info, const struct as_axes *a,
                                          struct as_error *err)
{
    struct shape s;
    async_copy_shape(info, a, &s);
    const uint64_t shared = info->workgroup_shared ? info->workgroup_shared : 32 << 10, ring = s.bytes * s.stages;
    if ((s.bytes & (s.bytes - 1)) || (s.stages & (s.stages - 1)))
        return as_pruned(err, "tile and stages are powers of 2");
    if (s.what == LATENCY && (s.stages > 1 || s.in_memory))
        return as_pruned(err, "latency is that of one copy, from L2");
    if (s.what == ISSUE && (s.stages == 1 || s.in_memory))
        return as_pruned(err, "issue needs at least 2 stages and level=L2");
    if ((s.what == ISSUE || (s.what == LATENCY && !(info->capabilities & AS_CAP_CYCLES))) && info->warp <= 1)
        return as_inapplicable(err, "a core runs the threads of a workgroup one after another");
    if (ring + TENSOR_ROW + s.stages * sizeof(uint64_t) > shared)
        return as_pruned(err, "a workgroup has %llu bytes of shared memory", (unsigned long long)shared);
    if (s.path->dialect == AS_DIALECT_N && ring / s.threads > HELD_MOST)
        return as_pruned(err, "a thread would hold more than %d bytes in registers", (int)HELD_MOST);
    return async_copy_path_applies(info, s.path, err);
}

static uint64_t async_copy_memory_claim(const struct as_device_info *info, const struct as_axes *a)
{
    return as_word_is(a, "level", "memory") ? async_copy_buffer(info, true) : 0;
}

static double async_copy_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return 30 + (double)async_copy_memory_claim(info, a) / 100e6; /* the driver compiles the kernel first */
}

/* ---- one trial ---- */

enum {
    PATTERN_WORDS = 1 << 16, /* repeated over the buffer */
    PAIR_TRIES = 4           /* a preempted launch may take longer than one with more rounds */
};
struct state {
    struct as_kernel_timer timer;
    struct shape shape;
    struct as_kernel *kernel;
    struct as_memory *buffer, *sums;
    uint32_t *pattern, *sum; /* of the host */
    uint32_t *each, whole;   /* sums of the pieces of a period, and of all of them */
    uint64_t pieces, period; /* in the buffer; after which words read and data repeat */
    size_t workgroups;
    uint64_t shift; /* pieces between the starts of workgroups */
    uint32_t spread;
    uint64_t first;       /* piece with which the next launch begins */
    bool by_rounds;       /* the latency, where kernels have no cycle counter */
    struct as_tick *tick; /* the clock of these rounds; NULL: unknown */
    int wrong;
};

enum {
    ROUNDS_BEFORE = 2,
    /* Workgroups that take pieces in one order catch up with one another, and together exceed the bandwidth of L2. */
    SPREAD_IN_L2 = 2,
    WORK = 256 /* steps that hide the copies of a round: over 1000 cycles */
};

/* By each thread, or by one of them. */
static uint64_t async_copy_instructions(const struct shape *p)
{
    return p->path->bytes ? p->bytes / p->path->bytes / p->threads : 1;
}

static uint64_t piece_words(const struct shape *p)
{
    return p->bytes / sizeof(uint32_t);
}

/* What a workgroup adds up of a piece: one word per thread, times an odd number of the thread. */
static uint32_t async_copy_piece_sum(const struct state *s, uint64_t piece)
{
    const struct shape *p = &s->shape;
    uint32_t sum = 0;
    for (uint64_t thread = 0; thread < p->threads; thread++) {
        uint64_t word = (thread + piece * p->threads) % piece_words(p);
        sum += s->pattern[(piece * piece_words(p) + word) % PATTERN_WORDS] * (uint32_t)(2 * thread + 1);
    }
    return sum;
}

/* Of the n pieces of a workgroup. A period is a power of two and strides are odd: each period of turns has every piece.
 */
static uint32_t async_copy_want(const struct state *s, uint64_t group, uint64_t n)
{
    const uint64_t first = s->first + group * s->shift, stride = 1 + group * s->spread;
    uint32_t sum = (uint32_t)(n / s->period) * s->whole;
    for (uint64_t k = 0; k < n % s->period; k++)
        sum += s->each[(first + k * stride) % s->period];
    return sum;
}

static enum as_status async_copy_allocate(struct state *s, struct as_error *err)
{
    const struct shape *p = &s->shape;
    const uint64_t words = s->workgroups * p->threads;
    s->pieces = p->buffer / p->bytes;
    s->shift = s->workgroups ? s->pieces / s->workgroups : 0;
    s->spread = p->in_memory ? 0 : SPREAD_IN_L2;
    s->period = PATTERN_WORDS / piece_words(p);
    if (s->period < piece_words(p) / p->threads)
        s->period = piece_words(p) / p->threads;
    s->pattern = malloc(PATTERN_WORDS * sizeof *s->pattern);
    s->sum = calloc(words, sizeof *s->sum);
    s->each = calloc(s->period, sizeof *s->each);
    if (!s->pattern || !s->sum || !s->each)
        return as_nomem(err, PATTERN_WORDS * sizeof *s->pattern, "a pattern");
    enum as_status st = as_check_room(s->timer.dev, p->buffer, p->buffer, err);
    if (!st)
        st = as_kernel_timer_keep_memory(&s->timer, p->buffer, &s->buffer, err);
    return st ? st : as_kernel_timer_keep_memory(&s->timer, words * sizeof *s->sum, &s->sums, err);
}

static enum as_status async_copy_fill(struct state *s, uint64_t seed, struct as_error *err)
{
    const uint64_t bytes = PATTERN_WORDS * sizeof *s->pattern;
    struct as_device *dev = s->timer.dev;
    struct as_rng rng;
    enum as_status st = AS_OK;
    as_rng_seed(&rng, seed);
    for (size_t i = 0; i < PATTERN_WORDS; i++)
        s->pattern[i] = (uint32_t)as_rng_u64(&rng);
    s->whole = 0;
    for (uint64_t i = 0; i < s->period; i++)
        s->whole += s->each[i] = async_copy_piece_sum(s, i);
    for (uint64_t at = 0; at < s->buffer->bytes && !st; at += bytes)
        st = dev->memory->write(dev, s->buffer, at, s->pattern, bytes, err);
    return st;
}

static enum as_status async_copy_build(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    const struct shape *p = &s->shape;
    const struct path *path = p->path;
    struct as_buf head = AS_BUF_INIT;
    char defines[128];
    snprintf(defines, sizeof defines, "-DPATH_%s -DSIZE=%d -DSTAGES=%d -DGROUP_THREADS=%d%s", path->define,
             (int)p->bytes, (int)p->stages, (int)p->threads,
             p->what == ISSUE     ? " -DISSUE"
             : p->what == LATENCY ? " -DLATENCY"
                                  : "");
    as_buf_str(&head, as_kernel_sweep);
    as_buf_str(&head, path->head);
    enum as_status st = as_buf_check(&head, err);
    if (!st)
        st = as_kernel_timer_prepare(&s->timer, tc->dev, "async_copy", as_buf_get(&head), as_kernel_async_copy, defines,
                                     s->workgroups, err);
    as_buf_finish(&head);
    if (!st)
        st = as_kernel_timer_keep_kernel(&s->timer, "copy", &s->kernel, err);
    if (st)
        return st;
    as_expect_code(tc, s->kernel, path->operation, p->stages * async_copy_instructions(p));
    return as_kernel_timer_pin_unit(&s->timer, AS_TIMER_UNIT, err);
}

static enum as_status async_copy_judge(struct state *s, uint64_t pieces, struct as_error *err)
{
    const struct shape *p = &s->shape;
    struct as_device *dev = s->timer.dev;
    enum as_status st = dev->memory->read(dev, s->sums, 0, s->sum, s->workgroups * p->threads * sizeof *s->sum, err);
    for (size_t g = 0; g < s->workgroups && !st; g++) {
        uint32_t sum = 0;
        for (uint64_t k = 0; k < p->threads; k++)
            sum += s->sum[g * p->threads + k];
        s->wrong |= sum != async_copy_want(s, g, pieces);
    }
    return st;
}

/* Launches have dynamic shared memory where kernels of the dialect ask for it. */
static uint64_t dynamic_shared(const struct state *s)
{
    const enum as_dialect d = as_dialect_find(s->timer.dev->info.dialect);
    return d == AS_DIALECT_CUDA || d == AS_DIALECT_HIP ? s->shape.bytes * s->shape.stages + TENSOR_ROW : 0;
}

/* The buffer as rows, a tile of which is one copy. */
static struct as_tensor async_copy_tensor(const struct state *s)
{
    return (struct as_tensor){.memory = s->buffer,
                              .element_bytes = TENSOR_ELEMENT,
                              .columns = TENSOR_ROW / TENSOR_ELEMENT,
                              .rows = s->shape.buffer / TENSOR_ROW,
                              .box_columns = TENSOR_ROW / TENSOR_ELEMENT,
                              .box_rows = (unsigned)(s->shape.bytes / TENSOR_ROW)};
}

enum { ARGS_ALWAYS = 12, ARGS_MOST = ARGS_ALWAYS + 1 };

static enum as_status async_copy_launch(struct state *s, uint32_t copies, uint64_t rounds, double *seconds,
                                        struct as_error *err)
{
    const struct shape *p = &s->shape;
    const uint64_t pieces = (rounds + ROUNDS_BEFORE) * p->stages;
    const struct as_tensor tensor = async_copy_tensor(s);
    struct as_arg args[ARGS_MOST] = {as_memory_arg(s->timer.memory),
                                     as_memory_arg(s->timer.choice),
                                     as_memory_arg(s->sums),
                                     as_memory_arg(s->buffer),
                                     as_u32_arg(copies),
                                     as_u32_arg(s->pieces - 1),
                                     as_u32_arg(p->bytes / LOAD_BYTES),
                                     as_u32_arg(s->first),
                                     as_u32_arg(s->shift),
                                     as_u32_arg(ROUNDS_BEFORE),
                                     as_u32_arg(rounds),
                                     as_u32_arg(p->what == ISSUE ? WORK : s->spread)};
    size_t args_n = ARGS_ALWAYS;
    if (p->path->is_tensor)
        args[args_n++] = (struct as_arg){.kind = AS_ARG_TENSOR, .u.tensor = &tensor};
    struct as_launch l = as_launch_of(s->kernel, args, args_n, s->workgroups, p->threads);
    l.shared_bytes = dynamic_shared(s);
    l.work.bytes = (double)pieces * (double)(p->bytes * s->workgroups);
    enum as_status st = as_kernel_timer_launch(&s->timer, &l, seconds, err);
    if (!st && copies == p->stages) /* else tiles have old words */
        st = async_copy_judge(s, pieces, err);
    s->first = (s->first + pieces) % s->pieces;
    return st;
}

/* Seconds of the rounds on the slowest compute unit; without a clock in kernels from launches with and without them. */
static enum as_status async_copy_time(struct state *s, uint32_t copies, uint64_t rounds, double *span, double *total,
                                      struct as_error *err)
{
    double whole = 0, before = 0;
    for (int i = 0; i < PAIR_TRIES; i++) {
        enum as_status st = async_copy_launch(s, copies, rounds, &whole, err);
        uint64_t slowest = 0;
        for (size_t g = 0; g < s->workgroups && !st; g++)
            slowest = s->timer.record[g].nanos > slowest ? s->timer.record[g].nanos : slowest;
        const bool clocked = !st && (s->timer.record[0].has & AS_HAS_NANOS);
        if (!st && !clocked)
            st = async_copy_launch(s, copies, 0, &before, err);
        *span = clocked ? (double)slowest * 1e-9 : whole - before;
        *total += whole;
        if (st || *span > 0)
            return st;
    }
    return as_fail(err, AS_UNSUPPORTED, "by the device's timer, %llu rounds take no time", (unsigned long long)rounds);
}

static enum as_status async_copy_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    const struct shape *p = &s->shape;
    async_copy_shape(&tc->dev->info, tc->axes, &s->shape);
    s->workgroups = p->what != BANDWIDTH || !tc->dev->info.compute_units ? 1 : tc->dev->info.compute_units;
    tc->footprint = p->buffer;
    tc->claims_memory = p->in_memory;
    tc->max_reps = UINT32_MAX / 16;
    tc->sample_s = 1e-2;
    enum as_status st = async_copy_build(s, tc, err);
    if (!st)
        st = async_copy_allocate(s, err);
    if (!st)
        st = async_copy_fill(s, tc->seed, err);
    if (!st && !p->in_memory)
        st = as_kernel_timer_sweep(&s->timer, s->buffer, err);
    as_note_number(tc, "workgroups", (double)s->workgroups);
    as_note_number(tc, "group_threads", (double)p->threads);
    as_note_number(tc, "bytes_in_flight", (double)(p->bytes * p->stages));
    s->by_rounds = p->what == LATENCY && !(tc->dev->info.capabilities & AS_CAP_CYCLES);
    if (!st && s->by_rounds)
        st = as_tick_prepare_optional(&s->tick, tc, err);
    if (p->what == LATENCY)
        as_note_number(tc, s->by_rounds ? AS_NOTE_AT_MOST : "clocked", 1);
    if (p->what == ISSUE)
        as_note_number(tc, "bytes_per_instruction", (double)(p->bytes / async_copy_instructions(p)));
    if (s->workgroups == 1)
        as_kernel_timer_note(tc, &s->timer);
    return st;
}

/* A round, from the start of a copy to that of the next: the word that each thread reads and a barrier are in it. */
static enum as_status async_copy_round(struct state *s, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    double span = 0;
    out->seconds = 0;
    enum as_status st = async_copy_time(s, (uint32_t)s->shape.stages, reps, &span, &out->seconds, err);
    if (!st)
        st = as_tick_measure_optional(&s->tick, out->seconds, &out->clock_hz, err);
    out->value = span / (double)reps * 1e9;
    return st;
}

/* From the start of each copy until it has arrived, by the kernel's clock. */
static enum as_status async_copy_latency(struct state *s, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    if (s->by_rounds)
        return async_copy_round(s, reps, out, err);
    enum as_status st = async_copy_launch(s, (uint32_t)s->shape.stages, reps, &out->seconds, err);
    if (!st)
        st = as_kernel_timer_need(&s->timer, AS_HAS_CYCLES | AS_HAS_NANOS, err);
    out->clock_hz = as_kernel_timer_clock(&s->timer);
    out->value = (double)s->timer.record[0].value / (double)reps / out->clock_hz * 1e9;
    return st;
}

static enum as_status async_copy_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    const struct shape *p = &s->shape;
    const uint64_t fewer = p->what == BANDWIDTH ? p->stages : 1; /* copies of the control */
    const double copies = (double)reps * (double)(p->what == BANDWIDTH ? p->stages : p->stages - fewer);
    double span = 0, without = 0;
    if (p->what == LATENCY)
        return async_copy_latency(s, reps, out, err);
    out->seconds = 0;
    enum as_status st = async_copy_time(s, (uint32_t)p->stages, reps, &span, &out->seconds, err);
    out->clock_hz = as_kernel_timer_clock(&s->timer);
    if (!st && fewer < p->stages)
        st = async_copy_time(s, (uint32_t)fewer, reps, &without, &out->seconds, err);
    if (st)
        return st;
    if (span <= without)
        return as_fail(err, AS_UNSUPPORTED, "the loop with copies takes no longer than without");
    const double each = (span - without) / copies;
    out->value =
        p->what == BANDWIDTH ? (double)p->bytes / each * 1e-9 : each / (double)async_copy_instructions(p) * 1e9;
    return AS_OK;
}

static bool async_copy_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    snprintf(why, why_size, "%s",
             s->wrong ? "a workgroup read other words than those of the copied piece"
                      : "the words read after each copy are those of its piece");
    return !s->wrong;
}

static void async_copy_finish(void *state)
{
    struct state *s = state;
    as_tick_finish(s->tick);
    as_kernel_timer_finish(&s->timer);
    free(s->pattern);
    free(s->sum);
    free(s->each);
}

static const struct as_own_metric own_metrics[] = {
    {"what",
     "latency",
     {.name = "latency",
      .unit = "ns",
      .lower_is_better = true,
      .counts = "time from the start of one copy of `tile` bytes until all threads of the workgroup may read it; where "
                "kernels have no clock an upper bound: it includes reading a word"}},
    {"what",
     "issue",
     {.name = "issue",
      .unit = "ns",
      .lower_is_better = true,
      .counts = "time per additional copy instruction (path load: per load and store) of a warp whose arithmetic hides "
                "the latency"}},
    {0},
};

const struct as_probe as_probe_async_copy = {
    .name = "async_copy",
    .title = "Copies to shared memory",
    .question = "How fast do tiles reach shared memory, by loads and by asynchronous copies?",
    .metric = "bandwidth",
    .unit = "GB/s",
    .counts =
        "bytes copied from global to shared memory per second and compute unit while all copy; the slowest counts",
    .own_metrics = own_metrics,
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, quick, full, async_copy_applies),
    .memory_claim = async_copy_memory_claim,
    .patience = async_copy_patience,
    AS_TRIAL(struct state, async_copy_prepare, async_copy_sample, async_copy_check, async_copy_finish),
};
