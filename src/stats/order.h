/* Order statistics, internal to src/stats. */
#ifndef AS_STATS_ORDER_H
#define AS_STATS_ORDER_H

#include "stats/stats.h"

/* Moves the k-th smallest (from 0) to x[k], with nothing larger before it and nothing smaller after it. Expected O(n).
 */
double as_select(double *x, size_t n, size_t k);
/* Median of x, which it reorders. */
double as_median_in(double *x, size_t n);
void as_sort(double *x, size_t n);
double as_median_sorted(const double *x, size_t n);
bool as_all_finite(const double *x, size_t n);
/* A scratch copy (free it); NULL if out of memory or n is 0. */
double *as_copy_values(const double *x, size_t n);

/* The ranks (from 1) between which an interval of the median is interpolated: lower end
 * (1 - share) * x(rank) + share * x(rank + 1), the upper end mirrored. rank is 0 if n is too small. */
struct as_median_ranks {
    size_t rank;
    double share;
};
struct as_median_ranks as_median_ranks(size_t n, double confidence);

/* Two-sided quantile of Student's t: P(|T| <= t) = confidence. df 0 gives NAN. */
double as_student(unsigned df, double confidence);

/* Hartigans' dip of sorted values, and the value that it exceeds by chance with probability 0.01 (uniform data). */
double as_dip(const double *sorted, size_t n);
double as_dip_critical(size_t n);
bool as_two_modes_sorted(const double *sorted, size_t n, double mode[2], double *share0);

#endif
