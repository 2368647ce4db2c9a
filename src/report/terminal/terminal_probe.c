/* All cells of one probe: a plot over sizes, an aligned table, and what was not measured. */
#include "base/text.h"
#include "report/model/access.h"
#include "report/model/pairs.h"
#include "report/model/probe_table.h"
#include "report/operations/instructions.h"
#include "report/operations/operations.h"
#include "report/terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct view {
    const struct as_report_run *run;
    const struct as_probe *probe; /* NULL: this build does not know it */
    const struct as_cell **cells; /* of the probe, in order of the plan; owned */
    size_t n;
    bool measured; /* has any cell a number? Then the following is said of those that have */
    const struct as_cell *first;
    const struct as_axes *axes; /* of the first cell */
    bool varies[AS_AXES_MAX];   /* does this axis have more than one value? */
    bool devices;               /* is there more than one device? */
    int size;                   /* index of the axis that is x of the plot, -1 none */
    const struct as_table_style *style;
};

static bool is_size(const struct as_probe *probe, const char *name)
{
    const struct as_axis *axis = probe ? as_probe_axis(probe, name) : NULL;
    return axis ? axis->type == AS_AXIS_SIZE : strcmp(name, "size") == 0;
}

static enum as_status view_init(struct view *v, const struct as_report_run *run, const char *probe,
                                struct as_error *err)
{
    v->cells = calloc(run->cells_n + 1, sizeof(struct as_cell *));
    if (!v->cells)
        return as_nomem(err, (run->cells_n + 1) * sizeof(struct as_cell *), "a table");
    for (size_t i = 0; i < run->cells_n; i++)
        if (strcmp(run->cells[i].probe, probe) == 0)
            v->cells[v->n++] = &run->cells[i];
    v->size = -1;
    if (v->n == 0)
        return AS_OK;
    size_t first = 0;
    while (first < v->n && !as_report_is_measured(v->cells[first]))
        first++;
    v->measured = first < v->n;
    v->first = v->cells[v->measured ? first : 0];
    v->axes = &v->first->axes;
    for (size_t i = 0; i < v->n; i++) {
        if (v->measured && !as_report_is_measured(v->cells[i]))
            continue;
        v->devices |= strcmp(v->cells[i]->device, v->first->device) != 0;
        for (size_t a = 0; a < v->axes->n; a++)
            v->varies[a] |= strcmp(as_axes_text(&v->cells[i]->axes, v->axes->v[a].name), v->axes->v[a].text) != 0;
    }
    for (size_t a = 0; a < v->axes->n && v->size < 0; a++)
        if (v->varies[a] && is_size(v->probe, v->axes->v[a].name))
            v->size = (int)a;
    return AS_OK;
}

static bool is_first_of_its_metric(const struct view *v, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(v->cells[k]->metric, v->cells[i]->metric) == 0)
            return false;
    return true;
}

/* "counts loads", or for several metrics a line each: "bandwidth counts bytes". */
static void write_counts(const struct view *v, struct as_buf *out)
{
    size_t metrics = 0;
    for (size_t i = 0; i < v->n; i++)
        metrics += is_first_of_its_metric(v, i);
    for (size_t i = 0; i < v->n; i++) {
        struct as_buf line = AS_BUF_INIT;
        if (!is_first_of_its_metric(v, i))
            continue;
        if (metrics > 1)
            as_buf_terminal(&line, v->cells[i]->metric);
        as_buf_str(&line, metrics > 1 ? " counts " : "counts ");
        as_buf_terminal(&line, v->cells[i]->counts);
        as_text_fill(out, as_buf_get(&line), v->style->width, 0, 0);
        out->failed |= line.failed;
        as_buf_finish(&line);
    }
}

/* "cpu op=triad": what tells one series from another. */
static void series_name(const struct view *v, const struct as_cell *c, struct as_buf *out)
{
    const char *lead = "";
    if (v->devices) {
        as_buf_terminal(out, c->device);
        lead = " ";
    }
    for (size_t a = 0; a < v->axes->n; a++) {
        if (!v->varies[a] || (int)a == v->size)
            continue;
        const struct as_axis_value *value = as_axes_get(&c->axes, v->axes->v[a].name);
        as_buf_str(out, lead);
        as_buf_terminal(out, v->axes->v[a].name);
        as_buf_char(out, '=');
        if (value)
            as_text_axis(out, value, v->probe);
        lead = " ";
    }
}

struct plot {
    struct as_series series[AS_PLOT_SERIES_MAX];
    double *x[AS_PLOT_SERIES_MAX], *y[AS_PLOT_SERIES_MAX];
    bool *hollow[AS_PLOT_SERIES_MAX];
    char *name[AS_PLOT_SERIES_MAX];
    size_t n, left_out; /* cells of series for which there is no mark */
};

static void plot_finish(struct plot *p)
{
    for (size_t i = 0; i < p->n; i++) {
        free(p->x[i]);
        free(p->y[i]);
        free(p->hollow[i]);
        free(p->name[i]);
    }
}

static enum as_status plot_add(struct plot *p, const struct view *v, const struct as_cell *c, struct as_error *err)
{
    struct as_buf name = AS_BUF_INIT;
    series_name(v, c, &name);
    enum as_status st = as_buf_check(&name, err);
    size_t i = 0;
    while (i < p->n && strcmp(p->name[i], as_buf_get(&name)) != 0)
        i++;
    if (!st && i == p->n && i < AS_PLOT_SERIES_MAX) {
        p->name[i] = as_strdup(as_buf_get(&name));
        p->x[i] = calloc(v->n, sizeof(double));
        p->y[i] = calloc(v->n, sizeof(double));
        p->hollow[i] = calloc(v->n, sizeof(bool));
        p->series[i] = (struct as_series){p->name[i], p->x[i], p->y[i], p->hollow[i], 0};
        p->n++;
        if (!p->name[i] || !p->x[i] || !p->y[i] || !p->hollow[i])
            st = as_nomem(err, 2 * v->n * sizeof(double), "a plot");
    }
    as_buf_finish(&name);
    if (st)
        return st;
    if (i == AS_PLOT_SERIES_MAX) {
        p->left_out++;
        return AS_OK;
    }
    size_t k = p->series[i].n++;
    p->x[i][k] = as_axes_number(&c->axes, v->axes->v[v->size].name);
    p->y[i][k] = c->sum.median;
    p->hollow[i][k] = !as_cell_is_valid(c);
    return AS_OK;
}

static enum as_status write_plot(const struct view *v, struct as_buf *out, struct as_error *err)
{
    enum { POINTS_MIN = 4 };
    struct plot p = {0};
    enum as_status st = AS_OK;
    size_t most = 0;
    for (size_t i = 0; i < v->n && !st; i++)
        if (as_report_has_number(v->cells[i]))
            st = plot_add(&p, v, v->cells[i], err);
    for (size_t i = 0; i < p.n; i++)
        most = p.series[i].n > most ? p.series[i].n : most;
    if (!st && most >= POINTS_MIN) {
        as_buf_char(out, '\n');
        as_text_plot(out, p.series, p.n, v->cells[0]->unit, v->style);
        if (p.left_out)
            as_buf_printf(out, "            %zu measurements of further series are in the table only\n", p.left_out);
    }
    plot_finish(&p);
    return st;
}

/* A table per device; several are named, with what their rows have in common. */
static enum as_status write_tables(const struct view *v, const char *probe, struct as_buf *out, struct as_error *err)
{
    struct as_probe_table t;
    enum as_status st = as_probe_table_make(v->run, 1, probe, &t, err);
    if (st)
        return st;
    for (size_t i = 0, end; i < t.c.rows_n && !st; i = end) {
        struct as_buf line = AS_BUF_INIT;
        struct as_view_table view;
        end = as_probe_table_device(&t, i);
        as_buf_char(out, '\n');
        if (v->devices) {
            char lead[40];
            as_probe_table_common(&t, i, end, &line);
            snprintf(lead, sizeof lead, "%.32s%s", t.c.rows[t.order[i]].cell->device, line.len ? ": " : "");
            as_text_line(out, lead, as_buf_get(&line), 0, 0, v->style);
        }
        as_buf_finish(&line);
        as_probe_table_view(&t, i, end, as_further_collect_own, &view);
        st = as_view_terminal(&view, v->style, out, err);
        as_view_finish(&view);
    }
    as_probe_table_finish(&t);
    return st;
}

static void write_common(const struct view *v, struct as_buf *out)
{
    const char *lead = v->measured ? "in all rows: " : "all measurements: ";
    struct as_buf text = AS_BUF_INIT;
    if (!v->devices) {
        as_buf_printf(&text, "%sdevice=", lead);
        as_buf_terminal(&text, v->first->device);
        lead = " ";
    }
    for (size_t a = 0; a < v->axes->n; a++) {
        if (v->varies[a])
            continue;
        as_buf_str(&text, lead);
        as_buf_terminal(&text, v->axes->v[a].name);
        as_buf_char(&text, '=');
        as_text_axis(&text, &v->axes->v[a], v->probe);
        lead = " ";
    }
    if (text.len)
        as_text_fill(out, as_buf_get(&text), v->style->width, 0, 0);
    as_buf_finish(&text);
}

enum as_status as_report_probe(const struct as_report_run *run, const char *probe, const struct as_table_style *style,
                               struct as_buf *out, struct as_error *err)
{
    struct view v = {.run = run, .probe = as_probe_find(probe), .style = style};
    struct as_missing missing = {0};
    struct as_buf line = AS_BUF_INIT;
    enum as_status st = view_init(&v, run, probe, err);
    if (!st && v.n == 0)
        st = as_fail(err, AS_NOTFOUND, "run %lld has no measurements of the probe '%s'", (long long)run->run.id, probe);
    if (st)
        goto done;
    as_buf_printf(&line, "%s%s%s", probe, v.probe ? ": " : "", v.probe ? v.probe->title : "");
    as_text_title(out, as_buf_get(&line), style);
    write_counts(&v, out);
    write_common(&v, out);
    if (v.size >= 0)
        st = write_plot(&v, out, err);
    if (!st && v.probe && v.probe->about)
        st = as_text_operations(run, NULL, style, out, err);
    if (!st && as_instructions_is_of(probe))
        st = as_text_instructions(run, style, out, err);
    if (!st && as_access_is_of(probe))
        st = as_text_access(run, style, out, err);
    if (!st && as_pairs_is_of(probe))
        st = as_text_pairs(run, style, out, err);
    if (!st)
        st = write_tables(&v, probe, out, err);
    if (run->rows_more)
        as_buf_printf(out, "... and %zu more: 'assay show %lld %s --all', or 'assay export %lld --format csv'\n",
                      run->rows_more, (long long)run->run.id, probe, (long long)run->run.id);
    for (size_t i = 0; i < v.n && !st; i++)
        st = as_missing_add(&missing, v.cells[i], err);
    if (!st)
        st = as_text_missing(&missing, AS_MISSING_REASONS, style, out, err);
    if (!st)
        st = as_buf_check(out, err);
done:
    as_buf_finish(&line);
    as_missing_finish(&missing);
    free(v.cells);
    return st;
}
