/* Launches kernels, waits, and times on host and device. */
#include "device/metal/metal.h"

#include "base/clock.h"

#include <math.h>

/* Launches per command buffer: enough that the next one is encoded while it runs, few enough that the GPU starts
 * early. */
enum { DISPATCHES_MAX = 512 };
enum { SERIAL, CONCURRENT }; /* MTLDispatchType */

static enum as_status metal_check(const struct as_device *dev, const struct as_launch *l, struct as_error *err)
{
    const struct as_mtl_device *d = dev->ctx;
    const char *name = l->kernel->name;
    const size_t most = AS_SEND(d->api, pipeline_threads, l->kernel->pipeline);
    if (l->workgroups == 0 || l->workgroup_size == 0 || l->reps == 0)
        return as_fail(err, AS_USAGE, "metal: kernel '%s': workgroups, their size and repetitions must be at least 1",
                       name);
    if (l->workgroup_size > most)
        return as_fail(err, AS_UNSUPPORTED,
                       "metal: kernel '%s': %zu threads per threadgroup, but its pipeline allows %zu", name,
                       l->workgroup_size, most);
    if (l->workgroups > UINT32_MAX)
        return as_fail(err, AS_UNSUPPORTED,
                       "metal: kernel '%s': %zu threadgroups, but the device counts them in 32 bits", name,
                       l->workgroups);
    if (l->args_n > AS_MTL_BUFFERS)
        return as_fail(err, AS_USAGE, "metal: kernel '%s': more than %d arguments", name, (int)AS_MTL_BUFFERS);
    if (l->flags & AS_LAUNCH_GRAPH)
        return as_fail(err, AS_UNSUPPORTED, "metal: kernel '%s': launches are not recorded as a graph", name);
    if (l->shared_bytes)
        return as_fail(err, AS_UNSUPPORTED, "metal: kernel '%s': the dialect has no dynamic threadgroup memory", name);
    for (size_t i = 0; i < l->args_n; i++)
        if (l->args[i].kind == AS_ARG_F64 || l->args[i].kind == AS_ARG_TENSOR)
            return as_fail(err, AS_UNSUPPORTED, "metal: kernel '%s' takes %s, which the API does not have", name,
                           l->args[i].kind == AS_ARG_F64 ? "an f64" : "a tensor");
    return AS_OK;
}

static void metal_set_arguments(const struct as_mtl_api *m, as_objc_id encoder, const struct as_launch *l)
{
    for (size_t i = 0; i < l->args_n; i++) {
        const struct as_arg *a = &l->args[i];
        if (a->kind == AS_ARG_MEMORY)
            AS_SEND_WITH(m, set_buffer, encoder, as_mtl_buffer(a->u.memory), 0, i);
        else
            AS_SEND_WITH(m, set_bytes, encoder, &a->u, a->kind == AS_ARG_U64 ? 8 : 4, i);
    }
}

/* n launches as one command buffer. In a serial encoder each launch waits for the one before. */
static enum as_status metal_put(struct as_mtl_device *d, struct as_mtl_queue *q, const struct as_launch *l, uint64_t n,
                                struct as_mtl_times *times, struct as_error *err)
{
    const struct as_mtl_api *m = d->api;
    as_objc_id commands;
    enum as_status st = as_mtl_begin(d, q, &commands, times, err);
    const as_ns_uinteger type = l->flags & AS_LAUNCH_TOGETHER ? CONCURRENT : SERIAL;
    as_objc_id encoder = st ? NULL : AS_SEND_WITH(m, compute, commands, type);
    if (st || !encoder)
        return st ? st : as_fail(err, AS_FAILED, "metal: kernel '%s': no compute encoder", l->kernel->name);
    AS_SEND_WITH(m, set_pipeline, encoder, l->kernel->pipeline);
    metal_set_arguments(m, encoder, l);
    for (uint64_t i = 0; i < n; i++)
        AS_SEND_WITH(m, dispatch, encoder, ((struct as_mtl_size){l->workgroups, 1, 1}),
                     ((struct as_mtl_size){l->workgroup_size, 1, 1}));
    AS_SEND(m, end_encoding, encoder);
    as_mtl_commit(d, q, commands);
    return AS_OK;
}

static enum as_status metal_put_all(struct as_mtl_device *d, struct as_mtl_queue *q, const struct as_launch *l,
                                    struct as_mtl_times *times, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (uint64_t done = 0; done < l->reps && !st;) {
        const uint64_t n = l->reps - done < DISPATCHES_MAX ? l->reps - done : DISPATCHES_MAX;
        void *pool = d->api->pool_push();
        st = metal_put(d, q, l, n, times, err);
        d->api->pool_pop(pool);
        done += n;
    }
    return st;
}

static enum as_status metal_queue_launch(struct as_device *dev, const struct as_launch *launch, struct as_timing *out,
                                         struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    struct as_mtl_times times = {NAN, NAN};
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status st = metal_check(dev, launch, err);
    /* Earlier work must not count in the time, nor its failure as this launch's. */
    if (!st)
        st = as_mtl_drain(d, &d->queue, AS_WAIT_BLOCK, NULL, "an earlier kernel", err);
    if (st)
        return st;
    uint64_t t0 = as_now_ns();
    st = metal_put_all(d, &d->queue, launch, &times, err);
    enum as_status end = as_mtl_drain(d, &d->queue, AS_WAIT_BLOCK, &times, launch->kernel->name, st ? NULL : err);
    uint64_t t1 = as_now_ns();
    st = st ? st : end;
    if (!st) {
        out->host_s = (double)(t1 - t0) * 1e-9;
        out->device_s = as_mtl_elapsed(&times);
    }
    return st;
}

static enum as_status metal_queue_submit(struct as_device *dev, const struct as_launch *launch, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    struct as_mtl_queue *q = as_mtl_find_queue(d, launch->queue, err);
    enum as_status st = q ? metal_check(dev, launch, err) : AS_USAGE;
    return st ? st : metal_put_all(d, q, launch, NULL, err);
}

static enum as_status metal_queue_wait(struct as_device *dev, enum as_wait how, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    enum as_status st = as_mtl_drain(d, &d->queue, how, NULL, "a kernel", err);
    return st ? st : as_mtl_alive(d, err);
}

const struct as_queue_ops as_mtl_queue_ops = {
    .launch = metal_queue_launch,
    .submit = metal_queue_submit,
    .wait = metal_queue_wait,
    .queues = as_mtl_queues,
    .wait_queue = as_mtl_wait_queue,
    .copy = as_mtl_copy,
};
