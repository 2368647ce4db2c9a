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
static enum as_status find_stream(const struct as_gpu *card, unsigned queue, struct as_gpu_stream **out,
                                  struct as_error *err)
{
    if (queue > card->more_n)
        return as_fail(err, AS_USAGE, "%s: there is no queue %u, the last is %zu", card->api->name, queue,
                       card->more_n);
    *out = queue ? card->more[queue - 1] : card->stream;
    return AS_OK;
}

void as_gpu_queues_close(struct as_gpu *card)
{
    for (; card->more_n; card->more_n--)
        card->f->stream_destroy.call(card->more[card->more_n - 1]);
}

/* Lower priority numbers are more urgent; 0 is the default. */
static enum as_status most_urgent(struct as_gpu *card, int *out, struct as_error *err)
{
    int least = 0;
    enum as_status s = AS_GPU_DO(card, err, stream_priorities, &least, out);
    return s || *out < 0 ? s : as_fail(err, AS_UNSUPPORTED, "the device has no priorities for streams");
}

static enum as_status queue_queues(struct as_device *dev, size_t n, size_t urgent, struct as_error *err)
{
    struct as_gpu *card = dev->ctx;
    int greatest = 0;
    if (n > AS_QUEUES_MAX || urgent > n)
        return as_fail(err, AS_USAGE, "%s: %zu queues of which %zu are urgent, at most %d", card->api->name, n, urgent,
                       (int)AS_QUEUES_MAX);
    enum as_status s = as_gpu_alive(card, err);
    if (!s && urgent)
        s = most_urgent(card, &greatest, err);
    if (s)
        return s;
    as_gpu_queues_close(card);
    while (card->more_n < n && !s) {
        int priority = card->more_n >= n - urgent ? greatest : 0;
        s = AS_GPU_DO(card, err, stream_create_priority, &card->more[card->more_n], card->api->non_blocking, priority);
        card->more_n += !s;
    }
    if (s)
        as_gpu_queues_close(card);
    return s;
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

static enum as_status gpu_make_tensor(const struct as_gpu *card, const struct as_tensor *t, const char *name, void *out,
                                      struct as_error *err)
{
    const char *api = card->api->name;
    if (!card->api->tensor)
        return as_fail(err, AS_UNSUPPORTED, "%s: kernel '%s' takes a tensor, which the API does not have", api, name);
    if (!t->memory || !t->element_bytes || t->columns > UINT32_MAX || t->rows > UINT32_MAX ||
        t->columns * t->rows > t->memory->bytes / t->element_bytes)
        return as_fail(err, AS_USAGE, "%s: kernel '%s': a tensor is larger than its memory", api, name);
    return card->api->tensor(card, t, out, err);
}

/* The scalars stay where the caller has them; the driver only reads them, but its declaration does not say so. */
static enum as_status gpu_set_arguments(const struct as_gpu *card, const struct as_launch *l, struct call *c,
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
                return as_fail(err, AS_USAGE, "%s: kernel '%s': more than %d tensors", card->api->name, l->kernel->name,
                               (int)TENSORS_MAX);
            c->parameters[i] = c->tensors[tensors++];
            enum as_status s = gpu_make_tensor(card, a->u.tensor, l->kernel->name, c->parameters[i], err);
            if (s)
                return s;
        }
    }
    return AS_OK;
}

static enum as_status make_call(struct as_device *dev, const struct as_launch *l, struct call *c, struct as_error *err)
{
    struct as_gpu *card = dev->ctx;
    struct as_gpu_stream *stream = NULL;
    enum as_status s = as_gpu_alive(card, err);
    if (!s)
        s = gpu_check_shape(dev, l, err);
    if (!s)
        s = card->api->allow_shared(dev, l->kernel, l->shared_bytes, err);
    if (!s)
        s = find_stream(card, l->queue, &stream, err);
    if (s)
        return s;
    *c = (struct call){.function = l->kernel->function,
                       .stream = stream,
                       .workgroups = (unsigned)l->workgroups,
                       .workgroup_size = (unsigned)l->workgroup_size,
                       .shared_bytes = (unsigned)l->shared_bytes};
    return gpu_set_arguments(card, l, c, err);
}

static enum as_status put_many(struct as_gpu *card, struct call *c, uint64_t reps, const char *name,
                               struct as_error *err)
{
    int code = 0;
    for (uint64_t i = 0; i < reps && !code; i++)
        code = card->f->launch.call(c->function, c->workgroups, 1, 1, c->workgroup_size, 1, 1, c->shared_bytes,
                                    c->stream, c->parameters, NULL);
    return as_gpu_check(card, code, name, err);
}

/* All repetitions as one graph, recorded from the stream: launches of a stream follow one another in it too. */
static enum as_status record(struct as_gpu *card, struct call *c, uint64_t reps, const char *name,
                             struct as_gpu_graph_exec **out, struct as_error *err)
{
    const struct as_gpu_functions *f = card->f;
    struct as_gpu_graph *graph = NULL;
    *out = NULL;
    enum as_status s = AS_GPU_DO(card, err, capture_begin, card->stream, card->api->capture_mode);
    if (s)
        return s;
    s = put_many(card, c, reps, name, err);
    int code = f->capture_end.call(card->stream, &graph);
    if (!s)
        s = as_gpu_check(card, code, f->capture_end.name, err);
    if (!s)
        s = card->api->instantiate(card, graph, out, err);
    if (graph)
        f->graph_destroy.call(graph);
    return s;
}

double as_gpu_elapsed(const struct as_gpu *card)
{
    float ms = NAN;
    if (card->f->event_elapsed.call(&ms, card->start, card->end) || !(ms > 0))
        return NAN;
    return (double)ms * 1e-3;
}

enum as_status as_gpu_time(struct as_gpu *card, enum as_status (*put)(void *ctx, struct as_error *err), void *ctx,
                           const char *name, struct as_timing *out, struct as_error *err)
{
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    uint64_t t0 = as_now_ns();
    enum as_status s = AS_GPU_DO(card, err, event_record, card->start, card->stream);
    if (!s)
        s = put(ctx, err);
    if (!s)
        s = AS_GPU_DO(card, err, event_record, card->end, card->stream);
    int code = card->f->stream_synchronize.call(card->stream);
    uint64_t t1 = as_now_ns();
    if (!s)
        s = as_gpu_check(card, code, name, err);
    if (s)
        return s;
    out->host_s = (double)(t1 - t0) * 1e-9;
    out->device_s = as_gpu_elapsed(card);
    return AS_OK;
}

/* A launch that is timed. */
struct timed_call {
    struct as_gpu *card;
    struct call *call;
    const struct as_launch *launch;
    struct as_gpu_graph_exec *graph; /* NULL: one by one */
};

static enum as_status put_call(void *ctx, struct as_error *err)
{
    const struct timed_call *t = ctx;
    const char *name = t->launch->kernel->name;
    return t->graph ? as_gpu_check(t->card, t->card->f->graph_launch.call(t->graph, t->card->stream), name, err)
                    : put_many(t->card, t->call, t->launch->reps, name, err);
}

static enum as_status gpu_queue_launch(struct as_device *dev, const struct as_launch *launch, struct as_timing *out,
                                       struct as_error *err)
{
    struct as_gpu *card = dev->ctx;
    struct call c;
    struct as_gpu_graph_exec *graph = NULL;
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status s = make_call(dev, launch, &c, err);
    if (!s && (launch->flags & AS_LAUNCH_GRAPH))
        s = record(card, &c, launch->reps, launch->kernel->name, &graph, err);
    struct timed_call timed = {card, &c, launch, graph};
    if (!s)
        s = as_gpu_time(card, put_call, &timed, launch->kernel->name, out, err);
    if (graph)
        card->f->graph_exec_destroy.call(graph);
    return s;
}

static enum as_status gpu_queue_submit(struct as_device *dev, const struct as_launch *launch, struct as_error *err)
{
    struct call c;
    enum as_status s = make_call(dev, launch, &c, err);
    return s ? s : put_many(dev->ctx, &c, launch->reps, launch->kernel->name, err);
}

/* ---- waiting ---- */

static int gpu_poll(const struct as_gpu *card, enum as_wait how)
{
    int code;
    while ((code = card->f->stream_query.call(card->stream)) == card->api->not_ready) {
        if (how == AS_WAIT_YIELD)
            sched_yield();
        else
            as_relax();
    }
    return code;
}

/* The thread sleeps until the end event comes. */
static int gpu_block(const struct as_gpu *card)
{
    int code = card->f->event_record.call(card->end, card->stream);
    return code ? code : card->f->event_synchronize.call(card->end);
}

static enum as_status gpu_queue_wait(struct as_device *dev, enum as_wait how, struct as_error *err)
{
    struct as_gpu *card = dev->ctx;
    enum as_status s = as_gpu_alive(card, err);
    return s ? s : as_gpu_check(card, how == AS_WAIT_BLOCK ? gpu_block(card) : gpu_poll(card, how), "a kernel", err);
}

static enum as_status queue_wait_queue(struct as_device *dev, unsigned queue, struct as_error *err)
{
    struct as_gpu *card = dev->ctx;
    struct as_gpu_stream *stream = NULL;
    enum as_status s = as_gpu_alive(card, err);
    if (!s)
        s = find_stream(card, queue, &stream, err);
    return s ? s : as_gpu_check(card, card->f->stream_synchronize.call(stream), "a kernel", err);
}

const struct as_queue_ops as_gpu_queue_ops = {
    .launch = gpu_queue_launch,
    .submit = gpu_queue_submit,
    .wait = gpu_queue_wait,
    .queues = queue_queues,
    .wait_queue = queue_wait_queue,
    .copy = as_gpu_copy,
};
