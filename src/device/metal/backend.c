/* The Metal backend: devices, opened and closed. */
#include "device/metal/metal.h"
#include "device/metal/roles.h"

#include <stdlib.h>

static void metal_backend_close(void *backend)
{
    struct as_mtl_backend *b = backend;
    if (!b)
        return;
    as_mtl_release(&b->api, &b->devices);
    free(b);
}

static enum as_status metal_find_devices(struct as_mtl_backend *b, struct as_error *err)
{
    void *pool = b->api.pool_push();
    b->devices = b->api.copy_devices();
    b->devices_n = b->devices ? AS_SEND(&b->api, count, b->devices) : 0;
    b->api.pool_pop(pool);
    return b->devices_n
               ? AS_OK
               : as_fail(err, AS_UNSUPPORTED,
                         "Metal is available, but MTLCopyAllDevices names no device: this session has no access to "
                         "a GPU");
}

static enum as_status metal_backend_open(void **backend, struct as_error *err)
{
    struct as_mtl_backend *b = calloc(1, sizeof *b);
    *backend = NULL;
    if (!b)
        return as_nomem(err, sizeof *b, "Metal backend");
    enum as_status st = as_mtl_load(&b->api, err);
    if (!st)
        st = metal_find_devices(b, err);
    if (st)
        metal_backend_close(b);
    else
        *backend = b;
    return st;
}

static size_t metal_backend_count(void *backend)
{
    return ((struct as_mtl_backend *)backend)->devices_n;
}

static void metal_device_close(struct as_device *dev)
{
    struct as_mtl_device *d = dev->ctx;
    if (!d)
        return;
    void *pool = d->api->pool_push();
    for (; d->more_n; d->more_n--)
        as_mtl_queue_close(d, &d->more[d->more_n - 1]);
    as_mtl_queue_close(d, &d->back);
    as_mtl_queue_close(d, &d->queue);
    as_mtl_forget_programs(d);
    as_mtl_release(d->api, &d->device);
    d->api->pool_pop(pool);
    free(d);
    dev->ctx = NULL;
}

static enum as_status device_alive(struct as_device *dev, struct as_error *err)
{
    return as_mtl_alive(dev->ctx, err);
}

static const struct as_device_ops device_ops = {
    .close = metal_device_close,
    .memory_free = as_mtl_memory_free,
    .alive = device_alive,
    .topology = as_mtl_topology,
};

static enum as_status metal_backend_open_device(void *backend, size_t index, struct as_device *out,
                                                struct as_error *err)
{
    struct as_mtl_backend *b = backend;
    *out = (struct as_device){.device = &device_ops,
                              .memory = &as_mtl_memory_ops,
                              .program = &as_mtl_program_ops,
                              .queue = &as_mtl_queue_ops,
                              .gemm = &as_mtl_gemm_ops};
    if (index >= b->devices_n)
        return as_fail(err, AS_NOTFOUND, "there is no device 'metal:%zu'; the last is 'metal:%zu'", index,
                       b->devices_n - 1);
    struct as_mtl_device *d = calloc(1, sizeof *d);
    if (!d)
        return as_nomem(err, sizeof *d, "Metal device");
    const struct as_mtl_api *m = d->api = &b->api;
    out->ctx = d;
    void *pool = m->pool_push();
    d->device = AS_SEND(m, retain, AS_SEND_WITH(m, object_at, b->devices, index));
    enum as_status st = as_mtl_queue_open(d, &d->queue, err);
    if (!st)
        st = as_mtl_fill_info(out, index, err);
    m->pool_pop(pool);
    if (st)
        metal_device_close(out);
    return st;
}

const struct as_backend as_backend_metal = {
    .abi = AS_DEVICE_ABI,
    .name = "metal",
    .title = "Metal, GPUs of macOS, by Metal.framework",
    .roles = as_mtl_roles,
    .words = &as_mtl_words,
    .open = metal_backend_open,
    .close = metal_backend_close,
    .count = metal_backend_count,
    .open_device = metal_backend_open_device,
};
