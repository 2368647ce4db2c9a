/* link: bandwidth between a device and a peer device or a NUMA node of the host. See method.md. */
#include "device/device.h"
#include "lib/checks/checks.h"
#include "lib/checks/nodes.h"
#include "lib/transfer/peers.h"
#include "lib/transfer/transfer.h"
#include "os/memory.h"

static const char *const direction_words[] = {"to", "from", "both", NULL};
static const char *const how_words[] = {"engine", "kernel", NULL};

static const struct as_axis axes[] = {
    AS_PEER_AXES("the other end: the host, a device of the backend by number, or every other device concurrently"),
    AS_WORD_AXIS("direction", direction_words, "to", "to the other end, from it, or both concurrently"),
    AS_WORD_AXIS("how", how_words, "engine", "by copy engine (DMA) or by copy kernel"),
    AS_SIZE_AXIS("size", 64, UINT64_C(1) << 36, "64MiB", "bytes of one copy"),
    {0},
};
static const char *const quick[] = {
    "peer=host allocator=pinned direction=to,from how=engine",
    "peer=all allocator=device node=0 direction=to how=engine size=256MiB",
    "peer=all allocator=device node=0 direction=from how=kernel size=256MiB",
    NULL,
};
static const char *const full[] = {
    "peer=host allocator=pinned direction=all how=all size=1MiB,64MiB,512MiB",
    "peer=all allocator=device node=0 direction=all how=all size=1MiB,64MiB,512MiB",
    NULL,
};

static enum as_applies link_probe_applies(const struct as_device_info *info, const struct as_axes *a,
                                          struct as_error *err)
{
    bool engine = as_word_is(a, "how", "engine");
    /* At most two concurrent copies by copy engine; by kernel one per lane. */
    if (as_word_is(a, "peer", "every") && (engine || as_word_is(a, "direction", "both")))
        return AS_PRUNED;
    enum as_applies pair = as_peer_applies(info, a, err);
    if (pair == AS_INAPPLICABLE && !(engine && as_word_is(a, "direction", "to")))
        return AS_PRUNED; /* one cell reports that there is no pair */
    if (pair == AS_APPLIES && engine && !(info->capabilities & AS_CAP_COPY))
        return as_inapplicable(err, "the backend has no copy call");
    return pair;
}

static double link_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return 15 + as_compile_patience(info, a) + as_axes_number(a, "size") / 20e6;
}

struct state {
    struct as_transfer transfer; /* first: the record's functions cast to it */
    struct as_place place;
    char owners[AS_TRANSFER_LANES][32];
};

/* One lane per peer, and one more for the opposite direction. */
static void lay_lanes(struct state *s, const struct as_trial_context *tc, size_t peers, struct as_transfer_desc *desc)
{
    const struct as_transfer_end own = {.allocator = tc->dev->info.allocators[0].name, .node = -1};
    desc->lanes = 0;
    for (size_t i = 0; i < (peers ? peers : 1); i++) {
        const struct as_transfer_end other = {
            .allocator = as_axes_text(tc->axes, "allocator"), .owner = peers ? s->owners[i] : NULL, .node = -1};
        if (!as_word_is(tc->axes, "direction", "from"))
            desc->lane[desc->lanes++] = (struct as_transfer_lane){.from = own, .to = other};
        if (!as_word_is(tc->axes, "direction", "to"))
            desc->lane[desc->lanes++] = (struct as_transfer_lane){.from = other, .to = own};
    }
}

/* The NUMA node of the host's memory, as far as the system reports it. */
static enum as_status look_at_node(struct as_trial_context *tc, const struct state *s, int node, struct as_error *err)
{
    const struct as_transfer *t = &s->transfer;
    struct as_memory *mem = as_word_is(tc->axes, "direction", "from") ? t->from[0] : t->to[0];
    bool was_mapped = mem->host != NULL;
    enum as_status st = tc->dev->memory->map(tc->dev, mem, err);
    int got = st ? -1 : as_node_of(mem->host);
    if (!st && !was_mapped)
        st = tc->dev->memory->unmap(tc->dev, mem, err);
    return st ? st : as_node_check(tc, node, got, err);
}

static enum as_status link_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    char variant[64];
    struct as_transfer_desc desc = {.bytes = as_axes_u64(tc->axes, "size") / 64 * 64,
                                    .kernel = as_word_is(tc->axes, "how", "kernel"),
                                    .whole_check = tc->trial == 0,
                                    .seed = tc->seed};
    size_t peers = as_peer_owners(&tc->dev->info, tc->axes, s->owners, AS_TRANSFER_LANES);
    bool host = peers == 0;
    lay_lanes(s, tc, peers, &desc);
    int node = host ? (int)as_axes_u64(tc->axes, "node") : -1;
    enum as_status st = as_check_room(tc->dev, as_transfer_footprint(&desc), desc.bytes, err);
    if (!st)
        st = as_place_begin(&s->place, &tc->dev->info, node, err);
    if (!st)
        st = as_transfer_prepare(&s->transfer, tc->dev, &desc, err);
    as_place_unbind(&s->place);
    if (!st && host)
        st = look_at_node(tc, s, node, err);
    if (st)
        return st;
    tc->footprint = as_transfer_footprint(&desc);
    tc->max_reps = 1 << 20;
    tc->sample_s = 1e-2;
    as_transfer_variant(&s->transfer, variant, sizeof variant);
    as_note(tc, "variant", variant);
    as_note_number(tc, "links", (double)(host ? 1 : peers));
    as_note(tc, "host_thread", s->place.moved ? tc->dev->info.near_cpus : "not placed");
    return AS_OK;
}

static void link_finish(void *state)
{
    struct state *s = state;
    as_transfer_finish(&s->transfer);
    as_place_end(&s->place);
}

const struct as_probe as_probe_link = {
    .name = "link",
    .title = "Links",
    .question = "What is the bandwidth between a device and another device or the host?",
    .metric = "bandwidth",
    .unit = "GB/s",
    .counts = "each byte that crosses the link, once; concurrent directions or links together; decimal GB",
    .varies_by_process = true,
    .crosses_link = true,
    AS_CELLS(axes, quick, full, link_probe_applies),
    .kernel_reaches = as_how_is_kernel,
    .patience = link_patience,
    AS_TRIAL(struct state, link_prepare, as_transfer_sample, as_transfer_check, link_finish),
};
