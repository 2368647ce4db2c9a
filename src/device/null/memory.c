/* Memory of the scripted device: the C library's, as much as the script says there is. */
#include "base/text.h"
#include "device/arena.h"
#include "device/null/null.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

struct null_memory {
    struct as_memory base;
    char *address;
    bool is_part;
    char allocator[40];
};

void *as_null_address(const struct as_memory *mem)
{
    return ((const struct null_memory *)mem->ctx)->address;
}

const char *as_null_allocator(const struct as_memory *mem)
{
    return ((const struct null_memory *)mem->ctx)->allocator;
}

static enum as_status null_memory_alloc(struct as_device *dev, const struct as_memory_desc *desc,
                                        struct as_memory **out, struct as_error *err)
{
    struct as_null_device *n = as_null(dev);
    const struct as_allocator *a = as_info_allocator(&dev->info, desc->allocator);
    if (!a)
        return as_info_no_allocator(&dev->info, desc->allocator, err);
    if (a->why_not[0])
        return as_fail(err, AS_UNSUPPORTED, "\"%s\": %s", a->name, a->why_not);
    if (desc->owner && strncmp(desc->owner, "null:", strlen("null:")) != 0)
        return as_fail(err, AS_USAGE, "the scripted device reaches no memory of device \"%s\"", desc->owner);
    if (desc->bytes == 0)
        return as_fail(err, AS_USAGE, "a block of 0 bytes was requested; request at least 1");
    enum as_status st = as_null_act(as_null_strike_allocation(n, a->name, desc->bytes), a->name, err);
    if (st)
        return st;
    if (desc->bytes > dev->info.memory_free - n->held)
        as_arenas_drop_idle(dev);
    if (n->held > dev->info.memory_free || desc->bytes > dev->info.memory_free - n->held)
        return as_nomem(err, (size_t)desc->bytes, "the scripted device's memory");
    struct null_memory *m = calloc(1, sizeof *m);
    if (m)
        m->address = aligned_alloc(ALIGNMENT, (desc->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (!m || !m->address) {
        free(m);
        return as_nomem(err, (size_t)desc->bytes, "the scripted device");
    }
    const uint64_t page = a->role == AS_ROLE_HUGE_PAGES ? n->script.huge_page : dev->info.page_size;
    m->base = (struct as_memory){.bytes = desc->bytes, .page_size = page, .ctx = m};
    as_copy_text(m->allocator, sizeof m->allocator, a->name);
    n->held += desc->bytes;
    *out = &m->base;
    return AS_OK;
}

static enum as_status memory_part(struct as_device *dev, struct as_memory *whole, uint64_t offset, uint64_t bytes,
                                  struct as_memory **out, struct as_error *err)
{
    (void)dev;
    enum as_status st = as_memory_check(whole, offset, bytes, err);
    struct null_memory *m = st ? NULL : calloc(1, sizeof *m);
    if (!m)
        return st ? st : as_nomem(err, sizeof *m, "a block's record");
    *m = (struct null_memory){.base = {.bytes = bytes, .page_size = whole->page_size, .ctx = m},
                              .address = (char *)as_null_address(whole) + offset,
                              .is_part = true};
    as_copy_text(m->allocator, sizeof m->allocator, as_null_allocator(whole));
    *out = &m->base;
    return AS_OK;
}

static void memory_release(struct as_device *dev, struct as_memory *mem)
{
    if (!mem)
        return;
    struct null_memory *m = mem->ctx;
    if (!m->is_part) {
        as_null(dev)->held -= mem->bytes;
        free(m->address);
    }
    free(m);
}

static enum as_status null_memory_map(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    (void)dev;
    (void)err;
    mem->host = as_null_address(mem);
    return AS_OK;
}

static enum as_status null_memory_unmap(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    (void)dev;
    (void)err;
    mem->host = NULL;
    return AS_OK;
}

/* A copy from or to memory that is not the device's is a call, which takes its time. */
static void pass_copy(struct as_device *dev, const char *from, const char *to, uint64_t bytes)
{
    const struct as_null_copy *copy = as_null_copy_between(as_null(dev), from, to);
    if (copy)
        as_null_pass_time((double)bytes / (copy->gbs * 1e9));
}

static enum as_status null_memory_write(struct as_device *dev, struct as_memory *mem, uint64_t offset, const void *from,
                                        uint64_t bytes, struct as_error *err)
{
    enum as_status st = as_memory_check(mem, offset, bytes, err);
    if (!st && bytes)
        memcpy((char *)as_null_address(mem) + offset, from, bytes);
    if (!st)
        pass_copy(dev, "host", as_null_allocator(mem), bytes);
    return st;
}

static enum as_status null_memory_read(struct as_device *dev, struct as_memory *mem, uint64_t offset, void *to,
                                       uint64_t bytes, struct as_error *err)
{
    enum as_status st = as_memory_check(mem, offset, bytes, err);
    if (!st && bytes)
        memcpy(to, (const char *)as_null_address(mem) + offset, bytes);
    if (!st)
        pass_copy(dev, as_null_allocator(mem), "host", bytes);
    return st;
}

static enum as_status time_alloc(struct as_device *dev, const char *allocator, uint64_t bytes, size_t count,
                                 double *alloc_s, double *free_s, struct as_error *err)
{
    struct as_null_device *n = as_null(dev);
    enum as_status st = as_null_act(as_null_strike_allocation(n, allocator, bytes), allocator, err);
    double alloc_ns = n->script.alloc_ns, free_ns = n->script.free_ns;
    for (size_t i = 0; i < n->script.calls_n; i++)
        if (strcmp(n->script.calls[i].allocator, allocator) == 0) {
            alloc_ns = n->script.calls[i].alloc_ns;
            free_ns = n->script.calls[i].free_ns;
        }
    *alloc_s = 1e-9 * (double)count * alloc_ns * n->trial_factor * as_null_noise(n, n->script.sd);
    *free_s = 1e-9 * (double)count * free_ns * n->trial_factor * as_null_noise(n, n->script.sd);
    if (n->machine.running) {
        *alloc_s = as_null_play(n, *alloc_s, 0);
        *free_s = as_null_play(n, *free_s, 0);
    }
    return st;
}

const struct as_memory_ops as_null_memory_ops = {
    .address = as_null_address,
    .alloc = null_memory_alloc,
    .free = memory_release,
    .part = memory_part,
    .map = null_memory_map,
    .unmap = null_memory_unmap,
    .write = null_memory_write,
    .read = null_memory_read,
    .time_alloc = time_alloc,
};
