/* Memory in use on the machine's GPUs, by all processes together, read without opening a device. */
#ifndef AS_SENSOR_USED_MEMORY_H
#define AS_SENSOR_USED_MEMORY_H

#include "sensor/nvml_api.h"

enum { AS_USED_COUNTERS_MAX = 128 };
struct as_used_counter {
    char name[48];      /* "GPU 0", "0000:c1:00.0 VRAM" */
    const char *counts; /* what it includes */
    char path[320];     /* the kernel driver's file; "" with a device of NVML */
    nvml_device device;
};
struct as_used_memory {
    struct as_nvml_api nvml; /* library NULL: there is none */
    size_t n;
    struct as_used_counter v[AS_USED_COUNTERS_MAX];
    char why_not[200]; /* why NVIDIA GPUs that the kernel drives are missing, or "" */
};

/* root: prefix of all paths, "" except in tests. Close it in any case. */
void as_used_memory_open(const char *root, struct as_used_memory *out);
double as_used_memory_read(const struct as_used_memory *m, size_t i); /* bytes; NAN: not readable now */
void as_used_memory_close(struct as_used_memory *m);

#endif
