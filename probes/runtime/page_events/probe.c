/* page_events: counted TLB misses, page faults and migrations. See method.md. */
#include "base/host.h"
#include "lib/chase/chase.h"
#include "lib/checks/checks.h"
#include "lib/checks/nodes.h"
#include "lib/pages/events.h"
#include "lib/pages/pages.h"
#include "lib/reach/reach.h"
#include "lib/stream/stream.h"
#include "os/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64, STRIDE_MIN = 4096, LOADS = 1 << 16, TRIADS = 10 };

static const char *const what_words[] = {"misses", "faults", "triads", NULL};
static const struct as_axis axes[] = {
    AS_WORD_AXIS(
        "what", what_words, "faults",
        "TLB load misses of a CPU's pointer chase over pages; page faults until a CPU has read all pages; page "
        "faults of ten triads by all CPU threads, from the first touch on"),
    AS_COUNT_AXIS("pages", 2, 1 << 24, "16384", "pages of the chase, pages read, or pages of the three arrays"),
    AS_SIZE_AXIS("stride", STRIDE_MIN, 1 << 30, "page",
                 "misses: bytes between pages, a power of two; page, huge_page: one of that size"),
    AS_ALLOCATOR_AXIS("allocator", "all", "how the memory is allocated"),
    AS_TOUCH_AXIS,
    {0},
};
static const char *const quick[] = {"what=misses pages=16,1024,16384 allocator=base_pages,huge_pages",
                                    "what=faults pages=16384 allocator=all touch=all", NULL};
static const char *const full[] = {
    "what=misses pages=16..262144 x1 allocator=base_pages,huge_pages,reserved_huge_pages",
    "what=misses pages=16..4096 x1 stride=huge_page allocator=huge_pages,reserved_huge_pages",
    "what=misses pages=16..262144 x1 allocator=all touch=all devices=cuda,hip,opencl,metal",
    "what=faults pages=16384,65536 allocator=all touch=all",
    "what=triads pages=65536,468480 allocator=all touch=all",
    NULL};

struct state {
    struct as_trial_context *tc;
    struct as_device *dev;
    bool misses, triads, device_first;
    struct as_chase chase;
    struct as_reach reach; /* of the chase in a device's memory */
    struct as_events events;
    struct as_pages toucher, reader; /* toucher: the device's kernel, if the device touches first */
    uint64_t mark;
    uint64_t want, got;           /* sums of the last pass */
    bool wrong;                   /* a triad computed other elements */
    struct as_fault_count faults; /* of the last pass */
    double read_s, passes;        /* the CPU's reads, over all samples */
    int node;                     /* of the pages of the last pass; -1 unknown */
};

/* ---- which cells ---- */

/* Only misses of CPUs are counted, so one must be able to access the memory. */
static enum as_applies misses_apply(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const struct as_allocator *allocator = as_info_allocator(info, as_axes_text(a, "allocator"));
    const bool own = as_info_has_host_kernels(info);
    if (own && as_word_is(a, "touch", "device"))
        return AS_PRUNED;
    if (!own && allocator && !allocator->why_not[0] && !allocator->host_access)
        return as_inapplicable(err, "the CPU cannot access this memory, and only the vendor's profiler counts a "
                                    "device's misses; probe 'tlb' shows their cost");
    const enum as_applies applies = own ? AS_APPLIES : as_reach_applies(info, a, err);
    const char *why = applies == AS_APPLIES ? as_events_why_not(AS_EVENT_TLB_MISSES) : "";
    return why[0] ? as_inapplicable(err, "%s", why) : applies;
}

static const char *why_no_faults(const struct as_device_info *info, const struct as_allocator *allocator, bool device)
{
    if (allocator && !allocator->host_access)
        return "the CPU cannot access this memory, and device faults are not counted for the process";
    return device && !(info->capabilities & AS_CAP_SOURCE) ? "the device cannot compile kernels" : NULL;
}

static enum as_applies page_events_applies(const struct as_device_info *info, const struct as_axes *a,
                                           struct as_error *err)
{
    const struct as_allocator *allocator = as_info_allocator(info, as_axes_text(a, "allocator"));
    const bool misses = as_word_is(a, "what", "misses"), device = as_word_is(a, "touch", "device");
    const uint64_t stride = as_axes_u64(a, "stride");
    const double bytes = as_axes_number(a, "pages") * (double)(misses ? stride : as_host_page());
    if (!misses && (stride != as_info_page(info) || (device && as_info_has_host_kernels(info))))
        return AS_PRUNED;
    const enum as_applies applies = misses ? misses_apply(info, a, err) : AS_APPLIES;
    const char *why = allocator && allocator->why_not[0] ? allocator->why_not
                      : misses                           ? NULL
                                                         : why_no_faults(info, allocator, device);
    if (applies != AS_APPLIES)
        return applies;
    if (why)
        as_fail(err, AS_UNSUPPORTED, "%s", why);
    else if (stride & (stride - 1))
        as_fail(err, AS_UNSUPPORTED, "the stride must be a power of two");
    else if (!as_check_block(info, as_axes_text(a, "allocator"), bytes, err))
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

static double page_events_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return 10 + as_compile_patience(info, a) +
           as_axes_number(a, "pages") * (as_axes_number(a, "stride") / 200e6 + 30e-6);
}

/* ---- misses ---- */

static enum as_status page_events_chase(struct state *s, uint64_t reps, double *seconds, struct as_error *err)
{
    double unused;
    return as_chase_run(&s->chase, reps, &unused, seconds, err);
}

/* First a whole cycle, to fill the TLB. */
static enum as_status prepare_misses(struct state *s, struct as_error *err)
{
    const struct as_axes *a = s->tc->axes;
    const uint64_t stride = as_axes_u64(a, "stride"), pages = as_axes_u64(a, "pages");
    const bool own = as_info_has_host_kernels(&s->dev->info);
    struct as_chase_desc desc = {.allocator = as_axes_text(a, "allocator"),
                                 .size = pages * stride,
                                 .stride = stride,
                                 .spread = LINE,
                                 .seed = s->tc->seed,
                                 .fresh = true};
    double unused;
    enum as_status st = own ? as_chase_prepare(&s->chase, s->dev, &desc, err)
                            : as_reach_prepare_chase(&s->reach, &s->chase, s->tc, &desc, err);
    if (!st)
        st = page_events_chase(s, (pages + AS_CHASE_STEPS - 1) / AS_CHASE_STEPS, &unused, err);
    if (!st)
        st = as_events_open(&s->events, AS_EVENT_TLB_MISSES, err);
    if (st)
        return st;
    if (own)
        as_chase_note(s->tc, &s->chase);
    as_note_number(s->tc, "loads", LOADS);
    s->tc->footprint = s->chase.footprint;
    return AS_OK;
}

static enum as_status sample_misses(struct state *s, struct as_sample *out, struct as_error *err)
{
    uint64_t before, after;
    enum as_status st = as_events_read(&s->events, &before, err);
    if (!st)
        st = page_events_chase(s, LOADS / AS_CHASE_STEPS, &out->seconds, err);
    if (!st)
        st = as_events_read(&s->events, &after, err);
    if (!st)
        out->value = (double)(after - before);
    out->clock_hz = s->chase.clock_hz;
    return st;
}

/* ---- faults ---- */

/* Mapped for the CPU, aligned to the host's pages. */
static enum as_status page_events_new_block(struct state *s, struct as_span *span, struct as_error *err)
{
    const uint64_t page = s->reader.page;
    const struct as_memory_desc want = {.allocator = as_axes_text(s->tc->axes, "allocator"),
                                        .bytes = (span->pages + 1) * page,
                                        .node = -1,
                                        .fresh = true};
    enum as_status st = s->dev->memory->alloc(s->dev, &want, &span->memory, err);
    if (!st)
        st = s->dev->memory->map(s->dev, span->memory, err);
    if (!st)
        span->start = (page - (uintptr_t)span->memory->host % page) % page;
    return st;
}

static enum as_status device_touches(struct state *s, const struct as_span *span, double *seconds, struct as_error *err)
{
    enum as_status st = s->dev->memory->unmap(s->dev, span->memory, err);
    if (!st)
        st = as_pages_touch(&s->toucher, span, seconds, err);
    return st ? st : s->dev->memory->map(s->dev, span->memory, err);
}

/* Allocates memory, touches it first on CPU or device, then reads it on the CPU. Counts events from first to last
 * touch. */
static enum as_status page_events_pass(struct state *s, double *seconds, struct as_error *err)
{
    s->mark += 3; /* so that stale data has another sum */
    struct as_span span = {.pages = as_axes_u64(s->tc->axes, "pages"), .mark = s->mark};
    double first = 0, again = 0;
    enum as_status st = page_events_new_block(s, &span, err);
    const struct as_fault_count before = as_faults_now();
    if (!st)
        st = s->device_first ? device_touches(s, &span, &first, err) : as_pages_touch(&s->reader, &span, &first, err);
    span.load = true;
    if (!st)
        st = as_pages_touch(&s->reader, &span, &again, err);
    s->faults = (struct as_fault_count){0};
    as_faults_add(&s->faults, before);
    s->read_s += again;
    s->passes++;
    if (!st)
        st = as_pages_sum(&s->reader, &span, &s->got, err);
    s->want = span.pages * span.mark + span.pages * (span.pages - 1) / 2;
    *seconds = first + again;
    if (!st)
        s->node = as_node_of((char *)span.memory->host + span.start);
    s->dev->memory->free(s->dev, span.memory);
    return st;
}

/* Arrays in this memory, filled and used by all threads of the CPU, as STREAM does. */
static enum as_status run_triads(struct state *s, const struct as_span *span, double *seconds, struct as_error *err)
{
    struct as_device *cpu = s->reader.agent;
    const struct as_stream_desc desc = {.op = AS_STREAM_TRIAD,
                                        .allocator = cpu->info.allocators[0].name,
                                        .size = as_axes_u64(s->tc->axes, "pages") * s->reader.page,
                                        .threads = cpu->info.threads,
                                        .at = (char *)span->memory->host + span->start,
                                        .width = AS_WIDTH_SCALAR,
                                        .barrier = true,
                                        .seed = s->tc->seed};
    struct as_stream stream = {0};
    char unused[160];
    double rate;
    enum as_status st = as_stream_prepare(&stream, cpu, &desc, err);
    if (!st)
        st = as_stream_run(&stream, TRIADS, &rate, seconds, err);
    if (!st)
        s->wrong |= !as_stream_check(&stream, unused, sizeof unused);
    as_stream_finish(&stream);
    return st;
}

/* Allocates memory, has it touched first by the CPU that fills the arrays or by the device, and runs the triads. */
static enum as_status triads_pass(struct state *s, double *seconds, struct as_error *err)
{
    const uint64_t page = s->reader.page;
    const uint64_t bytes = as_stream_room(AS_STREAM_TRIAD, as_axes_u64(s->tc->axes, "pages") * page);
    struct as_span span = {.pages = (bytes + page - 1) / page, .mark = 1};
    double first = 0, after = 0;
    enum as_status st = page_events_new_block(s, &span, err);
    const struct as_fault_count before = as_faults_now();
    if (!st && s->device_first)
        st = device_touches(s, &span, &first, err);
    if (!st)
        st = run_triads(s, &span, &after, err);
    s->faults = (struct as_fault_count){0};
    as_faults_add(&s->faults, before);
    *seconds = first + after;
    if (!st)
        s->node = as_node_of((char *)span.memory->host + span.start);
    s->dev->memory->free(s->dev, span.memory);
    return st;
}

static enum as_status count_pass(struct state *s, double *seconds, struct as_error *err)
{
    return s->triads ? triads_pass(s, seconds, err) : page_events_pass(s, seconds, err);
}

/* The first pass faults in stacks, kernels and driver data. */
static enum as_status prepare_faults(struct state *s, struct as_error *err)
{
    double unused;
    s->mark = s->tc->seed >> 2 | 1;
    enum as_status st = as_pages_prepare(&s->reader, s->dev, 1, err);
    if (!st && s->device_first)
        st = as_pages_prepare(&s->toucher, s->dev, 0, err);
    if (st)
        return st;
    s->tc->host_work = true;
    s->tc->footprint = as_axes_u64(s->tc->axes, "pages") * s->reader.page;
    st = count_pass(s, &unused, err);
    s->read_s = s->passes = 0;
    return st;
}

/* ---- one trial ---- */

static enum as_status page_events_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    s->tc = tc;
    s->dev = tc->dev;
    s->misses = as_word_is(tc->axes, "what", "misses");
    s->triads = as_word_is(tc->axes, "what", "triads");
    s->device_first = as_word_is(tc->axes, "touch", "device");
    tc->min_reps = tc->max_reps = 1;
    return s->misses ? prepare_misses(s, err) : prepare_faults(s, err);
}

static enum as_status page_events_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    (void)reps; /* always 1 */
    if (s->misses)
        return sample_misses(s, out, err);
    enum as_status st = count_pass(s, &out->seconds, err);
    out->value = as_faults_total(&s->faults);
    return st;
}

/* Events of the last pass; time as the mean of all passes. */
static void note_faults(const struct state *s)
{
    const double pages = as_axes_number(s->tc->axes, "pages");
    (void)as_node_check(s->tc, -1, s->node, NULL);
    as_note_number(s->tc, "minor_faults", s->faults.minor);
    as_note_number(s->tc, "major_faults", s->faults.major);
    as_note_number(s->tc, "read_time", s->passes > 0 ? s->read_s / s->passes / pages * 1e9 : NAN);
}

static bool page_events_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    if (s->misses)
        return as_chase_check(&s->chase, why, why_size);
    note_faults(s);
    if (!isfinite(as_faults_total(&s->faults))) {
        snprintf(why, why_size, "the system does not count this process's faults");
        return false;
    }
    if (s->triads) {
        snprintf(why, why_size, s->wrong ? "a triad computed wrong elements" : "the triads' elements are as expected");
        return !s->wrong;
    }
    snprintf(why, why_size, "the pages sum up to %llu, not %llu", (unsigned long long)s->got,
             (unsigned long long)s->want);
    return s->got == s->want;
}

static void page_events_finish(void *state)
{
    struct state *s = state;
    as_events_close(&s->events);
    as_chase_finish(&s->chase);
    as_reach_finish(&s->reach);
    as_pages_finish(&s->toucher);
    as_pages_finish(&s->reader);
}

static const struct as_metric further[] = {
    {"minor_faults", "events", true, "faults for a page that is in memory", NULL},
    {"major_faults", "events", true, "faults for a page that is fetched first, also from a device", NULL},
    {"read_time", "ns", true, "one page of the pass in which the CPU reads them all", NULL},
    {0},
};

const struct as_probe as_probe_page_events = {
    .name = "page_events",
    .title = "Page faults and TLB misses",
    .question = "How many loads miss the TLB, and how many page faults does a pass over memory take, by allocator?",
    .metric = "events",
    .unit = "events",
    .lower_is_better = true,
    .counts =
        "data TLB misses of 65536 loads by a CPU, or the process's page faults, minor and major, from first touch "
        "until a CPU has read all pages, or has run ten triads",
    .further = further,
    .not_ahead = true,
    AS_CELLS(axes, quick, full, page_events_applies),
    .patience = page_events_patience,
    AS_TRIAL(struct state, page_events_prepare, page_events_sample, page_events_check, page_events_finish),
};
