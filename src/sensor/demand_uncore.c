/* Memory controllers of CPUs through perf's uncore events: all reads and writes of memory in the machine.
 * A user may count them where kernel.perf_event_paranoid is 0 or less, or with CAP_PERFMON. */
#include "base/text.h"
#include "os/counters.h"
#include "sensor/demand.h"
#include "sensor/ioreport.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNTERS_MAX = 512, PATH_SIZE = 512, TEXT_SIZE = 128 };

/* PMUs and their events: names in sysfs, or bits from the vendor's manual. */
static const struct kind {
    const char *pmu;
    const char *read, *written;         /* names in events/ */
    uint64_t read_config, write_config; /* if the kernel has no names: 64 bytes per count */
} kinds[] = {
    {"uncore_imc_free_running*", "data_read", "data_write", 0, 0}, /* client chips */
    {"uncore_imc", "data_reads", "data_writes", 0, 0},             /* older chips */
    {"uncore_imc_[0-9]*", "cas_count_read", "cas_count_write", 0, 0},
    {"amd_umc_[0-9]*", NULL, NULL, 0x10a, 0x20a}, /* UMC_CAS_CMD, reads and writes: Processor Programming Reference */
    {"nvidia_scf_pmu_*", "cmem_rd_bytes", "cmem_wr_total_bytes", 0, 0}, /* Grace */
};

struct counter {
    int fd;
    bool writes;
    double scale, before; /* bytes per count; counts at the beginning */
};
struct uncore {
    struct counter counters[COUNTERS_MAX];
    size_t n, reads;
    int refused; /* errno of the last counter that failed to open */
};

static bool demand_uncore_serves(const struct as_device_info *info)
{
    return !as_ioreport_serves(info); /* all devices, since CPU traffic matters beside them; macOS has no such files */
}

static bool demand_uncore_read_text(const char *folder, const char *file, char out[TEXT_SIZE])
{
    char path[PATH_SIZE];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = length > 0 && length < PATH_SIZE ? fopen(path, "re") : NULL;
    const size_t n = f ? fread(out, 1, TEXT_SIZE - 1, f) : 0;
    if (f)
        fclose(f);
    out[n] = 0;
    out[strcspn(out, "\r\n")] = 0;
    return n > 0;
}

/* Sets the bits of a term by its format, "config:0-7" or "config:0-7,32-35"; only `config` itself is known. */
static bool place_bits(const char *format, uint64_t value, uint64_t *config)
{
    const char *at = strncmp(format, "config:", 7) == 0 ? format + 7 : NULL;
    while (at && *at) {
        char *end;
        const unsigned long first = strtoul(at, &end, 10);
        const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        if (end == at || last < first || last > 63 || (*end && *end != ','))
            return false;
        const unsigned width = (unsigned)(last - first + 1);
        const uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
        *config |= (value & mask) << first;
        value = width == 64 ? 0 : value >> width;
        at = *end ? end + 1 : end;
    }
    return at && value == 0;
}

/* "event=0x04,umask=0x03" by the formats of the PMU */
static bool parse_event(const char *pmu, const char *event, uint64_t *config)
{
    char text[TEXT_SIZE], *rest = NULL;
    snprintf(text, sizeof text, "%s", event);
    *config = 0;
    for (char *term = strtok_r(text, ",", &rest); term; term = strtok_r(NULL, ",", &rest)) {
        char file[TEXT_SIZE + 8], format[TEXT_SIZE], *equals = strchr(term, '='), *end = NULL;
        if (equals)
            *equals = 0;
        const uint64_t value = equals ? strtoull(equals + 1, &end, 0) : 1;
        snprintf(file, sizeof file, "format/%s", term);
        if (strchr(term, '/') || (equals && (end == equals + 1 || *end)) ||
            !demand_uncore_read_text(pmu, file, format) || !place_bits(format, value, config))
            return false;
    }
    return true;
}

/* Bytes per count: sysfs's scale times its unit. */
static double demand_uncore_scale_of(const char *pmu, const char *name)
{
    char file[TEXT_SIZE], text[TEXT_SIZE];
    double scale = 1;
    snprintf(file, sizeof file, "events/%s.scale", name);
    if (demand_uncore_read_text(pmu, file, text) && (as_parse_double(text, &scale, NULL) != AS_OK || !(scale > 0)))
        return NAN;
    snprintf(file, sizeof file, "events/%s.unit", name);
    if (!demand_uncore_read_text(pmu, file, text))
        return scale;
    return strcmp(text, "MiB") == 0 ? scale * (1 << 20) : strcmp(text, "Bytes") == 0 ? scale : NAN;
}

static void demand_uncore_add(struct uncore *u, const char *pmu, uint64_t config, double scale, bool writes)
{
    char text[TEXT_SIZE];
    double type;
    if (!isfinite(scale) || !demand_uncore_read_text(pmu, "type", text) ||
        as_parse_double(text, &type, NULL) != AS_OK || !(type >= 0 && type <= UINT32_MAX))
        return;
    /* "0,28": one CPU per package counts for its memory controllers */
    const char *at = demand_uncore_read_text(pmu, "cpumask", text) ? text : "0";
    while (*at && !u->refused) {
        char *end;
        const unsigned long cpu = strtoul(at, &end, 10);
        const int fd = end == at || cpu > INT32_MAX ? (errno = EINVAL, -1)
                       : u->n == COUNTERS_MAX       ? (errno = EMFILE, -1)
                                                    : as_counter_open_unit((uint32_t)type, config, (int)cpu);
        if (fd < 0) {
            u->refused = errno;
            return;
        }
        u->counters[u->n++] = (struct counter){.fd = fd, .writes = writes, .scale = scale};
        u->reads += !writes;
        at = *end == ',' ? end + 1 : end;
        if (*end && *end != ',')
            u->refused = EINVAL; /* a range or invalid: kernels do not write this */
    }
}

static void add_pmu(struct uncore *u, const char *pmu, const struct kind *k)
{
    const char *const names[] = {k->read, k->written};
    const uint64_t configs[] = {k->read_config, k->write_config};
    for (int writes = 0; writes < 2; writes++) {
        char file[TEXT_SIZE], event[TEXT_SIZE];
        uint64_t config = configs[writes];
        double scale = 64;
        if (names[writes]) {
            snprintf(file, sizeof file, "events/%s", names[writes]);
            if (!demand_uncore_read_text(pmu, file, event) || !parse_event(pmu, event, &config))
                continue;
            scale = demand_uncore_scale_of(pmu, names[writes]);
        }
        demand_uncore_add(u, pmu, config, scale, writes);
    }
}

static size_t demand_uncore_add_all(struct uncore *u, const char *folder, DIR *dir)
{
    const struct dirent *e;
    size_t seen = 0;
    while ((e = readdir(dir)))
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            char pmu[PATH_SIZE];
            if (fnmatch(kinds[i].pmu, e->d_name, 0) != 0)
                continue;
            const int length = snprintf(pmu, sizeof pmu, "%s/%s", folder, e->d_name);
            if (length > 0 && length < PATH_SIZE)
                add_pmu(u, pmu, &kinds[i]);
            seen++;
            break;
        }
    return seen;
}

static void close_uncore(void *ctx)
{
    struct uncore *u = ctx;
    for (size_t i = 0; i < u->n; i++)
        close(u->counters[i].fd);
    free(u);
}

static enum as_status open_uncore(const char *root, const struct as_device_info *info, void **ctx, struct as_error *err)
{
    char folder[PATH_SIZE / 2];
    (void)info;
    snprintf(folder, sizeof folder, "%s/sys/bus/event_source/devices", root);
    struct uncore *u = calloc(1, sizeof *u);
    DIR *dir = opendir(folder);
    const size_t seen = u && dir ? demand_uncore_add_all(u, folder, dir) : 0;
    if (dir)
        closedir(dir);
    if (!u)
        return as_nomem(err, sizeof *u, "a source of memory traffic");
    if (u->n && !u->refused) { /* a subset of the controllers would be taken for all */
        *ctx = u;
        return AS_OK;
    }
    const int refused = u->refused;
    close_uncore(u);
    if (refused == EACCES || refused == EPERM)
        return as_fail(err, AS_UNSUPPORTED,
                       "no permission for counters: set kernel.perf_event_paranoid=0, or grant CAP_PERFMON");
    if (refused)
        return as_fail(err, AS_UNSUPPORTED, "counters cannot be opened: %s", strerror(refused));
    return as_fail(err, AS_UNSUPPORTED,
                   seen ? "the kernel names no event that counts bytes"
                        : "the kernel shows no uncore PMU, as in most virtual machines");
}

static bool demand_uncore_read_counts(const struct counter *c, double *out)
{
    uint64_t n = 0;
    const bool good = read(c->fd, &n, sizeof n) == (ssize_t)sizeof n;
    *out = (double)n;
    return good;
}

static void demand_uncore_begin(void *ctx)
{
    struct uncore *u = ctx;
    for (size_t i = 0; i < u->n; i++)
        if (!demand_uncore_read_counts(&u->counters[i], &u->counters[i].before))
            u->counters[i].before = NAN;
}

static void demand_uncore_end(void *ctx, double seconds, struct as_demand_seen *out)
{
    const struct uncore *u = ctx;
    double bytes[2] = {0, 0};
    for (size_t i = 0; i < u->n; i++) {
        double now;
        const struct counter *c = &u->counters[i];
        bytes[c->writes] += demand_uncore_read_counts(c, &now) && now >= c->before ? (now - c->before) * c->scale : NAN;
    }
    if (u->reads && isfinite(bytes[0]))
        out->memory_read = bytes[0] / seconds;
    if (u->n > u->reads && isfinite(bytes[1]))
        out->memory_written = bytes[1] / seconds;
}

extern const struct as_demand_source as_demand_uncore;
const struct as_demand_source as_demand_uncore = {.name = "uncore",
                                                  .title = "memory controllers of the CPU",
                                                  .serves = demand_uncore_serves,
                                                  .open = open_uncore,
                                                  .begin = demand_uncore_begin,
                                                  .end = demand_uncore_end,
                                                  .close = close_uncore};
