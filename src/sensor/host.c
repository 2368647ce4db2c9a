/* The CPU on Linux: cpufreq, hwmon, RAPL through powercap, thermal interrupts, perf events. */
#include "sensor/host.h"

#include "base/clock.h"
#include "base/text.h"
#include "device/shared_host.h"
#include "os/counters.h"
#include "os/cpus.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPUS_MAX = 8, PACKAGES_MAX = 16, HWMON_MAX = 64, PATH_SIZE = 320 };

struct counter { /* energy: wraps around at its range */
    char path[PATH_SIZE];
    double range_j, last_j, turns_j;
};
struct host {
    char root[128];
    int cpus[CPUS_MAX]; /* the first usable CPUs */
    size_t cpus_n;
    char temperature[PATH_SIZE]; /* "" if none was found */
    struct counter packages[PACKAGES_MAX];
    size_t packages_n;
    double throttled; /* events so far, NAN unknown */
    int cycles, task; /* perf events, -1 if refused */
    double last_cycles, last_task;
};

static bool host_read_number(const char *path, double *out)
{
    char text[48];
    errno = 0;
    FILE *f = fopen(path, "re");
    size_t len = f ? fread(text, 1, sizeof text - 1, f) : 0;
    int why = f && len == 0 ? EIO : errno;
    if (f)
        fclose(f);
    text[len] = 0;
    text[strcspn(text, "\r\n")] = 0;
    if (len > 0 && as_parse_double(text, out, NULL) == AS_OK && *out >= 0)
        return true;
    errno = len ? EINVAL : why;
    return false;
}

/* ---- clock ---- */

static void find_cpus(struct host *h)
{
    struct as_cpus set;
    if (!as_thread_cpus(&set))
        as_cpus_add(&set, 0);
    for (int i = -1; h->cpus_n < CPUS_MAX && (i = as_cpus_next(&set, i)) >= 0;)
        h->cpus[h->cpus_n++] = i;
}

/* The fastest core, since idle cores are slow. */
static double cpufreq(const struct host *h)
{
    double most = NAN;
    for (size_t i = 0; i < h->cpus_n; i++) {
        char path[PATH_SIZE];
        double khz;
        snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", h->root, h->cpus[i]);
        if (host_read_number(path, &khz) && khz > 0)
            most = fmax(most, 1e3 * khz);
    }
    return most;
}

static void open_events(struct host *h, struct as_buf *why_not)
{
    char path[PATH_SIZE], why[160];
    double paranoid = NAN;
    h->cycles = as_counter_open(AS_COUNT_CYCLES);
    int reason = errno;
    h->task = h->cycles >= 0 ? as_counter_open(AS_COUNT_TASK_NS) : -1;
    if (h->cycles >= 0 && h->task >= 0)
        return;
    reason = h->cycles >= 0 ? errno : reason;
    snprintf(path, sizeof path, "%s/proc/sys/kernel/perf_event_paranoid", h->root);
    if (as_counter_limit())
        as_copy_text(why, sizeof why, as_counter_limit());
    else if (reason == ENOENT || reason == EOPNOTSUPP)
        snprintf(why, sizeof why, "no cycle counter, as on most virtual machines");
    else if (host_read_number(path, &paranoid) && (reason == EACCES || reason == EPERM))
        snprintf(why, sizeof why, "perf_event_paranoid is %.0f, at most 1 is needed", paranoid);
    else
        snprintf(why, sizeof why, "%s", strerror(reason));
    as_sensor_add_reason(why_not, "perf events", why);
}

static double read_event(int fd)
{
    unsigned long long v = 0;
    return fd >= 0 && read(fd, &v, sizeof v) == sizeof v ? (double)v : NAN;
}

/* Cycles per CPU time since the last reading: the true clock; cpufreq only reports a target. */
static double counted_clock(struct host *h)
{
    double cycles = read_event(h->cycles), task = read_event(h->task);
    double hz = (cycles - h->last_cycles) / (1e-9 * (task - h->last_task));
    bool enough = task - h->last_task > 1e5; /* ns */
    h->last_cycles = cycles;
    h->last_task = task;
    return enough && hz > 0 ? hz : NAN;
}

/* ---- temperature ---- */

static bool is_core_sensor(const char *path)
{
    static const char *const names[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal", "x86_pkg_temp"};
    char name[48] = "";
    FILE *f = fopen(path, "re");
    size_t len = f ? fread(name, 1, sizeof name - 1, f) : 0;
    if (f)
        fclose(f);
    name[len] = 0;
    name[strcspn(name, "\r\n")] = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void find_temperature(struct host *h, struct as_buf *why_not)
{
    static const struct {
        const char *folder, *name, *value;
    } places[] = {{"hwmon/hwmon", "name", "temp1_input"}, {"thermal/thermal_zone", "type", "temp"}};
    for (size_t p = 0; p < 2; p++)
        for (int i = 0; i < HWMON_MAX; i++) {
            char name[PATH_SIZE];
            snprintf(name, sizeof name, "%s/sys/class/%s%d/%s", h->root, places[p].folder, i, places[p].name);
            if (!is_core_sensor(name))
                continue;
            snprintf(name, sizeof name, "%s/sys/class/%s%d/%s", h->root, places[p].folder, i, places[p].value);
            as_copy_text(h->temperature, sizeof h->temperature, name);
            return;
        }
    as_sensor_add_reason(why_not, "temperature", "no hwmon of the CPU");
}

/* ---- power ---- */

/* The platform's domain contains the packages. */
static bool is_platform(const struct host *h, int zone)
{
    char path[PATH_SIZE], name[8] = "";
    snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:%d/name", h->root, zone);
    FILE *f = fopen(path, "re");
    if (f && !fgets(name, sizeof name, f))
        name[0] = 0;
    if (f)
        fclose(f);
    return strncmp(name, "psys", 4) == 0;
}

static void find_packages(struct host *h, struct as_buf *why_not)
{
    char path[PATH_SIZE];
    const char *why = "no RAPL";
    for (int i = 0; i < PACKAGES_MAX; i++) {
        struct counter *c = &h->packages[h->packages_n];
        double range = 0, now;
        snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:%d/energy_uj", h->root, i);
        as_copy_text(c->path, sizeof c->path, path);
        snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:%d/max_energy_range_uj", h->root, i);
        if (is_platform(h, i))
            continue;
        if (!host_read_number(c->path, &now)) {
            if (errno == EACCES || errno == EPERM)
                why = "RAPL can be read by root only";
            continue;
        }
        host_read_number(path, &range);
        c->range_j = 1e-6 * range;
        c->last_j = 1e-6 * now;
        h->packages_n++;
    }
    if (!h->packages_n)
        as_sensor_add_reason(why_not, "power", why);
}

static double energy(struct host *h)
{
    double sum = 0;
    for (size_t i = 0; i < h->packages_n; i++) {
        struct counter *c = &h->packages[i];
        double uj;
        if (!host_read_number(c->path, &uj))
            return NAN;
        if (1e-6 * uj < c->last_j)
            c->turns_j += c->range_j;
        c->last_j = 1e-6 * uj;
        sum += c->turns_j + c->last_j;
    }
    return h->packages_n ? sum : NAN;
}

/* ---- throttling ---- */

static double throttle_events(const struct host *h)
{
    static const char *const counters[] = {"package_throttle_count", "core_throttle_count"};
    double sum = NAN;
    for (size_t i = 0; i < h->cpus_n; i++)
        for (size_t k = 0; k < sizeof counters / sizeof counters[0]; k++) {
            char path[PATH_SIZE];
            double n;
            snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/thermal_throttle/%s", h->root, h->cpus[i],
                     counters[k]);
            if (host_read_number(path, &n))
                sum = (isfinite(sum) ? sum : 0) + n;
        }
    return sum;
}

/* ---- the contract ---- */

static bool host_serves(const struct as_device_info *info)
{
    return as_info_runs_native(info);
}

enum as_status as_host_open_at(const char *root, void **ctx, struct as_buf *why_not, struct as_error *err)
{
    struct host *h = calloc(1, sizeof *h);
    if (!h)
        return as_nomem(err, sizeof *h, "a sensor");
    as_copy_text(h->root, sizeof h->root, root);
    find_cpus(h);
    if (!isfinite(cpufreq(h)))
        as_sensor_add_reason(why_not, "clock", "no cpufreq");
    open_events(h, why_not);
    find_temperature(h, why_not);
    find_packages(h, why_not);
    h->throttled = throttle_events(h);
    if (!isfinite(h->throttled))
        as_sensor_add_reason(why_not, "throttling", "no counter of thermal events");
    *ctx = h;
    return AS_OK;
}

static enum as_status open_host(const struct as_device_info *info, void **ctx, struct as_buf *why_not,
                                struct as_error *err)
{
    (void)info;
    return as_host_open_at("", ctx, why_not, err);
}

static void host_read_now(void *ctx, enum as_sensor_part part, struct as_sensor_reading *out)
{
    struct host *h = ctx;
    double counted = counted_clock(h);
    out->clock_hz = isfinite(counted) ? counted : cpufreq(h);
    out->energy_j = energy(h);
    double events = throttle_events(h), milli;
    if (isfinite(events) && isfinite(h->throttled))
        out->throttle = events > h->throttled ? (int)AS_THROTTLE_THERMAL : 0;
    h->throttled = events;
    if (part == AS_SENSOR_ALL && h->temperature[0] && host_read_number(h->temperature, &milli))
        out->temperature = 1e-3 * milli;
}

static void close_host(void *ctx)
{
    struct host *h = ctx;
    if (h->cycles >= 0)
        close(h->cycles);
    if (h->task >= 0)
        close(h->task);
    free(h);
}

const struct as_sensor as_sensor_host = {
    .name = "host",
    .title = "the CPU, by cpufreq, hwmon, RAPL and perf events",
    .background = false, /* polling would compete for a core with the measurement */
    .serves = host_serves,
    .open = open_host,
    .read = host_read_now,
    .close = close_host,
};
