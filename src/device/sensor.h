/* The sensor contract: what tells a device's clock, power, temperature and the like while it is measured. Sensors only
 * read; none ever changes a setting. What a sensor cannot tell stays unknown, and it says why; that nothing can be told
 * is a result, never a failure of the run. */
#ifndef AS_DEVICE_SENSOR_H
#define AS_DEVICE_SENSOR_H

#include "base/throttle.h"
#include "device/info.h"

/* One moment. Unknown: NAN, for throttle -1. */
struct as_sensor_reading {
    double clock_hz, memory_clock_hz;
    double power_w;
    double energy_j; /* a counter that only grows */
    double temperature;
    int throttle; /* AS_THROTTLE_* bits */
    double pcie_generation, pcie_width, pcie_generation_max, pcie_width_max;
    double ecc_corrected, ecc_uncorrected; /* counters since the driver was loaded */
    double users;                          /* processes on the device that are not assay's */
    double utilisation;                    /* 0 to 1 */
};

enum as_sensor_part {
    AS_SENSOR_QUICK, /* what moves while a device works: clocks, power, throttling, link */
    AS_SENSOR_ALL,
};

struct as_sensor {
    const char *name;  /* "nvml" */
    const char *title; /* one line */
    bool background;   /* reading takes nothing from the device, so it may go on while it is measured */
    bool is_mean;      /* clock and utilisation are means since the previous reading */
    double lag_s;      /* a reading of power or utilisation may be of that long ago */
    /* NULL for a backend's own, which serves all of the backend's devices */
    bool (*serves)(const struct as_device_info *info);
    /* why_not: what it cannot tell of this device, with reasons; "" when it tells all that it knows of */
    enum as_status (*open)(const struct as_device_info *info, void **ctx, struct as_buf *why_not, struct as_error *err);
    void (*read)(void *ctx, enum as_sensor_part part, struct as_sensor_reading *out); /* *out is cleared before */
    void (*close)(void *ctx);
};

#endif
