/* The roofline: attainable rate over arithmetic intensity, from quantities and the facts about ridge points, as a
 * log-log plot and a table. */
#include "base/text.h"
#include "probe/view_role.h"
#include "report/page/markup.h"
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES_MAX = 6, LEVELS_MAX = AS_ROOFS_MAX };
static const double LABELS_APART = 15; /* user units: closer ones are written together */

/* Quantities of one device, and the facts about their ratios. */
struct roofline {
    struct as_quantity_value peak[TYPES_MAX];
    size_t types;
    char local[24]; /* its word for shared memory */
    struct level {
        struct as_quantity_value roof;
        double bytes_s;
        const struct as_fact *ridge[TYPES_MAX];
    } level[LEVELS_MAX]; /* the fastest first */
    size_t levels;
};

static int by_speed(const void *pa, const void *pb)
{
    double a = ((const struct level *)pa)->bytes_s, b = ((const struct level *)pb)->bytes_s;
    return a > b ? -1 : a < b;
}

static const struct as_fact *find_ridge(const struct as_report_run *rr, const char *device, const char *type,
                                        const char *level)
{
    return as_fact_of(rr->facts, rr->facts_n, device, AS_FACT_RIDGE, AS_BY(.type = type, .level = level));
}

static void roofline_find(const struct as_report_run *rr, const char *device, struct roofline *r)
{
    const struct as_quantity_subject s = as_report_subject(rr, device);
    struct as_quantity_value roofs[AS_ROOFS_MAX];
    *r = (struct roofline){.types = 0};
    as_page_local_name(s.info, r->local);
    r->levels = as_quantity_roofs(&s, roofs);
    for (size_t k = 0; k < r->levels; k++)
        r->level[k] = (struct level){.roof = roofs[k], .bytes_s = roofs[k].value * 1e9};
    qsort(r->level, r->levels, sizeof r->level[0], by_speed);
    for (const struct as_peak *p = as_peaks; p->quantity && r->types < TYPES_MAX; p++) {
        if (!as_quantity_get(&s, p->quantity, &r->peak[r->types]))
            continue;
        for (size_t k = 0; k < r->levels; k++)
            r->level[k].ridge[r->types] = find_ridge(rr, device, p->type, r->level[k].roof.of->level);
        r->types++;
    }
}

static void roofline_level_text(struct as_buf *b, const struct roofline *r, size_t k)
{
    const struct as_quantity *q = r->level[k].roof.of;
    as_buf_html(b, strcmp(q->level, "shared") == 0        ? r->local
                   : strcmp(q->level, "memory_side") == 0 ? "memory-side cache"
                                                          : q->level);
    as_buf_char(b, ' ');
    as_buf_html(b, q->label);
}

/* ---- the drawing ---- */

struct plot {
    struct as_buf *b;
    const struct roofline *r;
    const char *device;
    double left, right, top, bottom; /* user units */
    double x_lo, x_hi, y_lo, y_hi;   /* FLOP per byte, FLOP/s */
    double font;
};

static double roofline_at_x(const struct plot *p, double ops_byte)
{
    return p->left + (p->right - p->left) * log(ops_byte / p->x_lo) / log(p->x_hi / p->x_lo);
}

static double roofline_at_y(const struct plot *p, double ops_s)
{
    return p->bottom - (p->bottom - p->top) * log(ops_s / p->y_lo) / log(p->y_hi / p->y_lo);
}

/* Labelled grid lines per decade, faint ones at 2 and 5. */
static void roofline_grid(struct plot *p, bool vertical)
{
    double lo = vertical ? p->x_lo : p->y_lo, hi = vertical ? p->x_hi : p->y_hi;
    bool few = log10(hi / lo) < 2.5;
    for (int e = (int)floor(log10(lo)); e <= (int)ceil(log10(hi)); e++)
        for (int m = 1; m <= 5; m += m == 1 ? 1 : 3) {
            double v = m * pow(10, e), at = vertical ? roofline_at_x(p, v) : roofline_at_y(p, v);
            if (v < lo || v > hi)
                continue;
            as_html_tag(p->b, "path/", "d='M%.1f %.1f%c%.1f' stroke='var(--grid)' stroke-width='%s'",
                        vertical ? at : p->left, vertical ? p->top : at, vertical ? 'V' : 'H',
                        vertical ? p->bottom : p->right, m == 1 ? "1" : ".4");
            if (m != 1 && !few)
                continue;
            as_svg_text(p->b, vertical ? at : p->left - 7, vertical ? p->bottom + 17 : at + 4,
                        vertical ? "middle" : "end", "var(--muted)", p->font - 1);
            if (vertical)
                as_format_number(p->b, v, v < 1 ? 2 : 1);
            else
                as_page_tick(p->b, v * (1 + 1e-9), "FLOP/s");
            as_html_close(p->b, "text");
        }
}

static const char *const level_stroke[LEVELS_MAX] = {"var(--c3)", "var(--c1)", "var(--c2)", "var(--c7)",
                                                     "var(--c5)", "var(--c4)", "var(--c6)", "var(--c8)"};
static const char *const type_dash[TYPES_MAX] = {"", "7 4", "2 4", "10 3 2 3", "4 2", "1 2"};

static void roofline_value(struct as_buf *b, const struct as_quantity_value *v)
{
    const struct as_number n = as_quantity_number(v);
    as_page_number(b, &n);
}

static void level_name(struct plot *p, size_t k)
{
    as_html_cite(p->b, "tspan", NULL, p->device, p->r->level[k].roof.of, p->r->level[k].roof.value);
    roofline_level_text(p->b, p->r, k);
    as_buf_char(p->b, ' ');
    roofline_value(p->b, &p->r->level[k].roof);
    as_html_close(p->b, "tspan");
}

/* Slopes are labelled along the line. */
static void slopes(struct plot *p, double peak)
{
    double steep = atan2(roofline_at_y(p, p->y_lo) - roofline_at_y(p, p->y_lo * 10),
                         roofline_at_x(p, p->x_lo * 10) - roofline_at_x(p, p->x_lo));
    double last = -INFINITY;
    for (size_t k = 0; k < p->r->levels; k++) {
        double rate = p->r->level[k].bytes_s, x = fmax(p->x_lo, p->y_lo / rate), end = fmin(peak / rate, p->x_hi);
        double y = roofline_at_y(p, rate * x);
        as_html_tag(p->b, "path/", "d='M%.1f %.1fL%.1f %.1f' stroke='%s' stroke-width='2.2' stroke-linecap='round'",
                    roofline_at_x(p, x), y, roofline_at_x(p, end), roofline_at_y(p, rate * end), level_stroke[k]);
        bool together = k > 0 && fabs(y - last) < LABELS_APART;
        if (together)
            continue;
        last = y;
        as_html_tag(p->b, "text",
                    "transform='translate(%.1f %.1f) rotate(%.2f)' x='8' y='-6' fill='var(--ink)' font-size='%.1f'",
                    roofline_at_x(p, x), y, -steep * 180 / acos(-1), p->font);
        level_name(p, k);
        for (size_t n = k + 1; n < p->r->levels; n++) {
            double next = p->r->level[n].bytes_s;
            if (fabs(roofline_at_y(p, next * fmax(p->x_lo, p->y_lo / next)) - y) >= LABELS_APART)
                break;
            as_buf_str(p->b, ", ");
            level_name(p, n);
        }
        as_html_close(p->b, "text");
    }
}

static void roofline_ceiling(struct plot *p, size_t t)
{
    const struct as_quantity_value *peak = &p->r->peak[t];
    double y = roofline_at_y(p, peak->value), from = p->x_hi, before = -INFINITY;
    for (size_t k = 0; k < p->r->levels; k++)
        from = fmin(from, peak->value / p->r->level[k].bytes_s);
    as_html_tag(p->b, "path/", "d='M%.1f %.1fH%.1f' stroke='var(--ink)' stroke-width='2' stroke-dasharray='%s'",
                roofline_at_x(p, from), y, p->right, type_dash[t]);
    as_svg_text(p->b, p->right - 2, y - 7, "end", "var(--ink)", p->font);
    as_html_cite(p->b, "tspan", NULL, p->device, peak->of, peak->value);
    as_buf_html(p->b, peak->of->label);
    as_buf_char(p->b, ' ');
    roofline_value(p->b, peak);
    as_html_close(p->b, "tspan/text");
    for (size_t k = 0; k < p->r->levels; k++) {
        const struct as_fact *ridge = p->r->level[k].ridge[t];
        if (!ridge)
            continue;
        double x = roofline_at_x(p, ridge->value);
        as_html_tag(p->b, "circle", "cx='%.1f' cy='%.1f' r='4.5' fill='%s' stroke='var(--paper)' stroke-width='1.5'", x,
                    y, level_stroke[k]);
        as_html_text(p->b, "title", NULL, ridge->sentence);
        as_html_close(p->b, "circle");
        if (x - before < 2.6 * p->font)
            continue;
        before = x;
        as_html_tag(p->b, "text", "class='over' x='%.1f' y='%.1f' fill='var(--muted)' font-size='%.1f'", x + 3,
                    y + p->font + 5, p->font - 1.5);
        as_page_number(p->b, &(struct as_number){.value = ridge->value, .ci = ridge->ci, .unit = ""});
        as_html_close(p->b, "text");
    }
}

static void range_of(struct plot *p, double *highest)
{
    double x_lo = INFINITY, x_hi = 0, slowest = INFINITY;
    *highest = 0;
    for (size_t t = 0; t < p->r->types; t++)
        *highest = fmax(*highest, p->r->peak[t].value);
    for (size_t k = 0; k < p->r->levels; k++) {
        slowest = fmin(slowest, p->r->level[k].bytes_s);
        for (size_t t = 0; t < p->r->types; t++) {
            x_lo = fmin(x_lo, p->r->peak[t].value / p->r->level[k].bytes_s);
            x_hi = fmax(x_hi, p->r->peak[t].value / p->r->level[k].bytes_s);
        }
    }
    p->x_lo = x_lo / 10;
    p->x_hi = x_hi * 10;
    p->y_lo = slowest * p->x_lo;
    p->y_hi = *highest * 2;
}

static void roofline_draw(struct as_buf *b, const struct roofline *r, const char *device, bool wide)
{
    double w = wide ? 1000 : 360, h = wide ? 470 : 330, highest;
    struct plot p = {.b = b,
                     .r = r,
                     .device = device,
                     .left = wide ? 84 : 62,
                     .right = w - 10,
                     .top = 14,
                     .bottom = h - 46,
                     .font = wide ? 13 : 11};
    range_of(&p, &highest);
    if (!as_page_drawable(p.x_lo, p.x_hi) || !as_page_drawable(p.y_lo, p.y_hi)) {
        if (wide)
            as_svg_not_drawn(b);
        return;
    }
    as_svg_open(b, wide ? "roofline wide" : "roofline narrow", w, h,
                "Roofline of %s; its numbers are in the table below", device);
    roofline_grid(&p, true);
    roofline_grid(&p, false);
    slopes(&p, highest);
    for (size_t t = 0; t < r->types; t++)
        roofline_ceiling(&p, t);
    as_svg_text(p.b, (p.left + p.right) / 2, h - 8, "middle", "var(--ink)", p.font);
    as_buf_str(b, "operations per byte");
    as_html_close(b, "text/svg");
}

/* ---- the table ---- */

static void roofline_table(struct as_buf *b, const struct roofline *r, const char *device)
{
    as_html_region(b, "scroll", "figures", "Roofline");
    as_html_open(b, "caption", NULL);
    as_buf_str(b, "Ceilings and ridge points of ");
    as_buf_html(b, device);
    as_buf_str(b, ", in operations per byte, with 95% intervals");
    as_html_close(b, "caption");
    as_html_heads(b);
    as_html_head(b, "type");
    as_html_head(b, "peak");
    for (size_t k = 0; k < r->levels; k++) {
        as_html_head(b, "");
        roofline_level_text(b, r, k);
        as_html_cite(b, "small", NULL, device, r->level[k].roof.of, r->level[k].roof.value);
        roofline_value(b, &r->level[k].roof);
        as_html_close(b, "small");
    }
    as_html_body(b);
    for (size_t t = 0; t < r->types; t++) {
        const struct as_quantity_value *peak = &r->peak[t];
        as_html_row(b, NULL, peak->of->label);
        as_html_cite(b, "td", NULL, device, peak->of, peak->value);
        roofline_value(b, peak);
        as_html_interval(b, peak->value, peak->ci, peak->unit);
        for (size_t k = 0; k < r->levels; k++) {
            const struct as_fact *ridge = r->level[k].ridge[t];
            as_html_open(b, "td", NULL);
            if (ridge)
                as_page_number(b, &(struct as_number){.value = ridge->value, .ci = ridge->ci, .unit = ""});
            else
                as_buf_str(b, "–");
            if (ridge)
                as_html_interval(b, ridge->value, ridge->ci, "");
        }
        as_buf_char(b, '\n');
    }
    as_html_table_end(b);
}

static bool has_peak_cell(const struct as_report_run *rr, const char *device)
{
    for (size_t i = 0; i < rr->cells_n; i++)
        if (strcmp(rr->cells[i].device, device) == 0 && as_has_role(&rr->cells[i], AS_VIEW_ROOFLINE) &&
            as_report_is_measured(&rr->cells[i]))
            return true;
    return false;
}

static void roofline_one(struct as_page *p, const struct as_report_run *rr, const char *device)
{
    struct as_buf *b = p->out;
    struct roofline r;
    roofline_find(rr, device, &r);
    as_html_open(b, "h3", NULL);
    as_buf_str(b, "Roofline of ");
    as_html_text(b, "code", NULL, device);
    if (p->n > 1)
        as_html_of_run(b, &rr->run);
    as_html_close(b, "h3");
    if (r.types == 0 || r.levels == 0) {
        as_html_paragraph(b, "note",
                          r.types ? "Not drawn: there is no valid bandwidth of all threads or units."
                                  : "Not drawn: there is no valid arithmetic peak.");
        return;
    }
    as_html_open(b, "figure", "chart");
    roofline_draw(b, &r, device, true);
    roofline_draw(b, &r, device, false);
    as_html_text(b, "figcaption", NULL,
                 "Slopes are the bandwidth of each level by its fastest operation, ceilings the rate of fused "
                 "multiply-adds of each type; dots are the ridge points, where one binds as much as the other. "
                 "Everything drawn was measured and is valid.");
    as_html_close(b, "figure");
    as_html_details(b, "more", "Ceilings and ridge points");
    roofline_table(b, &r, device);
    as_html_close(b, "details");
}

void as_page_roofline(struct as_page *p)
{
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].devices_n; i++)
            if (has_peak_cell(&p->runs[r], p->runs[r].devices[i].id))
                roofline_one(p, &p->runs[r], p->runs[r].devices[i].id);
}
