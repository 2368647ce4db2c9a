/* The stand-in for libcuda.so.1 as the tests of cards see it. */
#include "../gpu_tests.h"
#include "driver.h"

extern const struct as_backend as_backend_cuda;

const struct stand_in stand_in = {
    .backend = &as_backend_cuda,
    AS_FAKE_DRIVER,
    .allocators = {"cuMemAlloc", "cuMemCreate"},
    .pinned = "cuMemHostAlloc",
    .managed = "cuMemAllocManaged",
    .no_path = "'cuda:0' cannot reach the memory of 'cuda:1': cuDeviceCanAccessPeer denies it",
    .no_peer = "CUDA_ERROR_TOO_MANY_PEERS",
    .free = "139 GiB are free",
};
