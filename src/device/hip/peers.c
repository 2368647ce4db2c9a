/* Other devices of the backend: their memory within reach, and a stream of theirs for copies that come from it. */
#include "device/hip/hip.h"

enum as_status as_hip_back_create(struct as_hip_device *hip, struct as_hip_back *back, int device, struct as_error *err)
{
    const struct as_hip_api *api = hip->api;
    back->device = device;
    enum as_status s = as_hip_check(api, hip, api->hipSetDevice(device), "hipSetDevice", err);
    if (!s)
        s = as_hip_check(api, hip, api->hipStreamCreateWithFlags(&back->stream, hipStreamNonBlocking),
                         "hipStreamCreate", err);
    if (!s)
        s = as_hip_check(api, hip, api->hipEventCreateWithFlags(&back->end, hipEventDisableTiming), "hipEventCreate",
                         err);
    return s;
}

void as_hip_back_destroy(const struct as_hip_device *hip, struct as_hip_back *back)
{
    if (!back->stream)
        return;
    hip->api->hipSetDevice(back->device);
    if (back->end)
        hip->api->hipEventDestroy(back->end);
    hip->api->hipStreamDestroy(back->stream);
    *back = (struct as_hip_back){0};
}

/* Access in both directions: an engine of either device may do a copy between the two. */
static enum as_status enable(struct as_hip_device *hip, int from, int to, struct as_error *err)
{
    enum as_status s = as_hip_check(hip->api, hip, hip->api->hipSetDevice(from), "hipSetDevice", err);
    if (s)
        return s;
    hipError_t code = hip->api->hipDeviceEnablePeerAccess(to, 0);
    return code == hipErrorPeerAccessAlreadyEnabled
               ? AS_OK
               : as_hip_check(hip->api, hip, code, "hipDeviceEnablePeerAccess", err);
}

static enum as_status check_path(struct as_hip_device *hip, size_t index, const char *own, struct as_error *err)
{
    int there = 0, back = 0, peer = hip->backend->found[index].id;
    hipError_t code = hip->api->hipDeviceCanAccessPeer(&there, hip->id, peer);
    if (!code)
        code = hip->api->hipDeviceCanAccessPeer(&back, peer, hip->id);
    enum as_status s = as_hip_check(hip->api, hip, code, "hipDeviceCanAccessPeer", err);
    if (s || (there && back))
        return s;
    return as_fail(err, AS_UNSUPPORTED, "'%s' cannot reach the memory of 'hip:%zu': hipDeviceCanAccessPeer says no",
                   own, index);
}

enum as_status as_hip_reach_peer(struct as_hip_device *hip, size_t index, const char *own, struct as_error *err)
{
    struct as_hip_back *peer = &hip->peers[index];
    int id = hip->backend->found[index].id;
    if (peer->stream)
        return AS_OK;
    enum as_status s = check_path(hip, index, own, err);
    if (!s)
        s = enable(hip, hip->id, id, err);
    if (!s)
        s = enable(hip, id, hip->id, err);
    if (!s)
        s = as_hip_back_create(hip, peer, id, err);
    if (s)
        as_hip_back_destroy(hip, peer);
    hip->api->hipSetDevice(hip->id);
    return s;
}

enum as_status as_hip_settle(struct as_hip_device *hip, struct as_error *err)
{
    const struct as_hip_api *api = hip->api;
    hipError_t code = api->hipStreamSynchronize(hip->stream);
    if (!code)
        code = api->hipStreamSynchronize(hip->back.stream);
    for (size_t i = 0; i < hip->backend->found_n && !code; i++)
        if (hip->peers[i].stream)
            code = api->hipStreamSynchronize(hip->peers[i].stream);
    return as_hip_check(api, hip, code, "hipStreamSynchronize", err);
}

void as_hip_peers_close(struct as_hip_device *hip)
{
    for (size_t i = 0; i < hip->backend->found_n; i++)
        as_hip_back_destroy(hip, &hip->peers[i]);
}
