/* sync: 64-bit atomic minima and maxima, native and by two words, and barriers of a workgroup. See method.md. */
#include "device/dialect/dialect.h"
#include "lib/kernel_timer/kernel_timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_sync[];

static const char *const op_words[] = {"barrier", "min", "max", NULL};
static const char *const path_words[] = {"native", "two_words", NULL};
static const char *const result_words[] = {"dropped", "kept", NULL};
static const char *const memory_words[] = {"shared", "global", NULL};
static const char *const units_words[] = {"one", "every", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("op", op_words, "max",
                 "minimum or maximum of an element and a random u64, or a barrier of a workgroup"),
    AS_WORD_AXIS("path", path_words, "native",
                 "native: a 64-bit atomic; two_words: two 32-bit words under a lock of 32-bit atomics"),
    AS_WORD_AXIS("result", result_words, "kept", "kept: the next update depends on the old value; dropped: no result"),
    AS_WORD_AXIS("memory", memory_words, "global", "where the elements are; barriers: shared only"),
    AS_COUNT_AXIS("elements", 1, 1 << 20, "1024", "elements, a power of two; shared: per workgroup"),
    AS_COUNT_AXIS("threads", 1, 1024, "256", "threads per workgroup"),
    AS_WORD_AXIS("compute_units", units_words, "every", "a workgroup on one compute unit, or on every one"),
    {0},
};
static const char *const quick[] = {
    "op=max path=native,two_words result=kept memory=global,shared elements=1024 threads=1 compute_units=one",
    "op=max path=native,two_words result=dropped memory=global,shared elements=1024 threads=256 compute_units=every",
    "op=barrier result=dropped memory=shared elements=1 threads=32,256,1024 compute_units=one", NULL};
static const char *const full[] = {
    "op=min,max path=native,two_words result=kept memory=global,shared elements=1,1024 threads=1 compute_units=one",
    "op=min,max path=native,two_words result=dropped,kept memory=global,shared elements=1,1024",
    "op=max path=native,two_words result=dropped,kept memory=global elements=1048576 threads=256 compute_units=every",
    "op=barrier result=dropped memory=shared elements=1 threads=1,32,64,128,256,512,1024 compute_units=one,every",
    NULL};

enum { BARRIERS = 16 /* per turn */, CHECK_TURNS = 40, SHARED_MIN = 32 << 10, TIMES = 5, TURNS_MIN = 500 };

struct shape {
    bool barrier, two_words, kept, shared, max;
    uint64_t elements, words; /* words of 64 bits per element */
    size_t threads, workgroups;
};

static struct shape sync_shape(const struct as_device_info *info, const struct as_axes *a)
{
    const bool one = as_word_is(a, "compute_units", "one") || !info->compute_units;
    return (struct shape){.barrier = as_word_is(a, "op", "barrier"),
                          .two_words = as_word_is(a, "path", "two_words"),
                          .kept = as_word_is(a, "result", "kept"),
                          .shared = as_word_is(a, "memory", "shared"),
                          .max = as_word_is(a, "op", "max"),
                          .elements = as_axes_u64(a, "elements"),
                          .words = as_word_is(a, "path", "two_words") ? 2 : 1,
                          .threads = as_axes_u64(a, "threads"),
                          .workgroups = one ? 1 : info->compute_units};
}

/* What Metal's atomics of 64 bits lack: they are a minimum and a maximum of newer GPUs, without a result. */
static const char *metal_lacks(const struct as_device_info *info, const struct shape *s)
{
    enum { FIRST_FAMILY = 8 };
    static const char family[] = "apple";
    const size_t n = sizeof family - 1;
    if (s->two_words)
        return "Metal has relaxed atomics only: a lock needs acquire and release";
    if (s->shared)
        return "Metal has 64-bit minimum and maximum in device memory only";
    if (s->kept)
        return "Metal's 64-bit minimum and maximum return no value";
    if (strncmp(info->arch, family, n) != 0 || strtoul(info->arch + n, NULL, 10) < FIRST_FAMILY)
        return "GPUs before family apple8 have no 64-bit atomics";
    return NULL;
}

static enum as_applies sync_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const struct shape s = sync_shape(info, a);
    const uint64_t most = info->workgroup_shared ? info->workgroup_shared : SHARED_MIN;
    if (s.elements & (s.elements - 1))
        return as_pruned(err, "axis 'elements': '%llu' is not a power of two", (unsigned long long)s.elements);
    if (s.barrier && (s.two_words || s.kept || !s.shared || s.elements != 1))
        return as_pruned(err, "op=barrier needs path=native, result=dropped, memory=shared and elements=1");
    if (s.barrier && info->is_host_cpu)
        return as_inapplicable(err, "a core runs the threads of a workgroup one after another");
    const char *lack = !s.barrier && as_dialect_find(info->dialect) == AS_DIALECT_METAL ? metal_lacks(info, &s) : NULL;
    if (lack)
        return as_inapplicable(err, "%s", lack);
    if (s.threads > info->threads)
        return as_inapplicable(err, "a workgroup has at most %u threads", info->threads);
    if (s.shared && s.elements * s.words * sizeof(uint64_t) > most)
        return as_inapplicable(err, "a workgroup's shared memory does not hold these elements");
    return AS_APPLIES;
}

struct state {
    struct as_kernel_timer timer; /* first: the record's finish casts to it */
    struct shape shape;
    struct as_kernel *kernel;
    struct as_memory *array;
    uint64_t *host, seed, words; /* words: of the array */
};

static uint64_t first_value(const struct shape *s)
{
    return s->max ? 0 : UINT64_MAX >> 1;
}

/* rising: does each turn's value surpass those of the turns before? */
static enum as_status sync_launch(struct state *s, uint32_t turns, bool rising, double *seconds, struct as_error *err)
{
    const struct shape *p = &s->shape;
    const struct as_arg updates[] = {as_memory_arg(s->timer.memory),
                                     as_memory_arg(s->array),
                                     as_u64_arg(s->seed),
                                     as_u32_arg((uint32_t)p->elements - 1),
                                     as_u32_arg(turns),
                                     as_u64_arg(rising ? INT32_MAX : INT64_MAX),
                                     as_u32_arg(rising)};
    const struct as_arg barriers[] = {as_memory_arg(s->timer.memory), as_memory_arg(s->array), as_u32_arg(turns)};
    struct as_launch l = p->barrier ? as_launch_of(s->kernel, barriers, 3, p->workgroups, p->threads)
                                    : as_launch_of(s->kernel, updates, 7, p->workgroups, p->threads);
    l.work.accesses = (double)turns;
    return as_kernel_timer_launch(&s->timer, &l, seconds, err);
}

/* An element of two words begins with its lock. */
static enum as_status sync_reset(struct state *s, struct as_error *err)
{
    for (uint64_t i = 0; i < s->words; i++)
        s->host[i] = s->shape.words == 1 || i % s->shape.words ? first_value(&s->shape) : 0;
    return s->timer.dev->memory->write(s->timer.dev, s->array, 0, s->host, s->words * sizeof *s->host, err);
}

static enum as_status sync_able(struct state *s, struct as_error *err)
{
    uint32_t able = 1; /* without a device only the existence of the kernel is checked */
    const struct as_arg arg = as_memory_arg(s->array);
    struct as_device *dev = s->timer.dev;
    enum as_status st = dev->memory->write(dev, s->array, 0, &able, sizeof able, err);
    if (!st)
        st = as_kernel_timer_once(&s->timer, "able", &arg, 1, 1, 1, err);
    if (!st)
        st = dev->memory->read(dev, s->array, 0, &able, sizeof able, err);
    if (!st && !able)
        return as_fail(err, AS_UNSUPPORTED, "kernels of this device have %s",
                       s->shape.two_words ? "relaxed atomics only: a lock needs acquire and release"
                                          : "no 64-bit atomic minimum and maximum");
    return st;
}

/* By machine code: an instruction, or a loop of compare-and-swaps. */
static void sync_note_code(struct state *s, struct as_trial_context *tc)
{
    struct as_device *dev = s->timer.dev;
    struct as_error unused;
    uint64_t swaps;
    const char *word = s->shape.shared ? "swap.local" : "swap.global";
    if (s->shape.barrier) {
        as_expect_code(tc, s->kernel, "barrier", BARRIERS);
        return;
    }
    as_expect_code(tc, s->kernel, s->shape.shared ? "atomic.local" : "atomic.global", 1);
    if (!s->shape.two_words && dev->program->count && (dev->info.capabilities & AS_CAP_CODE) &&
        !dev->program->count(dev, s->kernel, word, &swaps, &unused))
        as_note(tc, "instruction", swaps ? "a loop of compare-and-swaps" : "one atomic instruction");
}

static enum as_status sync_build(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    const struct shape *p = &s->shape;
    char defines[240];
    const uint64_t tile = p->barrier ? p->threads : p->elements * p->words;
    snprintf(defines, sizeof defines,
             "-DOPERATION=%d -DTWO_WORDS=%d -DKEPT=%d -DIN_SHARED=%d -DFIRST=0x%llxul -DWORDS=%uu -DTILE=%lluu",
             p->barrier ? 0
             : p->max   ? 2
                        : 1,
             p->two_words, p->kept, p->shared, (unsigned long long)first_value(p), (unsigned)p->words,
             (unsigned long long)(p->shared ? tile : 1));
    enum as_status st =
        as_kernel_timer_prepare(&s->timer, tc->dev, "sync", "", as_kernel_sync, defines, p->workgroups, err);
    s->words = p->barrier ? p->threads * p->workgroups : p->elements * p->words * (p->shared ? p->workgroups : 1);
    if (!st && !(s->host = calloc(s->words, sizeof *s->host)))
        st = as_nomem(err, s->words * sizeof *s->host, "elements");
    if (!st)
        st = as_kernel_timer_keep_memory(&s->timer, s->words * sizeof *s->host, &s->array, err);
    if (!st)
        st = sync_able(s, err);
    return st ? st : as_kernel_timer_keep_kernel(&s->timer, p->barrier ? "barriers" : "updates", &s->kernel, err);
}

static enum as_status sync_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    double nothing[TIMES];
    s->shape = sync_shape(&tc->dev->info, tc->axes);
    s->seed = tc->seed;
    tc->min_reps = TURNS_MIN; /* longer than an empty launch varies */
    tc->max_reps = UINT32_MAX / 2;
    tc->sample_s = 5e-3;
    enum as_status st = sync_build(s, tc, err);
    if (st)
        return st;
    sync_note_code(s, tc);
    if (!s->shape.barrier)
        as_note(tc, "values", "change at each turn");
    st = sync_reset(s, err);
    for (int i = 0; i < TIMES && !st; i++)
        st = sync_launch(s, 0, true, &nothing[i], err);
    if (st)
        return st;
    s->timer.overhead_s = as_median(nothing, TIMES);
    as_limit_one_cycle(tc, as_kernel_timer_clock(&s->timer));
    snprintf(tc->limit_why, sizeof tc->limit_why, "one cycle: the minimum of an update or a barrier");
    return AS_OK;
}

/* Several workgroups count from the launch's start to its end: they need not begin together. */
static double sync_seconds(const struct state *s, double launch_s)
{
    return s->shape.workgroups == 1 ? as_kernel_timer_seconds(&s->timer, launch_s) : launch_s - s->timer.overhead_s;
}

static enum as_status sync_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    double ns = 0;
    enum as_status st = AS_OK;
    for (int i = 0; i < TIMES && !st && !(ns > 0); i++) {
        st = s->shape.barrier || s->shape.shared ? AS_OK : sync_reset(s, err);
        if (!st)
            st = sync_launch(s, (uint32_t)reps, true, &out->seconds, err);
        ns = sync_seconds(s, out->seconds) * 1e9;
    }
    if (st)
        return st;
    if (!(ns > 0))
        return as_fail(err, AS_UNSUPPORTED, "a launch of %llu turns takes no longer than one without",
                       (unsigned long long)reps);
    out->value = ns / ((double)reps * (s->shape.barrier ? BARRIERS : 1));
    out->clock_hz = as_kernel_timer_clock(&s->timer);
    if (!s->shape.barrier)
        out->further[0] =
            (struct as_sample_number){"rate", (double)(s->shape.threads * s->shape.workgroups) / out->value * 1e9};
    return AS_OK;
}

/* ---- check ---- */

/* What a workgroup's threads do to elements of `words` each, which have the first value. */
static void sync_replay(const struct state *s, size_t group, uint64_t *elements)
{
    const struct shape *p = &s->shape;
    for (uint64_t thread = group * p->threads; thread < (group + 1) * p->threads; thread++) {
        uint64_t x = (s->seed ^ (thread + 1) * UINT64_C(0x9E3779B97F4A7C15)) | 1;
        for (int t = 0; t < CHECK_TURNS; t++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            uint64_t *at = &elements[(x >> 40 & (p->elements - 1)) * p->words + p->words - 1],
                     value = p->max ? x >> 1 : INT64_MAX - (x >> 1);
            *at = (p->max ? value > *at : value < *at) ? value : *at;
        }
    }
}

static bool sync_same(const struct state *s, const uint64_t *wanted, const uint64_t *got, char *why, size_t size)
{
    for (uint64_t i = s->shape.words - 1; i < s->words; i += s->shape.words)
        if (wanted[i] != got[i]) {
            snprintf(why, size, "element %llu is 0x%llx, not 0x%llx", (unsigned long long)(i / s->shape.words),
                     (unsigned long long)got[i], (unsigned long long)wanted[i]);
            return false;
        }
    snprintf(why, size, "%llu elements equal the host's after %d updates per thread",
             (unsigned long long)(s->words / s->shape.words), CHECK_TURNS);
    return true;
}

static bool sync_neighbours(const struct state *s, const uint64_t *got, char *why, size_t size)
{
    const size_t threads = s->shape.threads;
    size_t right = 0;
    while (right < s->words && got[right] == (right % threads + 1) % threads)
        right++;
    snprintf(why, size, right == s->words ? "%zu threads see their neighbour's store" : "thread %zu does not", right);
    return right == s->words;
}

static bool sync_check(void *state, char *why, size_t size)
{
    struct state *s = state;
    struct as_device *dev = s->timer.dev;
    struct as_error err = {0};
    double unused;
    const size_t bytes = s->words * sizeof *s->host;
    uint64_t *got = malloc(bytes);
    if (!got)
        return as_check_no_memory(why, size);
    bool good = !sync_reset(s, &err) && !sync_launch(s, CHECK_TURNS, false, &unused, &err) &&
                !dev->memory->read(dev, s->array, 0, got, bytes, &err);
    if (!good)
        snprintf(why, size, "%s", err.text);
    else if (s->shape.barrier)
        good = sync_neighbours(s, got, why, size);
    else {
        for (size_t g = 0; g < s->shape.workgroups; g++)
            sync_replay(s, g, s->host + (s->shape.shared ? g * s->shape.elements * s->shape.words : 0));
        good = sync_same(s, s->host, got, why, size);
    }
    free(got);
    return good;
}

static void sync_finish(void *state)
{
    struct state *s = state;
    as_kernel_timer_finish(&s->timer);
    free(s->host);
}

static const struct as_metric further[] = {
    {"rate", "updates/s", false, "updates of all threads", NULL},
    {0},
};

const struct as_probe as_probe_sync = {
    .name = "sync",
    .title = "64-bit atomics and barriers",
    .question = "What do atomic minima and maxima of 64 bits cost, native and emulated, and what does a barrier cost?",
    .metric = "time",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "time between two updates of one thread, or between two barriers of a workgroup",
    .further = further,
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, quick, full, sync_applies),
    .patience_s = 30, /* the driver compiles the kernels first */
    AS_TRIAL(struct state, sync_prepare, sync_sample, sync_check, sync_finish),
};
