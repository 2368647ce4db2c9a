/* latency: latency of dependent loads. See method.md. */
#include "device/shared_host.h"
#include "lib/chase/chase.h"
#include "lib/checks/checks.h"

#include <math.h>

static const char *const pattern_words[] = {"random", "page", "stride", NULL}; /* in the order of enum as_pattern */

static const char *const instrument_words[] = {"timed", "persistent", NULL};

static const struct as_axis axes[] = {
    AS_SIZE_AXIS("size", 128, 0, "DRAM1", "bytes of the buffer"),
    AS_WORD_AXIS("pattern", pattern_words, "random",
                 "random over all lines; random within a page, page by page; sequential"),
    AS_ALLOCATOR_AXIS("allocator", "first", "how the memory is allocated"),
    AS_SIZE_AXIS("stride", 8, 1 << 20, "64", "bytes between elements, a multiple of 8"),
    AS_WORD_AXIS("instrument", instrument_words, "timed",
                 "a timed chase, or a persistent one whose progress the host reads"),
    {0},
};
/* On the CPU, base and huge pages: the difference shows the TLB. */
static const char *const quick[] = {"size=1KiB..DRAM1 allocator=largest_pages",
                                    "size=64KiB..LLC allocator=base_pages",
                                    "size=DRAM1 allocator=base_pages pattern=random,page",
                                    "size=1KiB..DRAM1 allocator=device devices=opencl",
                                    "size=1MiB..4MSC allocator=device",
                                    "size=4KiB..64KiB allocator=first",
                                    NULL};
static const char *const full[] = {
    "size=1KiB..DRAM1 x4 allocator=base_pages,huge_pages,reserved_huge_pages",
    "size=1KiB..4GiB x1 allocator=pageable pattern=random", "size=1KiB..DRAM1 x2 allocator=base_pages pattern=page",
    "size=1KiB..DRAM1 x1 allocator=largest_pages pattern=page,stride", "size=1KiB..1GiB x2 allocator=device",
    "size=0.5MSC..4MSC x1 allocator=device", "size=1KiB..4GiB x1,DRAM1 allocator=all",
    "size=4KiB..64MiB x2 stride=page allocator=base_pages,huge_pages",

    /* inside levels: at an edge, placement differs more than the instruments */
    "size=16KiB,512KiB,8MiB,256MiB allocator=first instrument=timed,persistent", NULL};

/* Why the host cannot read the counter of a persistent chase; NULL if it can. */
static const char *why_not_persistent(const struct as_device_info *info)
{
    if (!as_info_shares_host(info))
        return "the device's times are simulated, and the host reads its own clock";
    if (!(info->capabilities & AS_CAP_HOST_KERNELS))
        return as_chase_shared_allocator(info) ? NULL : AS_CHASE_NOT_SHARED;
    return info->threads > 1 ? NULL : "needs 2 CPUs (one chases, the other reads), and this process is bound to one";
}

static enum as_applies latency_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const char *why_not = as_word_is(a, "instrument", "persistent") ? why_not_persistent(info) : NULL;
    double stride = as_axes_number(a, "stride");
    if (fmod(stride, 8) != 0)
        return as_inapplicable(err, "a stride of %.0f bytes is not a multiple of 8", stride);
    if (as_axes_number(a, "size") < 2 * stride)
        return AS_PRUNED;
    if (!why_not)
        return AS_APPLIES;
    return as_inapplicable(err, "%s", why_not);
}

/* Preparing writes every line once, at a few hundred MB/s at worst. */
static double latency_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return as_compile_patience(info, a) + as_axes_number(a, "size") / 200e6;
}

/* A persistent chase has ten samples per trial, of half a second where time allows. */
static double persistent_length(const struct as_trial_context *tc)
{
    double left = tc->deadline - as_now();
    return fmin(fmax(left / 10, 5e-3), 0.5);
}

static enum as_status latency_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    bool persistent = as_word_is(tc->axes, "instrument", "persistent");
    struct as_chase_desc desc = {.allocator = as_axes_text(tc->axes, "allocator"),
                                 .size = as_axes_u64(tc->axes, "size"),
                                 .stride = as_axes_u64(tc->axes, "stride"),
                                 .pattern = (enum as_pattern)as_word_index(tc->axes, "pattern", pattern_words),
                                 .seed = tc->seed,
                                 .persistent = persistent,
                                 .clocked = true};
    enum as_status st = as_chase_trial_prepare(tc, state, &desc, err);
    if (!st && desc.persistent)
        tc->sample_s = persistent_length(tc);
    return st;
}

const struct as_probe as_probe_latency = {
    .name = "latency",
    .title = "Memory latency",
    .question = "How long does a dependent load take?",
    .metric = "latency",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "time of one dependent load, address translation included, averaged over a pointer chase",
    AS_CELLS(axes, quick, full, latency_applies),
    .kernel_reaches = as_always_by_kernel,
    .patience = latency_patience,
    AS_TRIAL(struct as_chase, latency_prepare, as_chase_trial_sample, as_chase_trial_check, as_chase_finish),
};
