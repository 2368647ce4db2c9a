/* Aligned tables. */
#include "base/text.h"
#include "report/terminal.h"

#include <stdlib.h>
#include <string.h>

enum { GAP = 2, LEAST = 6 };

void as_table_init(struct as_table *t, const char *const *heads)
{
    *t = (struct as_table){0};
    while (heads[t->columns] && t->columns < AS_TABLE_COLUMNS_MAX) {
        t->right[t->columns] = heads[t->columns][0] == '>';
        t->columns++;
    }
    for (size_t i = 0; i < t->columns; i++)
        as_table_add(t, heads[i] + t->right[i], AS_PAINT_STRONG);
}

void as_table_finish(struct as_table *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->cells[i].text);
    free(t->cells);
    *t = (struct as_table){0};
}

void as_table_add(struct as_table *t, const char *text, enum as_paint paint)
{
    struct as_buf b = AS_BUF_INIT;
    if (t->status)
        return;
    t->status = as_grow((void **)&t->cells, &t->cap, t->n + 1, sizeof *t->cells, NULL);
    as_buf_terminal(&b, text);
    char *copy = as_strdup(as_buf_get(&b));
    if (!t->status && (!copy || b.failed))
        t->status = AS_NOMEM;
    as_buf_finish(&b);
    if (t->status) {
        free(copy);
        return;
    }
    t->cells[t->n++] = (struct as_table_cell){copy, (unsigned char)paint};
}

void as_table_addf(struct as_table *t, enum as_paint paint, const char *fmt, ...)
{
    struct as_buf b = AS_BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    as_buf_vprintf(&b, fmt, ap);
    va_end(ap);
    if (b.failed)
        t->status = AS_NOMEM;
    as_table_add(t, as_buf_get(&b), paint);
    as_buf_finish(&b);
}

/* Widths that fit into the style: the widest column of text gives way first, down to LEAST. */
static void fit(const struct as_table *t, const struct as_table_style *style, unsigned width[])
{
    unsigned total = (unsigned)(GAP * (t->columns - 1));
    for (size_t c = 0; c < t->columns; c++) {
        width[c] = 0;
        for (size_t i = c; i < t->n; i += t->columns) {
            unsigned w = as_text_width(t->cells[i].text);
            width[c] = w > width[c] ? w : width[c];
        }
        total += width[c];
    }
    while (total > style->width) {
        size_t widest = t->columns;
        for (size_t c = 0; c < t->columns; c++)
            if (!t->right[c] && width[c] > LEAST && (widest == t->columns || width[c] > width[widest]))
                widest = c;
        if (widest == t->columns)
            return;
        width[widest]--;
        total--;
    }
}

static void write_row(const struct as_table *t, size_t row, const unsigned width[], const struct as_table_style *style,
                      struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT;
    unsigned owed = 0; /* blanks that are written only if something follows */
    for (size_t c = 0; c < t->columns && row * t->columns + c < t->n; c++) {
        const struct as_table_cell *cell = &t->cells[row * t->columns + c];
        as_buf_clear(&text);
        as_text_cut(&text, cell->text, width[c], style->unicode);
        unsigned w = as_text_width(as_buf_get(&text)), blanks = width[c] > w ? width[c] - w : 0;
        if (t->right[c])
            owed += blanks;
        if (w) {
            as_buf_repeat(out, ' ', owed);
            owed = 0;
            as_paint_on(out, (enum as_paint)cell->paint, style);
            as_buf_str(out, as_buf_get(&text));
            as_paint_off(out, (enum as_paint)cell->paint, style);
        }
        if (!t->right[c])
            owed += blanks;
        owed += GAP;
    }
    as_buf_char(out, '\n');
    if (text.failed)
        out->failed = true;
    as_buf_finish(&text);
}

enum as_status as_table_write(const struct as_table *t, const struct as_table_style *style, struct as_buf *out,
                              struct as_error *err)
{
    unsigned width[AS_TABLE_COLUMNS_MAX] = {0}, total = 0;
    if (t->status)
        return as_nomem(err, t->cap * sizeof *t->cells, "a table");
    fit(t, style, width);
    for (size_t c = 0; c < t->columns; c++)
        total += width[c] + (c ? GAP : 0);
    for (size_t row = 0; row * t->columns < t->n; row++) {
        write_row(t, row, width, style, out);
        if (row > 0)
            continue;
        for (unsigned i = 0; i < total && i < style->width; i++)
            as_buf_str(out, style->unicode ? "─" : "-");
        as_buf_char(out, '\n');
    }
    return as_buf_check(out, err);
}
