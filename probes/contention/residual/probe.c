/* residual: how one side's memory traffic evicts the other's buffer from shared caches. See method.md. */
#include "device/host_limits.h"
#include "device/shared_host.h"
#include "lib/arms/arms.h"
#include "lib/checks/checks.h"
#include "lib/pin/pin.h"
#include "os/process.h"
#include "passer.h"
#include "toucher.h"

#include <math.h>
#include <stdlib.h>

enum { PASSES_MAX = 5, WARM = 3, TRIES = 3, CONTROL = 0, TOUCHED = 1, ARMS = 2 };

static const char *const side_words[] = {"cpu", "device", NULL};
static const char *const control_words[] = {"launch", "wait", NULL};
static const char *const op_words[] = {"read", "write", NULL};
static const char *const pattern_words[] = {"linear", "random", NULL};
static const struct as_axis axes[] = {
    AS_WORD_AXIS("op", op_words, "read", "what the other side does to each line of its memory"),
    AS_SIZE_AXIS(
        "touched", 0, 0, "64MiB",
        "bytes that it touches before the pass; 0: as many loads within one page, so that the ratio must be 1"),
    AS_SIZE_AXIS("size", 4096, 0, "16MiB", "bytes of the measured side's buffer"),
    AS_WORD_AXIS("pattern", pattern_words, "linear",
                 "order of the pass over that buffer: linear, or random by dependent loads"),
    AS_SIZE_AXIS("stride", SIDE_LINE, 1 << 20, "64",
                 "bytes between loaded lines; a large power of two selects few sets of the caches"),
    AS_COUNT_AXIS("pass", 1, PASSES_MAX, "1", "which pass after the touch is timed"),
    AS_COUNT_AXIS("delay", 0, 1000000, "0", "microseconds between the end of the touch and the first pass"),
    AS_ALLOCATOR_AXIS("allocator", "first", "how the device's memory is allocated"),
    AS_WORD_AXIS(
        "side", side_words, "cpu",
        "whose pass is timed: the CPU's after the device (or another core) touched memory, or the device's after "
        "the CPU did"),
    AS_WORD_AXIS("control", control_words, "launch",
                 "launch: the same instructions for as long, within one page; wait: the wait alone"),
    {0},
};
static const char *const quick[] = {"touched=0,1MiB,4MiB,16MiB,64MiB,256MiB",
                                    "touched=64MiB pass=2,3",
                                    "touched=64MiB op=write",
                                    "touched=0,64MiB pattern=random",
                                    "touched=64MiB stride=8KiB",
                                    "touched=0 control=wait",
                                    "touched=0,64MiB side=device",
                                    NULL};
static const char *const full[] = {"touched=0,1MiB..512MiB op=read,write pattern=linear,random",
                                   "touched=64MiB,512MiB pass=all pattern=linear,random",
                                   "touched=64MiB delay=10,100,1000,10000,100000",
                                   "touched=64MiB,512MiB size=1MiB..128MiB",
                                   "touched=64MiB,512MiB stride=64..64KiB",
                                   "touched=64MiB,512MiB allocator=device,pinned,managed,pageable",
                                   "touched=0,64MiB control=wait",
                                   "touched=0,1MiB..512MiB side=device",
                                   "touched=512MiB side=device pass=all",
                                   "touched=64MiB,512MiB side=device pattern=random op=read,write",
                                   NULL};

static const char *why_no_cell(const struct as_axes *a)
{
    const double stride = as_axes_number(a, "stride");
    if (stride > as_axes_number(a, "size"))
        return "stride is larger than size";
    if (fmod(stride, SIDE_LINE) != 0 || fmod(as_axes_number(a, "touched"), SIDE_LINE) != 0)
        return "stride and touched must be multiples of 64 bytes";
    if (stride > SIDE_LINE && as_word_is(a, "pattern", "random"))
        return "a random pass loads every line: pattern=random needs stride=64";
    return NULL;
}

static enum as_applies residual_applies(const struct as_device_info *info, const struct as_axes *a,
                                        struct as_error *err)
{
    const bool cpu = (info->capabilities & AS_CAP_HOST_KERNELS) != 0;
    const char *why = why_no_cell(a);
    if (why)
        return as_pruned(err, "%s", why);
    if (cpu && as_word_is(a, "side", "device"))
        return as_pruned(err, "the sides are two cores of one CPU: side=cpu measures the same");
    if (cpu && info->threads < 2)
        as_fail(err, AS_UNSUPPORTED,
                "needs 2 CPUs (one is measured, the other touches), and this process is bound to one");
    else if (!cpu && !(info->capabilities & AS_CAP_SOURCE))
        as_fail(err, AS_UNSUPPORTED, "the device cannot compile kernels");
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

/* A slow machine reads 200 MB/s. */
static double residual_patience(const struct as_device_info *info, const struct as_axes *a)
{
    const double bytes = as_axes_number(a, "touched") * 3 + as_axes_number(a, "size") * (WARM + PASSES_MAX) * ARMS;
    return as_compile_patience(info, a) + bytes / 200e6 + 2e-6 * as_axes_number(a, "delay");
}

struct state {
    struct as_trial_context *tc;
    struct as_pin stay;
    struct side_kernels kernels;
    struct passer passer;
    struct toucher toucher;
    struct as_arms blocks;
    size_t pass;
    bool wait_alone;
    bool preempted;              /* during the timed passes of the last block */
    double disturbed;            /* blocks that were preempted in every try */
    double delay_s, touch_s;     /* length of the last touch, which the control repeats */
    double log_sum[ARMS], count; /* sums of log seconds of the timed passes */
};

static void residual_wait_for(double seconds)
{
    const double end = as_now() + seconds;
    while (as_now() < end)
        as_relax();
}

static enum as_status disturb(struct state *s, size_t arm, struct as_error *err)
{
    if (arm == TOUCHED)
        return as_toucher_run(&s->toucher, &s->touch_s, err);
    if (!s->wait_alone)
        return as_toucher_idle(&s->toucher, s->touch_s, err);
    residual_wait_for(s->touch_s);
    return AS_OK;
}

/* In both arms, pass over the buffer first. */
static enum as_status residual_measure(void *user, size_t arm, double *value, struct as_error *err)
{
    struct state *s = user;
    enum as_status st = AS_OK;
    for (int i = 0; i < WARM && !st; i++)
        st = as_passer_run(&s->passer, value, err);
    if (!st)
        st = disturb(s, arm, err);
    if (!st)
        residual_wait_for(s->delay_s);
    const uint64_t before = as_thread_preemptions();
    for (size_t i = 0; i < s->pass && !st; i++)
        st = as_passer_run(&s->passer, value, err);
    s->preempted = s->preempted || as_thread_preemptions() > before;
    return st;
}

/* The threads of a CPU, or a simulated device, can be both sides. */
static enum as_status prepare_sides(struct state *s, uint64_t touched, const struct passer_desc *desc,
                                    struct as_error *err)
{
    const struct as_axes *a = s->tc->axes;
    struct as_device *dev = s->tc->dev;
    const bool device = as_word_is(a, "side", "device"),
               alone = (dev->info.capabilities & AS_CAP_HOST_KERNELS) || !as_info_shares_host(&dev->info);
    struct side_kernels *k = &s->kernels;
    enum as_status st = as_side_kernels_prepare(&s->kernels, dev, as_axes_text(a, "allocator"), err);
    if (!st)
        st = as_passer_prepare(&s->passer, device || alone ? k : NULL, desc, err);
    if (!st)
        st = as_toucher_prepare(&s->toucher, device && !alone ? NULL : k, touched, desc->bytes / SIDE_LINE,
                                as_word_is(a, "op", "write"), err);
    if (!st && !device && touched && !k->native)
        as_expect_code(s->tc, k->touch, s->toucher.write ? "store.global" : "load.global", 1);
    if (!st && device && !k->native)
        as_expect_code(s->tc, k->pass, "load.global", 1);
    return st;
}

/* Limits of the host for a GPU's trial, including the host copy of the device's buffer. */
static enum as_status residual_check_host(const struct as_trial_context *tc, uint64_t touched, uint64_t size,
                                          struct as_error *err)
{
    const uint64_t bytes = as_word_is(tc->axes, "side", "device") ? touched + size : size;
    struct as_host_limits host;
    if (as_host_limits_now(&host, NULL) || bytes <= host.free / 2)
        return AS_OK;
    return as_too_large((double)bytes, "only half of the host's free", (double)host.free, " may be used", err);
}

static enum as_status residual_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    s->tc = tc;
    const struct as_axes *a = tc->axes;
    const uint64_t touched = as_axes_u64(a, "touched"), size = as_axes_u64(a, "size");
    const struct passer_desc desc = {.bytes = size,
                                     .stride = as_axes_u64(a, "stride") / SIDE_LINE * SIDE_LINE,
                                     .random = as_word_is(a, "pattern", "random"),
                                     .seed = tc->seed};
    double unused;
    s->pass = as_axes_u64(a, "pass");
    s->delay_s = 1e-6 * as_axes_number(a, "delay");
    s->wait_alone = as_word_is(a, "control", "wait");
    as_arms_start(&s->blocks, ARMS, (size_t)tc->trial, 0);
    enum as_status st = as_check_room(tc->dev, touched + size, touched > size ? touched : size, err);
    if (!st)
        st = residual_check_host(tc, touched, size, err);
    if (!st)
        st = prepare_sides(s, touched, &desc, err);
    as_pin_begin(&s->stay); /* threads created by the driver so far may move */
    if (!st)
        st = as_toucher_run(&s->toucher, &s->touch_s, err); /* the first control takes this long */
    if (!st)
        st = residual_measure(s, CONTROL, &unused, err); /* a process's first block is slower */
    tc->footprint = touched + size;
    tc->min_reps = tc->max_reps = 1;
    /* Launches on a device that runs on the host's cores preempt this thread: only the timed passes count as host work,
     * not the whole sample (as_host_part). */
    return st;
}

static enum as_status residual_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    double seconds[ARMS] = {NAN, NAN};
    (void)reps;
    enum as_status st = AS_OK;
    bool again = true;
    for (int i = 0; i < TRIES && again && !st; i++) {
        s->preempted = false;
        st = as_arms_run(&s->blocks, residual_measure, s, seconds, err);
        again = s->preempted;
    }
    s->disturbed += again;
    *out = (struct as_sample){
        .value = seconds[TOUCHED] / seconds[CONTROL], .seconds = seconds[TOUCHED] + seconds[CONTROL], .clock_hz = NAN};
    for (size_t i = 0; i < ARMS && !st; i++)
        s->log_sum[i] += log(seconds[i]);
    s->count += st == AS_OK;
    return st;
}

static bool residual_check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    const double lines = (double)s->passer.work.lines;
    if (s->count > 0) {
        as_note_number(s->tc, "control", 1e9 * exp(s->log_sum[CONTROL] / s->count) / lines);
        as_note_number(s->tc, "after_touch", 1e9 * exp(s->log_sum[TOUCHED] / s->count) / lines);
    }
    if (s->disturbed > 0)
        as_note_number(s->tc, "preempted_blocks", s->disturbed);
    return as_toucher_check(&s->toucher, why, why_size) && as_passer_check(&s->passer, why, why_size);
}

static void residual_finish(void *state)
{
    struct state *s = state;
    as_toucher_finish(&s->toucher);
    as_passer_finish(&s->passer);
    as_buffers_finish(&s->kernels.own);
    as_pin_end(&s->stay);
}

static const struct as_metric further[] = {
    {"control", "ns", true, "time per line of the pass in the control, unpaired", NULL},
    {"after_touch", "ns", true, "time per line of the pass after the touch, unpaired", NULL},
    {0}};

const struct as_probe as_probe_residual = {
    .name = "residual",
    .title = "Cache eviction by a device or another core",
    .question = "How much slower is a pass over a buffer after the other side, or another core, has touched memory?",
    .metric = "slowdown",
    .unit = "x",
    .lower_is_better = true,
    .counts = "time of the pass after the touch over the control's, from one matched block",
    .further = further,
    AS_CELLS(axes, quick, full, residual_applies),
    .kernel_reaches = as_always_by_kernel,
    .patience = residual_patience,
    AS_TRIAL(struct state, residual_prepare, residual_sample, residual_check, residual_finish),
};
