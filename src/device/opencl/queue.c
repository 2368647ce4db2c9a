/* Launches kernels, waits, and times on host and device. */
#include "device/opencl/opencl.h"

#include "base/clock.h"

#include <math.h>
#include <sched.h>

/* Commands queued before a flush, since drivers keep a record of each. */
enum { OUTSTANDING_MAX = 4096 };

static enum as_status set_args(struct as_cl_device *cl, const struct as_launch *launch, struct as_error *err)
{
    static const size_t sizes[] = {
        [AS_ARG_U32] = sizeof(cl_uint),
        [AS_ARG_U64] = sizeof(cl_ulong),
        [AS_ARG_F32] = sizeof(cl_float),
        [AS_ARG_F64] = sizeof(cl_double),
    };
    cl_kernel kernel = launch->kernel->kernel;
    for (size_t i = 0; i < launch->args_n; i++) {
        const struct as_arg *a = &launch->args[i];
        if (a->kind == AS_ARG_TENSOR)
            return as_fail(err, AS_UNSUPPORTED, "opencl: kernel '%s' takes a tensor, which the API does not have",
                           launch->kernel->name);
        enum as_status st = a->kind == AS_ARG_MEMORY
                                ? as_cl_set_memory_arg(cl, kernel, (cl_uint)i, a->u.memory, err)
                                : as_cl_check(cl->api->clSetKernelArg(kernel, (cl_uint)i, sizes[a->kind], &a->u),
                                              "clSetKernelArg", err);
        if (st)
            return as_fail_in(err, launch->kernel->name);
    }
    return AS_OK;
}

static enum as_status opencl_check_shape(const struct as_device *dev, const struct as_launch *launch,
                                         struct as_error *err)
{
    if (launch->workgroups == 0 || launch->workgroup_size == 0 || launch->reps == 0)
        return as_fail(err, AS_USAGE, "opencl: kernel '%s': workgroups, their size and repetitions must be at least 1",
                       launch->kernel->name);
    if (dev->info.threads && launch->workgroup_size > dev->info.threads)
        return as_fail(err, AS_UNSUPPORTED, "opencl: kernel '%s': %zu threads per workgroup, but the device allows %u",
                       launch->kernel->name, launch->workgroup_size, dev->info.threads);
    if (launch->workgroups > SIZE_MAX / launch->workgroup_size)
        return as_fail(err, AS_USAGE, "opencl: kernel '%s': too many threads", launch->kernel->name);
    if (launch->flags & AS_LAUNCH_GRAPH)
        return as_fail(err, AS_UNSUPPORTED, "opencl: kernel '%s' cannot be launched as a graph", launch->kernel->name);
    if (launch->shared_bytes)
        return as_fail(err, AS_UNSUPPORTED, "opencl: kernel '%s' takes local memory that is sized at the launch",
                       launch->kernel->name);
    return AS_OK;
}

static enum as_status opencl_enqueue(struct as_cl_device *cl, cl_command_queue queue, const struct as_launch *launch,
                                     cl_event *event, struct as_error *err)
{
    size_t local = launch->workgroup_size, global = launch->workgroups * local;
    cl_int code =
        cl->api->clEnqueueNDRangeKernel(queue, launch->kernel->kernel, 1, NULL, &global, &local, 0, NULL, event);
    return as_cl_check(code, launch->kernel->name, err);
}

static void opencl_forget(const struct as_cl_device *cl, cl_event *event)
{
    if (*event)
        cl->api->clReleaseEvent(*event);
    *event = NULL;
}

/* clFinish does not report a failed command; its event does. */
static enum as_status opencl_finish(struct as_cl_device *cl, cl_event last, struct as_error *err)
{
    enum as_status st = as_cl_check(cl->api->clFinish(cl->queue), "clFinish", err);
    cl_int state = CL_COMPLETE;
    if (!st && last)
        st = as_cl_check(cl->api->clGetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL),
                         "clGetEventInfo", err);
    if (!st && state < 0)
        st = as_cl_check(state, "a kernel", err);
    return st;
}

/* Device seconds from the first command's start to the last one's end; NAN if the driver does not report it or
 * it is implausible. */
static double opencl_device_seconds(const struct as_cl_device *cl, cl_event first, cl_event last)
{
    cl_ulong start = 0, end = 0;
    if (!first || !last ||
        cl->api->clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) ||
        cl->api->clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) || end <= start)
        return NAN;
    return (double)(end - start) * 1e-9;
}

/* No event marks the end of commands in any order, so the host times them. */
static enum as_status launch_together(struct as_cl_device *cl, const struct as_launch *launch, struct as_timing *out,
                                      struct as_error *err)
{
    enum as_status st = as_cl_unordered(cl, err);
    if (st)
        return st;
    const uint64_t t0 = as_now_ns();
    for (uint64_t i = 0; i < launch->reps && !st; i++)
        st = opencl_enqueue(cl, cl->unordered, launch, NULL, err);
    const cl_int code = cl->api->clFinish(cl->unordered);
    out->host_s = (double)(as_now_ns() - t0) * 1e-9;
    return st ? st : as_cl_check(code, "clFinish", err);
}

static enum as_status opencl_queue_launch(struct as_device *dev, const struct as_launch *launch, struct as_timing *out,
                                          struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    cl_event first = NULL, last = NULL;
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status st = opencl_check_shape(dev, launch, err);
    if (!st)
        st = set_args(cl, launch, err);
    if (!st && launch->flags & AS_LAUNCH_TOGETHER)
        return launch_together(cl, launch, out, err);
    if (st)
        return st;
    uint64_t t0 = as_now_ns();
    for (uint64_t i = 0; i < launch->reps && !st; i++) {
        bool is_last = i + 1 == launch->reps;
        cl_event *event = i == 0 ? &first : is_last ? &last : NULL;
        st = opencl_enqueue(cl, cl->queue, launch, event, err);
        if (!st && !is_last && (i + 1) % OUTSTANDING_MAX == 0)
            st = opencl_finish(cl, NULL, err);
    }
    cl_event end = launch->reps == 1 ? first : last;
    if (!st)
        st = opencl_finish(cl, end, err);
    uint64_t t1 = as_now_ns();
    if (!st) {
        out->host_s = (double)(t1 - t0) * 1e-9;
        out->device_s = opencl_device_seconds(cl, first, end);
    } else {
        cl->api->clFinish(cl->queue);
    }
    opencl_forget(cl, &first);
    opencl_forget(cl, &last);
    return st;
}

static enum as_status opencl_queue_submit(struct as_device *dev, const struct as_launch *launch, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    cl_command_queue queue = as_cl_queue(cl, launch->queue, err);
    enum as_status st = queue ? opencl_check_shape(dev, launch, err) : AS_USAGE;
    if (!st)
        st = set_args(cl, launch, err);
    for (uint64_t i = 0; i < launch->reps && !st; i++) {
        cl_event event = NULL;
        bool keep = i + 1 == launch->reps && launch->queue == 0;
        st = opencl_enqueue(cl, queue, launch, keep ? &event : NULL, err);
        if (event) {
            opencl_forget(cl, &cl->last);
            cl->last = event;
        }
    }
    return st ? st : as_cl_check(cl->api->clFlush(queue), "clFlush", err);
}

static enum as_status poll_event(struct as_cl_device *cl, enum as_wait how, struct as_error *err)
{
    cl_int state = CL_QUEUED;
    for (;;) {
        cl_int code = cl->api->clGetEventInfo(cl->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
        if (code)
            return as_cl_check(code, "clGetEventInfo", err);
        if (state <= CL_COMPLETE)
            return state < 0 ? as_cl_check(state, "a kernel", err) : AS_OK;
        if (how == AS_WAIT_YIELD)
            sched_yield();
        else
            as_relax();
    }
}

static enum as_status opencl_queue_wait(struct as_device *dev, enum as_wait how, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    enum as_status st = how == AS_WAIT_BLOCK || !cl->last ? opencl_finish(cl, cl->last, err) : poll_event(cl, how, err);
    opencl_forget(cl, &cl->last);
    return st;
}

const struct as_queue_ops as_cl_queue_ops = {
    .launch = opencl_queue_launch,
    .submit = opencl_queue_submit,
    .wait = opencl_queue_wait,
    .queues = as_cl_queues,
    .wait_queue = as_cl_wait_queue,
    .copy = as_cl_copy,
};
