/* Memory of a Metal device: buffers by storage mode. */
#include "device/metal/metal.h"
#include "device/metal/roles.h"

#include "base/clock.h"
#include "base/host.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum way { PRIVATE, SHARED, MANAGED, NO_COPY };

struct allocator {
    const char *name;
    enum way way;
    as_ns_uinteger options;
};
static const struct allocator allocators[] = {
    {"MTLStorageModePrivate", PRIVATE, AS_MTL_PRIVATE},
    {"MTLStorageModeShared", SHARED, AS_MTL_SHARED},
    {"MTLStorageModeShared WriteCombined", SHARED, AS_MTL_SHARED | AS_MTL_WRITE_COMBINED},
    {"MTLStorageModeManaged", MANAGED, AS_MTL_MANAGED},
    {"newBufferWithBytesNoCopy", NO_COPY, AS_MTL_SHARED},
};
enum { ALLOCATORS_N = sizeof allocators / sizeof *allocators };

/* Bytes of private memory copied at a time. */
#define STAGING_MAX (UINT64_C(16) << 20)

/* The target of as_memory.ctx. */
struct block {
    const struct allocator *how;
    as_objc_id buffer;
    void *pages; /* NO_COPY: the host's memory under it, mapped for it and so untouched */
    uint64_t pages_bytes;
    void *copy; /* PRIVATE: the host's copy while it is mapped */
};

as_objc_id as_mtl_buffer(const struct as_memory *mem)
{
    return ((const struct block *)mem->ctx)->buffer;
}

void as_mtl_list_allocators(struct as_device *dev)
{
    const struct as_mtl_device *d = dev->ctx;
    for (size_t i = 0; i < ALLOCATORS_N; i++) {
        const struct allocator *a = &allocators[i];
        struct as_allocator *out = &dev->info.allocators[dev->info.allocators_n++];
        const bool in_place = a->way == SHARED || a->way == NO_COPY;
        *out = (struct as_allocator){.host_access = a->way != PRIVATE,
                                     .coherent = in_place && d->unified,
                                     .on_demand = a->way == NO_COPY && d->unified,
                                     .role = as_role_in(as_mtl_roles, a->name)};
        as_copy_text(out->name, sizeof out->name, a->name);
        if (a->way == MANAGED && d->unified)
            as_copy_text(out->why_not, sizeof out->why_not, "the device has unified memory, without a second copy");
        if (!in_place)
            as_copy_text(out->no_sharing, sizeof out->no_sharing, "the host can access it only through a copy");
        else if (!out->coherent)
            as_copy_text(out->no_sharing, sizeof out->no_sharing,
                         "the device has its own memory and accesses the host's over a bus without atomics");
    }
}

static const struct allocator *find_allocator(const struct as_device *dev, const char *name, struct as_error *err)
{
    for (size_t i = 0; i < ALLOCATORS_N; i++) {
        if (strcmp(allocators[i].name, name) != 0)
            continue;
        const char *why_not = dev->info.allocators[i].why_not; /* listed in the same order */
        if (!why_not[0])
            return &allocators[i];
        as_fail(err, AS_UNSUPPORTED, "allocator '%s': %s", name, why_not);
        return NULL;
    }
    as_info_no_allocator(&dev->info, name, err);
    return NULL;
}

static enum as_status check_size(const struct as_device *dev, uint64_t bytes, struct as_error *err)
{
    if (bytes == 0 || bytes > SIZE_MAX / 2)
        return as_fail(err, AS_USAGE, "metal: %llu bytes cannot be allocated", (unsigned long long)bytes);
    if (dev->info.max_alloc && bytes > dev->info.max_alloc)
        return as_fail(err, AS_UNSUPPORTED, "metal: %llu bytes exceed the device's maxBufferLength of %llu",
                       (unsigned long long)bytes, (unsigned long long)dev->info.max_alloc);
    /* Metal gives more, and then moves buffers in and out of the GPU's reach while kernels run. */
    const struct as_mtl_device *d = dev->ctx;
    const uint64_t used = AS_SEND(d->api, allocated, d->device);
    if (d->total && (bytes > d->total || used > d->total - bytes))
        return as_fail(err, AS_NOMEM,
                       "metal: %llu bytes beside the %llu allocated exceed the device's recommendedMaxWorkingSetSize "
                       "of %llu",
                       (unsigned long long)bytes, (unsigned long long)used, (unsigned long long)d->total);
    return AS_OK;
}

static void metal_release(const struct as_mtl_device *d, struct block *b)
{
    as_mtl_release(d->api, &b->buffer);
    if (b->pages)
        munmap(b->pages, (size_t)b->pages_bytes);
    free(b->copy);
    *b = (struct block){0};
}

/* The bare allocation that is timed. Without copying, the API accepts only whole pages. */
static enum as_status metal_obtain(const struct as_mtl_device *d, const struct allocator *how, uint64_t bytes,
                                   struct block *b, struct as_error *err)
{
    const struct as_mtl_api *m = d->api;
    const uint64_t page = as_host_page();
    *b = (struct block){.how = how};
    if (how->way == NO_COPY) {
        b->pages_bytes = bytes = (bytes + page - 1) / page * page;
        b->pages = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
        if (b->pages == MAP_FAILED) {
            b->pages = NULL;
            return as_nomem(err, bytes, "host memory under a buffer");
        }
        b->buffer = AS_SEND_WITH(m, new_no_copy, d->device, b->pages, bytes, how->options, NULL);
    } else {
        b->buffer = AS_SEND_WITH(m, new_buffer, d->device, bytes, how->options);
    }
    if (b->buffer)
        return AS_OK;
    metal_release(d, b);
    return as_fail(err, AS_NOMEM, "metal: no buffer of %llu bytes in '%s'", (unsigned long long)bytes, how->name);
}

static enum as_status metal_memory_alloc(struct as_device *dev, const struct as_memory_desc *desc,
                                         struct as_memory **out, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    *out = NULL;
    const struct allocator *how = find_allocator(dev, desc->allocator, err);
    if (!how)
        return err ? err->code : AS_UNSUPPORTED;
    enum as_status st = as_mtl_alive(d, err);
    if (!st)
        st = check_size(dev, desc->bytes, err);
    if (!st && desc->owner && strcmp(desc->owner, dev->info.id) != 0)
        st = as_fail(err, AS_UNSUPPORTED, "metal: a device does not reach memory of device '%s'", desc->owner);
    if (st)
        return st;
    struct as_memory *mem = calloc(1, sizeof *mem);
    struct block *b = calloc(1, sizeof *b);
    void *pool = d->api->pool_push();
    st = mem && b ? metal_obtain(d, how, desc->bytes, b, err)
                  : as_nomem(err, sizeof *mem + sizeof *b, "a memory record");
    if (!st) {
        *mem = (struct as_memory){.bytes = desc->bytes, .ctx = b, .page_size = dev->info.page_size};
        *out = mem;
    }
    d->api->pool_pop(pool);
    if (st) {
        free(mem);
        free(b);
    }
    return st;
}

/* A no-copy buffer does not own its memory, so kernels must end before the memory is freed. */
static void metal_memory_free(struct as_device *dev, struct as_memory *mem)
{
    if (!mem)
        return;
    struct as_mtl_device *d = dev->ctx;
    void *pool = d->api->pool_push();
    as_mtl_settle(d);
    metal_release(d, mem->ctx);
    d->api->pool_pop(pool);
    free(mem->ctx);
    free(mem);
}

/* ---- copies to and from the host ---- */

/* Runs one command on the device's own queue and waits. size 0: updates the host's copy of `from`. */
static enum as_status blit(struct as_mtl_device *d, as_objc_id from, uint64_t from_at, as_objc_id to, uint64_t to_at,
                           uint64_t size, struct as_error *err)
{
    const struct as_mtl_api *m = d->api;
    struct as_mtl_queue q = {.queue = d->queue.queue}; /* keeps the results of earlier work in d->queue */
    as_objc_id commands;
    as_mtl_settle(d);
    enum as_status st = as_mtl_begin(d, &q, &commands, NULL, err);
    if (st)
        return st;
    as_objc_id encoder = AS_SEND(m, blit, commands);
    if (!encoder)
        return as_fail(err, AS_FAILED, "metal: no blit encoder");
    if (size)
        AS_SEND_WITH(m, copy, encoder, from, from_at, to, to_at, size);
    else
        AS_SEND_WITH(m, synchronize, encoder, from);
    AS_SEND(m, end_encoding, encoder);
    as_mtl_commit(d, &q, commands);
    return as_mtl_drain(d, &q, AS_WAIT_BLOCK, NULL, "a copy", err);
}

/* Of to and from, the NULL one stands for the memory. */
static enum as_status copy_private(struct as_mtl_device *d, const struct block *b, uint64_t offset, void *to,
                                   const void *from, uint64_t bytes, struct as_error *err)
{
    const struct as_mtl_api *m = d->api;
    const uint64_t most = bytes < STAGING_MAX ? bytes : STAGING_MAX;
    as_objc_id staging = AS_SEND_WITH(m, new_buffer, d->device, most, AS_MTL_SHARED);
    char *at = staging ? AS_SEND(m, contents, staging) : NULL;
    enum as_status st =
        at ? AS_OK : as_fail(err, AS_NOMEM, "metal: no buffer of %llu bytes for a copy", (unsigned long long)most);
    for (uint64_t done = 0; done < bytes && !st;) {
        const uint64_t part = bytes - done < most ? bytes - done : most;
        if (from)
            memcpy(at, (const char *)from + done, part);
        st = from ? blit(d, staging, 0, b->buffer, offset + done, part, err)
                  : blit(d, b->buffer, offset + done, staging, 0, part, err);
        if (to && !st)
            memcpy((char *)to + done, at, part);
        done += part;
    }
    as_mtl_release(m, &staging);
    return st;
}

/* Copies through the host's address. Managed memory has two copies, which must be told of changes. */
static enum as_status copy_in_place(struct as_mtl_device *d, const struct block *b, uint64_t offset, void *to,
                                    const void *from, uint64_t bytes, struct as_error *err)
{
    const bool managed = b->how->way == MANAGED;
    as_mtl_settle(d);
    enum as_status st = managed && to ? blit(d, b->buffer, 0, NULL, 0, 0, err) : AS_OK;
    char *here = AS_SEND(d->api, contents, b->buffer);
    if (st || !here)
        return st ? st : as_fail(err, AS_FAILED, "metal: a buffer has no contents");
    memcpy(to ? to : here + offset, from ? from : here + offset, bytes);
    if (managed && from)
        AS_SEND_WITH(d->api, modified, b->buffer, ((struct as_ns_range){offset, bytes}));
    return AS_OK;
}

static enum as_status copy(struct as_device *dev, struct as_memory *mem, uint64_t offset, void *to, const void *from,
                           uint64_t bytes, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    const struct block *b = mem->ctx;
    enum as_status st = as_memory_check(mem, offset, bytes, err);
    if (!st)
        st = as_mtl_alive(d, err);
    if (st || bytes == 0)
        return st;
    if (mem->host && b->how->way != SHARED && b->how->way != NO_COPY) { /* the host's copy is current */
        char *here = (char *)mem->host + offset;
        memcpy(to ? to : here, from ? from : here, bytes);
        return AS_OK;
    }
    void *pool = d->api->pool_push();
    st = b->how->way == PRIVATE ? copy_private(d, b, offset, to, from, bytes, err)
                                : copy_in_place(d, b, offset, to, from, bytes, err);
    d->api->pool_pop(pool);
    return st;
}

static enum as_status metal_memory_write(struct as_device *dev, struct as_memory *mem, uint64_t offset,
                                         const void *from, uint64_t bytes, struct as_error *err)
{
    return copy(dev, mem, offset, NULL, from, bytes, err);
}

static enum as_status metal_memory_read(struct as_device *dev, struct as_memory *mem, uint64_t offset, void *to,
                                        uint64_t bytes, struct as_error *err)
{
    return copy(dev, mem, offset, to, NULL, bytes, err);
}

static enum as_status metal_memory_map(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    struct block *b = mem->ctx;
    enum as_status st = AS_OK;
    if (mem->host)
        return AS_OK;
    void *pool = d->api->pool_push();
    if (b->how->way == PRIVATE)
        b->copy = malloc(mem->bytes);
    void *host = b->how->way == PRIVATE ? b->copy : AS_SEND(d->api, contents, b->buffer);
    if (!host)
        st = as_nomem(err, mem->bytes, "memory as the host sees it");
    else if (b->how->way == PRIVATE)
        st = copy_private(d, b, 0, host, NULL, mem->bytes, err);
    else if (b->how->way == MANAGED)
        st = blit(d, b->buffer, 0, NULL, 0, 0, err);
    d->api->pool_pop(pool);
    if (!st) {
        mem->host = host;
        return AS_OK;
    }
    free(b->copy);
    b->copy = NULL;
    return st;
}

static enum as_status metal_memory_unmap(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    struct block *b = mem->ctx;
    enum as_status st = AS_OK;
    if (!mem->host)
        return AS_OK;
    void *pool = d->api->pool_push();
    if (b->how->way == PRIVATE)
        st = copy_private(d, b, 0, NULL, b->copy, mem->bytes, err);
    else if (b->how->way == MANAGED)
        AS_SEND_WITH(d->api, modified, b->buffer, ((struct as_ns_range){0, mem->bytes}));
    d->api->pool_pop(pool);
    free(b->copy);
    b->copy = NULL;
    mem->host = NULL;
    return st;
}

static enum as_status memory_time_alloc(struct as_device *dev, const char *allocator, uint64_t bytes, size_t count,
                                        double *alloc_s, double *free_s, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    const struct allocator *how = find_allocator(dev, allocator, err);
    if (!how)
        return err ? err->code : AS_UNSUPPORTED;
    enum as_status st = as_check_blocks("metal", bytes, count, err);
    if (!st)
        st = check_size(dev, bytes, err);
    if (st)
        return st;
    struct block *blocks = calloc(count, sizeof *blocks);
    if (!blocks)
        return as_nomem(err, count * sizeof *blocks, "a list of blocks");
    void *pool = d->api->pool_push();
    size_t got = 0;
    uint64_t t0 = as_now_ns();
    while (got < count && !(st = metal_obtain(d, how, bytes, &blocks[got], err)))
        got++;
    uint64_t t1 = as_now_ns();
    for (size_t i = 0; i < got; i++)
        metal_release(d, &blocks[i]);
    uint64_t t2 = as_now_ns();
    d->api->pool_pop(pool);
    *alloc_s = (double)(t1 - t0) * 1e-9;
    *free_s = (double)(t2 - t1) * 1e-9;
    free(blocks);
    return st;
}

const struct as_memory_ops as_mtl_memory_ops = {
    .alloc = metal_memory_alloc,
    .free = metal_memory_free,
    .map = metal_memory_map,
    .unmap = metal_memory_unmap,
    .write = metal_memory_write,
    .read = metal_memory_read,
    .time_alloc = memory_time_alloc,
};
