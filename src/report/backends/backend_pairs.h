/* Compares cells that two backends measured on the same hardware. */
#ifndef AS_REPORT_BACKEND_PAIRS_H
#define AS_REPORT_BACKEND_PAIRS_H

#include "report/model/view_table.h"

/* Are both the same hardware under two backends? how: the evidence ("bus 0000:01:00.0"), not escaped. */
bool as_is_same_hardware(const struct as_device_info *a, const struct as_device_info *b, char *how, size_t size);

/* Fills run->backend_pairs: of valid cells with the same probe and axes the ones with the same allocator, or, where
 * there are none, the best by any, of times and rates. Those that differ most come first. */
enum as_status as_backend_pairs_make(struct as_report_run *run, struct as_error *err);

/* One behind the last cell of the pair of devices whose first is `from`. */
size_t as_backend_pairs_end(const struct as_report_run *run, size_t from);
bool as_backend_pair_differs(const struct as_backend_pair *t);
/* "4 differ, 10 are the same, 3 inconclusive" for two devices. */
void as_backend_pairs_summary(struct as_buf *b, const struct as_backend_pair *backend_pairs, size_t n);
/* The table of a pair of devices' cells. *out is the caller's (as_view_finish). */
void as_backend_pairs_view(const struct as_backend_pair *pairs, size_t n, struct as_view_table *out);

#endif
