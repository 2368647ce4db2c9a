/* roofline: peak rate of fused multiply-adds. See method.md. */
#include "lib/autotune/autotune.h"
#include "lib/buffers/buffers.h"
#include "native.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_roofline[];

enum { CANDIDATES_MAX = 12, LANES_MAX = 16, TRIALS = 3, ROUNDS = 3, OPS = 2 /* a fused multiply-add is two */ };
enum { CLOCKS = 2 };
static const double TRIAL_S = 2e-3;

static const char *const type_words[] = {"f32", "f64", "f16", NULL};
static const char *const width_words[] = {"scalar", "128", "256", "512", "sve", "best", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("type", type_words, "f32,f64", "operand type; f16 is packed"),
    AS_COUNT_AXIS("threads", 0, 0, "0,max", "CPU threads; 0: the whole device", .domain = AS_DOMAIN_THREADS),
    AS_WORD_AXIS("width", width_words, "best",
                 "CPU: vector width in bits, or sve; best: the fastest in a short test, noted"),
    {0},
};
static const char *const quick[] = {"type=f32,f64 threads=0,max width=best", "type=f16 threads=0 width=best", NULL};
static const char *const full[] = {"type=all threads=0,all width=best", "type=f32,f64 threads=1,max width=all", NULL};

/* ---- which cells ---- */

static unsigned roofline_bits_of(const struct as_axes *a)
{
    static const unsigned bits[] = {32, 64, 16};
    size_t type = as_word_index(a, "type", type_words);
    return type < sizeof bits / sizeof *bits ? bits[type] : 0;
}

static enum as_applies roofline_applies_natively(unsigned bits, const struct as_axes *a, struct as_error *err)
{
    size_t width = as_word_index(a, "width", width_words);
    if (bits == 16 || !(as_axes_number(a, "threads") >= 1))
        return AS_PRUNED;
#if !defined(__aarch64__)
    if (width == AS_PEAK_SVE)
        return as_pruned(err, "SVE is an extension of aarch64");
#endif
    if (as_peak_kernel(bits, width < AS_PEAK_WIDTHS ? (enum as_peak_width)width : AS_PEAK_SCALAR))
        return AS_APPLIES;
    return as_inapplicable(err, "this CPU has no fused multiply-adds%s%s", width < AS_PEAK_WIDTHS ? " of width " : "",
                           width < AS_PEAK_WIDTHS ? width_words[width] : "");
}

static enum as_applies roofline_applies(const struct as_device_info *info, const struct as_axes *a,
                                        struct as_error *err)
{
    unsigned bits = roofline_bits_of(a);
    if (info->capabilities & AS_CAP_HOST_KERNELS)
        return roofline_applies_natively(bits, a, err);
    if (as_axes_number(a, "threads") != 0 || !as_word_is(a, "width", "best"))
        return AS_PRUNED;
    if ((bits == 64 && !(info->capabilities & AS_CAP_FP64)) || (bits == 16 && !(info->capabilities & AS_CAP_FP16)))
        return as_inapplicable(err, "the device has no %s", as_axes_text(a, "type"));
    return AS_APPLIES;
}

/* ---- one trial ---- */

/* A candidate: a native kernel, or a grid and a number of chains. */
struct candidate {
    enum as_peak_width width;
    unsigned lanes, chains, pairs; /* of steps, per chain and turn */
    size_t workgroups, workgroup_size;
    const char *native;       /* name of its native kernel; NULL: built from source */
    struct as_kernel *kernel; /* shared by candidates of different grids; NULL until built */
};
struct built {
    unsigned lanes, chains;
    struct as_buffers own; /* its kernel */
};
struct state {
    struct as_device *dev;
    struct candidate candidates[CANDIDATES_MAX], *used;
    size_t candidates_n;
    struct built built[CANDIDATES_MAX];
    size_t built_n;
    struct as_memory *result;
    struct as_memory *clocks; /* cycles and nanoseconds per workgroup; not for native kernels */
    uint64_t *clock;          /* as read back after a launch */
    unsigned bits;
    bool native;
    uint32_t key;
    uint64_t turns; /* of the last launch */
};

/* Results of a thread: their address and their number. */
static uint64_t results_of(const struct state *s, const struct candidate *c)
{
    return (uint64_t)c->workgroups * c->workgroup_size * c->chains * c->lanes * (s->bits == 16 ? 2 : 1);
}

static enum as_status roofline_launch(struct state *s, const struct candidate *c, uint64_t turns, struct as_timing *t,
                                      struct as_error *err)
{
    struct as_arg args[5] = {as_memory_arg(s->result)};
    size_t n = 1;
    if (s->native) {
        args[n++] = (struct as_arg){.kind = AS_ARG_F64, .u.f64 = 1};
        args[n++] = (struct as_arg){.kind = AS_ARG_F64, .u.f64 = 2};
        args[n++] = as_u32_arg(s->key);
    } else {
        args[n++] = s->bits == 64 ? (struct as_arg){.kind = AS_ARG_F64, .u.f64 = -1}
                                  : (struct as_arg){.kind = AS_ARG_F32, .u.f32 = -1};
        args[n++] = as_u32_arg(s->key);
        args[n++] = as_u32_arg(turns);
        args[n++] = as_memory_arg(s->clocks);
    }
    struct as_launch l = {.kernel = c->kernel,
                          .args = args,
                          .args_n = n,
                          .workgroups = c->workgroups,
                          .workgroup_size = c->workgroup_size,
                          .reps = s->native ? turns : 1,
                          .work = {.footprint = (double)results_of(s, c) * s->bits / 8}};
    s->turns = turns;
    return s->dev->queue->launch(s->dev, &l, t, err);
}

/* Builds the candidate's kernel, or shares that of another grid. */
static enum as_status roofline_build(struct state *s, struct candidate *c, struct as_error *err)
{
    char defines[80];
    if (c->kernel)
        return AS_OK;
    for (size_t i = 0; i < s->built_n && !c->native; i++)
        if (s->built[i].lanes == c->lanes && s->built[i].chains == c->chains) {
            c->kernel = s->built[i].own.kernels[0];
            return AS_OK;
        }
    snprintf(defines, sizeof defines, "-DTYPE=%u -DLANES=%u -DCHAINS=%u -DPAIRS=%u", s->bits, c->lanes, c->chains,
             c->pairs);
    const struct as_program_desc native = {.name = "roofline", .host = as_peak_kernels},
                                 source = {.name = "roofline", .source = as_kernel_roofline, .defines = defines};
    struct built *b = &s->built[s->built_n++];
    *b = (struct built){.lanes = c->lanes, .chains = c->chains};
    as_buffers_open(&b->own, s->dev, c->native ? &native : &source, err);
    c->kernel = as_buffers_kernel(&b->own, c->native ? c->native : "peak", err);
    return b->own.status;
}

static double operations(const struct state *s, const struct candidate *c, uint64_t turns)
{
    return (double)results_of(s, c) * (double)turns * c->pairs * 2 * OPS;
}

static enum as_status list_native(struct state *s, const struct as_axes *a, struct as_error *err)
{
    size_t wanted = as_word_index(a, "width", width_words);
    for (size_t w = 0; w < AS_PEAK_WIDTHS; w++) {
        const char *name = as_peak_kernel(s->bits, (enum as_peak_width)w);
        if (!name || (wanted < AS_PEAK_WIDTHS && wanted != w))
            continue;
        struct candidate *c = &s->candidates[s->candidates_n++];
        *c = (struct candidate){.width = (enum as_peak_width)w,
                                .lanes = as_peak_lanes(s->bits, (enum as_peak_width)w),
                                .chains = as_peak_chains((enum as_peak_width)w),
                                .pairs = AS_PEAK_PAIRS,
                                .workgroups = (size_t)as_axes_u64(a, "threads"),
                                .workgroup_size = 1,
                                .native = name};
    }
    return s->candidates_n ? AS_OK : as_fail(err, AS_UNSUPPORTED, "this CPU has no fused multiply-adds");
}

static void add_grid(struct state *s, struct candidate grid)
{
    struct candidate *c = &s->candidates[s->candidates_n++];
    *c = grid;
    c->pairs = AS_PEAK_PAIRS * (c->chains < 8 ? 8 / c->chains : 1);
}

/* Full occupancy with few chains (threads hide the latency) and with more chains; lower occupancy, with fewer threads
 * to share issue and fetch. */
static void list_scalars(struct state *s)
{
    static const struct {
        unsigned chains, size, resident_workgroups; /* 0: full occupancy */
    } grids[] = {{2, 1024, 0}, {2, 1024, 1}, {4, 256, 0}, {4, 512, 0}, {4, 1024, 0}, {8, 256, 0},
                 {8, 512, 0},  {8, 1024, 0}, {8, 256, 1}, {8, 512, 1}, {8, 1024, 1}, {12, 512, 1}};
    _Static_assert(sizeof grids / sizeof *grids <= CANDIDATES_MAX, "space for all grids");
    const struct as_device_info *info = &s->dev->info;
    size_t held = info->compute_unit_threads ? info->compute_unit_threads : 2048,
           compute_units = info->compute_units ? info->compute_units : 1;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        size_t size = info->threads && info->threads < grids[i].size ? info->threads : grids[i].size;
        size_t fit = grids[i].resident_workgroups ? grids[i].resident_workgroups : held / size ? held / size : 1;
        struct candidate grid = {
            .lanes = 1, .chains = grids[i].chains, .workgroups = compute_units * fit, .workgroup_size = size};
        add_grid(s, grid);
    }
}

/* Threads with vectors of half, once and twice the reported width, since compilers may use others, and with scalars. A
 * CPU core runs its threads one after another, so few are enough, and starting them costs little. */
static void list_vectors(struct state *s)
{
    static const unsigned chains[] = {8, 12};
    unsigned own = s->dev->info.vector_bytes * 8 / s->bits;
    const unsigned lanes[] = {own / 2, own, own * 2};
    struct candidate grid = {.lanes = 1,
                             .chains = 8,
                             .workgroups = 4 * (size_t)(s->dev->info.compute_units ? s->dev->info.compute_units : 1),
                             .workgroup_size = 4};
    add_grid(s, grid);
    for (size_t i = 0; i < 6; i++) {
        grid.lanes = lanes[i / 2];
        grid.chains = chains[i % 2];
        if (grid.lanes > 1 && grid.lanes <= LANES_MAX && (grid.lanes & (grid.lanes - 1)) == 0)
            add_grid(s, grid);
    }
}

static enum as_status roofline_allocate(struct state *s, struct as_error *err)
{
    uint64_t most = 0;
    for (size_t i = 0; i < s->candidates_n; i++) {
        uint64_t n = results_of(s, &s->candidates[i]);
        most = n > most ? n : most;
    }
    struct as_memory_desc desc = {
        .allocator = s->dev->info.allocators[0].name, .bytes = most * s->bits / 8, .node = -1};
    enum as_status st = s->dev->memory->alloc(s->dev, &desc, &s->result, err);
    if (st || s->native)
        return st;
    size_t workgroups = 1;
    for (size_t i = 0; i < s->candidates_n; i++)
        workgroups = s->candidates[i].workgroups > workgroups ? s->candidates[i].workgroups : workgroups;
    desc.bytes = CLOCKS * workgroups * sizeof *s->clock;
    s->clock = malloc(desc.bytes);
    return s->clock ? s->dev->memory->alloc(s->dev, &desc, &s->clocks, err) : as_nomem(err, desc.bytes, "clocks");
}

/* Time per operation in short launches. */
static enum as_status try_candidate(struct state *s, struct candidate *c, struct as_autotune *choice,
                                    struct as_error *err)
{
    struct as_timing t;
    uint64_t turns = 1;
    enum as_status st = roofline_launch(s, c, turns, &t, err); /* the first launch compiles, or wakes the device */
    for (int k = 0; k < TRIALS && !st; k++) {
        st = roofline_launch(s, c, turns, &t, err);
        const double seconds = as_timing_seconds(&t);
        if (!st && seconds < TRIAL_S / 2) {
            double grow = seconds > 0 ? TRIAL_S / seconds : 100;
            turns = (uint64_t)((double)turns * (grow < 100 ? grow : 100)) + 1;
            k -= turns < 1 << 14; /* bounded, whatever the clock reads */
        } else if (!st)
            as_autotune_add(choice, (size_t)(c - s->candidates), seconds / operations(s, c, turns));
    }
    return st;
}

static uint64_t roofline_key_of(const struct state *s, const struct as_axes *a)
{
    const char *id = s->dev->info.id, *width = as_axes_text(a, "width");
    const uint64_t parts[] = {as_hash("roofline", 8), as_hash(id, strlen(id)), s->bits, as_axes_u64(a, "threads"),
                              as_hash(width, strlen(width))};
    return as_hash(parts, sizeof parts);
}

/* Finds the fastest candidate. The cell's first trial tests all of them, which takes longer than the samples. */
static enum as_status roofline_choose(struct state *s, const struct as_axes *a, struct as_error *err)
{
    bool known;
    enum as_status st = AS_OK;
    struct as_autotune *choice = as_autotune_of(roofline_key_of(s, a), &known);
    for (size_t i = 0; i < s->candidates_n && s->candidates_n > 1 && choice->rounds < ROUNDS && !st; i++) {
        st = roofline_build(s, &s->candidates[i], err);
        if (!st)
            st = try_candidate(s, &s->candidates[i], choice, err);
    }
    choice->rounds += !st;
    s->used = &s->candidates[as_autotune_best(choice, s->candidates_n)];
    return st ? st : roofline_build(s, s->used, err);
}

/* Published fused multiply-adds per cycle and compute unit of an architecture. */
static const struct pipes {
    const char *arch;
    unsigned f32, f64, f16;
} pipes[] = {{"sm_70", 64, 32, 128}, {"sm_75", 64, 2, 128},   {"sm_80", 64, 32, 256},  {"sm_86", 128, 2, 128},
             {"sm_89", 128, 2, 128}, {"sm_90", 128, 64, 256}, {"sm_100", 128, 64, 256}};

static void roofline_set_limit(struct as_trial_context *tc, unsigned bits)
{
    const struct as_device_info *info = &tc->dev->info;
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++) {
        if (strcmp(pipes[i].arch, info->arch) != 0 || !(info->clock_max_hz > 0) || info->compute_units == 0)
            continue;
        unsigned each = bits == 64 ? pipes[i].f64 : bits == 32 ? pipes[i].f32 : pipes[i].f16;
        tc->limit = info->clock_max_hz * info->compute_units * each * OPS;
        snprintf(tc->limit_why, sizeof tc->limit_why,
                 "%u compute units of %u multiply-adds per cycle at the highest clock", info->compute_units, each);
        as_note_number(tc, "per_unit_cycle", each * OPS);
    }
}

static void roofline_fill_context(struct as_trial_context *tc, struct state *s)
{
    char text[96];
    const char *operation = s->bits == 64 ? "fma.f64" : s->bits == 32 ? "fma.f32" : "fma.f16";
    tc->footprint = results_of(s, s->used) * s->bits / 8;
    /* x stays below 2^24, where f32 represents every integer; f64 cannot overflow within a run. */
    tc->max_reps = s->bits == 32 ? ((UINT64_C(1) << 24) - 4096) / s->used->pairs : UINT64_C(1) << 31;
    if (s->native) {
        snprintf(text, sizeof text, "%s, %u chains", width_words[s->used->width], s->used->chains);
    } else {
        int n = snprintf(text, sizeof text, "%zu workgroups of %zu, %u chains", s->used->workgroups,
                         s->used->workgroup_size, s->used->chains);
        if (s->used->lanes > 1)
            snprintf(text + n, sizeof text - (size_t)n, " of %u lanes", s->used->lanes);
        tc->sample_s = 4e-2; /* one launch: long compared with its start and end */
        roofline_set_limit(tc, s->bits);
        as_expect_code(tc, s->used->kernel, operation, (uint64_t)2 * s->used->pairs * s->used->chains);
    }
    as_note(tc, "variant", text);
}

static enum as_status roofline_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    s->dev = tc->dev;
    s->bits = roofline_bits_of(tc->axes);
    s->native = (tc->dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0;
    s->key = (uint32_t)tc->seed;
    if (s->bits == 0)
        return as_fail(err, AS_USAGE, "unknown type '%s'", as_axes_text(tc->axes, "type"));
    enum as_status st = AS_OK;
    if (s->native)
        st = list_native(s, tc->axes, err);
    else if (tc->dev->info.vector_bytes && s->bits != 16)
        list_vectors(s);
    else
        list_scalars(s);
    if (!st)
        st = roofline_allocate(s, err);
    if (!st)
        st = roofline_choose(s, tc->axes, err);
    if (!st)
        roofline_fill_context(tc, s);
    return st;
}

/* Clock of the last launch, over the compute units of all workgroups; NAN without counters. Under load it may be lower
 * than before or after, and compute units may differ. */
static enum as_status roofline_read_clock(struct state *s, const struct as_timing *t, double *hz, struct as_error *err)
{
    *hz = t->cycles > 0 ? t->cycles / as_timing_seconds(t) : NAN;
    if (s->native)
        return AS_OK;
    enum as_status st =
        s->dev->memory->read(s->dev, s->clocks, 0, s->clock, CLOCKS * s->used->workgroups * sizeof *s->clock, err);
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < s->used->workgroups && !st; i++)
        if (s->clock[CLOCKS * i] > 0 && s->clock[CLOCKS * i + 1] > 0) {
            sum += 1e9 * (double)s->clock[CLOCKS * i] / (double)s->clock[CLOCKS * i + 1];
            known++;
        }
    if (known)
        *hz = sum / (double)known;
    return st;
}

static enum as_status roofline_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    struct as_timing t;
    s->key++; /* new initial values, so that stale results fail */
    enum as_status st = roofline_launch(s, s->used, reps, &t, err);
    if (st)
        return st;
    out->seconds = as_timing_seconds(&t);
    out->value = operations(s, s->used, reps) / out->seconds;
    return roofline_read_clock(s, &t, &out->clock_hz, err);
}

/* ---- the check: every chain of the last sample ---- */

static double half_to_double(uint16_t h)
{
    int exponent = h >> 10 & 31;
    double fraction = h & 1023;
    double v = exponent == 31 ? INFINITY : exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return h >> 15 ? -v : v;
}

static double roofline_value_at(const struct state *s, const void *results, uint64_t i)
{
    if (s->bits == 64)
        return ((const double *)results)[i];
    return s->bits == 32 ? (double)((const float *)results)[i] : half_to_double(((const uint16_t *)results)[i]);
}

static double roofline_expected(const struct state *s, uint64_t i)
{
    double turns = (double)(s->bits == 16 ? s->turns & 1 : s->turns);
    return as_peak_start(s->key, (uint32_t)(s->bits == 16 ? i / 2 : i)) + turns * s->used->pairs;
}

static bool roofline_check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    uint64_t n = results_of(s, s->used), bytes = n * s->bits / 8, wrong = n;
    void *results = as_check_copy(s->dev, s->result, bytes, why, why_size);
    if (!results)
        return false;
    for (uint64_t i = 0; i < n && wrong == n; i++)
        wrong = roofline_value_at(s, results, i) == roofline_expected(s, i) ? n : i;
    if (wrong < n)
        snprintf(why, why_size, "chain %llu ends at %.17g, not %.17g", (unsigned long long)wrong,
                 roofline_value_at(s, results, wrong), roofline_expected(s, wrong));
    else
        snprintf(why, why_size, "all %llu chains end as expected", (unsigned long long)n);
    free(results);
    return wrong == n;
}

static void roofline_finish(void *state)
{
    struct state *s = state;
    for (size_t i = 0; i < s->built_n; i++)
        as_buffers_finish(&s->built[i].own);
    if (s->dev) {
        s->dev->memory->free(s->dev, s->result);
        s->dev->memory->free(s->dev, s->clocks);
    }
    free(s->clock);
}

static double roofline_patience(const struct as_device_info *info, const struct as_axes *a)
{
    (void)a;
    return info->capabilities & AS_CAP_HOST_KERNELS ? 10 : 60; /* the driver compiles a long kernel first */
}

const struct as_probe as_probe_roofline = {
    .name = "roofline",
    .title = "Peak arithmetic",
    .question = "What is the peak rate of the vector ALUs?",
    .metric = "rate",
    .unit = AS_UNIT_RATE,
    .counts = "a fused multiply-add is two operations; each lane of a vector counts",
    AS_CELLS(axes, quick, full, roofline_applies),
    .patience = roofline_patience,
    AS_TRIAL(struct state, roofline_prepare, roofline_sample, roofline_check, roofline_finish),
};
