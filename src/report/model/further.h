/* Columns for further metrics (model/metrics.h) in tables, one for each name. */
#ifndef AS_REPORT_FURTHER_H
#define AS_REPORT_FURTHER_H

#include "model/metrics.h"

struct as_further {
    char names[AS_METRICS_MAX][sizeof((struct as_metric_value *)0)->name];
    size_t n;
};
/* Adds the names of the cell that are not there yet. */
void as_further_collect(struct as_further *f, const struct as_cell *cell);
/* Without the memory traffic that sensors report. */
void as_further_collect_own(struct as_further *f, const struct as_cell *cell);
/* The cell's value of each column, "" where it has none. write escapes it for the table. */
typedef void (*as_further_fn)(void *user, const char *value);
void as_further_row(const struct as_further *f, const struct as_cell *cell, as_further_fn write, void *user);

#endif
