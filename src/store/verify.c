/* Checks the whole store: SQLite's integrity check, references, and the invariants of a store. */
#include "store/sql.h"

#include "model/metrics.h"

#include "base/text.h"
#include "device/info_json.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>

/* Rules with a parameter are about the cells of one run, or of all where it is 0: an import is held to them as well. */
#define CELLS "SELECT c.id, 'cell' FROM cells c WHERE (?1 = 0 OR c.run_id = ?1) AND "
#define OF_TRIALS(value) "(SELECT " value " FROM trials v WHERE v.cell_id = c.id)"

static const struct {
    const char *sql;    /* rows that break the rule: id, detail */
    const char *rule;   /* what is wrong with such a row */
    const char *remedy; /* NULL: restore it from a copy */
} rules[] = {
    {"SELECT rowid, \"table\" || ' row' FROM pragma_foreign_key_check", "it refers to a row that does not exist", NULL},
    {"SELECT id, 'trial' FROM trials WHERE length(samples) IS NOT 8 * n", "its samples are truncated", NULL},
    {"SELECT c.id, 'cell' FROM cells c WHERE c.status IN('ok','wide','rejected') AND NOT EXISTS "
     "(SELECT 1 FROM trials v WHERE v.cell_id = c.id AND v.n > 0)",
     "it has a number but no trial with samples", NULL},
    {"SELECT c.id, 'cell' FROM " AS_STALE_CELLS, "its numbers do not match its trials",
     "'assay doctor --repair' recomputes them"},
    {"SELECT c.id, 'cell' FROM cells c WHERE c.n > 0 AND (c.median IS NULL OR c.min > c.median OR c.median > c.max)",
     "its numbers contradict each other", NULL},
    {"SELECT r.id, 'run' FROM runs r WHERE r.cells <> (SELECT count(*) FROM cells c WHERE c.run_id = r.id AND "
     "c.probe <> '" AS_HIDDEN_PROBE "')",
     "cells of its plan are missing", NULL},
    {"SELECT r.id, 'run' FROM runs r WHERE r.cells_ok IS NOT NULL AND r.cells_ok <> (SELECT count(*) FROM cells c "
     "WHERE "
     "c.run_id = r.id AND c.status IN('ok','wide') AND c.probe <> '" AS_HIDDEN_PROBE "')",
     "its count of valid cells is wrong", NULL},
    {CELLS "EXISTS (SELECT 1 FROM trials v WHERE v.cell_id = c.id AND v.n > 0 AND least_sample(v.samples) IS NULL)",
     "a sample is not a number", NULL},
    {CELLS "c.n > 0 AND (c.ci_low > c.ci_high OR c.median < c.ci_low OR c.median > c.ci_high)",
     "its interval does not contain its median", NULL},
    {CELLS "c.n > 0 AND (c.mad < 0 OR c.mode_low > c.mode_high OR c.mode_share NOT BETWEEN 0 AND 1)",
     "its scatter or modes contradict each other", NULL},
    {CELLS "c.n > " OF_TRIALS("coalesce(sum(v.n), 0)"), "it counts more samples than its trials have", NULL},
    /* excluded trials too: a run may be killed between excluding them and storing the cell's new numbers */
    {CELLS "c.n > 0 AND c.exponent IS NULL AND (c.min < " OF_TRIALS(
         "min(least_sample(v.samples))") " OR c.max > " OF_TRIALS("max(largest_sample(v.samples))") ")",
     "its minimum or maximum lies outside its samples", NULL},
    {CELLS "c.status IN('ok','wide') AND 'fail' IN (c.gate_checksum, c.gate_limit, c.gate_code, c.gate_footprint)",
     "it is ok or wide although a gate failed", NULL},
    {CELLS "c.id IN (SELECT max(id) FROM cells GROUP BY run_id, device, key HAVING count(*) > 1)",
     "its run has the same cell twice", NULL},
};

static bool is_object(const json_t *j)
{
    return json_is_object(j);
}

static bool are_devices(const json_t *j)
{
    return as_devices_check(j, NULL) == AS_OK;
}

/* Columns of JSON text: id, what it is, the text. SQLite takes any bytes for text. */
static const struct {
    const char *sql, *name;
    bool (*holds)(const json_t *j);
} texts[] = {
    {"SELECT id, 'trial', detail FROM trials", "detail", is_object},
    {"SELECT id, 'cell', detail FROM cells", "detail", is_object},
    {"SELECT id, 'cell', answers FROM cells", "answers", as_answers_valid},
    {"SELECT id, 'cell', metrics FROM cells", "metrics", as_metrics_valid},
    {"SELECT id, 'cell', axes FROM cells", "axes", is_object},
    {"SELECT id, 'run', provenance FROM runs", "provenance", is_object},
    {"SELECT id, 'run', devices FROM runs", "devices", are_devices},
};

static enum as_status check_sqlite(struct as_store *store, struct as_error *err)
{
    sqlite3_stmt *row = NULL;
    enum as_status st = AS_OK;
    int rc = sqlite3_prepare_v2(store->db, "PRAGMA integrity_check(1)", -1, &row, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(row, 0);
        if (!text || sqlite3_stricmp(text, "ok") != 0)
            st = as_fail(err, AS_FORMAT, "the store '%s' is damaged: %s; restore it from a copy", store->path,
                         text ? text : "it cannot be read");
    } else {
        st = as_sql_fail(store, rc, err);
    }
    sqlite3_finalize(row);
    return st;
}

/* Of the samples in a blob the one that sorts first in the direction of *user; NULL where one is not a finite number.
 */
static void extreme_sample(sqlite3_context *context, int n, sqlite3_value **values)
{
    const int sign = *(const int *)sqlite3_user_data(context);
    const unsigned char *bytes = sqlite3_value_blob(values[0]);
    const size_t size = (size_t)sqlite3_value_bytes(values[0]);
    double extreme = INFINITY;
    (void)n;
    for (size_t at = 0; bytes && at + 8 <= size; at += 8) {
        const double v = as_sample_at(bytes + at);
        if (!isfinite(v))
            return;
        extreme = fmin(extreme, sign * v);
    }
    if (isfinite(extreme))
        sqlite3_result_double(context, sign * extreme);
}

static int add_functions(sqlite3 *db)
{
    static const struct {
        const char *name;
        int sign;
    } functions[] = {{"least_sample", 1}, {"largest_sample", -1}};
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && rc == SQLITE_OK; i++)
        rc = sqlite3_create_function(db, functions[i].name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
                                     (void *)(uintptr_t)&functions[i].sign, extreme_sample, NULL, NULL);
    return rc;
}

/* The first row that breaks the rule; broken->rule stays NULL where there is none. */
static enum as_status check_rule(struct as_store *store, size_t i, int64_t run_id, struct as_broken *broken,
                                 struct as_error *err)
{
    sqlite3_stmt *row = NULL;
    int rc = sqlite3_prepare_v2(store->db, rules[i].sql, -1, &row, NULL);
    const bool of_run = rc == SQLITE_OK && sqlite3_bind_parameter_count(row) > 0;
    if (of_run)
        rc = sqlite3_bind_int64(row, 1, run_id);
    if (rc == SQLITE_OK && (of_run || run_id == 0))
        rc = sqlite3_step(row);
    if (rc == SQLITE_ROW) {
        broken->rule = rules[i].rule;
        broken->remedy = rules[i].remedy;
        broken->id = sqlite3_column_int64(row, 0);
        as_copy_text(broken->what, sizeof broken->what, (const char *)sqlite3_column_text(row, 1));
    }
    enum as_status st = rc == SQLITE_OK || rc == SQLITE_ROW || rc == SQLITE_DONE ? AS_OK : as_sql_fail(store, rc, err);
    sqlite3_finalize(row);
    return st;
}

enum as_status as_rules_check(struct as_store *store, int64_t run_id, struct as_broken *broken, struct as_error *err)
{
    *broken = (struct as_broken){0};
    const int rc = add_functions(store->db);
    enum as_status st = rc == SQLITE_OK ? AS_OK : as_sql_fail(store, rc, err);
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !st && !broken->rule; i++)
        st = check_rule(store, i, run_id, broken, err);
    return st;
}

enum as_status as_devices_check(const json_t *devices, struct as_error *err)
{
    enum as_status st = json_is_array(devices) ? AS_OK : as_fail(err, AS_FORMAT, "not an array");
    for (size_t i = 0; i < json_array_size(devices) && !st; i++) {
        struct as_device_info info = {0};
        st = as_info_from_object(json_array_get(devices, i), &info, err);
    }
    return st;
}

/* NULL and "" are fine. */
static bool is_json(const char *text, size_t n, bool (*holds)(const json_t *))
{
    json_error_t why;
    json_t *j = text && n ? json_loadb(text, n, 0, &why) : NULL;
    const bool good = !text || n == 0 || (j && holds(j));
    json_decref(j);
    return good;
}

static enum as_status check_texts(struct as_store *store, size_t i, struct as_error *err)
{
    sqlite3_stmt *row = NULL;
    enum as_status st = AS_OK;
    int rc = sqlite3_prepare_v2(store->db, texts[i].sql, -1, &row, NULL);
    while (!st && (rc == SQLITE_OK || rc == SQLITE_ROW) && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(row, 2);
        if (!is_json(text, (size_t)sqlite3_column_bytes(row, 2), texts[i].holds))
            st = as_fail(err, AS_FORMAT,
                         "the store '%s' is damaged: %s %lld: its %s cannot be read; restore it from a copy",
                         store->path, (const char *)sqlite3_column_text(row, 1),
                         (long long)sqlite3_column_int64(row, 0), texts[i].name);
    }
    if (!st && rc != SQLITE_DONE)
        st = as_sql_fail(store, rc, err);
    sqlite3_finalize(row);
    return st;
}

enum as_status as_store_verify(struct as_store *store, struct as_error *err)
{
    bool begun;
    enum as_status st = as_begin_read(store, &begun, err);
    if (st)
        return st;
    struct as_broken broken;
    st = check_sqlite(store, err);
    if (!st && !(st = as_rules_check(store, 0, &broken, err)) && broken.rule)
        st = as_fail(err, AS_FORMAT, "the store '%s' is damaged: %s %lld: %s; %s", store->path, broken.what,
                     (long long)broken.id, broken.rule, broken.remedy ? broken.remedy : "restore it from a copy");
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !st; i++)
        st = check_texts(store, i, err);
    return begun ? as_end(store, st, err) : st;
}

enum as_status as_store_stale(struct as_store *store, int64_t run_id, int64_t **ids, size_t *n, struct as_error *err)
{
    size_t cap = 0;
    enum as_status st = AS_OK;
    struct as_row row = as_row_start(store, run_id ? AS_SQL_STALE_CELLS : AS_SQL_STALE_RUNS);
    *ids = NULL;
    *n = 0;
    if (run_id)
        as_put_int(&row, run_id);
    while (!st && as_row_next(&row))
        if (!(st = as_grow((void **)ids, &cap, *n + 1, sizeof **ids, err)))
            (*ids)[(*n)++] = as_get_int(&row);
    return as_row_close(&row, st, err);
}
