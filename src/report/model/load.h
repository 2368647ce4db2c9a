/* Loads a stored run with its devices and derived facts, for report, show and the C API. */
#ifndef AS_REPORT_LOAD_H
#define AS_REPORT_LOAD_H

#include "report/report.h"
#include "store/store.h"

/* name as for as_store_run. *out belongs to the caller (as_report_run_finish). */
enum as_status as_report_load(struct as_store *store, const char *name, struct as_report_run *out,
                              struct as_error *err);
/* The same for as_report_terminal. Of a run with more than AS_REPORT_WHOLE_MAX cells (4 KB each) all are scanned, and
 * at most that many are kept for facts, smallest probes first; so a run of a million takes under 64 MB. */
enum { AS_REPORT_WHOLE_MAX = 12000 };
enum as_status as_report_load_short(struct as_store *store, const char *name, struct as_report_run *out,
                                    struct as_error *err);
/* The same without a comparison with earlier runs. */
enum as_status as_report_load_alone(struct as_store *store, const char *name, struct as_report_run *out,
                                    struct as_error *err);
/* The same for as_report_probe. Of such a run only the probe's cells are read, the first AS_REPORT_ROWS_MAX of them
 * unless all are asked for. */
enum { AS_REPORT_ROWS_MAX = 2000 };
enum as_status as_report_load_probe(struct as_store *store, const char *name, const char *probe, bool all,
                                    struct as_report_run *out, struct as_error *err);

/* A run that is being measured, for its data sheet: devices and facts of the cells as they are. To be called again when
 * these have changed; *out is zero the first time. run and cells stay the caller's and must outlive the call of
 * as_report_leave. */
enum as_status as_report_follow(const struct as_run *run, struct as_cell_view cells, struct as_report_run *out,
                                struct as_error *err);
void as_report_leave(struct as_report_run *out);
#endif
