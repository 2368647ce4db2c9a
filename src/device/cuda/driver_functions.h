/* The functions of the CUDA driver and NVRTC in use, by exported name (an older
 * version of a function keeps its name, so that the suffix is part of it), with their parameters. */
#ifndef AS_DEVICE_CUDA_DRIVER_FUNCTIONS_H
#define AS_DEVICE_CUDA_DRIVER_FUNCTIONS_H

/* Every driver since 470 (CUDA 11.4) has these. All return CUresult. */
#define AS_CU_REQUIRED(X)                                                                                              \
    X(cuInit, (unsigned int flags))                                                                                    \
    X(cuDriverGetVersion, (int *version))                                                                              \
    X(cuGetErrorName, (CUresult error, const char **name))                                                             \
    X(cuGetErrorString, (CUresult error, const char **text))                                                           \
    X(cuDeviceGet, (CUdevice * device, int ordinal))                                                                   \
    X(cuDeviceGetCount, (int *count))                                                                                  \
    X(cuDeviceGetName, (char *name, int size, CUdevice device))                                                        \
    X(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device))                                                            \
    X(cuDeviceGetPCIBusId, (char *id, int size, CUdevice device))                                                      \
    X(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                                                          \
    X(cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device))                               \
    X(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer))                                               \
    X(cuDeviceGetP2PAttribute, (int *value, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer))          \
    X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                                \
    X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                                                 \
    X(cuCtxSetCurrent, (CUcontext context))                                                                            \
    X(cuCtxSynchronize, (void))                                                                                        \
    X(cuCtxEnablePeerAccess, (CUcontext peer, unsigned int flags))                                                     \
    X(cuMemGetInfo_v2, (size_t * free, size_t * total))                                                                \
    X(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                                                            \
    X(cuMemFree_v2, (CUdeviceptr address))                                                                             \
    X(cuMemAllocAsync, (CUdeviceptr * address, size_t bytes, CUstream stream))                                         \
    X(cuMemFreeAsync, (CUdeviceptr address, CUstream stream))                                                          \
    X(cuMemAllocManaged, (CUdeviceptr * address, size_t bytes, unsigned int flags))                                    \
    X(cuMemHostAlloc, (void **host, size_t bytes, unsigned int flags))                                                 \
    X(cuMemFreeHost, (void *host))                                                                                     \
    X(cuMemHostRegister_v2, (void *host, size_t bytes, unsigned int flags))                                            \
    X(cuMemHostUnregister, (void *host))                                                                               \
    X(cuMemHostGetDevicePointer_v2, (CUdeviceptr * address, void *host, unsigned int flags))                           \
    X(cuMemGetAllocationGranularity,                                                                                   \
      (size_t * granularity, const CUmemAllocationProp *property, CUmemAllocationGranularity_flags which))             \
    X(cuMemCreate, (CUmemGenericAllocationHandle * handle, size_t bytes, const CUmemAllocationProp *property,          \
                    unsigned long long flags))                                                                         \
    X(cuMemRelease, (CUmemGenericAllocationHandle handle))                                                             \
    X(cuMemAddressReserve,                                                                                             \
      (CUdeviceptr * address, size_t bytes, size_t alignment, CUdeviceptr wanted, unsigned long long flags))           \
    X(cuMemAddressFree, (CUdeviceptr address, size_t bytes))                                                           \
    X(cuMemMap, (CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,                \
                 unsigned long long flags))                                                                            \
    X(cuMemUnmap, (CUdeviceptr address, size_t bytes))                                                                 \
    X(cuMemSetAccess, (CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count))                \
    X(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                         \
    X(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                               \
    X(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                                \
    X(cuStreamCreate, (CUstream * stream, unsigned int flags))                                                         \
    X(cuStreamCreateWithPriority, (CUstream * stream, unsigned int flags, int priority))                               \
    X(cuCtxGetStreamPriorityRange, (int *least, int *greatest))                                                        \
    X(cuStreamDestroy_v2, (CUstream stream))                                                                           \
    X(cuStreamSynchronize, (CUstream stream))                                                                          \
    X(cuStreamQuery, (CUstream stream))                                                                                \
    X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags))                                         \
    X(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode))                                            \
    X(cuStreamEndCapture, (CUstream stream, CUgraph * graph))                                                          \
    X(cuEventCreate, (CUevent * event, unsigned int flags))                                                            \
    X(cuEventDestroy_v2, (CUevent event))                                                                              \
    X(cuEventRecord, (CUevent event, CUstream stream))                                                                 \
    X(cuEventSynchronize, (CUevent event))                                                                             \
    X(cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))                                           \
    X(cuModuleLoadData, (CUmodule * module, const void *image))                                                        \
    X(cuModuleUnload, (CUmodule module))                                                                               \
    X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))                                 \
    X(cuModuleGetGlobal_v2, (CUdeviceptr * address, size_t * bytes, CUmodule module, const char *name))                \
    X(cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function))                           \
    X(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value))                            \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                                     \
      (int *blocks, CUfunction function, int block_size, size_t dynamic_bytes))                                        \
    X(cuLaunchKernel, (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,             \
                       unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int dynamic_bytes,   \
                       CUstream stream, void **parameters, void **extra))                                              \
    X(cuGraphDestroy, (CUgraph graph))                                                                                 \
    X(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags))                      \
    X(cuGraphUpload, (CUgraphExec exec, CUstream stream))                                                              \
    X(cuGraphLaunch, (CUgraphExec exec, CUstream stream))                                                              \
    X(cuGraphExecDestroy, (CUgraphExec exec))

/* NULL if the driver is older than the function or has dropped it. */
#define AS_CU_OPTIONAL(X)                                                                                              \
    X(cuMemAdvise, (CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device))                          \
    X(cuMemAdvise_v2, (CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location))                \
    X(cuMemPrefetchAsync, (CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream))                       \
    X(cuMemPrefetchAsync_v2,                                                                                           \
      (CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags, CUstream stream))                \
    X(cuMemRangeGetAttribute,                                                                                          \
      (void *data, size_t size, CUmem_range_attribute attribute, CUdeviceptr address, size_t bytes))                   \
    X(cuTensorMapEncodeTiled,                                                                                          \
      (CUtensorMap * map, CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *extents,         \
       const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *steps, CUtensorMapInterleave interleave,    \
       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill))

/* Every NVRTC since 11.2 has these. All but one return nvrtcResult. */
#define AS_NVRTC_REQUIRED(X)                                                                                           \
    X(nvrtcResult, nvrtcVersion, (int *major, int *minor))                                                             \
    X(nvrtcResult, nvrtcGetNumSupportedArchs, (int *count))                                                            \
    X(nvrtcResult, nvrtcGetSupportedArchs, (int *archs))                                                               \
    X(nvrtcResult, nvrtcCreateProgram,                                                                                 \
      (nvrtcProgram * program, const char *source, const char *name, int headers_n, const char *const *headers,        \
       const char *const *header_names))                                                                               \
    X(nvrtcResult, nvrtcDestroyProgram, (nvrtcProgram * program))                                                      \
    X(nvrtcResult, nvrtcCompileProgram, (nvrtcProgram program, int options_n, const char *const *options))             \
    X(nvrtcResult, nvrtcGetCUBINSize, (nvrtcProgram program, size_t * bytes))                                          \
    X(nvrtcResult, nvrtcGetCUBIN, (nvrtcProgram program, char *cubin))                                                 \
    X(nvrtcResult, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t * bytes))                                     \
    X(nvrtcResult, nvrtcGetProgramLog, (nvrtcProgram program, char *log))                                              \
    X(const char *, nvrtcGetErrorString, (nvrtcResult code))

#endif
