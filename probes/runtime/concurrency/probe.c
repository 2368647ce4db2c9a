/* concurrency: how kernels in several queues share a device. See method.md. */
#include "base/clock.h"
#include "lib/buffers/buffers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_concurrency[];

/* LANES as in the kernel. ROUNDS: of a kernel that keeps one thread busy for some tenths of a millisecond on any
 * device. WORK: consecutive kernels that fill the device WAVES times, of WORK_ROUNDS each. */
enum { BATCH = 256, LANES = 32, ROUNDS = 1 << 18, WORK_ROUNDS = 1 << 12, WAVES = 16, WORK = 2 };
/* The work runs this long before the launch, and must last at least as long again. */
static const double HEAD_START_S = 200e-6;

static const char *const what_words[] = {"rate", "busy", "in_queue", "together", "queued", NULL};
static const char *const priority_words[] = {"same", "high", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("what", what_words, "rate",
                 "rate: empty kernels spread over the queues; busy: one long kernel per queue; in_queue: long kernels "
                 "submitted one by one to one queue; together: in a single submission (concurrent encoder, branches of "
                 "a graph, out-of-order queue); queued: a short one behind work in another queue"),
    AS_COUNT_AXIS("queues", 1, 0, "1,2,4,8,16", "number of queues (streams); with in_queue and together, of kernels"),
    AS_WORD_AXIS("priority", priority_words, "same", "of the short kernel's queue: the work's, or the highest"),
    {0},
};
/* One grid for all suites, so that facts rest on the same cells. Limits of 2 to 64 and 128 divide 128,
 * and 96 divides 96: kernels run in full rounds, which show the limit. */
static const char *const grid[] = {"what=busy,in_queue,together queues=1,16,96,128 priority=same",
                                   "what=rate queues=1,4,16 priority=same", "what=queued queues=1 priority=all", NULL};

static enum as_applies concurrency_applies(const struct as_device_info *info, const struct as_axes *a,
                                           struct as_error *err)
{
    bool behind = as_word_is(a, "what", "queued"), one = as_axes_u64(a, "queues") == 1;
    if (behind ? !one : !as_word_is(a, "priority", "same"))
        return AS_PRUNED;
    if (!(info->capabilities & AS_CAP_QUEUES)) {
        as_fail(err, AS_UNSUPPORTED, "the device has one in-order queue");
        return one && as_word_is(a, "priority", "same") ? AS_INAPPLICABLE : AS_PRUNED;
    }
    if (as_word_is(a, "what", "together") && !(info->capabilities & AS_CAP_TOGETHER))
        return as_inapplicable(err, "the device's API cannot submit several kernels as one");
    if (as_axes_u64(a, "queues") > AS_QUEUES_MAX)
        return as_inapplicable(err, "at most %d queues are tried", (int)AS_QUEUES_MAX);
    return AS_APPLIES;
}

/* A queue's arguments: its index in the results, and the work per launch. */
struct share {
    uint32_t first, rounds, key, launched;
    size_t workgroups, workgroup_size;
};
struct state {
    struct as_device *dev;
    struct as_buffers own;
    struct as_kernel *kernel;
    struct as_memory *out, *counts;
    enum as_status (*once)(struct state *s, double *seconds, struct as_error *err);
    unsigned kernels;     /* per repetition */
    uint32_t key, queues; /* queues: that kernels are put into */
    struct share shares[AS_QUEUES_MAX];
    double shortest_work; /* shortest of the work before the timed kernel, and of the work alone */
};

/* The next launch of a queue. */
struct next {
    struct as_arg args[6];
    struct as_launch launch;
};
static void next_launch(struct state *s, uint32_t queue, unsigned kernels, struct next *n)
{
    struct share *h = &s->shares[queue];
    h->key = s->key;
    h->launched += kernels;
    const struct as_arg args[] = {as_memory_arg(s->out), as_memory_arg(s->counts), as_u32_arg(h->first),
                                  as_u32_arg(queue),     as_u32_arg(h->key),       as_u32_arg(h->rounds)};
    memcpy(n->args, args, sizeof args);
    n->launch = as_launch_of(s->kernel, n->args, sizeof args / sizeof *args, h->workgroups, h->workgroup_size);
    n->launch.reps = kernels;
}

static enum as_status concurrency_put(struct state *s, uint32_t queue, struct as_error *err)
{
    struct next n;
    next_launch(s, queue, 1, &n);
    n.launch.queue = queue + 1;
    return s->dev->queue->submit(s->dev, &n.launch, err);
}

static enum as_status wait_all(struct state *s, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (uint32_t q = 0; q < s->queues && !st; q++)
        st = s->dev->queue->wait_queue(s->dev, q + 1, err);
    return st;
}

/* Distributes kernels over the queues round-robin. */
static enum as_status spread(struct state *s, double *seconds, struct as_error *err)
{
    enum as_status st = AS_OK;
    double start = as_now();
    for (unsigned i = 0; i < s->kernels && !st; i++)
        st = concurrency_put(s, i % s->queues, err);
    if (!st)
        st = wait_all(s, err);
    *seconds += as_now() - start;
    return st;
}

/* All kernels in one submission, which is prepared before the clock starts. */
static enum as_status together(struct state *s, double *seconds, struct as_error *err)
{
    struct next n;
    struct as_timing t;
    next_launch(s, 0, s->kernels, &n);
    n.launch.flags = AS_LAUNCH_TOGETHER;
    const enum as_status st = s->dev->queue->launch(s->dev, &n.launch, &t, err);
    *seconds += t.host_s;
    return st;
}

static enum as_status put_work(struct state *s, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (unsigned i = 0; i < WORK && !st; i++)
        st = concurrency_put(s, 0, err);
    return st;
}

/* Without a kernel behind it: a late return of the wait would look like longer work. Times the second launch, since a
 * kernel's first one has extra costs. */
static enum as_status time_work(struct state *s, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (int i = 0; i < 2 && !st; i++) {
        double start = as_now();
        st = put_work(s, err);
        if (!st)
            st = s->dev->queue->wait_queue(s->dev, 1, err);
        s->shortest_work = as_now() - start;
    }
    return st;
}

/* Times only the short kernel in the second queue. */
static enum as_status behind(struct state *s, double *seconds, struct as_error *err)
{
    double start = as_now();
    enum as_status st = put_work(s, err);
    double from = as_now();
    while (as_now() - from < HEAD_START_S)
        as_relax();
    from = as_now();
    if (!st)
        st = concurrency_put(s, 1, err);
    if (!st)
        st = s->dev->queue->wait_queue(s->dev, 2, err);
    *seconds += as_now() - from;
    if (!st)
        st = s->dev->queue->wait_queue(s->dev, 1, err);
    double lasted = as_now() - start;
    s->shortest_work = lasted < s->shortest_work ? lasted : s->shortest_work;
    return st;
}

static const struct way {
    enum as_status (*once)(struct state *s, double *seconds, struct as_error *err);
    uint32_t rounds;
    unsigned kernels; /* 0: as many as the axis says */
    unsigned queues;  /* that they are put into; 0: as many as the axis says */
} ways[] = {
    {spread, 0, BATCH, 0}, {spread, ROUNDS, 0, 0}, {spread, ROUNDS, 0, 1}, {together, ROUNDS, 0, 1}, {behind, 0, 1, 2}};

/* One thread per queue; the work before a timed kernel fills the device many times. */
static size_t share_out(struct state *s, const struct way *way)
{
    const struct as_device_info *info = &s->dev->info;
    size_t size = info->threads && info->threads < 256 ? info->threads : 256, at = 0;
    size_t held = info->compute_unit_threads > size ? info->compute_unit_threads / size : 1;
    for (uint32_t q = 0; q < s->queues; q++) {
        struct share *h = &s->shares[q];
        *h = (struct share){.first = (uint32_t)at, .rounds = way->rounds, .workgroups = 1, .workgroup_size = 1};
        if (way->once == behind && q == 0) {
            h->rounds = WORK_ROUNDS;
            h->workgroups = WAVES * held * (info->compute_units ? info->compute_units : 1);
            h->workgroup_size = size;
        }
        at += h->workgroups * h->workgroup_size;
    }
    return at;
}

static enum as_status concurrency_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    static const uint32_t zeros[AS_QUEUES_MAX];
    struct as_device *dev = s->dev = tc->dev;
    size_t what = as_word_index(tc->axes, "what", what_words);
    if (what >= sizeof ways / sizeof *ways)
        return as_fail(err, AS_USAGE, "unknown experiment '%s'", as_axes_text(tc->axes, "what"));
    s->once = ways[what].once;
    const uint32_t asked = (uint32_t)as_axes_u64(tc->axes, "queues");
    s->queues = ways[what].queues ? ways[what].queues : asked;
    s->kernels = ways[what].kernels ? ways[what].kernels : asked;
    s->key = (uint32_t)tc->seed;
    s->shortest_work = 1e9;
    char defines[24];
    snprintf(defines, sizeof defines, "-DLANES=%d", (int)LANES);
    struct as_program_desc desc = {.name = "concurrency", .source = as_kernel_concurrency, .defines = defines};
    tc->footprint = share_out(s, &ways[what]) * sizeof(uint32_t);
    tc->max_reps = UINT64_C(1) << 20;
    as_host_part(tc);
    /* One further queue for each branch of a graph. */
    const size_t open = s->once == together ? s->kernels : s->queues;
    enum as_status st = dev->queue->queues(dev, open, as_word_is(tc->axes, "priority", "high"), err);
    if (st)
        return st;
    as_buffers_open(&s->own, dev, &desc, err);
    s->kernel = as_buffers_kernel(&s->own, "busy", err);
    s->out = as_buffers_memory(&s->own, NULL, tc->footprint, err);
    s->counts = as_buffers_memory(&s->own, NULL, sizeof zeros, err);
    as_buffers_write(&s->own, s->counts, zeros, sizeof zeros, err);
    return s->own.status || s->once != behind ? s->own.status : time_work(s, err);
}

static enum as_status concurrency_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    enum as_status st = AS_OK;
    double seconds = 0;
    for (uint64_t i = 0; i < reps && !st; i++) {
        s->key++; /* a new key, so that stale results fail */
        st = s->once(s, &seconds, err);
    }
    if (st)
        return st;
    out->seconds = seconds;
    out->value = seconds * 1e9 / ((double)reps * s->kernels);
    return AS_OK;
}

/* ---- the check: every thread's result of the last launch of each queue, and how many launches there were ---- */

static uint32_t concurrency_expected(const struct share *h, uint32_t lane)
{
    uint32_t x = h->key + lane;
    for (uint32_t i = 0; i < h->rounds; i++)
        x = (x ^ x >> 15) * UINT32_C(0x2c1b3c6d) + i;
    return x;
}

static bool check_queue(const struct share *h, uint32_t queue, const uint32_t *out, uint32_t counted, char *why,
                        size_t why_size)
{
    if (counted != h->launched) {
        snprintf(why, why_size, "%u kernels of queue %u ran, %u were launched", counted, queue + 1, h->launched);
        return false;
    }
    size_t threads = h->workgroups * h->workgroup_size;
    for (uint32_t lane = 0; lane < LANES && lane < threads && h->launched; lane++) {
        uint32_t want = concurrency_expected(h, lane);
        for (size_t i = lane; i < threads; i += LANES)
            if (out[h->first + i] != want) {
                snprintf(why, why_size, "thread %zu of queue %u ends at %u, not %u", i, queue + 1, out[h->first + i],
                         want);
                return false;
            }
    }
    return true;
}

static bool concurrency_check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    struct as_error err = {0};
    uint32_t counts[AS_QUEUES_MAX], *out = as_check_copy(s->dev, s->out, s->out->bytes, why, why_size);
    bool right = false;
    if (!out)
        return false;
    if (s->dev->memory->read(s->dev, s->counts, 0, counts, sizeof counts, &err))
        snprintf(why, why_size, "%s", err.text);
    else if (s->shortest_work < 2 * HEAD_START_S)
        snprintf(why, why_size, "the work ahead of the launch lasts only %.0f us", s->shortest_work * 1e6);
    else {
        right = true;
        for (uint32_t q = 0; q < s->queues && right; q++)
            right = check_queue(&s->shares[q], q, out, counts[q], why, why_size);
    }
    free(out);
    return right;
}

static void concurrency_finish(void *state)
{
    struct state *s = state;
    if (s->dev)
        s->dev->queue->queues(s->dev, 0, 0, NULL);
    as_buffers_finish(&s->own);
}

const struct as_probe as_probe_concurrency = {
    .name = "concurrency",
    .title = "Concurrent kernels",
    .question = "How do kernels of several queues (streams) share the device?",
    .metric = "time",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "time per kernel, from the first call to the last known end; with 'queued' the time of a kernel launched "
              "while another queue's work fills the device",
    .varies_by_process = true,
    AS_CELLS(axes, grid, grid, concurrency_applies),
    .patience_s = 30, /* the driver compiles the kernel first */
    AS_TRIAL(struct state, concurrency_prepare, concurrency_sample, concurrency_check, concurrency_finish),
};
