/* Two states of a line: values between which it goes from run to run, such as two pairs of cores, with none between. */
#include "stats/between.h"
#include "stats/order.h"

#include <math.h>
#include <stdlib.h>

/* The gap between two states, in standard deviations of a run within its state, and as a ratio; of two or three runs,
 * which do not show what is usual, a larger one. */
static const double GAP_DEVIATIONS = 10, GAP_RATIO = 1.5, GAP_RATIO_OF_FEW = 2;
/* A run that is known less well, by the standard error of its logarithm, is no evidence of a state: half to double. */
static const double WIDEST = 0.35;
enum { FEW_RUNS = 3, STATE_RUNS_MIN = 2, TURNS_MIN = 2 };

/* The runs that tell of states, by their logarithms in rising order. */
struct sorted {
    double y[AS_CHANGES_RUNS_MAX];
    double own[AS_CHANGES_RUNS_MAX]; /* variances of their own errors, in any order */
    size_t n;
};

static bool tells_of_states(const struct as_estimated *run)
{
    return as_between_error(run) <= WIDEST; /* not NAN */
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct sorted sort_runs(const struct as_estimated *runs, size_t n)
{
    struct sorted s = {.n = 0};
    for (size_t i = 0; i < n && s.n < AS_CHANGES_RUNS_MAX; i++)
        if (tells_of_states(&runs[i])) {
            const double error = as_between_error(&runs[i]);
            s.own[s.n] = error * error;
            s.y[s.n++] = log(runs[i].value);
        }
    qsort(s.y, s.n, sizeof *s.y, by_size);
    return s;
}

static double squares_of(const double *y, size_t n)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        mean += y[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += (y[i] - mean) * (y[i] - mean);
    return sum;
}

/* The first run above the largest gap; 0: the gap is not one between states. */
static size_t find_gap(struct sorted *s, struct as_between prior)
{
    size_t at = 0;
    double gap = 0;
    for (size_t i = 1; i < s->n; i++)
        if (s->y[i] - s->y[i - 1] > gap) {
            gap = s->y[i] - s->y[i - 1];
            at = i;
        }
    if (!at)
        return 0;
    const double within = squares_of(s->y, at) + squares_of(s->y + at, s->n - at);
    const double variance =
        (prior.df * prior.variance + within) / (prior.df + (double)s->n - 2) + as_median(s->own, s->n);
    const double least = log(s->n <= FEW_RUNS ? GAP_RATIO_OF_FEW : GAP_RATIO);
    const size_t fewer = at < s->n - at ? at : s->n - at;
    const bool is_few = fewer < STATE_RUNS_MIN && s->n > FEW_RUNS;
    return gap >= least && gap >= GAP_DEVIATIONS * sqrt(variance) && !is_few ? at : 0;
}

/* Does the line come back to a state that it left? A level that stays is a change. */
static bool comes_back(const struct as_estimated *runs, size_t n, double between)
{
    size_t turns = 0;
    int last = -1;
    for (size_t i = 0; i < n; i++)
        if (tells_of_states(&runs[i])) {
            const int above = log(runs[i].value) > between;
            turns += last >= 0 && above != last;
            last = above;
        }
    return turns >= TURNS_MIN;
}

bool as_between_may_be_states(double ratio)
{
    return fabs(log(ratio)) >= log(GAP_RATIO);
}

double as_between_states(const struct as_estimated *runs, size_t n, struct as_between prior)
{
    struct sorted s = sort_runs(runs, n);
    const size_t at = find_gap(&s, prior);
    if (!at)
        return NAN;
    const double between = 0.5 * (s.y[at - 1] + s.y[at]);
    return s.n <= FEW_RUNS || comes_back(runs, n, between) ? exp(between) : NAN;
}
