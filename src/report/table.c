/* The table of one probe. Rows are sorted by words, then numbers; axes with one value go to the caption; words become
 * the headings of groups where groups are long enough. Rows of several runs that mean the same stand in one line.
 * End tags that HTML lets one leave out are left out: with thousands of rows they would be a third of the page. */
#include "base/text.h"
#include "report/column.h"
#include "report/further.h"
#include "report/markup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct table {
    struct as_page *page;
    struct as_columns c;
    size_t *order; /* rows in order */
    /* Columns that vary on this device, words first; as indices: axis, or METRIC. */
    size_t words[AS_AXES_MAX + 1], words_n;
    size_t numbers[AS_AXES_MAX], numbers_n;
    bool grouped;
    struct as_further further; /* in the table of a single run */
};
enum { METRIC = AS_AXES_MAX };

static const struct as_column *col(const struct table *t, size_t index)
{
    return index == METRIC ? &t->c.metric : &t->c.axes[index];
}

/* qsort has no place for a context; a table is written by one thread at a time. */
static _Thread_local const struct table *sorting;

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

static int by_place(const void *pa, const void *pb)
{
    size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
    int place = same_place(&sorting->c, a, b);
    return place ? place : a < b ? -1 : a > b; /* rows come in order of runs */
}

static enum as_status sort_rows(struct table *t)
{
    t->order = calloc(t->c.rows_n ? t->c.rows_n : 1, sizeof *t->order);
    if (!t->order)
        return as_nomem(t->page->err, t->c.rows_n * sizeof *t->order, "table order");
    for (size_t i = 0; i < t->c.rows_n; i++)
        t->order[i] = i;
    sorting = t;
    qsort(t->order, t->c.rows_n, sizeof *t->order, by_place);
    sorting = NULL;
    return AS_OK;
}

static bool varies(const struct table *t, const struct as_column *k, size_t from, size_t to)
{
    for (size_t i = from + 1; i < to; i++)
        if (k->rank[t->order[i]] != k->rank[t->order[from]])
            return true;
    return false;
}

static bool same_words(const struct table *t, size_t a, size_t b)
{
    for (size_t i = 0; i < t->words_n; i++)
        if (col(t, t->words[i])->rank[a] != col(t, t->words[i])->rank[b])
            return false;
    return true;
}

/* Decides the columns for one device's rows order[from..to). */
static void choose_columns(struct table *t, size_t from, size_t to)
{
    t->words_n = t->numbers_n = 0;
    if (varies(t, &t->c.metric, from, to))
        t->words[t->words_n++] = METRIC;
    for (size_t i = 0; i < t->c.axes_n; i++) {
        if (!varies(t, &t->c.axes[i], from, to))
            continue;
        if (t->c.axes[i].numbers)
            t->numbers[t->numbers_n++] = i;
        else
            t->words[t->words_n++] = i;
    }
    t->further.n = 0;
    for (size_t i = from; i < to && t->page->n == 1; i++)
        as_further_collect(&t->further, t->c.rows[t->order[i]].cell);
    size_t groups = 1;
    for (size_t i = from + 1; i < to; i++)
        groups += !same_words(t, t->order[i], t->order[i - 1]);
    t->grouped = t->words_n > 0 && t->numbers_n > 0 && to - from >= 3 * groups;
}

static void axis_text(struct table *t, const struct as_column *k, size_t row)
{
    as_page_axis(t->page->out, k->axis, &k->values[k->rank[row]]);
}

/* An axis in words: "compute unit" of compute_unit. */
static void axis_name(struct as_buf *b, const char *name)
{
    char words[64];
    as_copy_text(words, sizeof words, name);
    for (char *c = words; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    as_buf_html(b, words);
}

static void caption(struct table *t, size_t from, size_t to)
{
    struct as_buf *b = t->page->out;
    const char *sep = ". In all rows: ";
    as_html_open(b, "caption", NULL);
    as_buf_html(b, t->c.probe ? t->c.probe->title : t->c.rows[t->order[from]].cell->probe);
    as_buf_str(b, " on ");
    as_buf_html(b, t->c.rows[t->order[from]].cell->device);
    for (size_t i = 0; i < t->c.axes_n; i++) {
        if (varies(t, &t->c.axes[i], from, to))
            continue;
        as_buf_str(b, sep);
        sep = ", ";
        axis_name(b, t->c.axes[i].name);
        as_buf_char(b, ' ');
        axis_text(t, &t->c.axes[i], t->order[from]);
    }
    as_buf_str(b, "</caption>\n");
}

static void column_heads(struct table *t, const size_t *which, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        as_buf_str(t->page->out, "<th scope=\"col\">");
        axis_name(t->page->out, col(t, which[i])->name);
    }
}

static void head(struct table *t, size_t first_row)
{
    struct as_buf *b = t->page->out;
    const struct as_cell *c = t->c.rows[first_row].cell;
    as_buf_str(b, "<thead><tr>");
    if (!t->grouped)
        column_heads(t, t->words, t->words_n);
    column_heads(t, t->numbers, t->numbers_n);
    if (t->page->n == 1) {
        as_html_head(b, t->words_n && t->words[0] == METRIC ? "value" : c->metric); /* several, each named in its row */
        as_buf_str(b, "<th scope=\"col\">95% interval");
        for (size_t i = 0; i < t->further.n; i++) {
            as_html_head(b, t->further.names[i]);
        }
        as_buf_str(b, "<th scope=\"col\">samples<th scope=\"col\" class=\"l\">status");
    } else {
        for (size_t r = 0; r < t->page->n; r++) {
            as_buf_str(b, "<th scope=\"col\">");
            as_page_run_name(b, &t->page->runs[r].run);
            if (r > 0) {
                as_buf_str(b, "<th scope=\"col\">against ");
                as_page_run_name(b, &t->page->runs[0].run);
            }
        }
    }
    as_buf_str(b, "\n");
}

static size_t columns_n(const struct table *t)
{
    size_t own = t->page->n == 1 ? 4 + t->further.n : 2 * t->page->n - 1;
    return own + t->numbers_n + (t->grouped ? 0 : t->words_n);
}

static void group_head(struct table *t, size_t row)
{
    struct as_buf *b = t->page->out;
    as_buf_printf(b, "<tbody><tr class=\"g\"><th scope=\"rowgroup\" colspan=\"%zu\">", columns_n(t));
    for (size_t i = 0; i < t->words_n; i++) {
        const struct as_column *k = col(t, t->words[i]);
        as_buf_str(b, i ? ", " : "");
        axis_name(b, k->name);
        as_buf_str(b, " <b>");
        axis_text(t, k, row);
        as_html_close(b, "b");
    }
    as_buf_char(b, '\n');
}

static void rejection(struct as_buf *b, const struct as_cell *c)
{
    as_buf_str(b, "○ rejected");
    as_report_failed_gates(c, b);
}

static void axis_cells(struct table *t, size_t row)
{
    if (!t->grouped) {
        for (size_t i = 0; i < t->words_n; i++) {
            as_html_open(t->page->out, "td", NULL);
            axis_text(t, col(t, t->words[i]), row);
        }
    }
    for (size_t i = 0; i < t->numbers_n; i++) {
        as_html_open(t->page->out, "td", NULL);
        axis_text(t, col(t, t->numbers[i]), row);
    }
}

static void further_value(void *user, const char *value)
{
    as_buf_str(user, "<td>");
    as_buf_html(user, value);
}

static void single_line(struct table *t, size_t row)
{
    struct as_buf *b = t->page->out;
    const struct as_cell *c = t->c.rows[row].cell;
    bool rejected = c->status == AS_CELL_REJECTED;
    as_buf_printf(b, rejected ? "<tr id=c%lld class=u>" : "<tr id=c%lld>", (long long)c->id);
    axis_cells(t, row);
    as_html_open(b, "td", NULL);
    as_page_cell_value(b, c);
    as_html_open(b, "td", NULL);
    as_page_cell_interval(b, c);
    as_further_row(&t->further, c, further_value, b);
    as_buf_printf(b, "<td>%zu<td>", c->sum.n);
    if (rejected)
        rejection(b, c);
    else
        as_buf_str(b, as_cell_status_word(c->status));
    as_buf_char(b, '\n');
}

/* "1.21× slower" if the intervals are disjoint, else statistically tied. */
static void against(struct table *t, const struct as_cell *first, const struct as_cell *c)
{
    struct as_buf *b = t->page->out;
    as_html_open(b, "td", NULL);
    if (!first || !c || !(first->sum.median > 0)) {
        as_buf_str(b, "–");
        return;
    }
    double ratio = c->sum.median / first->sum.median;
    bool apart = as_page_apart(first->sum.ci, c->sum.ci);
    bool worse = c->lower_is_better ? ratio > 1 : ratio < 1;
    if (apart)
        as_buf_printf(b, "<b class=%s>", worse ? "worse" : "better");
    as_format_number(b, ratio, 3);
    as_buf_str(b, "×");
    as_buf_str(b, apart ? (worse ? " worse</b>" : " better</b>") : " ≈");
}

static void compared_line(struct table *t, size_t from, size_t to)
{
    struct as_buf *b = t->page->out;
    const struct as_cell *first = NULL;
    as_buf_str(b, "<tr>");
    axis_cells(t, t->order[from]);
    for (size_t r = 0, i = from; r < t->page->n; r++) {
        const struct as_cell *c = NULL;
        if (i < to && t->c.rows[t->order[i]].run == r)
            c = t->c.rows[t->order[i++]].cell;
        if (r == 0)
            first = c;
        if (c) {
            as_buf_printf(b, "<td id=c%lld%s>", (long long)c->id, c->status == AS_CELL_REJECTED ? " class=u" : "");
            as_page_cell_value(b, c);
            if (c->status == AS_CELL_REJECTED) {
                as_html_open(b, "small", NULL);
                rejection(b, c);
                as_html_close(b, "small");
            }
        } else {
            as_buf_str(b, "<td>–");
        }
        if (r > 0)
            against(t, first, c);
    }
    as_buf_char(b, '\n');
}

/* End (exclusive) of the rows that share a line with `from`: the same cell in later runs. */
static size_t line_end(const struct table *t, size_t from, size_t to)
{
    size_t i = from + 1;
    while (i < to && same_place(&t->c, t->order[from], t->order[i]) == 0 &&
           t->c.rows[t->order[i]].run > t->c.rows[t->order[i - 1]].run)
        i++;
    return i;
}

static void lines(struct table *t, size_t from, size_t to)
{
    if (!t->grouped)
        as_buf_str(t->page->out, "<tbody>");
    for (size_t i = from; i < to;) {
        size_t end = line_end(t, i, to);
        if (t->grouped && (i == from || !same_words(t, t->order[i], t->order[i - 1])))
            group_head(t, t->order[i]);
        if (t->page->n == 1)
            single_line(t, t->order[i]);
        else
            compared_line(t, i, end);
        i = end;
    }
}

/* Rows: longer tables are not printed on paper; the browser does not lay out huge ones before they are looked at. */
enum { LONG_TABLE = 60, HUGE_TABLE = 1000 };

static void device_table(struct table *t, size_t from, size_t to)
{
    struct as_buf *b = t->page->out;
    choose_columns(t, from, to);
    as_buf_printf(b, "<details class=\"rows\" open><summary>Table of %zu cells on ", to - from);
    as_buf_html(b, t->c.rows[t->order[from]].cell->device);
    as_buf_str(b, "</summary>\n");
    as_buf_printf(b, "<div class=\"scroll%s\" tabindex=\"0\" role=\"region\" aria-label=\"",
                  to - from > HUGE_TABLE   ? " long huge"
                  : to - from > LONG_TABLE ? " long"
                                           : "");
    as_buf_html(b, t->c.rows[t->order[from]].cell->probe);
    as_buf_str(b, " on ");
    as_buf_html(b, t->c.rows[t->order[from]].cell->device);
    as_buf_printf(b, ", table of %zu cells\">\n<table class=\"cells w%zu%s\">\n", to - from,
                  t->grouped ? (size_t)0 : t->words_n, t->page->n == 1 ? " one" : "");
    caption(t, from, to);
    head(t, t->order[from]);
    lines(t, from, to);
    as_buf_str(b, "</table></div></details>\n");
    if (to - from > LONG_TABLE)
        as_buf_printf(b, "<p class=\"long-note\">The table of %zu cells is left out on paper.</p>\n", to - from);
}

enum as_status as_page_table(struct as_page *p, const char *probe)
{
    struct table t = {.page = p};
    enum as_status st = as_columns_make(p, probe, &t.c);
    if (st != AS_OK)
        return st;
    st = sort_rows(&t);
    for (size_t i = 0, end; st == AS_OK && i < t.c.rows_n; i = end) {
        for (end = i + 1; end < t.c.rows_n; end++)
            if (t.c.device.rank[t.order[end]] != t.c.device.rank[t.order[i]])
                break;
        device_table(&t, i, end);
    }
    free(t.order);
    as_columns_finish(&t.c);
    return st;
}
