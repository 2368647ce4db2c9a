/* The functions of the HIP runtime and hiprtc in use, by exported name, with their
 * parameters. */
#ifndef AS_DEVICE_HIP_HIP_FUNCTIONS_H
#define AS_DEVICE_HIP_HIP_FUNCTIONS_H

/* Every runtime since ROCm 5.2 has these. */
#define AS_HIP_REQUIRED(X)                                                                                             \
    X(hipError_t, hipInit, (unsigned int flags))                                                                       \
    X(hipError_t, hipRuntimeGetVersion, (int *version))                                                                \
    X(const char *, hipGetErrorName, (hipError_t error))                                                               \
    X(const char *, hipGetErrorString, (hipError_t error))                                                             \
    X(hipError_t, hipGetDeviceCount, (int *count))                                                                     \
    X(hipError_t, hipSetDevice, (int device))                                                                          \
    X(hipError_t, hipDeviceGetName, (char *name, int size, hipDevice_t device))                                        \
    X(hipError_t, hipDeviceGetUuid, (hipUUID * uuid, hipDevice_t device))                                              \
    X(hipError_t, hipDeviceGetPCIBusId, (char *id, int size, int device))                                              \
    X(hipError_t, hipDeviceTotalMem, (size_t * bytes, hipDevice_t device))                                             \
    X(hipError_t, hipDeviceGetAttribute, (int *value, hipDeviceAttribute_t attribute, int device))                     \
    X(hipError_t, hipDeviceCanAccessPeer, (int *can, int device, int peer))                                            \
    X(hipError_t, hipDeviceGetP2PAttribute, (int *value, hipDeviceP2PAttr attribute, int device, int peer))            \
    X(hipError_t, hipDeviceEnablePeerAccess, (int peer, unsigned int flags))                                           \
    X(hipError_t, hipDeviceSynchronize, (void))                                                                        \
    X(hipError_t, hipMemGetInfo, (size_t * free, size_t * total))                                                      \
    X(hipError_t, hipMalloc, (void **address, size_t bytes))                                                           \
    X(hipError_t, hipExtMallocWithFlags, (void **address, size_t bytes, unsigned int flags))                           \
    X(hipError_t, hipMallocManaged, (void **address, size_t bytes, unsigned int flags))                                \
    X(hipError_t, hipFree, (void *address))                                                                            \
    X(hipError_t, hipHostMalloc, (void **host, size_t bytes, unsigned int flags))                                      \
    X(hipError_t, hipHostFree, (void *host))                                                                           \
    X(hipError_t, hipHostRegister, (void *host, size_t bytes, unsigned int flags))                                     \
    X(hipError_t, hipHostUnregister, (void *host))                                                                     \
    X(hipError_t, hipHostGetDevicePointer, (void **address, void *host, unsigned int flags))                           \
    X(hipError_t, hipMemcpyHtoDAsync, (hipDeviceptr_t to, void *from, size_t bytes, hipStream_t stream))               \
    X(hipError_t, hipMemcpyDtoHAsync, (void *to, hipDeviceptr_t from, size_t bytes, hipStream_t stream))               \
    X(hipError_t, hipMemcpyAsync, (void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream))  \
    X(hipError_t, hipStreamCreateWithFlags, (hipStream_t * stream, unsigned int flags))                                \
    X(hipError_t, hipStreamCreateWithPriority, (hipStream_t * stream, unsigned int flags, int priority))               \
    X(hipError_t, hipDeviceGetStreamPriorityRange, (int *least, int *greatest))                                        \
    X(hipError_t, hipStreamDestroy, (hipStream_t stream))                                                              \
    X(hipError_t, hipStreamSynchronize, (hipStream_t stream))                                                          \
    X(hipError_t, hipStreamQuery, (hipStream_t stream))                                                                \
    X(hipError_t, hipStreamWaitEvent, (hipStream_t stream, hipEvent_t event, unsigned int flags))                      \
    X(hipError_t, hipStreamBeginCapture, (hipStream_t stream, hipStreamCaptureMode mode))                              \
    X(hipError_t, hipStreamEndCapture, (hipStream_t stream, hipGraph_t * graph))                                       \
    X(hipError_t, hipEventCreateWithFlags, (hipEvent_t * event, unsigned int flags))                                   \
    X(hipError_t, hipEventDestroy, (hipEvent_t event))                                                                 \
    X(hipError_t, hipEventRecord, (hipEvent_t event, hipStream_t stream))                                              \
    X(hipError_t, hipEventSynchronize, (hipEvent_t event))                                                             \
    X(hipError_t, hipEventElapsedTime, (float *milliseconds, hipEvent_t start, hipEvent_t end))                        \
    X(hipError_t, hipModuleLoadData, (hipModule_t * module, const void *image))                                        \
    X(hipError_t, hipModuleUnload, (hipModule_t module))                                                               \
    X(hipError_t, hipModuleGetFunction, (hipFunction_t * function, hipModule_t module, const char *name))              \
    X(hipError_t, hipFuncGetAttribute, (int *value, hipFunction_attribute attribute, hipFunction_t function))          \
    X(hipError_t, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,                                                  \
      (int *blocks, hipFunction_t function, int block_size, size_t dynamic_bytes))                                     \
    X(hipError_t, hipModuleLaunchKernel,                                                                               \
      (hipFunction_t function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,    \
       unsigned int block_y, unsigned int block_z, unsigned int dynamic_bytes, hipStream_t stream, void **parameters,  \
       void **extra))                                                                                                  \
    X(hipError_t, hipGraphInstantiate,                                                                                 \
      (hipGraphExec_t * exec, hipGraph_t graph, hipGraphNode_t * wrong, char *log, size_t log_bytes))                  \
    X(hipError_t, hipGraphLaunch, (hipGraphExec_t exec, hipStream_t stream))                                           \
    X(hipError_t, hipGraphExecDestroy, (hipGraphExec_t exec))                                                          \
    X(hipError_t, hipGraphDestroy, (hipGraph_t graph))

/* NULL if the runtime lacks the function. Those of the properties fill different structs. */
#define AS_HIP_OPTIONAL(X)                                                                                             \
    X(hipError_t, hipGetDeviceProperties, (struct hipDeviceProp_t * properties, int device))                           \
    X(hipError_t, hipMallocAsync, (void **address, size_t bytes, hipStream_t stream))                                  \
    X(hipError_t, hipFreeAsync, (void *address, hipStream_t stream))                                                   \
    X(hipError_t, hipMemPrefetchAsync, (const void *address, size_t bytes, int device, hipStream_t stream))            \
    X(hipError_t, hipMemAdvise, (const void *address, size_t bytes, hipMemoryAdvise advice, int device))               \
    X(hipError_t, hipMemRangeGetAttribute,                                                                             \
      (void *data, size_t size, hipMemRangeAttribute attribute, const void *address, size_t bytes))                    \
    X(hipError_t, hipMemGetAllocationGranularity,                                                                      \
      (size_t * granularity, const hipMemAllocationProp *property, hipMemAllocationGranularity_flags which))           \
    X(hipError_t, hipMemCreate,                                                                                        \
      (hipMemGenericAllocationHandle_t * handle, size_t bytes, const hipMemAllocationProp *property,                   \
       unsigned long long flags))                                                                                      \
    X(hipError_t, hipMemRelease, (hipMemGenericAllocationHandle_t handle))                                             \
    X(hipError_t, hipMemAddressReserve,                                                                                \
      (void **address, size_t bytes, size_t alignment, void *wanted, unsigned long long flags))                        \
    X(hipError_t, hipMemAddressFree, (void *address, size_t bytes))                                                    \
    X(hipError_t, hipMemMap,                                                                                           \
      (void *address, size_t bytes, size_t offset, hipMemGenericAllocationHandle_t handle, unsigned long long flags))  \
    X(hipError_t, hipMemUnmap, (void *address, size_t bytes))                                                          \
    X(hipError_t, hipMemSetAccess, (void *address, size_t bytes, const hipMemAccessDesc *access, size_t count))

/* Not in the headers that the test compares with. */
#define AS_HIP_NEWER(X) X(hipError_t, hipGetDevicePropertiesR0600, (struct hipDeviceProp_t * properties, int device))

#define AS_HIPRTC_REQUIRED(X)                                                                                          \
    X(hiprtcResult, hiprtcVersion, (int *major, int *minor))                                                           \
    X(hiprtcResult, hiprtcCreateProgram,                                                                               \
      (hiprtcProgram * program, const char *source, const char *name, int headers_n, const char **headers,             \
       const char **header_names))                                                                                     \
    X(hiprtcResult, hiprtcDestroyProgram, (hiprtcProgram * program))                                                   \
    X(hiprtcResult, hiprtcCompileProgram, (hiprtcProgram program, int options_n, const char **options))                \
    X(hiprtcResult, hiprtcGetCodeSize, (hiprtcProgram program, size_t * bytes))                                        \
    X(hiprtcResult, hiprtcGetCode, (hiprtcProgram program, char *code))                                                \
    X(hiprtcResult, hiprtcGetProgramLogSize, (hiprtcProgram program, size_t * bytes))                                  \
    X(hiprtcResult, hiprtcGetProgramLog, (hiprtcProgram program, char *log))                                           \
    X(const char *, hiprtcGetErrorString, (hiprtcResult code))

#endif
