/* The model of a probe's table. */
#include "report/model/probe_table.h"

#include "base/text.h"
#include "report/model/further.h"

#include <stdlib.h>

static const struct as_column *probe_table_column(const struct as_probe_table *t, size_t index)
{
    return index == AS_PROBE_TABLE_METRIC ? &t->c.metric : &t->c.axes[index];
}

/* qsort passes no context; only one thread at a time writes a table. */
static _Thread_local const struct as_probe_table *sorting;

static int compare_columns(const struct as_columns *c, size_t a, size_t b, bool words)
{
    for (size_t i = 0; i < c->axes_n; i++) {
        const struct as_column *k = &c->axes[i];
        if (k->numbers != words && k->rank[a] != k->rank[b])
            return k->rank[a] < k->rank[b] ? -1 : 1;
    }
    return 0;
}

static int same_place(const struct as_columns *c, size_t a, size_t b)
{
    if (c->device.rank[a] != c->device.rank[b])
        return c->device.rank[a] < c->device.rank[b] ? -1 : 1;
    if (c->metric.rank[a] != c->metric.rank[b])
        return c->metric.rank[a] < c->metric.rank[b] ? -1 : 1;
    int words = compare_columns(c, a, b, true);
    return words ? words : compare_columns(c, a, b, false);
}

static int probe_table_by_place(const void *pa, const void *pb)
{
    size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
    int place = same_place(&sorting->c, a, b);
    return place ? place : a < b ? -1 : a > b; /* rows come in order of runs */
}

static enum as_status sort_rows(struct as_probe_table *t, struct as_error *err)
{
    t->order = calloc(t->c.rows_n ? t->c.rows_n : 1, sizeof *t->order);
    if (!t->order)
        return as_nomem(err, t->c.rows_n * sizeof *t->order, "table order");
    for (size_t i = 0; i < t->c.rows_n; i++)
        t->order[i] = i;
    sorting = t;
    qsort(t->order, t->c.rows_n, sizeof *t->order, probe_table_by_place);
    sorting = NULL;
    return AS_OK;
}

static bool varies(const struct as_probe_table *t, const struct as_column *k, size_t from, size_t to)
{
    for (size_t i = from + 1; i < to; i++)
        if (k->rank[t->order[i]] != k->rank[t->order[from]])
            return true;
    return false;
}

static bool same_words(const struct as_probe_table *t, size_t a, size_t b)
{
    for (size_t i = 0; i < t->words_n; i++)
        if (probe_table_column(t, t->words[i])->rank[a] != probe_table_column(t, t->words[i])->rank[b])
            return false;
    return true;
}

/* Decides the columns for one device's rows order[from..to). */
static void choose_columns(struct as_probe_table *t, size_t from, size_t to)
{
    t->words_n = t->numbers_n = 0;
    if (varies(t, &t->c.metric, from, to))
        t->words[t->words_n++] = AS_PROBE_TABLE_METRIC;
    for (size_t i = 0; i < t->c.axes_n; i++) {
        if (!varies(t, &t->c.axes[i], from, to))
            continue;
        if (t->c.axes[i].numbers)
            t->numbers[t->numbers_n++] = i;
        else
            t->words[t->words_n++] = i;
    }
    size_t groups = 1;
    for (size_t i = from + 1; i < to; i++)
        groups += !same_words(t, t->order[i], t->order[i - 1]);
    t->grouped = t->words_n > 0 && t->numbers_n > 0 && to - from >= 3 * groups;
}

/* ---- interface of page and terminal ---- */

enum as_status as_probe_table_make(const struct as_report_run *runs, size_t runs_n, const char *probe,
                                   struct as_probe_table *t, struct as_error *err)
{
    *t = (struct as_probe_table){0};
    enum as_status st = as_columns_make(runs, runs_n, probe, &t->c, err);
    if (st)
        return st;
    st = sort_rows(t, err);
    if (st)
        as_columns_finish(&t->c);
    return st;
}

void as_probe_table_finish(struct as_probe_table *t)
{
    free(t->order);
    as_columns_finish(&t->c);
}

size_t as_probe_table_device(struct as_probe_table *t, size_t from)
{
    size_t to = from + 1;
    while (to < t->c.rows_n && t->c.device.rank[t->order[to]] == t->c.device.rank[t->order[from]])
        to++;
    choose_columns(t, from, to);
    return to;
}

size_t as_probe_table_line(const struct as_probe_table *t, size_t from, size_t to)
{
    size_t i = from + 1;
    while (i < to && same_place(&t->c, t->order[from], t->order[i]) == 0 &&
           t->c.rows[t->order[i]].run > t->c.rows[t->order[i - 1]].run)
        i++;
    return i;
}

const char *as_axis_words(const char *name, char out[static AS_AXIS_WORDS])
{
    as_copy_text(out, AS_AXIS_WORDS, name);
    for (char *c = out; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    return out;
}

static void write_axis(const struct as_column *k, size_t row, struct as_buf *out)
{
    as_axis_write(out, k->axis, &k->values[k->rank[row]], as_buf_str);
}

static void write_named_axis(const struct as_column *k, size_t row, struct as_buf *out)
{
    char words[AS_AXIS_WORDS];
    as_buf_printf(out, "%s%s ", out->len ? ", " : "", as_axis_words(k->name, words));
    write_axis(k, row, out);
}

void as_probe_table_common(const struct as_probe_table *t, size_t from, size_t to, struct as_buf *out)
{
    for (size_t i = 0; i < t->c.axes_n; i++)
        if (!varies(t, &t->c.axes[i], from, to))
            write_named_axis(&t->c.axes[i], t->order[from], out);
}

void as_probe_table_group(const struct as_probe_table *t, size_t row, struct as_buf *out)
{
    for (size_t i = 0; i < t->words_n; i++)
        write_named_axis(probe_table_column(t, t->words[i]), row, out);
}

bool as_probe_table_new_group(const struct as_probe_table *t, size_t from, size_t i)
{
    return t->grouped && (i == from || !same_words(t, t->order[i], t->order[i - 1]));
}

/* ---- one run ---- */

static void add_title(struct as_view_table *out, const char *title, struct as_view_column column)
{
    char words[AS_AXIS_WORDS];
    as_copy_text(column.title, sizeof column.title, as_axis_words(title, words));
    as_view_add_column(out, column);
}

static void add_axes(const struct as_probe_table *t, struct as_view_table *out)
{
    for (size_t i = 0; i < as_probe_table_axes(t); i++) {
        const struct as_column *k = as_probe_table_axis(t, i);
        add_title(out, k->name, (struct as_view_column){.number = k->numbers});
    }
}

size_t as_probe_table_axes(const struct as_probe_table *t)
{
    return (t->grouped ? 0 : t->words_n) + t->numbers_n;
}

const struct as_column *as_probe_table_axis(const struct as_probe_table *t, size_t i)
{
    const size_t words = t->grouped ? 0 : t->words_n;
    return probe_table_column(t, i < words ? t->words[i] : t->numbers[i - words]);
}

enum { MODE_DIGITS = 3 }; /* centres of clusters, also of counts */

static void probe_table_write_status(const struct as_cell *c, struct as_buf *out)
{
    as_buf_str(out, as_cell_status_said(c->status));
    as_report_failed_gates(c, out);
    if (c->sum.modes == 2) {
        as_buf_str(out, "; two modes ");
        as_format_value_to(out, c->sum.mode[0], c->unit, MODE_DIGITS);
        as_buf_str(out, " and ");
        as_format_value_to(out, c->sum.mode[1], c->unit, MODE_DIGITS);
    }
}

static void probe_table_add_further(void *user, const char *value)
{
    as_view_text(user, value, AS_PAINT_NONE);
}

static void view_cell(const struct as_probe_table *t, const struct as_further *further, size_t row,
                      struct as_view_table *out)
{
    const struct as_cell *c = t->c.rows[row].cell;
    struct as_buf text = AS_BUF_INIT;
    as_view_begin_cell(out, c);
    for (size_t i = 0; i < as_probe_table_axes(t); i++) {
        as_buf_clear(&text);
        write_axis(as_probe_table_axis(t, i), row, &text);
        as_view_text(out, as_buf_get(&text), AS_PAINT_NONE);
    }
    as_view_measured(out, c, NULL);
    as_view_interval(out, c);
    as_further_row(further, c, probe_table_add_further, out);
    const size_t counts[] = {c->sum.n, c->sum.trials};
    for (size_t i = 0; i < 2; i++) {
        as_buf_clear(&text);
        as_buf_printf(&text, "%zu", counts[i]);
        as_view_text(out, as_buf_get(&text), AS_PAINT_NONE);
    }
    as_buf_clear(&text);
    probe_table_write_status(c, &text);
    as_view_text(out, as_buf_get(&text), as_status_paint(c->status));
    out->failed |= text.failed;
    as_buf_finish(&text);
}

void as_probe_table_view(const struct as_probe_table *t, size_t from, size_t to, as_further_collect_fn collect,
                         struct as_view_table *out)
{
    struct as_further further = {.n = 0};
    struct as_buf group = AS_BUF_INIT;
    const bool metrics = t->words_n && t->words[0] == AS_PROBE_TABLE_METRIC;
    *out = (struct as_view_table){.of_cells = true};
    for (size_t i = from; i < to; i++)
        collect(&further, t->c.rows[t->order[i]].cell);
    add_axes(t, out);
    add_title(out, metrics ? "value" : t->c.rows[t->order[from]].cell->metric, (struct as_view_column){.number = true});
    add_title(out, "95% interval", (struct as_view_column){.number = true});
    for (size_t i = 0; i < further.n; i++)
        add_title(out, further.names[i], (struct as_view_column){.number = true});
    add_title(out, "samples", (struct as_view_column){.number = true, .spare = true});
    add_title(out, "trials", (struct as_view_column){.number = true, .spare = true, .brief = true});
    add_title(out, "status", (struct as_view_column){.number = false});
    for (size_t i = from; i < to; i++) {
        view_cell(t, &further, t->order[i], out);
        if (!as_probe_table_new_group(t, from, i))
            continue;
        as_buf_clear(&group);
        as_probe_table_group(t, t->order[i], &group);
        as_view_group(out, as_buf_get(&group));
    }
    out->failed |= group.failed;
    as_buf_finish(&group);
}
