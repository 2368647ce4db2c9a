/* Pointer chases over global and shared memory, and the launch common to all experiments. */
#include "lib/buffers/buffers.h"
#include "onchip.h"

#include <stdio.h>

extern const char as_kernel_onchip[];

/* Cycles up to this length are chased once before the clock starts, to reach a steady cache state. Longer cycles exceed
 * L1, and the compute unit reads them into L2: more than once, since at first late reads evict early ones where L2 is
 * too small. */
enum { CYCLE_BEFORE = 1 << 15, BIND_THREADS = 256, FIRST_SWEEPS = 3 };
/* Shared memory beyond this is requested at launch: not every device lets a kernel declare it. */
static const uint64_t DECLARED_MAX = 32 << 10;

/* The position of the chase, in the unit that the kernel uses. */
static uint64_t onchip_position(const struct onchip *o, uint64_t steps)
{
    uint64_t element = as_cycle_at(&o->cycle, steps % o->cycle.lines);
    uint64_t bytes = element * o->stride;
    return o->what == ONCHIP_CONSTANT || o->what == ONCHIP_SHARED ? bytes : bytes / 8;
}

static size_t fill_args(const struct onchip *o, struct as_memory *chain, uint32_t turns, struct as_arg args[7])
{
    size_t n = 0;
    uint64_t start = o->what == ONCHIP_CODE ? 0 : onchip_position(o, o->steps_done);
    args[n++] = as_memory_arg(o->timer.memory);
    args[n++] = as_memory_arg(o->timer.choice);
    if (chain)
        args[n++] = as_memory_arg(chain);
    if (o->what == ONCHIP_CODE) {
        args[n++] = (struct as_arg){.kind = AS_ARG_F32, .u.f32 = 1};
        args[n++] = (struct as_arg){.kind = AS_ARG_F32, .u.f32 = 1};
    } else if (as_onchip_is_global(o->what)) {
        args[n++] = as_u64_arg(start);
    } else {
        args[n++] = as_u32_arg(start);
    }
    args[n++] = as_u32_arg(o->before);
    args[n++] = as_u32_arg(turns);
    return n;
}

/* Each of the eight chains counts an eighth of all operations. */
static uint64_t onchip_expected(const struct onchip *o, uint32_t turns)
{
    uint64_t all = (uint64_t)o->before + turns;
    if (o->what == ONCHIP_CODE)
        return all * o->ops;
    return onchip_position(o, o->steps_done + all * ONCHIP_STEPS);
}

static struct as_launch onchip_make_launch(const struct onchip *o, struct as_memory *chain, uint32_t turns,
                                           struct as_arg args[7])
{
    size_t n = fill_args(o, chain, turns, args);
    size_t warp = o->timer.dev->info.warp ? o->timer.dev->info.warp : 1;
    bool whole = o->what == ONCHIP_CODE || o->what == ONCHIP_SHARED; /* a warp */
    struct as_launch l = as_launch_of(o->kernel, args, n, 1, whole ? warp : 1);
    l.shared_bytes = o->shared_bytes;
    l.work.accesses = ((double)o->before + turns) * ONCHIP_STEPS;
    l.work.footprint = (double)o->size;
    return l;
}

enum as_status as_onchip_control(struct onchip *o, struct as_error *err)
{
    struct as_arg args[7];
    const struct as_launch control = onchip_make_launch(o, o->chains[0], 0, args);
    return as_kernel_timer_overhead(&o->timer, &control, err);
}

static enum as_status onchip_sweep(struct onchip *o, struct as_memory *chain, struct as_error *err)
{
    if (o->what == ONCHIP_ATOMIC) /* by a separate kernel: atomics have no near copy */
        return as_kernel_timer_sweep(&o->timer, chain, err);
    return as_kernel_timer_sweep_alone(&o->timer, chain, o->cycle.lines, o->stride, o->steps_done ? 1 : FIRST_SWEEPS,
                                       err);
}

static enum as_status onchip_run_place(struct onchip *o, struct as_memory *chain, uint32_t turns, double *seconds,
                                       struct as_error *err)
{
    struct as_arg args[7];
    double launch_s;
    const struct as_launch l = onchip_make_launch(o, chain, turns, args);
    enum as_status st = as_onchip_is_global(o->what) ? onchip_sweep(o, chain, err) : AS_OK;
    if (!st)
        st = as_kernel_timer_launch(&o->timer, &l, &launch_s, err);
    if (st)
        return st;
    /* A wrong result must not become an address: the chase resumes at the expected position, and the check fails. */
    o->lost |= o->timer.record[0].value != onchip_expected(o, turns);
    *seconds += as_kernel_timer_seconds(&o->timer, launch_s);
    return AS_OK;
}

enum as_status as_onchip_run(struct onchip *o, uint32_t turns, double *ns, double *seconds, struct as_error *err)
{
    size_t places = o->places ? o->places : 1; /* constant memory and code have no chain */
    double each = o->what == ONCHIP_CODE ? (double)o->ops : ONCHIP_STEPS;
    *seconds = 0;
    for (size_t i = 0; i < places; i++) {
        enum as_status st = onchip_run_place(o, o->chains[i], turns, seconds, err);
        if (st)
            return st;
    }
    if (o->what != ONCHIP_CODE)
        o->steps_done = (o->steps_done + ((uint64_t)o->before + turns) * ONCHIP_STEPS) % o->cycle.lines;
    *ns = *seconds * 1e9 / ((double)places * (double)turns * each);
    return AS_OK;
}

/* ---- the elements ---- */

/* Shared memory is addressed by byte offsets; global memory by addresses that only the device knows. */
static enum as_status onchip_write_chain(struct onchip *o, struct as_memory *chain, struct as_error *err)
{
    struct as_device *dev = o->timer.dev;
    struct as_arg args[] = {as_memory_arg(chain), as_u64_arg(o->cycle.lines), as_u64_arg(o->stride / 8)};
    if (o->what == ONCHIP_SHARED)
        return as_cycle_write(&o->cycle, dev, chain, o->stride, 1, sizeof(uint32_t), err);
    enum as_status st = as_cycle_write(&o->cycle, dev, chain, o->stride, 8, sizeof(uint64_t), err);
    if (o->what == ONCHIP_ATOMIC) /* counts in words */
        return st;
    size_t compute_units = dev->info.compute_units ? dev->info.compute_units : 1;
    return st ? st : as_kernel_timer_once(&o->timer, "bind", args, 3, 4 * compute_units, BIND_THREADS, err);
}

static enum as_status get_chains(struct onchip *o, struct as_error *err)
{
    const struct as_device_info *info = &o->timer.dev->info;
    bool placed = as_onchip_is_global(o->what) && !info->is_host_cpu && o->size <= ONCHIP_PLACED_MAX &&
                  o->size <= as_info_last_cache(info);
    size_t wanted = placed ? ONCHIP_PLACES : 1;
    enum as_status st = AS_OK;
    for (; o->places < wanted && !st; o->places++) {
        struct as_memory **chain = &o->chains[o->places];
        st = as_kernel_timer_keep_memory(&o->timer, placed ? ONCHIP_PLACE_BYTES : o->size, chain, err);
        if (!st)
            st = onchip_write_chain(o, *chain, err);
    }
    return st;
}

enum as_status as_onchip_memory_prepare(struct onchip *o, struct as_trial_context *tc, struct as_error *err)
{
    static const char *const operations[ONCHIP_WHATS] = {[ONCHIP_GLOBAL] = "load.global",
                                                         [ONCHIP_READONLY] = "load.global",
                                                         [ONCHIP_SHARED] = "load.local",
                                                         [ONCHIP_ATOMIC] = "atomic.global"};
    char defines[64];
    bool shared = o->what == ONCHIP_SHARED, at_launch = shared && o->size > DECLARED_MAX;
    if (at_launch)
        o->shared_bytes = o->size;
    snprintf(defines, sizeof defines, "-DWHAT=%d -DSIZE=%llu%s", (int)o->what,
             shared ? (unsigned long long)o->size : 0ULL, at_launch ? " -DAT_LAUNCH" : "");
    as_cycle_init(&o->cycle, AS_PATTERN_RANDOM, o->size / o->stride, o->stride, 4096, tc->seed);
    enum as_status st = as_check_room(tc->dev, o->size, o->size, err);
    if (!st)
        st = as_kernel_timer_prepare(&o->timer, tc->dev, "onchip", o->what == ONCHIP_ATOMIC ? "" : as_kernel_sweep,
                                     as_kernel_onchip, defines, 1, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&o->timer, "walk", &o->kernel, err);
    if (!st)
        st = get_chains(o, err);
    if (st)
        return st;
    as_expect_code(tc, o->kernel, operations[o->what], ONCHIP_STEPS);
    as_note_number(tc, "elements", (double)o->cycle.lines);
    if (o->chains[0]->page_size)
        as_note_number(tc, "page_size", (double)o->chains[0]->page_size);
    if (o->cycle.lines <= CYCLE_BEFORE)
        o->before = (uint32_t)((o->cycle.lines + ONCHIP_STEPS - 1) / ONCHIP_STEPS);
    return AS_OK;
}
