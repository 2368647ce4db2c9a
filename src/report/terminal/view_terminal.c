/* A table's model in the terminal. */
#include "model/number.h"
#include "report/terminal/terminal.h"

#include <stdio.h>
#include <string.h>

/* "9.98 ±0.4%" */
static void write_derived(struct as_buf *b, const struct as_number *n, const struct as_table_style *style)
{
    struct as_buf width = AS_BUF_INIT;
    as_number_text(n, b);
    as_number_precision(n, &width);
    if (n->ci.hi > n->ci.lo && width.len)
        as_buf_printf(b, "%s%s", style->unicode ? " ±" : " +-", as_buf_get(&width));
    as_buf_finish(&width);
}

static void view_terminal_add_number(struct as_table *t, const struct as_view_cell *c,
                                     const struct as_table_style *style)
{
    struct as_buf b = AS_BUF_INIT;
    struct as_number n = {.value = c->measure.value, .ci = c->measure.ci, .unit = ""};
    if (c->cell)
        n = as_number_of_cell(c->cell);
    n.bound = c->bound ? c->bound : n.bound;
    if (c->unit) /* the title of the column has the unit, and the cell's interval */
        n.unit = strcmp(c->unit, "x") == 0 ? "x" : "";
    if (c->interval)
        as_number_precision(&n, &b);
    else if (c->cell && !c->unit)
        as_cell_number(c->cell, &b);
    else if (c->cell)
        as_number_text(&n, &b);
    else
        write_derived(&b, &n, style);
    as_table_add(t, as_buf_get(&b), c->paint);
    if (b.failed)
        t->status = AS_NOMEM;
    as_buf_finish(&b);
}

/* A column that has words in no row is not shown. */
static bool is_shown(const struct as_view_table *v, size_t column)
{
    for (size_t r = 0; r < v->rows_n; r++) {
        const char *text = v->cells[r * v->columns_n + column].text;
        if (!text || text[0])
            return true;
    }
    return false;
}

static enum as_paint paint_of(const struct as_view_table *v, size_t row, size_t column)
{
    const bool is_status = column + 1 == v->columns_n;
    return v->rows[row].invalid && is_status ? AS_PAINT_BAD : v->cells[row * v->columns_n + column].paint;
}

static const char *title_of(const struct as_view_table *v, size_t column, const struct as_table_style *style)
{
    if (v->rows_n && v->cells[column].interval)
        return style->unicode ? "±" : "+-";
    return v->columns[column].title;
}

enum as_status as_view_terminal(const struct as_view_table *v, const struct as_table_style *style, struct as_buf *out,
                                struct as_error *err)
{
    char titles[AS_VIEW_COLUMNS_MAX][48];
    const char *heads[AS_VIEW_COLUMNS_MAX + 1];
    bool shown[AS_VIEW_COLUMNS_MAX];
    size_t n = 0;
    if (v->failed)
        return as_nomem(err, v->cap * sizeof *v->cells, "a table");
    if (v->of_cells)
        heads[n++] = ">cell";
    for (size_t i = 0; i < v->columns_n; i++) {
        if (!(shown[i] = n < AS_TABLE_COLUMNS_MAX && is_shown(v, i)))
            continue;
        snprintf(titles[n], sizeof titles[n], "%s%s%.40s", v->columns[i].spare ? "?" : "",
                 v->columns[i].number ? ">" : "", title_of(v, i, style));
        heads[n] = titles[n];
        n++;
    }
    heads[n] = NULL;
    struct as_table t;
    as_table_init(&t, heads);
    for (size_t r = 0; r < v->rows_n; r++) {
        if (v->rows[r].group)
            as_table_heading(&t, v->rows[r].group);
        if (v->of_cells)
            as_table_addf(&t, AS_PAINT_DIM, "%lld", (long long)v->rows[r].id);
        for (size_t i = 0; i < v->columns_n; i++) {
            const struct as_view_cell *c = &v->cells[r * v->columns_n + i];
            if (shown[i] && c->text)
                as_table_add(&t, c->text, paint_of(v, r, i));
            else if (shown[i])
                view_terminal_add_number(&t, c, style);
        }
    }
    enum as_status st = as_table_write(&t, style, out, err);
    as_table_finish(&t);
    return st;
}
