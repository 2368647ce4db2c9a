#include "fresh.h"

#include "os/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MIN = 3 };

/* Bytes of the pages that the block has, where their size is known before they are touched: a policy holds for whole
 * ones. */
static uint64_t whole_pages(const struct as_memory *block)
{
    const uint64_t page = block->page_size ? block->page_size : 1;
    return (block->bytes + page - 1) / page * page;
}

enum as_status as_fresh_add(struct as_fresh *b, struct as_error *err)
{
    const struct as_memory_desc want = {
        .allocator = b->allocator, .bytes = b->bytes, .node = b->on_node - 1, .fresh = true};
    enum as_status st = as_grow((void **)&b->held, &b->cap, b->n + 1, sizeof(struct as_memory *), err);
    if (!st)
        st = b->dev->memory->alloc(b->dev, &want, &b->held[b->n], err);
    if (st)
        return st;
    struct as_memory *block = b->held[b->n++];
    st = b->map ? b->dev->memory->map(b->dev, block, err) : AS_OK;
    /* The CPU's backend has bound it. */
    if (!st && b->on_node && !as_info_has_host_kernels(&b->dev->info) && block->host &&
        as_bind_memory(block->host, whole_pages(block), b->on_node - 1))
        return as_fail(err, AS_UNSUPPORTED, "memory cannot be bound to node %d: %s", b->on_node - 1, strerror(errno));
    return st;
}

struct as_memory *as_fresh_last(const struct as_fresh *b)
{
    return b->held[b->n - 1];
}

void as_fresh_drop(struct as_fresh *b)
{
    while (b->n)
        b->dev->memory->free(b->dev, b->held[--b->n]);
}

void as_fresh_finish(struct as_fresh *b)
{
    as_fresh_drop(b);
    free(b->held);
    if (b->dev)
        b->dev->memory->free(b->dev, b->ballast);
    *b = (struct as_fresh){0};
}

/* "VmHWM" and the like of this process, in bytes; 0 if unreadable */
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

static enum as_status take_ballast(struct as_fresh *b, struct as_trial_context *tc, struct as_pages *p,
                                   uint64_t free_bytes, struct as_error *err)
{
    uint64_t peak = own_memory("VmHWM"), now = own_memory("VmRSS"), bytes = peak > now ? peak - now : 0;
    double unused;
    bytes -= bytes % p->page;
    as_note_number(tc, "ballast", (double)bytes);
    if (bytes == 0)
        return AS_OK;
    if (bytes > free_bytes / 4)
        return as_fail(err, AS_UNSUPPORTED,
                       "the peak size of this process is %llu MiB; exceeding it takes more than a quarter of the free "
                       "memory (measure this probe alone)",
                       (unsigned long long)(bytes >> 20));
    const struct as_memory_desc want = {
        .allocator = b->dev->info.allocators[0].name, .bytes = bytes, .node = -1, .fresh = true};
    enum as_status st = b->dev->memory->alloc(b->dev, &want, &b->ballast, err);
    if (!st)
        st = b->dev->memory->map(b->dev, b->ballast, err);
    const struct as_span all = {.memory = b->ballast, .pages = bytes / p->page};
    return st ? st : as_pages_touch(p, &all, &unused, err);
}

enum as_status as_fresh_never_had(struct as_fresh *b, struct as_trial_context *tc, struct as_pages *p, uint64_t most,
                                  struct as_error *err)
{
    uint64_t free_bytes = 0;
    enum as_status st = as_device_memory_free(b->dev, &free_bytes, err);
    if (!st)
        st = take_ballast(b, tc, p, free_bytes, err);
    if (st)
        return st;
    b->limit = free_bytes / 4 < most ? free_bytes / 4 : most;
    if (b->limit < BLOCKS_MIN * b->bytes)
        b->limit = BLOCKS_MIN * b->bytes;
    return b->limit <= free_bytes / 2
               ? AS_OK
               : as_fail(err, AS_UNSUPPORTED, "%d blocks of %llu MiB do not fit into half of the free memory",
                         BLOCKS_MIN, (unsigned long long)(b->bytes >> 20));
}

enum as_status as_fresh_add_never_had(struct as_fresh *b, struct as_error *err)
{
    if (b->limit < (b->n + 1) * b->bytes)
        return as_fail(err, AS_TIMEOUT, "no memory new to this process is left: %zu blocks are allocated", b->n);
    return as_fresh_add(b, err);
}
