/* Stores of earlier schemas: migrated with all that they have, or left as they are. */
/* Names of stored columns; words: keep better_less */
/* Names of stored columns and JSON members; words: keep visits */
#include "fixture.h"
#include "store/schema.h"

#include <math.h>

extern const char store_version_1[]; /* version_1.sql */

static const char *const three_steps[] = {
    ("CREATE TABLE runs(id INTEGER PRIMARY KEY, name TEXT) STRICT;"
     "CREATE TABLE cells(id INTEGER PRIMARY KEY, run_id INTEGER REFERENCES runs(id) ON DELETE CASCADE) STRICT;"
     "CREATE TABLE visits(id INTEGER PRIMARY KEY, cell_id INTEGER) STRICT;"),
    "ALTER TABLE runs ADD COLUMN host TEXT NOT NULL DEFAULT 'unknown';",
    /* rebuilds a table that others refer to */
    ("CREATE TABLE runs_new(id INTEGER PRIMARY KEY, title TEXT, host TEXT NOT NULL) STRICT;"
     "INSERT INTO runs_new SELECT id, name, host FROM runs; DROP TABLE runs; ALTER TABLE runs_new RENAME TO runs;"),
};
static const struct as_schema schema_1 = {1, three_steps}, schema_2 = {2, three_steps}, schema_3 = {3, three_steps};

static enum as_status migrate(struct fixture *f, const struct as_schema *schema, enum as_schema_kind *kind)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    enum as_status s = as_schema_look(schema, f->path, db, kind, &f->err);
    if (!s && *kind != AS_SCHEMA_CURRENT)
        s = as_schema_migrate(schema, f->path, db, NULL, NULL, &f->err);
    sqlite3_close(db);
    return s;
}

static void test_migration(void **state)
{
    struct fixture *f = *state;
    enum as_schema_kind kind;
    assert_int_equal(migrate(f, &schema_1, &kind), AS_OK);
    assert_int_equal(kind, AS_SCHEMA_EMPTY);
    run_sql(f->path, "INSERT INTO runs VALUES(7, 'first'); INSERT INTO cells VALUES(1, 7), (2, 7)");
    assert_int_equal(migrate(f, &schema_3, &kind), AS_OK);
    assert_int_equal(kind, AS_SCHEMA_OLDER);
    assert_int_equal(ask(f->path, "PRAGMA user_version"), 3);
    assert_int_equal(ask(f->path, "SELECT count(*) FROM runs WHERE title = 'first' AND host = 'unknown' AND id = 7"),
                     1);
    assert_int_equal(ask(f->path, "SELECT count(*) FROM cells"), 2); /* nothing went with the old table */
    assert_int_equal(migrate(f, &schema_3, &kind), AS_OK);
    assert_int_equal(kind, AS_SCHEMA_CURRENT);
    assert_int_equal(migrate(f, &schema_2, &kind), AS_FORMAT);
    assert_non_null(strstr(f->err.text, "newer assay (schema 3, this one knows 2)"));
}

/* All that a store of schema 1 had, through the eyes of today. */
static void check_version_1(struct fixture *f)
{
    struct as_trial *trials;
    struct as_cell cell;
    size_t n;
    check(f, as_store_verify(f->store, &f->err));
    check(f, as_store_cell(f->store, 1, 1, &cell, &f->err));
    assert_string_equal(cell.probe, "latency");
    assert_int_equal(cell.sum.n, 12);
    assert_true(cell.precision == 0.5); /* that of its run */
    check(f, as_store_trials(f->store, 0, 1, &trials, &n, &f->err));
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(trials[i].n, 6);
        assert_true(trials[i].samples[0] > 1.4 && trials[i].samples[0] < 1.6);
        assert_int_equal(trials[i].checksum, AS_GATE_PASS);
        assert_int_equal(trials[i].code, AS_GATE_NA);
        assert_string_equal(trials[i].code_text, "");
        assert_string_equal(trials[i].readings.sensor, "");
        assert_int_equal(trials[i].readings.throttle, -1);
        assert_true(isnan(trials[i].readings.power_w));
    }
    as_trials_free(trials, n);
    as_cell_finish(&cell);
}

/* A store that version 0.1.0 of schema 1 made: it can be read as it is, and the next one that writes brings it up to
 * date. */
static void test_store_of_version_1(void **state)
{
    struct fixture *f = *state;
    run_sql(f->path, store_version_1);
    assert_int_equal(ask(f->path, "PRAGMA user_version"), 1);
    must_open(f, AS_STORE_READ);
    check_version_1(f);
    must_close(f);
    assert_int_equal(ask(f->path, "PRAGMA user_version"), 1); /* reading changes nothing */
    must_open(f, AS_STORE_WRITE);
    check_version_1(f);
    must_close(f);
    assert_int_equal(ask(f->path, "PRAGMA user_version"), as_store_schema.version);
    must_open(f, AS_STORE_READ);
    check_version_1(f);
}

static void check_precisions(struct fixture *f)
{
    static const double wanted[] = {0.5, 0.25, NAN}; /* of runs 1, 2, 3 */
    struct as_cell *cells;
    size_t n;
    check(f, as_store_cells(f->store, &(struct as_cell_filter){.hidden = 1}, &cells, &n, &f->err));
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++) {
        const double precision = wanted[cells[i].run_id - 1];
        assert_true(isnan(precision) ? isnan(cells[i].precision) : cells[i].precision == precision);
    }
    as_cells_free(cells, n);
}

/* A store of schema 2 knows the precision of its runs only. */
static void test_store_of_version_2(void **state)
{
    static const char runs[] =
        "CREATE TEMP TABLE r AS SELECT * FROM runs;"
        "UPDATE r SET id = 2, uuid = '22222222', precision = 0.25; INSERT INTO runs SELECT * FROM r;"
        "UPDATE r SET id = 3, uuid = '33333333', precision = NULL; INSERT INTO runs SELECT * FROM r;"
        "CREATE TEMP TABLE c AS SELECT * FROM cells WHERE id = 1;"
        "UPDATE c SET id = 3, run_id = 2; INSERT INTO cells SELECT * FROM c;"
        "UPDATE c SET id = 4, run_id = 3; INSERT INTO cells SELECT * FROM c;";
    static const char columns[] = "SELECT count(*) FROM pragma_table_info('cells') WHERE name = 'precision'";
    struct fixture *f = *state;
    const struct as_schema two = {2, as_store_schema.steps};
    enum as_schema_kind kind;
    run_sql(f->path, store_version_1);
    assert_int_equal(migrate(f, &two, &kind), AS_OK);
    run_sql(f->path, runs);
    must_open(f, AS_STORE_READ);
    check_precisions(f);
    must_close(f);
    assert_int_equal(ask(f->path, "PRAGMA user_version"), 2);
    assert_int_equal(ask(f->path, columns), 0);
    must_open(f, AS_STORE_WRITE);
    check_precisions(f);
    must_close(f);
    assert_int_equal(ask(f->path, "PRAGMA user_version"), as_store_schema.version);
    assert_int_equal(ask(f->path, columns), 1);
}

/* Until schema 6 probes, axes and their words had other names. */
static void test_names_of_version_5(void **state)
{
    static const struct {
        const char *probe, *axes, *now, *axes_now;
    } rows[] = {
        {"onchip_units", "{\"what\":\"near\",\"unit\":3}", "l2_latency", "{\"what\":\"near\",\"compute_unit\":3}"},
        {"onchip_groups", "{\"threads\":64,\"local\":0}", "occupancy", "{\"threads\":64,\"shared\":0}"},
        {"onchip", "{\"what\":\"code\",\"local\":0}", "onchip", "{\"what\":\"ifetch\",\"shared\":0}"},
        {"c2c", "{\"peer\":\"unit\"}", "c2c", "{\"peer\":\"compute_unit\"}"},
        {"latency", "{\"local\":0}", "latency", "{\"local\":0}"},
    };
    struct fixture *f = *state;
    const struct as_schema five = {5, as_store_schema.steps};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char sql[256];
        enum as_schema_kind kind;
        struct as_cell cell;
        struct as_buf axes = AS_BUF_INIT;
        unlink(f->path);
        run_sql(f->path, store_version_1);
        assert_int_equal(migrate(f, &five, &kind), AS_OK);
        snprintf(sql, sizeof sql, "UPDATE cells SET probe = '%s', axes = '%s' WHERE id = 1", rows[i].probe,
                 rows[i].axes);
        run_sql(f->path, sql);
        must_open(f, AS_STORE_WRITE);
        check(f, as_store_cell(f->store, 1, 0, &cell, &f->err));
        assert_string_equal(cell.probe, rows[i].now);
        as_axes_to_json(&cell.axes, &axes);
        assert_string_equal(as_buf_get(&axes), rows[i].axes_now);
        if (strcmp(rows[i].axes, rows[i].axes_now) != 0)
            assert_true(cell.key == as_cell_key(cell.probe, cell.metric, &cell.axes));
        as_buf_finish(&axes);
        as_cell_finish(&cell);
        must_close(f);
    }
}

/* Until schema 5 a bandwidth of probe topology was the time of 64 bytes. */
static void test_store_of_version_4(void **state)
{
    static const char times[] =
        "UPDATE cells SET probe = 'topology', metric = 'time', unit = 'ns', better_less = 1, axes = "
        "'{\"place\":\"L2\",\"what\":\"bandwidth\"}', min = 1, median = 2, max = 4, ci_low = 1.6, ci_high = 2.5, bound "
        "= 0.5 "
        "WHERE id = 1;";
    struct fixture *f = *state;
    const struct as_schema four = {4, as_store_schema.steps};
    enum as_schema_kind kind;
    struct as_cell cell;
    struct as_trial *trials;
    size_t n;
    run_sql(f->path, store_version_1);
    assert_int_equal(migrate(f, &four, &kind), AS_OK);
    run_sql(f->path, times);
    must_open(f, AS_STORE_WRITE);
    check(f, as_store_cell(f->store, 1, 1, &cell, &f->err));
    assert_string_equal(cell.metric, "bandwidth");
    assert_string_equal(cell.unit, "GB/s");
    assert_false(cell.lower_is_better);
    assert_true(cell.sum.min == 16 && cell.sum.median == 32 && cell.sum.max == 64);
    assert_true(fabs(cell.sum.ci.lo - 25.6) < 1e-9 && fabs(cell.sum.ci.hi - 40) < 1e-9 && cell.limit == 128);
    assert_true(cell.key == as_cell_key("topology", "bandwidth", &cell.axes));
    check(f, as_store_trials(f->store, 0, 1, &trials, &n, &f->err));
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < trials[i].n; k++)
            assert_true(trials[i].samples[k] > 64 / 1.6 && trials[i].samples[k] < 64 / 1.4);
    assert_true(cell.samples[0] == trials[0].samples[0]);
    as_trials_free(trials, n);
    as_cell_finish(&cell);
    check(f, as_store_cell(f->store, 2, 0, &cell, &f->err));
    assert_string_not_equal(cell.unit, "GB/s"); /* other cells are as they were */
    as_cell_finish(&cell);
}

/* Nothing is made up for rows that belong to nothing, nor is the file touched. */
static void test_damaged_store_of_version_1(void **state)
{
    struct fixture *f = *state;
    run_sql(f->path, store_version_1);
    run_sql(f->path, "PRAGMA foreign_keys = OFF; DELETE FROM runs");
    refused(f, AS_STORE_READ, AS_FORMAT, "refer to rows that do not exist");
    refused(f, AS_STORE_WRITE, AS_FORMAT, "refer to rows that do not exist");
    assert_int_equal(ask(f->path, "PRAGMA user_version"), 1);
}

static void test_failed_migration_leaves_it_as_it_was(void **state)
{
    static const char *const broken_steps[] = {NULL, NULL, "DROP TABLE cells; CREATE TABLE cells(x) NONSENSE;"};
    static const char *const orphan_steps[] = {NULL, NULL, "INSERT INTO cells VALUES(99, 99);"};
    struct fixture *f = *state;
    enum as_schema_kind kind;
    assert_int_equal(migrate(f, &schema_2, &kind), AS_OK);
    run_sql(f->path, "INSERT INTO runs VALUES(7, 'first', 'h'); INSERT INTO cells VALUES(1, 7)");
    const struct as_schema broken = {3, broken_steps}, orphan = {3, orphan_steps};
    assert_int_equal(migrate(f, &broken, &kind), AS_FAILED);
    assert_non_null(strstr(f->err.text, f->path));
    assert_int_equal(migrate(f, &orphan, &kind), AS_FORMAT);
    assert_non_null(strstr(f->err.text, "left unchanged"));
    assert_int_equal(ask(f->path, "PRAGMA user_version"), 2);
    assert_int_equal(ask(f->path, "SELECT count(*) FROM cells"), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_migration),
        TEST(test_store_of_version_1),
        TEST(test_store_of_version_2),
        TEST(test_store_of_version_4),
        TEST(test_names_of_version_5),
        TEST(test_damaged_store_of_version_1),
        TEST(test_failed_migration_leaves_it_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
