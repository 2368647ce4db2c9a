/* The sensors that this build knows, and the one that serves a device. */
#ifndef AS_SENSOR_SENSOR_H
#define AS_SENSOR_SENSOR_H

#include "device/device.h"
#include "device/sensor.h"
#include "model/readings.h"
#include "sensor/demand.h"

void as_sensor_reading_clear(struct as_sensor_reading *r);
/* For why_not of struct as_sensor: "the driver does not tell: power, ECC errors", the values missing from a full
 * reading.
 */
void as_sensor_list_unknown(const struct as_sensor_reading *r, struct as_buf *why_not);

extern const struct as_sensor *const as_sensors[]; /* ends with NULL */
/* The backend's own, else the first of as_sensors that serves the device; NULL when there is none. */
const struct as_sensor *as_sensor_of(const struct as_device_info *info);

/* The sensor of a device, opened; sensor NULL when there is none, and why_not says why. */
struct as_sensing {
    const struct as_sensor *sensor;
    void *ctx;
    char why_not[280];
    double read_s;   /* what a quick reading costs, measured when it was opened; NAN without sensor */
    bool stays_slow; /* throttling did not end in time */
    struct as_demand demand;
    char demand_names[64], demand_why[280]; /* its sources, and why others are not there */
};
void as_sensing_open(const struct as_device_info *info, struct as_sensing *out);
void as_sensing_read(struct as_sensing *s, enum as_sensor_part part, struct as_sensor_reading *out);
void as_sensing_close(struct as_sensing *s); /* takes one that is closed */
/* Writes into info which sensor serves the device or why none does, and what makes its numbers unfit right now. */
void as_sensing_describe(struct as_sensing *s, struct as_device_info *info);

#endif
