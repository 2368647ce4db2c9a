// clang-format off
/* A libnvidia-ml for tests: one device at 0000:01:00.0, which is also the first of the stand-in for CUDA, with known
 * numbers, and errors on demand. FAKE_NVML in the environment is a list of words, read at every call:
 *   noinit     cannot be initialised
 *   hostile    error texts contain terminal controls
 *   lost       every call but init fails
 *   instant    reports instantaneous power
 *   scopes     ... of the GPU, the module and the memory
 *   thermal, cap, idle, strange   throttle reasons
 *   growing    one more uncorrected ECC error per call
 *   self       this process is on the device
 *   other      another process is on the device
 *   crowd      more processes than fit
 *   liar       reports more processes than fit, without an error
 *   hopper     has performance monitoring
 *   silent     ... whose metrics fail one by one
 *   nvlink     has NVLinks to two GPUs
 *   switch     ... to a switch
 *   unborn     ... of an unknown generation
 *   blackwell  ... which count by link only: 0 to 3 receive errors, one recovery each
 *   mig        is divided: instances of two sizes      single  ... one instance      nameless  ... without names
 *   pending    ... is to change with the next reset: off, or on without "mig" */
// clang-format on
#include "sensor/nvml_api.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
enum { FAILED = 15 };

struct nvml_device {
    int number;
};
static struct nvml_device device;
static unsigned opened;
static unsigned long long errors, energy_mj;

static int has_word(const char *word)
{
    const char *list = getenv("FAKE_NVML");
    return list && strstr(list, word);
}

static nvml_return give_number(unsigned v, unsigned *out)
{
    if (has_word("lost") || !opened)
        return FAILED;
    *out = v;
    return NVML_SUCCESS;
}

API nvml_return nvmlInit_v2(void)
{
    opened += !has_word("noinit");
    return has_word("noinit") ? FAILED : NVML_SUCCESS;
}
API nvml_return nvmlShutdown(void)
{
    opened--;
    return NVML_SUCCESS;
}
API const char *nvmlErrorString(nvml_return code)
{
    (void)code;
    return has_word("hostile") ? "\x1B[2Jred <script>\xFF" : "GPU is lost";
}
API nvml_return nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, nvml_device *out)
{
    *out = &device;
    return strcmp(bus_id, "0000:01:00.0") == 0 || strcmp(bus_id, "0000:0a:03.0") == 0 ? NVML_SUCCESS : 6;
}
API nvml_return nvmlDeviceGetClockInfo(nvml_device d, unsigned which, unsigned *mhz)
{
    (void)d;
    return give_number(which == NVML_CLOCK_SM ? 1980 : which == NVML_CLOCK_MEM ? 3201 : 1, mhz);
}
API nvml_return nvmlDeviceGetPowerUsage(nvml_device d, unsigned *mw)
{
    (void)d;
    return give_number(250000, mw);
}
API nvml_return nvmlDeviceGetTotalEnergyConsumption(nvml_device d, unsigned long long *mj)
{
    unsigned unused;
    (void)d;
    energy_mj += 5000;
    *mj = energy_mj;
    return has_word("no counter") ? FAILED : give_number(0, &unused);
}
API nvml_return nvmlDeviceGetEnforcedPowerLimit(nvml_device d, unsigned *mw)
{
    (void)d;
    return give_number(700000, mw);
}
API nvml_return nvmlDeviceGetFieldValues(nvml_device d, int n, struct nvml_field_value *values)
{
    (void)d;
    for (int i = 0; i < n; i++) {
        static const struct {
            unsigned field, value;
            const char *word;
        } known[] = {{NVML_FIELD_NVLINK_CRC_FLIT, 2, "counts"},   {NVML_FIELD_NVLINK_CRC_DATA, 1, "counts"},
                     {NVML_FIELD_NVLINK_RECOVERIES, 1, "counts"}, {NVML_FIELD_NVLINK_REPLAYS, 5, "counts"},
                     {NVML_FIELD_C2C_LINKS, 10, "c2c"},           {NVML_FIELD_POWER_INSTANT, 312500, "instant"},
                     {NVML_FIELD_NVLINK_SPEED, 25000, "nvlink"},  {NVML_FIELD_NVLINK_SPEED_OF, 26562, "switch"}};
        values[i].status = 3;
        values[i].type = NVML_VALUE_UNSIGNED_INT;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (values[i].field == known[k].field && has_word(known[k].word) &&
                (values[i].scope == 3 || known[k].field != NVML_FIELD_NVLINK_SPEED_OF)) {
                values[i].status = NVML_SUCCESS;
                values[i].value.u = known[k].value;
            }
        const int is_errors = values[i].field == NVML_FIELD_NVLINK_RCV_ERRORS;
        if ((is_errors || values[i].field == NVML_FIELD_NVLINK_RECOVERY_EVENTS) && has_word("blackwell") &&
            values[i].scope < 4) {
            values[i].status = NVML_SUCCESS;
            values[i].type = NVML_VALUE_UNSIGNED_LONG_LONG;
            values[i].value.ull = is_errors ? values[i].scope : 1;
        }
        static const unsigned scopes[] = {400000, 600000, 80000};
        if (values[i].field == NVML_FIELD_POWER_INSTANT && has_word("scopes") && values[i].scope < 3) {
            values[i].status = NVML_SUCCESS;
            values[i].value.u = scopes[values[i].scope];
        }
    }
    return NVML_SUCCESS;
}
API nvml_return nvmlDeviceGetTemperature(nvml_device d, unsigned which, unsigned *celsius)
{
    (void)d;
    return give_number(which == NVML_TEMPERATURE_GPU ? 61 : 0, celsius);
}
API nvml_return nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device d, unsigned long long *bits)
{
    (void)d;
    *bits = (has_word("thermal") ? 0x40u : 0) | (has_word("cap") ? 0x4u : 0) | (has_word("idle") ? 0x1u : 0) |
            (has_word("strange") ? 0x8000u : 0);
    return has_word("lost") ? FAILED : NVML_SUCCESS;
}
API nvml_return nvmlDeviceGetCurrPcieLinkGeneration(nvml_device d, unsigned *generation)
{
    (void)d;
    return give_number(4, generation);
}
API nvml_return nvmlDeviceGetMaxPcieLinkGeneration(nvml_device d, unsigned *generation)
{
    (void)d;
    return give_number(5, generation);
}
API nvml_return nvmlDeviceGetCurrPcieLinkWidth(nvml_device d, unsigned *width)
{
    (void)d;
    return give_number(8, width);
}
API nvml_return nvmlDeviceGetMaxPcieLinkWidth(nvml_device d, unsigned *width)
{
    (void)d;
    return give_number(16, width);
}
/* Four active links of six: two to each of two GPUs, or all to a switch. */
API nvml_return nvmlDeviceGetNvLinkState(nvml_device d, unsigned link, unsigned *is_active)
{
    (void)d;
    *is_active = link < 4;
    return has_word("nvlink") && link < 6 ? NVML_SUCCESS : 3;
}
API nvml_return nvmlDeviceGetNvLinkVersion(nvml_device d, unsigned link, unsigned *version)
{
    (void)d;
    (void)link;
    *version = has_word("unborn") ? 40 : 6;
    return NVML_SUCCESS;
}
API nvml_return nvmlDeviceGetNvLinkRemoteDeviceType(nvml_device d, unsigned link, unsigned *kind)
{
    (void)d;
    (void)link;
    *kind = has_word("switch") ? 2 : NVML_REMOTE_GPU;
    return NVML_SUCCESS;
}
API nvml_return nvmlDeviceGetNvLinkRemotePciInfo_v2(nvml_device d, unsigned link, struct nvml_pci *remote)
{
    (void)d;
    *remote = (struct nvml_pci){.bus = 1 + link / 2};
    return NVML_SUCCESS;
}
API nvml_return nvmlDeviceGetTotalEccErrors(nvml_device d, unsigned kind, unsigned counter, unsigned long long *n)
{
    (void)d;
    (void)counter;
    *n = kind == NVML_ECC_UNCORRECTED ? (errors += has_word("growing") ? 1 : 0) : 7;
    return has_word("lost") ? FAILED : NVML_SUCCESS;
}
API nvml_return nvmlDeviceGetPcieReplayCounter(nvml_device d, unsigned *n)
{
    (void)d;
    *n = 9;
    return has_word("counts") ? NVML_SUCCESS : FAILED;
}
API nvml_return nvmlDeviceGetUtilizationRates(nvml_device d, struct nvml_utilization *out)
{
    (void)d;
    *out = (struct nvml_utilization){.gpu = 75, .memory = 20};
    return has_word("lost") ? FAILED : NVML_SUCCESS;
}
/* A sample is a number: the count of earlier ones. */
API nvml_return nvmlGpmQueryDeviceSupport(nvml_device d, struct nvml_gpm_support *out)
{
    (void)d;
    out->is_supported = out->version == NVML_GPM_VERSION && has_word("hopper");
    return NVML_SUCCESS;
}
API nvml_return nvmlGpmSampleAlloc(void **sample)
{
    *sample = calloc(1, sizeof(int));
    return *sample ? NVML_SUCCESS : FAILED;
}
API nvml_return nvmlGpmSampleFree(void *sample)
{
    free(sample);
    return NVML_SUCCESS;
}
API nvml_return nvmlGpmSampleGet(nvml_device d, void *sample)
{
    static int taken;
    (void)d;
    *(int *)sample = taken++;
    return has_word("lost") ? FAILED : NVML_SUCCESS;
}
API nvml_return nvmlGpmMetricsGet(struct nvml_gpm_request *r)
{
    if (r->version != NVML_GPM_VERSION || *(int *)r->first >= *(int *)r->second)
        return FAILED;
    for (unsigned i = 0; i < r->n; i++) {
        r->metrics[i].status = has_word("silent") ? FAILED : NVML_SUCCESS;
        r->metrics[i].value = r->metrics[i].id == NVML_GPM_DRAM_PERCENT ? 62.5 : r->metrics[i].id;
    }
    return NVML_SUCCESS;
}
API nvml_return nvmlDeviceGetComputeRunningProcesses_v3(nvml_device d, unsigned *n, struct nvml_process *out)
{
    (void)d;
    unsigned room = *n, k = 0;
    if (has_word("lost"))
        return FAILED;
    if (has_word("crowd")) {
        *n = room + 5;
        return NVML_INSUFFICIENT_SIZE;
    }
    if (has_word("self") && k < room)
        out[k++] = (struct nvml_process){.pid = (unsigned)getpid()};
    if (has_word("other") && k < room)
        out[k++] = (struct nvml_process){.pid = 1};
    *n = has_word("liar") ? room + 1000000 : k;
    return NVML_SUCCESS;
}
API nvml_return nvmlDeviceGetGraphicsRunningProcesses_v3(nvml_device d, unsigned *n, struct nvml_process *out)
{
    (void)d;
    if (has_word("lost") || has_word("crowd") || has_word("liar"))
        return FAILED;
    *n = 0;
    if (has_word("other")) /* the same process again: computes and draws */
        out[(*n)++] = (struct nvml_process){.pid = 1};
    return NVML_SUCCESS;
}
/* Whole devices and instances have one type of handle. */
static struct nvml_device instances[] = {{1}, {2}};
API nvml_return nvmlDeviceGetMigMode(nvml_device d, unsigned *now, unsigned *after_reset)
{
    *now = has_word("mig") != 0;
    *after_reset = *now ^ (has_word("pending") != 0);
    return d == &device ? NVML_SUCCESS : FAILED;
}
API nvml_return nvmlDeviceGetMaxMigDeviceCount(nvml_device d, unsigned *n)
{
    (void)d;
    return give_number(7, n);
}
/* The first place is empty. */
API nvml_return nvmlDeviceGetMigDeviceHandleByIndex(nvml_device d, unsigned index, nvml_device *out)
{
    if (d != &device || index < 1 || index > (has_word("single") ? 1 : 2))
        return 6;
    *out = &instances[index - 1];
    return NVML_SUCCESS;
}
API nvml_return nvmlDeviceGetUUID(nvml_device d, char *out, unsigned size)
{
    snprintf(out, size, "MIG-00112233-4455-6677-8899-aabbccddee%02d", d->number);
    return NVML_SUCCESS;
}
API nvml_return nvmlDeviceGetCount_v2(unsigned *n)
{
    return give_number(has_word("mig") ? 3 : 1, n);
}
API nvml_return nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *out)
{
    *out = &device;
    return index == 0 ? NVML_SUCCESS : 6;
}
API nvml_return nvmlDeviceGetMemoryInfo(nvml_device d, struct nvml_memory *out)
{
    unsigned mib = 0;
    (void)d;
    const nvml_return rc = give_number(600, &mib);
    *out = (struct nvml_memory){.total = UINT64_C(80) << 30, .used = (unsigned long long)mib << 20};
    return rc;
}
API nvml_return nvmlDeviceGetName(nvml_device d, char *out, unsigned size)
{
    snprintf(out, size, "NVIDIA H100 80GB HBM3%s",
             has_word("nameless") ? ""
             : d->number == 1     ? " MIG 1g.10gb"
                                  : " MIG 1g.20gb+me");
    return NVML_SUCCESS;
}
