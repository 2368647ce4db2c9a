#include "report/model/view_table.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>

void as_view_add_column(struct as_view_table *t, struct as_view_column column)
{
    if (t->columns_n < AS_VIEW_COLUMNS_MAX)
        t->columns[t->columns_n++] = column;
}

void as_view_begin_row(struct as_view_table *t, bool valid)
{
    void *rows = t->rows;
    t->failed |= as_grow(&rows, &t->rows_cap, t->rows_n + 1, sizeof *t->rows, NULL) != AS_OK;
    t->rows = rows;
    if (!t->failed)
        t->rows[t->rows_n++] = (struct as_view_row){.invalid = !valid};
}

void as_view_begin_cell(struct as_view_table *t, const struct as_cell *cell)
{
    t->of_cells = true;
    as_view_begin_row(t, as_cell_is_valid(cell));
    if (!t->failed)
        t->rows[t->rows_n - 1].id = cell->id;
}

void as_view_group(struct as_view_table *t, const char *heading)
{
    if (!t->rows_n || t->failed)
        return;
    char **group = &t->rows[t->rows_n - 1].group;
    free(*group);
    *group = as_strdup(heading);
    t->failed |= !*group;
}

static void add_view_cell(struct as_view_table *t, struct as_view_cell cell)
{
    void *cells = t->cells;
    t->failed |= as_grow(&cells, &t->cap, t->n + 1, sizeof *t->cells, NULL) != AS_OK;
    t->cells = cells;
    if (t->failed)
        free(cell.text);
    else
        t->cells[t->n++] = cell;
}

static void add_view_words(struct as_view_table *t, const char *text, const char *anchor, enum as_paint paint)
{
    char *copy = as_strdup(text);
    t->failed |= !copy;
    add_view_cell(t, (struct as_view_cell){.text = copy, .anchor = anchor, .paint = paint});
}

void as_view_text(struct as_view_table *t, const char *text, enum as_paint paint)
{
    add_view_words(t, text, NULL, paint);
}

void as_view_link(struct as_view_table *t, const char *text, const char *anchor)
{
    add_view_words(t, text, anchor, AS_PAINT_NONE);
}

void as_view_measured(struct as_view_table *t, const struct as_cell *cell, const char *unit)
{
    const bool has = cell && as_report_has_number(cell);
    struct as_view_cell v = {.measure = {NAN, {NAN, NAN}}, .unit = has ? unit : "", .paint = AS_PAINT_DIM};
    if (has) {
        v.cell = cell;
        v.measure = (struct as_measure){cell->sum.median, as_number_interval_of_cell(cell)};
        v.paint = as_cell_is_valid(cell) ? AS_PAINT_STRONG : AS_PAINT_DIM;
    }
    add_view_cell(t, v);
}

void as_view_best(struct as_view_table *t, const struct as_cell *cell, size_t n, const char *unit)
{
    as_view_measured(t, cell, unit);
    if (n && !t->failed && t->cells[t->n - 1].cell)
        t->cells[t->n - 1].bound = cell->lower_is_better ? -1 : 1;
}

void as_view_interval(struct as_view_table *t, const struct as_cell *cell)
{
    add_view_cell(t, (struct as_view_cell){.cell = cell, .interval = true});
}

void as_view_derived(struct as_view_table *t, struct as_measure m, const char *unit)
{
    add_view_cell(t, (struct as_view_cell){.measure = m, .unit = unit});
}

void as_view_finish(struct as_view_table *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->cells[i].text);
    for (size_t i = 0; i < t->rows_n; i++)
        free(t->rows[i].group);
    free(t->cells);
    free(t->rows);
    *t = (struct as_view_table){0};
}

enum as_paint as_status_paint(enum as_cell_status s)
{
    static const unsigned char of[AS_CELL_STATUS_N] = {
        [AS_CELL_OK] = AS_PAINT_NONE,         [AS_CELL_WIDE] = AS_PAINT_NONE,   [AS_CELL_REJECTED] = AS_PAINT_BAD,
        [AS_CELL_FAILED] = AS_PAINT_BAD,      [AS_CELL_CRASHED] = AS_PAINT_BAD, [AS_CELL_TIMEOUT] = AS_PAINT_BAD,
        [AS_CELL_UNSUPPORTED] = AS_PAINT_DIM, [AS_CELL_SKIPPED] = AS_PAINT_DIM, [AS_CELL_PLANNED] = AS_PAINT_DIM,
    };
    return (unsigned)s < AS_CELL_STATUS_N ? (enum as_paint)of[s] : AS_PAINT_NONE;
}
