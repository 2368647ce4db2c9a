/* Other devices of the backend: their memory within reach, and a stream of theirs for copies that come from it. */
#include "device/cuda/cuda.h"

enum as_status as_cu_back_create(struct as_cu_device *cu, struct as_cu_back *back, struct as_error *err)
{
    const struct as_cu_api *api = cu->api;
    enum as_status s = as_cu_check(api, cu, api->cuCtxSetCurrent(back->context), "cuCtxSetCurrent", err);
    if (!s)
        s = as_cu_check(api, cu, api->cuStreamCreate(&back->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate", err);
    if (!s)
        s = as_cu_check(api, cu, api->cuEventCreate(&back->end, CU_EVENT_DISABLE_TIMING), "cuEventCreate", err);
    return s;
}

void as_cu_back_destroy(const struct as_cu_device *cu, struct as_cu_back *back)
{
    if (!back->context)
        return;
    cu->api->cuCtxSetCurrent(back->context);
    if (back->end)
        cu->api->cuEventDestroy_v2(back->end);
    if (back->stream)
        cu->api->cuStreamDestroy_v2(back->stream);
    *back = (struct as_cu_back){.context = back->context};
}

/* Access in both directions: an engine of either device may do a copy between the two. */
static enum as_status enable(struct as_cu_device *cu, CUcontext from, CUcontext to, struct as_error *err)
{
    enum as_status s = as_cu_check(cu->api, cu, cu->api->cuCtxSetCurrent(from), "cuCtxSetCurrent", err);
    if (s)
        return s;
    CUresult code = cu->api->cuCtxEnablePeerAccess(to, 0);
    return code == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
               ? AS_OK
               : as_cu_check(cu->api, cu, code, "cuCtxEnablePeerAccess", err);
}

static enum as_status check_path(struct as_cu_device *cu, size_t index, const char *own, struct as_error *err)
{
    int there = 0, back = 0;
    CUdevice peer = cu->backend->found[index].id;
    CUresult code = cu->api->cuDeviceCanAccessPeer(&there, cu->id, peer);
    if (!code)
        code = cu->api->cuDeviceCanAccessPeer(&back, peer, cu->id);
    enum as_status s = as_cu_check(cu->api, cu, code, "cuDeviceCanAccessPeer", err);
    if (s || (there && back))
        return s;
    return as_fail(err, AS_UNSUPPORTED, "'%s' cannot reach the memory of 'cuda:%zu': cuDeviceCanAccessPeer says no",
                   own, index);
}

/* Another device's context is kept until this device is closed: making one takes long, and its memory hangs on it. */
enum as_status as_cu_reach_peer(struct as_cu_device *cu, size_t index, const char *own, struct as_error *err)
{
    const struct as_cu_api *api = cu->api;
    struct as_cu_back *peer = &cu->peers[index];
    CUdevice id = cu->backend->found[index].id;
    if (peer->context)
        return AS_OK;
    enum as_status s = check_path(cu, index, own, err);
    if (!s)
        s = as_cu_check(api, NULL, api->cuDevicePrimaryCtxRetain(&peer->context, id), "cuDevicePrimaryCtxRetain", err);
    if (s) {
        peer->context = NULL;
        return s;
    }
    s = enable(cu, cu->context, peer->context, err);
    if (!s)
        s = enable(cu, peer->context, cu->context, err);
    if (!s)
        s = as_cu_back_create(cu, peer, err);
    if (s) {
        as_cu_back_destroy(cu, peer);
        api->cuDevicePrimaryCtxRelease_v2(id);
        peer->context = NULL;
    }
    api->cuCtxSetCurrent(cu->context);
    return s;
}

enum as_status as_cu_settle(struct as_cu_device *cu, struct as_error *err)
{
    const struct as_cu_api *api = cu->api;
    CUresult code = api->cuStreamSynchronize(cu->stream);
    if (!code)
        code = api->cuStreamSynchronize(cu->back.stream);
    for (size_t i = 0; i < cu->backend->found_n && !code; i++) {
        if (!cu->peers[i].stream)
            continue;
        code = api->cuCtxSetCurrent(cu->peers[i].context);
        if (!code)
            code = api->cuStreamSynchronize(cu->peers[i].stream);
        CUresult again = api->cuCtxSetCurrent(cu->context);
        code = code ? code : again;
    }
    return as_cu_check(api, cu, code, "cuStreamSynchronize", err);
}

void as_cu_peers_close(struct as_cu_device *cu)
{
    for (size_t i = 0; i < cu->backend->found_n; i++) {
        if (!cu->peers[i].context)
            continue;
        as_cu_back_destroy(cu, &cu->peers[i]);
        cu->api->cuDevicePrimaryCtxRelease_v2(cu->backend->found[i].id);
    }
}
