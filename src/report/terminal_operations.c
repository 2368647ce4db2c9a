/* Operations in the terminal: one table, a row each, by kind. */
#include "base/text.h"
#include "report/operations.h"
#include "report/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* with_interval: "9.98 ±0.4%", by the farther end. */
static void add_measure(struct as_table *t, struct as_measure m, bool with_interval, enum as_paint paint,
                        const struct as_table_style *style)
{
    struct as_buf b = AS_BUF_INIT;
    as_format_number(&b, m.value, 3);
    if (with_interval && m.ci.hi > m.ci.lo) {
        const double share = 100 * fmax(m.ci.hi - m.value, m.value - m.ci.lo) / m.value;
        as_buf_printf(&b, share < 9.95 ? "%s%.1f%%" : "%s%.0f%%", style->unicode ? " ±" : " +-", share);
    }
    as_table_add(t, as_buf_get(&b), paint);
    as_buf_finish(&b);
}

static void add_cell(struct as_table *t, const struct as_cell *c, const struct as_table_style *style)
{
    const bool has = c && as_text_measured(c);
    const struct as_measure m = {has ? c->sum.median : NAN, {NAN, NAN}};
    add_measure(t, m, false, has && as_cell_is_valid(c) ? AS_PAINT_STRONG : AS_PAINT_DIM, style);
}

static void add_row(struct as_table *t, const struct as_operation *o, bool with_form,
                    const struct as_table_style *style)
{
    struct as_buf text = AS_BUF_INIT;
    as_table_add(t, o->name, AS_PAINT_NONE);
    as_table_add(t, o->word ? o->word->type : "", AS_PAINT_NONE);
    if (with_form)
        as_table_add(t, o->form, AS_PAINT_DIM);
    add_cell(t, o->throughput, style);
    add_measure(t, o->warp, false, AS_PAINT_NONE, style);
    add_cell(t, o->latency, style);
    add_measure(t, o->adjusted, o->link != NULL, AS_PAINT_NONE, style);
    as_buf_str(&text, o->steps);
    if (o->link_name[0])
        as_buf_printf(&text, "%s%s", o->steps[0] ? "; with " : "with ", o->link_name);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_table_add(t, o->word ? o->word->title : "", AS_PAINT_DIM);
    as_buf_clear(&text);
    as_operation_status(o, &text);
    as_table_add(t, as_buf_get(&text), as_operation_is_valid(o) ? AS_PAINT_NONE : AS_PAINT_BAD);
    as_buf_finish(&text);
}

static enum as_status write_device(const struct as_operation *rows, size_t n, const struct as_table_style *style,
                                   struct as_buf *out, struct as_error *err)
{
    static const char *const heads[] = {"operation", "type",      ">ops/cycle",  ">cycles", ">latency",
                                        ">adjusted", "?one step", "?what it is", "status",  NULL};
    static const char *const with_forms[] = {"operation",   "type",     "form",      ">ops/cycle",
                                             ">cycles",     ">latency", ">adjusted", "?one step",
                                             "?what it is", "status",   NULL};
    struct as_buf line = AS_BUF_INIT;
    struct as_table t;
    bool forms = false;
    for (size_t i = 1; i < n; i++)
        forms |= strcmp(rows[i].form, rows[0].form) != 0;
    as_buf_terminal(&line, rows[0].device);
    as_buf_str(&line,
               ": results per cycle of a fully occupied compute unit; issue cycles of one instruction (of a warp or a "
               "vector); latency "
               "in cycles, with the link of the chain and, adjusted, without it");
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_buf_finish(&line);
    as_table_init(&t, forms ? with_forms : heads);
    for (size_t i = 0; i < n; i++)
        add_row(&t, &rows[i], forms, style);
    enum as_status st = as_table_write(&t, style, out, err);
    as_table_finish(&t);
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
        for (end = i + 1; end < kept && strcmp(rows[end].device, rows[i].device) == 0;)
            end++;
        st = write_device(rows + i, end - i, style, out, err);
    }
    free(rows);
    return st;
}
