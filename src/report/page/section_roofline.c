/* The roofline: attainable rate over arithmetic intensity, from quantities and the facts about ridge points, as a
 * log-log plot and a table. */
#include "base/text.h"
#include "probe/view_role.h"
#include "report/page/markup.h"
#include "report/page/roofline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LABELS_APART = 18; /* user units: closer slopes are labelled together */

/* ---- the drawing ---- */

struct plot {
    struct as_buf *b;
    const struct as_roofline *r;
    const char *device;
    double w, left, right, top, bottom; /* user units */
    double x_lo, x_hi, y_lo, y_hi;      /* FLOP per byte, FLOP/s */
    size_t columns;                     /* of the legend, on a narrow page */
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

static const double TICKS_APART = 44; /* user units: room for a label */

/* Grid lines per decade, labelled where there is room; faint ones at 2 and 5. */
static void roofline_grid(struct plot *p, bool vertical)
{
    double lo = vertical ? p->x_lo : p->y_lo, hi = vertical ? p->x_hi : p->y_hi;
    const double decades = log10(hi / lo), length = vertical ? p->right - p->left : 2 * (p->bottom - p->top);
    const bool few = decades < 2.5;
    const int each = (int)ceil(TICKS_APART * decades / length);
    for (int e = (int)floor(log10(lo)); e <= (int)ceil(log10(hi)); e++)
        for (int m = 1; m <= 5; m += m == 1 ? 1 : 3) {
            double v = m * pow(10, e), at = vertical ? roofline_at_x(p, v) : roofline_at_y(p, v);
            if (v < lo || v > hi)
                continue;
            as_html_tag(p->b, "path/", "d='M%.1f %.1f%c%.1f' stroke='var(--grid)' stroke-width='%s'",
                        vertical ? at : p->left, vertical ? p->top : at, vertical ? 'V' : 'H',
                        vertical ? p->bottom : p->right, m == 1 ? "1" : ".4");
            if ((m != 1 && !few) || e % each != 0)
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

static const char *const level_stroke[AS_ROOFLINE_LEVELS_MAX] = {"var(--c3)", "var(--c1)", "var(--c2)", "var(--c7)",
                                                                 "var(--c5)", "var(--c4)", "var(--c6)", "var(--c8)"};
/* Ceilings in the order they are drawn: the vector ALU's three in ink, those of matrix units in colours. */
static const struct {
    const char *stroke, *dash;
} ceiling_line[AS_ROOFLINE_DRAWN_MAX] = {{"var(--ink)", ""}, {"var(--ink)", "7 4"},   {"var(--ink)", "2 4"},
                                         {"var(--c5)", ""},  {"var(--c4)", "7 4"},    {"var(--c6)", "2 3"},
                                         {"var(--c8)", ""},  {"var(--c2)", "9 3 2 3"}};

static void roofline_value(struct as_buf *b, const struct as_quantity_value *v)
{
    const struct as_number n = as_quantity_number(v);
    as_page_number(b, &n);
}

static void level_name(struct plot *p, size_t k)
{
    as_html_cite(p->b, "tspan", NULL, p->device, p->r->level[k].roof.of, p->r->level[k].roof.value);
    as_roofline_level_text(p->b, p->r, k);
    as_buf_char(p->b, ' ');
    roofline_value(p->b, &p->r->level[k].roof);
    as_html_close(p->b, "tspan");
}

static double slope_start(const struct plot *p, size_t k)
{
    const double rate = p->r->level[k].bytes_s;
    return roofline_at_y(p, rate * fmax(p->x_lo, p->y_lo / rate));
}

/* Do two slopes begin so near each other that they share a label? */
static bool is_near(const struct plot *p, size_t a, size_t b)
{
    return fabs(slope_start(p, a) - slope_start(p, b)) < LABELS_APART;
}

/* Letters are about half as wide as high; a label that is longer than its slope gets smaller ones. */
static double slope_label_size(const struct plot *p, size_t k, double length)
{
    struct as_buf text = AS_BUF_INIT;
    for (size_t n = k; n < p->r->levels && (n == k || is_near(p, k, n)); n++) {
        const struct as_number number = as_quantity_number(&p->r->level[n].roof);
        as_buf_str(&text, n > k ? ", " : "");
        as_roofline_level_text(&text, p->r, n);
        as_buf_char(&text, ' ');
        as_number_text(&number, &text);
    }
    const double size = fmin(p->font, (length - 12) / (0.56 * (double)(text.len ? text.len : 1)));
    as_buf_finish(&text);
    return fmax(size, 6);
}

/* The lowest ceiling, under which ridge points have their numbers. */
static double lowest_ceiling(const struct plot *p, double peak)
{
    for (size_t t = 0; t < p->r->types; t++)
        if (p->r->ceiling[t].is_drawn)
            peak = fmin(peak, p->r->ceiling[t].peak.value);
    return peak;
}

/* Slopes are labelled along the line, below the ceilings. */
static void slopes(struct plot *p, double peak)
{
    const double lowest = lowest_ceiling(p, peak);
    double steep = atan2(roofline_at_y(p, p->y_lo) - roofline_at_y(p, p->y_lo * 10),
                         roofline_at_x(p, p->x_lo * 10) - roofline_at_x(p, p->x_lo));
    for (size_t k = 0, first = 0; k < p->r->levels; k++) {
        double rate = p->r->level[k].bytes_s, x = fmax(p->x_lo, p->y_lo / rate), end = fmin(peak / rate, p->x_hi);
        double y = roofline_at_y(p, rate * x);
        as_html_tag(p->b, "path/", "d='M%.1f %.1fL%.1f %.1f' stroke='%s' stroke-width='2.2' stroke-linecap='round'",
                    roofline_at_x(p, x), y, roofline_at_x(p, end), roofline_at_y(p, rate * end), level_stroke[k]);
        if (k > 0 && is_near(p, first, k))
            continue;
        first = k;
        const double free_to = fmax(x, fmin(lowest / rate, p->x_hi));
        const double size = slope_label_size(
            p, k,
            hypot(roofline_at_x(p, free_to) - roofline_at_x(p, x), roofline_at_y(p, rate * free_to) - y) - p->font);
        as_html_tag(p->b, "text",
                    "transform='translate(%.1f %.1f) rotate(%.2f)' x='8' y='-5' fill='var(--ink)' font-size='%.1f'",
                    roofline_at_x(p, x), y, -steep * 180 / acos(-1), size);
        for (size_t n = k; n < p->r->levels && (n == k || is_near(p, k, n)); n++) {
            as_buf_str(p->b, n > k ? ", " : "");
            level_name(p, n);
        }
        as_html_close(p->b, "text");
    }
}

/* To the right of its dot, or to the left where the plot ends. */
static void ridge_label(struct plot *p, const struct as_fact *ridge, double x, double y)
{
    struct as_buf text = AS_BUF_INIT;
    as_page_number(&text, &(struct as_number){.value = ridge->value, .ci = ridge->ci, .unit = ""});
    const bool fits = x + 5 + 0.56 * p->font * (double)text.len < p->right;
    as_html_tag(p->b, "text", "class='over' x='%.1f' y='%.1f' fill='var(--muted)' font-size='%.1f' text-anchor='%s'",
                fits ? x + 5 : x - 7, y, p->font - 1, fits ? "start" : "end");
    as_buf_str(p->b, as_buf_get(&text));
    as_html_close(p->b, "text");
    p->b->failed |= text.failed;
    as_buf_finish(&text);
}

/* Ridge points are dots; those of the slowest level have their number. */
static void ridges(struct plot *p, size_t t, double *x_before, double *y_before)
{
    const double y = roofline_at_y(p, p->r->ceiling[t].peak.value);
    for (size_t k = 0; k < p->r->levels; k++) {
        const struct as_fact *ridge = p->r->level[k].ridge[t];
        if (!ridge)
            continue;
        const double x = roofline_at_x(p, ridge->value);
        as_html_tag(p->b, "circle", "cx='%.1f' cy='%.1f' r='4' fill='%s' stroke='var(--paper)' stroke-width='1.5'", x,
                    y, level_stroke[k]);
        as_html_text(p->b, "title", NULL, ridge->sentence);
        as_html_close(p->b, "circle");
        if (k + 1 < p->r->levels || (fabs(x - *x_before) < 2.6 * p->font && fabs(y - *y_before) < p->font + 2))
            continue;
        *x_before = x;
        *y_before = y;
        ridge_label(p, ridge, x, y + p->font + 2);
    }
}

static void ceilings(struct plot *p)
{
    double x_before = -INFINITY, y_before = -INFINITY;
    for (size_t t = 0, i = 0; t < p->r->types; t++) {
        const struct as_ceiling *c = &p->r->ceiling[t];
        double from = p->x_hi;
        if (!c->is_drawn)
            continue;
        for (size_t k = 0; k < p->r->levels; k++)
            from = fmin(from, c->peak.value / p->r->level[k].bytes_s);
        as_html_tag(p->b, "path/", "d='M%.1f %.1fH%.1f' fill='none' stroke='%s' stroke-width='2' stroke-dasharray='%s'",
                    roofline_at_x(p, from), roofline_at_y(p, c->peak.value), p->right, ceiling_line[i].stroke,
                    ceiling_line[i].dash);
        i++;
    }
    for (size_t t = 0; t < p->r->types; t++)
        if (p->r->ceiling[t].is_drawn)
            ridges(p, t, &x_before, &y_before);
}

/* An entry of the legend: its line, and what it is. */
static void legend_entry(struct plot *p, const struct as_ceiling *c, size_t i, double x, double y)
{
    as_html_tag(p->b, "path/", "d='M%.1f %.1fh22' fill='none' stroke='%s' stroke-width='2' stroke-dasharray='%s'", x,
                y - 4, ceiling_line[i].stroke, ceiling_line[i].dash);
    as_svg_text(p->b, x + 27, y, "start", "var(--ink)", p->font - 0.5);
    as_html_cite(p->b, "tspan", NULL, p->device, c->peak.of, c->peak.value);
    as_buf_html(p->b, c->name);
    as_buf_char(p->b, ' ');
    roofline_value(p->b, &c->peak);
    as_html_close(p->b, "tspan/text");
}

/* Letters of the longest entry of the legend. */
static size_t longest_entry(const struct as_roofline *r)
{
    size_t most = 0;
    for (size_t t = 0; t < r->types; t++) {
        const struct as_number number = as_quantity_number(&r->ceiling[t].peak);
        struct as_buf text = AS_BUF_INIT;
        as_number_text(&number, &text);
        const size_t length = strlen(r->ceiling[t].name) + 1 + text.len;
        most = r->ceiling[t].is_drawn && length > most ? length : most;
        as_buf_finish(&text);
    }
    return most;
}

static int by_height(const void *pa, const void *pb)
{
    const struct as_ceiling *a = *(const struct as_ceiling *const *)pa, *b = *(const struct as_ceiling *const *)pb;
    return a->peak.value < b->peak.value ? 1 : -(a->peak.value > b->peak.value);
}

/* The highest ceiling first: beside the plot in one column, on a narrow page under it. */
static void legend(struct plot *p, bool wide)
{
    const struct as_ceiling *sorted[AS_ROOFLINE_DRAWN_MAX];
    size_t n = 0;
    for (size_t t = 0; t < p->r->types; t++)
        if (p->r->ceiling[t].is_drawn)
            sorted[n++] = &p->r->ceiling[t];
    const struct as_ceiling *drawn[AS_ROOFLINE_DRAWN_MAX];
    memcpy(drawn, sorted, sizeof drawn);
    qsort(sorted, n, sizeof *sorted, by_height);
    const double step = p->font + 5;
    for (size_t k = 0; k < n; k++) {
        size_t i = 0;
        while (drawn[i] != sorted[k])
            i++;
        const double x = wide ? p->right + 16 : 6 + (double)(k % p->columns) * p->w / 2;
        legend_entry(p, sorted[k], i, x,
                     wide ? p->top + 8 + (double)k * step : p->bottom + 54 + (double)(k / p->columns) * step);
    }
}

static void range_of(struct plot *p, double *highest)
{
    double x_lo = INFINITY, x_hi = 0, slowest = INFINITY;
    *highest = 0;
    for (size_t t = 0; t < p->r->types; t++)
        *highest = fmax(*highest, p->r->ceiling[t].is_drawn ? p->r->ceiling[t].peak.value : 0);
    for (size_t k = 0; k < p->r->levels; k++) {
        slowest = fmin(slowest, p->r->level[k].bytes_s);
        for (size_t t = 0; t < p->r->types; t++) {
            if (!p->r->ceiling[t].is_drawn)
                continue;
            x_lo = fmin(x_lo, p->r->ceiling[t].peak.value / p->r->level[k].bytes_s);
            x_hi = fmax(x_hi, p->r->ceiling[t].peak.value / p->r->level[k].bytes_s);
        }
    }
    p->x_lo = x_lo / 10;
    p->x_hi = x_hi * 4;
    p->y_lo = slowest * p->x_lo;
    p->y_hi = *highest * 2;
}

static void roofline_draw(struct as_buf *b, const struct as_roofline *r, const char *device, bool wide)
{
    const double w = wide ? 640 : 360, plot_h = wide ? 260 : 270, font = wide ? 12 : 10.5;
    const double legend_w = 58 + 0.56 * font * (double)longest_entry(r);
    const size_t columns = legend_w - 20 < w / 2 ? 2 : 1;
    size_t drawn = 0;
    for (size_t t = 0; t < r->types; t++)
        drawn += r->ceiling[t].is_drawn;
    const double h = plot_h + (wide ? 0 : 14 + (double)((drawn + columns - 1) / columns) * (font + 5));
    double highest;
    struct plot p = {.b = b,
                     .r = r,
                     .device = device,
                     .w = w,
                     .columns = columns,
                     .left = wide ? 86 : 74,
                     .right = w - (wide ? fmin(legend_w, 280) : 10),
                     .top = 14,
                     .bottom = plot_h - 46,
                     .font = font};
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
    ceilings(&p);
    legend(&p, wide);
    as_svg_text(p.b, (p.left + p.right) / 2, p.bottom + 36, "middle", "var(--ink)", p.font);
    as_buf_str(b, "operations per byte");
    as_html_close(b, "text/svg");
}

/* ---- the table ---- */

static void roofline_table(struct as_buf *b, const struct as_roofline *r, const char *device)
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
        as_roofline_level_text(b, r, k);
        as_html_cite(b, "small", NULL, device, r->level[k].roof.of, r->level[k].roof.value);
        roofline_value(b, &r->level[k].roof);
        as_html_close(b, "small");
    }
    as_html_body(b);
    for (size_t t = 0; t < r->types; t++) {
        const struct as_quantity_value *peak = &r->ceiling[t].peak;
        as_html_row(b, NULL, r->ceiling[t].name);
        as_html_cite(b, "td", NULL, device, peak->of, peak->value);
        roofline_value(b, peak);
        as_html_interval(b, peak->value, peak->ci, peak->unit);
        for (size_t k = 0; k < r->levels; k++) {
            const struct as_fact *ridge = r->level[k].ridge[t];
            as_html_open(b, "td", NULL);
            if (!ridge && !r->ceiling[t].type[0]) {
                as_buf_str(b, "–");
                continue;
            }
            const struct as_interval roof = {r->level[k].roof.ci.lo * 1e9, r->level[k].roof.ci.hi * 1e9};
            const double value = ridge ? ridge->value : peak->value / r->level[k].bytes_s;
            const struct as_interval ci =
                ridge ? ridge->ci : as_ratio_interval(peak->value, peak->ci, r->level[k].bytes_s, roof);
            as_page_number(b, &(struct as_number){.value = value, .ci = ci, .unit = ""});
            as_html_interval(b, value, ci, "");
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
    struct as_roofline r;
    as_roofline_find(rr, device, &r);
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
                 "Slopes are the bandwidth of each level by its fastest operation; ceilings are the rates of fused "
                 "multiply-adds in the vector ALU and of GEMM in matrix units, by type. Dots are ridge points of the "
                 "vector ALU. All numbers are measured and valid.");
    as_html_close(b, "figure");
    as_html_details(b, "more", "Ceilings and ridge points");
    roofline_table(b, &r, device);
    as_html_close(b, "details");
}

bool as_page_has_roofline(const struct as_page *p)
{
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].devices_n; i++) {
            const char *device = p->runs[r].devices[i].id;
            struct as_roofline roofline;
            if (!has_peak_cell(&p->runs[r], device))
                continue;
            as_roofline_find(&p->runs[r], device, &roofline);
            if (roofline.types && roofline.levels)
                return true;
        }
    return false;
}

/* Number of runs in which the device has a roofline that can be drawn. */
static size_t roofline_runs(const struct as_page *p, const char *device)
{
    size_t n = 0;
    for (size_t r = 0; r < p->n; r++) {
        struct as_roofline roofline = {0};
        if (has_peak_cell(&p->runs[r], device))
            as_roofline_find(&p->runs[r], device, &roofline);
        n += roofline.types && roofline.levels;
    }
    return n;
}

/* The device whose rooflines are open: of one run the first, else one that most runs have, a GPU before the CPU. */
static const char *roofline_first(const struct as_page *p)
{
    const char *first = NULL;
    size_t most = 0;
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].devices_n; i++) {
            const struct as_device_info *info = &p->runs[r].devices[i];
            const size_t runs = roofline_runs(p, info->id), rank = p->n > 1 ? 2 * runs + !as_page_is_of_cpu(info) : 1;
            if (runs ? rank > most : !first && has_peak_cell(&p->runs[r], info->id)) {
                most = runs ? rank : 0;
                first = info->id;
            }
        }
    return first;
}

/* Draws rooflines from..to-1 of the first device (own), or of the others. Returns how many there are. */
static size_t roofline_each(struct as_page *p, const char *first, bool own, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].devices_n; i++) {
            const char *device = p->runs[r].devices[i].id;
            if (!has_peak_cell(&p->runs[r], device) || (first && strcmp(device, first) == 0) != own)
                continue;
            if (n >= from && n < to)
                roofline_one(p, &p->runs[r], device);
            n++;
        }
    return n;
}

/* Those of one device are open, of at most three runs, as of other pictures near the top of the page. */
void as_page_roofline(struct as_page *p)
{
    enum { RUNS_OPEN = 3 };
    const char *first = roofline_first(p);
    const size_t own = roofline_each(p, first, true, 0, 0), others = roofline_each(p, first, false, 0, 0);
    const size_t open = own <= RUNS_OPEN ? own : 1, more = own - open + others;
    roofline_each(p, first, true, 0, open);
    if (more)
        as_html_details(p->out, "more", "%zu more picture%s", more, more == 1 ? "" : "s");
    roofline_each(p, first, true, open, own);
    roofline_each(p, first, false, 0, others);
    if (more)
        as_html_close(p->out, "details");
}
