/* Launching kernels, one by one or as a graph, waiting for them, and timing both sides. */
#include "device/hip/hip.h"

#include "base/clock.h"

#include <limits.h>
#include <math.h>
#include <sched.h>

/* A graph is held whole by host and device and recorded anew for each launch: it is for some thousand nodes. */
enum { ARGS_MAX = 24, NODES_MAX = 1 << 16 };

/* A launch as the driver takes it. */
struct call {
    hipFunction_t function;
    hipStream_t stream;
    unsigned groups, group_size, local_bytes;
    void *addresses[ARGS_MAX];
    void *parameters[ARGS_MAX];
};

static enum as_status check_shape(const struct as_device *dev, const struct as_launch *l, struct as_error *err)
{
    if (l->groups == 0 || l->group_size == 0 || l->reps == 0)
        return as_fail(err, AS_USAGE, "hip: kernel '%s': groups, group size and repetitions start at 1",
                       l->kernel->name);
    if (dev->info.threads && l->group_size > dev->info.threads)
        return as_fail(err, AS_UNSUPPORTED, "hip: kernel '%s': %zu threads a group, and the device allows %u",
                       l->kernel->name, l->group_size, dev->info.threads);
    if (l->groups > INT_MAX)
        return as_fail(err, AS_UNSUPPORTED, "hip: kernel '%s': %zu groups, and the device allows %d", l->kernel->name,
                       l->groups, INT_MAX);
    if ((l->flags & AS_LAUNCH_GRAPH) && l->reps > NODES_MAX)
        return as_fail(err, AS_UNSUPPORTED, "hip: kernel '%s': %llu launches in one graph, and it takes %d",
                       l->kernel->name, (unsigned long long)l->reps, (int)NODES_MAX);
    if (l->local_bytes > dev->info.group_local)
        return as_fail(err, AS_UNSUPPORTED, "hip: kernel '%s': %zu bytes of shared memory, and the device allows %llu",
                       l->kernel->name, l->local_bytes, (unsigned long long)dev->info.group_local);
    if (l->args_n > ARGS_MAX)
        return as_fail(err, AS_USAGE, "hip: kernel '%s': more than %d arguments", l->kernel->name, (int)ARGS_MAX);
    return AS_OK;
}

/* The scalars stay where the caller has them; the driver copies them when it is called. */
static enum as_status make_call(struct as_device *dev, const struct as_launch *l, struct call *c, struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    enum as_status s = as_hip_alive(hip, err);
    if (!s)
        s = check_shape(dev, l, err);
    hipStream_t stream = NULL;
    if (!s)
        s = as_hip_stream(hip, l->queue, &stream, err);
    if (s)
        return s;
    *c = (struct call){.function = l->kernel->function,
                       .stream = stream,
                       .groups = (unsigned)l->groups,
                       .group_size = (unsigned)l->group_size,
                       .local_bytes = (unsigned)l->local_bytes};
    for (size_t i = 0; i < l->args_n; i++) {
        const struct as_arg *a = &l->args[i];
        c->addresses[i] = a->kind == AS_ARG_MEMORY ? as_hip_address(a->u.memory) : NULL;
        /* the driver only reads, but its declaration does not say so */
        c->parameters[i] = a->kind == AS_ARG_MEMORY ? (void *)&c->addresses[i] : (void *)(uintptr_t)(const void *)&a->u;
    }
    return AS_OK;
}

static hipError_t put(const struct as_hip_device *hip, struct call *c)
{
    return hip->api->hipModuleLaunchKernel(c->function, c->groups, 1, 1, c->group_size, 1, 1, c->local_bytes, c->stream,
                                           c->parameters, NULL);
}

static enum as_status put_many(struct as_hip_device *hip, struct call *c, uint64_t reps, const char *name,
                               struct as_error *err)
{
    hipError_t code = hipSuccess;
    for (uint64_t i = 0; i < reps && !code; i++)
        code = put(hip, c);
    return as_hip_check(hip->api, hip, code, name, err);
}

/* All repetitions as one graph, recorded from the stream: launches of a stream follow one another in it too. */
static enum as_status record(struct as_hip_device *hip, struct call *c, uint64_t reps, const char *name,
                             hipGraphExec_t *out, struct as_error *err)
{
    const struct as_hip_api *api = hip->api;
    hipGraph_t graph = NULL;
    *out = NULL;
    enum as_status s = as_hip_check(api, hip, api->hipStreamBeginCapture(hip->stream, hipStreamCaptureModeThreadLocal),
                                    "hipStreamBeginCapture", err);
    if (s)
        return s;
    s = put_many(hip, c, reps, name, err);
    hipError_t code = api->hipStreamEndCapture(hip->stream, &graph);
    if (!s)
        s = as_hip_check(api, hip, code, "hipStreamEndCapture", err);
    if (!s)
        s = as_hip_check(api, hip, api->hipGraphInstantiate(out, graph, NULL, NULL, 0), "hipGraphInstantiate", err);
    if (graph)
        api->hipGraphDestroy(graph);
    if (s && *out) {
        api->hipGraphExecDestroy(*out);
        *out = NULL;
    }
    return s;
}

double as_hip_elapsed(const struct as_hip_device *hip)
{
    float ms = NAN;
    if (hip->api->hipEventElapsedTime(&ms, hip->start, hip->end) || !(ms > 0))
        return NAN;
    return (double)ms * 1e-3;
}

static enum as_status run_timed(struct as_hip_device *hip, struct call *c, const struct as_launch *l,
                                hipGraphExec_t graph, struct as_timing *out, struct as_error *err)
{
    const struct as_hip_api *api = hip->api;
    uint64_t t0 = as_now_ns();
    enum as_status s = as_hip_check(api, hip, api->hipEventRecord(hip->start, hip->stream), "hipEventRecord", err);
    if (!s)
        s = graph ? as_hip_check(api, hip, api->hipGraphLaunch(graph, hip->stream), l->kernel->name, err)
                  : put_many(hip, c, l->reps, l->kernel->name, err);
    if (!s)
        s = as_hip_check(api, hip, api->hipEventRecord(hip->end, hip->stream), "hipEventRecord", err);
    hipError_t code = api->hipStreamSynchronize(hip->stream);
    uint64_t t1 = as_now_ns();
    if (!s)
        s = as_hip_check(api, hip, code, l->kernel->name, err);
    if (s)
        return s;
    out->host_s = (double)(t1 - t0) * 1e-9;
    out->device_s = as_hip_elapsed(hip);
    return AS_OK;
}

static enum as_status queue_launch(struct as_device *dev, const struct as_launch *launch, struct as_timing *out,
                                   struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    struct call c;
    hipGraphExec_t graph = NULL;
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status s = make_call(dev, launch, &c, err);
    if (!s && (launch->flags & AS_LAUNCH_GRAPH))
        s = record(hip, &c, launch->reps, launch->kernel->name, &graph, err);
    if (!s)
        s = run_timed(hip, &c, launch, graph, out, err);
    if (graph)
        hip->api->hipGraphExecDestroy(graph);
    return s;
}

static enum as_status queue_submit(struct as_device *dev, const struct as_launch *launch, struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    struct call c;
    enum as_status s = make_call(dev, launch, &c, err);
    return s ? s : put_many(hip, &c, launch->reps, launch->kernel->name, err);
}

static hipError_t poll(const struct as_hip_device *hip, enum as_wait how)
{
    hipError_t code;
    while ((code = hip->api->hipStreamQuery(hip->stream)) == hipErrorNotReady) {
        if (how == AS_WAIT_YIELD)
            sched_yield();
        else
            as_relax();
    }
    return code;
}

/* The thread sleeps until the end event comes. */
static hipError_t block(const struct as_hip_device *hip)
{
    hipError_t code = hip->api->hipEventRecord(hip->end, hip->stream);
    return code ? code : hip->api->hipEventSynchronize(hip->end);
}

static enum as_status queue_wait(struct as_device *dev, enum as_wait how, struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    enum as_status s = as_hip_alive(hip, err);
    return s ? s : as_hip_check(hip->api, hip, how == AS_WAIT_BLOCK ? block(hip) : poll(hip, how), "a kernel", err);
}

const struct as_queue_ops as_hip_queue_ops = {
    .launch = queue_launch,
    .submit = queue_submit,
    .wait = queue_wait,
    .queues = as_hip_queues,
    .wait_queue = as_hip_wait_queue,
    .copy = as_hip_copy,
};
