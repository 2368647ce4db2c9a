/* Start, errors and devices. */
#include "forward.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES_MAX = 64, PROPERTIES_BYTES = 1472, NANOSECONDS_KHZ = 1000000, NAME_MAX_BYTES = 256 };

struct as_cu_api forward_cu;

static struct as_error no_driver;
static bool has_driver;
static _Atomic(CUcontext) contexts[DEVICES_MAX]; /* of the devices used so far, for as long as the process lives */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- errors ---- */

SAME(hipErrorInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(hipErrorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(hipErrorDeinitialized, CUDA_ERROR_DEINITIALIZED);
SAME(hipErrorNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(hipErrorInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME(hipErrorNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(hipErrorECCNotCorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
SAME(hipErrorPeerAccessUnsupported, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
SAME(hipErrorNotFound, CUDA_ERROR_NOT_FOUND);
SAME(hipErrorNotReady, CUDA_ERROR_NOT_READY);
SAME(hipErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(hipErrorLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME(hipErrorLaunchTimeOut, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(hipErrorPeerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
SAME(hipErrorContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(hipErrorAssert, CUDA_ERROR_ASSERT);
SAME(hipErrorLaunchFailure, CUDA_ERROR_LAUNCH_FAILED);
SAME(hipErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME(hipErrorUnknown, CUDA_ERROR_UNKNOWN);

/* What the runtime has no word for, and after which nothing more can be done either. */
static const struct {
    CUresult cuda;
    hipError_t hip;
} others[] = {
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, hipErrorECCNotCorrectable},
    {CUDA_ERROR_CONTAINED, hipErrorECCNotCorrectable},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, hipErrorLaunchFailure},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, hipErrorLaunchFailure},
    {CUDA_ERROR_MISALIGNED_ADDRESS, hipErrorLaunchFailure},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, hipErrorLaunchFailure},
    {CUDA_ERROR_INVALID_PC, hipErrorLaunchFailure},
    {CUDA_ERROR_MPS_CLIENT_TERMINATED, hipErrorContextIsDestroyed},
    {CUDA_ERROR_EXTERNAL_DEVICE, hipErrorUnknown},
};

hipError_t forward_told(CUresult code)
{
    for (size_t i = 0; code && i < sizeof others / sizeof *others; i++)
        if (others[i].cuda == code)
            return others[i].hip;
    return code;
}

API const char *hipGetErrorName(hipError_t error)
{
    const char *name = NULL;
    if (!has_driver)
        return "hipErrorInsufficientDriver";
    return forward_cu.cuGetErrorName(error, &name) ? NULL : name;
}

API const char *hipGetErrorString(hipError_t error)
{
    const char *text = NULL;
    if (!has_driver)
        return no_driver.text;
    return forward_cu.cuGetErrorString(error, &text) ? NULL : text;
}

/* ---- start ---- */

static void load(void)
{
    has_driver = as_cu_load(&forward_cu, &no_driver) == AS_OK;
}

API hipError_t hipInit(unsigned int flags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return has_driver ? forward_told(forward_cu.cuInit(flags)) : hipErrorInsufficientDriver;
}

/* 0.0: there is no such runtime. Behind it stands the driver's version. */
API hipError_t hipRuntimeGetVersion(int *version)
{
    return forward_told(forward_cu.cuDriverGetVersion(version));
}

/* ---- devices ---- */

API hipError_t hipGetDeviceCount(int *count)
{
    return forward_told(forward_cu.cuDeviceGetCount(count));
}

static CUresult device_of(int ordinal, CUdevice *device)
{
    return ordinal >= 0 && ordinal < DEVICES_MAX ? forward_cu.cuDeviceGet(device, ordinal) : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult context_of(int ordinal, CUcontext *context)
{
    CUdevice device;
    if (ordinal >= 0 && ordinal < DEVICES_MAX && (*context = contexts[ordinal]))
        return CUDA_SUCCESS;
    CUresult code = device_of(ordinal, &device);
    if (code)
        return code;
    pthread_mutex_lock(&lock);
    *context = contexts[ordinal];
    if (!*context)
        code = forward_cu.cuDevicePrimaryCtxRetain(context, device);
    if (!code)
        contexts[ordinal] = *context;
    pthread_mutex_unlock(&lock);
    return code;
}

API hipError_t hipSetDevice(int device)
{
    CUcontext context;
    CUresult code = context_of(device, &context);
    return forward_told(code ? code : forward_cu.cuCtxSetCurrent(context));
}

API hipError_t hipDeviceGetName(char *name, int size, hipDevice_t device)
{
    CUdevice d;
    char own[NAME_MAX_BYTES] = "";
    CUresult code = device_of(device, &d);
    if (!code)
        code = forward_cu.cuDeviceGetName(own, sizeof own, d);
    own[sizeof own - 1] = 0;
    if (!code)
        snprintf(name, (size_t)size, "HIP forwarded to CUDA: %s", own);
    return forward_told(code);
}

API hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device)
{
    CUdevice d;
    CUuuid own;
    CUresult code = device_of(device, &d);
    if (!code)
        code = forward_cu.cuDeviceGetUuid_v2(&own, d);
    if (!code)
        memcpy(uuid->bytes, own.bytes, sizeof uuid->bytes);
    return forward_told(code);
}

API hipError_t hipDeviceGetPCIBusId(char *id, int size, int device)
{
    CUdevice d;
    CUresult code = device_of(device, &d);
    return forward_told(code ? code : forward_cu.cuDeviceGetPCIBusId(id, size, d));
}

API hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device)
{
    CUdevice d;
    CUresult code = device_of(device, &d);
    return forward_told(code ? code : forward_cu.cuDeviceTotalMem_v2(bytes, d));
}

/* A group may have as much shared memory as the driver gives it when it is asked; see launches. */
static const struct {
    hipDeviceAttribute_t hip;
    CUdevice_attribute cuda;
} attributes[] = {
    {hipDeviceAttributeCanMapHostMemory, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
    {hipDeviceAttributeClockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    {hipDeviceAttributeConcurrentManagedAccess, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
    {hipDeviceAttributeHostNativeAtomicSupported, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED},
    {hipDeviceAttributeIntegrated, CU_DEVICE_ATTRIBUTE_INTEGRATED},
    {hipDeviceAttributeL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {hipDeviceAttributeManagedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
    {hipDeviceAttributeMaxSharedMemoryPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {hipDeviceAttributeMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {hipDeviceAttributeMaxThreadsPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {hipDeviceAttributeMemoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {hipDeviceAttributeMemoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
    {hipDeviceAttributeMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {hipDeviceAttributePageableMemoryAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
    {hipDeviceAttributePciBusId, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
    {hipDeviceAttributePciDeviceId, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID},
    {hipDeviceAttributePciDomainID, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID},
    {hipDeviceAttributeWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
};

/* The counter that NANOS() reads counts nanoseconds. */
API hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device)
{
    CUdevice d;
    CUresult code = device_of(device, &d);
    *value = attribute == hipDeviceAttributeWallClockRate ? NANOSECONDS_KHZ : 0;
    if (code || attribute == hipDeviceAttributeWallClockRate || attribute == hipDeviceAttributeFineGrainSupport)
        return forward_told(code);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].hip == attribute)
            return forward_told(forward_cu.cuDeviceGetAttribute(value, attributes[i].cuda, d));
    return hipErrorInvalidValue;
}

/* The name, and the target: "gfx9c90:xnack+" is sm_90 with pages that come when a kernel asks for them. */
API hipError_t hipGetDevicePropertiesR0600(struct hipDeviceProp_t *properties, int device)
{
    char *bytes = (char *)(void *)properties;
    int major = 0, minor = 0, on_demand = 0;
    CUdevice d;
    CUresult code = device_of(device, &d);
    memset(bytes, 0, PROPERTIES_BYTES);
    if (!code)
        code = forward_cu.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d);
    if (!code)
        code = forward_cu.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d);
    if (!code)
        code = forward_cu.cuDeviceGetAttribute(&on_demand, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, d);
    if (code)
        return forward_told(code);
    snprintf(bytes + AS_HIP_TARGET_AT_R0600, AS_HIP_TARGET_BYTES, FORWARD_CHIP "%d%d:xnack%c", major, minor,
             on_demand > 0 ? '+' : '-');
    return hipDeviceGetName(bytes, NAME_MAX_BYTES, device);
}

API hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer)
{
    CUdevice from, to;
    CUresult code = device_of(device, &from);
    if (!code)
        code = device_of(peer, &to);
    return forward_told(code ? code : forward_cu.cuDeviceCanAccessPeer(can, from, to));
}

API hipError_t hipDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    CUcontext context;
    CUresult code = context_of(peer, &context);
    return forward_told(code ? code : forward_cu.cuCtxEnablePeerAccess(context, flags));
}
