/* Which of many like units, spread over nodes, lies outside what the others show: a robust mixed model on logarithms, y
 * = mu + node + unit + error. Shown by simulation: docs/statistics.md. */
#ifndef AS_STATS_OUTLIERS_H
#define AS_STATS_OUTLIERS_H

#include "stats/stats.h"

struct as_unit {
    double y, error; /* logarithm of its number, and the standard error of that */
    uint32_t node;   /* below the number of nodes */
};
/* How a unit stands to the others of its node, or a node to the others. */
struct as_deviation {
    double effect;         /* of the logarithm; NAN: too few others to say */
    struct as_interval ci; /* 95% of it */
    double p;              /* that chance makes it so large; 1 where nothing can be said, or it does not matter */
};
enum { AS_OUTLIERS_OTHERS = 3 }; /* the fewest others that a unit is compared with */
/* least: a deviation of the logarithm up to this does not matter. of_unit has n, of_node has `nodes` places; a node
 * of one unit is judged as that unit. Scatter: Qn (Rousseeuw and Croux 1993) of the units about their node's median,
 * and of the nodes' medians; half of the units may deviate. Tails: Student's t, by Wallace (1959). */
enum as_status as_outliers_judge(const struct as_unit *units, size_t n, size_t nodes, double least,
                                 struct as_deviation *of_unit, struct as_deviation *of_node, struct as_error *err);
/* The largest p that counts where `tests` were made, so that of those that count at most the share `rate` is chance
 * (Benjamini and Hochberg 1995); negative: none counts. p: the n smallest, sorted here; the others are 1. */
double as_discoveries_below(double *p, size_t n, size_t tests, double rate);
/* A robust standard deviation: Qn with its factors for few values; of more than 2,000 the scaled MAD. Reorders x; 0 if
 * n is below 2. */
double as_robust_scale(double *x, size_t n);

#endif
