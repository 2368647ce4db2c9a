/* Text whose lines are too long for a terminal, broken to its width. */
#include "base/text.h"
#include "report/terminal/terminal.h"

#include <string.h>

/* Bytes of a colour at s, which takes no columns; 0: there is none. */
static size_t colour_at(const char *s)
{
    if (s[0] != '\x1b' || s[1] != '[')
        return 0;
    const size_t n = 2 + strspn(s + 2, "0123456789;");
    return n + (s[n] == 'm');
}

static unsigned fit_width(const char *s, size_t len)
{
    struct as_buf plain = AS_BUF_INIT;
    for (size_t i = 0; i < len;) {
        const size_t n = colour_at(s + i);
        if (!n)
            as_buf_char(&plain, s[i]);
        i += n ? n : 1;
    }
    const unsigned width = as_text_width(as_buf_get(&plain));
    as_buf_finish(&plain);
    return width;
}

/* Where lines stand that continue this one: under its second column, behind the mark of a list, or where it begins. */
static unsigned margin_of(const char *line, size_t len, unsigned width)
{
    static const char *const marks[] = {"- ", "* ", "• "};
    size_t first = 0;
    while (first < len && line[first] == ' ')
        first++;
    unsigned margin = (unsigned)first;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        margin += strncmp(line + first, marks[i], strlen(marks[i])) == 0 ? 2 : 0;
    for (size_t i = first; i + 2 < len; i++)
        if (line[i] == ' ' && line[i + 1] == ' ' && line[i + 2] != ' ') {
            margin = fit_width(line, i + 2);
            break;
        }
    return margin <= width / 2 ? margin : 2;
}

/* A word that is longer than what is left of its line; returns its bytes that fit, at least one character. */
static size_t fit_part(const char *word, size_t len, unsigned width)
{
    struct as_buf part = AS_BUF_INIT;
    as_buf_add(&part, word, len);
    const size_t n = as_text_prefix(as_buf_get(&part), width);
    as_buf_finish(&part);
    return n;
}

static void fit_line(struct as_buf *b, const char *line, size_t len, unsigned width)
{
    const unsigned margin = margin_of(line, len, width);
    unsigned column = 0;
    for (size_t i = 0; i < len;) {
        size_t space = 0, word = 0;
        while (i + space < len && line[i + space] == ' ')
            space++;
        while (i + space + word < len && line[i + space + word] != ' ')
            word++;
        unsigned w = fit_width(line + i + space, word);
        if (column + space + w > width && column > margin) {
            as_buf_char(b, '\n');
            as_buf_repeat(b, ' ', margin);
            column = margin;
        } else {
            as_buf_repeat(b, ' ', space);
            column += (unsigned)space;
        }
        i += space;
        if (column < width && column + w > width) {
            word = fit_part(line + i, word, width - column);
            w = fit_width(line + i, word);
        }
        as_buf_add(b, line + i, word);
        column += w;
        i += word;
    }
}

void as_text_fit(struct as_buf *b, const char *text, unsigned width)
{
    while (*text) {
        const size_t len = strcspn(text, "\n");
        if (fit_width(text, len) <= width)
            as_buf_add(b, text, len);
        else
            fit_line(b, text, len, width);
        text += len;
        if (*text) {
            as_buf_char(b, '\n');
            text++;
        }
    }
}

/* ---- Markdown ---- */

enum line_kind { LINE_BLANK, LINE_VERBATIM, LINE_ENTRY, LINE_TEXT };

static enum line_kind kind_of(const char *line, size_t len)
{
    const size_t first = strspn(line, " ") < len ? strspn(line, " ") : len;
    const char *own = line + first;
    if (first == len)
        return LINE_BLANK;
    if (strchr("#|>`", own[0]) && (own[0] != '`' || strncmp(own, "```", 3) == 0))
        return LINE_VERBATIM;
    const size_t digits = strspn(own, "0123456789");
    return strncmp(own, "- ", 2) == 0 || (digits && own[digits] == '.') ? LINE_ENTRY : LINE_TEXT;
}

static void end_paragraph(struct as_buf *b, struct as_buf *paragraph, unsigned width)
{
    if (paragraph->len)
        as_text_fit(b, as_buf_get(paragraph), width);
    if (paragraph->len)
        as_buf_char(b, '\n');
    b->failed |= paragraph->failed;
    as_buf_clear(paragraph);
}

void as_text_markdown(struct as_buf *b, const char *text, unsigned width)
{
    struct as_buf paragraph = AS_BUF_INIT;
    bool fenced = false;
    while (*text) {
        const size_t len = strcspn(text, "\n"), first = strspn(text, " ");
        const enum line_kind kind = kind_of(text, len);
        const bool is_fence = strncmp(text + first, "```", 3) == 0, is_code = fenced || (!paragraph.len && first >= 4);
        if (fenced || is_fence || is_code || kind < LINE_ENTRY) {
            end_paragraph(b, &paragraph, width);
            as_buf_add(b, text, len);
            as_buf_char(b, '\n');
        } else {
            if (kind == LINE_ENTRY)
                end_paragraph(b, &paragraph, width);
            const size_t from = paragraph.len ? first : 0;
            as_buf_str(&paragraph, paragraph.len ? " " : "");
            as_buf_add(&paragraph, text + from, len - from);
        }
        fenced ^= is_fence;
        text += len + (text[len] == '\n');
    }
    end_paragraph(b, &paragraph, width);
    as_buf_finish(&paragraph);
}
