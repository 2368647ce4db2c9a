/* Two devices with memory of their own beside each other on the machine map, and the link between them. */
#include "base/text.h"
#include "report/map/map_draw.h"
#include "report/page/markup.h"
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GAP = 190 }; /* between the two, for the numbers of the link */

/* What is known of the link, as each of the two measured it. */
struct pair_link {
    const struct as_fact *to[2];   /* of the copy from this memory to the other's */
    const struct as_fact *load[2]; /* of this device from the other's memory */
    const struct as_fact *both;
};

static const struct as_fact *pair_fact(const struct as_report_run *run, const struct as_device_info *own,
                                       const struct as_device_info *other, const char *what)
{
    return strcmp(own->backend, other->backend) == 0 ? as_map_link_fact(run, own->id, as_map_number_of(other), what)
                                                     : NULL;
}

static struct pair_link pair_find(const struct as_report_run *run, const struct as_device_info *const d[2])
{
    struct pair_link link;
    for (int i = 0; i < 2; i++) {
        link.to[i] = pair_fact(run, d[i], d[1 - i], "to");
        link.to[i] = link.to[i] ? link.to[i] : pair_fact(run, d[1 - i], d[i], "from");
        link.load[i] = pair_fact(run, d[i], d[1 - i], "load");
    }
    link.both = pair_fact(run, d[0], d[1], "both");
    link.both = link.both ? link.both : pair_fact(run, d[1], d[0], "both");
    return link;
}

/* A line of text in the middle of the gap: before, the value, behind. */
static void pair_text(struct as_buf *b, double x, double y, const char *before, const struct as_fact *f, double size)
{
    if (!f)
        return;
    as_html_start(b, "g");
    as_html_attribute(b, "data-fact", f->id);
    as_html_started(b);
    as_map_text_at(b, x, y, "value", AS_MAP_INK, size, "middle");
    as_buf_html(b, before);
    as_buf_char(b, ' ');
    as_page_fact_value(b, f);
    as_html_close(b, "text");
    as_html_text(b, "title", NULL, f->sentence);
    as_html_close(b, "g");
}

static double pair_share(const struct pair_link *link)
{
    const struct as_fact *f = link->to[0] ? link->to[0] : link->to[1] ? link->to[1] : link->both;
    struct as_map_number n = {.known = f ? AS_MAP_MEASURED : AS_MAP_UNKNOWN};
    if (f) {
        n.value = n.high = f->value;
        as_copy_text(n.unit, sizeof n.unit, f->unit);
    }
    return as_map_bar_share(&n);
}

static void pair_draw_link(struct as_buf *b, const struct as_device_info *const d[2], const struct pair_link *link,
                           double from, double to, double y)
{
    const double middle = (from + to) / 2, share = pair_share(link);
    as_html_tag(b, "path/", "class='link' d='M%.1f %.1fH%.1f' stroke='%s' stroke-width='%.1f'%s", from, y, to,
                share > 0 ? as_map_bar_fill[AS_MAP_BANDWIDTH] : AS_MAP_MUTED, share > 0 ? 1.5 + 6 * share : 1,
                share > 0 ? "" : " stroke-dasharray='2 3'");
    if (!link->to[0] && !link->to[1] && !link->both && !link->load[0] && !link->load[1]) {
        as_map_textf(b, middle, y - 10, "none", AS_MAP_MUTED, 12.5, "middle", "link not measured");
        return;
    }
    pair_text(b, middle, y - 28, "→", link->to[0], 15);
    pair_text(b, middle, y - 10, "←", link->to[1], 15);
    pair_text(b, middle, y + 22, "both ways", link->both, 12.5);
    for (int i = 0; i < 2; i++) {
        char by[48];
        snprintf(by, sizeof by, "load by %.31s", d[i]->id);
        pair_text(b, middle, y + 40 + 18 * i, by, link->load[i], 12.5);
    }
}

enum as_status as_map_draw_pair(const struct as_report_run *run, size_t first, size_t second, unsigned width, double *y,
                                struct as_buf *b, struct as_buf *desc, struct as_error *err)
{
    const unsigned own = (width - GAP) / 2;
    const struct as_map_shape s = as_map_shape_of(own);
    const struct as_device_info *const d[2] = {&run->devices[first], &run->devices[second]};
    struct as_map_device device[2] = {{.index = first, .beside = second}, {.index = second, .beside = first}};
    double end[2] = {*y, *y};
    enum as_status st = AS_OK;
    for (int i = 0; i < 2 && !st; i++) {
        as_html_tag(b, "g", "transform='translate(%u 0)'", i ? own + (unsigned)GAP : 0);
        st = as_map_draw_device(run, &device[i], &s, &end[i], b, desc, err);
        as_html_close(b, "g");
    }
    if (st)
        return st;
    if (isfinite(device[0].memory)) {
        const struct pair_link link = pair_find(run, d);
        pair_draw_link(b, d, &link, own, own + GAP, device[0].memory + s.box_h / 2);
    }
    *y = fmax(end[0], end[1]);
    return AS_OK;
}
