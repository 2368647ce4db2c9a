/* Below a data sheet of few lines: what the run is about. */
#include "report/page/markup.h"
#include "report/page/page.h"
#include "report/sheet/main_results.h"

#include <string.h>

static void write_main_operations(struct as_page *p, const char *device, const struct as_main_results *m)
{
    struct as_view_table table;
    as_operations_main_view(m->operations, m->operations_n, as_report_device(p->runs, device), &table);
    as_view_page(&table, "operations main", "Main results", p->out);
    as_view_finish(&table);
    as_html_open(p->out, "p", "meta");
    as_html_link_text(p->out, "", "operations", "All operations");
    as_html_close(p->out, "p");
}

enum as_status as_page_main_operations(struct as_page *p, const char *device, const struct as_sheet *sheet)
{
    struct as_main_results m = {0};
    const enum as_status st = as_main_results_make(p->runs, device, sheet, &m, p->err);
    if (!st && m.operations_n) {
        as_html_open(p->out, "section", "main");
        as_html_text(p->out, "h3", NULL, "Main results");
        write_main_operations(p, device, &m);
        as_html_close(p->out, "section");
    }
    as_main_results_finish(&m);
    return st;
}

static void write_main_facts(struct as_page *p, const char *device, const struct as_main_results *m)
{
    as_html_device(p->out, p->runs, device, false);
    as_html_open(p->out, "ul", "worth");
    for (size_t i = 0; i < m->facts_n; i++) {
        char id[AS_PAGE_FACT_ID];
        as_html_open(p->out, "li", NULL);
        as_buf_html(p->out, m->facts[i]->sentence);
        as_buf_char(p->out, ' ');
        as_html_tag(p->out, "a", "class='why' href='#%s'", as_page_fact_id(p, p->runs, m->facts[i], id));
        as_buf_str(p->out, "why");
        as_html_close(p->out, "a/li");
    }
    as_html_close(p->out, "ul");
}

size_t as_page_main_facts(struct as_page *p, const char *device)
{
    struct as_main_results m = {0};
    struct as_sheet sheet = {0};
    enum as_status st = as_sheet_make(p->runs, device, &sheet, p->err);
    if (!st)
        st = as_main_results_make(p->runs, device, &sheet, &m, p->err);
    const size_t n = m.facts_n;
    if (n)
        write_main_facts(p, device, &m);
    p->out->failed |= st != AS_OK;
    as_main_results_finish(&m);
    as_sheet_finish(&sheet);
    return n;
}
