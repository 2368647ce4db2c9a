/* Names of stored columns and JSON members; words: keep better_less words: keep visits */
#include "store/schema.h"

#include "store/sql.h"

#include <string.h>

/* Unknown numbers are NULL. Tables are STRICT: each column holds only its type, whatever program wrote it.
 */
static const char version_1[] =
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
    " visits INTEGER NOT NULL,"
    " isolate INTEGER NOT NULL CHECK(isolate IN(0,1)),"
    " tool_version TEXT NOT NULL,"
    " tool_commit TEXT NOT NULL,"
    " host TEXT NOT NULL,"
    " provenance TEXT,"
    " devices TEXT,"
    " cells INTEGER NOT NULL CHECK(cells >= 0),"
    /* counted when the run ends; NULL: not counted since the last change */
    " cells_ok INTEGER"
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
    " better_less INTEGER NOT NULL CHECK(better_less IN(0,1)),"
    " counts TEXT NOT NULL,"
    " axes TEXT NOT NULL,"
    " key INTEGER NOT NULL,"
    " status TEXT NOT NULL CHECK(status IN"
    "('planned','ok','untrusted','unsupported','failed','crashed','timeout','skipped')),"
    " reason TEXT NOT NULL,"
    " n INTEGER NOT NULL CHECK(n >= 0),"
    " visits INTEGER NOT NULL CHECK(visits >= 0),"
    " median REAL, ci_low REAL, ci_high REAL, mad REAL, min REAL, max REAL,"
    " modes INTEGER NOT NULL CHECK(modes BETWEEN 0 AND 2),"
    " mode_low REAL, mode_high REAL, mode_share REAL,"
    " bound REAL,"
    " clock_hz REAL,"
    " footprint INTEGER NOT NULL,"
    " gate_checksum TEXT NOT NULL CHECK(gate_checksum IN('n/a','pass','fail')), gate_checksum_text TEXT NOT NULL,"
    " gate_limit TEXT NOT NULL CHECK(gate_limit IN('n/a','pass','fail')), gate_limit_text TEXT NOT NULL,"
    " gate_clock TEXT NOT NULL CHECK(gate_clock IN('n/a','pass','fail')), gate_clock_text TEXT NOT NULL,"
    " gate_noise TEXT NOT NULL CHECK(gate_noise IN('n/a','pass','fail')), gate_noise_text TEXT NOT NULL,"
    " gate_code TEXT NOT NULL CHECK(gate_code IN('n/a','pass','fail')), gate_code_text TEXT NOT NULL,"
    " gate_footprint TEXT NOT NULL CHECK(gate_footprint IN('n/a','pass','fail')), gate_footprint_text TEXT NOT NULL,"
    " gate_drift TEXT NOT NULL CHECK(gate_drift IN('n/a','pass','fail')), gate_drift_text TEXT NOT NULL,"
    " visits_done INTEGER NOT NULL CHECK(visits_done >= 0),"
    " duration_s REAL NOT NULL,"
    " started_at REAL NOT NULL,"
    " detail TEXT,"
    " UNIQUE(run_id, position)"
    ") STRICT;"
    "CREATE TABLE visits("
    " id INTEGER PRIMARY KEY,"
    " cell_id INTEGER NOT NULL REFERENCES cells(id) ON DELETE CASCADE,"
    " number INTEGER NOT NULL CHECK(number >= 0),"
    " started_at REAL NOT NULL,"
    " prepare_s REAL, duration_s REAL,"
    " n INTEGER NOT NULL CHECK(n >= 0),"
    /* little-endian doubles in order of time */
    " samples BLOB NOT NULL CHECK(length(samples) = 8 * n),"
    " warmup INTEGER NOT NULL, reps INTEGER NOT NULL,"
    " sample_s REAL, clock_hz REAL, clock_low REAL, clock_high REAL,"
    " checksum TEXT NOT NULL CHECK(checksum IN('n/a','pass','fail')), checksum_text TEXT NOT NULL,"
    " status TEXT NOT NULL CHECK(status IN"
    "('planned','ok','untrusted','unsupported','failed','crashed','timeout','skipped')),"
    " reason TEXT NOT NULL,"
    " excluded INTEGER NOT NULL CHECK(excluded IN(0,1)),"
    " worker INTEGER NOT NULL,"
    " bound REAL, bound_text TEXT NOT NULL,"
    " footprint INTEGER NOT NULL,"
    " claims_memory INTEGER NOT NULL CHECK(claims_memory IN(0,1)),"
    " detail TEXT,"
    " UNIQUE(cell_id, number)"
    ") STRICT;";

/* Sensor readings and instruction counts; NULL in older trials. */
static const char version_2[] =
    "ALTER TABLE visits ADD COLUMN code TEXT NOT NULL DEFAULT 'n/a' CHECK(code IN('n/a','pass','fail'));"
    "ALTER TABLE visits ADD COLUMN code_text TEXT NOT NULL DEFAULT '';"
    /* name; empty: no sensor, and the following columns are NULL */
    "ALTER TABLE visits ADD COLUMN sensor TEXT NOT NULL DEFAULT '';"
    /* 'none' or reasons, as 'power cap, thermal'; NULL: unknown */
    "ALTER TABLE visits ADD COLUMN throttle TEXT;"
    "ALTER TABLE visits ADD COLUMN power_w REAL;"
    "ALTER TABLE visits ADD COLUMN temperature_before REAL;"
    "ALTER TABLE visits ADD COLUMN temperature_after REAL;"
    "ALTER TABLE visits ADD COLUMN sensor_clock_hz REAL;"
    "ALTER TABLE visits ADD COLUMN sensor_clock_low REAL;"
    "ALTER TABLE visits ADD COLUMN sensor_clock_high REAL;"
    "ALTER TABLE visits ADD COLUMN memory_clock_low REAL;"
    "ALTER TABLE visits ADD COLUMN memory_clock_high REAL;"
    "ALTER TABLE visits ADD COLUMN pcie_generation REAL;"
    "ALTER TABLE visits ADD COLUMN pcie_width REAL;"
    "ALTER TABLE visits ADD COLUMN pcie_generation_max REAL;"
    "ALTER TABLE visits ADD COLUMN pcie_width_max REAL;"
    "ALTER TABLE visits ADD COLUMN ecc_corrected REAL;"
    "ALTER TABLE visits ADD COLUMN ecc_uncorrected REAL;"
    "ALTER TABLE visits ADD COLUMN users REAL;"
    "ALTER TABLE visits ADD COLUMN utilisation REAL;"
    "ALTER TABLE visits ADD COLUMN sensor_reads REAL;";

/* Backfill: the precision of the run. NULL: unknown, as in an imported run. */
static const char version_3[] =
    "ALTER TABLE cells ADD COLUMN precision REAL;"
    "UPDATE cells SET precision = (SELECT runs.precision FROM runs WHERE runs.id = cells.run_id);";

#define GATE_COLUMNS(name)                                                                                             \
    " gate_" name " TEXT NOT NULL CHECK(gate_" name " IN('n/a','pass','fail')), gate_" name "_text TEXT NOT NULL,"
#define KEPT_COLUMNS                                                                                                   \
    "id, run_id, position, backend, device, probe, metric, unit, better_less, counts, axes, key, reason, n, visits, "  \
    "median, ci_low, ci_high, mad, min, max, modes, mode_low, mode_high, mode_share, bound, clock_hz, footprint, "     \
    "gate_checksum, gate_checksum_text, gate_limit, gate_limit_text, gate_code, gate_code_text, gate_footprint, "      \
    "gate_footprint_text, visits_done, duration_s, started_at, detail, precision"

/* 'wide' is valid with a wide interval; 'rejected' failed a gate. as_store_rejudge recomputes both from the samples. */
static const char version_4[] =
    "ALTER TABLE visits ADD COLUMN sampling_s REAL;"
    /* little-endian doubles, one for each sample; NULL: no core of the host took part */
    "ALTER TABLE visits ADD COLUMN core_hz BLOB CHECK(core_hz IS NULL OR length(core_hz) = 8 * n);"
    /* likewise; NULL: each sample counts in full */
    "ALTER TABLE visits ADD COLUMN weight BLOB CHECK(weight IS NULL OR length(weight) = 8 * n);"
    "ALTER TABLE runs ADD COLUMN reference_hz REAL;"
    "ALTER TABLE runs ADD COLUMN sampling REAL;"
    "ALTER TABLE runs ADD COLUMN exponents TEXT;"
    "ALTER TABLE runs ADD COLUMN left_out TEXT;"
    "UPDATE runs SET cells_ok = NULL;"
    "CREATE TABLE cells_4("
    " id INTEGER PRIMARY KEY,"
    " run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"
    " position INTEGER NOT NULL CHECK(position >= 0),"
    " backend TEXT NOT NULL,"
    " device TEXT NOT NULL,"
    " probe TEXT NOT NULL,"
    " metric TEXT NOT NULL,"
    " unit TEXT NOT NULL,"
    " better_less INTEGER NOT NULL CHECK(better_less IN(0,1)),"
    " counts TEXT NOT NULL,"
    " axes TEXT NOT NULL,"
    " key INTEGER NOT NULL,"
    " status TEXT NOT NULL CHECK(status IN"
    "('planned','ok','wide','rejected','unsupported','failed','crashed','timeout','skipped')),"
    " reason TEXT NOT NULL,"
    /* why the interval is wide, as 'time, clock' */
    " causes TEXT NOT NULL DEFAULT '',"
    " n INTEGER NOT NULL CHECK(n >= 0),"
    " visits INTEGER NOT NULL CHECK(visits >= 0),"
    " median REAL, ci_low REAL, ci_high REAL, mad REAL, min REAL, max REAL,"
    " modes INTEGER NOT NULL CHECK(modes BETWEEN 0 AND 2),"
    " mode_low REAL, mode_high REAL, mode_share REAL,"
    " exponent REAL, raw_low REAL, raw_high REAL,"
    " bound REAL,"
    " clock_hz REAL,"
    " footprint INTEGER NOT NULL," GATE_COLUMNS("checksum") GATE_COLUMNS("limit") GATE_COLUMNS("code")
        GATE_COLUMNS("footprint") " visits_done INTEGER NOT NULL CHECK(visits_done >= 0),"
                                  " duration_s REAL NOT NULL,"
                                  " started_at REAL NOT NULL,"
                                  " detail TEXT,"
                                  " precision REAL,"
                                  " UNIQUE(run_id, position)"
                                  ") STRICT;"
                                  "INSERT INTO cells_4(" KEPT_COLUMNS ", status) SELECT " KEPT_COLUMNS
                                  ", CASE WHEN status <> 'untrusted' THEN status "
                                  "WHEN 'fail' IN(gate_checksum, gate_limit, gate_code, gate_footprint) THEN "
                                  "'rejected' ELSE 'wide' END FROM cells;"
                                  "DROP TABLE cells;"
                                  "ALTER TABLE cells_4 RENAME TO cells;";

/* Bandwidths of probe topology are rates: as_store_convert computes them from the times that they were. */
static const char version_5[] = "";

/* The field's names; answers in words and further metrics of a cell, as in docs/export.schema.json. as_store_convert
 * renames probes and axes.
 */
static const char version_6[] = "ALTER TABLE visits RENAME TO trials;"
                                "ALTER TABLE runs RENAME COLUMN visits TO trials;"
                                "ALTER TABLE cells RENAME COLUMN visits TO trials;"
                                "ALTER TABLE cells RENAME COLUMN visits_done TO trials_done;"
                                "ALTER TABLE cells RENAME COLUMN better_less TO lower_is_better;"
                                "ALTER TABLE cells ADD COLUMN answers TEXT;"
                                "ALTER TABLE cells ADD COLUMN metrics TEXT;";

static const char *const steps[] = {version_1, version_2, version_3, version_4, version_5, version_6};
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

/* Only the expected tables, by their names of any version: no triggers or views. */
static enum as_status check_tables(const char *path, sqlite3 *db, struct as_error *err)
{
    int64_t tables = 0, strangers = 0;
    int rc = read_number(
        db, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN('runs','cells','visits','trials')",
        &tables);
    if (rc == SQLITE_OK)
        rc = read_number(db, "SELECT count(*) FROM sqlite_schema WHERE type IN('trigger','view')", &strangers);
    if (rc != SQLITE_OK)
        return as_sql_fail_at(path, db, rc, err);
    if (tables != 3 || strangers)
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
    enum as_status s = rc == SQLITE_OK ? AS_OK : as_sql_fail_at(path, db, rc, err);
    if (own && !sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    if (s)
        return s;
    if (application == 0 && version == 0 && objects == 0) {
        *kind = AS_SCHEMA_EMPTY;
        return AS_OK;
    }
    if (application != AS_STORE_APPLICATION)
        return as_fail(err, AS_FORMAT,
                       "'%s' is a database of another program, not a store: give another file with --store", path);
    if (version > schema->version)
        return as_fail(
            err, AS_FORMAT,
            "the store '%s' was made by a newer assay (schema %lld, this one knows %d): update assay, or give "
            "another file with --store",
            path, (long long)version, schema->version);
    if (version < 1)
        return as_fail(
            err, AS_FORMAT,
            "the store '%s' is damaged (schema %lld): restore it from a copy or give another file with --store", path,
            (long long)version);
    *kind = version < schema->version ? AS_SCHEMA_OLDER : AS_SCHEMA_CURRENT;
    return check_tables(path, db, err);
}

static int run_steps(const struct as_schema *schema, sqlite3 *db, int from)
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

enum as_status as_schema_migrate(const struct as_schema *schema, const char *path, sqlite3 *db, as_schema_fn after,
                                 void *user, struct as_error *err)
{
    /* A step may rebuild a table, which must not delete the rows that refer to it. Ignored inside a transaction. */
    int rc = sqlite3_exec(db, "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return as_sql_fail_at(path, db, rc, err);
    enum as_schema_kind kind = AS_SCHEMA_EMPTY;
    int64_t version = 0;
    /* rechecked under the lock: another process may have migrated it */
    enum as_status s = as_schema_look(schema, path, db, &kind, err);
    if (!s && kind != AS_SCHEMA_CURRENT) {
        rc = read_number(db, "PRAGMA user_version", &version);
        if (rc == SQLITE_OK)
            rc = run_steps(schema, db, (int)version);
        s = rc == SQLITE_OK ? check_references(path, db, err) : as_sql_fail_at(path, db, rc, err);
        if (!s && after)
            s = after(user, (int)version, err);
    }
    if (!s && (rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL)) != SQLITE_OK)
        s = as_sql_fail_at(path, db, rc, err);
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_exec(db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
    return s;
}
