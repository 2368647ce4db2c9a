/* The arithmetic of a run's budget. */
#ifndef AS_RUN_DEADLINE_H
#define AS_RUN_DEADLINE_H

#include <stddef.h>

/* When measuring ends that starts now; INFINITY without a budget (0). The budget includes the time that finding devices
 * took, unless that is most of it, but not the wait for another run. */
double as_deadline_of(double now, double budget_s, double finding_s);
/* What all cells would take, in whole seconds, if the others take as long as the measured ones: about, since it depends
 * on what they are and on the machine's load. Always more than the budget that did not suffice. NAN: fewer than a
 * quarter was measured, which tells nothing of the others. */
double as_deadline_budget_for_all(double budget_s, size_t measured, size_t all);

/* The least time for the samples of a trial. */
#define AS_DEADLINE_SHARE_MIN_S 0.012
/* How many of the cells a budget (0: none) can hold at best, by one trial each. */
size_t as_deadline_fits(double budget_s, size_t cells);

#endif
