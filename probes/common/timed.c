#include "timed.h"

#include "timed_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OVERHEAD_LAUNCHES = 5 };

enum as_status as_timed_memory(struct as_device *dev, uint64_t bytes, struct as_memory **out, struct as_error *err)
{
    if (dev->info.allocators_n == 0)
        return as_fail(err, AS_UNSUPPORTED, "the device has no allocator that can be used");
    struct as_memory_desc want = {.allocator = dev->info.allocators[0].name, .bytes = bytes, .node = -1};
    return dev->memory->alloc(dev, &want, out, err);
}

enum as_status as_timed_room(struct as_device *dev, uint64_t bytes, struct as_error *err)
{
    uint64_t free_bytes;
    enum as_status s = dev->device->memory_free(dev, &free_bytes, err);
    if (s)
        return s;
    uint64_t most = free_bytes / 2;
    if (dev->info.max_alloc && dev->info.max_alloc < most)
        most = dev->info.max_alloc;
    if (bytes > most)
        return as_fail(err, AS_UNSUPPORTED, "%llu MiB are asked for, and at most %llu MiB may be used",
                       (unsigned long long)(bytes >> 20), (unsigned long long)(most >> 20));
    return AS_OK;
}

enum as_status as_timed_prepare(struct as_timed *t, struct as_device *dev, const char *name, const char *head,
                                const char *source, const char *defines, size_t records, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    *t = (struct as_timed){.dev = dev, .records = records, .record = calloc(records, sizeof(struct as_record))};
    if (!t->record)
        return as_nomem(err, records * sizeof(struct as_record), "records");
    as_buf_str(&text, AS_TIMED_KERNELS);
    as_buf_str(&text, head);
    as_buf_str(&text, source);
    enum as_status s = as_buf_check(&text, err);
    struct as_program_desc desc = {.name = name, .source = as_buf_get(&text), .defines = defines};
    if (!s)
        s = dev->program->build(dev, &desc, &t->program, err);
    as_buf_finish(&text);
    if (!s)
        s = as_timed_memory(dev, records * sizeof(struct as_record), &t->memory, err);
    return s;
}

enum as_status as_timed_kernel(struct as_timed *t, const char *name, struct as_kernel **out, struct as_error *err)
{
    return t->dev->program->kernel(t->dev, t->program, name, out, err);
}

enum as_status as_timed_launch(struct as_timed *t, const struct as_launch *launch, double *seconds,
                               struct as_error *err)
{
    struct as_timing timing;
    size_t n = launch->groups < t->records ? launch->groups : t->records;
    enum as_status s = t->dev->queue->launch(t->dev, launch, &timing, err);
    if (!s)
        s = t->dev->memory->read(t->dev, t->memory, 0, t->record, n * sizeof *t->record, err);
    *seconds = s ? NAN : as_timing_seconds(&timing);
    return s;
}

enum as_status as_timed_overhead(struct as_timed *t, const struct as_launch *nothing, struct as_error *err)
{
    double s[OVERHEAD_LAUNCHES];
    for (int i = 0; i < OVERHEAD_LAUNCHES; i++) {
        enum as_status st = as_timed_launch(t, nothing, &s[i], err);
        if (st)
            return st;
    }
    t->overhead_s = as_median(s, OVERHEAD_LAUNCHES);
    return AS_OK;
}

enum as_status as_timed_need(const struct as_timed *t, unsigned has, struct as_error *err)
{
    static const struct {
        unsigned bit;
        const char *words;
    } lacks[] = {{AS_HAS_CYCLES, "kernels of this device have no counter of cycles"},
                 {AS_HAS_NANOS, "kernels of this device have no clock of nanoseconds"},
                 {AS_HAS_UNIT, "kernels of this device cannot tell on which unit they run"},
                 {AS_HAS_LOCAL, "a launch on this device cannot ask for LOCAL memory"}};
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        if (has & lacks[i].bit & ~(unsigned)t->record[0].has)
            return as_fail(err, AS_UNSUPPORTED, "%s", lacks[i].words);
    return AS_OK;
}

double as_timed_seconds(const struct as_timed *t, double launch_s)
{
    const struct as_record *r = &t->record[0];
    if (r->has & AS_HAS_NANOS)
        return (double)r->nanos * 1e-9;
    return launch_s > t->overhead_s ? launch_s - t->overhead_s : launch_s;
}

double as_timed_clock(const struct as_timed *t)
{
    const struct as_record *r = &t->record[0];
    bool both = (r->has & AS_HAS_CYCLES) && (r->has & AS_HAS_NANOS) && r->nanos > 0;
    return both ? (double)r->cycles / (double)r->nanos * 1e9 : NAN;
}

void as_timed_finish(struct as_timed *t)
{
    if (t->dev) {
        t->dev->program->destroy(t->dev, t->program);
        t->dev->memory->free(t->dev, t->memory);
    }
    free(t->record);
    *t = (struct as_timed){0};
}

struct as_launch as_timed_group(struct as_kernel *kernel, const struct as_arg *args, size_t n, size_t groups,
                                size_t threads)
{
    return (struct as_launch){
        .kernel = kernel, .args = args, .args_n = n, .groups = groups, .group_size = threads, .reps = 1};
}
