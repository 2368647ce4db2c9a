/* Copies by copy engines. With unified addressing one call serves all kinds of memory. */
#include "device/gpu/memory.h"

#include "base/clock.h"

#include <math.h>

static enum as_status check_copy(const struct as_gpu *card, const struct as_copy *c, const struct as_memory *to,
                                 const struct as_memory *from, struct as_error *err)
{
    if (!to || !from || c->bytes == 0 || c->bytes > to->bytes || c->bytes > from->bytes)
        return as_fail(err, AS_USAGE, "%s: a copy of %llu bytes does not fit its memory", card->api->name,
                       (unsigned long long)c->bytes);
    if (c->reps == 0)
        return as_fail(err, AS_USAGE, "%s: the repetitions of a copy start at 1", card->api->name);
    return AS_OK;
}

static int gpu_copy_put(const struct as_gpu *card, const struct as_memory *to, const struct as_memory *from,
                        uint64_t bytes, struct as_gpu_stream *stream)
{
    return card->api->copy(card, as_gpu_address(to), as_gpu_address(from), bytes, stream);
}

/* Concurrent copies between two devices need an engine of each: the copy back is queued on the device that it
 * reads from, if that device can access the destination. */
static const struct as_gpu_back *back_of(const struct as_gpu *card, const struct as_copy *c)
{
    const struct as_gpu_block *from = c->back_from->ctx, *to = c->back_to->ctx;
    for (size_t i = 0; i < card->backend->found_n && !to->how->granted; i++)
        if (card->peers[i].stream && card->peers[i].place.device == from->home.device)
            return &card->peers[i];
    return &card->back;
}

/* A thread must enter a device to queue work on its streams. The copy back starts when the
 * start event has completed. */
static int put_back(const struct as_gpu *card, const struct as_gpu_back *back, const struct as_copy *c, uint64_t i)
{
    const struct as_gpu_functions *f = card->f;
    int code = card->api->enter(card, &back->place);
    if (!code && i == 0)
        code = f->stream_wait_event.call(back->stream, card->start, 0);
    if (!code)
        code = gpu_copy_put(card, c->back_to, c->back_from, c->bytes, back->stream);
    if (!code && i == c->reps - 1)
        code = f->event_record.call(back->end, back->stream);
    int again = card->api->enter(card, &card->here);
    return code ? code : again;
}

/* Both directions alternate, so that neither stream waits for the host. The end event waits for the copy
 * back. */
static int gpu_copy_put_all(const struct as_gpu *card, const struct as_copy *c, const struct as_gpu_back *back)
{
    const struct as_gpu_functions *f = card->f;
    int code = f->event_record.call(card->start, card->stream);
    for (uint64_t i = 0; i < c->reps && !code; i++) {
        code = gpu_copy_put(card, c->to, c->from, c->bytes, card->stream);
        if (!code && back)
            code = put_back(card, back, c, i);
    }
    if (!code && back)
        code = f->stream_wait_event.call(card->stream, back->end, 0);
    return code ? code : f->event_record.call(card->end, card->stream);
}

enum as_status as_gpu_copy(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                           struct as_error *err)
{
    struct as_gpu *card = dev->ctx;
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status s = as_gpu_alive(card, err);
    if (!s)
        s = check_copy(card, copy, copy->to, copy->from, err);
    if (!s && copy->back_to)
        s = check_copy(card, copy, copy->back_to, copy->back_from, err);
    if (s)
        return s;
    const struct as_gpu_back *back = copy->back_to ? back_of(card, copy) : NULL;
    uint64_t t0 = as_now_ns();
    int code = gpu_copy_put_all(card, copy, back), waited = card->f->stream_synchronize.call(card->stream);
    uint64_t t1 = as_now_ns();
    s = as_gpu_check(card, code ? code : waited, card->api->copy_name, err);
    if (s && back)
        as_gpu_settle(card, NULL); /* waits for the copy back, since the caller frees the memory */
    if (s)
        return s;
    out->host_s = (double)(t1 - t0) * 1e-9;
    out->device_s = as_gpu_elapsed(card);
    return AS_OK;
}
