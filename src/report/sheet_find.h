/* Finding the number of a source of the data sheet, or the reason why a run has none. */
#ifndef AS_REPORT_SHEET_FIND_H
#define AS_REPORT_SHEET_FIND_H

#include "report/report.h"
#include "report/sheet_lines.h"

struct as_sheet_subject {
    const struct as_report_run *run;
    const char *device;
    const struct as_device_info *info; /* NULL unknown */
    double clock_hz;                   /* NAN unknown */
};
struct as_sheet_number {
    double value, claimed;
    struct as_interval ci;
    char unit[16];
    bool wide, decided, refuted;
    size_t trials;
    int64_t cell;        /* 0: several */
    char named[64];      /* the value of the axis that the source names; "" none */
    bool on_small_pages; /* base pages were got where huge ones were requested */
};
enum as_sheet_found {
    AS_SHEET_FOUND,
    AS_SHEET_NOT_IN_SUITE, /* no such cell */
    AS_SHEET_IMPOSSIBLE,   /* unsupported on this device */
    AS_SHEET_MISSING,      /* planned, but without a valid number */
};
bool as_sheet_is_of_side(const struct as_sheet_subject *s, enum as_sheet_side side);
/* Writes text with "@role" as the name of the device's allocator and "{unit}" as its word for a compute unit. */
void as_sheet_expand(const struct as_sheet_subject *s, const char *text, char *out, size_t size);
/* group: of the line. reason ("" where found): "left out by the budget", "rejected: checksum". */
enum as_sheet_found as_sheet_find_source(const struct as_sheet_subject *s, const struct as_sheet_source *source,
                                         const char *group, struct as_sheet_number *out, struct as_buf *reason);

#endif
