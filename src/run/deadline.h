/* The arithmetic of a run's budget. */
#ifndef AS_RUN_DEADLINE_H
#define AS_RUN_DEADLINE_H

#include <stddef.h>

/* When measuring ends that starts now; INFINITY without a budget (0). The budget includes the time that finding devices
 * took, unless that is most of it, but not the wait for another run. */
double as_deadline_of(double now, double budget_s, double finding_s);
/* The least time for the samples of a trial. */
#define AS_DEADLINE_SHARE_MIN_S 0.012
/* Fraction of the budget for first trials: cells without one by then are left out. */
#define AS_DEADLINE_FOR_PILOT 0.6
/* Fraction of the time left that a round may use; round > rounds: a pass over what these left imprecise. */
double as_deadline_part(int round, int rounds);
/* Trials of the cells of quantities before the first ones of others, where the budget is small. */
int as_deadline_trials_first(int rounds);

/* Seconds from one reading of the sentinels to the next. budget_s: INFINITY for none. */
double as_deadline_sentinels_every(double budget_s);

/* A budget that suffices for a trial of each cell, in whole seconds, with room for what is left out to cost more than
 * what was measured. Always more than the budget that did not suffice. NAN: fewer than a quarter was measured, which
 * tells nothing of the others. */
double as_deadline_budget_for_all(double budget_s, size_t measured, size_t all);

/* How many of the cells a budget (0: none) can hold at best, by one trial each. */
size_t as_deadline_fits(double budget_s, size_t cells);

#endif
