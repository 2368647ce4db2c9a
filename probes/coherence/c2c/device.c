/* Ping-pong between a host thread and a device thread, in memory that both access. */
#include "c2c.h"
#include "lib/buffers/buffers.h"

#include "os/cpus.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

extern const char as_kernel_c2c[];

static const double HOST_PATIENCE_S = 2;

static const struct as_allocator *first_coherent(const struct as_device_info *info)
{
    for (size_t i = 0; i < info->allocators_n; i++)
        if (info->allocators[i].coherent)
            return &info->allocators[i];
    return NULL;
}

static const struct as_allocator *c2c_allocator_of(const struct as_device_info *info, const struct as_axes *a)
{
    return as_info_allocator(info, as_axes_text(a, "allocator"));
}

/* If no allocator suits, the cells of named allocators report the reason. */
static enum as_applies c2c_device_applies(const struct as_device_info *info, const struct as_axes *a,
                                          struct as_error *err)
{
    const struct as_allocator *allocator = c2c_allocator_of(info, a);
    if ((info->capabilities & AS_CAP_HOST_KERNELS) || as_axes_u64(a, "to") != 0 || !as_c2c_plays_with_device(a))
        return AS_PRUNED;
    if (!as_word_is(a, "op", "load") && !as_word_is(a, "op", "relaxed"))
        return AS_PRUNED;
    if (!allocator || (!allocator->coherent && first_coherent(info)))
        return AS_PRUNED;
    if (!as_c2c_usable_cpu(a, "from", err))
        return AS_INAPPLICABLE;
    if (!allocator->coherent)
        as_fail(err, AS_UNSUPPORTED, "host and running kernel do not see each other's stores to '%s'", allocator->name);
    else if (!(info->capabilities & AS_CAP_ASYNC))
        as_fail(err, AS_UNSUPPORTED, "launches on this device are synchronous");
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

void as_c2c_device_defines(const struct as_axes *a, const char *scope, char *out, size_t size)
{
    bool relaxed = as_word_is(a, "op", "relaxed");
    snprintf(out, size, "-DSCOPE=%s -DTAKE=%s -DGIVE=%s", scope, relaxed ? "ORDER_RELAXED" : "ORDER_ACQUIRE",
             relaxed ? "ORDER_RELAXED" : "ORDER_RELEASE");
}

static enum as_status c2c_device_prepare(struct c2c *s, struct as_trial_context *tc, struct as_error *err)
{
    struct as_device *dev = tc->dev;
    const struct as_allocator *allocator = c2c_allocator_of(&dev->info, tc->axes);
    struct as_memory_desc want = {.bytes = C2C_DEVICE_BYTES, .node = -1, .fresh = true};
    char defines[96];
    if (!allocator)
        return as_fail(err, AS_UNSUPPORTED, "the device has no such memory");
    want.allocator = allocator->name;
    as_c2c_device_defines(tc->axes, "SCOPE_SYSTEM", defines, sizeof defines);
    struct as_program_desc desc = {.name = "c2c", .source = as_kernel_c2c, .defines = defines};
    as_buffers_open(&s->own, dev, &desc, err);
    s->kernel = as_buffers_kernel(&s->own, "pingpong", err);
    s->memory = as_buffers_alloc(&s->own, &want, err);
    const enum as_status st = s->own.status ? s->own.status : dev->memory->map(dev, s->memory, err);
    if (st)
        return st;
    memset(s->memory->host, 0, want.bytes);
    as_expect_code(tc, s->kernel, "load.global", 1);
    as_expect_code(tc, s->kernel, "store.global", 1);
    tc->footprint = want.bytes;
    return AS_OK;
}

/* Line l from 1; line 0 holds the signals. */
static _Atomic uint32_t *c2c_device_line_at(const struct c2c *s, unsigned line)
{
    return (_Atomic uint32_t *)(void *)((char *)s->memory->host + (size_t)line * C2C_STRIDE);
}

static bool c2c_wait_for(_Atomic uint32_t *word, uint32_t value)
{
    double end = 0;
    for (unsigned spins = 1; atomic_load_explicit(word, memory_order_acquire) != value; spins++) {
        if (spins % 65536)
            continue;
        double now = as_now();
        if (end <= 0)
            end = now + HOST_PATIENCE_S;
        if (now > end)
            return false;
    }
    return true;
}

/* Plays all rounds; false if the device did not answer in time. */
static bool c2c_serve(const struct c2c *s, uint32_t cycles, uint32_t base)
{
    for (uint32_t c = 0; c < cycles; c++)
        for (unsigned l = 1; l <= C2C_LINES; l++)
            for (uint32_t b = 0; b < C2C_BURST; b++) {
                uint32_t ball = base + 2 * (c * C2C_BURST + b) + 1;
                atomic_store_explicit(c2c_device_line_at(s, l), ball, memory_order_release);
                if (!c2c_wait_for(c2c_device_line_at(s, l), ball + 1))
                    return false;
            }
    return true;
}

static enum as_status play_here(struct c2c *s, uint32_t cycles, struct as_sample *out, struct as_error *err)
{
    uint32_t base = (uint32_t)(2 * C2C_BURST * s->cycles), number = ++s->launches;
    const uint32_t values[] = {C2C_STRIDE / sizeof(uint32_t), C2C_LINES, C2C_BURST, cycles, base, number, s->patience};
    struct as_arg args[8] = {as_memory_arg(s->memory)};
    for (size_t i = 0; i < 7; i++)
        args[i + 1] = as_u32_arg(values[i]);
    struct as_launch launch = {
        .kernel = s->kernel, .args = args, .args_n = 8, .workgroups = 1, .workgroup_size = 1, .reps = 1};
    enum as_status st = s->dev->queue->submit(s->dev, &launch, err);
    if (st)
        return st;
    bool ready = c2c_wait_for(c2c_device_line_at(s, 0), number);
    double start = as_now();
    bool served = ready && c2c_serve(s, cycles, base);
    out->seconds = as_now() - start;
    st = s->dev->queue->wait(s->dev, AS_WAIT_BLOCK, err);
    if (!st && !served)
        return as_fail(err, AS_UNSUPPORTED, "the device %s while the host waits",
                       ready ? "does not see the host's writes" : "does not start");
    return st;
}

static enum as_status c2c_device_play(struct c2c *s, uint64_t cycles, struct as_sample *out, struct as_error *err)
{
    struct as_cpus before, one = {{0}};
    as_cpus_add(&one, s->pair[0]);
    if (!as_thread_cpus(&before) || !as_thread_keep_on(&one))
        return as_fail(err, AS_UNSUPPORTED, "this process may not use CPU %d", s->pair[0]);
    enum as_status st = play_here(s, (uint32_t)cycles, out, err);
    as_thread_keep_on(&before);
    return st;
}

enum as_status as_c2c_device_passes(struct c2c *s, uint32_t passed[C2C_LINES], struct as_error *err)
{
    enum as_status st = AS_OK;
    for (unsigned l = 0; l < C2C_LINES && !st; l++)
        st = s->dev->memory->read(s->dev, s->memory, (uint64_t)(l + 1) * C2C_STRIDE, &passed[l], sizeof passed[l], err);
    return st;
}

const struct c2c_peer c2c_device = {"device", c2c_device_applies, c2c_device_prepare, c2c_device_play,
                                    as_c2c_device_passes};
