/* Published figures beside cells, where no fact states the quantity. */
#ifndef AS_REPORT_REFS_CELLS_H
#define AS_REPORT_REFS_CELLS_H

#include "report/operations/operations.h"

struct as_ref_cells {
    const struct as_report_run *run;
    struct as_operation *operations; /* owned */
    size_t operations_n;
};
struct as_ref_cell {
    struct as_measure measured; /* in the figure's unit */
    const struct as_cell *cell; /* it rests on */
};
enum as_status as_ref_cells_make(const struct as_report_run *run, struct as_ref_cells *out, struct as_error *err);
void as_ref_cells_finish(struct as_ref_cells *c);

/* The measured counterpart of a figure whose axes name an operation ("op=ffma32"), a sequence of them
 * ("mix=imul32+3*fmul32") or a probe's cells ("probe=latency allocator=malloc"; '_' is a blank, '/' between
 * alternatives, further=NAME another metric of the cell). False: there is none. */
bool as_ref_cells_find(const struct as_ref_cells *c, const struct as_ref *ref, struct as_ref_cell *out);
/* Is it such a figure of an operation, which the operations' own table shows? */
bool as_ref_is_of_operation(const struct as_ref *ref);
/* Does a sequence as published, with its names and with '/' between alternatives, mean one as it is measured? */
bool as_ref_same_sequence(const char *published, const char *measured);

#endif
