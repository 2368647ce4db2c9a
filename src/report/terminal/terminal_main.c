/* Below a data sheet of few lines: what the run is about. */
#include "report/sheet/main_results.h"
#include "report/terminal/terminal.h"

static enum as_status write_main_operations(const struct as_main_results *m, const struct as_report_run *run,
                                            const char *device, const struct as_table_style *style, struct as_buf *out,
                                            struct as_error *err)
{
    struct as_view_table table;
    as_operations_main_view(m->operations, m->operations_n, as_report_device(run, device), &table);
    const enum as_status st = as_view_terminal(&table, style, out, err);
    as_view_finish(&table);
    const struct as_operation *o = m->operations;
    as_buf_printf(out, "All operations: assay show %lld %s\n", (long long)run->run.id,
                  (o->throughput ? o->throughput : o->latency)->probe);
    return st;
}

static void write_main_facts(const struct as_main_results *m, const struct as_table_style *style, struct as_buf *out)
{
    for (size_t i = 0; i < m->facts_n; i++) {
        as_buf_str(out, style->unicode ? "• " : "- ");
        as_text_line(out, "", m->facts[i]->sentence, 2, 2, style);
    }
}

enum as_status as_text_main_results(const struct as_report_run *run, const char *device, const struct as_sheet *sheet,
                                    const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    struct as_main_results m = {0};
    enum as_status st = as_main_results_make(run, device, sheet, &m, err);
    if (m.operations_n || m.facts_n)
        as_text_title(out, "Main results", style);
    if (m.operations_n && !st)
        st = write_main_operations(&m, run, device, style, out, err);
    write_main_facts(&m, style, out);
    as_main_results_finish(&m);
    return st;
}
