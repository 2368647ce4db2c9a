/* Ping-pong between two CPU threads. */
#include "c2c.h"
#include "lib/buffers/buffers.h"

#include "base/host.h"
#include "device/host.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { PAIRS_EVERY_CPUS = 128, PAIRS_SOME_CPUS = 11 };

/* ---- which pairs ---- */

/* The rank of a CPU among those that this process may use, -1 for others; *n: the number of those. */
static int cpu_rank(int cpu, int *n)
{
    struct as_cpus set;
    int rank = -1;
    *n = 0;
    if (!as_usable_cpus(&set))
        return -1;
    for (int i = -1; (i = as_cpus_next(&set, i)) >= 0;) {
        if (i == cpu)
            rank = *n;
        ++*n;
    }
    return rank;
}

/* Near neighbours, the middle (SMT siblings, sockets) and the far end. */
static bool in_some(int rank, int n)
{
    const int chosen[PAIRS_SOME_CPUS] = {0, 1, 2, 3, n / 8, n / 4, n / 2 - 1, n / 2, n / 2 + 1, 3 * n / 4, n - 1};
    if (n <= PAIRS_SOME_CPUS)
        return true;
    for (int i = 0; i < PAIRS_SOME_CPUS; i++)
        if (chosen[i] == rank)
            return true;
    return false;
}

/* Pairs grow quadratically: beyond the bound a hash picks a fixed number of them. */
static bool in_every(int a, int b, int n)
{
    if (n <= PAIRS_EVERY_CPUS || (in_some(a, n) && in_some(b, n)))
        return true;
    const uint32_t pair[2] = {(uint32_t)a, (uint32_t)b};
    double share = (double)PAIRS_EVERY_CPUS * PAIRS_EVERY_CPUS / ((double)n * n);
    return (double)(as_hash(pair, sizeof pair) >> 11) * 0x1p-53 < share;
}

bool as_c2c_usable_cpu(const struct as_axes *a, const char *axis, struct as_error *err)
{
    int n;
    if (cpu_rank((int)as_axes_u64(a, axis), &n) >= 0)
        return true;
    as_fail(err, AS_UNSUPPORTED, "this process may not use CPU %s", as_axes_text(a, axis));
    return false;
}

bool as_c2c_plays_with_device(const struct as_axes *a)
{
    int n, rank = cpu_rank((int)as_axes_u64(a, "from"), &n);
    return rank < 0 || rank == 0 || rank == n / 2 || as_word_is(a, "pairs", "every");
}

static enum as_applies c2c_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const char *allocator = as_axes_text(a, "allocator");
    int from = (int)as_axes_u64(a, "from"), to = (int)as_axes_u64(a, "to"), n;
    if (!(info->capabilities & AS_CAP_HOST_KERNELS) || from > to || as_word_is(a, "op", "relaxed"))
        return AS_PRUNED;
    if (allocator[0] && strcmp(allocator, info->allocators[0].name) != 0)
        return AS_PRUNED;
    int x = cpu_rank(from, &n), y = cpu_rank(to, &n);
    if (from == to && n > 1)
        return AS_PRUNED;
    if (!(info->capabilities & AS_CAP_PIN)) { /* reported for one pair only */
        as_fail(err, AS_UNSUPPORTED, "threads stay on no CPU here, so nothing tells between which cores a line went");
        return x == 0 && y <= 1 ? AS_INAPPLICABLE : AS_PRUNED;
    }
    if (from == to)
        return as_inapplicable(err, "needs 2 cores, and this process is bound to one CPU");
    if (!as_c2c_usable_cpu(a, "from", err) || !as_c2c_usable_cpu(a, "to", err))
        return AS_INAPPLICABLE;
    bool chosen = as_word_is(a, "pairs", "some") ? in_some(x, n) && in_some(y, n) : in_every(x, y, n);
    return chosen ? AS_APPLIES : AS_PRUNED;
}

/* ---- native kernels: thread 0 sends first, thread 1 returns ---- */

static inline _Atomic uint64_t *c2c_line_at(void *memory, unsigned line)
{
    return (_Atomic uint64_t *)(void *)((char *)memory + (size_t)line * C2C_STRIDE);
}

static inline void pass_by_cas(_Atomic uint64_t *ball, uint64_t want)
{
    uint64_t seen = want;
    while (!atomic_compare_exchange_strong_explicit(ball, &seen, want + 1, memory_order_acq_rel, memory_order_relaxed))
        seen = want;
}

static inline void pass_by_load(_Atomic uint64_t *ball, uint64_t want)
{
    while (atomic_load_explicit(ball, memory_order_acquire) != want)
        ;
    atomic_store_explicit(ball, want + 1, memory_order_release);
}

static inline void pass_by_pause(_Atomic uint64_t *ball, uint64_t want)
{
    while (atomic_load_explicit(ball, memory_order_acquire) != want)
        as_relax();
    atomic_store_explicit(ball, want + 1, memory_order_release);
}

/* args: memory, initial value of every line. reps: cycles. No code may stand between two passes: polling a few cycles
 * later changes the time (method.md). */
#define DEFINE_PINGPONG(name, pass)                                                                                    \
    static void name(const struct as_host_call *call)                                                                  \
    {                                                                                                                  \
        const uint64_t base = *(const uint64_t *)call->args[1] + call->thread, cycles = call->reps;                    \
        void *const memory = call->args[0];                                                                            \
        for (uint64_t c = 0; c < cycles; c++)                                                                          \
            for (unsigned l = 0; l < C2C_LINES; l++) {                                                                 \
                _Atomic uint64_t *const ball = c2c_line_at(memory, l);                                                 \
                const uint64_t first = base + 2 * c * C2C_BURST, end = first + 2 * C2C_BURST;                          \
                for (uint64_t want = first; want < end; want += 2)                                                     \
                    pass(ball, want);                                                                                  \
            }                                                                                                          \
    }
DEFINE_PINGPONG(pingpong_cas, pass_by_cas)
DEFINE_PINGPONG(pingpong_load, pass_by_load)
DEFINE_PINGPONG(pingpong_pause, pass_by_pause)

static const struct as_host_kernel host_kernels[] = {
    {"cas", pingpong_cas}, {"load", pingpong_load}, {"pause", pingpong_pause}, {NULL, NULL}};

/* ---- trials ---- */

static enum as_status c2c_prepare(struct c2c *s, struct as_trial_context *tc, struct as_error *err)
{
    struct as_device *dev = tc->dev;
    struct as_memory_desc want = {.allocator = dev->info.allocators[0].name,
                                  .bytes = (uint64_t)C2C_LINES * C2C_STRIDE,
                                  .node = -1,
                                  .fresh = true};
    struct as_program_desc desc = {.name = "c2c", .host = host_kernels};
    as_buffers_open(&s->own, dev, &desc, err);
    s->kernel = as_buffers_kernel(&s->own, as_axes_text(tc->axes, "op"), err);
    s->memory = as_buffers_alloc(&s->own, &want, err);
    const enum as_status st = s->own.status ? s->own.status : dev->memory->map(dev, s->memory, err);
    if (!st)
        memset(s->memory->host, 0, want.bytes);
    tc->footprint = want.bytes;
    char nodes[64];
    as_host_pair_nodes("", s->pair[0], s->pair[1], nodes, sizeof nodes);
    if (nodes[0])
        as_note(tc, "nodes", nodes);
    return st;
}

static enum as_status c2c_play(struct c2c *s, uint64_t cycles, struct as_sample *out, struct as_error *err)
{
    struct as_arg args[2] = {as_memory_arg(s->memory), as_u64_arg(2 * C2C_BURST * s->cycles)};
    struct as_launch launch = {.kernel = s->kernel,
                               .args = args,
                               .args_n = 2,
                               .workgroups = 2,
                               .workgroup_size = 1,
                               .reps = cycles,
                               .cpus = s->pair,
                               .work = {.accesses = 2.0 * (double)(cycles * C2C_ROUNDS)}};
    struct as_timing t;
    enum as_status st = s->dev->queue->launch(s->dev, &launch, &t, err);
    if (st)
        return st;
    out->seconds = t.host_s;
    out->clock_hz = t.cycles > 0 ? t.cycles / t.host_s : NAN;
    return AS_OK;
}

static enum as_status passes(struct c2c *s, uint32_t passed[C2C_LINES], struct as_error *err)
{
    (void)err;
    for (unsigned l = 0; l < C2C_LINES; l++)
        passed[l] = (uint32_t)*c2c_line_at(s->memory->host, l);
    return AS_OK;
}

const struct c2c_peer c2c_cpu = {"cpu", c2c_applies, c2c_prepare, c2c_play, passes};
