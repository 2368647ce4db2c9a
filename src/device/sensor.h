/* The sensor contract: reads a device's clock, power, temperature and the like while it is measured. Sensors only
 * read and never change a setting. What a sensor cannot read stays unknown, with a reason; a missing sensor
 * is a result, never a failure of the run. */
#ifndef AS_DEVICE_SENSOR_H
#define AS_DEVICE_SENSOR_H

#include "base/throttle.h"
#include "device/info.h"

/* One reading. Unknown values are NAN, throttle -1. */
struct as_sensor_reading {
    double clock_hz, memory_clock_hz;
    double power_w;
    double power_limit_w; /* as enforced */
    double energy_j;      /* a monotonic counter */
    double temperature;
    int throttle; /* AS_THROTTLE_* bits */
    double pcie_generation, pcie_width, pcie_generation_max, pcie_width_max;
    double ecc_corrected, ecc_uncorrected; /* counters since the driver was loaded; so are the next two lines */
    double link_errors, link_replays;      /* of links to other devices: errors and recoveries, and replays */
    double pcie_replays;
    double users;       /* other processes on the device */
    double utilisation; /* 0 to 1 */
};

enum as_sensor_part {
    AS_SENSOR_QUICK, /* changes while a device works: clocks, power, throttling, link */
    AS_SENSOR_ALL,
};

struct as_sensor {
    const char *name;  /* "nvml" */
    const char *title; /* one line */
    bool background;   /* readings do not disturb the device, so they continue while it is measured */
    bool is_mean;      /* clock and utilisation are averages since the previous reading */
    double lag_s;      /* age that a reading of power or utilisation may have */
    /* NULL for a backend's own sensor, which serves all its devices */
    bool (*serves)(const struct as_device_info *info);
    /* why_not: what it cannot read of this device, with reasons; "" if it reads everything */
    enum as_status (*open)(const struct as_device_info *info, void **ctx, struct as_buf *why_not, struct as_error *err);
    void (*read)(void *ctx, enum as_sensor_part part, struct as_sensor_reading *out); /* *out is cleared first */
    /* (optional) Sets the fields of info that describe links to other devices. */
    void (*describe)(void *ctx, struct as_device_info *info);
    void (*close)(void *ctx);
};

#endif
