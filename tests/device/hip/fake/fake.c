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
 *   fail=N     the N-th call for memory, streams or modules fails once with hipErrorNotSupported; see driver_base.c
 *   apu        devices and host have one memory
 *   mi300a     their name is that of an APU whose memory has a cache; they report an L2 cache of 4 MiB and 128 GiB
 *   planted    latency, bandwidth, faults and atomics are those of planted.c
 *   apart      what the host writes to the device's memory is not at that address for the host
 *   xnack      page faults are replayed, unless HSA_XNACK=0; HSA_XNACK=1 does the same without the word
 *   stateless  hipInit fails with HSA_XNACK=1
 *   sdma       copies of up to 512 KiB by copy engine take a hundred times as long; HSA_ENABLE_SDMA=0 copies by kernel
 *   unknown    the chip is one that nobody has heard of      cdna3, rdna3, rdna2   it is one of another kind
 * FAKE_HIP_ONCE names a file that is removed by the one that does what FAKE_HIP says: "hang" the first wait after a
 * launch of "count" never ends, "lose" the device is lost in it, "abort" the compiler ends the process, as the real one
 * does where it does not know the chip. */
#include "inside.h"

#include <stdio.h>
#include <string.h>

static const size_t total_bytes = (size_t)4 << 30, free_bytes = (size_t)3 << 30, apu_bytes = (size_t)128 << 30;

const char fake_words[] = "FAKE_HIP", fake_visible[] = "HIP_VISIBLE_DEVICES";
static int lost;
static unsigned peers[DEVICES]; /* bits */
__thread int fake_current;

void fake_lose(void)
{
    __atomic_store_n(&lost, 1, __ATOMIC_SEQ_CST);
}

bool fake_is_lost(void)
{
    return __atomic_load_n(&lost, __ATOMIC_SEQ_CST) != 0;
}

void fake_forget(void)
{
    lost = 0;
}

/* ---- start ---- */

API hipError_t hipInit(unsigned int flags)
{
    const char *replay = getenv("HSA_XNACK");
    if (fake_asked("nameless"))
        return 31337;
    if (fake_asked("stateless") && replay && strcmp(replay, "1") == 0)
        return hipErrorNotSupported;
    if (fake_asked("none") || (fake_devices() == 0 && !fake_asked("zero")))
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
    *count = fake_devices();
    return *count ? hipSuccess : hipErrorNoDevice;
}

API hipError_t hipSetDevice(int device)
{
    if (fake_real(device) < 0)
        return fake_broke(__func__, hipErrorInvalidDevice);
    fake_current = device;
    return hipSuccess;
}

API hipError_t hipDeviceGetName(char *name, int size, hipDevice_t device)
{
    int d = fake_real(device);
    if (d < 0)
        return hipErrorInvalidDevice;
    if (fake_asked("mi300a"))
        snprintf(name, (size_t)size, "AMD Instinct MI300A  ");
    else
        fake_name(name, size, d);
    return hipSuccess;
}

/* The first in digits, the second none, the third in bytes. */
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
    int d = fake_real(device);
    if (d < 0)
        return hipErrorInvalidDevice;
    fake_bus_id(id, size, d);
    return hipSuccess;
}

API hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device)
{
    *bytes = fake_asked("mi300a") ? apu_bytes : total_bytes;
    return fake_real(device) < 0 ? hipErrorInvalidDevice : hipSuccess;
}

API hipError_t hipMemGetInfo(size_t *free, size_t *total)
{
    *free = free_bytes;
    *total = fake_asked("mi300a") ? apu_bytes : total_bytes;
    return fake_is_lost() ? hipErrorIllegalAddress : hipSuccess;
}

static const struct fake_attribute everywhere[] = {
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

/* As the process was started: chips of RDNA cannot. */
bool fake_replays(void)
{
    const char *set = getenv("HSA_XNACK");
    return !fake_asked("rdna") && (set && *set ? strcmp(set, "1") == 0 : fake_asked("xnack"));
}

API hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device)
{
    const struct fake_attribute by_words[] = {
        {hipDeviceAttributeWarpSize, fake_asked("rdna") ? 32 : 64},
        {hipDeviceAttributeIntegrated, fake_asked("apu")},
        {hipDeviceAttributeL2CacheSize, fake_asked("mi300a") ? 4 << 20 : 1 << 20},
        {hipDeviceAttributePageableMemoryAccess, fake_replays()},
        {hipDeviceAttributeManagedMemory, !fake_asked("plain")},
        {hipDeviceAttributeConcurrentManagedAccess, !fake_asked("plain")},
        {hipDeviceAttributeFineGrainSupport, !fake_asked("plain")},
        {hipDeviceAttributeMemoryPoolsSupported, !fake_asked("plain")},
        {hipDeviceAttributeVirtualMemoryManagementSupported, !fake_asked("plain")},
    };
    const int d = fake_real(device);
    return fake_attribute(by_words, sizeof by_words / sizeof *by_words, attribute, d, value) ||
                   fake_attribute(everywhere, sizeof everywhere / sizeof *everywhere, attribute, d, value)
               ? hipSuccess
               : hipErrorInvalidValue;
}

/* Of all the properties, the name of the target where ROCm 6 has it. */
API hipError_t hipGetDevicePropertiesR0600(struct hipDeviceProp_t *properties, int device)
{
    const char *target = fake_asked("unknown") ? "gfx; rm -rf /"
                         : fake_asked("rdna3") ? "gfx1100"
                         : fake_asked("rdna2") ? "gfx1030"
                         : fake_replays()      ? "gfx942:sramecc+:xnack+"
                         : fake_asked("cdna3") ? "gfx942:sramecc+:xnack-"
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

/* The last device has no native atomics with the others. */
API hipError_t hipDeviceGetP2PAttribute(int *value, hipDeviceP2PAttr attribute, int device, int peer)
{
    if (attribute < 0 || attribute > 3 || device == peer)
        return fake_broke(__func__, hipErrorInvalidValue);
    const bool last = fake_real(device) == 2 || fake_real(peer) == 2;
    *value = attribute == hipDevP2PAttrPerformanceRank         ? last
             : attribute == hipDevP2PAttrNativeAtomicSupported ? !last
                                                               : !fake_asked("nopeer");
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
