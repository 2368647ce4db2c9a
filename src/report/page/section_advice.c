/* Porting advice. */
#include "report/page/markup.h"
#include "report/page/page.h"

#include <math.h>
#include <string.h>

bool as_page_has_advice(const struct as_page *p)
{
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].advice_n; i++)
            if (p->runs[r].advice[i].known)
                return true;
    return false;
}

static void advice(struct as_page *p, const struct as_report_run *rr, const struct as_advice *a)
{
    struct as_buf *b = p->out;
    as_buf_printf(b, "<li class=\"fact %s\"><p class=\"verdict\">", a->warning ? "refuted" : "supported");
    as_buf_html(b, a->question);
    as_buf_str(b, " <span class=\"of\">");
    as_html_text(b, "code", NULL, a->device);
    if (p->n > 1) {
        as_buf_char(b, ' ');
        as_page_run_name(b, &rr->run);
    }
    as_buf_str(b, "</span></p><p class=\"sentence\">");
    as_buf_html(b, a->sentence);
    as_buf_str(b, "</p><details><summary>Why</summary><dl>");
    for (size_t i = 0; i < a->numbers_n; i++) {
        const struct as_advice_number *number = &a->numbers[i];
        as_html_open(b, "dt", NULL);
        as_buf_html(b, number->what);
        as_buf_str(b, "</dt><dd>");
        as_page_value(b, number->value, number->unit);
        if (number->ci.hi > number->ci.lo) {
            as_buf_str(b, " (");
            as_page_interval(b, number->value, number->ci, number->unit);
            as_buf_char(b, ')');
        }
        as_buf_printf(b, ", <a href=\"#c%lld\">cell %lld</a></dd>", (long long)number->cell, (long long)number->cell);
    }
    as_buf_str(b, "</dl></details></li>\n");
}

void as_page_advice(struct as_page *p)
{
    size_t open = 0;
    if (!as_page_has_advice(p))
        return;
    as_html_section(
        p->out, "advice", "Advice for ports",
        "How code that moves to memory shared by CPU and device should use this machine, from valid cells.");
    as_buf_str(p->out, "<ul class=\"facts\">\n");
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].advice_n; i++) {
            if (p->runs[r].advice[i].known)
                advice(p, &p->runs[r], &p->runs[r].advice[i]);
            open += !p->runs[r].advice[i].known;
        }
    as_buf_str(p->out, "</ul>\n");
    if (open)
        as_buf_printf(p->out,
                      "<p>%zu more question%s no valid cells here; <code>assay advise</code> names the "
                      "commands that would measure them.</p>\n",
                      open, open == 1 ? " has" : "s have");
    as_html_section_end(p->out);
}
