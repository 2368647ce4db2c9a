/* Copies by blit encoders, in one or both directions at a time. */
#include "device/metal/metal.h"

#include "base/clock.h"

#include <math.h>

/* Copies in one command buffer. */
enum { COPIES_MAX = 64 };

struct course {
    struct as_mtl_queue *queue;
    as_objc_id to, from;
};

static enum as_status metal_copy_put(struct as_mtl_device *d, const struct course *c, uint64_t bytes, uint64_t n,
                                     struct as_mtl_times *times, struct as_error *err)
{
    const struct as_mtl_api *m = d->api;
    as_objc_id commands;
    enum as_status st = as_mtl_begin(d, c->queue, &commands, times, err);
    as_objc_id encoder = st ? NULL : AS_SEND(m, blit, commands);
    if (st || !encoder)
        return st ? st : as_fail(err, AS_FAILED, "metal: no blit encoder");
    for (uint64_t i = 0; i < n; i++)
        AS_SEND_WITH(m, copy, encoder, c->from, 0, c->to, 0, bytes);
    AS_SEND(m, end_encoding, encoder);
    as_mtl_commit(d, c->queue, commands);
    return AS_OK;
}

/* The directions alternate, so that both are in progress. */
static enum as_status metal_copy_run(struct as_mtl_device *d, const struct course *courses, size_t n,
                                     const struct as_copy *copy, struct as_mtl_times *times, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (uint64_t done = 0; done < copy->reps && !st;) {
        const uint64_t part = copy->reps - done < COPIES_MAX ? copy->reps - done : COPIES_MAX;
        void *pool = d->api->pool_push();
        for (size_t i = 0; i < n && !st; i++)
            st = metal_copy_put(d, &courses[i], copy->bytes, part, times, err);
        d->api->pool_pop(pool);
        done += part;
    }
    for (size_t i = 0; i < n; i++) {
        enum as_status end = as_mtl_drain(d, courses[i].queue, AS_WAIT_BLOCK, times, "a copy", st ? NULL : err);
        st = st ? st : end;
    }
    return st;
}

static enum as_status metal_copy_check(const struct as_copy *c, struct as_error *err)
{
    enum as_status st = as_memory_check(c->to, 0, c->bytes, err);
    if (!st)
        st = as_memory_check(c->from, 0, c->bytes, err);
    if (!st && c->back_to)
        st = as_memory_check(c->back_to, 0, c->bytes, err);
    if (!st && c->back_to)
        st = as_memory_check(c->back_from, 0, c->bytes, err);
    return st;
}

enum as_status as_mtl_copy(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                           struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    struct as_mtl_times times = {NAN, NAN};
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status st = metal_copy_check(copy, err);
    if (!st)
        st = as_mtl_drain(d, &d->queue, AS_WAIT_BLOCK, NULL, "an earlier kernel", err);
    if (!st && copy->back_to && !d->back.queue)
        st = as_mtl_queue_open(d, &d->back, err);
    if (st)
        return st;
    struct course courses[2] = {{.queue = &d->queue, .to = as_mtl_buffer(copy->to), .from = as_mtl_buffer(copy->from)}};
    if (copy->back_to)
        courses[1] = (struct course){
            .queue = &d->back, .to = as_mtl_buffer(copy->back_to), .from = as_mtl_buffer(copy->back_from)};
    uint64_t t0 = as_now_ns();
    st = metal_copy_run(d, courses, copy->back_to ? 2 : 1, copy, &times, err);
    if (!st) {
        out->host_s = (double)(as_now_ns() - t0) * 1e-9;
        out->device_s = as_mtl_elapsed(&times);
    }
    return st;
}
