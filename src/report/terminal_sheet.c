/* The data sheet in the terminal, and what is worth knowing beside it. */
#include "base/text.h"
#include "facts/facts.h"
#include "report/sheet.h"
#include "report/terminal.h"

#include <math.h>
#include <string.h>

enum { BAR = 12 };

static void add_row(struct as_table *t, const struct as_sheet_row *r, bool first, const struct as_table_style *style)
{
    struct as_buf text = AS_BUF_INIT;
    const double share = as_sheet_share(r), half = 50 * (r->ci.hi - r->ci.lo) / fabs(r->value);
    as_table_add(t, first ? r->group : "", AS_PAINT_STRONG);
    as_table_add(t, r->label, AS_PAINT_NONE);
    as_format_value(&text, r->value, r->unit);
    as_table_add(t, as_buf_get(&text), AS_PAINT_STRONG);
    as_buf_clear(&text);
    if (isfinite(half))
        as_buf_printf(&text, half < 9.95 ? "%.1f%%%s" : "%.0f%%%s", half, r->wide ? " ~" : "");
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_clear(&text);
    if (isfinite(share))
        as_format_value(&text, r->specified, r->unit);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_clear(&text);
    if (isfinite(share))
        as_buf_printf(&text, "%.0f%%", 100 * share);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_clear(&text);
    if (isfinite(share))
        as_text_bar(&text, share < 1 ? share : 1, BAR, style->unicode);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_table_add(t, r->remark, AS_PAINT_DIM);
    as_buf_finish(&text);
}

enum as_status as_text_sheet(const struct as_report_run *run, const char *device, const struct as_table_style *style,
                             struct as_buf *out, struct as_error *err)
{
    struct as_sheet sheet;
    struct as_buf title = AS_BUF_INIT;
    struct as_table t;
    enum as_status st = as_sheet_make(run, device, &sheet, err);
    if (st || !sheet.n)
        goto done;
    const char *name = as_report_device_name(run, device);
    as_buf_printf(&title, "%s%s", device, name[0] ? ": " : "");
    as_buf_str(&title, name);
    as_text_title(out, as_buf_get(&title), style);
    const bool specified = as_sheet_has_shares(&sheet);
    const char *heads[] = {"",
                           "",
                           ">measured",
                           style->unicode ? ">±" : ">+-",
                           specified ? ">specified" : "?>",
                           specified ? ">of spec" : "?>",
                           "?",
                           "",
                           NULL};
    as_table_init(&t, heads);
    for (size_t i = 0; i < sheet.n; i++)
        add_row(&t, &sheet.rows[i], i == 0 || strcmp(sheet.rows[i].group, sheet.rows[i - 1].group) != 0, style);
    st = as_table_write(&t, style, out, err);
    as_table_finish(&t);
done:
    as_sheet_finish(&sheet);
    as_buf_finish(&title);
    return st;
}
