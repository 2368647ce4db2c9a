/* Copies by the copy engines: every address is known to the driver, so that one call serves all kinds of memory. */
#include "device/cuda/cuda.h"

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

/* Both directions alternate, so that neither stream waits for the host to come to it. The way back starts when the
 * start event is over, and the end event waits for it. */
static CUresult put_all(const struct as_cu_device *cu, const struct as_copy *c)
{
    const struct as_cu_api *api = cu->api;
    CUresult code = api->cuEventRecord(cu->start, cu->stream);
    if (!code && c->back_to)
        code = api->cuStreamWaitEvent(cu->back, cu->start, 0);
    for (uint64_t i = 0; i < c->reps && !code; i++) {
        code = put(cu, c->to, c->from, c->bytes, cu->stream);
        if (!code && c->back_to)
            code = put(cu, c->back_to, c->back_from, c->bytes, cu->back);
    }
    if (!code && c->back_to) {
        code = api->cuEventRecord(cu->back_end, cu->back);
        if (!code)
            code = api->cuStreamWaitEvent(cu->stream, cu->back_end, 0);
    }
    return code ? code : api->cuEventRecord(cu->end, cu->stream);
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
    uint64_t t0 = as_now_ns();
    CUresult code = put_all(cu, copy), waited = cu->api->cuStreamSynchronize(cu->stream);
    uint64_t t1 = as_now_ns();
    if (code && copy->back_to)
        cu->api->cuStreamSynchronize(cu->back); /* nothing waits for it then, and the caller frees the memory */
    s = as_cu_check(cu->api, cu, code ? code : waited, "cuMemcpyAsync", err);
    if (s)
        return s;
    float ms = NAN;
    out->host_s = (double)(t1 - t0) * 1e-9;
    if (!cu->api->cuEventElapsedTime(&ms, cu->start, cu->end) && ms > 0)
        out->device_s = (double)ms * 1e-3;
    return AS_OK;
}
