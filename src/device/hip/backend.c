/* The HIP backend: the runtime and its devices, opened and closed. */
#include "device/hip/hip.h"

#include "device/card.h"

#include <stdlib.h>

/* They choose among the devices, each in front of the one after it. */
static const char *const choosers[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"};

/* The runtime's own words say little. */
static enum as_status no_device(hipError_t code, struct as_error *err)
{
    for (size_t i = 0; i < sizeof choosers / sizeof *choosers; i++) {
        const char *visible = getenv(choosers[i]);
        if (visible && !visible[0])
            return as_fail(err, AS_UNSUPPORTED, "%s is set and empty: no device is visible; unset it", choosers[i]);
        if (visible)
            return as_fail(err, AS_UNSUPPORTED, "%s is '%.64s': no device is visible by it; change it", choosers[i],
                           visible);
    }
    return as_fail(err, AS_UNSUPPORTED,
                   "the runtime finds no device (%d); has this user or container access to /dev/kfd and "
                   "/dev/dri/renderD*, and is the module amdgpu loaded?",
                   code);
}

static enum as_status start_runtime(struct as_hip_backend *b, struct as_error *err)
{
    hipError_t code = b->api.hipInit(0);
    if (code == hipErrorNoDevice || code == hipErrorInvalidDevice)
        return no_device(code, err);
    enum as_status s = as_hip_check(&b->api, NULL, code, "hipInit", err);
    if (s && err)
        err->code = AS_UNSUPPORTED;
    return s ? AS_UNSUPPORTED : AS_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct as_hip_found *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The runtime's order is that of the environment; here the PCI address does. The parts of one chip share an address. */
static enum as_status find_devices(struct as_hip_backend *b, struct as_error *err)
{
    int n = 0;
    hipError_t code = b->api.hipGetDeviceCount(&n);
    if (code == hipErrorNoDevice || code == hipErrorInvalidDevice || (!code && n <= 0))
        return no_device(code, err);
    enum as_status s = as_hip_check(&b->api, NULL, code, "hipGetDeviceCount", err);
    for (int i = 0; i < n && b->found_n < AS_HIP_DEVICES_MAX && !s; i++) {
        struct as_hip_found *f = &b->found[b->found_n++];
        f->id = i;
        as_hip_place(&b->api, f);
    }
    qsort(b->found, b->found_n, sizeof *b->found, by_place);
    return s;
}

static void backend_close(void *backend)
{
    free(backend);
}

static enum as_status backend_open(void **backend, struct as_error *err)
{
    struct as_hip_backend *b = calloc(1, sizeof *b);
    *backend = NULL;
    if (!b)
        return as_nomem(err, sizeof *b, "HIP backend");
    enum as_status s = as_hip_load(&b->api, err);
    if (!s)
        s = start_runtime(b, err);
    if (!s)
        s = find_devices(b, err);
    if (s)
        backend_close(b);
    else
        *backend = b;
    return s;
}

static size_t backend_count(void *backend)
{
    return ((struct as_hip_backend *)backend)->found_n;
}

/* Also after the device was lost: then the runtime refuses, and the process has little left to do than to end. */
static void device_close(struct as_device *dev)
{
    struct as_hip_device *hip = dev->ctx;
    if (!hip)
        return;
    const struct as_hip_api *api = hip->api;
    api->hipSetDevice(hip->id);
    if (!hip->sticky)
        api->hipDeviceSynchronize();
    as_hip_forget_programs(hip);
    as_hip_queues_close(hip);
    as_hip_back_destroy(hip, &hip->back);
    as_hip_peers_close(hip);
    if (hip->clock_out)
        api->hipHostFree(hip->clock_out);
    if (hip->end)
        api->hipEventDestroy(hip->end);
    if (hip->start)
        api->hipEventDestroy(hip->start);
    if (hip->stream)
        api->hipStreamDestroy(hip->stream);
    free(hip);
    dev->ctx = NULL;
}

static enum as_status device_alive(struct as_device *dev, struct as_error *err)
{
    return as_hip_alive(dev->ctx, err);
}

static enum as_status device_topology(struct as_device *dev, struct as_buf *json, struct as_error *err)
{
    return as_card_topology(&dev->info, "CU", json, err);
}

static const struct as_device_ops device_ops = {
    .close = device_close,
    .alive = device_alive,
    .memory_free = as_hip_memory_free,
    .clock = as_hip_clock,
    .topology = device_topology,
};

/* Streams that do not wait for the default stream, so that nothing but their own order binds them. The end event lets
 * a thread sleep that waits for it; a thread that spins asks the stream. */
static enum as_status create_queues(struct as_hip_device *hip, struct as_error *err)
{
    const struct as_hip_api *api = hip->api;
    enum as_status s = as_hip_alive(hip, err);
    if (!s)
        s = as_hip_check(api, hip, api->hipStreamCreateWithFlags(&hip->stream, hipStreamNonBlocking), "hipStreamCreate",
                         err);
    if (!s)
        s = as_hip_check(api, hip, api->hipEventCreateWithFlags(&hip->start, 0), "hipEventCreate", err);
    if (!s)
        s = as_hip_check(api, hip, api->hipEventCreateWithFlags(&hip->end, hipEventBlockingSync), "hipEventCreate",
                         err);
    return s ? s : as_hip_back_create(hip, &hip->back, hip->id, err);
}

static enum as_status backend_open_device(void *backend, size_t index, struct as_device *out, struct as_error *err)
{
    struct as_hip_backend *b = backend;
    *out = (struct as_device){.device = &device_ops,
                              .memory = &as_hip_memory_ops,
                              .program = &as_hip_program_ops,
                              .queue = &as_hip_queue_ops};
    if (index >= b->found_n)
        return as_fail(err, AS_NOTFOUND, "there is no device 'hip:%zu'; the last is 'hip:%zu'", index, b->found_n - 1);
    struct as_hip_device *hip = calloc(1, sizeof *hip);
    if (!hip)
        return as_nomem(err, sizeof *hip, "HIP device");
    hip->backend = b;
    hip->api = &b->api;
    hip->id = b->found[index].id;
    out->ctx = hip;
    as_hip_find_target(hip->api, hip->id, &hip->target);
    enum as_status s = create_queues(hip, err);
    if (!s)
        s = as_hip_fill_info(out, &b->found[index], index, err);
    if (s)
        device_close(out);
    return s;
}

extern const struct as_backend as_backend_hip;
const struct as_backend as_backend_hip = {
    .abi = AS_DEVICE_ABI,
    .name = "hip",
    .title = "HIP, AMD GPUs, by libamdhip64",
    .open = backend_open,
    .close = backend_close,
    .count = backend_count,
    .open_device = backend_open_device,
};
