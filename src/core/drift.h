/* Drift: what the sentinels saw of the machine over the run, and whether a visit fell into a bad episode. */
#ifndef AS_CORE_DRIFT_H
#define AS_CORE_DRIFT_H

#include "core/cell.h"

struct as_reading {
    double at; /* wall time, seconds since 1970 */
    double value;
};
/* The readings of one sentinel cell in order of time. */
struct as_sentinel {
    char device[32];
    char what[16];               /* "core", "memory", "pair" */
    struct as_reading *readings; /* owned */
    size_t n, cap;
    bool is_off; /* at its last reading */
};
enum as_status as_sentinel_add(struct as_sentinel *s, double at, double value, struct as_error *err);
void as_sentinel_finish(struct as_sentinel *s);

/* How far the sentinel was off its usual value around [from, to]: the larger of the readings next to the interval,
 * as a fraction (0.3: 30% slower or faster). NAN with fewer than 3 readings. */
double as_sentinel_deviation(const struct as_sentinel *s, double from, double to);
/* The largest deviation that still counts as steady: a floor for the kind of sentinel, or more where the sentinel
 * itself scatters from reading to reading. */
double as_sentinel_tolerance(const struct as_sentinel *s);

#endif
