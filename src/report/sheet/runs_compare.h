/* Comparing two runs, measurement by measurement and line by line of the data sheet: one computation for the terminal
 * and the page. Pure. */
#ifndef AS_REPORT_RUNS_COMPARE_H
#define AS_REPORT_RUNS_COMPARE_H

#include "report/report.h"
#include "report/sheet/sheet_check.h"

/* Of faster and slower, where none is given. */
extern const double as_compare_tolerance;

/* How measurements of two runs are compared. */
struct as_comparing {
    double hz_a, hz_b; /* clocks of the runs, NAN unknown */
    bool is_same_run, is_same_host, virtual_machine;
    double tolerance; /* of faster and slower, as a fraction */
};
struct as_comparing as_comparing_of(const struct as_run *a, const struct as_run *b, double tolerance);
/* Measurement b against a: at the clock of a's run where it follows the core's clock, with what varies between runs of
 * such machines. Both are valid. Faster and slower with 99% confidence. True: it would be faster or slower, but two
 * runs of one host do not tell that from its two states, so it is inconclusive. */
bool as_cells_compare(const struct as_comparing *by, const struct as_cell *a, const struct as_cell *b,
                      struct as_comparison *out);

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
    bool two_states;                 /* as as_cells_compare returns */
    bool other_kernel;               /* faster or slower, and the kernels' source differs */
};
struct as_pairs {
    struct as_pair *v; /* owned; cells of a in order, then those only in b */
    size_t n;
    size_t verdicts[4], matches[4], regressions; /* counts by enum as_verdict and enum as_match */
    size_t other_kernels, two_states;
    char renamed[160]; /* "opencl:0 with opencl:1" where devices of different names were matched, else "" */
};
/* Cells are joined by device and key. A device of only one run is joined with the other run's only unmatched device of
 * the same backend. limit: fraction for regressions; negative: regressions are not counted. The runs must outlive out.
 */
enum as_status as_compare_runs(const struct as_report_run *a, const struct as_report_run *b, double tolerance,
                               double limit, struct as_pairs *out, struct as_error *err);
void as_pairs_finish(struct as_pairs *p);
/* Pairs that are faster or slower, those that differ most by the nearer end of the interval first; returns how many.
 * out: room for p->n. */
size_t as_pairs_differing(const struct as_pairs *p, const struct as_pair **out);
/* "361 measurements compared: 300 same, 0 faster, 1 slower, 60 inconclusive" */
void as_pairs_text(const struct as_pairs *p, struct as_buf *out);

/* The data sheets of two runs. */
struct as_sheets_compared {
    struct as_machine_sheet a, b;
    struct as_check check;
};
enum as_status as_compare_sheets(const struct as_report_run *a, const struct as_report_run *b, double tolerance,
                                 struct as_sheets_compared *out, struct as_error *err);
void as_sheets_compared_finish(struct as_sheets_compared *s);
/* "27 lines of the data sheet compared: 20 same, 0 better, 1 worse, 6 inconclusive" */
void as_sheets_compared_text(const struct as_sheets_compared *s, struct as_buf *out);

#endif
