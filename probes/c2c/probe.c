/* c2c: how long a cache line takes from one core to another, or from the host to a device. See method.md. */
#include "core/probe.h"

#include "base/text.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_method_c2c[];
extern const char as_kernel_c2c[];

/* A round over all lines is one cycle: every sample covers all placements alike. The stride puts each line on a page of
 * its own and walks the sets of the first cache. */
enum { LINES = 64, BURST = 32, STRIDE = 4096 + 192, PAIRS_EVERY_CPUS = 128, PAIRS_SOME_CPUS = 11 };
static const uint64_t ROUNDS = (uint64_t)LINES * BURST;
static const double HOST_PATIENCE_S = 2;

enum op { OP_CAS, OP_LOAD, OP_PAUSE };
static const char *const op_words[] = {"cas", "load", "pause", NULL};
static const char *const peer_words[] = {"cpu", "device", NULL};
static const char *const pairs_words[] = {"every", "some", NULL};

static const struct as_axis axes[] = {
    {.name = "peer",
     .help = "who answers: another core of the CPU, or the device",
     .type = AS_AXIS_WORD,
     .def = "all",
     .words = peer_words},
    {.name = "from",
     .help = "CPU that serves the ball",
     .type = AS_AXIS_COUNT,
     .domain = AS_DOMAIN_CPU,
     .max = 65535,
     .def = "all"},
    {.name = "to",
     .help = "CPU that returns it (0 for a device); each pair is measured once, from < to",
     .type = AS_AXIS_COUNT,
     .domain = AS_DOMAIN_CPU,
     .max = 65535,
     .def = "all",
     .zero = "device"},
    {.name = "op",
     .help = "how a core waits and writes: compare-and-swap, load then store, the same with a pause",
     .type = AS_AXIS_WORD,
     .def = "cas",
     .words = op_words},
    {.name = "pairs",
     .help = "every pair, or those of at most 11 CPUs near and far",
     .type = AS_AXIS_WORD,
     .def = "every",
     .words = pairs_words,
     .all = "every"},
    {0},
};
static const char *const quick[] = {"peer=cpu from=all to=all op=cas pairs=some",
                                    "peer=device from=all to=0 op=load pairs=some", NULL};
static const char *const full[] = {"peer=cpu from=all to=all op=all pairs=every",
                                   "peer=device from=all to=0 op=load pairs=every", NULL};

/* ---- which cells ---- */

/* The rank of a CPU among those that this process may use, -1 for others; *n is how many there are. */
static int cpu_rank(int cpu, int *n)
{
    cpu_set_t set;
    int rank = -1;
    *n = 0;
    if (sched_getaffinity(0, sizeof set, &set))
        return -1;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &set))
            continue;
        if (i == cpu)
            rank = *n;
        ++*n;
    }
    return rank;
}

/* Near neighbours, the middle (where sibling threads and sockets meet) and the far end. */
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

/* Every pair of many CPUs would be as many as their square: beyond the bound a fixed share of them is drawn by hash. */
static bool in_every(int a, int b, int n)
{
    if (n <= PAIRS_EVERY_CPUS || (in_some(a, n) && in_some(b, n)))
        return true;
    const uint32_t pair[2] = {(uint32_t)a, (uint32_t)b};
    double share = (double)PAIRS_EVERY_CPUS * PAIRS_EVERY_CPUS / ((double)n * n);
    return (double)(as_hash(pair, sizeof pair) >> 11) * 0x1p-53 < share;
}

static enum as_applies device_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    int n, rank = cpu_rank((int)as_axes_u64(a, "from"), &n);
    bool some = strcmp(as_axes_text(a, "pairs"), "some") == 0;
    if ((info->capabilities & AS_CAP_HOST_KERNELS) || as_axes_u64(a, "to") != 0 ||
        strcmp(as_axes_text(a, "op"), "load") != 0)
        return AS_PRUNED;
    if (rank >= 0 && some && rank != 0 && rank != n / 2)
        return AS_PRUNED;
    if (rank < 0)
        as_fail(err, AS_UNSUPPORTED, "this process may not use CPU %s", as_axes_text(a, "from"));
    else if (!(info->capabilities & AS_CAP_SVM_ATOMICS))
        as_fail(err, AS_UNSUPPORTED, "the device and the host cannot use atomics on the same memory at the same time");
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

static enum as_applies applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    if (strcmp(as_axes_text(a, "peer"), "device") == 0)
        return device_applies(info, a, err);
    if (!(info->capabilities & AS_CAP_HOST_KERNELS))
        return AS_PRUNED;
    int from = (int)as_axes_u64(a, "from"), to = (int)as_axes_u64(a, "to"), n;
    if (from > to)
        return AS_PRUNED;
    int x = cpu_rank(from, &n), y = cpu_rank(to, &n);
    if (from == to && n > 1)
        return AS_PRUNED;
    if (from == to) {
        as_fail(err, AS_UNSUPPORTED, "this process may use one CPU only: a line has no other core to go to");
        return AS_INAPPLICABLE;
    }
    if (x < 0 || y < 0) {
        as_fail(err, AS_UNSUPPORTED, "this process may not use CPU %d", x < 0 ? from : to);
        return AS_INAPPLICABLE;
    }
    bool chosen = strcmp(as_axes_text(a, "pairs"), "some") == 0 ? in_some(x, n) && in_some(y, n) : in_every(x, y, n);
    return chosen ? AS_APPLIES : AS_PRUNED;
}

/* ---- native kernels: thread 0 serves, thread 1 returns ---- */

static inline _Atomic uint64_t *line_at(void *memory, unsigned line)
{
    return (_Atomic uint64_t *)(void *)((char *)memory + (size_t)line * STRIDE);
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
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
        relax();
    atomic_store_explicit(ball, want + 1, memory_order_release);
}

/* args: memory, value of every ball at the start. reps: cycles. Nothing may stand between two passes: a core that looks
 * again a few cycles later has another time (method.md). */
#define DEFINE_PINGPONG(name, pass)                                                                                    \
    static void name(const struct as_host_call *call)                                                                  \
    {                                                                                                                  \
        const uint64_t base = *(const uint64_t *)call->args[1] + call->thread, cycles = call->reps;                    \
        void *const memory = call->args[0];                                                                            \
        for (uint64_t c = 0; c < cycles; c++)                                                                          \
            for (unsigned l = 0; l < LINES; l++) {                                                                     \
                _Atomic uint64_t *const ball = line_at(memory, l);                                                     \
                const uint64_t first = base + 2 * c * BURST, end = first + 2 * BURST;                                  \
                for (uint64_t want = first; want < end; want += 2)                                                     \
                    pass(ball, want);                                                                                  \
            }                                                                                                          \
    }
DEFINE_PINGPONG(pingpong_cas, pass_by_cas)
DEFINE_PINGPONG(pingpong_load, pass_by_load)
DEFINE_PINGPONG(pingpong_pause, pass_by_pause)

static const struct as_host_kernel host_kernels[] = {
    {"cas", pingpong_cas}, {"load", pingpong_load}, {"pause", pingpong_pause}, {NULL, NULL}};

/* ---- one visit ---- */

struct state {
    struct as_device *dev;
    struct as_memory *memory;
    struct as_program *program;
    struct as_kernel *kernel;
    bool to_device;
    int cpus[2];
    uint64_t cycles; /* played so far */
    uint32_t launches;
    uint32_t patience; /* spins of the device */
};

static enum as_status set_up(struct state *s, struct as_visit_context *vc, struct as_error *err)
{
    struct as_device *dev = vc->dev;
    struct as_memory_desc want = {.bytes = (uint64_t)(LINES + 1) * STRIDE, .node = -1, .fresh = true};
    struct as_program_desc desc = {.name = "c2c", .source = as_kernel_c2c, .host = host_kernels};
    want.allocator = s->to_device ? "clSVMAlloc fine" : dev->info.allocators[0].name;
    enum as_status st = dev->program->build(dev, &desc, &s->program, err);
    if (!st)
        st = dev->program->kernel(dev, s->program, s->to_device ? "pingpong" : as_axes_text(vc->axes, "op"), &s->kernel,
                                  err);
    if (!st)
        st = dev->memory->alloc(dev, &want, &s->memory, err);
    if (!st)
        st = dev->memory->map(dev, s->memory, err);
    if (!st)
        memset(s->memory->host, 0, want.bytes);
    vc->footprint = want.bytes;
    return st;
}

static enum as_status prepare(struct as_visit_context *vc, void **state, struct as_error *err)
{
    struct state *s = calloc(1, sizeof *s);
    *state = s;
    if (!s)
        return as_nomem(err, sizeof *s, "c2c");
    s->dev = vc->dev;
    s->to_device = strcmp(as_axes_text(vc->axes, "peer"), "device") == 0;
    s->cpus[0] = (int)as_axes_u64(vc->axes, "from");
    s->cpus[1] = (int)as_axes_u64(vc->axes, "to");
    s->patience = 1u << (vc->dev->info.is_host_memory ? 27 : 22);
    vc->min_reps = ROUNDS;
    vc->max_reps = ROUNDS << 10;
    as_note_number(vc, "lines", LINES);
    return set_up(s, vc, err);
}

static enum as_status play_on_cpu(struct state *s, uint64_t cycles, struct as_sample *out, struct as_error *err)
{
    struct as_arg args[2] = {{.kind = AS_ARG_MEMORY, .u.memory = s->memory},
                             {.kind = AS_ARG_U64, .u.u64 = 2 * BURST * s->cycles}};
    struct as_launch launch = {.kernel = s->kernel,
                               .args = args,
                               .args_n = 2,
                               .groups = 2,
                               .group_size = 1,
                               .reps = cycles,
                               .cpus = s->cpus,
                               .work = {.accesses = 2.0 * (double)(cycles * ROUNDS)}};
    struct as_timing t;
    enum as_status st = s->dev->queue->launch(s->dev, &launch, &t, err);
    out->seconds = t.host_s;
    out->clock_hz = t.cycles > 0 ? t.cycles / t.host_s : NAN;
    return st;
}

/* The ball's line l (from 1; line 0 has the signals) as the device's 32-bit word. */
static _Atomic uint32_t *word_at(const struct state *s, unsigned line, unsigned word)
{
    return (_Atomic uint32_t *)(void *)((char *)s->memory->host + (size_t)line * STRIDE) + word;
}

static bool wait_for(_Atomic uint32_t *word, uint32_t value)
{
    double end = 0;
    for (unsigned spins = 1; atomic_load_explicit(word, memory_order_acquire) != value; spins++) {
        if (spins % 65536)
            continue;
        double now = as_now();
        if (end <= 0)
            end = now + HOST_PATIENCE_S;
        if (now > end)
            return false;
    }
    return true;
}

/* Serves all rounds; false when the device did not answer in time. */
static bool serve(struct state *s, uint32_t cycles, uint32_t base)
{
    for (uint32_t c = 0; c < cycles; c++)
        for (unsigned l = 1; l <= LINES; l++)
            for (uint32_t b = 0; b < BURST; b++) {
                uint32_t ball = base + 2 * (c * BURST + b) + 1;
                atomic_store_explicit(word_at(s, l, 0), ball, memory_order_release);
                if (!wait_for(word_at(s, l, 0), ball + 1))
                    return false;
            }
    return true;
}

static enum as_status play_with_device(struct state *s, uint32_t cycles, struct as_sample *out, struct as_error *err)
{
    uint32_t base = (uint32_t)(2 * BURST * s->cycles), number = ++s->launches;
    const uint32_t values[] = {STRIDE / sizeof(uint32_t), LINES, BURST, cycles, base, number, s->patience};
    struct as_arg args[8] = {{.kind = AS_ARG_MEMORY, .u.memory = s->memory}};
    for (size_t i = 0; i < 7; i++)
        args[i + 1] = (struct as_arg){.kind = AS_ARG_U32, .u.u32 = values[i]};
    struct as_launch launch = {.kernel = s->kernel, .args = args, .args_n = 8, .groups = 1, .group_size = 1, .reps = 1};
    enum as_status st = s->dev->queue->submit(s->dev, &launch, err);
    if (st)
        return st;
    bool ready = wait_for(word_at(s, 0, 0), number);
    double start = as_now();
    bool served = ready && serve(s, cycles, base);
    out->seconds = as_now() - start;
    st = s->dev->queue->wait(s->dev, AS_WAIT_BLOCK, err);
    if (!st && !served)
        return as_fail(err, AS_UNSUPPORTED, "the device %s while the host waits for it",
                       ready ? "does not see the host's writes" : "does not start");
    return st;
}

static enum as_status play_pinned(struct state *s, uint32_t cycles, struct as_sample *out, struct as_error *err)
{
    cpu_set_t before, one;
    CPU_ZERO(&one);
    CPU_SET((size_t)s->cpus[0], &one);
    if (sched_getaffinity(0, sizeof before, &before) || sched_setaffinity(0, sizeof one, &one))
        return as_fail(err, AS_UNSUPPORTED, "this process may not use CPU %d", s->cpus[0]);
    enum as_status st = play_with_device(s, cycles, out, err);
    sched_setaffinity(0, sizeof before, &before);
    return st;
}

static enum as_status sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    uint64_t cycles = reps / ROUNDS ? reps / ROUNDS : 1;
    enum as_status st = s->to_device ? play_pinned(s, (uint32_t)cycles, out, err) : play_on_cpu(s, cycles, out, err);
    if (st)
        return st;
    s->cycles += cycles;
    out->value = out->seconds * 1e9 / (2.0 * (double)(cycles * ROUNDS));
    return AS_OK;
}

/* Each ball counts its passes; the count that the host kept is the reference. */
static bool check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    uint64_t want = 2 * BURST * s->cycles;
    for (unsigned l = 0; l < LINES; l++) {
        uint64_t got = s->to_device ? *word_at(s, l + 1, 0) : *line_at(s->memory->host, l);
        if (got == (s->to_device ? (uint32_t)want : want))
            continue;
        snprintf(why, why_size, "line %u was passed %llu times, not %llu", l, (unsigned long long)got,
                 (unsigned long long)want);
        return false;
    }
    return true;
}

static void finish(void *state)
{
    struct state *s = state;
    if (!s)
        return;
    s->dev->memory->free(s->dev, s->memory);
    s->dev->program->kernel_destroy(s->dev, s->kernel);
    s->dev->program->destroy(s->dev, s->program);
    free(s);
}

static double patience(const struct as_device_info *info, const struct as_axes *a)
{
    (void)a;
    return info->capabilities & AS_CAP_HOST_KERNELS ? 5 : 30; /* a driver compiles the kernel at first */
}

const struct as_probe as_probe_c2c = {
    .abi = AS_PROBE_ABI,
    .name = "c2c",
    .title = "Core-to-core latency",
    .question = "How long does a cache line take from one core to another, and from the host to a device?",
    .metric = "latency",
    .unit = "ns",
    .better_less = true,
    .counts = "one way: half of the time from writing a line until the other side's answer is seen in it",
    .axes = axes,
    .quick = quick,
    .full = full,
    .applies = applies,
    .patience = patience,
    .prepare = prepare,
    .sample = sample,
    .check = check,
    .finish = finish,
    .method = as_method_c2c,
    .figure = "c2c",
};
