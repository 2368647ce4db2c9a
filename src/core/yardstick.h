/* The yardstick: a fixed piece of work for a host's core, done beside the samples of every visit. When it takes longer
 * than usual, a neighbour on the same core or the hypervisor took a part of it, and what the visit measured was slowed
 * down too; a sentinel, which is read once a second, cannot see that. */
#ifndef AS_CORE_YARDSTICK_H
#define AS_CORE_YARDSTICK_H

#include "core/cell.h"

/* The name under which a visit's detail keeps its reading in nanoseconds. */
#define AS_YARDSTICK_NOTE "yardstick_ns"

/* Nanoseconds of the work now: the least of three tries of about 10 us each, so that an interrupt does not count. */
double as_yardstick_now(void);

/* What the visits of a run read, ascending. */
struct as_yardsticks {
    double *ns; /* owned */
    size_t n, cap;
};
enum as_status as_yardsticks_add(struct as_yardsticks *y, double ns, struct as_error *err);
void as_yardsticks_finish(struct as_yardsticks *y);
/* What a visit read, NAN when it did not. */
double as_yardstick_of(const struct as_visit *v);
/* By how much it is above the lowest twentieth of the run (0.3: 30% longer): the work takes no less than its
 * instructions do, and neighbours may be there most of the time. NAN where too few visits or the visit itself read
 * nothing. */
double as_yardstick_excess(const struct as_yardsticks *y, double ns);
/* How much it may be, when this precision is asked for. */
double as_yardstick_room(double precision);

#endif
