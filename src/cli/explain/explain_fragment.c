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

static int most_in(const int *list, size_t n)
{
    int most = -1;
    for (size_t i = 0; i < n; i++)
        most = list[i] > most ? list[i] : most;
    return most;
}

/* The elements of a lane in order of their places. at: scratch for as many. */
static void explain_lane(const struct as_fragment *f, int lane, size_t *at, int places,
                         const struct as_table_style *style, struct as_buf *out)
{
    const size_t n = f->rows * f->columns;
    struct as_buf text = AS_BUF_INIT;
    char name[32];
    for (int p = 0; p < places; p++)
        at[p] = n;
    for (size_t i = 0; i < n; i++)
        if (f->lanes[i] == lane && f->places[i] >= 0)
            at[f->places[i]] = i;
    for (int p = 0; p < places; p++) {
        if (at[p] == n)
            as_buf_printf(&text, "%s-", p ? " " : "");
        else
            as_buf_printf(&text, "%s%zu,%zu", p ? " " : "", at[p] / f->columns, at[p] % f->columns);
    }
    snprintf(name, sizeof name, "lane %d", lane);
    as_explain_member(out, name, as_buf_get(&text), style);
    out->failed |= text.failed;
    as_buf_finish(&text);
}

void as_explain_fragment(const struct as_fragment *f, const struct as_table_style *style, struct as_buf *out)
{
    const size_t n = f->rows * f->columns;
    const int lanes = most_in(f->lanes, n) + 1, places = most_in(f->places, n) + 1;
    size_t *at = places > 0 ? calloc((size_t)places, sizeof *at) : NULL;
    as_text_title(out, "Elements by row and column, as lane.place", style);
    for (size_t row = 0; row < f->rows; row++)
        explain_row(f, row, style, out);
    if (lanes > 0 && at)
        as_text_title(out, "Elements by lane, as row,column of places 0, 1, ...", style);
    for (int lane = 0; lane < lanes && at; lane++)
        explain_lane(f, lane, at, places, style, out);
    out->failed |= places > 0 && !at;
    free(at);
}
