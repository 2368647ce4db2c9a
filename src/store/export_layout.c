/* Export: a row per element of each operand whose place in lanes and registers a cell found. */
#include "store/sql.h"

#include "model/fragment.h"

static void write_place(struct as_buf *out, int v)
{
    as_buf_char(out, ',');
    if (v >= 0)
        as_buf_printf(out, "%d", v);
}

static void export_layout_axis(const struct as_cell *c, const char *name, struct as_buf *out)
{
    const struct as_axis_value *v = as_axes_get(&c->axes, name);
    as_buf_char(out, ',');
    as_buf_csv(out, v ? v->text : "");
}

static enum as_status export_layout_cell(void *user, struct as_cell *cell, struct as_error *err)
{
    const struct as_sink *sink = user;
    struct as_fragment f;
    enum as_status st = AS_OK;
    if (cell->status != AS_CELL_OK || !as_fragment_of(cell, &f))
        return AS_OK;
    for (size_t i = 0; i < f.rows * f.columns && !st; i++) {
        as_buf_printf(sink->out, "%lld,", (long long)cell->id);
        as_buf_csv(sink->out, cell->device);
        export_layout_axis(cell, "instruction", sink->out);
        export_layout_axis(cell, "n", sink->out);
        export_layout_axis(cell, "operand", sink->out);
        as_buf_printf(sink->out, ",%zu,%zu", i / f.columns, i % f.columns);
        write_place(sink->out, f.lanes[i]);
        write_place(sink->out, f.places[i]);
        as_buf_str(sink->out, "\r\n");
        st = as_sink_pass(sink, false, err);
    }
    as_fragment_finish(&f);
    return st;
}

enum as_status as_store_export_layout(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                                      struct as_error *err)
{
    bool begun;
    enum as_status st = as_begin_read(store, &begun, err);
    if (st)
        return st;
    as_buf_str(sink->out, "cell,device,instruction,n,operand,row,column,lane,place\r\n");
    st = as_store_each_cell(store, &(struct as_cell_filter){.run_id = run->id}, export_layout_cell, (void *)sink, err);
    if (!st)
        st = as_sink_pass(sink, true, err);
    return begun ? as_end(store, st, err) : st;
}
