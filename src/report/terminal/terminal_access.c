/* The matrix of agents and memories in the terminal. */
#include "report/model/access.h"
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
