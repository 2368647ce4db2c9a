#include "alias.h"

#include <string.h>

/* Offset of the load; the store lies below it. Then the offset of the result. */
enum { PAGE = 4096, LOAD = ALIAS_DISTANCE_MAX + PAGE / 2, RESULT = ALIAS_DISTANCE_MAX + 2 * PAGE, LINE = 64 };

/* Both addresses depend on the loaded value: a store address known long before the load would be compared in full,
 * without a penalty. */
#if defined(__x86_64__)
#define PAIR "mov %0, (%0,%1)\n\tmov (%0), %0\n\t"
#elif defined(__aarch64__)
#define PAIR "str %0, [%0, %1]\n\tldr %0, [%0]\n\t"
#endif
#define PAIRS4 PAIR PAIR PAIR PAIR
#define PAIRS16 PAIRS4 PAIRS4 PAIRS4 PAIRS4
#define PAIRS64 PAIRS16 PAIRS16 PAIRS16 PAIRS16

/* The loaded word holds its own address. args: 0 memory, 1 distance (u64) */
static void host_alias(const struct as_host_call *call)
{
    uint64_t distance;
    memcpy(&distance, call->args[1], sizeof distance);
    char *memory = call->args[0];
    void *at = memory + LOAD, *stored;
    const int64_t back = -(int64_t)distance;
    memcpy(memory + LOAD, &at, sizeof at);
    for (uint64_t r = call->reps; r; r--) {
#ifdef PAIR
        __asm__ volatile(PAIRS64 : "+r"(at) : "r"(back) : "memory");
#else
        for (int i = 0; i < ALIAS_PAIRS; i++) {
            *(void *volatile *)(void *)((char *)at + back) = at;
            at = *(void *volatile *)at;
        }
#endif
    }
    memcpy(&stored, memory + LOAD + back, sizeof stored);
    const uint64_t right = at == memory + LOAD && stored == at ? call->reps : 0;
    memcpy(memory + RESULT, &right, sizeof right);
}
static const struct as_host_kernel host_kernels[] = {{"alias", host_alias}, {NULL, NULL}};

enum as_status as_refill_alias_prepare(struct alias *a, struct as_device *dev, const char *allocator, uint64_t distance,
                                       struct as_error *err)
{
    const struct as_program_desc program = {.name = "refill", .host = host_kernels};
    *a = (struct alias){.distance = distance};
    as_buffers_open(&a->own, dev, &program, err);
    a->kernel = as_buffers_kernel(&a->own, "alias", err);
    a->memory = as_buffers_memory(&a->own, allocator, RESULT + LINE, err);
    return a->own.status;
}

enum as_status as_refill_alias_run(struct alias *a, uint64_t reps, double *ns, double *seconds, struct as_error *err)
{
    const struct as_arg args[] = {as_memory_arg(a->memory), as_u64_arg(a->distance)};
    struct as_launch l = as_launch_of(a->kernel, args, sizeof args / sizeof *args, 1, 1);
    l.reps = reps;
    l.work = (struct as_work){.accesses = 2 * ALIAS_PAIRS, .footprint = 2 * LINE};
    struct as_timing timing;
    uint64_t done = 0;
    enum as_status st = a->own.dev->memory->write(a->own.dev, a->memory, RESULT, &done, sizeof done, err);
    if (!st)
        st = a->own.dev->queue->launch(a->own.dev, &l, &timing, err);
    if (!st)
        st = a->own.dev->memory->read(a->own.dev, a->memory, RESULT, &done, sizeof done, err);
    if (st)
        return st;
    a->lost |= done != reps;
    *seconds = as_timing_seconds(&timing);
    *ns = *seconds * 1e9 / ((double)reps * ALIAS_PAIRS);
    return AS_OK;
}

void as_refill_alias_finish(struct alias *a)
{
    as_buffers_finish(&a->own);
    *a = (struct alias){0};
}
