/* The stand-in for libcuda.so.1: its faults, and the backend's messages for them. */
#include "../stand_in.h"
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>

extern const struct as_backend as_backend_cuda;

/* A static variable is as large as the suite's blocks. */
static void prepare(void)
{
    char bytes[16];
    snprintf(bytes, sizeof bytes, "%d", 3 * 64 * 1024 + 5);
    setenv("FAKE_CUDA_STATIC", bytes, 1);
}

static const char *const machines[] = {"runs", "runs plain", NULL};
static const char *const bus_ids[] = {"0000:0a:03.0", "0000:41:1f.7", "0000:c1:00.0", NULL};

static const struct open_refusal refusals[] = {
    {"none", NULL, false, AS_UNSUPPORTED, "/dev/nvidia0"},
    {"zero", NULL, false, AS_UNSUPPORTED, "/dev/nvidia0"},
    {"", "", false, AS_UNSUPPORTED, "CUDA_VISIBLE_DEVICES is set and empty: no device is visible"},
    {"zero", "", false, AS_UNSUPPORTED, "CUDA_VISIBLE_DEVICES is set and empty: no device is visible"},
    {"", "7", false, AS_UNSUPPORTED, "CUDA_VISIBLE_DEVICES is '7'"},
    {"mismatch", NULL, false, AS_UNSUPPORTED, "different versions"},
    {"nameless", NULL, false, AS_UNSUPPORTED, "cuInit: unnamed error (31337)"},
    {"busy", NULL, true, AS_UNSUPPORTED, "'cuda:0' is unavailable (46)"},
    {0},
};

static const struct size_limit limits[] = {
    {"cuMemAlloc", 200 * GIB, AS_UNSUPPORTED, "requested 200 GiB, 139 GiB are free"},
    {"cuMemCreate", 140 * GIB, AS_NOMEM, "requested 140 GiB, 139 GiB are free"},
    {"cuMemAlloc", 139 * GIB - 1, AS_NOMEM, "256 MiB are left alone"},
    {"cuMemAllocManaged", GIB + 1, AS_UNSUPPORTED, "capped at 1073741824 B"},
    {"__managed__", 514 << 20, AS_UNSUPPORTED, "capped at 513 MiB"},
    {"cuMemHostAlloc", UINT64_C(1) << 60, AS_NOMEM, "half of the host memory"},
    {0},
};

static const struct driver_fault faults[] = {
    {"fault", AS_FAILED, "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered", DOES_ALL, true,
     "the context was lost before"},
    {0},
};

const struct stand_in stand_in = {
    .backend = &as_backend_cuda,
    AS_FAKE_DRIVER,
    .prepare = prepare,
    .runs = RUNS_ORDERED,
    .machines = machines,
    .bus_ids = bus_ids,
    .refusals = refusals,
    .limits = limits,
    .faults = faults,
    .no_memory = "CUDA_ERROR_OUT_OF_MEMORY (2)",
    .not_from_driver = "malloc",
    .allocators = {"cuMemAlloc", "cuMemCreate"},
    .pinned = "cuMemHostAlloc",
    .managed = "cuMemAllocManaged",
    .no_path = "'cuda:0' cannot reach the memory of 'cuda:1': cuDeviceCanAccessPeer denies it",
    .no_peer = "CUDA_ERROR_TOO_MANY_PEERS",
    .capped = "139 GiB are free",
};
