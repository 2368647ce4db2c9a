#include "base/text.h"
#include "report/map/map.h"
#include "report/model/same_hardware.h"
#include "report/page/markup.h"
#include "report/page/page.h"

#include <stdlib.h>
#include <string.h>

/* Names of the probes that occur in the runs, in the order of the registry, then unknown ones. *names: free. */
static enum as_status page_probes(const struct as_page *p, const char ***names, size_t *n)
{
    size_t cap = 0;
    *names = NULL;
    *n = 0;
    for (size_t known = 0; as_probes[known]; known++) {
        if (as_probes[known]->hidden || !as_page_has_probe(p, as_probes[known]->name))
            continue;
        if (as_grow((void **)names, &cap, *n + 1, sizeof **names, p->err) != AS_OK)
            goto fail;
        (*names)[(*n)++] = as_probes[known]->name;
    }
    /* Probes of another version of assay are shown too. */
    for (size_t r = 0; r < p->n; r++) {
        for (size_t i = 0; i < p->runs[r].cells_n; i++) {
            const struct as_cell *c = &p->runs[r].cells[i];
            if (as_probe_find(c->probe) || !as_report_is_measured(c))
                continue;
            size_t k = 0;
            while (k < *n && strcmp((*names)[k], c->probe) != 0)
                k++;
            if (k < *n)
                continue;
            if (as_grow((void **)names, &cap, *n + 1, sizeof **names, p->err) != AS_OK)
                goto fail;
            (*names)[(*n)++] = c->probe;
        }
    }
    return AS_OK;
fail:
    free((void *)*names);
    *names = NULL;
    *n = 0;
    return AS_NOMEM;
}

static void html_head(struct as_page *p)
{
    struct as_buf *b = p->out;
    as_html_document(b, as_page_hash_css, as_page_hash_js, as_page_has_charts() ? as_page_hash_vega : NULL);
    as_page_title(p);
    as_html_open(b, "style", NULL);
    as_buf_add(b, as_page_css, as_page_css_size);
    as_html_close(b, "style/head");
    as_html_open(b, "body", NULL);
    as_html_tag(b, "a", "class='skip' href='#main'");
    as_buf_str(b, "Skip to the content");
    as_html_close(b, "a");
}

static const char *heading_of(const char *probe)
{
    for (size_t i = 0; as_probes[i]; i++)
        if (strcmp(as_probes[i]->name, probe) == 0)
            return as_probe_headings[i];
    return "Other probes";
}

/* Where another heading begins it is written; returns that of the probe. */
static const char *nav_heading(struct as_buf *b, const char *probe, const char *before)
{
    const char *heading = heading_of(probe);
    if (before && strcmp(heading, before) == 0)
        return heading;
    as_html_text(b, "li", "heading", heading);
    return heading;
}

static void nav_link(struct as_buf *b, const char *id, const char *text)
{
    as_html_open(b, "li", NULL);
    as_html_link_text(b, id, "", text);
    as_html_close(b, "li");
}

/* The sections of several probes that a page may lack. */
static const struct {
    const char *id, *text;
    bool (*has)(const struct as_page *p);
} joint_sections[] = {{"advice", "Porting advice", as_page_has_advice},
                      {"refs", "Published figures", as_page_has_refs},
                      {"twins", "Two backends", as_page_has_backend_pairs},
                      {"operations", "Operations", as_page_has_operations},
                      {"pipes", "Pipes", as_page_has_pipes},
                      {"matrix", "Matrix path", as_page_has_matrix}};

static void html_nav(struct as_page *p, const char *const *probes, size_t n)
{
    struct as_buf *b = p->out;
    as_html_tag(b, "nav", "aria-label='Contents'");
    as_html_details(b, "contents", "Contents");
    as_html_open(b, "ul", NULL);
    if (p->n == 2)
        nav_link(b, "verdict", "Verdict");
    nav_link(b, "map", p->n == 1 ? "Machine map" : "Machine maps");
    nav_link(b, "sheet", "Data sheet");
    if (as_page_has_curves(p))
        nav_link(b, "curves", "Main curves");
    nav_link(b, "facts", p->n == 1 ? "Worth knowing" : "Facts");
    for (size_t i = 0; i < sizeof joint_sections / sizeof *joint_sections; i++)
        if (joint_sections[i].has(p))
            nav_link(b, joint_sections[i].id, joint_sections[i].text);
    const char *heading = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct as_probe *probe = as_probe_find(probes[i]);
        heading = nav_heading(b, probes[i], heading);
        as_html_open(b, "li", "probe");
        as_html_link_text(b, "probe-", probes[i], probe ? probe->title : probes[i]);
        as_html_close(b, "li");
    }
    nav_link(b, "missing", "Not measured");
    nav_link(b, "gates", "Gates");
    nav_link(b, "provenance", "Provenance");
    as_html_close(b, "ul/details/nav");
}

/* Inside <script type="application/json"> only "</script" and "<!--" could end the text; the figures are compiled
 * with every '<' as \u003c and the data is written so. */
static enum as_status scripts(struct as_page *p, const char *const *probes, size_t n)
{
    struct as_buf *b = p->out;
    if (as_page_has_charts()) {
        as_html_tag(b, "script", "type='application/json' id='data'");
        enum as_status st = as_page_data(p, probes, n);
        if (st != AS_OK)
            return st;
        as_html_close(b, "script");
        as_html_tag(b, "script", "type='application/json' id='figures'");
        as_buf_char(b, '{');
        bool first = true;
        for (size_t i = 0; i < n; i++) {
            const struct as_probe *probe = as_probe_find(probes[i]);
            size_t len;
            const char *figure = probe ? as_figure_find(probe->name, &len) : NULL;
            if (!figure)
                continue;
            if (!first)
                as_buf_char(b, ',');
            first = false;
            as_buf_json_str(b, probes[i]);
            as_buf_char(b, ':');
            as_buf_add(b, figure, len);
        }
        as_buf_char(b, '}');
        as_html_close(b, "script");
        as_html_open(b, "script", NULL);
        as_buf_add(b, as_page_vega, as_page_vega_size);
        as_html_close(b, "script");
    }
    as_html_open(b, "script", NULL);
    as_buf_add(b, as_page_js, as_page_js_size);
    as_html_close(b, "script");
    return AS_OK;
}

static void footer(struct as_page *p)
{
    as_html_close(p->out, "main");
    as_html_open(p->out, "footer", NULL);
    as_html_open(p->out, "p", NULL);
    as_buf_str(p->out, "Made by assay ");
    as_buf_html(p->out, p->n ? p->runs[0].run.tool_version : "");
    as_buf_str(p->out, ". Values are medians with at most three significant digits, and no more than their interval "
                       "supports; intervals contain the median with 95% confidence, and ~ marks one wider than "
                       "requested. 1 KiB is 1024 bytes, 1 GB/s is 10");
    as_html_text(p->out, "sup", NULL, "9");
    as_buf_str(p->out, " bytes per second.");
    as_html_close(p->out, "p/footer");
}

/* Beside the sheet there is room for the map of one device with memory of its own; several stand beside each other. */
static bool has_few_boards(const struct as_report_run *rr)
{
    size_t n = 0;
    for (size_t i = 0; i < rr->devices_n; i++)
        n += as_hardware_has_own_memory(&rr->devices[i]) && as_hardware_representative(rr, i) == i;
    return n < 2;
}

/* Where map and sheets of one run stand. */
enum arrangement {
    SHEET,        /* one kind of sheet under the map, which is wide */
    MAP_SHEET,    /* one kind beside the map */
    MAP_OVER_CPU, /* two kinds beside each other, the map over that of the CPU */
    MAP_OVER_ALL, /* the map over both, as it is wide; what is worth knowing under the CPU's sheet, which is shorter */
};

static enum arrangement arrangement_of(const struct as_page *p)
{
    const bool few = has_few_boards(p->runs);
    if (!as_page_has_sheets_beside(p))
        return few ? MAP_SHEET : SHEET;
    return few && as_map_devices(p->runs) <= 2 ? MAP_OVER_CPU : MAP_OVER_ALL;
}

static enum as_status html_top(struct as_page *p, enum arrangement how)
{
    static const char *const classes[] = {"top", "top few", "top halves", "top rows"};
    const bool beside = how == MAP_OVER_CPU || how == MAP_OVER_ALL;
    as_html_open(p->out, "div", classes[how]);
    if (beside)
        as_html_open(p->out, "div", "left");
    enum as_status st = as_page_maps(p);
    if (st == AS_OK)
        st = beside ? as_page_sheets_of(p, true) : as_page_sheets(p);
    if (how == MAP_OVER_ALL)
        as_page_facts(p);
    if (!beside) {
        as_html_close(p->out, "div");
        return st;
    }
    as_html_close(p->out, "div");
    if (st == AS_OK)
        st = as_page_sheets_of(p, false);
    as_html_close(p->out, "div");
    return st;
}

static void against_finish(struct as_page *p)
{
    for (size_t i = 0; p->against && i + 1 < p->n; i++)
        as_sheets_compared_finish(&p->against[i].sheets);
    free(p->against);
}

static enum as_status against_make(struct as_page *p)
{
    enum as_status st = AS_OK;
    if (p->n < 2)
        return AS_OK;
    p->against = calloc(p->n - 1, sizeof *p->against);
    if (!p->against)
        return as_nomem(p->err, p->n * sizeof *p->against, "runs to compare");
    for (size_t i = 1; i < p->n && !st; i++) {
        p->against[i - 1].cells = as_comparing_of(&p->runs[0].run, &p->runs[i].run, p->tolerance);
        st = as_compare_sheets(&p->runs[0], &p->runs[i], p->tolerance, &p->against[i - 1].sheets, p->err);
    }
    return st;
}

enum as_status as_report_html(const struct as_report_run *runs, size_t n, struct as_buf *out, struct as_error *err)
{
    return as_report_html_within(runs, n, as_compare_tolerance, out, err);
}

enum as_status as_report_html_within(const struct as_report_run *runs, size_t n, double tolerance, struct as_buf *out,
                                     struct as_error *err)
{
    struct as_page page = {.runs = runs, .n = n, .out = out, .err = err, .tolerance = tolerance};
    const char **probes = NULL;
    size_t probes_n = 0;
    enum as_status st = page_probes(&page, &probes, &probes_n);
    if (st != AS_OK)
        return st;
    page.probes = probes;
    page.probes_n = probes_n;
    html_head(&page);
    as_page_header(&page);
    html_nav(&page, probes, probes_n);
    as_html_tag(out, "main", "id='main'");
    st = against_make(&page);
    if (!st)
        st = as_page_verdict(&page);
    const enum arrangement how = n == 1 ? arrangement_of(&page) : SHEET;
    if (n == 1 && !st)
        st = html_top(&page, how);
    else if (n != 2 && !st)
        st = as_page_sheets(&page);
    if (st != AS_OK)
        goto done;
    as_page_curves(&page);
    if (how == MAP_OVER_ALL)
        as_page_advice(&page);
    else if (n == 1) {
        as_html_open(out, "div", as_page_has_advice(&page) ? "beside" : NULL);
        as_page_facts(&page);
        as_page_advice(&page);
        as_html_close(out, "div");
    }
    as_html_open(out, "div", "folds");
    if (n != 1)
        st = as_page_maps(&page);
    if (n == 2 && !st)
        st = as_page_sheets(&page);
    if (st != AS_OK)
        goto done;
    if (n != 1) {
        as_page_facts(&page);
        as_page_advice(&page);
    }
    as_page_refs(&page);
    as_page_backend_pairs(&page);
    if (st == AS_OK)
        st = as_page_operations(&page);
    if (st == AS_OK)
        st = as_page_pipes(&page);
    if (st == AS_OK)
        as_page_matrix(&page);
    for (size_t i = 0; i < probes_n && st == AS_OK; i++)
        st = as_page_probe(&page, probes[i]);
    if (st != AS_OK)
        goto done;
    st = as_page_missing(&page);
    if (st != AS_OK)
        goto done;
    as_page_gates(&page);
    as_page_provenance(&page);
    as_html_close(out, "div");
    footer(&page);
    st = scripts(&page, probes, probes_n);
    if (st != AS_OK)
        goto done;
    as_html_close(out, "body/html");
    st = as_buf_check(out, err);
done:
    against_finish(&page);
    free((void *)probes);
    return st;
}
