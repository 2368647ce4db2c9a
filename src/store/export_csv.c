/* Export: one row a cell, one column an axis. */
/* Names of stored columns and JSON members; words: keep visits */
#include "store/fields.h"
#include "store/sql.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const before[] = {"run", "cell", "backend", "device", "probe", NULL};
static const char *const after[] = {
    "metric",  "unit",     "counts", "better",   "precision", "status",     "causes",       "reason", "n",
    "visits",  "median",   "ci_low", "ci_high",  "mad",       "min",        "max",          "modes",  "clock_exponent",
    "raw_low", "raw_high", "limit",  "clock_hz", "footprint", "started_at", "failed_gates", NULL};

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
        enum as_status s =
            as_grow((void **)&columns->names, &columns->cap, columns->n + 1, sizeof *columns->names, err);
        if (s)
            return s;
        as_copy_text(columns->names[columns->n++], sizeof *columns->names, name);
    }
    return AS_OK;
}

static bool is_among(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static void write_head(const struct columns *columns, struct as_buf *out)
{
    for (size_t i = 0; before[i]; i++)
        as_buf_printf(out, "%s%s", i ? "," : "", before[i]);
    for (size_t i = 0; i < columns->n; i++) {
        const char *name = columns->names[i];
        as_buf_str(out, is_among(before, name) || is_among(after, name) ? ",axis_" : ",");
        as_buf_csv(out, name);
    }
    for (size_t i = 0; after[i]; i++)
        as_buf_printf(out, ",%s", after[i]);
    as_buf_str(out, "\r\n");
}

static void text(struct as_buf *out, const char *s)
{
    as_buf_char(out, ',');
    as_buf_csv(out, s);
}

/* An empty field where there is no number. */
static void number(struct as_buf *out, double v)
{
    as_buf_char(out, ',');
    if (isfinite(v))
        as_json_number(out, v);
}

static void axis(struct as_buf *out, const struct as_axis_value *v)
{
    if (v && isfinite(v->number)) {
        as_buf_char(out, ',');
        as_buf_str(out, v->text); /* a number, also a negative one, is no formula */
    } else {
        text(out, v ? v->text : "");
    }
}

static void write_time(struct as_buf *out, double wall)
{
    char when[32] = "";
    if (wall > 0)
        as_format_wall(wall, when, sizeof when);
    text(out, when);
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

static void write_row(const struct as_cell *c, const struct columns *columns, struct as_buf *out)
{
    as_buf_printf(out, "%lld,%lld", (long long)c->run_id, (long long)c->id);
    text(out, c->backend);
    text(out, c->device);
    text(out, c->probe);
    for (size_t i = 0; i < columns->n; i++)
        axis(out, as_axes_get(&c->axes, columns->names[i]));
    text(out, c->metric);
    text(out, c->unit);
    text(out, c->counts);
    text(out, c->lower_is_better ? "less" : "more");
    number(out, c->precision);
    text(out, as_cell_status_word(c->status));
    struct as_buf causes = AS_BUF_INIT;
    as_causes_text(c->causes, &causes);
    text(out, as_buf_get(&causes));
    out->failed |= causes.failed;
    as_buf_finish(&causes);
    text(out, c->reason);
    number(out, (double)c->sum.n);
    number(out, (double)c->sum.trials);
    const double values[] = {c->sum.median, c->sum.ci.lo, c->sum.ci.hi, c->sum.mad, c->sum.min, c->sum.max};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        number(out, values[i]);
    number(out, c->sum.n ? (double)c->sum.modes : NAN);
    number(out, c->exponent);
    number(out, c->raw_low);
    number(out, c->raw_high);
    number(out, c->limit);
    number(out, c->clock_hz);
    number(out, (double)c->footprint);
    write_time(out, c->started_at);
    write_failed_gates(c, out);
    as_buf_str(out, "\r\n");
}

struct csv {
    struct columns columns;
    const struct as_sink *sink;
};

static enum as_status write_cell(void *user, struct as_cell *cell, struct as_error *err)
{
    const struct csv *csv = user;
    write_row(cell, &csv->columns, csv->sink->out);
    return as_sink_pass(csv->sink, false, err);
}

enum as_status as_store_export_csv(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                                   struct as_error *err)
{
    struct csv csv = {.sink = sink};
    bool begun;
    enum as_status s = as_begin_read(store, &begun, err);
    if (s)
        return s;
    s = as_store_each_brief(store, run->id, collect_axes, &csv.columns, err);
    if (!s) {
        write_head(&csv.columns, sink->out);
        s = as_store_each_cell(store, &(struct as_cell_filter){.run_id = run->id}, write_cell, &csv, err);
    }
    free(csv.columns.names);
    if (!s)
        s = as_sink_pass(sink, true, err);
    return begun ? as_end(store, s, err) : s;
}
