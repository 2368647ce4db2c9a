/* Reads runs and finds them by name. */
#include "store/sql.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static bool read_runs_read_run(struct as_row *row, struct as_run *r, bool *counted)
{
    *r = (struct as_run){0};
    const bool known = !as_get_fields(row, &as_run_fields, r);
    r->id = as_get_int(row);
    r->cells = as_get_small(row);
    *counted = sqlite3_column_type(row->st, row->at) == SQLITE_INTEGER;
    r->cells_ok = as_get_small(row);
    return known;
}

static enum as_status read_runs_finish_run(struct as_store *store, struct as_run *r, bool known_state, bool counted,
                                           struct as_error *err)
{
    if (!known_state)
        return as_store_damaged(store, "run", r->id, "unknown state", err);
    if (!as_run_has_uuid(r))
        return as_store_damaged(store, "run", r->id, "its UUID is none", err);
    if (counted)
        return AS_OK;
    struct as_row row = as_row_start(store, AS_SQL_COUNT_OK);
    as_put_int(&row, r->id);
    if (as_row_next(&row))
        r->cells_ok = as_get_small(&row);
    return as_row_end(&row, err);
}

static enum as_status all_runs(struct as_store *store, struct as_run **runs, size_t *n, struct as_error *err)
{
    size_t cap = 0;
    enum as_status st = AS_OK;
    struct as_row row = as_row_start(store, AS_SQL_RUNS);
    while (!st && as_row_next(&row)) {
        bool counted;
        st = as_grow((void **)runs, &cap, *n + 1, sizeof **runs, err);
        if (st)
            break;
        struct as_run *r = &(*runs)[(*n)++];
        bool known = read_runs_read_run(&row, r, &counted);
        st = read_runs_finish_run(store, r, known, counted, err);
    }
    return as_row_close(&row, st, err);
}

enum as_status as_store_runs(struct as_store *store, struct as_run **runs, size_t *n, struct as_error *err)
{
    bool begun;
    *runs = NULL;
    *n = 0;
    enum as_status st = as_begin_read(store, &begun, err);
    if (st)
        return st;
    st = all_runs(store, runs, n, err);
    if (begun)
        st = as_end(store, st, err);
    if (st) {
        as_runs_free(*runs, *n);
        *runs = NULL;
        *n = 0;
    }
    return st;
}

static enum as_status run_by_id(struct as_store *store, int64_t id, struct as_run *out, bool *found,
                                struct as_error *err)
{
    struct as_row row = as_row_start(store, AS_SQL_RUN);
    as_put_int(&row, id);
    bool known = true, counted = true;
    *found = as_row_next(&row);
    if (*found)
        known = read_runs_read_run(&row, out, &counted);
    enum as_status st = as_row_end(&row, err);
    return st || !*found ? st : read_runs_finish_run(store, out, known, counted, err);
}

/* A mistyped number such as "0" must not match the start of a uuid. */
enum { UUID_START_MIN = 4 };

/* "last", "-1", "-2": the id of the nth run from the end. */
static enum as_status id_from_end(struct as_store *store, int64_t back, int64_t *id, bool *found, struct as_error *err)
{
    struct as_row row = as_row_start(store, AS_SQL_RUN_FROM_END);
    as_put_int(&row, back);
    *found = as_row_next(&row);
    if (*found)
        *id = as_get_int(&row);
    return as_row_end(&row, err);
}

static enum as_status id_by_uuid(struct as_store *store, const char *name, int64_t *id, bool *found,
                                 struct as_error *err)
{
    struct as_buf lower = AS_BUF_INIT, list = AS_BUF_INIT;
    *found = false;
    for (const char *at = name; *at; at++)
        as_buf_char(&lower, *at >= 'A' && *at <= 'F' ? (char)(*at + 32) : *at);
    enum as_status st = as_buf_check(&lower, err);
    size_t n = 0;
    if (!st) {
        struct as_row row = as_row_start(store, AS_SQL_RUNS_BY_UUID);
        as_put_text(&row, as_buf_get(&lower));
        for (; as_row_next(&row); n++) {
            *id = as_get_int(&row);
            if (n < 5)
                as_buf_printf(&list, "%s%lld (%.13s)", n ? ", " : "", (long long)*id, as_get_text(&row));
            else
                as_buf_str(&list, ", ...");
        }
        st = as_row_end(&row, err);
    }
    if (!st && n > 1)
        st = as_fail(err, AS_USAGE, "'%s' is ambiguous: %s; give more characters, or the number", name,
                     as_buf_get(&list));
    *found = n == 1;
    as_buf_finish(&lower);
    as_buf_finish(&list);
    return st;
}

static enum as_status no_such_run(struct as_store *store, const char *name, struct as_error *err)
{
    struct as_row row = as_row_start(store, AS_SQL_RUN_IDS);
    long long n = 0, first = 0, last = 0;
    if (as_row_next(&row)) {
        n = as_get_int(&row);
        first = as_get_int(&row);
        last = as_get_int(&row);
    }
    enum as_status st = as_row_end(&row, err);
    if (st)
        return st;
    if (n == 0)
        return as_fail(err, AS_NOTFOUND, "the store '%s' holds no run yet: 'assay run' creates one", store->path);
    if (n == 1)
        return as_fail(err, AS_NOTFOUND, "run '%.60s' is not in the store '%s': only run %lld exists", name,
                       store->path, last);
    return as_fail(err, AS_NOTFOUND,
                   "run '%.60s' is not in the store '%s': give a number from %lld to %lld, 'last', -2 "
                   "(the one before the last) or %d or more characters of a uuid's start",
                   name, store->path, first, last, UUID_START_MIN);
}

static enum as_status find_run(struct as_store *store, const char *name, struct as_run *out, struct as_error *err)
{
    int64_t id = 0;
    uint64_t number;
    bool found = false;
    enum as_status st = AS_OK;
    if (strcmp(name, "last") == 0) {
        st = id_from_end(store, 0, &id, &found, err);
    } else if (name[0] == '-' && as_parse_u64(name + 1, &number, NULL) == AS_OK) {
        if (number >= 1 && number <= INT64_MAX)
            st = id_from_end(store, (int64_t)number - 1, &id, &found, err);
    } else {
        /* digits may also start a uuid: a number counts first */
        if (as_parse_u64(name, &number, NULL) == AS_OK && number <= INT64_MAX) {
            st = run_by_id(store, (int64_t)number, out, &found, err);
            if (st || found)
                return st;
        }
        if (strlen(name) >= UUID_START_MIN && strspn(name, "0123456789abcdefABCDEF-") == strlen(name))
            st = id_by_uuid(store, name, &id, &found, err);
    }
    if (!st && found)
        st = run_by_id(store, id, out, &found, err);
    return st || found ? st : no_such_run(store, name, err);
}

enum as_status as_store_run(struct as_store *store, const char *name, struct as_run *out, struct as_error *err)
{
    bool begun;
    *out = (struct as_run){0};
    enum as_status st = as_begin_read(store, &begun, err);
    if (st)
        return st;
    st = find_run(store, name ? name : "last", out, err);
    if (begun)
        st = as_end(store, st, err);
    if (st)
        as_run_finish(out);
    return st;
}
