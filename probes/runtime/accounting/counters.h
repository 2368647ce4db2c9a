/* What says how much memory is in use: the system's counters, this process's, and the driver's own. */
#ifndef PROBES_ACCOUNTING_COUNTERS_H
#define PROBES_ACCOUNTING_COUNTERS_H

#include "device/device.h"

enum counter { COUNTER_AVAILABLE, COUNTER_NODES, COUNTER_RSS, COUNTER_ROLLUP, COUNTER_DRIVER, COUNTERS };
extern const char *const counter_words[]; /* of the axis; ends with NULL */

/* Bytes that are in use, or less those that are free: only differences say something. */
struct counter_reading {
    double bytes[COUNTERS]; /* NAN where why says what is missing */
    char why[COUNTERS][160];
};
/* root: "" or where a test has files of that kind; dev: NULL where there is no driver to ask. */
void counters_read(const char *root, struct as_device *dev, struct counter_reading *out);

#endif
