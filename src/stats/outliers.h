/* Outliers among devices of one model, spread over nodes: a robust mixed model on logarithms, y = mu + node + device +
 * error. Shown by simulation: docs/statistics.md. */
#ifndef AS_STATS_OUTLIERS_H
#define AS_STATS_OUTLIERS_H

#include "stats/stats.h"

struct as_observation {
    double y, error; /* logarithm of a device's number, and the standard error of that */
    uint32_t node;   /* below the number of nodes */
};
/* How a device deviates from the others of its node, or a node from the other nodes. */
struct as_deviation {
    double effect;         /* of the logarithm; NAN: too few others to say */
    struct as_interval ci; /* 95% of it */
    double p;              /* that chance makes it so large; 1 where it is unknown or below the smallest that counts */
    double spread, df;     /* of chance, by which p is: standard deviation and degrees of freedom; NAN unknown */
};
enum { AS_OUTLIERS_OTHERS = 3 }; /* a device is compared with at least so many others */
/* Deviations up to `ignored` (of the logarithm) do not count. of_device has n, of_node has `nodes` places. A node of
 * one device is judged as that device. Scale: Qn (Rousseeuw and Croux 1993) of the devices about their node's median,
 * and of the nodes' medians; breakdown point 50%. Tails: Student's t by Wallace (1959). */
enum as_status as_outliers_judge(const struct as_observation *obs, size_t n, size_t nodes, double ignored,
                                 struct as_deviation *of_device, struct as_deviation *of_node, struct as_error *err);
/* The largest p that counts where `tests` were made, so that of those that count at most the share `rate` is chance
 * (Benjamini and Hochberg 1995); negative: none counts. p: the n smallest, sorted here; the others are 1. */
double as_discoveries_below(double *p, size_t n, size_t tests, double rate);
/* The smallest effect whose p is at most this, by spread and df; not below `ignored`. */
double as_outliers_least(double spread, double df, double p, double ignored);
/* A robust standard deviation: Qn with its factors for few values; of more than 2,000 the scaled MAD. Reorders x; 0 if
 * n is below 2. */
double as_robust_scale(double *x, size_t n);

#endif
