/* The elements of a matrix fragment: from row and column to lane and place, and back. */
#include "cli/explain/explain.h"

#include "report/terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>

static void explain_row(const struct as_fragment *f, size_t row, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT;
    char name[32];
    for (size_t i = row * f->columns; i < (row + 1) * f->columns; i++) {
        const char *separator = i > row * f->columns ? " " : "";
        if (f->lanes[i] < 0 || f->places[i] < 0)
            as_buf_printf(&text, "%s-", separator);
        else
            as_buf_printf(&text, "%s%d.%d", separator, f->lanes[i], f->places[i]);
    }
    snprintf(name, sizeof name, "row %zu", row);
    as_explain_member(out, name, as_buf_get(&text), style);
    out->failed |= text.failed;
    as_buf_finish(&text);
}

/* The elements of a lane in order of their places. at: scratch for as many as there are places. */
static void explain_lane(const struct as_fragment *f, size_t lane, size_t *at, const struct as_table_style *style,
                         struct as_buf *out)
{
    const size_t n = f->rows * f->columns;
    struct as_buf text = AS_BUF_INIT;
    char name[32];
    for (size_t p = 0; p < f->places_n; p++)
        at[p] = n;
    for (size_t i = 0; i < n; i++)
        if (f->lanes[i] == (int)lane && f->places[i] >= 0)
            at[f->places[i]] = i;
    for (size_t p = 0; p < f->places_n; p++) {
        if (at[p] == n)
            as_buf_printf(&text, "%s-", p ? " " : "");
        else
            as_buf_printf(&text, "%s%zu,%zu", p ? " " : "", at[p] / f->columns, at[p] % f->columns);
    }
    snprintf(name, sizeof name, "lane %zu", lane);
    as_explain_member(out, name, as_buf_get(&text), style);
    out->failed |= text.failed;
    as_buf_finish(&text);
}

void as_explain_fragment(const struct as_fragment *f, const struct as_table_style *style, struct as_buf *out)
{
    size_t *at = f->places_n ? calloc(f->places_n, sizeof *at) : NULL;
    as_text_title(out, "Elements by row and column, as lane.place", style);
    for (size_t row = 0; row < f->rows; row++)
        explain_row(f, row, style, out);
    if (f->lanes_n && at)
        as_text_title(out, "Elements by lane, as row,column of places 0, 1, ...", style);
    for (size_t lane = 0; lane < f->lanes_n && at; lane++)
        explain_lane(f, lane, at, style, out);
    out->failed |= f->places_n && !at;
    free(at);
}
