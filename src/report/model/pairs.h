/* Every pair of devices of a backend: bandwidth and latency of the row's device with the memory of the column's, from
 * the cells of links. */
#ifndef AS_REPORT_PAIRS_H
#define AS_REPORT_PAIRS_H

#include "report/model/view_table.h"

extern const char as_pairs_caption[];
/* Has any pair a number? */
bool as_pairs_any(const struct as_report_run *run);
/* Is the probe one of pairs? Then the terminal shows the table with it. */
bool as_pairs_is_of(const char *probe);
/* "GPU to GPU, 56 pairs: 397 GB/s by copy engine, 88% of NVLink 4 x18; lowest 390 GB/s, cuda:2 to cuda:5"; of several
 * backends the first that has any. Nothing where no pair has a number by copy engine. */
void as_pairs_summary(const struct as_report_run *run, struct as_buf *out);
/* The table: a group of rows for each kind of access. *out is the caller's (as_view_finish). */
void as_pairs_view(const struct as_report_run *run, struct as_view_table *out);

#endif
