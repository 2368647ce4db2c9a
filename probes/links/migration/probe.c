/* migration: bandwidth of each pass over memory that the other side touched before. See method.md. */
#include "device/shared_host.h"
#include "lib/buffers/buffers.h"
#include "lib/checks/checks.h"
#include "os/memory.h"

#include <stdio.h>
#include <stdlib.h>

extern const char as_kernel_migration[];

#define NEXT_MULTIPLIER UINT64_C(0x5851F42D4C957F2D) /* Knuth's MMIX */
enum { GROUP = 256, GROUPS_PER_UNIT = 8, LINE_WORDS = 16, LOOKS = 64, PASSES_MAX = 64 };

static const char *const side_words[] = {"cpu", "device", NULL};
static const char *const lines_words[] = {"modified", "flushed", NULL};
static const char *const what_words[] = {"bandwidth", "latency", NULL};

static const struct as_axis axes[] = {
    AS_ALLOCATOR_AXIS("allocator", "all", "how the memory is allocated"),
    AS_WORD_AXIS("touch", side_words, "all", "who writes all of it before the first pass"),
    AS_WORD_AXIS("agent", side_words, "all", "who reads all of it, pass by pass"),
    AS_COUNT_AXIS("pass", 1, PASSES_MAX, "1,2,4", "the pass that is timed; those before it are not"),
    AS_SIZE_AXIS("size", 65536, 0, "256MiB", "bytes of the buffer"),
    AS_WORD_AXIS("lines", lines_words, "modified",
                 "the writer's caches before the first pass: as it left them, or written back and invalidated"),
    AS_WORD_AXIS("what", what_words, "bandwidth", "linear reads by all threads, or a pointer chase by one"),
    {0},
};
static const char *const quick[] = {"allocator=all touch=all agent=all pass=1,2 size=64MiB", NULL};
static const char *const full[] = {
    "allocator=all touch=all agent=all pass=1,2,3,4,8 size=256MiB",
    "allocator=pinned,pinned_coherent,shared_fine pass=1 size=1MiB,16MiB lines=all what=all", NULL};
static const struct as_own_metric own_metrics[] = {
    {"what",
     "latency",
     {"latency", "ns", true, "time of one dependent load of a line that the pass has not read yet, launch included",
      NULL}},
    {0}};

struct state {
    struct as_trial_context *tc;
    struct as_device *dev, *cpu;
    struct as_opened opened;
    struct as_buffers of_device, of_cpu;
    struct as_kernel *fill[2], *sum[2]; /* by the CPU, by the device; of a chase those that link and follow lines */
    struct as_kernel *flush, *sweep;    /* of the CPU's caches, of the device's */
    struct as_memory *sums, *memory, *other;
    size_t groups;
    unsigned passes;
    bool touched_by_device, read_by_device, wrong;
    bool chases, flushes, attributes_noted;
    bool reached;                       /* by the host, in place */
    double handover;                    /* seconds of the last change of sides, in which the driver may move pages */
    uint64_t words, key, before, after; /* of LOOKS pages, those that the host has */
    uint64_t *host_sums;                /* a line per thread */
};

/* Writes lines back to memory and drops them, in all caches that are coherent with the CPU's. */
#if defined(__x86_64__)
enum { FLUSHES = true };
static void flush_line(const uint64_t *line)
{
    __builtin_ia32_clflush(line);
}
static void wait_for_flushes(void)
{
    __asm__ volatile("mfence" : : : "memory");
}
#elif defined(__aarch64__)
enum { FLUSHES = true };
static void flush_line(const uint64_t *line)
{
    __asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
}
static void wait_for_flushes(void)
{
    __asm__ volatile("dsb sy" : : : "memory");
}
#else
enum { FLUSHES = false };
static void flush_line(const uint64_t *line)
{
    (void)line;
}
static void wait_for_flushes(void)
{
}
#endif

/* Lines pass from cache to cache only where both sides use one memory in place. */
static bool is_shared_in_place(const struct as_device_info *info, const struct as_allocator *a)
{
    return a && !a->why_not[0] && a->host_access &&
           (a->coherent || as_role_is_pinned(a->role) || (info->is_host_memory && a->role == AS_ROLE_DEVICE));
}

static bool is_of_lines(const struct as_axes *a)
{
    return as_word_is(a, "lines", "flushed") || as_word_is(a, "what", "latency");
}

static enum as_applies migration_applies(const struct as_device_info *info, const struct as_axes *a,
                                         struct as_error *err)
{
    const struct as_allocator *allocator = as_info_allocator(info, as_axes_text(a, "allocator"));
    const bool same = strcmp(as_axes_text(a, "touch"), as_axes_text(a, "agent")) == 0;
    if (as_info_has_host_kernels(info))
        return as_pruned(err, "it needs a device beside the CPU");
    if (!as_info_shares_host(info))
        return as_pruned(err, "host threads cannot access a simulated device");
    if (same && (as_axes_number(a, "pass") > 1 || as_word_is(a, "lines", "flushed")))
        return AS_PRUNED;                                            /* the control: nothing has to move */
    const bool by_device = same && as_word_is(a, "agent", "device"); /* of memory that only the device reaches, too */
    if (is_of_lines(a) && (as_axes_number(a, "pass") > 1 || !(by_device || is_shared_in_place(info, allocator))))
        return AS_PRUNED;
    if (as_word_is(a, "lines", "flushed") && !FLUSHES)
        return as_inapplicable(err, "no instruction that flushes cache lines on this architecture");
    if (!(info->capabilities & AS_CAP_SOURCE))
        return as_inapplicable(err, "the device cannot compile kernels");
    if (allocator && !allocator->why_not[0] && !allocator->host_access && !by_device)
        return as_inapplicable(err, "the CPU cannot access this memory");
    return as_check_block(info, as_axes_text(a, "allocator"), as_axes_number(a, "size"), err) ? AS_INAPPLICABLE
                                                                                              : AS_APPLIES;
}

/* ---- the CPU's side ---- */

/* args: 0 address, 1 words, 2 key (fill) or the address of the sums (sum) */
static uint64_t migration_value(const struct as_host_call *call, size_t arg)
{
    uint64_t v;
    memcpy(&v, call->args[arg], sizeof v);
    return v;
}

static void host_fill(const struct as_host_call *call)
{
    uint64_t *data = (uint64_t *)(uintptr_t)migration_value(call, 0), key = migration_value(call, 2);
    const uint64_t n = migration_value(call, 1), end = n * (call->thread + 1) / call->threads;
    for (uint64_t i = n * call->thread / call->threads; i < end; i++)
        data[i] = key + i;
}

static void host_sum(const struct as_host_call *call)
{
    const uint64_t *data = (const uint64_t *)(uintptr_t)migration_value(call, 0);
    uint64_t *sums = (uint64_t *)(uintptr_t)migration_value(call, 2), sum = 0;
    const uint64_t n = migration_value(call, 1), end = n * (call->thread + 1) / call->threads;
    for (uint64_t i = n * call->thread / call->threads; i < end; i++)
        sum += data[i];
    sums[(size_t)call->thread * LINE_WORDS] = sum;
}
static void host_flush(const struct as_host_call *call)
{
    enum { FLUSHED_WORDS = 4 /* the smallest line of these CPUs */ };
    const uint64_t *data = (const uint64_t *)(uintptr_t)migration_value(call, 0);
    const uint64_t n = migration_value(call, 1), end = n * (call->thread + 1) / call->threads;
    for (uint64_t i = n * call->thread / call->threads; i < end; i += FLUSHED_WORDS)
        flush_line(data + i);
    wait_for_flushes();
}

/* The first word of each line has the number of the next: a cycle through all of them in a scattered order, since the
 * multiplier is 1 modulo 4, the increment odd and the number of lines a power of two. */
static uint64_t next_line(uint64_t line, uint64_t key, uint64_t lines)
{
    return (line * NEXT_MULTIPLIER + (2 * key + 1)) & (lines - 1);
}

static void host_link(const struct as_host_call *call)
{
    uint64_t *data = (uint64_t *)(uintptr_t)migration_value(call, 0);
    const uint64_t lines = migration_value(call, 1) / LINE_WORDS, key = migration_value(call, 2);
    const uint64_t end = lines * (call->thread + 1) / call->threads;
    for (uint64_t i = lines * call->thread / call->threads; i < end; i++)
        data[i * LINE_WORDS] = next_line(i, key, lines);
}

static void host_follow(const struct as_host_call *call)
{
    const uint64_t *data = (const uint64_t *)(uintptr_t)migration_value(call, 0);
    uint64_t *sums = (uint64_t *)(uintptr_t)migration_value(call, 2), sum = 0, at = 0;
    if (call->thread)
        return;
    for (uint64_t n = migration_value(call, 1) / LINE_WORDS; n; n--) {
        at = data[at * LINE_WORDS];
        sum += at;
    }
    sums[0] = sum;
}

static const struct as_host_kernel host_kernels[] = {{"write_words", host_fill},    {"sum_words", host_sum},
                                                     {"flush", host_flush},         {"link_lines", host_link},
                                                     {"follow_lines", host_follow}, {NULL, NULL}};

static enum as_status launch_cpu(struct state *s, struct as_kernel *kernel, uint64_t last, double *seconds,
                                 struct as_error *err)
{
    struct as_timing t;
    const double began = as_now();
    enum as_status st = s->dev->memory->map(s->dev, s->memory, err);
    s->handover = as_now() - began;
    if (!st && !s->memory->host)
        st = as_fail(err, AS_UNSUPPORTED, "the CPU cannot access this memory");
    if (st)
        return st;
    const struct as_arg args[] = {as_u64_arg((uint64_t)(uintptr_t)s->memory->host), as_u64_arg(s->words),
                                  as_u64_arg(last)};
    struct as_launch l = as_launch_of(kernel, args, 3, kernel == s->sum[0] && s->chases ? 1 : s->cpu->info.threads, 1);
    l.work = (struct as_work){.bytes = (double)s->words * 8, .footprint = (double)s->words * 8};
    st = s->cpu->queue->launch(s->cpu, &l, &t, err);
    if (!st)
        *seconds = as_timing_seconds(&t);
    return st;
}

/* ---- both sides ---- */

static enum as_status launch_device(struct state *s, struct as_kernel *kernel, const struct as_arg *args,
                                    double *seconds, struct as_error *err)
{
    struct as_timing t;
    const double began = as_now();
    enum as_status st = s->memory->host ? s->dev->memory->unmap(s->dev, s->memory, err) : AS_OK;
    s->handover = as_now() - began;
    if (st)
        return st;
    struct as_launch l = as_launch_of(kernel, args, 3, s->groups, GROUP);
    if (kernel == s->sum[1] && s->chases)
        l = as_launch_of(kernel, args, 3, 1, 1);
    l.work = (struct as_work){.bytes = (double)s->words * 8, .footprint = (double)s->words * 8};
    st = s->dev->queue->launch(s->dev, &l, &t, err);
    if (!st)
        *seconds = as_timing_seconds(&t);
    return st;
}

static enum as_status touch(struct state *s, struct as_error *err)
{
    const struct as_arg args[] = {as_memory_arg(s->memory), as_u64_arg(s->words), as_u64_arg(s->key)};
    double unused;
    return s->touched_by_device ? launch_device(s, s->fill[1], args, &unused, err)
                                : launch_cpu(s, s->fill[0], s->key, &unused, err);
}

/* Writes the lines of both sides back; the device's by filling other memory, of twice its cache. */
static enum as_status flush_lines(struct state *s, struct as_error *err)
{
    double unused;
    if (!s->flushes)
        return AS_OK;
    if (s->other) {
        const struct as_arg args[] = {as_memory_arg(s->other), as_u64_arg(s->other->bytes / 8), as_u64_arg(s->key)};
        const enum as_status st = launch_device(s, s->sweep, args, &unused, err);
        if (st)
            return st;
    }
    return launch_cpu(s, s->flush, 0, &unused, err);
}

static enum as_status add_sums(struct state *s, uint64_t *sum, struct as_error *err)
{
    const size_t n = s->chases ? 1 : s->groups * GROUP;
    uint64_t *each = malloc(n * sizeof *each);
    *sum = 0;
    if (!each)
        return as_nomem(err, n * sizeof *each, "sums");
    enum as_status st = s->dev->memory->read(s->dev, s->sums, 0, each, n * sizeof *each, err);
    for (size_t i = 0; i < n && !st; i++)
        *sum += each[i];
    free(each);
    return st;
}

/* One pass; its sum must be that of key + i, or of the numbers of all lines. */
static enum as_status pass(struct state *s, double *seconds, struct as_error *err)
{
    const struct as_arg args[] = {as_memory_arg(s->sums), as_memory_arg(s->memory), as_u64_arg(s->words)};
    uint64_t sum = 0;
    enum as_status st = s->read_by_device ? launch_device(s, s->sum[1], args, seconds, err)
                                          : launch_cpu(s, s->sum[0], (uint64_t)(uintptr_t)s->host_sums, seconds, err);
    if (!st && s->read_by_device)
        st = add_sums(s, &sum, err);
    for (unsigned i = 0; i < (s->chases ? 1 : s->cpu->info.threads) && !s->read_by_device; i++)
        sum += s->host_sums[(size_t)i * LINE_WORDS];
    const uint64_t n = s->chases ? s->words / LINE_WORDS : s->words; /* even */
    const uint64_t expected = n / 2 * (n - 1) + (s->chases ? 0 : n * s->key);
    s->wrong |= !st && sum != expected;
    return st;
}

/* How many of some pages the host has. The device has the others: the host has no page there, or one on the node that
 * is the device's memory. */
static uint64_t look(const struct state *s, const char *at)
{
    const unsigned own = s->dev->info.memory_node;
    uint64_t n = 0;
    for (uint64_t i = 0; i < LOOKS && at; i++) {
        const int node = as_node_of(at + s->words * 8 / LOOKS * i);
        n += node >= 0 && !(own && (unsigned)node == own);
    }
    return n;
}

/* The driver's record of the pages after the passes. */
static void note_attributes(const struct state *s)
{
    struct as_page_attributes a;
    struct as_error err = {0};
    enum as_status st = s->dev->memory->attributes
                            ? s->dev->memory->attributes(s->dev, s->memory, &a, &err)
                            : as_fail(&err, AS_UNSUPPORTED, "this API reports no page attributes");
    const struct {
        const char *name, *word;
    } notes[] = {{"last_prefetch", a.last_prefetch},
                 {"preferred_location", a.preferred},
                 {"accessed_by", a.accessed_by},
                 {"read_mostly", a.read_mostly},
                 {"coherence", a.coherence}};
    if (st)
        as_note(s->tc, "page_attributes", err.text);
    for (size_t i = 0; i < sizeof notes / sizeof *notes && !st; i++)
        if (notes[i].word[0])
            as_note(s->tc, notes[i].name, notes[i].word);
}

/* ---- one trial ---- */

/* The host serves the faults of a device's first pass over pages that the CPU wrote and the driver may move or map. */
static bool faults_in_pass(const struct state *s, const struct as_allocator *allocator)
{
    return s->passes == 1 && !s->touched_by_device && allocator && allocator->on_demand;
}

static enum as_status migration_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    const struct as_program_desc program = {.name = "migration", .source = as_kernel_migration, .host = host_kernels};
    struct state *s = state;
    *s = (struct state){.tc = tc,
                        .dev = tc->dev,
                        .words = as_axes_u64(tc->axes, "size") / 16 * 2,
                        .key = tc->seed,
                        .passes = (unsigned)as_axes_u64(tc->axes, "pass"),
                        .touched_by_device = as_word_is(tc->axes, "touch", "device"),
                        .read_by_device = as_word_is(tc->axes, "agent", "device"),
                        .chases = as_word_is(tc->axes, "what", "latency"),
                        .flushes = as_word_is(tc->axes, "lines", "flushed")};
    const struct as_allocator *allocator = as_info_allocator(&tc->dev->info, as_axes_text(tc->axes, "allocator"));
    s->reached = allocator && allocator->host_access;
    s->groups = (size_t)(tc->dev->info.compute_units ? tc->dev->info.compute_units : 1) * GROUPS_PER_UNIT;
    const enum as_status st = as_cpu_beside(s->dev, &s->opened, &s->cpu, err);
    if (st)
        return st;
    if (s->chases) {
        while (s->words & (s->words - 1))
            s->words &= s->words - 1; /* down to a power of two */
    }
    s->host_sums = calloc((size_t)s->cpu->info.threads * LINE_WORDS, sizeof *s->host_sums);
    if (!s->host_sums)
        return as_nomem(err, (size_t)s->cpu->info.threads * LINE_WORDS * sizeof *s->host_sums, "sums");
    as_buffers_open(&s->of_cpu, s->cpu, &program, err);
    s->fill[0] = as_buffers_kernel(&s->of_cpu, s->chases ? "link_lines" : "write_words", err);
    s->sum[0] = as_buffers_kernel(&s->of_cpu, s->chases ? "follow_lines" : "sum_words", err);
    s->flush = as_buffers_kernel(&s->of_cpu, "flush", err);
    if (s->of_cpu.status)
        return s->of_cpu.status;
    as_buffers_open(&s->of_device, s->dev, &program, err);
    s->fill[1] = as_buffers_kernel(&s->of_device, s->chases ? "link_lines" : "write_words", err);
    s->sum[1] = as_buffers_kernel(&s->of_device, s->chases ? "follow_lines" : "sum_words", err);
    const uint64_t cache = as_info_last_cache(&tc->dev->info);
    if (s->flushes && cache && !tc->dev->info.is_host_cpu) {
        s->sweep = as_buffers_kernel(&s->of_device, "write_words", err);
        s->other = as_buffers_memory(&s->of_device, NULL, 2 * cache, err);
    }
    s->sums = as_buffers_memory(&s->of_device, NULL, s->groups * GROUP * sizeof(uint64_t), err);
    tc->footprint = s->words * 8;
    tc->host_work |= !s->read_by_device || faults_in_pass(s, allocator);
    tc->max_reps = 1; /* each sample has memory of its own */
    if (s->read_by_device && !s->of_device.status)
        as_expect_code(tc, s->sum[1], "load.global", 1);
    return s->of_device.status;
}

static void give_back(struct state *s)
{
    if (s->memory && s->memory->host)
        s->dev->memory->unmap(s->dev, s->memory, NULL);
    s->dev->memory->free(s->dev, s->memory);
    s->memory = NULL;
}

static enum as_status migration_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    const struct as_memory_desc desc = {
        .allocator = as_axes_text(s->tc->axes, "allocator"), .bytes = s->words * 8, .node = -1, .fresh = true};
    double seconds = 0, handover = 0;
    (void)reps;
    s->key++;
    enum as_status st = s->dev->memory->alloc(s->dev, &desc, &s->memory, err);
    if (!st && s->reached)
        st = s->dev->memory->map(s->dev, s->memory, err);
    const char *at = st || !s->reached ? NULL : s->memory->host;
    if (!st)
        st = touch(s, err);
    if (!st)
        st = flush_lines(s, err);
    s->before = look(s, at);
    for (unsigned i = 0; i < s->passes && !st; i++) {
        st = pass(s, &seconds, err);
        handover = i == 0 ? s->handover : handover;
    }
    s->after = look(s, at);
    if (!st && !s->attributes_noted)
        note_attributes(s);
    s->attributes_noted |= !st;
    if (s->memory)
        give_back(s);
    if (st)
        return st;
    as_note_number(s->tc, "handover_seconds", handover);
    if (at) {
        as_note_number(s->tc, "host_share_before", (double)s->before / LOOKS);
        as_note_number(s->tc, "host_share_after", (double)s->after / LOOKS);
    }
    out->seconds = seconds;
    out->value = s->chases ? seconds * 1e9 * LINE_WORDS / (double)s->words : (double)s->words * 8 / seconds * 1e-9;
    return AS_OK;
}

static bool migration_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    snprintf(why, why_size,
             s->wrong ? "the sum of a pass is not that of the words written"
                      : "every pass read the words that were written");
    return !s->wrong;
}

static void migration_finish(void *state)
{
    struct state *s = state;
    if (!s->dev)
        return;
    if (s->memory)
        give_back(s);
    as_buffers_finish(&s->of_device);
    as_buffers_finish(&s->of_cpu);
    as_device_close(&s->opened);
    free(s->host_sums);
    *s = (struct state){0};
}

static double migration_patience(const struct as_device_info *info, const struct as_axes *a)
{
    (void)info;
    return 30 + as_axes_number(a, "size") * (2 + as_axes_number(a, "pass")) / 50e6;
}

static bool migration_by_kernel(const struct as_axes *a)
{
    return as_word_is(a, "touch", "device") || as_word_is(a, "agent", "device");
}

static const struct as_metric further[] = {
    {"host_share_before", "", false, "share of 64 pages that the host has before the passes", NULL},
    {"host_share_after", "", false, "the same after the passes", NULL},
    {0},
};

const struct as_probe as_probe_migration = {
    .name = "migration",
    .title = "Migration, pass by pass",
    .question = "What does a pass over memory cost that the other side touched last, and the passes after it?",
    .metric = "bandwidth",
    .unit = "GB/s",
    .counts = "each byte of the buffer once; decimal GB",
    .own_metrics = own_metrics,
    .further = further,
    .crosses_link = true,
    AS_CELLS(axes, quick, full, migration_applies),
    .kernel_reaches = migration_by_kernel,
    .patience = migration_patience,
    AS_TRIAL(struct state, migration_prepare, migration_sample, migration_check, migration_finish),
};
