/* Power by named rails: the domains of RAPL (package, cores, memory, platform) through powercap, and the scopes of NVML
 * (GPU, its memory, the module). Apple's are in demand_apple.c. */
#include "base/text.h"
#include "sensor/demand.h"
#include "sensor/ioreport.h"
#include "sensor/nvml_api.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- RAPL ---- */

enum { ZONES_MAX = 16, PARTS_MAX = 6, DOMAINS_MAX = 64, RAPL_PATH = 320 };
static const struct {
    const char *word; /* with which the zone's name begins: "package-0" */
    size_t offset;
} rapl_kinds[] = {
    {"package", offsetof(struct as_demand_seen, cpu_power)},
    {"core", offsetof(struct as_demand_seen, cores_power)},
    {"dram", offsetof(struct as_demand_seen, dram_power)},
    {"psys", offsetof(struct as_demand_seen, platform_power)},
};
enum { RAPL_KINDS = sizeof rapl_kinds / sizeof *rapl_kinds };
struct domain {
    size_t kind;
    char path[RAPL_PATH]; /* of its counter */
    double range_j, began_j;
};
struct rapl {
    struct domain domains[DOMAINS_MAX];
    size_t n;
};

static bool rapl_text(const char *path, char out[48])
{
    FILE *f = fopen(path, "re");
    const size_t n = f ? fread(out, 1, 47, f) : 0;
    const int why = f && n == 0 ? EIO : errno;
    if (f)
        fclose(f);
    out[n] = 0;
    out[strcspn(out, "\r\n")] = 0;
    errno = why;
    return n > 0;
}

/* Microjoules in a file, as joules; NAN. */
static double rapl_joules(const char *path)
{
    char text[48];
    double uj;
    return rapl_text(path, text) && as_parse_double(text, &uj, NULL) == AS_OK && uj >= 0 ? 1e-6 * uj : NAN;
}

static bool demand_rapl_add(struct rapl *r, const char *folder)
{
    char path[RAPL_PATH], name[48];
    size_t kind = 0;
    snprintf(path, sizeof path, "%.300s/name", folder);
    if (!rapl_text(path, name))
        return errno != EACCES;
    while (kind < RAPL_KINDS && strncmp(name, rapl_kinds[kind].word, strlen(rapl_kinds[kind].word)) != 0)
        kind++;
    if (kind == RAPL_KINDS || r->n == DOMAINS_MAX)
        return true;
    struct domain *d = &r->domains[r->n];
    d->kind = kind;
    snprintf(d->path, sizeof d->path, "%.290s/energy_uj", folder);
    errno = 0;
    if (!isfinite(rapl_joules(d->path)))
        return errno != EACCES && errno != EPERM;
    snprintf(path, sizeof path, "%.290s/max_energy_range_uj", folder);
    d->range_j = rapl_joules(path);
    r->n++;
    return true;
}

static bool demand_rapl_serves(const struct as_device_info *info)
{
    return !as_ioreport_serves(info); /* all devices, as the host works beside them */
}

static enum as_status open_rapl(const char *root, const struct as_device_info *info, void **ctx, struct as_error *err)
{
    bool readable = true;
    char folder[RAPL_PATH];
    struct rapl *r = calloc(1, sizeof *r);
    (void)info;
    if (!r)
        return as_nomem(err, sizeof *r, "a source of power readings");
    for (int zone = 0; zone < ZONES_MAX; zone++)
        for (int part = -1; part < PARTS_MAX; part++) {
            const int n = snprintf(folder, sizeof folder, "%s/sys/class/powercap/intel-rapl:%d", root, zone);
            if (part >= 0)
                snprintf(folder + n, sizeof folder - (size_t)n, ":%d", part);
            readable &= demand_rapl_add(r, folder);
        }
    if (r->n) {
        *ctx = r;
        return AS_OK;
    }
    free(r);
    return as_fail(err, AS_UNSUPPORTED,
                   readable ? "the kernel shows no RAPL domains, as in most virtual machines"
                            : "RAPL domains can be read by root only");
}

static void demand_rapl_begin(void *ctx)
{
    struct rapl *r = ctx;
    for (size_t i = 0; i < r->n; i++)
        r->domains[i].began_j = rapl_joules(r->domains[i].path);
}

/* A rail is known if all its domains are: packages add up. */
static void demand_rapl_end(void *ctx, double seconds, struct as_demand_seen *out)
{
    const struct rapl *r = ctx;
    for (size_t k = 0; k < RAPL_KINDS; k++) {
        double *power = (double *)(void *)((char *)out + rapl_kinds[k].offset), joules = 0;
        size_t n = 0;
        for (size_t i = 0; i < r->n; i++)
            if (r->domains[i].kind == k) {
                const double used = rapl_joules(r->domains[i].path) - r->domains[i].began_j;
                joules += used < 0 ? used + r->domains[i].range_j : used;
                n++;
            }
        if (n && joules >= 0 && !isfinite(*power))
            *power = joules / seconds;
    }
}

/* ---- NVML ---- */

enum { SCOPES = 3 };
static const size_t scope_offsets[SCOPES] = {
    [NVML_SCOPE_GPU] = offsetof(struct as_demand_seen, gpu_power),
    [NVML_SCOPE_MODULE] = offsetof(struct as_demand_seen, module_power),
    [NVML_SCOPE_MEMORY] = offsetof(struct as_demand_seen, device_memory_power),
};
/* The driver renews its values every 100 ms on an H200: until then they are those of earlier work. */
static const double RENEWED_S = 0.1;
struct scopes {
    struct as_nvml_api api;
    nvml_device device;
    bool is_open;
    double sum[SCOPES];
    size_t n[SCOPES];
};

static size_t read_scopes(struct scopes *s)
{
    size_t known = 0;
    struct nvml_field_value v[SCOPES];
    for (unsigned i = 0; i < SCOPES; i++)
        v[i] = (struct nvml_field_value){.field = NVML_FIELD_POWER_INSTANT, .scope = i, .status = NVML_SUCCESS + 1};
    if (s->api.fields(s->device, SCOPES, v) != NVML_SUCCESS)
        return 0;
    for (size_t i = 0; i < SCOPES; i++)
        if (v[i].status == NVML_SUCCESS && v[i].type == NVML_VALUE_UNSIGNED_INT && v[i].value.u > 0) {
            s->sum[i] += 1e-3 * v[i].value.u;
            s->n[i]++;
            known++;
        }
    return known;
}

static void close_scopes(void *ctx)
{
    struct scopes *s = ctx;
    if (s->is_open)
        s->api.shutdown();
    as_nvml_unload(&s->api);
    free(s);
}

static enum as_status start_scopes(struct scopes *s, const struct as_device_info *info, struct as_error *err)
{
    const enum as_status st = as_nvml_load(&s->api, err);
    if (st)
        return st;
    s->is_open = s->api.init() == NVML_SUCCESS;
    if (!s->is_open || s->api.by_bus_id(info->bus_id, &s->device))
        return as_fail(err, AS_UNSUPPORTED, "NVML does not find the device");
    if (!s->api.fields || !read_scopes(s))
        return as_fail(err, AS_UNSUPPORTED, "the device does not report power by scope");
    return AS_OK;
}

static enum as_status open_scopes(const char *root, const struct as_device_info *info, void **ctx, struct as_error *err)
{
    (void)root;
    struct scopes *s = calloc(1, sizeof *s);
    if (!s)
        return as_nomem(err, sizeof *s, "a source of power readings");
    const enum as_status st = start_scopes(s, info, err);
    if (st)
        close_scopes(s);
    else
        *ctx = s;
    return st;
}

static void demand_scopes_begin(void *ctx)
{
    struct scopes *s = ctx;
    memset(s->sum, 0, sizeof s->sum);
    memset(s->n, 0, sizeof s->n);
}

static void demand_scopes_tick(void *ctx, double seconds)
{
    if (seconds >= RENEWED_S)
        (void)read_scopes(ctx);
}

static void demand_scopes_end(void *ctx, double seconds, struct as_demand_seen *out)
{
    const struct scopes *s = ctx;
    (void)seconds;
    for (size_t i = 0; i < SCOPES; i++) {
        double *power = (double *)(void *)((char *)out + scope_offsets[i]);
        if (s->n[i] && !isfinite(*power))
            *power = s->sum[i] / (double)s->n[i];
    }
}

extern const struct as_demand_source as_demand_rapl, as_demand_scopes;
const struct as_demand_source as_demand_rapl = {.name = "rapl",
                                                .title = "power domains of the CPU",
                                                .serves = demand_rapl_serves,
                                                .open = open_rapl,
                                                .begin = demand_rapl_begin,
                                                .end = demand_rapl_end,
                                                .close = free};
const struct as_demand_source as_demand_scopes = {.name = "power scopes",
                                                  .title = "power scopes of the NVIDIA device",
                                                  .serves = as_nvml_serves,
                                                  .open = open_scopes,
                                                  .tick = demand_scopes_tick,
                                                  .begin = demand_scopes_begin,
                                                  .end = demand_scopes_end,
                                                  .close = close_scopes};
