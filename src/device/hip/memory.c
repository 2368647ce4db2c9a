/* Memory of a HIP device: got, given back, mapped, copied. */
#include "device/hip/memory.h"

#include "base/clock.h"
#include "base/text.h"
#include "device/card.h"

#include <stdlib.h>
#include <string.h>

/* One block with its handle. */
struct held {
    struct as_memory memory;
    struct as_hip_block block;
};

void *as_hip_address(const struct as_memory *mem)
{
    return ((const struct as_hip_block *)mem->ctx)->address;
}

static enum as_status find_home(struct as_device *dev, const struct as_hip_allocator *how, const char *owner, int *out,
                                struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    const struct as_hip_backend *b = hip->backend;
    uint64_t index;
    *out = hip->id;
    if (!owner || strcmp(owner, dev->info.id) == 0)
        return AS_OK;
    if (strncmp(owner, "hip:", 4) != 0 || as_parse_u64(owner + 4, &index, NULL) || index >= b->found_n)
        return as_fail(err, AS_NOTFOUND, "there is no device '%s' on which memory of '%s' could lie", owner,
                       dev->info.id);
    if (!how->anywhere)
        return as_fail(err, AS_UNSUPPORTED, "allocator '%s' has no memory of another device", how->name);
    enum as_status s = as_hip_reach_peer(hip, (size_t)index, dev->info.id, err);
    if (!s)
        *out = b->found[index].id;
    return s;
}

static void release(struct as_hip_device *hip, struct as_hip_block *b)
{
    free(b->staging);
    as_hip_check(hip->api, hip, b->how->release(hip, b), b->how->name, NULL);
    *b = (struct as_hip_block){0};
}

static enum as_status obtain(struct as_hip_device *hip, const struct as_hip_allocator *how, int home, uint64_t bytes,
                             struct as_hip_block *b, struct as_error *err)
{
    *b = (struct as_hip_block){.how = how, .home = home, .bytes = bytes};
    enum as_status s = how->get(hip, b, err);
    if (s)
        release(hip, b);
    return s;
}

/* With the device as the thread's on which the block lies, and this one again after. */
static enum as_status obtain_at_home(struct as_hip_device *hip, const struct as_hip_allocator *how, int home,
                                     uint64_t bytes, struct as_hip_block *b, struct as_error *err)
{
    const struct as_hip_api *api = hip->api;
    enum as_status s = as_hip_check(api, hip, api->hipSetDevice(home), "hipSetDevice", err);
    if (!s)
        s = obtain(hip, how, home, bytes, b, err);
    hipError_t again = api->hipSetDevice(hip->id);
    if (s || !again)
        return s;
    release(hip, b);
    return as_hip_check(api, hip, again, "hipSetDevice", err);
}

static enum as_status memory_alloc(struct as_device *dev, const struct as_memory_desc *desc, struct as_memory **out,
                                   struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    const struct as_hip_allocator *how = NULL;
    int home;
    *out = NULL;
    enum as_status s = as_hip_alive(hip, err);
    if (!s)
        s = as_hip_find_allocator(dev, desc->allocator, &how, err);
    if (!s)
        s = find_home(dev, how, desc->owner, &home, err);
    if (!s)
        s = as_hip_check_size(hip, how, home, desc->bytes, 1, err);
    if (s)
        return s;
    struct held *h = calloc(1, sizeof *h);
    if (!h)
        return as_nomem(err, sizeof *h, "a block");
    s = obtain_at_home(hip, how, home, desc->bytes, &h->block, err);
    if (s) {
        free(h);
        return s;
    }
    h->memory = (struct as_memory){.bytes = desc->bytes, .ctx = &h->block};
    *out = &h->memory;
    return AS_OK;
}

static void memory_free(struct as_device *dev, struct as_memory *mem)
{
    if (!mem)
        return;
    struct as_hip_device *hip = dev->ctx;
    struct as_hip_block *b = mem->ctx;
    if (as_hip_alive(hip, NULL) == AS_OK)
        as_hip_settle(hip, NULL);
    release(hip, b);
    free((char *)mem - offsetof(struct held, memory));
}

/* to and from: one of them is NULL and stands for the memory. Through the stream, so that nothing before or after it
 * can overtake the copy: the plain copies of pageable memory may return before the last bytes have landed. */
static enum as_status copy(struct as_hip_device *hip, const struct as_hip_block *b, uint64_t offset, void *to,
                           const void *from, uint64_t bytes, struct as_error *err)
{
    const struct as_hip_api *api = hip->api;
    enum as_status s = as_hip_settle(hip, err);
    if (s)
        return s;
    char *plain = b->how->plain ? b->host : NULL;
    if (plain) {
        memcpy(to ? to : plain + offset, from ? from : plain + offset, bytes);
        return AS_OK;
    }
    if (to)
        s = as_hip_check(api, hip, api->hipMemcpyDtoHAsync(to, (char *)b->address + offset, bytes, hip->stream),
                         "hipMemcpyDtoHAsync", err);
    else
        s = as_hip_check(
            api, hip, api->hipMemcpyHtoDAsync((char *)b->address + offset, (void *)(uintptr_t)from, bytes, hip->stream),
            "hipMemcpyHtoDAsync", err);
    return s ? s : as_hip_settle(hip, err);
}

static enum as_status memory_map(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    struct as_hip_block *b = mem->ctx;
    enum as_status s = as_hip_alive(hip, err);
    if (s || mem->host)
        return s;
    if (b->host) {
        s = as_hip_settle(hip, err);
        mem->host = s ? NULL : b->host;
        return s;
    }
    s = as_card_check_host("hip", b->bytes, err);
    if (s)
        return s;
    b->staging = malloc(b->bytes);
    if (!b->staging)
        return as_nomem(err, b->bytes, "a copy of device memory for the host");
    s = copy(hip, b, 0, b->staging, NULL, b->bytes, err);
    if (s) {
        free(b->staging);
        b->staging = NULL;
    }
    mem->host = b->staging;
    return s;
}

static enum as_status memory_unmap(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    struct as_hip_block *b = mem->ctx;
    if (!mem->host)
        return AS_OK;
    mem->host = NULL;
    enum as_status s = as_hip_alive(hip, err);
    if (!s && b->staging)
        s = copy(hip, b, 0, NULL, b->staging, b->bytes, err);
    free(b->staging);
    b->staging = NULL;
    return s;
}

/* What is mapped is reached where the host has it mapped, or a staged copy would win over it at the end. */
static enum as_status transfer(struct as_device *dev, const struct as_memory *mem, uint64_t offset, void *to,
                               const void *from, uint64_t bytes, struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    enum as_status s = as_memory_check(mem, offset, bytes, err);
    if (!s)
        s = as_hip_alive(hip, err);
    if (s || bytes == 0)
        return s;
    if (!mem->host)
        return copy(hip, mem->ctx, offset, to, from, bytes, err);
    char *here = (char *)mem->host + offset;
    memcpy(to ? to : here, from ? from : here, bytes);
    return AS_OK;
}

static enum as_status memory_write(struct as_device *dev, struct as_memory *mem, uint64_t offset, const void *from,
                                   uint64_t bytes, struct as_error *err)
{
    return transfer(dev, mem, offset, NULL, from, bytes, err);
}

static enum as_status memory_read(struct as_device *dev, struct as_memory *mem, uint64_t offset, void *to,
                                  uint64_t bytes, struct as_error *err)
{
    return transfer(dev, mem, offset, to, NULL, bytes, err);
}

static enum as_status memory_time_alloc(struct as_device *dev, const char *allocator, uint64_t bytes, size_t count,
                                        double *alloc_s, double *free_s, struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    const struct as_hip_allocator *how = NULL;
    enum as_status s = as_hip_alive(hip, err);
    if (!s)
        s = as_hip_find_allocator(dev, allocator, &how, err);
    if (!s && how->is_static)
        s = as_fail(err, AS_UNSUPPORTED, "'%s' is not allocated: it comes with its module", how->name);
    if (!s)
        s = as_hip_check_size(hip, how, hip->id, bytes, count, err);
    if (s)
        return s;
    struct as_hip_block *blocks = calloc(count, sizeof *blocks);
    if (!blocks)
        return as_nomem(err, count * sizeof *blocks, "a list of blocks");
    s = as_hip_settle(hip, err);
    size_t got = 0;
    uint64_t t0 = as_now_ns();
    while (got < count && !s && !(s = obtain(hip, how, hip->id, bytes, &blocks[got], err)))
        got++;
    uint64_t t1 = as_now_ns();
    for (size_t i = 0; i < got; i++)
        release(hip, &blocks[i]);
    uint64_t t2 = as_now_ns();
    *alloc_s = (double)(t1 - t0) * 1e-9;
    *free_s = (double)(t2 - t1) * 1e-9;
    free(blocks);
    if (!s)
        s = as_hip_alive(hip, err); /* a free that failed for good shows here */
    return s;
}

const struct as_memory_ops as_hip_memory_ops = {
    .alloc = memory_alloc,
    .free = memory_free,
    .map = memory_map,
    .unmap = memory_unmap,
    .write = memory_write,
    .read = memory_read,
    .time_alloc = memory_time_alloc,
};
