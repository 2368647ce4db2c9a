/* The table of a probe's measured cells. Rows are sorted by words, then numbers; axes with one value are stated once;
 * words become group headings where groups are long enough. Rows of several runs for the same cell share one
 * line. */
#ifndef AS_REPORT_PROBE_TABLE_H
#define AS_REPORT_PROBE_TABLE_H

#include "report/model/column.h"
#include "report/model/further.h"
#include "report/model/view_table.h"

enum { AS_PROBE_TABLE_METRIC = AS_AXES_MAX, AS_AXIS_WORDS = 64 };

struct as_probe_table {
    struct as_columns c;
    size_t *order; /* rows in order; owned */
    /* Columns that vary on this device, words first; as indices: axis, or AS_PROBE_TABLE_METRIC. */
    size_t words[AS_AXES_MAX + 1], words_n;
    size_t numbers[AS_AXES_MAX], numbers_n;
    bool grouped;
};
enum as_status as_probe_table_make(const struct as_report_run *runs, size_t runs_n, const char *probe,
                                   struct as_probe_table *t, struct as_error *err);
void as_probe_table_finish(struct as_probe_table *t);
/* Chooses the columns for the device of the row order[from]; returns the end of its rows. */
size_t as_probe_table_device(struct as_probe_table *t, size_t from);
/* End of the rows that share a line with `from`: the same cell in later runs. */
size_t as_probe_table_line(const struct as_probe_table *t, size_t from, size_t to);
/* The axes that have a column, in order. */
size_t as_probe_table_axes(const struct as_probe_table *t);
const struct as_column *as_probe_table_axis(const struct as_probe_table *t, size_t i);
/* "pattern random, stride 64 B": what all rows share, and what the rows of a group share. Not escaped. */
void as_probe_table_common(const struct as_probe_table *t, size_t from, size_t to, struct as_buf *out);
void as_probe_table_group(const struct as_probe_table *t, size_t row, struct as_buf *out);
/* Does a group begin with order[i]? */
bool as_probe_table_new_group(const struct as_probe_table *t, size_t from, size_t i);
/* An axis or a metric in words: "compute unit" of compute_unit. */
const char *as_axis_words(const char *name, char out[static AS_AXIS_WORDS]);

/* The table of one run. collect: which further metrics have a column. *out is the caller's (as_view_finish). */
typedef void (*as_further_collect_fn)(struct as_further *f, const struct as_cell *cell);
void as_probe_table_view(const struct as_probe_table *t, size_t from, size_t to, as_further_collect_fn collect,
                         struct as_view_table *out);

#endif
