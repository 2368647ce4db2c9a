/* The table of cells that two backends measured on the same hardware, for page and terminal. */
#include "base/text.h"
#include "report/backends/backend_pairs.h"
#include "report/model/column.h"

#include <stdio.h>
#include <string.h>

/* Where the allocators differ, each stands with its value. Axes at their default say nothing. */
static void write_axes(struct as_buf *b, const struct as_backend_pair *pair)
{
    const struct as_probe *probe = as_probe_find(pair->a->probe);
    for (size_t i = 0; i < pair->a->axes.n; i++) {
        const struct as_axis_value *v = &pair->a->axes.v[i];
        const struct as_axis *axis = probe ? as_probe_axis(probe, v->name) : NULL;
        if ((axis && axis->def && strcmp(axis->def, v->text) == 0) ||
            (pair->allocators_differ && strcmp(v->name, "allocator") == 0))
            continue;
        as_buf_printf(b, "%s%s ", b->len ? ", " : "", v->name);
        as_axis_write(b, axis, v, as_buf_str);
    }
}

static void view_pair(struct as_view_table *t, const struct as_backend_pair *pair)
{
    const struct as_cell *const cells[] = {pair->a, pair->b};
    const struct as_comparison *c = &pair->comparison;
    struct as_buf text = AS_BUF_INIT;
    as_view_begin_row(t, true);
    as_view_text(t, pair->a->probe, AS_PAINT_NONE);
    write_axes(&text, pair);
    as_view_text(t, as_buf_get(&text), AS_PAINT_DIM);
    for (size_t i = 0; i < 2; i++) {
        as_view_measured(t, cells[i], NULL);
        as_view_text(t, pair->allocators_differ ? as_axes_text(&cells[i]->axes, "allocator") : "", AS_PAINT_DIM);
    }
    as_view_derived(t, (struct as_measure){c->ratio, c->ci}, "x");
    as_view_text(t, as_verdict_word(c->verdict),
                 c->verdict == AS_SLOWER   ? AS_PAINT_BAD
                 : c->verdict == AS_FASTER ? AS_PAINT_GOOD
                                           : AS_PAINT_NONE);
    t->failed |= text.failed;
    as_buf_finish(&text);
}

void as_backend_pairs_view(const struct as_backend_pair *pairs, size_t n, struct as_view_table *out)
{
    const char *const devices[] = {pairs->a->device, pairs->b->device};
    *out = (struct as_view_table){0};
    as_view_add_column(out, (struct as_view_column){.title = "probe"});
    as_view_add_column(out, (struct as_view_column){.title = "cell"});
    for (size_t i = 0; i < 2; i++) {
        struct as_view_column column = {.number = true};
        as_copy_text(column.title, sizeof column.title, devices[i]);
        as_view_add_column(out, column);
        as_view_add_column(out, (struct as_view_column){.title = "allocator", .under = true});
    }
    as_view_add_column(out, (struct as_view_column){.title = "ratio", .number = true});
    struct as_view_column verdict = {0};
    snprintf(verdict.title, sizeof verdict.title, "%.32s is", devices[1]);
    as_view_add_column(out, verdict);
    for (size_t i = 0; i < n; i++)
        view_pair(out, &pairs[i]);
}
