/* A table's model on the page. */
#include "report/model/view_table.h"
#include "report/page/markup.h"
#include "report/page/page.h"

#include <math.h>

static bool is_own_column(const struct as_view_table *t, size_t column)
{
    return !t->columns[column].under && !t->columns[column].brief;
}

static size_t count_page_columns(const struct as_view_table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->columns_n; i++)
        n += is_own_column(t, i);
    return n;
}

static void view_page_write_words(struct as_buf *b, const struct as_view_cell *c)
{
    if (!c->anchor) {
        as_buf_html(b, c->text);
        return;
    }
    as_html_link_text(b, c->anchor, c->text, c->text);
}

static void write_number(struct as_buf *b, const struct as_view_cell *c, bool link)
{
    const struct as_measure *m = &c->measure;
    if (link)
        as_html_cell_link(b, c->cell->id);
    if (c->interval)
        as_page_cell_interval(b, c->cell);
    else if (c->cell && !c->unit)
        as_page_cell_value(b, c->cell);
    else if (c->cell) {
        struct as_number n = as_number_of_cell(c->cell);
        n.unit = c->unit;
        n.bound = c->bound ? c->bound : n.bound;
        as_page_number(b, &n);
    } else
        as_page_number(b, &(struct as_number){.value = m->value, .ci = m->ci, .unit = c->unit});
    if (link)
        as_html_close(b, "a");
    if (c->unit && isfinite(m->value) && m->ci.hi > m->ci.lo)
        as_html_interval(b, m->value, m->ci, c->unit);
}

static const char *class_of(const struct as_view_table *t, size_t column, enum as_paint paint)
{
    if (t->columns[column].number || t->of_cells) /* the style aligns columns of cells by their place */
        return NULL;
    return paint == AS_PAINT_GOOD ? "l better" : paint == AS_PAINT_BAD ? "l worse" : "l";
}

static void view_page_write_cell(const struct as_view_table *t, size_t row, size_t column, struct as_buf *b)
{
    const struct as_view_cell *c = &t->cells[row * t->columns_n + column];
    const bool under = t->columns[column].under;
    if (t->columns[column].brief || (under && !c->text[0]))
        return;
    if (under)
        as_html_open(b, "small", NULL);
    else if (column == 0 && !t->of_cells)
        as_html_row_head(b);
    else
        as_html_open(b, "td", class_of(t, column, c->paint));
    if (t->of_cells && t->rows[row].invalid && column + 1 == t->columns_n)
        as_buf_str(b, "○ ");
    if (c->text)
        view_page_write_words(b, c);
    else
        write_number(b, c, c->cell && !t->of_cells);
    if (under)
        as_html_close(b, "small");
}

static void write_heads(const struct as_view_table *t, struct as_buf *b)
{
    as_html_heads(b);
    for (size_t i = 0; i < t->columns_n; i++) {
        const bool words = t->of_cells ? i + 1 == t->columns_n : i > 0 && !t->columns[i].number;
        if (!is_own_column(t, i))
            continue;
        as_html_head(b, words ? "<" : "");
        as_buf_html(b, t->columns[i].title);
    }
}

void as_view_page_rows(const struct as_view_table *t, struct as_buf *out)
{
    write_heads(t, out);
    if (!t->rows_n || !t->rows[0].group)
        as_html_body(out);
    for (size_t r = 0; r < t->rows_n && !t->failed; r++) {
        const struct as_view_row *row = &t->rows[r];
        if (row->group) {
            as_html_body(out);
            as_html_group(out, count_page_columns(t), row->group);
        }
        if (t->of_cells)
            as_html_open_measured(out, "tr", row->id, row->invalid);
        else
            as_html_open(out, "tr", row->invalid ? "u" : NULL);
        for (size_t i = 0; i < t->columns_n; i++)
            view_page_write_cell(t, r, i, out);
        as_buf_char(out, '\n');
    }
    out->failed |= t->failed;
}

void as_view_page(const struct as_view_table *t, const char *class, const char *label, struct as_buf *out)
{
    as_html_region(out, t->rows_n && t->rows[0].group ? "scroll tall" : "scroll", class, label);
    as_view_page_rows(t, out);
    as_html_table_end(out);
}
