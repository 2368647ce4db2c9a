/* link: bandwidth between a device and a peer device or a NUMA node of the host. See method.md. */
#include "device/device.h"
#include "lib/checks/checks.h"
#include "lib/checks/nodes.h"
#include "lib/transfer/peers.h"
#include "lib/transfer/team.h"
#include "os/memory.h"

#include <stdio.h>
#include <string.h>

static const char *const direction_words[] = {"to", "from", "both", NULL};
static const char *const how_words[] = {"engine", "kernel", NULL};

static const struct as_axis axes[] = {
    AS_PEER_AXES("the other end: the host, a device of the backend by number, or every other device concurrently; "
                 "every_host: the host for all devices of the backend, which copy concurrently"),
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
    "peer=every_host allocator=pinned node=0 direction=all how=engine size=64MiB",
    "peer=all allocator=device node=0 direction=all how=all size=1MiB,64MiB,512MiB",
    NULL,
};

static enum as_applies link_probe_applies(const struct as_device_info *info, const struct as_axes *a,
                                          struct as_error *err)
{
    bool engine = as_word_is(a, "how", "engine");
    /* One device's copy engines do two copies at a time; its kernel one per lane. */
    if (as_word_is(a, "peer", "every") && (engine || as_word_is(a, "direction", "both")))
        return AS_PRUNED;
    if (as_word_is(a, "peer", AS_PEER_EVERY_HOST) && !engine)
        return as_pruned(err, "concurrent host links are measured by copy engine");
    enum as_applies pair = as_peer_applies(info, a, err);
    if (pair == AS_INAPPLICABLE && !(engine && as_word_is(a, "direction", "to")))
        return AS_PRUNED; /* one cell reports that there is no pair */
    if (pair == AS_APPLIES && engine && !(info->capabilities & AS_CAP_COPY))
        return as_inapplicable(err, "the backend has no copy call");
    return pair;
}

static double link_patience(const struct as_device_info *info, const struct as_axes *a)
{
    const double devices = as_word_is(a, "peer", AS_PEER_EVERY_HOST) ? info->siblings : 2;
    return 15 + as_compile_patience(info, a) + devices * (2 + as_axes_number(a, "size") / 20e6);
}

struct state {
    struct as_transfer transfer;
    struct as_transfer_team team; /* without members: the one transfer */
    struct as_trial_context *tc;
    struct as_place place;
    char owners[AS_TRANSFER_LANES][32];
};

static void lay_lane(const struct as_trial_context *tc, const char *owner, struct as_transfer_desc *desc)
{
    const struct as_transfer_end own = {.allocator = tc->dev->info.allocators[0].name, .node = -1};
    const struct as_transfer_end other = {.allocator = as_axes_text(tc->axes, "allocator"), .owner = owner, .node = -1};
    if (!as_word_is(tc->axes, "direction", "from"))
        desc->lane[desc->lanes++] = (struct as_transfer_lane){.from = own, .to = other};
    if (!as_word_is(tc->axes, "direction", "to"))
        desc->lane[desc->lanes++] = (struct as_transfer_lane){.from = other, .to = own};
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

/* One lane per peer, and one more for the opposite direction. */
static enum as_status prepare_one(struct state *s, struct as_transfer_desc *desc, struct as_error *err)
{
    struct as_trial_context *tc = s->tc;
    const size_t peers = as_peer_owners(&tc->dev->info, tc->axes, s->owners, AS_TRANSFER_LANES);
    const int node = peers ? -1 : (int)as_axes_u64(tc->axes, "node");
    for (size_t i = 0; i < (peers ? peers : 1); i++)
        lay_lane(tc, peers ? s->owners[i] : NULL, desc);
    enum as_status st = as_check_room(tc->dev, as_transfer_footprint(desc), desc->bytes, err);
    if (!st)
        st = as_place_begin(&s->place, &tc->dev->info, node, err);
    if (!st)
        st = as_transfer_prepare(&s->transfer, tc->dev, desc, err);
    as_place_unbind(&s->place);
    if (!st && !peers)
        st = look_at_node(tc, s, node, err);
    tc->footprint = as_transfer_footprint(desc);
    tc->sample_s = 1e-2;
    as_note_number(tc, "links", (double)(peers ? peers : 1));
    return st;
}

/* Memory of the host is allocated on the CPUs nearest to the device. */
static enum as_status add_member(struct state *s, size_t index, const struct as_transfer_desc *desc,
                                 struct as_error *err)
{
    struct as_device *dev;
    struct as_place place = {.moved = false};
    enum as_status st = s->tc->dev->team->member(s->tc->dev, index, &dev, err);
    if (!st)
        st = as_check_room(dev, as_transfer_footprint(desc), desc->bytes, err);
    if (!st)
        st = as_place_begin(&place, &dev->info, -1, err);
    if (!st)
        st = as_transfer_team_add(&s->team, dev, desc, err);
    as_place_end(&place);
    if (st && dev != s->tc->dev && dev->info.id[0])
        as_fail_in(err, dev->info.id);
    return st;
}

/* Samples are long, since the host starts the devices one after the other. */
static enum as_status start_team(struct state *s, const struct as_transfer_desc *desc, size_t links,
                                 struct as_error *err)
{
    struct as_trial_context *tc = s->tc;
    tc->footprint = s->team.n * as_transfer_footprint(desc);
    tc->sample_s = 5e-2;
    as_note_number(tc, "links", (double)links);
    return as_place_begin(&s->place, &tc->dev->info, -1, err);
}

static enum as_status prepare_every_host(struct state *s, struct as_transfer_desc *desc, struct as_error *err)
{
    enum as_status st = AS_OK;
    lay_lane(s->tc, NULL, desc);
    if (!s->tc->dev->team) /* precompilation has no team, and engine copies need no kernel */
        return as_fail(err, AS_UNSUPPORTED, "this API cannot drive several devices at the same time");
    for (size_t i = 0; i < s->tc->dev->info.siblings && !st; i++)
        st = add_member(s, i, desc, err);
    return st ? st : start_team(s, desc, s->team.n, err);
}

/* Do both devices of a pair copy, each to the other's memory? */
static bool is_push(const struct as_trial_context *tc)
{
    const char *peer = as_axes_text(tc->axes, "peer");
    return as_word_is(tc->axes, "direction", "both") && as_word_is(tc->axes, "how", "kernel") &&
           strcmp(peer, "host") != 0 && tc->dev->team;
}

static enum as_status add_push(struct state *s, unsigned driver, unsigned owner, struct as_transfer_desc *desc,
                               struct as_error *err)
{
    const struct as_device_info *info = &s->tc->dev->info;
    snprintf(s->owners[0], sizeof s->owners[0], "%.16s:%u", info->backend, owner);
    desc->lane[0] = (struct as_transfer_lane){
        .from = {.allocator = info->allocators[0].name, .node = -1},
        .to = {.allocator = as_axes_text(s->tc->axes, "allocator"), .owner = s->owners[0], .node = -1}};
    desc->lanes = 1;
    return add_member(s, driver, desc, err);
}

static enum as_status prepare_push(struct state *s, struct as_transfer_desc *desc, struct as_error *err)
{
    const unsigned own = as_peer_index(s->tc->dev->info.id), peer = as_peer_number(s->tc->axes);
    enum as_status st = add_push(s, own, peer, desc, err);
    if (!st)
        st = add_push(s, peer, own, desc, err);
    return st ? st : start_team(s, desc, 1, err);
}

static enum as_status link_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    char variant[64];
    struct as_transfer_desc desc = {.bytes = as_axes_u64(tc->axes, "size") / 64 * 64,
                                    .kernel = as_word_is(tc->axes, "how", "kernel"),
                                    .whole_check = tc->trial == 0,
                                    .seed = tc->seed};
    s->tc = tc;
    tc->max_reps = 1 << 20;
    enum as_status st = as_word_is(tc->axes, "peer", AS_PEER_EVERY_HOST) ? prepare_every_host(s, &desc, err)
                        : is_push(tc)                                    ? prepare_push(s, &desc, err)
                                                                         : prepare_one(s, &desc, err);
    if (st)
        return st;
    as_transfer_variant(s->team.n ? &s->team.member[0] : &s->transfer, variant, sizeof variant);
    as_note(tc, "variant", variant);
    as_note_number(tc, "copying_devices", s->team.n ? (double)s->team.n : 1);
    as_note(tc, "host_thread", s->place.moved ? tc->dev->info.near_cpus : "not placed");
    return AS_OK;
}

static enum as_status link_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    return s->team.n ? as_transfer_team_sample(&s->team, reps, out, err)
                     : as_transfer_sample(&s->transfer, reps, out, err);
}

static bool link_check(void *state, char *why, size_t size)
{
    struct state *s = state;
    if (!s->team.n)
        return as_transfer_check(&s->transfer, why, size);
    as_transfer_team_note(&s->team, s->tc);
    return as_transfer_team_check(&s->team, why, size);
}

static void link_finish(void *state)
{
    struct state *s = state;
    as_transfer_finish(&s->transfer);
    as_transfer_team_finish(&s->team);
    as_place_end(&s->place);
}

static const struct as_metric further[] = {
    {"slowest_device", "GB/s", false, "of the slowest device while all copy", NULL},
    {"fastest_device", "GB/s", false, "of the fastest device while all copy", NULL},
    {0},
};

const struct as_probe as_probe_link = {
    .name = "link",
    .title = "Links",
    .question = "What is the bandwidth between a device and another device or the host?",
    .metric = "bandwidth",
    .unit = "GB/s",
    .counts = "each byte that crosses the link, once; concurrent directions or links together; decimal GB",
    .further = further,
    .varies_by_process = true,
    .crosses_link = true,
    AS_CELLS(axes, quick, full, link_probe_applies),
    .kernel_reaches = as_how_is_kernel,
    .patience = link_patience,
    AS_TRIAL(struct state, link_prepare, link_sample, link_check, link_finish),
};
