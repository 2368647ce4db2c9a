/* What a series of single launches says of the clock: its levels, and how long until it is steady. */
#ifndef AS_PROBES_ALU_CLOCKSTATE_SERIES_H
#define AS_PROBES_ALU_CLOCKSTATE_SERIES_H

#include "stats/stats.h"

struct as_series {
    size_t n;
    double *rate;  /* of each launch, in order */
    double *ended; /* seconds from the start of the series to the end of each launch */
};
struct as_series_found {
    double median;
    struct as_interval ci; /* of the median: distribution-free, 95% */
    double low, high;      /* what nine of ten launches lie between */
    double first;          /* rate of the first launch over the median */
    size_t modes;          /* 1 or 2 */
    double mode[2], share; /* where there are two: their centres, and the share of launches in the lower */
    bool settles;
    size_t launches; /* before it is steady: 0 where it is from the start */
    double seconds;  /* until then */
};
/* Launches are looked at in tens; steady is what comes before no ten whose median is more than 2% away from that of
 * the last third. False where there are fewer than thirty launches or memory is short. */
bool as_series_find(const struct as_series *s, struct as_series_found *out);

#endif
