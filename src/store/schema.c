/* The tables of a store, and the steps that bring one of an earlier schema up to date. */
#include "store/schema.h"

#include "store/sql.h"

/* Unknown numbers are NULL. Tables are STRICT: each column holds only its type, whatever program wrote it. Arrays of
 * numbers are little-endian doubles. */
static const char tables[] =
    "CREATE TABLE runs("
    " id INTEGER PRIMARY KEY,"
    " uuid TEXT NOT NULL UNIQUE CHECK(length(uuid) BETWEEN 8 AND 39),"
    " started_at REAL NOT NULL,"
    " ended_at REAL NOT NULL,"
    " state TEXT NOT NULL CHECK(state IN('running','complete','interrupted')),"
    " suite TEXT NOT NULL,"
    " command TEXT NOT NULL,"
    " seed INTEGER NOT NULL,"
    " precision REAL,"
    " budget_s REAL,"
    " trials INTEGER NOT NULL,"
    " isolate INTEGER NOT NULL CHECK(isolate IN(0,1)),"
    " tool_version TEXT NOT NULL,"
    " tool_commit TEXT NOT NULL,"
    " host TEXT NOT NULL,"
    " provenance TEXT,"
    " devices TEXT,"
    " cells INTEGER NOT NULL CHECK(cells >= 0),"
    /* counted when the run ends; NULL: not counted since the last change */
    " cells_ok INTEGER,"
    " reference_hz REAL,"
    " sampling REAL,"
    " exponents TEXT,"
    " left_out TEXT"
    ") STRICT;"
    "CREATE TABLE cells("
    " id INTEGER PRIMARY KEY,"
    " run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"
    " position INTEGER NOT NULL CHECK(position >= 0),"
    " backend TEXT NOT NULL,"
    " device TEXT NOT NULL,"
    " probe TEXT NOT NULL,"
    " metric TEXT NOT NULL,"
    " unit TEXT NOT NULL,"
    " lower_is_better INTEGER NOT NULL CHECK(lower_is_better IN(0,1)),"
    " counts TEXT NOT NULL,"
    " axes TEXT NOT NULL,"
    " key INTEGER NOT NULL,"
    " status TEXT NOT NULL CHECK(status IN"
    "('planned','ok','wide','rejected','unsupported','failed','crashed','timeout','skipped')),"
    " reason TEXT NOT NULL,"
    /* why the interval is wide, as 'time, clock' */
    " causes TEXT NOT NULL,"
    " n INTEGER NOT NULL CHECK(n >= 0),"
    " trials INTEGER NOT NULL CHECK(trials >= 0),"
    " median REAL, ci_low REAL, ci_high REAL, mad REAL, min REAL, max REAL,"
    " modes INTEGER NOT NULL CHECK(modes BETWEEN 0 AND 2),"
    " mode_low REAL, mode_high REAL, mode_share REAL,"
    " exponent REAL, raw_low REAL, raw_high REAL,"
    " bound REAL,"
    " clock_hz REAL,"
    " footprint INTEGER NOT NULL,"
    " gate_checksum TEXT NOT NULL CHECK(gate_checksum IN('n/a','pass','fail')), gate_checksum_text TEXT NOT NULL,"
    " gate_limit TEXT NOT NULL CHECK(gate_limit IN('n/a','pass','fail')), gate_limit_text TEXT NOT NULL,"
    " gate_code TEXT NOT NULL CHECK(gate_code IN('n/a','pass','fail')), gate_code_text TEXT NOT NULL,"
    " gate_footprint TEXT NOT NULL CHECK(gate_footprint IN('n/a','pass','fail')), gate_footprint_text TEXT NOT NULL,"
    " trials_done INTEGER NOT NULL CHECK(trials_done >= 0),"
    " duration_s REAL NOT NULL,"
    " started_at REAL NOT NULL,"
    " detail TEXT,"
    " precision REAL,"
    /* answers in words and further metrics, as in docs/export.schema.json */
    " answers TEXT,"
    " metrics TEXT,"
    " UNIQUE(run_id, position)"
    ") STRICT;"
    "CREATE TABLE trials("
    " id INTEGER PRIMARY KEY,"
    " cell_id INTEGER NOT NULL REFERENCES cells(id) ON DELETE CASCADE,"
    " number INTEGER NOT NULL CHECK(number >= 0),"
    " started_at REAL NOT NULL,"
    " prepare_s REAL, duration_s REAL,"
    " n INTEGER NOT NULL CHECK(n >= 0),"
    /* in order of time */
    " samples BLOB NOT NULL CHECK(length(samples) = 8 * n),"
    " warmup INTEGER NOT NULL, reps INTEGER NOT NULL,"
    " sample_s REAL, clock_hz REAL, clock_low REAL, clock_high REAL,"
    " checksum TEXT NOT NULL CHECK(checksum IN('n/a','pass','fail')), checksum_text TEXT NOT NULL,"
    " status TEXT NOT NULL CHECK(status IN"
    "('planned','ok','wide','rejected','unsupported','failed','crashed','timeout','skipped')),"
    " reason TEXT NOT NULL,"
    " excluded INTEGER NOT NULL CHECK(excluded IN(0,1)),"
    " worker INTEGER NOT NULL,"
    " bound REAL, bound_text TEXT NOT NULL,"
    " footprint INTEGER NOT NULL,"
    " claims_memory INTEGER NOT NULL CHECK(claims_memory IN(0,1)),"
    " detail TEXT,"
    " code TEXT NOT NULL CHECK(code IN('n/a','pass','fail')), code_text TEXT NOT NULL,"
    /* name; empty: no sensor, and the following columns are NULL */
    " sensor TEXT NOT NULL,"
    /* 'none' or reasons, as 'power cap, thermal'; NULL: unknown */
    " throttle TEXT,"
    " power_w REAL, temperature_before REAL, temperature_after REAL,"
    " sensor_clock_hz REAL, sensor_clock_low REAL, sensor_clock_high REAL,"
    " memory_clock_low REAL, memory_clock_high REAL,"
    " pcie_generation REAL, pcie_width REAL, pcie_generation_max REAL, pcie_width_max REAL,"
    " ecc_corrected REAL, ecc_uncorrected REAL,"
    " users REAL, utilisation REAL, sensor_reads REAL,"
    " sampling_s REAL,"
    /* one for each sample; NULL: no core of the host took part */
    " core_hz BLOB CHECK(core_hz IS NULL OR length(core_hz) = 8 * n),"
    /* likewise; NULL: each sample counts in full */
    " weight BLOB CHECK(weight IS NULL OR length(weight) = 8 * n),"
    " UNIQUE(cell_id, number)"
    ") STRICT;";

static const char *const steps[] = {tables};
const struct as_schema as_store_schema = {.version = sizeof steps / sizeof *steps, .steps = steps};

static int read_number(sqlite3 *db, const char *sql, int64_t *out)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(st);
        *out = rc == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
        rc = rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
    }
    sqlite3_finalize(st);
    return rc;
}

/* Only the expected tables: no triggers or views. */
static enum as_status check_tables(const char *path, sqlite3 *db, struct as_error *err)
{
    int64_t found = 0, strangers = 0;
    int rc = read_number(
        db, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN('runs','cells','trials')", &found);
    if (rc == SQLITE_OK)
        rc = read_number(db, "SELECT count(*) FROM sqlite_schema WHERE type IN('trigger','view')", &strangers);
    if (rc != SQLITE_OK)
        return as_sql_fail_at(path, db, rc, err);
    if (found != 3 || strangers)
        return as_fail(
            err, AS_FORMAT,
            "the store '%s' was changed by another program (%s): restore it from a copy or give another file "
            "with --store",
            path, strangers ? "it has triggers or views" : "tables are missing");
    return AS_OK;
}

static int read_header(sqlite3 *db, int64_t *application, int64_t *version, int64_t *objects)
{
    int rc = read_number(db, "PRAGMA application_id", application);
    if (rc == SQLITE_OK)
        rc = read_number(db, "PRAGMA user_version", version);
    return rc == SQLITE_OK ? read_number(db, "SELECT count(*) FROM sqlite_schema", objects) : rc;
}

enum as_status as_schema_look(const struct as_schema *schema, const char *path, sqlite3 *db, enum as_schema_kind *kind,
                              struct as_error *err)
{
    int64_t application = 0, version = 0, objects = 0;
    /* in one transaction: another process may be creating the store */
    bool own = sqlite3_get_autocommit(db) != 0;
    int rc = own ? sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) : SQLITE_OK;
    if (rc == SQLITE_OK)
        rc = read_header(db, &application, &version, &objects);
    enum as_status st = rc == SQLITE_OK ? AS_OK : as_sql_fail_at(path, db, rc, err);
    if (own && !sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    if (st)
        return st;
    if (application == 0 && version == 0 && objects == 0) {
        *kind = AS_SCHEMA_EMPTY;
        return AS_OK;
    }
    if (application != AS_STORE_APPLICATION)
        return as_fail(err, AS_FORMAT,
                       "'%s' is a database of another program, not a store: give another file with --store", path);
    if (version > schema->version)
        return as_fail(err, AS_FORMAT,
                       "the store '%s' has schema %lld, which this assay does not read (it reads up to %d): open it "
                       "with the build that wrote it, or give another file with --store",
                       path, (long long)version, schema->version);
    if (version < 1)
        return as_fail(
            err, AS_FORMAT,
            "the store '%s' is damaged (schema %lld): restore it from a copy or give another file with --store", path,
            (long long)version);
    *kind = version < schema->version ? AS_SCHEMA_EARLIER : AS_SCHEMA_CURRENT;
    return check_tables(path, db, err);
}

static int schema_run_steps(const struct as_schema *schema, sqlite3 *db, int from)
{
    int rc = SQLITE_OK;
    for (int i = from; i < schema->version && rc == SQLITE_OK; i++)
        rc = sqlite3_exec(db, schema->steps[i], NULL, NULL, NULL);
    if (rc == SQLITE_OK) {
        char sql[96];
        sqlite3_snprintf(sizeof sql, sql, "PRAGMA application_id = %d; PRAGMA user_version = %d", AS_STORE_APPLICATION,
                         schema->version);
        rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    }
    return rc;
}

/* Foreign key violations after migration. */
static enum as_status check_references(const char *path, sqlite3 *db, struct as_error *err)
{
    int64_t broken = 0;
    int rc = read_number(db, "SELECT count(*) FROM pragma_foreign_key_check", &broken);
    if (rc != SQLITE_OK)
        return as_sql_fail_at(path, db, rc, err);
    if (broken)
        return as_fail(
            err, AS_FORMAT,
            "the store '%s' cannot be migrated: %lld rows refer to rows that do not exist; it was left unchanged", path,
            (long long)broken);
    return AS_OK;
}

enum as_status as_schema_migrate(const struct as_schema *schema, const char *path, sqlite3 *db, struct as_error *err)
{
    /* A step may rebuild a table, which must not delete the rows that refer to it. Ignored inside a transaction. */
    int rc = sqlite3_exec(db, "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return as_sql_fail_at(path, db, rc, err);
    enum as_schema_kind kind = AS_SCHEMA_EMPTY;
    int64_t version = 0;
    /* rechecked under the lock: another process may have migrated it */
    enum as_status st = as_schema_look(schema, path, db, &kind, err);
    if (!st && kind != AS_SCHEMA_CURRENT) {
        rc = read_number(db, "PRAGMA user_version", &version);
        if (rc == SQLITE_OK)
            rc = schema_run_steps(schema, db, (int)version);
        st = rc == SQLITE_OK ? check_references(path, db, err) : as_sql_fail_at(path, db, rc, err);
    }
    if (!st && (rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL)) != SQLITE_OK)
        st = as_sql_fail_at(path, db, rc, err);
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_exec(db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
    return st;
}
