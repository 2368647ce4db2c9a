/* The three kinds of touching. What tells them apart is where the pages come from:
 *   first-touch   blocks that are held, so that each block takes memory which this process never had;
 *   touch-again   a block that is freed and mapped anew, so that the kernel hands out pages which it has just taken
 * back; touch-mapped  one block, touched before: no fault, the control. */
#include "touch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BLOCKS_MIN = 3 };
static const uint64_t HELD_MAX = UINT64_C(2) << 30;

struct touch {
    struct as_visit_context *vc;
    struct as_device *dev;
    struct as_program *program;
    struct as_kernel *kernel;
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

/* args: memory, bytes of a page, number of pages, mark */
static void touch_pages(const struct as_host_call *call)
{
    char *at = call->args[0];
    uint64_t page = *(const uint64_t *)call->args[1], pages = *(const uint64_t *)call->args[2],
             mark = *(const uint64_t *)call->args[3];
    for (uint64_t i = 0; i < pages; i++)
        *(volatile uint64_t *)(void *)(at + i * page) = mark + i;
}
static const struct as_host_kernel host_kernels[] = {{"touch", touch_pages}, {NULL, NULL}};

static double minor_faults(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) ? NAN : (double)u.ru_minflt;
}

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

static enum as_status touch_memory(struct touch *t, struct as_memory *memory, uint64_t pages, struct as_timing *timing,
                                   struct as_error *err)
{
    struct as_arg args[4] = {{.kind = AS_ARG_MEMORY, .u.memory = memory},
                             {.kind = AS_ARG_U64, .u.u64 = t->page},
                             {.kind = AS_ARG_U64, .u.u64 = pages},
                             {.kind = AS_ARG_U64, .u.u64 = t->mark}};
    struct as_launch launch = {.kernel = t->kernel,
                               .args = args,
                               .args_n = 4,
                               .groups = 1,
                               .group_size = 1,
                               .reps = 1,
                               .work = {.accesses = (double)pages, .footprint = (double)memory->bytes}};
    return t->dev->queue->launch(t->dev, &launch, timing, err);
}

static enum as_status touch_last(struct touch *t, struct as_timing *timing, struct as_error *err)
{
    t->mark += t->pages;
    return touch_memory(t, t->held[t->held_n - 1], t->pages, timing, err);
}

/* "VmHWM:  1234 kB" of this process, in bytes; 0 when it cannot be read */
static uint64_t own_memory(const char *field)
{
    struct as_buf b = AS_BUF_INIT;
    unsigned long long kib = 0;
    const char *at;
    if (as_buf_read_file(&b, "/proc/self/status", 65536, NULL) || !(at = strstr(as_buf_get(&b), field)) ||
        sscanf(at + strlen(field), ": %llu", &kib) != 1)
        kib = 0;
    as_buf_finish(&b);
    return (uint64_t)kib << 10;
}

/* Pages that this process gave back come first when it asks again. As much as it ever had is taken and touched, so
 * that what comes after is new to it. */
static enum as_status take_ballast(struct touch *t, uint64_t free_bytes, struct as_error *err)
{
    uint64_t peak = own_memory("VmHWM"), now = own_memory("VmRSS"), bytes = peak > now ? peak - now : 0;
    bytes -= bytes % t->page;
    as_note_number(t->vc, "ballast", (double)bytes);
    if (bytes == 0)
        return AS_OK;
    if (bytes > free_bytes / 4)
        return as_fail(err, AS_UNSUPPORTED,
                       "this process had %llu MiB before; going beyond them takes more than a quarter of the free "
                       "memory (measure this probe alone: assay run alloc)",
                       (unsigned long long)(bytes >> 20));
    struct as_memory_desc want = {
        .allocator = t->dev->info.allocators[0].name, .bytes = bytes, .node = -1, .fresh = true};
    struct as_timing unused;
    enum as_status s = t->dev->memory->alloc(t->dev, &want, &t->ballast, err);
    if (!s)
        s = t->dev->memory->map(t->dev, t->ballast, err);
    return s ? s : touch_memory(t, t->ballast, bytes / t->page, &unused, err);
}

static enum as_status first_start(struct touch *t, struct as_error *err)
{
    uint64_t free_bytes = 0;
    enum as_status s = t->dev->device->memory_free(t->dev, &free_bytes, err);
    if (!s)
        s = take_ballast(t, free_bytes, err);
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
    struct as_timing unused;
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
    struct as_program_desc desc = {.name = "alloc", .host = host_kernels};
    struct touch *t = *out = calloc(1, sizeof *t);
    if (!t)
        return as_nomem(err, sizeof *t, "alloc");
    t->vc = vc;
    t->dev = vc->dev;
    t->page = vc->dev->info.page_size ? vc->dev->info.page_size : 4096;
    t->size = as_axes_u64(vc->axes, "size") / t->page * t->page;
    t->pages = t->size / t->page;
    t->mark = vc->seed >> 1;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(op, ops[i].name) == 0)
            t->op = &ops[i];
    vc->footprint = t->size;
    vc->min_reps = vc->max_reps = 1;
    as_note_number(vc, "pages", (double)t->pages);
    enum as_status s = t->dev->program->build(t->dev, &desc, &t->program, err);
    if (!s)
        s = t->dev->program->kernel(t->dev, t->program, "touch", &t->kernel, err);
    return s ? s : t->op->start(t, err);
}

enum as_status touch_sample(struct touch *t, struct as_sample *out, struct as_error *err)
{
    struct as_timing timing;
    enum as_status s = t->op->before ? t->op->before(t, err) : AS_OK;
    if (s)
        return s;
    double faults = minor_faults();
    s = touch_last(t, &timing, err);
    if (s)
        return s;
    t->faults += minor_faults() - faults;
    t->touched += (double)t->pages;
    out->seconds = timing.host_s;
    out->value = timing.host_s * 1e9 / (double)t->pages;
    return AS_OK;
}

bool touch_check(struct touch *t, char *why, size_t why_size)
{
    struct as_memory *m = t->held[t->held_n - 1];
    as_note_number(t->vc, "faults_per_page", t->touched > 0 ? t->faults / t->touched : NAN);
    as_note_number(t->vc, "page_size", (double)m->page_size);
    for (uint64_t i = 0; i < t->pages; i++) {
        uint64_t got;
        memcpy(&got, (const char *)m->host + i * t->page, sizeof got);
        if (got == t->mark + i)
            continue;
        snprintf(why, why_size, "page %llu of %llu does not hold what was written", (unsigned long long)i,
                 (unsigned long long)t->pages);
        return false;
    }
    return true;
}

void touch_destroy(struct touch *t)
{
    if (!t)
        return;
    drop_blocks(t);
    free(t->held);
    t->dev->memory->free(t->dev, t->ballast);
    t->dev->program->kernel_destroy(t->dev, t->kernel);
    t->dev->program->destroy(t->dev, t->program);
    free(t);
}
