/* Checks that all backends share. */
#include "device/device.h"
#include "device/host.h"

#include <math.h>

enum as_status as_check_blocks(const char *api, uint64_t bytes, uint64_t count, struct as_error *err)
{
    if (bytes == 0 || bytes > INT64_MAX || count == 0 || count > INT64_MAX / bytes)
        return as_fail(err, AS_USAGE, "%s: %llu blocks of %llu bytes cannot be allocated", api,
                       (unsigned long long)count, (unsigned long long)bytes);
    return AS_OK;
}

enum as_status as_memory_check(const struct as_memory *mem, uint64_t offset, uint64_t bytes, struct as_error *err)
{
    if (offset <= mem->bytes && bytes <= mem->bytes - offset)
        return AS_OK;
    return as_fail(err, AS_USAGE, "%llu bytes at %llu are outside of memory of %llu bytes", (unsigned long long)bytes,
                   (unsigned long long)offset, (unsigned long long)mem->bytes);
}

static enum as_status check_matrix(const struct as_memory *mem, uint64_t rows, uint64_t columns, unsigned bytes,
                                   struct as_error *err)
{
    const uint64_t n = rows * columns; /* of 31 bits each */
    return as_memory_check(mem, 0, n > UINT64_MAX / bytes ? UINT64_MAX : n * bytes, err);
}

enum as_status as_vendor_gemm_check(const struct as_vendor_gemm_desc *d, unsigned in_bytes, unsigned out_bytes,
                                    struct as_error *err)
{
    if (!d->m || !d->n || !d->k || (d->m | d->n | d->k) > INT32_MAX)
        return as_fail(err, AS_USAGE, "a GEMM of %llu x %llu x %llu: sizes are from 1 to %d", (unsigned long long)d->m,
                       (unsigned long long)d->n, (unsigned long long)d->k, INT32_MAX);
    enum as_status st = check_matrix(d->a, d->m, d->k, in_bytes, err);
    if (!st)
        st = check_matrix(d->b, d->k, d->n, in_bytes, err);
    return st ? st : check_matrix(d->d, d->m, d->n, out_bytes, err);
}

double as_timing_seconds(const struct as_timing *t)
{
    return isnan(t->device_s) ? t->host_s : t->device_s;
}

enum as_status as_device_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err)
{
    const enum as_status st = dev->device->memory_free(dev, bytes, err);
    const uint64_t of_host = as_host_memory_available(), all = dev->info.memory_bytes;
    if (!st && dev->info.is_host_memory && (dev->info.capabilities & AS_CAP_FREE_COUNT))
        *bytes = of_host < all ? of_host : all;
    return st;
}
