#include "report/operations/instructions.h"

#include "model/metrics.h"
#include "model/number.h"
#include "probe/view_role.h"

#include <string.h>

bool as_instructions_is_of(const char *probe)
{
    return strcmp(probe, as_view_probes[AS_VIEW_INSTRUCTION_OPERANDS]) == 0;
}

static const char *instruction_of(const struct as_cell *c)
{
    return as_axes_text(&c->axes, "instruction");
}

static bool is_throughput(const struct as_cell *c)
{
    return strcmp(as_axes_text(&c->axes, "what"), "throughput") == 0;
}

/* Of one instruction: mixtures of two have a row of neither. */
static bool is_counted(const struct as_cell *c)
{
    return as_has_role(c, AS_VIEW_INSTRUCTION_OPERANDS) && as_report_has_number(c) && instruction_of(c)[0] &&
           !(as_detail_number(c->detail, "first") > 0);
}

static bool is_same(const struct as_cell *a, const struct as_cell *b)
{
    return strcmp(instruction_of(a), instruction_of(b)) == 0 && strcmp(a->device, b->device) == 0;
}

static void cycles_text(const struct as_cell *c, struct as_buf *out)
{
    struct as_number n = as_number_of_cell(c);
    n.unit = "";
    as_buf_clear(out);
    as_number_brief(&n, out);
}

/* One value or bound, which can be the end of a range. */
static bool is_end(const struct as_cell *c)
{
    const struct as_number n = as_number_of_cell(c);
    const enum as_number_form form = as_number_form(&n);
    return form == AS_NUMBER_VALUE || form == AS_NUMBER_ONE_TRIAL || form == AS_NUMBER_BOUND;
}

/* Latencies are whole cycles: closer ones are the same. */
static const double SAME = 1.02;

struct latencies {
    const struct as_cell *any, *least, *most;
    struct as_buf each; /* "2to1 3.00, 3to1 4.00" */
    bool noisy;         /* one is no end of a range */
};

static void add_latency(struct latencies *l, const struct as_cell *c)
{
    struct as_buf text = AS_BUF_INIT;
    cycles_text(c, &text);
    as_buf_printf(&l->each, "%s%s %s", l->any ? ", " : "", as_axes_text(&c->axes, "what"), as_buf_get(&text));
    l->any = l->any ? l->any : c;
    l->noisy |= !is_end(c);
    if (is_end(c) && (!l->least || c->sum.median < l->least->sum.median))
        l->least = c;
    if (is_end(c) && (!l->most || c->sum.median > l->most->sum.median))
        l->most = c;
    l->each.failed |= text.failed;
    as_buf_finish(&text);
}

static bool is_bound(const struct as_cell *c)
{
    return as_number_of_cell(c).bound != 0;
}

static void view_latencies(struct as_view_table *t, const struct latencies *l)
{
    struct as_buf least = AS_BUF_INIT, most = AS_BUF_INIT;
    const bool range = l->most && l->most->sum.median > SAME * l->least->sum.median;
    const struct as_cell *from = l->least ? l->least : l->any;
    if (from && !range && l->most && is_bound(from))
        from = l->most;
    if (from)
        cycles_text(from, &least);
    if (range) {
        cycles_text(l->most, &most);
        as_buf_printf(&least, " to %s", as_buf_get(&most));
    }
    as_view_text(t, from ? as_buf_get(&least) : "–", AS_PAINT_NONE);
    as_view_text(t, range || (l->noisy && l->least) ? as_buf_get(&l->each) : "", AS_PAINT_DIM);
    t->failed |= least.failed || most.failed || l->each.failed;
    as_buf_finish(&least);
    as_buf_finish(&most);
}

static void view_instruction(struct as_view_table *t, const struct as_report_run *run, size_t from)
{
    const struct as_cell *first = &run->cells[from], *throughput = NULL;
    struct latencies latencies = {.each = AS_BUF_INIT};
    bool valid = true;
    for (size_t i = from; i < run->cells_n; i++) {
        const struct as_cell *c = &run->cells[i];
        if (!is_counted(c) || !is_same(c, first))
            continue;
        valid &= as_cell_is_valid(c);
        if (is_throughput(c))
            throughput = c;
        else
            add_latency(&latencies, c);
    }
    as_view_begin_row(t, valid);
    as_view_text(t, instruction_of(first), AS_PAINT_NONE);
    view_latencies(t, &latencies);
    as_view_measured(t, throughput, "");
    as_buf_finish(&latencies.each);
}

static bool is_first_of_row(const struct as_report_run *run, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (is_counted(&run->cells[i]) && is_same(&run->cells[i], &run->cells[at]))
            return false;
    return is_counted(&run->cells[at]);
}

void as_instructions_view(const struct as_report_run *run, struct as_view_table *out)
{
    static const struct as_view_column columns[] = {{.title = "instruction"},
                                                    {.title = "latency, cycles", .number = true},
                                                    {.title = "by operand", .under = true},
                                                    {.title = "cycles each", .number = true}};
    *out = (struct as_view_table){0};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        as_view_add_column(out, columns[i]);
    for (size_t i = 0; i < run->cells_n; i++)
        if (is_first_of_row(run, i))
            view_instruction(out, run, i);
}
