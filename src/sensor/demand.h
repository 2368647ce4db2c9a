/* Memory and bus traffic and the power of a chip's components while a probe samples: user-readable counters of memory
 * controllers, cache monitoring and devices. Each source reports some quantities; the others
 * stay unknown, with the reason. */
#ifndef AS_SENSOR_DEMAND_H
#define AS_SENSOR_DEMAND_H

#include "device/info.h"

/* Averages over a window. NAN: unknown. Each is a further metric of a cell (as_demand_metrics in model/metrics.h). */
struct as_demand_seen {
    double memory_read, memory_written; /* bytes/s at the CPU's memory controllers, from all requesters */
    double cpu_traffic;                 /* bytes/s between the CPU's last-level cache and memory */
    double device_memory;               /* share of the peak bandwidth of the device's memory, 0 to 1 */
    double device_busy;                 /* share of time that the device's memory was busy, 0 to 1 */
    double bus_received, bus_sent;      /* bytes/s over the device's PCIe link, from the device's side */
    /* Watts by rail. cpu_power is a package's, cores_power its cores', platform_power the whole machine's. */
    double cpu_power, gpu_power, ane_power, dram_power;
    double cores_power, platform_power, device_memory_power, module_power;
};

struct as_demand_source {
    const char *name;  /* "uncore" */
    const char *title; /* "memory controllers of the CPU" */
    bool (*serves)(const struct as_device_info *info);
    /* root: prefix of all paths, "" except in tests */
    enum as_status (*open)(const char *root, const struct as_device_info *info, void **ctx, struct as_error *err);
    void (*tick)(void *ctx,
                 double seconds); /* (optional) called repeatedly within the window; seconds since its start */
    void (*begin)(void *ctx);     /* starts a window */
    void (*end)(void *ctx, double seconds, struct as_demand_seen *out); /* sets its quantities unless already known */
    void (*close)(void *ctx);
};
extern const struct as_demand_source *const as_demand_sources[]; /* by precedence; terminated by NULL */

enum { AS_DEMAND_SOURCES_MAX = 8 };
struct as_demand {
    void *ctx[AS_DEMAND_SOURCES_MAX]; /* per entry of as_demand_sources; NULL: not open */
    double began;                     /* as_now(); NAN: no window */
};
/* Opens the sources for the device. available: their names, "uncore, gpm"; why_not: why others are missing. */
void as_demand_open(struct as_demand *d, const char *root, const struct as_device_info *info, struct as_buf *available,
                    struct as_buf *why_not);
void as_demand_begin(struct as_demand *d);
void as_demand_tick(struct as_demand *d); /* within a window, on any thread, but not concurrently with other calls */
void as_demand_end(struct as_demand *d, struct as_demand_seen *out);
void as_demand_close(struct as_demand *d); /* accepts a closed or zeroed one */

#endif
