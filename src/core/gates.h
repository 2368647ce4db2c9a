/* Gates: named checks that a cell passes before its number counts. Pure functions of what was measured. */
#ifndef AS_CORE_GATES_H
#define AS_CORE_GATES_H

#include "core/cell.h"
#include "device/device.h"

struct as_gate_context {
    int visits;               /* asked for */
    bool own_cycles;          /* counted in cycles, by the counter of the clock that does the work, in the kernel */
    bool own_power;           /* the probe asks what the device does at the clock that its power allows */
    uint64_t last_cache;      /* bytes of all last caches that the cell's threads reach; 0 unknown */
    enum as_gate_state drift; /* verdict of the sentinels, with its text */
    char drift_text[256];
};

/* Recomputes summary, limit, clock, gates, status and reason of a cell from its visits (in order of time). Excluded
 * visits and visits without samples do not count in the numbers. Keeps status and reason of a visit that crashed, timed
 * out, failed or is unsupported: such a cell is never ok. */
enum as_status as_gates_evaluate(struct as_cell *cell, const struct as_visit *visits, size_t n,
                                 const struct as_gate_context *context, struct as_error *err);

/* Visits that an interval needs so as to hold what differs between visits, when so many are asked for. */
size_t as_visits_wanted(int asked);
/* By how much the clock moved while the visit lasted, relative to its highest; NAN where nothing tells. */
double as_clock_moved(const struct as_visit *v);
/* How much it may, when this precision is asked for. */
double as_clock_room(double precision);

/* Bytes of the last caches that `threads` threads reach on this device. */
uint64_t as_reachable_cache(const struct as_device_info *info, double threads);

#endif
