/* Copies by the copy engines: every address is known to the driver, so that one call serves all kinds of memory. */
#include "device/cuda/memory.h"

#include "base/clock.h"

#include <math.h>

static enum as_status check_side(const struct as_copy *c, const struct as_memory *to, const struct as_memory *from,
                                 struct as_error *err)
{
    if (!to || !from || c->bytes == 0 || c->bytes > to->bytes || c->bytes > from->bytes)
        return as_fail(err, AS_USAGE, "cuda: a copy of %llu bytes does not fit its memory",
                       (unsigned long long)c->bytes);
    return AS_OK;
}

static CUresult put(const struct as_cu_device *cu, const struct as_memory *to, const struct as_memory *from,
                    uint64_t bytes, CUstream stream)
{
    return cu->api->cuMemcpyAsync(as_cu_address(to), as_cu_address(from), bytes, stream);
}

/* Two copies between two devices need an engine of each: the way back is driven by the device from whose memory it
 * comes, where that reaches the memory to which it goes. */
static const struct as_cu_back *back_of(const struct as_cu_device *cu, const struct as_copy *c)
{
    const struct as_cu_block *from = c->back_from->ctx, *to = c->back_to->ctx;
    for (size_t i = 0; i < cu->backend->found_n && !to->how->granted; i++)
        if (cu->peers[i].context && cu->peers[i].context == from->home.context)
            return &cu->peers[i];
    return &cu->back;
}

/* What is queued on a stream of another device's is queued with its context current. The way back starts when the start
 * event is over. */
static CUresult put_back(const struct as_cu_device *cu, const struct as_cu_back *back, const struct as_copy *c,
                         uint64_t i)
{
    const struct as_cu_api *api = cu->api;
    CUresult code = api->cuCtxSetCurrent(back->context);
    if (!code && i == 0)
        code = api->cuStreamWaitEvent(back->stream, cu->start, 0);
    if (!code)
        code = put(cu, c->back_to, c->back_from, c->bytes, back->stream);
    if (!code && i == c->reps - 1)
        code = api->cuEventRecord(back->end, back->stream);
    CUresult again = api->cuCtxSetCurrent(cu->context);
    return code ? code : again;
}

/* Both directions alternate, so that neither stream waits for the host to come to it. The end event waits for the way
 * back. */
static CUresult put_all(const struct as_cu_device *cu, const struct as_copy *c, const struct as_cu_back *back)
{
    CUresult code = cu->api->cuEventRecord(cu->start, cu->stream);
    for (uint64_t i = 0; i < c->reps && !code; i++) {
        code = put(cu, c->to, c->from, c->bytes, cu->stream);
        if (!code && back)
            code = put_back(cu, back, c, i);
    }
    if (!code && back)
        code = cu->api->cuStreamWaitEvent(cu->stream, back->end, 0);
    return code ? code : cu->api->cuEventRecord(cu->end, cu->stream);
}

enum as_status as_cu_copy(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                          struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status s = as_cu_alive(cu, err);
    if (!s)
        s = check_side(copy, copy->to, copy->from, err);
    if (!s && copy->back_to)
        s = check_side(copy, copy->back_to, copy->back_from, err);
    if (!s && copy->reps == 0)
        s = as_fail(err, AS_USAGE, "cuda: the repetitions of a copy start at 1");
    if (s)
        return s;
    const struct as_cu_back *back = copy->back_to ? back_of(cu, copy) : NULL;
    uint64_t t0 = as_now_ns();
    CUresult code = put_all(cu, copy, back), waited = cu->api->cuStreamSynchronize(cu->stream);
    uint64_t t1 = as_now_ns();
    s = as_cu_check(cu->api, cu, code ? code : waited, "cuMemcpyAsync", err);
    if (s && back)
        as_cu_settle(cu, NULL); /* nothing waits for the way back then, and the caller frees the memory */
    if (s)
        return s;
    out->host_s = (double)(t1 - t0) * 1e-9;
    out->device_s = as_cu_elapsed(cu);
    return AS_OK;
}
