/* Memory of the CPU: allocated within free memory less a reserve, and kept between trials. */
#include "os/memory.h"
#include "base/clock.h"
#include "device/arena.h"
#include "device/cpu/cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define POOL_FROM (1ull << 20) /* smaller blocks are not kept */
#define ROOM_MAX (512ull << 20)

struct cpu_memory {
    struct as_memory base;
    struct as_cpu_block block;
    bool fresh;
    bool is_part; /* of another's memory, which is not freed with it */
};

static struct cpu_memory *cpu_own(struct as_memory *mem)
{
    return mem->ctx;
}

void *as_cpu_memory_address(struct as_memory *mem)
{
    return cpu_own(mem)->block.address;
}

/* Allocated but untouched memory: the kernel counts it as free, so it is reserved here. */
static uint64_t unbacked(const struct as_cpu_device *cpu)
{
    uint64_t now = as_host_resident();
    uint64_t backed = now > cpu->resident_start ? now - cpu->resident_start : 0;
    return cpu->held > backed ? cpu->held - backed : 0;
}

static uint64_t cpu_minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t cpu_room(const struct as_host_limits *l)
{
    return l->total / 16 < ROOM_MAX ? l->total / 16 : ROOM_MAX;
}

enum as_status as_cpu_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err)
{
    struct as_cpu_device *cpu = as_cpu(dev);
    struct as_host_limits l;
    enum as_status st = as_host_limits_read(cpu->groups, &l, err);
    if (st)
        return st;
    uint64_t left = cpu_minus(l.free, unbacked(cpu) + cpu_room(&l)) + cpu->pool.bytes + as_arenas_idle(dev);
    *bytes = left - left / 128; /* page tables and the kernel's bookkeeping */
    return AS_OK;
}

static void cpu_trim(struct as_cpu_device *cpu, uint64_t most)
{
    uint64_t before = cpu->pool.bytes;
    as_cpu_pool_trim(&cpu->pool, most);
    cpu->held = cpu_minus(cpu->held, before - cpu->pool.bytes);
}

void as_cpu_memory_close(struct as_cpu_device *cpu)
{
    cpu_trim(cpu, 0);
}

static enum as_status read_left(struct as_cpu_device *cpu, uint64_t *left, struct as_error *err)
{
    struct as_host_limits l;
    enum as_status st = as_host_limits_read(cpu->groups, &l, err);
    *left = st ? 0 : cpu_minus(l.free, unbacked(cpu) + cpu_room(&l));
    return st;
}

/* Makes room for a block, or fails well before the OOM killer would act. */
static enum as_status make_place(struct as_device *dev, uint64_t bytes, struct as_error *err)
{
    struct as_cpu_device *cpu = as_cpu(dev);
    uint64_t left;
    enum as_status st = read_left(cpu, &left, err);
    if (!st && bytes > left + cpu->pool.bytes && as_arenas_idle(dev)) {
        as_arenas_drop_idle(dev);
        st = read_left(cpu, &left, err);
    }
    if (st || bytes <= left)
        return st;
    uint64_t most = left + cpu->pool.bytes;
    if (bytes > most)
        return as_fail(err, AS_NOMEM,
                       "%llu bytes do not fit: %llu are available with a reserve for other programs; request less",
                       (unsigned long long)bytes, (unsigned long long)most);
    cpu_trim(cpu, most - bytes);
    return AS_OK;
}

static enum as_status cpu_new_block(struct as_device *dev, const struct as_memory_desc *desc,
                                    enum as_cpu_allocator allocator, uint64_t size, struct as_cpu_block *out,
                                    struct as_error *err)
{
    struct as_cpu_device *cpu = as_cpu(dev);
    enum as_status st = AS_OK;
    bool counted = allocator != AS_CPU_HUGETLB; /* the huge-page pool enforces its own limit */
    if (counted && size >= POOL_FROM)
        st = make_place(dev, size, err);
    if (st)
        return st;
    st = as_cpu_block_get(&cpu->pages, allocator, size, desc->node, out, err);
    if (st == AS_NOMEM && (cpu->pool.n || as_arenas_idle(dev))) {
        cpu_trim(cpu, 0); /* kept blocks may hold the huge pages or the heap */
        as_arenas_drop_idle(dev);
        st = as_cpu_block_get(&cpu->pages, allocator, size, desc->node, out, err);
    }
    if (!st && desc->fresh && allocator == AS_CPU_MALLOC)
        as_cpu_block_forget(&cpu->pages, out); /* the heap may have returned used memory */
    if (!st && counted)
        cpu->held += size;
    return st;
}

static void drop_block(struct as_cpu_device *cpu, struct as_cpu_block *block)
{
    if (block->allocator != AS_CPU_HUGETLB)
        cpu->held = cpu_minus(cpu->held, block->bytes);
    as_cpu_block_release(block);
}

static enum as_status cpu_find_allocator(const struct as_device *dev, const char *name, enum as_cpu_allocator *out,
                                         struct as_error *err)
{
    const struct as_allocator *listed = as_info_allocator(&dev->info, name);
    if (!as_cpu_allocator_find(name, out))
        return as_info_no_allocator(&dev->info, name, err);
    if (listed && listed->why_not[0])
        return as_fail(err, AS_UNSUPPORTED, "\"%s\": %s", name, listed->why_not);
    return AS_OK;
}

static enum as_status get_block(struct as_device *dev, const struct as_memory_desc *desc, struct as_cpu_block *out,
                                struct as_error *err)
{
    struct as_cpu_device *cpu = as_cpu(dev);
    enum as_cpu_allocator allocator;
    enum as_status st = cpu_find_allocator(dev, desc->allocator, &allocator, err);
    if (st)
        return st;
    if (desc->bytes == 0)
        return as_fail(err, AS_USAGE, "a block of 0 bytes was requested; request at least 1");
    uint64_t size = as_cpu_block_size(&cpu->pages, allocator, desc->bytes);
    if (size == 0)
        return as_fail(err, AS_NOMEM, "%llu bytes are more than this machine can address; request less",
                       (unsigned long long)desc->bytes);
    if (!desc->fresh && as_cpu_pool_take(&cpu->pool, allocator, size, desc->node, out)) {
        if (as_cpu_block_back(&cpu->pages, out))
            return AS_OK;
        drop_block(cpu, out);
    }
    return cpu_new_block(dev, desc, allocator, size, out, err);
}

static enum as_status cpu_memory_alloc(struct as_device *dev, const struct as_memory_desc *desc, struct as_memory **out,
                                       struct as_error *err)
{
    if (desc->owner)
        return as_fail(err, AS_UNSUPPORTED, "cpu: cannot access the memory of device '%s'", desc->owner);
    struct cpu_memory *m = calloc(1, sizeof *m);
    if (!m)
        return as_nomem(err, sizeof *m, "a memory block's record");
    m->is_part = desc->at != NULL;
    if (desc->at) /* as if it might have huge pages: its page size is looked up */
        m->block = (struct as_cpu_block){
            .address = desc->at, .bytes = desc->bytes, .allocator = AS_CPU_THP, .node = desc->node};
    enum as_status st = desc->at ? AS_OK : get_block(dev, desc, &m->block, err);
    if (st) {
        free(m);
        return st;
    }
    m->fresh = desc->fresh;
    m->base.bytes = desc->bytes;
    m->base.ctx = m;
    as_cpu_memory_look(as_cpu(dev), &m->base);
    *out = &m->base;
    return AS_OK;
}

static enum as_status cpu_memory_part(struct as_device *dev, struct as_memory *whole, uint64_t offset, uint64_t bytes,
                                      struct as_memory **out, struct as_error *err)
{
    enum as_status st = as_memory_check(whole, offset, bytes, err);
    struct cpu_memory *m = st ? NULL : calloc(1, sizeof *m);
    if (!m)
        return st ? st : as_nomem(err, sizeof *m, "a memory block's record");
    const struct as_cpu_block *block = &cpu_own(whole)->block;
    m->block = (struct as_cpu_block){
        .address = (char *)block->address + offset, .bytes = bytes, .allocator = block->allocator, .node = block->node};
    m->is_part = true;
    m->base = (struct as_memory){.bytes = bytes, .ctx = m};
    as_cpu_memory_look(as_cpu(dev), &m->base);
    *out = &m->base;
    return AS_OK;
}

static void cpu_memory_release(struct as_device *dev, struct as_memory *mem)
{
    if (!mem)
        return;
    struct as_cpu_device *cpu = as_cpu(dev);
    struct cpu_memory *m = cpu_own(mem);
    struct as_host_limits l;
    if (m->is_part) {
        free(m);
        return;
    }
    /* Fresh blocks are not kept, since their users need new ones, nor are reserved huge pages, which are few. */
    if (m->fresh || m->block.allocator == AS_CPU_HUGETLB || m->block.bytes < POOL_FROM ||
        as_host_limits_read(cpu->groups, &l, NULL)) {
        drop_block(cpu, &m->block);
    } else {
        uint64_t before = cpu->pool.bytes + m->block.bytes;
        uint64_t most = cpu_minus(l.free + before, cpu_room(&l)) / 4;
        as_cpu_pool_put(&cpu->pool, &m->block, most);
        cpu->held = cpu_minus(cpu->held, before - cpu->pool.bytes);
    }
    free(m);
}

void as_cpu_memory_look(struct as_cpu_device *cpu, struct as_memory *mem)
{
    mem->page_size = as_cpu_block_page_size(&cpu->pages, &cpu_own(mem)->block);
}

/* Also looks up the page size, which is unknown before the first touch. */
static enum as_status cpu_memory_map(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    (void)err;
    mem->host = cpu_own(mem)->block.address;
    as_cpu_memory_look(as_cpu(dev), mem);
    return AS_OK;
}

static enum as_status cpu_memory_unmap(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    (void)err;
    mem->host = NULL;
    as_cpu_memory_look(as_cpu(dev), mem);
    return AS_OK;
}

static enum as_status cpu_memory_write(struct as_device *dev, struct as_memory *mem, uint64_t offset, const void *from,
                                       uint64_t bytes, struct as_error *err)
{
    (void)dev;
    enum as_status st = as_memory_check(mem, offset, bytes, err);
    if (!st && bytes)
        memcpy((char *)cpu_own(mem)->block.address + offset, from, bytes);
    return st;
}

static enum as_status cpu_memory_read(struct as_device *dev, struct as_memory *mem, uint64_t offset, void *to,
                                      uint64_t bytes, struct as_error *err)
{
    (void)dev;
    enum as_status st = as_memory_check(mem, offset, bytes, err);
    if (!st && bytes)
        memcpy(to, (const char *)cpu_own(mem)->block.address + offset, bytes);
    return st;
}

/* Bare calls: no guard pages, alignment or bookkeeping. */
static void *raw_malloc(size_t bytes)
{
    return malloc(bytes);
}

static void raw_free(void *p, size_t bytes)
{
    (void)bytes;
    free(p);
}

static void *raw_map(size_t bytes, enum as_page_advice advice)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    (void)as_advise_pages(p, bytes, advice);
    return p;
}

static void *raw_mmap(size_t bytes)
{
    return raw_map(bytes, AS_PAGES_SMALL);
}

static void *raw_thp(size_t bytes)
{
    return raw_map(bytes, AS_PAGES_HUGE);
}

static void *raw_hugetlb(size_t bytes)
{
    return as_map_huge(bytes);
}

static void raw_unmap(void *p, size_t bytes)
{
    munmap(p, bytes);
}

/* Direct calls, since an indirect one costs a nanosecond. The first returns the number of blocks. */
#define LOOPS(name, get, release)                                                                                      \
    static size_t name##_get_all(void **blocks, size_t n, size_t bytes)                                                \
    {                                                                                                                  \
        size_t i = 0;                                                                                                  \
        while (i < n && (blocks[i] = get(bytes)) != NULL)                                                              \
            i++;                                                                                                       \
        return i;                                                                                                      \
    }                                                                                                                  \
    static void name##_release_all(void **blocks, size_t n, size_t bytes)                                              \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            release(blocks[i], bytes);                                                                                 \
    }
LOOPS(malloc, raw_malloc, raw_free)
LOOPS(mmap, raw_mmap, raw_unmap)
LOOPS(thp, raw_thp, raw_unmap)
LOOPS(hugetlb, raw_hugetlb, raw_unmap)

static const struct {
    size_t (*get)(void **blocks, size_t n, size_t bytes);
    void (*release)(void **blocks, size_t n, size_t bytes);
} raw[AS_CPU_ALLOCATORS_N] = {
    [AS_CPU_MALLOC] = {malloc_get_all, malloc_release_all},
    [AS_CPU_MMAP] = {mmap_get_all, mmap_release_all},
    [AS_CPU_THP] = {thp_get_all, thp_release_all},
    [AS_CPU_HUGETLB] = {hugetlb_get_all, hugetlb_release_all},
};

static enum as_status cpu_memory_time_alloc(struct as_device *dev, const char *allocator, uint64_t bytes, size_t count,
                                            double *alloc_s, double *free_s, struct as_error *err)
{
    struct as_cpu_device *cpu = as_cpu(dev);
    enum as_cpu_allocator a;
    enum as_status st = cpu_find_allocator(dev, allocator, &a, err);
    if (st)
        return st;
    if (a == AS_CPU_HUGETLB) /* reserved pages are few, and the bare calls do not check for them */
        as_arenas_drop_idle(dev);
    /* munmap of part of a reserved huge page fails; the other allocators round up themselves */
    uint64_t size = a == AS_CPU_HUGETLB ? as_cpu_block_size(&cpu->pages, a, bytes) : bytes;
    if (size == 0 || size > PTRDIFF_MAX || count == 0 || count > 1u << 24)
        return as_fail(err, AS_USAGE, "%zu allocations of %llu bytes cannot be timed", count,
                       (unsigned long long)bytes);
    void **blocks = malloc(count * sizeof *blocks);
    if (!blocks)
        return as_nomem(err, count * sizeof *blocks, "the list of allocations");
    memset(blocks, 1, count * sizeof *blocks); /* fault its pages in before the timed loop */
    double start = as_now();
    size_t n = raw[a].get(blocks, count, (size_t)size);
    double middle = as_now();
    if (n < count)
        st = as_fail(err, AS_NOMEM, "%s of %llu bytes failed at allocation %zu of %zu: %s", allocator,
                     (unsigned long long)bytes, n + 1, count, strerror(errno));
    double again = as_now();
    raw[a].release(blocks, n, (size_t)size);
    double end = as_now();
    free(blocks);
    *alloc_s = middle - start;
    *free_s = end - again;
    return st;
}

const struct as_memory_ops as_cpu_memory_ops = {
    .alloc = cpu_memory_alloc,
    .free = cpu_memory_release,
    .part = cpu_memory_part,
    .map = cpu_memory_map,
    .unmap = cpu_memory_unmap,
    .write = cpu_memory_write,
    .read = cpu_memory_read,
    .time_alloc = cpu_memory_time_alloc,
};
