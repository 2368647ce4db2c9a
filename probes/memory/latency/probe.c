/* latency: how long one access takes that has to wait for the one before it. See method.md. */
#include "lib/chase/chase.h"

#include <math.h>

extern const char as_method_latency[];

static const char *const pattern_words[] = {"random", "page", "stride", NULL}; /* in the order of enum as_pattern */

static const char *const instrument_words[] = {"timed", "persistent", NULL};

static const struct as_axis axes[] = {
    {.name = "size", .help = "bytes of the buffer that is walked", .type = AS_AXIS_SIZE, .min = 128, .def = "4LLC"},
    {.name = "pattern",
     .help = "random over all lines; over the lines of a page, then the next page; line after line",
     .type = AS_AXIS_WORD,
     .words = pattern_words,
     .def = "random"},
    {.name = "allocator",
     .help = "where the memory comes from",
     .type = AS_AXIS_WORD,
     .domain = AS_DOMAIN_ALLOCATOR,
     .def = "first"},
    {.name = "stride",
     .help = "bytes from one element to the next, a multiple of 8",
     .type = AS_AXIS_SIZE,
     .min = 8,
     .max = 1 << 20,
     .def = "64"},
    {.name = "instrument",
     .help = "a walk that is timed as a whole, or one that runs on while the host reads how far it is",
     .type = AS_AXIS_WORD,
     .words = instrument_words,
     .def = "timed"},
    {0},
};
/* On the CPU base pages and huge pages are both walked: their difference is the TLB's. */
static const char *const quick[] = {"size=1KiB..4LLC allocator=huge_pages",
                                    "size=64KiB..LLC allocator=base_pages",
                                    "size=4LLC allocator=base_pages pattern=random,page",
                                    "size=1KiB..2LLC allocator=device devices=opencl",
                                    "size=4KiB..64KiB allocator=first",
                                    NULL};
static const char *const full[] = {
    "size=1KiB..4LLC x4 allocator=base_pages,huge_pages,reserved_huge_pages",
    "size=1KiB..4GiB x1 allocator=pageable pattern=random", "size=1KiB..4LLC x2 allocator=base_pages pattern=page",
    "size=1KiB..4LLC x1 allocator=huge_pages pattern=page,stride", "size=1KiB..1GiB x2 allocator=device",
    "size=4GiB allocator=device", "size=4KiB,256KiB,8MiB,4LLC allocator=all",
    "size=4KiB..64MiB x2 stride=4KiB allocator=base_pages,huge_pages",

    /* inside levels: at an edge the pages that one gets differ more than the instruments */
    "size=16KiB,512KiB,8MiB,256MiB allocator=first instrument=timed,persistent", NULL};

/* Why the host cannot read the counter of a walk that runs on, NULL where it can. */
static const char *why_not_persistent(const struct as_device_info *info)
{
    if (info->capabilities & AS_CAP_SIMULATED)
        return "the device's times are simulated, and the host reads its own clock";
    if (!(info->capabilities & AS_CAP_HOST_KERNELS))
        return as_chase_shared_allocator(info) ? NULL : AS_CHASE_NOT_SHARED;
    return info->threads > 1 ? NULL : "one thread walks and another reads, and this process may use one CPU only";
}

static enum as_applies applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const char *why_not = as_word_is(a, "instrument", "persistent") ? why_not_persistent(info) : NULL;
    double stride = as_axes_number(a, "stride");
    if (fmod(stride, 8) != 0) {
        as_fail(err, AS_UNSUPPORTED, "a stride of %.0f bytes is not a multiple of 8", stride);
        return AS_INAPPLICABLE;
    }
    if (as_axes_number(a, "size") < 2 * stride)
        return AS_PRUNED;
    if (!why_not)
        return AS_APPLIES;
    as_fail(err, AS_UNSUPPORTED, "%s", why_not);
    return AS_INAPPLICABLE;
}

/* Preparing writes every line once, a few hundred MB/s at the worst. */
static double patience(const struct as_device_info *info, const struct as_axes *a)
{
    (void)info;
    return 5 + as_axes_number(a, "size") / 200e6;
}

/* A persistent walk is read ten times in a trial, half a second long where there is time for that. */
static double persistent_length(const struct as_trial_context *vc)
{
    double left = vc->deadline - as_now();
    return fmin(fmax(left / 10, 5e-3), 0.5);
}

static enum as_status prepare(struct as_trial_context *vc, void **state, struct as_error *err)
{
    bool persistent = as_word_is(vc->axes, "instrument", "persistent");
    struct as_chase_desc desc = {.allocator = as_axes_text(vc->axes, "allocator"),
                                 .size = as_axes_u64(vc->axes, "size"),
                                 .stride = as_axes_u64(vc->axes, "stride"),
                                 .pattern = (enum as_pattern)as_word_index(vc->axes, "pattern", pattern_words),
                                 .seed = vc->seed,
                                 .persistent = persistent};
    enum as_status s = as_chase_trial_prepare(vc, state, &desc, err);
    if (!s && desc.persistent)
        vc->sample_s = persistent_length(vc);
    return s;
}

const struct as_probe as_probe_latency = {
    .abi = AS_PROBE_ABI,
    .name = "latency",
    .title = "Memory latency",
    .question = "How long does one access take that has to wait for the one before it?",
    .metric = "latency",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "time of one dependent load, address translation included, averaged over a walk",
    .axes = axes,
    .quick = quick,
    .full = full,
    .applies = applies,
    .patience = patience,
    .prepare = prepare,
    .sample = as_chase_trial_sample,
    .check = as_chase_trial_check,
    .finish = as_chase_trial_finish,
    .method = as_method_latency,
    .figure = "latency",
};
