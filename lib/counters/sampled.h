/* Memory in use while something runs: a thread reads the counters' files, again and again. */
#ifndef AS_LIB_COUNTERS_SAMPLED_H
#define AS_LIB_COUNTERS_SAMPLED_H

#include "lib/counters/counters.h"

/* The largest rise since the start, of each counter and each NUMA node; NAN: never read. */
struct counter_peaks {
    double bytes[COUNTERS];
    double in_use; /* of the process, the system or the system and the device, whichever has the device's memory */
    size_t nodes_n;
    int node[COUNTER_NODES_MAX];
    double node_bytes[COUNTER_NODES_MAX];
    size_t readings;
};
struct counter_samples;

/* Reads once, then every period_s in a thread of its own. root and info as as_counters_read_files, and both outlive
 * it; *out is the caller's (as_samples_stop). */
enum as_status as_samples_start(const char *root, struct as_device *dev, double period_s, struct counter_samples **out,
                                struct as_error *err);
/* For the device's own thread, between its calls: what the driver counts now goes with the readings from here on, the
 * first of which is made here. */
void as_samples_step(struct counter_samples *s);
/* Reads once more, and frees s. NULL: all unknown. */
void as_samples_stop(struct counter_samples *s, struct counter_peaks *out);

#endif
