/* Copies by the API's copy commands, in one or both directions at a time. */
#include "device/opencl/opencl.h"

#include "base/clock.h"

#include <math.h>

/* Commands queued before a flush, since drivers keep a record of each. */
enum { OUTSTANDING_MAX = 4096 };

enum way { BETWEEN_BUFFERS, BETWEEN_SHARED, FROM_HOST, TO_HOST };

/* One copy, queued repeatedly. */
struct course {
    enum way way;
    cl_command_queue queue;
    cl_mem to, from; /* buffers */
    void *to_at;     /* addresses: shared memory, or a buffer of host memory while it is mapped */
    const void *from_at;
    struct as_memory *mapped; /* mapped here, to be unmapped afterwards; NULL if none */
    cl_event first, last;
};

static enum as_status take_address(struct as_device *dev, struct as_memory *mem, struct course *c, void **at,
                                   struct as_error *err)
{
    struct as_cl_place place = as_cl_place(mem);
    *at = place.svm;
    if (place.svm)
        return AS_OK;
    bool was_mapped = mem->host != NULL;
    enum as_status st = dev->memory->map(dev, mem, err);
    if (!st && !was_mapped)
        c->mapped = mem;
    *at = mem->host;
    return st;
}

/* A copy between a device buffer and one in host memory uses the host address to force a transfer over the bus: a
 * driver may hold a copy of both in the device. */
static enum as_status lay_course(struct as_device *dev, struct as_memory *to, struct as_memory *from,
                                 cl_command_queue queue, struct course *c, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    struct as_cl_place t = as_cl_place(to), f = as_cl_place(from);
    bool host_to = t.svm || t.host, host_from = f.svm || f.host;
    enum as_status st = AS_OK;
    void *at = NULL;
    *c = (struct course){.queue = queue, .to = t.buffer, .from = f.buffer};
    if (!t.svm && !f.svm && host_to == host_from) {
        c->way = BETWEEN_BUFFERS;
    } else if (t.svm && f.svm) {
        c->way = BETWEEN_SHARED;
        c->to_at = t.svm;
        c->from_at = f.svm;
        if (!cl->api->clEnqueueSVMMemcpy)
            st = as_fail(err, AS_UNSUPPORTED, "libOpenCL has no 'clEnqueueSVMMemcpy' (it came with OpenCL 2.0)");
    } else if (t.coarse || f.coarse || (host_to && host_from)) {
        st = as_fail(err, AS_UNSUPPORTED, "opencl: no command copies between these two kinds of memory");
    } else {
        c->way = host_from ? FROM_HOST : TO_HOST;
        st = take_address(dev, host_from ? from : to, c, &at, err);
        c->from_at = host_from ? at : NULL;
        c->to_at = host_from ? NULL : at;
    }
    return st;
}

static enum as_status opencl_copy_enqueue(const struct as_cl_device *cl, struct course *c, uint64_t bytes,
                                          cl_event *event, struct as_error *err)
{
    const struct as_cl_api *api = cl->api;
    switch (c->way) {
    case BETWEEN_BUFFERS:
        return as_cl_check(api->clEnqueueCopyBuffer(c->queue, c->from, c->to, 0, 0, bytes, 0, NULL, event),
                           "clEnqueueCopyBuffer", err);
    case BETWEEN_SHARED:
        return as_cl_check(api->clEnqueueSVMMemcpy(c->queue, CL_FALSE, c->to_at, c->from_at, bytes, 0, NULL, event),
                           "clEnqueueSVMMemcpy", err);
    case FROM_HOST:
        return as_cl_check(api->clEnqueueWriteBuffer(c->queue, c->to, CL_FALSE, 0, bytes, c->from_at, 0, NULL, event),
                           "clEnqueueWriteBuffer", err);
    default:
        return as_cl_check(api->clEnqueueReadBuffer(c->queue, c->from, CL_FALSE, 0, bytes, c->to_at, 0, NULL, event),
                           "clEnqueueReadBuffer", err);
    }
}

static enum as_status opencl_copy_drain(const struct as_cl_device *cl, struct course *courses, size_t n,
                                        struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < n; i++) {
        enum as_status one = as_cl_check(cl->api->clFinish(courses[i].queue), "clFinish", st ? NULL : err);
        st = st ? st : one;
    }
    return st;
}

static enum as_status opencl_copy_run(const struct as_cl_device *cl, struct course *courses, size_t n,
                                      const struct as_copy *copy, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (uint64_t r = 0; r < copy->reps && !st; r++) {
        for (size_t i = 0; i < n && !st; i++) {
            cl_event *event = r == 0 ? &courses[i].first : r + 1 == copy->reps ? &courses[i].last : NULL;
            st = opencl_copy_enqueue(cl, &courses[i], copy->bytes, event, err);
            if (!st && r == 0)
                st = as_cl_check(cl->api->clFlush(courses[i].queue), "clFlush", err);
        }
        if (!st && (r + 1) % OUTSTANDING_MAX == 0)
            st = opencl_copy_drain(cl, courses, n, err);
    }
    enum as_status end = opencl_copy_drain(cl, courses, n, st ? NULL : err);
    return st ? st : end;
}

/* clFinish does not report a failed command; its event does. */
static enum as_status check_outcome(const struct as_cl_device *cl, const struct course *c, struct as_error *err)
{
    cl_int state = CL_COMPLETE;
    cl_event end = c->last ? c->last : c->first;
    enum as_status st = AS_OK;
    if (end)
        st = as_cl_check(cl->api->clGetEventInfo(end, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL),
                         "clGetEventInfo", err);
    return st || state >= 0 ? st : as_cl_check(state, "a copy", err);
}

/* From the first start to the last end over all copies; NAN if the driver does not report it or it is implausible. */
static double opencl_copy_device_seconds(const struct as_cl_device *cl, const struct course *courses, size_t n)
{
    cl_ulong from = CL_ULONG_MAX, to = 0;
    for (size_t i = 0; i < n; i++) {
        cl_ulong start = 0, end = 0;
        cl_event first = courses[i].first, last = courses[i].last ? courses[i].last : first;
        if (!first || cl->api->clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) ||
            cl->api->clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL))
            return NAN;
        from = start < from ? start : from;
        to = end > to ? end : to;
    }
    return to > from ? (double)(to - from) * 1e-9 : NAN;
}

static enum as_status opencl_copy_check(const struct as_memory *to, const struct as_memory *from, uint64_t bytes,
                                        struct as_error *err)
{
    enum as_status st = as_memory_check(to, 0, bytes, err);
    return st ? st : as_memory_check(from, 0, bytes, err);
}

static enum as_status lay_all(struct as_device *dev, const struct as_copy *copy, struct course courses[2], size_t *n,
                              struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    cl_int code = CL_SUCCESS;
    *n = 0;
    enum as_status st = opencl_copy_check(copy->to, copy->from, copy->bytes, err);
    if (!st && copy->back_to)
        st = opencl_copy_check(copy->back_to, copy->back_from, copy->bytes, err);
    if (st)
        return st;
    *n = 1;
    st = lay_course(dev, copy->to, copy->from, cl->queue, &courses[0], err);
    if (st || !copy->back_to)
        return st;
    if (!cl->back)
        cl->back = cl->api->clCreateCommandQueue(cl->context, cl->id, CL_QUEUE_PROFILING_ENABLE, &code);
    st = as_cl_check(cl->back ? CL_SUCCESS : code, "clCreateCommandQueue", err);
    if (!st) {
        *n = 2;
        st = lay_course(dev, copy->back_to, copy->back_from, cl->back, &courses[1], err);
    }
    return st;
}

enum as_status as_cl_copy(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                          struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    struct course courses[2] = {{0}};
    size_t n = 0;
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status st = lay_all(dev, copy, courses, &n, err);
    if (!st) {
        uint64_t t0 = as_now_ns();
        st = opencl_copy_run(cl, courses, n, copy, err);
        out->host_s = (double)(as_now_ns() - t0) * 1e-9;
    }
    for (size_t i = 0; i < n && !st; i++)
        st = check_outcome(cl, &courses[i], err);
    if (!st)
        out->device_s = opencl_copy_device_seconds(cl, courses, n);
    for (size_t i = 0; i < n; i++) {
        if (courses[i].first)
            cl->api->clReleaseEvent(courses[i].first);
        if (courses[i].last)
            cl->api->clReleaseEvent(courses[i].last);
        if (courses[i].mapped)
            dev->memory->unmap(dev, courses[i].mapped, NULL);
    }
    return st;
}
