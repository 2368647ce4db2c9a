/* Escaping of text from files, drivers and devices: it must not inject markup, terminal controls or formulas. */
#include "base/buf.h"
#include "base/utf8.h"

#include <string.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

void as_buf_html(struct as_buf *b, const char *s)
{
    static const struct {
        char c;
        const char *entity;
    } special[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    size_t left = s ? strlen(s) : 0;
    while (left > 0) {
        uint32_t cp;
        size_t len = as_utf8_decode(s, left, &cp);
        const char *instead = NULL;
        if (len == 0 || cp == 0xfffe || cp == 0xffff ||           /* forbidden in XML */
            (as_utf8_is_control(cp) && cp != '\n' && cp != '\t')) /* white space is harmless in a page */
            instead = replacement;
        for (size_t i = 0; len == 1 && i < sizeof special / sizeof *special; i++)
            if (*s == special[i].c)
                instead = special[i].entity;
        if (instead)
            as_buf_str(b, instead);
        else
            as_buf_add(b, s, len);
        len = len ? len : 1;
        s += len, left -= len;
    }
}

void as_buf_json_str(struct as_buf *b, const char *s)
{
    static const char *const named[32] = {
        ['\b'] = "\\b", ['\f'] = "\\f", ['\n'] = "\\n", ['\r'] = "\\r", ['\t'] = "\\t"};
    size_t left = s ? strlen(s) : 0;
    as_buf_char(b, '"');
    while (left > 0) {
        uint32_t cp;
        size_t len = as_utf8_decode(s, left, &cp);
        if (len == 0)
            as_buf_str(b, replacement);
        else if (cp < 32 && named[cp])
            as_buf_str(b, named[cp]);
        else if (cp == '"' || cp == '\\')
            as_buf_add(b, (char[2]){'\\', *s}, 2);
        else if (as_utf8_is_control(cp) || cp == '<')
            as_buf_printf(b, "\\u%04x", (unsigned)cp);
        else
            as_buf_add(b, s, len);
        len = len ? len : 1;
        s += len, left -= len;
    }
    as_buf_char(b, '"');
}

void as_buf_json_text(struct as_buf *b, const char *json)
{
    size_t left = json ? strlen(json) : 0;
    while (left > 0) {
        uint32_t cp;
        size_t len = as_utf8_decode(json, left, &cp);
        /* Control characters outside strings are white space between values. */
        if (len && cp >= 0x20 && as_utf8_is_control(cp))
            as_buf_printf(b, "\\u%04x", (unsigned)cp);
        else
            as_buf_add(b, json, len ? len : 1);
        len = len ? len : 1;
        json += len, left -= len;
    }
}

static bool is_layout(const char *s)
{
    return *s == '\n' || *s == '\t' || (*s == '\r' && s[1] == '\n');
}

static void add_for_terminal(struct as_buf *b, const char *s, bool lines)
{
    size_t left = s ? strlen(s) : 0;
    while (left > 0) {
        uint32_t cp;
        size_t len = as_utf8_decode(s, left, &cp);
        size_t step = len ? len : 1;
        if ((len == 0 || as_utf8_is_control(cp)) && !(lines && is_layout(s)))
            for (size_t i = 0; i < step; i++)
                as_buf_printf(b, "\\x%02x", (unsigned)(unsigned char)s[i]);
        else
            as_buf_add(b, s, len);
        s += step, left -= step;
    }
}

void as_buf_terminal(struct as_buf *b, const char *s)
{
    add_for_terminal(b, s, false);
}

void as_buf_terminal_lines(struct as_buf *b, const char *s)
{
    add_for_terminal(b, s, true);
}

/* CSV may be shown in a terminal, so control characters are dropped. */
static void add_csv(struct as_buf *b, const char *s)
{
    for (size_t left = strlen(s); left > 0;) {
        uint32_t cp;
        size_t len = as_utf8_decode(s, left, &cp);
        if (len == 0 || (as_utf8_is_control(cp) && !strchr("\n\t\r", *s)))
            as_buf_str(b, replacement);
        else
            as_buf_add(b, s, len);
        if (*s == '"')
            as_buf_char(b, '"');
        len = len ? len : 1;
        s += len, left -= len;
    }
}

void as_buf_csv(struct as_buf *b, const char *s)
{
    if (!s || !*s)
        return;
    const bool quoted = strpbrk(s, ",\"\r\n") || *s == ' ' || s[strlen(s) - 1] == ' ';
    as_buf_str(b, quoted ? "\"" : "");
    as_buf_str(b, strchr("=+-@\t\r", *s) ? "'" : ""); /* spreadsheets treat these as the start of a formula */
    add_csv(b, s);
    as_buf_str(b, quoted ? "\"" : "");
}

void as_buf_markdown(struct as_buf *b, const char *s)
{
    struct as_buf safe = AS_BUF_INIT;
    as_buf_html(&safe, s);
    for (const char *p = as_buf_get(&safe); *p; p++) {
        if (strchr("|`*_[]~\\", *p))
            as_buf_char(b, '\\');
        as_buf_char(b, *p == '\n' || *p == '\t' ? ' ' : *p);
    }
    b->failed |= safe.failed;
    as_buf_finish(&safe);
}

void as_buf_metric_label(struct as_buf *b, const char *s)
{
    size_t left = s ? strlen(s) : 0;
    while (left > 0) {
        uint32_t cp;
        size_t len = as_utf8_decode(s, left, &cp);
        if (*s == '\n')
            as_buf_str(b, "\\n");
        else if (len == 0 || as_utf8_is_control(cp))
            as_buf_str(b, replacement);
        else {
            as_buf_str(b, *s == '\\' || *s == '"' ? "\\" : "");
            as_buf_add(b, s, len);
        }
        len = len ? len : 1;
        s += len, left -= len;
    }
}

void as_buf_c_comment(struct as_buf *b, const char *s)
{
    for (; s && *s; s++)
        as_buf_char(b, *s < ' ' || *s > '~' || strchr("*/\\?", *s) ? '_' : *s);
}
