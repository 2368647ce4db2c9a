/* Further command queues besides the device's own, with normal or highest priority. */
#include "device/opencl/opencl.h"

cl_command_queue as_cl_queue(const struct as_cl_device *cl, unsigned queue, struct as_error *err)
{
    if (queue <= cl->more_n)
        return queue ? cl->more[queue - 1] : cl->queue;
    as_fail(err, AS_USAGE, "opencl: there is no queue %u, the last is %zu", queue, cl->more_n);
    return NULL;
}

void as_cl_queues_close(struct as_cl_device *cl)
{
    for (; cl->more_n; cl->more_n--)
        cl->api->clReleaseCommandQueue(cl->more[cl->more_n - 1]);
    if (cl->unordered)
        cl->api->clReleaseCommandQueue(cl->unordered);
    cl->unordered = NULL;
}

enum as_status as_cl_unordered(struct as_cl_device *cl, struct as_error *err)
{
    cl_int code = CL_SUCCESS;
    if (!cl->unordered)
        cl->unordered =
            cl->api->clCreateCommandQueue(cl->context, cl->id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    return as_cl_check(cl->unordered ? CL_SUCCESS : code, "clCreateCommandQueue", err);
}

static cl_command_queue create(const struct as_cl_device *cl, bool urgent, cl_int *code)
{
    const cl_queue_properties properties[] = {CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_HIGH_KHR, 0};
    return urgent ? cl->api->clCreateCommandQueueWithProperties(cl->context, cl->id, properties, code)
                  : cl->api->clCreateCommandQueue(cl->context, cl->id, 0, code);
}

enum as_status as_cl_queues(struct as_device *dev, size_t n, size_t urgent, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    enum as_status st = AS_OK;
    if (n > AS_QUEUES_MAX || urgent > n)
        return as_fail(err, AS_USAGE, "opencl: %zu queues of which %zu are urgent, at most %d", n, urgent,
                       (int)AS_QUEUES_MAX);
    if (urgent && (!cl->api->clCreateCommandQueueWithProperties ||
                   !as_cl_has_extension(cl->api, cl->id, "cl_khr_priority_hints")))
        return as_fail(err, AS_UNSUPPORTED, "the driver lacks cl_khr_priority_hints, so its queues have no priorities");
    as_cl_queues_close(cl);
    while (cl->more_n < n && !st) {
        cl_int code;
        cl_command_queue queue = create(cl, cl->more_n >= n - urgent, &code);
        st = as_cl_check(queue ? CL_SUCCESS : code, "clCreateCommandQueue", err);
        if (!st)
            cl->more[cl->more_n++] = queue;
    }
    if (st)
        as_cl_queues_close(cl);
    return st;
}

enum as_status as_cl_wait_queue(struct as_device *dev, unsigned queue, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    cl_command_queue q = as_cl_queue(cl, queue, err);
    return q ? as_cl_check(cl->api->clFinish(q), "clFinish", err) : AS_USAGE;
}
