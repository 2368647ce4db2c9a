#include "base/text.h"
#include "report/map.h"
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Measures of a drawing, in user units. Wide: the numbers stand beside the boxes; narrow: under them. */
struct shape {
    bool wide;
    double width, boxes_w; /* of all; of the part with boxes */
    double head_h, row_h, box_h, gap;
    double number_x[3]; /* columns of numbers */
    double number_w;
    double label_x;
};

struct drawing {
    const struct as_report_run *run;
    const struct as_device_info *info;
    struct as_map_tree tree;
    struct shape s;
    struct as_buf *b;
    double top;                   /* y of the device's first row */
    double number_y[AS_MAP_ROWS]; /* top of each row's numbers: the row's own, or in a table below all boxes */
    double row_y[AS_MAP_ROWS];    /* top of each row, NAN when absent */
    double bottom;
    double col_w;
};

static struct shape shape_of(unsigned width)
{
    if (width >= 600)
        return (struct shape){.wide = true,
                              .width = width,
                              .boxes_w = 0.47 * width,
                              .head_h = 56,
                              .row_h = 62,
                              .box_h = 44,
                              .gap = 26,
                              .label_x = 0.47 * width + 22,
                              .number_x = {0.47 * width + 106, 0.47 * width + 260, 0.47 * width + 414},
                              .number_w = 128};
    return (struct shape){.wide = false,
                          .width = width,
                          .boxes_w = width,
                          .head_h = 50,
                          .row_h = 44,
                          .box_h = 32,
                          .gap = 30,
                          .label_x = 4,
                          .number_x = {70, 70 + 0.31 * width, 70 + 0.55 * width},
                          .number_w = 0.22 * width};
}

/* Kinds of numbers on a row, by the unit of the fact. */
enum kind { HOLDS, LATENCY, BANDWIDTH, KINDS };

static int kind_of(const struct as_fact *f)
{
    if (strcmp(f->unit, "B") == 0 || strcmp(f->unit, "Hz") == 0)
        return HOLDS;
    if (strcmp(f->unit, "ns") == 0)
        return LATENCY;
    return strcmp(f->unit, "GB/s") == 0 ? BANDWIDTH : -1;
}

static bool counts_for(const struct drawing *d, const struct as_fact *f, int row)
{
    return strcmp(f->device, d->info->id) == 0 && as_map_row(f->object) == row && isfinite(f->value) &&
           f->verdict != AS_UNDECIDED;
}

/* The fact shown for a kind: of bandwidths the highest, of the others the first. */
static const struct as_fact *best_fact(const struct drawing *d, int row, enum kind kind)
{
    const struct as_fact *best = NULL;
    for (size_t i = 0; i < d->run->facts_n; i++) {
        const struct as_fact *f = &d->run->facts[i];
        if (counts_for(d, f, row) && kind_of(f) == (int)kind &&
            (!best || (kind == BANDWIDTH && f->value > best->value)))
            best = f;
    }
    return best;
}

/* Has anything been measured of this row, or (row < 0) of any row of the device? */
static bool has_numbers(const struct drawing *d, int row)
{
    for (int r = row < 0 ? 0 : row; r < (row < 0 ? AS_MAP_ROWS : row + 1); r++)
        for (int k = 0; k < KINDS; k++)
            if (best_fact(d, r, (enum kind)k))
                return true;
    return false;
}

static const char *row_name(const struct drawing *d, int row, char name[static 16])
{
    if (row == AS_MAP_CORE)
        return strcmp(d->info->backend, "cpu") == 0 ? "core" : "unit";
    if (row == AS_MAP_MEMORY)
        return "memory";
    snprintf(name, 16, "L%d", row);
    return name;
}

static void text_at(struct drawing *d, double x, double y, const char *css_class, const char *fill, double size,
                    const char *anchor)
{
    as_buf_printf(d->b, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" fill=\"%s\" font-size=\"%.1f\" text-anchor=\"%s\">",
                  css_class, x, y, fill, size, anchor);
}

#define INK "var(--ink,#1b1f24)"
#define MUTED "var(--muted,#5a6572)"
#define REFUTED "var(--bad,#b23c00)"
#define LINE "var(--line,#c9d1d9)"
static const char *const row_fill[AS_MAP_ROWS] = {"var(--m0,#dbe9f6)", "var(--m1,#c5ddf0)", "var(--m2,#abcde8)",
                                                  "var(--m3,#8fbadd)", "var(--m3,#8fbadd)", "var(--m3,#8fbadd)",
                                                  "var(--m4,#e6dcc8)"};
static const char *const bar_fill[KINDS] = {"none", "var(--latency,#d55e00)", "var(--bandwidth,#0072b2)"};

/* Length of a bar: logarithmic, over what memory systems of today span. */
static double bar_share(enum kind kind, double v)
{
    double lo = kind == LATENCY ? 0.5 : 1, hi = kind == LATENCY ? 2000 : 20000;
    double share = log(v / lo) / log(hi / lo);
    return share < 0.02 ? 0.02 : share > 1 ? 1 : share;
}

/* Under a number: what the OS or driver says, or, where that is the number, what was measured of it. */
static void number_note(struct drawing *d, const struct as_fact *f, double x, double y)
{
    double size = d->s.wide ? 11.5 : 10;
    const char *ink = f->verdict == AS_REFUTED ? REFUTED : MUTED;
    if (!isfinite(f->claimed))
        return;
    text_at(d, x, y, "claimed", ink, size, "start");
    if (as_page_said(f) == AS_SAID_CLAIMED) {
        as_buf_str(d->b, "claimed</text>\n");
        text_at(d, x, y + size + 2, "claimed", ink, size, "start");
        as_buf_str(d->b, "measured ");
        as_page_bracket(d->b, f->ci);
    } else {
        as_buf_str(d->b, "claimed ");
        as_page_value(d->b, f->claimed, f->unit);
    }
    as_buf_str(d->b, "</text>\n");
}

static void number(struct drawing *d, int row, enum kind kind, double y)
{
    const struct as_fact *f = best_fact(d, row, kind);
    double x = d->s.number_x[kind], big = d->s.wide ? 17 : 13.5;
    if (!f) {
        if (row != AS_MAP_CORE && d->s.wide) {
            text_at(d, x, y + 20, "none", MUTED, 13, "start");
            as_buf_str(d->b, "–</text>\n");
        }
        return;
    }
    text_at(d, x, y + 20, "value", INK, big, "start");
    as_page_fact_value(d->b, f);
    as_buf_str(d->b, "</text>\n");
    if (bar_fill[kind][0] != 'n')
        as_buf_printf(d->b,
                      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"4\" rx=\"2\" fill=\"%s\" opacity=\"0.18\"/>"
                      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"4\" rx=\"2\" fill=\"%s\"/>\n",
                      x, y + 27, d->s.number_w, bar_fill[kind], x, y + 27, d->s.number_w * bar_share(kind, f->value),
                      bar_fill[kind]);
    number_note(d, f, x, y + (kind == HOLDS ? 36 : 44));
}

/* All that was found about a row, for those who point at it. */
static void row_title(struct drawing *d, int row)
{
    bool any = false;
    for (size_t i = 0; i < d->run->facts_n; i++) {
        const struct as_fact *f = &d->run->facts[i];
        if (strcmp(f->device, d->info->id) != 0 || as_map_row(f->object) != row)
            continue;
        as_buf_str(d->b, any ? "\n" : "<title>");
        as_buf_html(d->b, f->sentence);
        any = true;
    }
    as_buf_str(d->b, any ? "</title>" : "");
}

static void row_numbers(struct drawing *d, int row)
{
    char name[16];
    double y = d->number_y[row];
    as_buf_str(d->b, "<g class=\"row\">");
    row_title(d, row);
    text_at(d, d->s.label_x, y + (d->s.wide ? d->s.box_h / 2 + 5 : 20), "level", INK, d->s.wide ? 15 : 13, "start");
    as_buf_str(d->b, row_name(d, row, name));
    as_buf_str(d->b, "</text>\n");
    for (int k = 0; k < KINDS; k++)
        number(d, row, (enum kind)k, y);
    as_buf_str(d->b, "</g>\n");
}

static void box_label(struct drawing *d, const struct as_map_node *node, double x, double y, double w, double h)
{
    struct as_buf text = AS_BUF_INIT;
    char name[16];
    bool core = node->level == AS_MAP_CORE;
    if (core) {
        if (w > 66)
            as_buf_printf(&text, "%s ", row_name(d, AS_MAP_CORE, name));
        as_buf_html(&text, node->label);
    } else {
        if (w > 96 || !node->size)
            as_buf_str(&text, row_name(d, node->level, name));
        if (node->size) {
            if (text.len)
                as_buf_str(&text, "  ");
            as_format_size(&text, node->size);
        }
    }
    double size = h > 40 ? 12.5 : 11, fits = text.len * size * 0.56;
    if (fits > w && !core) { /* the number alone, without its unit's tail, says nothing: leave it to the row */
        as_buf_finish(&text);
        return;
    }
    bool threads = core && node->threads > 1;
    text_at(d, x + w / 2, y + h / 2 + (threads ? -2 : 4.5), "box", INK, size, "middle");
    as_buf_str(d->b, as_buf_get(&text));
    as_buf_str(d->b, "</text>\n");
    d->b->failed |= text.failed;
    as_buf_finish(&text);
    for (unsigned i = 0; threads && i < node->threads && i < 8; i++)
        as_buf_printf(d->b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\"/>",
                      x + w / 2 + 9.0 * ((double)i - ((node->threads > 8 ? 8 : node->threads) - 1) / 2.0), y + h - 10,
                      MUTED);
}

/* From a cache or core down to what it misses to: as wide as its bandwidth, dashed where none was measured. */
static void link_down(struct drawing *d, double x, double y_from, int row_to)
{
    if (row_to < 0 || row_to >= AS_MAP_ROWS || !isfinite(d->row_y[row_to]))
        return;
    const struct as_fact *f = best_fact(d, row_to, BANDWIDTH);
    double stroke = f ? 1.5 + 6 * bar_share(BANDWIDTH, f->value) : 1;
    as_buf_printf(d->b, "<path class=\"link\" d=\"M%.1f %.1fV%.1f\" stroke=\"%s\" stroke-width=\"%.1f\"%s/>\n", x,
                  y_from, d->row_y[row_to], f ? bar_fill[BANDWIDTH] : MUTED, stroke,
                  f ? "" : " stroke-dasharray=\"2 3\"");
}

/* The next row below that this device has. */
static int row_below(const struct drawing *d, int row)
{
    for (int r = row + 1; r < AS_MAP_ROWS; r++)
        if (isfinite(d->row_y[r]))
            return r;
    return -1;
}

/* "× 64" over "cores": stands for the siblings that are not drawn, in the row of those that are. */
static void draw_more(struct drawing *d, const struct as_map_node *node, double x, double w)
{
    double size = d->s.wide ? 13 : 11, y = d->row_y[node->row] + d->s.box_h / 2;
    text_at(d, x + w / 2, y, "more", INK, size, "middle");
    as_buf_printf(d->b, "× %u</text>\n", node->more);
    text_at(d, x + w / 2, y + size, "more", MUTED, size - 2.5, "middle");
    char name[16];
    if (node->label[0])
        as_buf_html(d->b, node->label);
    else
        as_buf_printf(d->b, "%ss", row_name(d, AS_MAP_CORE, name));
    as_buf_str(d->b, "</text>\n");
}

static void draw_node(struct drawing *d, size_t index, unsigned memory_at, unsigned memory_n)
{
    const struct as_map_node *node = &d->tree.nodes[index];
    if (!node->shown)
        return;
    double x = node->col * d->col_w + 3, w = node->cols * d->col_w - 6;
    if (node->level == AS_MAP_MEMORY && memory_n > 1) { /* several kinds of memory of one package share its width */
        w = (w + 6) / memory_n - 6;
        x += memory_at * (w + 6);
    }
    if (node->level == AS_MAP_MORE) {
        draw_more(d, node, x, w);
    } else if (node->level < AS_MAP_ROWS) {
        double y = d->row_y[node->level];
        if (node->level != AS_MAP_MEMORY)
            link_down(d, x + w / 2, y + d->s.box_h, row_below(d, node->level));
        as_buf_printf(
            d->b, "<rect class=\"node\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"5\" fill=\"%s\"/>\n",
            x, y, w, d->s.box_h, row_fill[node->level]);
        box_label(d, node, x, y, w, d->s.box_h);
    }
    unsigned memories = 0, at = 0;
    for (size_t i = node->child; i; i = d->tree.nodes[i].next)
        memories += d->tree.nodes[i].level == AS_MAP_MEMORY;
    for (size_t i = node->child; i; i = d->tree.nodes[i].next) {
        bool memory = d->tree.nodes[i].level == AS_MAP_MEMORY;
        draw_node(d, i, memory ? at : 0, memory ? memories : 0);
        at += memory;
    }
}

/* Outlines of packages and nodes where there are several. */
static void draw_outlines(struct drawing *d)
{
    for (size_t i = 2; i < d->tree.n; i++) {
        const struct as_map_node *node = &d->tree.nodes[i];
        if (!node->shown || node->level != AS_MAP_BOX || node->cols == d->tree.cols)
            continue;
        double x = node->col * d->col_w + 0.5, y = d->top - 6;
        as_buf_printf(
            d->b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"8\" fill=\"none\" stroke=\"%s\"/>\n",
            x, y, node->cols * d->col_w - 1, d->bottom - y - (d->s.row_h - d->s.box_h) + 6, LINE);
        text_at(d, x + 6, y - 4, "box", MUTED, 11, "start");
        as_buf_html(d->b, node->label);
        as_buf_str(d->b, "</text>\n");
    }
}

static void device_head(struct drawing *d, double y)
{
    char name[128];
    size_t room = d->s.wide ? 84 : 34;
    as_copy_text(name, room < sizeof name ? room : sizeof name, d->info->name);
    text_at(d, 3, y + 17, "device", INK, d->s.wide ? 16 : 14, "start");
    as_buf_html(d->b, name);
    as_buf_str(d->b, strlen(name) < strlen(d->info->name) ? "…</text>\n" : "</text>\n");
    text_at(d, 3, y + 35, "about", MUTED, d->s.wide ? 12.5 : 11, "start");
    as_buf_html(d->b, d->info->id);
    if (d->info->units) {
        char word[16];
        as_buf_printf(d->b, ", %u %ss", d->info->units, row_name(d, AS_MAP_CORE, word));
    }
    if (strcmp(d->info->backend, "cpu") == 0 && d->info->threads)
        as_buf_printf(d->b, ", %u threads", d->info->threads);
    else if (d->info->is_host_memory)
        as_buf_str(d->b, ", uses the host's memory");
    else if (d->info->bus_id[0]) {
        as_buf_str(d->b, ", ");
        as_buf_html(d->b, d->info->bus_id);
    }
    as_buf_str(d->b, "</text>\n");
}

static void column_heads(struct drawing *d, double y)
{
    static const char *const heads[KINDS] = {"size, clock", "latency", "bandwidth"};
    for (int k = 0; k < KINDS; k++) {
        text_at(d, d->s.number_x[k], y, "head", MUTED, d->s.wide ? 12.5 : 11, "start");
        as_buf_printf(d->b, "%s</text>\n", heads[k]);
    }
}

/* Where each row stands; returns the y behind the last box. */
static double place_rows(struct drawing *d, double y)
{
    for (int r = 0; r < AS_MAP_ROWS; r++) {
        d->row_y[r] = d->number_y[r] = NAN;
        if (!(d->tree.rows >> r & 1u))
            continue;
        d->row_y[r] = d->number_y[r] = y;
        y += d->s.row_h;
    }
    return y;
}

/* On a narrow page the numbers are a table of their own, of the rows that have any. */
static double place_numbers_below(struct drawing *d, double y)
{
    y += 22;
    for (int r = 0; r < AS_MAP_ROWS; r++) {
        if (!isfinite(d->row_y[r]))
            continue;
        d->number_y[r] = has_numbers(d, r) ? y : NAN;
        if (isfinite(d->number_y[r]))
            y += 50;
    }
    return y;
}

static void draw_numbers(struct drawing *d, double *y)
{
    if (!has_numbers(d, -1)) {
        if (d->s.wide) {
            text_at(d, d->s.label_x, d->top + 20, "note", MUTED, 13, "start");
            as_buf_str(d->b, "no fact about its levels was derived</text>\n");
        }
        return;
    }
    column_heads(d, d->s.wide ? d->top - 20 : *y + 14);
    if (!d->s.wide)
        *y = place_numbers_below(d, *y);
    for (int r = 0; r < AS_MAP_ROWS; r++)
        if (isfinite(d->number_y[r]))
            row_numbers(d, r);
}

/* Boxes that are drawn as outlines, with a name above, need room for it. */
static bool has_outlines(const struct as_map_tree *t)
{
    for (size_t i = 2; i < t->n; i++)
        if (t->nodes[i].shown && t->nodes[i].level == AS_MAP_BOX && t->nodes[i].cols < t->cols)
            return true;
    return false;
}

static enum as_status draw_device(const struct as_report_run *run, size_t index, const struct shape *s, double *y,
                                  struct as_buf *b, struct as_error *err)
{
    struct drawing d = {.run = run, .info = &run->devices[index], .s = *s, .b = b};
    enum as_status st = as_map_tree_make(d.info, run->topologies ? run->topologies[index] : NULL, &d.tree, err);
    if (st != AS_OK)
        return st;
    st = as_map_layout(&d.tree, s->wide ? 12 : 6, err);
    if (st == AS_OK) {
        if (!has_numbers(&d, -1)) { /* nothing to stand beside the boxes: they can be lower */
            d.s.row_h = 38;
            d.s.box_h = 28;
        }
        d.top = *y + s->head_h + (has_outlines(&d.tree) ? 22 : 0);
        d.bottom = place_rows(&d, d.top);
        d.col_w = s->boxes_w / (d.tree.cols ? d.tree.cols : 1);
        double y_end = d.bottom;
        as_buf_str(b, "<g class=\"dev\">\n");
        device_head(&d, *y);
        draw_outlines(&d);
        draw_node(&d, 1, 0, 0);
        draw_numbers(&d, &y_end);
        as_buf_str(b, "</g>\n");
        *y = y_end + s->gap;
    }
    as_map_tree_finish(&d.tree);
    return st;
}

/* What the drawing says, as text for those who do not see it. */
static void describe(const struct as_report_run *run, struct as_buf *b)
{
    for (size_t i = 0; i < run->devices_n; i++) {
        struct drawing d = {.run = run, .info = &run->devices[i]};
        as_buf_html(b, run->devices[i].name);
        as_buf_str(b, ":");
        for (int r = 0; r < AS_MAP_ROWS; r++) {
            char name[16];
            bool any = false;
            for (int k = 0; k < KINDS; k++) {
                const struct as_fact *f = best_fact(&d, r, (enum kind)k);
                if (!f)
                    continue;
                as_buf_char(b, any ? ',' : ' ');
                if (!any)
                    as_buf_str(b, row_name(&d, r, name));
                as_buf_char(b, ' ');
                as_page_fact_value(b, f);
                if (as_page_said(f) == AS_SAID_CLAIMED) {
                    as_buf_str(b, " claimed (measured ");
                    as_page_bracket(b, f->ci);
                    as_buf_char(b, ')');
                }
                any = true;
            }
            as_buf_str(b, any ? ";" : "");
        }
        as_buf_char(b, '\n');
    }
}

enum as_status as_map_svg(const struct as_report_run *run, unsigned width, const char *css_class, const char *id,
                          struct as_buf *out, struct as_error *err)
{
    struct shape s = shape_of(width);
    struct as_buf body = AS_BUF_INIT;
    enum as_status st = AS_OK;
    double y = 4;
    for (size_t i = 0; i < run->devices_n && st == AS_OK; i++)
        st = draw_device(run, i, &s, &y, &body, err);
    if (st == AS_OK)
        st = as_buf_check(&body, err);
    if (st == AS_OK) {
        as_buf_printf(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"%s\" viewBox=\"0 0 %u %.0f\" role=\"img\" "
            "aria-labelledby=\"%s-t %s-d\" font-family=\"system-ui, sans-serif\">\n<title id=\"%s-t\">Machine "
            "map</title>\n<desc id=\"%s-d\">",
            css_class, width, y, id, id, id, id);
        describe(run, out);
        as_buf_str(out, "</desc>\n");
        as_buf_add(out, as_buf_get(&body), body.len);
        as_buf_str(out, "</svg>\n");
        st = as_buf_check(out, err);
    }
    as_buf_finish(&body);
    return st;
}
