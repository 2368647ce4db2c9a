/* launch: cost of launching a kernel and waiting for it. See method.md. */
#include "lib/buffers/buffers.h"

#include <stdio.h>
#include <string.h>

extern const char as_kernel_launch[];

enum { BATCH = 100, COUNTER_BYTES = 4096 };

static const char *const what_words[] = {"roundtrip", "submit",    "batch",      "graph-1",
                                         "graph-10",  "graph-100", "graph-1000", NULL};
static const char *const wait_words[] = {"block", "spin", "yield", NULL}; /* in the order of enum as_wait */

static const struct as_axis axes[] = {
    AS_WORD_AXIS(
        "what", what_words, "roundtrip",
        "launch and wait; the enqueue call alone; per launch, in batches of 100 with one wait; a node of a graph"),
    AS_WORD_AXIS("wait", wait_words, "block", "how the host waits"),
    AS_COUNT_AXIS("threads", 1, 0, "1", "CPU: threads woken and joined; device: threads of the single workgroup",
                  .domain = AS_DOMAIN_THREADS),
    {0},
};
static const char *const quick[] = {"what=roundtrip wait=all threads=1", "what=submit,batch wait=block threads=1",
                                    "what=roundtrip wait=block threads=max",
                                    "what=graph-1,graph-100 wait=block threads=1", NULL};
static const char *const full[] = {"what=all wait=all threads=1,max", NULL};

static bool is_graph(const char *what)
{
    return strncmp(what, "graph-", strlen("graph-")) == 0;
}

static enum as_applies launch_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    bool async = (info->capabilities & AS_CAP_ASYNC) != 0;
    bool blocks = as_word_is(a, "wait", "block");
    const char *what = as_axes_text(a, "what");
    if (is_graph(what) && !(info->capabilities & AS_CAP_GRAPHS)) {
        as_fail(err, AS_UNSUPPORTED, "the device's API cannot record launches as a graph");
        return (info->capabilities & AS_CAP_HOST_KERNELS) || !blocks ? AS_PRUNED : AS_INAPPLICABLE;
    }
    if (!blocks && (!async || strcmp(what, "roundtrip") != 0))
        return AS_PRUNED;
    if (strcmp(what, "submit") == 0 && !async)
        return as_inapplicable(err, "launches on this device are synchronous");
    return AS_APPLIES;
}

static void host_count(const struct as_host_call *call)
{
    if (call->thread == 0)
        *(volatile uint32_t *)call->args[0] += (uint32_t)call->reps;
}
static const struct as_host_kernel host_kernels[] = {{"count", host_count}, {NULL, NULL}};

struct state {
    struct as_buffers own; /* first: the record's finish casts to it */
    struct as_device *dev;
    struct as_memory *counter;
    struct as_kernel *kernel;
    struct as_arg arg;
    struct as_launch launch;
    enum as_wait wait;
    bool async;
    uint32_t launched; /* modulo 2^32, like the counter */
    enum as_status (*once)(struct state *s, double *seconds, struct as_error *err);
    unsigned kernels; /* per repetition */
};

/* Uses the host's clock around the call: device timestamps exclude the launch cost. */
static enum as_status roundtrip(struct state *s, double *seconds, struct as_error *err)
{
    struct as_timing unused;
    double start = as_now();
    enum as_status st = s->async ? s->dev->queue->submit(s->dev, &s->launch, err)
                                 : s->dev->queue->launch(s->dev, &s->launch, &unused, err);
    if (!st && s->async)
        st = s->dev->queue->wait(s->dev, s->wait, err);
    *seconds += as_now() - start;
    return st;
}

static enum as_status submit_only(struct state *s, double *seconds, struct as_error *err)
{
    double start = as_now();
    enum as_status st = s->dev->queue->submit(s->dev, &s->launch, err);
    *seconds += as_now() - start;
    return st ? st : s->dev->queue->wait(s->dev, AS_WAIT_BLOCK, err);
}

/* One graph whose nodes are the launches; recording it is not timed. */
static enum as_status run_graph(struct state *s, double *seconds, struct as_error *err)
{
    struct as_timing t;
    enum as_status st = s->dev->queue->launch(s->dev, &s->launch, &t, err);
    if (!st)
        *seconds += t.host_s;
    return st;
}

struct way {
    const char *what;
    enum as_status (*once)(struct state *s, double *seconds, struct as_error *err);
    unsigned kernels;
};
static const struct way ways[] = {{"roundtrip", roundtrip, 1},    {"submit", submit_only, BATCH},
                                  {"batch", roundtrip, BATCH},    {"graph-1", run_graph, 1},
                                  {"graph-10", run_graph, 10},    {"graph-100", run_graph, 100},
                                  {"graph-1000", run_graph, 1000}};

static void choose_way(struct state *s, const struct as_axes *a)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (as_word_is(a, "what", ways[i].what)) {
            s->once = ways[i].once;
            s->kernels = ways[i].kernels;
        }
    /* A CPU's queue holds a launch with its repetitions as one entry, so one call is timed. */
    if (s->once == submit_only && (s->dev->info.capabilities & AS_CAP_HOST_KERNELS))
        s->kernels = 1;
}

static void shape_launch(struct state *s, size_t threads)
{
    bool host = (s->dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0;
    s->arg = as_memory_arg(s->counter);
    s->launch = (struct as_launch){.kernel = s->kernel,
                                   .args = &s->arg,
                                   .args_n = 1,
                                   .workgroups = host ? threads : 1,
                                   .workgroup_size = host ? 1 : threads,
                                   .reps = s->kernels,
                                   .flags = s->once == run_graph     ? AS_LAUNCH_GRAPH
                                            : host && s->kernels > 1 ? AS_LAUNCH_BARRIER
                                                                     : 0};
}

static enum as_status launch_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    static const uint32_t zero;
    struct as_device *dev = tc->dev;
    struct as_program_desc desc = {.name = "launch", .source = as_kernel_launch, .host = host_kernels};
    struct state *s = state;
    s->dev = dev;
    as_host_part(tc);
    s->async = (dev->info.capabilities & AS_CAP_ASYNC) != 0;
    choose_way(s, tc->axes);
    s->wait = (enum as_wait)as_word_index(tc->axes, "wait", wait_words);
    if (!s->once || !wait_words[s->wait])
        return as_fail(err, AS_USAGE, "unknown experiment '%s' or wait '%s'", as_axes_text(tc->axes, "what"),
                       as_axes_text(tc->axes, "wait"));
    tc->footprint = COUNTER_BYTES;
    tc->max_reps = UINT64_C(1) << 20;
    as_buffers_open(&s->own, dev, &desc, err);
    s->kernel = as_buffers_kernel(&s->own, "count", err);
    s->counter = as_buffers_memory(&s->own, NULL, COUNTER_BYTES, err);
    as_buffers_write(&s->own, s->counter, &zero, sizeof zero, err);
    shape_launch(s, (size_t)as_axes_u64(tc->axes, "threads"));
    return s->own.status;
}

static enum as_status launch_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    enum as_status st = AS_OK;
    double seconds = 0;
    for (uint64_t i = 0; i < reps && !st; i++)
        st = s->once(s, &seconds, err);
    if (st)
        return st;
    s->launched += (uint32_t)(reps * s->kernels);
    out->seconds = seconds;
    out->value = seconds * 1e9 / ((double)reps * s->kernels);
    return AS_OK;
}

static bool launch_check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    struct as_error err = {0};
    uint32_t counted = 0;
    if (s->dev->memory->read(s->dev, s->counter, 0, &counted, sizeof counted, &err)) {
        snprintf(why, why_size, "%s", err.text);
        return false;
    }
    if (counted != s->launched)
        snprintf(why, why_size, "%u kernels ran, %u were launched", counted, s->launched);
    return counted == s->launched;
}

const struct as_probe as_probe_launch = {
    .name = "launch",
    .title = "Launch cost",
    .question = "What does it cost to launch a kernel and to wait for it?",
    .metric = "time",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "one empty kernel: until the host knows its end (roundtrip), enqueue call alone (submit), per launch of "
              "100 (batch), per graph node (graph-N)",
    .varies_by_process = true,
    AS_CELLS(axes, quick, full, launch_applies),
    .patience = as_compile_patience,
    AS_TRIAL(struct state, launch_prepare, launch_sample, launch_check, as_buffers_finish),
};
