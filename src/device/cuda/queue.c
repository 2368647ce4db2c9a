/* Launching kernels, one by one or as a graph, waiting for them, and timing both sides. */
#include "device/cuda/cuda.h"

#include "base/clock.h"

#include <limits.h>
#include <math.h>
#include <sched.h>

/* A graph is held whole by host and device and recorded anew for each launch: it is for some thousand nodes. */
enum { ARGS_MAX = 24, NODES_MAX = 1 << 16 };

/* A launch as the driver takes it. */
struct call {
    CUfunction function;
    CUstream stream;
    unsigned groups, group_size, local_bytes;
    CUdeviceptr addresses[ARGS_MAX];
    void *parameters[ARGS_MAX];
};

enum as_status as_cu_allow_local(struct as_cu_device *cu, struct as_kernel *kernel, size_t bytes, struct as_error *err)
{
    if (bytes == 0)
        return AS_OK;
    if (bytes > INT_MAX)
        return as_fail(err, AS_UNSUPPORTED,
                       "cuda: kernel '%s': %zu bytes of shared memory are more than any device has", kernel->name,
                       bytes);
    return as_cu_check(
        cu->api, cu,
        cu->api->cuFuncSetAttribute(kernel->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes),
        kernel->name, err);
}

static enum as_status check_shape(const struct as_device *dev, const struct as_launch *l, struct as_error *err)
{
    if (l->groups == 0 || l->group_size == 0 || l->reps == 0)
        return as_fail(err, AS_USAGE, "cuda: kernel '%s': groups, group size and repetitions start at 1",
                       l->kernel->name);
    if (dev->info.threads && l->group_size > dev->info.threads)
        return as_fail(err, AS_UNSUPPORTED, "cuda: kernel '%s': %zu threads a group, and the device allows %u",
                       l->kernel->name, l->group_size, dev->info.threads);
    if (l->groups > INT_MAX)
        return as_fail(err, AS_UNSUPPORTED, "cuda: kernel '%s': %zu groups, and the device allows %d", l->kernel->name,
                       l->groups, INT_MAX);
    if ((l->flags & AS_LAUNCH_GRAPH) && l->reps > NODES_MAX)
        return as_fail(err, AS_UNSUPPORTED, "cuda: kernel '%s': %llu launches in one graph, and it takes %d",
                       l->kernel->name, (unsigned long long)l->reps, (int)NODES_MAX);
    if (l->args_n > ARGS_MAX)
        return as_fail(err, AS_USAGE, "cuda: kernel '%s': more than %d arguments", l->kernel->name, (int)ARGS_MAX);
    return AS_OK;
}

/* The scalars stay where the caller has them; the driver copies them when it is called. */
static enum as_status make_call(struct as_device *dev, const struct as_launch *l, struct call *c, struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    enum as_status s = as_cu_alive(cu, err);
    if (!s)
        s = check_shape(dev, l, err);
    if (!s)
        s = as_cu_allow_local(cu, l->kernel, l->local_bytes, err);
    CUstream stream = NULL;
    if (!s)
        s = as_cu_stream(cu, l->queue, &stream, err);
    if (s)
        return s;
    *c = (struct call){.function = l->kernel->function,
                       .stream = stream,
                       .groups = (unsigned)l->groups,
                       .group_size = (unsigned)l->group_size,
                       .local_bytes = (unsigned)l->local_bytes};
    for (size_t i = 0; i < l->args_n; i++) {
        const struct as_arg *a = &l->args[i];
        c->addresses[i] = a->kind == AS_ARG_MEMORY ? as_cu_address(a->u.memory) : 0;
        /* the driver only reads, but its declaration does not say so */
        c->parameters[i] = a->kind == AS_ARG_MEMORY ? (void *)&c->addresses[i] : (void *)(uintptr_t)(const void *)&a->u;
    }
    return AS_OK;
}

static CUresult put(const struct as_cu_device *cu, struct call *c)
{
    return cu->api->cuLaunchKernel(c->function, c->groups, 1, 1, c->group_size, 1, 1, c->local_bytes, c->stream,
                                   c->parameters, NULL);
}

static enum as_status put_many(struct as_cu_device *cu, struct call *c, uint64_t reps, const char *name,
                               struct as_error *err)
{
    CUresult code = CUDA_SUCCESS;
    for (uint64_t i = 0; i < reps && !code; i++)
        code = put(cu, c);
    return as_cu_check(cu->api, cu, code, name, err);
}

/* All repetitions as one graph, recorded from the stream: launches of a stream follow one another in it too. */
static enum as_status record(struct as_cu_device *cu, struct call *c, uint64_t reps, const char *name, CUgraphExec *out,
                             struct as_error *err)
{
    const struct as_cu_api *api = cu->api;
    CUgraph graph = NULL;
    *out = NULL;
    enum as_status s =
        as_cu_check(api, cu, api->cuStreamBeginCapture_v2(cu->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                    "cuStreamBeginCapture", err);
    if (s)
        return s;
    s = put_many(cu, c, reps, name, err);
    CUresult code = api->cuStreamEndCapture(cu->stream, &graph);
    if (!s)
        s = as_cu_check(api, cu, code, "cuStreamEndCapture", err);
    if (!s)
        s = as_cu_check(api, cu, api->cuGraphInstantiateWithFlags(out, graph, 0), "cuGraphInstantiate", err);
    if (!s)
        s = as_cu_check(api, cu, api->cuGraphUpload(*out, cu->stream), "cuGraphUpload", err);
    if (!s)
        s = as_cu_check(api, cu, api->cuStreamSynchronize(cu->stream), "cuStreamSynchronize", err);
    if (graph)
        api->cuGraphDestroy(graph);
    if (s && *out) {
        api->cuGraphExecDestroy(*out);
        *out = NULL;
    }
    return s;
}

double as_cu_elapsed(const struct as_cu_device *cu)
{
    float ms = NAN;
    if (cu->api->cuEventElapsedTime(&ms, cu->start, cu->end) || !(ms > 0))
        return NAN;
    return (double)ms * 1e-3;
}

static enum as_status run_timed(struct as_cu_device *cu, struct call *c, const struct as_launch *l, CUgraphExec graph,
                                struct as_timing *out, struct as_error *err)
{
    const struct as_cu_api *api = cu->api;
    uint64_t t0 = as_now_ns();
    enum as_status s = as_cu_check(api, cu, api->cuEventRecord(cu->start, cu->stream), "cuEventRecord", err);
    if (!s)
        s = graph ? as_cu_check(api, cu, api->cuGraphLaunch(graph, cu->stream), l->kernel->name, err)
                  : put_many(cu, c, l->reps, l->kernel->name, err);
    if (!s)
        s = as_cu_check(api, cu, api->cuEventRecord(cu->end, cu->stream), "cuEventRecord", err);
    CUresult code = api->cuStreamSynchronize(cu->stream);
    uint64_t t1 = as_now_ns();
    if (!s)
        s = as_cu_check(api, cu, code, l->kernel->name, err);
    if (s)
        return s;
    out->host_s = (double)(t1 - t0) * 1e-9;
    out->device_s = as_cu_elapsed(cu);
    return AS_OK;
}

static enum as_status queue_launch(struct as_device *dev, const struct as_launch *launch, struct as_timing *out,
                                   struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    struct call c;
    CUgraphExec graph = NULL;
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status s = make_call(dev, launch, &c, err);
    if (!s && (launch->flags & AS_LAUNCH_GRAPH))
        s = record(cu, &c, launch->reps, launch->kernel->name, &graph, err);
    if (!s)
        s = run_timed(cu, &c, launch, graph, out, err);
    if (graph)
        cu->api->cuGraphExecDestroy(graph);
    return s;
}

static enum as_status queue_submit(struct as_device *dev, const struct as_launch *launch, struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    struct call c;
    enum as_status s = make_call(dev, launch, &c, err);
    return s ? s : put_many(cu, &c, launch->reps, launch->kernel->name, err);
}

static CUresult poll(const struct as_cu_device *cu, enum as_wait how)
{
    CUresult code;
    while ((code = cu->api->cuStreamQuery(cu->stream)) == CUDA_ERROR_NOT_READY) {
        if (how == AS_WAIT_YIELD)
            sched_yield();
        else
            as_relax();
    }
    return code;
}

/* The thread sleeps until the end event comes. */
static CUresult block(const struct as_cu_device *cu)
{
    CUresult code = cu->api->cuEventRecord(cu->end, cu->stream);
    return code ? code : cu->api->cuEventSynchronize(cu->end);
}

static enum as_status queue_wait(struct as_device *dev, enum as_wait how, struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    enum as_status s = as_cu_alive(cu, err);
    return s ? s : as_cu_check(cu->api, cu, how == AS_WAIT_BLOCK ? block(cu) : poll(cu, how), "a kernel", err);
}

const struct as_queue_ops as_cu_queue_ops = {
    .launch = queue_launch,
    .submit = queue_submit,
    .wait = queue_wait,
    .queues = as_cu_queues,
    .wait_queue = as_cu_wait_queue,
    .copy = as_cu_copy,
};
