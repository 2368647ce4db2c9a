/* Clock levels in a series of single launches, and the time until the rate is steady. */
#ifndef AS_PROBES_ALU_CLOCKSTATE_SERIES_H
#define AS_PROBES_ALU_CLOCKSTATE_SERIES_H

#include "stats/stats.h"

struct as_series {
    size_t n;
    double *rate;  /* per launch, in order */
    double *ended; /* end of each launch, in seconds from the start */
};
struct as_series_found {
    double median;
    struct as_interval ci; /* of the median: distribution-free, 95% */
    double low, high;      /* 5th and 95th percentile */
    double first;          /* rate of the first launch over the median */
    size_t modes;          /* 1 or 2 */
    double mode[2], share; /* two modes: their centres, and the share of the lower */
    bool settles;
    size_t launches; /* launches before the rate is steady; 0: steady from the start */
    double seconds;  /* time until the rate is steady */
};
/* Launches are grouped in tens. The rate is steady once no later group's median is more than 2% off the median of the
 * last third. False for fewer than thirty launches, or out of memory. */
bool as_series_find(const struct as_series *s, struct as_series_found *out);

#endif
