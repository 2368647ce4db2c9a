/* Peer devices: access to their memory, and a stream on them for copies from it. */
#include "device/gpu/gpu.h"

enum as_status as_gpu_back_create(struct as_gpu *card, struct as_gpu_back *back, struct as_error *err)
{
    const struct as_gpu_api *api = card->api;
    enum as_status s = as_gpu_check(card, api->enter(card, &back->place), api->enter_name, err);
    if (!s)
        s = AS_GPU_DO(card, err, stream_create, &back->stream, api->non_blocking);
    if (!s)
        s = AS_GPU_DO(card, err, event_create, &back->end, api->untimed_event);
    return s;
}

void as_gpu_back_destroy(const struct as_gpu *card, struct as_gpu_back *back)
{
    if (!back->stream)
        return;
    card->api->enter(card, &back->place);
    if (back->end)
        card->f->event_destroy.call(back->end);
    card->f->stream_destroy.call(back->stream);
    back->stream = NULL;
    back->end = NULL;
}

static enum as_status enable(struct as_gpu *card, const struct as_gpu_place *from, const struct as_gpu_place *to,
                             struct as_error *err)
{
    const struct as_gpu_api *api = card->api;
    enum as_status s = as_gpu_check(card, api->enter(card, from), api->enter_name, err);
    if (s)
        return s;
    int code = api->enable_peer(card, to);
    return code == api->peer_already_enabled ? AS_OK : as_gpu_check(card, code, api->enable_peer_name, err);
}

static enum as_status check_path(struct as_gpu *card, size_t index, const char *own, struct as_error *err)
{
    int there = 0, back = 0, id = card->here.device, peer = card->backend->found[index].id;
    enum as_status s = AS_GPU_DO(card, err, can_access_peer, &there, id, peer);
    if (!s)
        s = AS_GPU_DO(card, err, can_access_peer, &back, peer, id);
    if (s || (there && back))
        return s;
    return as_fail(err, AS_UNSUPPORTED, "'%s' cannot reach the memory of '%s:%zu': %s denies it", own, card->api->name,
                   index, card->f->can_access_peer.name);
}

static void gpu_peers_leave(const struct as_gpu *card, struct as_gpu_back *peer)
{
    as_gpu_back_destroy(card, peer);
    if (card->api->release)
        card->api->release(card, &peer->place);
}

/* Another device's context and stream are kept until this device is closed: creating one takes long, and its memory
 * depends on it. Access is enabled in both directions, since an engine of either device may do a copy between the two.
 */
enum as_status as_gpu_reach_peer(struct as_gpu *card, size_t index, const char *own, struct as_error *err)
{
    const struct as_gpu_api *api = card->api;
    struct as_gpu_back *peer = &card->peers[index];
    if (peer->stream)
        return AS_OK;
    enum as_status s = check_path(card, index, own, err);
    if (s)
        return s;
    peer->place = (struct as_gpu_place){.device = card->backend->found[index].id};
    if (api->retain && (s = api->retain(card, &peer->place, err)))
        return s;
    s = enable(card, &card->here, &peer->place, err);
    if (!s)
        s = enable(card, &peer->place, &card->here, err);
    if (!s)
        s = as_gpu_back_create(card, peer, err);
    if (s)
        gpu_peers_leave(card, peer);
    api->enter(card, &card->here);
    return s;
}

/* A thread must enter a stream's place to wait for it. */
enum as_status as_gpu_settle(struct as_gpu *card, struct as_error *err)
{
    const struct as_gpu_api *api = card->api;
    int (*const wait)(struct as_gpu_stream *) = card->f->stream_synchronize.call;
    int code = wait(card->stream);
    if (!code)
        code = wait(card->back.stream);
    for (size_t i = 0; i < card->backend->found_n && !code; i++) {
        const struct as_gpu_back *peer = &card->peers[i];
        if (!peer->stream)
            continue;
        code = api->enter(card, &peer->place);
        if (!code)
            code = wait(peer->stream);
        int again = api->enter(card, &card->here);
        code = code ? code : again;
    }
    return as_gpu_check(card, code, card->f->stream_synchronize.name, err);
}

void as_gpu_peers_close(struct as_gpu *card)
{
    for (size_t i = 0; i < card->backend->found_n; i++)
        gpu_peers_leave(card, &card->peers[i]);
}
