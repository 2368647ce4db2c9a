/* Copies by copy engines. With unified addressing one call serves all kinds of memory. */
#include "device/gpu/memory.h"

#include "base/clock.h"

#include <math.h>

static enum as_status gpu_copy_check(const struct as_gpu *gpu, const struct as_copy *c, const struct as_memory *to,
                                     const struct as_memory *from, struct as_error *err)
{
    if (!to || !from || c->bytes == 0 || c->bytes > to->bytes || c->bytes > from->bytes)
        return as_fail(err, AS_USAGE, "%s: a copy of %llu bytes does not fit its memory", gpu->api->name,
                       (unsigned long long)c->bytes);
    if (c->reps == 0)
        return as_fail(err, AS_USAGE, "%s: the repetitions of a copy start at 1", gpu->api->name);
    return AS_OK;
}

static int gpu_copy_put(const struct as_gpu *gpu, const struct as_memory *to, const struct as_memory *from,
                        uint64_t bytes, struct as_gpu_stream *stream)
{
    return gpu->api->copy(gpu, as_gpu_address(to), as_gpu_address(from), bytes, stream);
}

/* Concurrent copies between two devices need an engine of each: the copy back is queued on the device that it
 * reads from, if that device can access the destination. */
static const struct as_gpu_back *back_of(const struct as_gpu *gpu, const struct as_copy *c)
{
    const struct as_gpu_block *from = c->back_from->ctx, *to = c->back_to->ctx;
    for (size_t i = 0; i < gpu->backend->found_n && !to->how->granted; i++)
        if (gpu->peers[i].stream && gpu->peers[i].place.device == from->home.device)
            return &gpu->peers[i];
    return &gpu->back;
}

/* A thread must enter a device to queue work on its streams. The copy back starts when the
 * start event has completed. */
static int put_back(const struct as_gpu *gpu, const struct as_gpu_back *back, const struct as_copy *c, uint64_t i)
{
    const struct as_gpu_functions *f = gpu->f;
    int code = gpu->api->enter(gpu, &back->place);
    if (!code && i == 0)
        code = f->stream_wait_event.call(back->stream, gpu->start, 0);
    if (!code)
        code = gpu_copy_put(gpu, c->back_to, c->back_from, c->bytes, back->stream);
    if (!code && i == c->reps - 1)
        code = f->event_record.call(back->end, back->stream);
    int again = gpu->api->enter(gpu, &gpu->here);
    return code ? code : again;
}

const struct as_gpu_back *as_gpu_copy_back(const struct as_gpu *gpu, const struct as_copy *c)
{
    return c->back_to ? back_of(gpu, c) : NULL;
}

int as_gpu_copy_put(const struct as_gpu *gpu, const struct as_copy *c, const struct as_gpu_back *back, uint64_t i)
{
    const struct as_gpu_functions *f = gpu->f;
    const bool last = i == c->reps - 1;
    int code = i == 0 ? f->event_record.call(gpu->start, gpu->stream) : 0;
    if (!code)
        code = gpu_copy_put(gpu, c->to, c->from, c->bytes, gpu->stream);
    if (!code && back)
        code = put_back(gpu, back, c, i);
    if (!code && back && last)
        code = f->stream_wait_event.call(gpu->stream, back->end, 0);
    return code || !last ? code : f->event_record.call(gpu->end, gpu->stream);
}

enum as_status as_gpu_copy_check(const struct as_gpu *gpu, const struct as_copy *copy, struct as_error *err)
{
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st)
        st = gpu_copy_check(gpu, copy, copy->to, copy->from, err);
    return st || !copy->back_to ? st : gpu_copy_check(gpu, copy, copy->back_to, copy->back_from, err);
}

enum as_status as_gpu_copy(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                           struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status st = as_gpu_copy_check(gpu, copy, err);
    if (st)
        return st;
    int code = 0;
    const struct as_gpu_back *back = as_gpu_copy_back(gpu, copy);
    uint64_t t0 = as_now_ns();
    for (uint64_t i = 0; i < copy->reps && !code; i++)
        code = as_gpu_copy_put(gpu, copy, back, i);
    int waited = gpu->f->stream_synchronize.call(gpu->stream);
    uint64_t t1 = as_now_ns();
    st = as_gpu_check(gpu, code ? code : waited, gpu->api->copy_name, err);
    if (st && copy->back_to)
        as_gpu_settle(gpu, NULL); /* waits for the copy back, since the caller frees the memory */
    if (st)
        return st;
    out->host_s = (double)(t1 - t0) * 1e-9;
    out->device_s = as_gpu_elapsed(gpu);
    return AS_OK;
}
