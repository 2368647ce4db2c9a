/* A libamdhip64 for tests: three devices in scrambled PCI order that say hostile things, with host memory behind their
 * addresses and kernels that really run, on threads of the host. It is stricter than the real one: what was not given
 * back is counted, and what makes no sense is noted.
 * FAKE_HIP in the environment is a list of words:
 *   none       hipInit finds no device      zero      hipInit works, but there are no devices
 *   nameless   an error code that nobody knows        nomem     no memory of any kind
 *   fault      the next wait ends with an illegal address, and the device is lost
 *   nopeer     no device reaches another    peererror peer access cannot be switched on
 *   plain      attributes of everything newer than plain memory are 0
 *   equal      streams have no priorities
 *   fail=N     the N-th call for memory, streams or modules fails once with hipErrorNotSupported; see fail_at.c
 *   apu        devices and host have one memory
 *   mi300a     their name is that of an APU whose memory has a cache; they report an L2 cache of 4 MiB
 *   xnack      page faults are replayed
 *   unknown    the chip is one that nobody has heard of      cdna3, rdna3, rdna2   it is one of another kind
 * FAKE_HIP_ONCE names a file that is removed by the one that does what FAKE_HIP says: "hang" the first wait after a
 * launch of "count" never ends, "lose" the device is lost in it, "abort" the compiler ends the process, as the real one
 * does where it does not know the chip. */
#include "inside.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t total_bytes = (size_t)4 << 30, free_bytes = (size_t)3 << 30;

static char broken[160];
static int things, lost;
static unsigned peers[DEVICES]; /* bits */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__thread int fake_current;

bool fake_asked(const char *word)
{
    const char *list = getenv("FAKE_HIP");
    return list && strstr(list, word);
}

hipError_t fake_broke(const char *what, hipError_t code)
{
    pthread_mutex_lock(&lock);
    if (!broken[0])
        snprintf(broken, sizeof broken, "%s", what);
    pthread_mutex_unlock(&lock);
    return code;
}

void fake_count(int n)
{
    __atomic_fetch_add(&things, n, __ATOMIC_SEQ_CST);
}

void fake_lose(void)
{
    __atomic_store_n(&lost, 1, __ATOMIC_SEQ_CST);
}

bool fake_is_lost(void)
{
    return __atomic_load_n(&lost, __ATOMIC_SEQ_CST) != 0;
}

API int fake_hip_live(void)
{
    return things;
}

API const char *fake_hip_broken(void)
{
    return broken;
}

API void fake_hip_reset(void)
{
    things = lost = 0;
    broken[0] = 0;
}

/* ---- start ---- */

/* HIP_VISIBLE_DEVICES: selects and orders the devices. */
static int visible(int list[DEVICES])
{
    const char *text = getenv("HIP_VISIBLE_DEVICES");
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
int fake_real(int device)
{
    int list[DEVICES] = {0}, n = visible(list);
    return device >= 0 && device < n ? list[device] : -1;
}

API hipError_t hipInit(unsigned int flags)
{
    int list[DEVICES];
    if (fake_asked("nameless"))
        return 31337;
    if (fake_asked("none") || (visible(list) == 0 && !fake_asked("zero")))
        return hipErrorNoDevice;
    return flags ? hipErrorInvalidValue : hipSuccess;
}

API hipError_t hipRuntimeGetVersion(int *version)
{
    *version = 60342134;
    return hipSuccess;
}

API const char *hipGetErrorName(hipError_t error)
{
    return error == hipErrorOutOfMemory      ? "hipErrorOutOfMemory"
           : error == hipErrorIllegalAddress ? "hipErrorIllegalAddress"
           : error == hipErrorNotSupported   ? "hipErrorNotSupported"
           : error == hipErrorLaunchFailure  ? "hipErrorLaunchFailure"
           : error == hipErrorInvalidValue   ? "hipErrorInvalidValue"
                                             : NULL;
}

API const char *hipGetErrorString(hipError_t error)
{
    return error == hipErrorIllegalAddress ? "an illegal memory access was encountered" : NULL;
}

/* ---- devices ---- */

API hipError_t hipGetDeviceCount(int *count)
{
    int list[DEVICES];
    *count = visible(list);
    return *count ? hipSuccess : hipErrorNoDevice;
}

API hipError_t hipSetDevice(int device)
{
    if (fake_real(device) < 0)
        return fake_broke(__func__, hipErrorInvalidDevice);
    fake_current = device;
    return hipSuccess;
}

/* The last device's name fills the buffer without a terminator. */
API hipError_t hipDeviceGetName(char *name, int size, hipDevice_t device)
{
    static const char *const names[] = {"<script>alert(1)</script>", "\x1B[31mred \xC0\xAF end"};
    int d = fake_real(device);
    if (d < 0)
        return hipErrorInvalidDevice;
    if (fake_asked("mi300a"))
        snprintf(name, (size_t)size, "AMD Instinct MI300A");
    else if (d == 2)
        memset(name, 'A', (size_t)size);
    else
        snprintf(name, (size_t)size, "%s", names[d]);
    return hipSuccess;
}

/* The first UUID in digits, the second missing, the third in bytes. */
API hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device)
{
    int d = fake_real(device);
    memcpy(uuid->bytes, "26ac62ca0b1a4f5d", sizeof uuid->bytes);
    for (int i = 0; i < 16 && d == 2; i++)
        uuid->bytes[i] = (char)(0xDE + i * 3);
    return d == 1 ? hipErrorNotSupported : hipSuccess;
}

API hipError_t hipDeviceGetPCIBusId(char *id, int size, int device)
{
    static const char *const ids[] = {"0000:C1:00.0", "no address", "0000:41:1F.7"};
    int d = fake_real(device);
    if (d < 0)
        return hipErrorInvalidDevice;
    snprintf(id, (size_t)size, "%s", ids[d]);
    return hipSuccess;
}

API hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device)
{
    *bytes = total_bytes;
    return fake_real(device) < 0 ? hipErrorInvalidDevice : hipSuccess;
}

API hipError_t hipMemGetInfo(size_t *free, size_t *total)
{
    *free = free_bytes;
    *total = total_bytes;
    return fake_is_lost() ? hipErrorIllegalAddress : hipSuccess;
}

static const struct {
    int attribute, value;
} everywhere[] = {
    {hipDeviceAttributeMaxThreadsPerBlock, GROUP_MOST},
    {hipDeviceAttributeClockRate, 1700000},
    {hipDeviceAttributeMultiprocessorCount, UNITS},
    {hipDeviceAttributeCanMapHostMemory, 1},
    {hipDeviceAttributeHostNativeAtomicSupported, 1},
    {hipDeviceAttributePciBusId, 0x0A},
    {hipDeviceAttributePciDeviceId, 3},
    {hipDeviceAttributePciDomainID, 0},
    {hipDeviceAttributeMemoryClockRate, 1600000},
    {hipDeviceAttributeMemoryBusWidth, 4096},
    {hipDeviceAttributeMaxThreadsPerMultiProcessor, 2048},
    {hipDeviceAttributeMaxSharedMemoryPerBlock, LOCAL_BYTES},
    {hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, LOCAL_BYTES},
    {hipDeviceAttributeWallClockRate, 100000},
};

API hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device)
{
    const struct {
        int attribute, value;
    } chosen[] = {
        {hipDeviceAttributeWarpSize, (fake_asked("rdna") ? 32 : 64) * (fake_real(device) == 2 ? -1 : 1)},
        {hipDeviceAttributeIntegrated, fake_asked("apu")},
        {hipDeviceAttributeL2CacheSize, (fake_asked("mi300a") ? 4 << 20 : 1 << 20) * (fake_real(device) == 2 ? -1 : 1)},
        {hipDeviceAttributePageableMemoryAccess, fake_asked("xnack")},
        {hipDeviceAttributeManagedMemory, !fake_asked("plain")},
        {hipDeviceAttributeConcurrentManagedAccess, !fake_asked("plain")},
        {hipDeviceAttributeFineGrainSupport, !fake_asked("plain")},
    };
    int d = fake_real(device);
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        if (chosen[i].attribute == attribute) {
            *value = chosen[i].value;
            return hipSuccess;
        }
    for (size_t i = 0; i < sizeof everywhere / sizeof *everywhere; i++)
        if (everywhere[i].attribute == attribute) {
            *value = d == 2 ? -everywhere[i].value : everywhere[i].value;
            return hipSuccess;
        }
    *value = -7;
    return hipErrorInvalidValue;
}

/* Of all properties only the target's name, at its place in ROCm 6. */
API hipError_t hipGetDevicePropertiesR0600(struct hipDeviceProp_t *properties, int device)
{
    const char *target = fake_asked("unknown") ? "gfx; rm -rf /"
                         : fake_asked("xnack") ? "gfx942:sramecc+:xnack+"
                         : fake_asked("cdna3") ? "gfx942:sramecc+:xnack-"
                         : fake_asked("rdna3") ? "gfx1100"
                         : fake_asked("rdna2") ? "gfx1030"
                                               : "gfx90a:sramecc+:xnack-";
    memset(properties, 0x41, 1472);
    snprintf((char *)(void *)properties + 1160, 256, "%s", target);
    return fake_real(device) < 0 ? hipErrorInvalidDevice : hipSuccess;
}

API hipError_t hipGetDeviceProperties(struct hipDeviceProp_t *properties, int device)
{
    (void)properties, (void)device;
    return fake_broke(__func__, hipErrorNotSupported);
}

API hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = !fake_asked("nopeer") && device != peer;
    return hipSuccess;
}

API hipError_t hipDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    int from = fake_real(fake_current), to = fake_real(peer);
    if (fake_asked("peererror"))
        return hipErrorNotSupported;
    if (flags || from < 0 || to < 0)
        return fake_broke(__func__, hipErrorInvalidValue);
    if (peers[from] & 1u << to)
        return hipErrorPeerAccessAlreadyEnabled;
    peers[from] |= 1u << to;
    return hipSuccess;
}
