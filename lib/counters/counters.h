/* Memory counters: the system's, this process's, and the driver's. */
#ifndef AS_LIB_COUNTERS_COUNTERS_H
#define AS_LIB_COUNTERS_COUNTERS_H

#include "device/device.h"
#include "os/facts.h"

enum counter {
    COUNTER_AVAILABLE,
    COUNTER_NODES,
    COUNTER_RSS,
    COUNTER_ROLLUP,
    COUNTER_DRIVER,
    COUNTER_VRAM, /* files of the kernel driver of AMD GPUs: memory of the device, */
    COUNTER_GTT,  /* and the system's memory that the device has mapped */
    COUNTERS
};
enum { COUNTER_NODES_MAX = 64 };
extern const char *const as_counter_words[]; /* words of the axis; ends with NULL */

/* Bytes in use, or minus the free bytes: only differences are meaningful. */
struct counter_reading {
    double bytes[COUNTERS]; /* NAN: why says what is missing */
    char why[COUNTERS][160];
    size_t nodes_n; /* NUMA nodes, each with its number and minus its free bytes */
    int node[COUNTER_NODES_MAX];
    double node_bytes[COUNTER_NODES_MAX];
};
/* "Rss: 1234 kB" at the start of a line of the kernel's files, or after "Node 0 ": in bytes, NAN if missing. */
double as_counter_field(const char *text, const char *name);
/* From system calls, for systems without files: available memory and this process's memory; the others are unknown. */
void as_counters_of_calls(const struct as_system_memory *memory, struct counter_reading *out);
/* Whether the kernel has files of memory in use for the device. */
bool as_counters_have_files(const char *root, const struct as_device_info *info);
/* Of all but the driver, which only the device's own thread may ask. root: "", or the files of a test; info: NULL
 * without a device. */
void as_counters_read_files(const char *root, const struct as_device_info *info, struct counter_reading *out);
/* The same with the driver; dev: NULL without one to ask. */
void as_counters_read(const char *root, struct as_device *dev, struct counter_reading *out);

#endif
