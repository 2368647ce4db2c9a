/* The CUDA driver as a table of common GPU operations: errors, functions, and its specifics. */
#include "device/cuda/cuda.h"

#include <stdlib.h>

static const struct as_gpu_status statuses[] = {
    {CUDA_ERROR_OUT_OF_MEMORY, AS_NOMEM},
    {CUDA_ERROR_NOT_SUPPORTED, AS_UNSUPPORTED},
    {CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, AS_UNSUPPORTED},
    {CUDA_ERROR_TOO_MANY_PEERS, AS_UNSUPPORTED},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, AS_UNSUPPORTED},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, AS_UNSUPPORTED},
    {CUDA_ERROR_NOT_PERMITTED, AS_UNSUPPORTED},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, AS_UNSUPPORTED},
    {0, AS_OK},
};

/* Sticky errors: all later calls fail with the same error; only a new process recovers. */
static const int sticky[] = {
    CUDA_ERROR_DEINITIALIZED,
    CUDA_ERROR_ECC_UNCORRECTABLE,
    CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUDA_ERROR_CONTAINED,
    CUDA_ERROR_ILLEGAL_ADDRESS,
    CUDA_ERROR_LAUNCH_TIMEOUT,
    CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUDA_ERROR_ASSERT,
    CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUDA_ERROR_MISALIGNED_ADDRESS,
    CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUDA_ERROR_INVALID_PC,
    CUDA_ERROR_LAUNCH_FAILED,
    CUDA_ERROR_MPS_CLIENT_TERMINATED,
    CUDA_ERROR_EXTERNAL_DEVICE,
    CUDA_ERROR_UNKNOWN,
    0,
};

static void cuda_driver_words(const struct as_gpu_backend *backend, int code, const char **name, const char **text)
{
    const struct as_cu_api *api = &((const struct as_cu_backend *)backend)->api;
    if (api->cuGetErrorName(code, name))
        *name = NULL;
    if (api->cuGetErrorString(code, text))
        *text = NULL;
}

/* ---- contexts ---- */

static int cuda_driver_enter(const struct as_gpu *gpu, const struct as_gpu_place *place)
{
    return as_cu_of(gpu)->cuCtxSetCurrent(place->context);
}

static enum as_status retain(struct as_gpu *gpu, struct as_gpu_place *place, struct as_error *err)
{
    CUresult code = as_cu_of(gpu)->cuDevicePrimaryCtxRetain(&place->context, place->device);
    if (code)
        place->context = NULL;
    return as_gpu_tell(gpu->backend, code, "cuDevicePrimaryCtxRetain", err);
}

static void cuda_driver_release(const struct as_gpu *gpu, struct as_gpu_place *place)
{
    if (place->context)
        as_cu_of(gpu)->cuDevicePrimaryCtxRelease_v2(place->device);
    place->context = NULL;
}

static int cuda_driver_enable_peer(const struct as_gpu *gpu, const struct as_gpu_place *place)
{
    return as_cu_of(gpu)->cuCtxEnablePeerAccess(place->context, 0);
}

/* ---- memory ---- */

static int cuda_driver_host_address(const struct as_gpu *gpu, void *host, unsigned long long *address)
{
    return as_cu_of(gpu)->cuMemHostGetDevicePointer_v2(address, host, 0);
}

static int cuda_driver_read_memory(const struct as_gpu *gpu, void *to, unsigned long long from, uint64_t bytes)
{
    return as_cu_of(gpu)->cuMemcpyDtoHAsync_v2(to, from, bytes, gpu->stream);
}

static int cuda_driver_write_memory(const struct as_gpu *gpu, unsigned long long to, const void *from, uint64_t bytes)
{
    return as_cu_of(gpu)->cuMemcpyHtoDAsync_v2(to, from, bytes, gpu->stream);
}

static int cuda_driver_copy(const struct as_gpu *gpu, unsigned long long to, unsigned long long from, uint64_t bytes,
                            struct as_gpu_stream *stream)
{
    return as_cu_of(gpu)->cuMemcpyAsync(to, from, bytes, stream);
}

/* ---- kernels ---- */

_Static_assert(sizeof(CUtensorMap) == AS_GPU_TENSOR_BYTES, "a launch has room for the driver's tensor map");

static enum as_status cuda_driver_make_tensor(const struct as_gpu *gpu, const struct as_tensor *t, void *out,
                                              struct as_error *err)
{
    static const CUtensorMapDataType types[] = {[1] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                                [2] = CU_TENSOR_MAP_DATA_TYPE_UINT16,
                                                [4] = CU_TENSOR_MAP_DATA_TYPE_UINT32,
                                                [8] = CU_TENSOR_MAP_DATA_TYPE_UINT64};
    const struct as_cu_api *api = as_cu_of(gpu);
    const cuuint64_t extents[] = {t->columns, t->rows}, strides[] = {t->columns * t->element_bytes};
    const cuuint32_t box[] = {t->box_columns, t->box_rows}, steps[] = {1, 1};
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    for (unsigned bytes = t->swizzle; bytes > 16; bytes /= 2)
        swizzle++;
    if (!api->cuTensorMapEncodeTiled)
        return as_fail(err, AS_UNSUPPORTED,
                       "cuda: this driver does not support tensors, which need driver 525 or later");
    if (as_cu_attribute(gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) < 9)
        return as_fail(err, AS_UNSUPPORTED, "cuda: tensor maps need sm_90 or later, and the device is %s", gpu->target);
    if (t->element_bytes > 8 || (t->element_bytes & (t->element_bytes - 1)) || swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
        return as_fail(err, AS_USAGE, "cuda: tensor maps do not support elements of %u bytes with a swizzle of %u",
                       t->element_bytes, t->swizzle);
    CUresult code = api->cuTensorMapEncodeTiled(out, types[t->element_bytes], 2, as_gpu_pointer(t->memory), extents,
                                                strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return as_gpu_tell(gpu->backend, code, "cuTensorMapEncodeTiled", err);
}

static enum as_status cuda_driver_instantiate(struct as_gpu *gpu, struct as_gpu_graph *graph,
                                              struct as_gpu_graph_exec **out, struct as_error *err)
{
    const struct as_cu_api *api = as_cu_of(gpu);
    enum as_status st = as_gpu_check(gpu, api->cuGraphInstantiateWithFlags(out, graph, 0), "cuGraphInstantiate", err);
    if (!st)
        st = as_gpu_check(gpu, api->cuGraphUpload(*out, gpu->stream), "cuGraphUpload", err);
    if (!st)
        st = AS_GPU_DO(gpu, err, stream_synchronize, gpu->stream);
    if (st && *out) {
        api->cuGraphExecDestroy(*out);
        *out = NULL;
    }
    return st;
}

static enum as_status cuda_driver_allow_shared(struct as_device *dev, struct as_kernel *kernel, size_t bytes,
                                               struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    if (bytes == 0)
        return AS_OK;
    if (bytes > dev->info.workgroup_shared)
        return as_fail(err, AS_UNSUPPORTED, "cuda: kernel '%s': %zu bytes of shared memory, and the device allows %llu",
                       kernel->name, bytes, (unsigned long long)dev->info.workgroup_shared);
    CUresult code = as_cu_of(gpu)->cuFuncSetAttribute(kernel->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                      (int)bytes);
    return as_gpu_check(gpu, code, kernel->name, err);
}

static enum as_status cuda_driver_find_compiler(struct as_gpu *gpu, int *major, int *minor, struct as_error *err)
{
    struct as_nvrtc_api *nvrtc = &((struct as_cu_backend *)gpu->backend)->nvrtc;
    enum as_status st = nvrtc->library ? AS_OK : as_nvrtc_load(nvrtc, err);
    *major = nvrtc->major;
    *minor = nvrtc->minor;
    return st;
}

static enum as_status cuda_driver_compile(struct as_gpu *gpu, const struct as_program_desc *desc, unsigned char **code,
                                          size_t *bytes, struct as_error *err)
{
    return as_cu_compile(&((struct as_cu_backend *)gpu->backend)->nvrtc, desc, gpu->target, code, bytes, err);
}

/* ---- the tables ---- */

/* suffix: version of the function, omitted in messages. */
#define BIND(slot, function, suffix) .slot = {api->function##suffix, #function}

static void cuda_driver_bind(const struct as_cu_api *api, struct as_gpu_functions *out)
{
    *out = (struct as_gpu_functions){
        BIND(synchronize, cuCtxSynchronize, ),
        BIND(can_access_peer, cuDeviceCanAccessPeer, ),
        BIND(peer_attribute, cuDeviceGetP2PAttribute, ),
        BIND(memory_info, cuMemGetInfo, _v2),
        BIND(host_alloc, cuMemHostAlloc, ),
        BIND(host_free, cuMemFreeHost, ),
        BIND(host_register, cuMemHostRegister, _v2),
        BIND(host_unregister, cuMemHostUnregister, ),
        BIND(stream_create, cuStreamCreate, ),
        BIND(stream_create_priority, cuStreamCreateWithPriority, ),
        BIND(stream_priorities, cuCtxGetStreamPriorityRange, ),
        BIND(stream_destroy, cuStreamDestroy, _v2),
        BIND(stream_synchronize, cuStreamSynchronize, ),
        BIND(stream_query, cuStreamQuery, ),
        BIND(stream_wait_event, cuStreamWaitEvent, ),
        BIND(capture_begin, cuStreamBeginCapture, _v2),
        BIND(capture_end, cuStreamEndCapture, ),
        BIND(graph_launch, cuGraphLaunch, ),
        BIND(graph_exec_destroy, cuGraphExecDestroy, ),
        BIND(graph_destroy, cuGraphDestroy, ),
        BIND(event_create, cuEventCreate, ),
        BIND(event_destroy, cuEventDestroy, _v2),
        BIND(event_record, cuEventRecord, ),
        BIND(event_synchronize, cuEventSynchronize, ),
        BIND(event_elapsed, cuEventElapsedTime, ),
        BIND(module_load, cuModuleLoadData, ),
        BIND(module_unload, cuModuleUnload, ),
        BIND(module_function, cuModuleGetFunction, ),
        BIND(function_attribute, cuFuncGetAttribute, ),
        BIND(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor, ),
        BIND(launch, cuLaunchKernel, ),
    };
}

static const struct as_gpu_api gpu_api = {
    .name = "cuda",
    .lost = "the context",
    .unit = "SM",
    .dialect = AS_DIALECT_CUDA,
    .statuses = statuses,
    .sticky = sticky,
    .not_ready = CUDA_ERROR_NOT_READY,
    .not_found = CUDA_ERROR_NOT_FOUND,
    .peer_already_enabled = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
    .capture_mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    .non_blocking = CU_STREAM_NON_BLOCKING,
    .blocking_event = CU_EVENT_BLOCKING_SYNC,
    .untimed_event = CU_EVENT_DISABLE_TIMING,
    .host_mapped = CU_MEMHOSTALLOC_DEVICEMAP,
    .register_mapped = CU_MEMHOSTREGISTER_DEVICEMAP,
    .peer = {.rank = CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK,
             .atomics = CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
             .arrays = CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED},
    .kernel = {.registers = CU_FUNC_ATTRIBUTE_NUM_REGS,
               .shared_bytes = CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
               .private_bytes = CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
               .max_threads = CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    .words = cuda_driver_words,
    .enter = cuda_driver_enter,
    .enter_name = "cuCtxSetCurrent",
    .retain = retain,
    .release = cuda_driver_release,
    .enable_peer = cuda_driver_enable_peer,
    .enable_peer_name = "cuCtxEnablePeerAccess",
    .host_address = cuda_driver_host_address,
    .host_address_name = "cuMemHostGetDevicePointer",
    .read = cuda_driver_read_memory,
    .read_name = "cuMemcpyDtoHAsync",
    .write = cuda_driver_write_memory,
    .write_name = "cuMemcpyHtoDAsync",
    .copy = cuda_driver_copy,
    .copy_name = "cuMemcpyAsync",
    .allocators = as_cu_allocators,
    .attributes = as_cu_attributes,
    .tensor = cuda_driver_make_tensor,
    .instantiate = cuda_driver_instantiate,
    .allow_shared = cuda_driver_allow_shared,
    .find_compiler = cuda_driver_find_compiler,
    .compile = cuda_driver_compile,
    .code_bytes = as_cubin_code_bytes,
    .count = as_cubin_count,
    .instructions = as_cubin_instructions,
};

void as_cu_bind(struct as_cu_backend *backend)
{
    backend->gpu.api = &gpu_api;
    cuda_driver_bind(&backend->api, &backend->gpu.functions);
}
