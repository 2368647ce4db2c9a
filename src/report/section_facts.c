#include "report/collapse.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

/* A symbol before the word, so that colour alone does not carry the verdict. */
static const char *const verdict_signs[] = {[AS_SUPPORTED] = "✓", [AS_REFUTED] = "✗", [AS_UNDECIDED] = "?"};

static void evidence(struct as_page *p, const struct as_fact *f)
{
    struct as_buf *b = p->out;
    size_t n = f->evidence_n < AS_EVIDENCE_MAX ? f->evidence_n : AS_EVIDENCE_MAX;
    as_buf_str(b, "<dt>Evidence</dt><dd class=\"cells\">");
    if (n == 0)
        as_buf_str(b, "no cell");
    for (size_t i = 0; i < n; i++)
        as_buf_printf(b, "%s<a href=\"#c%lld\">%lld</a>",
                      i        ? " "
                      : n == 1 ? "cell "
                               : "cells ",
                      (long long)f->evidence[i], (long long)f->evidence[i]);
    as_buf_str(b, "</dd>");
}

static void term(struct as_buf *b, const char *name, const char *text)
{
    if (!text || !text[0])
        return;
    as_buf_printf(b, "<dt>%s</dt><dd>", name);
    as_buf_html(b, text);
    as_buf_str(b, "</dd>");
}

static void numbers(struct as_page *p, const struct as_fact *f)
{
    struct as_buf *b = p->out;
    if (!isfinite(f->value))
        return;
    as_buf_str(b, "<p class=\"num\"><b>");
    as_page_fact_value(b, f);
    as_buf_str(b, "</b>");
    enum as_said said = as_page_said(f);
    if (said == AS_SAID_CLAIMED) {
        as_buf_str(b, " <span>reported; measured ");
        as_page_range(b, f->ci.lo, f->ci.hi, f->unit);
        as_buf_str(b, "</span></p>");
        return;
    }
    if (said == AS_SAID_VALUE && isfinite(f->ci.lo) && isfinite(f->ci.hi)) {
        as_buf_str(b, " <span>");
        as_page_interval(b, f->value, f->ci, f->unit);
        as_buf_str(b, "</span>");
    }
    if (isfinite(f->claimed)) {
        as_buf_str(b, " <span>reported ");
        as_page_value(b, f->claimed, f->unit);
        as_buf_str(b, "</span>");
    }
    as_buf_str(b, "</p>");
}

/* again: the same fact of an earlier run above, NULL for the first; its sentence is not repeated. */
static void fact(struct as_page *p, const struct as_report_run *rr, const struct as_fact *f,
                 const struct as_fact *again)
{
    struct as_buf *b = p->out;
    const char *word = as_fact_verdict_word(f->verdict);
    as_buf_printf(b, again ? "<li class=\"fact again %s\">" : "<li class=\"fact %s\">", word);
    as_buf_printf(b, "<p class=\"verdict\"><span aria-hidden=\"true\">%s</span> %s", verdict_signs[f->verdict],
                  as_fact_verdict_text(f->verdict));
    if (p->n > 1) {
        as_buf_str(b, " <span class=\"of\">");
        as_page_run_name(b, &rr->run);
        as_buf_str(b, "</span>");
    }
    as_buf_str(b, "</p><p class=\"sentence\">");
    if (!again || strcmp(again->sentence, f->sentence) != 0)
        as_buf_html(b, f->sentence);
    as_buf_str(b, "</p>");
    numbers(p, f);
    as_buf_str(b, "<details><summary>Why</summary><dl>");
    term(b, "Rule", f->rule);
    term(b, "Refuted by", f->refuted_by);
    evidence(p, f);
    as_buf_str(b, "<dt>Name</dt><dd><code>");
    as_buf_html(b, f->id);
    as_buf_str(b, "</code></dd></dl></details></li>\n");
}

/* The same fact in every run, so that runs stand beside each other. */
static void fact_of_all(struct as_page *p, size_t from, const struct as_fact *f)
{
    fact(p, &p->runs[from], f, NULL);
    for (size_t r = from + 1; r < p->n; r++) {
        const struct as_fact *other = as_fact_find(p->runs[r].facts, p->runs[r].facts_n, f->device, f->id);
        if (other)
            fact(p, &p->runs[r], other, f);
    }
}

static bool seen_in_earlier_run(const struct as_page *p, size_t r, const struct as_fact *f)
{
    for (size_t e = 0; e < r; e++)
        if (as_fact_find(p->runs[e].facts, p->runs[e].facts_n, f->device, f->id))
            return true;
    return false;
}

static bool device_seen(const struct as_page *p, size_t run, size_t index)
{
    const char *device = p->runs[run].facts[index].device;
    for (size_t r = 0; r <= run; r++) {
        size_t end = r == run ? index : p->runs[r].facts_n;
        for (size_t i = 0; i < end; i++)
            if (strcmp(p->runs[r].facts[i].device, device) == 0)
                return true;
    }
    return false;
}

static void list(struct as_page *p, const char *device, bool folded)
{
    as_buf_str(p->out, "<ul class=\"facts\">\n");
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].facts_n; i++) {
            const struct as_fact *f = &p->runs[r].facts[i];
            if (strcmp(f->device, device) == 0 && !seen_in_earlier_run(p, r, f) &&
                as_fact_is_collapsed(p->runs[r].facts, p->runs[r].facts_n, i) == folded)
                fact_of_all(p, r, f);
        }
    as_buf_str(p->out, "</ul>\n");
}

static void facts_of_device(struct as_page *p, const char *device, const char *name)
{
    struct as_buf *b = p->out, more = AS_BUF_INIT;
    as_buf_str(b, "<h3><code>");
    as_buf_html(b, device);
    as_buf_str(b, "</code> ");
    as_buf_html(b, name);
    as_buf_str(b, "</h3>\n");
    list(p, device, false);
    for (size_t r = 0; r < p->n && more.len == 0; r++)
        as_collapsed_text(p->runs[r].facts, p->runs[r].facts_n, device, &more);
    if (more.len > 0) {
        as_buf_str(b, "<details class=\"more\"><summary>");
        as_buf_html(b, as_buf_get(&more));
        as_buf_str(b, "</summary>\n");
        list(p, device, true);
        as_buf_str(b, "</details>\n");
    }
    as_buf_finish(&more);
}

void as_page_facts(struct as_page *p)
{
    as_buf_str(p->out, "<section id=\"facts\" aria-labelledby=\"facts-h\"><h2 id=\"facts-h\">Facts</h2>\n");
    size_t total = 0;
    for (size_t r = 0; r < p->n; r++)
        total += p->runs[r].facts_n;
    if (total == 0)
        as_buf_str(p->out, "<p class=\"lead\">No fact could be derived: too few valid cells.</p>\n");
    else
        as_buf_str(p->out, "<p class=\"lead\">Sentences that a rule derived from valid cells, with the cells they rest "
                           "on and what would refute them.</p>\n");
    if (total)
        as_buf_printf(p->out, "<details class=\"more\"><summary>All %zu facts</summary>\n", total);
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].facts_n; i++)
            if (!device_seen(p, r, i))
                facts_of_device(p, p->runs[r].facts[i].device,
                                as_report_device_name(&p->runs[r], p->runs[r].facts[i].device));
    as_buf_str(p->out, total ? "</details>\n</section>\n" : "</section>\n");
}
