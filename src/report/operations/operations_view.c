/* The table of operations, for page and terminal. */
#include "base/text.h"
#include "report/operations/operations.h"

#include <math.h>
#include <string.h>

static bool have_forms(const struct as_operation *rows, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (strcmp(rows[i].form, rows[0].form) != 0)
            return true;
    return false;
}

static struct as_measure without_interval(struct as_measure m)
{
    return (struct as_measure){m.value, {NAN, NAN}};
}

static void view_operation(struct as_view_table *t, const struct as_operation *o, bool with_form)
{
    struct as_buf text = AS_BUF_INIT;
    as_view_begin_row(t, as_operation_is_valid(o));
    if (o->word)
        as_view_link(t, o->name, AS_OPERATION_ANCHOR);
    else /* unknown names may collide as ids */
        as_view_text(t, o->name, AS_PAINT_NONE);
    as_view_text(t, o->word ? o->word->title : "not known to this assay", AS_PAINT_DIM);
    as_view_text(t, o->word ? o->word->type : "", AS_PAINT_NONE);
    if (with_form)
        as_view_text(t, o->form, AS_PAINT_DIM);
    as_view_measured(t, o->throughput, "");
    as_view_derived(t, without_interval(o->relative), "x");
    as_view_derived(t, without_interval(o->warp), "");
    as_view_measured(t, o->latency, "");
    as_view_derived(t, without_interval(o->adjusted), "");
    if (o->link_name[0])
        as_buf_printf(&text, "%s %s", o->link ? "at most, less" : "not known without", o->link_name);
    as_view_text(t, as_buf_get(&text), AS_PAINT_DIM);
    as_view_text(t, o->steps, AS_PAINT_NONE);
    as_buf_clear(&text);
    as_operation_status(o, &text);
    as_view_text(t, as_buf_get(&text), AS_PAINT_NONE);
    t->failed |= text.failed;
    as_buf_finish(&text);
}

void as_operations_view(const struct as_operation *rows, size_t n, struct as_view_table *out)
{
    static const struct as_view_column columns[] = {{.title = "operation"},
                                                    {.title = "what it is", .under = true, .spare = true},
                                                    {.title = "type"},
                                                    {.title = "form"},
                                                    {.title = "ops/cycle", .number = true},
                                                    {.title = "of ffma32's", .number = true, .spare = true},
                                                    {.title = "cycles each", .number = true},
                                                    {.title = "latency", .number = true},
                                                    {.title = "adjusted", .number = true},
                                                    {.title = "link", .under = true, .spare = true},
                                                    {.title = "one step", .spare = true},
                                                    {.title = "status"}};
    const bool forms = have_forms(rows, n);
    *out = (struct as_view_table){0};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (forms || strcmp(columns[i].title, "form") != 0)
            as_view_add_column(out, columns[i]);
    const char *before = "";
    for (size_t i = 0; i < n; i++) {
        const char *kind = rows[i].word ? rows[i].word->kind : "not known";
        view_operation(out, &rows[i], forms);
        if (strcmp(kind, before) != 0)
            as_view_group(out, kind);
        before = kind;
    }
}

size_t as_operations_end(const struct as_operation *rows, size_t n, size_t from)
{
    size_t end = from + 1;
    while (end < n && strcmp(rows[end].device, rows[from].device) == 0)
        end++;
    return end;
}
