/* The stand-in for libamdhip64.so.7 as the tests of cards see it. */
#include "../gpu_tests.h"

extern const struct as_backend as_backend_hip;

const struct stand_in stand_in = {
    .backend = &as_backend_hip,
    .library = "libamdhip64.so.7",
    .words = "FAKE_HIP",
    .visible = "HIP_VISIBLE_DEVICES",
    .live = "fake_hip_live",
    .broken = "fake_hip_broken",
    .reset = "fake_hip_reset",
    .allocators = {"hipMalloc", "hipExtMallocWithFlags fine-grained"},
    .pinned = "hipHostMalloc",
    .managed = "hipMallocManaged",
    .no_path = "'hip:0' cannot reach the memory of 'hip:1': hipDeviceCanAccessPeer denies it",
    .no_peer = "hipErrorNotSupported",
    .free = "3 GiB are free",
};
