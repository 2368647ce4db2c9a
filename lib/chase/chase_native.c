/* Chases by native CPU kernels: the loads in assembly, and the cycle, written by the thread that chases. */
#include "chase_internal.h"
#include "lib/buffers/buffers.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Bytes from which writing with all threads pays. */
enum { FILL_TOGETHER = 8 << 20 };
/* Number of steps linked at first, and the multiple of the cache size from which a cycle is not linked completely:
 * there 2% of the loads would hit in steady state, less than the variation between trials. */
enum { LINKED = 1 << 17, LINE = 64, STORED = 16 /* in bytes, on some CPUs */ };

/* args: 0 result (u64), 1 buffer, 2 bytes to the start (u64), 3 stride (u64) */
static void host_chase(const struct as_host_call *call)
{
    char *base = call->args[1];
    uint64_t start, stride;
    memcpy(&start, call->args[2], sizeof start);
    memcpy(&stride, call->args[3], sizeof stride);
    void *p = base + start;
    for (uint64_t r = call->reps; r; r--) {
#ifdef AS_CHASE_STEP4
        __asm__ volatile(AS_CHASE_TIMES16(AS_CHASE_STEP4) : "+r"(p) : : "memory");
#else
        for (int i = 0; i < AS_CHASE_STEPS; i++)
            p = *(void *volatile *)p;
#endif
    }
    *(uint64_t *)call->args[0] = (uint64_t)((char *)p - base) / stride;
}

/* args: 0 buffer, 1 the address of the chase. Each thread writes a piece of the cycle. */
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

/* Bypasses the caches where the CPU can: linked lines must be as cold as the others. */
static void store_past(void *to, void *target)
{
#if defined(__x86_64__)
    _mm_stream_si64(to, (long long)(uintptr_t)target);
#elif defined(__aarch64__)
    __asm__ volatile("stnp %0, %0, [%1]" : : "r"(target), "r"(to) : "memory");
#else
    memcpy(to, &target, sizeof target);
#endif
}

/* args: 0 buffer, 1 the address of the chase, 2 further steps. Each thread links a piece of them. */
void as_chase_host_link(const struct as_host_call *call)
{
    const struct as_chase *c;
    uint64_t steps;
    memcpy(&c, call->args[1], sizeof c);
    memcpy(&steps, call->args[2], sizeof steps);
    const uint64_t first = c->linked + steps * call->thread / call->threads;
    const uint64_t end = c->linked + steps * (call->thread + 1) / call->threads;
    char *base = call->args[0];
    void *at = base + as_chase_offset(c, as_cycle_at(&c->cycle, first % c->cycle.lines));
    for (uint64_t i = first; i < end; i++) {
        void *next = base + as_chase_offset(c, as_cycle_at(&c->cycle, (i + 1) % c->cycle.lines));
        store_past(at, next);
        at = next;
    }
#if defined(__x86_64__)
    _mm_sfence();
#endif
}
static const struct as_host_kernel host_kernels[] = {
    {"walk", host_chase}, {"fill", as_chase_host_fill}, {"link", as_chase_host_link}, {NULL, NULL}};

/* The chasing thread touches the memory first, for NUMA locality; on one node all threads help. */
static enum as_status launch_fill(struct as_chase *c, const char *kernel, uint64_t steps, struct as_error *err)
{
    struct as_kernel *fill = NULL;
    struct as_arg args[3] = {as_memory_arg(c->memory), as_u64_arg((uint64_t)(uintptr_t)c), as_u64_arg(steps)};
    bool help =
        !c->cpus && c->dev->info.numa_nodes <= 1 && c->memory->bytes >= FILL_TOGETHER && c->dev->info.threads > 1;
    struct as_launch l = {.args = args,
                          .args_n = 3,
                          .workgroups = help ? c->dev->info.threads : 1,
                          .workgroup_size = 1,
                          .cpus = c->cpus,
                          .reps = 1,
                          .work = {.bytes = (double)c->footprint, .footprint = (double)c->footprint}};
    struct as_timing t;
    enum as_status st = c->dev->program->kernel(c->dev, c->program, kernel, &fill, err);
    l.kernel = fill;
    if (!st)
        st = c->dev->queue->launch(c->dev, &l, &t, err);
    c->dev->program->kernel_destroy(c->dev, fill);
    return st;
}

/* Contiguous elements are prefetched anyway. */
static bool is_linked_whole(const struct as_chase *c)
{
    const uint64_t line = c->stride < LINE ? c->stride : LINE;
    return c->cycle.pattern == AS_PATTERN_STRIDE || c->cycle.lines < 2 * LINKED || c->stride < STORED ||
           c->cycle.lines * line < as_info_memory_least(&c->dev->info, NULL, 1);
}

enum as_status as_chase_link_native(struct as_chase *c, uint64_t steps, struct as_error *err)
{
    const uint64_t left = c->cycle.lines - c->linked;
    if (left == 0 || c->steps_done + steps <= c->linked)
        return AS_OK;
    uint64_t more = c->steps_done + steps - c->linked;
    /* As many again: linking caches page tables, which makes the next loads up to a third faster. */
    const uint64_t more_min = c->linked > LINKED ? c->linked : LINKED;
    more = more < more_min ? more_min : more;
    more = more < left ? more : left;
    enum as_status st = launch_fill(c, "link", more, err);
    if (!st)
        c->linked += more;
    return st;
}

enum as_status as_chase_fill_native(struct as_chase *c, struct as_error *err)
{
    enum as_status st = c->dev->memory->map(c->dev, c->memory, err);
    if (st)
        return st;
    if (is_linked_whole(c)) {
        st = launch_fill(c, "fill", 0, err);
        c->linked = c->cycle.lines;
    } else {
        st = as_chase_link_native(c, LINKED, err);
    }
    if (st)
        return st;
    return c->dev->memory->map(c->dev, c->memory, err); /* known once memory is allocated */
}

static enum as_status chase_native_build(struct as_chase *c, const struct as_chase_desc *desc, struct as_error *err)
{
    struct as_program_desc program = {.name = "latency", .host = host_kernels};
    struct as_memory_desc result = {.allocator = desc->allocator, .bytes = 64, .node = -1};
    enum as_status st = c->dev->memory->alloc(c->dev, &result, &c->result, err);
    if (!st)
        st = c->dev->program->build(c->dev, &program, &c->program, err);
    return st ? st : c->dev->program->kernel(c->dev, c->program, "walk", &c->kernel, err);
}

static uint64_t chase_native_steps_max(const struct as_chase *c, uint64_t reps)
{
    (void)c;
    return reps * AS_CHASE_STEPS;
}

static enum as_status chase_native_run(struct as_chase *c, uint64_t reps, struct as_chase_result *out,
                                       struct as_error *err)
{
    struct as_timing t;
    struct as_arg args[] = {as_memory_arg(c->result), as_memory_arg(c->memory), as_u64_arg(as_chase_offset(c, c->at)),
                            as_u64_arg(c->stride)};
    struct as_launch l = {.kernel = c->kernel,
                          .args = args,
                          .args_n = 4,
                          .workgroups = 1,
                          .workgroup_size = 1,
                          .cpus = c->cpus,
                          .reps = reps,
                          .work = {.accesses = AS_CHASE_STEPS, .footprint = (double)c->footprint}};
    enum as_status st = c->dev->queue->launch(c->dev, &l, &t, err);
    if (st)
        return st;
    *out = (struct as_chase_result){.seconds = as_timing_seconds(&t), .timed = reps * AS_CHASE_STEPS};
    return c->dev->memory->read(c->dev, c->result, 0, &out->line, sizeof out->line, err);
}

const struct as_chase_method as_chase_native = {.steps = AS_CHASE_STEPS,
                                                .loads = AS_CHASE_STEPS,
                                                .build = chase_native_build,
                                                .fill = as_chase_fill_native,
                                                .steps_max = chase_native_steps_max,
                                                .run = chase_native_run};
