/* The terminal's comparison of two backends on the same hardware. */
#include "base/text.h"
#include "model/metrics.h"
#include "report/backend_pairs.h"
#include "report/terminal.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN_MAX = 12 };

static void add_row(struct as_table *t, const struct as_backend_pair *twin)
{
    struct as_buf text = AS_BUF_INIT;
    const struct as_probe *probe = as_probe_find(twin->a->probe);
    const struct as_comparison *c = &twin->comparison;
    as_table_add(t, twin->a->probe, AS_PAINT_NONE);
    const char *lead = "";
    for (size_t i = 0; i < twin->a->axes.n; i++) {
        const struct as_axis_value *v = &twin->a->axes.v[i];
        const struct as_axis *axis = probe ? as_probe_axis(probe, v->name) : NULL;
        if ((axis && axis->def && strcmp(axis->def, v->text) == 0) ||
            (twin->allocators_differ && strcmp(v->name, "allocator") == 0))
            continue;
        as_buf_printf(&text, "%s%s=", lead, v->name);
        as_text_axis(&text, v, probe);
        lead = " ";
    }
    if (twin->allocators_differ) {
        as_buf_printf(&text, "%sin ", lead);
        as_buf_terminal(&text, as_axes_text(&twin->a->axes, "allocator"));
        as_buf_str(&text, " and ");
        as_buf_terminal(&text, as_axes_text(&twin->b->axes, "allocator"));
    }
    as_table_add(t, as_buf_get(&text), AS_PAINT_DIM);
    const struct as_cell *const cells[] = {twin->a, twin->b};
    for (size_t i = 0; i < 2; i++) {
        as_buf_clear(&text);
        as_cell_value(cells[i], cells[i]->sum.median, &text);
        as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    }
    as_buf_clear(&text);
    as_format_number(&text, c->ratio, 3);
    as_buf_str(&text, " (");
    as_format_number(&text, c->ci.lo, 3);
    as_buf_str(&text, " to ");
    as_format_number(&text, c->ci.hi, 3);
    as_buf_char(&text, ')');
    as_table_add(t, as_buf_get(&text), AS_PAINT_STRONG);
    as_table_add(t, as_verdict_word(c->verdict), c->verdict == AS_SLOWER ? AS_PAINT_BAD : AS_PAINT_GOOD);
    as_buf_finish(&text);
}

static enum as_status write_pair(const struct as_backend_pair *backend_pairs, size_t n,
                                 const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    struct as_buf line = AS_BUF_INIT;
    char first[40] = ">", second[40] = ">", verdict[48];
    as_copy_text(first + 1, sizeof first - 1, backend_pairs->a->device);
    as_copy_text(second + 1, sizeof second - 1, backend_pairs->b->device);
    snprintf(verdict, sizeof verdict, "%s is", backend_pairs->b->device);
    const char *heads[] = {"probe", "cell", first, second, ">ratio", verdict, NULL};
    as_buf_terminal(&line, backend_pairs->a->device);
    as_buf_str(&line, " and ");
    as_buf_terminal(&line, backend_pairs->b->device);
    as_buf_str(&line, ": ");
    as_backend_pairs_summary(&line, backend_pairs, n);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_buf_finish(&line);
    struct as_table t;
    size_t differ = 0;
    as_table_init(&t, heads);
    for (size_t i = 0; i < n && as_backend_pair_differs(&backend_pairs[i]); i++, differ++)
        if (differ < SHOWN_MAX)
            add_row(&t, &backend_pairs[i]);
    enum as_status st = differ ? as_table_write(&t, style, out, err) : AS_OK;
    as_table_finish(&t);
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
        st = write_pair(&run->backend_pairs[i], end - i, style, out, err);
    }
    return st;
}
