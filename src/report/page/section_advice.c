/* Porting advice. */
#include "report/page/markup.h"
#include "report/page/page.h"

#include <string.h>

bool as_page_has_advice(const struct as_page *p)
{
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].advice_n; i++)
            if (p->runs[r].advice[i].known)
                return true;
    return false;
}

enum { OPEN = 7 }; /* answers that are not folded */

static void advice(struct as_page *p, const struct as_report_run *rr, const struct as_advice *a)
{
    struct as_buf *b = p->out;
    as_html_tag(b, "li", "class='fact %s'", a->warning ? "refuted" : "supported");
    as_html_open(b, "p", "verdict");
    as_buf_html(b, a->question);
    as_buf_char(b, ' ');
    as_html_open(b, "span", "of");
    as_html_text(b, "code", NULL, a->device);
    if (p->n > 1) {
        as_buf_char(b, ' ');
        as_page_run_name(b, &rr->run);
    }
    as_html_close(b, "span/p");
    const size_t first = as_advice_first_statement(a);
    as_html_open(b, "p", "sentence");
    as_html_printf(b, "%.*s", (int)first, a->sentence);
    as_html_text(b, "span", "further", a->sentence + first);
    as_html_close(b, "p");
    as_html_details(b, NULL, "The whole answer, with numbers");
    as_html_open(b, "dl", NULL);
    for (size_t i = 0; i < a->numbers_n; i++) {
        const struct as_advice_number *number = &a->numbers[i];
        as_html_text(b, "dt", NULL, number->what);
        as_html_open(b, "dd", NULL);
        const struct as_number n = {
            .value = number->value, .ci = number->ci, .unit = number->unit, .trials = number->trials};
        as_page_number(b, &n);
        if (number->ci.hi > number->ci.lo && as_number_has_interval(&n)) {
            as_buf_str(b, " (");
            as_page_interval(b, &n);
            as_buf_char(b, ')');
        }
        as_buf_str(b, ", ");
        as_html_cell_linkf(b, number->cell, "measurement %lld", (long long)number->cell);
        as_html_close(b, "dd");
    }
    as_html_close(b, "dl/details/li");
}

void as_page_advice(struct as_page *p)
{
    size_t open = 0, known = 0;
    if (!as_page_has_advice(p))
        return;
    as_html_part(p->out, p->n > 1, "advice", "Porting advice",
                 "How code that moves to memory shared by CPU and device should use this machine.");
    as_html_open(p->out, "ul", "facts");
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].advice_n; i++) {
            if (p->runs[r].advice[i].known && known++ == OPEN) {
                as_html_close(p->out, "ul");
                as_html_details(p->out, "more", "Smaller effects");
                as_html_open(p->out, "ul", "facts");
            }
            if (p->runs[r].advice[i].known)
                advice(p, &p->runs[r], &p->runs[r].advice[i]);
            open += !p->runs[r].advice[i].known;
        }
    as_html_close(p->out, known > OPEN ? "ul/details" : "ul");
    if (open)
        as_html_paragraphf(p->out, NULL, "%zu question%s measurements; `assay advise --all` names the commands.", open,
                           open == 1 ? " lacks" : "s lack");
    as_html_part_end(p->out, p->n > 1);
}
