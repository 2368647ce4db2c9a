/* Does a working set measure main memory? Decided from reported cache sizes and, overruling them, from the run's
 * numbers at other sizes. The rule is in docs/statistics.md. */
#ifndef AS_PROBE_MAIN_MEMORY_H
#define AS_PROBE_MAIN_MEMORY_H

#include "device/info.h"
#include "model/judge.h"

/* The cells of a run, as an array or as pointers. */
struct as_cell_view {
    const struct as_cell *v; /* NULL: see p */
    const struct as_cell *const *p;
    size_t n;
};

/* Do cells with these axes claim to measure main memory? Those of probes with a memory_claim. */
bool as_main_memory_claimed(const struct as_axes *axes);
/* What to pass to as_info_largest_cache and as_info_memory_least for a cell. The CPU's caches are on the way where its
 * threads use memory of a device (probes host_bandwidth and host_latency), wherever that lies. */
struct as_memory_path {
    const char *allocator;
    double threads;
};
struct as_memory_path as_main_memory_path(const struct as_device_info *info, const char *probe,
                                          const struct as_axes *axes);
/* Fills in what the gate "footprint" of the cell needs (the caches and the steps), for a working set of so many
 * bytes; cells may have other devices and no numbers yet. */
void as_main_memory_context(const struct as_device_info *info, struct as_cell_view cells, const struct as_cell *cell,
                            double bytes, struct as_judge_context *out);
/* May the number of c decide the gate "footprint" of the cell: does it differ in size alone, or chase through the same
 * kind of memory? */
bool as_main_memory_decides(const struct as_device_info *info, const struct as_cell *c, const struct as_cell *cell);
/* May its number stand for main memory? Of a cell that was judged for it the gate has the answer. info: NULL where the
 * run does not describe the device. */
bool as_main_memory_holds(const struct as_device_info *info, struct as_cell_view cells, const struct as_cell *cell);

#endif
