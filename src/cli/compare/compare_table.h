/* The comparison of two runs as text. */
#ifndef AS_CLI_COMPARE_TABLE_H
#define AS_CLI_COMPARE_TABLE_H

#include "report/sheet/runs_compare.h"

struct as_compare_listed {
    double limit; /* what is slower is listed only beyond it; negative: none */
    bool all;     /* else long lists are shortened */
};
/* One row per measurement of which one of the runs has a number, under headings with the axes that adjacent rows
 * share. */
enum as_status as_compare_table(const struct as_pairs *pairs, const struct as_table_style *style, struct as_buf *out,
                                struct as_error *err);
/* Lines of the data sheet that differ. */
void as_compare_sheet_lines(const struct as_check *check, const struct as_table_style *style, struct as_buf *out);
/* Measurements that differ, most first, and those of only one run. */
void as_compare_lists(const struct as_pairs *pairs, const struct as_compare_listed *listed,
                      const struct as_table_style *style, struct as_buf *out);

#endif
