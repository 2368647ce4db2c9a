/* The types and constants of the HIP runtime and hiprtc in use, with the names, sizes and values of the
 * libraries' ABI, so that no SDK is needed to build. A test compares each with the libraries'
 * headers if those are installed; newer ones are at the end. */
#ifndef AS_DEVICE_HIP_HIP_TYPES_H
#define AS_DEVICE_HIP_HIP_TYPES_H

#include "device/gpu/handles.h"

#include <stddef.h>

/* The API's enums are int in its ABI. */
typedef int hipError_t;
typedef int hipDevice_t;
typedef int hipDeviceAttribute_t;
typedef int hipDeviceP2PAttr;
typedef int hipFunction_attribute;
typedef int hipStreamCaptureMode;
typedef int hipMemcpyKind;
typedef int hipMemoryAdvise;
typedef int hipMemRangeAttribute;
typedef int hipMemLocationType;
typedef int hipMemAllocationType;
typedef int hipMemAllocationHandleType;
typedef int hipMemAllocationGranularity_flags;
typedef int hipMemAccessFlags;
typedef int hiprtcResult;

typedef void *hipDeviceptr_t;
typedef struct as_gpu_module *hipModule_t;
typedef struct as_gpu_function *hipFunction_t;
typedef struct as_gpu_stream *hipStream_t;
typedef struct as_gpu_event *hipEvent_t;
typedef struct as_gpu_graph *hipGraph_t;
typedef struct hipGraphNode *hipGraphNode_t;
typedef struct as_gpu_graph_exec *hipGraphExec_t;
typedef struct as_gpu_compilation *hiprtcProgram;

typedef struct hipUUID_t {
    char bytes[16];
} hipUUID;

typedef struct ihipMemGenericAllocationHandle *hipMemGenericAllocationHandle_t;

typedef struct hipMemLocation {
    hipMemLocationType type;
    int id;
} hipMemLocation;

/* As runtimes have it that report hipDeviceAttributeVirtualMemoryManagementSupported; before, the order was another. */
typedef struct hipMemAllocationProp {
    hipMemAllocationType type;
    hipMemAllocationHandleType requestedHandleType;
    hipMemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType;
        unsigned char gpuDirectRDMACapable;
        unsigned short usage;
    } allocFlags;
} hipMemAllocationProp;

typedef struct hipMemAccessDesc {
    hipMemLocation location;
    hipMemAccessFlags flags;
} hipMemAccessDesc;

/* Filled by the runtime and read only in target.c. */
struct hipDeviceProp_t;

enum {
    hipSuccess = 0,
    hipErrorInvalidValue = 1,
    hipErrorOutOfMemory = 2,
    hipErrorNotInitialized = 3,
    hipErrorDeinitialized = 4,
    hipErrorInsufficientDriver = 35,
    hipErrorNoDevice = 100,
    hipErrorInvalidDevice = 101,
    hipErrorInvalidImage = 200,
    hipErrorInvalidContext = 201,
    hipErrorNoBinaryForGpu = 209,
    hipErrorECCNotCorrectable = 214,
    hipErrorPeerAccessUnsupported = 217,
    hipErrorOperatingSystem = 304,
    hipErrorInvalidHandle = 400,
    hipErrorNotFound = 500,
    hipErrorNotReady = 600,
    hipErrorIllegalAddress = 700,
    hipErrorLaunchOutOfResources = 701,
    hipErrorLaunchTimeOut = 702,
    hipErrorPeerAccessAlreadyEnabled = 704,
    hipErrorContextIsDestroyed = 709,
    hipErrorAssert = 710,
    hipErrorLaunchFailure = 719,
    hipErrorNotSupported = 801,
    hipErrorUnknown = 999,
    hipErrorRuntimeMemory = 1052,
    hipErrorRuntimeOther = 1053,
};

enum {
    hipDeviceAttributeCanMapHostMemory = 3,
    hipDeviceAttributeClockRate = 5,
    hipDeviceAttributeConcurrentManagedAccess = 9,
    hipDeviceAttributeHostNativeAtomicSupported = 15,
    hipDeviceAttributeIntegrated = 16,
    hipDeviceAttributeL2CacheSize = 19,
    hipDeviceAttributeManagedMemory = 24,
    hipDeviceAttributeMaxThreadsPerBlock = 56,
    hipDeviceAttributeMaxThreadsPerMultiProcessor = 57,
    hipDeviceAttributeMemoryBusWidth = 59,
    hipDeviceAttributeMemoryClockRate = 60,
    hipDeviceAttributeMultiprocessorCount = 63,
    hipDeviceAttributePageableMemoryAccess = 65,
    hipDeviceAttributePciBusId = 67,
    hipDeviceAttributePciDeviceId = 68,
    hipDeviceAttributePciDomainID = 69,
    hipDeviceAttributeMaxRegistersPerBlock = 71,
    hipDeviceAttributeMaxSharedMemoryPerBlock = 74,
    hipDeviceAttributeWarpSize = 87,
    hipDeviceAttributeMemoryPoolsSupported = 88,
    hipDeviceAttributeMaxSharedMemoryPerMultiprocessor = 10002,
    hipDeviceAttributeFineGrainSupport = 10016,
};

enum {
    hipDevP2PAttrPerformanceRank = 0,
    hipDevP2PAttrAccessSupported = 1,
    hipDevP2PAttrNativeAtomicSupported = 2,
    hipDevP2PAttrHipArrayAccessSupported = 3,
};

enum {
    HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
};

enum {
    hipStreamNonBlocking = 1,
    hipStreamCaptureModeThreadLocal = 1,
    hipEventBlockingSync = 1,
    hipEventDisableTiming = 2,
    hipMemAttachGlobal = 1,
    hipMemAdviseSetReadMostly = 1,
    hipMemAdviseSetPreferredLocation = 3,
    hipMemAdviseSetAccessedBy = 5,
    hipMemAdviseSetCoarseGrain = 100,

    hipMemRangeAttributeReadMostly = 1,
    hipMemRangeAttributePreferredLocation = 2,
    hipMemRangeAttributeAccessedBy = 3,
    hipMemRangeAttributeLastPrefetchLocation = 4,
    hipMemRangeAttributeCoherencyMode = 100,
    hipMemRangeCoherencyModeFineGrain = 0,
    hipMemRangeCoherencyModeCoarseGrain = 1,
    hipMemLocationTypeDevice = 1,
    hipMemAllocationTypePinned = 1,
    hipMemAccessFlagsProtReadWrite = 3,
    hipMemAllocationGranularityMinimum = 0,
    hipMemcpyDefault = 4,
    hipHostMallocPortable = 1,
    hipHostMallocMapped = 2,
    hipHostMallocCoherent = 0x40000000,
    hipHostRegisterMapped = 2,
    hipDeviceMallocFinegrained = 1,
};
#define hipHostMallocNonCoherent 0x80000000u
#define hipCpuDeviceId (-1)
#define hipInvalidDeviceId (-2)

enum { HIPRTC_SUCCESS = 0, HIPRTC_ERROR_OUT_OF_MEMORY = 1 };

/* Not in the headers that the test compares with. */
enum { hipDeviceAttributeVirtualMemoryManagementSupported = 89, hipDeviceAttributeWallClockRate = 10017 };
/* Offset of the target's name in the structs of hipGetDeviceProperties and hipGetDevicePropertiesR0600. */
enum { AS_HIP_TARGET_AT = 396, AS_HIP_TARGET_AT_R0600 = 1160, AS_HIP_TARGET_BYTES = 256 };

#endif
