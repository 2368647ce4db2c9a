/* CPU instructions, one row each: latency over all pairs of operands, and throughput. */
#ifndef AS_REPORT_INSTRUCTIONS_H
#define AS_REPORT_INSTRUCTIONS_H

#include "report/model/view_table.h"

/* Is it the probe of these rows? */
bool as_instructions_is_of(const char *probe);
/* Rows in the order of the run, without those that have no number; *out is the caller's (as_view_finish). */
void as_instructions_view(const struct as_report_run *run, struct as_view_table *out);

#endif
