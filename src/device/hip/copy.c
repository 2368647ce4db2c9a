/* Copies by the copy engines: every address is known to the driver, so that one call serves all kinds of memory. */
#include "device/hip/memory.h"

#include "base/clock.h"

#include <math.h>

static enum as_status check_side(const struct as_copy *c, const struct as_memory *to, const struct as_memory *from,
                                 struct as_error *err)
{
    if (!to || !from || c->bytes == 0 || c->bytes > to->bytes || c->bytes > from->bytes)
        return as_fail(err, AS_USAGE, "hip: a copy of %llu bytes does not fit its memory",
                       (unsigned long long)c->bytes);
    return AS_OK;
}

static hipError_t put(const struct as_hip_device *hip, const struct as_memory *to, const struct as_memory *from,
                      uint64_t bytes, hipStream_t stream)
{
    return hip->api->hipMemcpyAsync(as_hip_address(to), as_hip_address(from), bytes, hipMemcpyDefault, stream);
}

/* Two copies between two devices need an engine of each: the way back is driven by the device from whose memory it
 * comes. */
static const struct as_hip_back *back_of(const struct as_hip_device *hip, const struct as_copy *c)
{
    const struct as_hip_block *from = c->back_from->ctx;
    for (size_t i = 0; i < hip->backend->found_n; i++)
        if (hip->peers[i].stream && hip->peers[i].device == from->home)
            return &hip->peers[i];
    return &hip->back;
}

/* What is queued on a stream of another device's is queued with that device as the thread's. The way back starts when
 * the start event is over. */
static hipError_t put_back(const struct as_hip_device *hip, const struct as_hip_back *back, const struct as_copy *c,
                           uint64_t i)
{
    const struct as_hip_api *api = hip->api;
    hipError_t code = api->hipSetDevice(back->device);
    if (!code && i == 0)
        code = api->hipStreamWaitEvent(back->stream, hip->start, 0);
    if (!code)
        code = put(hip, c->back_to, c->back_from, c->bytes, back->stream);
    if (!code && i == c->reps - 1)
        code = api->hipEventRecord(back->end, back->stream);
    hipError_t again = api->hipSetDevice(hip->id);
    return code ? code : again;
}

/* Both directions alternate, so that neither stream waits for the host to come to it. The end event waits for the way
 * back. */
static hipError_t put_all(const struct as_hip_device *hip, const struct as_copy *c, const struct as_hip_back *back)
{
    hipError_t code = hip->api->hipEventRecord(hip->start, hip->stream);
    for (uint64_t i = 0; i < c->reps && !code; i++) {
        code = put(hip, c->to, c->from, c->bytes, hip->stream);
        if (!code && back)
            code = put_back(hip, back, c, i);
    }
    if (!code && back)
        code = hip->api->hipStreamWaitEvent(hip->stream, back->end, 0);
    return code ? code : hip->api->hipEventRecord(hip->end, hip->stream);
}

enum as_status as_hip_copy(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                           struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status s = as_hip_alive(hip, err);
    if (!s)
        s = check_side(copy, copy->to, copy->from, err);
    if (!s && copy->back_to)
        s = check_side(copy, copy->back_to, copy->back_from, err);
    if (!s && copy->reps == 0)
        s = as_fail(err, AS_USAGE, "hip: the repetitions of a copy start at 1");
    if (s)
        return s;
    const struct as_hip_back *back = copy->back_to ? back_of(hip, copy) : NULL;
    uint64_t t0 = as_now_ns();
    hipError_t code = put_all(hip, copy, back), waited = hip->api->hipStreamSynchronize(hip->stream);
    uint64_t t1 = as_now_ns();
    s = as_hip_check(hip->api, hip, code ? code : waited, "hipMemcpyAsync", err);
    if (s && back)
        as_hip_settle(hip, NULL); /* nothing waits for the way back then, and the caller frees the memory */
    if (s)
        return s;
    out->host_s = (double)(t1 - t0) * 1e-9;
    out->device_s = as_hip_elapsed(hip);
    return AS_OK;
}
