/* The stand-in for libamdhip64.so.7: its faults, and the backend's messages for them. */
#include "../stand_in.h"

extern const struct as_backend as_backend_hip;

static const char *const machines[] = {"", "apu xnack", "plain", NULL};
static const char *const bus_ids[] = {"0000:0a:03.0", "0000:41:1f.7", "0000:c1:00.0", NULL};

static const struct open_refusal refusals[] = {
    {"none", NULL, false, AS_UNSUPPORTED, "/dev/kfd"},
    {"zero", NULL, false, AS_UNSUPPORTED, "/dev/kfd"},
    {"", "", false, AS_UNSUPPORTED, "HIP_VISIBLE_DEVICES is set and empty: no device is visible"},
    {"zero", "", false, AS_UNSUPPORTED, "HIP_VISIBLE_DEVICES is set and empty: no device is visible"},
    {"", "7", false, AS_UNSUPPORTED, "HIP_VISIBLE_DEVICES is '7'"},
    {"nameless", NULL, false, AS_UNSUPPORTED, "hipInit: unnamed error (31337)"},
    {0},
};

static const struct size_limit limits[] = {
    {"hipMalloc", 200 * GIB, AS_UNSUPPORTED, "requested 200 GiB, 3 GiB are free"},
    {"hipExtMallocWithFlags fine-grained", 4 * GIB, AS_NOMEM, "requested 4 GiB, 3 GiB are free"},
    {"hipMalloc", 3 * GIB - 1, AS_NOMEM, "256 MiB are left alone"},
    {"hipMallocManaged prefer device", GIB + 1, AS_UNSUPPORTED, "capped at 1073741824 B"},
    {"__managed__", 514 << 20, AS_UNSUPPORTED, "capped at 513 MiB"},
    {"hipHostMalloc", UINT64_C(1) << 60, AS_NOMEM, "half of the host memory"},
    {0},
};

static const struct driver_fault faults[] = {
    {"fault", AS_FAILED, "hipErrorIllegalAddress (700): an illegal memory access was encountered", DOES_ALL, true,
     "the device was lost before"},
    {0},
};

const struct stand_in stand_in = {
    .backend = &as_backend_hip,
    .library = "libamdhip64.so.7",
    .words = "FAKE_HIP",
    .visible = "HIP_VISIBLE_DEVICES",
    .live = "fake_driver_live",
    .broken = "fake_driver_broken",
    .reset = "fake_driver_reset",
    .failed = "fake_driver_failed",
    .runs = RUNS_ALL,
    .machines = machines,
    .bus_ids = bus_ids,
    .refusals = refusals,
    .limits = limits,
    .faults = faults,
    .no_memory = "hipErrorOutOfMemory (2)",
    .not_from_driver = "malloc",
    .allocators = {"hipMalloc", "hipMemCreate"},
    .pinned = "hipHostMalloc",
    .managed = "hipMallocManaged prefer device",
    .no_path = "'hip:0' cannot reach the memory of 'hip:1': hipDeviceCanAccessPeer denies it",
    .no_peer = "hipErrorNotSupported",
    .capped = "3 GiB are free",
};
