/* loaded_latency: latency of dependent loads while other threads load the memory. See method.md. */
#include "lib/checks/checks.h"
#include "loaded.h"

#include <math.h>
#include <stdio.h>

enum { LINE = 64 };
static const double SAMPLE_S = 5e-3; /* long compared with the start and end of the loading threads */

static const char *const op_words[] = {"none", "read", "update", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("op", op_words, "read", "load from other threads: none (unloaded latency), read, or update (x += 1)"),
    AS_COUNT_AXIS("delay", 0, 1 << 20, "0", "dependent ALU operations injected after every 8 KiB block; 0: full load"),
    AS_SIZE_AXIS("size", 4096, 0, "DRAM1", "size of the chased buffer, and of the load buffer per last-level cache"),
    AS_COUNT_AXIS("threads", 0, 0, "0,max", "CPU threads: one chases, the others load; 0: the whole device",
                  .domain = AS_DOMAIN_THREADS, .zero = "device"),
    AS_ALLOCATOR_AXIS("allocator", "first", "how the memory is allocated"),
    {0},
};
static const char *const quick[] = {
    "op=none threads=1 allocator=largest_pages", "op=read delay=0,32,128,512,4096 threads=max allocator=largest_pages",
    "op=none threads=0 allocator=first", "op=read delay=0,32,128,512,4096 threads=0 allocator=first", NULL};
static const char *const full[] = {
    "op=none threads=0,1 size=DRAM1,0.25LLC allocator=largest_pages,device",
    "op=read,update threads=0,max delay=0,16,32,64,128,256,512,1024,2048,4096,8192 allocator=largest_pages,device",
    "op=read threads=0,max size=0.25LLC delay=0,32,128,512,4096 allocator=largest_pages,device",
    "op=none threads=0,1 allocator=base_pages,managed,pinned",
    "op=read threads=0,max delay=0,32,128,512,4096 allocator=base_pages,managed,pinned",
    "op=read,update threads=all allocator=largest_pages",
    NULL};

/* ---- which cells ---- */

static enum as_applies loaded_latency_applies(const struct as_device_info *info, const struct as_axes *a,
                                              struct as_error *err)
{
    const double threads = as_axes_number(a, "threads");
    const bool cpu = (info->capabilities & AS_CAP_HOST_KERNELS) != 0, idle = as_word_is(a, "op", "none");
    if ((idle && as_axes_number(a, "delay") != 0) || (threads == 0) == cpu)
        return AS_PRUNED;
    if (cpu && info->threads > 1 && (threads == 1) != idle) {
        if (!idle)
            as_fail(err, AS_UNSUPPORTED, "op=%s needs at least 2 threads: one chases, the others load",
                    as_axes_text(a, "op"));
        return AS_PRUNED;
    }
    if (cpu && !idle && info->threads < 2)
        as_fail(err, AS_UNSUPPORTED,
                "needs 2 CPUs (one chases, the others generate load), and this process is bound to one");
    else if (!cpu && !(info->capabilities & AS_CAP_SOURCE))
        as_fail(err, AS_UNSUPPORTED, "the device cannot compile kernels");
    else if (!cpu && !idle && info->compute_units < 2)
        as_fail(err, AS_UNSUPPORTED, "needs at least 2 compute units; the device has one");
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

/* Preparing writes every line once, at a few hundred MB/s at worst. */
static double loaded_latency_patience(const struct as_device_info *info, const struct as_axes *a)
{
    const double caches = (double)as_info_largest_cache(info, NULL, as_axes_number(a, "threads")) /
                          fmax(1, (double)as_info_largest_cache(info, NULL, 1));
    return 5 + as_compile_patience(info, a) + as_axes_number(a, "size") * (1 + fmax(1, caches)) / 200e6;
}

/* ---- one trial ---- */

/* Threads on several last-level caches read more, so that each cache holds as small a share of the load as of the
 * chase. */
static uint64_t bytes_of_load(const struct as_device_info *info, uint64_t size, double threads)
{
    const uint64_t one = as_info_largest_cache(info, NULL, 1), all = as_info_largest_cache(info, NULL, threads);
    return one && all > one ? (uint64_t)((double)size * (double)all / (double)one) : size;
}

static void loaded_latency_say(struct as_trial_context *tc, struct loaded *s, const struct load_desc *desc)
{
    const struct as_chase *c = &s->chase;
    tc->footprint = c->footprint + (s->kernel ? as_load_bytes(&s->load) : 0);
    tc->max_reps = UINT32_MAX / AS_CHASE_STEPS;
    tc->sample_s = fmax(SAMPLE_S, 2 * (s->kernel ? s->timer.overhead_s : c->timer.overhead_s));
    as_limit_own_cycle(tc);
    as_chase_note(tc, c);
    if (!s->kernel) {
        as_chase_expect(tc, c);
        return;
    }
    as_expect_code(tc, s->kernel, "load.global", c->method->loads + 4);
    if (desc->update)
        as_expect_code(tc, s->kernel, "store.global", 4);
    as_note_number(tc, "loaders", (double)s->load.loaders);
    as_note_number(tc, "load_bytes", (double)as_load_bytes(&s->load));
}

static enum as_status loaded_latency_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct loaded *s = state;
    const struct as_axes *a = tc->axes;
    const uint64_t size = as_axes_u64(a, "size");
    const bool idle = as_word_is(a, "op", "none"), native = (tc->dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0;
    const struct as_chase_desc chase = {
        .allocator = as_axes_text(a, "allocator"), .size = size, .stride = LINE, .seed = tc->seed};
    const struct load_desc load = {.allocator = chase.allocator,
                                   .bytes = bytes_of_load(&tc->dev->info, size, as_axes_number(a, "threads")),
                                   .loaders = native && !idle ? (size_t)as_axes_u64(a, "threads") - 1 : 0,
                                   .update = as_word_is(a, "op", "update"),
                                   .delay = (uint32_t)as_axes_u64(a, "delay"),
                                   .seed = tc->seed};
    if (native && !idle && load.loaders == 0)
        return as_fail(err, AS_USAGE, "op=%s needs at least 2 threads: one chases, the others load",
                       as_axes_text(a, "op"));
    enum as_status st = as_check_room(tc->dev, size + (idle ? 0 : load.bytes), idle ? size : load.bytes, err);
    if (!st)
        st = as_chase_prepare(&s->chase, tc->dev, &chase, err);
    if (!st && !idle)
        st = (native ? as_loaded_native : as_loaded_device)(s, &load, err);
    if (!st)
        loaded_latency_say(tc, s, &load);
    return st;
}

void as_loaded_count(struct loaded *s, double launch_s)
{
    const double bytes = s->load.update ? 2.0 * LOAD_BLOCK : LOAD_BLOCK,
                 seconds = as_kernel_timer_seconds(&s->timer, launch_s);
    double rate = 0;
    for (size_t i = 1; i < s->timer.records; i++) {
        const struct as_record *r = &s->timer.record[i];
        const double took = (r->has & AS_HAS_NANOS) ? (double)r->nanos * 1e-9 : launch_s;
        rate += took > 0 ? bytes * (double)r->value / took : 0;
    }
    s->bytes_s += rate * seconds;
    s->seconds += seconds;
}

static enum as_status loaded_latency_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct loaded *s = state;
    s->bytes_s = s->seconds = 0;
    enum as_status st = as_chase_run(&s->chase, reps, &out->value, &out->seconds, err);
    out->clock_hz = s->chase.clock_hz;
    out->further[0] = (struct as_sample_number){"bandwidth", s->kernel ? s->bytes_s / s->seconds * 1e-9 : 0};
    return st;
}

static bool loaded_latency_check(void *state, char *why, size_t why_size)
{
    struct loaded *s = state;
    if (!as_chase_check(&s->chase, why, why_size) || (s->kernel && !as_load_check(&s->load, why, why_size)))
        return false;
    if (s->kernel)
        snprintf(why, why_size, "every chase ended at the expected line, and the sums of the load are correct");
    return true;
}

static void loaded_latency_finish(void *state)
{
    struct loaded *s = state;
    as_load_finish(&s->load);
    as_kernel_timer_finish(&s->timer);
    as_chase_finish(&s->chase);
}

static const struct as_metric further[] = {
    {"bandwidth", "GB/s", false, "bytes read and written by the load threads during the chase; decimal GB", NULL}, {0}};

const struct as_probe as_probe_loaded_latency = {
    .name = "loaded_latency",
    .title = "Loaded latency",
    .question = "How long does a dependent load take while other threads use the memory's bandwidth?",
    .metric = "latency",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "time of one dependent load, address translation included, averaged over a random pointer chase",
    .further = further,
    AS_CELLS(axes, quick, full, loaded_latency_applies),
    .kernel_reaches = as_always_by_kernel,
    .patience = loaded_latency_patience,
    AS_TRIAL(struct loaded, loaded_latency_prepare, loaded_latency_sample, loaded_latency_check, loaded_latency_finish),
};
