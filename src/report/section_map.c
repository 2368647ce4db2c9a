#include "base/text.h"
#include "report/map.h"
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "tlb.reach" as "tlb reach" */
static void readable_id(struct as_buf *b, const char *id)
{
    char text[64];
    as_copy_text(text, sizeof text, id);
    for (char *c = text; *c; c++)
        if (*c == '.' || *c == '_')
            *c = ' ';
    as_buf_html(b, text);
}

/* What was found about links, launches and TLBs: no level of the map, but part of the machine. */
static void other_numbers(struct as_page *p, const struct as_report_run *rr)
{
    struct as_buf *b = p->out;
    bool any = false;
    for (size_t i = 0; i < rr->facts_n; i++) {
        const struct as_fact *f = &rr->facts[i];
        bool allocator = strncmp(f->object, "allocator:", 10) == 0; /* no part of the machine */
        if (as_map_row(f->object) >= 0 || allocator || !isfinite(f->value) || f->verdict == AS_UNDECIDED)
            continue;
        as_buf_str(b, any ? "<div><dt>" : "<dl class=\"chips\"><div><dt>");
        readable_id(b, f->id);
        if (rr->devices_n > 1) {
            as_buf_str(b, " <span class=\"of\">");
            as_buf_html(b, f->device);
            as_buf_str(b, "</span>");
        }
        as_buf_str(b, "</dt><dd>");
        as_page_fact_value(b, f);
        as_buf_str(b, "</dd></div>");
        any = true;
    }
    as_buf_str(b, any ? "</dl>\n" : "");
}

enum as_status as_page_maps(struct as_page *p)
{
    struct as_buf *b = p->out;
    as_buf_str(b, "<section id=\"map\" aria-labelledby=\"map-h\"><h2 id=\"map-h\">Machine map</h2>\n"
                  "<p class=\"lead\">Boxes are drawn as the operating system or the driver describes the machine; the "
                  "numbers were measured, unless marked as claimed. Lines are as thick as the bandwidth of what they "
                  "lead to.</p>\n");
    for (size_t r = 0; r < p->n; r++) {
        const struct as_report_run *rr = &p->runs[r];
        char id[32];
        if (p->n > 1) {
            as_buf_str(b, "<h3>");
            as_page_run_name(b, &rr->run);
            as_buf_str(b, " <span class=\"of\">");
            as_buf_html(b, rr->run.host);
            as_buf_str(b, "</span></h3>\n");
        }
        if (rr->devices_n == 0) {
            as_buf_str(b, "<p class=\"note\">The run has no device.</p>\n");
            continue;
        }
        snprintf(id, sizeof id, "map-w%zu", r);
        enum as_status st = as_map_svg(rr, 1040, "map wide", id, b, p->err);
        snprintf(id, sizeof id, "map-n%zu", r);
        if (st == AS_OK)
            st = as_map_svg(rr, 360, "map narrow", id, b, p->err);
        if (st != AS_OK)
            return st;
        other_numbers(p, rr);
    }
    as_buf_str(b, "</section>\n");
    return AS_OK;
}

enum as_status as_report_map(const struct as_report_run *run, struct as_buf *svg, struct as_error *err)
{
    return as_map_svg(run, 1040, "map", "map", svg, err);
}
