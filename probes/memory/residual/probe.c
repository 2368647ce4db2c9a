/* residual: what another side's use of memory leaves of a CPU buffer in the caches that both share. See method.md. */
#include "lib/blocks/blocks.h"
#include "lib/prepare/prepare.h"
#include "toucher.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

extern const char as_method_residual[];

enum { LINE = 64, HUGE_PAGE = 2 << 20, PASSES_MAX = 5, WARM = 2, CONTROL = 0, TOUCHED = 1, ARMS = 2 };

static const char *const op_words[] = {"read", "write", NULL};
static const char *const pattern_words[] = {"linear", "random", NULL};
static const struct as_axis axes[] = {
    {.name = "op",
     .help = "what the device or other core does to each line of its memory",
     .type = AS_AXIS_WORD,
     .words = op_words,
     .def = "read"},
    {.name = "touched",
     .help = "bytes that it touches before the pass; 0: none, so that the ratio must be 1",
     .type = AS_AXIS_SIZE,
     .min = 0,
     .def = "64MiB"},
    {.name = "size", .help = "bytes of the CPU's buffer", .type = AS_AXIS_SIZE, .min = 4096, .def = "16MiB"},
    {.name = "pattern",
     .help = "order of the pass over the CPU's buffer: linear, or random by dependent loads",
     .type = AS_AXIS_WORD,
     .words = pattern_words,
     .def = "linear"},
    {.name = "pass",
     .help = "which pass after the touch is timed",
     .type = AS_AXIS_COUNT,
     .min = 1,
     .max = PASSES_MAX,
     .def = "1"},
    {.name = "delay",
     .help = "microseconds between the end of the touch and the first pass",
     .type = AS_AXIS_COUNT,
     .min = 0,
     .max = 1000000,
     .def = "0"},
    {.name = "allocator",
     .help = "how the touched memory is allocated",
     .type = AS_AXIS_WORD,
     .domain = AS_DOMAIN_ALLOCATOR,
     .def = "first"},
    {0},
};
static const char *const quick[] = {
    "op=read touched=0,1MiB,4MiB,16MiB,64MiB,256MiB pattern=linear", "op=read touched=64MiB pattern=linear pass=2,3",
    "op=write touched=64MiB pattern=linear", "op=read touched=0,64MiB pattern=random", NULL};
static const char *const full[] = {"op=read,write touched=0,1MiB..512MiB pattern=linear,random",
                                   "op=read touched=64MiB,512MiB pattern=linear,random pass=all",
                                   "op=read touched=64MiB pattern=linear delay=10,100,1000,10000,100000",
                                   "op=read touched=64MiB pattern=linear size=1MiB..64MiB",
                                   "op=read touched=64MiB pattern=linear allocator=device,pinned,managed,pageable",
                                   NULL};

static enum as_applies applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    (void)a;
    const bool cpu = (info->capabilities & AS_CAP_HOST_KERNELS) != 0;
    if (info->capabilities & AS_CAP_SIMULATED)
        as_fail(err, AS_UNSUPPORTED, "the device is simulated: it shares no cache with the CPU");
    else if (cpu && info->threads < 2)
        as_fail(err, AS_UNSUPPORTED,
                "needs 2 CPUs (one is measured, the other touches), and this process is bound to one");
    else if (!cpu && !(info->capabilities & AS_CAP_SOURCE))
        as_fail(err, AS_UNSUPPORTED, "the device cannot compile kernels");
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

/* A slow machine reads 200 MB/s. */
static double patience(const struct as_device_info *info, const struct as_axes *a)
{
    (void)info;
    const double bytes = as_axes_number(a, "touched") * 3 + as_axes_number(a, "size") * (WARM + PASSES_MAX) * ARMS;
    return 5 + bytes / 200e6 + 2e-6 * as_axes_number(a, "delay");
}

struct state {
    struct as_trial_context *vc;
    struct toucher other;
    struct as_blocks blocks;
    uint64_t *buffer; /* the CPU's: word 0 of line i holds the number of the next line */
    size_t lines, pass;
    bool random;
    double delay_s, touch_s;     /* how long the last touch took, which the control waits */
    double log_sum[ARMS], count; /* of the seconds of the timed passes */
    uint64_t found, want;        /* by the last pass */
};

/* One cycle through all lines, in address order or at random (Sattolo 1986). */
static enum as_status make_buffer(struct state *s, uint64_t bytes, uint64_t seed, struct as_error *err)
{
    struct as_rng rng;
    s->lines = bytes / LINE;
    const size_t room = (s->lines * LINE + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    s->buffer = aligned_alloc(HUGE_PAGE, room);
    if (s->buffer)
        (void)madvise(s->buffer, room, MADV_HUGEPAGE); /* fewer TLB misses, where the system grants it */
    size_t *order = malloc(s->lines * sizeof *order);
    if (!s->buffer || !order) {
        free(order);
        return as_nomem(err, bytes, "the CPU's buffer");
    }
    as_rng_seed(&rng, seed);
    for (size_t i = 0; i < s->lines; i++)
        order[i] = i;
    for (size_t i = s->lines - 1; s->random && i > 0; i--) {
        const size_t k = as_rng_below(&rng, i), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
    for (size_t i = 0; i < s->lines; i++)
        s->buffer[order[i] * (LINE / 8)] = order[(i + 1) % s->lines];
    free(order);
    s->want = s->random ? 0 : (uint64_t)s->lines * (s->lines - 1) / 2; /* back at the start; sum of all lines */
    return AS_OK;
}

static double pass_over(struct state *s)
{
    const uint64_t start = as_now_ns();
    uint64_t found = 0;
    if (s->random)
        for (size_t i = 0; i < s->lines; i++)
            found = *(volatile const uint64_t *)&s->buffer[found * (LINE / 8)];
    else
        for (size_t i = 0; i < s->lines; i++)
            found += *(volatile const uint64_t *)&s->buffer[i * (LINE / 8)];
    s->found = found;
    return (double)(as_now_ns() - start) * 1e-9;
}

static void wait_for(double seconds)
{
    const double end = as_now() + seconds;
    while (as_now() < end)
        as_relax();
}

/* Both arms warm the buffer. The control waits as long as the last touch took, then launches an empty kernel, so that
 * both leave threads and driver in the same state. */
static enum as_status measure(void *user, size_t arm, double *value, struct as_error *err)
{
    struct state *s = user;
    enum as_status st = AS_OK;
    for (int i = 0; i < WARM; i++)
        pass_over(s);
    if (arm == TOUCHED)
        st = toucher_run(&s->other, &s->touch_s, err);
    else {
        wait_for(s->touch_s);
        st = toucher_run_empty(&s->other, err);
    }
    wait_for(s->delay_s);
    for (size_t i = 0; i < s->pass && !st; i++)
        *value = pass_over(s);
    return st;
}

static enum as_status prepare_trial(struct state *s, struct as_trial_context *vc, struct as_error *err)
{
    const struct as_axes *a = vc->axes;
    const uint64_t touched = as_axes_u64(a, "touched"), size = as_axes_u64(a, "size");
    double unused;
    s->random = as_word_is(a, "pattern", "random");
    s->pass = as_axes_u64(a, "pass");
    s->delay_s = 1e-6 * as_axes_number(a, "delay");
    as_blocks_start(&s->blocks, ARMS, vc->seed);
    enum as_status st = as_check_room(vc->dev, touched + size, touched, err);
    if (!st)
        st = make_buffer(s, size, vc->seed, err);
    if (!st)
        st = toucher_prepare(&s->other, vc->dev, as_axes_text(a, "allocator"), touched, as_word_is(a, "op", "write"),
                             err);
    if (!st)
        st = toucher_run(&s->other, &s->touch_s, err); /* the first control waits as long */
    if (!st)
        st = measure(s, CONTROL, &unused, err); /* the first block of a process is slower */
    if (!st && touched && !s->other.native)
        as_expect_code(vc, s->other.kernel, s->other.write ? "store.global" : "load.global", 1);
    vc->footprint = touched + size;
    vc->min_reps = vc->max_reps = 1;
    as_host_part(vc);
    return st;
}

static enum as_status prepare(struct as_trial_context *vc, void **state, struct as_error *err)
{
    struct state *s = calloc(1, sizeof *s);
    *state = s;
    if (!s)
        return as_nomem(err, sizeof *s, "a trial");
    s->vc = vc;
    return prepare_trial(s, vc, err);
}

static enum as_status sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    double seconds[ARMS] = {NAN, NAN};
    (void)reps;
    enum as_status st = as_blocks_run(&s->blocks, measure, s, seconds, err);
    *out = (struct as_sample){
        .value = seconds[TOUCHED] / seconds[CONTROL], .seconds = seconds[TOUCHED] + seconds[CONTROL], .clock_hz = NAN};
    for (size_t i = 0; i < ARMS && !st; i++)
        s->log_sum[i] += log(seconds[i]);
    s->count += st == AS_OK;
    return st;
}

static bool check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    if (s->count > 0) {
        as_note_number(s->vc, "control", 1e9 * exp(s->log_sum[CONTROL] / s->count) / (double)s->lines);
        as_note_number(s->vc, "after_touch", 1e9 * exp(s->log_sum[TOUCHED] / s->count) / (double)s->lines);
    }
    if (!toucher_check(&s->other, why, why_size))
        return false;
    snprintf(why, why_size, "the pass found %" PRIu64 ", %" PRIu64 " is right", s->found, s->want);
    return s->found == s->want;
}

static void finish(void *state)
{
    struct state *s = state;
    if (!s)
        return;
    toucher_finish(&s->other);
    free(s->buffer);
    free(s);
}

static const struct as_metric further[] = {
    {"control", "ns", true, "time per line of the pass in the control", NULL},
    {"after_touch", "ns", true, "time per line of the pass after the touch", NULL},
    {0}};

const struct as_probe as_probe_residual = {
    .abi = AS_PROBE_ABI,
    .name = "residual",
    .title = "Cache eviction by a device or another core",
    .question = "How much slower is a pass over a CPU buffer after a device or another core has touched memory?",
    .metric = "slowdown",
    .unit = "x",
    .lower_is_better = true,
    .counts = "time of the pass after the touch over the control's, from one matched block",
    .further = further,
    .axes = axes,
    .quick = quick,
    .full = full,
    .applies = applies,
    .patience = patience,
    .prepare = prepare,
    .sample = sample,
    .check = check,
    .finish = finish,
    .method = as_method_residual,
    .figure = "residual",
};
