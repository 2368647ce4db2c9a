/* sentinel: a fixed small piece of work that the engine repeats all through a run, to see when the machine is not
 * itself. Its numbers are compared only with each other. */
#include "core/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_method_sentinel[];
extern const char as_kernel_sentinel[];

static const char *const what_words[] = {"core", "memory", NULL};
static const struct as_axis axes[] = {
    {.name = "what",
     .help = "arithmetic alone, or reading main memory",
     .type = AS_AXIS_WORD,
     .words = what_words,
     .def = "all"},
    {0},
};
static const char *const grids[] = {"what=all", NULL};

enum { WINDOW = 8 << 20, CORE_STEPS = 4096, DEVICE_THREADS = 64 };

struct sentinel {
    struct as_device *dev;
    int memory; /* what=memory */
    int native;
    struct as_memory *block, *result;
    struct as_program *program;
    struct as_kernel *kernel;
    uint64_t bytes, window; /* of the block; read by one sample */
    uint64_t from;          /* offset of the window */
    int wrong;
    size_t groups, group_size;
};

static void host_core(const struct as_host_call *call)
{
    uint64_t x = 1;
    for (uint64_t r = call->reps * (CORE_STEPS / 8); r; r--) {
#if defined(__x86_64__)
        __asm__ volatile("imul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\t"
                         "imul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0"
                         : "+r"(x));
#else
        for (int i = 0; i < 8; i++) {
            x *= 3;
            __asm__ volatile("" : "+r"(x));
        }
#endif
    }
    *(uint64_t *)call->args[0] = x;
}

/* Four sums, so that the adds are not what is timed. */
static void host_memory(const struct as_host_call *call)
{
    const uint64_t *p = call->args[1];
    uint64_t from, bytes, s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    memcpy(&from, call->args[2], sizeof from);
    memcpy(&bytes, call->args[3], sizeof bytes);
    p += from / 8;
    for (uint64_t r = call->reps; r; r--)
        for (uint64_t i = 0; i < bytes / 8; i += 8) {
            s0 += p[i];
            s1 += p[i + 2];
            s2 += p[i + 4];
            s3 += p[i + 6];
            __asm__ volatile("" : "+r"(s0), "+r"(s1), "+r"(s2), "+r"(s3));
        }
    *(uint64_t *)call->args[0] = s0 + s1 + s2 + s3;
}
static const struct as_host_kernel host_kernels[] = {{"core", host_core}, {"memory", host_memory}, {NULL, NULL}};

static enum as_status get_memory(struct sentinel *s, struct as_error *err)
{
    const char *allocator = NULL;
    for (size_t i = 0; i < s->dev->info.allocators_n && !allocator; i++)
        if (!s->dev->info.allocators[i].why_not[0])
            allocator = s->dev->info.allocators[i].name;
    if (!allocator)
        return as_fail(err, AS_UNSUPPORTED, "the device has no allocator that can be used");
    struct as_memory_desc result = {.allocator = allocator, .bytes = 4096, .node = -1};
    enum as_status st = s->dev->memory->alloc(s->dev, &result, &s->result, err);
    if (st || !s->memory)
        return st;
    /* Several times the last cache, read in turns, so that a window has left the caches when its turn comes again. */
    uint64_t want = 4 * as_info_last_cache(&s->dev->info), most = s->dev->info.memory_free / 8;
    want = want < 16 * (uint64_t)WINDOW ? 16 * (uint64_t)WINDOW : want > UINT64_C(1) << 30 ? UINT64_C(1) << 30 : want;
    s->window = WINDOW;
    s->bytes = (want < most ? want : most) / WINDOW * WINDOW;
    if (s->bytes < WINDOW)
        return as_fail(err, AS_UNSUPPORTED, "too little memory is free for the sentinel");
    struct as_memory_desc block = {.allocator = allocator, .bytes = s->bytes, .node = -1};
    return s->dev->memory->alloc(s->dev, &block, &s->block, err);
}

/* Each page of the window is written once, so that it is backed and holds what the sum expects. */
static enum as_status fill_window(struct sentinel *s, struct as_error *err)
{
    enum as_status st = AS_OK;
    static const uint64_t marks[8] = {1, 0, 2, 0, 3, 0, 4, 0};
    uint64_t *page = malloc(1 << 20);
    if (!page)
        return as_nomem(err, 1 << 20, "a page");
    for (size_t i = 0; i < (1 << 20) / 8; i++)
        page[i] = marks[i % 8];
    for (uint64_t at = 0; at < s->window && !st; at += 1 << 20)
        st = s->dev->memory->write(s->dev, s->block, s->from + at, page, 1 << 20, err);
    free(page);
    return st;
}

static enum as_status prepare(struct as_visit_context *vc, void **state, struct as_error *err)
{
    struct sentinel *s = calloc(1, sizeof *s);
    *state = s;
    if (!s)
        return as_nomem(err, sizeof *s, "a sentinel");
    s->dev = vc->dev;
    s->memory = strcmp(as_axes_text(vc->axes, "what"), "memory") == 0;
    s->native = (vc->dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0;
    s->group_size = s->native ? 1 : DEVICE_THREADS;
    s->groups = s->native || !s->memory ? 1 : 4 * (vc->dev->info.units ? vc->dev->info.units : 1);
    struct as_program_desc desc = {.name = "sentinel", .source = as_kernel_sentinel, .host = host_kernels};
    enum as_status st = get_memory(s, err);
    if (!st)
        st = vc->dev->program->build(vc->dev, &desc, &s->program, err);
    if (!st)
        st = vc->dev->program->kernel(vc->dev, s->program, s->memory ? "memory" : "core", &s->kernel, err);
    if (!st && s->memory) {
        s->from = (uint64_t)vc->visit % (s->bytes / s->window) * s->window;
        st = fill_window(s, err);
    }
    vc->footprint = s->memory ? s->window : 64;
    if (s->memory)
        vc->min_reps = vc->max_reps = 1;
    else
        vc->sample_s = 5e-4;
    return st;
}

static enum as_status sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct sentinel *s = state;
    struct as_arg args[4] = {{.kind = AS_ARG_MEMORY, .u.memory = s->result},
                             {.kind = AS_ARG_MEMORY, .u.memory = s->memory ? s->block : s->result}};
    if (s->native) {
        args[2] = (struct as_arg){.kind = AS_ARG_U64, .u.u64 = s->from};
        args[3] = (struct as_arg){.kind = AS_ARG_U64, .u.u64 = s->window};
    } else {
        args[2] = (struct as_arg){.kind = AS_ARG_U32, .u.u32 = (uint32_t)(s->from / 4)};
        args[3] = (struct as_arg){.kind = AS_ARG_U32, .u.u32 = s->memory ? (uint32_t)(s->window / 4) : (uint32_t)reps};
    }
    struct as_launch l = {.kernel = s->kernel,
                          .args = args,
                          .args_n = 4,
                          .groups = s->groups,
                          .group_size = s->group_size,
                          .reps = s->native || s->memory ? reps : 1,
                          .work = {.bytes = s->memory ? (double)s->window : 0,
                                   .accesses = s->memory ? 0 : CORE_STEPS * (s->native ? 1 : (double)reps),
                                   .footprint = s->memory ? (double)s->window * 16 : 64}};
    struct as_timing t;
    enum as_status st = s->dev->queue->launch(s->dev, &l, &t, err);
    if (st)
        return st;
    uint64_t got = 0;
    st = s->dev->memory->read(s->dev, s->result, 0, &got, sizeof got, err);
    if (s->native && s->memory)
        s->wrong |= got != reps * (s->window / 64) * (1 + 2 + 3 + 4);
    out->seconds = as_timing_seconds(&t);
    double units = s->memory ? (double)(s->window / 64) : CORE_STEPS;
    out->value = out->seconds / ((double)reps * units) * 1e9;
    return st;
}

static bool check(void *state, char *why, size_t size)
{
    const struct sentinel *s = state;
    snprintf(why, size, s->wrong ? "the sum over the window is wrong" : "the sum over the window is right");
    return !s->wrong;
}

static void finish(void *state)
{
    struct sentinel *s = state;
    if (s && s->dev) {
        s->dev->program->kernel_destroy(s->dev, s->kernel);
        s->dev->program->destroy(s->dev, s->program);
        s->dev->memory->free(s->dev, s->result);
        s->dev->memory->free(s->dev, s->block);
    }
    free(s);
}

const struct as_probe as_probe_sentinel = {
    .abi = AS_PROBE_ABI,
    .name = "sentinel",
    .title = "Sentinel",
    .question = "Is the machine still as it was when the run began?",
    .metric = "time",
    .unit = "ns",
    .better_less = true,
    .counts = "time of one multiplication (core) or of one cache line read in a row (memory)",
    .hidden = true,
    .axes = axes,
    .quick = grids,
    .full = grids,
    .prepare = prepare,
    .sample = sample,
    .check = check,
    .finish = finish,
    .method = as_method_sentinel,
};
