/* A libcuda.so.1 for tests: three devices in scrambled PCI order that say hostile things, with host memory behind their
 * addresses, and errors on demand. It is stricter than the real one: what needs a context needs the right one, and what
 * was not given back is counted.
 * FAKE_CUDA in the environment is a list of words:
 *   none       cuInit finds no device       zero      cuInit works, but there are no devices
 *   mismatch   kernel and library differ    nameless  an error code that nobody knows
 *   busy       no context can be made       nomem     no memory of any kind
 *   fault      the next wait ends with an illegal address, and the context is lost
 *   nopeer     no device reaches another    peererror peer access cannot be switched on
 *   plain      attributes of everything newer than plain memory are 0
 *   grace      kernels read the page tables of the host, which reaches managed memory on the device; the memory of each
 *              device is a memory node of the host, numbered from 1 in PCI order
 *   uvm        kernels reach no memory of malloc
 *   apart      the host has no memory where that of the device is
 *   noaccess   mapped memory cannot be made accessible
 *   runs       any module is taken; see launch.c for what its kernels do
 *   fail=N     the N-th call that works in a context fails once with CUDA_ERROR_NOT_SUPPORTED; see driver_base.c
 * FAKE_CUDA_STATIC is the size of the only variable of every module. Built with FAKE_OLD it has only those advice
 * functions that old drivers have. What is not here is in memory.c, launch.c and absent.c. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

static const size_t total_bytes = (size_t)141 << 30, free_bytes = (size_t)139 << 30;

static struct as_gpu_context contexts[DEVICES] = {{.device = 0}, {.device = 1}, {.device = 2}};
const char fake_words[] = "FAKE_CUDA", fake_visible[] = "CUDA_VISIBLE_DEVICES";
__thread CUcontext fake_current;

void fake_forget(void)
{
    while (fake_modules) {
        struct as_gpu_module *next = fake_modules->next;
        free(fake_modules);
        fake_modules = next;
    }
}

CUresult fake_entered(const char *what)
{
    if (!fake_current || !fake_current->retained)
        return fake_broke(what, CUDA_ERROR_INVALID_CONTEXT);
    if (fake_fails(what))
        return CUDA_ERROR_NOT_SUPPORTED;
    return fake_current->lost ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

/* ---- start ---- */

API CUresult cuInit(unsigned int flags)
{
    if (fake_asked("mismatch"))
        return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    if (fake_asked("nameless"))
        return 31337;
    if (fake_asked("none") || (fake_devices() == 0 && !fake_asked("zero")))
        return CUDA_ERROR_NO_DEVICE;
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

API CUresult cuDriverGetVersion(int *version)
{
    *version = 13000;
    return CUDA_SUCCESS;
}

API CUresult cuGetErrorName(CUresult error, const char **name)
{
    *name = error == CUDA_ERROR_OUT_OF_MEMORY        ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == CUDA_ERROR_ILLEGAL_ADDRESS    ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == CUDA_ERROR_DEVICE_UNAVAILABLE ? "CUDA_ERROR_DEVICE_UNAVAILABLE"
            : error == CUDA_ERROR_TOO_MANY_PEERS     ? "CUDA_ERROR_TOO_MANY_PEERS"
                                                     : NULL;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : NULL;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* NVRTC looks for the driver too, and asks it for tables that nobody else knows; without the function it crashes. */
API CUresult cuGetExportTable(const void **table, const void *id);
API CUresult cuGetExportTable(const void **table, const void *id)
{
    (void)id;
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}

/* ---- devices ---- */

API CUresult cuDeviceGetCount(int *count)
{
    *count = fake_devices();
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return fake_real(ordinal) < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    int d = fake_real(device);
    if (d < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    fake_name(name, size, d);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(0xDE + i * 3);
    return fake_real(device) == 1 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

API CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
    int d = fake_real(device);
    if (d < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    fake_bus_id(id, size, d);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    *bytes = total_bytes;
    return fake_real(device) < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

static const struct fake_attribute everywhere[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0x0A},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 3},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 60 << 20},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
};
static const int newer[] = {
    CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,          CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
    CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,  CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
};

static int node_of(CUdevice device)
{
    static const int in_pci_order[DEVICES] = {3, 1, 2};
    return fake_real(device) < 0 ? -1 : in_pci_order[fake_real(device)];
}

API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    if (attribute == CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES ||
        attribute == CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST ||
        attribute == CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED) {
        *value = fake_asked("grace");
        return CUDA_SUCCESS;
    }
    if (attribute == CU_DEVICE_ATTRIBUTE_NUMA_CONFIG || attribute == CU_DEVICE_ATTRIBUTE_NUMA_ID) {
        const bool is_config = attribute == CU_DEVICE_ATTRIBUTE_NUMA_CONFIG;
        *value = !fake_asked("grace") ? -!is_config : is_config ? CU_DEVICE_NUMA_CONFIG_NUMA_NODE : node_of(device);
        return CUDA_SUCCESS;
    }
    if (attribute == CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS && fake_asked("uvm")) {
        *value = 0;
        return CUDA_SUCCESS;
    }
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        if (newer[i] == attribute) {
            *value = !fake_asked("plain");
            return CUDA_SUCCESS;
        }
    if (attribute == CU_DEVICE_ATTRIBUTE_INTEGRATED) {
        *value = fake_asked("integrated");
        return CUDA_SUCCESS;
    }
    const int d = fake_real(device);
    return fake_attribute(everywhere, sizeof everywhere / sizeof *everywhere, (int)attribute, d, value)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    *can = !fake_asked("nopeer") && device != peer;
    return CUDA_SUCCESS;
}

/* The last device has no native atomics with the others. */
API CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer)
{
    if (attribute < 1 || attribute > 4 || device == peer)
        return fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
    const bool last = fake_real(device) == 2 || fake_real(peer) == 2;
    *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK          ? last
             : attribute == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED ? !last
                                                                            : !fake_asked("nopeer");
    return CUDA_SUCCESS;
}

/* ---- contexts ---- */

API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    if (fake_asked("busy"))
        return CUDA_ERROR_DEVICE_UNAVAILABLE;
    if (fake_real(device) < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *context = &contexts[fake_real(device)];
    (*context)->retained++;
    fake_count(1);
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUcontext c = &contexts[fake_real(device)];
    if (!c->retained)
        return fake_broke(__func__, CUDA_ERROR_INVALID_CONTEXT);
    fake_count(-1);
    if (--c->retained == 0)
        c->lost = 0, c->peers = 0;
    return CUDA_SUCCESS;
}

API CUresult cuCtxSetCurrent(CUcontext context)
{
    fake_current = context;
    return CUDA_SUCCESS;
}

API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    ENTER();
    if (fake_asked("peererror"))
        return CUDA_ERROR_TOO_MANY_PEERS;
    if (flags || !peer->retained)
        return CUDA_ERROR_INVALID_VALUE;
    if (fake_current->peers & 1u << peer->device)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    fake_current->peers |= 1u << peer->device;
    return CUDA_SUCCESS;
}

API CUresult cuCtxSynchronize(void)
{
    return fake_waited();
}

API CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
    ENTER();
    *free = fake_asked("integrated") ? (size_t)1 << 20 : free_bytes; /* the rest holds files, which may go */
    *total = total_bytes;
    return CUDA_SUCCESS;
}
