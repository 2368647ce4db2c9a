/* tlb: cost of address translation by number of pages, stride and allocator, for the device and for the CPU in its
 * memory. See method.md. */
#include "lib/chase/chase.h"
#include "lib/checks/checks.h"
#include "lib/reach/reach.h"

enum { LINE_MIN = 64, STRIDE_MIN = 4096 };

static const char *const agent_words[] = {"own", "cpu", NULL};
static const struct as_axis axes[] = {
    AS_COUNT_AXIS("pages", 2, 1 << 24, "16384", "elements of the chase, one per page"),
    AS_SIZE_AXIS(
        "stride", 0, 1 << 30, "page",
        "bytes between pages, a power of two; page, huge_page: one of that size; 0: as many contiguous elements, "
        "the control",
        .zero = "packed"),
    AS_ALLOCATOR_AXIS("allocator", "first", "how the memory is allocated"),
    AS_WORD_AXIS("agent", agent_words, "own",
                 "who loads: the device itself, or a CPU of the host in the device's memory"),
    AS_TOUCH_AXIS,
    {0},
};
/* The CPU's control lies on huge pages if available, so that it needs few translations at any length. */
static const char *const quick[] = {"pages=16..16384 x1 stride=page allocator=base_pages",
                                    "pages=64,1024,16384 stride=page allocator=huge_pages",
                                    "pages=16..16384 x1 stride=0 allocator=largest_pages",
                                    "pages=16..512 x1 stride=huge_page allocator=huge_pages",
                                    "pages=64,1024,16384 stride=0,page,64KiB allocator=device",
                                    "pages=16..16384 x1 stride=0,2MiB allocator=device",
                                    NULL};
static const char *const full[] = {
    "pages=16..1048576 x2 stride=page allocator=base_pages",
    "pages=16..1048576 x2 stride=0 allocator=largest_pages,reserved_huge_pages",
    "pages=16..1048576 x1 stride=page allocator=huge_pages,reserved_huge_pages,pageable",
    "pages=16..65536 x1 stride=64KiB allocator=base_pages,huge_pages,reserved_huge_pages",
    "pages=16..16384 x2 stride=huge_page allocator=base_pages,huge_pages,reserved_huge_pages",
    "pages=16..1048576 x1 stride=0,page allocator=device",
    "pages=16..262144 x1 stride=64KiB allocator=device",
    "pages=16..65536 x2 stride=2MiB allocator=device",
    "pages=64,1024,16384 stride=0,page,64KiB allocator=all",
    "pages=16..262144 x1 stride=0,page allocator=all agent=cpu touch=all devices=cuda,hip,opencl,metal",
    NULL};

struct state {
    struct as_chase chase; /* first: the trial's functions of a chase take the state */
    struct as_reach reach; /* of the CPU in a device's memory */
};

/* The device's longest cache line, so that elements share no line. */
static uint64_t line_of(const struct as_device_info *info)
{
    uint64_t line = LINE_MIN;
    for (size_t i = 0; i < info->caches_n && i < AS_CACHES_MAX; i++)
        while (line < info->caches[i].line && line < STRIDE_MIN)
            line *= 2;
    return line;
}

static bool is_by_cpu(const struct as_axes *a)
{
    return as_word_is(a, "agent", "cpu");
}

/* Who loads, and who touched the memory first. */
static enum as_applies agent_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    if (is_by_cpu(a))
        return as_info_has_host_kernels(info) ? as_pruned(err, "the CPU itself is the device: see agent=own")
                                              : as_reach_applies(info, a, err);
    if (as_word_is(a, "touch", "device"))
        return AS_PRUNED;
    return info->capabilities & (AS_CAP_HOST_KERNELS | AS_CAP_SOURCE)
               ? AS_APPLIES
               : as_inapplicable(err, "the device cannot compile kernels");
}

static enum as_applies tlb_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const struct as_allocator *allocator = as_info_allocator(info, as_axes_text(a, "allocator"));
    const uint64_t stride = as_axes_u64(a, "stride"), step = stride ? stride : line_of(info);
    const double bytes = as_axes_number(a, "pages") * (double)step;
    const enum as_applies applies = agent_applies(info, a, err);
    if (applies == AS_PRUNED)
        return AS_PRUNED;
    if (stride && (stride < STRIDE_MIN || (stride & (stride - 1))))
        as_fail(err, AS_UNSUPPORTED, "the stride must be a power of two of at least %d bytes", STRIDE_MIN);
    else if (allocator && allocator->why_not[0])
        as_fail(err, AS_UNSUPPORTED, "%s", allocator->why_not);
    else if (applies == AS_APPLIES && !as_check_block(info, as_axes_text(a, "allocator"), bytes, err))
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

/* Preparing touches every page once, which may zero a huge page. */
static double tlb_patience(const struct as_device_info *info, const struct as_axes *a)
{
    const uint64_t stride = as_axes_u64(a, "stride");
    return as_compile_patience(info, a) + as_axes_number(a, "pages") * (double)(stride ? stride : line_of(info)) / 1e9;
}

static struct as_chase_desc describe_chase(const struct as_trial_context *tc)
{
    const uint64_t stride = as_axes_u64(tc->axes, "stride"), line = line_of(&tc->dev->info);
    const uint64_t step = stride ? stride : line;
    return (struct as_chase_desc){.allocator = as_axes_text(tc->axes, "allocator"),
                                  .size = as_axes_u64(tc->axes, "pages") * step,
                                  .stride = step,
                                  .spread = line,
                                  .pattern = AS_PATTERN_RANDOM,
                                  .past_own = true,
                                  .seed = tc->seed};
}

static enum as_status prepare_by_cpu(struct as_trial_context *tc, struct state *s, struct as_error *err)
{
    struct as_chase_desc desc = describe_chase(tc);
    enum as_status st = as_reach_prepare_chase(&s->reach, &s->chase, tc, &desc, err);
    tc->max_reps = UINT32_MAX / AS_CHASE_STEPS;
    tc->sample_s = st ? 0 : as_chase_sample_s(&s->chase);
    return st;
}

static enum as_status tlb_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    if (is_by_cpu(tc->axes))
        return prepare_by_cpu(tc, s, err);
    const struct as_chase_desc desc = describe_chase(tc);
    return as_chase_trial_prepare(tc, &s->chase, &desc, err);
}

static void tlb_finish(void *state)
{
    struct state *s = state;
    as_chase_finish(&s->chase);
    as_reach_finish(&s->reach);
}

static bool tlb_by_kernel(const struct as_axes *a)
{
    return !is_by_cpu(a);
}

const struct as_probe as_probe_tlb = {
    .name = "tlb",
    .title = "Address translation",
    .question = "What is the TLB reach in pages, and what does a TLB miss cost?",
    .metric = "latency",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "time of one dependent load, each from another page (packed: from as many contiguous cache lines)",
    AS_CELLS(axes, quick, full, tlb_applies),
    .kernel_reaches = tlb_by_kernel,
    .patience = tlb_patience,
    AS_TRIAL(struct state, tlb_prepare, as_chase_trial_sample, as_chase_trial_check, tlb_finish),
};
