/* Further streams beside the device's own, in the usual priority and in the highest. */
#include "device/cuda/cuda.h"

enum as_status as_cu_stream(const struct as_cu_device *cu, unsigned queue, CUstream *out, struct as_error *err)
{
    if (queue > cu->more_n)
        return as_fail(err, AS_USAGE, "cuda: there is no queue %u, the last is %zu", queue, cu->more_n);
    *out = queue ? cu->more[queue - 1] : cu->stream;
    return AS_OK;
}

void as_cu_queues_close(struct as_cu_device *cu)
{
    for (; cu->more_n; cu->more_n--)
        cu->api->cuStreamDestroy_v2(cu->more[cu->more_n - 1]);
}

/* Priorities are numbers of which the least is the most urgent; 0 is the usual one. */
static enum as_status most_urgent(struct as_cu_device *cu, int *out, struct as_error *err)
{
    int least = 0;
    enum as_status s =
        as_cu_check(cu->api, cu, cu->api->cuCtxGetStreamPriorityRange(&least, out), "cuCtxGetStreamPriorityRange", err);
    return s || *out < 0 ? s : as_fail(err, AS_UNSUPPORTED, "the device has no priorities, all its streams are equal");
}

enum as_status as_cu_queues(struct as_device *dev, size_t n, size_t urgent, struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    int greatest = 0;
    if (n > AS_QUEUES_MAX || urgent > n)
        return as_fail(err, AS_USAGE, "cuda: %zu queues of which %zu are urgent, at most %d", n, urgent,
                       (int)AS_QUEUES_MAX);
    enum as_status s = as_cu_alive(cu, err);
    if (!s && urgent)
        s = most_urgent(cu, &greatest, err);
    if (s)
        return s;
    as_cu_queues_close(cu);
    while (cu->more_n < n && !s) {
        int priority = cu->more_n >= n - urgent ? greatest : 0;
        s = as_cu_check(cu->api, cu,
                        cu->api->cuStreamCreateWithPriority(&cu->more[cu->more_n], CU_STREAM_NON_BLOCKING, priority),
                        "cuStreamCreateWithPriority", err);
        cu->more_n += !s;
    }
    if (s)
        as_cu_queues_close(cu);
    return s;
}

enum as_status as_cu_wait_queue(struct as_device *dev, unsigned queue, struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    CUstream stream = NULL;
    enum as_status s = as_cu_alive(cu, err);
    if (!s)
        s = as_cu_stream(cu, queue, &stream, err);
    return s ? s : as_cu_check(cu->api, cu, cu->api->cuStreamSynchronize(stream), "a kernel", err);
}
