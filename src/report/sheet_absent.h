/* Why a run has no number for a line of the data sheet. */
#ifndef AS_REPORT_SHEET_ABSENT_H
#define AS_REPORT_SHEET_ABSENT_H

#include "report/machine_sheet.h"

/* Fills d->absent with the lines of the table that d->sheet has not. */
enum as_status as_sheet_find_absent(const struct as_report_run *run, struct as_device_sheet *d, struct as_error *err);

#endif
