/* The sensors of this build, and selection of a device's sensor. */
#ifndef AS_SENSOR_SENSOR_H
#define AS_SENSOR_SENSOR_H

#include "device/info.h"
#include "device/sensor.h"
#include "model/readings.h"
#include "sensor/demand.h"

void as_sensor_reading_clear(struct as_sensor_reading *r);
/* For why_not of struct as_sensor: "not reported by the driver: power, ECC errors", the values missing in a full
 * reading. */
void as_sensor_list_unknown(const struct as_sensor_reading *r, struct as_buf *why_not);
/* Adds to why_not what a sensor cannot read, with the reason. */
void as_sensor_add_reason(struct as_buf *why_not, const char *what, const char *why);

extern const struct as_sensor *const as_sensors[]; /* terminated by NULL */
/* The backend's own, else the first of as_sensors that supports the device; NULL if there is none. */
const struct as_sensor *as_sensor_of(const struct as_device_info *info);

/* The open sensor of a device; sensor is NULL if there is none, and why_not has the reason. */
struct as_sensing {
    const struct as_sensor *sensor;
    void *ctx;
    char why_not[280];
    double read_s;   /* duration of a quick reading, measured at opening; NAN without sensor */
    bool stays_slow; /* throttling did not end in time */
    struct as_demand demand;
    char demand_names[64], demand_why[280]; /* its sources, and why others are missing */
};
void as_sensing_open(const struct as_device_info *info, struct as_sensing *out);
void as_sensing_read(struct as_sensing *s, enum as_sensor_part part, struct as_sensor_reading *out);
void as_sensing_close(struct as_sensing *s); /* accepts a closed one */
/* Sets the sensor fields of info: its name or why there is none, and conditions that currently distort measurements. */
void as_sensing_describe(struct as_sensing *s, struct as_device_info *info);

#endif
