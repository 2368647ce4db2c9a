/* The CUDA backend: the driver and its devices, opened and closed. */
#include "device/cuda/cuda.h"

#include "base/text.h"

#include <stdlib.h>

/* Remedies for driver start-up errors, whose own texts say little. */
struct start_advice {
    CUresult code;
    const char *words;
};
static const struct start_advice advice[] = {
    {CUDA_ERROR_NO_DEVICE, "the driver finds no device; has this container or user access to /dev/nvidia0 and "
                           "/dev/nvidiactl?"},
    {CUDA_ERROR_STUB_LIBRARY, "libcuda.so.1 is the stub for linking programs; put the driver's library "
                              "before it in LD_LIBRARY_PATH"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "the kernel driver and libcuda.so.1 have different versions; reboot "
                                        "after an update, or install the library of the driver's version"},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "libcuda.so.1 is a compatibility library that does not work with this "
                                                "device; remove it from LD_LIBRARY_PATH"},
    {CUDA_ERROR_SYSTEM_NOT_READY, "the system is not ready; machines with NVSwitch need the fabric manager running"},
    {CUDA_ERROR_OPERATING_SYSTEM, "the operating system refused; are the modules nvidia and nvidia_uvm loaded, and is "
                                  "there enough address space (ulimit -v)?"},
    {CUDA_ERROR_UNKNOWN, "the driver does not start; are the modules nvidia and nvidia_uvm loaded?"},
};

static enum as_status cuda_no_device(struct as_error *err)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible && !visible[0])
        return as_fail(err, AS_UNSUPPORTED, "CUDA_VISIBLE_DEVICES is set and empty: no device is visible; unset it");
    if (visible)
        return as_fail(err, AS_UNSUPPORTED, "CUDA_VISIBLE_DEVICES is '%.64s', which makes no device visible; change it",
                       visible);
    return as_fail(err, AS_UNSUPPORTED, "%s", advice[0].words);
}

static enum as_status start_driver(struct as_cu_backend *b, struct as_error *err)
{
    CUresult code = b->api.cuInit(0);
    if (code == CUDA_SUCCESS)
        return AS_OK;
    if (code == CUDA_ERROR_NO_DEVICE)
        return cuda_no_device(err);
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (advice[i].code == code)
            return as_fail(err, AS_UNSUPPORTED, "cuInit returned %d: %s", code, advice[i].words);
    as_gpu_tell(&b->gpu, code, "cuInit", err);
    if (err)
        err->code = AS_UNSUPPORTED;
    return AS_UNSUPPORTED;
}

/* Orders by PCI address, regardless of CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER. */
static enum as_status cuda_find_devices(struct as_cu_backend *b, struct as_error *err)
{
    int n = 0;
    enum as_status st = as_gpu_tell(&b->gpu, b->api.cuDeviceGetCount(&n), "cuDeviceGetCount", err);
    if (st)
        return st;
    if (n <= 0)
        return cuda_no_device(err);
    for (int i = 0; i < n && b->gpu.found_n < AS_GPUS_MAX; i++) {
        struct as_gpu_found *f = &b->gpu.found[b->gpu.found_n];
        st = as_gpu_tell(&b->gpu, b->api.cuDeviceGet(&f->id, i), "cuDeviceGet", err);
        if (st)
            return st;
        as_cu_locate(&b->api, f);
        b->gpu.found_n++;
    }
    as_gpu_sort(&b->gpu);
    return AS_OK;
}

static void cuda_backend_close(void *backend)
{
    free(backend);
}

static enum as_status cuda_backend_open_device(void *backend, size_t index, struct as_device *out,
                                               struct as_error *err);

static const char *const collectives_files[] = {"libnccl.so.2", "libnccl.so"};
static const struct as_nccl_source collectives_source = {
    .name = "NCCL",
    .files = collectives_files,
    .files_n = sizeof collectives_files / sizeof *collectives_files,
    .remedy = "install NCCL (packages libnccl2, nvidia-nccl-cu13), or name its folder in LD_LIBRARY_PATH",
    .debugger = "NCCL_DEBUG",
};

static enum as_status cuda_backend_open(void **backend, struct as_error *err)
{
    struct as_cu_backend *b = calloc(1, sizeof *b);
    *backend = NULL;
    if (!b)
        return as_nomem(err, sizeof *b, "CUDA backend");
    enum as_status st = as_cu_load(&b->api, err);
    if (!st) {
        as_cu_bind(b);
        b->collectives.source = &collectives_source;
        b->gpu.collectives = &b->collectives;
        b->gpu.open_device = cuda_backend_open_device;
        st = start_driver(b, err);
    }
    if (!st)
        st = cuda_find_devices(b, err);
    if (st)
        cuda_backend_close(b);
    else
        *backend = b;
    return st;
}

static size_t cuda_backend_count(void *backend)
{
    return ((struct as_cu_backend *)backend)->gpu.found_n;
}

static void cuda_device_close(struct as_device *dev)
{
    struct as_gpu *gpu = dev->ctx;
    if (!gpu)
        return;
    as_nccl_close(dev);
    if (gpu->here.context) {
        as_gpu_close(gpu);
        gpu->api->release(gpu, &gpu->here);
    }
    as_cu_of(gpu)->cuCtxSetCurrent(NULL);
    free(gpu);
    dev->ctx = NULL;
}

static const struct as_device_ops device_ops = {
    .close = cuda_device_close,
    .alive = as_gpu_device_alive,
    .memory_free = as_gpu_memory_free,
    .clock = as_gpu_clock,
    .topology = as_gpu_topology,
};

static enum as_status create_context(struct as_gpu *gpu, size_t index, struct as_error *err)
{
    CUresult code = as_cu_of(gpu)->cuDevicePrimaryCtxRetain(&gpu->here.context, gpu->here.device);
    if (code)
        gpu->here.context = NULL;
    if (code == CUDA_ERROR_DEVICE_UNAVAILABLE)
        return as_fail(
            err, AS_UNSUPPORTED,
            "'cuda:%zu' is unavailable (%d): in exclusive use by another process, or its compute mode forbids "
            "access; nvidia-smi shows both",
            index, code);
    return as_gpu_tell(gpu->backend, code, "cuDevicePrimaryCtxRetain", err);
}

static enum as_status cuda_backend_open_device(void *backend, size_t index, struct as_device *out, struct as_error *err)
{
    struct as_cu_backend *b = backend;
    *out = (struct as_device){.device = &device_ops,
                              .memory = &as_gpu_memory_ops,
                              .program = &as_gpu_program_ops,
                              .queue = &as_gpu_queue_ops,
                              .gemm = &as_cu_gemm_ops,
                              .collective = &as_nccl_ops,
                              .team = &as_gpu_team_ops};
    enum as_status st = as_gpu_check_index(&b->gpu, index, err);
    if (st)
        return st;
    struct as_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return as_nomem(err, sizeof *gpu, "CUDA device");
    out->ctx = gpu;
    as_gpu_init(gpu, &b->gpu, index);
    as_cu_find_target(gpu);
    gpu->in_host_memory = as_cu_attribute(gpu, CU_DEVICE_ATTRIBUTE_INTEGRATED) > 0;
    st = create_context(gpu, index, err);
    if (!st)
        st = as_gpu_open(gpu, err);
    if (!st)
        st = as_cu_fill_info(out, index, err);
    if (st)
        cuda_device_close(out);
    else
        as_nccl_describe(out);
    return st;
}

/* NVRTC needs neither the driver nor a device. */
static enum as_status backend_open_compiler(const struct as_device_info *info, struct as_device *out,
                                            struct as_error *err)
{
    struct compiler {
        struct as_gpu gpu; /* first */
        struct as_cu_backend backend;
    } *c = calloc(1, sizeof *c);
    if (!c)
        return as_nomem(err, sizeof *c, "a compiler for CUDA devices");
    as_cu_bind(&c->backend);
    c->gpu.api = c->backend.gpu.api;
    c->gpu.backend = &c->backend.gpu;
    as_copy_text(c->gpu.target, sizeof c->gpu.target, info->arch);
    as_gpu_become_compiler(&c->gpu, info, out);
    return AS_OK;
}

static const struct as_vocabulary words = {.compute_unit = "SM",
                                           .workgroup = "block",
                                           .subgroup = "warp",
                                           .shared_memory = "shared memory",
                                           .queue = "stream"};

static const char *const environment[] = {"CUDA_MANAGED_FORCE_DEVICE_ALLOC", NULL};

static const char *const mpi_queries[] = {"MPIX_Query_cuda_support", NULL};

extern const struct as_backend as_backend_cuda;
const struct as_backend as_backend_cuda = {
    .abi = AS_DEVICE_ABI,
    .name = "cuda",
    .title = "CUDA, NVIDIA GPUs, by libcuda.so.1",
    .environment = environment,
    .mpi_queries = mpi_queries,
    .roles = as_cu_roles,
    .open = cuda_backend_open,
    .close = cuda_backend_close,
    .count = cuda_backend_count,
    .words = &words,
    .open_device = cuda_backend_open_device,
    .open_compiler = backend_open_compiler,
};
