/* The HIP backend: the runtime and its devices, opened and closed. */
#include "device/hip/hip.h"

#include "base/text.h"

#include <stdlib.h>

/* Environment variables that select devices, by priority. */
static const char *const choosers[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"};

static const char *const environment[] = {"HSA_XNACK", "HSA_ENABLE_SDMA", "HIP_HOST_COHERENT", NULL};

/* The runtime's own texts are not helpful. */
static enum as_status hip_no_device(hipError_t code, struct as_error *err)
{
    for (size_t i = 0; i < sizeof choosers / sizeof *choosers; i++) {
        const char *visible = getenv(choosers[i]);
        if (visible && !visible[0])
            return as_fail(err, AS_UNSUPPORTED, "%s is set and empty: no device is visible; unset it", choosers[i]);
        if (visible)
            return as_fail(err, AS_UNSUPPORTED, "%s is '%.64s', which makes no device visible; change it", choosers[i],
                           visible);
    }
    return as_fail(err, AS_UNSUPPORTED,
                   "the runtime finds no device (%d); give this user or container access to /dev/kfd and /dev/dri, and "
                   "load amdgpu",
                   code);
}

static enum as_status start_runtime(struct as_hip_backend *b, struct as_error *err)
{
    hipError_t code = b->api.hipInit(0);
    if (code == hipErrorNoDevice || code == hipErrorInvalidDevice)
        return hip_no_device(code, err);
    enum as_status st = as_gpu_tell(&b->gpu, code, "hipInit", err);
    if (st && err)
        err->code = AS_UNSUPPORTED;
    return st ? AS_UNSUPPORTED : AS_OK;
}

/* The environment decides the runtime's order; assay orders by PCI address. The partitions of one chip share an
 * address. */
static enum as_status hip_find_devices(struct as_hip_backend *b, struct as_error *err)
{
    int n = 0;
    hipError_t code = b->api.hipGetDeviceCount(&n);
    if (code == hipErrorNoDevice || code == hipErrorInvalidDevice || (!code && n <= 0))
        return hip_no_device(code, err);
    enum as_status st = as_gpu_tell(&b->gpu, code, "hipGetDeviceCount", err);
    for (int i = 0; i < n && b->gpu.found_n < AS_GPUS_MAX && !st; i++) {
        struct as_gpu_found *f = &b->gpu.found[b->gpu.found_n++];
        f->id = i;
        as_hip_locate(&b->api, f);
    }
    as_gpu_sort(&b->gpu);
    return st;
}

static void hip_backend_close(void *backend)
{
    free(backend);
}

static enum as_status hip_backend_open_device(void *backend, size_t index, struct as_device *out, struct as_error *err);

/* RCCL has NCCL's functions, and reads its environment. */
static const char *const collectives_files[] = {"librccl.so.1", "librccl.so", "/opt/rocm/lib/librccl.so.1"};
static const struct as_nccl_source collectives_source = {
    .name = "RCCL",
    .files = collectives_files,
    .files_n = sizeof collectives_files / sizeof *collectives_files,
    .remedy = "RCCL is a part of ROCm: install it, or name its folder in LD_LIBRARY_PATH",
    .debugger = "NCCL_DEBUG",
};

static enum as_status hip_backend_open(void **backend, struct as_error *err)
{
    struct as_hip_backend *b = calloc(1, sizeof *b);
    *backend = NULL;
    if (!b)
        return as_nomem(err, sizeof *b, "HIP backend");
    enum as_status st = as_hip_load(&b->api, err);
    if (!st) {
        as_hip_bind(b);
        b->collectives.source = &collectives_source;
        b->gpu.collectives = &b->collectives;
        b->gpu.open_device = hip_backend_open_device;
        st = start_runtime(b, err);
    }
    if (!st)
        st = hip_find_devices(b, err);
    if (st)
        hip_backend_close(b);
    else
        *backend = b;
    return st;
}

static size_t hip_backend_count(void *backend)
{
    return ((struct as_hip_backend *)backend)->gpu.found_n;
}

static void hip_device_close(struct as_device *dev)
{
    if (!dev->ctx)
        return;
    as_nccl_close(dev);
    as_gpu_close(dev->ctx);
    free(dev->ctx);
    dev->ctx = NULL;
}

static const struct as_device_ops device_ops = {
    .close = hip_device_close,
    .alive = as_gpu_device_alive,
    .memory_free = as_gpu_memory_free,
    .clock = as_gpu_clock,
    .topology = as_gpu_topology,
};

static enum as_status hip_backend_open_device(void *backend, size_t index, struct as_device *out, struct as_error *err)
{
    struct as_hip_backend *b = backend;
    *out = (struct as_device){.device = &device_ops,
                              .memory = &as_gpu_memory_ops,
                              .program = &as_gpu_program_ops,
                              .queue = &as_gpu_queue_ops,
                              .gemm = &as_hip_gemm_ops,
                              .collective = &as_nccl_ops,
                              .team = &as_gpu_team_ops};
    enum as_status st = as_gpu_check_index(&b->gpu, index, err);
    if (st)
        return st;
    struct as_hip_device *hip = calloc(1, sizeof *hip);
    if (!hip)
        return as_nomem(err, sizeof *hip, "HIP device");
    struct as_gpu *gpu = &hip->gpu;
    out->ctx = gpu;
    as_gpu_init(gpu, &b->gpu, index);
    as_hip_find_target(&b->api, gpu->here.device, &hip->target);
    as_copy_text(gpu->target, sizeof gpu->target, hip->target.name);
    gpu->keeps_pages = hip->target.xnack != AS_HIP_XNACK_ON; /* no page fault is replayed */
    gpu->in_host_memory = as_hip_count(&b->api, gpu->here.device, hipDeviceAttributeIntegrated) > 0;
    st = as_gpu_open(gpu, err);
    gpu->host_uses = !st && gpu->in_host_memory && as_gpu_host_reads(gpu);
    if (!st)
        st = as_hip_fill_info(out, index, err);
    if (st)
        hip_device_close(out);
    else
        as_nccl_describe(out);
    return st;
}

static const struct as_vocabulary words = {
    .compute_unit = "CU", .workgroup = "workgroup", .subgroup = "wavefront", .shared_memory = "LDS", .queue = "stream"};

/* Open MPI's, and MPICH's. */
static const char *const mpi_queries[] = {"MPIX_Query_rocm_support", "MPIX_Query_hip_support", NULL};

extern const struct as_backend as_backend_hip;
const struct as_backend as_backend_hip = {
    .abi = AS_DEVICE_ABI,
    .name = "hip",
    .title = "HIP, AMD GPUs, by libamdhip64",
    .environment = environment,
    .mpi_queries = mpi_queries,
    .roles = as_hip_roles,
    .open = hip_backend_open,
    .close = hip_backend_close,
    .count = hip_backend_count,
    .words = &words,
    .open_device = hip_backend_open_device,
};
