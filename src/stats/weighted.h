/* Weighted order statistics, internal to src/stats. */
#ifndef AS_STATS_WEIGHTED_H
#define AS_STATS_WEIGHTED_H

#include "stats/stats.h"

struct as_weighted {
    double x, weight;
};
/* Sorts by x; scratch holds n elements. */
void as_weighted_sort(struct as_weighted *p, size_t n, struct as_weighted *scratch);
/* Quantile of sorted values, interpolated between the middles of their weights: with equal weights and p = 1/2 the
 * plain median. Weights above 0, n above 0. */
double as_weighted_quantile(const struct as_weighted *sorted, size_t n, double p);
/* Kish's effective number: (sum of weights)^2 / sum of squares. */
double as_weighted_number(const struct as_weighted *p, size_t n);
/* 95% interval of the median of sorted values, by order statistics of the effective number; NAN below six. */
struct as_interval as_weighted_interval(const struct as_weighted *sorted, size_t n);
/* Two-sided 95% quantile of Student's t for real df of at least 1; beyond 60 that of 60. */
double as_student95(double df);

#endif
