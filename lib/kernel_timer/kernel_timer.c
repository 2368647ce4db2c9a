#include "kernel_timer.h"
#include "lib/buffers/buffers.h"

#include <math.h>
#include <stdlib.h>

extern const char as_kernel_record[];

enum { OVERHEAD_LAUNCHES = 5, SWEEP_GROUPS = 8 /* per compute unit, in sweeps */, SWEEP_THREADS = 256 };
/* Workgroups per compute unit in a launch for one of them: a device may distribute them unevenly. */
enum { CHOICE_GROUPS = 4, CHOICE_WORDS = 4 };

static enum as_status kernel_timer_build(struct as_kernel_timer *t, struct as_device *dev,
                                         const struct as_program_desc *desc, size_t records, struct as_error *err)
{
    *t = (struct as_kernel_timer){.dev = dev, .records = records, .record = calloc(records, sizeof(struct as_record))};
    if (!t->record)
        return as_nomem(err, records * sizeof(struct as_record), "records");
    as_buffers_open(&t->own, dev, desc, err);
    t->memory = as_buffers_memory(&t->own, NULL, records * sizeof(struct as_record), err);
    return t->own.status;
}

enum as_status as_kernel_timer_prepare(struct as_kernel_timer *t, struct as_device *dev, const char *name,
                                       const char *head, const char *source, const char *defines, size_t records,
                                       struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    *t = (struct as_kernel_timer){.dev = dev};
    as_buf_str(&text, as_kernel_record);
    as_buf_str(&text, head);
    as_buf_str(&text, source);
    enum as_status st = as_buf_check(&text, err);
    struct as_program_desc desc = {.name = name, .source = as_buf_get(&text), .defines = defines};
    if (!st)
        st = kernel_timer_build(t, dev, &desc, records, err);
    as_buf_finish(&text);
    return st;
}

enum as_status as_kernel_timer_prepare_host(struct as_kernel_timer *t, struct as_device *dev, const char *name,
                                            const struct as_host_kernel *kernels, size_t records, struct as_error *err)
{
    const struct as_program_desc desc = {.name = name, .host = kernels};
    return kernel_timer_build(t, dev, &desc, records, err);
}

enum as_status as_kernel_timer_kernel(struct as_kernel_timer *t, const char *name, struct as_kernel **out,
                                      struct as_error *err)
{
    return t->dev->program->kernel(t->dev, t->own.program, name, out, err);
}

enum as_status as_kernel_timer_keep_kernel(struct as_kernel_timer *t, const char *name, struct as_kernel **out,
                                           struct as_error *err)
{
    return as_buffers_keep_kernel(&t->own, t->own.program, name, out, err);
}

enum as_status as_kernel_timer_keep_memory(struct as_kernel_timer *t, uint64_t bytes, struct as_memory **out,
                                           struct as_error *err)
{
    return as_buffers_keep_memory(&t->own, NULL, bytes, out, err);
}

enum as_status as_kernel_timer_once(struct as_kernel_timer *t, const char *name, const struct as_arg *args, size_t n,
                                    size_t workgroups, size_t threads, struct as_error *err)
{
    struct as_timing unused;
    struct as_kernel *kernel = NULL;
    enum as_status st = as_kernel_timer_kernel(t, name, &kernel, err);
    struct as_launch l = as_launch_of(kernel, args, n, workgroups, threads);
    if (!st)
        st = t->dev->queue->launch(t->dev, &l, &unused, err);
    t->dev->program->kernel_destroy(t->dev, kernel);
    return st;
}

static enum as_status kernel_timer_launch_once(struct as_kernel_timer *t, const struct as_launch *launch,
                                               double *seconds, struct as_error *err)
{
    struct as_timing timing;
    size_t n = launch->workgroups < t->records ? launch->workgroups : t->records;
    enum as_status st = t->dev->queue->launch(t->dev, launch, &timing, err);
    if (!st)
        st = t->dev->memory->read(t->dev, t->memory, 0, t->record, n * sizeof *t->record, err);
    *seconds = st ? NAN : as_timing_seconds(&timing);
    return st;
}

enum as_status as_kernel_timer_launch(struct as_kernel_timer *t, const struct as_launch *launch, double *seconds,
                                      struct as_error *err)
{
    for (int i = 0; i < AS_TIMER_TRIES; i++) {
        struct as_launch aimed;
        enum as_status st = as_kernel_timer_aim(t, launch, &aimed, err);
        if (!st)
            st = kernel_timer_launch_once(t, &aimed, seconds, err);
        if (st || as_kernel_timer_hit(t, launch))
            return st;
    }
    return as_kernel_timer_gave_up(t, err);
}

/* ---- one compute unit ---- */

static const struct as_record no_record;
static const uint32_t no_choice[CHOICE_WORDS];

/* The launch that detects what kernels can read. */
static enum as_status kernel_timer_ask(struct as_kernel_timer *t, struct as_error *err)
{
    struct as_kernel *tell = NULL;
    const struct as_arg args[] = {as_memory_arg(t->memory)};
    double unused;
    enum as_status st = as_kernel_timer_keep_memory(t, sizeof no_choice, &t->choice, err);
    if (!st)
        st = t->dev->memory->write(t->dev, t->choice, 0, no_choice, sizeof no_choice, err);
    if (!st)
        st = t->dev->memory->write(t->dev, t->memory, 0, &no_record, sizeof no_record, err);
    if (!st)
        st = as_kernel_timer_kernel(t, "tell", &tell, err);
    const struct as_launch l = as_launch_of(tell, args, 1, 1, 1);
    if (!st)
        st = kernel_timer_launch_once(t, &l, &unused, err);
    t->dev->program->kernel_destroy(t->dev, tell);
    t->tells_unit = !st && (t->record[0].has & AS_HAS_UNIT);
    return st;
}

enum as_status as_kernel_timer_pin_unit(struct as_kernel_timer *t, uint32_t unit, struct as_error *err)
{
    enum as_status st = t->choice ? AS_OK : kernel_timer_ask(t, err);
    t->unit = t->tells_unit ? unit + 1 : 0;
    return st;
}

void as_kernel_timer_note(struct as_trial_context *tc, const struct as_kernel_timer *t)
{
    if (t->unit)
        as_note_number(tc, "unit", t->unit - 1);
}

static bool is_aimed(const struct as_kernel_timer *t, const struct as_launch *wanted)
{
    return t->unit && wanted->workgroups == 1;
}

enum as_status as_kernel_timer_aim(struct as_kernel_timer *t, const struct as_launch *wanted, struct as_launch *aimed,
                                   struct as_error *err)
{
    const uint32_t choice[CHOICE_WORDS] = {t->unit};
    *aimed = *wanted;
    if (!is_aimed(t, wanted))
        return AS_OK;
    aimed->workgroups = CHOICE_GROUPS * (t->dev->info.compute_units ? t->dev->info.compute_units : 1);
    enum as_status st = t->dev->memory->write(t->dev, t->choice, 0, choice, sizeof choice, err);
    return st ? st : t->dev->memory->write(t->dev, t->memory, 0, &no_record, sizeof no_record, err);
}

bool as_kernel_timer_hit(const struct as_kernel_timer *t, const struct as_launch *wanted)
{
    return !is_aimed(t, wanted) || t->record[0].unit == t->unit;
}

enum as_status as_kernel_timer_gave_up(const struct as_kernel_timer *t, struct as_error *err)
{
    return as_fail(err, AS_UNSUPPORTED,
                   "none of %d launches ran a workgroup on unit %u alone; let this process use the whole device",
                   (int)AS_TIMER_TRIES, t->unit - 1);
}

enum as_status as_kernel_timer_overhead(struct as_kernel_timer *t, const struct as_launch *nothing,
                                        struct as_error *err)
{
    double s[OVERHEAD_LAUNCHES];
    for (int i = 0; i < OVERHEAD_LAUNCHES; i++) {
        enum as_status st = as_kernel_timer_launch(t, nothing, &s[i], err);
        if (st)
            return st;
    }
    t->overhead_s = as_median(s, OVERHEAD_LAUNCHES);
    return AS_OK;
}

enum as_status as_kernel_timer_need(const struct as_kernel_timer *t, unsigned has, struct as_error *err)
{
    static const struct {
        unsigned bit;
        const char *words;
    } lacks[] = {{AS_HAS_CYCLES, "kernels of this device have no cycle counter"},
                 {AS_HAS_NANOS, "kernels of this device have no nanosecond clock"},
                 {AS_HAS_UNIT, "kernels of this device have no unit id"},
                 {AS_HAS_SHARED, "launches on this device cannot request dynamic shared memory"}};
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        if (has & lacks[i].bit & ~(unsigned)t->record[0].has)
            return as_fail(err, AS_UNSUPPORTED, "%s", lacks[i].words);
    return AS_OK;
}

double as_kernel_timer_seconds(const struct as_kernel_timer *t, double launch_s)
{
    const struct as_record *r = &t->record[0];
    if (r->has & AS_HAS_NANOS)
        return (double)r->nanos * 1e-9;
    return launch_s > t->overhead_s ? launch_s - t->overhead_s : launch_s;
}

double as_kernel_timer_clock(const struct as_kernel_timer *t)
{
    const struct as_record *r = &t->record[0];
    bool both = (r->has & AS_HAS_CYCLES) && (r->has & AS_HAS_NANOS) && r->nanos > 0;
    return both ? (double)r->cycles / (double)r->nanos * 1e9 : NAN;
}

double as_kernel_timer_longest(const struct as_kernel_timer *t, size_t workgroups, size_t resident_workgroups)
{
    const struct as_record *r = t->record;
    uint64_t most = 0;
    for (size_t g = 0; g < workgroups; g++) {
        uint64_t start = r[g].start, end = r[g].end;
        size_t together = 0;
        for (size_t h = 0; h < workgroups; h++) {
            if (!(r[g].has & AS_HAS_UNIT) ? h != g : r[h].unit != r[g].unit)
                continue;
            together++;
            start = r[h].start < start ? r[h].start : start;
            end = r[h].end > end ? r[h].end : end;
        }
        if ((r[g].has & AS_HAS_UNIT) && together != resident_workgroups)
            return 0;
        most = end - start > most ? end - start : most;
    }
    return (double)most;
}

void as_kernel_timer_finish(void *state)
{
    struct as_kernel_timer *t = state;
    as_buffers_finish(&t->own);
    free(t->record);
    *t = (struct as_kernel_timer){0};
}

enum as_status as_kernel_timer_sweep(struct as_kernel_timer *t, struct as_memory *block, struct as_error *err)
{
    struct as_timing unused;
    size_t compute_units = t->dev->info.compute_units ? t->dev->info.compute_units : 1;
    struct as_arg args[] = {as_memory_arg(t->memory), as_memory_arg(block), as_u64_arg(block->bytes / 8)};
    enum as_status st = t->sweep ? AS_OK : as_kernel_timer_keep_kernel(t, "sweep", &t->sweep, err);
    struct as_launch l = as_launch_of(t->sweep, args, 3, SWEEP_GROUPS * compute_units, SWEEP_THREADS);
    return st ? st : t->dev->queue->launch(t->dev, &l, &unused, err);
}

enum as_status as_kernel_timer_sweep_alone(struct as_kernel_timer *t, struct as_memory *block, uint64_t elements,
                                           uint64_t stride, int times, struct as_error *err)
{
    double unused;
    size_t most = t->dev->info.threads ? t->dev->info.threads : 1;
    struct as_arg args[] = {as_memory_arg(t->memory), as_memory_arg(t->choice), as_memory_arg(block),
                            as_u64_arg(elements), as_u64_arg(stride / 8)};
    enum as_status st = t->alone ? AS_OK : as_kernel_timer_keep_kernel(t, "sweep_alone", &t->alone, err);
    const struct as_launch l = as_launch_of(t->alone, args, 5, 1, most < SWEEP_THREADS ? most : SWEEP_THREADS);
    for (int i = 0; i < times && !st; i++)
        st = as_kernel_timer_launch(t, &l, &unused, err);
    return st;
}

/* Untouched host pages all map to the zero page; GPU memory is populated when allocated. */
static enum as_status kernel_timer_back(struct as_device *dev, struct as_memory *block, struct as_error *err)
{
    enum { PIECE = 16 << 20 };
    if (!dev->info.is_host_memory)
        return AS_OK;
    char *zeros = calloc(1, PIECE);
    enum as_status st = zeros ? AS_OK : as_nomem(err, PIECE, "a block");
    for (uint64_t at = 0; at < block->bytes && !st; at += PIECE)
        st = dev->memory->write(dev, block, at, zeros, block->bytes - at < PIECE ? block->bytes - at : PIECE, err);
    free(zeros);
    return st;
}

static uint64_t evictor_bytes(const struct as_device *dev)
{
    return as_info_memory_least(&dev->info, NULL, 1) + (UINT64_C(16) << 20);
}

enum as_status as_kernel_timer_evictor(struct as_kernel_timer *t, struct as_memory **out, struct as_error *err)
{
    uint64_t bytes = evictor_bytes(t->dev);
    enum as_status st = as_check_room(t->dev, bytes, bytes, err);
    if (!st)
        st = as_kernel_timer_keep_memory(t, bytes, out, err);
    return st ? st : kernel_timer_back(t->dev, *out, err);
}

enum as_status as_kernel_timer_evict(struct as_kernel_timer *t, struct as_error *err)
{
    struct as_memory *block = NULL;
    uint64_t bytes = evictor_bytes(t->dev);
    enum as_status st = as_check_room(t->dev, bytes, bytes, err);
    if (!st)
        st = as_device_memory(t->dev, bytes, &block, err);
    if (!st)
        st = kernel_timer_back(t->dev, block, err);
    if (!st)
        st = as_kernel_timer_sweep(t, block, err);
    t->dev->memory->free(t->dev, block);
    return st;
}
