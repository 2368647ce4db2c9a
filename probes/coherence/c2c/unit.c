/* Ping-pong between workgroups on two compute units. */
#include "c2c.h"
#include "lib/buffers/buffers.h"

#include <math.h>
#include <stdio.h>

extern const char as_kernel_c2c[];

enum { SIDES = 2, TRIES = 8, GROUPS_OF_UNIT = 4, PATIENCE_OF_GPU = 1 << 18 };

/* Without unit ids there is one pair: two workgroups, wherever they start. Such a device also reports no counters in
 * kernels. */
static enum as_applies c2c_unit_applies(const struct as_device_info *info, const struct as_axes *a,
                                        struct as_error *err)
{
    double from = as_axes_number(a, "from"), to = as_axes_number(a, "to");
    if ((info->capabilities & AS_CAP_HOST_KERNELS) || !(info->capabilities & AS_CAP_SOURCE))
        return AS_PRUNED;
    if (!(from < to) || as_word_is(a, "pairs", "some"))
        return AS_PRUNED;
    if (to >= info->compute_units)
        return as_pruned(err, "the device has %u units", info->compute_units);
    if (!(info->capabilities & AS_CAP_CYCLES) && (from != 0 || to != 1))
        return AS_PRUNED;
    if (!as_word_is(a, "op", "load") && (!as_word_is(a, "op", "relaxed") || info->is_host_cpu))
        return AS_PRUNED;
    if (!info->is_host_cpu)
        return AS_APPLIES;
    return as_inapplicable(err, "its compute units are threads of the host CPU: see pairs of CPUs");
}

static struct as_launch c2c_launch_of(struct c2c *s, struct as_arg args[12], uint32_t cycles)
{
    const uint32_t values[] = {(uint32_t)s->pair[0],
                               (uint32_t)s->pair[1],
                               C2C_STRIDE / sizeof(uint32_t),
                               C2C_LINES,
                               C2C_BURST,
                               cycles,
                               (uint32_t)(2 * C2C_BURST * s->cycles),
                               s->launches,
                               s->patience};
    struct as_memory *memories[] = {s->timer.memory, s->memory, s->tickets};
    size_t n = 0;
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        args[n++] = as_memory_arg(memories[i]);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        args[n++] = as_u32_arg(values[i]);
    struct as_launch l =
        as_launch_of(s->kernel, args, n, s->named ? (size_t)GROUPS_OF_UNIT * s->dev->info.compute_units : SIDES, 1);
    l.work.accesses = 2.0 * cycles * C2C_ROUNDS;
    return l;
}

/* An empty launch, to find out whether kernels have unit ids and clocks. */
static enum as_status look_around(struct c2c *s, struct as_trial_context *tc, struct as_error *err)
{
    struct as_arg args[12];
    struct as_launch nothing = c2c_launch_of(s, args, 0);
    enum as_status st = as_kernel_timer_overhead(&s->timer, &nothing, err);
    if (st)
        return st;
    s->named = (s->timer.record[0].has & AS_HAS_UNIT) != 0;
    as_limit_one_cycle(tc, tc->dev->info.clock_max_hz);
    as_note(tc, "units", s->named ? "as requested" : "wherever two workgroups start: kernels have no unit id");
    return s->pair[0] == 0 && s->pair[1] == 1 ? AS_OK : as_kernel_timer_need(&s->timer, AS_HAS_UNIT, err);
}

static enum as_status c2c_unit_prepare(struct c2c *s, struct as_trial_context *tc, struct as_error *err)
{
    static const char zeros[C2C_DEVICE_BYTES];
    struct as_device *dev = tc->dev;
    struct as_memory_desc want = {
        .allocator = as_axes_text(tc->axes, "allocator"), .bytes = C2C_DEVICE_BYTES, .node = -1, .fresh = true};
    char orders[96], defines[128];
    if (!dev->info.is_host_cpu) /* both run from the start, or the launch ends early */
        s->patience = PATIENCE_OF_GPU;
    as_c2c_device_defines(tc->axes, "SCOPE_DEVICE", orders, sizeof orders);
    snprintf(defines, sizeof defines, "%s -DBETWEEN_UNITS", orders);
    enum as_status st = as_kernel_timer_prepare(&s->timer, dev, "c2c", "", as_kernel_c2c, defines, SIDES, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&s->timer, "between", &s->kernel, err);
    if (!st)
        st = as_kernel_timer_keep_memory(&s->timer, SIDES * sizeof(uint32_t), &s->tickets, err);
    if (st)
        return st;
    s->memory = as_buffers_alloc(&s->timer.own, &want, err);
    as_buffers_write(&s->timer.own, s->memory, zeros, sizeof zeros, err);
    if (s->timer.own.status)
        return s->timer.own.status;
    as_expect_code(tc, s->kernel, "load.global", 2);
    as_expect_code(tc, s->kernel, "store.global", 2);
    tc->footprint = sizeof zeros;
    return look_around(s, tc, err);
}

/* Did both sides report all passes? */
static bool played(const struct c2c *s, uint64_t cycles)
{
    const struct as_record *r = s->timer.record;
    return r[0].value == cycles * C2C_ROUNDS && r[1].value == cycles * C2C_ROUNDS;
}

static enum as_status c2c_try_once(struct c2c *s, uint64_t cycles, double *seconds, struct as_error *err)
{
    static const uint32_t no_tickets[SIDES];
    static const struct as_record none[SIDES];
    struct as_arg args[12];
    s->launches++;
    struct as_launch l = c2c_launch_of(s, args, (uint32_t)cycles);
    enum as_status st = s->dev->memory->write(s->dev, s->tickets, 0, no_tickets, sizeof no_tickets, err);
    if (!st)
        st = s->dev->memory->write(s->dev, s->timer.memory, 0, none, sizeof none, err);
    return st ? st : as_kernel_timer_launch(&s->timer, &l, seconds, err);
}

/* Passes of an unfinished exchange would count in the next one. */
static enum as_status set_up_again(struct c2c *s, struct as_error *err)
{
    uint32_t base = (uint32_t)(2 * C2C_BURST * s->cycles);
    enum as_status st = AS_OK;
    for (uint64_t l = 1; l <= C2C_LINES && !st; l++)
        st = s->dev->memory->write(s->dev, s->memory, l * C2C_STRIDE, &base, sizeof base, err);
    return st;
}

/* A launch may miss a compute unit, or end one workgroup before the other starts: then it is repeated. */
static enum as_status c2c_unit_play(struct c2c *s, uint64_t cycles, struct as_sample *out, struct as_error *err)
{
    double seconds = NAN;
    for (int i = 0; i < TRIES; i++) {
        enum as_status st = i ? set_up_again(s, err) : AS_OK;
        if (!st)
            st = c2c_try_once(s, cycles, &seconds, err);
        if (st)
            return st;
        if (!played(s, cycles))
            continue;
        out->seconds = as_kernel_timer_seconds(&s->timer, seconds);
        out->clock_hz = as_kernel_timer_clock(&s->timer);
        return AS_OK;
    }
    return as_fail(
        err, AS_UNSUPPORTED,
        "in none of %d launches did workgroups on units %d and %d run concurrently and see each other's writes", TRIES,
        s->pair[0], s->pair[1]);
}

const struct c2c_peer c2c_unit = {"compute_unit", c2c_unit_applies, c2c_unit_prepare, c2c_unit_play,
                                  as_c2c_device_passes};
