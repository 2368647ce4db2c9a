/* copy: copy bandwidth between kinds of memory, by copy engine and by copy kernel. See method.md. */
#include "lib/checks/checks.h"
#include "lib/transfer/transfer.h"

/* A smaller copy ends before the host has submitted the next one. */
enum { SUBMITTED = 1 << 20 };

static const char *const plain_words[] = {"host", NULL};
static const char *const direction_words[] = {"one", "both", NULL};
static const char *const how_words[] = {"engine", "kernel", NULL};

static const struct as_axis axes[] = {
    AS_ALLOCATOR_AXIS("from", "host", "source: an allocator, or host: pageable memory", .words = plain_words),
    AS_ALLOCATOR_AXIS("to", "first", "destination, likewise", .words = plain_words),
    AS_WORD_AXIS("direction", direction_words, "one", "one; both: a concurrent copy in the opposite direction"),
    AS_WORD_AXIS("how", how_words, "engine", "by copy engine (DMA, the API's copy call) or by copy kernel"),
    AS_SIZE_AXIS("size", 64, UINT64_C(1) << 36, "64MiB", "bytes of one copy"),
    {0},
};
#define SIZES "size=1KiB,4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,16MiB,64MiB,256MiB,1GiB"
static const char *const quick[] = {
    "from=host to=device size=64MiB",
    "from=device to=host size=64MiB",
    "from=device to=device how=all size=256MiB",
    "from=pinned to=device how=all size=4KiB,64MiB",
    "from=device to=pinned how=all size=64MiB",
    "from=device to=pinned direction=both size=64MiB",
    NULL,
};
static const char *const full[] = {
    "from=all to=first how=all size=64MiB",
    "from=first to=all how=engine size=64MiB",
    "from=device to=device,device_pool,device_mapped,managed,pinned how=kernel size=64MiB",
    "from=device,pinned to=device,pinned size=1GiB",
    "from=host,first to=host,first " SIZES,
    "from=first to=first how=kernel " SIZES,
    "from=pinned to=device how=all " SIZES,
    "from=device to=pinned how=all " SIZES,
    "from=device to=device,pinned direction=both how=all size=1MiB,64MiB,256MiB",
    "from=pinned to=pinned how=all size=64MiB",
    NULL,
};

/* Two concurrent copies are the same pair with from and to exchanged. Keep the cell that starts at the allocator that
 * the device lists first. */
static bool is_exchanged(const struct as_device_info *info, const struct as_axes *a)
{
    const struct as_allocator *from = as_info_allocator(info, as_axes_text(a, "from")),
                              *to = as_info_allocator(info, as_axes_text(a, "to"));
    return from && to && from > to;
}

/* NULL: its data stays in place. Between two memories that may both lie in the device no data need cross the link. */
static const char *why_moved(const struct as_device_info *info, const struct as_axes *a, const char *axis)
{
    const struct as_allocator *memory = as_info_allocator(info, as_axes_text(a, axis));
    return memory && memory->moves[0] ? memory->moves : NULL;
}

/* the bandwidth probe measures copies by the CPU */
static enum as_applies copy_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    bool plain_from = as_word_is(a, "from", "host"), plain_to = as_word_is(a, "to", "host"),
         both = as_word_is(a, "direction", "both");
    bool kernel = as_word_is(a, "how", "kernel"), has_copies = (info->capabilities & AS_CAP_COPY) != 0;
    if (info->is_host_cpu || ((info->capabilities & AS_CAP_HOST_KERNELS) && !has_copies))
        return as_pruned(err, "a CPU has no memory of its own to copy to: see op=copy of probe bandwidth");
    if (plain_from && plain_to)
        return AS_PRUNED;
    if ((plain_from || plain_to) && (kernel || both))
        return AS_PRUNED;
    if (both && is_exchanged(info, a))
        return AS_PRUNED; /* the same two copies as with from and to exchanged */
    if (why_moved(info, a, "from") && why_moved(info, a, "to"))
        return as_inapplicable(err, "%s", why_moved(info, a, "from"));
    if (kernel || has_copies || plain_from || plain_to)
        return AS_APPLIES;
    return as_inapplicable(err, "the backend has no copy call");
}

/* Both ends are written and compared through the host, at some hundred MB/s at worst; a device may compile. */
static double copy_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return 10 + as_compile_patience(info, a) + as_axes_number(a, "size") / 50e6;
}

static struct as_transfer_end copy_end_of(const struct as_axes *a, const char *axis)
{
    return (struct as_transfer_end){.allocator = as_word_is(a, axis, "host") ? NULL : as_axes_text(a, axis),
                                    .node = -1};
}

static enum as_status copy_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    char variant[64];
    struct as_transfer *t = state;
    const struct as_transfer_end from = copy_end_of(tc->axes, "from"), to = copy_end_of(tc->axes, "to");
    struct as_transfer_desc desc = {.lane = {{from, to}, {to, from}},
                                    .lanes = as_word_is(tc->axes, "direction", "both") ? 2 : 1,
                                    .bytes = as_axes_u64(tc->axes, "size") / 64 * 64,
                                    .kernel = as_word_is(tc->axes, "how", "kernel"),
                                    .whole_check = tc->trial == 0,
                                    .seed = tc->seed};
    enum as_status st = as_check_room(tc->dev, as_transfer_footprint(&desc), desc.bytes, err);
    if (!st)
        st = as_transfer_prepare(t, tc->dev, &desc, err);
    if (st)
        return st;
    /* The host stages pageable memory. */
    if (!from.allocator || !to.allocator || desc.bytes < SUBMITTED)
        as_host_part(tc);
    tc->footprint = as_transfer_footprint(&desc);
    tc->max_reps = 1 << 20;
    tc->sample_s = 1e-2;
    if (desc.kernel) { /* four copies of each work-item in flight, and the remainder */
        as_expect_code(tc, t->copy, "load.global", 5);
        as_expect_code(tc, t->copy, "store.global", 5);
    }
    as_transfer_variant(t, variant, sizeof variant);
    as_note(tc, "variant", variant);
    return AS_OK;
}

const struct as_probe as_probe_copy = {
    .name = "copy",
    .title = "Copies",
    .question = "What copy bandwidth do pairs of memory kinds reach?",
    .metric = "bandwidth",
    .unit = "GB/s",
    .counts =
        "each copied byte once (not its read and its write); both directions together if two copies run; decimal GB",
    .varies_by_process = true,
    .crosses_link = true,
    AS_CELLS(axes, quick, full, copy_applies),
    .kernel_reaches = as_how_is_kernel,
    .patience = copy_patience,
    AS_TRIAL(struct as_transfer, copy_prepare, as_transfer_sample, as_transfer_check, as_transfer_finish),
};
