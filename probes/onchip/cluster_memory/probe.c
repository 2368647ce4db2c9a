/* cluster_memory: shared memory of the other blocks of a cluster. See method.md. */
#include "lib/kernel_timer/kernel_timer.h"

#include "device/dialect/dialect.h"

#include <stdio.h>
#include <stdlib.h>

extern const char as_kernel_cluster_memory[], as_kernel_warpgroup[];

static const char *const what_words[] = {"latency",           "bandwidth",    "multicast",
                                         "multicast_latency", "multicast_2d", NULL};
enum what { LATENCY, BANDWIDTH, MULTICAST, MULTICAST_LATENCY, MULTICAST_2D };

static const struct as_axis axes[] = {
    AS_WORD_AXIS(
        "what", what_words, "latency",
        "latency: a pointer chase by one thread; bandwidth: every block reads, 128 bits per load; multicast: "
        "every block copies its part of tiles from L2 to all blocks (cp.async.bulk); multicast_latency: one copy "
        "of 1 KiB to all; multicast_2d: as multicast, of rows of a tensor (cp.async.bulk.tensor.2d)"),
    AS_COUNT_AXIS("cluster", 1, 8, "2", "blocks per cluster: 1, 2, 4 or 8; 1: a block uses its own shared memory"),
    {0},
};
static const char *const quick[] = {"what=all cluster=1,2,8", NULL};
static const char *const full[] = {"what=all cluster=1,2,4,8", NULL};

enum {
    ARCH_LEAST = 90,
    WITHOUT_MULTICAST = 12 /* tens of an architecture */,
    STEPS = 16,
    GROUP_THREADS = 512,
    TILE = 2048,
    ELEMENT_WORDS = 4
};
enum {
    TILES_LEAST = 64 /* of the data: as many paths to L2 */,
    STAGES = 4,
    ONCE = 64,
    TILE_BYTES = TILE * ELEMENT_WORDS * 4,
    BARRIER_BYTES = 1 << 10,
    TENSOR_ROW = 128 /* bytes; tiles of tensors begin at multiples of it */
};
enum { BANKS = 32, BANK_BYTES = 4 }; /* CUDA C++ Programming Guide, compute capability 5.0 and later */
/* As in the kernel. */
enum { CHAIN_STEP = 33, CHAIN_WORDS = 1024 };

/* What each measurement launches, and what its machine code has: a load from another block has a generic address. */
static const struct kind {
    const char *kernel, *operation;
    unsigned at_least;
    bool alone;     /* one cluster */
    uint64_t bytes; /* per turn and block */
} kinds[] = {
    [LATENCY] = {"chase", "load.global", STEPS, true, 0},
    [BANDWIDTH] = {"read", "load.global.128", TILE / GROUP_THREADS, false, TILE_BYTES},
    [MULTICAST] = {"multicast", "load.async", STAGES, false, (uint64_t)STAGES *TILE_BYTES},
    [MULTICAST_LATENCY] = {"multicast_once", "load.async", 1, false, 0},
    [MULTICAST_2D] = {"multicast_2d", "load.async", STAGES, false, (uint64_t)STAGES *TILE_BYTES},
};

/* For sm_120 and sm_121 the compiler emits a call in place of a copy to all blocks. */
static enum as_applies on_nvidia(const struct as_device_info *info, enum what what, struct as_error *err)
{
    if (as_arch_number(info) < ARCH_LEAST)
        return as_inapplicable(err, "clusters need an architecture from sm_%d on, this is %s", (int)ARCH_LEAST,
                               info->arch);
    if (what >= MULTICAST && as_arch_number(info) / 10 == WITHOUT_MULTICAST)
        return as_inapplicable(err, "%s has no instruction that copies to all blocks of a cluster", info->arch);
    return AS_APPLIES;
}

static enum as_applies cluster_memory_applies(const struct as_device_info *info, const struct as_axes *a,
                                              struct as_error *err)
{
    const uint64_t cluster = as_axes_u64(a, "cluster");
    if (cluster & (cluster - 1))
        return as_pruned(err, "a cluster has 1, 2, 4 or 8 blocks");
    const enum what what = (enum what)as_word_index(a, "what", what_words);
    const uint64_t shared = kinds[what].bytes + BARRIER_BYTES;
    if (as_dialect_find(info->dialect) == AS_DIALECT_CUDA && info->workgroup_shared && shared > info->workgroup_shared)
        return as_pruned(err, "a block has %llu bytes of shared memory", (unsigned long long)info->workgroup_shared);
    if (as_dialect_find(info->dialect) == AS_DIALECT_CUDA)
        return on_nvidia(info, what, err);
    as_fail(err, AS_UNSUPPORTED, "workgroups of this device cannot read each other's shared memory");
    return cluster == 1 && as_word_is(a, "what", what_words[0]) ? AS_INAPPLICABLE : AS_PRUNED;
}

struct state {
    struct as_kernel_timer timer;
    struct as_kernel *kernel;
    struct as_memory *data, *sums;
    uint64_t cluster;
    enum what what;
    size_t workgroups, tiles;
    uint32_t *sum;                 /* of the host */
    uint32_t *tile_sum, *once_sum; /* of each tile */
    int wrong;
};

static enum as_status cluster_memory_fill(struct state *s, uint64_t seed, struct as_error *err)
{
    const size_t tile = (size_t)TILE * ELEMENT_WORDS, words = s->tiles * tile, sums = s->workgroups * GROUP_THREADS;
    struct as_device *dev = s->timer.dev;
    struct as_rng rng;
    uint32_t *data = malloc(words * sizeof *data);
    s->sum = calloc(sums, sizeof *s->sum);
    s->tile_sum = calloc(s->tiles, sizeof *s->tile_sum);
    s->once_sum = calloc(s->tiles, sizeof *s->once_sum);
    enum as_status st =
        data && s->sum && s->tile_sum && s->once_sum ? AS_OK : as_nomem(err, (words + sums) * sizeof *data, "tiles");
    as_rng_seed(&rng, seed);
    for (size_t i = 0; i < words && !st; i++) {
        data[i] = (uint32_t)as_rng_u64(&rng);
        s->tile_sum[i / tile] += data[i];
        s->once_sum[i / tile] += i % tile < (size_t)ONCE * ELEMENT_WORDS ? data[i] : 0;
    }
    if (!st)
        st = as_kernel_timer_keep_memory(&s->timer, words * sizeof *data, &s->data, err);
    if (!st)
        st = as_kernel_timer_keep_memory(&s->timer, sums * sizeof *s->sum, &s->sums, err);
    if (!st)
        st = dev->memory->write(dev, s->data, 0, data, words * sizeof *data, err);
    free(data);
    return st;
}

static enum as_status cluster_memory_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    const unsigned units = tc->dev->info.compute_units;
    char defines[128];
    s->cluster = as_axes_u64(tc->axes, "cluster");
    s->what = (enum what)as_word_index(tc->axes, "what", what_words);
    const struct kind *k = &kinds[s->what];
    s->workgroups = k->alone || units < s->cluster ? s->cluster : units / s->cluster * s->cluster;
    s->tiles = s->workgroups / s->cluster * STAGES;
    s->tiles = s->tiles > TILES_LEAST ? s->tiles : TILES_LEAST;
    tc->max_reps = UINT32_MAX / STEPS;
    tc->footprint = (uint64_t)TILE * ELEMENT_WORDS * sizeof(uint32_t);
    snprintf(defines, sizeof defines,
             "-DCLUSTER=%d -DTILE=%d -DGROUP_THREADS=%d -DSTAGES=%d -DTILES=%d -DONCE=%d -DTENSOR_ROW=%d",
             (int)s->cluster, (int)TILE, (int)GROUP_THREADS, (int)STAGES, (int)s->tiles, (int)ONCE, (int)TENSOR_ROW);
    enum as_status st = as_kernel_timer_prepare(&s->timer, tc->dev, "cluster_memory", as_kernel_warpgroup,
                                                as_kernel_cluster_memory, defines, s->workgroups, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&s->timer, k->kernel, &s->kernel, err);
    if (st)
        return st;
    as_expect_code(tc, s->kernel, k->operation, k->at_least);
    as_note_number(tc, "workgroups", (double)s->workgroups);
    if (s->what == BANDWIDTH)
        as_note_number(tc, "volatile_loads", 1);
    if (k->bytes) {
        tc->limit = BANKS * BANK_BYTES;
        snprintf(tc->limit_why, sizeof tc->limit_why, "shared memory has %d banks of %d bytes", (int)BANKS,
                 (int)BANK_BYTES);
    }
    return s->what == LATENCY ? AS_OK : cluster_memory_fill(s, tc->seed, err);
}

/* The data as rows, of which a block's part of a tile is one copy. */
static struct as_tensor cluster_memory_tensor(const struct state *s)
{
    return (struct as_tensor){.memory = s->data,
                              .element_bytes = sizeof(uint32_t),
                              .columns = TENSOR_ROW / sizeof(uint32_t),
                              .rows = (uint64_t)s->tiles * TILE_BYTES / TENSOR_ROW,
                              .box_columns = TENSOR_ROW / sizeof(uint32_t),
                              .box_rows = (unsigned)(TILE_BYTES / TENSOR_ROW / s->cluster)};
}

static enum as_status cluster_memory_launch(struct state *s, uint32_t turns, double *seconds, struct as_error *err)
{
    const struct as_tensor tensor = cluster_memory_tensor(s);
    const struct as_arg chase[] = {as_memory_arg(s->timer.memory), as_u32_arg(turns)},
                        tiles[] = {as_memory_arg(s->timer.memory),
                                   as_memory_arg(s->sums),
                                   as_memory_arg(s->data),
                                   as_u32_arg(turns),
                                   {.kind = AS_ARG_TENSOR, .u.tensor = &tensor}};
    const size_t n = s->what == MULTICAST_2D ? 5 : 4;
    struct as_launch l = s->what == LATENCY ? as_launch_of(s->kernel, chase, 2, s->workgroups, GROUP_THREADS)
                                            : as_launch_of(s->kernel, tiles, n, s->workgroups, GROUP_THREADS);
    /* so much that no two blocks are on one compute unit, beside what the kernel declares */
    l.shared_bytes = s->timer.dev->info.workgroup_shared - (s->what >= MULTICAST ? BARRIER_BYTES : 0);
    l.work.bytes = (double)turns * (double)s->workgroups * (double)kinds[s->what].bytes;
    return as_kernel_timer_launch(&s->timer, &l, seconds, err);
}

/* What the threads of block g have to find. */
static uint32_t cluster_memory_sum(const struct state *s, uint64_t turns, size_t g)
{
    const uint64_t first = g / s->cluster * STAGES + turns - 1;
    uint32_t sum = 0;
    if (s->what == BANDWIDTH)
        return (uint32_t)turns * s->tile_sum[(g + 1) % s->cluster];
    if (s->what == MULTICAST_LATENCY)
        return s->once_sum[first % s->tiles];
    for (uint64_t stage = 0; stage < STAGES; stage++)
        sum += s->tile_sum[(first + stage) % s->tiles];
    return sum;
}

static enum as_status cluster_memory_judge(struct state *s, uint64_t turns, struct as_error *err)
{
    struct as_device *dev = s->timer.dev;
    if (s->what == LATENCY) {
        s->wrong |= s->timer.record[0].value != turns * STEPS * CHAIN_STEP % CHAIN_WORDS;
        return AS_OK;
    }
    enum as_status st = dev->memory->read(dev, s->sums, 0, s->sum, s->workgroups * GROUP_THREADS * sizeof *s->sum, err);
    for (size_t g = 0; g < s->workgroups && !st; g++) {
        uint32_t sum = 0;
        for (size_t k = 0; k < GROUP_THREADS; k++)
            sum += s->sum[g * GROUP_THREADS + k];
        s->wrong |= sum != cluster_memory_sum(s, turns, g);
    }
    return st;
}

static double cluster_memory_value(const struct state *s, uint64_t reps, double clock_hz)
{
    const struct as_record *r = s->timer.record;
    uint64_t slowest = 0, waited = 0;
    for (size_t g = 0; g < s->workgroups; g += s->cluster)
        waited += r[g].value;
    if (s->what == LATENCY)
        return (double)r->nanos / ((double)reps * STEPS);
    if (s->what == MULTICAST_LATENCY)
        return (double)waited / (double)(s->workgroups / s->cluster) / (double)reps / clock_hz * 1e9;
    for (size_t g = 0; g < s->workgroups; g++)
        slowest = r[g].cycles > slowest ? r[g].cycles : slowest;
    return (double)reps * (double)kinds[s->what].bytes / (double)slowest;
}

static enum as_status cluster_memory_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    enum as_status st = cluster_memory_launch(s, (uint32_t)reps, &out->seconds, err);
    if (!st)
        st = as_kernel_timer_need(&s->timer, AS_HAS_CYCLES | AS_HAS_NANOS, err);
    if (!st)
        st = cluster_memory_judge(s, reps, err);
    out->clock_hz = as_kernel_timer_clock(&s->timer);
    out->value = cluster_memory_value(s, reps, out->clock_hz);
    return st;
}

static bool cluster_memory_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    snprintf(why, why_size, "%s",
             s->what == LATENCY     ? (s->wrong ? "a chase ended elsewhere" : "every chase ended at the expected place")
             : s->what == BANDWIDTH ? (s->wrong ? "a block read other words than those of the next block"
                                                : "the sums match those of the next block's words")
                                    : (s->wrong ? "a block has other words than those copied to it"
                                                : "every block has the words copied to it"));
    return !s->wrong;
}

static void cluster_memory_finish(void *state)
{
    struct state *s = state;
    as_kernel_timer_finish(&s->timer);
    free(s->sum);
    free(s->tile_sum);
    free(s->once_sum);
}

static const struct as_own_metric own_metrics[] = {
    {"what",
     "latency",
     {.name = "latency",
      .unit = "ns",
      .lower_is_better = true,
      .counts = "time of one dependent load of one thread from the next block's shared memory"}},
    {"what",
     "multicast_latency",
     {.name = "latency",
      .unit = "ns",
      .lower_is_better = true,
      .counts =
          "time from the start of a copy of 1 KiB from L2 to all blocks until it is in the memory of the first; mean "
          "of all clusters"}},
    {"what",
     "multicast",
     {.name = "bandwidth",
      .unit = "B/cycle",
      .counts = "bytes that arrive per cycle in the shared memory of each block; the slowest counts"}},
    {"what",
     "multicast_2d",
     {.name = "bandwidth",
      .unit = "B/cycle",
      .counts = "bytes that arrive per cycle in the shared memory of each block; the slowest counts"}},
    {0},
};

const struct as_probe as_probe_cluster_memory = {
    .name = "cluster_memory",
    .title = "Shared memory of a cluster",
    .question = "What are latency and bandwidth of another block's shared memory in a cluster?",
    .metric = "bandwidth",
    .unit = "B/cycle",
    .counts =
        "bytes loaded per cycle by the threads of one block from the next block's shared memory; the slowest counts",
    .own_metrics = own_metrics,
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, quick, full, cluster_memory_applies),
    .patience_s = 30, /* the driver compiles the kernel first */
    AS_TRIAL(struct state, cluster_memory_prepare, cluster_memory_sample, cluster_memory_check, cluster_memory_finish),
};
