#include "conflict.h"

#include "base/clock.h"

#include <string.h>

enum { LINE = 64 };

#if defined(__x86_64__)
#define STEP "mov (%0), %0\n\t"
#elif defined(__aarch64__)
#define STEP "ldr %0, [%0]\n\t"
#endif
#define STEPS4 STEP STEP STEP STEP
#define STEPS16 STEPS4 STEPS4 STEPS4 STEPS4
#define STEPS64 STEPS16 STEPS16 STEPS16 STEPS16

/* Linking the lines takes little time compared with the chase. args: 0 memory, 1 the address of the conflict. The last
 * word of the memory receives the offset of the chase's last line, plus 1. */
static void host_conflict(const struct as_host_call *call)
{
    const struct conflict *c;
    char *memory = call->args[0];
    memcpy(&c, call->args[1], sizeof c);
    for (uint64_t i = 0; i < c->lines; i++) {
        const void *next = memory + c->order[(i + 1) % c->lines] * c->distance;
        memcpy(memory + c->order[i] * c->distance, &next, sizeof next);
    }
    void *at = memory + c->order[c->steps] * c->distance;
    for (uint64_t r = call->reps; r; r--) {
#ifdef STEP
        __asm__ volatile(STEPS64 : "+r"(at) : : "memory");
#else
        for (int i = 0; i < CONFLICT_LOADS; i++)
            at = *(void *volatile *)at;
#endif
    }
    const uint64_t end = (uint64_t)((char *)at - memory) + 1;
    memcpy(memory + c->memory->bytes - sizeof end, &end, sizeof end);
}
static const struct as_host_kernel host_kernels[] = {{"conflict", host_conflict}, {NULL, NULL}};

/* A random cycle, so that prefetchers learn no stride. */
static void draw_order(struct conflict *c, uint64_t seed)
{
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    for (uint64_t i = 0; i < c->lines; i++)
        c->order[i] = i;
    for (uint64_t i = c->lines - 1; i > 0; i--) {
        const uint64_t k = as_rng_below(&rng, i + 1), t = c->order[i];
        c->order[i] = c->order[k];
        c->order[k] = t;
    }
}

enum as_status as_refill_conflict_prepare(struct conflict *c, struct as_device *dev, const char *allocator,
                                          uint64_t lines, uint64_t distance, uint64_t seed, struct as_error *err)
{
    const struct as_program_desc program = {.name = "refill", .host = host_kernels};
    *c = (struct conflict){.lines = lines, .distance = distance};
    if (lines < 1 || lines > CONFLICT_LINES_MAX)
        return as_fail(err, AS_USAGE, "a chase over 1 to %d lines", CONFLICT_LINES_MAX);
    draw_order(c, seed);
    as_buffers_open(&c->own, dev, &program, err);
    c->kernel = as_buffers_kernel(&c->own, "conflict", err);
    c->memory = as_buffers_memory(&c->own, allocator, lines * distance + LINE, err);
    return c->own.status;
}

enum as_status as_refill_conflict_run(struct conflict *c, uint64_t reps, double *ns, double *seconds,
                                      struct as_error *err)
{
    const struct as_arg args[] = {as_memory_arg(c->memory), as_u64_arg((uint64_t)(uintptr_t)c)};
    struct as_launch l = as_launch_of(c->kernel, args, sizeof args / sizeof *args, 1, 1);
    l.reps = reps;
    l.work = (struct as_work){.accesses = CONFLICT_LOADS, .footprint = (double)c->lines * LINE};
    const struct as_memory_ops *m = c->own.dev->memory;
    struct as_timing timing;
    uint64_t end = 0;
    const uint64_t place = c->memory->bytes - sizeof end;
    enum as_status st = m->write(c->own.dev, c->memory, place, &end, sizeof end, err);
    if (!st)
        st = c->own.dev->queue->launch(c->own.dev, &l, &timing, err);
    if (!st)
        st = m->read(c->own.dev, c->memory, place, &end, sizeof end, err);
    if (st)
        return st;
    c->steps = (c->steps + reps % c->lines * CONFLICT_LOADS) % c->lines;
    c->lost |= end != c->order[c->steps] * c->distance + 1;
    *seconds = as_timing_seconds(&timing);
    *ns = *seconds * 1e9 / ((double)reps * CONFLICT_LOADS);
    return AS_OK;
}

void as_refill_conflict_finish(struct conflict *c)
{
    as_buffers_finish(&c->own);
    *c = (struct conflict){0};
}
