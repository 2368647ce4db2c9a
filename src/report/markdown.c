/* A small Markdown subset for method.md; other syntax is shown as text. All text goes through as_buf_html, so input
 * cannot become a tag or attribute. */
#include "report/page.h"

#include <string.h>

struct md {
    struct as_buf *b;
    int base;
};

static bool starts(const char *s, const char *end, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(end - s) >= n && memcmp(s, with, n) == 0;
}

static void text(struct as_buf *b, const char *s, const char *end)
{
    char part[128];
    while (s < end) {
        size_t n = (size_t)(end - s) < sizeof part - 1 ? (size_t)(end - s) : sizeof part - 1;
        /* not through the middle of a character */
        while (n > 1 && s + n < end && ((unsigned char)s[n] & 0xC0) == 0x80)
            n--;
        memcpy(part, s, n);
        part[n] = '\0';
        as_buf_html(b, part);
        s += n;
    }
}

static const char *find(const char *s, const char *end, const char *what)
{
    size_t n = strlen(what);
    for (; s + n <= end; s++)
        if (memcmp(s, what, n) == 0)
            return s;
    return NULL;
}

static void inlines(struct md *m, const char *s, const char *end, int depth);

/* Text between two markers as an element; NULL when s does not begin with one that is closed. */
static const char *marked(struct md *m, const char *s, const char *end, const char *mark, const char *tag, int depth)
{
    size_t n = strlen(mark);
    if (!starts(s, end, mark) || s + n >= end || s[n] == ' ')
        return NULL;
    const char *close = find(s + n, end, mark);
    if (!close || close == s + n || close[-1] == ' ')
        return NULL;
    as_buf_printf(m->b, "<%s>", tag);
    if (strcmp(tag, "code") == 0)
        text(m->b, s + n, close);
    else
        inlines(m, s + n, close, depth + 1);
    as_buf_printf(m->b, "</%s>", tag);
    return close + n;
}

/* [text](http...) */
static const char *link_to(struct md *m, const char *s, const char *end, int depth)
{
    if (*s != '[')
        return NULL;
    const char *mid = find(s, end, "](");
    const char *close = mid ? find(mid, end, ")") : NULL;
    if (!close || !(starts(mid + 2, close, "https://") || starts(mid + 2, close, "http://")))
        return NULL;
    as_buf_str(m->b, "<a rel=\"noreferrer\" href=\"");
    text(m->b, mid + 2, close);
    as_buf_str(m->b, "\">");
    inlines(m, s + 1, mid, depth + 1);
    as_buf_str(m->b, "</a>");
    return close + 1;
}

enum { NEST_MAX = 4 };

static void inlines(struct md *m, const char *s, const char *end, int depth)
{
    const char *plain = s;
    while (s < end) {
        const char *after = NULL;
        if (depth < NEST_MAX && strchr("`*[", *s)) {
            text(m->b, plain, s);
            plain = s;
            after = marked(m, s, end, "`", "code", depth);
            if (!after)
                after = marked(m, s, end, "**", "strong", depth);
            if (!after)
                after = marked(m, s, end, "*", "em", depth);
            if (!after)
                after = link_to(m, s, end, depth);
        }
        if (after)
            s = plain = after;
        else
            s++;
    }
    text(m->b, plain, end);
}

/* One line of the text, without its end; *next is behind it. */
static const char *line_end(const char *s, const char **next)
{
    const char *end = strchr(s, '\n');
    *next = end ? end + 1 : s + strlen(s);
    if (!end)
        end = *next;
    while (end > s && (end[-1] == '\r' || end[-1] == ' '))
        end--;
    return end;
}

static int heading_level(const char *s, const char *end)
{
    int n = 0;
    while (s + n < end && s[n] == '#')
        n++;
    return n >= 1 && n <= 6 && s + n < end && s[n] == ' ' ? n : 0;
}

/* Length of a list marker ("- ", "* ", "12. ") after indentation, 0 when there is none. */
static size_t list_marker(const char *s, const char *end, bool *ordered)
{
    const char *p = s;
    while (p < end && *p == ' ')
        p++;
    if (p + 1 < end && (*p == '-' || *p == '*') && p[1] == ' ') {
        *ordered = false;
        return (size_t)(p + 2 - s);
    }
    const char *digits = p;
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    if (p > digits && p + 1 < end && *p == '.' && p[1] == ' ') {
        *ordered = true;
        return (size_t)(p + 2 - s);
    }
    return 0;
}

static bool is_blank(const char *s, const char *end)
{
    return s == end;
}

static bool starts_block(const char *s, const char *end)
{
    bool ordered;
    return is_blank(s, end) || heading_level(s, end) || list_marker(s, end, &ordered) || starts(s, end, "```") ||
           *s == '|' || *s == '>';
}

static const char *fence(struct md *m, const char *s)
{
    const char *next;
    line_end(s, &next);
    as_buf_str(m->b, "<pre tabindex=\"0\"><code>");
    for (s = next; *s; s = next) {
        const char *end = line_end(s, &next);
        if (starts(s, end, "```")) {
            s = next;
            break;
        }
        text(m->b, s, end);
        as_buf_char(m->b, '\n');
    }
    as_buf_str(m->b, "</code></pre>\n");
    return s;
}

/* The lines of a paragraph, joined by spaces, as inline text. */
static const char *paragraph(struct md *m, const char *s)
{
    struct as_buf joined = AS_BUF_INIT;
    const char *next, *end = line_end(s, &next);
    as_buf_add(&joined, s, (size_t)(end - s));
    for (s = next; *s; s = next) {
        end = line_end(s, &next);
        if (starts_block(s, end))
            break;
        while (s < end && *s == ' ')
            s++;
        as_buf_char(&joined, ' ');
        as_buf_add(&joined, s, (size_t)(end - s));
    }
    const char *all = as_buf_get(&joined);
    inlines(m, all, all + joined.len, 0);
    m->b->failed |= joined.failed;
    as_buf_finish(&joined);
    return s;
}

static const char *list(struct md *m, const char *s)
{
    bool ordered = false, item_ordered;
    const char *next, *end = line_end(s, &next);
    list_marker(s, end, &ordered);
    as_buf_str(m->b, ordered ? "<ol>\n" : "<ul>\n");
    while (*s) {
        end = line_end(s, &next);
        size_t marker = list_marker(s, end, &item_ordered);
        if (!marker || item_ordered != ordered)
            break;
        as_buf_str(m->b, "<li>");
        s = paragraph(m, s + marker);
        as_buf_str(m->b, "</li>\n");
    }
    as_buf_str(m->b, ordered ? "</ol>\n" : "</ul>\n");
    return s;
}

static bool is_rule_row(const char *s, const char *end)
{
    for (; s < end; s++)
        if (!strchr("|-: ", *s))
            return false;
    return true;
}

static void table_row(struct md *m, const char *s, const char *end, const char *tag)
{
    as_buf_str(m->b, "<tr>");
    if (s < end && *s == '|')
        s++;
    while (s < end) {
        const char *bar = find(s, end, "|"), *stop = bar ? bar : end;
        const char *a = s, *z = stop;
        while (a < z && *a == ' ')
            a++;
        while (z > a && z[-1] == ' ')
            z--;
        as_buf_printf(m->b, "<%s>", tag);
        inlines(m, a, z, 0);
        as_buf_printf(m->b, "</%s>", tag);
        s = bar ? bar + 1 : end;
    }
    as_buf_str(m->b, "</tr>\n");
}

static const char *table(struct md *m, const char *s)
{
    const char *next, *end = line_end(s, &next);
    as_buf_str(m->b, "<div class=\"scroll\" tabindex=\"0\"><table>\n");
    table_row(m, s, end, "th");
    for (s = next; *s == '|'; s = next) {
        end = line_end(s, &next);
        if (!is_rule_row(s, end))
            table_row(m, s, end, "td");
    }
    as_buf_str(m->b, "</table></div>\n");
    return s;
}

static const char *quote(struct md *m, const char *s)
{
    const char *next, *end;
    as_buf_str(m->b, "<blockquote><p>");
    for (; *s == '>'; s = next) {
        end = line_end(s, &next);
        const char *from = s + 1 < end && s[1] == ' ' ? s + 2 : s + 1;
        inlines(m, from, from < end ? end : from, 0);
        as_buf_char(m->b, ' ');
    }
    as_buf_str(m->b, "</p></blockquote>\n");
    return s;
}

static const char *heading(struct md *m, const char *s, int level)
{
    const char *next, *end = line_end(s, &next);
    int shown = m->base + level - 1 > 6 ? 6 : m->base + level - 1;
    as_buf_printf(m->b, "<h%d>", shown);
    inlines(m, s + level + 1, end, 0);
    as_buf_printf(m->b, "</h%d>\n", shown);
    return next;
}

void as_markdown(struct as_buf *out, const char *source, int base)
{
    struct md m = {out, base};
    const char *s = source ? source : "", *next;
    bool ordered;
    while (*s) {
        const char *end = line_end(s, &next);
        int level = heading_level(s, end);
        if (is_blank(s, end)) {
            s = next;
        } else if (level) {
            s = heading(&m, s, level);
        } else if (starts(s, end, "```")) {
            s = fence(&m, s);
        } else if (list_marker(s, end, &ordered)) {
            s = list(&m, s);
        } else if (*s == '|') {
            s = table(&m, s);
        } else if (*s == '>') {
            s = quote(&m, s);
        } else {
            as_buf_str(out, "<p>");
            s = paragraph(&m, s);
            as_buf_str(out, "</p>\n");
        }
    }
}
