/* Inside the store: its handle, its statements, and rows that are bound and read column after column. */
#ifndef AS_STORE_SQL_H
#define AS_STORE_SQL_H

#include "model/fields.h"
#include "store/schema.h"
#include "store/store.h"

#include <jansson.h>
#include <sqlite3.h>

/* The probe of sentinels: cells that monitor the machine during a run and were not requested. */
#define AS_HIDDEN_PROBE "sentinel"

/* Cells c whose numbers do not match their trials. In an unfinished run sentinels have those of the last trial alone,
 * and `resume` computes all cells again. */
#define AS_STALE_CELLS                                                                                                 \
    "cells c JOIN runs r ON r.id = c.run_id LEFT JOIN (SELECT cell_id, sum(n) AS n FROM trials WHERE status = 'ok' "   \
    "AND excluded = 0 GROUP BY cell_id) v ON v.cell_id = c.id WHERE c.n <> coalesce(v.n, 0) AND "                      \
    "(r.state = 'complete' OR (c.n = 0 AND c.probe <> '" AS_HIDDEN_PROBE "'))"

enum as_sql {
    AS_SQL_BEGIN_READ,
    AS_SQL_BEGIN_WRITE,
    AS_SQL_COMMIT,
    AS_SQL_ROLLBACK,
    AS_SQL_ADD_RUN,
    AS_SQL_UPDATE_RUN,
    AS_SQL_RECOUNT,
    AS_SQL_DELETE_RUN,
    AS_SQL_ADD_CELL,
    AS_SQL_UPDATE_CELL,
    AS_SQL_ADD_TRIAL,
    AS_SQL_RUNS,
    AS_SQL_RUN,
    AS_SQL_COUNT_OK,
    AS_SQL_RUN_FROM_END,
    AS_SQL_RUNS_BY_UUID,
    AS_SQL_RUNS_BEFORE,
    AS_SQL_SEEN,
    AS_SQL_RUN_IDS,
    AS_SQL_STALE_RUNS,
    AS_SQL_STALE_CELLS,
    AS_SQL_CELLS,
    AS_SQL_CELLS_OF_RUN,
    AS_SQL_BRIEF_CELLS,
    AS_SQL_COUNT,
    AS_SQL_VARIETY,
    AS_SQL_CELL,
    AS_SQL_SAMPLES,
    AS_SQL_TRIALS_OF_RUN,
    AS_SQL_TRIALS_OF_CELL,
    AS_SQL_N
};

struct as_store {
    sqlite3 *db;
    char *path;
    enum as_store_mode mode;
    const struct as_schema *schema;
    double patience_s; /* how long to wait for another process */
    double busy_since;
    int claim_fd;     /* holds the lock of the claimed run; -1 none */
    int64_t claimed;  /* id of that run; 0 none */
    bool made;        /* by this opening: nothing stood at the path before */
    size_t made_from; /* the folder that ends here in the path, and those below it, were made too; 0 none */
    sqlite3_stmt *statements[AS_SQL_N]; /* prepared at first use */
};

/* How many times in a row another process may remove the store that it made while this one opens it. */
enum { AS_VANISHED_MAX = 20 };
/* as_store_open with a schema other than this build's. */
enum as_status as_store_open_as(const char *path, enum as_store_mode mode, const struct as_schema *schema,
                                struct as_store **out, struct as_error *err);
/* Opens it at its path, anew where it is open already; waits for other processes. */
enum as_status as_store_connect(struct as_store *store, struct as_error *err);
/* Is the file that is open no longer at its path? */
bool as_store_moved(const struct as_store *store);

/* What SQLite's code means for the user: path, cause and remedy. Returns the code. */
enum as_status as_sql_fail(const struct as_store *store, int rc, struct as_error *err);
/* The same for a file that could not be opened as a store. */
enum as_status as_sql_fail_at(const char *path, sqlite3 *db, int rc, struct as_error *err);

/* A statement with a place in its columns or parameters. rc keeps the first error. */
struct as_row {
    struct as_store *store;
    sqlite3_stmt *st;
    int at;
    int rc;
};
/* Takes the statement out of the cache, reset and without values. */
struct as_row as_row_start(struct as_store *store, enum as_sql which);
/* True: there is a row, and reading starts at its first column. False: no more, or an error (as_row_end says). */
bool as_row_next(struct as_row *row);
/* Resets the statement; AS_OK unless something failed on the way. */
enum as_status as_row_end(struct as_row *row, struct as_error *err);
/* The same after status, which comes first. */
enum as_status as_row_close(struct as_row *row, enum as_status status, struct as_error *err);
/* Runs it to its end. */
enum as_status as_row_run(struct as_row *row, struct as_error *err);

void as_put_int(struct as_row *row, int64_t v);
void as_put_real(struct as_row *row, double v); /* NULL when it is no finite number */
/* Text and bytes must stay as they are until the statement is reset. */
void as_put_text(struct as_row *row, const char *s); /* NULL is "" */
void as_put_text_or_null(struct as_row *row, const char *s);
void as_put_throttle(struct as_row *row, int bits); /* as its words; NULL when unknown */
void as_put_causes(struct as_row *row, unsigned causes);
void as_put_bytes_or_null(struct as_row *row, const void *bytes, size_t n); /* NULL bytes: NULL */
void as_put_bytes(struct as_row *row, const void *bytes, size_t n);

int64_t as_get_int(struct as_row *row);      /* 0 for anything else */
int as_get_small(struct as_row *row);        /* 0 .. INT_MAX */
uint64_t as_get_whole(struct as_row *row);   /* 0 for what is below it */
double as_get_real(struct as_row *row);      /* NAN for anything else */
double as_get_time(struct as_row *row);      /* 0 for anything else */
const char *as_get_text(struct as_row *row); /* "" for anything else; until the next step */
void as_copy_column(struct as_row *row, char *dst, size_t size);
char *as_take_text(struct as_row *row); /* owned; NULL for NULL; out of memory is kept in rc */
const void *as_get_bytes(struct as_row *row, size_t *n);

/* A record's fields as columns, in the order of its table, those of kind AS_FIELD_OTHER left out. */
void as_fields_columns(const struct as_fields *fields, const char *prefix, struct as_buf *out); /* appends ", a, b" */
void as_put_fields(struct as_row *row, const struct as_fields *fields, const void *record);
/* NULL, or the column whose text is not one of its words; all columns are read either way. */
const char *as_get_fields(struct as_row *row, const struct as_fields *fields, void *record);

/* AS_FORMAT: "the store '...' is damaged: cell 7: why" */
enum as_status as_store_damaged(const struct as_store *store, const char *what, int64_t id, const char *why,
                                struct as_error *err);

/* Transactions. A reading one inside another is part of it. */
enum as_status as_begin_write(struct as_store *store, struct as_error *err);
enum as_status as_begin_read(struct as_store *store, bool *begun, struct as_error *err);
/* Commits when status is AS_OK, else rolls back; returns the first failure. */
enum as_status as_end(struct as_store *store, enum as_status status, struct as_error *err);

/* Parts of a writing transaction, for import. */
enum as_status as_store_put_run(struct as_store *store, struct as_run *run, int cells, struct as_error *err);
enum as_status as_store_put_cell(struct as_store *store, int64_t run_id, struct as_cell *cell, struct as_error *err);
enum as_status as_store_put_trial(struct as_store *store, const struct as_trial *trial, int64_t cell_id,
                                  struct as_error *err);
enum as_status as_store_put_end(struct as_store *store, const struct as_run *run, struct as_error *err);

/* Violations of the store's rules. */
struct as_broken {
    const char *rule;   /* NULL: nothing does */
    const char *remedy; /* NULL: restore it from a copy */
    char what[16];      /* kind of row: "cell" */
    int64_t id;
};
/* All rules, or where run_id is not 0 those about the cells of that run. */
enum as_status as_rules_check(struct as_store *store, int64_t run_id, struct as_broken *broken, struct as_error *err);
/* Are these devices that a reader of the run can take? */
enum as_status as_devices_check(const json_t *devices, struct as_error *err);
/* A double as samples are stored. */
double as_sample_at(const unsigned char *bytes);
/* Flushes out to write when it is large enough, or at the end. */
enum as_status as_sink_pass(const struct as_sink *sink, bool end, struct as_error *err);
/* AS_FORMAT for a run of more devices or probes than any run can be of, since its readers compare all with all. */
enum as_status as_store_check_variety(struct as_store *store, int64_t run_id, struct as_error *err);

#endif
