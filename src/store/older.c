/* Conversion of what earlier versions stored. Before schema and format 5, bandwidths of probe topology were stored as
 * the time per 64 bytes; before 6, some names differed (model/renames.h). */
#include "store/sql.h"

#include "model/renames.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

static const double BYTES = 64;

static bool is_former_topology(const struct as_cell *c)
{
    return strcmp(c->probe, "topology") == 0 && strcmp(c->metric, "time") == 0 && strcmp(c->unit, "ns") == 0;
}

bool as_older_is_rate(const struct as_cell *c)
{
    return is_former_topology(c) && as_axes_is(&c->axes, "what", "bandwidth") && !(c->sum.n && !(c->sum.min > 0));
}

static struct as_interval inverted(struct as_interval i)
{
    return (struct as_interval){BYTES / i.hi, BYTES / i.lo};
}

static void invert_summary(struct as_summary *s)
{
    const struct as_interval range = inverted((struct as_interval){s->min, s->max});
    const double mad = s->mad / s->median; /* to the first order the same for both */
    s->ci = inverted(s->ci);
    s->min = range.lo;
    s->max = range.hi;
    s->median = BYTES / s->median;
    s->mad = mad * s->median;
    if (s->modes == 2) {
        const double slow = BYTES / s->mode[1];
        s->mode[1] = BYTES / s->mode[0];
        s->mode[0] = slow;
        s->mode_share0 = 1 - s->mode_share0;
    }
}

static bool convert_topology(struct as_cell *c)
{
    if (!is_former_topology(c))
        return false;
    const bool rate = as_older_is_rate(c);
    as_copy_text(c->metric, sizeof c->metric, rate ? "bandwidth" : "latency");
    if (rate) {
        const struct as_interval raw = inverted((struct as_interval){c->raw_low, c->raw_high});
        as_copy_text(c->unit, sizeof c->unit, "GB/s");
        as_copy_text(c->counts, sizeof c->counts, "bytes read, over half of the reported size");
        c->lower_is_better = 0;
        c->limit = BYTES / c->limit;
        c->raw_low = raw.lo;
        c->raw_high = raw.hi;
        if (c->sum.n)
            invert_summary(&c->sum);
        for (size_t i = 0; c->samples && i < c->sum.n; i++)
            c->samples[i] = BYTES / c->samples[i];
    }
    c->key = as_cell_key(c->probe, c->metric, &c->axes);
    return true;
}

bool as_older_cell(struct as_cell *c)
{
    const bool converted = convert_topology(c);
    return as_rename_cell(c) || converted;
}

void as_older_trial(struct as_trial *v, bool with_samples)
{
    v->limit = BYTES / v->limit;
    for (size_t i = 0; with_samples && i < v->n; i++)
        v->samples[i] = BYTES / v->samples[i];
}

static enum as_status convert_trials(struct as_store *store, const struct as_cell *cell, struct as_error *err)
{
    struct as_trial *trials;
    size_t n;
    enum as_status s = as_store_trials(store, 0, cell->id, &trials, &n, err);
    struct as_row row = as_row_start(store, AS_SQL_DELETE_TRIALS);
    as_put_int(&row, cell->id);
    s = s ? as_row_close(&row, s, err) : as_row_run(&row, err);
    for (size_t i = 0; i < n && !s; i++) {
        as_older_trial(&trials[i], true);
        s = as_store_put_trial(store, &trials[i], cell->id, err);
    }
    as_trials_free(trials, n);
    return s;
}

static enum as_status convert_cell(void *user, struct as_cell *cell, struct as_error *err)
{
    struct as_store *store = user;
    const bool rate = as_older_is_rate(cell);
    if (!as_older_cell(cell))
        return AS_OK;
    struct as_buf axes = AS_BUF_INIT;
    as_axes_to_json(&cell->axes, &axes);
    enum as_status s = as_buf_check(&axes, err);
    struct as_row row = as_row_start(store, AS_SQL_SET_KEY);
    as_put_text(&row, as_buf_get(&axes));
    as_put_int(&row, (int64_t)cell->key);
    as_put_int(&row, cell->id);
    s = s ? as_row_close(&row, s, err) : as_row_run(&row, err);
    as_buf_finish(&axes);
    if (!s)
        s = as_store_put_result(store, cell, err);
    return s || !rate ? s : convert_trials(store, cell, err);
}

enum as_status as_store_convert(struct as_store *store, struct as_error *err)
{
    struct as_cell *cells;
    size_t n;
    enum as_status s = as_store_cells(store, &(struct as_cell_filter){.hidden = 1}, &cells, &n, err);
    for (size_t i = 0; i < n && !s; i++)
        s = convert_cell(store, &cells[i], err);
    as_cells_free(cells, n);
    return s;
}
