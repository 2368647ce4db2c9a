/* onchip_bandwidth: bytes per cycle of a compute unit from caches, memory and shared memory, and to them. See
 * method.md. */
#include "lib/kernel_timer/kernel_timer.h"
#include "lib/ops/tick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_onchip_bandwidth[];

static const char *const what_words[] = {"own", "common", "shared", "own_stores", "shared_stores", NULL};
static const char *const width_words[] = {"32", "64", "128", NULL};
static const char *const units_words[] = {"every", "one", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS(
        "what", what_words, "own",
        "own: each compute unit reads its own block; common: all read one block; shared: each workgroup reads its "
        "shared memory; own_stores, shared_stores: it writes there"),
    AS_SIZE_AXIS("size", 0, 0, "0",
                 "bytes of a compute unit's block (own) or of the common block (common); shared memory: 0, as large as "
                 "the access "
                 "needs"),
    AS_WORD_AXIS("width", width_words, "128", "bits per load or store"),
    AS_COUNT_AXIS("stride", 1, 64, "1", "elements of that width between neighbouring threads"),
    AS_WORD_AXIS("compute_units", units_words, "every", "compute units that are active concurrently"),
    {0},
};
static const char *const quick[] = {"what=shared width=128 stride=1", "what=shared width=32 stride=1,2,16,32,33",
                                    "what=own size=64KiB", "what=common size=16MiB compute_units=every,one", NULL};
static const char *const full[] = {"what=shared width=32 stride=1..33",
                                   "what=shared width=64,128 stride=1,2,4,8,16,32",
                                   "what=shared_stores width=all stride=1,2,4,8,16,32",
                                   "what=own,own_stores size=8KiB..512KiB x2",
                                   "what=own,own_stores size=1MiB..16MiB x1",
                                   "what=own size=64KiB width=all stride=1,2,4,8,16,32",
                                   "what=common size=1MiB..64MiB x2 compute_units=every",
                                   "what=common size=1MiB..128MiB x2 compute_units=one",
                                   "what=common size=16MiB width=all stride=1,2,4,8",
                                   NULL};

/* ---- work distribution ---- */

struct shape {
    bool shared, stores;
    uint64_t bytes;  /* bytes per element */
    uint64_t stride; /* elements */
    uint64_t warp, threads, unroll;
    uint64_t elements; /* elements per workgroup and turn */
    uint64_t tile;     /* shared: elements of shared memory */
    uint64_t block;    /* elements between a workgroup's first and last, gaps included */
    uint64_t shift;    /* common block: elements between the starts of consecutive workgroups */
    size_t workgroups;
    bool common;
};

enum { THREADS_MAX = 1024, IN_FLIGHT = 64, THREADS_MIN = 128 };

/* Bytes in flight per thread. Chooses workgroups as large as possible, then as many unrolled loads as possible; small
 * blocks get fewer of both. False: the block is too small. */
static bool onchip_bandwidth_shape_of(const struct as_device_info *info, const struct as_axes *a, struct shape *s)
{
    static const struct {
        const char *word;
        uint64_t bytes;
    } widths[] = {{"32", 4}, {"64", 8}, {"128", 16}};
    const char *what = as_axes_text(a, "what");
    *s = (struct shape){.shared = strncmp(what, "shared", strlen("shared")) == 0,
                        .stores = strstr(what, "_stores") != NULL,
                        .common = as_word_is(a, "what", "common"),
                        .stride = as_axes_u64(a, "stride"),
                        .warp = info->warp ? info->warp : 1,
                        .workgroups =
                            as_word_is(a, "compute_units", "one") || !info->compute_units ? 1 : info->compute_units};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (as_word_is(a, "width", widths[i].word))
            s->bytes = widths[i].bytes;
    if (!s->bytes || !s->stride)
        return false;
    s->unroll = IN_FLIGHT / s->bytes;
    for (s->threads = THREADS_MAX; s->threads > info->threads && s->threads > 1;)
        s->threads /= 2;
    if (s->shared) {
        s->elements = s->threads * s->unroll;
        s->tile = (s->warp - 1) * s->stride + (s->unroll - 1) * s->warp + 1;
        s->block = s->tile;
        return s->tile * s->bytes <= (info->workgroup_shared ? info->workgroup_shared : 32 << 10);
    }
    uint64_t most = as_axes_u64(a, "size") / (s->bytes * s->stride);
    while (s->threads > THREADS_MIN && s->threads * s->unroll > most)
        s->threads /= 2;
    while (s->unroll > 1 && s->threads * s->unroll > most)
        s->unroll /= 2;
    uint64_t chunk = s->threads * s->unroll, chunks = most / chunk;
    s->elements = chunks * chunk;
    if (s->common)
        s->shift = chunks > s->workgroups ? chunks / s->workgroups * chunk : chunk;
    s->block = s->elements * s->stride;
    return s->elements > 0 && s->elements <= UINT32_MAX / 2;
}

static enum as_applies onchip_bandwidth_applies(const struct as_device_info *info, const struct as_axes *a,
                                                struct as_error *err)
{
    struct shape s;
    bool shared = strncmp(as_axes_text(a, "what"), "shared", strlen("shared")) == 0;
    if (info->is_host_cpu)
        return as_inapplicable(err, "a core runs the threads of a workgroup one after another");
    if (shared != (as_axes_number(a, "size") == 0) ||
        (as_word_is(a, "compute_units", "one") && !as_word_is(a, "what", "common")))
        return AS_PRUNED;
    return onchip_bandwidth_shape_of(info, a, &s) ? AS_APPLIES : AS_PRUNED;
}

static double onchip_bandwidth_patience(const struct as_device_info *info, const struct as_axes *a)
{
    (void)info;
    return 30 + as_axes_number(a, "size") / 100e6; /* the driver compiles the kernel first */
}

/* ---- one trial ---- */

enum {
    PATTERN_WORDS = 1 << 18, /* the repeated pattern of a buffer */
    PAIR_TRIES = 4,          /* a preempted launch may take longer than one with more turns */
    PLACES = 8               /* buffers per sample: bandwidth of a partitioned cache depends on placement */
};
struct state {
    struct as_kernel_timer timer;
    struct as_tick *tick; /* NULL: kernels have a cycle counter */
    struct shape shape;
    struct as_kernel *kernel;
    struct as_memory *buffers[PLACES], *sums;
    size_t places;
    uint32_t *pattern, *sum; /* of the host */
    uint32_t want;           /* sum of one turn of one workgroup */
    uint32_t *stored;        /* of the host: the first elements that a workgroup stored */
    uint32_t before;
    int wrong, shared; /* wrong sums; two workgroups on one compute unit */
};

static uint32_t element_sum(const struct state *s, uint64_t element)
{
    uint32_t sum = 0;
    for (uint64_t k = 0; k < s->shape.bytes / 4; k++)
        sum += s->pattern[(element * (s->shape.bytes / 4) + k) % PATTERN_WORDS];
    return sum;
}

/* Summed by the host in a different order. */
static uint32_t sum_of_turn(const struct state *s)
{
    const struct shape *p = &s->shape;
    uint32_t sum = 0;
    if (!p->shared) {
        for (uint64_t i = 0; i < p->elements; i++)
            sum += element_sum(s, i * p->stride);
        return sum;
    }
    for (uint64_t thread = 0; thread < p->threads; thread++)
        for (uint64_t k = 0; k < p->unroll; k++)
            sum += element_sum(s, thread % p->warp * p->stride + k * p->warp);
    return sum;
}

/* As in the kernel: all words of an element after a turn. */
static uint32_t stored_word(uint64_t element, uint64_t turn, uint64_t workgroup)
{
    return (uint32_t)element + (uint32_t)turn * 0x9e3779b9u + (uint32_t)workgroup * 0x85ebca6bu;
}

/* What a workgroup's threads find in shared memory after the last turn. */
static uint32_t stored_sum(const struct shape *p, uint64_t turn)
{
    uint32_t sum = 0;
    for (uint64_t thread = 0; thread < p->threads; thread++)
        for (uint64_t k = 0; k < p->unroll; k++)
            sum += (uint32_t)(p->bytes / 4) * stored_word(thread % p->warp * p->stride + k * p->warp, turn, 0);
    return sum;
}

static enum as_status fill_buffer(struct state *s, struct as_memory *buffer, struct as_error *err)
{
    uint64_t piece = PATTERN_WORDS * sizeof *s->pattern;
    enum as_status st = AS_OK;
    for (uint64_t at = 0; at < buffer->bytes && !st; at += piece) {
        uint64_t n = buffer->bytes - at < piece ? buffer->bytes - at : piece;
        st = s->timer.dev->memory->write(s->timer.dev, buffer, at, s->pattern, n, err);
    }
    return st;
}

static enum as_status onchip_bandwidth_fill(struct state *s, uint64_t seed, struct as_error *err)
{
    struct as_rng rng;
    enum as_status st = AS_OK;
    s->pattern = malloc(PATTERN_WORDS * sizeof *s->pattern);
    s->sum = calloc(s->shape.workgroups * s->shape.threads, sizeof *s->sum);
    if (!s->pattern || !s->sum)
        return as_nomem(err, PATTERN_WORDS * sizeof *s->pattern, "a pattern");
    as_rng_seed(&rng, seed);
    for (size_t i = 0; i < PATTERN_WORDS; i++)
        s->pattern[i] = (uint32_t)as_rng_u64(&rng);
    for (size_t i = 0; i < s->places && !st; i++)
        st = fill_buffer(s, s->buffers[i], err);
    s->want = sum_of_turn(s);
    return st;
}

/* Pieces start at multiples of the pattern, so that all workgroups have the same sum. */
static uint64_t piece_elements(const struct shape *p)
{
    uint64_t period = PATTERN_WORDS * 4 / p->bytes;
    return p->shared || p->common ? 0 : (p->block + period - 1) / period * period;
}

static enum as_status onchip_bandwidth_launch(struct state *s, struct as_memory *buffer, uint32_t turns,
                                              double *seconds, struct as_error *err)
{
    const struct shape *p = &s->shape;
    struct as_arg args[] = {as_memory_arg(s->timer.memory),
                            as_memory_arg(s->timer.choice),
                            as_memory_arg(s->sums),
                            as_memory_arg(buffer),
                            as_u32_arg(0),
                            as_u32_arg(s->before),
                            as_u32_arg(turns),
                            as_u64_arg(piece_elements(p)),
                            as_u32_arg(p->elements),
                            as_u32_arg(p->shift)};
    struct as_launch l = as_launch_of(s->kernel, args, p->shared ? 7 : 10, p->workgroups, p->threads);
    l.work.bytes = (double)turns * (double)(p->elements * p->bytes * p->workgroups);
    return as_kernel_timer_launch(&s->timer, &l, seconds, err);
}

static enum as_status onchip_bandwidth_build(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    const struct shape *p = &s->shape;
    char defines[160];
    snprintf(defines, sizeof defines, "-DWIDTH=%d -DUNROLL=%d -DGROUP_THREADS=%d -DSTRIDE=%d -DWARP=%d -DTILE=%d%s%s",
             (int)p->bytes * 8, (int)p->unroll, (int)p->threads, (int)p->stride, (int)p->warp, (int)p->tile,
             p->shared ? " -DIN_LOCAL" : "", p->stores ? " -DSTORES" : "");
    enum as_status st = as_kernel_timer_prepare(&s->timer, tc->dev, "onchip_bandwidth", "", as_kernel_onchip_bandwidth,
                                                defines, p->workgroups, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&s->timer, p->stores ? "write" : "read", &s->kernel, err);
    if (st)
        return st;
    static const char *const codes[2][2] = {{"load.global", "load.local"}, {"store.global", "store.local"}};
    as_expect_code(tc, s->kernel, codes[p->stores][p->shared], p->unroll);
    st = as_kernel_timer_pin_unit(&s->timer, AS_TIMER_UNIT, err);
    if (p->workgroups == 1)
        as_kernel_timer_note(tc, &s->timer);
    return st;
}

enum { LOOKED_AT = 4096 /* elements per workgroup */ };

/* The first elements of each workgroup's piece, after so many turns. */
static enum as_status judge_stores(struct state *s, struct as_memory *buffer, uint64_t turns, struct as_error *err)
{
    const struct shape *p = &s->shape;
    struct as_device *dev = s->timer.dev;
    const uint64_t some = p->elements < LOOKED_AT ? p->elements : LOOKED_AT, words = p->bytes / 4;
    enum as_status st = AS_OK;
    if (!s->stored && !(s->stored = malloc(LOOKED_AT * p->stride * p->bytes)))
        return as_nomem(err, LOOKED_AT * p->stride * p->bytes, "stored elements");
    for (size_t g = 0; g < p->workgroups && !st; g++) {
        const uint64_t span = ((some - 1) * p->stride + 1) * p->bytes;
        st = dev->memory->read(dev, buffer, g * piece_elements(p) * p->bytes, s->stored, span, err);
        for (uint64_t e = 0; e < some && !st; e++)
            for (uint64_t w = 0; w < words; w++)
                s->wrong |= s->stored[e * p->stride * words + w] != stored_word(e, turns - 1, g);
    }
    return st;
}

/* Each workgroup needs its own compute unit; the slowest counts. */
static enum as_status onchip_bandwidth_judge(struct state *s, struct as_memory *buffer, uint64_t turns,
                                             struct as_error *err)
{
    const struct shape *p = &s->shape;
    const uint32_t want = !p->stores  ? (uint32_t)(s->want * (turns + s->before))
                          : p->shared ? stored_sum(p, turns + s->before - 1)
                                      : 0;
    struct as_device *dev = s->timer.dev;
    enum as_status st = dev->memory->read(dev, s->sums, 0, s->sum, p->workgroups * p->threads * sizeof *s->sum, err);
    if (st)
        return st;
    for (size_t g = 0; g < p->workgroups; g++) {
        uint32_t sum = 0;
        for (uint64_t k = 0; k < p->threads; k++)
            sum += s->sum[g * p->threads + k];
        s->wrong |= sum != want;
        for (size_t h = 0; h < g && s->timer.record[g].unit; h++)
            s->shared |= s->timer.record[h].unit == s->timer.record[g].unit;
    }
    return p->stores && !p->shared ? judge_stores(s, buffer, turns + s->before, err) : AS_OK;
}

static enum as_status onchip_bandwidth_run(struct state *s, struct as_memory *buffer, uint64_t reps, double *seconds,
                                           struct as_error *err)
{
    enum as_status st = onchip_bandwidth_launch(s, buffer, (uint32_t)reps, seconds, err);
    return st ? st : onchip_bandwidth_judge(s, buffer, reps, err);
}

/* Seconds of the turns, without launch time and filling of caches and shared memory. */
static enum as_status time_turns(struct state *s, struct as_memory *buffer, uint64_t reps, double whole,
                                 double *turns_s, struct as_error *err)
{
    double before = 0;
    enum as_status st = AS_OK;
    for (int i = 0; i < PAIR_TRIES && !st; i++) {
        st = onchip_bandwidth_run(s, buffer, 0, &before, err);
        *turns_s = whole - before;
        if (st || *turns_s > 0)
            return st;
        st = onchip_bandwidth_run(s, buffer, reps, &whole, err);
    }
    return st ? st
              : as_fail(err, AS_UNSUPPORTED,
                        "by the device's timer, a launch of %llu iterations takes no longer than one without",
                        (unsigned long long)reps);
}

/* Adds the cycles of the slowest workgroup to *span, or the seconds of all without a counter. */
static enum as_status read_buffer(struct state *s, struct as_memory *buffer, uint64_t reps, double *span, double *total,
                                  struct as_error *err)
{
    double seconds, turns_s = 0;
    uint64_t slowest = 0;
    enum as_status st = onchip_bandwidth_run(s, buffer, reps, &seconds, err);
    for (size_t g = 0; g < s->shape.workgroups && !st; g++)
        slowest = s->timer.record[g].cycles > slowest ? s->timer.record[g].cycles : slowest;
    if (!st && s->tick)
        st = time_turns(s, buffer, reps, seconds, &turns_s, err);
    else if (!st)
        st = as_kernel_timer_need(&s->timer, AS_HAS_CYCLES, err);
    *span += s->tick ? turns_s : (double)slowest;
    *total += seconds;
    return st;
}

static enum as_status onchip_bandwidth_time_both(void *user, uint32_t turns, double *difference_s, double *longer_s,
                                                 struct as_error *err)
{
    struct state *s = user;
    double before = 0;
    enum as_status st = onchip_bandwidth_run(s, s->buffers[0], turns, longer_s, err);
    if (!st)
        st = onchip_bandwidth_run(s, s->buffers[0], 0, &before, err);
    *difference_s = *longer_s - before;
    return st;
}

static enum as_status onchip_bandwidth_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    const struct shape *p = &s->shape;
    if (!onchip_bandwidth_shape_of(&tc->dev->info, tc->axes, &s->shape))
        return as_fail(err, AS_USAGE, "the block is too small for a workgroup");
    uint64_t piece = piece_elements(p), elements = piece ? piece * p->workgroups : p->block;
    tc->footprint = p->shared ? p->tile * p->bytes : p->block * p->bytes * (p->common ? 1 : p->workgroups);
    tc->max_reps = UINT32_MAX / 4;
    size_t wanted = p->common && tc->footprint <= as_info_last_cache(&tc->dev->info) ? PLACES : 1;
    tc->sample_s = wanted > 1 ? 2e-2 : 1e-2; /* workgroups drift apart: 2 ms still scatter by 3% */
    enum as_status st = as_check_room(tc->dev, elements * p->bytes * wanted, elements * p->bytes, err);
    if (!st)
        st = onchip_bandwidth_build(s, tc, err);
    for (; s->places < wanted && !st; s->places++)
        st = as_kernel_timer_keep_memory(&s->timer, elements * p->bytes, &s->buffers[s->places], err);
    if (!st)
        st = as_kernel_timer_keep_memory(&s->timer, p->workgroups * p->threads * sizeof(uint32_t), &s->sums, err);
    if (!st)
        st = onchip_bandwidth_fill(s, tc->seed, err);
    s->before = 2;
    if (!st)
        st = as_tick_prepare(&s->tick, tc, p->workgroups > 1, err);
    if (!st && s->tick)
        st = as_tick_turns(onchip_bandwidth_time_both, s, UINT32_MAX / 4, &tc->min_reps, err);
    as_note_number(tc, "workgroups", (double)p->workgroups);
    as_note_number(tc, "group_threads", (double)p->threads);
    as_note_number(tc, p->stores ? "stores_in_a_row" : "loads_in_a_row", (double)p->unroll);
    return st;
}

static enum as_status onchip_bandwidth_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    double span = 0, hz = 1;
    out->seconds = 0;
    enum as_status st = AS_OK;
    for (size_t i = 0; i < s->places && !st; i++)
        st = read_buffer(s, s->buffers[i], reps, &span, &out->seconds, err);
    if (!st && s->tick)
        st = as_tick_measure(s->tick, out->seconds, &hz, err);
    if (st)
        return st;
    out->clock_hz = s->tick ? hz : as_kernel_timer_clock(&s->timer);
    out->value = (double)s->places * (double)reps * (double)(s->shape.elements * s->shape.bytes) / (span * hz);
    return AS_OK;
}

static bool onchip_bandwidth_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    snprintf(why, why_size, "%s",
             s->wrong                  ? "the data differ from the host's"
             : s->shared               ? "two workgroups shared a compute unit"
             : s->timer.record[0].unit ? "the data match the host's, and each workgroup had its own compute unit"
                                       : "the data match the host's");
    return !s->wrong && !s->shared;
}

static void onchip_bandwidth_finish(void *state)
{
    struct state *s = state;
    as_tick_finish(s->tick);
    as_kernel_timer_finish(&s->timer);
    free(s->pattern);
    free(s->sum);
    free(s->stored);
}

const struct as_probe as_probe_onchip_bandwidth = {
    .name = "onchip_bandwidth",
    .title = "On-chip bandwidth",
    .question = "How many bytes per cycle does a compute unit load from each level, and store?",
    .metric = "bandwidth",
    .unit = "B/cycle",
    .counts = "bytes loaded or stored per cycle by the threads of one compute unit; the slowest counts",
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, quick, full, onchip_bandwidth_applies),
    .patience = onchip_bandwidth_patience,
    AS_TRIAL(struct state, onchip_bandwidth_prepare, onchip_bandwidth_sample, onchip_bandwidth_check,
             onchip_bandwidth_finish),
};
