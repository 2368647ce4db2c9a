/* Launches kernels, singly or as a graph, on the first or a further stream; waits, and times on host and device. */
#include "device/gpu/memory.h"

#include "base/clock.h"

#include <limits.h>
#include <math.h>
#include <sched.h>

/* Node limit, since host and device hold the whole graph, which is recorded for each launch. */
enum { ARGS_MAX = 24, TENSORS_MAX = 4, NODES_MAX = 1 << 16 };

/* A launch with the driver's arguments. */
struct call {
    struct as_gpu_function *function;
    struct as_gpu_stream *stream;
    unsigned workgroups, workgroup_size, shared_bytes;
    unsigned long long addresses[ARGS_MAX];
    void *parameters[ARGS_MAX];
    _Alignas(AS_GPU_TENSOR_BYTES) unsigned char tensors[TENSORS_MAX][AS_GPU_TENSOR_BYTES];
};

/* ---- streams ---- */

/* The stream of that number; 0 is the device's own. */
static enum as_status find_stream(const struct as_gpu *gpu, unsigned queue, struct as_gpu_stream **out,
                                  struct as_error *err)
{
    if (queue > gpu->more_n)
        return as_fail(err, AS_USAGE, "%s: there is no queue %u, the last is %zu", gpu->api->name, queue, gpu->more_n);
    *out = queue ? gpu->more[queue - 1] : gpu->stream;
    return AS_OK;
}

void as_gpu_queues_close(struct as_gpu *gpu)
{
    for (; gpu->more_n; gpu->more_n--)
        gpu->f->stream_destroy.call(gpu->more[gpu->more_n - 1]);
}

/* Lower priority numbers are more urgent; 0 is the default. */
static enum as_status most_urgent(struct as_gpu *gpu, int *out, struct as_error *err)
{
    int least = 0;
    enum as_status st = AS_GPU_DO(gpu, err, stream_priorities, &least, out);
    return st || *out < 0 ? st : as_fail(err, AS_UNSUPPORTED, "the device has no priorities for streams");
}

static enum as_status queue_queues(struct as_device *dev, size_t n, size_t urgent, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    int greatest = 0;
    if (n > AS_QUEUES_MAX || urgent > n)
        return as_fail(err, AS_USAGE, "%s: %zu queues of which %zu are urgent, at most %d", gpu->api->name, n, urgent,
                       (int)AS_QUEUES_MAX);
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st && urgent)
        st = most_urgent(gpu, &greatest, err);
    if (st)
        return st;
    as_gpu_queues_close(gpu);
    while (gpu->more_n < n && !st) {
        int priority = gpu->more_n >= n - urgent ? greatest : 0;
        st = AS_GPU_DO(gpu, err, stream_create_priority, &gpu->more[gpu->more_n], gpu->api->non_blocking, priority);
        gpu->more_n += !st;
    }
    if (st)
        as_gpu_queues_close(gpu);
    return st;
}

/* ---- launches ---- */

static enum as_status gpu_check_shape(const struct as_device *dev, const struct as_launch *l, struct as_error *err)
{
    const char *api = ((const struct as_gpu *)dev->ctx)->api->name, *name = l->kernel->name;
    if (l->workgroups == 0 || l->workgroup_size == 0 || l->reps == 0)
        return as_fail(err, AS_USAGE, "%s: kernel '%s': workgroups, their size and repetitions must be at least 1", api,
                       name);
    if (dev->info.threads && l->workgroup_size > dev->info.threads)
        return as_fail(err, AS_UNSUPPORTED, "%s: kernel '%s': %zu threads per workgroup, but the device allows %u", api,
                       name, l->workgroup_size, dev->info.threads);
    if (l->workgroups > INT_MAX)
        return as_fail(err, AS_UNSUPPORTED, "%s: kernel '%s': %zu groups, and the device allows %d", api, name,
                       l->workgroups, INT_MAX);
    if ((l->flags & AS_LAUNCH_GRAPH) && l->reps > NODES_MAX)
        return as_fail(err, AS_UNSUPPORTED, "%s: kernel '%s': %llu launches in one graph, and it takes %d", api, name,
                       (unsigned long long)l->reps, (int)NODES_MAX);
    if (l->args_n > ARGS_MAX)
        return as_fail(err, AS_USAGE, "%s: kernel '%s': more than %d arguments", api, name, (int)ARGS_MAX);
    return AS_OK;
}

static enum as_status gpu_make_tensor(const struct as_gpu *gpu, const struct as_tensor *t, const char *name, void *out,
                                      struct as_error *err)
{
    const char *api = gpu->api->name;
    if (!gpu->api->tensor)
        return as_fail(err, AS_UNSUPPORTED, "%s: kernel '%s' takes a tensor, which the API does not have", api, name);
    if (!t->memory || !t->element_bytes || t->columns > UINT32_MAX || t->rows > UINT32_MAX ||
        t->columns * t->rows > t->memory->bytes / t->element_bytes)
        return as_fail(err, AS_USAGE, "%s: kernel '%s': a tensor is larger than its memory", api, name);
    return gpu->api->tensor(gpu, t, out, err);
}

/* The scalars stay where the caller has them; the driver only reads them, but its declaration does not say so. */
static enum as_status gpu_set_arguments(const struct as_gpu *gpu, const struct as_launch *l, struct call *c,
                                        struct as_error *err)
{
    size_t tensors = 0;
    for (size_t i = 0; i < l->args_n; i++) {
        const struct as_arg *a = &l->args[i];
        c->parameters[i] = (void *)(uintptr_t)(const void *)&a->u;
        if (a->kind == AS_ARG_MEMORY) {
            c->addresses[i] = as_gpu_address(a->u.memory);
            c->parameters[i] = &c->addresses[i];
        } else if (a->kind == AS_ARG_TENSOR) {
            if (tensors == TENSORS_MAX)
                return as_fail(err, AS_USAGE, "%s: kernel '%s': more than %d tensors", gpu->api->name, l->kernel->name,
                               (int)TENSORS_MAX);
            c->parameters[i] = c->tensors[tensors++];
            enum as_status st = gpu_make_tensor(gpu, a->u.tensor, l->kernel->name, c->parameters[i], err);
            if (st)
                return st;
        }
    }
    return AS_OK;
}

static enum as_status make_call(struct as_device *dev, const struct as_launch *l, struct call *c, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    struct as_gpu_stream *stream = NULL;
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st)
        st = gpu_check_shape(dev, l, err);
    if (!st)
        st = gpu->api->allow_shared(dev, l->kernel, l->shared_bytes, err);
    if (!st)
        st = find_stream(gpu, l->queue, &stream, err);
    if (st)
        return st;
    *c = (struct call){.function = l->kernel->function,
                       .stream = stream,
                       .workgroups = (unsigned)l->workgroups,
                       .workgroup_size = (unsigned)l->workgroup_size,
                       .shared_bytes = (unsigned)l->shared_bytes};
    return gpu_set_arguments(gpu, l, c, err);
}

static enum as_status put_many(struct as_gpu *gpu, struct call *c, uint64_t reps, const char *name,
                               struct as_error *err)
{
    int code = 0;
    for (uint64_t i = 0; i < reps && !code; i++)
        code = gpu->f->launch.call(c->function, c->workgroups, 1, 1, c->workgroup_size, 1, 1, c->shared_bytes,
                                   c->stream, c->parameters, NULL);
    return as_gpu_check(gpu, code, name, err);
}

/* While the stream is recorded: each repetition on a stream of its own, which starts with it and ends before it. */
static enum as_status put_branches(struct as_gpu *gpu, struct call *c, uint64_t reps, const char *name,
                                   struct as_error *err)
{
    if (reps > gpu->more_n)
        return as_fail(err, AS_USAGE, "%s: kernel '%s': %llu branches need as many further queues", gpu->api->name,
                       name, (unsigned long long)reps);
    enum as_status st = AS_GPU_DO(gpu, err, event_record, gpu->start, gpu->stream);
    for (uint64_t i = 0; i < reps && !st; i++) {
        c->stream = gpu->more[i];
        st = AS_GPU_DO(gpu, err, stream_wait_event, c->stream, gpu->start, 0);
        if (!st)
            st = put_many(gpu, c, 1, name, err);
    }
    for (uint64_t i = 0; i < reps && !st; i++) {
        st = AS_GPU_DO(gpu, err, event_record, gpu->end, gpu->more[i]);
        if (!st)
            st = AS_GPU_DO(gpu, err, stream_wait_event, gpu->stream, gpu->end, 0);
    }
    return st;
}

/* All repetitions as one graph, recorded from the stream: launches of a stream follow one another in it too. */
static enum as_status record(struct as_gpu *gpu, struct call *c, const struct as_launch *l,
                             struct as_gpu_graph_exec **out, struct as_error *err)
{
    const struct as_gpu_functions *f = gpu->f;
    struct as_gpu_graph *graph = NULL;
    *out = NULL;
    enum as_status st = AS_GPU_DO(gpu, err, capture_begin, gpu->stream, gpu->api->capture_mode);
    if (st)
        return st;
    st = l->flags & AS_LAUNCH_TOGETHER ? put_branches(gpu, c, l->reps, l->kernel->name, err)
                                       : put_many(gpu, c, l->reps, l->kernel->name, err);
    int code = f->capture_end.call(gpu->stream, &graph);
    if (!st)
        st = as_gpu_check(gpu, code, f->capture_end.name, err);
    if (!st)
        st = gpu->api->instantiate(gpu, graph, out, err);
    if (graph)
        f->graph_destroy.call(graph);
    return st;
}

double as_gpu_elapsed(const struct as_gpu *gpu)
{
    float ms = NAN;
    if (gpu->f->event_elapsed.call(&ms, gpu->start, gpu->end) || !(ms > 0))
        return NAN;
    return (double)ms * 1e-3;
}

enum as_status as_gpu_time(struct as_gpu *gpu, enum as_status (*put)(void *ctx, struct as_error *err), void *ctx,
                           const char *name, struct as_timing *out, struct as_error *err)
{
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    uint64_t t0 = as_now_ns();
    enum as_status st = AS_GPU_DO(gpu, err, event_record, gpu->start, gpu->stream);
    if (!st)
        st = put(ctx, err);
    if (!st)
        st = AS_GPU_DO(gpu, err, event_record, gpu->end, gpu->stream);
    int code = gpu->f->stream_synchronize.call(gpu->stream);
    uint64_t t1 = as_now_ns();
    if (!st)
        st = as_gpu_check(gpu, code, name, err);
    if (st)
        return st;
    out->host_s = (double)(t1 - t0) * 1e-9;
    out->device_s = as_gpu_elapsed(gpu);
    return AS_OK;
}

/* A launch that is timed. */
struct timed_call {
    struct as_gpu *gpu;
    struct call *call;
    const struct as_launch *launch;
    struct as_gpu_graph_exec *graph; /* NULL: one by one */
};

static enum as_status put_call(void *ctx, struct as_error *err)
{
    const struct timed_call *t = ctx;
    const char *name = t->launch->kernel->name;
    return t->graph ? as_gpu_check(t->gpu, t->gpu->f->graph_launch.call(t->graph, t->gpu->stream), name, err)
                    : put_many(t->gpu, t->call, t->launch->reps, name, err);
}

static enum as_status gpu_queue_launch(struct as_device *dev, const struct as_launch *launch, struct as_timing *out,
                                       struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    struct call c;
    struct as_gpu_graph_exec *graph = NULL;
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status st = make_call(dev, launch, &c, err);
    if (!st && (launch->flags & (AS_LAUNCH_GRAPH | AS_LAUNCH_TOGETHER)))
        st = record(gpu, &c, launch, &graph, err);
    struct timed_call timed = {gpu, &c, launch, graph};
    if (!st)
        st = as_gpu_time(gpu, put_call, &timed, launch->kernel->name, out, err);
    if (graph)
        gpu->f->graph_exec_destroy.call(graph);
    return st;
}

static enum as_status gpu_queue_submit(struct as_device *dev, const struct as_launch *launch, struct as_error *err)
{
    struct call c;
    enum as_status st = make_call(dev, launch, &c, err);
    return st ? st : put_many(dev->ctx, &c, launch->reps, launch->kernel->name, err);
}

/* ---- waiting ---- */

static int gpu_poll(const struct as_gpu *gpu, enum as_wait how)
{
    int code;
    while ((code = gpu->f->stream_query.call(gpu->stream)) == gpu->api->not_ready) {
        if (how == AS_WAIT_YIELD)
            sched_yield();
        else
            as_relax();
    }
    return code;
}

/* The thread sleeps until the end event comes. */
static int gpu_block(const struct as_gpu *gpu)
{
    int code = gpu->f->event_record.call(gpu->end, gpu->stream);
    return code ? code : gpu->f->event_synchronize.call(gpu->end);
}

static enum as_status gpu_queue_wait(struct as_device *dev, enum as_wait how, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    enum as_status st = as_gpu_alive(gpu, err);
    return st ? st : as_gpu_check(gpu, how == AS_WAIT_BLOCK ? gpu_block(gpu) : gpu_poll(gpu, how), "a kernel", err);
}

static enum as_status queue_wait_queue(struct as_device *dev, unsigned queue, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    struct as_gpu_stream *stream = NULL;
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st)
        st = find_stream(gpu, queue, &stream, err);
    return st ? st : as_gpu_check(gpu, gpu->f->stream_synchronize.call(stream), "a kernel", err);
}

const struct as_queue_ops as_gpu_queue_ops = {
    .launch = gpu_queue_launch,
    .submit = gpu_queue_submit,
    .wait = gpu_queue_wait,
    .queues = queue_queues,
    .wait_queue = queue_wait_queue,
    .copy = as_gpu_copy,
};
