/* Memory bandwidth monitoring of x86 and Arm through the kernel's resctrl file system: traffic of each
 * last-level cache to and from memory, for tasks in the default group. */
#include "base/text.h"
#include "sensor/demand.h"
#include "sensor/ioreport.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOMAINS_MAX = 64, PATH_SIZE = 512 };

struct resctrl {
    char counters[DOMAINS_MAX][PATH_SIZE];
    size_t n;
    double before; /* bytes, NAN unknown */
};

static bool demand_resctrl_serves(const struct as_device_info *info)
{
    return !as_ioreport_serves(info); /* all devices, since CPU traffic matters beside them; macOS has no such files */
}

static bool demand_resctrl_read_counter(const char *path, double *out)
{
    char text[48];
    FILE *f = fopen(path, "re");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    text[strcspn(text, "\r\n")] = 0;
    return n > 0 && as_parse_double(text, out, NULL) == AS_OK && isfinite(*out) && *out >= 0;
}

static double demand_resctrl_total(const struct resctrl *r)
{
    double sum = 0, v;
    for (size_t i = 0; i < r->n; i++) {
        if (!demand_resctrl_read_counter(r->counters[i], &v)) /* "Unavailable" */
            return NAN;
        sum += v;
    }
    return sum;
}

static void find_domains(struct resctrl *r, const char *folder, DIR *dir)
{
    const struct dirent *e;
    while ((e = readdir(dir)) && r->n < DOMAINS_MAX) {
        char *path = r->counters[r->n];
        if (strncmp(e->d_name, "mon_L3_", 7) != 0)
            continue;
        const int length = snprintf(path, PATH_SIZE, "%s/%s/mbm_total_bytes", folder, e->d_name);
        r->n += length > 0 && length < PATH_SIZE;
    }
}

static enum as_status open_resctrl(const char *root, const struct as_device_info *info, void **ctx,
                                   struct as_error *err)
{
    char folder[PATH_SIZE / 2];
    (void)info;
    snprintf(folder, sizeof folder, "%s/sys/fs/resctrl/mon_data", root);
    DIR *dir = opendir(folder);
    if (!dir && errno == ENOENT)
        return as_fail(err, AS_UNSUPPORTED, "resctrl is not mounted, or this CPU has no monitoring");
    if (!dir)
        return as_fail(err, AS_UNSUPPORTED, "'%s': %s", folder, strerror(errno));
    struct resctrl *r = calloc(1, sizeof *r);
    if (r)
        find_domains(r, folder, dir);
    closedir(dir);
    if (!r)
        return as_nomem(err, sizeof *r, "a source of memory traffic");
    if (r->n == 0 || !isfinite(demand_resctrl_total(r))) {
        free(r);
        return as_fail(err, AS_UNSUPPORTED, "'%s' has no mbm_total_bytes that can be read", folder);
    }
    *ctx = r;
    return AS_OK;
}

static void demand_resctrl_begin(void *ctx)
{
    struct resctrl *r = ctx;
    r->before = demand_resctrl_total(r);
}

static void demand_resctrl_end(void *ctx, double seconds, struct as_demand_seen *out)
{
    const struct resctrl *r = ctx;
    const double moved = demand_resctrl_total(r) - r->before;
    if (moved >= 0 && !isfinite(out->cpu_traffic))
        out->cpu_traffic = moved / seconds;
}

extern const struct as_demand_source as_demand_resctrl;
const struct as_demand_source as_demand_resctrl = {.name = "resctrl",
                                                   .title = "traffic of the last-level cache",
                                                   .serves = demand_resctrl_serves,
                                                   .open = open_resctrl,
                                                   .begin = demand_resctrl_begin,
                                                   .end = demand_resctrl_end,
                                                   .close = free};
