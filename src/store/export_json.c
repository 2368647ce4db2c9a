/* Export: a run as JSON. Samples of the trials that count stand once, in the cell. */
#include "store/sql.h"

#include <stdlib.h>
#include <string.h>

struct cell_out {
    const struct as_cell *cell;
    const struct as_trial *trials;
    size_t trials_n;
    const char *driver; /* NULL unknown */
};

static void write_samples(const double *x, size_t n, struct as_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        as_buf_char(out, i ? ',' : '[');
        as_json_number(out, x[i]);
    }
    as_buf_str(out, n ? "]" : "[]");
}

static enum as_status write_trial_other(void *user, const char *name, struct as_buf *out, struct as_error *err)
{
    const struct as_trial *v = user;
    const double *beside = strcmp(name, "core_hz") == 0 ? v->core_hz : strcmp(name, "weight") == 0 ? v->weight : NULL;
    if (strcmp(name, "core_hz") == 0 || strcmp(name, "weight") == 0) {
        if (beside)
            write_samples(beside, v->n, out);
        else
            as_buf_str(out, "null");
        return AS_OK;
    }
    if (strcmp(name, "readings") == 0 && v->readings.sensor[0])
        return as_fields_write(&as_readings_fields, &v->readings, NULL, NULL, out, err);
    if (strcmp(name, "readings") == 0 || as_trial_counts(v)) /* else "samples" */
        as_buf_str(out, "null");
    else
        write_samples(v->samples, v->n, out);
    return AS_OK;
}

static enum as_status write_trials(const struct cell_out *c, struct as_buf *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    as_buf_char(out, '[');
    for (size_t i = 0; i < c->trials_n && !st; i++) {
        as_buf_str(out, i ? "," : "");
        st = as_fields_write(&as_trial_fields, &c->trials[i], write_trial_other, (void *)&c->trials[i], out, err);
    }
    as_buf_char(out, ']');
    return st;
}

static enum as_status write_gates(const struct as_cell *c, struct as_buf *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (int g = 0; g < AS_GATE_N && !st; g++) {
        as_buf_printf(out, "%c\"%s\":", g ? ',' : '{', as_gate_name((enum as_gate)g));
        st = as_fields_write(&as_gate_fields, &c->gates[g], NULL, NULL, out, err);
    }
    as_buf_char(out, '}');
    return st;
}

static enum as_status write_cell_other(void *user, const char *name, struct as_buf *out, struct as_error *err)
{
    const struct cell_out *c = user;
    if (strcmp(name, "id") == 0)
        as_buf_printf(out, "%lld", (long long)c->cell->id);
    else if (strcmp(name, "driver") == 0 && c->driver)
        as_buf_json_str(out, c->driver);
    else if (strcmp(name, "driver") == 0)
        as_buf_str(out, "null");
    else if (strcmp(name, "axes") == 0)
        as_axes_to_json(&c->cell->axes, out);
    else if (strcmp(name, "key") == 0)
        as_buf_printf(out, "\"%016llx\"", (unsigned long long)c->cell->key);
    else if (strcmp(name, "samples") == 0)
        write_samples(c->cell->samples, c->cell->sum.n, out);
    else if (strcmp(name, "gates") == 0)
        return write_gates(c->cell, out, err);
    else if (strcmp(name, "trials") == 0)
        return write_trials(c, out, err);
    else { /* sample_trials */
        for (size_t i = 0; i < c->cell->sum.n; i++)
            as_buf_printf(out, "%c%d", i ? ',' : '[', c->cell->sample_trial[i]);
        as_buf_str(out, c->cell->sum.n ? "]" : "[]");
    }
    return AS_OK;
}

static const char *driver_of(const json_t *devices, const char *id)
{
    size_t i;
    json_t *device;
    json_array_foreach((json_t *)devices, i, device)
    {
        const char *name = json_string_value(json_object_get(device, "id"));
        if (name && strcmp(name, id) == 0)
            return json_string_value(json_object_get(device, "driver"));
    }
    return NULL;
}

struct list {
    struct as_store *store;
    const json_t *devices;
    const struct as_sink *sink;
    size_t written;
};

static enum as_status export_json_write_cell(void *user, struct as_cell *cell, struct as_error *err)
{
    struct list *list = user;
    struct as_trial *trials = NULL;
    struct cell_out c = {.cell = cell, .driver = driver_of(list->devices, cell->device)};
    enum as_status st = as_store_trials(list->store, 0, cell->id, &trials, &c.trials_n, err);
    c.trials = trials;
    as_buf_str(list->sink->out, list->written++ ? ",\n" : "\n");
    if (!st)
        st = as_fields_write(&as_cell_fields, cell, write_cell_other, &c, list->sink->out, err);
    as_trials_free(trials, c.trials_n);
    return st ? st : as_sink_pass(list->sink, false, err);
}

/* probe NULL: all that were asked for. */
static enum as_status write_cells(struct list list, int64_t run_id, const char *probe, struct as_error *err)
{
    const struct as_cell_filter filter = {.run_id = run_id, .probe = probe, .hidden = probe != NULL, .with_samples = 1};
    as_buf_char(list.sink->out, '[');
    enum as_status st = as_store_each_cell(list.store, &filter, export_json_write_cell, &list, err);
    as_buf_str(list.sink->out, "\n]");
    return st;
}

static enum as_status write_run_other(void *user, const char *name, struct as_buf *out, struct as_error *err)
{
    const struct as_run *run = user;
    (void)name, (void)err; /* "id" is the only one */
    as_buf_printf(out, "%lld", (long long)run->id);
    return AS_OK;
}

static enum as_status write_document(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                                     struct as_error *err)
{
    json_t *devices = run->devices ? json_loads(run->devices, 0, NULL) : NULL;
    const struct list list = {.store = store, .devices = devices, .sink = sink};
    as_buf_printf(sink->out, "{\"format_version\":%d,\n\"run\":", AS_EXPORT_FORMAT);
    enum as_status st = as_fields_write(&as_run_fields, run, write_run_other, (void *)run, sink->out, err);
    as_buf_str(sink->out, ",\n\"cells\":");
    if (!st)
        st = write_cells(list, run->id, NULL, err);
    as_buf_str(sink->out, ",\n\"sentinels\":");
    if (!st)
        st = write_cells(list, run->id, AS_HIDDEN_PROBE, err);
    as_buf_str(sink->out, "}\n");
    json_decref(devices);
    return st ? st : as_sink_pass(sink, true, err);
}

enum as_status as_sink_pass(const struct as_sink *sink, bool end, struct as_error *err)
{
    enum { PART = 1 << 16 };
    enum as_status st = as_buf_check(sink->out, err);
    if (st || !sink->write || (sink->out->len < PART && !end))
        return st;
    st = sink->write(sink->user, as_buf_get(sink->out), sink->out->len, err);
    as_buf_clear(sink->out);
    return st;
}

enum as_status as_store_export_json(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                                    struct as_error *err)
{
    bool begun;
    enum as_status st = as_begin_read(store, &begun, err);
    if (st)
        return st;
    st = write_document(store, run, sink, err);
    return begun ? as_end(store, st, err) : st;
}
