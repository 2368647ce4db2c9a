#include "pairs.h"

#include "base/clock.h"
#include "device/cpu/ticks.h"
#include "lib/chase/chase.h"

#include <stdlib.h>
#include <string.h>

/* Blocks are an odd number of line pairs apart, so that their first lines spread over the sets of every cache. */
enum {
    LINE = 64,
    PAGE = 4096,
    BLOCK = 17 * 128,
    PAIRS_MIN = 16,
    PAIRS_MAX = 512,
    EVICTS = 4,
    KEEPS = 4,
    INTERRUPTED = 8
};

static uint64_t ticks_after_loads(void)
{
#if defined(__aarch64__)
    __asm__ volatile("dsb ld" ::: "memory"); /* the counter's own barrier does not wait for loads */
#endif
    return as_ticks();
}

static void flush_line(const char *line)
{
#if defined(__x86_64__)
    __asm__ volatile("clflush (%0)" : : "r"(line) : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
#endif
}

static void flush_end(void)
{
#if defined(__x86_64__)
    __asm__ volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
    __asm__ volatile("dsb ish" ::: "memory");
#endif
}

static uint64_t refill_load(const char *from)
{
    return *(const volatile uint64_t *)(const void *)from;
}

static void refill_sweep(const char *from, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += LINE)
        refill_load(from + i);
}

/* Loads the memory first, so that it lies in the next cache and not partly beyond. */
static void make_cold(const struct pairs *p, const char *memory, const char *evictor)
{
    refill_sweep(memory, p->span);
    if (evictor) {
        refill_sweep(evictor, p->evictor_bytes);
        return;
    }
    for (uint64_t i = 0; i < p->span; i += LINE)
        flush_line(memory + i);
    flush_end();
}

uint64_t as_refill_pairs_reading(uint64_t *least, uint64_t ticks)
{
    *least = ticks < *least ? ticks : *least;
    return ticks < INTERRUPTED * (*least + 1) ? ticks : *least;
}

static void load_pairs(struct pairs *p, const char *memory)
{
    const char *at = memory + p->first;
    for (uint64_t i = 0; i < p->n; i++) {
        const uint64_t t0 = ticks_after_loads(), next = refill_load(at);
        const uint64_t t1 = ticks_after_loads(), tag = refill_load(at + p->desc.distance);
        const uint64_t t2 = ticks_after_loads(), same = refill_load(at + p->desc.distance);
        const uint64_t t3 = ticks_after_loads(), t4 = ticks_after_loads();
        p->ticks[PAIRS_FIRST] += t1 - t0;
        p->ticks[PAIRS_SECOND] += t2 - t1;
        p->ticks[PAIRS_AGAIN] += t3 - t2;
        p->overhead += as_refill_pairs_reading(&p->least, t4 - t3);
        p->sum += tag + same;
        at = memory + next;
    }
}

/* args: 0 the address of the pairs, 1 memory, 2 evictor (the memory itself: lines are flushed) */
static void host_pairs(const struct as_host_call *call)
{
    struct pairs *p;
    memcpy(&p, call->args[0], sizeof p);
    const char *memory = call->args[1], *evictor = call->args[2];
    const uint64_t start_ns = as_now_ns(), start = as_ticks();
    memset(p->ticks, 0, sizeof p->ticks);
    p->overhead = p->sum = 0;
    p->least = UINT32_MAX;
    for (uint64_t r = call->reps; r; r--) {
        make_cold(p, memory, evictor == memory ? NULL : evictor);
        load_pairs(p, memory);
    }
    p->passes = call->reps;
    p->elapsed_ticks = as_ticks() - start;
    p->elapsed_ns = as_now_ns() - start_ns;
}
static const struct as_host_kernel host_kernels[] = {{"pairs", host_pairs}, {NULL, NULL}};

/* The cache that must still hold the memory after the caches before it lost it. */
static uint64_t keeper_of(const struct as_device_info *info, enum pairs_cold cold)
{
    const uint64_t next = as_info_cache(info, (unsigned)cold + 2);
    return cold == PAIRS_COLD_ALL || next <= as_info_cache(info, (unsigned)cold + 1) ? 0 : next;
}

const char *as_refill_pairs_why_not(const struct as_device_info *info, enum pairs_cold cold)
{
    if (cold == PAIRS_COLD_ALL || keeper_of(info, cold) > 0)
        return NULL;
    return cold == PAIRS_COLD_L1 ? "the system does not tell the sizes of an L1 and an L2"
                                 : "the system reports no cache beyond L2: level=LLC measures L2 misses";
}

static uint64_t count_pairs(const struct as_device_info *info, enum pairs_cold cold)
{
    const uint64_t n = cold == PAIRS_COLD_ALL ? PAIRS_MAX : keeper_of(info, cold) / KEEPS / BLOCK;
    return n < PAIRS_MIN ? PAIRS_MIN : n > PAIRS_MAX ? PAIRS_MAX : n;
}

/* Pairs across a page would need another translation, and prefetchers stop there. */
static uint64_t refill_place(uint64_t *offsets, uint64_t wanted)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < wanted; at += BLOCK)
        if (at % PAGE + PAIRS_START_MAX + PAIRS_DISTANCE_MAX + LINE <= PAGE)
            offsets[i++] = at;
    return at;
}

/* Offsets instead of addresses, which some prefetchers follow. */
static enum as_status refill_write_pairs(struct pairs *p, const uint64_t *offsets, struct as_error *err)
{
    struct as_cycle cycle;
    as_cycle_init(&cycle, AS_PATTERN_RANDOM, p->n, BLOCK, PAGE, p->desc.seed);
    char *bytes = calloc(1, p->span);
    if (!bytes)
        return as_nomem(err, p->span, "pairs of loads");
    for (uint64_t i = 0; i < p->n; i++) {
        const uint64_t at = offsets[i] + p->desc.start, tag = i + 1;
        const uint64_t next = offsets[as_cycle_next(&cycle, i)] + p->desc.start;
        memcpy(bytes + at, &next, sizeof next);
        memcpy(bytes + at + p->desc.distance, &tag, sizeof tag);
    }
    p->first = offsets[as_cycle_at(&cycle, 0)] + p->desc.start;
    enum as_status st = p->own.dev->memory->write(p->own.dev, p->memory, 0, bytes, p->span, err);
    free(bytes);
    return st;
}

/* Untouched pages may all map one page of zeros. */
static enum as_status refill_back(struct pairs *p, struct as_error *err)
{
    char page[PAGE];
    enum as_status st = AS_OK;
    memset(page, 1, sizeof page);
    for (uint64_t i = 0; i < p->evictor_bytes && !st; i += PAGE) {
        const uint64_t left = p->evictor_bytes - i;
        st = p->own.dev->memory->write(p->own.dev, p->evictor, i, page, left < PAGE ? left : PAGE, err);
    }
    return st;
}

enum as_status as_refill_pairs_prepare(struct pairs *p, struct as_device *dev, const struct pairs_desc *desc,
                                       struct as_error *err)
{
    const struct as_program_desc program = {.name = "refill", .host = host_kernels};
    uint64_t offsets[PAIRS_MAX];
    *p = (struct pairs){.desc = *desc};
    p->n = count_pairs(&dev->info, desc->cold);
    p->span = refill_place(offsets, p->n);
    if (desc->cold != PAIRS_COLD_ALL)
        p->evictor_bytes = EVICTS * as_info_cache(&dev->info, (unsigned)desc->cold + 1);
    as_buffers_open(&p->own, dev, &program, err);
    p->kernel = as_buffers_kernel(&p->own, "pairs", err);
    p->memory = as_buffers_memory(&p->own, desc->allocator, p->span, err);
    if (p->evictor_bytes)
        p->evictor = as_buffers_memory(&p->own, desc->allocator, p->evictor_bytes, err);
    if (p->own.status)
        return p->own.status;
    enum as_status st = refill_write_pairs(p, offsets, err);
    return st || !p->evictor ? st : refill_back(p, err);
}

enum as_status as_refill_pairs_run(struct pairs *p, uint64_t passes, double ns[PAIRS_LOADS], double *seconds,
                                   struct as_error *err)
{
    const struct as_arg args[] = {
        as_u64_arg((uint64_t)(uintptr_t)p),
        as_memory_arg(p->memory),
        as_memory_arg(p->evictor ? p->evictor : p->memory),
    };
    struct as_launch l = as_launch_of(p->kernel, args, sizeof args / sizeof *args, 1, 1);
    l.reps = passes;
    l.work = (struct as_work){.accesses = PAIRS_LOADS * (double)p->n, .footprint = (double)p->span};
    struct as_timing timing;
    p->passes = 0; /* stays 0 if the launch is lost */
    enum as_status st = p->own.dev->queue->launch(p->own.dev, &l, &timing, err);
    if (st)
        return st;
    const double loads = (double)passes * (double)p->n;
    const double tick_ns = p->elapsed_ticks ? (double)p->elapsed_ns / (double)p->elapsed_ticks : 0;
    for (int i = 0; i < PAIRS_LOADS; i++)
        ns[i] = ((double)p->ticks[i] - (double)p->overhead) * tick_ns / loads;
    p->lost |= p->passes != passes || p->sum != passes * p->n * (p->n + 1);
    *seconds = as_timing_seconds(&timing);
    return AS_OK;
}

uint64_t as_refill_pairs_footprint(const struct pairs *p)
{
    return p->span + p->evictor_bytes;
}

void as_refill_pairs_finish(struct pairs *p)
{
    as_buffers_finish(&p->own);
    *p = (struct pairs){0};
}
