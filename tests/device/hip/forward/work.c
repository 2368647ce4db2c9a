/* Memory, streams, events, modules and launches: each is a call of the driver's counterpart. */
#include "forward.h"

SAME(hipMemAttachGlobal, CU_MEM_ATTACH_GLOBAL);
SAME(hipHostMallocMapped, CU_MEMHOSTALLOC_DEVICEMAP);
SAME(hipHostRegisterMapped, CU_MEMHOSTREGISTER_DEVICEMAP);
SAME(hipStreamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(hipStreamCaptureModeThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(hipEventBlockingSync, CU_EVENT_BLOCKING_SYNC);
SAME(hipEventDisableTiming, CU_EVENT_DISABLE_TIMING);
SAME(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(HIP_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_NUM_REGS);

/* Where the two differ in their names only. */
#define FORWARD(hip, parameters, cuda, ...)                                                                            \
    API hipError_t hip parameters                                                                                      \
    {                                                                                                                  \
        return forward_told(forward_cu.cuda(__VA_ARGS__));                                                             \
    }

/* ---- memory ---- */

FORWARD(hipMemGetInfo, (size_t * free, size_t *total), cuMemGetInfo_v2, free, total)
FORWARD(hipFree, (void *address), cuMemFree_v2, forward_address(address))
FORWARD(hipHostFree, (void *host), cuMemFreeHost, host)
FORWARD(hipHostRegister, (void *host, size_t bytes, unsigned int flags), cuMemHostRegister_v2, host, bytes, flags)
FORWARD(hipHostUnregister, (void *host), cuMemHostUnregister, host)

static hipError_t gave(CUresult code, const CUdeviceptr *from, void **to)
{
    if (!code)
        *to = (void *)(size_t)*from;
    return forward_told(code);
}

API hipError_t hipMalloc(void **address, size_t bytes)
{
    CUdeviceptr at = 0;
    return gave(forward_cu.cuMemAlloc_v2(&at, bytes), &at, address);
}

API hipError_t hipMallocManaged(void **address, size_t bytes, unsigned int flags)
{
    CUdeviceptr at = 0;
    return gave(forward_cu.cuMemAllocManaged(&at, bytes, flags), &at, address);
}

/* Fine-grained memory of the device: the driver has none. */
API hipError_t hipExtMallocWithFlags(void **address, size_t bytes, unsigned int flags)
{
    (void)address, (void)bytes, (void)flags;
    return hipErrorNotSupported;
}

/* Host memory is always coherent here. */
API hipError_t hipHostMalloc(void **host, size_t bytes, unsigned int flags)
{
    if (flags & hipHostMallocNonCoherent)
        return hipErrorNotSupported;
    return forward_told(forward_cu.cuMemHostAlloc(host, bytes, flags & ~(unsigned)hipHostMallocCoherent));
}

API hipError_t hipHostGetDevicePointer(void **address, void *host, unsigned int flags)
{
    CUdeviceptr at = 0;
    return gave(forward_cu.cuMemHostGetDevicePointer_v2(&at, host, flags), &at, address);
}

FORWARD(hipMemcpyHtoDAsync, (hipDeviceptr_t to, void *from, size_t bytes, hipStream_t stream), cuMemcpyHtoDAsync_v2,
        forward_address(to), from, bytes, stream)
FORWARD(hipMemcpyDtoHAsync, (void *to, hipDeviceptr_t from, size_t bytes, hipStream_t stream), cuMemcpyDtoHAsync_v2, to,
        forward_address(from), bytes, stream)

/* The driver knows by the addresses what kind of copy it is. */
API hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream)
{
    if (kind != hipMemcpyDefault)
        return hipErrorNotSupported;
    return forward_told(forward_cu.cuMemcpyAsync(forward_address(to), forward_address(from), bytes, stream));
}

/* ---- streams, events and graphs ---- */

API hipError_t hipDeviceSynchronize(void)
{
    return forward_told(forward_cu.cuCtxSynchronize());
}

FORWARD(hipStreamCreateWithFlags, (hipStream_t * stream, unsigned int flags), cuStreamCreate, stream, flags)
FORWARD(hipStreamCreateWithPriority, (hipStream_t * stream, unsigned int flags, int priority),
        cuStreamCreateWithPriority, stream, flags, priority)
FORWARD(hipDeviceGetStreamPriorityRange, (int *least, int *greatest), cuCtxGetStreamPriorityRange, least, greatest)
FORWARD(hipStreamDestroy, (hipStream_t stream), cuStreamDestroy_v2, stream)
FORWARD(hipStreamSynchronize, (hipStream_t stream), cuStreamSynchronize, stream)
FORWARD(hipStreamQuery, (hipStream_t stream), cuStreamQuery, stream)
FORWARD(hipStreamWaitEvent, (hipStream_t stream, hipEvent_t event, unsigned int flags), cuStreamWaitEvent, stream,
        event, flags)
FORWARD(hipStreamBeginCapture, (hipStream_t stream, hipStreamCaptureMode mode), cuStreamBeginCapture_v2, stream, mode)
FORWARD(hipStreamEndCapture, (hipStream_t stream, hipGraph_t *graph), cuStreamEndCapture, stream, graph)
FORWARD(hipEventCreateWithFlags, (hipEvent_t * event, unsigned int flags), cuEventCreate, event, flags)
FORWARD(hipEventDestroy, (hipEvent_t event), cuEventDestroy_v2, event)
FORWARD(hipEventRecord, (hipEvent_t event, hipStream_t stream), cuEventRecord, event, stream)
FORWARD(hipEventSynchronize, (hipEvent_t event), cuEventSynchronize, event)
FORWARD(hipEventElapsedTime, (float *milliseconds, hipEvent_t start, hipEvent_t end), cuEventElapsedTime, milliseconds,
        start, end)
FORWARD(hipGraphLaunch, (hipGraphExec_t exec, hipStream_t stream), cuGraphLaunch, exec, stream)
FORWARD(hipGraphExecDestroy, (hipGraphExec_t exec), cuGraphExecDestroy, exec)
FORWARD(hipGraphDestroy, (hipGraph_t graph), cuGraphDestroy, graph)

API hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *wrong, char *log,
                                   size_t log_bytes)
{
    (void)wrong, (void)log, (void)log_bytes;
    return forward_told(forward_cu.cuGraphInstantiateWithFlags(exec, graph, 0));
}

/* ---- modules and launches ---- */

FORWARD(hipModuleLoadData, (hipModule_t * module, const void *image), cuModuleLoadData, module, image)
FORWARD(hipModuleUnload, (hipModule_t module), cuModuleUnload, module)
FORWARD(hipModuleGetFunction, (hipFunction_t * function, hipModule_t module, const char *name), cuModuleGetFunction,
        function, module, name)
FORWARD(hipFuncGetAttribute, (int *value, hipFunction_attribute attribute, hipFunction_t function), cuFuncGetAttribute,
        value, attribute, function)

/* The runtime allows a group all that there is from the start, the driver what a kernel was allowed. */
static CUresult allow(hipFunction_t function, size_t dynamic_bytes)
{
    return dynamic_bytes ? forward_cu.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                         (int)dynamic_bytes)
                         : CUDA_SUCCESS;
}

API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t function, int block_size,
                                                                  size_t dynamic_bytes)
{
    CUresult code = allow(function, dynamic_bytes);
    if (!code)
        code = forward_cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, dynamic_bytes);
    return forward_told(code);
}

API hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                                     unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                     unsigned int block_z, unsigned int dynamic_bytes, hipStream_t stream,
                                     void **parameters, void **extra)
{
    CUresult code = allow(function, dynamic_bytes);
    if (!code)
        code = forward_cu.cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_bytes,
                                         stream, parameters, extra);
    return forward_told(code);
}
