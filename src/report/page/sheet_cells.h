/* The cells of a line of the data sheet on the page; a row's columns that have nothing to say are empty. */
#ifndef AS_REPORT_PAGE_SHEET_CELLS_H
#define AS_REPORT_PAGE_SHEET_CELLS_H

#include "base/buf.h"
#include "report/sheet/machine_runs.h"
#include "report/sheet/sheet.h"
#include "report/sheet/sheet_check.h"

/* Value and width. row NULL: there is none. linked: the page has the measurement that it rests on. */
void as_sheet_value_cells(struct as_buf *b, const char *device, const struct as_sheet_row *row, bool linked);
/* Where another run of the machine lies. */
void as_sheet_another_cell(struct as_buf *b, const struct as_sheet_row *row, const struct as_line_runs *runs);
void as_sheet_specified_cell(struct as_buf *b, const struct as_sheet_row *row);
/* The share of what is specified, in percent and as a bar. */
void as_sheet_share_cells(struct as_buf *b, const struct as_sheet_row *row);
void as_sheet_published_cell(struct as_buf *b, const struct as_sheet_row *row);
/* The ratio of the row's line in the check of two runs, with its verdict; ≈: inconclusive. */
void as_sheet_ratio_cell(struct as_buf *b, const struct as_check *check, const char *device,
                         const struct as_sheet_row *row);
/* The value of one of many runs, with the ratio where the check finds that it differs. own NULL: the run lacks the
 * line; check NULL: it is the first. */
void as_sheet_run_cell(struct as_buf *b, const char *device, const struct as_sheet_row *own,
                       const struct as_check *check);

/* A group's lines are a body of their own; on a phone only the first of most groups is open. */
void as_sheet_open_group(struct as_buf *b, const char *group);
/* The table of a device that some of several runs have. */
struct as_page;
enum as_status as_sheets_beside(struct as_page *p, const char *device);

#endif
