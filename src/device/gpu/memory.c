/* GPU memory: allocate, free, map, copy. */
#include "device/gpu/memory.h"

#include "base/clock.h"
#include "base/host.h"
#include "base/text.h"
#include "device/backing.h"

#include <stdlib.h>
#include <string.h>

/* One block with its handle. */
struct held {
    struct as_memory memory;
    struct as_gpu_block block;
};

unsigned long long as_gpu_address(const struct as_memory *mem)
{
    return ((const struct as_gpu_block *)mem->ctx)->address;
}

void *as_gpu_pointer(const struct as_memory *mem)
{
    return (void *)(uintptr_t)as_gpu_address(mem);
}

/* The index of the device with that id; found_n if there is none. */
static size_t find_owner(const struct as_gpu *gpu, const char *owner)
{
    const struct as_gpu_backend *b = gpu->backend;
    size_t n = strlen(gpu->api->name);
    uint64_t index;
    if (strncmp(owner, gpu->api->name, n) != 0 || owner[n] != ':' || as_parse_u64(owner + n + 1, &index, NULL))
        return b->found_n;
    return index < b->found_n ? (size_t)index : b->found_n;
}

static enum as_status find_home(struct as_device *dev, const struct as_gpu_allocator *how, const char *owner,
                                struct as_gpu_place *out, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    *out = gpu->here;
    if (!owner || strcmp(owner, dev->info.id) == 0)
        return AS_OK;
    size_t index = find_owner(gpu, owner);
    if (index == gpu->backend->found_n)
        return as_fail(err, AS_NOTFOUND, "there is no device '%s' for memory of '%s'", owner, dev->info.id);
    if (!how->anywhere)
        return as_fail(err, AS_UNSUPPORTED, "allocator '%s' has no memory of another device", how->name);
    enum as_status st = as_gpu_reach_peer(gpu, index, dev->info.id, err);
    if (!st)
        *out = gpu->peers[index].place;
    return st;
}

static void gpu_release(struct as_gpu *gpu, struct as_gpu_block *b)
{
    free(b->staging);
    if (!b->is_borrowed)
        as_gpu_check(gpu, b->how->release(gpu, b), b->how->name, NULL);
    *b = (struct as_gpu_block){0};
}

/* By its allocator. The caller has entered the block's context. */
static enum as_status gpu_obtain(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    enum as_status st = b->how->get(gpu, b, err);
    if (st)
        gpu_release(gpu, b);
    return st;
}

/* Enters the block's place for the call, and returns to this device's. */
static enum as_status obtain_at_home(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    const struct as_gpu_api *api = gpu->api;
    const struct as_gpu_allocator *how = b->how;
    enum as_status st = as_gpu_check(gpu, api->enter(gpu, &b->home), api->enter_name, err);
    if (!st)
        st = gpu_obtain(gpu, b, err);
    int again = api->enter(gpu, &gpu->here);
    if (st)
        return st;
    st = as_gpu_check(gpu, again, api->enter_name, err);
    if (!st && how->in_order)
        st = as_gpu_settle(gpu, err);
    if (st)
        gpu_release(gpu, b);
    return st;
}

static bool is_registered(const struct as_gpu_allocator *how)
{
    return how->get == as_gpu_get_registered;
}

static bool comes_at_touch(const struct as_device_info *info, const struct as_gpu_allocator *how)
{
    return how->plain || (how->on_demand && info->is_host_memory);
}

/* The node of host memory whose pages this process chooses: as requested, else the device's nearest. -1: any. */
static int choose_node(const struct as_device_info *info, const struct as_gpu_allocator *how,
                       const struct as_memory_desc *desc)
{
    if (desc->node >= 0 || !(is_registered(how) || comes_at_touch(info, how)))
        return desc->node;
    return as_backing_near_node(info->near_cpus);
}

/* A policy holds for whole pages. */
static uint64_t backed_bytes(const struct as_gpu_block *b)
{
    return b->how->pages == AS_GPU_POOL_PAGES ? b->taken : b->bytes;
}

/* Process memory gets the pages of its allocator. The heap's may be those of an earlier block; pages of the pool are
 * new and of one size. */
static void choose_pages(const struct as_gpu_block *b)
{
    if (!b->how->plain || b->how->pages == AS_GPU_POOL_PAGES)
        return;
    as_backing_drop_pages(b->host, as_gpu_round_up(b->bytes, as_host_page()));
    if (b->how->pages == AS_GPU_HUGE_PAGES)
        as_backing_want_huge_pages(b->host, as_gpu_round_up(b->bytes, as_backing_huge_page()));
    else
        as_backing_want_base_pages(b->host, b->bytes);
}

/* Memory whose pages come at first touch gets them from the device's nearest node, whichever CPU touches, unless
 * another is chosen or the pool has no pages there. A GPU that owns a node takes first touches there only without a
 * policy: so only CPUs get one, in place_touch. Not part of the allocation that is timed. */
static void place_pages(const struct as_device *dev, const struct as_memory_desc *desc, struct as_gpu_block *b)
{
    const struct as_device_info *info = &dev->info;
    const bool by_touch = b->host && comes_at_touch(info, b->how);
    const bool lacks = b->how->pages == AS_GPU_POOL_PAGES && as_backing_pool_check(b->node, b->taken, NULL);
    const int near = by_touch && desc->node < 0 && !lacks ? b->node : -1;
    const bool is_own_node = b->how->plain && info->memory_node;
    choose_pages(b);
    b->host_node = is_own_node ? 1 + near : 0;
    if (b->how->plain || near >= 0)
        as_backing_want_node(b->host, backed_bytes(b), is_own_node ? -1 : near);
}

/* The CPU touches next, or else the device. */
static void place_touch(const struct as_gpu_block *b, bool by_cpu)
{
    if (b->host_node)
        as_backing_want_node(b->host, backed_bytes(b), by_cpu ? b->host_node - 1 : -1);
}

/* Memory that the caller keeps, as it is. */
static enum as_status gpu_borrow(const struct as_gpu *gpu, const struct as_gpu_allocator *how,
                                 const struct as_memory_desc *desc, struct as_gpu_block *b, struct as_error *err)
{
    *b = (struct as_gpu_block){.how = how,
                               .home = gpu->here,
                               .bytes = desc->bytes,
                               .host = desc->at,
                               .address = (uintptr_t)desc->at,
                               .is_borrowed = true};
    return how->plain || how->is_static
               ? AS_OK
               : as_fail(err, AS_UNSUPPORTED, "allocator '%s' cannot use existing memory in place", how->name);
}

static enum as_status gpu_memory_alloc(struct as_device *dev, const struct as_memory_desc *desc, struct as_memory **out,
                                       struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    const struct as_gpu_allocator *how = NULL;
    struct as_gpu_place home;
    *out = NULL;
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st)
        st = as_gpu_find_allocator(dev, desc->allocator, &how, err);
    if (!st)
        st = find_home(dev, how, desc->owner, &home, err);
    if (!st && desc->node >= 0 && how->pages == AS_GPU_POOL_PAGES)
        st = as_backing_pool_check(desc->node, desc->bytes, err);
    if (!st)
        st = desc->beyond ? as_gpu_check_beyond(dev, how, desc->bytes, err)
                          : as_gpu_check_size(gpu, how, &home, desc->bytes, 1, err);
    if (st)
        return st;
    struct held *h = calloc(1, sizeof *h);
    if (!h)
        return as_nomem(err, sizeof *h, "a block");
    h->block = (struct as_gpu_block){.how = how, .home = home, .bytes = desc->bytes, .is_placed = true};
    h->block.node = choose_node(&dev->info, how, desc);
    st = desc->at ? gpu_borrow(gpu, how, desc, &h->block, err) : obtain_at_home(gpu, &h->block, err);
    if (st) {
        free(h);
        return st;
    }
    if (!desc->at)
        place_pages(dev, desc, &h->block);
    h->memory = (struct as_memory){.bytes = desc->bytes, .page_size = h->block.page_size, .ctx = &h->block};
    *out = &h->memory;
    return AS_OK;
}

static void gpu_memory_free(struct as_device *dev, struct as_memory *mem)
{
    if (!mem)
        return;
    struct as_gpu *gpu = dev->ctx;
    struct as_gpu_block *b = mem->ctx;
    bool in_order = b->how->in_order;
    if (as_gpu_alive(gpu, NULL) == AS_OK)
        as_gpu_settle(gpu, NULL);
    gpu->api->enter(gpu, &b->home);
    gpu_release(gpu, b);
    gpu->api->enter(gpu, &gpu->here);
    if (in_order && !gpu->sticky)
        as_gpu_settle(gpu, NULL);
    free((char *)mem - offsetof(struct held, memory));
}

/* Of to and from, the NULL one stands for the memory. The copy is queued on the stream, so that no work before or after
 * it can overtake it: synchronous copies of pageable memory may return before the last bytes have arrived. */
static enum as_status gpu_copy(struct as_gpu *gpu, const struct as_gpu_block *b, uint64_t offset, void *to,
                               const void *from, uint64_t bytes, struct as_error *err)
{
    const struct as_gpu_api *api = gpu->api;
    enum as_status st = as_gpu_settle(gpu, err);
    if (st)
        return st;
    char *plain = b->how->plain ? b->host : NULL;
    if (plain) {
        place_touch(b, true);
        memcpy(to ? to : plain + offset, from ? from : plain + offset, bytes);
        place_touch(b, false);
        return AS_OK;
    }
    if (to)
        st = as_gpu_check(gpu, api->read(gpu, to, b->address + offset, bytes), api->read_name, err);
    else
        st = as_gpu_check(gpu, api->write(gpu, b->address + offset, from, bytes), api->write_name, err);
    return st ? st : as_gpu_settle(gpu, err);
}

/* Known from the first touch on. */
static void look_at_pages(struct as_memory *mem)
{
    const struct as_gpu_block *b = mem->ctx;
    if ((b->how->plain && !b->page_size) || is_registered(b->how))
        mem->page_size = as_backing_page(b->host, b->bytes);
}

static enum as_status gpu_memory_map(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    struct as_gpu_block *b = mem->ctx;
    enum as_status st = as_gpu_alive(gpu, err);
    if (st || mem->host)
        return st;
    if (b->host) {
        st = as_gpu_settle(gpu, err);
        if (!st && b->how->again == AS_GPU_BEFORE_HOST)
            st = b->how->settle(gpu, b, err);
        mem->host = st ? NULL : b->host;
        look_at_pages(mem);
        place_touch(b, mem->host != NULL);
        return st;
    }
    st = as_gpu_check_host(gpu->api->name, b->bytes, err);
    if (st)
        return st;
    b->staging = malloc(b->bytes);
    if (!b->staging)
        return as_nomem(err, b->bytes, "a copy of device memory for the host");
    st = gpu_copy(gpu, b, 0, b->staging, NULL, b->bytes, err);
    if (st) {
        free(b->staging);
        b->staging = NULL;
    }
    mem->host = b->staging;
    return st;
}

static enum as_status gpu_memory_unmap(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    struct as_gpu_block *b = mem->ctx;
    if (!mem->host)
        return AS_OK;
    mem->host = NULL;
    look_at_pages(mem);
    place_touch(b, false);
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st && b->staging)
        st = gpu_copy(gpu, b, 0, NULL, b->staging, b->bytes, err);
    else if (!st && b->how->again == AS_GPU_AFTER_HOST)
        st = b->how->settle(gpu, b, err);
    free(b->staging);
    b->staging = NULL;
    return st;
}

/* Mapped memory is accessed through the mapping; otherwise a staged copy would overwrite it at unmap. */
static enum as_status transfer(struct as_device *dev, const struct as_memory *mem, uint64_t offset, void *to,
                               const void *from, uint64_t bytes, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    enum as_status st = as_memory_check(mem, offset, bytes, err);
    if (!st)
        st = as_gpu_alive(gpu, err);
    if (st || bytes == 0)
        return st;
    if (!mem->host)
        return gpu_copy(gpu, mem->ctx, offset, to, from, bytes, err);
    char *here = (char *)mem->host + offset;
    memcpy(to ? to : here, from ? from : here, bytes);
    return AS_OK;
}

static enum as_status gpu_memory_write(struct as_device *dev, struct as_memory *mem, uint64_t offset, const void *from,
                                       uint64_t bytes, struct as_error *err)
{
    return transfer(dev, mem, offset, NULL, from, bytes, err);
}

static enum as_status gpu_memory_read(struct as_device *dev, struct as_memory *mem, uint64_t offset, void *to,
                                      uint64_t bytes, struct as_error *err)
{
    return transfer(dev, mem, offset, to, NULL, bytes, err);
}

static enum as_status gpu_memory_attributes(struct as_device *dev, const struct as_memory *mem,
                                            struct as_page_attributes *out, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    const struct as_gpu_block *b = mem->ctx;
    const enum as_status st = as_gpu_alive(gpu, err);
    *out = (struct as_page_attributes){.read_mostly = ""};
    if (st)
        return st;
    if (!gpu->api->attributes ||
        !((b->how->sources & AS_GPU_FROM_DEVICE && b->how->sources & AS_GPU_FROM_HOST) || b->how->plain))
        return as_fail(err, AS_UNSUPPORTED, "%s: the driver records no page attributes of '%s'", gpu->api->name,
                       b->how->name);
    return gpu->api->attributes(gpu, b, out, err);
}

static enum as_status gpu_memory_time_alloc(struct as_device *dev, const char *allocator, uint64_t bytes, size_t count,
                                            double *alloc_s, double *free_s, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    const struct as_gpu_allocator *how = NULL;
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st)
        st = as_gpu_find_allocator(dev, allocator, &how, err);
    if (!st && how->is_static)
        st = as_fail(err, AS_UNSUPPORTED, "'%s' cannot be timed: it is allocated when its module is loaded", how->name);
    if (!st)
        st = as_gpu_check_size(gpu, how, &gpu->here, bytes, count, err);
    if (st)
        return st;
    struct as_gpu_block *blocks = calloc(count, sizeof *blocks);
    if (!blocks)
        return as_nomem(err, count * sizeof *blocks, "a list of blocks");
    st = as_gpu_settle(gpu, err);
    size_t got = 0;
    uint64_t t0 = as_now_ns();
    while (got < count && !st) {
        blocks[got] = (struct as_gpu_block){.how = how, .home = gpu->here, .bytes = bytes};
        st = gpu_obtain(gpu, &blocks[got], err);
        got += !st;
    }
    if (!st && how->in_order)
        st = as_gpu_settle(gpu, err);
    uint64_t t1 = as_now_ns();
    for (size_t i = 0; i < got; i++)
        gpu_release(gpu, &blocks[i]);
    if (!st && how->in_order)
        st = as_gpu_settle(gpu, err);
    uint64_t t2 = as_now_ns();
    *alloc_s = (double)(t1 - t0) * 1e-9;
    *free_s = (double)(t2 - t1) * 1e-9;
    free(blocks);
    if (!st)
        st = as_gpu_alive(gpu, err); /* detects a fatal error of a free */
    return st;
}

const struct as_memory_ops as_gpu_memory_ops = {
    .address = as_gpu_pointer,
    .alloc = gpu_memory_alloc,
    .free = gpu_memory_free,
    .map = gpu_memory_map,
    .unmap = gpu_memory_unmap,
    .write = gpu_memory_write,
    .read = gpu_memory_read,
    .attributes = gpu_memory_attributes,
    .time_alloc = gpu_memory_time_alloc,
};
