/* One probe's section, and the main curves: the first picture of each probe that leads, near the top of the page. */
#include "probe/view_role.h"
#include "report/operations/instructions.h"
#include "report/page/markup.h"
#include "report/page/page.h"

#include <limits.h>
#include <string.h>

/* Its picture is drawn from the facts of several probes. */
static bool is_roofline(const char *probe)
{
    return strcmp(as_view_probes[AS_VIEW_ROOFLINE], probe) == 0;
}

enum { FEW_PROBES = 2 };  /* of a page: their sections are open where no curve is */
enum { MAIN_CURVES = 4 }; /* leads that are shown if they tell something; the others stand in for those that do not */
enum { NO_LEAD = 1000 };  /* a probe that has a picture but no lead comes behind those that have one */

static unsigned lead_of(const char *probe)
{
    for (unsigned i = 0; as_probes[i]; i++)
        if (strcmp(as_probes[i]->name, probe) == 0)
            return as_probe_leads[i] ? as_probe_leads[i] : NO_LEAD + i;
    return 0;
}

static bool has_picture(const struct as_probe *probe)
{
    size_t len;
    return as_page_vega_size > 1 && probe && as_figure_find(probe->name, &len);
}

struct tally {
    size_t total, measured, rejected;
    bool alike; /* all in the unit of the probe */
};

static struct tally section_probe_count(const struct as_page *p, const struct as_probe *known, const char *probe)
{
    struct tally t = {.alike = known && known->unit};
    for (size_t r = 0; r < p->n; r++) {
        for (size_t i = 0; i < p->runs[r].cells_n; i++) {
            const struct as_cell *c = &p->runs[r].cells[i];
            if (strcmp(c->probe, probe) != 0)
                continue;
            t.total++;
            t.alike = t.alike && strcmp(c->unit, known->unit) == 0;
            t.measured += as_report_is_measured(c);
            t.rejected += c->status == AS_CELL_REJECTED;
        }
    }
    return t;
}

static void section_probe_intro(struct as_page *p, const struct as_probe *probe, const char *name)
{
    struct as_buf *b = p->out;
    struct tally t = section_probe_count(p, probe, name);
    as_html_text(b, "p", "lead",
                 probe ? probe->question
                       : "This version of assay does not have the probe; another version measured its numbers.");
    as_html_open(b, "p", "meta");
    as_buf_printf(b, "%zu of %zu measurements succeeded", t.measured, t.total);
    if (t.rejected)
        as_buf_printf(b, "; %zu of them rejected, drawn hollow, with the failed gates in the table", t.rejected);
    as_html_prose(b, t.total > t.measured ? "; [why the others did not](#missing)." : ".");
    as_html_close(b, "p");
    if (probe && probe->counts) {
        as_html_open(b, "p", "counts");
        as_html_text(b, "b", NULL, "What it counts");
        as_buf_char(b, ' ');
        as_buf_html(b, probe->counts);
        as_buf_str(b, !t.alike && !probe->own_metrics ? "."
                      : probe->lower_is_better        ? ". Lower is better."
                                                      : ". Higher is better.");
        for (const struct as_own_metric *own = probe->own_metrics; own && own->axis; own++) {
            as_buf_printf(b, " With %s=%s: ", own->axis, own->word);
            as_buf_html(b, own->metric.counts);
            as_buf_str(b, own->metric.lower_is_better ? ". Lower is better." : ". Higher is better.");
        }
        as_html_close(b, "p");
    }
}

/* part: "lead" is the probe's first picture, "rest" are the others, "all" are both. */
static void picture(struct as_page *p, const struct as_probe *probe, const char *name, const char *part)
{
    if (!has_picture(probe))
        return;
    struct as_buf *b = p->out;
    as_html_open(b, "figure", "chart");
    as_html_start(b, "div");
    as_html_attribute(b, "class", "plots");
    as_html_attribute(b, "data-part", part);
    as_html_attribute(b, "data-figure", name);
    as_html_attribute(b, "data-title", probe->title);
    as_html_started(b);
    as_html_close(b, "div");
    as_html_open(b, "figcaption", NULL);
    as_buf_html(b, probe->title);
    if (section_probe_count(p, probe, name).alike) {
        as_buf_str(b, ", in ");
        as_buf_html(b, probe->unit);
    }
    as_buf_str(b, "; bands and bars are 95% intervals, hollow points are rejected. Click a point for its row in the "
                  "table.");
    as_html_close(b, "figcaption");
    as_html_open(b, "noscript", NULL);
    as_html_paragraph(b, "note", "The picture needs scripts; the table below has its numbers.");
    as_html_close(b, "noscript/figure");
}

/* On a page of two runs, only what differs is open. */
static bool section_probe_is_open(const struct as_page *p, const char *name)
{
    if (p->n != 2)
        return true;
    for (size_t i = 0; i < p->differ_n; i++)
        if (strcmp(p->differ[i], name) == 0)
            return true;
    return false;
}

/* The script of the page shows those that stand in for others. */
static void section_probe_lead(struct as_page *p, const char *name)
{
    struct as_buf *b = p->out;
    const struct as_probe *probe = as_probe_find(name);
    const bool is_drawn = is_roofline(name);
    as_html_tag(b, "details", "class='curve%s'%s%s", lead_of(name) < NO_LEAD ? "" : " any",
                section_probe_is_open(p, name) ? " open" : "", lead_of(name) > MAIN_CURVES ? " hidden" : "");
    as_html_open(b, "summary", NULL);
    as_html_start(b, "h3");
    as_html_attribute_id(b, "id", "curve-", name);
    as_html_started(b);
    as_html_link_text(b, "probe-", name, probe->title);
    as_html_close(b, "h3/summary");
    if (is_drawn)
        as_page_roofline(p);
    else
        picture(p, probe, name, "lead");
    as_html_close(b, "details");
}

/* On a page of two runs nothing stands in. */
static bool section_probe_leads(const struct as_page *p, const char *probe)
{
    if (!lead_of(probe) || (p->n > 1 && lead_of(probe) > MAIN_CURVES))
        return false;
    return is_roofline(probe) ? as_page_has_roofline(p) : has_picture(as_probe_find(probe));
}

bool as_page_has_curves(const struct as_page *p)
{
    for (size_t i = 0; i < p->probes_n; i++)
        if (section_probe_leads(p, p->probes[i]))
            return true;
    return false;
}

/* Those that are open, or the others, in the order of the registry. */
static void section_probe_leads_in_order(struct as_page *p, bool open)
{
    for (unsigned after = 0, next; after < UINT_MAX; after = next) {
        const char *name = NULL;
        next = UINT_MAX;
        for (size_t i = 0; i < p->probes_n; i++) {
            const unsigned own = section_probe_leads(p, p->probes[i]) ? lead_of(p->probes[i]) : 0;
            if (own > after && own < next) {
                next = own;
                name = p->probes[i];
            }
        }
        if (name && section_probe_is_open(p, name) == open)
            section_probe_lead(p, name);
    }
}

void as_page_curves(struct as_page *p)
{
    if (!as_page_has_curves(p))
        return;
    as_html_section(p->out, "curves", "Main curves", NULL);
    section_probe_leads_in_order(p, true);
    section_probe_leads_in_order(p, false);
    as_html_section_end(p->out);
}

static void led_elsewhere(struct as_page *p, const char *name)
{
    as_html_open(p->out, "p", "meta elsewhere");
    as_buf_str(p->out, "Its main curve is ");
    as_html_link_text(p->out, "curve-", name, "at the top of the page");
    as_buf_char(p->out, '.');
    as_html_close(p->out, "p");
}

/* Safe as it is: made from the build's own texts (tools/markdown.py). */
/* A row per CPU instruction, of each run. */
static void section_probe_instructions(struct as_page *p)
{
    for (size_t r = 0; r < p->n; r++) {
        struct as_view_table table;
        as_instructions_view(&p->runs[r], &table);
        if (table.rows_n) {
            as_html_text(p->out, "h3", NULL, "Latency and throughput of each instruction");
            as_html_open(p->out, "p", "meta");
            if (p->n > 1)
                as_page_run_name(p->out, &p->runs[r].run);
            as_buf_str(p->out, p->n > 1 ? ": in" : "In");
            as_buf_str(p->out, " cycles. Latency is that of all pairs of operands, below it that of each where they "
                               "differ (2to1: from operand 2 to operand 1); cycles each, of independent instructions.");
            as_html_close(p->out, "p");
            as_view_page(&table, "scroll tall", "CPU instructions", p->out);
        }
        as_view_finish(&table);
    }
}

static void method(struct as_buf *b, const struct as_probe *probe)
{
    for (size_t i = 0; as_probes[i]; i++)
        if (as_probes[i] == probe && as_probe_methods[i][0]) {
            as_html_details(b, "method", "Method");
            as_buf_str(b, as_probe_methods[i]);
            as_html_close(b, "details");
        }
}

enum as_status as_page_probe(struct as_page *p, const char *name)
{
    struct as_buf *b = p->out;
    const struct as_probe *probe = as_probe_find(name);
    as_html_fold_open(b, "probe-", name, probe ? probe->title : name, NULL,
                      p->n == 1 && p->probes_n <= FEW_PROBES && !as_page_has_curves(p));
    section_probe_intro(p, probe, name);
    const bool is_drawn = is_roofline(name);
    const bool leads = section_probe_leads(p, name) && lead_of(name) <= MAIN_CURVES;
    if (leads)
        led_elsewhere(p, name);
    else if (is_drawn)
        as_page_roofline(p);
    picture(p, probe, name, leads && !is_drawn ? "rest" : "all");
    if (as_instructions_is_of(name))
        section_probe_instructions(p);
    if (p->n > 1)
        as_html_paragraph(b, "meta",
                          "The ratio to the first run has the verdict of 'assay compare'; ≈ is inconclusive.");
    enum as_status st = as_page_table(p, name);
    if (st != AS_OK)
        return st;
    as_page_facts_of(p, name);
    method(b, probe);
    as_html_fold_end(b);
    return AS_OK;
}
