/* Further streams beside the device's own, in the usual priority and in the highest. */
#include "device/hip/hip.h"

enum as_status as_hip_stream(const struct as_hip_device *hip, unsigned queue, hipStream_t *out, struct as_error *err)
{
    if (queue > hip->more_n)
        return as_fail(err, AS_USAGE, "hip: there is no queue %u, the last is %zu", queue, hip->more_n);
    *out = queue ? hip->more[queue - 1] : hip->stream;
    return AS_OK;
}

void as_hip_queues_close(struct as_hip_device *hip)
{
    for (; hip->more_n; hip->more_n--)
        hip->api->hipStreamDestroy(hip->more[hip->more_n - 1]);
}

/* Priorities are numbers of which the least is the most urgent; 0 is the usual one. */
static enum as_status most_urgent(struct as_hip_device *hip, int *out, struct as_error *err)
{
    int least = 0;
    enum as_status s = as_hip_check(hip->api, hip, hip->api->hipDeviceGetStreamPriorityRange(&least, out),
                                    "hipDeviceGetStreamPriorityRange", err);
    return s || *out < 0 ? s : as_fail(err, AS_UNSUPPORTED, "the device has no priorities, all its streams are equal");
}

enum as_status as_hip_queues(struct as_device *dev, size_t n, size_t urgent, struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    int greatest = 0;
    if (n > AS_QUEUES_MAX || urgent > n)
        return as_fail(err, AS_USAGE, "hip: %zu queues of which %zu are urgent, at most %d", n, urgent,
                       (int)AS_QUEUES_MAX);
    enum as_status s = as_hip_alive(hip, err);
    if (!s && urgent)
        s = most_urgent(hip, &greatest, err);
    if (s)
        return s;
    as_hip_queues_close(hip);
    while (hip->more_n < n && !s) {
        int priority = hip->more_n >= n - urgent ? greatest : 0;
        s = as_hip_check(hip->api, hip,
                         hip->api->hipStreamCreateWithPriority(&hip->more[hip->more_n], hipStreamNonBlocking, priority),
                         "hipStreamCreateWithPriority", err);
        hip->more_n += !s;
    }
    if (s)
        as_hip_queues_close(hip);
    return s;
}

enum as_status as_hip_wait_queue(struct as_device *dev, unsigned queue, struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    hipStream_t stream = NULL;
    enum as_status s = as_hip_alive(hip, err);
    if (!s)
        s = as_hip_stream(hip, queue, &stream, err);
    return s ? s : as_hip_check(hip->api, hip, hip->api->hipStreamSynchronize(stream), "a kernel", err);
}
