/* The sensor contract: clock, power, temperature and throttling of a device during a measurement. Sensors only read and
 * never change a setting. A missing value is unknown with a reason, never a failure of the run. */
#ifndef AS_SENSOR_SENSOR_H
#define AS_SENSOR_SENSOR_H

#include "device/device.h"
#include "model/readings.h"

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
void as_sensor_reading_clear(struct as_sensor_reading *r);
/* For why_not of struct as_sensor: "the driver does not tell: power, ECC errors", the values missing from a full
 * reading.
 */
void as_sensor_list_unknown(const struct as_sensor_reading *r, struct as_buf *why_not);

enum as_sensor_part {
    AS_SENSOR_QUICK, /* what moves while a device works: clocks, power, throttling, link */
    AS_SENSOR_ALL,
};

struct as_sensor {
    const char *name;  /* "nvml" */
    const char *title; /* one line */
    bool background;   /* reading does not disturb the device, so it may run during samples */
    double lag_s;      /* age of power and utilisation readings */
    bool (*serves)(const struct as_device_info *info);
    /* why_not: what it cannot tell of this device, with reasons; "" when it tells all that it knows of */
    enum as_status (*open)(const struct as_device_info *info, void **ctx, struct as_buf *why_not, struct as_error *err);
    void (*read)(void *ctx, enum as_sensor_part part, struct as_sensor_reading *out); /* *out is cleared before */
    void (*close)(void *ctx);
};
extern const struct as_sensor *const as_sensors[]; /* ends with NULL */

/* The sensor of a device, opened; sensor NULL when there is none, and why_not says why. */
struct as_sensing {
    const struct as_sensor *sensor;
    void *ctx;
    char why_not[280];
    double read_s;   /* what a quick reading costs, measured when it was opened; NAN without sensor */
    bool stays_slow; /* throttling did not end in time */
};
void as_sensing_open(const struct as_device_info *info, struct as_sensing *out);
void as_sensing_read(struct as_sensing *s, enum as_sensor_part part, struct as_sensor_reading *out);
void as_sensing_close(struct as_sensing *s); /* takes one that is closed */
/* Writes into info which sensor serves the device or why none does, and what makes its numbers unfit right now. */
void as_sensing_describe(struct as_sensing *s, struct as_device_info *info);

#endif
