#include "store/sql.h"

#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define CELL_FILTER                                                                                                    \
    " AND (?2 IS NULL OR probe = ?2) AND (?3 IS NULL OR device = ?3) AND (?4 OR probe <> '" AS_HIDDEN_PROBE "')"       \
    " AND position >= ?6"
/* One digit per gate: fewer columns halve the read time. */
#define FAILED_GATES                                                                                                   \
    "(gate_checksum = 'fail') || (gate_limit = 'fail') || (gate_code = 'fail') || (gate_footprint = 'fail')"

static const char *const texts[AS_SQL_N] = {
    [AS_SQL_BEGIN_READ] = "BEGIN",
    [AS_SQL_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [AS_SQL_COMMIT] = "COMMIT",
    [AS_SQL_ROLLBACK] = "ROLLBACK",
    [AS_SQL_ADD_RUN] = "INSERT INTO runs({run}, cells) VALUES({run?}, ?)",
    [AS_SQL_UPDATE_RUN] = "UPDATE runs SET ({run}, cells_ok) = ({run?}, NULL) WHERE id = ?",
    /* counts stay valid until a cell of the run changes */
    [AS_SQL_RECOUNT] = "UPDATE runs SET cells_ok = CASE WHEN ?2 THEN (SELECT count(*) FROM cells WHERE run_id = ?1 AND "
                       "status IN('ok','wide') AND probe <> '" AS_HIDDEN_PROBE "') END "
                       "WHERE id = ?1 AND (?2 OR cells_ok IS NOT NULL)",
    [AS_SQL_DELETE_RUN] = "DELETE FROM runs WHERE id = ?",
    [AS_SQL_ADD_CELL] = "INSERT INTO cells({cell}, run_id, axes, key) VALUES({cell?}, ?, ?, ?)",
    [AS_SQL_UPDATE_CELL] = "UPDATE cells SET ({cell}) = ({cell?}) WHERE id = ?",
    [AS_SQL_ADD_TRIAL] = "INSERT INTO trials({trial}, cell_id, samples, core_hz, weight) VALUES({trial?}, ?, ?, ?, ?)",
    [AS_SQL_RUNS] = "SELECT {run}, id, cells, cells_ok FROM runs ORDER BY id",
    [AS_SQL_RUN] = "SELECT {run}, id, cells, cells_ok FROM runs WHERE id = ?",
    [AS_SQL_COUNT_OK] =
        "SELECT count(*) FROM cells WHERE run_id = ? AND status IN('ok','wide') AND probe <> '" AS_HIDDEN_PROBE "'",
    [AS_SQL_RUN_FROM_END] = "SELECT id FROM runs ORDER BY suite LIKE 'cells of run % again', id DESC LIMIT 1 OFFSET ?",
    /* 'g' sorts after every hexadecimal digit */
    [AS_SQL_RUNS_BY_UUID] = "SELECT id, uuid FROM runs WHERE uuid >= ?1 AND uuid < ?1 || 'g' ORDER BY id LIMIT 6",
    [AS_SQL_RUNS_BEFORE] = "SELECT id, provenance, devices, cells FROM runs WHERE state = 'complete' AND host = ? AND "
                           "tool_commit = ? AND started_at < ? AND id <> ? ORDER BY started_at DESC LIMIT 20",
    [AS_SQL_SEEN] =
        "SELECT c.device, t.throttle, sum(coalesce(t.users, 0) >= 1), count(*) FROM cells c JOIN trials t ON "
        "t.cell_id = c.id WHERE c.run_id = ? AND t.sensor <> '' AND t.n > 0 GROUP BY 1, 2 ORDER BY 1, 2",
    [AS_SQL_RUN_IDS] = "SELECT count(*), min(id), max(id) FROM runs",
    [AS_SQL_STALE_RUNS] = "SELECT DISTINCT c.run_id FROM " AS_STALE_CELLS " ORDER BY 1",
    [AS_SQL_STALE_CELLS] = "SELECT c.id FROM " AS_STALE_CELLS " AND c.run_id = ? ORDER BY c.position",
    [AS_SQL_CELLS] = "SELECT {cell}, id, run_id, axes, key FROM cells WHERE ?1 = 0" CELL_FILTER
                     " ORDER BY run_id, position LIMIT ?5",
    [AS_SQL_CELLS_OF_RUN] =
        "SELECT {cell}, id, run_id, axes, key FROM cells WHERE run_id = ?1" CELL_FILTER " ORDER BY position LIMIT ?5",
    [AS_SQL_BRIEF_CELLS] =
        "SELECT id, device, probe, unit, lower_is_better, axes, n, median, CASE status WHEN 'ok' THEN "
        "NULL ELSE ifnull(" FAILED_GATES " || status || ' ' || reason, '?') END FROM cells WHERE run_id = ? AND "
        "probe <> '" AS_HIDDEN_PROBE "' ORDER BY position",
    [AS_SQL_COUNT] = "SELECT count(*) FROM cells WHERE run_id = ?1 AND (probe = ?2 OR (?2 IS NULL AND probe <> "
                     "'" AS_HIDDEN_PROBE "'))",
    [AS_SQL_VARIETY] = "SELECT count(DISTINCT device), count(DISTINCT probe), (SELECT CASE WHEN json_valid(devices) "
                       "THEN json_array_length(devices) END FROM runs WHERE id = ?1) FROM cells WHERE run_id = ?1",
    [AS_SQL_CELL] = "SELECT {cell}, id, run_id, axes, key FROM cells WHERE id = ?",
    [AS_SQL_SAMPLES] = "SELECT number, n, samples FROM trials WHERE cell_id = ? AND status = 'ok' AND excluded = 0 AND "
                       "n > 0 ORDER BY number",
    [AS_SQL_TRIALS_OF_RUN] =
        "SELECT {trial}, cell_id, samples, core_hz, weight FROM trials WHERE cell_id IN (SELECT id FROM cells WHERE "
        "run_id = ?) ORDER BY started_at, cell_id, number",
    /* numbers are given in order of time, also when the wall clock is set back */
    [AS_SQL_TRIALS_OF_CELL] =
        "SELECT {trial}, cell_id, samples, core_hz, weight FROM trials WHERE cell_id = ? ORDER BY number",
};

/* The columns of a run, a cell, a trial; a cell's gates and a trial's readings are among them. */
static void sql_columns_of(const char *what, struct as_buf *out)
{
    if (strcmp(what, "run") == 0)
        as_fields_columns(&as_run_fields, "", out);
    if (strcmp(what, "cell") == 0) {
        as_fields_columns(&as_cell_fields, "", out);
        for (int g = 0; g < AS_GATE_N; g++) {
            char prefix[32];
            snprintf(prefix, sizeof prefix, "gate_%s", as_gate_name((enum as_gate)g));
            as_fields_columns(&as_gate_fields, prefix, out);
        }
    }
    if (strcmp(what, "trial") == 0) {
        as_fields_columns(&as_trial_fields, "", out);
        as_fields_columns(&as_readings_fields, "", out);
    }
}

/* The text with "{cell}" replaced by a cell's columns and "{cell?}" by as many parameters. */
static void expand(const char *text, struct as_buf *out)
{
    for (const char *at = text; *at;) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        if (!end) {
            as_buf_char(out, *at++);
            continue;
        }
        const bool parameters = end[-1] == '?';
        char what[16];
        snprintf(what, sizeof what, "%.*s", (int)(end - at - 1 - parameters), at + 1);
        struct as_buf columns = AS_BUF_INIT;
        sql_columns_of(what, &columns);
        if (!parameters)
            as_buf_str(out, as_buf_get(&columns));
        for (const char *c = as_buf_get(&columns); parameters && c; c = strchr(c + 1, ','))
            as_buf_str(out, c == as_buf_get(&columns) ? "?" : ",?");
        out->failed |= columns.failed;
        as_buf_finish(&columns);
        at = end + 1;
    }
}

enum as_status as_store_damaged(const struct as_store *store, const char *what, int64_t id, const char *why,
                                struct as_error *err)
{
    return as_fail(err, AS_FORMAT, "the store '%s' is damaged: %s %lld: %s", store->path, what, (long long)id, why);
}

struct as_row as_row_start(struct as_store *store, enum as_sql which)
{
    struct as_row row = {.store = store, .at = 1, .rc = SQLITE_OK};
    if (!store->statements[which]) {
        struct as_buf text = AS_BUF_INIT;
        expand(texts[which], &text);
        row.rc = text.failed ? SQLITE_NOMEM
                             : sqlite3_prepare_v3(store->db, as_buf_get(&text), -1, SQLITE_PREPARE_PERSISTENT,
                                                  &store->statements[which], NULL);
        as_buf_finish(&text);
    }
    row.st = store->statements[which];
    return row;
}

bool as_row_next(struct as_row *row)
{
    if (row->rc != SQLITE_OK && row->rc != SQLITE_ROW)
        return false;
    row->rc = sqlite3_step(row->st);
    row->at = 0;
    return row->rc == SQLITE_ROW;
}

enum as_status as_row_end(struct as_row *row, struct as_error *err)
{
    enum as_status status = AS_OK;
    if (row->rc != SQLITE_OK && row->rc != SQLITE_ROW && row->rc != SQLITE_DONE)
        status = as_sql_fail(row->store, row->rc, err);
    if (row->st) {
        sqlite3_reset(row->st);
        sqlite3_clear_bindings(row->st);
    }
    return status;
}

enum as_status as_row_close(struct as_row *row, enum as_status status, struct as_error *err)
{
    enum as_status st = as_row_end(row, status ? NULL : err);
    return status ? status : st;
}

enum as_status as_row_run(struct as_row *row, struct as_error *err)
{
    while (as_row_next(row))
        ;
    return as_row_end(row, err);
}

static void sql_keep(struct as_row *row, int rc)
{
    if (row->rc == SQLITE_OK)
        row->rc = rc;
    row->at++;
}

void as_put_int(struct as_row *row, int64_t v)
{
    sql_keep(row, sqlite3_bind_int64(row->st, row->at, v));
}

void as_put_real(struct as_row *row, double v)
{
    sql_keep(row, isfinite(v) ? sqlite3_bind_double(row->st, row->at, v) : sqlite3_bind_null(row->st, row->at));
}

void as_put_text(struct as_row *row, const char *s)
{
    sql_keep(row, sqlite3_bind_text(row->st, row->at, s ? s : "", -1, SQLITE_STATIC));
}

void as_put_text_or_null(struct as_row *row, const char *s)
{
    sql_keep(row, s ? sqlite3_bind_text(row->st, row->at, s, -1, SQLITE_STATIC) : sqlite3_bind_null(row->st, row->at));
}

void as_put_throttle(struct as_row *row, int bits)
{
    struct as_buf text = AS_BUF_INIT;
    as_throttle_text(bits, &text);
    if (as_buf_check(&text, NULL))
        sql_keep(row, SQLITE_NOMEM);
    else if (text.len)
        sql_keep(row, sqlite3_bind_text(row->st, row->at, as_buf_get(&text), -1, SQLITE_TRANSIENT));
    else
        sql_keep(row, sqlite3_bind_null(row->st, row->at));
    as_buf_finish(&text);
}

void as_put_causes(struct as_row *row, unsigned causes)
{
    struct as_buf text = AS_BUF_INIT;
    as_causes_text(causes, &text);
    sql_keep(row, as_buf_check(&text, NULL)
                      ? SQLITE_NOMEM
                      : sqlite3_bind_text(row->st, row->at, as_buf_get(&text), -1, SQLITE_TRANSIENT));
    as_buf_finish(&text);
}

void as_put_bytes_or_null(struct as_row *row, const void *bytes, size_t n)
{
    sql_keep(row, bytes ? sqlite3_bind_blob64(row->st, row->at, bytes, n, SQLITE_STATIC)
                        : sqlite3_bind_null(row->st, row->at));
}

void as_put_bytes(struct as_row *row, const void *bytes, size_t n)
{
    sql_keep(row, sqlite3_bind_blob64(row->st, row->at, n ? bytes : "", n, SQLITE_STATIC));
}

int64_t as_get_int(struct as_row *row)
{
    int at = row->at++;
    return sqlite3_column_type(row->st, at) == SQLITE_INTEGER ? sqlite3_column_int64(row->st, at) : 0;
}

int as_get_small(struct as_row *row)
{
    int64_t v = as_get_int(row);
    return v < 0 ? 0 : v > INT_MAX ? INT_MAX : (int)v;
}

uint64_t as_get_whole(struct as_row *row)
{
    int64_t v = as_get_int(row);
    return v < 0 ? 0 : (uint64_t)v;
}

double as_get_real(struct as_row *row)
{
    int at = row->at++, type = sqlite3_column_type(row->st, at);
    double v = type == SQLITE_FLOAT || type == SQLITE_INTEGER ? sqlite3_column_double(row->st, at) : NAN;
    return isfinite(v) ? v : NAN;
}

double as_get_time(struct as_row *row)
{
    double v = as_get_real(row);
    return isfinite(v) ? v : 0;
}

const char *as_get_text(struct as_row *row)
{
    int at = row->at++;
    if (sqlite3_column_type(row->st, at) != SQLITE_TEXT)
        return "";
    const char *s = (const char *)sqlite3_column_text(row->st, at);
    if (!s)
        row->rc = SQLITE_NOMEM;
    return s ? s : "";
}

void as_copy_column(struct as_row *row, char *dst, size_t size)
{
    as_copy_text(dst, size, as_get_text(row));
}

char *as_take_text(struct as_row *row)
{
    if (sqlite3_column_type(row->st, row->at) != SQLITE_TEXT) {
        row->at++;
        return NULL;
    }
    char *s = as_strdup(as_get_text(row));
    if (!s)
        row->rc = SQLITE_NOMEM;
    return s;
}

const void *as_get_bytes(struct as_row *row, size_t *n)
{
    int at = row->at++;
    *n = 0;
    if (sqlite3_column_type(row->st, at) != SQLITE_BLOB)
        return NULL;
    const void *bytes = sqlite3_column_blob(row->st, at);
    *n = (size_t)sqlite3_column_bytes(row->st, at);
    if (!bytes && *n)
        row->rc = SQLITE_NOMEM;
    return bytes;
}

bool as_store_moved(const struct as_store *store)
{
    int moved = 0;
    return store->db && sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

/* Nothing was read or written through it yet. */
static bool is_fresh(const struct as_store *store)
{
    for (size_t i = 0; i < AS_SQL_N; i++)
        if (store->statements[i])
            return false;
    return store->claimed == 0;
}

enum as_status as_begin_write(struct as_store *store, struct as_error *err)
{
    if (store->mode != AS_STORE_WRITE)
        return as_fail(err, AS_USAGE, "the store '%s' is open for reading only", store->path);
    /* Another process may have made the store, failed, and removed it again while this one was opening it. */
    for (int vanished = 0;; vanished++) {
        const bool fresh = is_fresh(store);
        if (!as_store_moved(store)) {
            struct as_row row = as_row_start(store, AS_SQL_BEGIN_WRITE);
            const enum as_status st = as_row_run(&row, err);
            if (st || !as_store_moved(store)) /* locked now, so that it stays where it is */
                return st;
            (void)as_end(store, AS_BUSY, NULL);
        }
        if (!fresh || vanished == AS_VANISHED_MAX)
            return as_sql_fail(store, SQLITE_READONLY_DBMOVED, err);
        const enum as_status st = as_store_connect(store, err);
        if (st)
            return st;
    }
}

enum as_status as_begin_read(struct as_store *store, bool *begun, struct as_error *err)
{
    *begun = sqlite3_get_autocommit(store->db) != 0;
    if (!*begun)
        return AS_OK;
    struct as_row row = as_row_start(store, AS_SQL_BEGIN_READ);
    return as_row_run(&row, err);
}

enum as_status as_end(struct as_store *store, enum as_status st, struct as_error *err)
{
    if (!st) {
        struct as_row commit = as_row_start(store, AS_SQL_COMMIT);
        st = as_row_run(&commit, err);
    }
    /* SQLite may have rolled back by itself, on a full disk for one */
    if (st && !sqlite3_get_autocommit(store->db)) {
        struct as_row rollback = as_row_start(store, AS_SQL_ROLLBACK);
        as_row_run(&rollback, NULL);
    }
    return st;
}

static const struct {
    int rc;
    enum as_status status;
    const char *cause, *remedy;
} failures[] = {
    {SQLITE_BUSY, AS_BUSY, "another process is using it", "try again when that one is done"},
    {SQLITE_LOCKED, AS_BUSY, "another process is using it", "try again when that one is done"},
    {SQLITE_PROTOCOL, AS_BUSY, "it cannot be locked", "try again, or give a file on a local disk with --store"},
    {SQLITE_READONLY_DBMOVED, AS_BUSY, "its file was moved, deleted or replaced while it was in use",
     "restore it, or start a new run"},
    {SQLITE_READONLY_ROLLBACK, AS_IO, "a run was killed while it wrote, and the file cannot be written to recover it",
     "make file and folder writable, or copy both the file and its -journal to a folder that is"},
    {SQLITE_READONLY, AS_IO, "it is read-only", "change its permissions or give another file with --store"},
    {SQLITE_IOERR_WRITE, AS_IO, "it cannot be written to",
     "free some space or quota, or check the disk; what was stored before is safe"},
    {SQLITE_FULL, AS_IO, "no space is left for it", "free some space; what was stored before is safe"},
    {SQLITE_CORRUPT, AS_FORMAT, "it is damaged", "restore it from a copy or give another file with --store"},
    {SQLITE_NOTADB, AS_FORMAT, "it is not a store, or its header is damaged",
     "give another file with --store or move this one away"},
    {SQLITE_CANTOPEN, AS_IO, "it cannot be opened", "check the path and its permissions or give another with --store"},
    {SQLITE_PERM, AS_IO, "it cannot be opened", "check its permissions or give another file with --store"},
    {SQLITE_IOERR, AS_IO, "reading or writing failed",
     "check the disk and its free space; what was stored before is safe"},
    {SQLITE_CONSTRAINT, AS_FORMAT, "a value violates a constraint", "check the data"},
    {SQLITE_TOOBIG, AS_FORMAT, "a value in it is larger than a store may hold", "restore it from a copy"},
};

/* SQLite does not keep errno of a failed write, so the message can only suggest a limit. */
static const char *limit_remedy(int rc)
{
    struct rlimit limit;
    if (rc == SQLITE_IOERR_WRITE && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        return "raise the file size limit (ulimit -f), or ";
    return "";
}

enum as_status as_sql_fail_at(const char *path, sqlite3 *db, int rc, struct as_error *err)
{
    if ((rc & 0xff) == SQLITE_NOMEM)
        return as_fail(err, AS_NOMEM, "out of memory for the store '%s'", path);
    /* of other failures the number is that of a later call */
    int number = db && (rc & 0xff) == SQLITE_CANTOPEN ? sqlite3_system_errno(db) : 0;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].rc == rc || failures[i].rc == (rc & 0xff))
            return as_fail(err, failures[i].status, "the store '%s': %s%s%s%s: %s%s", path, failures[i].cause,
                           number ? " (" : "", number ? strerror(number) : "", number ? ")" : "", limit_remedy(rc),
                           failures[i].remedy);
    return as_fail(err, AS_FAILED, "the store '%s': %s (SQLite code %d)", path, db ? sqlite3_errmsg(db) : "", rc);
}

enum as_status as_sql_fail(const struct as_store *store, int rc, struct as_error *err)
{
    return as_sql_fail_at(store->path, store->db, rc, err);
}
