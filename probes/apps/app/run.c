#include "app.h"

#include "base/clock.h"
#include "device/host.h"
#include "os/memory.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, GROUPS = 16 /* per compute unit */, GROUP_THREADS = 256 };

static const double WHOLE = 0.75; /* counters are not exact, and the last array may be freed before it is full */

uint64_t as_app_side(uint64_t cells)
{
    uint64_t side = 1;
    while ((side + 1) * (side + 1) <= cells)
        side++;
    return side;
}

static bool app_is_used(const struct app_run *r, size_t k)
{
    return r->arrays[k].bytes > 0;
}

static void app_watch(struct app_run *r)
{
    if (r->samples && !r->status)
        as_samples_step(r->samples);
}

const char *as_app_allocator(const struct as_device_info *info, enum as_role role)
{
    for (size_t i = 0; i < info->allocators_n; i++)
        if (info->allocators[i].role == role && !info->allocators[i].why_not[0])
            return info->allocators[i].name;
    return NULL;
}

bool as_app_peak_is_whole(const struct app_run *r, double rise)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < APP_ARRAYS_MAX; k++)
        bytes += r->arrays[k].bytes * (r->unified || r->arrays[k].scratch ? 1 : 2);
    return rise >= WHOLE * (double)bytes;
}

/* As a program does that chooses its problem by what is free: of the driver's count and the system's. */
static void app_check_memory(struct app_run *r)
{
    uint64_t free_bytes = 0, wanted = 0;
    r->status = as_device_memory_free(r->dev, &free_bytes, r->err);
    const uint64_t of_host = as_host_memory_available(), least = free_bytes < of_host ? free_bytes : of_host;
    for (size_t k = 0; k < APP_ARRAYS_MAX; k++)
        wanted += r->arrays[k].bytes;
    if (r->status || wanted <= least)
        return;
    struct as_buf needs = AS_BUF_INIT, has = AS_BUF_INIT;
    as_format_sizes(&needs, wanted, &has, least);
    r->status =
        as_fail(r->err, AS_NOMEM, "the application needs %s, and %s are free", as_buf_get(&needs), as_buf_get(&has));
    as_buf_finish(&needs);
    as_buf_finish(&has);
}

/* Its pages come at first touch, as in a program that has just started: the heap may return used ones. */
static void *app_host_array(struct app_run *r, uint64_t bytes)
{
    const size_t whole = (size_t)((bytes + PAGE - 1) / PAGE * PAGE);
    void *host = aligned_alloc(PAGE, whole);
    if (host)
        as_drop_pages(host, whole);
    else
        r->status = as_nomem(r->err, (size_t)bytes, "an array of the host");
    return host;
}

/* NULL after a failure */
static struct as_memory *app_memory(struct app_run *r, const struct app_array *a, uint64_t bytes)
{
    const struct as_memory_desc desc = {.allocator = a->on_stack ? as_app_allocator(&r->dev->info, AS_ROLE_PAGEABLE)
                                                                 : r->allocator,
                                        .bytes = bytes,
                                        .node = -1,
                                        .fresh = true,
                                        .at = a->on_stack ? r->stack : a->at};
    struct as_memory *out = NULL;
    if (!desc.allocator)
        r->status = as_fail(r->err, AS_UNSUPPORTED, "kernels cannot access the host's stack");
    else
        r->status = r->dev->memory->alloc(r->dev, &desc, &out, r->err);
    return out;
}

static uint64_t app_aligned(uint64_t bytes)
{
    return (bytes + APP_STATIC_ALIGN - 1) / APP_STATIC_ALIGN * APP_STATIC_ALIGN;
}

/* A program's static variables come with its one module: all arrays are parts of one block. */
static void app_load_statics(struct app_run *r)
{
    struct as_memory_desc desc = {.allocator = r->allocator, .node = -1, .fresh = true};
    for (size_t k = 0; k < APP_ARRAYS_MAX; k++)
        desc.bytes += app_aligned(r->arrays[k].bytes);
    r->status = r->dev->memory->alloc(r->dev, &desc, &r->statics, r->err);
    if (!r->status)
        r->status = r->dev->memory->map(r->dev, r->statics, r->err);
    if (!r->status && !r->statics->host)
        r->status = as_fail(r->err, AS_FAILED, "the CPU has no address of the static variables");
    char *at = r->status ? NULL : r->statics->host;
    if (!r->status)
        r->status = r->dev->memory->unmap(r->dev, r->statics, r->err);
    for (size_t k = 0; k < APP_ARRAYS_MAX && at; k++) {
        r->arrays[k].at = at;
        at += app_aligned(r->arrays[k].bytes);
    }
}

static void app_allocate(struct app_run *r)
{
    if (r->strategy == APP_STATIC)
        app_load_statics(r);
    for (size_t k = 0; k < APP_ARRAYS_MAX && !r->status; k++) {
        struct app_array *a = &r->arrays[k];
        if (!app_is_used(r, k))
            continue;
        a->held = a->first_bytes ? a->first_bytes : a->bytes;
        a->memory = app_memory(r, a, r->unified ? a->held : a->bytes);
        if (!r->status && !r->unified && !a->scratch)
            a->host = app_host_array(r, a->held);
    }
}

static void app_unmap(struct app_run *r)
{
    for (size_t k = 0; r->unified && k < APP_ARRAYS_MAX; k++) {
        struct app_array *a = &r->arrays[k];
        if (!a->host)
            continue;
        const enum as_status st = r->dev->memory->unmap(r->dev, a->memory, r->err);
        r->status = r->status ? r->status : st;
        a->host = NULL;
    }
}

static void app_free(struct app_run *r)
{
    app_unmap(r);
    for (size_t k = 0; k < APP_ARRAYS_MAX; k++) {
        free(r->arrays[k].host);
        r->dev->memory->free(r->dev, r->arrays[k].memory);
        r->arrays[k].host = NULL;
        r->arrays[k].memory = NULL;
        r->arrays[k].at = NULL;
    }
    r->dev->memory->free(r->dev, r->statics);
    r->statics = NULL;
}

void *as_app_host(struct app_run *r, size_t array)
{
    struct app_array *a = &r->arrays[array];
    if (r->unified && !a->host && !r->status) {
        const double start = as_now();
        r->status = r->dev->memory->map(r->dev, a->memory, r->err);
        r->spent[APP_TRANSFER] += as_now() - start;
        a->host = r->status ? NULL : a->memory->host;
        if (!r->status && !a->host)
            r->status = as_fail(r->err, AS_UNSUPPORTED, "the CPU cannot access this memory");
    }
    return r->status ? NULL : a->host;
}

void as_app_grow(struct app_run *r, size_t array, uint64_t bytes)
{
    struct app_array *a = &r->arrays[array];
    const void *from = as_app_host(r, array);
    const struct app_array old = *a;
    if (!from)
        return;
    a->host = r->unified ? NULL : app_host_array(r, bytes);
    if (r->unified)
        a->memory = app_memory(r, a, bytes);
    void *to = as_app_host(r, array);
    if (to)
        memcpy(to, from, (size_t)old.held);
    a->held = bytes;
    app_watch(r); /* both are there */
    if (!r->unified)
        free(old.host);
    else {
        (void)r->dev->memory->unmap(r->dev, old.memory, NULL);
        r->dev->memory->free(r->dev, old.memory);
    }
}

void as_app_upload(struct app_run *r, size_t array, uint64_t at, uint64_t bytes)
{
    const struct app_array *a = &r->arrays[array];
    if (r->unified || r->status)
        return;
    const double start = as_now();
    r->status = r->dev->memory->write(r->dev, a->memory, at, (const char *)a->host + at, bytes, r->err);
    r->spent[APP_TRANSFER] += as_now() - start;
    app_watch(r);
}

void as_app_download(struct app_run *r, size_t array, uint64_t at, uint64_t bytes)
{
    const struct app_array *a = &r->arrays[array];
    if (r->unified || r->status)
        return;
    const double start = as_now();
    r->status = r->dev->memory->read(r->dev, a->memory, at, (char *)a->host + at, bytes, r->err);
    r->spent[APP_TRANSFER] += as_now() - start;
    app_watch(r);
}

/* A thread of a CPU runs the work-items of a group one after the other: with many, each would stride over memory. */
static struct as_launch app_launch_of(const struct app_run *r, size_t kernel, const struct as_arg *args, size_t n)
{
    const struct as_device_info *info = &r->dev->info;
    const size_t units = info->compute_units ? info->compute_units : 1,
                 size = info->threads && info->threads < GROUP_THREADS ? info->threads : GROUP_THREADS;
    return info->is_host_cpu ? as_launch_of(r->kernels[kernel], args, n, units, 1)
                             : as_launch_of(r->kernels[kernel], args, n, GROUPS * units, size);
}

/* Gives the arrays to the device. */
static void app_hand_over(struct app_run *r)
{
    const double start = as_now();
    app_unmap(r);
    r->spent[APP_TRANSFER] += as_now() - start;
}

void as_app_launch(struct app_run *r, size_t kernel, const struct as_arg *args, size_t n)
{
    const struct as_launch l = app_launch_of(r, kernel, args, n);
    struct as_timing unused;
    app_hand_over(r);
    const double start = as_now();
    if (!r->status)
        r->status = r->dev->queue->launch(r->dev, &l, &unused, r->err);
    r->spent[APP_KERNEL] += as_now() - start;
    app_watch(r);
}

static bool app_may_overlap(const struct app_run *r)
{
    const struct as_allocator *allocator = as_info_allocator(&r->dev->info, r->allocator);
    return (r->dev->info.capabilities & AS_CAP_ASYNC) && (!r->unified || (allocator && allocator->coherent));
}

void as_app_submit(struct app_run *r, size_t kernel, const struct as_arg *args, size_t n)
{
    const struct as_launch l = app_launch_of(r, kernel, args, n);
    if (!app_may_overlap(r)) {
        as_app_launch(r, kernel, args, n);
        return;
    }
    app_hand_over(r);
    const double start = as_now();
    if (!r->status)
        r->status = r->dev->queue->submit(r->dev, &l, r->err);
    r->running = !r->status;
    r->spent[APP_KERNEL] += as_now() - start;
}

void as_app_wait(struct app_run *r)
{
    const double start = as_now();
    if (!r->running)
        return;
    const enum as_status st = r->dev->queue->wait(r->dev, AS_WAIT_BLOCK, r->err);
    r->status = r->status ? r->status : st;
    r->running = false;
    r->spent[APP_KERNEL] += as_now() - start;
    app_watch(r);
}

/* A part of the run, whose transfers count as such. */
static void app_spend(struct app_run *r, enum app_phase phase, void (*part)(struct app_run *r))
{
    const double start = as_now(), transfers = r->spent[APP_TRANSFER];
    part(r);
    r->spent[phase] += as_now() - start - (phase == APP_COMPUTE ? 0 : r->spent[APP_TRANSFER] - transfers);
}

enum as_status as_app_run(struct app_run *r, struct as_error *err)
{
    char stack[APP_STACK_BYTES] = {0};
    r->status = AS_OK;
    r->err = err;
    r->stack = stack;
    memset(r->spent, 0, sizeof r->spent);
    if (r->strategy == APP_MEMORY_CHECK)
        app_check_memory(r);
    if (!r->status)
        app_spend(r, APP_ALLOCATE, app_allocate);
    if (!r->status)
        app_spend(r, APP_INPUT, r->app->input);
    app_watch(r);
    if (!r->status)
        app_spend(r, APP_COMPUTE, r->app->compute);
    if (!r->status)
        app_spend(r, APP_OUTPUT, r->app->output);
    app_watch(r);
    app_spend(r, APP_FREE, app_free);
    return r->status;
}
