#include "report/map/map.h"
#include "report/model/collapse.h"
#include "report/page/markup.h"
#include "report/page/page.h"
#include "report/sheet/machine_runs.h"
#include "report/sheet/worth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A symbol before the word, so that colour alone does not carry the verdict. */
static const char *const verdict_signs[] = {[AS_SUPPORTED] = "✓", [AS_REFUTED] = "✗", [AS_UNDECIDED] = "?"};

static void evidence(struct as_page *p, const struct as_fact *f)
{
    struct as_buf *b = p->out;
    size_t n = f->evidence_n < AS_EVIDENCE_MAX ? f->evidence_n : AS_EVIDENCE_MAX;
    as_html_text(b, "dt", NULL, "Evidence");
    as_html_open(b, "dd", "cells");
    if (n == 0)
        as_buf_str(b, "no measurement");
    for (size_t i = 0; i < n; i++) {
        as_buf_str(b, i ? " " : n == 1 ? "measurement " : "measurements ");
        as_html_cell_linkf(b, f->evidence[i], "%lld", (long long)f->evidence[i]);
    }
    as_html_close(b, "dd");
}

static void facts_term(struct as_buf *b, const char *name, const char *text)
{
    if (!text || !text[0])
        return;
    as_html_text(b, "dt", NULL, name);
    as_html_text(b, "dd", NULL, text);
}

static void number_aside(struct as_buf *b, const char *what)
{
    as_buf_char(b, ' ');
    as_html_open(b, "span", NULL);
    as_buf_str(b, what);
}

static void facts_numbers(struct as_page *p, const struct as_fact *f)
{
    struct as_buf *b = p->out;
    if (!isfinite(f->value))
        return;
    as_html_open(b, "p", "num");
    as_html_open(b, "b", NULL);
    as_page_fact_value(b, f);
    as_html_close(b, "b");
    const struct as_number n = {.value = f->value, .ci = f->ci, .unit = f->unit};
    const enum as_said said = as_page_said(&n, f->claimed);
    if (said == AS_SAID_CLAIMED) {
        number_aside(b, "reported; measured ");
        as_page_range(b, f->ci.lo, f->ci.hi, f->unit);
        as_html_close(b, "span/p");
        return;
    }
    if (said == AS_SAID_VALUE && as_number_has_interval(&n)) {
        number_aside(b, "");
        as_page_interval(b, &n);
        as_html_close(b, "span");
    }
    if (isfinite(f->claimed)) {
        number_aside(b, "reported ");
        as_page_value(b, f->claimed, f->unit);
        as_html_close(b, "span");
    }
    as_html_close(b, "p");
}

const char *as_page_fact_id(const struct as_page *p, const struct as_report_run *rr, const struct as_fact *f,
                            char id[static AS_PAGE_FACT_ID])
{
    const size_t run = (size_t)(rr - p->runs), fact = (size_t)(f - rr->facts);
    snprintf(id, AS_PAGE_FACT_ID, run ? "f%zu-%zu" : "f%zu", fact, run);
    return id;
}

/* again: the same fact of an earlier run above, NULL for the first; its sentence is not repeated. */
static void facts_fact(struct as_page *p, const struct as_report_run *rr, const struct as_fact *f,
                       const struct as_fact *again)
{
    struct as_buf *b = p->out;
    char id[AS_PAGE_FACT_ID];
    as_html_tag(b, "li", "class='fact %s%s' id='%s'", again ? "again " : "", as_fact_verdict_word(f->verdict),
                as_page_fact_id(p, rr, f, id));
    as_html_open(b, "p", "verdict");
    as_html_tag(b, "span", "aria-hidden='true'");
    as_buf_str(b, verdict_signs[f->verdict]);
    as_html_close(b, "span");
    as_buf_printf(b, " %s", as_fact_verdict_text(f->verdict));
    if (p->n > 1)
        as_html_of_run(b, &rr->run);
    as_html_close(b, "p");
    as_html_text(b, "p", "sentence", again && strcmp(again->sentence, f->sentence) == 0 ? "" : f->sentence);
    facts_numbers(p, f);
    as_html_details(b, NULL, "Why");
    as_html_open(b, "dl", NULL);
    facts_term(b, "Rule", f->rule);
    facts_term(b, "Refuted by", f->refuted_by);
    evidence(p, f);
    as_html_text(b, "dt", NULL, "Name");
    as_html_open(b, "dd", NULL);
    as_html_text(b, "code", NULL, f->id);
    as_html_close(b, "dd/dl/details/li");
}

/* The same fact in every run, so that runs stand beside each other. */
static void fact_of_all(struct as_page *p, size_t from, const struct as_fact *f)
{
    facts_fact(p, &p->runs[from], f, NULL);
    for (size_t r = from + 1; r < p->n; r++) {
        const struct as_fact *other = as_fact_find(p->runs[r].facts, p->runs[r].facts_n, f->device, f->id);
        if (other)
            facts_fact(p, &p->runs[r], other, f);
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

/* The probe in whose section a fact stands: that of its first cell. NULL: it has none on this page. */
static const char *probe_of(const struct as_report_run *rr, const struct as_fact *f)
{
    const struct as_cell *c = f->evidence_n ? as_report_cell(rr, f->evidence[0]) : NULL;
    const struct as_probe *known = c ? as_probe_find(c->probe) : NULL;
    return c && as_report_is_measured(c) && !(known && known->hidden) ? c->probe : NULL;
}

static bool stands_with(const struct as_report_run *rr, const struct as_fact *f, const char *probe)
{
    const char *own = probe_of(rr, f);
    return probe && own ? strcmp(probe, own) == 0 : probe == own;
}

struct choice {
    const char *device, *probe; /* probe NULL: facts that stand with none */
    bool collapsed;
};

/* The facts chosen, each once for all runs. Returns their number; write: on the page too. */
static size_t facts_list(struct as_page *p, const struct choice *c, bool write)
{
    size_t n = 0;
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].facts_n; i++) {
            const struct as_report_run *rr = &p->runs[r];
            const struct as_fact *f = &rr->facts[i];
            if (strcmp(f->device, c->device) != 0 || seen_in_earlier_run(p, r, f) || !stands_with(rr, f, c->probe) ||
                as_fact_is_collapsed(rr->facts, rr->facts_n, i) != c->collapsed)
                continue;
            if (n++ == 0 && write)
                as_html_open(p->out, "ul", "facts");
            if (write)
                fact_of_all(p, r, f);
        }
    if (n && write)
        as_html_close(p->out, "ul");
    return n;
}

static void facts_of_device(struct as_page *p, const struct as_report_run *rr, const char *device, const char *probe)
{
    struct as_buf *b = p->out;
    const struct choice first = {device, probe, false}, more = {device, probe, true};
    const size_t first_n = facts_list(p, &first, false), more_n = facts_list(p, &more, false);
    if (!first_n && !more_n)
        return;
    as_html_device(b, rr, device, false);
    facts_list(p, &first, true);
    if (!more_n)
        return;
    as_html_details(b, "more", "%zu more", more_n);
    facts_list(p, &more, true);
    as_html_close(b, "details");
}

void as_page_facts_of(struct as_page *p, const char *probe)
{
    size_t n = 0;
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].facts_n; i++)
            n += !seen_in_earlier_run(p, r, &p->runs[r].facts[i]) &&
                 stands_with(&p->runs[r], &p->runs[r].facts[i], probe);
    if (!n)
        return;
    as_html_details(p->out, "more", "%zu %sfact%s", n, probe ? "" : "further ", n == 1 ? "" : "s");
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].facts_n; i++)
            if (!device_seen(p, r, i))
                facts_of_device(p, &p->runs[r], p->runs[r].facts[i].device, probe);
    as_html_close(p->out, "details");
}

static void list_worth(struct as_page *p, const struct as_report_run *rr, const struct as_worth *worth, size_t n)
{
    struct as_buf text = AS_BUF_INIT;
    as_html_open(p->out, "ul", "worth");
    for (size_t i = 0; i < n; i++) {
        char id[AS_PAGE_FACT_ID];
        as_html_open(p->out, "li", isnan(worth[i].fact->gain) ? "refuted" : NULL);
        as_buf_clear(&text);
        as_worth_text(&worth[i], &text);
        as_buf_html(p->out, as_buf_get(&text));
        const struct as_fact *own = as_fact_find(rr->facts, rr->facts_n, worth[i].fact->device, worth[i].fact->id);
        if (own) {
            as_buf_char(p->out, ' ');
            as_html_tag(p->out, "a", "class='why' href='#%s'", as_page_fact_id(p, rr, own, id));
            as_buf_str(p->out, "why");
            as_html_close(p->out, "a");
        }
        as_html_close(p->out, "li");
    }
    as_html_close(p->out, "ul");
    p->out->failed |= text.failed;
    as_buf_finish(&text);
}

/* Of all runs of the machine where the sheet is; this run then need not have the fact. */
static const struct as_report_run *run_of_worth(const struct as_report_run *rr)
{
    return rr->machine ? &rr->machine->fullest : rr;
}

static size_t page_faults(struct as_page *p, const struct as_report_run *rr)
{
    struct as_worth worth[AS_WORTH_FAULTS_MAX];
    const size_t n = as_worth_faults(run_of_worth(rr), worth, AS_WORTH_FAULTS_MAX);
    if (n)
        list_worth(p, rr, worth, n);
    return n;
}

/* Of what is worth knowing of the machine those of one device; returns how many. */
static size_t facts_worth(struct as_page *p, const struct as_report_run *rr, const char *device,
                          const struct as_worth *worth, size_t n)
{
    struct as_worth own[AS_WORTH_MAX];
    size_t of_device = 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(worth[i].fact->device, device) == 0)
            own[of_device++] = worth[i];
    if (!of_device)
        return 0;
    as_html_device(p->out, rr, device, false);
    list_worth(p, rr, own, of_device);
    return of_device;
}

/* Of a page of one run; returns how many facts there are. */
static size_t facts_of_machine(struct as_page *p)
{
    const struct as_report_run *rr = p->runs;
    struct as_worth worth[AS_WORTH_MAX];
    const size_t n = as_worth_knowing(run_of_worth(rr), worth, AS_WORTH_MAX);
    size_t told = page_faults(p, rr);
    for (size_t i = 0; i < rr->devices_n; i++) {
        size_t of_device = facts_worth(p, rr, rr->devices[i].id, worth, n);
        if (!of_device && !as_map_alike_before(rr, i))
            of_device = as_page_main_facts(p, rr->devices[i].id);
        told += of_device;
    }
    return told;
}

void as_page_facts(struct as_page *p)
{
    size_t total = 0, told = 0;
    as_html_part(p->out, p->n > 1, "facts", p->n == 1 ? "Worth knowing" : "Facts", NULL);
    for (size_t r = 0; r < p->n; r++)
        total += p->runs[r].facts_n;
    if (p->n == 1)
        told = facts_of_machine(p);
    as_html_paragraph(p->out, "lead",
                      total == 0 ? "No fact could be derived: too few valid measurements."
                      : told == 0 && p->n == 1
                          ? "Nothing here suggests a code change. Each probe's section lists its facts."
                          : "Each probe's section lists all its facts.");
    as_page_facts_of(p, NULL);
    as_html_part_end(p->out, p->n > 1);
}
