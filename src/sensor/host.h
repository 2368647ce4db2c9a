/* The sensor of the CPU. root: prefix of all paths, "" except in tests. */
#ifndef AS_SENSOR_HOST_H
#define AS_SENSOR_HOST_H

#include "sensor/sensor.h"

enum as_status as_host_open_at(const char *root, void **ctx, struct as_buf *why_not, struct as_error *err);
extern const struct as_sensor as_sensor_host;

#endif
