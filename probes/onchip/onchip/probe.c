/* onchip: latency of each level of a device's caches, and of instruction fetch. See method.md. */
#include "onchip.h"

#include "device/dialect/dialect.h"
#include "lib/checks/checks.h"

#include <math.h>
#include <stdio.h>

const char *const onchip_what_words[] = {"global", "readonly", "constant", "shared", "ifetch", "atomic", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS(
        "what", onchip_what_words, "global",
        "global load; read-only load; constant load; shared memory load; instruction of a loop of `size` bytes of "
        "code; atomic addition to global memory"),
    AS_SIZE_AXIS("size", 512, 0, "16KiB", "bytes of the chase; bytes of the loop's code"),
    AS_SIZE_AXIS("stride", 8, 1 << 20, "64",
                 "bytes between elements, a multiple of 8; global, readonly and atomic only"),
    AS_SIZE_AXIS("shared", 0, 0, "0", "bytes of shared memory that the workgroup also allocates; global only"),
    {0},
};
enum { SHARED_SMALL = 4096 }; /* in one cell of both grids, where a device reports why it has no others */
static const char *const quick[] = {"what=global size=2KiB,8KiB,32KiB,64KiB,128KiB", /* Apple's first level is 8 KiB */
                                    "what=global size=181KiB,256KiB,362KiB,512KiB",
                                    "what=global size=4MiB..128MiB x1",
                                    "what=atomic size=4MiB..128MiB x1",
                                    "what=shared size=4KiB",
                                    NULL};
static const char *const full[] = {
    "what=global size=1KiB..256MiB x2",
    "what=global size=64KiB..512KiB x4",
    "what=global size=16MiB..128MiB x4",
    "what=global size=16KiB..512KiB x1 shared=8KiB,32KiB,64KiB,100KiB,132KiB,164KiB,196KiB,227KiB",
    "what=global size=64KiB..1MiB x4 stride=288", /* longer than a line, and not a power of two */
    "what=atomic size=1MiB,4MiB",
    "what=atomic size=16MiB..256MiB x4",
    "what=readonly size=4KiB..1MiB x4",
    "what=shared size=1KiB..128KiB x1",
    "what=constant size=512..64KiB x4",
    "what=ifetch size=1KiB..256KiB x2",
    NULL,
};

static enum onchip_what onchip_what_of(const struct as_axes *a)
{
    return (enum onchip_what)as_word_index(a, "what", onchip_what_words);
}

bool as_onchip_is_global(enum onchip_what what)
{
    return what == ONCHIP_GLOBAL || what == ONCHIP_READONLY || what == ONCHIP_ATOMIC;
}

static enum as_applies refuse(struct as_error *err, const char *why)
{
    return as_inapplicable(err, "%s", why);
}

static enum as_applies onchip_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    enum onchip_what what = onchip_what_of(a);
    double size = as_axes_number(a, "size"), stride = as_axes_number(a, "stride");
    double shared = as_axes_number(a, "shared");
    bool is_global = as_onchip_is_global(what);
    if (info->is_host_cpu)
        return what == ONCHIP_SHARED && size == SHARED_SMALL
                   ? refuse(err, "it uses the host's memory and caches: see probe latency")
                   : AS_PRUNED;
    if ((!is_global && stride != 64) || (what != ONCHIP_GLOBAL && shared > 0) || (is_global && size < 2 * stride))
        return AS_PRUNED;
    if (what == ONCHIP_ATOMIC && as_dialect_find(info->dialect) == AS_DIALECT_METAL)
        return refuse(err, "kernels of this device have no 64-bit atomic additions");
    if (what == ONCHIP_CONSTANT && size > ONCHIP_CONSTANT_MAX)
        return AS_PRUNED;
    if (is_global && fmod(stride, 8) != 0)
        return refuse(err, "the stride is not a multiple of 8 bytes");
    double shared_max = (double)info->workgroup_shared;
    if ((what != ONCHIP_SHARED || size <= shared_max) && shared <= shared_max)
        return AS_APPLIES;
    return as_pruned(err, "a workgroup has %.0f B of shared memory", shared_max);
}

/* The driver compiles the kernel first, and a megabyte of code takes long. */
static double onchip_patience(const struct as_device_info *info, const struct as_axes *a)
{
    double size = as_axes_number(a, "size");
    return as_compile_patience(info, a) + size / (onchip_what_of(a) == ONCHIP_CODE ? 10e3 : 100e6);
}

static enum as_status (*const preparations[ONCHIP_WHATS])(struct onchip *, struct as_trial_context *,
                                                          struct as_error *) = {
    [ONCHIP_GLOBAL] = as_onchip_memory_prepare,     [ONCHIP_READONLY] = as_onchip_memory_prepare,
    [ONCHIP_CONSTANT] = as_onchip_constant_prepare, [ONCHIP_SHARED] = as_onchip_memory_prepare,
    [ONCHIP_CODE] = as_onchip_code_prepare,         [ONCHIP_ATOMIC] = as_onchip_memory_prepare,
};

/* The control and a short chase, to find the clock. */
static enum as_status onchip_first_launches(struct onchip *o, struct as_trial_context *tc, struct as_error *err)
{
    double ns, seconds;
    enum as_status st = as_kernel_timer_pin_unit(&o->timer, AS_TIMER_UNIT, err);
    if (!st)
        st = as_onchip_control(o, err);
    if (!st && o->shared_bytes)
        st = as_kernel_timer_need(&o->timer, AS_HAS_SHARED, err);
    if (!st)
        st = as_onchip_run(o, o->what == ONCHIP_CODE ? 16 : 256, &ns, &seconds, err);
    if (st)
        return st;
    if (o->what != ONCHIP_CODE)
        as_limit_one_cycle(tc, as_kernel_timer_clock(&o->timer));
    if (!(o->timer.record[0].has & AS_HAS_NANOS))
        as_note_number(tc, "control_ns", o->timer.overhead_s * 1e9);
    as_kernel_timer_note(tc, &o->timer);
    return AS_OK;
}

static enum as_status onchip_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct onchip *o = state;
    o->what = onchip_what_of(tc->axes);
    o->size = as_axes_u64(tc->axes, "size");
    o->stride = as_axes_u64(tc->axes, "stride");
    o->shared_bytes = as_axes_u64(tc->axes, "shared");
    if (o->what >= ONCHIP_WHATS)
        return as_fail(err, AS_USAGE, "unknown experiment '%s'", as_axes_text(tc->axes, "what"));
    enum as_status st = preparations[o->what](o, tc, err);
    if (!st)
        st = onchip_first_launches(o, tc, err);
    if (st)
        return st;
    tc->footprint = o->size;
    tc->sample_s = o->places > 1 ? 8e-3 : 4e-3; /* long compared with a tick of the device's nanosecond clock */
    tc->max_reps = o->what == ONCHIP_CODE ? (UINT64_C(1) << 26) / o->ops : UINT32_MAX / 2;
    return AS_OK;
}

static enum as_status onchip_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct onchip *o = state;
    enum as_status st = as_onchip_run(o, (uint32_t)reps, &out->value, &out->seconds, err);
    if (!st)
        out->clock_hz = as_kernel_timer_clock(&o->timer);
    return st;
}

static bool onchip_check(void *state, char *why, size_t why_size)
{
    const struct onchip *o = state;
    static const char *const words[2][2] = {
        {"every chase ended at the expected element", "a chase ended at an unexpected element"},
        {"all chains counted their instructions", "the chains did not count the expected instructions"}};
    snprintf(why, why_size, "%s", words[o->what == ONCHIP_CODE][o->lost != 0]);
    return !o->lost;
}

const struct as_probe as_probe_onchip = {
    .name = "onchip",
    .title = "On-chip latency",
    .question = "What is the latency of each cache level, of shared memory and of instruction fetch?",
    .metric = "time",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "time of one dependent load (or atomic addition) of one thread, averaged over a pointer chase; code: of "
              "one instruction of one warp",
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, quick, full, onchip_applies),
    .patience = onchip_patience,
    AS_TRIAL(struct onchip, onchip_prepare, onchip_sample, onchip_check, as_kernel_timer_finish),
};
