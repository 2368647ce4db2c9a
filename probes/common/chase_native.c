/* Chases by the CPU's own kernels: the walk as machine code, and the cycle written by those who will walk it. */
#include "chase_internal.h"

#include <string.h>

/* Bytes from which it pays to write with all threads. */
enum { FILL_TOGETHER = 8 << 20 };

#define STEP4 "mov (%0), %0\n\tmov (%0), %0\n\tmov (%0), %0\n\tmov (%0), %0\n\t"
#define STEP4_ARM "ldr %0, [%0]\n\tldr %0, [%0]\n\tldr %0, [%0]\n\tldr %0, [%0]\n\t"
#define TIMES16(x) x x x x x x x x x x x x x x x x

/* args: 0 result (u64), 1 buffer, 2 bytes to the start (u64), 3 stride (u64) */
static void host_walk(const struct as_host_call *call)
{
    char *base = call->args[1];
    uint64_t start, stride;
    memcpy(&start, call->args[2], sizeof start);
    memcpy(&stride, call->args[3], sizeof stride);
    void *p = base + start;
    for (uint64_t r = call->reps; r; r--) {
#if defined(__x86_64__)
        __asm__ volatile(TIMES16(STEP4) : "+r"(p) : : "memory");
#elif defined(__aarch64__)
        __asm__ volatile(TIMES16(STEP4_ARM) : "+r"(p) : : "memory");
#else
        for (int i = 0; i < AS_CHASE_STEPS; i++)
            p = *(void *volatile *)p;
#endif
    }
    *(uint64_t *)call->args[0] = (uint64_t)((char *)p - base) / stride;
}

/* args: 0 buffer, 1 the chase as a number. Each thread writes a piece of the cycle. */
void as_chase_host_fill(const struct as_host_call *call)
{
    const struct as_chase *c;
    memcpy(&c, call->args[1], sizeof c);
    uint64_t each = c->cycle.lines / call->threads, first = each * call->thread;
    uint64_t count = call->thread + 1 == call->threads ? c->cycle.lines - first : each;
    char *base = call->args[0];
    for (uint64_t k = first; k < first + count; k++) {
        void *target = base + as_chase_offset(c, as_cycle_next(&c->cycle, k));
        memcpy(base + as_chase_offset(c, k), &target, sizeof target);
    }
}
static const struct as_host_kernel host_kernels[] = {{"walk", host_walk}, {"fill", as_chase_host_fill}, {NULL, NULL}};

/* The thread that walks touches the memory first, so that it is near; where all of it is equally near, all help. */
static enum as_status launch_fill(struct as_chase *c, struct as_error *err)
{
    struct as_kernel *fill = NULL;
    struct as_arg args[2] = {{.kind = AS_ARG_MEMORY, .u.memory = c->memory},
                             {.kind = AS_ARG_U64, .u.u64 = (uint64_t)(uintptr_t)c}};
    bool help = c->dev->info.numa_nodes <= 1 && c->memory->bytes >= FILL_TOGETHER && c->dev->info.threads > 1;
    struct as_launch l = {.args = args,
                          .args_n = 2,
                          .groups = help ? c->dev->info.threads : 1,
                          .group_size = 1,
                          .reps = 1,
                          .work = {.bytes = (double)c->footprint, .footprint = (double)c->footprint}};
    struct as_timing t;
    enum as_status s = c->dev->program->kernel(c->dev, c->program, "fill", &fill, err);
    l.kernel = fill;
    if (!s)
        s = c->dev->queue->launch(c->dev, &l, &t, err);
    c->dev->program->kernel_destroy(c->dev, fill);
    return s;
}

enum as_status as_chase_fill_native(struct as_chase *c, struct as_error *err)
{
    enum as_status s = c->dev->memory->map(c->dev, c->memory, err);
    if (s)
        return s;
    s = launch_fill(c, err);
    if (s)
        return s;
    return c->dev->memory->map(c->dev, c->memory, err); /* now that it is backed, its page size is known */
}

static enum as_status build(struct as_chase *c, const struct as_chase_desc *desc, struct as_error *err)
{
    struct as_program_desc program = {.name = "latency", .host = host_kernels};
    struct as_memory_desc result = {.allocator = desc->allocator, .bytes = 64, .node = -1};
    enum as_status s = c->dev->memory->alloc(c->dev, &result, &c->result, err);
    if (!s)
        s = c->dev->program->build(c->dev, &program, &c->program, err);
    return s ? s : c->dev->program->kernel(c->dev, c->program, "walk", &c->kernel, err);
}

static enum as_status walk(struct as_chase *c, uint64_t reps, struct as_chase_walked *out, struct as_error *err)
{
    struct as_timing t;
    struct as_arg args[] = {{.kind = AS_ARG_MEMORY, .u.memory = c->result},
                            {.kind = AS_ARG_MEMORY, .u.memory = c->memory},
                            {.kind = AS_ARG_U64, .u.u64 = as_chase_offset(c, c->at)},
                            {.kind = AS_ARG_U64, .u.u64 = c->stride}};
    struct as_launch l = {.kernel = c->kernel,
                          .args = args,
                          .args_n = 4,
                          .groups = 1,
                          .group_size = 1,
                          .reps = reps,
                          .work = {.accesses = AS_CHASE_STEPS, .footprint = (double)c->footprint}};
    enum as_status s = c->dev->queue->launch(c->dev, &l, &t, err);
    if (s)
        return s;
    *out = (struct as_chase_walked){.seconds = as_timing_seconds(&t), .timed = reps * AS_CHASE_STEPS};
    return c->dev->memory->read(c->dev, c->result, 0, &out->line, sizeof out->line, err);
}

const struct as_chase_way as_chase_native = {
    .steps = AS_CHASE_STEPS, .loads = AS_CHASE_STEPS, .build = build, .fill = as_chase_fill_native, .walk = walk};
