/* Further command queues beside the device's own. */
#include "device/metal/metal.h"

struct as_mtl_queue *as_mtl_find_queue(struct as_mtl_device *d, unsigned queue, struct as_error *err)
{
    if (queue <= d->more_n)
        return queue ? &d->more[queue - 1] : &d->queue;
    as_fail(err, AS_USAGE, "metal: there is no queue %u, the last is %zu", queue, d->more_n);
    return NULL;
}

enum as_status as_mtl_queues(struct as_device *dev, size_t n, size_t urgent, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    enum as_status st = AS_OK;
    if (n > AS_QUEUES_MAX || urgent > n)
        return as_fail(err, AS_USAGE, "metal: %zu queues of which %zu are urgent, at most %d", n, urgent,
                       (int)AS_QUEUES_MAX);
    if (urgent)
        return as_fail(err, AS_UNSUPPORTED, "Metal has no priorities for queues");
    void *pool = d->api->pool_push();
    for (; d->more_n; d->more_n--)
        as_mtl_queue_close(d, &d->more[d->more_n - 1]);
    while (d->more_n < n && !st) {
        st = as_mtl_queue_open(d, &d->more[d->more_n], err);
        d->more_n += !st;
    }
    for (; st && d->more_n; d->more_n--)
        as_mtl_queue_close(d, &d->more[d->more_n - 1]);
    d->api->pool_pop(pool);
    return st;
}

enum as_status as_mtl_wait_queue(struct as_device *dev, unsigned queue, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    struct as_mtl_queue *q = as_mtl_find_queue(d, queue, err);
    return q ? as_mtl_drain(d, q, AS_WAIT_BLOCK, NULL, "a kernel", err) : AS_USAGE;
}
