/* Export: a row per cell and one per further metric of it, with a column per axis; the notes as one of JSON. */
#include "store/sql.h"

#include "base/clock.h"
#include "base/text.h"
#include "model/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of identity come before the axes, the others after them. */
static bool is_before_axes(const struct as_field *f)
{
    return strcmp(f->csv, "backend") == 0 || strcmp(f->csv, "device") == 0 || strcmp(f->csv, "probe") == 0;
}

struct columns {
    char (*names)[sizeof((struct as_axis_value *)0)->name];
    size_t n, cap;
};

static enum as_status collect_axes(void *user, struct as_cell *cell, struct as_error *err)
{
    struct columns *columns = user;
    for (size_t a = 0; a < cell->axes.n; a++) {
        const char *name = cell->axes.v[a].name;
        size_t k = 0;
        while (k < columns->n && strcmp(columns->names[k], name) != 0)
            k++;
        if (k < columns->n)
            continue;
        enum as_status st =
            as_grow((void **)&columns->names, &columns->cap, columns->n + 1, sizeof *columns->names, err);
        if (st)
            return st;
        as_copy_text(columns->names[columns->n++], sizeof *columns->names, name);
    }
    return AS_OK;
}

/* An axis may have the name of a column. */
static bool is_column(const char *name)
{
    static const char *const others[] = {"run", "cell", "failed_gates", "answer", "notes"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], name) == 0)
            return true;
    for (size_t i = 0; i < as_cell_fields.n; i++)
        if (as_cell_fields.v[i].csv && strcmp(as_cell_fields.v[i].csv, name) == 0)
            return true;
    return false;
}

static void write_names(bool before, struct as_buf *out)
{
    for (size_t i = 0; i < as_cell_fields.n; i++)
        if (as_cell_fields.v[i].csv && is_before_axes(&as_cell_fields.v[i]) == before)
            as_buf_printf(out, ",%s", as_cell_fields.v[i].csv);
}

static void export_csv_write_head(const struct columns *columns, struct as_buf *out)
{
    as_buf_str(out, "run,cell");
    write_names(true, out);
    for (size_t i = 0; i < columns->n; i++) {
        as_buf_str(out, is_column(columns->names[i]) ? ",axis_" : ",");
        as_buf_csv(out, columns->names[i]);
    }
    write_names(false, out);
    as_buf_str(out, ",failed_gates,answer,notes\r\n");
}

static void export_csv_text(struct as_buf *out, const char *s)
{
    as_buf_char(out, ',');
    as_buf_csv(out, s);
}

/* An empty field where there is no number. */
static void export_csv_number(struct as_buf *out, double v)
{
    as_buf_char(out, ',');
    if (isfinite(v))
        as_json_number(out, v);
}

static void export_csv_axis(struct as_buf *out, const struct as_axis_value *v)
{
    if (v && isfinite(v->number)) {
        as_buf_char(out, ',');
        as_buf_str(out, v->text); /* a number, also a negative one, is no formula */
    } else {
        export_csv_text(out, v ? v->text : "");
    }
}

static void write_time(struct as_buf *out, double wall)
{
    char when[32] = "";
    if (wall > 0)
        as_format_wall(wall, when, sizeof when);
    export_csv_text(out, when);
}

static void write_failed_gates(const struct as_cell *c, struct as_buf *out)
{
    const char *separator = "";
    as_buf_char(out, ',');
    for (int g = 0; g < AS_GATE_N; g++)
        if (c->gates[g].state == AS_GATE_FAIL) {
            as_buf_printf(out, "%s%s", separator, as_gate_name((enum as_gate)g));
            separator = " ";
        }
}

static void write_causes(unsigned causes, struct as_buf *out)
{
    struct as_buf words = AS_BUF_INIT;
    as_causes_text(causes, &words);
    export_csv_text(out, as_buf_get(&words));
    out->failed |= words.failed;
    as_buf_finish(&words);
}

static void write_field(const struct as_field *f, const struct as_cell *c, struct as_buf *out)
{
    const void *at = as_field_at(f, c);
    switch (f->kind) {
    case AS_FIELD_TEXT:
    case AS_FIELD_TEXT_OR_NULL:
        export_csv_text(out, at);
        break;
    case AS_FIELD_WORD:
    case AS_FIELD_WORD_FLAG:
        export_csv_text(out, f->word(*(const int *)at));
        break;
    case AS_FIELD_CAUSES:
        write_causes(*(const unsigned *)at, out);
        break;
    case AS_FIELD_REAL:
        export_csv_number(out, *(const double *)at);
        break;
    case AS_FIELD_TIME:
        write_time(out, *(const double *)at);
        break;
    case AS_FIELD_SIZE:
        export_csv_number(out, (double)*(const size_t *)at);
        break;
    case AS_FIELD_U64:
        export_csv_number(out, (double)*(const uint64_t *)at);
        break;
    default: /* no other kind is in CSV */
        break;
    }
}

static void write_fields(const struct as_cell *c, bool before, struct as_buf *out)
{
    for (size_t i = 0; i < as_cell_fields.n; i++)
        if (as_cell_fields.v[i].csv && is_before_axes(&as_cell_fields.v[i]) == before)
            write_field(&as_cell_fields.v[i], c, out);
}

static void export_csv_write_row(const struct as_cell *c, const struct columns *columns, struct as_buf *out)
{
    as_buf_printf(out, "%lld,%lld", (long long)c->run_id, (long long)c->id);
    write_fields(c, true, out);
    for (size_t i = 0; i < columns->n; i++)
        export_csv_axis(out, as_axes_get(&c->axes, columns->names[i]));
    write_fields(c, false, out);
    write_failed_gates(c, out);
    char answer[64];
    export_csv_text(out, as_cell_answer(c, c->sum.median, answer));
    export_csv_text(out, c->detail ? c->detail : "");
    as_buf_str(out, "\r\n");
}

struct csv {
    struct columns columns;
    const struct as_sink *sink;
};

/* The row of a further metric: what its trials say, and of the cell what is true for both. */
static void write_metric(const struct as_cell *cell, const struct as_metric_value *v, const struct columns *columns,
                         struct as_buf *out)
{
    struct as_cell c = *cell;
    as_copy_text(c.metric, sizeof c.metric, v->name);
    as_copy_text(c.unit, sizeof c.unit, v->unit);
    as_copy_text(c.counts, sizeof c.counts, v->counts);
    c.lower_is_better = v->lower_is_better;
    c.causes = 0;
    c.detail = NULL; /* stands in the cell's own row */
    c.sum = (struct as_summary){.n = v->trials,
                                .trials = v->trials,
                                .median = v->value,
                                .ci = v->ci,
                                .mad = NAN,
                                .min = NAN,
                                .max = NAN,
                                .modes = 1};
    c.precision = c.exponent = c.raw_low = c.raw_high = c.limit = NAN;
    export_csv_write_row(&c, columns, out);
}

static enum as_status export_csv_write_cell(void *user, struct as_cell *cell, struct as_error *err)
{
    const struct csv *csv = user;
    struct as_metric_value further[AS_METRICS_MAX];
    const size_t n = as_cell_metrics(cell, further);
    export_csv_write_row(cell, &csv->columns, csv->sink->out);
    for (size_t i = 0; i < n; i++)
        write_metric(cell, &further[i], &csv->columns, csv->sink->out);
    return as_sink_pass(csv->sink, false, err);
}

enum as_status as_store_export_csv(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                                   struct as_error *err)
{
    struct csv csv = {.sink = sink};
    bool begun;
    enum as_status st = as_begin_read(store, &begun, err);
    if (st)
        return st;
    st = as_store_each_brief(store, run->id, collect_axes, &csv.columns, err);
    if (!st) {
        export_csv_write_head(&csv.columns, sink->out);
        st = as_store_each_cell(store, &(struct as_cell_filter){.run_id = run->id}, export_csv_write_cell, &csv, err);
    }
    free(csv.columns.names);
    if (!st)
        st = as_sink_pass(sink, true, err);
    return begun ? as_end(store, st, err) : st;
}
