/* Data sheets of a run for other programs. */
#ifndef AS_REPORT_SHEET_EXPORT_H
#define AS_REPORT_SHEET_EXPORT_H

#include "report/sheet/machine_runs.h"
#include "report/sheet/sheet.h"
#include "store/store.h"

/* As JSON (docs/sheet.schema.json). */
enum { AS_SHEET_VERSION = 1 };
enum as_status as_export_sheet(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                               struct as_error *err);
/* The members of one line, added to an open object. */
void as_sheet_row_json(const struct as_sheet_row *row, struct as_buf *out);
/* The same of a machine over its runs (AS_MACHINE_NOW): "run" is the fullest of them, and each line says of how many
 * runs it is and what another run shows. */
void as_machine_to_json(const struct as_machine_runs *m, struct as_buf *out);
/* As a C header: a constant per line, named ASSAY_<DEVICE>_<GROUP>_<QUANTITY>_<UNIT>. */
enum as_status as_export_header(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                                struct as_error *err);

#endif
