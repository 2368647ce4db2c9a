/* Checking the data sheets of a machine against those of another or an earlier run, line by line. Pure. */
#ifndef AS_REPORT_SHEET_CHECK_H
#define AS_REPORT_SHEET_CHECK_H

#include "report/sheet/machine_sheet.h"

enum as_check_verdict {
    AS_CHECK_SAME,       /* the 95% interval of the ratio lies within the tolerance */
    AS_CHECK_BETTER,     /* better by more than the tolerance, with the confidence of the whole check */
    AS_CHECK_WORSE,      /* the same, worse */
    AS_CHECK_NOISE,      /* neither can be told: the difference is within the noise */
    AS_CHECK_MISSING,    /* only the base has a number */
    AS_CHECK_NEW,        /* only the checked machine has one */
    AS_CHECK_VERDICTS_N, /* how many */
};
const char *as_check_verdict_word(enum as_check_verdict v);

struct as_check_line {
    const struct as_device_sheet *device;  /* of base, or of the checked machine where the line is new */
    const struct as_device_sheet *against; /* what stands for it on the checked machine; NULL: nothing, or it is new */
    struct as_sheet_row *base, *now;       /* NULL where there is none in this unit */
    struct as_line_runs *base_runs, *now_runs;
    struct as_comparison comparison; /* of now against base */
    enum as_check_verdict verdict;
    char why[200]; /* of a missing line: why the checked machine has no number; "" for others */
};
struct as_check {
    struct as_check_line *v; /* owned; in the order of base, then new ones */
    size_t n, counts[AS_CHECK_VERDICTS_N];
};
/* Devices are matched by id; one that only one side has, with the other's only remaining one of the same backend. The
 * rows of both sheets become numbers of the machines (as_line_join); those that follow the core's clock are compared at
 * that of base. tolerance: fraction. At most 1% of checks of an unchanged machine find a line worse (Bonferroni over
 * the lines). The sheets must outlive out. */
enum as_status as_sheet_check(struct as_machine_sheet *base, struct as_machine_sheet *now, double tolerance,
                              struct as_check *out, struct as_error *err);
void as_check_finish(struct as_check *c);

#endif
