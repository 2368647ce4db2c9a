/* The terminal's comparison of two backends on the same hardware: those cells that differ most. */
#include "report/backends/backend_pairs.h"
#include "report/terminal/terminal.h"

enum { SHOWN_MAX = 12 };

static enum as_status terminal_backend_pairs_write(const struct as_backend_pair *pairs, size_t n,
                                                   const struct as_table_style *style, struct as_buf *out,
                                                   struct as_error *err)
{
    struct as_buf line = AS_BUF_INIT;
    as_buf_terminal(&line, pairs->a->device);
    as_buf_str(&line, " and ");
    as_buf_terminal(&line, pairs->b->device);
    as_buf_str(&line, ": ");
    as_backend_pairs_summary(&line, pairs, n);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_buf_finish(&line);
    size_t differ = 0;
    while (differ < n && as_backend_pair_differs(&pairs[differ]))
        differ++;
    if (!differ)
        return AS_OK;
    struct as_view_table table;
    as_backend_pairs_view(pairs, differ < SHOWN_MAX ? differ : (size_t)SHOWN_MAX, &table);
    enum as_status st = as_view_terminal(&table, style, out, err);
    as_view_finish(&table);
    if (differ > SHOWN_MAX)
        as_buf_printf(out, "  and %zu more that differ: 'assay report' has all of them\n", differ - SHOWN_MAX);
    return st;
}

enum as_status as_text_backend_pairs(const struct as_report_run *run, const struct as_table_style *style,
                                     struct as_buf *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    if (run->backend_pairs_n)
        as_text_title(out, "Two backends, one device", style);
    for (size_t i = 0, end; i < run->backend_pairs_n && !st; i = end) {
        end = as_backend_pairs_end(run, i);
        st = terminal_backend_pairs_write(&run->backend_pairs[i], end - i, style, out, err);
    }
    return st;
}
