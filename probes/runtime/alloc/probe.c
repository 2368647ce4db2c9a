/* alloc: cost of allocation, free, first touch and later touches. See method.md. */
#include "base/host.h"
#include "device/device.h"
#include "lib/checks/checks.h"
#include "touch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 100, WARMUPS = 10, TOUCH_PAGES_MIN = 16 };
static const double BLOCK_S = 0.03;  /* slow calls get fewer chunks per block */
static const double WARMUP_S = 0.02; /* upper bound of the warm-up */

static const char *const op_words[] = {"alloc", "free", "first-touch", "touch-again", "touch-mapped", NULL};
static const struct as_axis axes[] = {
    AS_WORD_AXIS("op", op_words, "alloc",
                 "allocate; free; touch fresh memory; touch recycled memory; touch mapped memory"),
    AS_ALLOCATOR_AXIS("allocator", "all", "how the memory is allocated"),
    AS_SIZE_AXIS("size", 1, 0, "1MiB", "bytes of one block"),
    {0},
};
static const char *const quick[] = {
    "op=alloc,free allocator=pageable,base_pages,huge_pages,reserved_huge_pages size=32,16MiB",
    "op=alloc,free allocator=device,device_pool,managed,pinned size=32,16MiB",
    "op=first-touch,touch-again,touch-mapped allocator=base_pages size=16MiB", NULL};
static const char *const full[] = {
    "op=alloc,free allocator=all size=2,32,512,4KiB,16KiB,32KiB,256KiB,2MiB,16MiB,32MiB,128MiB,256MiB,1GiB",
    "op=first-touch,touch-again,touch-mapped allocator=all size=1MiB,16MiB,256MiB", NULL};

static bool is_touch(const struct as_axes *a)
{
    return strstr(as_axes_text(a, "op"), "touch") != NULL;
}

/* The check holds two blocks at once, for which a small pool of reserved pages may not suffice. */
static double alloc_bytes_needed(const struct as_device_info *info, const struct as_allocator *allocator, double size)
{
    const enum as_role role = allocator ? allocator->role : AS_ROLE_UNKNOWN;
    const double page = (double)as_info_huge_page(info);
    return role == AS_ROLE_RESERVED_HUGE_PAGES || role == AS_ROLE_PAGEABLE_HUGETLB ? 2 * page * ceil(size / page)
                                                                                   : size;
}

static enum as_applies alloc_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    uint64_t size = as_axes_u64(a, "size"), page = info->page_size ? info->page_size : as_host_page();
    if (is_touch(a) && (!(info->capabilities & AS_CAP_HOST_KERNELS) || size < TOUCH_PAGES_MIN * page))
        return AS_PRUNED;
    const char *name = as_axes_text(a, "allocator");
    const struct as_allocator *allocator = as_info_allocator(info, name);
    if (allocator && allocator->why_not[0])
        return as_inapplicable(err, "%s", allocator->why_not);
    if (allocator && allocator->role == AS_ROLE_MANAGED_STATIC)
        return as_inapplicable(err, "'%s' cannot be timed: it is allocated when its module is loaded", name);
    const bool fits = !as_check_block(info, name, (double)size, err) &&
                      !as_check_cap(info, name, alloc_bytes_needed(info, allocator, (double)size), err);
    return fits ? AS_APPLIES : AS_INAPPLICABLE;
}

static bool alloc_untouched(const struct as_axes *a)
{
    return !is_touch(a);
}

struct state {
    struct as_device *dev;
    struct touch *touch; /* for touch ops, which use nothing below */
    const char *allocator;
    uint64_t size;
    size_t count;
    bool frees;
    double timer_s; /* one clock reading, part of each block of chunks */
};

static double timer_cost(void)
{
    enum { READINGS = 1000, ROUNDS = 9 };
    double best = INFINITY;
    for (int r = 0; r < ROUNDS; r++) {
        uint64_t start = as_now_ns(), end = start;
        for (int i = 0; i < READINGS; i++)
            end = as_now_ns();
        best = fmin(best, (double)(end - start) / READINGS);
    }
    return best * 1e-9;
}

/* Memory committed at once must fit; demand-paged memory is only reserved. */
static size_t count_that_fits(const struct as_device_info *info, const struct state *s)
{
    const struct as_allocator *a = as_info_allocator(info, s->allocator);
    uint64_t bound = (a && a->on_demand ? info->memory_bytes * 8 : info->memory_free / 4) / s->size;
    return bound > CHUNKS ? CHUNKS : bound ? (size_t)bound : 1;
}

static enum as_status time_block(struct state *s, double *seconds, struct as_error *err)
{
    double alloc_s, free_s;
    enum as_status st = s->dev->memory->time_alloc(s->dev, s->allocator, s->size, s->count, &alloc_s, &free_s, err);
    *seconds = st ? NAN : alloc_s + free_s;
    return st;
}

/* The cost per chunk depends on their number: a pool's first chunk allocates for later ones. So the number has few
 * values and is equal in all trials. The very first call, which may set up the allocator, is ignored. */
static enum as_status choose_count(struct state *s, size_t most, struct as_error *err)
{
    static const size_t counts[] = {3, 10, 30, CHUNKS};
    double seconds;
    s->count = 1;
    enum as_status st = time_block(s, &seconds, err);
    if (!st)
        st = time_block(s, &seconds, err);
    for (size_t i = 0; i < sizeof counts / sizeof *counts && counts[i] <= most && !st; i++) {
        if (seconds * (double)counts[i] / (double)s->count > BLOCK_S)
            break;
        const size_t before = s->count;
        s->count = counts[i];
        st = time_block(s, &seconds, err);
        if (st == AS_NOMEM) { /* as of reserved pages, which are few */
            s->count = before;
            return AS_OK;
        }
    }
    return st;
}

static enum as_status alloc_warm_up(struct state *s, const struct as_trial_context *tc, struct as_error *err)
{
    double seconds, end = fmin(tc->deadline, as_now() + WARMUP_S);
    enum as_status st = AS_OK;
    for (int i = 0; i < WARMUPS && !st && (i == 0 || as_now() < end); i++)
        st = time_block(s, &seconds, err);
    return st;
}

static enum as_status alloc_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    s->dev = tc->dev;
    tc->host_work = true;
    s->allocator = as_axes_text(tc->axes, "allocator");
    s->size = as_axes_u64(tc->axes, "size");
    if (is_touch(tc->axes))
        return as_alloc_touch_create(tc, as_axes_text(tc->axes, "op"), &s->touch, err);
    if (!s->dev->memory->time_alloc)
        return as_fail(err, AS_UNSUPPORTED, "this backend cannot time its allocators");
    s->frees = as_word_is(tc->axes, "op", "free");
    s->timer_s = timer_cost();
    tc->max_reps = UINT64_C(1) << 20;
    tc->footprint = 0; /* memory is not touched */
    enum as_status st = choose_count(s, count_that_fits(&s->dev->info, s), err);
    if (!st)
        st = alloc_warm_up(s, tc, err);
    as_note_number(tc, "count", (double)s->count);
    as_note_number(tc, "timer_ns", s->timer_s * 1e9);
    return st;
}

static enum as_status alloc_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    if (s->touch)
        return as_alloc_touch_sample(s->touch, out, err);
    double sum = 0;
    for (uint64_t i = 0; i < reps; i++) {
        double alloc_s, free_s;
        enum as_status st = s->dev->memory->time_alloc(s->dev, s->allocator, s->size, s->count, &alloc_s, &free_s, err);
        if (st)
            return st;
        sum += fmax(0, (s->frees ? free_s : alloc_s) - s->timer_s);
        out->seconds += alloc_s + free_s;
    }
    out->value = sum * 1e9 / ((double)reps * (double)s->count);
    return AS_OK;
}

/* Two live blocks keep what is written to their ends: they exist and do not overlap. */
static enum as_status write_and_read(struct state *s, struct as_memory *block[2], bool *same, struct as_error *err)
{
    enum as_status st = AS_OK;
    const uint64_t last = s->size - 1;
    for (int round = 0; round < 2 && !st; round++)
        for (int b = 0; b < 2 && !st; b++) {
            const uint8_t first_byte = (uint8_t)(0x5A + b), last_byte = last ? (uint8_t)(0xC3 + b) : first_byte;
            uint8_t got_first = 0, got_last = 0;
            if (round == 0) {
                st = s->dev->memory->write(s->dev, block[b], 0, &first_byte, 1, err);
                st = st ? st : s->dev->memory->write(s->dev, block[b], last, &last_byte, 1, err);
                continue;
            }
            st = s->dev->memory->read(s->dev, block[b], 0, &got_first, 1, err);
            st = st ? st : s->dev->memory->read(s->dev, block[b], last, &got_last, 1, err);
            *same = *same && got_first == first_byte && got_last == last_byte;
        }
    return st;
}

static bool alloc_check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    if (s->touch)
        return as_alloc_touch_check(s->touch, why, why_size);
    struct as_memory_desc want = {.allocator = s->allocator, .bytes = s->size, .node = -1, .fresh = true};
    struct as_memory *block[2] = {NULL, NULL};
    struct as_error err = {0};
    bool same = true;
    enum as_status st = AS_OK;
    for (int b = 0; b < 2 && !st; b++)
        st = s->dev->memory->alloc(s->dev, &want, &block[b], &err);
    if (!st)
        st = write_and_read(s, block, &same, &err);
    for (int b = 0; b < 2; b++)
        s->dev->memory->free(s->dev, block[b]);
    if (st)
        snprintf(why, why_size, "%s", err.text);
    else if (!same)
        snprintf(why, why_size, "two live blocks do not keep what was written to them");
    return !st && same;
}

static void alloc_finish(void *state)
{
    struct state *s = state;
    as_alloc_touch_destroy(s->touch);
}

static double alloc_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return as_compile_patience(info, a) + (as_word_is(a, "op", "first-touch") ? 15 : 5);
}

static const struct as_metric further[] = {
    {"faults", "faults/page", true, "of touched pages, minor and major ones, as the kernel counts them", NULL},
    {"major_faults", "faults/page", true, "the major ones of these", NULL},
    {0},
};

const struct as_probe as_probe_alloc = {
    .name = "alloc",
    .title = "Allocation and first touch",
    .question = "What do allocation, free and first touch of memory cost?",
    .metric = "time",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "alloc and free: one call of up to 100 in a row, memory not touched; touches: one base page, by one "
              "store of one thread",
    .further = further,
    .varies_by_process = true,
    AS_CELLS(axes, quick, full, alloc_applies),
    .untouched = alloc_untouched,
    .patience = alloc_patience,
    AS_TRIAL(struct state, alloc_prepare, alloc_sample, alloc_check, alloc_finish),
};
