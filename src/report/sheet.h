/* The data sheet of a device: a fixed list of quantities in a fixed order, each with one number, the same in every
 * suite that measures it. */
#ifndef AS_REPORT_SHEET_H
#define AS_REPORT_SHEET_H

#include "report/report.h"

struct as_sheet_row {
    const char *group; /* "Memory" */
    char label[48];    /* "read" */
    double value;
    struct as_interval ci;
    char unit[16];
    bool wide;        /* the interval is wider than requested */
    double specified; /* by driver, OS or data sheet, in the unit; NAN: not known */
    char remark[96];  /* further numbers of the same thing, "" none */
    int64_t cell;     /* that it rests on; 0: several */
};
struct as_sheet {
    struct as_sheet_row *rows; /* owned */
    size_t n;
};
/* Rows without a valid number are left out. Facts and cells of the run must be loaded. */
enum as_status as_sheet_make(const struct as_report_run *run, const char *device, struct as_sheet *out,
                             struct as_error *err);
void as_sheet_finish(struct as_sheet *s);
const struct as_sheet_row *as_sheet_find(const struct as_sheet *s, const char *group, const char *label); /* or NULL */
/* measured / specified; NAN unless the unit is a rate or bytes and a specified value is known */
double as_sheet_share(const struct as_sheet_row *row);
bool as_sheet_has_shares(const struct as_sheet *s);

#endif
