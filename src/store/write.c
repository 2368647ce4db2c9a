/* Writing: one transaction a call, or parts of one for import. */
#include "store/sql.h"

#include "base/clock.h"
#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum as_status as_store_put_run(struct as_store *store, struct as_run *run, int cells, struct as_error *err)
{
    struct as_row row = as_row_start(store, AS_SQL_ADD_RUN);
    as_put_fields(&row, &as_run_fields, run);
    as_put_int(&row, cells);
    as_row_next(&row);
    if (row.rc == SQLITE_CONSTRAINT_UNIQUE) {
        as_row_end(&row, NULL);
        return as_fail(err, AS_USAGE, "run %s is already in the store '%s'", run->uuid, store->path);
    }
    enum as_status st = as_row_end(&row, err);
    if (!st)
        run->id = sqlite3_last_insert_rowid(store->db);
    return st;
}

/* The cell as it is stored: without samples it has no numbers, whatever its summary holds. */
static struct as_cell stored_form(const struct as_cell *cell)
{
    struct as_cell c = *cell;
    if (c.sum.n == 0) {
        c.sum = (struct as_summary){.trials = c.sum.trials, .median = NAN, .ci = {NAN, NAN}, .mad = NAN};
        c.sum.min = c.sum.max = c.exponent = c.raw_low = c.raw_high = NAN;
    }
    if (c.sum.modes != 2)
        c.sum.mode[0] = c.sum.mode[1] = c.sum.mode_share0 = NAN;
    return c;
}

static void put_cell(struct as_row *row, const struct as_cell *c)
{
    as_put_fields(row, &as_cell_fields, c);
    for (size_t g = 0; g < AS_GATE_N; g++)
        as_put_fields(row, &as_gate_fields, &c->gates[g]);
}

enum as_status as_store_put_cell(struct as_store *store, int64_t run_id, struct as_cell *c, struct as_error *err)
{
    struct as_buf axes = AS_BUF_INIT;
    as_axes_to_json(&c->axes, &axes);
    enum as_status st = as_buf_check(&axes, err);
    const struct as_cell stored = stored_form(c);
    struct as_row row = as_row_start(store, AS_SQL_ADD_CELL);
    put_cell(&row, &stored);
    as_put_int(&row, run_id);
    as_put_text(&row, as_buf_get(&axes));
    as_put_int(&row, (int64_t)c->key);
    st = st ? as_row_close(&row, st, err) : as_row_run(&row, err);
    if (!st) {
        c->id = sqlite3_last_insert_rowid(store->db);
        c->run_id = run_id;
    }
    as_buf_finish(&axes);
    return st;
}

static enum as_status put_result(struct as_store *store, const struct as_cell *c, struct as_error *err)
{
    const struct as_cell stored = stored_form(c);
    struct as_row row = as_row_start(store, AS_SQL_UPDATE_CELL);
    put_cell(&row, &stored);
    as_put_int(&row, c->id);
    enum as_status st = as_row_run(&row, err);
    if (!st && sqlite3_changes(store->db) != 1)
        st = as_fail(err, AS_NOTFOUND, "cell %lld is not in the store '%s'", (long long)c->id, store->path);
    return st;
}

/* The count of valid cells of a run: taken, or forgotten because a cell changed. */
static enum as_status recount(struct as_store *store, int64_t run_id, bool take, struct as_error *err)
{
    struct as_row row = as_row_start(store, AS_SQL_RECOUNT);
    as_put_int(&row, run_id);
    as_put_int(&row, take);
    return as_row_run(&row, err);
}

enum as_status as_store_put_end(struct as_store *store, const struct as_run *run, struct as_error *err)
{
    return recount(store, run->id, run->state != AS_RUN_RUNNING, err);
}

/* A number that was deleted may be given again: then who deleted it holds the claim for a moment longer. */
static enum as_status claim_new(struct as_store *store, int64_t run_id, struct as_error *err)
{
    enum { TRIES = 200 };
    enum as_status st;
    for (int i = 0; (st = as_store_claim(store, run_id, err)) == AS_BUSY && i < TRIES; i++)
        as_sleep(0.01);
    return st;
}

enum as_status as_store_begin_run(struct as_store *store, struct as_run *run, struct as_cell *cells, size_t n,
                                  struct as_error *err)
{
    if (n > INT_MAX)
        return as_fail(err, AS_USAGE, "a run of %zu measurements is too large", n);
    int asked_for = 0;
    for (size_t i = 0; i < n; i++)
        asked_for += strcmp(cells[i].probe, AS_HIDDEN_PROBE) != 0;
    enum as_status st = as_begin_write(store, err);
    if (st)
        return st;
    st = as_store_put_run(store, run, asked_for, err);
    if (!st)
        st = claim_new(store, run->id, err);
    for (size_t i = 0; i < n && !st; i++)
        st = as_store_put_cell(store, run->id, &cells[i], err);
    st = as_end(store, st, err);
    if (st)
        as_store_release(store);
    else
        run->cells = asked_for;
    return st;
}

enum as_status as_store_delete_run(struct as_store *store, int64_t run_id, struct as_error *err)
{
    enum as_status st = as_store_claim(store, run_id, err);
    if (st)
        return st;
    if (!(st = as_begin_write(store, err))) {
        struct as_row row = as_row_start(store, AS_SQL_DELETE_RUN);
        as_put_int(&row, run_id);
        st = as_row_run(&row, err);
        if (!st && sqlite3_changes(store->db) != 1)
            st = as_fail(err, AS_NOTFOUND, "run %lld is not in the store '%s'", (long long)run_id, store->path);
        st = as_end(store, st, err);
    }
    as_store_release(store);
    return st;
}

/* Little-endian bytes of the numbers of each sample, one array behind the other; NULL where one is not there or memory
 * ran out. */
struct blobs {
    unsigned char *samples, *core_hz, *weight;
};

static bool write_pack(const double *x, size_t n, unsigned char **out)
{
    *out = NULL;
    if (!x)
        return true;
    unsigned char *bytes = malloc(n ? 8 * n : 1);
    for (size_t i = 0; bytes && i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        for (unsigned k = 0; k < 8; k++)
            bytes[8 * i + k] = (unsigned char)(bits >> 8 * k);
    }
    *out = bytes;
    return bytes != NULL;
}

static void blobs_finish(struct blobs *b)
{
    free(b->samples);
    free(b->core_hz);
    free(b->weight);
}

static void put_trial(struct as_row *row, const struct as_trial *v, const struct as_readings *readings, int64_t cell_id,
                      const struct blobs *blobs)
{
    as_put_fields(row, &as_trial_fields, v);
    as_put_fields(row, &as_readings_fields, readings);
    as_put_int(row, cell_id);
    as_put_bytes(row, blobs->samples, v->n ? 8 * v->n : 0);
    as_put_bytes_or_null(row, blobs->core_hz, 8 * v->n);
    as_put_bytes_or_null(row, blobs->weight, 8 * v->n);
}

enum as_status as_store_put_trial(struct as_store *store, const struct as_trial *v, int64_t cell_id,
                                  struct as_error *err)
{
    for (size_t i = 0; i < v->n; i++)
        if (!isfinite(v->samples[i]))
            return as_fail(err, AS_FAILED, "trial %d of cell %lld: sample %zu is not a number", v->number,
                           (long long)cell_id, i);
    struct blobs blobs = {0};
    if (!write_pack(v->samples, v->n, &blobs.samples) || !write_pack(v->core_hz, v->n, &blobs.core_hz) ||
        !write_pack(v->weight, v->n, &blobs.weight)) {
        blobs_finish(&blobs);
        return as_nomem(err, 8 * v->n, "samples");
    }
    struct as_readings readings = v->readings;
    if (!readings.sensor[0])
        as_readings_clear(&readings);
    struct as_row row = as_row_start(store, AS_SQL_ADD_TRIAL);
    put_trial(&row, v, &readings, cell_id, &blobs);
    as_row_next(&row);
    int rc = row.rc;
    enum as_status st = as_row_end(&row, err);
    if (rc == SQLITE_CONSTRAINT_UNIQUE)
        st = as_fail(err, AS_FAILED, "trial %d of cell %lld is already in the store '%s'", v->number,
                     (long long)cell_id, store->path);
    else if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
        st = as_fail(err, AS_NOTFOUND, "cell %lld is not in the store '%s'", (long long)cell_id, store->path);
    blobs_finish(&blobs);
    return st;
}

enum as_status as_store_add_trials(struct as_store *store, const struct as_stored_trial *trials, size_t n,
                                   struct as_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (trials[i].trial->cell_id && trials[i].trial->cell_id != trials[i].cell->id)
            return as_fail(err, AS_FAILED, "a trial of cell %lld cannot be stored with cell %lld",
                           (long long)trials[i].trial->cell_id, (long long)trials[i].cell->id);
    enum as_status st = as_begin_write(store, err);
    if (st)
        return st;
    for (size_t i = 0; i < n && !st; i++) {
        st = put_result(store, trials[i].cell, err);
        if (!st)
            st = as_store_put_trial(store, trials[i].trial, trials[i].cell->id, err);
    }
    if (!st && n)
        st = recount(store, trials[0].cell->run_id, false, err);
    return as_end(store, st, err);
}

enum as_status as_store_update_cells(struct as_store *store, const struct as_cell *cells, const size_t *which, size_t n,
                                     struct as_error *err)
{
    enum as_status st = n ? as_begin_write(store, err) : AS_OK;
    if (st || !n)
        return st;
    for (size_t i = 0; i < n && !st; i++)
        st = put_result(store, &cells[which ? which[i] : i], err);
    if (!st)
        st = recount(store, cells[which ? which[0] : 0].run_id, false, err);
    return as_end(store, st, err);
}

enum as_status as_store_update_run(struct as_store *store, const struct as_run *run, struct as_error *err)
{
    enum as_status st = as_begin_write(store, err);
    if (st)
        return st;
    struct as_row row = as_row_start(store, AS_SQL_UPDATE_RUN);
    as_put_fields(&row, &as_run_fields, run);
    as_put_int(&row, run->id);
    st = as_row_run(&row, err);
    if (!st && sqlite3_changes(store->db) != 1)
        st = as_fail(err, AS_NOTFOUND, "run %lld is not in the store '%s'", (long long)run->id, store->path);
    if (!st)
        st = as_store_put_end(store, run, err);
    return as_end(store, st, err);
}
