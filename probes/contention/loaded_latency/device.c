/* One workgroup of a device chases, all others load. */
#include "lib/buffers/buffers.h"
#include "loaded.h"

#include <math.h>
#include <stdio.h>

extern const char as_kernel_loaded_latency[];

enum { GROUP_SIZE_MAX = 256, PER_UNIT_MAX = 8, PER_UNIT = 4 /* if residency is unknown */ };
enum { TRIES = 8, CONTROLS = 3, CONTROL_WORDS = 3, POLLS = 1 << 20, POLLS_OF_HOST = 1 << 28 };
/* How long loaders wait for the chase, and minimum times of a block and of a step. */
static const double PATIENCE_S = 0.5, BLOCK_S = 1e-6, STEP_S = 2e-9;

/* All workgroups must be resident at once: the chase waits until all have started. */
static size_t choose_workgroups(const struct loaded *s)
{
    const struct as_device *dev = s->chase.dev;
    const size_t units = dev->info.compute_units ? dev->info.compute_units : 1;
    struct as_kernel_info info = {0};
    struct as_error unused;
    if (as_runs_on_host(&dev->info))
        return units;
    if (!dev->program->kernel_info ||
        dev->program->kernel_info(s->chase.dev, s->kernel, s->workgroup_size, 0, &info, &unused))
        info.resident_workgroups = 0;
    const size_t resident = info.resident_workgroups ? info.resident_workgroups : PER_UNIT;
    return units * (resident < PER_UNIT_MAX ? resident : PER_UNIT_MAX);
}

static uint32_t blocks_of_patience(const struct load *l)
{
    return (uint32_t)(PATIENCE_S / (BLOCK_S + STEP_S * l->delay)) + 4;
}

static enum as_status loaded_latency_launch_once(struct loaded *s, uint64_t turns, double *seconds,
                                                 struct as_error *err)
{
    static const uint32_t zeros[CONTROL_WORDS];
    struct as_chase *c = &s->chase;
    struct as_device *dev = c->dev;
    struct as_kernel_timer *t = &s->timer;
    const size_t bytes = t->records * sizeof *t->record;
    const struct as_arg args[] = {as_memory_arg(t->memory),
                                  as_memory_arg(s->control),
                                  as_memory_arg(c->memory),
                                  as_memory_arg(s->load.memory),
                                  as_memory_arg(s->load.progress),
                                  as_u64_arg(as_chase_offset(c, c->at) / 8),
                                  as_u32_arg(c->before),
                                  as_u32_arg(turns),
                                  as_u64_arg(s->load.blocks),
                                  as_u32_arg(s->load.delay),
                                  as_u32_arg(AS_TIMER_UNIT),
                                  as_u32_arg(as_runs_on_host(&dev->info) ? POLLS_OF_HOST : POLLS),
                                  as_u32_arg(blocks_of_patience(&s->load))};
    struct as_launch l = as_launch_of(s->kernel, args, sizeof args / sizeof *args, s->load.loaders, s->workgroup_size);
    struct as_timing timing;
    l.work.accesses = (double)(c->before + turns) * AS_CHASE_STEPS;
    l.work.footprint = (double)c->footprint;
    for (size_t i = 0; i < t->records; i++)
        t->record[i] = (struct as_record){0};
    enum as_status st = dev->memory->write(dev, t->memory, 0, t->record, bytes, err);
    if (!st)
        st = dev->memory->write(dev, s->control, 0, zeros, sizeof zeros, err);
    if (!st)
        st = dev->queue->launch(dev, &l, &timing, err);
    if (!st)
        st = dev->memory->read(dev, t->memory, 0, t->record, bytes, err);
    *seconds = st ? NAN : as_timing_seconds(&timing);
    return st;
}

static bool ran_together(const struct loaded *s)
{
    return s->timer.record[0].more == s->load.loaders;
}

/* Repeats launches whose workgroups did not run concurrently: they had no chase. */
static enum as_status loaded_latency_launch(struct loaded *s, uint64_t turns, double *seconds, struct as_error *err)
{
    for (int i = 0; i < TRIES; i++) {
        enum as_status st = loaded_latency_launch_once(s, turns, seconds, err);
        if (st || ran_together(s))
            return st;
    }
    return as_fail(err, AS_UNSUPPORTED,
                   "%zu workgroups were not co-resident in any of %d launches; stop other work on the device",
                   s->load.loaders, TRIES);
}

static enum as_status loaded_latency_device_run(struct as_chase *c, uint64_t reps, struct as_chase_result *out,
                                                struct as_error *err)
{
    struct loaded *s = (struct loaded *)(void *)c;
    double launch_s;
    enum as_status st = loaded_latency_launch(s, reps, &launch_s, err);
    if (st)
        return st;
    *out = (struct as_chase_result){.line = s->timer.record[0].value * 8 / c->stride,
                                    .seconds = as_kernel_timer_seconds(&s->timer, launch_s),
                                    .timed = reps * AS_CHASE_STEPS,
                                    .untimed = c->before * AS_CHASE_STEPS};
    c->clock_hz = as_kernel_timer_clock(&s->timer);
    as_loaded_count(s, launch_s);
    return AS_OK;
}

static const struct as_chase_method device = {
    .steps = AS_CHASE_STEPS, .loads = 2 * AS_CHASE_STEPS, .run = loaded_latency_device_run};

static enum as_status loaded_latency_build(struct loaded *s, const struct load_desc *desc, size_t records,
                                           struct as_error *err)
{
    char defines[96];
    snprintf(defines, sizeof defines, "-DGROUP_SIZE=%zu -DPER_THREAD=%zu%s", s->workgroup_size,
             LOAD_WORDS / s->workgroup_size, desc->update ? " -DUPDATE" : "");
    enum as_status st = as_kernel_timer_prepare(&s->timer, s->chase.dev, "loaded_latency", "", as_kernel_loaded_latency,
                                                defines, records, err);
    return st ? st : as_kernel_timer_keep_kernel(&s->timer, "loaded", &s->kernel, err);
}

static enum as_status loaded_latency_fill(struct loaded *s, struct as_error *err)
{
    struct as_device *dev = s->chase.dev;
    struct as_memory *table = NULL;
    enum as_status st = as_kernel_timer_keep_memory(&s->timer, sizeof s->load.table, &table, err);
    if (!st)
        st = dev->memory->write(dev, table, 0, s->load.table, sizeof s->load.table, err);
    const struct as_arg args[] = {as_memory_arg(s->load.memory), as_memory_arg(table),
                                  as_u64_arg(as_load_bytes(&s->load) / 8), as_u64_arg(s->load.key)};
    return st ? st : as_kernel_timer_once(&s->timer, "fill", args, 4, s->load.loaders, s->workgroup_size, err);
}

/* Launches without timed steps, which are subtracted if kernels have no clock. They start at the chase's position and
 * do not advance it. Launches that fail to run concurrently do not count; if all fail, the first sample reports it. */
static enum as_status find_overhead(struct loaded *s, struct as_error *err)
{
    double seconds[CONTROLS];
    size_t n = 0;
    enum as_status st = AS_OK;
    for (int i = 0; i < CONTROLS && !st; i++) {
        st = loaded_latency_launch_once(s, 0, &seconds[n], err);
        n += !st && ran_together(s);
    }
    s->timer.overhead_s = n ? as_median(seconds, n) : 0;
    return st;
}

/* The kernel determines how many workgroups fit, so it is built with records for the largest grid. On a device whose
 * work-items are loop iterations on a core, a workgroup has one: each makes the steps of `delay`. */
enum as_status as_loaded_device(struct loaded *s, const struct load_desc *desc, struct as_error *err)
{
    struct as_device *dev = s->chase.dev;
    struct load_desc load = *desc;
    s->workgroup_size = 1;
    while (!as_runs_on_host(&dev->info) && 2 * s->workgroup_size <= dev->info.threads &&
           s->workgroup_size < GROUP_SIZE_MAX)
        s->workgroup_size *= 2;
    const size_t workgroups_max = (size_t)PER_UNIT_MAX * (dev->info.compute_units ? dev->info.compute_units : 1);
    enum as_status st = loaded_latency_build(s, desc, workgroups_max + 1, err);
    if (st)
        return st;
    load.loaders = choose_workgroups(s);
    load.interleaved = true;
    s->timer.records = load.loaders + 1;
    st = as_load_prepare(&s->load, dev, &load, err);
    if (!st)
        st = as_kernel_timer_keep_memory(&s->timer, CONTROL_WORDS * sizeof(uint32_t), &s->control, err);
    if (!st)
        st = loaded_latency_fill(s, err);
    s->chase.method = &device;
    return st ? st : find_overhead(s, err);
}
