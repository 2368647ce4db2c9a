/* Columns over the measured cells of one probe: every axis with its distinct values, so that tables can be sorted and
 * grouped and the data of pictures can name each value once. */
#ifndef AS_REPORT_COLUMN_H
#define AS_REPORT_COLUMN_H

#include "probe/probe.h"
#include "report/report.h"

struct as_row {
    const struct as_cell *cell;
    size_t run; /* index in the runs */
};

struct as_column {
    const char *name;
    const struct as_axis *axis; /* NULL when the probe is unknown or does not have it */
    bool numbers;               /* every value is a number */
    size_t distinct;
    struct as_axis_value *values; /* [distinct]; numbers ascending, words in plan order */
    uint32_t *rank;               /* [rows]: index of the row's value */
};

struct as_columns {
    struct as_row *rows;
    size_t rows_n;
    struct as_column device, metric;
    struct as_column *axes;
    size_t axes_n;
    const struct as_probe *probe; /* NULL: unknown to this build */
};

/* The measured cells of a probe in these runs. */
enum as_status as_columns_make(const struct as_report_run *runs, size_t runs_n, const char *probe,
                               struct as_columns *out, struct as_error *err);
void as_columns_finish(struct as_columns *c);

/* An axis value as people write it: 32 KiB for sizes, the text otherwise, escaped for where it goes. axis: NULL
 * unknown. */
void as_axis_write(struct as_buf *b, const struct as_axis *axis, const struct as_axis_value *v,
                   void (*escape)(struct as_buf *b, const char *text));

#endif
