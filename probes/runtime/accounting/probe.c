/* accounting: which counter sees an allocation, and at which step. See method.md. */
#include "ballast.h"
#include "lib/checks/checks.h"
#include "lib/counters/counters.h"
#include "own.h"

#include "base/clock.h"
#include "base/host.h"
#include "device/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum moment { BEFORE, ALLOCATED, CPU_TOUCHED, DEVICE_TOUCHED, FREED };
static const char *const moment_words[] = {"before", "allocated", "cpu-touched", "device-touched", "freed", NULL};
static const struct as_axis axes[] = {
    AS_ALLOCATOR_AXIS("allocator", "all", "how the memory is allocated; alloca: on the stack; file: a mapped file",
                      .words = as_accounting_own_words),
    AS_WORD_AXIS("counter", as_counter_words, "all", "the counter of memory in use"),
    AS_WORD_AXIS("step", moment_words, "all", "before (the control), after allocating, after touching, after freeing"),
    AS_SIZE_AXIS("size", 1 << 20, UINT64_C(1) << 30, "64MiB",
                 "bytes of the block; at most an eighth of the free memory"),
    {0},
};
static const char *const quick[] = {
    "allocator=pageable,base_pages,huge_pages,alloca,file counter=MemAvailable,VmRSS,driver step=allocated,cpu-touched",
    "allocator=device,shared_fine,managed,pinned "
    "counter=MemAvailable,VmRSS,driver step=allocated,cpu-touched,device-touched",
    NULL};
static const char *const full[] = {"allocator=all counter=all step=all size=256MiB", NULL};

static const uint64_t BLOCK_LEAST = UINT64_C(4) << 20, ROUND = UINT64_C(2) << 20, BALLAST_MOST = UINT64_C(2) << 30;
enum { LOOKED_AT = 64 };

static enum as_applies accounting_applies(const struct as_device_info *info, const struct as_axes *a,
                                          struct as_error *err)
{
    const struct as_allocator *allocator = as_info_allocator(info, as_axes_text(a, "allocator"));
    const bool cpu = (info->capabilities & AS_CAP_HOST_KERNELS) != 0;
    const size_t moment = as_word_index(a, "step", moment_words);
    const size_t counter = as_word_index(a, "counter", as_counter_words);
    if (cpu && moment == DEVICE_TOUCHED)
        return AS_PRUNED; /* the device is the CPU */
    if (!cpu && as_accounting_own(as_axes_text(a, "allocator")))
        return as_pruned(err, "alloca and file are measured on device cpu only");
    if ((counter == COUNTER_VRAM || counter == COUNTER_GTT) && !as_counters_have_files("", info))
        return as_pruned(err, "the kernel driver exports no memory counters of this device");
    if (allocator && allocator->why_not[0])
        as_fail(err, AS_UNSUPPORTED, "%s", allocator->why_not);
    else if (moment == CPU_TOUCHED && allocator && !allocator->host_access)
        as_fail(err, AS_UNSUPPORTED, "the CPU cannot access this memory");
    else if (!cpu && moment > ALLOCATED && !(info->capabilities & AS_CAP_SOURCE))
        as_fail(err, AS_UNSUPPORTED, "the device cannot compile kernels");
    else if (counter == COUNTER_DRIVER && !(info->capabilities & AS_CAP_FREE_COUNT))
        as_fail(err, AS_UNSUPPORTED, "%s",
                cpu ? "no driver counts CPU memory" : "its driver does not report free memory");
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

struct state {
    struct as_trial_context *tc;
    struct as_device *dev;
    struct as_pages toucher;
    struct as_memory *block;
    struct ballast ballast;
    enum own own; /* of the allocator */
    void *at;     /* that memory, while there is some */
    uint64_t page;
    enum moment moment;
    size_t counter;
    uint64_t bytes, mark, budget;         /* budget: room for the ballast */
    struct counter_reading before, after; /* of the last sample */
    bool huge;                            /* the block is on huge pages */
    bool wrong;                           /* a touched page lost its mark */
    char wrong_text[160];
};

static struct as_span span_of(const struct state *s)
{
    return (struct as_span){.memory = s->block, .pages = s->bytes / s->page, .mark = s->mark};
}

static enum as_status accounting_allocate(struct state *s, struct as_error *err)
{
    enum as_status st = s->own == OWN_FILE ? as_accounting_file_get(s->bytes, &s->at, err) : AS_OK;
    struct as_memory_desc want = {
        .allocator = as_axes_text(s->tc->axes, "allocator"), .bytes = s->bytes, .node = -1, .fresh = true, .at = s->at};
    return st ? st : s->dev->memory->alloc(s->dev, &want, &s->block, err);
}

static bool accounting_by_cpu(const struct state *s)
{
    return s->moment == CPU_TOUCHED || s->dev->info.capabilities & AS_CAP_HOST_KERNELS;
}

static enum as_status accounting_touch(struct state *s, struct as_error *err)
{
    const struct as_span span = span_of(s);
    double unused;
    enum as_status st = accounting_by_cpu(s) ? s->dev->memory->map(s->dev, s->block, err) : AS_OK;
    if (!st)
        st = as_pages_touch(&s->toucher, &span, &unused, err);
    if (st || !accounting_by_cpu(s))
        return st;
    return s->dev->memory->map(s->dev, s->block, err); /* the page size is known by now */
}

/* Only some pages: checking all device memory would take as much host memory. */
static enum as_status accounting_look(struct state *s, struct as_error *err)
{
    const struct as_span span = span_of(s);
    struct as_rng rng;
    enum as_status st = AS_OK;
    as_rng_seed(&rng, s->tc->seed + s->mark);
    for (int i = 0; i < LOOKED_AT && !st; i++) {
        uint64_t page = i ? as_rng_below(&rng, span.pages) : span.pages - 1, got = 0;
        st = s->dev->memory->read(s->dev, s->block, page * s->page, &got, sizeof got, err);
        if (st || got == span.mark + page || s->wrong)
            continue;
        s->wrong = true;
        snprintf(s->wrong_text, sizeof s->wrong_text, "page %llu of %llu does not hold the value written",
                 (unsigned long long)page, (unsigned long long)span.pages);
    }
    return st;
}

static void accounting_release(struct state *s)
{
    if (s->block)
        s->dev->memory->free(s->dev, s->block);
    s->block = NULL;
    if (s->own == OWN_FILE)
        as_accounting_file_release(s->at, s->bytes);
    s->at = NULL;
}

static bool is_of_system(const struct state *s)
{
    return s->counter == COUNTER_AVAILABLE || s->counter == COUNTER_NODES;
}

/* Performs all steps up to `s->moment` and reads the counter at once; then frees all memory. */
static enum as_status accounting_steps(struct state *s, struct as_error *err)
{
    enum as_status st = AS_OK;
    s->mark += s->bytes;
    if (is_of_system(s))
        st = as_accounting_ballast_take(&s->ballast, s->huge, err);
    if (st)
        return st;
    as_counters_read("", s->dev, &s->before);
    if (s->moment != BEFORE)
        st = accounting_allocate(s, err);
    if (!st && s->moment > ALLOCATED)
        st = accounting_touch(s, err);
    s->huge |= !st && s->block && s->block->page_size > s->page;
    if (!st && s->moment == FREED)
        accounting_release(s);
    as_counters_read("", s->dev, &s->after);
    if (!st && (s->moment == CPU_TOUCHED || s->moment == DEVICE_TOUCHED))
        st = accounting_look(s, err);
    accounting_release(s);
    return st;
}

static enum as_status accounting_steps_at(void *user, void *at, struct as_error *err)
{
    struct state *s = user;
    s->at = at;
    return accounting_steps(s, err);
}

static enum as_status accounting_go(struct state *s, struct as_error *err)
{
    if (s->own != OWN_ALLOCA)
        return accounting_steps(s, err);
    const enum as_status st = as_accounting_on_stack(s->bytes, accounting_steps_at, s, err);
    if (!st && s->moment == FREED)
        as_counters_read("", s->dev, &s->after); /* after the frame has returned, when the stack is free again */
    return st;
}

/* At most an eighth of the free memory of device and system. */
static enum as_status choose_bytes(struct state *s, struct as_error *err)
{
    uint64_t free_bytes = 0;
    enum as_status st = as_device_memory_free(s->dev, &free_bytes, err);
    if (st)
        return st;
    s->bytes = as_axes_u64(s->tc->axes, "size");
    s->budget = as_host_memory_available() / 4;
    s->budget = s->budget < BALLAST_MOST ? s->budget : BALLAST_MOST;
    s->bytes = (s->bytes < free_bytes / 8 ? s->bytes : free_bytes / 8) / s->page * s->page;
    const uint64_t stack = s->own == OWN_ALLOCA ? as_accounting_stack_most() : s->bytes;
    s->bytes = s->bytes < stack ? s->bytes : stack;
    if (s->bytes > ROUND)
        s->bytes -= s->bytes % ROUND;
    return s->bytes >= BLOCK_LEAST || s->bytes == as_axes_u64(s->tc->axes, "size")
               ? AS_OK
               : as_fail(err, AS_UNSUPPORTED, "an eighth of the free memory is %llu MiB: too little to measure",
                         (unsigned long long)(free_bytes >> 23));
}

static enum as_status accounting_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    s->tc = tc;
    s->dev = tc->dev;
    s->mark = tc->seed >> 2 | 1;
    s->page = as_host_page();
    s->own = as_accounting_own(as_axes_text(tc->axes, "allocator"));
    s->moment = (enum moment)as_word_index(tc->axes, "step", moment_words);
    s->counter = as_word_index(tc->axes, "counter", as_counter_words);
    tc->min_reps = tc->max_reps = 1;
    enum as_status st = AS_OK;
    if (s->moment > ALLOCATED)
        st = as_pages_prepare(&s->toucher, s->dev, accounting_by_cpu(s) ? 1 : 0, err);
    if (!st)
        st = choose_bytes(s, err);
    tc->footprint = s->bytes;
    as_note_number(tc, "bytes", (double)s->bytes);
    if (!st && is_of_system(s))
        st = as_accounting_ballast_prepare(&s->ballast, s->dev, accounting_by_cpu(s) ? 1 : UINT32_MAX, s->budget, err);
    /* Warm-up: the driver allocates for itself at the first launch, and the ballast empties the lists of pages of this
     * size. */
    return st ? st : accounting_go(s, err);
}

static enum as_status accounting_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    double start = as_now();
    (void)reps;
    enum as_status st = accounting_go(s, err);
    if (st)
        return st;
    if (!isfinite(s->before.bytes[s->counter]) || !isfinite(s->after.bytes[s->counter]))
        return as_fail(err, AS_UNSUPPORTED, "%s", s->after.why[s->counter]);
    out->seconds = as_now() - start;
    out->value = 1 + (s->after.bytes[s->counter] - s->before.bytes[s->counter]) / (double)s->bytes;
    return AS_OK;
}

static bool accounting_check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    if (is_of_system(s))
        as_note_number(s->tc, "ballast", (double)(s->ballast.used[0] + s->ballast.used[1]));
    snprintf(why, why_size, "%s", s->wrong_text);
    return !s->wrong;
}

static void accounting_finish(void *state)
{
    struct state *s = state;
    accounting_release(s);
    as_pages_finish(&s->toucher);
    as_accounting_ballast_finish(&s->ballast);
}

static double accounting_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return 10 + as_compile_patience(info, a) + as_axes_number(a, "size") / 20e6;
}

const struct as_probe as_probe_accounting = {
    .name = "accounting",
    .title = "Memory accounting",
    .question = "Which counter sees memory, and when: at allocation, at first touch, at free?",
    .metric = "in use",
    .unit = "x",
    .counts = "memory in use by this counter, in blocks, starting at 1: 2 if the block is counted, 1 if it is not",
    .not_ahead = true,
    .untimed = true,
    AS_CELLS(axes, quick, full, accounting_applies),
    .patience = accounting_patience,
    AS_TRIAL(struct state, accounting_prepare, accounting_sample, accounting_check, accounting_finish),
};
