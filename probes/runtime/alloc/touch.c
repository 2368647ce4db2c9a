/* The three kinds of touch differ in the source of the pages.
 *
 * first-touch: blocks stay allocated, so each gets memory that is new to this process.
 *
 * touch-again: a block is freed and mapped again, so that the kernel reuses recently freed pages.
 *
 * touch-mapped: one block, touched before: no fault, the control. */
#include "touch.h"

#include "base/host.h"
#include "lib/pages/fresh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t HELD_MAX = UINT64_C(2) << 30;

struct touch {
    struct as_trial_context *tc;
    struct as_device *dev;
    struct as_pages toucher;
    const struct touch_op *op;
    struct as_fresh blocks; /* blocks of this trial; the last one belongs to the last sample */
    uint64_t page, pages;
    uint64_t mark;                /* the last sample wrote mark + i into page i */
    struct as_fault_count faults; /* totals of the samples */
    double touched;
};

struct touch_op {
    const char *name;
    enum as_status (*start)(struct touch *t, struct as_error *err);
    enum as_status (*before)(struct touch *t, struct as_error *err); /* per sample, untimed */
};

static struct as_span alloc_last_span(const struct touch *t)
{
    return (struct as_span){.memory = as_fresh_last(&t->blocks), .pages = t->pages, .mark = t->mark};
}

static enum as_status touch_last(struct touch *t, double *seconds, struct as_error *err)
{
    t->mark += t->pages;
    const struct as_span span = alloc_last_span(t);
    return as_pages_touch(&t->toucher, &span, seconds, err);
}

static enum as_status first_start(struct touch *t, struct as_error *err)
{
    return as_fresh_never_had(&t->blocks, t->tc, &t->toucher, HELD_MAX, err);
}

/* Blocks stay allocated until the trial ends, so that no memory is reused. The trial ends when no more may be
 * allocated. */
static enum as_status first_before(struct touch *t, struct as_error *err)
{
    return as_fresh_add_never_had(&t->blocks, err);
}

static enum as_status again_start(struct touch *t, struct as_error *err)
{
    double unused;
    enum as_status st = as_fresh_add(&t->blocks, err);
    return st ? st : touch_last(t, &unused, err);
}

static enum as_status again_before(struct touch *t, struct as_error *err)
{
    as_fresh_drop(&t->blocks);
    return as_fresh_add(&t->blocks, err);
}

static const struct touch_op ops[] = {
    {"first-touch", first_start, first_before},
    {"touch-again", again_start, again_before},
    {"touch-mapped", again_start, NULL},
};

enum as_status as_alloc_touch_create(struct as_trial_context *tc, const char *op, struct touch **out,
                                     struct as_error *err)
{
    struct touch *t = *out = calloc(1, sizeof *t);
    if (!t)
        return as_nomem(err, sizeof *t, "alloc");
    t->tc = tc;
    t->dev = tc->dev;
    t->page = as_host_page();
    t->pages = as_axes_u64(tc->axes, "size") / t->page;
    t->blocks = (struct as_fresh){
        .dev = t->dev, .allocator = as_axes_text(tc->axes, "allocator"), .bytes = t->pages * t->page, .map = true};
    t->mark = tc->seed >> 1;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(op, ops[i].name) == 0)
            t->op = &ops[i];
    tc->footprint = t->blocks.bytes;
    tc->min_reps = tc->max_reps = 1;
    as_note_number(tc, "pages", (double)t->pages);
    enum as_status st = as_pages_prepare(&t->toucher, t->dev, 1, err);
    return st ? st : t->op->start(t, err);
}

enum as_status as_alloc_touch_sample(struct touch *t, struct as_sample *out, struct as_error *err)
{
    double seconds;
    enum as_status st = t->op->before ? t->op->before(t, err) : AS_OK;
    if (st)
        return st;
    const struct as_fault_count before = as_faults_now();
    st = touch_last(t, &seconds, err);
    if (st)
        return st;
    as_faults_add(&t->faults, before);
    t->touched += (double)t->pages;
    out->seconds = seconds;
    out->value = seconds * 1e9 / (double)t->pages;
    return AS_OK;
}

bool as_alloc_touch_check(struct touch *t, char *why, size_t why_size)
{
    const struct as_memory *m = as_fresh_last(&t->blocks);
    as_note_number(t->tc, "faults", t->touched > 0 ? as_faults_total(&t->faults) / t->touched : NAN);
    as_note_number(t->tc, "major_faults", t->touched > 0 ? t->faults.major / t->touched : NAN);
    as_note_number(t->tc, "page_size", (double)m->page_size);
    const struct as_span span = alloc_last_span(t);
    return as_pages_hold(&t->toucher, &span, why, why_size);
}

void as_alloc_touch_destroy(struct touch *t)
{
    if (!t)
        return;
    as_fresh_finish(&t->blocks);
    as_pages_finish(&t->toucher);
    free(t);
}
