/* Explains the id of a fact, with what the last run says. */
#include "base/text.h"
#include "cli/explain/explain.h"
#include "report/model/load.h"
#include "report/terminal/terminal.h"

#include <string.h>

static void print_fact(const struct as_fact *f, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT, safe = AS_BUF_INIT;
    as_buf_printf(&line, "%s, %s: %s", f->device, as_fact_verdict_text(f->verdict), f->sentence);
    as_buf_terminal(&safe, as_buf_get(&line));
    as_buf_str(out, "  ");
    as_text_hang(out, as_buf_get(&safe), style->width, 4, 2);
    as_buf_clear(&line);
    as_buf_printf(&line, "Rule: %s. Refuted by: %s.", f->rule, f->refuted_by);
    as_text_fill(out, as_buf_get(&line), style->width, 4, 0);
    out->failed |= line.failed || safe.failed;
    as_buf_finish(&line);
    as_buf_finish(&safe);
}

bool as_explain_fact(struct as_store *store, const char *id, const struct as_table_style *style, struct as_buf *out)
{
    struct as_report_run run = {0};
    struct as_buf line = AS_BUF_INIT;
    if (!id[0] || strpbrk(id, "*? ") || !as_fact_ids_exist(id))
        return false;
    as_buf_printf(
        &line,
        "%s: the ID of a fact, a sentence that a rule derives from measurements. To see it with its measurements: "
        "assay facts %s",
        id, id);
    as_text_fill(out, as_buf_get(&line), style->width, 2, 0);
    as_buf_finish(&line);
    if (!store || as_report_load(store, "last", &run, NULL)) /* they are optional */
        return true;
    size_t n = 0;
    for (size_t i = 0; i < run.facts_n; i++) {
        if (strcmp(run.facts[i].id, id) != 0)
            continue;
        if (n++ == 0)
            as_text_title(out, "In the last run", style);
        print_fact(&run.facts[i], style, out);
    }
    as_report_run_finish(&run);
    return true;
}
