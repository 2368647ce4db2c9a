/* One probe's section, and the main curves: the first picture of each probe that leads, near the top of the page. */
#include "probe/view_role.h"
#include "report/page/markup.h"
#include "report/page/page.h"

#include <limits.h>
#include <string.h>

/* Pictures that facts of several probes make. */
static const struct {
    enum as_view_role role;
    void (*draw)(struct as_page *p);
} drawings[] = {{AS_VIEW_ROOFLINE, as_page_roofline}};

static void (*drawing_of(const char *probe))(struct as_page *p)
{
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++)
        if (strcmp(as_view_probes[drawings[i].role], probe) == 0)
            return drawings[i].draw;
    return NULL;
}

static unsigned lead_of(const char *probe)
{
    for (size_t i = 0; as_probes[i]; i++)
        if (strcmp(as_probes[i]->name, probe) == 0)
            return as_probe_leads[i];
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
            t.measured += as_page_measured(c);
            t.rejected += c->status == AS_CELL_REJECTED;
        }
    }
    return t;
}

static void section_probe_intro(struct as_page *p, const struct as_probe *probe, const char *name)
{
    struct as_buf *b = p->out;
    struct tally t = section_probe_count(p, probe, name);
    if (probe) {
        as_html_text(b, "p", "lead", probe->question);
        as_buf_str(b, "\n");
    } else {
        as_html_paragraph(b, "lead",
                          "This version of assay does not have the probe; another version measured its numbers.");
    }
    as_buf_printf(b, "<p class=\"meta\">%zu of %zu cells have a number", t.measured, t.total);
    if (t.rejected)
        as_buf_printf(b, "; %zu of them rejected, drawn hollow, with the failed gates in the table", t.rejected);
    if (t.total > t.measured)
        as_buf_str(b, "; <a href=\"#missing\">why the others have none</a>");
    as_buf_str(b, ".</p>\n");
    if (probe && probe->counts) {
        as_buf_str(b, "<p class=\"counts\"><b>What it counts</b> ");
        as_buf_html(b, probe->counts);
        as_buf_str(b, !t.alike && !probe->own_metrics ? "."
                      : probe->lower_is_better        ? ". Less is better."
                                                      : ". More is better.");
        for (const struct as_own_metric *own = probe->own_metrics; own && own->axis; own++) {
            as_buf_printf(b, " With %s=%s: ", own->axis, own->word);
            as_buf_html(b, own->metric.counts);
            as_buf_str(b, own->metric.lower_is_better ? ". Less is better." : ". More is better.");
        }
        as_buf_str(b, "</p>\n");
    }
}

/* part: "lead" is the probe's first picture, "rest" are the others, "all" are both. */
static void picture(struct as_page *p, const struct as_probe *probe, const char *name, const char *part)
{
    if (!has_picture(probe))
        return;
    struct as_buf *b = p->out;
    as_buf_printf(b, "<figure class=\"chart\"><div class=\"plots\" data-part=\"%s\" data-figure=\"", part);
    as_buf_html(b, name);
    as_buf_str(b, "\" data-title=\"");
    as_buf_html(b, probe->title);
    as_buf_str(b, "\"></div><figcaption>");
    as_buf_html(b, probe->title);
    if (section_probe_count(p, probe, name).alike) {
        as_buf_str(b, ", in ");
        as_buf_html(b, probe->unit);
    }
    as_buf_str(b,
               "; bands and bars are 95% intervals, hollow points are rejected. Choose a point to go to its row in the "
               "table.</figcaption><noscript><p class=\"note\">The picture needs scripts; the table below has its "
               "numbers.</p></noscript></figure>\n");
}

static void section_probe_lead(struct as_page *p, const char *name)
{
    struct as_buf *b = p->out;
    const struct as_probe *probe = as_probe_find(name);
    void (*draw)(struct as_page *) = drawing_of(name);
    as_buf_str(b, "<h3 id=\"curve-");
    as_page_slug(b, name);
    as_buf_str(b, "\"><a href=\"#probe-");
    as_page_slug(b, name);
    as_buf_str(b, "\">");
    as_buf_html(b, probe->title);
    as_buf_str(b, "</a></h3>\n");
    if (draw)
        draw(p);
    else
        picture(p, probe, name, "lead");
}

static bool section_probe_leads(const char *probe)
{
    return lead_of(probe) && (drawing_of(probe) || has_picture(as_probe_find(probe)));
}

bool as_page_has_curves(const char *const *probes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (section_probe_leads(probes[i]))
            return true;
    return false;
}

void as_page_curves(struct as_page *p, const char *const *probes, size_t n)
{
    if (!as_page_has_curves(probes, n))
        return;
    as_html_section(p->out, "curves", "Main curves", NULL);
    for (unsigned after = 0, next; after < UINT_MAX; after = next) {
        const char *name = NULL;
        next = UINT_MAX;
        for (size_t i = 0; i < n; i++) {
            const unsigned own = section_probe_leads(probes[i]) ? lead_of(probes[i]) : 0;
            if (own > after && own < next) {
                next = own;
                name = probes[i];
            }
        }
        if (name)
            section_probe_lead(p, name);
    }
    as_html_section_end(p->out);
}

static void led_elsewhere(struct as_page *p, const char *name)
{
    as_buf_str(p->out, "<p class=\"meta\">Its main curve is <a href=\"#curve-");
    as_page_slug(p->out, name);
    as_buf_str(p->out, "\">at the top of the page</a>.</p>\n");
}

/* Safe as it is: made from the build's own texts (tools/markdown.py). */
static void method(struct as_buf *b, const struct as_probe *probe)
{
    for (size_t i = 0; as_probes[i]; i++)
        if (as_probes[i] == probe && as_probe_methods[i][0])
            as_buf_printf(b, "<details class=\"method\"><summary>Method</summary>\n%s</details>\n",
                          as_probe_methods[i]);
}

enum as_status as_page_probe(struct as_page *p, const char *name)
{
    struct as_buf *b = p->out;
    const struct as_probe *probe = as_probe_find(name);
    as_buf_str(b, "<section class=\"probe\" id=\"probe-");
    as_page_slug(b, name);
    as_buf_str(b, "\" aria-labelledby=\"h-");
    as_page_slug(b, name);
    as_buf_str(b, "\"><h2 id=\"h-");
    as_page_slug(b, name);
    as_buf_str(b, "\">");
    as_buf_html(b, probe ? probe->title : name);
    as_buf_str(b, "</h2>\n");
    section_probe_intro(p, probe, name);
    void (*draw)(struct as_page *) = drawing_of(name);
    if (section_probe_leads(name))
        led_elsewhere(p, name);
    else if (draw)
        draw(p);
    picture(p, probe, name, section_probe_leads(name) && !draw ? "rest" : "all");
    if (p->n > 1)
        as_html_paragraph(b, "meta",
                          "The ratio to the first run is called better or worse where the two 95% intervals are apart, "
                          "and ≈ where they are not. <code>assay compare</code> decides from the samples.");
    enum as_status st = as_page_table(p, name);
    if (st != AS_OK)
        return st;
    as_page_facts_of(p, name);
    method(b, probe);
    as_html_section_end(b);
    return AS_OK;
}
