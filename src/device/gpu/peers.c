/* Peer devices: access to their memory, and a stream on them for copies from it. */
#include "device/gpu/gpu.h"

#include <stdio.h>

enum as_status as_gpu_back_create(struct as_gpu *gpu, struct as_gpu_back *back, struct as_error *err)
{
    const struct as_gpu_api *api = gpu->api;
    enum as_status st = as_gpu_check(gpu, api->enter(gpu, &back->place), api->enter_name, err);
    if (!st)
        st = AS_GPU_DO(gpu, err, stream_create, &back->stream, api->non_blocking);
    if (!st)
        st = AS_GPU_DO(gpu, err, event_create, &back->end, api->untimed_event);
    return st;
}

void as_gpu_back_destroy(const struct as_gpu *gpu, struct as_gpu_back *back)
{
    if (!back->stream)
        return;
    gpu->api->enter(gpu, &back->place);
    if (back->end)
        gpu->f->event_destroy.call(back->end);
    gpu->f->stream_destroy.call(back->stream);
    back->stream = NULL;
    back->end = NULL;
}

static enum as_status enable(struct as_gpu *gpu, const struct as_gpu_place *from, const struct as_gpu_place *to,
                             struct as_error *err)
{
    const struct as_gpu_api *api = gpu->api;
    enum as_status st = as_gpu_check(gpu, api->enter(gpu, from), api->enter_name, err);
    if (st)
        return st;
    int code = api->enable_peer(gpu, to);
    return code == api->peer_already_enabled ? AS_OK : as_gpu_check(gpu, code, api->enable_peer_name, err);
}

static enum as_status check_path(struct as_gpu *gpu, size_t index, const char *own, struct as_error *err)
{
    int there = 0, back = 0, id = gpu->here.device, peer = gpu->backend->found[index].id;
    enum as_status st = AS_GPU_DO(gpu, err, can_access_peer, &there, id, peer);
    if (!st)
        st = AS_GPU_DO(gpu, err, can_access_peer, &back, peer, id);
    if (st || (there && back))
        return st;
    return as_fail(err, AS_UNSUPPORTED, "'%s' cannot reach the memory of '%s:%zu': %s denies it", own, gpu->api->name,
                   index, gpu->f->can_access_peer.name);
}

/* 0 after an error, which says why. */
static int peer_attribute(struct as_gpu *gpu, int attribute, int peer, struct as_error *err)
{
    int value = 0;
    return AS_GPU_DO(gpu, err, peer_attribute, &value, attribute, gpu->here.device, peer) ? 0 : value;
}

static void fill_peer(struct as_gpu *gpu, size_t index, struct as_peer *out)
{
    const int peer = gpu->backend->found[index].id;
    struct as_error err = {0};
    *out = (struct as_peer){.device = (unsigned)index,
                            .access = peer_attribute(gpu, gpu->api->peer.access, peer, &err) > 0};
    if (!out->access) {
        snprintf(out->why_not, sizeof out->why_not, "%.150s",
                 err.text[0] ? err.text : "the driver reports no peer access");
        return;
    }
    const int rank = peer_attribute(gpu, gpu->api->peer.rank, peer, NULL);
    out->rank = rank > 0 ? (unsigned)rank : 0;
    out->atomics = peer_attribute(gpu, gpu->api->peer.atomics, peer, NULL) > 0;
    out->arrays = peer_attribute(gpu, gpu->api->peer.arrays, peer, NULL) > 0;
}

void as_gpu_fill_peers(struct as_device *dev, size_t index)
{
    struct as_gpu *gpu = dev->ctx;
    for (size_t i = 0; i < gpu->backend->found_n && dev->info.peers_n < AS_PEERS_MAX; i++)
        if (i != index)
            fill_peer(gpu, i, &dev->info.peers[dev->info.peers_n++]);
}

static void gpu_peers_leave(const struct as_gpu *gpu, struct as_gpu_back *peer)
{
    as_gpu_back_destroy(gpu, peer);
    if (gpu->api->release)
        gpu->api->release(gpu, &peer->place);
}

/* Another device's context and stream are kept until this device is closed: creating one takes long, and its memory
 * depends on it. Access is enabled in both directions, since an engine of either device may do a copy between the two.
 */
enum as_status as_gpu_reach_peer(struct as_gpu *gpu, size_t index, const char *own, struct as_error *err)
{
    const struct as_gpu_api *api = gpu->api;
    struct as_gpu_back *peer = &gpu->peers[index];
    if (peer->stream)
        return AS_OK;
    enum as_status st = check_path(gpu, index, own, err);
    if (st)
        return st;
    peer->place = (struct as_gpu_place){.device = gpu->backend->found[index].id};
    if (api->retain && (st = api->retain(gpu, &peer->place, err)))
        return st;
    st = enable(gpu, &gpu->here, &peer->place, err);
    if (!st)
        st = enable(gpu, &peer->place, &gpu->here, err);
    if (!st)
        st = as_gpu_back_create(gpu, peer, err);
    if (st)
        gpu_peers_leave(gpu, peer);
    api->enter(gpu, &gpu->here);
    return st;
}

/* A thread must enter a stream's place to wait for it. */
enum as_status as_gpu_settle(struct as_gpu *gpu, struct as_error *err)
{
    const struct as_gpu_api *api = gpu->api;
    int (*const wait)(struct as_gpu_stream *) = gpu->f->stream_synchronize.call;
    int code = wait(gpu->stream);
    if (!code)
        code = wait(gpu->back.stream);
    for (size_t i = 0; i < gpu->backend->found_n && !code; i++) {
        const struct as_gpu_back *peer = &gpu->peers[i];
        if (!peer->stream)
            continue;
        code = api->enter(gpu, &peer->place);
        if (!code)
            code = wait(peer->stream);
        int again = api->enter(gpu, &gpu->here);
        code = code ? code : again;
    }
    return as_gpu_check(gpu, code, gpu->f->stream_synchronize.name, err);
}

void as_gpu_peers_close(struct as_gpu *gpu)
{
    for (size_t i = 0; i < gpu->backend->found_n; i++)
        gpu_peers_leave(gpu, &gpu->peers[i]);
}
