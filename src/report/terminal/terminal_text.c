/* Counting, cutting, filling and colouring text for terminals. */
#include "base/text.h"
#include "base/utf8.h"
#include "report/model/column.h"
#include "report/terminal/terminal.h"

#include <string.h>

struct range {
    uint32_t first, last;
};
/* East Asian wide and fullwidth, and emoji (Unicode TR 11), as far as device names are likely to use them. */
static const struct range wide[] = {
    {0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd},
};
static const struct range zero[] = {
    {0x0300, 0x036f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

static bool within(uint32_t cp, const struct range *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cp >= r[i].first && cp <= r[i].last)
            return true;
    return false;
}

static unsigned terminal_text_columns_of(uint32_t cp)
{
    if (within(cp, zero, sizeof zero / sizeof *zero))
        return 0;
    return within(cp, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

/* Bytes of the first character of s and the columns that it takes. */
static size_t terminal_text_step(const char *s, size_t left, unsigned *columns)
{
    uint32_t cp = 0;
    size_t n = as_utf8_decode(s, left, &cp);
    *columns = n ? terminal_text_columns_of(cp) : 1;
    return n ? n : 1;
}

unsigned as_text_width(const char *s)
{
    unsigned total = 0, columns;
    size_t left = strlen(s);
    while (left > 0) {
        size_t n = terminal_text_step(s, left, &columns);
        total += columns;
        s += n;
        left -= n;
    }
    return total;
}

size_t as_text_prefix(const char *s, unsigned width)
{
    unsigned used = 0, columns;
    size_t left = strlen(s), n = 0;
    while (n < left) {
        size_t next = terminal_text_step(s + n, left - n, &columns);
        if (n && used + columns > width)
            break;
        used += columns;
        n += next;
    }
    return n;
}

void as_text_cut(struct as_buf *b, const char *s, unsigned width, int unicode)
{
    if (as_text_width(s) <= width) {
        as_buf_str(b, s);
        return;
    }
    const char *mark = unicode ? "…" : "~";
    unsigned used = 0, columns;
    size_t left = strlen(s), n = 0;
    if (width == 0)
        return;
    for (;;) {
        size_t next = terminal_text_step(s + n, left - n, &columns);
        if (used + columns > width - 1)
            break;
        used += columns;
        n += next;
    }
    as_buf_add(b, s, n);
    as_buf_str(b, mark);
}

void as_text_fill(struct as_buf *b, const char *s, unsigned width, unsigned margin, unsigned column)
{
    if (column < margin)
        as_buf_repeat(b, ' ', margin - column);
    as_text_hang(b, s, width, margin, column > margin ? column : margin);
}

void as_text_hang(struct as_buf *b, const char *s, unsigned width, unsigned margin, unsigned column)
{
    bool fresh = true;
    while (*s) {
        char word[256];
        size_t n = strcspn(s, " ");
        as_copy_text(word, n + 1 < sizeof word ? n + 1 : sizeof word, s);
        n = strlen(word) ? strlen(word) : n;
        unsigned w = as_text_width(word);
        if (!fresh && column + 1 + w > width) {
            as_buf_char(b, '\n');
            as_buf_repeat(b, ' ', margin);
            column = margin;
            fresh = true;
        }
        if (fresh && column < width && column + w > width) { /* a word longer than a line */
            n = as_text_prefix(word, width - column);
            word[n] = 0;
            w = as_text_width(word);
        }
        if (!fresh) {
            as_buf_char(b, ' ');
            column++;
        }
        as_buf_str(b, word);
        column += w;
        fresh = false;
        s += n;
        while (*s == ' ')
            s++;
    }
    as_buf_char(b, '\n');
}

static const char *const paints[] = {
    [AS_PAINT_NONE] = "",       [AS_PAINT_GOOD] = "\x1b[32m",  [AS_PAINT_BAD] = "\x1b[31m",
    [AS_PAINT_DIM] = "\x1b[2m", [AS_PAINT_STRONG] = "\x1b[1m",
};

void as_paint_on(struct as_buf *b, enum as_paint paint, const struct as_table_style *style)
{
    if (style->colour)
        as_buf_str(b, paints[paint]);
}

void as_paint_off(struct as_buf *b, enum as_paint paint, const struct as_table_style *style)
{
    if (style->colour && paint != AS_PAINT_NONE)
        as_buf_str(b, "\x1b[0m");
}

void as_text_line(struct as_buf *b, const char *lead, const char *text, unsigned margin, unsigned column,
                  const struct as_table_style *style)
{
    struct as_buf line = AS_BUF_INIT;
    as_buf_terminal(&line, lead);
    as_buf_terminal(&line, text);
    as_text_fill(b, as_buf_get(&line), style->width, margin, column);
    b->failed |= line.failed;
    as_buf_finish(&line);
}

void as_text_title(struct as_buf *b, const char *title, const struct as_table_style *style)
{
    as_buf_char(b, '\n');
    as_paint_on(b, AS_PAINT_STRONG, style);
    as_buf_terminal(b, title);
    as_paint_off(b, AS_PAINT_STRONG, style);
    as_buf_char(b, '\n');
}

void as_text_axis(struct as_buf *b, const struct as_axis_value *v, const struct as_probe *probe)
{
    as_axis_write(b, probe ? as_probe_axis(probe, v->name) : NULL, v, as_buf_terminal);
}
