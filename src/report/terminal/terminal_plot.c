/* Small pictures made of characters. */
#include "base/text.h"
#include "report/terminal/terminal.h"

#include <float.h>
#include <math.h>

/* A scale that is logarithmic when the values are positive and span more than a decade. */
struct scale {
    double lo, hi;
    bool log;
};

static void terminal_plot_widen(struct scale *s, double v)
{
    if (!isfinite(v))
        return;
    s->lo = v < s->lo ? v : s->lo;
    s->hi = v > s->hi ? v : s->hi;
}

/* Ratios and differences of numbers far apart are more than a double holds: logarithms and halves are not. */
static double terminal_plot_position(const struct scale *s, double v)
{
    const double span = s->log ? log(s->hi) - log(s->lo) : s->hi / 2 - s->lo / 2;
    const double p = (s->log ? log(v) - log(s->lo) : v / 2 - s->lo / 2) / span;
    return !(span > 0) || isnan(p) ? 0.5 : fmin(fmax(p, 0), 1);
}

static double terminal_plot_at(const struct scale *s, double p)
{
    const double v = s->log ? exp((1 - p) * log(s->lo) + p * log(s->hi)) : (1 - p) * s->lo + p * s->hi;
    return fmin(fmax(v, s->lo), s->hi);
}

/* Minimum span, so that noise does not look like a curve. */
static void stretch(struct scale *s, double factor)
{
    if (s->lo > 0)
        s->hi = fmin(fmax(s->hi, factor * s->lo), DBL_MAX);
    s->log = s->lo > 0 && s->hi / 10 > s->lo;
}

void as_text_spark(struct as_buf *b, const double *v, size_t n, int unicode)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {"_", ".", "-", "=", "+", "*", "%", "#"};
    struct scale s = {INFINITY, -INFINITY, false};
    for (size_t i = 0; i < n; i++)
        terminal_plot_widen(&s, v[i]);
    stretch(&s, 1.5);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(v[i]))
            as_buf_char(b, ' ');
        else
            as_buf_str(b, (unicode ? blocks : plain)[(int)(terminal_plot_position(&s, v[i]) * 7.999)]);
    }
}

void as_text_bar(struct as_buf *b, double share, unsigned width, int unicode)
{
    static const char *const part[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    double len = share > 0 ? fmin(share, 1) * width : 0;
    unsigned whole = (unsigned)len;
    if (!unicode) {
        as_buf_repeat(b, '#', whole);
        return;
    }
    for (unsigned i = 0; i < whole; i++)
        as_buf_str(b, "█");
    as_buf_str(b, part[(int)((len - whole) * 8) & 7]);
}

enum { PLOT_HEIGHT = 12, PLOT_WIDTH_MAX = 72, LABEL = 10, TICK_ROOM = 10 };
/* By series: valid and rejected points, for ASCII and for UTF-8. */
static const char *const marks[2][2][AS_PLOT_SERIES_MAX] = {
    {{"o", "x", "+", "*", "#", "%"}, {":", ":", ":", ":", ":", ":"}},
    {{"●", "▲", "■", "◆", "▼", "★"}, {"○", "△", "□", "◇", "▽", "☆"}},
};
enum { HOLLOW = 0x80 };

struct canvas {
    unsigned char mark[PLOT_HEIGHT][PLOT_WIDTH_MAX]; /* 0 empty, else series + 1, with HOLLOW */
    unsigned width;
    struct scale x, y;
};

static void draw_series(struct canvas *c, const struct as_series *s, unsigned mark)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!isfinite(s->y[i]) || !isfinite(s->x[i]))
            continue;
        unsigned column = (unsigned)lround(terminal_plot_position(&c->x, s->x[i]) * (c->width - 1));
        unsigned row = PLOT_HEIGHT - 1 - (unsigned)lround(terminal_plot_position(&c->y, s->y[i]) * (PLOT_HEIGHT - 1));
        bool hollow = s->hollow && s->hollow[i];
        unsigned char *at = &c->mark[row][column];
        if (*at == 0 || (*at & HOLLOW && !hollow)) /* valid before rejected, then the first series */
            *at = (unsigned char)(mark | (hollow ? HOLLOW : 0));
    }
}

static const char *mark_text(unsigned char mark, int unicode)
{
    return mark ? marks[unicode != 0][mark & HOLLOW ? 1 : 0][(mark & ~HOLLOW) - 1] : " ";
}

static void write_canvas(struct as_buf *b, const struct canvas *c, const char *unit, int unicode)
{
    struct as_buf label = AS_BUF_INIT;
    for (int row = 0; row < PLOT_HEIGHT; row++) {
        as_buf_clear(&label);
        if (row % 4 == 0 || row == PLOT_HEIGHT - 1)
            as_format_value(&label, terminal_plot_at(&c->y, (double)(PLOT_HEIGHT - 1 - row) / (PLOT_HEIGHT - 1)), unit);
        as_buf_repeat(b, ' ', label.len < LABEL ? LABEL - label.len : 0);
        as_buf_terminal(b, as_buf_get(&label));
        as_buf_str(b, unicode ? " │" : " |");
        unsigned last = c->width;
        while (last > 0 && c->mark[row][last - 1] == 0)
            last--;
        for (unsigned i = 0; i < last; i++)
            as_buf_str(b, mark_text(c->mark[row][i], unicode));
        as_buf_char(b, '\n');
    }
    as_buf_finish(&label);
}

static void write_x_axis(struct as_buf *b, const struct canvas *c, int unicode)
{
    struct as_buf line = AS_BUF_INIT;
    as_buf_repeat(b, ' ', LABEL + 1);
    as_buf_str(b, unicode ? "└" : "+");
    for (unsigned i = 0; i < c->width; i++)
        as_buf_str(b, unicode ? "─" : "-");
    as_buf_char(b, '\n');
    /* at powers of two, as many as the labels fit */
    int first = (int)ceil(log2(c->x.lo) - 1e-9), last = (int)floor(log2(c->x.hi) + 1e-9);
    int step = 1 + (last - first) * TICK_ROOM / (int)c->width;
    for (int e = first; e <= last; e += step) {
        struct as_buf text = AS_BUF_INIT;
        as_format_value(&text, ldexp(1, e), "B");
        size_t from = LABEL + 2 + (size_t)lround(terminal_plot_position(&c->x, ldexp(1, e)) * (c->width - 1));
        if (from + text.len > LABEL + 2 + c->width)
            from = LABEL + 2 + c->width - text.len;
        if (from > line.len + (line.len ? 1 : 0)) {
            as_buf_repeat(&line, ' ', from - line.len);
            as_buf_str(&line, as_buf_get(&text));
        }
        as_buf_finish(&text);
    }
    as_buf_str(b, as_buf_get(&line));
    as_buf_char(b, '\n');
    as_buf_finish(&line);
}

static void write_legend(struct as_buf *b, const struct as_series *series, size_t n, const struct as_table_style *style)
{
    bool rejected = false;
    for (size_t i = 0; i < n; i++) {
        as_buf_repeat(b, ' ', LABEL + 2);
        as_buf_printf(b, "%s ", mark_text((unsigned char)(i + 1), style->unicode));
        as_text_cut(b, series[i].name, style->width > LABEL + 4 ? style->width - LABEL - 4 : 1, style->unicode);
        as_buf_char(b, '\n');
        for (size_t k = 0; k < series[i].n && series[i].hollow; k++)
            rejected |= series[i].hollow[k];
    }
    if (rejected) {
        as_buf_repeat(b, ' ', LABEL + 2);
        as_buf_printf(b, "%s rejected\n", mark_text(HOLLOW | 1, style->unicode));
    }
}

void as_text_plot(struct as_buf *b, const struct as_series *series, size_t n, const char *unit,
                  const struct as_table_style *style)
{
    struct canvas c = {.x = {INFINITY, -INFINITY, true}, .y = {INFINITY, -INFINITY, false}};
    n = n < AS_PLOT_SERIES_MAX ? n : AS_PLOT_SERIES_MAX;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < series[i].n; j++) {
            if (!isfinite(series[i].y[j]))
                continue;
            terminal_plot_widen(&c.x, series[i].x[j]);
            terminal_plot_widen(&c.y, series[i].y[j]);
        }
    if (!(c.x.lo > 0) || !(c.x.hi > c.x.lo) || style->width < 40)
        return;
    stretch(&c.y, 1.1);
    unsigned room = style->width - LABEL - 3;
    c.width = room < PLOT_WIDTH_MAX ? room : PLOT_WIDTH_MAX;
    for (size_t i = 0; i < n; i++)
        draw_series(&c, &series[i], (unsigned)i + 1);
    write_canvas(b, &c, unit, style->unicode);
    write_x_axis(b, &c, style->unicode);
    write_legend(b, series, n, style);
}
