/* The sensor of AMD GPUs. root: prefix of all paths, "" except in tests. */
#ifndef AS_SENSOR_AMDGPU_H
#define AS_SENSOR_AMDGPU_H

#include "sensor/sensor.h"

enum as_status as_amdgpu_open_at(const char *root, const char *bus_id, void **ctx, struct as_buf *why_not,
                                 struct as_error *err);
extern const struct as_sensor as_sensor_amdgpu;

#endif
