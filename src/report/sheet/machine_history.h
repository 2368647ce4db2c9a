/* One line of a machine's data sheet over its runs: what it was, when it changed, and what was recorded of the change.
 */
#ifndef AS_REPORT_MACHINE_HISTORY_H
#define AS_REPORT_MACHINE_HISTORY_H

#include "report/sheet/machine_runs.h"

enum { AS_HISTORY_RUNS_MIN = 3 }; /* fewer show no change */
struct as_history_run {
    const struct as_machine_run *run;
    struct as_estimated number; /* at the clock of the machine's latest run */
    struct as_line_run of;
    enum as_run_place place;
    bool is_state;   /* cause: host, the line's device or assay changed, rather than load, clock or a neighbour */
    char cause[600]; /* what is recorded of it since the line's run before: "kernel 6.1, then 6.2"; "" nothing */
};
struct as_history {
    const struct as_device_sheet *device;
    const struct as_sheet_row *row;
    struct as_history_run *v; /* owned; in order of time */
    size_t n, alone;          /* alone: runs of that place */
    size_t joined;            /* runs that now is of */
    size_t since;             /* index of the first run of the present level; 0: it did not change */
    struct as_joined now;     /* the machine's number as on its sheet; where the sheet has none, because the machine
                                 changed,         that of the runs since; value NAN: a capacity, whose range is now.ci */
    const struct as_sheet_row *on_sheet; /* its row there; NULL none */
    struct as_line_states states;        /* of the same number */
    struct as_joined before;             /* of the level before; value NAN: it did not change */
    struct as_interval ratio;            /* 95%: now / before */
};
/* How the number is printed. */
struct as_number as_history_number(const struct as_history *h);
/* Of all lines of a machine with all its runs (AS_MACHINE_EVER), which must outlive them, in the order of the table;
 * *out: owned by the caller (as_histories_free). */
enum as_status as_histories_make(const struct as_machine_runs *m, struct as_history **out, size_t *n,
                                 struct as_error *err);
void as_histories_free(struct as_history *v, size_t n);

#endif
