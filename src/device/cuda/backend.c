/* The CUDA backend: the driver and its devices, opened and closed. */
#include "device/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

/* What a person can do when the driver does not start; the driver's own words say little. */
struct start_advice {
    CUresult code;
    const char *words;
};
static const struct start_advice advice[] = {
    {CUDA_ERROR_NO_DEVICE, "the driver finds no device; has this container or user access to /dev/nvidia0 and "
                           "/dev/nvidiactl?"},
    {CUDA_ERROR_STUB_LIBRARY, "libcuda.so.1 is the stub that is only there to link programs with; put the driver's own "
                              "in front of it in LD_LIBRARY_PATH"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "the driver in the kernel and libcuda.so.1 are of different versions; reboot "
                                        "after an update, or take the library of the kernel's version"},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "libcuda.so.1 is a compatibility library that does not work with this "
                                                "device; take it out of LD_LIBRARY_PATH"},
    {CUDA_ERROR_SYSTEM_NOT_READY, "the system is not ready; on machines with NVSwitch the fabric manager has to run"},
    {CUDA_ERROR_OPERATING_SYSTEM, "the operating system refused; are the modules nvidia and nvidia_uvm loaded, and is "
                                  "there enough address space (ulimit -v)?"},
    {CUDA_ERROR_UNKNOWN, "the driver does not start; are the modules nvidia and nvidia_uvm loaded?"},
};

static enum as_status no_device(struct as_error *err)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible && !visible[0])
        return as_fail(err, AS_UNSUPPORTED, "CUDA_VISIBLE_DEVICES is set and empty: no device is visible; unset it");
    if (visible)
        return as_fail(err, AS_UNSUPPORTED, "CUDA_VISIBLE_DEVICES is '%.64s': no device is visible by it; change it",
                       visible);
    return as_fail(err, AS_UNSUPPORTED, "%s", advice[0].words);
}

static enum as_status start_driver(struct as_cu_backend *b, struct as_error *err)
{
    CUresult code = b->api.cuInit(0);
    if (code == CUDA_SUCCESS)
        return AS_OK;
    if (code == CUDA_ERROR_NO_DEVICE)
        return no_device(err);
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (advice[i].code == code)
            return as_fail(err, AS_UNSUPPORTED, "cuInit gave %d: %s", code, advice[i].words);
    as_cu_check(&b->api, NULL, code, "cuInit", err);
    if (err)
        err->code = AS_UNSUPPORTED;
    return AS_UNSUPPORTED;
}

static int by_place(const void *a, const void *b)
{
    const struct as_cu_found *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* CUDA_VISIBLE_DEVICES and the driver's own "fastest first" order them as they like; here the PCI address does. */
static enum as_status find_devices(struct as_cu_backend *b, struct as_error *err)
{
    int n = 0;
    enum as_status s = as_cu_check(&b->api, NULL, b->api.cuDeviceGetCount(&n), "cuDeviceGetCount", err);
    if (s)
        return s;
    if (n <= 0)
        return no_device(err);
    for (int i = 0; i < n && b->found_n < AS_CU_DEVICES_MAX && !s; i++) {
        struct as_cu_found *f = &b->found[b->found_n];
        s = as_cu_check(&b->api, NULL, b->api.cuDeviceGet(&f->id, i), "cuDeviceGet", err);
        if (s)
            break;
        as_cu_place(&b->api, f);
        b->found_n++;
    }
    if (!s)
        qsort(b->found, b->found_n, sizeof *b->found, by_place);
    return s;
}

static void backend_close(void *backend)
{
    free(backend);
}

static enum as_status backend_open(void **backend, struct as_error *err)
{
    struct as_cu_backend *b = calloc(1, sizeof *b);
    *backend = NULL;
    if (!b)
        return as_nomem(err, sizeof *b, "CUDA backend");
    enum as_status s = as_cu_load(&b->api, err);
    if (!s)
        s = start_driver(b, err);
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
    return ((struct as_cu_backend *)backend)->found_n;
}

/* Also after a lost context: then the driver refuses, and the process has little left to do than to end. */
static void device_close(struct as_device *dev)
{
    struct as_cu_device *cu = dev->ctx;
    if (!cu)
        return;
    const struct as_cu_api *api = cu->api;
    if (cu->context) {
        api->cuCtxSetCurrent(cu->context);
        if (!cu->sticky)
            api->cuCtxSynchronize();
        as_cu_forget_programs(cu);
        as_cu_queues_close(cu);
        as_cu_back_destroy(cu, &cu->back);
        if (cu->clock_out)
            api->cuMemFreeHost(cu->clock_out);
        if (cu->end)
            api->cuEventDestroy_v2(cu->end);
        if (cu->start)
            api->cuEventDestroy_v2(cu->start);
        if (cu->stream)
            api->cuStreamDestroy_v2(cu->stream);
        api->cuDevicePrimaryCtxRelease_v2(cu->id);
    }
    as_cu_peers_close(cu);
    api->cuCtxSetCurrent(NULL);
    free(cu);
    dev->ctx = NULL;
}

static enum as_status device_alive(struct as_device *dev, struct as_error *err)
{
    return as_cu_alive(dev->ctx, err);
}

static const struct as_device_ops device_ops = {
    .close = device_close,
    .alive = device_alive,
    .memory_free = as_cu_memory_free,
    .clock = as_cu_clock,
    .topology = as_cu_topology,
};

static enum as_status create_context(struct as_cu_device *cu, size_t index, struct as_error *err)
{
    CUresult code = cu->api->cuDevicePrimaryCtxRetain(&cu->context, cu->id);
    if (code)
        cu->context = NULL;
    if (code == CUDA_ERROR_DEVICE_UNAVAILABLE)
        return as_fail(err, AS_UNSUPPORTED,
                       "'cuda:%zu' is taken (%d): another process has it for itself, or its compute mode keeps all "
                       "out; nvidia-smi shows both",
                       index, code);
    return as_cu_check(cu->api, NULL, code, "cuDevicePrimaryCtxRetain", err);
}

/* Streams that do not wait for the default stream, so that nothing but their own order binds them. The end event lets
 * a thread sleep that waits for it; a thread that spins asks the stream. */
static enum as_status create_queues(struct as_cu_device *cu, struct as_error *err)
{
    const struct as_cu_api *api = cu->api;
    enum as_status s = as_cu_alive(cu, err);
    if (!s)
        s = as_cu_check(api, cu, api->cuStreamCreate(&cu->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate", err);
    if (!s)
        s = as_cu_check(api, cu, api->cuEventCreate(&cu->start, CU_EVENT_DEFAULT), "cuEventCreate", err);
    if (!s)
        s = as_cu_check(api, cu, api->cuEventCreate(&cu->end, CU_EVENT_BLOCKING_SYNC), "cuEventCreate", err);
    cu->back.context = cu->context;
    return s ? s : as_cu_back_create(cu, &cu->back, err);
}

static enum as_status backend_open_device(void *backend, size_t index, struct as_device *out, struct as_error *err)
{
    struct as_cu_backend *b = backend;
    *out = (struct as_device){
        .device = &device_ops, .memory = &as_cu_memory_ops, .program = &as_cu_program_ops, .queue = &as_cu_queue_ops};
    if (index >= b->found_n)
        return as_fail(err, AS_NOTFOUND, "there is no device 'cuda:%zu'; the last is 'cuda:%zu'", index,
                       b->found_n - 1);
    struct as_cu_device *cu = calloc(1, sizeof *cu);
    if (!cu)
        return as_nomem(err, sizeof *cu, "CUDA device");
    cu->backend = b;
    cu->api = &b->api;
    cu->id = b->found[index].id;
    out->ctx = cu;
    enum as_status s = create_context(cu, index, err);
    if (!s)
        s = create_queues(cu, err);
    if (!s)
        s = as_cu_fill_info(out, &b->found[index], index, err);
    if (s)
        device_close(out);
    return s;
}

extern const struct as_backend as_backend_cuda;
const struct as_backend as_backend_cuda = {
    .abi = AS_DEVICE_ABI,
    .name = "cuda",
    .title = "CUDA, NVIDIA GPUs, by libcuda.so.1",
    .open = backend_open,
    .close = backend_close,
    .count = backend_count,
    .open_device = backend_open_device,
};
