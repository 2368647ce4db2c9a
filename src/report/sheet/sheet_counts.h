/* Counters of a device's links, beside the numbers of the links and for the bounds of a policy. A count is exact: it
 * has no interval, and needs no second run. */
#ifndef AS_REPORT_SHEET_COUNTS_H
#define AS_REPORT_SHEET_COUNTS_H

#include "report/sheet/sheet.h"

/* The counters as lines that a policy can name, in the order of as_counter_notes; ends with a NULL name. They stand for
 * how much a counter rose from the run's first trial that read it to the last. */
extern const struct as_quantity as_link_counts[];
/* Its index; AS_COUNTERS_N: it is none. */
size_t as_link_count_index(const struct as_quantity *q);
const struct as_quantity *as_link_count_named(const char *name); /* or NULL */
/* Of a device's cells. */
enum as_status as_link_counts_read(const struct as_quantity_subject *s, struct as_link_count counts[AS_COUNTERS_N],
                                   struct as_error *err);
/* "12 PCIe replays", "1 PCIe replay" */
void as_link_count_number(size_t counter, double n, struct as_buf *out);
/* "12 PCIe replays, 3 since the link's first trial"; nothing where it is zero, or unknown. */
void as_link_count_text(const struct as_sheet *s, size_t counter, struct as_buf *out);
/* Says each that is not zero beside the first number of its link. */
void as_link_counts_say(struct as_sheet *s);

#endif
