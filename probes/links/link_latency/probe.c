/* link_latency: latency of a device's access to another device's memory or the host's. See method.md. */
#include "lib/buffers/buffers.h"
#include "lib/chase/chase.h"
#include "lib/transfer/peers.h"

#include <math.h>
#include <stdio.h>

extern const char as_kernel_link_latency[];

enum { ADDS = 64, OVERHEADS = 5 };

static const char *const what_words[] = {"load", "atomic", NULL};

static const struct as_axis axes[] = {
    AS_PEER_AXES("the other end: the host, or a device of the backend by number"),
    AS_WORD_AXIS("what", what_words, "load", "dependent loads, or dependent atomic additions"),
    AS_SIZE_AXIS("size", 4096, UINT64_C(1) << 34, "2MiB", "bytes of the buffer (an atomic has one word only)"),
    AS_SIZE_AXIS("stride", 8, 1024, "128", "bytes between elements, a multiple of 8"),
    {0},
};
static const char *const quick[] = {"peer=host allocator=pinned what=all", "peer=all allocator=device node=0 what=all",
                                    NULL};
static const char *const full[] = {"peer=host allocator=pinned what=all size=2MiB,64MiB stride=64,128",
                                   "peer=all allocator=device node=0 what=all size=2MiB,64MiB stride=64,128", NULL};

static enum as_applies link_latency_applies(const struct as_device_info *info, const struct as_axes *a,
                                            struct as_error *err)
{
    bool atomic = as_word_is(a, "what", "atomic");
    double stride = as_axes_number(a, "stride");
    if (as_word_is(a, "peer", "every") || as_word_is(a, "peer", AS_PEER_EVERY_HOST))
        return AS_PRUNED; /* a pointer chase has one outstanding access, at one end */
    if (atomic && (as_axes_number(a, "size") != 2 << 20 || stride != 128))
        return AS_PRUNED; /* the atomic uses one word, so size does not matter */
    enum as_applies pair = as_peer_applies(info, a, err);
    if (pair == AS_INAPPLICABLE && (atomic || as_axes_number(a, "size") != 2 << 20 || stride != 128))
        return AS_PRUNED; /* one cell reports that there is no pair */
    if (pair == AS_APPLIES && fmod(stride, 8) != 0)
        return as_inapplicable(err, "a stride of %.0f bytes is not a multiple of 8", stride);
    return pair;
}

struct state {
    struct as_device *dev;
    struct as_place place;
    char owner[1][32];
    struct as_chase chase;        /* what=load */
    struct as_kernel_timer timer; /* what=atomic, by a device's kernel */
    struct as_buffers own;        /* the counter, and a native CPU kernel */
    struct as_memory *result;
    double overhead_s;
    struct as_kernel *add; /* of either experiment */
    struct as_memory *counter;
    bool atomic, native, wrong;
    uint32_t want, counted, returned; /* of the last sample, or of the first wrong one */
};

/* ---- atomics ---- */

/* args: 0 result, 1 counter, 2 turns */
static void host_add(const struct as_host_call *call)
{
    uint32_t *counter = call->args[1], turns = *(const uint32_t *)call->args[2], at = 0;
    for (uint64_t n = (uint64_t)turns * ADDS; n; n--)
        at = __atomic_fetch_add(&counter[at >> 31], 1u, __ATOMIC_RELAXED);
    *(uint32_t *)call->args[0] = at;
}
static const struct as_host_kernel host_kernels[] = {{"add", host_add}, {NULL, NULL}};

static enum as_status link_latency_build_native(struct state *s, struct as_error *err)
{
    struct as_program_desc desc = {.name = "link_latency", .host = host_kernels};
    as_buffers_open(&s->own, s->dev, &desc, err);
    s->add = as_buffers_kernel(&s->own, "add", err);
    s->result = as_buffers_memory(&s->own, NULL, 64, err);
    return s->own.status;
}

static enum as_status link_latency_build_device(struct state *s, struct as_error *err)
{
    enum as_status st =
        as_kernel_timer_prepare(&s->timer, s->dev, "link_latency", "", as_kernel_link_latency, NULL, 1, err);
    if (!st)
        st = as_kernel_timer_pin_unit(&s->timer, AS_TIMER_UNIT, err);
    return st ? st : as_kernel_timer_keep_kernel(&s->timer, "add", &s->add, err);
}

static struct as_launch link_latency_launch_of(const struct state *s, uint32_t turns, struct as_arg args[4])
{
    size_t n = 0;
    args[n++] = as_memory_arg(s->native ? s->result : s->timer.memory);
    if (!s->native)
        args[n++] = as_memory_arg(s->timer.choice);
    args[n++] = as_memory_arg(s->counter);
    args[n++] = as_u32_arg(turns);
    struct as_launch l = as_launch_of(s->add, args, n, 1, 1);
    l.work = (struct as_work){.accesses = (double)turns * ADDS, .footprint = 64};
    return l;
}

/* *last: the last addition's return value. *seconds: of all additions. */
static enum as_status make_adds(struct state *s, uint32_t turns, struct as_sample *out, uint32_t *returned,
                                struct as_error *err)
{
    struct as_arg args[4];
    struct as_timing t;
    double launch_s;
    const struct as_launch l = link_latency_launch_of(s, turns, args);
    if (!s->native) {
        enum as_status st = as_kernel_timer_launch(&s->timer, &l, &launch_s, err);
        out->seconds = as_kernel_timer_seconds(&s->timer, launch_s);
        out->clock_hz = as_kernel_timer_clock(&s->timer);
        *returned = (uint32_t)s->timer.record[0].value;
        return st;
    }
    enum as_status st = s->dev->queue->launch(s->dev, &l, &t, err);
    launch_s = st ? NAN : as_timing_seconds(&t);
    out->seconds = launch_s > s->overhead_s ? launch_s - s->overhead_s : launch_s;
    return st ? st : s->dev->memory->read(s->dev, s->result, 0, returned, sizeof *returned, err);
}

static enum as_status measure_overhead(struct state *s, struct as_error *err)
{
    struct as_arg args[4];
    struct as_sample nothing;
    uint32_t unused;
    double took[OVERHEADS];
    const struct as_launch l = link_latency_launch_of(s, 0, args);
    enum as_status st = AS_OK;
    if (!s->native)
        return as_kernel_timer_overhead(&s->timer, &l, err);
    for (size_t i = 0; i < OVERHEADS && !st; i++) {
        st = make_adds(s, 0, &nothing, &unused, err);
        took[i] = nothing.seconds;
    }
    if (!st)
        s->overhead_s = as_median(took, OVERHEADS);
    return st;
}

static enum as_status prepare_adds(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    struct as_memory_desc counter = {.allocator = as_axes_text(tc->axes, "allocator"),
                                     .bytes = 4096,
                                     .node = -1,
                                     .owner = s->owner[0][0] ? s->owner[0] : NULL};
    s->native = (s->dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0;
    enum as_status st = s->native ? link_latency_build_native(s, err) : link_latency_build_device(s, err);
    s->counter = st ? NULL : as_buffers_alloc(s->native ? &s->own : &s->timer.own, &counter, err);
    if (!s->counter)
        return st ? st : (s->native ? &s->own : &s->timer.own)->status;
    as_expect_code(tc, s->add, "atomic.global", ADDS);
    tc->footprint = sizeof(uint32_t);
    as_kernel_timer_note(tc, &s->timer);
    return measure_overhead(s, err);
}

static enum as_status sample_adds(struct state *s, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    static const uint32_t zero;
    uint32_t counted = 0, returned = 0, want = (uint32_t)reps * ADDS;
    enum as_status st = s->dev->memory->write(s->dev, s->counter, 0, &zero, sizeof zero, err);
    if (!st)
        st = make_adds(s, (uint32_t)reps, out, &returned, err);
    if (!st)
        st = s->dev->memory->read(s->dev, s->counter, 0, &counted, sizeof counted, err);
    if (st)
        return st;
    out->value = out->seconds / (double)want * 1e9;
    if (!s->wrong) {
        s->want = want;
        s->counted = counted;
        s->returned = returned;
        s->wrong = counted != want || returned != want - 1;
    }
    return AS_OK;
}

/* ---- one trial ---- */

static enum as_status prepare_walk(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    struct as_chase_desc desc = {.allocator = as_axes_text(tc->axes, "allocator"),
                                 .size = as_axes_u64(tc->axes, "size"),
                                 .stride = as_axes_u64(tc->axes, "stride"),
                                 .pattern = AS_PATTERN_RANDOM,
                                 .seed = tc->seed,
                                 .owner = s->owner[0][0] ? s->owner[0] : NULL};
    enum as_status st = as_chase_prepare(&s->chase, s->dev, &desc, err);
    as_kernel_timer_note(tc, &s->chase.timer);
    tc->footprint = s->chase.footprint;
    return st;
}

static enum as_status link_latency_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    s->dev = tc->dev;
    s->atomic = as_word_is(tc->axes, "what", "atomic");
    size_t peers = as_peer_owners(&tc->dev->info, tc->axes, s->owner, 1);
    int node = peers ? -1 : (int)as_axes_u64(tc->axes, "node");
    tc->sample_s = 5e-3; /* long compared with the scatter of a launch */
    tc->max_reps = UINT64_C(1) << 24;
    enum as_status st = as_place_begin(&s->place, &tc->dev->info, node, err);
    if (!st)
        st = s->atomic ? prepare_adds(s, tc, err) : prepare_walk(s, tc, err);
    as_place_unbind(&s->place);
    as_note(tc, "host_thread", s->place.moved ? tc->dev->info.near_cpus : "not placed");
    return st;
}

static enum as_status link_latency_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    return s->atomic ? sample_adds(s, reps, out, err) : as_chase_trial_sample(&s->chase, reps, out, err);
}

static bool link_latency_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    if (!s->atomic)
        return as_chase_check(&s->chase, why, why_size);
    snprintf(why, why_size, "%u additions left %u, and the last one returned %u", s->want, s->counted, s->returned);
    return !s->wrong;
}

static void link_latency_finish(void *state)
{
    struct state *s = state;
    as_chase_finish(&s->chase);
    as_buffers_finish(&s->own);
    as_kernel_timer_finish(&s->timer);
    as_place_end(&s->place);
}

static double link_latency_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return 10 + as_compile_patience(info, a) + as_axes_number(a, "size") / 50e6;
}

const struct as_probe as_probe_link_latency = {
    .name = "link_latency",
    .title = "Link latency",
    .question = "What is the latency of a device's access to another device's memory, or to the host's?",
    .metric = "latency",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "one dependent load, or one dependent atomic addition that returns the old value",
    .varies_by_process = true,
    .crosses_link = true,
    AS_CELLS(axes, quick, full, link_latency_applies),
    .kernel_reaches = as_always_by_kernel,
    .patience = link_latency_patience,
    AS_TRIAL(struct state, link_latency_prepare, link_latency_sample, link_latency_check, link_latency_finish),
};
