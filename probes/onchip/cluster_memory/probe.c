/* cluster_memory: shared memory of the other blocks of a cluster. See method.md. */
#include "lib/kernel_timer/kernel_timer.h"

#include "device/dialect/dialect.h"

#include <stdio.h>
#include <stdlib.h>

extern const char as_kernel_cluster_memory[], as_kernel_warpgroup[];

static const char *const what_words[] = {"latency", "bandwidth", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("what", what_words, "latency",
                 "latency: a pointer chase by one thread; bandwidth: every block reads, 128 bits per load"),
    AS_COUNT_AXIS("cluster", 1, 8, "2", "blocks per cluster: 1, 2, 4 or 8; 1: a block reads its own shared memory"),
    {0},
};
static const char *const quick[] = {"what=all cluster=1,2,8", NULL};
static const char *const full[] = {"what=all cluster=1,2,4,8", NULL};

enum { ARCH_LEAST = 90, STEPS = 16, GROUP_THREADS = 512, TILE = 2048, ELEMENT_WORDS = 4 };
/* As in the kernel. */
enum { CHAIN_STEP = 33, CHAIN_WORDS = 1024 };

static enum as_applies cluster_memory_applies(const struct as_device_info *info, const struct as_axes *a,
                                              struct as_error *err)
{
    const uint64_t cluster = as_axes_u64(a, "cluster");
    if (cluster & (cluster - 1))
        return as_pruned(err, "a cluster has 1, 2, 4 or 8 blocks");
    if (as_dialect_find(info->dialect) == AS_DIALECT_CUDA)
        return as_arch_number(info) >= ARCH_LEAST
                   ? AS_APPLIES
                   : as_inapplicable(err, "clusters need an architecture from sm_%d on, this is %s", (int)ARCH_LEAST,
                                     info->arch);
    as_fail(err, AS_UNSUPPORTED, "workgroups of this device cannot read each other's shared memory");
    return cluster == 1 && as_word_is(a, "what", what_words[0]) ? AS_INAPPLICABLE : AS_PRUNED;
}

struct state {
    struct as_kernel_timer timer;
    struct as_kernel *kernel;
    struct as_memory *data, *sums;
    uint64_t cluster;
    bool chases;
    size_t workgroups;
    uint32_t *sum;        /* of the host */
    uint32_t tile_sum[8]; /* of the block of each rank */
    int wrong;
};

static enum as_status cluster_memory_fill(struct state *s, uint64_t seed, struct as_error *err)
{
    const size_t words = (size_t)s->cluster * TILE * ELEMENT_WORDS, sums = s->workgroups * GROUP_THREADS;
    struct as_device *dev = s->timer.dev;
    struct as_rng rng;
    uint32_t *data = malloc(words * sizeof *data);
    s->sum = calloc(sums, sizeof *s->sum);
    enum as_status st = data && s->sum ? AS_OK : as_nomem(err, (words + sums) * sizeof *data, "tiles");
    as_rng_seed(&rng, seed);
    for (size_t i = 0; i < words && !st; i++) {
        data[i] = (uint32_t)as_rng_u64(&rng);
        s->tile_sum[i / (TILE * ELEMENT_WORDS)] += data[i];
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
    char defines[96];
    s->cluster = as_axes_u64(tc->axes, "cluster");
    s->chases = as_word_is(tc->axes, "what", "latency");
    s->workgroups = s->chases || units < s->cluster ? s->cluster : units / s->cluster * s->cluster;
    tc->max_reps = UINT32_MAX / STEPS;
    tc->footprint = (uint64_t)TILE * ELEMENT_WORDS * sizeof(uint32_t);
    snprintf(defines, sizeof defines, "-DCLUSTER=%d -DTILE=%d -DGROUP_THREADS=%d", (int)s->cluster, (int)TILE,
             (int)GROUP_THREADS);
    enum as_status st = as_kernel_timer_prepare(&s->timer, tc->dev, "cluster_memory", as_kernel_warpgroup,
                                                as_kernel_cluster_memory, defines, s->workgroups, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&s->timer, s->chases ? "chase" : "read", &s->kernel, err);
    if (st)
        return st;
    /* A load from another block has a generic address. */
    as_expect_code(tc, s->kernel, s->chases ? "load.global" : "load.global.128",
                   s->chases ? STEPS : TILE / GROUP_THREADS);
    as_note_number(tc, "workgroups", (double)s->workgroups);
    return s->chases ? AS_OK : cluster_memory_fill(s, tc->seed, err);
}

static enum as_status cluster_memory_launch(struct state *s, uint32_t turns, double *seconds, struct as_error *err)
{
    const struct as_arg chase[] = {as_memory_arg(s->timer.memory), as_u32_arg(turns)},
                        read[] = {as_memory_arg(s->timer.memory), as_memory_arg(s->sums), as_memory_arg(s->data),
                                  as_u32_arg(turns)};
    struct as_launch l = s->chases ? as_launch_of(s->kernel, chase, 2, s->workgroups, GROUP_THREADS)
                                   : as_launch_of(s->kernel, read, 4, s->workgroups, GROUP_THREADS);
    l.shared_bytes = s->timer.dev->info.workgroup_shared; /* so that no two blocks are on one compute unit */
    l.work.bytes = s->chases ? 0 : (double)turns * (double)s->workgroups * TILE * ELEMENT_WORDS * sizeof(uint32_t);
    return as_kernel_timer_launch(&s->timer, &l, seconds, err);
}

static enum as_status cluster_memory_judge(struct state *s, uint64_t turns, struct as_error *err)
{
    struct as_device *dev = s->timer.dev;
    if (s->chases) {
        s->wrong |= s->timer.record[0].value != turns * STEPS * CHAIN_STEP % CHAIN_WORDS;
        return AS_OK;
    }
    enum as_status st = dev->memory->read(dev, s->sums, 0, s->sum, s->workgroups * GROUP_THREADS * sizeof *s->sum, err);
    for (size_t g = 0; g < s->workgroups && !st; g++) {
        uint32_t sum = 0;
        for (size_t k = 0; k < GROUP_THREADS; k++)
            sum += s->sum[g * GROUP_THREADS + k];
        s->wrong |= sum != (uint32_t)turns * s->tile_sum[(g + 1) % s->cluster];
    }
    return st;
}

static enum as_status cluster_memory_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    uint64_t slowest = 0;
    enum as_status st = cluster_memory_launch(s, (uint32_t)reps, &out->seconds, err);
    if (!st)
        st = as_kernel_timer_need(&s->timer, AS_HAS_CYCLES | AS_HAS_NANOS, err);
    if (!st)
        st = cluster_memory_judge(s, reps, err);
    for (size_t g = 0; g < s->workgroups && !st && !s->chases; g++)
        slowest = s->timer.record[g].cycles > slowest ? s->timer.record[g].cycles : slowest;
    out->clock_hz = as_kernel_timer_clock(&s->timer);
    out->value = s->chases ? (double)s->timer.record[0].nanos / ((double)reps * STEPS)
                           : (double)reps * TILE * ELEMENT_WORDS * sizeof(uint32_t) / (double)slowest;
    return st;
}

static bool cluster_memory_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    snprintf(why, why_size, "%s",
             s->wrong    ? "a block read other words than those of the next block"
             : s->chases ? "every chase ended at the expected place"
                         : "the sums match those of the next block's words");
    return !s->wrong;
}

static void cluster_memory_finish(void *state)
{
    struct state *s = state;
    as_kernel_timer_finish(&s->timer);
    free(s->sum);
}

static const struct as_own_metric own_metrics[] = {
    {"what",
     "latency",
     {.name = "latency",
      .unit = "ns",
      .lower_is_better = true,
      .counts = "time of one dependent load of one thread from the next block's shared memory"}},
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
