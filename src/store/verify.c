/* Is the whole store in order? SQLite's own check, references, and what a store promises beyond them. */
#include "store/sql.h"

#include <jansson.h>
#include <stddef.h>

static const struct {
    const char *sql;    /* rows that break the rule: id, detail */
    const char *rule;   /* what is wrong with the first of them */
    const char *remedy; /* NULL: restore it from a copy */
} rules[] = {
    {"SELECT rowid, \"table\" || ' row' FROM pragma_foreign_key_check", "it belongs to nothing", NULL},
    {"SELECT id, 'visit' FROM visits WHERE length(samples) IS NOT 8 * n", "its samples are cut off", NULL},
    {"SELECT c.id, 'cell' FROM cells c WHERE c.status IN('ok','untrusted') AND NOT EXISTS "
     "(SELECT 1 FROM visits v WHERE v.cell_id = c.id AND v.n > 0)",
     "it claims a number that no visit measured", NULL},
    {"SELECT c.id, 'cell' FROM " AS_STALE_CELLS, "its numbers do not match its trials",
     "'assay doctor --repair' computes them again"},
    {"SELECT c.id, 'cell' FROM cells c WHERE c.n > 0 AND (c.median IS NULL OR c.min > c.median OR c.median > c.max)",
     "its numbers contradict each other", NULL},
    {"SELECT r.id, 'run' FROM runs r WHERE r.cells <> (SELECT count(*) FROM cells c WHERE c.run_id = r.id AND "
     "c.probe <> '" AS_HIDDEN_PROBE "')",
     "cells of its plan are missing", NULL},
    {"SELECT r.id, 'run' FROM runs r WHERE r.cells_ok IS NOT NULL AND r.cells_ok <> (SELECT count(*) FROM cells c "
     "WHERE "
     "c.run_id = r.id AND c.status = 'ok' AND c.probe <> '" AS_HIDDEN_PROBE "')",
     "its count of trusted cells is wrong", NULL},
};

/* Columns of JSON text: id, what it is, the text. SQLite takes any bytes for text. */
static const struct {
    const char *sql, *name;
    bool is_array;
} texts[] = {
    {"SELECT id, 'visit', detail FROM visits", "detail", false},
    {"SELECT id, 'cell', detail FROM cells", "detail", false},
    {"SELECT id, 'cell', axes FROM cells", "axes", false},
    {"SELECT id, 'run', provenance FROM runs", "provenance", false},
    {"SELECT id, 'run', devices FROM runs", "devices", true},
};

static enum as_status check_sqlite(struct as_store *store, struct as_error *err)
{
    sqlite3_stmt *st = NULL;
    enum as_status s = AS_OK;
    int rc = sqlite3_prepare_v2(store->db, "PRAGMA integrity_check(1)", -1, &st, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(st, 0);
        if (!text || sqlite3_stricmp(text, "ok") != 0)
            s = as_fail(err, AS_FORMAT, "the store '%s' is damaged: %s; restore it from a copy", store->path,
                        text ? text : "it cannot be read");
    } else {
        s = as_sql_fail(store, rc, err);
    }
    sqlite3_finalize(st);
    return s;
}

static enum as_status check_rule(struct as_store *store, size_t i, struct as_error *err)
{
    sqlite3_stmt *st = NULL;
    enum as_status s = AS_OK;
    int rc = sqlite3_prepare_v2(store->db, rules[i].sql, -1, &st, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        s = as_fail(err, AS_FORMAT, "the store '%s' is damaged: %s %lld: %s; %s", store->path,
                    (const char *)sqlite3_column_text(st, 1), (long long)sqlite3_column_int64(st, 0), rules[i].rule,
                    rules[i].remedy ? rules[i].remedy : "restore it from a copy");
    else if (rc != SQLITE_DONE)
        s = as_sql_fail(store, rc, err);
    sqlite3_finalize(st);
    return s;
}

/* No text is none, and as good as an empty one. */
static bool is_json(const char *text, size_t n, bool is_array)
{
    json_error_t why;
    json_t *j = text && n ? json_loadb(text, n, 0, &why) : NULL;
    const bool good = !text || n == 0 || (j && (is_array ? json_is_array(j) : json_is_object(j)));
    json_decref(j);
    return good;
}

static enum as_status check_texts(struct as_store *store, size_t i, struct as_error *err)
{
    sqlite3_stmt *st = NULL;
    enum as_status s = AS_OK;
    int rc = sqlite3_prepare_v2(store->db, texts[i].sql, -1, &st, NULL);
    while (!s && (rc == SQLITE_OK || rc == SQLITE_ROW) && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(st, 2);
        if (!is_json(text, (size_t)sqlite3_column_bytes(st, 2), texts[i].is_array))
            s = as_fail(err, AS_FORMAT,
                        "the store '%s' is damaged: %s %lld: its %s cannot be read; restore it from a copy",
                        store->path, (const char *)sqlite3_column_text(st, 1), (long long)sqlite3_column_int64(st, 0),
                        texts[i].name);
    }
    if (!s && rc != SQLITE_DONE)
        s = as_sql_fail(store, rc, err);
    sqlite3_finalize(st);
    return s;
}

enum as_status as_store_verify(struct as_store *store, struct as_error *err)
{
    bool begun;
    enum as_status s = as_begin_read(store, &begun, err);
    if (s)
        return s;
    s = check_sqlite(store, err);
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !s; i++)
        s = check_rule(store, i, err);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !s; i++)
        s = check_texts(store, i, err);
    return begun ? as_end(store, s, err) : s;
}

enum as_status as_store_stale(struct as_store *store, int64_t run_id, int64_t **ids, size_t *n, struct as_error *err)
{
    size_t cap = 0;
    enum as_status s = AS_OK;
    struct as_row row = as_row_start(store, run_id ? AS_SQL_STALE_CELLS : AS_SQL_STALE_RUNS);
    *ids = NULL;
    *n = 0;
    if (run_id)
        as_put_int(&row, run_id);
    while (!s && as_row_next(&row))
        if (!(s = as_grow((void **)ids, &cap, *n + 1, sizeof **ids, err)))
            (*ids)[(*n)++] = as_get_int(&row);
    return as_row_close(&row, s, err);
}
