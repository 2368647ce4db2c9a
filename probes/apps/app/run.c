#include "app.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, GROUPS = 16 /* per compute unit */, GROUP_THREADS = 256 };

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
    if (r->watch && !r->status)
        r->watch(r);
}

static void app_allocate(struct app_run *r)
{
    for (size_t k = 0; k < APP_ARRAYS_MAX && !r->status; k++) {
        struct app_array *a = &r->arrays[k];
        const struct as_memory_desc desc = {.allocator = r->allocator, .bytes = a->bytes, .node = -1, .fresh = true};
        if (!app_is_used(r, k))
            continue;
        r->status = r->dev->memory->alloc(r->dev, &desc, &a->memory, r->err);
        if (r->status || r->unified || a->scratch)
            continue;
        a->host = aligned_alloc(PAGE, (size_t)((a->bytes + PAGE - 1) / PAGE * PAGE));
        if (!a->host)
            r->status = as_nomem(r->err, (size_t)a->bytes, "an array of the host");
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
    }
}

void *as_app_host(struct app_run *r, size_t array)
{
    struct app_array *a = &r->arrays[array];
    if (r->unified && !a->host && !r->status) {
        const double start = as_now();
        r->status = r->dev->memory->map(r->dev, a->memory, r->err);
        r->transfer_s += as_now() - start;
        a->host = r->status ? NULL : a->memory->host;
        if (!r->status && !a->host)
            r->status = as_fail(r->err, AS_UNSUPPORTED, "the CPU cannot access this memory");
    }
    return r->status ? NULL : a->host;
}

void as_app_upload(struct app_run *r, size_t array, uint64_t at, uint64_t bytes)
{
    const struct app_array *a = &r->arrays[array];
    if (r->unified || r->status)
        return;
    const double start = as_now();
    r->status = r->dev->memory->write(r->dev, a->memory, at, (const char *)a->host + at, bytes, r->err);
    r->transfer_s += as_now() - start;
    app_watch(r);
}

void as_app_download(struct app_run *r, size_t array, uint64_t at, uint64_t bytes)
{
    const struct app_array *a = &r->arrays[array];
    if (r->unified || r->status)
        return;
    const double start = as_now();
    r->status = r->dev->memory->read(r->dev, a->memory, at, (char *)a->host + at, bytes, r->err);
    r->transfer_s += as_now() - start;
    app_watch(r);
}

static struct as_launch app_launch_of(const struct app_run *r, size_t kernel, const struct as_arg *args, size_t n)
{
    const struct as_device_info *info = &r->dev->info;
    const size_t size = info->threads && info->threads < GROUP_THREADS ? info->threads : GROUP_THREADS;
    return as_launch_of(r->kernels[kernel], args, n, (size_t)GROUPS * (info->compute_units ? info->compute_units : 1),
                        size);
}

/* Gives the arrays to the device. */
static void app_hand_over(struct app_run *r)
{
    const double start = as_now();
    app_unmap(r);
    r->transfer_s += as_now() - start;
}

void as_app_launch(struct app_run *r, size_t kernel, const struct as_arg *args, size_t n)
{
    const struct as_launch l = app_launch_of(r, kernel, args, n);
    struct as_timing unused;
    app_hand_over(r);
    const double start = as_now();
    if (!r->status)
        r->status = r->dev->queue->launch(r->dev, &l, &unused, r->err);
    r->kernel_s += as_now() - start;
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
    r->kernel_s += as_now() - start;
}

void as_app_wait(struct app_run *r)
{
    const double start = as_now();
    if (!r->running)
        return;
    const enum as_status st = r->dev->queue->wait(r->dev, AS_WAIT_BLOCK, r->err);
    r->status = r->status ? r->status : st;
    r->running = false;
    r->kernel_s += as_now() - start;
    app_watch(r);
}

enum as_status as_app_run(struct app_run *r, struct as_error *err)
{
    r->status = AS_OK;
    r->err = err;
    r->transfer_s = r->kernel_s = 0;
    app_allocate(r);
    if (!r->status)
        r->app->input(r);
    app_watch(r);
    const double start = as_now();
    if (!r->status)
        r->app->compute(r);
    r->compute_s = as_now() - start;
    if (!r->status)
        r->app->output(r);
    app_watch(r);
    app_free(r);
    return r->status;
}
