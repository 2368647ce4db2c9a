/* Lines of the data sheet that a user names. */
#include "cli/list/list.h"

#include "base/text.h"
#include "cli/options/lookup.h"
#include "report/sheet/machine_runs.h"
#include "report/terminal/terminal.h"

/* Leaves only the lines that the text means. */
static void keep_lines(struct as_device_sheet *d, const char *text)
{
    struct as_sheet *s = &d->sheet;
    size_t rows = 0, gaps = 0;
    for (size_t i = 0; i < s->n; i++) {
        const bool kept = as_quantity_is_meant(s->rows[i].of, text);
        if (d->runs && kept)
            d->runs[rows] = d->runs[i];
        else if (d->runs)
            as_line_runs_finish(&d->runs[i]);
        if (kept)
            s->rows[rows++] = s->rows[i];
    }
    for (size_t i = 0; i < s->gaps_n; i++)
        if (as_quantity_is_meant(s->gaps[i].of, text))
            s->gaps[gaps++] = s->gaps[i];
    s->n = rows;
    s->gaps_n = gaps;
}

static enum as_status lines_of_run(const struct as_args *args, const char *run, const char *text,
                                   const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    struct as_report_run of = {0};
    enum as_status st = as_named_report(args, run, &of, err);
    for (size_t i = 0; i < of.devices_n && !st; i++) {
        struct as_device_sheet d = {.runs = NULL};
        as_copy_text(d.id, sizeof d.id, of.devices[i].id);
        as_copy_text(d.name, sizeof d.name, as_report_device_name(&of, d.id));
        st = as_sheet_make(&of, d.id, &d.sheet, err);
        keep_lines(&d, text);
        if (!st)
            st = as_text_device_sheet(&d, &of, "", style, out, NULL, err);
        as_sheet_finish(&d.sheet);
    }
    as_report_run_finish(&of);
    return st;
}

/* *found: do complete runs of the machine have a data sheet? */
static enum as_status lines_of_machine(const struct as_args *args, const char *text, bool *found,
                                       const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    struct as_store *store = NULL;
    struct as_machine_runs m = {0};
    enum as_status st = as_cli_store(args, AS_STORE_READ, &store, err);
    if (!st)
        st = as_machine_runs_load(store, AS_MACHINE_NOW, NULL, &m, err);
    *found = !st && m.n;
    for (size_t i = 0; i < m.sheet.n && !st; i++) {
        keep_lines(&m.sheet.v[i], text);
        st = as_text_device_sheet(&m.sheet.v[i], &m.fullest, "", style, out, NULL, err);
    }
    as_machine_runs_finish(&m);
    as_store_close(store);
    return st == AS_NOTFOUND && !*found ? AS_OK : st;
}

enum as_status as_list_lines(const struct as_args *args, const char *run, const char *text,
                             const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    bool found = false;
    enum as_status st = run ? AS_OK : lines_of_machine(args, text, &found, style, out, err);
    if (!st && !found)
        st = lines_of_run(args, run, text, style, out, err);
    if (!st && !out->len)
        st = as_fail(err, AS_NOTFOUND, "no line '%s' has a number; to see what measures it: assay explain '%s'", text,
                     text);
    return st;
}
