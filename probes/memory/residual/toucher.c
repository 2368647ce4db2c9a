#include "toucher.h"

#include "base/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_residual[];

enum { LINE = 64, GROUP = 64, GROUPS_MAX = 1 << 10, ARGS = 4 };

/* Thread 0 is the calling one, on the core whose caches are measured: only thread 1 touches. args: sums, memory, lines,
 * mark */
static void host_touch(const struct as_host_call *call)
{
    uint64_t lines, mark, sum = 0, *sums = call->args[0];
    char *data = call->args[1];
    memcpy(&lines, call->args[2], sizeof lines);
    memcpy(&mark, call->args[3], sizeof mark);
    if (call->thread == 0)
        return;
    if (mark) {
        for (uint64_t i = 0; i < lines; i++)
            *(volatile uint64_t *)(void *)(data + i * LINE) = mark + i;
        return;
    }
    for (uint64_t i = 0; i < lines; i++)
        sum += *(volatile const uint64_t *)(const void *)(data + i * LINE);
    sums[0] = sum;
}
static const struct as_host_kernel host_kernels[] = {{"touch", host_touch}, {NULL, NULL}};

static enum as_status allocate(struct toucher *t, const char *allocator, uint64_t bytes, struct as_memory **out,
                               struct as_error *err)
{
    const struct as_memory_desc desc = {.allocator = allocator, .bytes = bytes, .node = -1};
    return t->dev->memory->alloc(t->dev, &desc, out, err);
}

static enum as_status launch(struct toucher *t, uint64_t lines, uint64_t mark, double *seconds, struct as_error *err)
{
    const uint64_t groups = (t->lines + GROUP - 1) / GROUP;
    const struct as_arg args[ARGS] = {{.kind = AS_ARG_MEMORY, .u.memory = t->sums},
                                      {.kind = AS_ARG_MEMORY, .u.memory = t->memory},
                                      {.kind = AS_ARG_U64, .u.u64 = lines},
                                      {.kind = AS_ARG_U64, .u.u64 = mark}};
    const struct as_launch l = {.kernel = t->kernel,
                                .args = args,
                                .args_n = ARGS,
                                .workgroups = t->native             ? 2
                                              : groups < GROUPS_MAX ? (size_t)groups
                                                                    : GROUPS_MAX,
                                .workgroup_size = t->native ? 1 : GROUP,
                                .reps = 1,
                                .work = {.accesses = (double)lines, .footprint = (double)lines * LINE}};
    struct as_timing timing;
    const double start = as_now();
    enum as_status st = t->dev->queue->launch(t->dev, &l, &timing, err);
    *seconds = st ? NAN : as_now() - start;
    return st;
}

enum as_status toucher_prepare(struct toucher *t, struct as_device *dev, const char *allocator, uint64_t bytes,
                               bool write, struct as_error *err)
{
    const struct as_program_desc desc = {.name = "residual", .source = as_kernel_residual, .host = host_kernels};
    double unused;
    *t = (struct toucher){.dev = dev,
                          .touched = bytes / LINE,
                          .lines = bytes < LINE ? 1 : bytes / LINE,
                          .write = write,
                          .native = (dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0,
                          .mark = 1};
    enum as_status st = dev->program->build(dev, &desc, &t->program, err);
    if (!st)
        st = dev->program->kernel(dev, t->program, "touch", &t->kernel, err);
    if (!st)
        st = allocate(t, allocator, t->lines * LINE, &t->memory, err);
    if (!st)
        st = allocate(t, allocator, (uint64_t)GROUPS_MAX * GROUP * sizeof(uint64_t), &t->sums, err);
    return st ? st : launch(t, t->lines, t->mark, &unused, err); /* backs the memory */
}

enum as_status toucher_run(struct toucher *t, double *seconds, struct as_error *err)
{
    if (t->touched && t->write)
        t->mark++;
    return launch(t, t->touched, t->touched && !t->write ? 0 : t->mark, seconds, err);
}

enum as_status toucher_run_empty(struct toucher *t, struct as_error *err)
{
    double unused;
    return launch(t, 0, t->mark, &unused, err); /* stores to no line, and leaves the sums alone */
}

/* What the first touch stored is what all loads find. */
static bool check_sum(struct toucher *t, char *why, size_t why_size)
{
    const uint64_t groups = (t->lines + GROUP - 1) / GROUP, want = t->lines + t->lines * (t->lines - 1) / 2;
    const size_t n = t->native ? 1 : (groups < GROUPS_MAX ? groups : GROUPS_MAX) * GROUP;
    uint64_t *sums = calloc(n, sizeof *sums), sum = 0;
    struct as_error err;
    const bool read = sums && !t->dev->memory->read(t->dev, t->sums, 0, sums, n * sizeof *sums, &err);
    for (size_t i = 0; read && i < n; i++)
        sum += sums[i];
    free(sums);
    snprintf(why, why_size, "the other side loaded a sum of %" PRIu64 ", %" PRIu64 " is right", sum, want);
    return read && sum == want;
}

bool toucher_check(struct toucher *t, char *why, size_t why_size)
{
    struct as_error err;
    uint64_t last = 0;
    snprintf(why, why_size, "nothing was touched");
    if (!t->touched)
        return true;
    if (!t->write)
        return check_sum(t, why, why_size);
    const bool read = !t->dev->memory->read(t->dev, t->memory, (t->lines - 1) * LINE, &last, sizeof last, &err);
    snprintf(why, why_size, "the last line that the other side stored to has %" PRIu64 ", %" PRIu64 " is right", last,
             t->mark + t->lines - 1);
    return read && last == t->mark + t->lines - 1;
}

void toucher_finish(struct toucher *t)
{
    if (!t->dev)
        return;
    t->dev->memory->free(t->dev, t->sums);
    t->dev->memory->free(t->dev, t->memory);
    if (t->program) {
        t->dev->program->kernel_destroy(t->dev, t->kernel);
        t->dev->program->destroy(t->dev, t->program);
    }
    *t = (struct toucher){0};
}
