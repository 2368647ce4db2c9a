/* The runs of a machine while they are loaded; private to machine_runs.c and machine_now.c. */
#ifndef AS_REPORT_MACHINE_LOAD_H
#define AS_REPORT_MACHINE_LOAD_H

#include "report/sheet/machine_runs.h"
#include "report/sheet/machine_state.h"
#include "report/sheet/worth.h"

/* The states of the runs that count, in order of time. */
struct as_machine_found {
    struct as_machine_state v[AS_MACHINE_RUNS_MAX];
    size_t n, older;
};

struct as_machine_load {
    struct as_store *store;
    const struct as_refs *chip;
    const struct as_machine_found *found;
    struct as_machine_runs *out;
    bool same_host[AS_MACHINE_RUNS_MAX]; /* of each run: is the host's state that of the latest? */
    struct as_buf since;
    struct as_worth_runs worth; /* of the runs of the host's present state */
};

/* Leaves the lines of the present state of host and devices, without those of odd runs and from before a change, joins
 * them, and says what was left out (since, remarks). */
enum as_status as_machine_join_now(struct as_machine_load *l, struct as_machine_sheet *sheet, struct as_error *err);

#endif
