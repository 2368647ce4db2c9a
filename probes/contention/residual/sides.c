#include "sides.h"

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

uint64_t as_side_touch_here(uint64_t *data, const struct side_work *w)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < w->lines && w->value; i++)
        *(volatile uint64_t *)&data[(i * w->step) & w->mask] = w->value + i;
    for (uint64_t i = 0; i < w->lines && !w->value; i++)
        sum += *(volatile const uint64_t *)&data[(i * w->step) & w->mask];
    return sum;
}

uint64_t as_side_pass_here(const uint64_t *data, const struct side_work *w, uint64_t *ns)
{
    const uint64_t start = as_now_ns();
    uint64_t found = 0;
    if (w->value)
        for (uint64_t i = 0; i < w->lines; i++)
            found = *(volatile const uint64_t *)&data[found * (SIDE_LINE / 8)];
    else
        for (uint64_t i = 0; i < w->lines; i++)
            found += *(volatile const uint64_t *)&data[i * w->step];
    *ns = as_now_ns() - start;
    return found;
}

/* Thread 0 is on the core whose caches are measured: thread 1 touches. */
static void native_touch(const struct as_host_call *call)
{
    const struct native_args a = read_args(call);
    if (call->thread == 0)
        return;
    const uint64_t sum = as_side_touch_here(a.data, &a.work);
    if (!a.work.value)
        a.sums[0] = sum;
}

static void native_pass(const struct as_host_call *call)
{
    const struct native_args a = read_args(call);
    if (call->thread == 0)
        a.sums[0] = as_side_pass_here(a.data, &a.work, &a.sums[1]);
}
static const struct as_host_kernel host_kernels[] = {{"touch", native_touch}, {"pass", native_pass}, {NULL, NULL}};

enum as_status as_side_kernels_prepare(struct side_kernels *k, struct as_device *dev, const char *allocator,
                                       struct as_error *err)
{
    const struct as_program_desc desc = {.name = "residual", .source = as_kernel_residual, .host = host_kernels};
    *k = (struct side_kernels){.allocator = allocator, .native = (dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0};
    as_buffers_open(&k->own, dev, &desc, err);
    k->touch = as_buffers_kernel(&k->own, "touch", err);
    k->pass = as_buffers_kernel(&k->own, "pass", err);
    return k->own.status;
}

/* Enough work-items to fill the device; a chain has one. */
static size_t workgroups(const struct side_kernels *k, uint64_t lines, bool chain)
{
    const uint64_t units = k->own.dev->info.compute_units ? k->own.dev->info.compute_units : 1;
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

enum as_status as_side_memory_make(struct side_memory *m, struct side_kernels *kernels, uint64_t bytes,
                                   struct as_error *err)
{
    *m = (struct side_memory){.kernels = kernels};
    if (!kernels) {
        m->host = as_take_large(bytes);
        return m->host ? AS_OK : as_nomem(err, bytes, "the CPU's buffer");
    }
    struct as_buffers *own = &kernels->own;
    const uint64_t sums = 1 + residual_sums_of(kernels, INT64_MAX, false);
    m->device = as_buffers_memory(own, kernels->allocator, bytes, err);
    m->sums = as_buffers_memory(own, kernels->allocator, sums * sizeof(uint64_t), err);
    if (own->status || !kernels->native)
        return own->status;
    return own->dev->memory->map(own->dev, m->sums, err); /* the time of a pass is read from there */
}

void as_side_memory_free(struct side_memory *m)
{
    free(m->host);
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
    struct as_launch l = as_launch_of(pass ? k->pass : k->touch, args, ARGS, workgroups(k, w->lines, chain),
                                      k->native || chain ? 1 : WORKGROUP);
    l.work = (struct as_work){.accesses = (double)w->lines, .footprint = 8 * words};
    return l;
}

enum as_status as_side_launch(const struct side_memory *m, bool pass, const struct side_work *w,
                              struct as_timing *timing, struct as_error *err)
{
    const struct side_kernels *k = m->kernels;
    struct as_arg args[ARGS];
    const struct as_launch l = residual_describe(m, pass, w, args);
    enum as_status st = k->own.dev->queue->launch(k->own.dev, &l, timing, err);
    if (!st && pass && k->native && as_info_shares_host(&k->own.dev->info))
        read_time(m, timing);
    return st;
}

enum as_status as_side_submit(const struct side_memory *m, bool pass, const struct side_work *w, struct as_error *err)
{
    struct as_arg args[ARGS];
    const struct as_launch l = residual_describe(m, pass, w, args);
    return m->kernels->own.dev->queue->submit(m->kernels->own.dev, &l, err);
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
    enum as_status st = k->own.dev->memory->read(k->own.dev, m->sums, 0, sums, n * sizeof *sums, err);
    for (size_t i = 0; i < n && !st; i++)
        *sum += sums[i];
    free(sums);
    return st;
}
