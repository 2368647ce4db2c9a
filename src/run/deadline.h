/* The arithmetic of a run's budget. */
#ifndef AS_RUN_DEADLINE_H
#define AS_RUN_DEADLINE_H

#include <stddef.h>

/* When measuring ends that starts now; INFINITY without a budget (0). The budget includes the time that finding devices
 * took, unless that is most of it, but not the wait for another run. */
double as_deadline_of(double now, double budget_s, double finding_s);
/* The budget that should suffice for all cells, in whole seconds: need_s is what the measured ones would take. Always
 * more than the budget that did not suffice. */
double as_deadline_budget_for_all(double need_s, double budget_s, size_t measured, size_t all);

#endif
