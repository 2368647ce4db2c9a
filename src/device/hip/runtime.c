/* The HIP runtime as a table of common GPU operations: errors, functions, and its specifics. */
#include "device/hip/hip.h"

static const struct as_gpu_status statuses[] = {
    {hipErrorOutOfMemory, AS_NOMEM},
    {hipErrorNotSupported, AS_UNSUPPORTED},
    {hipErrorPeerAccessUnsupported, AS_UNSUPPORTED},
    {hipErrorLaunchOutOfResources, AS_UNSUPPORTED},
    {hipErrorNoBinaryForGpu, AS_UNSUPPORTED},
    {0, AS_OK},
};

/* Device faults are sticky; only a new process recovers. For many of them the runtime aborts the process. */
static const int sticky[] = {
    hipErrorDeinitialized,
    hipErrorECCNotCorrectable,
    hipErrorIllegalAddress,
    hipErrorLaunchTimeOut,
    hipErrorContextIsDestroyed,
    hipErrorAssert,
    hipErrorLaunchFailure,
    hipErrorUnknown,
    hipErrorRuntimeMemory,
    hipErrorRuntimeOther,
    0,
};

static void hip_runtime_words(const struct as_gpu_backend *backend, int code, const char **name, const char **text)
{
    const struct as_hip_api *api = &((const struct as_hip_backend *)backend)->api;
    *name = api->hipGetErrorName(code);
    *text = api->hipGetErrorString(code);
}

static int hip_runtime_enter(const struct as_gpu *gpu, const struct as_gpu_place *place)
{
    return as_hip_of(gpu)->hipSetDevice(place->device);
}

static int hip_runtime_enable_peer(const struct as_gpu *gpu, const struct as_gpu_place *place)
{
    return as_hip_of(gpu)->hipDeviceEnablePeerAccess(place->device, 0);
}

/* ---- memory ---- */

static int hip_runtime_host_address(const struct as_gpu *gpu, void *host, unsigned long long *address)
{
    void *got = NULL;
    hipError_t code = as_hip_of(gpu)->hipHostGetDevicePointer(&got, host, 0);
    *address = (uintptr_t)got;
    return code;
}

static int hip_runtime_read_memory(const struct as_gpu *gpu, void *to, unsigned long long from, uint64_t bytes)
{
    return as_hip_of(gpu)->hipMemcpyDtoHAsync(to, as_hip_pointer(from), bytes, gpu->stream);
}

/* The runtime only reads, but its declaration does not say so. */
static int hip_runtime_write_memory(const struct as_gpu *gpu, unsigned long long to, const void *from, uint64_t bytes)
{
    return as_hip_of(gpu)->hipMemcpyHtoDAsync(as_hip_pointer(to), (void *)(uintptr_t)from, bytes, gpu->stream);
}

static int hip_runtime_copy(const struct as_gpu *gpu, unsigned long long to, unsigned long long from, uint64_t bytes,
                            struct as_gpu_stream *stream)
{
    return as_hip_of(gpu)->hipMemcpyAsync(as_hip_pointer(to), as_hip_pointer(from), bytes, hipMemcpyDefault, stream);
}

/* ---- kernels ---- */

static enum as_status hip_runtime_instantiate(struct as_gpu *gpu, struct as_gpu_graph *graph,
                                              struct as_gpu_graph_exec **out, struct as_error *err)
{
    hipError_t code = as_hip_of(gpu)->hipGraphInstantiate(out, graph, NULL, NULL, 0);
    if (code)
        *out = NULL;
    return as_gpu_check(gpu, code, "hipGraphInstantiate", err);
}

/* A workgroup may use the maximum by default. */
static enum as_status hip_runtime_allow_shared(struct as_device *dev, struct as_kernel *kernel, size_t bytes,
                                               struct as_error *err)
{
    if (bytes <= dev->info.workgroup_shared)
        return AS_OK;
    return as_fail(err, AS_UNSUPPORTED, "hip: kernel '%s': %zu bytes of shared memory, and the device allows %llu",
                   kernel->name, bytes, (unsigned long long)dev->info.workgroup_shared);
}

static enum as_status hip_runtime_find_compiler(struct as_gpu *gpu, int *major, int *minor, struct as_error *err)
{
    struct as_hip_backend *b = (struct as_hip_backend *)gpu->backend;
    enum as_status st = b->rtc.library ? AS_OK : as_hiprtc_load(&b->rtc, b->api.library, err);
    *major = b->rtc.major;
    *minor = b->rtc.minor;
    return st;
}

static enum as_status hip_runtime_compile(struct as_gpu *gpu, const struct as_program_desc *desc, unsigned char **code,
                                          size_t *bytes, struct as_error *err)
{
    const struct as_hip_device *hip = (const struct as_hip_device *)gpu;
    return as_hip_compile(&((const struct as_hip_backend *)gpu->backend)->rtc, desc, &hip->target, code, bytes, err);
}

/* Some versions of the compiler return something other than a plain code object. */
static enum as_status code_bytes(const unsigned char *code, size_t bytes, const char *name, uint64_t *n,
                                 struct as_error *err)
{
    (void)err;
    if (as_hip_code_bytes(code, bytes, name, n, NULL))
        *n = 0;
    return AS_OK;
}

/* ---- the tables ---- */

#define BIND(slot, function) .slot = {api->function, #function}

static void hip_runtime_bind(const struct as_hip_api *api, struct as_gpu_functions *out)
{
    *out = (struct as_gpu_functions){
        BIND(synchronize, hipDeviceSynchronize),
        BIND(can_access_peer, hipDeviceCanAccessPeer),
        BIND(peer_attribute, hipDeviceGetP2PAttribute),
        BIND(memory_info, hipMemGetInfo),
        BIND(host_alloc, hipHostMalloc),
        BIND(host_free, hipHostFree),
        BIND(host_register, hipHostRegister),
        BIND(host_unregister, hipHostUnregister),
        BIND(stream_create, hipStreamCreateWithFlags),
        BIND(stream_create_priority, hipStreamCreateWithPriority),
        BIND(stream_priorities, hipDeviceGetStreamPriorityRange),
        BIND(stream_destroy, hipStreamDestroy),
        BIND(stream_synchronize, hipStreamSynchronize),
        BIND(stream_query, hipStreamQuery),
        BIND(stream_wait_event, hipStreamWaitEvent),
        BIND(capture_begin, hipStreamBeginCapture),
        BIND(capture_end, hipStreamEndCapture),
        BIND(graph_launch, hipGraphLaunch),
        BIND(graph_exec_destroy, hipGraphExecDestroy),
        BIND(graph_destroy, hipGraphDestroy),
        BIND(event_create, hipEventCreateWithFlags),
        BIND(event_destroy, hipEventDestroy),
        BIND(event_record, hipEventRecord),
        BIND(event_synchronize, hipEventSynchronize),
        BIND(event_elapsed, hipEventElapsedTime),
        BIND(module_load, hipModuleLoadData),
        BIND(module_unload, hipModuleUnload),
        BIND(module_function, hipModuleGetFunction),
        BIND(function_attribute, hipFuncGetAttribute),
        BIND(occupancy, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor),
        BIND(launch, hipModuleLaunchKernel),
    };
}

static const struct as_gpu_api gpu_api = {
    .name = "hip",
    .lost = "the device",
    .unit = "CU",
    .dialect = AS_DIALECT_HIP,
    .statuses = statuses,
    .sticky = sticky,
    .not_ready = hipErrorNotReady,
    .not_found = hipErrorNotFound,
    .peer_already_enabled = hipErrorPeerAccessAlreadyEnabled,
    .capture_mode = hipStreamCaptureModeThreadLocal,
    .non_blocking = hipStreamNonBlocking,
    .blocking_event = hipEventBlockingSync,
    .untimed_event = hipEventDisableTiming,
    .host_mapped = hipHostMallocMapped,
    .register_mapped = hipHostRegisterMapped,
    .peer = {.rank = hipDevP2PAttrPerformanceRank,
             .atomics = hipDevP2PAttrNativeAtomicSupported,
             .arrays = hipDevP2PAttrHipArrayAccessSupported},
    .kernel = {.registers = HIP_FUNC_ATTRIBUTE_NUM_REGS,
               .shared_bytes = HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
               .private_bytes = HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
               .max_threads = HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    .words = hip_runtime_words,
    .enter = hip_runtime_enter,
    .enter_name = "hipSetDevice",
    .enable_peer = hip_runtime_enable_peer,
    .enable_peer_name = "hipDeviceEnablePeerAccess",
    .host_address = hip_runtime_host_address,
    .host_address_name = "hipHostGetDevicePointer",
    .read = hip_runtime_read_memory,
    .read_name = "hipMemcpyDtoHAsync",
    .write = hip_runtime_write_memory,
    .write_name = "hipMemcpyHtoDAsync",
    .copy = hip_runtime_copy,
    .copy_name = "hipMemcpyAsync",
    .allocators = as_hip_allocators,
    .attributes = as_hip_attributes,
    .instantiate = hip_runtime_instantiate,
    .allow_shared = hip_runtime_allow_shared,
    .find_compiler = hip_runtime_find_compiler,
    .compile = hip_runtime_compile,
    .code_bytes = code_bytes,
    .count = as_hip_count_code,
    .instructions = as_hip_instructions,
};

void as_hip_bind(struct as_hip_backend *backend)
{
    backend->gpu.api = &gpu_api;
    hip_runtime_bind(&backend->api, &backend->gpu.functions);
}
