#include "report/page/matrix_draw.h"

#include "base/text.h"
#include "report/page/markup.h"
#include "report/page/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what they share ---- */

static const struct path_colour {
    const char *path, *colour;
} colours[] = {{"library", "var(--c1)"},    {"wgmma", "var(--c2)"}, {"wgmma_pair", "var(--c5)"},
               {"tensor", "var(--c7)"},     {"mma", "var(--c3)"},   {"dot", "var(--c6)"},
               {"tiled", "var(--c4)"},      {"naive", "var(--c8)"}, {"flash", "var(--c2)"},
               {"decomposed", "var(--c1)"}, {"split", "var(--c5)"}, {"scalar", "var(--c4)"}};

const char *as_matrix_colour(const char *path)
{
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        if (strcmp(colours[i].path, path) == 0)
            return colours[i].colour;
    return "var(--c7)";
}

/* ---- GEMM over size ---- */

static const double WIDE = 340, HIGH = 250, LEFT = 50, RIGHT = 330, TOP = 26, BOTTOM = 218;

struct axes {
    double x_lo, x_hi, y_lo, y_hi;
    const char *unit;
};

static double matrix_draw_at_x(const struct axes *a, double size)
{
    return a->x_hi > a->x_lo ? LEFT + 8 + (RIGHT - LEFT - 16) * log(size / a->x_lo) / log(a->x_hi / a->x_lo)
                             : (LEFT + RIGHT) / 2;
}

static double matrix_draw_at_y(const struct axes *a, double rate)
{
    return BOTTOM - (BOTTOM - TOP) * log(rate / a->y_lo) / log(a->y_hi / a->y_lo);
}

static struct axes axes_of(const struct as_matrix_point *points, size_t n, double roof, const char *type)
{
    struct axes a = {INFINITY, 0, roof > 0 ? roof : INFINITY, roof > 0 ? roof : 0, as_rate_unit(AS_UNIT_RATE, type)};
    for (size_t i = 0; i < n; i++) {
        a.x_lo = fmin(a.x_lo, points[i].size);
        a.x_hi = fmax(a.x_hi, points[i].size);
        a.y_lo = fmin(a.y_lo, points[i].rate);
        a.y_hi = fmax(a.y_hi, points[i].rate);
    }
    a.y_lo = pow(10, floor(log10(a.y_lo * 0.999)));
    a.y_hi = pow(10, ceil(log10(a.y_hi * 1.001)));
    return a;
}

/* "100 G", "10 P": the whole unit does not fit. */
static void rate_tick(struct as_buf *b, double v, const char *unit)
{
    const struct as_scale *s = as_scale_of(v * (1 + 1e-9), unit);
    const double shown = v * s->factor;
    const int prefix = (int)(strlen(s->shown) - strlen(unit));
    if (shown >= 999.5 && prefix == 1 && s->shown[0] == 'T')
        as_buf_printf(b, "%.6g P", shown / 1000);
    else
        as_buf_printf(b, "%.6g %.*s", shown, prefix, s->shown);
    as_html_close(b, "text");
}

static void matrix_draw_frame(struct as_buf *b, const struct axes *a, const struct as_matrix_point *points, size_t n)
{
    for (int e = (int)lround(log10(a->y_lo)); e <= (int)lround(log10(a->y_hi)); e++) {
        const double v = pow(10, e);
        as_html_tag(b, "path/", "d='M%.1f %.1fH%.1f' stroke='var(--grid)'", LEFT, matrix_draw_at_y(a, v), RIGHT);
        as_svg_text(b, LEFT - 6, matrix_draw_at_y(a, v) + 4, "end", "var(--muted)", 10.5);
        rate_tick(b, v, a->unit);
    }
    double last = -INFINITY;
    for (double size = a->x_lo; size <= a->x_hi;) {
        double next = INFINITY;
        if (matrix_draw_at_x(a, size) - last > 34) {
            as_svg_textf(b, matrix_draw_at_x(a, size), BOTTOM + 15, "middle", "var(--muted)", 10.5, "%.0f", size);
            last = matrix_draw_at_x(a, size);
        }
        for (size_t i = 0; i < n; i++)
            if (points[i].size > size)
                next = fmin(next, points[i].size);
        size = next;
    }
    as_svg_textf(b, (LEFT + RIGHT) / 2, BOTTOM + 30, "middle", "var(--muted)", 10.5, "rows and columns");
}

/* The label is above the curves. */
static void roof_line(struct as_buf *b, const struct axes *a, double roof, const char *type)
{
    as_html_tag(b, "path/", "d='M%.1f %.1fH%.1fM%.1f 10H%.1f' stroke='var(--ink)' stroke-dasharray='5 4'", LEFT,
                matrix_draw_at_y(a, roof), RIGHT, LEFT + 44, LEFT + 70);
    as_svg_text(b, LEFT + 76, 14, "start", "var(--muted)", 10.5);
    as_buf_str(b, "vector ALU, ");
    as_buf_html(b, type);
    as_buf_str(b, ": ");
    as_page_value(b, roof, "FLOP/s");
    as_html_close(b, "text");
}

static void matrix_draw_point(struct as_buf *b, const struct axes *a, const struct as_matrix_point *p)
{
    const char *colour = as_matrix_colour(p->path);
    double x = matrix_draw_at_x(a, p->size);
    if (p->ci.lo >= a->y_lo && p->ci.hi > p->ci.lo)
        as_html_tag(b, "path/", "d='M%.1f %.1fV%.1f' stroke='%s' stroke-width='5' opacity='.35'", x,
                    matrix_draw_at_y(a, p->ci.lo), matrix_draw_at_y(a, fmin(p->ci.hi, a->y_hi)), colour);
    as_html_tag(b, "circle", "cx='%.1f' cy='%.1f' r='3' stroke='%s' stroke-width='1.4' fill='%s'", x,
                matrix_draw_at_y(a, p->rate), colour, p->valid ? colour : "var(--paper)");
    as_html_open(b, "title", NULL);
    as_buf_html(b, p->path);
    as_buf_printf(b, " %.0f: ", p->size);
    as_page_value(b, p->rate, a->unit);
    as_buf_str(b, p->valid ? "" : ", rejected");
    as_html_close(b, "title/circle");
}

void as_matrix_draw_gemms(struct as_buf *b, const char *type, const struct as_matrix_point *points, size_t n,
                          double roof, const char *roof_type)
{
    const struct axes a = axes_of(points, n, roof, type);
    if (!as_page_drawable(a.y_lo, a.y_hi) || !as_page_drawable(a.x_lo, 2 * a.x_hi)) {
        as_svg_not_drawn(b);
        return;
    }
    as_svg_open(b, "matrix-plot", WIDE, HIGH, "GEMM rate over size by path, type %s", type);
    as_svg_textf(b, 0, 14, "start", "var(--ink)", 13, "%s", type);
    matrix_draw_frame(b, &a, points, n);
    for (size_t i = 0; i < n; i++) {
        bool goes_on = i > 0 && strcmp(points[i].path, points[i - 1].path) == 0;
        if (goes_on)
            as_html_tag(b, "path/", "d='M%.1f %.1fL%.1f %.1f' stroke='%s' stroke-width='1.8'",
                        matrix_draw_at_x(&a, points[i - 1].size), matrix_draw_at_y(&a, points[i - 1].rate),
                        matrix_draw_at_x(&a, points[i].size), matrix_draw_at_y(&a, points[i].rate),
                        as_matrix_colour(points[i].path));
    }
    for (size_t i = 0; i < n; i++)
        matrix_draw_point(b, &a, &points[i]);
    if (roof > 0)
        roof_line(b, &a, roof, roof_type);
    as_html_close(b, "svg");
}

/* ---- fragments ---- */

enum { CELL_W = 30, CELL_H = 18, EDGE = 26 };

/* Exactly n numbers below a bound, apart by single blanks. */
static bool matrix_draw_read_numbers(const char *text, uint16_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *end;
        if (*text < '0' || *text > '9')
            return false;
        unsigned long v = strtoul(text, &end, 10);
        if (v > 999 || *end != (i + 1 < n ? ' ' : 0))
            return false;
        out[i] = (uint16_t)v;
        text = end + 1;
    }
    return true;
}

/* Four lanes share a hue, from light to dark. */
static void number_cell(struct as_buf *b, unsigned row, unsigned column, unsigned lane, unsigned place)
{
    unsigned x = EDGE + column * CELL_W, y = EDGE + row * CELL_H;
    as_html_tag(b, "rect/", "x='%u' y='%u' width='%d' height='%d' rx='2' fill='var(--c%u)' fill-opacity='%.2f'", x, y,
                CELL_W - 1, CELL_H - 1, 1 + lane / 4 % 8, 0.16 + 0.13 * (lane % 4));
    as_html_tag(b, "text", "x='%.1f' y='%u' text-anchor='middle' fill='var(--ink)' font-size='10'",
                x + (CELL_W - 1) / 2.0, y + 13);
    as_buf_printf(b, "%u", lane);
    as_html_tag(b, "tspan", "fill='var(--muted)'");
    as_buf_printf(b, ":%u", place);
    as_html_close(b, "tspan/text");
}

static void edge_number(struct as_buf *b, double x, double y, const char *anchor, unsigned n)
{
    as_svg_textf(b, x, y, anchor, "var(--muted)", 9.5, "%u", n);
}

bool as_matrix_draw_fragment(struct as_buf *b, const char *name, unsigned rows, unsigned columns, const char *lanes,
                             const char *places)
{
    const size_t n = (size_t)rows * columns;
    if (rows == 0 || columns == 0 || rows > AS_MATRIX_GRID || columns > AS_MATRIX_GRID || n > AS_MATRIX_GRID)
        return false;
    uint16_t *numbers = malloc(2 * n * sizeof *numbers);
    bool good =
        numbers && matrix_draw_read_numbers(lanes, numbers, n) && matrix_draw_read_numbers(places, numbers + n, n);
    if (good) {
        const unsigned w = EDGE + columns * CELL_W + 2, h = EDGE + rows * CELL_H + 2;
        struct as_buf label = AS_BUF_INIT;
        as_buf_printf(&label, "Lane and place of each number of %s", name);
        as_html_start(b, "svg");
        as_html_attributes(b, "class='fragment' width='%u' height='%u' viewBox='0 0 %u %u' role='img' fill='none'", w,
                           h, w, h);
        as_html_attribute(b, "aria-label", as_buf_get(&label));
        as_html_started(b);
        b->failed |= label.failed;
        as_buf_finish(&label);
        for (unsigned column = 0; column < columns; column++)
            edge_number(b, EDGE + (column + 0.5) * CELL_W, EDGE - 8, "middle", column);
        for (unsigned row = 0; row < rows; row++)
            edge_number(b, EDGE - 6, EDGE + row * CELL_H + 13, "end", row);
        for (size_t i = 0; i < n; i++)
            number_cell(b, (unsigned)(i / columns), (unsigned)(i % columns), numbers[i], numbers[n + i]);
        as_html_close(b, "svg");
    }
    free(numbers);
    return good;
}

/* ---- bars ---- */

enum { BAR_W = 900, BAR_H = 22, BAR_LEFT = 250, BAR_RIGHT = 790 };

/* Bars start at `from`. */
struct scale {
    double lo, hi, from;
};

static double matrix_draw_along(const struct scale *s, double value)
{
    const double lo = s->lo / 2, wide = s->hi / 2 - lo; /* halved first: cannot overflow */
    return BAR_LEFT + (BAR_RIGHT - BAR_LEFT) * ((fmin(fmax(value, s->lo), s->hi) / 2 - lo) / (wide > 0 ? wide : 1));
}

static struct scale scale_of(const struct as_matrix_bar *bars, size_t n, double mark)
{
    struct scale s = {.from = mark > 0 ? mark : 0};
    s.lo = s.hi = s.from;
    for (size_t i = 0; i < n; i++) {
        const double ends[] = {bars[i].value, bars[i].ci.lo, bars[i].ci.hi};
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            if (isfinite(ends[k])) {
                s.lo = fmin(s.lo, ends[k]);
                s.hi = fmax(s.hi, ends[k]);
            }
    }
    return s;
}

static void matrix_draw_bar(struct as_buf *b, const struct as_matrix_bar *matrix_draw_bar, double y,
                            const struct scale *s, const char *unit)
{
    const char *colour = as_matrix_colour(matrix_draw_bar->path);
    double from = matrix_draw_along(s, s->from), to = matrix_draw_along(s, matrix_draw_bar->value),
           last = fmax(fmax(from, to), matrix_draw_along(s, matrix_draw_bar->ci.hi));
    as_svg_textf(b, BAR_LEFT - 8, y + 14, "end", "var(--ink)", 12, "%s", matrix_draw_bar->label);
    as_html_tag(b, "rect/", "x='%.1f' y='%.1f' width='%.1f' height='%d' rx='2' fill='%s' fill-opacity='%s' stroke='%s'",
                fmin(from, to), y + 3, fabs(to - from), BAR_H - 7, colour, matrix_draw_bar->valid ? "0.75" : "0",
                colour);
    if (matrix_draw_bar->ci.hi > matrix_draw_bar->ci.lo)
        as_html_tag(b, "path/", "d='M%.1f %.1fH%.1f' stroke='var(--ink)' stroke-width='2'",
                    matrix_draw_along(s, matrix_draw_bar->ci.lo), y + 3 + (BAR_H - 7) / 2.0,
                    matrix_draw_along(s, matrix_draw_bar->ci.hi));
    as_svg_text(b, (isfinite(last) ? last : to) + 6, y + 14, "start", "var(--ink)", 12);
    as_page_value(b, matrix_draw_bar->value, unit);
    as_buf_str(b, matrix_draw_bar->valid ? "" : " rejected");
    as_html_close(b, "text");
}

void as_matrix_draw_bars(struct as_buf *b, const char *name, const struct as_matrix_bar *bars, size_t n,
                         const char *unit, double mark)
{
    const struct scale s = scale_of(bars, n, mark);
    const double h = (double)n * BAR_H + 8;
    as_svg_open(b, "matrix-plot", BAR_W, h, "Bars: %s", name);
    for (size_t i = 0; i < n; i++)
        matrix_draw_bar(b, &bars[i], 2 + (double)i * BAR_H, &s, unit);
    if (mark > 0)
        as_html_tag(b, "path/", "d='M%.1f 0V%.1f' stroke='var(--ink)' stroke-dasharray='5 4'",
                    matrix_draw_along(&s, mark), h);
    as_html_close(b, "svg");
}
