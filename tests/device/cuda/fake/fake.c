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
 *   noaccess   mapped memory cannot be made accessible
 *   runs       any module is taken; see launch.c for what its kernels do
 *   fail=N     the N-th call that works in a context fails once with CUDA_ERROR_NOT_SUPPORTED; see fail_at.c
 * FAKE_CUDA_STATIC is the size of the only variable of every module. Built with FAKE_OLD it has only those advice
 * functions that old drivers have. What is not here is in memory.c, launch.c and absent.c. */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const size_t total_bytes = (size_t)141 << 30, free_bytes = (size_t)139 << 30;

static struct as_gpu_context contexts[DEVICES] = {{.device = 0}, {.device = 1}, {.device = 2}};
static char broken[160];
__thread CUcontext fake_current;
struct block *fake_blocks;
int fake_things, fake_handles;

int fake_asked(const char *word)
{
    const char *list = getenv("FAKE_CUDA");
    return list && strstr(list, word);
}

CUresult fake_broke(const char *what, CUresult code)
{
    if (!broken[0])
        snprintf(broken, sizeof broken, "%s", what);
    return code;
}

API int fake_cuda_live(void)
{
    int n = fake_things + fake_handles;
    for (int i = 0; i < DEVICES; i++)
        n += contexts[i].retained;
    return n;
}

API const char *fake_cuda_broken(void)
{
    return broken;
}

API void fake_cuda_reset(void)
{
    while (fake_modules) {
        struct as_gpu_module *next = fake_modules->next;
        free(fake_modules);
        fake_modules = next;
    }
    while (fake_blocks) {
        struct block *next = fake_blocks->next;
        if (fake_blocks->kind != REGISTERED)
            munmap(fake_blocks->at, fake_blocks->size);
        free(fake_blocks);
        fake_blocks = next;
    }
    fake_things = fake_handles = 0;
    broken[0] = 0;
}

CUresult fake_entered(const char *what)
{
    if (!fake_current || !fake_current->retained)
        return fake_broke(what, CUDA_ERROR_INVALID_CONTEXT);
    if (fail_at(getenv("FAKE_CUDA"), what))
        return CUDA_ERROR_NOT_SUPPORTED;
    return fake_current->lost ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

/* ---- start ---- */

/* CUDA_VISIBLE_DEVICES: selects and orders the devices. */
static int visible(int list[DEVICES])
{
    const char *text = getenv("CUDA_VISIBLE_DEVICES");
    int n = 0;
    if (!text)
        text = "0,1,2";
    for (; *text && n < DEVICES; text += *text == ',') {
        char *end;
        long i = strtol(text, &end, 10);
        if (end == text || i < 0 || i >= DEVICES)
            break;
        list[n++] = (int)i;
        text = end;
    }
    return fake_asked("zero") ? 0 : n;
}

/* Ordinals are positions in that list. */
int fake_real(CUdevice device)
{
    int list[DEVICES] = {0}, n = visible(list);
    return device >= 0 && device < n ? list[device] : -1;
}

API CUresult cuInit(unsigned int flags)
{
    int list[DEVICES];
    if (fake_asked("mismatch"))
        return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    if (fake_asked("nameless"))
        return 31337;
    if (fake_asked("none") || (visible(list) == 0 && !fake_asked("zero")))
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

/* NVRTC looks for the driver too, and requests undocumented tables from it; without the function it crashes. */
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
    int list[DEVICES];
    *count = visible(list);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return fake_real(ordinal) < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

/* The last device's name fills the buffer without a terminator. */
API CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    static const char *const names[] = {"<script>alert(1)</script>", "\x1B[31mred \xC0\xAF end"};
    int d = fake_real(device);
    if (d < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    if (d == 2)
        memset(name, 'A', (size_t)size);
    else
        snprintf(name, (size_t)size, "%s", names[d]);
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
    static const char *const ids[] = {"0000:C1:00.0", "no address", "0000:41:1F.7"};
    int d = fake_real(device);
    if (d < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(id, (size_t)size, "%s", ids[d]);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    *bytes = total_bytes;
    return fake_real(device) < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

struct attribute {
    int attribute, value;
};
static const struct attribute everywhere[] = {
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

API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    int d = fake_real(device);
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        if (newer[i] == attribute) {
            *value = !fake_asked("plain");
            return CUDA_SUCCESS;
        }
    for (size_t i = 0; i < sizeof everywhere / sizeof *everywhere; i++)
        if (everywhere[i].attribute == attribute) {
            *value = d == 2 ? -everywhere[i].value : everywhere[i].value;
            return CUDA_SUCCESS;
        }
    *value = -7;
    return CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    *can = !fake_asked("nopeer") && device != peer;
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
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUcontext c = &contexts[fake_real(device)];
    if (!c->retained)
        return fake_broke(__func__, CUDA_ERROR_INVALID_CONTEXT);
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
    *free = free_bytes;
    *total = total_bytes;
    return CUDA_SUCCESS;
}
