#include "sides.h"
#include "lib/buffers/buffers.h"

#include "base/clock.h"
#include "device/shared_host.h"
#include "os/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_residual[];

enum { WORKGROUP = 64, WORKGROUPS_PER_UNIT = 8, WORKGROUPS_MAX = 1 << 10, ARGS = 6 };

struct native_args {
    uint64_t *sums, *data;
    struct side_work work;
};

static struct native_args read_args(const struct as_host_call *call)
{
    struct native_args a = {.sums = call->args[0], .data = call->args[1]};
    memcpy(&a.work.lines, call->args[2], sizeof a.work.lines);
    memcpy(&a.work.step, call->args[3], sizeof a.work.step);
    memcpy(&a.work.mask, call->args[4], sizeof a.work.mask);
    memcpy(&a.work.value, call->args[5], sizeof a.work.value);
    return a;
}

/* Thread 0 runs on the core whose caches are measured: thread 1 touches. */
static void native_touch(const struct as_host_call *call)
{
    const struct native_args a = read_args(call);
    uint64_t sum = 0;
    if (call->thread == 0)
        return;
    for (uint64_t i = 0; i < a.work.lines && a.work.value; i++)
        *(volatile uint64_t *)&a.data[(i * a.work.step) & a.work.mask] = a.work.value + i;
    for (uint64_t i = 0; i < a.work.lines && !a.work.value; i++)
        sum += *(volatile const uint64_t *)&a.data[(i * a.work.step) & a.work.mask];
    if (!a.work.value)
        a.sums[0] = sum;
}

static void native_pass(const struct as_host_call *call)
{
    const struct native_args a = read_args(call);
    uint64_t sum = 0;
    if (call->thread != 0)
        return;
    const uint64_t start = as_now_ns();
    for (uint64_t i = 0; i < a.work.lines && !a.work.value; i++)
        sum += *(volatile const uint64_t *)&a.data[i * a.work.step];
    for (uint64_t i = 0; i < a.work.lines && a.work.value; i++)
        sum = *(volatile const uint64_t *)&a.data[sum * (SIDE_LINE / 8)];
    a.sums[1] = as_now_ns() - start;
    a.sums[0] = sum;
}
static const struct as_host_kernel host_kernels[] = {{"touch", native_touch}, {"pass", native_pass}, {NULL, NULL}};

enum as_status as_side_kernels_prepare(struct side_kernels *k, struct as_device *dev, const char *allocator,
                                       struct as_error *err)
{
    const struct as_program_desc desc = {.name = "residual", .source = as_kernel_residual, .host = host_kernels};
    *k = (struct side_kernels){
        .dev = dev, .allocator = allocator, .native = (dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0};
    enum as_status st = dev->program->build(dev, &desc, &k->program, err);
    if (!st)
        st = dev->program->kernel(dev, k->program, "touch", &k->touch, err);
    return st ? st : dev->program->kernel(dev, k->program, "pass", &k->pass, err);
}

void as_side_kernels_finish(struct side_kernels *k)
{
    if (k->program) {
        k->dev->program->kernel_destroy(k->dev, k->touch);
        k->dev->program->kernel_destroy(k->dev, k->pass);
        k->dev->program->destroy(k->dev, k->program);
    }
    *k = (struct side_kernels){0};
}

/* Enough work-items to fill the device; a chain has one. */
static size_t workgroups(const struct side_kernels *k, uint64_t lines, bool chain)
{
    const uint64_t units = k->dev->info.compute_units ? k->dev->info.compute_units : 1;
    uint64_t n = (lines + WORKGROUP - 1) / WORKGROUP;
    n = n < units * WORKGROUPS_PER_UNIT ? n : units * WORKGROUPS_PER_UNIT;
    n = n < WORKGROUPS_MAX ? n : WORKGROUPS_MAX;
    return k->native ? 2 : chain || n == 0 ? 1 : (size_t)n;
}

/* On a CPU one thread stores a sum and the time of a pass. */
static size_t residual_sums_of(const struct side_kernels *k, uint64_t lines, bool chain)
{
    return k->native || chain ? 1 : workgroups(k, lines, false) * WORKGROUP;
}

static enum as_status residual_allocate(const struct side_kernels *k, uint64_t bytes, struct as_memory **out,
                                        struct as_error *err)
{
    const struct as_memory_desc desc = {.allocator = k->allocator, .bytes = bytes, .node = -1};
    return k->dev->memory->alloc(k->dev, &desc, out, err);
}

enum as_status as_side_memory_make(struct side_memory *m, const struct side_kernels *kernels, uint64_t bytes,
                                   struct as_error *err)
{
    *m = (struct side_memory){.kernels = kernels};
    if (kernels) {
        enum as_status st = residual_allocate(kernels, bytes, &m->device, err);
        if (!st)
            st = residual_allocate(kernels, (1 + residual_sums_of(kernels, INT64_MAX, false)) * sizeof(uint64_t),
                                   &m->sums, err);
        if (!st && kernels->native) /* here is the time of the pass */
            st = kernels->dev->memory->map(kernels->dev, m->sums, err);
        return st;
    }
    m->host = as_take_large(bytes);
    return m->host ? AS_OK : as_nomem(err, bytes, "the CPU's buffer");
}

void as_side_memory_free(struct side_memory *m)
{
    free(m->host);
    if (m->kernels) {
        m->kernels->dev->memory->free(m->kernels->dev, m->sums);
        m->kernels->dev->memory->free(m->kernels->dev, m->device);
    }
    *m = (struct side_memory){0};
}

/* The thread's own time: when the other one starts and ends does not matter. */
static void read_time(const struct side_memory *m, struct as_timing *timing)
{
    timing->host_s = (double)((const uint64_t *)m->sums->host)[1] * 1e-9;
    timing->device_s = NAN;
}

static struct as_launch residual_describe(const struct side_memory *m, bool pass, const struct side_work *w,
                                          struct as_arg args[ARGS])
{
    const struct side_kernels *k = m->kernels;
    const bool chain = pass && w->value;
    const double words = (double)(w->mask < w->lines * w->step ? w->mask + 1 : w->lines * w->step);
    args[0] = as_memory_arg(m->sums);
    args[1] = as_memory_arg(m->device);
    args[2] = as_u64_arg(w->lines);
    args[3] = as_u64_arg(w->step);
    args[4] = as_u64_arg(w->mask);
    args[5] = as_u64_arg(w->value);
    return (struct as_launch){.kernel = pass ? k->pass : k->touch,
                              .args = args,
                              .args_n = ARGS,
                              .workgroups = workgroups(k, w->lines, chain),
                              .workgroup_size = k->native || chain ? 1 : WORKGROUP,
                              .reps = 1,
                              .work = {.accesses = (double)w->lines, .footprint = 8 * words}};
}

enum as_status as_side_launch(const struct side_memory *m, bool pass, const struct side_work *w,
                              struct as_timing *timing, struct as_error *err)
{
    const struct side_kernels *k = m->kernels;
    struct as_arg args[ARGS];
    const struct as_launch l = residual_describe(m, pass, w, args);
    enum as_status st = k->dev->queue->launch(k->dev, &l, timing, err);
    if (!st && pass && k->native && as_info_shares_host(&k->dev->info))
        read_time(m, timing);
    return st;
}

enum as_status as_side_submit(const struct side_memory *m, bool pass, const struct side_work *w, struct as_error *err)
{
    struct as_arg args[ARGS];
    const struct as_launch l = residual_describe(m, pass, w, args);
    return m->kernels->dev->queue->submit(m->kernels->dev, &l, err);
}

enum as_status as_side_sum(const struct side_memory *m, bool pass, const struct side_work *w, uint64_t *sum,
                           struct as_error *err)
{
    const struct side_kernels *k = m->kernels;
    const size_t n = residual_sums_of(k, w->lines, pass && w->value);
    uint64_t *sums = calloc(n, sizeof *sums);
    *sum = 0;
    if (!sums)
        return as_nomem(err, n * sizeof *sums, "the sums of a launch");
    enum as_status st = k->dev->memory->read(k->dev, m->sums, 0, sums, n * sizeof *sums, err);
    for (size_t i = 0; i < n && !st; i++)
        *sum += sums[i];
    free(sums);
    return st;
}
