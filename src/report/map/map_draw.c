#include "report/map/map_draw.h"
#include "base/text.h"
#include "report/model/same_hardware.h"
#include "report/page/markup.h"
#include "report/page/page.h"
#include "report/sheet/sheet_header.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct as_map_shape as_map_shape_of(unsigned width)
{
    double w = width;
    if (width >= 600)
        return (struct as_map_shape){.wide = true,
                                     .width = w,
                                     .boxes_w = 0.47 * w,
                                     .head_h = 56,
                                     .row_h = 62,
                                     .box_h = 44,
                                     .gap = 26,
                                     .label_x = 0.47 * w + 22,
                                     .number_x = {0.47 * w + 110, 0.47 * w + 262, 0.47 * w + 416},
                                     .number_w = 128,
                                     .note_w = 144};
    return (struct as_map_shape){.wide = false,
                                 .width = w,
                                 .boxes_w = w,
                                 .head_h = 50,
                                 .row_h = 44,
                                 .box_h = 32,
                                 .gap = 30,
                                 .label_x = 4,
                                 .number_x = {66, 66 + 0.29 * w, 66 + 0.54 * w},
                                 .number_w = 0.22 * w,
                                 .note_w = 0.25 * w};
}

static const char *const row_fill[AS_MAP_ROWS] = {[AS_MAP_CORE] = "var(--m0,#dbe9f6)",
                                                  [1] = "var(--m1,#c5ddf0)",
                                                  [2] = "var(--m2,#abcde8)",
                                                  [3] = "var(--m3,#8fbadd)",
                                                  [4] = "var(--m3,#8fbadd)",
                                                  [5] = "var(--m3,#8fbadd)",
                                                  [AS_MAP_MEMORY] = "var(--m4,#e6dcc8)",
                                                  [AS_MAP_LOCAL] = "var(--m5,#d9ecdf)"};

static void box_label(struct as_map_drawing *d, const struct as_map_node *node, double x, double y, double w, double h)
{
    struct as_buf text = AS_BUF_INIT;
    char name[24];
    bool core = node->level == AS_MAP_CORE;
    if (core) {
        if (w > 66)
            as_buf_printf(&text, "%s ", as_map_row_name(d, AS_MAP_CORE, name));
        as_buf_html(&text, node->label);
    } else {
        if (w > 96 || !node->size)
            as_buf_html(&text, as_map_row_name(d, node->level, name));
        if (node->size) {
            if (text.len)
                as_buf_str(&text, "  ");
            as_format_size(&text, node->size);
        }
    }
    double size = h > 40 ? 12.5 : 11, fits = text.len * size * 0.56;
    if (fits > w && !core) { /* a value cut before its unit is useless: leave it to the row */
        as_buf_finish(&text);
        return;
    }
    bool threads = core && node->threads > 1;
    as_map_text_at(d->b, x + w / 2, y + h / 2 + (threads ? -2 : 4.5), "box", AS_MAP_INK, size, "middle");
    as_buf_str(d->b, as_buf_get(&text));
    as_html_close(d->b, "text");
    d->b->failed |= text.failed;
    as_buf_finish(&text);
    for (unsigned i = 0; threads && i < node->threads && i < 8; i++)
        as_html_tag(d->b, "circle/", "cx='%.1f' cy='%.1f' r='2.6' fill='%s'",
                    x + w / 2 + 9.0 * ((double)i - ((node->threads > 8 ? 8 : node->threads) - 1) / 2.0), y + h - 10,
                    AS_MAP_MUTED);
}

/* A line down to y_to, as wide as the bandwidth; dashed if not measured. */
static void line_down(struct as_map_drawing *d, double x, double y_from, double y_to,
                      const struct as_map_number *bandwidth)
{
    double share = as_map_bar_share(bandwidth);
    as_html_tag(d->b, "path/", "class='link' d='M%.1f %.1fV%.1f' stroke='%s' stroke-width='%.1f'%s", x, y_from, y_to,
                share > 0 ? as_map_bar_fill[AS_MAP_BANDWIDTH] : AS_MAP_MUTED, share > 0 ? 1.5 + 6 * share : 1,
                share > 0 ? "" : " stroke-dasharray='2 3'");
}

/* The next row below that this device has. */
static int row_below(const struct as_map_drawing *d, int row)
{
    bool behind = false;
    for (int i = 0; i < AS_MAP_ROWS; i++) {
        int r = as_map_order[i];
        if (behind && isfinite(d->box.row[r]))
            return r;
        behind |= r == row;
    }
    return -1;
}

/* Shared memory and L1 are one block in the drawing, as on many GPUs. */
static double box_height(const struct as_map_drawing *d, int row)
{
    return row == AS_MAP_LOCAL && isfinite(d->box.row[1]) ? d->s.row_h : d->s.box_h;
}

static void link_down(struct as_map_drawing *d, double x, int row)
{
    int below = row_below(d, row);
    double y = d->box.row[row] + box_height(d, row);
    if (below >= 0 && d->box.row[below] > y)
        line_down(d, x, y, d->box.row[below], &d->numbers.row[below][AS_MAP_BANDWIDTH]);
}

/* Link ends, each one step lower, so that each has its own line to the memory. */
static void draw_links(struct as_map_drawing *d)
{
    double memory = d->box.row[AS_MAP_MEMORY], w = d->s.boxes_w / (double)(d->numbers.links_n ? d->numbers.links_n : 1);
    for (size_t i = 0; i < d->numbers.links_n; i++) {
        const struct as_map_link *l = &d->numbers.link[i];
        double x = (double)i * w + 3, y = d->box.link[i], size = d->s.wide ? 12.5 : 10.5;
        if (isfinite(memory))
            line_down(d, x + (w - 6) / 2, memory + d->s.box_h, y, &l->number[AS_MAP_BANDWIDTH]);
        as_html_tag(d->b, "rect/",
                    "class='end' x='%.1f' y='%.1f' width='%.1f' height='%.1f' rx='5' fill='none' stroke='%s' "
                    "stroke-dasharray='4 3'",
                    x, y, w - 6, d->s.box_h, AS_MAP_MUTED);
        as_map_textf(d->b, x + (w - 6) / 2, y + d->s.box_h / 2 + 4.5, "box", AS_MAP_INK, size, "middle", "%s",
                     (double)strlen(l->about) * size * 0.56 < w - 12 ? l->about : l->name);
    }
}

/* "× 64" over "cores": stands for the siblings that are not drawn, in the row of those that are. */
static void draw_more(struct as_map_drawing *d, const struct as_map_node *node, double x, double w)
{
    double size = d->s.wide ? 13 : 11, y = d->box.row[node->row] + d->s.box_h / 2;
    as_map_textf(d->b, x + w / 2, y, "more", AS_MAP_INK, size, "middle", "× %u", node->more);
    as_map_text_at(d->b, x + w / 2, y + size, "more", AS_MAP_MUTED, size - 2.5, "middle");
    char name[24];
    if (node->label[0])
        as_buf_html(d->b, node->label);
    else
        as_buf_printf(d->b, "%ss", as_map_row_name(d, AS_MAP_CORE, name));
    as_html_close(d->b, "text");
}

static void draw_node(struct as_map_drawing *d, size_t index, unsigned memory_at, unsigned memory_n)
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
        double y = d->box.row[node->level];
        if (node->level != AS_MAP_MEMORY)
            link_down(d, x + w / 2, node->level);
        as_html_tag(d->b, "rect/", "class='node' x='%.1f' y='%.1f' width='%.1f' height='%.1f' rx='5' fill='%s'", x, y,
                    w, box_height(d, node->level), row_fill[node->level]);
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
static void draw_outlines(struct as_map_drawing *d)
{
    for (size_t i = 2; i < d->tree.n; i++) {
        const struct as_map_node *node = &d->tree.nodes[i];
        if (!node->shown || node->level != AS_MAP_BOX || node->cols == d->tree.cols)
            continue;
        double x = node->col * d->col_w + 0.5, y = d->top - 6;
        as_html_tag(d->b, "rect/", "x='%.1f' y='%.1f' width='%.1f' height='%.1f' rx='8' fill='none' stroke='%s'", x, y,
                    node->cols * d->col_w - 1, d->bottom - y - (d->s.row_h - d->s.box_h) + 6, AS_MAP_LINE);
        as_map_textf(d->b, x + 6, y - 4, "box", AS_MAP_MUTED, 11, "start", "%s", node->label);
    }
}

/* In smaller letters where it is long. */
static void device_about(struct as_map_drawing *d, double y)
{
    struct as_buf about = AS_BUF_INIT;
    as_buf_str(&about, d->info->id);
    if (d->info->compute_units) {
        char word[24];
        as_buf_printf(&about, ", %u %ss", d->info->compute_units, as_map_row_name(d, AS_MAP_CORE, word));
    }
    if (strcmp(d->info->backend, "cpu") == 0 && d->info->threads)
        as_buf_printf(&about, ", %u threads", d->info->threads);
    else if (d->info->is_host_memory)
        as_buf_str(&about, ", uses the host's memory");
    else if (d->info->bus_id[0])
        as_buf_printf(&about, ", %s", d->info->bus_id);
    if (d->numbers.counts[0])
        as_buf_printf(&about, ", %s", d->numbers.counts);
    const double usual = d->s.wide ? 12.5 : 11,
                 fits = (d->s.wide ? d->s.width : d->s.boxes_w) / (0.6 * (double)(about.len + 1));
    as_map_text_at(d->b, 3, y, "about", AS_MAP_MUTED, fmin(usual, fits), "start");
    as_buf_html(d->b, as_buf_get(&about));
    as_html_close(d->b, "text");
    d->b->failed |= about.failed;
    as_buf_finish(&about);
}

static void device_head(struct as_map_drawing *d, double y)
{
    const char *whole = as_sheet_device_name(d->run, d->info->id);
    char name[128];
    const size_t room = d->s.wide ? 84 : 60, shown = strlen(whole) < room ? strlen(whole) : room;
    const double big = d->s.wide ? 16 : 14,
                 fits = (d->s.wide ? d->s.width : d->s.boxes_w) / (0.7 * (double)(shown + 1));
    as_copy_text(name, room < sizeof name ? room : sizeof name, whole);
    as_map_text_at(d->b, 3, y + 17, "device", AS_MAP_INK, fmin(big, fits), "start");
    as_buf_html(d->b, name);
    as_buf_str(d->b, strlen(name) < strlen(whole) ? "…" : "");
    as_html_close(d->b, "text");
    device_about(d, y + 35);
}

/* Where each row stands; returns the y behind the last box. */
static double place_boxes(struct as_map_drawing *d, double y)
{
    for (int i = 0; i < AS_MAP_ROWS; i++) {
        int r = as_map_order[i];
        bool there = d->tree.rows >> r & 1u;
        d->box.row[r] = there ? y : NAN;
        y += there ? d->s.row_h : 0;
    }
    d->bottom = y;
    for (size_t i = 0; i < d->numbers.links_n; i++)
        d->box.link[i] = y + (double)i * d->s.row_h;
    d->line = d->box;
    return y + (double)d->numbers.links_n * d->s.row_h;
}

/* Outlined boxes need space for the name above. */
static bool has_outlines(const struct as_map_tree *t)
{
    for (size_t i = 2; i < t->n; i++)
        if (t->nodes[i].shown && t->nodes[i].level == AS_MAP_BOX && t->nodes[i].cols < t->cols)
            return true;
    return false;
}

static bool found_l1(const struct as_map_numbers *n)
{
    for (int k = 0; k < AS_MAP_KINDS; k++)
        if (n->row[1][k].known == AS_MAP_MEASURED)
            return true;
    return false;
}

/* The link to the device beside it has a drawing of its own. */
static void drop_link(struct as_map_numbers *numbers, const struct as_device_info *own,
                      const struct as_device_info *beside)
{
    char object[40];
    size_t n = 0;
    snprintf(object, sizeof object, "link:%.26s", as_map_number_of(beside));
    for (size_t i = 0; i < numbers->links_n; i++) {
        const char *link = numbers->link[i].object;
        const bool is_it =
            strcmp(link, object) == 0 || strcmp(link, "link:") == 0; /* the latter: to any, not measured */
        if (!is_it || strcmp(own->backend, beside->backend) != 0)
            numbers->link[n++] = numbers->link[i];
    }
    numbers->links_n = n;
}

enum as_status as_map_draw_device(const struct as_report_run *run, struct as_map_device *device,
                                  const struct as_map_shape *s, double *y, struct as_buf *b, struct as_buf *desc,
                                  struct as_error *err)
{
    const size_t index = device->index;
    struct as_map_drawing d = {.run = run, .info = &run->devices[index], .s = *s, .b = b};
    as_map_numbers_find(run, d.info, &d.numbers);
    if (device->beside != SIZE_MAX)
        drop_link(&d.numbers, d.info, &run->devices[device->beside]);
    const char *topology = run->topologies ? run->topologies[index] : NULL;
    enum as_status st = as_map_tree_make(d.info, topology, found_l1(&d.numbers), &d.tree, err);
    if (st != AS_OK)
        return st;
    st = as_map_layout(&d.tree, s->wide ? 12 : 6, err);
    if (st == AS_OK) {
        if (!as_map_has_numbers(&d.numbers)) { /* nothing to stand beside the boxes: they can be lower */
            d.s.row_h = 38;
            d.s.box_h = 28;
        }
        d.top = *y + s->head_h + (has_outlines(&d.tree) ? 22 : 0);
        double y_end = place_boxes(&d, d.top);
        device->memory = d.box.row[AS_MAP_MEMORY];
        d.col_w = s->boxes_w / (d.tree.cols ? d.tree.cols : 1);
        as_html_open(b, "g", "dev");
        device_head(&d, *y);
        draw_outlines(&d);
        draw_links(&d);
        draw_node(&d, 1, 0, 0);
        as_map_draw_numbers(&d, &y_end);
        as_html_close(b, "g");
        as_map_describe(&d, desc);
        *y = y_end + s->gap;
    }
    as_map_tree_finish(&d.tree);
    return st;
}

/* Of identical devices at most so many are drawn. */
/* Links between nodes have neither units nor memory. */
static bool has_parts(const struct as_device_info *info)
{
    return info->compute_units || info->caches_n || info->memory_bytes;
}

static bool map_draw_is_drawn(const struct as_report_run *run, size_t i, size_t most)
{
    return has_parts(&run->devices[i]) && as_hardware_representative(run, i) == i && as_map_alike_before(run, i) < most;
}

/* The next device with memory of its own, if this is one too. */
static size_t board_after(const struct as_report_run *run, size_t i)
{
    if (!as_hardware_has_own_memory(&run->devices[i]))
        return SIZE_MAX;
    while (++i < run->devices_n)
        if (as_hardware_has_own_memory(&run->devices[i]) && map_draw_is_drawn(run, i, AS_MAP_ALIKE_MAX))
            return i;
    return SIZE_MAX;
}

enum { ONE = 360, PAIR = 1000, APART = 24 }; /* widths of what stands beside each other, and between */

/* One under the other, two boards beside each other; on a narrow page the numbers under the boxes. */
static enum as_status draw_stacked(const struct as_report_run *run, unsigned width, double *y, struct as_buf *body,
                                   struct as_buf *desc, struct as_error *err)
{
    const struct as_map_shape s = as_map_shape_of(width);
    enum as_status st = AS_OK;
    for (size_t i = 0, paired = SIZE_MAX; i < run->devices_n && st == AS_OK; i++) {
        if (!map_draw_is_drawn(run, i, s.wide ? AS_MAP_ALIKE_MAX : 1) || i == paired)
            continue;
        const size_t beside = s.wide && paired == SIZE_MAX ? board_after(run, i) : SIZE_MAX;
        if (beside != SIZE_MAX) {
            paired = beside;
            st = as_map_draw_pair(run, i, beside, width, y, body, desc, err);
            continue;
        }
        struct as_map_device device = {.index = i, .beside = SIZE_MAX};
        st = as_map_draw_device(run, &device, &s, y, body, desc, err);
    }
    return st;
}

/* All in one row; *width is set. */
static enum as_status draw_beside(const struct as_report_run *run, unsigned *width, double *y, struct as_buf *body,
                                  struct as_buf *desc, struct as_error *err)
{
    const struct as_map_shape s = as_map_shape_of(ONE);
    const double top = *y;
    enum as_status st = AS_OK;
    *width = 0;
    for (size_t i = 0, paired = SIZE_MAX; i < run->devices_n && st == AS_OK; i++) {
        if (!map_draw_is_drawn(run, i, AS_MAP_ALIKE_MAX) || i == paired)
            continue;
        const size_t beside = paired == SIZE_MAX ? board_after(run, i) : SIZE_MAX;
        double end = top;
        *width += *width ? APART : 0;
        as_html_tag(body, "g", "transform='translate(%u 0)'", *width);
        if (beside != SIZE_MAX) {
            paired = beside;
            st = as_map_draw_pair(run, i, beside, PAIR, &end, body, desc, err);
        } else {
            struct as_map_device device = {.index = i, .beside = SIZE_MAX};
            st = as_map_draw_device(run, &device, &s, &end, body, desc, err);
        }
        as_html_close(body, "g");
        *width += beside != SIZE_MAX ? PAIR : ONE;
        *y = fmax(*y, end);
    }
    return st;
}

size_t as_map_devices(const struct as_report_run *run)
{
    size_t n = 0;
    for (size_t i = 0; i < run->devices_n; i++)
        n += map_draw_is_drawn(run, i, AS_MAP_ALIKE_MAX);
    return n;
}

enum as_status as_map_svg(const struct as_report_run *run, unsigned width, const char *css_class, const char *id,
                          struct as_buf *out, struct as_error *err)
{
    struct as_buf body = AS_BUF_INIT, desc = AS_BUF_INIT;
    double y = 4;
    enum as_status st = width == AS_MAP_BESIDE ? draw_beside(run, &width, &y, &body, &desc, err)
                                               : draw_stacked(run, width, &y, &body, &desc, err);
    if (st == AS_OK)
        st = as_buf_check(body.failed ? &body : &desc, err);
    if (st == AS_OK) {
        as_html_tag(out, "svg",
                    "xmlns='http://www.w3.org/2000/svg' class='%s' viewBox='0 0 %u %.0f' role='img' "
                    "aria-labelledby='%s-t %s-d' font-family='system-ui, sans-serif'",
                    css_class, width, y, id, id);
        as_html_tag(out, "title", "id='%s-t'", id);
        as_buf_str(out, "Machine map");
        as_html_close(out, "title");
        as_html_tag(out, "desc", "id='%s-d'", id);
        as_buf_add(out, as_buf_get(&desc), desc.len);
        as_html_close(out, "desc");
        as_buf_add(out, as_buf_get(&body), body.len);
        as_html_close(out, "svg");
        st = as_buf_check(out, err);
    }
    as_buf_finish(&body);
    as_buf_finish(&desc);
    return st;
}
