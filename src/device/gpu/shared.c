/* Whether the host can use the device's memory in place, found by use. */
#include "device/gpu/memory.h"

#include "base/guarded.h"

bool as_gpu_host_reads(struct as_gpu *gpu)
{
    static const uint64_t written = UINT64_C(0x7e57ab1e5eed0f57);
    const struct as_gpu_allocator *how = &gpu->api->allocators[0];
    struct as_gpu_block b = {.how = how, .home = gpu->here, .bytes = 4096};
    uint64_t found = 0;
    bool reads = !how->get(gpu, &b, NULL) && !gpu->api->write(gpu, b.address, &written, sizeof written) &&
                 !as_gpu_settle(gpu, NULL) && as_read_guarded((const void *)(uintptr_t)b.address, &found, sizeof found);
    as_gpu_check(gpu, how->release(gpu, &b), how->name, NULL);
    return reads && found == written;
}
