/* AMD GPUs: the share of time that the memory was busy, from the kernel driver. */
#include "base/text.h"
#include "sensor/demand.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct amdgpu_demand {
    char path[320];
};

/* Not AMD's CPUs, which have the vendor's name too. */
static bool demand_amdgpu_serves(const struct as_device_info *info)
{
    if (info->is_host_cpu || info->capabilities & AS_CAP_HOST_KERNELS)
        return false;
    return strcmp(info->backend, "hip") == 0 || strcasestr(info->vendor, "amd") ||
           strcasestr(info->vendor, "advanced micro devices");
}

/* Percent, NAN unknown. */
static double demand_amdgpu_busy(const struct amdgpu_demand *a)
{
    char text[16];
    double v = NAN;
    FILE *f = fopen(a->path, "re");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    text[strcspn(text, "\r\n")] = 0;
    return n > 0 && as_parse_double(text, &v, NULL) == AS_OK && v >= 0 && v <= 100 ? v : NAN;
}

static enum as_status demand_amdgpu_open(const char *root, const struct as_device_info *info, void **ctx,
                                         struct as_error *err)
{
    if (!info->bus_id[0] || strchr(info->bus_id, '/'))
        return as_fail(err, AS_UNSUPPORTED, "no PCI bus ID reported");
    struct amdgpu_demand *a = calloc(1, sizeof *a);
    if (!a)
        return as_nomem(err, sizeof *a, "a source of memory traffic");
    snprintf(a->path, sizeof a->path, "%s/sys/bus/pci/devices/%s/mem_busy_percent", root, info->bus_id);
    errno = 0;
    if (!isfinite(demand_amdgpu_busy(a))) {
        enum as_status st = as_fail(err, AS_UNSUPPORTED, "'%s' cannot be read%s%s", a->path, errno ? ": " : "",
                                    errno ? strerror(errno) : "");
        free(a);
        return st;
    }
    *ctx = a;
    return AS_OK;
}

static void demand_amdgpu_begin(void *ctx)
{
    (void)ctx;
}

/* The driver's own recent average. */
static void demand_amdgpu_end(void *ctx, double seconds, struct as_demand_seen *out)
{
    (void)seconds;
    out->device_busy = demand_amdgpu_busy(ctx) / 100;
}

extern const struct as_demand_source as_demand_amdgpu;
const struct as_demand_source as_demand_amdgpu = {.name = "mem_busy_percent",
                                                  .title = "memory of the AMD device",
                                                  .serves = demand_amdgpu_serves,
                                                  .open = demand_amdgpu_open,
                                                  .begin = demand_amdgpu_begin,
                                                  .end = demand_amdgpu_end,
                                                  .close = free};
