/* Writing: one transaction a call, or parts of one for import. */
#include "store/sql.h"

#include "base/clock.h"
#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a run once it has measured. */
static void put_found(struct as_row *row, const struct as_run *run)
{
    as_put_real(row, run->reference_hz);
    as_put_real(row, run->sampling);
    as_put_text_or_null(row, run->exponents);
    as_put_text_or_null(row, run->left_out);
}

enum as_status as_store_put_run(struct as_store *store, struct as_run *run, int cells, struct as_error *err)
{
    struct as_row row = as_row_start(store, AS_SQL_ADD_RUN);
    as_put_text(&row, run->uuid);
    as_put_real(&row, run->started_at);
    as_put_real(&row, run->ended_at);
    as_put_text(&row, as_run_state_word(run->state));
    as_put_text(&row, run->suite);
    as_put_text(&row, run->command);
    as_put_int(&row, (int64_t)run->seed);
    as_put_real(&row, run->precision);
    as_put_real(&row, run->budget_s);
    as_put_int(&row, run->trials);
    as_put_int(&row, run->isolate != 0);
    as_put_text(&row, run->tool_version);
    as_put_text(&row, run->tool_commit);
    as_put_text(&row, run->host);
    as_put_text_or_null(&row, run->provenance);
    as_put_text_or_null(&row, run->devices);
    as_put_int(&row, cells);
    put_found(&row, run);
    as_row_next(&row);
    if (row.rc == SQLITE_CONSTRAINT_UNIQUE) {
        as_row_end(&row, NULL);
        return as_fail(err, AS_USAGE, "run %s is already in the store '%s'", run->uuid, store->path);
    }
    enum as_status s = as_row_end(&row, err);
    if (!s)
        run->id = sqlite3_last_insert_rowid(store->db);
    return s;
}

static void put_result(struct as_row *row, const struct as_cell *c)
{
    as_put_text(row, as_cell_status_word(c->status));
    as_put_text(row, c->reason);
    as_put_causes(row, c->causes);
    as_put_int(row, (int64_t)c->sum.n);
    as_put_int(row, (int64_t)c->sum.trials);
    bool any = c->sum.n > 0;
    const double numbers[] = {c->sum.median, c->sum.ci.lo, c->sum.ci.hi, c->sum.mad, c->sum.min, c->sum.max};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        as_put_real(row, any ? numbers[i] : NAN);
    bool two = any && c->sum.modes == 2;
    as_put_int(row, two ? 2 : any);
    as_put_real(row, two ? c->sum.mode[0] : NAN);
    as_put_real(row, two ? c->sum.mode[1] : NAN);
    as_put_real(row, two ? c->sum.mode_share0 : NAN);
    as_put_real(row, any ? c->exponent : NAN);
    as_put_real(row, any ? c->raw_low : NAN);
    as_put_real(row, any ? c->raw_high : NAN);
    as_put_real(row, c->limit);
    as_put_real(row, c->clock_hz);
    as_put_int(row, (int64_t)c->footprint);
    for (size_t g = 0; g < AS_GATE_N; g++) {
        as_put_text(row, as_gate_state_word(c->gates[g].state));
        as_put_text(row, c->gates[g].text);
    }
    as_put_int(row, c->trials_done);
    as_put_real(row, isfinite(c->duration_s) ? c->duration_s : 0);
    as_put_real(row, isfinite(c->started_at) ? c->started_at : 0);
    as_put_text_or_null(row, c->detail);
}

enum as_status as_store_put_cell(struct as_store *store, int64_t run_id, struct as_cell *c, struct as_error *err)
{
    struct as_buf axes = AS_BUF_INIT;
    as_axes_to_json(&c->axes, &axes);
    enum as_status s = as_buf_check(&axes, err);
    struct as_row row = as_row_start(store, AS_SQL_ADD_CELL);
    as_put_int(&row, run_id);
    as_put_int(&row, c->index);
    as_put_text(&row, c->backend);
    as_put_text(&row, c->device);
    as_put_text(&row, c->probe);
    as_put_text(&row, c->metric);
    as_put_text(&row, c->unit);
    as_put_int(&row, c->lower_is_better != 0);
    as_put_text(&row, c->counts);
    as_put_text(&row, as_buf_get(&axes));
    as_put_int(&row, (int64_t)c->key);
    as_put_real(&row, c->precision);
    put_result(&row, c);
    s = s ? as_row_close(&row, s, err) : as_row_run(&row, err);
    if (!s) {
        c->id = sqlite3_last_insert_rowid(store->db);
        c->run_id = run_id;
    }
    as_buf_finish(&axes);
    return s;
}

enum as_status as_store_put_result(struct as_store *store, const struct as_cell *c, struct as_error *err)
{
    struct as_row row = as_row_start(store, AS_SQL_UPDATE_CELL);
    put_result(&row, c);
    as_put_int(&row, c->id);
    enum as_status s = as_row_run(&row, err);
    if (!s && sqlite3_changes(store->db) != 1)
        s = as_fail(err, AS_NOTFOUND, "cell %lld is not in the store '%s'", (long long)c->id, store->path);
    return s;
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
    enum as_status s;
    for (int i = 0; (s = as_store_claim(store, run_id, err)) == AS_BUSY && i < TRIES; i++)
        as_sleep(0.01);
    return s;
}

enum as_status as_store_begin_run(struct as_store *store, struct as_run *run, struct as_cell *cells, size_t n,
                                  struct as_error *err)
{
    if (n > INT_MAX)
        return as_fail(err, AS_USAGE, "a run of %zu cells is too large", n);
    int asked_for = 0;
    for (size_t i = 0; i < n; i++)
        asked_for += strcmp(cells[i].probe, AS_HIDDEN_PROBE) != 0;
    enum as_status s = as_begin_write(store, err);
    if (s)
        return s;
    s = as_store_put_run(store, run, asked_for, err);
    if (!s)
        s = claim_new(store, run->id, err);
    for (size_t i = 0; i < n && !s; i++)
        s = as_store_put_cell(store, run->id, &cells[i], err);
    s = as_end(store, s, err);
    if (s)
        as_store_release(store);
    else
        run->cells = asked_for;
    return s;
}

enum as_status as_store_delete_run(struct as_store *store, int64_t run_id, struct as_error *err)
{
    enum as_status s = as_store_claim(store, run_id, err);
    if (s)
        return s;
    if (!(s = as_begin_write(store, err))) {
        struct as_row row = as_row_start(store, AS_SQL_DELETE_RUN);
        as_put_int(&row, run_id);
        s = as_row_run(&row, err);
        if (!s && sqlite3_changes(store->db) != 1)
            s = as_fail(err, AS_NOTFOUND, "run %lld is not in the store '%s'", (long long)run_id, store->path);
        s = as_end(store, s, err);
    }
    as_store_release(store);
    return s;
}

/* Little-endian bytes of the numbers of each sample, one array behind the other; NULL where one is not there or memory
 * ran out. */
struct blobs {
    unsigned char *samples, *core_hz, *weight;
};

static bool pack(const double *x, size_t n, unsigned char **out)
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

static void put_readings(struct as_row *row, const struct as_readings *r)
{
    bool any = r->sensor[0] != 0;
    as_put_text(row, r->sensor);
    as_put_throttle(row, any ? r->throttle : -1);
    for (size_t i = 0; i < as_readings_members_n; i++)
        as_put_real(row, any ? as_readings_get(r, i) : NAN);
}

static void put_trial(struct as_row *row, const struct as_trial *v, int64_t cell_id, const struct blobs *blobs)
{
    as_put_int(row, cell_id);
    as_put_int(row, v->number);
    as_put_real(row, isfinite(v->started_at) ? v->started_at : 0);
    as_put_real(row, v->prepare_s);
    as_put_real(row, v->duration_s);
    as_put_int(row, (int64_t)v->n);
    as_put_bytes(row, blobs->samples, v->n ? 8 * v->n : 0);
    as_put_int(row, (int64_t)v->warmup);
    as_put_int(row, (int64_t)v->reps);
    as_put_real(row, v->sample_s);
    as_put_real(row, v->clock_hz);
    as_put_real(row, v->clock_lo);
    as_put_real(row, v->clock_hi);
    as_put_text(row, as_gate_state_word(v->checksum));
    as_put_text(row, v->checksum_text);
    as_put_text(row, as_cell_status_word(v->status));
    as_put_text(row, v->reason);
    as_put_int(row, v->excluded != 0);
    as_put_int(row, v->worker);
    as_put_real(row, v->limit);
    as_put_text(row, v->limit_why);
    as_put_int(row, (int64_t)v->footprint);
    as_put_int(row, v->claims_memory != 0);
    as_put_text_or_null(row, v->detail);
    as_put_text(row, as_gate_state_word(v->code));
    as_put_text(row, v->code_text);
    put_readings(row, &v->readings);
    as_put_real(row, v->sampling_s);
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
    if (!pack(v->samples, v->n, &blobs.samples) || !pack(v->core_hz, v->n, &blobs.core_hz) ||
        !pack(v->weight, v->n, &blobs.weight)) {
        blobs_finish(&blobs);
        return as_nomem(err, 8 * v->n, "samples");
    }
    struct as_row row = as_row_start(store, AS_SQL_ADD_TRIAL);
    put_trial(&row, v, cell_id, &blobs);
    as_row_next(&row);
    int rc = row.rc;
    enum as_status s = as_row_end(&row, err);
    if (rc == SQLITE_CONSTRAINT_UNIQUE)
        s = as_fail(err, AS_FAILED, "trial %d of cell %lld is already in the store '%s'", v->number, (long long)cell_id,
                    store->path);
    else if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
        s = as_fail(err, AS_NOTFOUND, "cell %lld is not in the store '%s'", (long long)cell_id, store->path);
    blobs_finish(&blobs);
    return s;
}

enum as_status as_store_add_trials(struct as_store *store, const struct as_stored_trial *trials, size_t n,
                                   struct as_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (trials[i].trial->cell_id && trials[i].trial->cell_id != trials[i].cell->id)
            return as_fail(err, AS_FAILED, "a trial of cell %lld cannot be stored with cell %lld",
                           (long long)trials[i].trial->cell_id, (long long)trials[i].cell->id);
    enum as_status s = as_begin_write(store, err);
    if (s)
        return s;
    for (size_t i = 0; i < n && !s; i++) {
        s = as_store_put_result(store, trials[i].cell, err);
        if (!s)
            s = as_store_put_trial(store, trials[i].trial, trials[i].cell->id, err);
    }
    if (!s && n)
        s = recount(store, trials[0].cell->run_id, false, err);
    return as_end(store, s, err);
}

enum as_status as_store_update_cells(struct as_store *store, const struct as_cell *cells, size_t n,
                                     struct as_error *err)
{
    enum as_status s = as_begin_write(store, err);
    if (s)
        return s;
    for (size_t i = 0; i < n && !s; i++) {
        s = as_store_put_result(store, &cells[i], err);
        if (!s && (i == 0 || cells[i].run_id != cells[i - 1].run_id))
            s = recount(store, cells[i].run_id, false, err);
    }
    return as_end(store, s, err);
}

enum as_status as_store_exclude_trial(struct as_store *store, int64_t cell_id, int number, int excluded,
                                      const char *reason, struct as_error *err)
{
    enum as_status s = as_begin_write(store, err);
    if (s)
        return s;
    struct as_row row = as_row_start(store, AS_SQL_EXCLUDE_TRIAL);
    as_put_int(&row, excluded != 0);
    as_put_text(&row, reason);
    as_put_int(&row, cell_id);
    as_put_int(&row, number);
    s = as_row_run(&row, err);
    if (!s && sqlite3_changes(store->db) != 1)
        s = as_fail(err, AS_NOTFOUND, "trial %d of cell %lld is not in the store '%s'", number, (long long)cell_id,
                    store->path);
    return as_end(store, s, err);
}

enum as_status as_store_update_run(struct as_store *store, const struct as_run *run, struct as_error *err)
{
    enum as_status s = as_begin_write(store, err);
    if (s)
        return s;
    struct as_row row = as_row_start(store, AS_SQL_UPDATE_RUN);
    as_put_real(&row, run->ended_at);
    as_put_text(&row, as_run_state_word(run->state));
    as_put_real(&row, run->precision);
    as_put_real(&row, run->budget_s);
    as_put_int(&row, run->trials);
    as_put_text_or_null(&row, run->provenance);
    as_put_text_or_null(&row, run->devices);
    put_found(&row, run);
    as_put_int(&row, run->id);
    s = as_row_run(&row, err);
    if (!s && sqlite3_changes(store->db) != 1)
        s = as_fail(err, AS_NOTFOUND, "run %lld is not in the store '%s'", (long long)run->id, store->path);
    if (!s)
        s = as_store_put_end(store, run, err);
    return as_end(store, s, err);
}
