/* The comparison of two runs as text. */
#ifndef AS_CLI_COMPARE_TABLE_H
#define AS_CLI_COMPARE_TABLE_H

#include "report/sheet/runs_compare.h"

/* One row per common cell, under headings with the axes that adjacent rows share. */
enum as_status as_compare_table(const struct as_pairs *pairs, const struct as_table_style *style, struct as_buf *out,
                                struct as_error *err);
/* Cells that are slower (by more than limit unless it is negative), and cells of only one run. */
void as_compare_lists(const struct as_pairs *pairs, double limit, const struct as_table_style *style,
                      struct as_buf *out);

#endif
