/* NVIDIA's management library. Devices are found by PCI bus ID, whatever backend drives them. */
#include "base/text.h"
#include "sensor/nvml_api.h"
#include "sensor/sensor.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char library_name[] = "libnvidia-ml.so.1";

struct nvml {
    struct as_nvml_api api;
    nvml_device device;
    uint64_t links; /* bit of each active NVLink */
};

#define SYMBOL(member, ...)                                                                                            \
    {                                                                                                                  \
        offsetof(struct as_nvml_api, member),                                                                          \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
/* Newer names first. The first few are required. */
enum { NEEDED = 3 };
static const struct {
    size_t offset;
    const char *names[3];
} symbols[] = {
    SYMBOL(init, "nvmlInit_v2"),
    SYMBOL(shutdown, "nvmlShutdown"),
    SYMBOL(by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2"),
    SYMBOL(error_string, "nvmlErrorString"),
    SYMBOL(clock, "nvmlDeviceGetClockInfo"),
    SYMBOL(power, "nvmlDeviceGetPowerUsage"),
    SYMBOL(energy, "nvmlDeviceGetTotalEnergyConsumption"),
    SYMBOL(power_limit, "nvmlDeviceGetEnforcedPowerLimit"),
    SYMBOL(fields, "nvmlDeviceGetFieldValues"),
    SYMBOL(temperature, "nvmlDeviceGetTemperature"),
    SYMBOL(reasons, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"),
    SYMBOL(pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration"),
    SYMBOL(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth"),
    SYMBOL(pcie_generation_max, "nvmlDeviceGetMaxPcieLinkGeneration"),
    SYMBOL(pcie_width_max, "nvmlDeviceGetMaxPcieLinkWidth"),
    SYMBOL(pcie_replays, "nvmlDeviceGetPcieReplayCounter"),
    SYMBOL(link_state, "nvmlDeviceGetNvLinkState"),
    SYMBOL(link_version, "nvmlDeviceGetNvLinkVersion"),
    SYMBOL(link_remote_kind, "nvmlDeviceGetNvLinkRemoteDeviceType"),
    SYMBOL(link_remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2"),
    SYMBOL(ecc, "nvmlDeviceGetTotalEccErrors"),
    SYMBOL(utilization, "nvmlDeviceGetUtilizationRates"),
    SYMBOL(compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3"),
    SYMBOL(mig_mode, "nvmlDeviceGetMigMode"),
    SYMBOL(mig_count, "nvmlDeviceGetMaxMigDeviceCount"),
    SYMBOL(mig_instance, "nvmlDeviceGetMigDeviceHandleByIndex"),
    SYMBOL(uuid, "nvmlDeviceGetUUID"),
    SYMBOL(name, "nvmlDeviceGetName"),
    SYMBOL(count, "nvmlDeviceGetCount_v2"),
    SYMBOL(by_index, "nvmlDeviceGetHandleByIndex_v2"),
    SYMBOL(memory, "nvmlDeviceGetMemoryInfo"),
    SYMBOL(gpm_query, "nvmlGpmQueryDeviceSupport"),
    SYMBOL(gpm_alloc, "nvmlGpmSampleAlloc"),
    SYMBOL(gpm_release, "nvmlGpmSampleFree"),
    SYMBOL(gpm_sample, "nvmlGpmSampleGet"),
    SYMBOL(gpm_metrics, "nvmlGpmMetricsGet"),
};
enum { SYMBOLS = sizeof symbols / sizeof symbols[0] };

enum as_status as_nvml_load(struct as_nvml_api *api, struct as_error *err)
{
    api->library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (!api->library)
        return as_fail(err, AS_UNSUPPORTED, "%s", dlerror());
    for (size_t i = 0; i < SYMBOLS; i++) {
        void *at = NULL;
        for (size_t k = 0; !at && k < 3 && symbols[i].names[k]; k++)
            at = dlsym(api->library, symbols[i].names[k]);
        if (!at && i < NEEDED)
            return as_fail(err, AS_UNSUPPORTED, "%s has no %s", library_name, symbols[i].names[0]);
        memcpy((char *)api + symbols[i].offset, &at,
               sizeof at); /* object to function pointer, as POSIX permits for dlsym */
    }
    return AS_OK;
}

void as_nvml_unload(struct as_nvml_api *api)
{
    if (api->library)
        dlclose(api->library);
    api->library = NULL;
}

static enum as_status failed(const struct nvml *n, const char *what, nvml_return code, struct as_error *err)
{
    const char *why = n->api.error_string ? n->api.error_string(code) : NULL;
    return as_fail(err, AS_UNSUPPORTED, "%s: %.160s (code %d)", what, why ? why : "no reason given", code);
}

bool as_nvml_serves(const struct as_device_info *info)
{
    return strcasestr(info->vendor, "nvidia") || strcmp(info->backend, "cuda") == 0;
}

/* ---- one reading ---- */

static double nvml_whole(const struct nvml *n, nvml_return (*ask)(nvml_device, unsigned *))
{
    unsigned v = 0;
    return ask && ask(n->device, &v) == NVML_SUCCESS ? (double)v : NAN;
}

static double nvml_clock_now(const struct nvml *n, unsigned which)
{
    unsigned mhz = 0;
    return n->api.clock && n->api.clock(n->device, which, &mhz) == NVML_SUCCESS ? 1e6 * mhz : NAN;
}

/* NAN: the device does not report the field. */
static double field_of(const struct nvml *n, unsigned field, unsigned scope)
{
    struct nvml_field_value v = {.field = field, .scope = scope};
    if (!n->api.fields || n->api.fields(n->device, 1, &v) != NVML_SUCCESS || v.status != NVML_SUCCESS)
        return NAN;
    return v.type == NVML_VALUE_UNSIGNED_INT         ? v.value.u
           : v.type == NVML_VALUE_UNSIGNED_LONG_LONG ? (double)v.value.ull
                                                     : NAN;
}

static double field_now(const struct nvml *n, unsigned field)
{
    return field_of(n, field, 0);
}

/* Instantaneous if the device reports it, else averaged over about a second. */
static double power_now(const struct nvml *n)
{
    const double instant = field_now(n, NVML_FIELD_POWER_INSTANT);
    return 1e-3 * (instant > 0 ? instant : nvml_whole(n, n->api.power));
}

static double nvml_energy_now(const struct nvml *n)
{
    unsigned long long mj = 0;
    return n->api.energy && n->api.energy(n->device, &mj) == NVML_SUCCESS ? 1e-3 * (double)mj : NAN;
}

static int nvml_throttle_now(const struct nvml *n)
{
    static const struct {
        unsigned long long reason;
        unsigned bit;
    } table[] = {
        {NVML_REASON_IDLE, AS_THROTTLE_IDLE},
        {NVML_REASON_APPLICATION_CLOCKS | NVML_REASON_DISPLAY_CLOCK, AS_THROTTLE_SETTING},
        {NVML_REASON_SYNC_BOOST, AS_THROTTLE_SYNC},
        {NVML_REASON_POWER_CAP, AS_THROTTLE_POWER_CAP},
        {NVML_REASON_SW_THERMAL | NVML_REASON_HW_THERMAL, AS_THROTTLE_THERMAL},
        {NVML_REASON_HW_SLOWDOWN, AS_THROTTLE_HARDWARE},
        {NVML_REASON_POWER_BRAKE, AS_THROTTLE_POWER_BRAKE},
    };
    unsigned long long reasons = 0, known = 0;
    unsigned bits = 0;
    if (!n->api.reasons || n->api.reasons(n->device, &reasons) != NVML_SUCCESS)
        return -1;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        bits |= reasons & table[i].reason ? table[i].bit : 0;
        known |= table[i].reason;
    }
    return (int)(bits | (reasons & ~known ? AS_THROTTLE_OTHER : 0));
}

static double ecc_now(const struct nvml *n, unsigned kind)
{
    unsigned long long errors = 0;
    return n->api.ecc && n->api.ecc(n->device, kind, NVML_ECC_VOLATILE, &errors) == NVML_SUCCESS ? (double)errors : NAN;
}

/* Whether the process is a worker of the same run: it has our parent. */
static bool is_sibling(unsigned pid)
{
    char path[40], line[400];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    FILE *f = fopen(path, "re");
    size_t len = f ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f)
        fclose(f);
    line[len] = 0;
    const char *behind = strrchr(line, ')'); /* the name may contain any character */
    int parent = 0;
    return behind && sscanf(behind, ") %*c %d", &parent) == 1 && parent == (int)getppid();
}

enum { PROCESSES_MAX = 128 };
struct processes {
    struct nvml_process list[PROCESSES_MAX];
    size_t n;
    size_t beyond; /* entries that did not fit */
    bool known;
};

static void add_processes(const struct nvml *n, nvml_return (*ask)(nvml_device, unsigned *, struct nvml_process *),
                          struct processes *p)
{
    struct nvml_process got[PROCESSES_MAX] = {{0}};
    unsigned count = PROCESSES_MAX;
    nvml_return rc = ask ? ask(n->device, &count, got) : -1;
    if (rc == NVML_INSUFFICIENT_SIZE && count > PROCESSES_MAX)
        p->beyond += count;
    else if (rc != NVML_SUCCESS || count > PROCESSES_MAX)
        return;
    p->known = true;
    for (unsigned i = 0; rc == NVML_SUCCESS && i < count; i++) {
        size_t k = 0;
        while (k < p->n && p->list[k].pid != got[i].pid)
            k++;
        if (k == p->n && p->n < PROCESSES_MAX)
            p->list[p->n++] = got[i];
    }
}

/* Compute processes; a display server mostly waits. Unknown if our own process is not in the list: the PIDs are from
 * another namespace. */
static double users_now(const struct nvml *n)
{
    struct processes p = {.n = 0};
    add_processes(n, n->api.compute_processes, &p);
    if (!p.known)
        return NAN;
    if (p.beyond)
        return (double)p.beyond - 1;
    size_t others = 0;
    bool own = false;
    for (size_t i = 0; i < p.n; i++) {
        bool is_own = p.list[i].pid == (unsigned)getpid();
        own |= is_own;
        others += !is_own && !is_sibling(p.list[i].pid);
    }
    return own || p.n == 0 ? (double)others : NAN;
}

/* Sum over the active links; NAN: one does not report the field, or there is none. */
static double field_of_links(const struct nvml *n, unsigned field)
{
    double sum = n->links ? 0 : NAN;
    for (unsigned link = 0; link < NVML_LINKS_MAX && isfinite(sum); link++)
        if (n->links >> link & 1)
            sum += field_of(n, field, link);
    return sum;
}

/* NVLink 5 has forward error correction: it counts neither CRC errors nor replays. */
static double link_errors_now(const struct nvml *n)
{
    const double crc = field_now(n, NVML_FIELD_NVLINK_CRC_FLIT) + field_now(n, NVML_FIELD_NVLINK_CRC_DATA) +
                       field_now(n, NVML_FIELD_NVLINK_RECOVERIES);
    return isfinite(crc)
               ? crc
               : field_of_links(n, NVML_FIELD_NVLINK_RCV_ERRORS) + field_of_links(n, NVML_FIELD_NVLINK_RECOVERY_EVENTS);
}

static void nvml_read_now(void *ctx, enum as_sensor_part part, struct as_sensor_reading *out)
{
    const struct nvml *n = ctx;
    out->clock_hz = nvml_clock_now(n, NVML_CLOCK_SM);
    out->memory_clock_hz = nvml_clock_now(n, NVML_CLOCK_MEM);
    out->power_w = power_now(n);
    out->energy_j = nvml_energy_now(n);
    out->throttle = nvml_throttle_now(n);
    out->pcie_generation = nvml_whole(n, n->api.pcie_generation);
    out->pcie_width = nvml_whole(n, n->api.pcie_width);
    struct nvml_utilization u = {0};
    if (n->api.utilization && n->api.utilization(n->device, &u) == NVML_SUCCESS && u.gpu <= 100)
        out->utilisation = 0.01 * u.gpu;
    if (part != AS_SENSOR_ALL)
        return;
    out->power_limit_w = 1e-3 * nvml_whole(n, n->api.power_limit);
    unsigned celsius = 0;
    if (n->api.temperature && n->api.temperature(n->device, NVML_TEMPERATURE_GPU, &celsius) == NVML_SUCCESS)
        out->temperature = celsius;
    /* With NVLink-C2C the PCIe port does not bound host transfers. */
    if (!(field_now(n, NVML_FIELD_C2C_LINKS) > 0)) {
        out->pcie_generation_max = nvml_whole(n, n->api.pcie_generation_max);
        out->pcie_width_max = nvml_whole(n, n->api.pcie_width_max);
    }
    out->link_errors = link_errors_now(n);
    out->link_replays = field_now(n, NVML_FIELD_NVLINK_REPLAYS);
    out->pcie_replays = nvml_whole(n, n->api.pcie_replays);
    out->ecc_corrected = ecc_now(n, NVML_ECC_CORRECTED);
    out->ecc_uncorrected = ecc_now(n, NVML_ECC_UNCORRECTED);
    out->users = users_now(n);
}

/* ---- links to other GPUs ---- */

struct nvml_links {
    unsigned n, to_peer; /* active ones; most of them to one peer, all where they lead to a switch */
    unsigned version;    /* as the library numbers it; 0 unknown */
    unsigned last;       /* an active one */
    uint64_t active;     /* bit of each */
};

static struct nvml_links nvml_count_links(const struct nvml *n)
{
    struct nvml_links out = {0};
    struct nvml_pci remote[NVML_LINKS_MAX];
    memset(remote, 0, sizeof remote);
    bool switched = false;
    for (unsigned link = 0; n->api.link_state && link < NVML_LINKS_MAX; link++) {
        unsigned active = 0, kind = NVML_REMOTE_GPU;
        if (n->api.link_state(n->device, link, &active) != NVML_SUCCESS || !active)
            continue;
        if (n->api.link_version)
            (void)n->api.link_version(n->device, link, &out.version);
        switched |= n->api.link_remote_kind && n->api.link_remote_kind(n->device, link, &kind) == NVML_SUCCESS &&
                    kind != NVML_REMOTE_GPU;
        if (n->api.link_remote)
            (void)n->api.link_remote(n->device, link, &remote[out.n]);
        out.last = link;
        out.active |= UINT64_C(1) << link;
        out.n++;
    }
    for (unsigned i = 0; i < out.n; i++) {
        unsigned same = 0;
        for (unsigned k = 0; k < out.n; k++)
            same += remote[i].domain == remote[k].domain && remote[i].bus == remote[k].bus &&
                    remote[i].device == remote[k].device;
        out.to_peer = same > out.to_peer ? same : out.to_peer;
    }
    out.to_peer = switched ? out.n : out.to_peer;
    return out;
}

static void describe_peer_bus(const struct nvml *n, struct as_device_info *info)
{
    static const unsigned generations[] = {0, 1, 2, 2,
                                           3, 3, 4, 5}; /* of nvmlNvlinkVersion: 1.0, 2.0, 2.2, 3.0, 3.1, .. */
    const struct nvml_links links = nvml_count_links(n);
    const size_t known = sizeof generations / sizeof *generations;
    const unsigned generation = links.version < known ? generations[links.version] : 0;
    if (!links.n)
        return;
    if (generation)
        snprintf(info->peer_bus, sizeof info->peer_bus, "NVLink %u x%u", generation, links.to_peer);
    else
        snprintf(info->peer_bus, sizeof info->peer_bus, "NVLink x%u", links.to_peer);
    const double now = field_of(n, NVML_FIELD_NVLINK_SPEED_OF, links.last);
    const double each = now > 0 ? now : field_now(n, NVML_FIELD_NVLINK_SPEED);
    info->peer_bandwidth = each > 0 ? 1e6 * each * links.to_peer : 0;
}

/* ---- multi-instance GPU ---- */

/* The size of an instance, which its name ends with: "1g.10gb" of "NVIDIA H100 80GB HBM3 MIG 1g.10gb". */
static void mig_size(const struct nvml *n, nvml_device instance, char *out, size_t size)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz.+";
    char name[128] = "";
    if (!n->api.name || n->api.name(instance, name, sizeof name - 1) != NVML_SUCCESS)
        return;
    const char *at = strstr(name, " MIG ");
    if (at && at[5] && strspn(at + 5, letters) == strlen(at + 5))
        as_copy_text(out, size, at + 5);
}

/* CUDA gives the UUID of the instance that the process sees, NVML with another prefix. Without a UUID in common, the
 * only instance is the one. */
static void mig_find(const struct nvml *n, const struct as_device_info *info, char *out, size_t size)
{
    enum { INSTANCES_MAX = 16 };
    const char *own = strchr(info->uuid, '-');
    char only[32] = "";
    unsigned count = 0, found = 0;
    if (!n->api.mig_instance || !n->api.mig_count || n->api.mig_count(n->device, &count) != NVML_SUCCESS)
        return;
    for (unsigned i = 0; i < count && i < INSTANCES_MAX; i++) {
        nvml_device instance = NULL;
        char uuid[96] = "";
        if (n->api.mig_instance(n->device, i, &instance) != NVML_SUCCESS)
            continue;
        found++;
        mig_size(n, instance, only, sizeof only);
        const char *theirs =
            n->api.uuid && n->api.uuid(instance, uuid, sizeof uuid - 1) == NVML_SUCCESS ? strchr(uuid, '-') : NULL;
        if (own && theirs && strcasecmp(own, theirs) == 0) {
            mig_size(n, instance, out, size);
            return;
        }
    }
    if (found == 1)
        as_copy_text(out, size, only);
}

/* Part of the driver's text, as all that decides about memory is. */
static void describe_mig(const struct nvml *n, struct as_device_info *info)
{
    unsigned now = 0, after_reset = 0;
    char size[32] = "";
    if (!n->api.mig_mode || n->api.mig_mode(n->device, &now, &after_reset) != NVML_SUCCESS || (!now && !after_reset) ||
        strstr(info->driver, ", MIG"))
        return;
    if (now)
        mig_find(n, info, size, sizeof size);
    const size_t used = strlen(info->driver);
    snprintf(info->driver + used, sizeof info->driver - used, ", MIG%s%s%s", size[0] ? " " : "", size,
             now == after_reset ? ""
             : now              ? " until the next reset"
                                : " after the next reset");
}

static void nvml_describe(void *ctx, struct as_device_info *info)
{
    describe_peer_bus(ctx, info);
    describe_mig(ctx, info);
}

/* ---- opening ---- */

static void nvml_list_unknown(struct nvml *n, struct as_buf *why_not)
{
    struct as_sensor_reading r;
    as_sensor_reading_clear(&r);
    nvml_read_now(n, AS_SENSOR_ALL, &r);
    as_sensor_list_unknown(&r, why_not);
}

static enum as_status nvml_find(struct nvml *n, const struct as_device_info *info, struct as_error *err)
{
    nvml_return rc = n->api.init();
    if (rc != NVML_SUCCESS)
        return failed(n, "it cannot be initialised", rc, err);
    rc = n->api.by_bus_id(info->bus_id, &n->device);
    if (rc == NVML_SUCCESS)
        return AS_OK;
    n->api.shutdown();
    return failed(n, info->bus_id, rc, err);
}

static enum as_status open_nvml(const struct as_device_info *info, void **ctx, struct as_buf *why_not,
                                struct as_error *err)
{
    if (!info->bus_id[0])
        return as_fail(err, AS_UNSUPPORTED, "no PCI bus ID reported");
    struct nvml *n = calloc(1, sizeof *n);
    if (!n)
        return as_nomem(err, sizeof *n, "a sensor");
    enum as_status st = as_nvml_load(&n->api, err);
    if (!st)
        st = nvml_find(n, info, err);
    if (st) {
        as_nvml_unload(&n->api);
        free(n);
        return st;
    }
    n->links = nvml_count_links(n).active;
    nvml_list_unknown(n, why_not);
    *ctx = n;
    return AS_OK;
}

static void close_nvml(void *ctx)
{
    struct nvml *n = ctx;
    n->api.shutdown();
    as_nvml_unload(&n->api);
    free(n);
}

extern const struct as_sensor as_sensor_nvml;
const struct as_sensor as_sensor_nvml = {
    .name = "nvml",
    .title = "NVIDIA devices, by libnvidia-ml.so.1",
    .background = true,
    .lag_s = 0.1, /* the driver updates its values every 100 ms on an H200 */
    .serves = as_nvml_serves,
    .open = open_nvml,
    .read = nvml_read_now,
    .describe = nvml_describe,
    .close = close_nvml,
};
