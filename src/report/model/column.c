#include "report/model/column.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a column reads from a cell. */
typedef struct as_axis_value (*read_fn)(const struct as_cell *cell, const char *name);

static struct as_axis_value column_word(const char *text)
{
    struct as_axis_value v = {.number = NAN};
    as_copy_text(v.text, sizeof v.text, text);
    return v;
}

static struct as_axis_value column_read_device(const struct as_cell *cell, const char *name)
{
    (void)name;
    return column_word(cell->device);
}

static struct as_axis_value read_metric(const struct as_cell *cell, const char *name)
{
    (void)name;
    return column_word(cell->metric);
}

static struct as_axis_value read_axis(const struct as_cell *cell, const char *name)
{
    const struct as_axis_value *v = as_axes_get(&cell->axes, name);
    return v ? *v : column_word("–");
}

struct item {
    struct as_axis_value value;
    size_t row;
};

static int column_by_value(const void *pa, const void *pb)
{
    const struct item *a = pa, *b = pb;
    double x = a->value.number, y = b->value.number;
    if (isfinite(x) && isfinite(y) && x != y)
        return x < y ? -1 : 1;
    if (isfinite(x) != isfinite(y))
        return isfinite(x) ? -1 : 1;
    int c = strcmp(a->value.text, b->value.text);
    return c ? c : a->row < b->row ? -1 : a->row > b->row;
}

static int by_row(const void *pa, const void *pb)
{
    const struct item *a = pa, *b = pb;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Keeps the first item of each value; *numbers: all are numbers. */
static size_t keep_distinct(const struct item *items, size_t n, struct item *firsts, bool *numbers)
{
    size_t distinct = 0;
    *numbers = n > 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(items[i].value.text, items[i - 1].value.text) != 0)
            firsts[distinct++] = items[i];
        if (!isfinite(items[i].value.number))
            *numbers = false;
    }
    return distinct;
}

static enum as_status make_column(const struct as_columns *c, const char *name, read_fn read, struct as_column *out,
                                  struct as_error *err)
{
    enum as_status st = AS_OK;
    size_t n = c->rows_n, room = n ? n : 1;
    struct item *items = calloc(room, sizeof *items), *firsts = calloc(room, sizeof *firsts);
    uint32_t *place = calloc(room, sizeof *place); /* first row of a value -> its rank */
    out->name = name;
    out->axis = c->probe ? as_probe_axis(c->probe, name) : NULL;
    out->rank = calloc(room, sizeof *out->rank);
    if (!items || !firsts || !place || !out->rank) {
        st = as_nomem(err, room * sizeof *items, "table columns");
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        items[i] = (struct item){read(c->rows[i].cell, name), i};
    qsort(items, n, sizeof *items, column_by_value);
    out->distinct = keep_distinct(items, n, firsts, &out->numbers);
    if (!out->numbers)
        qsort(firsts, out->distinct, sizeof *firsts, by_row);
    out->values = calloc(out->distinct ? out->distinct : 1, sizeof *out->values);
    if (!out->values) {
        st = as_nomem(err, out->distinct * sizeof *out->values, "table columns");
        goto done;
    }
    for (size_t k = 0; k < out->distinct; k++) {
        out->values[k] = firsts[k].value;
        place[firsts[k].row] = (uint32_t)k;
    }
    for (size_t i = 0, first = 0; i < n; i++) {
        if (i == 0 || strcmp(items[i].value.text, items[i - 1].value.text) != 0)
            first = items[i].row;
        out->rank[items[i].row] = place[first];
    }
done:
    free(items);
    free(firsts);
    free(place);
    return st;
}

static enum as_status column_collect(const struct as_report_run *runs, size_t runs_n, const char *probe,
                                     struct as_columns *out, struct as_error *err)
{
    size_t n = 0;
    for (size_t r = 0; r < runs_n; r++)
        for (size_t i = 0; i < runs[r].cells_n; i++)
            n += strcmp(runs[r].cells[i].probe, probe) == 0 && as_report_is_measured(&runs[r].cells[i]);
    out->rows_n = 0;
    out->rows = calloc(n ? n : 1, sizeof *out->rows);
    if (!out->rows)
        return as_nomem(err, n * sizeof *out->rows, "table rows");
    for (size_t r = 0; r < runs_n; r++)
        for (size_t i = 0; i < runs[r].cells_n; i++)
            if (strcmp(runs[r].cells[i].probe, probe) == 0 && as_report_is_measured(&runs[r].cells[i]))
                out->rows[out->rows_n++] = (struct as_row){&runs[r].cells[i], r};
    return AS_OK;
}

/* Axis names of all rows, in order of first appearance: runs of two versions may differ in axes. */
static size_t axis_names(const struct as_columns *c, const char *names[static AS_AXES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < c->rows_n; i++) {
        const struct as_axes *axes = &c->rows[i].cell->axes;
        for (size_t a = 0; a < axes->n && a < AS_AXES_MAX; a++) {
            size_t k = 0;
            while (k < n && strcmp(names[k], axes->v[a].name) != 0)
                k++;
            if (k == n && n < AS_AXES_MAX)
                names[n++] = axes->v[a].name;
        }
    }
    return n;
}

enum as_status as_columns_make(const struct as_report_run *runs, size_t runs_n, const char *probe,
                               struct as_columns *out, struct as_error *err)
{
    const char *names[AS_AXES_MAX] = {0};
    *out = (struct as_columns){.probe = as_probe_find(probe)};
    enum as_status st = column_collect(runs, runs_n, probe, out, err);
    if (st != AS_OK)
        goto fail;
    size_t n = axis_names(out, names);
    out->axes_n = 0;
    out->axes = calloc(n ? n : 1, sizeof *out->axes);
    if (!out->axes) {
        st = as_nomem(err, n * sizeof *out->axes, "table columns");
        goto fail;
    }
    if ((st = make_column(out, "device", column_read_device, &out->device, err)) != AS_OK)
        goto fail;
    if ((st = make_column(out, "metric", read_metric, &out->metric, err)) != AS_OK)
        goto fail;
    for (; out->axes_n < n; out->axes_n++) {
        st = make_column(out, names[out->axes_n], read_axis, &out->axes[out->axes_n], err);
        if (st != AS_OK) {
            out->axes_n++;
            goto fail;
        }
    }
    return AS_OK;
fail:
    as_columns_finish(out);
    return st;
}

static void finish_column(struct as_column *c)
{
    free(c->values);
    free(c->rank);
}

void as_columns_finish(struct as_columns *c)
{
    for (size_t i = 0; i < c->axes_n; i++)
        finish_column(&c->axes[i]);
    finish_column(&c->device);
    finish_column(&c->metric);
    free(c->axes);
    free(c->rows);
    *c = (struct as_columns){0};
}

void as_axis_write(struct as_buf *b, const struct as_axis *axis, const struct as_axis_value *v,
                   void (*escape)(struct as_buf *b, const char *text))
{
    const bool size = axis ? axis->type == AS_AXIS_SIZE : strcmp(v->name, "size") == 0;
    if (size && v->number >= 0 && v->number < 1.8e19)
        as_format_size(b, (uint64_t)v->number);
    else
        escape(b, axis && axis->zero && v->number == 0 ? axis->zero : v->text);
}
