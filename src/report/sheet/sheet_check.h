/* Checking the data sheets of a machine against those of another or an earlier run, line by line. Pure. */
#ifndef AS_REPORT_SHEET_CHECK_H
#define AS_REPORT_SHEET_CHECK_H

#include "report/sheet/machine_sheet.h"

enum as_check_verdict {
    AS_CHECK_SAME,       /* the 95% interval of the ratio lies within the tolerance; of capacities, the same range */
    AS_CHECK_BETTER,     /* better by more than the tolerance, with the confidence of the whole check */
    AS_CHECK_WORSE,      /* worse by more than it, with the same confidence */
    AS_CHECK_UNDECIDED,  /* none of these: the difference is within the noise */
    AS_CHECK_MISSING,    /* only the base has a number */
    AS_CHECK_NEW,        /* only the checked machine has one */
    AS_CHECK_VERDICTS_N, /* how many */
};
/* bounded: of a policy's line, "met" or "not met". */
const char *as_check_verdict_word(enum as_check_verdict v, bool bounded);

extern const char as_two_states_why[];

struct as_check_line {
    const struct as_device_sheet *device;  /* of base, or of the checked machine where the line is new */
    const struct as_device_sheet *against; /* what stands for it on the checked machine; NULL: nothing, or it is new */
    struct as_sheet_row *base, *now;       /* NULL where there is none in this unit */
    struct as_line_runs *base_runs, *now_runs;
    /* What each side is by its own runs, as its own sheet has it: of one run, the run's; unit NULL where there is none.
     */
    struct as_number base_number, now_number;
    struct as_comparison comparison; /* of now against base */
    enum as_check_verdict verdict;
    bool counted;     /* of a counter of links (as_link_counts), which needs no second run */
    bool bounded;     /* base is a policy's: better is met, worse is not met */
    bool again;       /* its verdict was worse, and it was measured again */
    bool looks_worse; /* worse in one run only, or only in disturbed repeats */
    bool unanswered;  /* missing, though the checked machine measured it: contended, or inconclusive */
    bool gone;        /* missing as are all lines of its device, a GPU: it is lost, or nothing ran on it */
    char why[200];    /* why the checked machine has no number, or why the line is inconclusive; "" for others */
};
struct as_check {
    struct as_check_line *v;         /* owned; in the order of base, then counters, then new ones */
    struct as_sheet_row *count_rows; /* owned; of lines of counters */
    size_t n, counts[AS_CHECK_VERDICTS_N];
    size_t looks_worse; /* lines */
    size_t unanswered;  /* of the missing ones */
    size_t warned;      /* of the worse ones: a policy's, which only warn */
};
/* The verdict as texts name it: also "looks worse" and, of a line whose repeat did not confirm it, "not confirmed". */
const char *as_check_line_word(const struct as_check_line *line);
/* Appends the label as it is printed: "read, 2 threads", or "read, 16 threads; checked: 32 threads". */
void as_check_line_label(const struct as_check_line *line, struct as_buf *out);
/* Where base is a policy's (bounds), its numbers are exact, better is what reaches the bound and worse what does not;
 * the tolerance is 0, and lines that it has not are left out. Devices are matched by id; one that only one side has,
 * with the other's only remaining one of the same backend. The rows of both sheets become numbers of the machines
 * (as_line_join); those that follow the core's clock are compared at that of base. tolerance: fraction. At most 1% of
 * checks of an unchanged machine find a line worse (Bonferroni over the lines). The sheets must outlive out. */
enum as_status as_sheet_check(struct as_machine_sheet *base, struct as_machine_sheet *now, double tolerance,
                              struct as_check *out, struct as_error *err);
/* Downgrades lines that too few runs show as worse. A line stays worse where two runs of the checked machine lie beyond
 * the tolerance or, of a line that was measured again, where the repeats confirm it: none refutes it by itself, and one
 * was undisturbed. before: the verdicts without the repeats, which mark lines that were measured again. repeats_from:
 * index of the first repeat among the checked machine's runs, all later ones are repeats too. others: what disturbed a
 * device in that run
 * ("other processes used 1.2 CPUs"); NULL: nothing. */
typedef const char *(*as_others_fn)(void *user, size_t run, const char *device, const struct as_quantity *q);
void as_check_confirm(struct as_check *c, const struct as_check *before, size_t repeats_from, double tolerance,
                      as_others_fn others, void *user);
/* Leaves lines inconclusive that one run of a host on either side does not tell from its two states. */
void as_check_leave_states(struct as_check *c);
void as_check_finish(struct as_check *c);

#endif
