/* Chases by a device's kernel. A launch may start with empty caches: the chase warms them before its clock starts. */
#include "chase_internal.h"
#include "device/dialect/dialect.h"
#include "lib/buffers/buffers.h"

#include <stdlib.h>
#include <string.h>

extern const char as_kernel_chase[];

static const uint64_t PIECE = UINT64_C(16) << 20;
/* If the cache cannot hold all, late reads evict early ones, and one pass does not reach the steady state. */
enum { SWEEPS = 3, LAPS = 4, HOST_LAPS_LINES = 1 << 20 };
/* Elements of a list, 256 KiB of positions, and threads that share them. */
enum { LISTED = 1 << 15, LISTED_THREADS = 512 };

static enum as_status chase_device_build(struct as_chase *c, const struct as_chase_desc *desc, struct as_error *err)
{
    c->past_own = desc->past_own && as_dialect_has_shared_load(as_dialect_find(c->dev->info.dialect));
    enum as_status st = as_kernel_timer_prepare(&c->timer, c->dev, "latency", as_kernel_sweep, as_kernel_chase,
                                                c->past_own ? "-DPAST_OWN_CACHE" : NULL, 1, err);
    if (!st)
        st = as_kernel_timer_pin_unit(&c->timer, AS_TIMER_UNIT, err);
    return st ? st : as_kernel_timer_kernel(&c->timer, "walk", &c->kernel, err);
}

static struct as_launch chase_launch(const struct as_chase *c, uint32_t turns, struct as_arg args[6])
{
    args[0] = as_memory_arg(c->timer.memory);
    args[1] = as_memory_arg(c->timer.choice);
    args[2] = as_memory_arg(c->memory);
    args[3] = as_u64_arg(as_chase_offset(c, c->at) / 8);
    args[4] = as_u32_arg(c->before);
    args[5] = as_u32_arg(turns);
    struct as_launch l = as_launch_of(c->kernel, args, 6, 1, 1);
    l.work.accesses = ((double)c->before + turns) * AS_CHASE_STEPS;
    l.work.footprint = (double)c->footprint;
    return l;
}

/* In pieces, since the host may have less memory than the device. */
enum as_status as_cycle_write(const struct as_cycle *c, struct as_device *dev, struct as_memory *to, uint64_t stride,
                              uint64_t unit, size_t word_bytes, struct as_error *err)
{
    uint64_t piece = PIECE / stride ? PIECE / stride : 1;
    piece = piece < c->lines ? piece : c->lines;
    char *buffer = calloc(piece, stride);
    enum as_status st = buffer ? AS_OK : as_nomem(err, piece * stride, "a chase");
    for (uint64_t first = 0; first < c->lines && !st; first += piece) {
        uint64_t count = c->lines - first < piece ? c->lines - first : piece;
        for (uint64_t k = 0; k < count; k++) {
            uint64_t next = as_cycle_next(c, first + k) * (stride / unit);
            uint32_t half = (uint32_t)next;
            memcpy(buffer + k * stride, word_bytes == sizeof half ? (void *)&half : (void *)&next, word_bytes);
        }
        st = dev->memory->write(dev, to, first * stride, buffer, count * stride, err);
    }
    free(buffer);
    return st;
}

/* Only the device knows its addresses, so it converts the indices. */
static enum as_status relocate(struct as_chase *c, struct as_error *err)
{
    const struct as_arg args[] = {as_memory_arg(c->memory), as_u64_arg(c->cycle.lines), as_u64_arg(c->stride / 8)};
    const struct as_device_info *info = &c->dev->info;
    size_t compute_units = info->compute_units ? info->compute_units : 1,
           threads_max = info->threads ? info->threads : 1;
    return as_kernel_timer_once(&c->timer, "relocate", args, 3, 8 * compute_units, threads_max < 64 ? threads_max : 64,
                                err);
}

/* Spread elements are far apart, and nothing between them is written: the device scatters a dense list.
 */
static enum as_status chase_device_place(struct as_chase *c, struct as_error *err)
{
    const uint64_t n = c->cycle.lines, bytes = 2 * n * sizeof(uint64_t);
    struct as_memory *list = NULL;
    uint64_t *pairs = malloc(bytes);
    if (!pairs)
        return as_nomem(err, bytes, "a chase");
    for (uint64_t i = 0; i < n; i++) {
        pairs[2 * i] = as_chase_offset(c, i) / 8;
        pairs[2 * i + 1] = as_chase_offset(c, as_cycle_next(&c->cycle, i)) / 8;
    }
    enum as_status st = as_device_memory(c->dev, bytes, &list, err);
    if (!st)
        st = c->dev->memory->write(c->dev, list, 0, pairs, bytes, err);
    const struct as_arg args[] = {as_memory_arg(c->memory), as_memory_arg(list), as_u64_arg(n)};
    const struct as_device_info *info = &c->dev->info;
    size_t compute_units = info->compute_units ? info->compute_units : 1,
           threads_max = info->threads ? info->threads : 1;
    if (!st)
        st = as_kernel_timer_once(&c->timer, "place", args, 3, 8 * compute_units, threads_max < 64 ? threads_max : 64,
                                  err);
    c->dev->memory->free(c->dev, list);
    free(pairs);
    return st;
}

/* A whole lap takes one thread too long: a third of a second for 64 MiB. So this many threads of the compute unit share
 * the elements, in chase order, with positions from a list much smaller than the cache. */
static enum as_status launch_laps(struct as_chase *c, struct as_memory *list, const uint64_t *places,
                                  struct as_error *err)
{
    const size_t threads_max = c->dev->info.threads ? c->dev->info.threads : 1;
    struct as_kernel *kernel = NULL;
    enum as_status st = as_kernel_timer_keep_kernel(&c->timer, "around", &kernel, err);
    for (c->laps = 0; c->laps < LAPS && !st; c->laps++)
        for (uint64_t first = 0; first < c->cycle.lines && !st; first += LISTED) {
            const uint64_t n = c->cycle.lines - first < LISTED ? c->cycle.lines - first : LISTED;
            const struct as_arg args[] = {as_memory_arg(c->timer.memory), as_memory_arg(c->timer.choice),
                                          as_memory_arg(c->memory), as_memory_arg(list), as_u64_arg(n)};
            const struct as_launch l =
                as_launch_of(kernel, args, 5, 1, threads_max < LISTED_THREADS ? threads_max : LISTED_THREADS);
            double unused;
            st = c->dev->memory->write(c->dev, list, 0, places + first, n * sizeof *places, err);
            if (!st)
                st = as_kernel_timer_launch(&c->timer, &l, &unused, err);
        }
    return st;
}

static enum as_status run_laps(struct as_chase *c, struct as_error *err)
{
    const uint64_t n = c->cycle.lines;
    uint64_t *places = malloc(n * sizeof *places);
    if (!places)
        return as_nomem(err, n * sizeof *places, "the order of a chase");
    for (uint64_t i = 0; i < n; i++)
        places[i] = as_chase_offset(c, as_cycle_at(&c->cycle, i)) / 8;
    struct as_memory *list = NULL;
    enum as_status st = as_device_memory(c->dev, LISTED * sizeof *places, &list, err);
    if (!st)
        st = launch_laps(c, list, places, err);
    c->dev->memory->free(c->dev, list);
    free(places);
    return st;
}

/* Brings the last-level cache into the steady state of a long chase, which a trial is too short to reach (method.md of
 * latency). A buffer of twice the cache or more: evicts what was written last. One that fits: the compute unit reads
 * all, which copies far lines into the near partition. One that fits in part: reads it in chase order, since the order
 * decides what stays. A host CPU reads short buffers likewise: how much of the last-level cache a virtual
 * machine or a process may use is not known. */
static enum as_status chase_device_settle(struct as_chase *c, struct as_error *err)
{
    const struct as_device_info *info = &c->dev->info;
    const uint64_t cache = as_info_memory_least(info, NULL, 1) / 4;
    if (c->footprint >= 2 * cache)
        return info->is_host_cpu ? AS_OK : as_kernel_timer_evict(&c->timer, err);
    if (c->spread)
        return AS_OK;
    if (info->is_host_cpu ? c->cycle.lines <= HOST_LAPS_LINES : c->footprint >= cache / 2)
        return run_laps(c, err);
    return as_kernel_timer_sweep_alone(&c->timer, c->memory, c->cycle.lines, c->stride, SWEEPS, err);
}

enum as_status as_chase_fill_device(struct as_chase *c, struct as_error *err)
{
    enum as_status st =
        c->spread ? chase_device_place(c, err) : as_cycle_write(&c->cycle, c->dev, c->memory, c->stride, 8, 8, err);
    if (!st && !c->spread)
        st = relocate(c, err);
    return st ? st : chase_device_settle(c, err);
}

/* A launch with only the warm-up is the control: its time is subtracted if the kernel has no clock. */
static enum as_status chase_device_fill(struct as_chase *c, struct as_error *err)
{
    struct as_arg args[6];
    const struct as_launch control = chase_launch(c, 0, args);
    enum as_status st = as_chase_fill_device(c, err);
    return st ? st : as_kernel_timer_overhead(&c->timer, &control, err);
}

static enum as_status chase_device_run(struct as_chase *c, uint64_t reps, struct as_chase_result *out,
                                       struct as_error *err)
{
    struct as_arg args[6];
    double launch_s;
    const struct as_launch l = chase_launch(c, (uint32_t)reps, args);
    enum as_status st = as_kernel_timer_launch(&c->timer, &l, &launch_s, err);
    if (st)
        return st;
    *out = (struct as_chase_result){.line = c->timer.record[0].value * 8 / c->stride,
                                    .seconds = as_kernel_timer_seconds(&c->timer, launch_s),
                                    .timed = reps * AS_CHASE_STEPS,
                                    .untimed = c->before * AS_CHASE_STEPS};
    c->clock_hz = as_kernel_timer_clock(&c->timer);
    return AS_OK;
}

/* The warm-up and the timed chase are two loops. */
const struct as_chase_method as_chase_device = {.steps = AS_CHASE_STEPS,
                                                .loads = 2 * AS_CHASE_STEPS,
                                                .warms = true,
                                                .build = chase_device_build,
                                                .fill = chase_device_fill,
                                                .run = chase_device_run};
