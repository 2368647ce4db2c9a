/* Porting advice, and published figures next to measured values. */
#include "report/page.h"

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
    as_buf_str(b, " <span class=\"of\"><code>");
    as_buf_html(b, a->device);
    as_buf_str(b, "</code>");
    if (p->n > 1) {
        as_buf_char(b, ' ');
        as_page_run_name(b, &rr->run);
    }
    as_buf_str(b, "</span></p><p class=\"sentence\">");
    as_buf_html(b, a->sentence);
    as_buf_str(b, "</p><details><summary>Why</summary><dl>");
    for (size_t i = 0; i < a->numbers_n; i++) {
        const struct as_advice_number *number = &a->numbers[i];
        as_buf_str(b, "<dt>");
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
    as_buf_str(p->out, "<section id=\"advice\" aria-labelledby=\"advice-h\"><h2 id=\"advice-h\">Advice for ports</h2>\n"
                       "<p class=\"lead\">How code that moves to memory shared by CPU and device should use this "
                       "machine, from valid cells.</p>\n<ul class=\"facts\">\n");
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
    as_buf_str(p->out, "</section>\n");
}

/* ---- published figures ---- */

bool as_page_has_refs(const struct as_page *p)
{
    return p->n > 0 && p->runs[0].refs && p->runs[0].refs->n > 0;
}

/* Measured counterparts of a figure, one line per fact. */
static void measured(struct as_page *p, const struct as_ref *ref)
{
    struct as_buf *b = p->out;
    size_t said = 0;
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].facts_n; i++) {
            const struct as_fact *f = &p->runs[r].facts[i];
            if (!as_ref_is_beside(ref, f))
                continue;
            if (said++)
                as_buf_str(b, "<br>");
            as_page_fact_value(b, f);
            as_buf_str(b, " <code>");
            as_buf_html(b, f->device);
            as_buf_char(b, ' ');
            as_buf_html(b, f->id);
            as_buf_str(b, "</code>");
            if (p->n > 1) {
                as_buf_char(b, ' ');
                as_page_run_name(b, &p->runs[r].run);
            }
        }
}

static bool stands_beside(const struct as_page *p, const struct as_ref *ref)
{
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].facts_n; i++)
            if (as_ref_is_beside(ref, &p->runs[r].facts[i]))
                return true;
    return false;
}

static void figure(struct as_page *p, const struct as_ref *ref, bool with_measured)
{
    struct as_buf *b = p->out, text = AS_BUF_INIT;
    as_buf_str(b, "<tr><td>");
    as_buf_html(b, ref->chip);
    as_buf_str(b, strcmp(ref->device, "cpu") == 0      ? ", CPU</td><td>"
                  : strcmp(ref->device, "device") == 0 ? ", device</td><td>"
                                                       : "</td><td>");
    as_ref_what(ref, &text);
    as_buf_html(b, as_buf_get(&text));
    as_buf_str(b, "</td><td class=\"n\">");
    as_buf_clear(&text);
    as_ref_value(ref, true, &text);
    as_buf_html(b, as_buf_get(&text));
    as_buf_str(b, "</td>");
    if (with_measured) {
        as_buf_str(b, "<td>");
        measured(p, ref);
        as_buf_str(b, "</td>");
    }
    as_buf_str(b, "<td>");
    as_buf_html(b, ref->conditions);
    as_buf_str(b, "</td><td>");
    as_buf_html(b, ref->source);
    as_buf_str(b, "</td></tr>\n");
    b->failed |= text.failed;
    as_buf_finish(&text);
}

/* Figures with a matching fact, or those without. */
static void figures(struct as_page *p, const struct as_refs *refs, bool beside)
{
    as_buf_printf(
        p->out,
        "<div class=\"scroll\"><table><thead><tr><th>Machine</th><th>Figure</th><th class=\"n\">Published</th>%s"
        "<th>Conditions of the source</th><th>Source</th></tr></thead>\n<tbody>\n",
        beside ? "<th>Measured here</th>" : "");
    for (size_t i = 0; i < refs->n; i++)
        if (stands_beside(p, &refs->v[i]) == beside)
            figure(p, &refs->v[i], beside);
    as_buf_str(p->out, "</tbody></table></div>\n");
}

void as_page_refs(struct as_page *p)
{
    struct as_buf *b = p->out;
    if (!as_page_has_refs(p))
        return;
    const struct as_refs *refs = p->runs[0].refs;
    size_t beside = 0;
    for (size_t i = 0; i < refs->n; i++)
        beside += stands_beside(p, &refs->v[i]);
    as_buf_str(b, "<section id=\"refs\" aria-labelledby=\"refs-h\"><h2 id=\"refs-h\">Published figures</h2>\n"
                  "<p class=\"lead\">Figures of other machines as their sources state them, not measured here, beside "
                  "the facts of this page that answer the same question.</p>\n");
    if (beside)
        figures(p, refs, true);
    if (beside < refs->n) {
        as_buf_printf(b,
                      "<details class=\"more\"><summary>%zu figure%s without a matching fact on this page</summary>\n",
                      refs->n - beside, refs->n - beside == 1 ? "" : "s");
        figures(p, refs, false);
        as_buf_str(b, "</details>\n");
    }
    as_buf_str(b, "</section>\n");
}
