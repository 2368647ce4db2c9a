/* Comparing two runs cell by cell. Pure: cells in, rows out. */
#ifndef AS_CLI_COMPARE_H
#define AS_CLI_COMPARE_H

#include "cli/options/lookup.h"

enum as_match {
    AS_MATCH_BOTH,      /* both have a valid number: compared */
    AS_MATCH_NO_NUMBER, /* both have the cell, at least one without a valid number */
    AS_MATCH_ONLY_A,
    AS_MATCH_ONLY_B,
};
struct as_pair {
    enum as_match match;
    const struct as_cell *a, *b;     /* NULL if the run lacks the cell */
    struct as_comparison comparison; /* of AS_MATCH_BOTH */
    bool regression;                 /* slower by more than the limit, with the whole 99% interval */
    bool other_kernel;               /* faster or slower, and the kernels' source differs */
};
struct as_pairs {
    struct as_pair *v; /* owned; cells of a in order, then those only in b */
    size_t n;
    size_t verdicts[4], matches[4], regressions; /* counts by enum as_verdict and enum as_match */
    size_t other_kernels;
    char renamed[160]; /* "opencl:0 with opencl:1" where devices of different names were matched, else "" */
};
/* Cells are joined by device and key. A device of only one run is joined with the other run's only unmatched device of
 * the same backend. limit: fraction for regressions; negative: regressions are not counted. */
enum as_status as_compare_runs(const struct as_source *a, const struct as_source *b, double tolerance, double limit,
                               struct as_pairs *out, struct as_error *err);
void as_pairs_finish(struct as_pairs *p);

#endif
