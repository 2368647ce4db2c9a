/* Operations in the terminal: one table per device, a row each, by kind. */
#include "report/operations/instructions.h"
#include "report/operations/operations.h"
#include "report/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>

static enum as_status write_operations(const struct as_operation *rows, size_t n, const struct as_table_style *style,
                                       struct as_buf *out, struct as_error *err)
{
    struct as_buf line = AS_BUF_INIT;
    struct as_view_table table;
    as_buf_terminal(&line, rows[0].device);
    as_buf_str(&line,
               ": results per cycle of a fully occupied compute unit; issue cycles of one instruction (of a warp "
               "or a vector); latency in cycles, with the link of the chain and, adjusted, without it");
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_buf_finish(&line);
    as_operations_view(rows, n, &table);
    enum as_status st = as_view_terminal(&table, style, out, err);
    as_view_finish(&table);
    return st;
}

enum as_status as_text_operations(const struct as_report_run *run, const char *op, const struct as_table_style *style,
                                  struct as_buf *out, struct as_error *err)
{
    struct as_operation *rows = NULL;
    size_t n = 0, kept = 0;
    enum as_status st = as_operations_make(run, &rows, &n, err);
    for (size_t i = 0; i < n && !st; i++)
        if (!op || strcmp(rows[i].name, op) == 0)
            rows[kept++] = rows[i];
    if (kept)
        as_text_title(out, "Operations", style);
    for (size_t i = 0, end; i < kept && !st; i = end) {
        end = as_operations_end(rows, kept, i);
        st = write_operations(rows + i, end - i, style, out, err);
    }
    free(rows);
    return st;
}

enum as_status as_text_instructions(const struct as_report_run *run, const struct as_table_style *style,
                                    struct as_buf *out, struct as_error *err)
{
    struct as_view_table table;
    enum as_status st = AS_OK;
    as_instructions_view(run, &table);
    if (table.rows_n) {
        as_text_title(out, "CPU instructions", style);
        as_text_fill(out,
                     "latency in cycles, of all pairs of operands, and of each where they differ (2to1: from operand 2 "
                     "to operand 1); cycles each, of independent instructions",
                     style->width, 0, 0);
        st = as_view_terminal(&table, style, out, err);
    }
    as_view_finish(&table);
    return st;
}
