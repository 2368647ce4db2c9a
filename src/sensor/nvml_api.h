/* The part of NVIDIA's management library in use, declared here so that its headers are not needed. */
#ifndef AS_SENSOR_NVML_API_H
#define AS_SENSOR_NVML_API_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct nvml_device *nvml_device;
typedef int nvml_return; /* 0 is success */
enum { NVML_SUCCESS = 0, NVML_INSUFFICIENT_SIZE = 7 };
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };
enum { NVML_TEMPERATURE_GPU = 0 };
enum { NVML_ECC_CORRECTED = 0, NVML_ECC_UNCORRECTED = 1, NVML_ECC_VOLATILE = 0 };
/* Fields as NVIDIA's nvml.h numbers them (NVML_FI_DEV_*). */
enum {
    NVML_FIELD_NVLINK_CRC_FLIT = 38, /* these four count over all links, up to Hopper */
    NVML_FIELD_NVLINK_CRC_DATA = 45,
    NVML_FIELD_NVLINK_REPLAYS = 52,
    NVML_FIELD_NVLINK_RECOVERIES = 59,
    NVML_FIELD_NVLINK_SPEED = 90,     /* MB/s of each active link, before Hopper */
    NVML_FIELD_NVLINK_SPEED_OF = 164, /* of the link that the scope names */
    NVML_FIELD_C2C_LINKS = 170,
    NVML_FIELD_POWER_INSTANT = 186,          /* mW, of the scope */
    NVML_FIELD_NVLINK_RCV_ERRORS = 208,      /* NVLINK_COUNT_*, of the link that the scope names, from Blackwell on */
    NVML_FIELD_NVLINK_RECOVERY_EVENTS = 215, /* whether they succeeded or not */
};
enum { NVML_SCOPE_GPU, NVML_SCOPE_MODULE, NVML_SCOPE_MEMORY };
enum nvml_value_type {
    NVML_VALUE_DOUBLE,
    NVML_VALUE_UNSIGNED_INT,
    NVML_VALUE_UNSIGNED_LONG,
    NVML_VALUE_UNSIGNED_LONG_LONG,
};

enum nvml_throttle_reason {
    NVML_REASON_IDLE = 0x1,
    NVML_REASON_APPLICATION_CLOCKS = 0x2,
    NVML_REASON_POWER_CAP = 0x4,
    NVML_REASON_HW_SLOWDOWN = 0x8,
    NVML_REASON_SYNC_BOOST = 0x10,
    NVML_REASON_SW_THERMAL = 0x20,
    NVML_REASON_HW_THERMAL = 0x40,
    NVML_REASON_POWER_BRAKE = 0x80,
    NVML_REASON_DISPLAY_CLOCK = 0x100,
};

/* NVLinks: numbered from 0; the other end is a GPU, or a switch. */
enum { NVML_LINKS_MAX = 64, NVML_REMOTE_GPU = 0 };
struct nvml_pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};

struct nvml_utilization {
    unsigned gpu, memory; /* percent */
};
struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_process {
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance, compute_instance;
};
struct nvml_field_value {
    unsigned field, scope;
    long long timestamp, latency_us;
    unsigned type;
    nvml_return status;
    union {
        double d;
        unsigned u;
        unsigned long ul;
        unsigned long long ull;
    } value;
};

/* GPU performance monitoring: counters between two samples at least 100 ms apart. */
enum {
    NVML_GPM_VERSION = 1,
    NVML_GPM_DRAM_PERCENT = 10,
    NVML_GPM_PCIE_SENT = 20, /* MiB/s */
    NVML_GPM_PCIE_RECEIVED = 21,
};
struct nvml_gpm_metric {
    unsigned id;
    nvml_return status;
    double value;
    struct {
        char *short_name, *long_name, *unit;
    } about;
};
struct nvml_gpm_request {
    unsigned version, n;
    void *first, *second;
    struct nvml_gpm_metric metrics[512]; /* the library's own array grows from version to version; it uses n of them */
};
struct nvml_gpm_support {
    unsigned version, is_supported;
};

struct as_nvml_api {
    void *library;
    nvml_return (*init)(void);
    nvml_return (*shutdown)(void);
    const char *(*error_string)(nvml_return code);
    nvml_return (*by_bus_id)(const char *bus_id, nvml_device *device);
    /* older and newer libraries may lack these */
    nvml_return (*clock)(nvml_device device, unsigned which, unsigned *mhz);
    nvml_return (*power)(nvml_device device, unsigned *mw);
    nvml_return (*energy)(nvml_device device, unsigned long long *mj); /* since the driver was loaded */
    nvml_return (*fields)(nvml_device device, int n, struct nvml_field_value *values);
    nvml_return (*power_limit)(nvml_device device, unsigned *mw);
    nvml_return (*temperature)(nvml_device device, unsigned which, unsigned *celsius);
    nvml_return (*reasons)(nvml_device device, unsigned long long *bits);
    nvml_return (*pcie_generation)(nvml_device device, unsigned *generation);
    nvml_return (*pcie_width)(nvml_device device, unsigned *width);
    nvml_return (*pcie_generation_max)(nvml_device device, unsigned *generation);
    nvml_return (*pcie_width_max)(nvml_device device, unsigned *width);
    nvml_return (*pcie_replays)(nvml_device device, unsigned *n);
    nvml_return (*link_state)(nvml_device device, unsigned link, unsigned *is_active);
    nvml_return (*link_version)(nvml_device device, unsigned link, unsigned *version);
    nvml_return (*link_remote_kind)(nvml_device device, unsigned link, unsigned *kind);
    nvml_return (*link_remote)(nvml_device device, unsigned link, struct nvml_pci *remote);
    nvml_return (*ecc)(nvml_device device, unsigned kind, unsigned counter, unsigned long long *n);
    nvml_return (*utilization)(nvml_device device, struct nvml_utilization *out);
    nvml_return (*compute_processes)(nvml_device device, unsigned *n, struct nvml_process *out);
    nvml_return (*mig_mode)(nvml_device device, unsigned *now, unsigned *after_reset); /* 1: on */
    nvml_return (*mig_count)(nvml_device device, unsigned *n);
    nvml_return (*mig_instance)(nvml_device device, unsigned index, nvml_device *instance);
    nvml_return (*uuid)(nvml_device device, char *out, unsigned size);
    nvml_return (*name)(nvml_device device, char *out, unsigned size);
    nvml_return (*count)(unsigned *n);
    nvml_return (*by_index)(unsigned index, nvml_device *device);
    nvml_return (*memory)(nvml_device device, struct nvml_memory *out);
    nvml_return (*gpm_query)(nvml_device device, struct nvml_gpm_support *out);
    nvml_return (*gpm_alloc)(void **sample);
    nvml_return (*gpm_release)(void *sample);
    nvml_return (*gpm_sample)(nvml_device device, void *sample);
    nvml_return (*gpm_metrics)(struct nvml_gpm_request *request);
};

struct as_device_info;
bool as_nvml_serves(const struct as_device_info *info);
/* Call unload also after an error. */
enum as_status as_nvml_load(struct as_nvml_api *api, struct as_error *err);
void as_nvml_unload(struct as_nvml_api *api);

#endif
