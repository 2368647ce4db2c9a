/* A table's model on the page. */
#include "report/markup.h"
#include "report/page.h"
#include "report/view_table.h"

#include <math.h>

static size_t count_page_columns(const struct as_view_table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->columns_n; i++)
        n += !t->columns[i].under;
    return n;
}

static void write_words(struct as_buf *b, const struct as_view_cell *c)
{
    if (!c->anchor) {
        as_buf_html(b, c->text);
        return;
    }
    as_buf_printf(b, "<a href=\"#%s", c->anchor);
    as_page_slug(b, c->text);
    as_buf_str(b, "\">");
    as_buf_html(b, c->text);
    as_html_close(b, "a");
}

static void write_number(struct as_buf *b, const struct as_view_cell *c)
{
    const struct as_measure *m = &c->measure;
    if (c->cell)
        as_html_cell_link(b, c->cell->id);
    if (c->cell && !c->unit)
        as_page_cell_value(b, c->cell);
    else
        as_page_value(b, m->value, c->unit);
    if (c->cell)
        as_html_close(b, "a");
    if (!c->unit || !isfinite(m->value) || !(m->ci.hi > m->ci.lo))
        return;
    as_html_interval(b, m->value, m->ci, c->unit);
}

static const char *words_class(enum as_paint paint)
{
    return paint == AS_PAINT_GOOD ? "l better" : paint == AS_PAINT_BAD ? "l worse" : "l";
}

static void write_cell(const struct as_view_table *t, size_t column, const struct as_view_cell *c, struct as_buf *b)
{
    const bool under = t->columns[column].under;
    if (under && !c->text[0])
        return;
    if (under)
        as_html_open(b, "small", NULL);
    else if (column == 0)
        as_buf_str(b, "<th scope=\"row\">");
    else
        as_html_open(b, "td", t->columns[column].number ? NULL : words_class(c->paint));
    if (c->text)
        write_words(b, c);
    else
        write_number(b, c);
    if (under)
        as_html_close(b, "small");
}

void as_view_page(const struct as_view_table *t, const char *class, const char *label, struct as_buf *out)
{
    const bool grouped = t->rows_n && t->rows[0].group;
    as_html_table(out, grouped ? "scroll tall" : "scroll", class, label, t->columns[0].title, NULL);
    for (size_t i = 1; i < t->columns_n; i++)
        if (!t->columns[i].under) {
            as_buf_str(out, t->columns[i].number ? "<th scope=\"col\">" : "<th scope=\"col\" class=\"l\">");
            as_buf_html(out, t->columns[i].title);
        }
    as_buf_str(out, grouped ? "\n" : "\n<tbody>");
    for (size_t r = 0; r < t->rows_n && !t->failed; r++) {
        if (t->rows[r].group) {
            as_buf_str(out, "<tbody>");
            as_html_group(out, count_page_columns(t), t->rows[r].group);
        }
        as_html_open(out, "tr", t->rows[r].invalid ? "u" : NULL);
        for (size_t i = 0; i < t->columns_n; i++)
            write_cell(t, i, &t->cells[r * t->columns_n + i], out);
        as_buf_char(out, '\n');
    }
    as_html_table_end(out);
    out->failed |= t->failed;
}
