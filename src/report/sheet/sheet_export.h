/* Data sheets of a run for other programs. */
#ifndef AS_REPORT_SHEET_EXPORT_H
#define AS_REPORT_SHEET_EXPORT_H

#include "store/store.h"

/* As JSON (docs/sheet.schema.json). */
enum { AS_SHEET_VERSION = 1 };
enum as_status as_export_sheet(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                               struct as_error *err);
/* As a C header: a constant per line, named ASSAY_<DEVICE>_<GROUP>_<QUANTITY>_<UNIT>. */
enum as_status as_export_header(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                                struct as_error *err);

#endif
