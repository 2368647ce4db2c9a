/* What varies between runs of one machine: a random-effects model on logarithms. The number of run i is y_i = mu + u_i
 * + e_i, with the run's own error e_i from its interval, and u_i of variance tau^2, that of this line on this machine.
 * Shown on thirteen real runs and by simulation: docs/statistics.md. */
#ifndef AS_STATS_BETWEEN_H
#define AS_STATS_BETWEEN_H

#include "stats/stats.h"

/* The standard deviation of logarithms between runs where no series of runs is known: some tenths of a percent. */
#define AS_BETWEEN_QUIET 0.005

#define AS_BETWEEN_ERROR_MIN 1e-4
/* The standard error of a run's logarithm, at least AS_BETWEEN_ERROR_MIN, from its interval. NAN: the run does not
 * count by its interval, since the value or an end is not above 0, or there is none. */
double as_between_error(const struct as_estimated *run);
/* tau^2, and the degrees of freedom with which it is known. */
struct as_between {
    double variance, df;
};
/* tau^2 by Paule and Mandel (1982), from the runs that have an interval; where none has one, from the scatter of all
 * numbers above 0. df 0: fewer than two of these. */
struct as_between as_between_of(const struct as_estimated *runs, size_t n);
/* The mean of both, weighted by degrees of freedom (Smyth 2004). */
struct as_between as_between_pool(struct as_between a, struct as_between b);
/* The same from the steps from each run to the next, in order of time: a lasting change of level does not widen it. df
 * 0: fewer than three runs with an interval. */
struct as_between as_between_steps(const struct as_estimated *runs, size_t n);
/* What tau^2 may well be, by the runs themselves: three to one that it is less (the Q profile, Viechtbauer 2007, by the
 * approximation of Wilson and Hilferty 1931). INFINITY: fewer than two runs with an interval. */
double as_between_most(const struct as_estimated *runs, size_t n);
/* What lines of a group have in common: the median over the lines, each over the median of chi^2 / df. Reorders v, of
 * lines with df above 0; variance NAN if n is 0. df is left 0. */
struct as_between as_between_group(struct as_between *v, size_t n);

struct as_joined {
    double value;
    struct as_interval ci;      /* 95% of mu: of the machine, not of one run */
    unsigned df;                /* degrees of freedom of ci, where the runs' own errors are known exactly */
    double share;               /* of the variance of the mean, what tau^2 makes */
    struct as_interval another; /* 95%: another run as precise as these lies within */
};
/* Joins the runs of a line, weighted by 1 / (tau^2 + error^2). The interval uses Student's t with the degrees of
 * freedom of tau^2, more of them the more of the variance is the runs' own (their square, Satterthwaite 1946, holds 93%
 * in place of 95%). Runs count as for as_between_of: those without an interval only where none has one, numbers that
 * are not above 0 never. False if no interval can be given: no run counts, or a single one without an interval. */
bool as_join_runs(const struct as_estimated *runs, size_t n, struct as_between between, struct as_joined *out);
/* Degrees of freedom by which an interval widens to another confidence: those of tau^2 and of the runs' own errors,
 * each by its share of the variance. own: of the runs' errors, 0 counts as 1. At least 1. */
unsigned as_joined_df(const struct as_joined *joined, struct as_between between, unsigned own);

/* Do the runs, in order of time, lie in one of two states with nothing between: each run itself well known, the gap at
 * least half the lower value and far beyond the scatter within a state, and no state left for good? Returns a value
 * between the states; NAN: no. Of two or three runs, twice the lower value decides. prior: of tau^2. */
double as_between_states(const struct as_estimated *runs, size_t n, struct as_between prior);
/* May this ratio of two runs be that of two states? Two runs alone do not tell a state from a change. */
bool as_between_may_be_states(double ratio);

/* How one run of a series stands to the others. */
enum as_run_place {
    AS_RUN_STEADY,  /* or without an interval, or with one wider than half to double */
    AS_RUN_CHANGED, /* from this run on the level is another: two runs or more on either side */
    AS_RUN_ALONE,   /* outside what the others predict, alone */
};
/* Finds changes of a series in order of time. between: prior of tau^2 with its degrees of freedom, pooled with
 * as_between_steps. Of series that do not change, at most 1 - confidence show anything. */
enum { AS_CHANGES_RUNS_MAX = 64 };
void as_between_changes(const struct as_estimated *runs, size_t n, struct as_between between, double confidence,
                        enum as_run_place *place);

#endif
