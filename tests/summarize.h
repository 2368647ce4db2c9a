/* A cell's summary from samples alone, for tests with synthetic cells. */
#ifndef AS_TESTS_SUMMARIZE_H
#define AS_TESTS_SUMMARIZE_H

#include "stats/stats.h"

/* trial[i]: the trial of sample i, not decreasing; NULL: one trial. n above 0. False if a sample is not finite. */
bool summarize(const double *x, const int *trial, size_t n, struct as_summary *out);

#endif
