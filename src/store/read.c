/* Reads cells, trials and samples. Stores are untrusted: out-of-range values are refused, text is truncated. */
#include "store/sql.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum as_status read_cell(struct as_row *row, struct as_cell *c, struct as_error *err)
{
    *c = (struct as_cell){0};
    const char *wrong = as_get_fields(row, &as_cell_fields, c);
    for (size_t g = 0; g < AS_GATE_N; g++) {
        const char *gate = as_get_fields(row, &as_gate_fields, &c->gates[g]);
        wrong = wrong ? wrong : gate ? "gate" : NULL;
    }
    c->id = as_get_int(row);
    c->run_id = as_get_int(row);
    struct as_error why;
    enum as_status st = as_axes_from_json(as_get_text(row), &c->axes, &why);
    c->key = (uint64_t)as_get_int(row);
    if (st)
        return as_store_damaged(row->store, "cell", c->id, why.text, err);
    return wrong ? as_store_damaged(row->store, "cell", c->id, "unknown status, cause or gate state", err) : AS_OK;
}

double as_sample_at(const unsigned char *bytes)
{
    uint64_t bits = 0;
    double v;
    for (unsigned k = 0; k < 8; k++)
        bits |= (uint64_t)bytes[k] << 8 * k;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* n samples out of a blob, onto dst. */
static bool decode_samples(const unsigned char *bytes, size_t len, size_t n, double *dst)
{
    if (len != 8 * n)
        return false;
    for (size_t i = 0; i < n; i++) {
        dst[i] = as_sample_at(bytes + 8 * i);
        if (!isfinite(dst[i]))
            return false;
    }
    return true;
}

/* Appends the samples of one trial to a cell's. */
static enum as_status append_samples(struct as_row *row, struct as_cell *c, size_t *cap, struct as_error *err)
{
    int number = as_get_small(row);
    size_t n = (size_t)as_get_small(row), len, cap_trial = *cap;
    const unsigned char *bytes = as_get_bytes(row, &len);
    if (len != 8 * n)
        return as_store_damaged(row->store, "cell", c->id, "samples are truncated", err);
    enum as_status st = as_grow((void **)&c->samples, cap, c->sum.n + n, sizeof *c->samples, err);
    if (!st)
        st = as_grow((void **)&c->sample_trial, &cap_trial, c->sum.n + n, sizeof *c->sample_trial, err);
    if (st)
        return st;
    if (!decode_samples(bytes, len, n, c->samples + c->sum.n))
        return as_store_damaged(row->store, "cell", c->id, "a sample is not a number", err);
    for (size_t i = 0; i < n; i++)
        c->sample_trial[c->sum.n++] = number;
    return AS_OK;
}

/* Sets sum.n to the number of samples found: a run killed between excluding a trial and storing its cell has more or
 * fewer until it is resumed. */
static enum as_status load_samples(struct as_store *store, struct as_cell *c, struct as_error *err)
{
    size_t cap = 0;
    enum as_status st = AS_OK;
    struct as_row row = as_row_start(store, AS_SQL_SAMPLES);
    as_put_int(&row, c->id);
    c->sum.n = 0;
    while (!st && as_row_next(&row))
        st = append_samples(&row, c, &cap, err);
    return as_row_close(&row, st, err);
}

enum as_status as_store_check_variety(struct as_store *store, int64_t run_id, struct as_error *err)
{
    struct as_row row = as_row_start(store, AS_SQL_VARIETY);
    as_put_int(&row, run_id);
    bool found = as_row_next(&row);
    const int64_t of_cells = found ? as_get_int(&row) : 0, probes = found ? as_get_int(&row) : 0;
    const int64_t described = found ? as_get_int(&row) : 0, devices = of_cells > described ? of_cells : described;
    enum as_status st = as_row_end(&row, err);
    if (st || (devices <= AS_RUN_DEVICES_MAX && probes <= AS_RUN_PROBES_MAX))
        return st;
    return as_fail(err, AS_FORMAT,
                   "the store '%s': run %lld has %lld devices and %lld probes, and no run of assay has more than %d "
                   "and %d: name another run",
                   store->path, (long long)run_id, (long long)devices, (long long)probes, AS_RUN_DEVICES_MAX,
                   AS_RUN_PROBES_MAX);
}

/* "0100rejected limit: too fast": a digit for each gate, the status and the reason; NULL for an ok cell. */
static bool read_trouble(struct as_row *row, struct as_cell *c)
{
    const char *at = as_get_text(row);
    char word[16];
    c->status = AS_CELL_OK;
    c->reason[0] = '\0';
    const bool ok = !*at;
    for (int g = 0; g < AS_GATE_N; g++)
        c->gates[g].state = *at && *at++ == '1' ? AS_GATE_FAIL : AS_GATE_NA;
    if (ok)
        return true;
    const size_t n = strcspn(at, " ");
    if (n >= sizeof word || at[n] != ' ')
        return false;
    as_copy_text(word, n + 1, at);
    as_copy_text(c->reason, sizeof c->reason, at + n + 1);
    return as_cell_status_parse(word, &c->status, NULL) == AS_OK;
}

/* Reuses one cell: clearing all of it would cost as much as reading a row. */
static enum as_status read_brief_cell(struct as_row *row, struct as_cell *c, struct as_error *err)
{
    c->id = as_get_int(row);
    as_copy_column(row, c->device, sizeof c->device);
    as_copy_column(row, c->probe, sizeof c->probe);
    as_copy_column(row, c->unit, sizeof c->unit);
    c->lower_is_better = as_get_small(row) != 0;
    struct as_error why;
    if (as_axes_from_json(as_get_text(row), &c->axes, &why))
        return as_store_damaged(row->store, "cell", c->id, why.text, err);
    c->sum = (struct as_summary){.n = (size_t)as_get_small(row)};
    c->sum.median = as_get_real(row);
    if (!read_trouble(row, c))
        return as_store_damaged(row->store, "cell", c->id, "unknown status", err);
    return AS_OK;
}

static enum as_status read_take_row(struct as_row *row, const struct as_cell_filter *filter, as_cell_fn take,
                                    void *user, struct as_error *err)
{
    struct as_cell cell;
    enum as_status st = read_cell(row, &cell, err);
    if (!st && filter->with_samples)
        st = load_samples(row->store, &cell, err);
    if (!st)
        st = take(user, &cell, err);
    as_cell_finish(&cell);
    return st;
}

static enum as_status each_cell(struct as_store *store, const struct as_cell_filter *filter, as_cell_fn take,
                                void *user, struct as_error *err)
{
    enum as_status st = AS_OK;
    struct as_row row = as_row_start(store, filter->run_id ? AS_SQL_CELLS_OF_RUN : AS_SQL_CELLS);
    as_put_int(&row, filter->run_id);
    as_put_text_or_null(&row, filter->probe);
    as_put_text_or_null(&row, filter->device);
    as_put_int(&row, filter->hidden != 0);
    as_put_int(&row, filter->limit ? (int64_t)filter->limit : -1);
    as_put_int(&row, filter->from);
    while (!st && as_row_next(&row))
        st = read_take_row(&row, filter, take, user, err);
    return as_row_close(&row, st, err);
}

enum as_status as_store_each_cell(struct as_store *store, const struct as_cell_filter *filter, as_cell_fn take,
                                  void *user, struct as_error *err)
{
    bool begun;
    enum as_status st = as_begin_read(store, &begun, err);
    if (st)
        return st;
    st = each_cell(store, filter, take, user, err);
    return begun ? as_end(store, st, err) : st;
}

enum as_status as_store_each_brief(struct as_store *store, int64_t run_id, as_cell_fn take, void *user,
                                   struct as_error *err)
{
    struct as_cell cell = {.run_id = run_id};
    enum as_status st = AS_OK;
    struct as_row row = as_row_start(store, AS_SQL_BRIEF_CELLS);
    as_put_int(&row, run_id);
    while (!st && as_row_next(&row)) {
        st = read_brief_cell(&row, &cell, err);
        if (!st)
            st = take(user, &cell, err);
    }
    return as_row_close(&row, st, err);
}

struct cell_list {
    struct as_cell *v;
    size_t n, cap;
};

static enum as_status keep_cell(void *user, struct as_cell *cell, struct as_error *err)
{
    struct cell_list *list = user;
    enum as_status st = as_grow((void **)&list->v, &list->cap, list->n + 1, sizeof *list->v, err);
    if (st)
        return st;
    list->v[list->n++] = *cell;
    cell->detail = cell->metrics = cell->answers = NULL;
    cell->samples = NULL;
    cell->sample_trial = NULL;
    return AS_OK;
}

enum as_status as_store_cells(struct as_store *store, const struct as_cell_filter *filter, struct as_cell **cells,
                              size_t *n, struct as_error *err)
{
    struct cell_list list = {0};
    enum as_status st = filter->run_id ? as_store_check_variety(store, filter->run_id, err) : AS_OK;
    if (!st)
        st = as_store_each_cell(store, filter, keep_cell, &list, err);
    if (st) {
        as_cells_free(list.v, list.n);
        list = (struct cell_list){0};
    }
    *cells = list.v;
    *n = list.n;
    return st;
}

enum as_status as_store_count(struct as_store *store, int64_t run_id, const char *probe, size_t *n,
                              struct as_error *err)
{
    struct as_row row = as_row_start(store, AS_SQL_COUNT);
    as_put_int(&row, run_id);
    as_put_text_or_null(&row, probe);
    *n = as_row_next(&row) ? (size_t)as_get_whole(&row) : 0;
    return as_row_end(&row, err);
}

static enum as_status one_cell(struct as_store *store, int64_t id, int with_samples, struct as_cell *out,
                               struct as_error *err)
{
    struct as_row row = as_row_start(store, AS_SQL_CELL);
    as_put_int(&row, id);
    bool found = as_row_next(&row);
    enum as_status st = found ? read_cell(&row, out, err) : AS_OK;
    st = as_row_close(&row, st, err);
    if (!st && !found)
        st = as_fail(err, AS_NOTFOUND,
                     "cell %lld is not in the store '%s': 'assay show PROBE' lists those of the last run",
                     (long long)id, store->path);
    return st || !with_samples ? st : load_samples(store, out, err);
}

enum as_status as_store_cell(struct as_store *store, int64_t id, int with_samples, struct as_cell *out,
                             struct as_error *err)
{
    bool begun;
    *out = (struct as_cell){0};
    enum as_status st = as_begin_read(store, &begun, err);
    if (st)
        return st;
    st = one_cell(store, id, with_samples, out, err);
    if (begun)
        st = as_end(store, st, err);
    if (st)
        as_cell_finish(out);
    return st;
}

/* A number beside each sample, NULL where there is none. */
static enum as_status read_beside(struct as_row *row, const struct as_trial *v, const char *what,
                                  bool (*is_one)(double), double **out, struct as_error *err)
{
    size_t len;
    const unsigned char *bytes = as_get_bytes(row, &len);
    *out = NULL;
    if (!bytes)
        return AS_OK;
    if (len != 8 * v->n)
        return as_store_damaged(row->store, "cell", v->cell_id, "clocks or weights do not match the samples", err);
    *out = malloc(len ? len : 1);
    if (!*out)
        return as_nomem(err, len, "samples");
    for (size_t i = 0; i < v->n; i++) {
        (*out)[i] = as_sample_at(bytes + 8 * i);
        if (!is_one((*out)[i]))
            return as_store_damaged(row->store, "cell", v->cell_id, what, err);
    }
    return AS_OK;
}

static enum as_status read_samples(struct as_row *row, struct as_trial *v, struct as_error *err)
{
    size_t n = v->n, len;
    const unsigned char *bytes = as_get_bytes(row, &len);
    v->n = 0;
    if (len != 8 * n)
        return as_store_damaged(row->store, "cell", v->cell_id, "samples are truncated", err);
    v->samples = malloc(n ? len : 1);
    if (!v->samples)
        return as_nomem(err, len, "samples");
    v->n = n;
    return decode_samples(bytes, len, n, v->samples)
               ? AS_OK
               : as_store_damaged(row->store, "cell", v->cell_id, "a sample is not a number", err);
}

static enum as_status read_trial(struct as_row *row, struct as_trial *v, struct as_error *err)
{
    *v = (struct as_trial){0};
    as_readings_clear(&v->readings);
    bool good = !as_get_fields(row, &as_trial_fields, v);
    good &= !as_get_fields(row, &as_readings_fields, &v->readings);
    v->cell_id = as_get_int(row);
    enum as_status st = read_samples(row, v, err);
    if (!st)
        st = read_beside(row, v, "a sample has an invalid clock", as_is_core_hz, &v->core_hz, err);
    if (!st)
        st = read_beside(row, v, "a sample has an invalid weight", as_is_weight, &v->weight, err);
    if (st)
        return st;
    return good ? AS_OK
                : as_store_damaged(row->store, "cell", v->cell_id,
                                   "a trial has an unknown status, gate state or throttle reason", err);
}

enum as_status as_store_trials(struct as_store *store, int64_t run_id, int64_t cell_id, struct as_trial **trials,
                               size_t *n, struct as_error *err)
{
    size_t cap = 0;
    enum as_status st = AS_OK;
    *trials = NULL;
    *n = 0;
    struct as_row row = as_row_start(store, cell_id ? AS_SQL_TRIALS_OF_CELL : AS_SQL_TRIALS_OF_RUN);
    as_put_int(&row, cell_id ? cell_id : run_id);
    while (!st && as_row_next(&row)) {
        st = as_grow((void **)trials, &cap, *n + 1, sizeof **trials, err);
        if (!st)
            st = read_trial(&row, &(*trials)[(*n)++], err);
    }
    st = as_row_close(&row, st, err);
    if (st) {
        as_trials_free(*trials, *n);
        *trials = NULL;
        *n = 0;
    }
    return st;
}

void as_trials_free(struct as_trial *trials, size_t n)
{
    for (size_t i = 0; trials && i < n; i++)
        as_trial_finish(&trials[i]);
    free(trials);
}
