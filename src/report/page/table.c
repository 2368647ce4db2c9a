/* The table of one probe on the page. End tags that HTML lets one leave out are left out: with thousands of rows they
 * would be a third of the page. */
#include "base/text.h"
#include "report/model/probe_table.h"
#include "report/page/markup.h"
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>

static void table_caption(struct as_page *p, const struct as_probe_table *t, size_t from, size_t to)
{
    struct as_buf *b = p->out, common = AS_BUF_INIT;
    const struct as_cell *c = t->c.rows[t->order[from]].cell;
    as_html_open(b, "caption", NULL);
    as_html_printf(b, "%s on %s", t->c.probe ? t->c.probe->title : c->probe, c->device);
    as_probe_table_common(t, from, to, &common);
    as_buf_str(b, common.len ? ". In all rows: " : "");
    as_buf_html(b, as_buf_get(&common));
    as_html_close(b, "caption");
    b->failed |= common.failed;
    as_buf_finish(&common);
}

/* ---- runs beside each other ---- */

static void compared_heads(struct as_page *p, const struct as_probe_table *t)
{
    struct as_buf *b = p->out;
    char words[AS_AXIS_WORDS];
    as_html_heads(b);
    for (size_t i = 0; i < as_probe_table_axes(t); i++)
        as_html_head(b, as_axis_words(as_probe_table_axis(t, i)->name, words));
    for (size_t r = 0; r < p->n; r++) {
        as_html_head(b, "");
        as_page_run_name(b, &p->runs[r].run);
        if (r > 0) {
            as_html_head(b, "against ");
            as_page_run_name(b, &p->runs[0].run);
        }
    }
    as_buf_char(b, '\n');
}

static void axis_cells(struct as_buf *b, const struct as_probe_table *t, size_t row)
{
    for (size_t i = 0; i < as_probe_table_axes(t); i++) {
        const struct as_column *k = as_probe_table_axis(t, i);
        as_html_open(b, "td", NULL);
        as_page_axis(b, k->axis, &k->values[k->rank[row]]);
    }
}

static void rejection(struct as_buf *b, const struct as_cell *c)
{
    as_buf_str(b, "○ rejected");
    as_report_failed_gates(c, b);
}

/* "1.21x worse", with the interval that decides. */
static void table_against(struct as_buf *b, const struct as_comparing *by, const struct as_cell *first,
                          const struct as_cell *c)
{
    static const char *const words[] = {
        [AS_SAME] = " same", [AS_FASTER] = " better", [AS_SLOWER] = " worse", [AS_CANNOT_TELL] = " ≈"};
    struct as_comparison found;
    as_html_open(b, "td", NULL);
    if (!first || !c || !as_cell_is_valid(first) || !as_cell_is_valid(c)) {
        as_buf_str(b, "–");
        return;
    }
    as_cells_compare(by, first, c, &found);
    const bool differs = found.verdict == AS_FASTER || found.verdict == AS_SLOWER;
    if (differs)
        as_html_open(b, "b", NULL);
    if (isfinite(found.ratio))
        as_page_number(b, &(struct as_number){.value = found.ratio, .ci = as_comparison_interval(&found), .unit = "x"});
    as_buf_str(b, words[found.verdict]);
    if (differs)
        as_html_close(b, "b");
}

static void compared_line(struct as_page *p, const struct as_probe_table *t, size_t from, size_t to)
{
    struct as_buf *b = p->out;
    const struct as_cell *first = NULL;
    as_html_open(b, "tr", NULL);
    axis_cells(b, t, t->order[from]);
    for (size_t r = 0, i = from; r < p->n; r++) {
        const struct as_cell *c = NULL;
        if (i < to && t->c.rows[t->order[i]].run == r)
            c = t->c.rows[t->order[i++]].cell;
        if (r == 0)
            first = c;
        if (c) {
            as_html_open_measured(b, "td", c->id, c->status == AS_CELL_REJECTED);
            as_page_cell_value(b, c);
            if (c->status == AS_CELL_REJECTED) {
                as_html_open(b, "small", NULL);
                rejection(b, c);
                as_html_close(b, "small");
            }
        } else {
            as_html_cell(b, NULL, "–");
        }
        if (r > 0)
            table_against(b, &p->against[r - 1].cells, first, c);
    }
    as_buf_char(b, '\n');
}

static void compared_rows(struct as_page *p, const struct as_probe_table *t, size_t from, size_t to)
{
    compared_heads(p, t);
    if (!t->grouped)
        as_html_body(p->out);
    for (size_t i = from, end; i < to; i = end) {
        end = as_probe_table_line(t, i, to);
        if (as_probe_table_new_group(t, from, i)) {
            struct as_buf group = AS_BUF_INIT;
            as_probe_table_group(t, t->order[i], &group);
            as_html_body(p->out);
            as_html_group(p->out, as_probe_table_axes(t) + 2 * p->n - 1, as_buf_get(&group));
            p->out->failed |= group.failed;
            as_buf_finish(&group);
        }
        compared_line(p, t, i, end);
    }
}

/* Rows: longer tables are not printed on paper; the browser does not lay out huge ones before they are looked at. */
enum { LONG_TABLE = 60, HUGE_TABLE = 1000 };

static void device_table(struct as_page *p, const struct as_probe_table *t, size_t from, size_t to)
{
    struct as_buf *b = p->out;
    const struct as_cell *c = t->c.rows[t->order[from]].cell;
    struct as_buf label = AS_BUF_INIT;
    char class[48];
    as_html_tag(b, "details", "class='rows' open");
    as_html_open(b, "summary", NULL);
    as_buf_printf(b, "%zu measurements on ", to - from);
    as_buf_html(b, c->device);
    as_html_close(b, "summary");
    as_buf_printf(&label, "%s on %s, %zu measurements", c->probe, c->device, to - from);
    snprintf(class, sizeof class, "cells w%zu%s", t->grouped ? (size_t)0 : t->words_n, p->n == 1 ? " one" : "");
    as_html_region(b,
                   to - from > HUGE_TABLE   ? "scroll long huge"
                   : to - from > LONG_TABLE ? "scroll long"
                                            : "scroll",
                   class, as_buf_get(&label));
    b->failed |= label.failed;
    as_buf_finish(&label);
    table_caption(p, t, from, to);
    if (p->n == 1) {
        struct as_view_table view;
        as_probe_table_view(t, from, to, as_further_collect, &view);
        as_view_page_rows(&view, b);
        as_view_finish(&view);
    } else {
        compared_rows(p, t, from, to);
    }
    as_html_table_end(b);
    as_html_close(b, "details");
    if (to - from > LONG_TABLE)
        as_html_paragraphf(b, "long-note", "The table of %zu measurements is left out on paper.", to - from);
}

enum as_status as_page_table(struct as_page *p, const char *probe)
{
    struct as_probe_table t;
    enum as_status st = as_probe_table_make(p->runs, p->n, probe, &t, p->err);
    if (st)
        return st;
    for (size_t i = 0, end; i < t.c.rows_n; i = end) {
        end = as_probe_table_device(&t, i);
        device_table(p, &t, i, end);
    }
    as_probe_table_finish(&t);
    return AS_OK;
}
