/* The sensor of AMD GPUs. root: prefix of all paths, "" except in tests. */
#ifndef AS_SENSOR_AMDGPU_H
#define AS_SENSOR_AMDGPU_H

#include "sensor/sensor.h"

enum as_status as_amdgpu_open_at(const char *root, const char *bus_id, void **ctx, struct as_buf *why_not,
                                 struct as_error *err);
/* The links to other GPUs, for as_sensor.describe: by KFD's topology, and by the gpu_metrics table, which is in
 * the folder of the PCI device. */
void as_amdgpu_describe_links(const char *root, const char *bus_id, const unsigned char *table, size_t size,
                              struct as_device_info *info);
enum { AMDGPU_TABLE_MAX = 512 };
/* A gpu_metrics table of at least `least` bytes, of this version: format and content. */
bool as_amdgpu_table_is(const unsigned char *table, size_t size, unsigned format, unsigned content, size_t least);
uint64_t as_amdgpu_table_number(const unsigned char *table, size_t at, size_t bytes);
/* PCIe replays by the table; NAN unknown. */
double as_amdgpu_table_replays(const unsigned char *table, size_t size);
extern const struct as_sensor as_sensor_amdgpu;

#endif
