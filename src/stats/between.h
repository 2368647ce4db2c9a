/* What varies between runs of one machine: a random-effects model on logarithms. The number of run i is y_i = mu + u_i
 * + e_i, with the run's own error e_i from its interval, and u_i of variance tau^2, that of this line on this machine.
 * Shown on thirteen real runs and by simulation: docs/statistics.md. */
#ifndef AS_STATS_BETWEEN_H
#define AS_STATS_BETWEEN_H

#include "stats/stats.h"

/* tau^2 of the logarithms by Paule and Mandel (1982), from the numbers above 0 that have an interval; where fewer than
 * two have one, from the scatter of all. 0 if there are fewer than two. */
double as_between_variance(const struct as_estimated *runs, size_t n);
/* What tau^2 lines of a group have in common: the mean without the largest tenth. Reorders v; NAN if n is 0. */
double as_between_group(double *v, size_t n);

struct as_joined {
    double value;
    struct as_interval ci; /* 95% of mu: of the machine, not of one run */
    unsigned df;           /* degrees of freedom of ci */
    double between;        /* tau^2 that it was made with */
};
/* Joins the runs of a line, weighted by 1 / (tau^2 + error^2). tau^2 is moderated by prior, which counts as
 * AS_BETWEEN_PRIOR_DF degrees of freedom, and is prior if there is one run (Smyth 2004); the more
 * of the variance is the runs' own, the more degrees of freedom (their square, Satterthwaite 1946, holds 93% in place
 * of 95%). False if no interval can be given: a number is not above 0, or a single run has no interval. */
enum { AS_BETWEEN_PRIOR_DF = 4 };
bool as_join_runs(const struct as_estimated *runs, size_t n, double prior, struct as_joined *out);

#endif
