/* app: whole applications with explicit copies, and with one allocation for CPU and device. See method.md. */
#include "app.h"

#include "device/shared_host.h"
#include "lib/arms/arms.h"
#include "os/memory.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>

extern const char as_kernel_app[];

static const struct app *const apps[] = {&as_app_hotspot, &as_app_nn,    &as_app_backprop,
                                         &as_app_srad,    &as_app_dwt2d, &as_app_heartwall};
enum { APPS = sizeof apps / sizeof *apps, SAMPLES_MAX = 64 };
static const char *const app_words[] = {"hotspot", "nn", "backprop", "srad_v1", "dwt2d", "heartwall", NULL};
enum { EXPLICIT, UNIFIED, HOST };
static const char *const version_words[] = {"explicit", "unified", "host", NULL};
static const char *const strategy_words[] = {"none",  "double-buffering", "memory-check",     "partial-transfers",
                                             "stack", "static",           "hidden-allocator", NULL};
_Static_assert(sizeof strategy_words / sizeof *strategy_words == APP_STRATEGIES + 1, "a word per strategy");

static const struct as_word about[] = {
    {.name = "hotspot", .title = "temperature of a chip, five-point stencil", .kind = "application"},
    {.name = "nn", .title = "nearest neighbours", .kind = "application"},
    {.name = "backprop", .title = "two-layer perceptron, one epoch of training", .kind = "application"},
    {.name = "srad_v1", .title = "speckle reducing anisotropic diffusion", .kind = "application"},
    {.name = "heartwall", .title = "tracking of points through frames", .kind = "application"},
    {.name = "dwt2d", .title = "discrete wavelet transform of an image", .kind = "application"},
    {0},
};
static const struct as_axis axes[] = {
    AS_WORD_AXIS("app", app_words, "all", "the application"),
    AS_WORD_AXIS(
        "version", version_words, "all",
        "explicit: host arrays copied to device memory and back; unified: one allocation for both sides; host: "
        "one thread of the CPU, without a device"),
    AS_WORD_AXIS(
        "strategy", strategy_words, "all",
        "none; two buffers in turn; count free memory before allocating; copy parts of arrays; a kernel reads a "
        "stack variable; arrays are static variables; an array grows as a container does"),
    AS_ALLOCATOR_AXIS("allocator", "first", "explicit: the device's memory; unified: the one allocation"),
    AS_SIZE_AXIS("size", 1 << 20, 0, "64MiB", "total working set of the unified version"),
    {0},
};
#define UNIFIED_CELLS                                                                                                  \
    "version=unified strategy=all "                                                                                    \
    "allocator=device,device_mapped,managed,managed_static,shared_coarse,shared_fine,pinned,pageable"
static const char *const quick[] = {"app=all version=explicit strategy=all allocator=device size=64MiB",
                                    "app=all version=host strategy=none allocator=first size=64MiB",
                                    "app=all " UNIFIED_CELLS " size=64MiB", NULL};
static const char *const full[] = {"app=all version=explicit strategy=all allocator=device size=64MiB,512MiB,4GiB",
                                   "app=all version=host strategy=none allocator=first size=64MiB,512MiB,4GiB",
                                   "app=all " UNIFIED_CELLS " size=64MiB,512MiB,4GiB",
                                   "app=all version=explicit strategy=none allocator=device size=16GiB",
                                   "app=all version=unified strategy=none allocator=device,managed,pageable "
                                   "size=16GiB",
                                   NULL};

static const double SAMPLE_PERIOD_S = 1e-3;

static const char *const phase_names[APP_PHASES] = {
    [APP_ALLOCATE] = "allocate", [APP_INPUT] = "input", [APP_TRANSFER] = "transfer", [APP_KERNEL] = "kernel",
    [APP_OUTPUT] = "output",     [APP_FREE] = "free",   [APP_COMPUTE] = "compute"};

/* What a cell is compared with runs back to back with it, in random order: what differs between trials does so for all.
 */
enum arm {
    ARM_OWN,
    ARM_APART, /* the explicit version in the device's memory */
    ARM_PLAIN, /* the same without the strategy */
    ARMS
};
static const struct {
    const char *time, *compute, *peak; /* notes of the ratio of this cell to it; NULL: none */
} arm_notes[ARMS] = {[ARM_APART] = {"against_explicit", "compute_against_explicit", "peak_against_explicit"},
                     [ARM_PLAIN] = {"against_plain", NULL, "peak_against_plain"}};

struct trial {
    struct as_buffers own;
    struct app_run run[ARMS];
    size_t arms, arm[ARMS]; /* those that run */
    struct as_arms blocks;
    struct as_trial_context *tc;
    bool by_host;
    struct counter_peaks peaks[ARMS]; /* of a run before those that are timed */
    double spent[APP_PHASES][SAMPLES_MAX], ratio[ARMS][SAMPLES_MAX], compute[ARMS][SAMPLES_MAX];
    size_t n;
};

/* Static variables are allocated in their own way, and nothing else is. */
static bool app_has_strategy(const struct as_allocator *allocator, const struct as_axes *a)
{
    const size_t app = as_word_index(a, "app", app_words), version = as_word_index(a, "version", version_words),
                 strategy = as_word_index(a, "strategy", strategy_words);
    const unsigned none = APP_SET(APP_NONE);
    if (app >= APPS || version > HOST || strategy >= APP_STRATEGIES)
        return true; /* refused when it is prepared */
    const unsigned of[] = {[EXPLICIT] = none | apps[app]->apart, [UNIFIED] = none | apps[app]->unified, [HOST] = none};
    const bool is_static = allocator && allocator->role == AS_ROLE_MANAGED_STATIC;
    return (of[version] & APP_SET(strategy)) && (version != UNIFIED || is_static == (strategy == APP_STATIC));
}

static enum as_applies app_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const struct as_allocator *allocator = as_info_allocator(info, as_axes_text(a, "allocator"));
    const bool unified = as_word_is(a, "version", "unified");
    if (!as_info_shares_host(info))
        return as_pruned(err, "host threads cannot access a simulated device");
    if (!app_has_strategy(allocator, a))
        return as_pruned(err, "the application has no such version");
    if (as_word_is(a, "version", "host"))
        return AS_APPLIES;
    if (as_word_is(a, "strategy", "stack") && !as_app_allocator(info, AS_ROLE_PAGEABLE))
        return as_inapplicable(err, "its kernels cannot access the host's stack");
    if (allocator && allocator->why_not[0])
        return as_inapplicable(err, "%s", allocator->why_not);
    if (allocator && unified && !allocator->host_access)
        return as_inapplicable(err, "the CPU cannot access this memory");
    return as_check_block(info, as_axes_text(a, "allocator"), as_axes_number(a, "size") * (unified ? 1 : 2), err)
               ? AS_INAPPLICABLE
               : AS_APPLIES;
}

static double app_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return as_compile_patience(info, a) + as_axes_number(a, "size") / 10e6;
}

/* A run whose memory is sampled, which is not timed. */
static enum as_status app_find_peak(struct app_run *r, struct counter_peaks *peaks, struct as_error *err)
{
    as_return_freed(); /* else arrays would lie in pages that are resident already */
    enum as_status st = as_samples_start("", r->dev, SAMPLE_PERIOD_S, &r->samples, err);
    if (!st)
        st = as_app_run(r, err);
    as_samples_stop(r->samples, peaks);
    r->samples = NULL;
    if (!as_app_peak_is_whole(r, peaks->in_use)) {
        peaks->in_use = NAN;
        peaks->nodes_n = 0;
    }
    return st;
}

/* The peer: no device takes part. */
static enum as_status app_run_host(struct app_run *r, struct as_error *err)
{
    return r->app->reference(r->n, r->key, &r->result) ? AS_OK : as_nomem(err, 0, "the application on the host");
}

/* Adds what the cell is compared with. Static variables hold two frames in turn, too, and are compared with managed
 * memory. */
static void app_add_arms(struct trial *t)
{
    const struct app_run own = t->run[ARM_OWN];
    const struct as_device_info *info = &own.dev->info;
    const bool is_static = own.strategy == APP_STATIC;
    const char *device = as_app_allocator(info, AS_ROLE_DEVICE), *managed = as_app_allocator(info, AS_ROLE_MANAGED);
    t->arms = 1;
    if (t->by_host)
        return;
    if (own.unified && device && (own.strategy == APP_NONE || is_static)) {
        t->run[ARM_APART] = own;
        t->run[ARM_APART].unified = false;
        t->run[ARM_APART].allocator = device;
        t->run[ARM_APART].strategy = APP_NONE;
        t->arm[t->arms++] = ARM_APART;
    }
    if (own.strategy != APP_NONE && (!is_static || managed)) {
        t->run[ARM_PLAIN] = own;
        t->run[ARM_PLAIN].allocator = is_static ? managed : own.allocator;
        t->run[ARM_PLAIN].strategy =
            is_static && (own.app->unified & APP_SET(APP_DOUBLE_BUFFERING)) ? APP_DOUBLE_BUFFERING : APP_NONE;
        t->arm[t->arms++] = ARM_PLAIN;
    }
}

static enum as_status app_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct trial *t = state;
    const size_t which = as_word_index(tc->axes, "app", app_words);
    const struct as_program_desc program = {.name = "app", .source = as_kernel_app};
    const uint64_t size = as_axes_u64(tc->axes, "size");
    if (which >= APPS)
        return as_fail(err, AS_USAGE, "unknown application '%s'", as_axes_text(tc->axes, "app"));
    t->tc = tc;
    t->by_host = as_word_is(tc->axes, "version", "host");
    t->run[ARM_OWN] =
        (struct app_run){.app = apps[which],
                         .dev = tc->dev,
                         .allocator = as_axes_text(tc->axes, "allocator"),
                         .unified = as_word_is(tc->axes, "version", "unified"),
                         .strategy = (enum app_strategy)as_word_index(tc->axes, "strategy", strategy_words),
                         .key = (uint32_t)tc->seed};
    const bool is_static = t->run[ARM_OWN].strategy == APP_STATIC;
    enum as_status st = as_check_room(tc->dev, 2 * size, size, err);
    if (st)
        return st;
    if (!t->by_host)
        as_buffers_open(&t->own, tc->dev, &program, err);
    for (size_t k = 0; !t->by_host && k < APP_KERNELS_MAX && apps[which]->kernels[k]; k++)
        t->run[ARM_OWN].kernels[k] = as_buffers_kernel(&t->own, apps[which]->kernels[k], err);
    if (t->own.status)
        return t->own.status;
    app_add_arms(t);
    as_arms_start(&t->blocks, t->arms, (size_t)tc->trial, tc->seed);
    as_host_part(tc);
    if (is_static)
        as_note_number(tc, "static_modules", 1);
    if (t->by_host)
        as_note_number(tc, "host_arrays", 1);
    tc->footprint = size;
    tc->min_reps = tc->max_reps = 1;
    for (size_t i = 0; i < t->arms && !st; i++) {
        struct app_run *r = &t->run[t->arm[i]];
        r->app->shape(r, is_static ? size - APP_ARRAYS_MAX * APP_STATIC_ALIGN : size);
        if (r->strategy == APP_STATIC)
            st = as_app_run(r, err); /* compiles its module: the memory that takes is no peak of the application */
        if (st)
            break;
        st = t->by_host ? app_run_host(r, err) : app_find_peak(r, &t->peaks[t->arm[i]], err);
    }
    return st;
}

static enum as_status app_measure(void *user, size_t i, double *seconds, struct as_error *err)
{
    struct trial *t = user;
    struct app_run *r = &t->run[t->arm[i]];
    r->key++; /* stale output fails */
    const double start = as_now();
    const enum as_status st = t->by_host ? app_run_host(r, err) : as_app_run(r, err);
    *seconds = as_now() - start;
    return st;
}

static enum as_status app_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct trial *t = state;
    double seconds[AS_ARMS_MAX] = {0};
    (void)reps; /* always 1 */
    const enum as_status st =
        t->arms > 1 ? as_arms_run(&t->blocks, app_measure, t, seconds, err) : app_measure(t, ARM_OWN, seconds, err);
    if (st)
        return st;
    out->value = seconds[0] * 1e9;
    out->seconds = 0;
    for (size_t i = 0; i < t->arms; i++) {
        out->seconds += seconds[i];
        if (t->n < SAMPLES_MAX) {
            const struct app_run *r = &t->run[t->arm[i]];
            t->ratio[t->arm[i]][t->n] = seconds[0] / seconds[i];
            t->compute[t->arm[i]][t->n] = t->run[ARM_OWN].spent[APP_COMPUTE] / r->spent[APP_COMPUTE];
        }
    }
    for (size_t p = 0; p < APP_PHASES && t->n < SAMPLES_MAX; p++)
        t->spent[p][t->n] = t->run[ARM_OWN].spent[p];
    t->n += t->n < SAMPLES_MAX;
    return AS_OK;
}

static void app_note_peak(struct trial *t, const char *name, double bytes)
{
    if (isfinite(bytes) && bytes > 0)
        as_note_number(t->tc, name, bytes);
}

static void app_note_ratios(struct trial *t)
{
    for (size_t i = 1; i < t->arms && t->n; i++) {
        const size_t arm = t->arm[i];
        as_note_number(t->tc, arm_notes[arm].time, as_median(t->ratio[arm], t->n));
        if (arm_notes[arm].compute)
            as_note_number(t->tc, arm_notes[arm].compute, as_median(t->compute[arm], t->n));
        app_note_peak(t, arm_notes[arm].peak, t->peaks[ARM_OWN].in_use / t->peaks[arm].in_use);
    }
}

/* Once all samples are taken. */
static void app_note(struct trial *t)
{
    const struct counter_peaks *peaks = &t->peaks[ARM_OWN];
    double of_node = NAN;
    for (size_t p = 0; p < APP_PHASES && t->n && !t->by_host; p++)
        as_note_number(t->tc, phase_names[p], as_median(t->spent[p], t->n) * 1e9);
    if (t->by_host)
        return;
    app_note_ratios(t);
    app_note_peak(t, "peak_memory", peaks->in_use);
    app_note_peak(t, "peak_vram", peaks->bytes[COUNTER_VRAM]);
    app_note_peak(t, "peak_gtt", peaks->bytes[COUNTER_GTT]);
    for (size_t k = 0; k < peaks->nodes_n; k++) {
        char name[32];
        snprintf(name, sizeof name, "rise_of_node_%d", peaks->node[k]);
        app_note_peak(t, name, peaks->node_bytes[k]);
        of_node = fmax(of_node, peaks->node_bytes[k]);
    }
    app_note_peak(t, "peak_node", of_node);
}

/* All versions have the same input. */
static bool app_check(void *state, char *why, size_t why_size)
{
    struct trial *t = state;
    const struct app_run *own = &t->run[ARM_OWN];
    uint64_t expected;
    bool right = true;
    app_note(t);
    if (!own->app->reference(own->n, own->key, &expected))
        return as_check_no_memory(why, why_size);
    for (size_t i = 0; i < t->arms; i++)
        right &= t->run[t->arm[i]].result == expected;
    snprintf(why, why_size, right ? "all of the output equals the host's" : "the output differs from the host's");
    return right;
}

static void app_finish(void *state)
{
    as_buffers_finish(&((struct trial *)state)->own);
}

static const struct as_metric further[] = {
    {"compute", "ns", true, "from the input to the output: transfers, kernels, and the host's work between them", NULL},
    {"transfer", "ns", true, "copies between the host's and the device's arrays; unified: mapping, if the API needs it",
     NULL},
    {"kernel", "ns", true, "kernels with their launches, on the host's clock", NULL},
    {"allocate", "ns", true, "allocation of all arrays", NULL},
    {"input", "ns", true, "the host's first touch and its writes of the input", NULL},
    {"output", "ns", true, "the host reads the output", NULL},
    {"free", "ns", true, "freeing all arrays", NULL},
    {"against_explicit", "x", true, "total time over that of the explicit version, run back to back in each sample",
     NULL},
    {"compute_against_explicit", "x", true, "the time from the input to the output over that of the explicit version",
     NULL},
    {"against_plain", "x", true, "total time over that without the strategy, run back to back in each sample", NULL},
    {"peak_against_explicit", "x", true, "peak memory over that of the explicit version", NULL},
    {"peak_against_plain", "x", true, "peak memory over that without the strategy", NULL},
    {"peak_memory", "B", true, "largest rise of the memory in use, of host and device, while the application runs",
     NULL},
    {"peak_vram", "B", true, "the same of the device's memory, by the kernel driver's file", NULL},
    {"peak_gtt", "B", true, "the same of system memory that the device has mapped, by the kernel driver's file", NULL},
    {"peak_node", "B", true, "the same of the NUMA node whose use rises most", NULL},
    {0},
};

const struct as_probe as_probe_app = {
    .name = "app",
    .title = "Applications, explicit and unified",
    .question = "What do applications gain from one allocation for CPU and device in place of copies?",
    .metric = "time",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "a run of the application: allocation, input, copies, kernels, output, and freeing",
    .about = about,
    .further = further,
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, quick, full, app_applies),
    .patience = app_patience,
    AS_TRIAL(struct trial, app_prepare, app_sample, app_check, app_finish),
};
