/* What a run is about where its data sheet has few lines: the results of its operations, or its most telling facts. */
#ifndef AS_REPORT_MAIN_RESULTS_H
#define AS_REPORT_MAIN_RESULTS_H

#include "report/operations/operations.h"
#include "report/sheet/sheet.h"

enum { AS_MAIN_FACTS_MAX = 12 };
struct as_main_results {
    struct as_operation *operations; /* owned */
    size_t operations_n;
    const struct as_fact *facts[AS_MAIN_FACTS_MAX]; /* of the run; none beside several operations or what is worth
                                                       knowing */
    size_t facts_n;
};
/* sheet: of the device, or that of its machine, whose lines are not told again. *out is empty where the sheet has
 * enough lines; the caller's (as_main_results_finish). */
enum as_status as_main_results_make(const struct as_report_run *run, const char *device, const struct as_sheet *sheet,
                                    struct as_main_results *out, struct as_error *err);
void as_main_results_finish(struct as_main_results *m);

#endif
