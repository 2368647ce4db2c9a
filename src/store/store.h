/* The store: one SQLite file that keeps runs. One writer at a time, a rollback journal (folders of users are often on
 * network file systems), the schema versioned (PRAGMA user_version, application_id "ASAY"). A store of an earlier
 * schema is brought up to date when it is opened for writing; readers get a migrated copy in memory. Errors name the
 * path and say what to do. Every file that is opened is hostile until checked. */
#ifndef AS_STORE_STORE_H
#define AS_STORE_STORE_H

#include "model/cell.h"

struct as_store;

enum as_store_mode {
    AS_STORE_READ,  /* must exist; never written (a read-only store works, one of an earlier schema too) */
    AS_STORE_WRITE, /* created with its folders when absent */
};
/* path NULL: the default (as_store_default_path). */
enum as_status as_store_open(const char *path, enum as_store_mode mode, struct as_store **out, struct as_error *err);
void as_store_close(struct as_store *store); /* takes NULL */
/* Closes after a failure: a store that this opening made, and that keeps no run, is taken away again with its folders.
 */
void as_store_abandon(struct as_store *store);
/* $ASSAY_STORE, else $XDG_DATA_HOME/assay/assay.db, else ~/.local/share/assay/assay.db */
enum as_status as_store_default_path(struct as_buf *out, struct as_error *err);
const char *as_store_path(const struct as_store *store);

/* Writing. Each call is one transaction, which a killed process loses whole or not at all and a power loss cannot
 * damage. It costs five syncs of the file system (about 0.7 ms on an SSD, 0.1 ms of it assay and SQLite). */
/* A run belongs to one process at a time, the one that has claimed it: who changes a run claims it first and reads it
 * then. AS_BUSY: another process has. A claim ends with the process; a store handle holds one, and a new one replaces
 * it. */
enum as_status as_store_claim(struct as_store *store, int64_t run_id, struct as_error *err);
void as_store_release(struct as_store *store); /* takes NULL and a store without a claim */
/* Makes the state of a run that was read AS_RUN_INTERRUPTED where it is stored as running and no process has claimed
 * it: its process was killed. Where the store's file cannot be opened for writing, nobody can tell: the state stays. */
void as_store_settle_state(const struct as_store *store, struct as_run *run);
/* Inserts the run and its planned cells and claims it; sets run->id and every cells[i].id and run_id. */
enum as_status as_store_begin_run(struct as_store *store, struct as_run *run, struct as_cell *cells, size_t n,
                                  struct as_error *err);
/* Stores trials of one run and their cells as they are now (status, summary, gates), all or none. A trial with the same
 * cell and number is refused (AS_FAILED): nothing is ever stored twice. */
struct as_stored_trial {
    const struct as_trial *trial;
    const struct as_cell *cell;
};
enum as_status as_store_add_trials(struct as_store *store, const struct as_stored_trial *trials, size_t n,
                                   struct as_error *err);
/* Stores n cells of a run as they are now (status, reason, summary, gates), in one transaction: for skips and for the
 * gates at the end. which: their indices in cells; NULL: the first n. */
enum as_status as_store_update_cells(struct as_store *store, const struct as_cell *cells, const size_t *which, size_t n,
                                     struct as_error *err);
enum as_status as_store_update_run(struct as_store *store, const struct as_run *run, struct as_error *err);
/* Deletes the run with its cells and trials. AS_BUSY: a process is measuring it. */
enum as_status as_store_delete_run(struct as_store *store, int64_t run_id, struct as_error *err);

/* Reading. Results belong to the caller (as_runs_free, as_cells_free, as_run_finish, as_trial_finish). */
enum as_status as_store_runs(struct as_store *store, struct as_run **runs, size_t *n, struct as_error *err);
/* name: "last", "-1" (the one before the last is -2; runs that measured again what check found come last in this
 * order), a run number, or the first characters (4 or more) of its uuid. NULL: last. */
enum as_status as_store_run(struct as_store *store, const char *name, struct as_run *out, struct as_error *err);
struct as_cell_filter {
    int64_t run_id;     /* 0: all */
    const char *probe;  /* NULL: all */
    const char *device; /* NULL: all */
    int hidden;         /* also the sentinel's cells */
    int with_samples;   /* sum.n is then the number of samples found, also where a kill came between leaving out a
                           trial and storing the cell's new numbers */
    size_t limit;       /* 0: all, else the first so many */
    int from;           /* index in the plan of the first; sentinels come after the run's other cells */
};
/* Cells in order of the plan. */
enum as_status as_store_cells(struct as_store *store, const struct as_cell_filter *filter, struct as_cell **cells,
                              size_t *n, struct as_error *err);
enum as_status as_store_cell(struct as_store *store, int64_t id, int with_samples, struct as_cell *out,
                             struct as_error *err);
/* The same cells one at a time, in memory that does not grow with them. What take does not move out of the cell (by
 * leaving NULL there) is freed; any status but AS_OK ends it. take may read from the store, but not list cells. */
typedef enum as_status (*as_cell_fn)(void *user, struct as_cell *cell, struct as_error *err);
enum as_status as_store_each_cell(struct as_store *store, const struct as_cell_filter *filter, as_cell_fn take,
                                  void *user, struct as_error *err);
/* The same in a quarter of the time, of a run's cells but the sentinel's. Only id, device, probe, unit,
 * lower_is_better, axes, status, sum.n (0 or more) and sum.median are read, and of cells that are not ok the reason and
 * which gates failed. */
enum as_status as_store_each_brief(struct as_store *store, int64_t run_id, as_cell_fn take, void *user,
                                   struct as_error *err);
/* How many cells of a run are of a probe (NULL: of all but the sentinel). */
enum as_status as_store_count(struct as_store *store, int64_t run_id, const char *probe, size_t *n,
                              struct as_error *err);
/* The trials of one cell, or of a whole run when cell_id is 0, in order of time. */
enum as_status as_store_trials(struct as_store *store, int64_t run_id, int64_t cell_id, struct as_trial **trials,
                               size_t *n, struct as_error *err);
void as_trials_free(struct as_trial *trials, size_t n);
/* Cells of a run whose numbers do not match their stored trials, in order of the plan; with run_id 0 the runs that have
 * such cells. Ids, the caller's to free. */
enum as_status as_store_stale(struct as_store *store, int64_t run_id, int64_t **ids, size_t *n, struct as_error *err);
/* What sensors saw of a device that disturbs its numbers: "another process", "power cap", in how many of its trials. */
struct as_seen {
    char device[32], what[24];
    bool is_shared; /* another process, rather than a reason for throttling */
    size_t trials, of;
};
/* By device, the most frequent first; *out is the caller's (free). What was seen in under a tenth of a device's trials
 * is left out. */
enum as_status as_store_seen(struct as_store *store, int64_t run_id, struct as_seen **out, size_t *n,
                             struct as_error *err);
/* Complete runs of the same build on the same host and CPU model before this one, the latest first: at most five ids.
 */
enum { AS_EARLIER_MAX = 5 };
enum as_status as_store_earlier(struct as_store *store, const struct as_run *run, int64_t ids[AS_EARLIER_MAX],
                                size_t *n, struct as_error *err);
/* Appends how a run's sentinels differ from those of up to five complete earlier runs on the same host by the same
 * build, "; " between; nothing where they do not, where there are fewer than three, or where those cannot be read.
 * Device ids are not escaped. */
enum as_status as_store_against_earlier(struct as_store *store, const struct as_run *run, struct as_buf *out,
                                        struct as_error *err);
/* SQLite's integrity check, foreign keys, and the store's own rules (a trial belongs to a cell, sample blobs whole). */
enum as_status as_store_verify(struct as_store *store, struct as_error *err);

/* Export and import, described by docs/export.schema.json: the version of the format. */
enum { AS_EXPORT_FORMAT = 1 };
/* What is written goes to out; now and then, where write is not NULL, it is handed to write and out cleared, so that
 * memory does not grow with the run. */
typedef enum as_status (*as_write_fn)(void *user, const char *bytes, size_t n, struct as_error *err);
struct as_sink {
    as_write_fn write;
    void *user;
    struct as_buf *out;
};
enum as_status as_store_export_json(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                                    struct as_error *err);
enum as_status as_store_export_csv(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                                   struct as_error *err);
/* The elements of matrix fragments as CSV: lane, and place among its elements, of each row and column. Only the head
 * where the run found none. */
enum as_status as_store_export_layout(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                                      struct as_error *err);
/* Adds the run of an exported JSON text; samples and trials come back as exported. Damaged, foreign or newer text is
 * refused whole (AS_FORMAT with the place). */
enum as_status as_store_import_json(struct as_store *store, const char *text, size_t len, int64_t *run_id,
                                    struct as_error *err);

#endif
