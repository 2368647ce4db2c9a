/* Memory counters: the system's, this process's, and the driver's. */
#ifndef AS_LIB_COUNTERS_COUNTERS_H
#define AS_LIB_COUNTERS_COUNTERS_H

#include "device/device.h"
#include "os/facts.h"

enum counter { COUNTER_AVAILABLE, COUNTER_NODES, COUNTER_RSS, COUNTER_ROLLUP, COUNTER_DRIVER, COUNTERS };
extern const char *const as_counter_words[]; /* words of the axis; ends with NULL */

/* Bytes in use, or minus the free bytes: only differences are meaningful. */
struct counter_reading {
    double bytes[COUNTERS]; /* NAN: why says what is missing */
    char why[COUNTERS][160];
};
/* From system calls, for systems without files: available memory and this process's memory; the others are unknown. */
void as_counters_of_calls(const struct as_system_memory *memory, struct counter_reading *out);
/* root: "", or the files of a test; dev: NULL without a driver to ask. */
void as_counters_read(const char *root, struct as_device *dev, struct counter_reading *out);

#endif
