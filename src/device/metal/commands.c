/* Command buffers: created, committed, and waited for in order. Each is kept until it has been inspected, since an
 * error belongs to one buffer only. Waiting has no time limit: the worker's parent enforces it. */
#include "device/metal/metal.h"

#include "base/clock.h"

#include <math.h>
#include <sched.h>

enum as_status as_mtl_queue_open(struct as_mtl_device *d, struct as_mtl_queue *q, struct as_error *err)
{
    *q = (struct as_mtl_queue){.queue = AS_SEND(d->api, new_queue, d->device)};
    return q->queue ? AS_OK : as_fail(err, AS_FAILED, "metal: newCommandQueue made no queue");
}

void as_mtl_queue_close(struct as_mtl_device *d, struct as_mtl_queue *q)
{
    as_mtl_drain(d, q, AS_WAIT_BLOCK, NULL, "a kernel", NULL);
    as_mtl_release(d->api, &q->queue);
}

static void metal_commands_poll(const struct as_mtl_api *m, as_objc_id commands, enum as_wait how)
{
    while (AS_SEND(m, status, commands) < AS_MTL_COMPLETED) {
        if (how == AS_WAIT_YIELD)
            sched_yield();
        else
            as_relax();
    }
}

static void metal_commands_widen(const struct as_mtl_api *m, as_objc_id commands, struct as_mtl_times *t)
{
    const double start = AS_SEND(m, gpu_start, commands), end = AS_SEND(m, gpu_end, commands);
    t->start = isnan(t->start) || start < t->start ? start : t->start;
    t->end = isnan(t->end) || end > t->end ? end : t->end;
}

static enum as_status take_oldest(struct as_mtl_device *d, struct as_mtl_queue *q, enum as_wait how,
                                  struct as_mtl_times *times, const char *what, struct as_error *err)
{
    const struct as_mtl_api *m = d->api;
    as_objc_id commands = q->outstanding[q->first];
    q->first = (q->first + 1) % AS_MTL_OUTSTANDING;
    q->n--;
    void *pool = m->pool_push();
    if (how == AS_WAIT_BLOCK)
        AS_SEND(m, wait, commands);
    else
        metal_commands_poll(m, commands, how);
    if (times)
        metal_commands_widen(m, commands, times);
    enum as_status st = as_mtl_outcome(d, commands, what, err);
    m->pool_pop(pool);
    as_mtl_release(m, &commands);
    return st;
}

enum as_status as_mtl_begin(struct as_mtl_device *d, struct as_mtl_queue *q, as_objc_id *commands,
                            struct as_mtl_times *times, struct as_error *err)
{
    *commands = NULL;
    enum as_status st = as_mtl_alive(d, err);
    if (!st && q->n == AS_MTL_OUTSTANDING)
        st = take_oldest(d, q, AS_WAIT_BLOCK, times, "a kernel", err);
    if (st)
        return st;
    *commands = AS_SEND(d->api, commands, q->queue);
    return *commands ? AS_OK : as_fail(err, AS_FAILED, "metal: the queue made no command buffer");
}

void as_mtl_commit(struct as_mtl_device *d, struct as_mtl_queue *q, as_objc_id commands)
{
    q->outstanding[(q->first + q->n) % AS_MTL_OUTSTANDING] = AS_SEND(d->api, retain, commands);
    q->n++;
    AS_SEND(d->api, commit, commands);
}

enum as_status as_mtl_drain(struct as_mtl_device *d, struct as_mtl_queue *q, enum as_wait how,
                            struct as_mtl_times *times, const char *what, struct as_error *err)
{
    enum as_status st = AS_OK;
    while (q->n) {
        enum as_status one = take_oldest(d, q, how, times, what, st ? NULL : err);
        st = st ? st : one;
    }
    return st;
}

static void metal_commands_settle(const struct as_mtl_device *d, const struct as_mtl_queue *q)
{
    for (size_t i = 0; i < q->n; i++)
        AS_SEND(d->api, wait, q->outstanding[(q->first + i) % AS_MTL_OUTSTANDING]);
}

void as_mtl_settle(struct as_mtl_device *d)
{
    metal_commands_settle(d, &d->queue);
    metal_commands_settle(d, &d->back);
    for (size_t i = 0; i < d->more_n; i++)
        metal_commands_settle(d, &d->more[i]);
}

double as_mtl_elapsed(const struct as_mtl_times *t)
{
    return t->start > 0 && t->end > t->start ? t->end - t->start : NAN;
}
