/* topology: latency and read bandwidth within each reported memory level, for the machine map. See method.md. */
#include "lib/chase/chase.h"
#include "lib/checks/checks.h"
#include "lib/stream/stream.h"

enum { LINE = 64 };

static const char *const place_words[] = {"L1", "L2", "L3", "L4", "memory", NULL};
static const char *const what_words[] = {"latency", "bandwidth", NULL};
static const struct as_axis axes[] = {
    AS_WORD_AXIS("place", place_words, "all", "the memory level"),
    AS_WORD_AXIS("what", what_words, "all", "dependent loads, or sequential reads"),
    {0},
};
static const char *const grid[] = {"place=all what=all", NULL};

static bool topology_is_memory(const struct as_axes *a)
{
    return as_word_is(a, "place", "memory");
}

static bool is_bandwidth(const struct as_axes *a)
{
    return as_word_is(a, "what", "bandwidth");
}

/* Data cache bytes of this level, and of the level below (0: none). */
static uint64_t level_size(const struct as_device_info *info, unsigned level, uint64_t *below)
{
    uint64_t size = level ? as_info_cache(info, level) : 0;
    *below = 0;
    for (unsigned l = 1; l < level; l++)
        if (as_info_cache(info, l) > *below)
            *below = as_info_cache(info, l);
    return size;
}

/* Half of a level, so that it fits beside other data. A compute unit may reach half of a partitioned cache, so its
 * chase uses a quarter. Memory is sized as for the footprint gate. */
static uint64_t topology_working_set(const struct as_device_info *info, const struct as_axes *a)
{
    uint64_t below;
    if (topology_is_memory(a))
        return as_info_memory_least(info, NULL, 1);
    bool alone = !is_bandwidth(a) && !(info->capabilities & AS_CAP_HOST_KERNELS);
    return level_size(info, (unsigned)(as_axes_text(a, "place")[1] - '0'), &below) / (alone ? 4 : 2);
}

static enum as_applies topology_applies(const struct as_device_info *info, const struct as_axes *a,
                                        struct as_error *err)
{
    uint64_t below, size, last = as_info_last_cache(info);
    /* a device on the CPU has the CPU's levels, measured there */
    if (info->is_host_cpu && !(info->capabilities & AS_CAP_HOST_KERNELS))
        return AS_PRUNED;
    if (topology_is_memory(a)) {
        if (topology_working_set(info, a) <= info->memory_free / 2 &&
            (!info->max_alloc || topology_working_set(info, a) <= info->max_alloc))
            return AS_APPLIES;
        struct as_buf b = AS_BUF_INIT;
        as_format_size(&b, topology_working_set(info, a));
        as_fail(err, AS_UNSUPPORTED,
                "a working set in main memory, of %s beside the %s, does not fit half of the free memory",
                as_buf_get(&b), as_info_largest_cache_name(info, NULL, 1));
        as_buf_finish(&b);
        return AS_INAPPLICABLE;
    }
    size = level_size(info, (unsigned)(as_axes_text(a, "place")[1] - '0'), &below);
    if (size == 0)
        return AS_PRUNED;
    /* All threads of a device read concurrently, and small caches are private to some of them. */
    if (is_bandwidth(a) && !(info->capabilities & AS_CAP_HOST_KERNELS) && size < last)
        return AS_PRUNED;
    if (topology_working_set(info, a) >= 2 * below)
        return AS_APPLIES;
    return as_inapplicable(err, "the reported size of %s is too close to the level below for a working set only in it",
                           as_axes_text(a, "place"));
}

static uint64_t topology_memory_claim(const struct as_device_info *info, const struct as_axes *a)
{
    return topology_is_memory(a) ? topology_working_set(info, a) : 0;
}

static const struct as_own_metric own_metrics[] = {
    {"what",
     "bandwidth",
     {"bandwidth", "GB/s", false, "bytes read, over half of the reported size; probe bandwidth finds the maximum",
      NULL}},
    {0}};

struct state {
    struct as_chase chase;
    struct as_stream stream;
    bool bandwidth;
};

static enum as_status topology_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    uint64_t bytes = topology_working_set(&tc->dev->info, tc->axes);
    s->bandwidth = is_bandwidth(tc->axes);
    tc->claims_memory = topology_memory_claim(&tc->dev->info, tc->axes) > 0;
    tc->footprint = bytes;
    tc->max_reps = UINT64_C(1) << 20;
    if (!(tc->dev->info.capabilities & AS_CAP_HOST_KERNELS))
        tc->sample_s = 5e-3; /* long compared with the scatter of a launch */
    if (!s->bandwidth)
        as_limit_own_cycle(tc);
    if (s->bandwidth) {
        struct as_stream_desc read = {.op = AS_STREAM_READ,
                                      .allocator = tc->dev->info.allocators[0].name,
                                      .size = bytes,
                                      .threads = 1,
                                      .choose_width = true,
                                      .barrier = tc->claims_memory,
                                      .seed = tc->seed};
        return as_stream_prepare(&s->stream, tc->dev, &read, err);
    }
    struct as_chase_desc desc = {.allocator = tc->dev->info.allocators[0].name,
                                 .size = bytes,
                                 .stride = LINE,
                                 .pattern = AS_PATTERN_RANDOM,
                                 .seed = tc->seed};
    return as_chase_prepare(&s->chase, tc->dev, &desc, err);
}

static enum as_status topology_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    if (!s->bandwidth)
        return as_chase_run(&s->chase, reps, &out->value, &out->seconds, err);
    return as_stream_run(&s->stream, reps, &out->value, &out->seconds, err);
}

static bool topology_check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    return s->bandwidth ? as_stream_check(&s->stream, why, why_size) : as_chase_check(&s->chase, why, why_size);
}

static void topology_finish(void *state)
{
    struct state *s = state;
    as_stream_finish(&s->stream);
    as_chase_finish(&s->chase);
}

/* Preparing writes the working set once, at a few hundred MB/s at worst. */
static double topology_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return as_compile_patience(info, a) + (double)topology_working_set(info, a) / 200e6;
}

const struct as_probe as_probe_topology = {
    .name = "topology",
    .title = "Memory levels, as the system reports them",
    .question = "What latency and bandwidth does each reported memory level have?",
    .metric = "latency",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "one dependent load, over half of the reported size",
    .own_metrics = own_metrics,
    AS_CELLS(axes, grid, grid, topology_applies),
    .memory_claim = topology_memory_claim,
    .patience = topology_patience,
    AS_TRIAL(struct state, topology_prepare, topology_sample, topology_check, topology_finish),
};
