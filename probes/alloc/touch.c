/* The three kinds of touching. What tells them apart is where the pages come from:
 *   first-touch   blocks that are held, so that each block takes memory which this process never had;
 *   touch-again   a block that is freed and mapped anew, so that the kernel hands out pages which it has just taken
 * back; touch-mapped  one block, touched before: no fault, the control. */
#include "touch.h"

#include "../common/pages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MIN = 3 };
static const uint64_t HELD_MAX = UINT64_C(2) << 30;

struct touch {
    struct as_visit_context *vc;
    struct as_device *dev;
    struct as_pages toucher;
    const struct touch_op *op;
    struct as_memory **held; /* all blocks of this visit; the last one is the block of the last sample */
    size_t held_n, held_cap;
    struct as_memory *ballast;
    uint64_t size, page, pages, limit; /* limit: bytes that may be held */
    uint64_t mark;                     /* what the last sample wrote into page i is mark + i */
    double faults, touched;            /* totals of the samples */
};

struct touch_op {
    const char *name;
    enum as_status (*start)(struct touch *t, struct as_error *err);
    enum as_status (*before)(struct touch *t, struct as_error *err); /* each sample, not timed */
};

static enum as_status add_block(struct touch *t, struct as_error *err)
{
    struct as_memory_desc want = {
        .allocator = as_axes_text(t->vc->axes, "allocator"), .bytes = t->size, .node = -1, .fresh = true};
    enum as_status s = as_grow((void **)&t->held, &t->held_cap, t->held_n + 1, sizeof(struct as_memory *), err);
    if (!s)
        s = t->dev->memory->alloc(t->dev, &want, &t->held[t->held_n], err);
    if (s)
        return s;
    t->held_n++;
    return t->dev->memory->map(t->dev, t->held[t->held_n - 1], err);
}

static void drop_blocks(struct touch *t)
{
    while (t->held_n)
        t->dev->memory->free(t->dev, t->held[--t->held_n]);
}

static struct as_span last_span(const struct touch *t)
{
    return (struct as_span){.memory = t->held[t->held_n - 1], .pages = t->pages, .mark = t->mark};
}

static enum as_status touch_last(struct touch *t, double *seconds, struct as_error *err)
{
    t->mark += t->pages;
    const struct as_span span = last_span(t);
    return as_pages_touch(&t->toucher, &span, seconds, err);
}

static enum as_status first_start(struct touch *t, struct as_error *err)
{
    uint64_t free_bytes = 0;
    enum as_status s = t->dev->device->memory_free(t->dev, &free_bytes, err);
    if (!s)
        s = as_take_ballast(t->vc, &t->toucher, &t->ballast, err);
    if (s)
        return s;
    t->limit = free_bytes / 4 < HELD_MAX ? free_bytes / 4 : HELD_MAX;
    if (t->limit < BLOCKS_MIN * t->size)
        t->limit = BLOCKS_MIN * t->size;
    if (t->limit > free_bytes / 2)
        return as_fail(err, AS_UNSUPPORTED, "%d blocks of %llu MiB do not fit into half of the free memory", BLOCKS_MIN,
                       (unsigned long long)(t->size >> 20));
    return AS_OK;
}

/* Blocks are held until the visit ends, since a block that was touched before would be another measurement. With the
 * last one that may be taken the visit is over. */
static enum as_status first_before(struct touch *t, struct as_error *err)
{
    if (t->limit < (t->held_n + 1) * t->size)
        return as_fail(err, AS_TIMEOUT, "no memory is left that this process never had: %zu blocks are held",
                       t->held_n);
    return add_block(t, err);
}

static enum as_status again_start(struct touch *t, struct as_error *err)
{
    double unused;
    enum as_status s = add_block(t, err);
    return s ? s : touch_last(t, &unused, err);
}

static enum as_status again_before(struct touch *t, struct as_error *err)
{
    drop_blocks(t);
    return add_block(t, err);
}

static const struct touch_op ops[] = {
    {"first-touch", first_start, first_before},
    {"touch-again", again_start, again_before},
    {"touch-mapped", again_start, NULL},
};

enum as_status touch_create(struct as_visit_context *vc, const char *op, struct touch **out, struct as_error *err)
{
    struct touch *t = *out = calloc(1, sizeof *t);
    if (!t)
        return as_nomem(err, sizeof *t, "alloc");
    t->vc = vc;
    t->dev = vc->dev;
    t->page = as_host_page();
    t->size = as_axes_u64(vc->axes, "size") / t->page * t->page;
    t->pages = t->size / t->page;
    t->mark = vc->seed >> 1;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(op, ops[i].name) == 0)
            t->op = &ops[i];
    vc->footprint = t->size;
    vc->min_reps = vc->max_reps = 1;
    as_note_number(vc, "pages", (double)t->pages);
    enum as_status s = as_pages_prepare(&t->toucher, t->dev, 1, err);
    return s ? s : t->op->start(t, err);
}

enum as_status touch_sample(struct touch *t, struct as_sample *out, struct as_error *err)
{
    double seconds;
    enum as_status s = t->op->before ? t->op->before(t, err) : AS_OK;
    if (s)
        return s;
    double faults = as_minor_faults();
    s = touch_last(t, &seconds, err);
    if (s)
        return s;
    t->faults += as_minor_faults() - faults;
    t->touched += (double)t->pages;
    out->seconds = seconds;
    out->value = seconds * 1e9 / (double)t->pages;
    return AS_OK;
}

bool touch_check(struct touch *t, char *why, size_t why_size)
{
    struct as_memory *m = t->held[t->held_n - 1];
    as_note_number(t->vc, "faults_per_page", t->touched > 0 ? t->faults / t->touched : NAN);
    as_note_number(t->vc, "page_size", (double)m->page_size);
    const struct as_span span = last_span(t);
    return as_pages_hold(&t->toucher, &span, why, why_size);
}

void touch_destroy(struct touch *t)
{
    if (!t)
        return;
    drop_blocks(t);
    free(t->held);
    t->dev->memory->free(t->dev, t->ballast);
    as_pages_finish(&t->toucher);
    free(t);
}
