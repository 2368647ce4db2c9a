/* Statistics for timed samples. Every function names its source; each is tested against known answers and by
 * simulation. No function prints or changes its input; none allocates more than a scratch copy. */
#ifndef AS_STATS_STATS_H
#define AS_STATS_STATS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An interval; lo = hi = NAN if there is none (too few samples). */
struct as_interval {
    double lo, hi;
};

/* The reported summary of one cell. Samples are in the probe's unit. */
struct as_summary {
    size_t n;              /* samples of trials that are not excluded, including those of weight 0 */
    size_t trials;         /* trials that count */
    double median;         /* median of the samples, with equal weight per trial */
    struct as_interval ci; /* 95% interval of the median: see estimate.h */
    double mad;            /* median absolute deviation from the median, unscaled */
    double min, max;
    size_t modes;       /* 1, or 2 if as_two_modes is sure */
    double mode[2];     /* centres of the modes, mode[0] < mode[1], if modes is 2 */
    double mode_share0; /* share of samples in mode 0 if modes is 2 */
};

double as_median(const double *x, size_t n);             /* NAN if n is 0 */
double as_quantile(const double *x, size_t n, double p); /* type 7 (Hyndman, Fan 1996) */
double as_mad(const double *x, size_t n);

/* Exact distribution-free interval of the median from order statistics (binomial, David and Nagaraja 2003, 7.1):
 * the narrowest symmetric pair of ranks whose coverage is at least `confidence`; for n too small to reach it
 * (n < 6 at 95%) lo = hi = NAN. Interpolated between neighbouring ranks after Hettmansperger and Sheather (1986), so
 * that coverage is near the nominal one and not above it. */
struct as_interval as_median_interval(const double *sorted, size_t n, double confidence);

/* Interval of the ratio a/b of two numbers with intervals, on the logarithms (MOVER: Zou and Donner 2008). NAN when a
 * number or an end is not above 0. */
struct as_interval as_ratio_interval(double a, struct as_interval ca, double b, struct as_interval cb);
/* Interval of the difference a - b, by the same method. */
struct as_interval as_difference_interval(double a, struct as_interval ca, double b, struct as_interval cb);

/* Comparison of two cells by their medians and intervals. lower_is_better: smaller values are better. tolerance: the
 * ratio within [1/(1+t), 1+t] is "same"; NAN: inconclusive. Verdict is about b against a. */
enum as_verdict { AS_SAME, AS_FASTER, AS_SLOWER, AS_CANNOT_TELL };
struct as_comparison {
    double ratio;          /* b over a; > 1: b's number is larger; NAN if a number is not above 0: then only
                              exact numbers, such as 0 and 5, differ */
    struct as_interval ci; /* 95% of the ratio */
    enum as_verdict verdict;
    struct as_interval differ; /* 99%, or the requested confidence; decides faster and slower */
    struct as_interval shown;  /* the one to print beside the verdict: see as_comparison_interval */
};
struct as_estimated {
    double value;
    struct as_interval ci; /* 95% */
};
void as_compare(const struct as_summary *a, const struct as_summary *b, bool lower_is_better, double tolerance,
                struct as_comparison *out);
/* Degrees of freedom of an interval from this many trials; 0 for fewer than two. */
unsigned as_trials_df(size_t trials);
/* The same for two numbers whose intervals together have df degrees of freedom; faster and slower with this
 * confidence. */
void as_compare_numbers(const struct as_estimated *a, const struct as_estimated *b, unsigned df, double confidence,
                        bool lower_is_better, double tolerance, struct as_comparison *out);
/* The interval to print beside the verdict, which it does not contradict: the 95% one, or, where that is all beyond the
 * tolerance, `differ`, which decides. A caller that withdraws the verdict says why beside it. */
struct as_interval as_comparison_interval(const struct as_comparison *c);
const char *as_verdict_word(enum as_verdict v); /* "same", "faster", "slower", "inconclusive" */

/* End of the warm-up: the index of the first sample after it, for samples in order of time; 0 if there is
 * none. It is the last change point in the first half after which the level is that of the second half, plus a few
 * outliers at the start. */
size_t as_warmup_end(const double *x, size_t n);

/* Change points of the level of a sequence (optimal partitioning, PELT: Killick, Fearnhead, Eckley 2012; cost: normal
 * with changing mean on the ranks; penalty given, or 3 log n when NAN). Writes the first max indices (first index of
 * each new segment, rising); returns how many it wrote. */
size_t as_change_points(const double *x, size_t n, double penalty, size_t *at, size_t max);

/* Steps of a curve y(x), x rising and positive, on log-log axes: plateaus separated by knees. For caches: levels.
 * Each step: the x interval that holds the knee, and the plateau before it with its interval. */
struct as_plateau {
    size_t first, last;    /* indices of the points on the plateau, inclusive */
    double level;          /* median of y on it */
    struct as_interval ci; /* 95% interval of it */
    double knee; /* x at which the curve leaves this plateau (halfway to the next, in log y); NAN for the last */
    struct as_interval knee_ci; /* from the bracket of measured points and the spread of y */
};
/* Whether the curve rises or falls from p[0] to p[1], judged by the points' intervals (half lie above, half below). The
 * interval of a level describes how its points differ, not how precise each is. */
enum as_step { AS_STEP_NONE, AS_STEP_UP, AS_STEP_DOWN };
enum as_step as_plateau_step(const struct as_interval *y_ci, const struct as_plateau p[2]);
size_t as_plateaus(const double *x, const double *y, const struct as_interval *y_ci, size_t n, struct as_plateau *out,
                   size_t max);

/* Bimodality: Hartigans' dip test (1985) with p below 0.01, and the two clusters (least squares split) at least 3 MADs
 * and 1% apart and each with at least 10% of the samples. Returns true and fills mode and share0. */
bool as_two_modes(const double *x, size_t n, double mode[2], double *share0);

/* The stopping rule: whether the interval of the median of x[0..n) is narrower than precision (hi - lo <= precision *
 * median), with at least 6 samples. Costs O(n log n). */
bool as_precise_enough(const double *x, size_t n, double precision);

#endif
