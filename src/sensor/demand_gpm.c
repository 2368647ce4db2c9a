/* NVIDIA GPUs since Hopper: NVML's GPU performance monitoring, whose counters every user may read. */
#include "sensor/demand.h"
#include "sensor/nvml_api.h"

#include <math.h>
#include <stdlib.h>

enum { METRICS = 3 };
/* Refresh interval of the counters: the minimum distance of samples, and of the first from the start of the
 * window, so that it contains no earlier work (NVML's reference). */
static const double REFRESH_S = 0.1;
struct gpm {
    struct as_nvml_api api;
    void *first, *second;
    nvml_device device;
    bool is_open, has_first;
    double first_s; /* after the start of the window */
};

static enum as_status demand_gpm_load(struct as_nvml_api *api, struct as_error *err)
{
    const enum as_status st = as_nvml_load(api, err);
    if (st)
        return st;
    return api->gpm_query && api->gpm_alloc && api->gpm_release && api->gpm_sample && api->gpm_metrics
               ? AS_OK
               : as_fail(err, AS_UNSUPPORTED,
                         "libnvidia-ml.so.1 has no GPU performance monitoring: update the NVIDIA driver");
}

static void close_gpm(void *ctx)
{
    struct gpm *g = ctx;
    if (g->first)
        g->api.gpm_release(g->first);
    if (g->second)
        g->api.gpm_release(g->second);
    if (g->is_open)
        g->api.shutdown();
    as_nvml_unload(&g->api);
    free(g);
}

static enum as_status demand_gpm_start(struct gpm *g, const struct as_device_info *info, struct as_error *err)
{
    struct nvml_gpm_support support = {.version = NVML_GPM_VERSION};
    const enum as_status st = demand_gpm_load(&g->api, err);
    if (st)
        return st;
    g->is_open = g->api.init() == 0;
    if (!g->is_open || g->api.by_bus_id(info->bus_id, &g->device))
        return as_fail(err, AS_UNSUPPORTED, "NVML does not find the device");
    if (g->api.gpm_query(g->device, &support) || !support.is_supported)
        return as_fail(err, AS_UNSUPPORTED, "the device has no GPU performance monitoring; Hopper and later have it");
    if (g->api.gpm_alloc(&g->first) || g->api.gpm_alloc(&g->second) || g->api.gpm_sample(g->device, g->first))
        return as_fail(err, AS_UNSUPPORTED, "its performance monitoring gives no samples");
    return AS_OK;
}

static enum as_status open_gpm(const char *root, const struct as_device_info *info, void **ctx, struct as_error *err)
{
    (void)root;
    struct gpm *g = calloc(1, sizeof *g);
    if (!g)
        return as_nomem(err, sizeof *g, "a source of memory traffic");
    enum as_status st = demand_gpm_start(g, info, err);
    if (st)
        close_gpm(g);
    else
        *ctx = g;
    return st;
}

static void demand_gpm_begin(void *ctx)
{
    struct gpm *g = ctx;
    g->has_first = false;
}

static void demand_gpm_tick(void *ctx, double seconds)
{
    struct gpm *g = ctx;
    if (g->has_first || seconds < REFRESH_S)
        return;
    g->has_first = g->api.gpm_sample(g->device, g->first) == 0;
    g->first_s = seconds;
}

static void demand_gpm_take(const struct nvml_gpm_metric *m, double scale, double most, double *out)
{
    if (m->status == 0 && m->value >= 0 && m->value * scale <= most && !isfinite(*out))
        *out = m->value * scale;
}

static void demand_gpm_end(void *ctx, double seconds, struct as_demand_seen *out)
{
    static const double mib = 1 << 20, far = 1e15;
    struct gpm *g = ctx;
    if (!g->has_first || seconds < g->first_s + REFRESH_S || g->api.gpm_sample(g->device, g->second))
        return;
    struct nvml_gpm_request *r = calloc(1, sizeof *r);
    if (!r)
        return;
    r->version = NVML_GPM_VERSION;
    r->n = METRICS;
    r->first = g->first;
    r->second = g->second;
    r->metrics[0].id = NVML_GPM_DRAM_PERCENT;
    r->metrics[1].id = NVML_GPM_PCIE_RECEIVED;
    r->metrics[2].id = NVML_GPM_PCIE_SENT;
    if (g->api.gpm_metrics(r) == 0) {
        demand_gpm_take(&r->metrics[0], 0.01, 1, &out->device_memory);
        demand_gpm_take(&r->metrics[1], mib, far, &out->bus_received);
        demand_gpm_take(&r->metrics[2], mib, far, &out->bus_sent);
    }
    free(r);
}

extern const struct as_demand_source as_demand_gpm;
const struct as_demand_source as_demand_gpm = {.name = "gpm",
                                               .title = "memory and link of the NVIDIA device",
                                               .serves = as_nvml_serves,
                                               .open = open_gpm,
                                               .tick = demand_gpm_tick,
                                               .begin = demand_gpm_begin,
                                               .end = demand_gpm_end,
                                               .close = close_gpm};
