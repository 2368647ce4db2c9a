/* Usable allocators and their size limits. */
#include "device/gpu/memory.h"

#include "base/text.h"
#include "device/backing.h"
#include "device/host.h"
#include "device/host_limits.h"

#include <stdio.h>
#include <string.h>

#define LEFT_ALONE (UINT64_C(256) << 20) /* for contexts, other processes and the display */
enum { HOST_LEFT_ALONE = 8 };            /* an eighth of the host's available memory stays free of evicted pages */

uint64_t as_gpu_round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

void as_gpu_say_no_pages(const struct as_gpu_allocator *how, struct as_allocator *out)
{
    const char *none = how->pages == AS_GPU_POOL_PAGES ? as_backing_pool_limit()
                       : how->pages == AS_GPU_HUGE_PAGES && !as_backing_huge_page()
                           ? "this process gets no transparent huge pages"
                           : NULL;
    if (none && !out->why_not[0])
        as_copy_text(out->why_not, sizeof out->why_not, none);
}

/* s with "<api>: requested 200 GiB<before>139 GiB<after>" */
static enum as_status too_much(enum as_status st, const char *api, uint64_t bytes, const char *before, uint64_t limit,
                               const char *after, struct as_error *err)
{
    struct as_buf requested = AS_BUF_INIT, most = AS_BUF_INIT;
    as_format_sizes(&requested, bytes, &most, limit);
    st = as_fail(err, st, "%s: requested %s%s%s%s", api, as_buf_get(&requested), before, as_buf_get(&most), after);
    as_buf_finish(&requested);
    as_buf_finish(&most);
    return st;
}

enum as_status as_gpu_check_host(const char *api, uint64_t bytes, struct as_error *err)
{
    uint64_t half = as_host_memory_available() / 2;
    struct as_host_limits limits;
    char text[256] = "", after[320];
    if (bytes <= half)
        return AS_OK;
    if (as_host_limits_now(&limits, NULL) == AS_OK)
        as_host_limits_memory_text(&limits, text, sizeof text);
    snprintf(after, sizeof after, " are half of the host memory that is available%s%s", text[0] ? "; " : "", text);
    return too_much(AS_NOMEM, api, bytes, ", ", half, after, err);
}

static bool is_managed(const struct as_gpu_allocator *how)
{
    return how->most && (how->sources & AS_GPU_FROM_HOST);
}

/* Does the driver move its pages, and evict others for them? */
static bool limits_migrates(const struct as_gpu *gpu, const struct as_gpu_allocator *how)
{
    return is_managed(how) && !gpu->in_host_memory && !(gpu->keeps_pages && !how->settle);
}

/* Managed memory may lie on both sides, and evicts other pages. */
static uint64_t most_managed(uint64_t free)
{
    uint64_t host = as_host_memory_available();
    return (free < host ? free : host) / 10;
}

static enum as_status check_managed(const char *api, uint64_t bytes, uint64_t free, struct as_error *err)
{
    uint64_t most = most_managed(free);
    return bytes <= most ? AS_OK
                         : too_much(AS_UNSUPPORTED, api, bytes,
                                    "; managed memory is capped at a tenth of what is free, ", most, "", err);
}

/* The pool is apart from the host's available memory. */
static enum as_status check_pool(const char *api, uint64_t bytes, uint64_t count, struct as_error *err)
{
    const uint64_t page = as_backing_pool_page(), left = as_backing_pool_free();
    const uint64_t all = page ? as_gpu_round_up(bytes, page) * count : 0;
    return all <= left ? AS_OK : too_much(AS_NOMEM, api, all, "; the reserved huge page pool has ", left, " free", err);
}

static enum as_status check_free(const char *api, uint64_t bytes, uint64_t free, uint64_t total, struct as_error *err)
{
    if (bytes > total)
        return too_much(AS_UNSUPPORTED, api, bytes, ", ", free, " are free", err);
    if (bytes > free || free - bytes < LEFT_ALONE)
        return too_much(AS_NOMEM, api, bytes, ", ", free, " are free, of which 256 MiB are left alone", err);
    return AS_OK;
}

enum as_status as_gpu_find_allocator(const struct as_device *dev, const char *name, const struct as_gpu_allocator **out,
                                     struct as_error *err)
{
    const struct as_gpu_api *api = ((const struct as_gpu *)dev->ctx)->api;
    for (size_t i = 0; api->allocators[i].name; i++) {
        if (strcmp(api->allocators[i].name, name) != 0)
            continue;
        const char *why_not = dev->info.allocators[i].why_not; /* listed in the same order */
        if (why_not[0])
            return as_fail(err, AS_UNSUPPORTED, "allocator '%s': %s", name, why_not);
        *out = &api->allocators[i];
        return AS_OK;
    }
    return as_info_no_allocator(&dev->info, name, err);
}

/* Of a device in the host's memory the driver counts what no program uses; what the system can reclaim is free, too. */
static enum as_status limits_free(struct as_gpu *gpu, uint64_t *free, uint64_t *total, struct as_error *err)
{
    size_t counted = 0, all = 0;
    const enum as_status st = AS_GPU_DO(gpu, err, memory_info, &counted, &all);
    const uint64_t of_host = as_host_memory_available();
    *total = st ? 0 : all;
    *free = st ? 0 : counted;
    if (!st && gpu->in_host_memory)
        *free = of_host < all ? of_host : all;
    return st;
}

static enum as_status gpu_limits_check_device(struct as_gpu *gpu, const struct as_gpu_place *home, uint64_t bytes,
                                              bool managed, struct as_error *err)
{
    const struct as_gpu_api *api = gpu->api;
    uint64_t free = 0, total = 0;
    enum as_status st = as_gpu_check(gpu, api->enter(gpu, home), api->enter_name, err);
    if (!st)
        st = limits_free(gpu, &free, &total, err);
    api->enter(gpu, &gpu->here);
    if (!st && managed)
        st = check_managed(api->name, bytes, free, err);
    return st ? st : check_free(api->name, bytes, free, total, err);
}

/* Of a kind of memory, 0: all that is free. */
static uint64_t most_of_kind(const struct as_gpu *gpu, const struct as_gpu_allocator *how)
{
    if (how->pages == AS_GPU_POOL_PAGES)
        return as_backing_pool_free();
    if (how->is_static)
        return gpu->in_host_memory ? AS_GPU_STATIC_IN_HOST : how->most;
    return limits_migrates(gpu, how) ? how->most : 0;
}

enum as_status as_gpu_check_size(struct as_gpu *gpu, const struct as_gpu_allocator *how,
                                 const struct as_gpu_place *home, uint64_t bytes, uint64_t count, struct as_error *err)
{
    const char *name = gpu->api->name;
    enum as_status st = as_check_blocks(name, bytes, count, err);
    if (st)
        return st;
    if (how->pages == AS_GPU_POOL_PAGES)
        return check_pool(name, bytes, count, err);
    const uint64_t most = most_of_kind(gpu, how);
    if (most && bytes > most)
        return too_much(AS_UNSUPPORTED, name, bytes, "; memory of this kind is capped at ", most, "", err);
    /* On-demand memory is only reserved, but each block could be touched completely. */
    uint64_t all = how->on_demand ? bytes : bytes * count;
    bool from_host = (how->sources & AS_GPU_FROM_HOST) || (gpu->in_host_memory && home->device == gpu->here.device);
    st = from_host ? as_gpu_check_host(name, all, err) : AS_OK;
    if (st)
        return st;
    const bool migrates = limits_migrates(gpu, how);
    return how->sources & AS_GPU_FROM_DEVICE ? gpu_limits_check_device(gpu, home, all, migrates, err) : AS_OK;
}

enum as_status as_gpu_check_beyond(const struct as_device *dev, const struct as_gpu_allocator *how, uint64_t bytes,
                                   struct as_error *err)
{
    const struct as_gpu *gpu = dev->ctx;
    const uint64_t available = as_host_memory_available(), most = available - available / HOST_LEFT_ALONE;
    const enum as_status st = as_check_blocks(gpu->api->name, bytes, 1, err);
    if (st)
        return st;
    if (!is_managed(how) || gpu->in_host_memory || !dev->info.allocators[how - gpu->api->allocators].on_demand)
        return as_fail(err, AS_UNSUPPORTED, "%s: pages of '%s' are not moved on demand on this device", gpu->api->name,
                       how->name);
    return bytes <= most
               ? AS_OK
               : too_much(AS_NOMEM, gpu->api->name, bytes, "; the host has room for ", most, " of evicted pages", err);
}

enum as_status as_gpu_fill_limits(struct as_device *dev, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    const struct as_gpu_allocator *how = gpu->api->allocators;
    uint64_t total;
    enum as_status st = limits_free(gpu, &dev->info.memory_free, &total, err);
    const uint64_t managed = most_managed(dev->info.memory_free);
    for (size_t i = 0; i < dev->info.allocators_n; i++) {
        const uint64_t most = most_of_kind(gpu, &how[i]);
        dev->info.allocators[i].most = limits_migrates(gpu, &how[i]) && managed < most ? managed : most;
    }
    return st;
}
