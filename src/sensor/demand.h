/* Memory and bus traffic, and the power of a chip's parts, while a probe samples: counters of memory controllers, of
 * the cache's monitoring and of devices, those that a user may read. Each source tells some of the quantities; what no
 * source tells stays unknown, with the reason. */
#ifndef AS_SENSOR_DEMAND_H
#define AS_SENSOR_DEMAND_H

#include "device/info.h"

/* Means over a window. NAN: unknown. Each is a further metric of a cell (as_demand_metrics in model/metrics.h). */
struct as_demand_seen {
    double memory_read, memory_written; /* bytes/s at the CPU's memory controllers, by whatever asks for them */
    double cpu_traffic;                 /* bytes/s between the CPU's last-level cache and memory */
    double device_memory;               /* share of the peak of the device's memory, 0 to 1 */
    double device_busy;                 /* share of time that the device's memory was busy, 0 to 1 */
    double bus_received, bus_sent;      /* bytes/s over the device's PCIe link, as the device sees it */
    double cpu_power, gpu_power, ane_power, dram_power; /* watts of the parts of one chip */
};

struct as_demand_source {
    const char *name;  /* "uncore" */
    const char *title; /* "memory controllers of the CPU" */
    bool (*serves)(const struct as_device_info *info);
    /* root: of the file system, "" outside of tests */
    enum as_status (*open)(const char *root, const struct as_device_info *info, void **ctx, struct as_error *err);
    void (*tick)(void *ctx, double seconds); /* (optional) now and then within the window, so long after its begin */
    void (*begin)(void *ctx);                /* a window */
    void (*end)(void *ctx, double seconds, struct as_demand_seen *out); /* sets what it tells, if it is unknown */
    void (*close)(void *ctx);
};
extern const struct as_demand_source *const as_demand_sources[]; /* by precedence; ends with NULL */

enum { AS_DEMAND_SOURCES_MAX = 8 };
struct as_demand {
    void *ctx[AS_DEMAND_SOURCES_MAX]; /* of as_demand_sources; NULL: not open */
    double began;                     /* as_now(); NAN: there is no window */
};
/* Opens those that serve the device. available: their names, "uncore, gpm"; why_not: why others are not there. */
void as_demand_open(struct as_demand *d, const char *root, const struct as_device_info *info, struct as_buf *available,
                    struct as_buf *why_not);
void as_demand_begin(struct as_demand *d);
void as_demand_tick(struct as_demand *d); /* within a window, on any thread, not beside another of these */
void as_demand_end(struct as_demand *d, struct as_demand_seen *out);
void as_demand_close(struct as_demand *d); /* takes one that is closed, or all zero */

#endif
