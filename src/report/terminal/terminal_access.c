/* Matrices of agents and memories, and of pairs of GPUs, in the terminal. */
#include "report/model/access.h"
#include "report/model/pairs.h"
#include "report/terminal/terminal.h"

enum as_status as_text_access(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out,
                              struct as_error *err)
{
    if (!as_access_any(run))
        return AS_OK;
    struct as_view_table table;
    as_text_title(out, "Who reaches which memory", style);
    as_text_fill(out, as_access_caption, style->width, 0, 0);
    as_access_view(run, &table);
    enum as_status st = as_view_terminal(&table, style, out, err);
    as_view_finish(&table);
    return st;
}

enum as_status as_text_pairs(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out,
                             struct as_error *err)
{
    if (!as_pairs_any(run))
        return AS_OK;
    struct as_view_table table;
    as_text_title(out, "Pairs of GPUs", style);
    as_text_fill(out, as_pairs_caption, style->width, 0, 0);
    as_pairs_view(run, &table);
    enum as_status st = as_view_terminal(&table, style, out, err);
    as_view_finish(&table);
    return st;
}

void as_text_pairs_summary(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    as_pairs_summary(run, &line);
    if (line.len) {
        as_buf_char(out, '\n');
        as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    }
    out->failed |= line.failed;
    as_buf_finish(&line);
}
