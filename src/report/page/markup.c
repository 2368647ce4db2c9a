#include "report/page/markup.h"

#include "report/page/page.h"
#include "report/sheet/sheet_header.h"

#include <string.h>

void as_html_open(struct as_buf *b, const char *tag, const char *class)
{
    if (class)
        as_buf_printf(b, "<%s class=\"%s\">", tag, class);
    else
        as_buf_printf(b, "<%s>", tag);
}

/* Elements that stand on lines of their own. */
static bool is_block(const char *tag, size_t len)
{
    static const char blocks[] =
        " caption details div dl figcaption figure footer g h1 h2 h3 h4 head header li main nav p "
        "section style summary svg text title ul ";
    for (const char *at = blocks; (at = strchr(at, ' ')) != NULL; at++)
        if (strncmp(at + 1, tag, len) == 0 && at[1 + len] == ' ')
            return true;
    return false;
}

void as_html_close(struct as_buf *b, const char *tags)
{
    for (size_t len; *tags; tags += len + (tags[len] == '/')) {
        len = strcspn(tags, "/");
        as_buf_printf(b, is_block(tags, len) ? "</%.*s>\n" : "</%.*s>", (int)len, tags);
    }
}

static void write_attributes(struct as_buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void write_attributes(struct as_buf *b, const char *fmt, va_list ap)
{
    as_buf_char(b, ' ');
    const size_t from = b->len;
    as_buf_vprintf(b, fmt, ap);
    for (size_t i = from; i < b->len; i++)
        if (b->data[i] == '\'')
            b->data[i] = '"';
}

void as_html_tag(struct as_buf *b, const char *tag, const char *attributes, ...)
{
    const size_t name = strcspn(tag, "/");
    va_list ap;
    as_buf_printf(b, "<%.*s", (int)name, tag);
    va_start(ap, attributes);
    write_attributes(b, attributes, ap);
    va_end(ap);
    as_buf_str(b, tag[name] ? "/>\n" : ">");
}

void as_html_attributes(struct as_buf *b, const char *attributes, ...)
{
    va_list ap;
    va_start(ap, attributes);
    write_attributes(b, attributes, ap);
    va_end(ap);
}

void as_html_start(struct as_buf *b, const char *tag)
{
    as_buf_printf(b, "<%s", tag);
}

void as_html_attribute(struct as_buf *b, const char *name, const char *text)
{
    as_buf_printf(b, " %s=\"", name);
    as_buf_html(b, text);
    as_buf_char(b, '"');
}

void as_html_attribute_id(struct as_buf *b, const char *attribute, const char *prefix, const char *name)
{
    as_buf_printf(b, " %s=\"%s", attribute, prefix);
    as_page_slug(b, name);
    as_buf_char(b, '"');
}

void as_html_started(struct as_buf *b)
{
    as_buf_char(b, '>');
}

void as_html_text(struct as_buf *b, const char *tag, const char *class, const char *text)
{
    as_html_open(b, tag, class);
    as_buf_html(b, text);
    as_html_close(b, tag);
}

void as_html_vprintf(struct as_buf *b, const char *fmt, va_list ap)
{
    struct as_buf text = AS_BUF_INIT;
    as_buf_vprintf(&text, fmt, ap);
    as_buf_html(b, as_buf_get(&text));
    b->failed |= text.failed;
    as_buf_finish(&text);
}

void as_html_printf(struct as_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    as_html_vprintf(b, fmt, ap);
    va_end(ap);
}

/* Length of "[words](#id)" at text; 0: it is none. *words, *id: lengths of its parts. */
static size_t prose_link(const char *text, size_t *words, size_t *id)
{
    *words = strcspn(text + 1, "[]");
    const char *behind = text + 1 + *words;
    if (strncmp(behind, "](#", 3) != 0)
        return 0;
    *id = strcspn(behind + 3, ") ");
    return behind[3 + *id] == ')' ? *words + *id + 5 : 0;
}

void as_html_prose(struct as_buf *b, const char *text)
{
    struct as_buf plain = AS_BUF_INIT;
    as_buf_html(&plain, text);
    bool code = false, bold = false;
    size_t words, id;
    for (const char *at = as_buf_get(&plain); *at; at++) {
        const size_t link = *at == '[' ? prose_link(at, &words, &id) : 0;
        if (link) {
            as_buf_printf(b, "<a href=\"#%.*s\">%.*s</a>", (int)id, at + words + 4, (int)words, at + 1);
            at += link - 1;
        } else if (at[0] == '*' && at[1] == '*') {
            bold = !bold;
            as_buf_str(b, bold ? "<b>" : "</b>");
            at++;
        } else if (*at == '`') {
            code = !code;
            as_buf_str(b, code ? "<code>" : "</code>");
        } else
            as_buf_char(b, *at);
    }
    b->failed |= plain.failed;
    as_buf_finish(&plain);
}

static void prose_format(struct as_buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void prose_format(struct as_buf *b, const char *fmt, va_list ap)
{
    struct as_buf text = AS_BUF_INIT;
    as_buf_vprintf(&text, fmt, ap);
    as_html_prose(b, as_buf_get(&text));
    b->failed |= text.failed;
    as_buf_finish(&text);
}

void as_html_paragraph(struct as_buf *b, const char *class, const char *text)
{
    as_html_open(b, "p", class);
    as_html_prose(b, text);
    as_html_close(b, "p");
}

void as_html_paragraphf(struct as_buf *b, const char *class, const char *fmt, ...)
{
    va_list ap;
    as_html_open(b, "p", class);
    va_start(ap, fmt);
    prose_format(b, fmt, ap);
    va_end(ap);
    as_html_close(b, "p");
}

void as_html_details(struct as_buf *b, const char *class, const char *fmt, ...)
{
    va_list ap;
    as_html_open(b, "details", class);
    as_html_open(b, "summary", NULL);
    va_start(ap, fmt);
    prose_format(b, fmt, ap);
    va_end(ap);
    as_html_close(b, "summary");
}

void as_html_link(struct as_buf *b, const char *prefix, const char *name)
{
    as_buf_printf(b, "<a href=\"#%s", prefix);
    as_page_slug(b, name);
    as_buf_str(b, "\">");
}

void as_html_link_text(struct as_buf *b, const char *prefix, const char *name, const char *text)
{
    as_html_link(b, prefix, name);
    as_buf_html(b, text);
    as_html_close(b, "a");
}

void as_html_cite(struct as_buf *b, const char *tag, const char *class, const char *device, const struct as_quantity *q,
                  double value)
{
    as_html_start(b, tag);
    if (class)
        as_html_attribute(b, "class", class);
    as_html_attribute(b, "data-device", device);
    as_buf_printf(b, " data-quantity=\"%s\" data-value=\"%.9g\">", q->name, value);
}

/* ---- pictures ---- */

void as_svg_open(struct as_buf *b, const char *class, double w, double h, const char *label, ...)
{
    struct as_buf text = AS_BUF_INIT;
    va_list ap;
    va_start(ap, label);
    as_buf_vprintf(&text, label, ap);
    va_end(ap);
    as_html_start(b, "svg");
    as_html_attributes(b, "class='%s' viewBox='0 0 %.0f %.0f' role='img' fill='none'", class, w, h);
    as_html_attribute(b, "aria-label", as_buf_get(&text));
    as_html_started(b);
    b->failed |= text.failed;
    as_buf_finish(&text);
}

void as_svg_text(struct as_buf *b, double x, double y, const char *anchor, const char *fill, double size)
{
    as_html_tag(b, "text", "x='%.1f' y='%.1f' text-anchor='%s' fill='%s' font-size='%.1f'", x, y, anchor, fill, size);
}

void as_svg_textf(struct as_buf *b, double x, double y, const char *anchor, const char *fill, double size,
                  const char *fmt, ...)
{
    va_list ap;
    as_svg_text(b, x, y, anchor, fill, size);
    va_start(ap, fmt);
    as_html_vprintf(b, fmt, ap);
    va_end(ap);
    as_html_close(b, "text");
}

void as_svg_not_drawn(struct as_buf *b)
{
    as_html_paragraph(b, "note", "Not drawn: its numbers are too far apart for a picture.");
}

void as_html_document(struct as_buf *b, const char *style_hash, const char *script_hash, const char *other_hash)
{
    as_buf_str(b, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    as_buf_printf(b,
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; "
                  "form-action 'none'; style-src '%s'; script-src '%s'",
                  style_hash, script_hash);
    if (other_hash)
        as_buf_printf(b, " '%s'", other_hash);
    as_buf_str(
        b, "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
}

/* ---- sections ---- */

void as_html_section(struct as_buf *b, const char *id, const char *title, const char *lead)
{
    as_buf_printf(b, "<section id=\"%s\" aria-labelledby=\"%s-h\"><h2 id=\"%s-h\">%s</h2>\n", id, id, id, title);
    if (lead)
        as_html_paragraph(b, "lead", lead);
}

void as_html_section_end(struct as_buf *b)
{
    as_buf_str(b, "</section>\n");
}

void as_html_fold(struct as_buf *b, const char *name, const char *title, const char *lead)
{
    as_html_fold_open(b, "", name, title, lead, false);
}

void as_html_fold_open(struct as_buf *b, const char *prefix, const char *name, const char *title, const char *lead,
                       bool open)
{
    as_html_start(b, "section");
    as_html_attribute_id(b, "id", prefix, name);
    as_html_attribute(b, "class", "fold");
    as_html_attribute_id(b, "aria-labelledby", "h-", name);
    as_html_started(b);
    as_buf_str(b, open ? "<details open><summary>" : "<details><summary>");
    as_html_start(b, "h2");
    as_html_attribute_id(b, "id", "h-", name);
    as_html_started(b);
    as_buf_html(b, title);
    as_buf_str(b, "</h2></summary>\n");
    if (lead)
        as_html_paragraph(b, "lead", lead);
}

void as_html_fold_end(struct as_buf *b)
{
    as_html_close(b, "details/section");
}

void as_html_part(struct as_buf *b, bool folded, const char *id, const char *title, const char *lead)
{
    if (folded)
        as_html_fold(b, id, title, lead);
    else
        as_html_section(b, id, title, lead);
}

void as_html_part_end(struct as_buf *b, bool folded)
{
    if (folded)
        as_html_fold_end(b);
    else
        as_html_section_end(b);
}

void as_html_of_run(struct as_buf *b, const struct as_run *run)
{
    as_buf_str(b, " <span class=\"of\">");
    as_page_run_name(b, run);
    as_html_close(b, "span");
}

void as_html_device(struct as_buf *b, const struct as_report_run *run, const char *device, bool run_name)
{
    as_html_open(b, "h3", NULL);
    as_html_text(b, "code", NULL, device);
    as_buf_char(b, ' ');
    as_buf_html(b, as_sheet_device_name(run, device));
    if (run_name)
        as_html_of_run(b, &run->run);
    as_buf_str(b, "</h3>\n");
}

void as_html_term(struct as_buf *b, const char *name)
{
    as_buf_str(b, "<div>");
    as_html_text(b, "dt", NULL, name);
    as_html_open(b, "dd", NULL);
}

void as_html_term_end(struct as_buf *b)
{
    as_buf_str(b, "</dd></div>");
}

/* ---- tables ---- */

void as_html_head(struct as_buf *b, const char *head)
{
    const bool words = head[0] == '<';
    as_buf_str(b, words ? "<th scope=\"col\" class=\"l\">" : "<th scope=\"col\">");
    as_buf_html(b, head + words);
}

void as_html_region(struct as_buf *b, const char *region, const char *class, const char *label)
{
    as_buf_printf(b, "<div class=\"%s\" tabindex=\"0\" role=\"region\"", region);
    as_html_attribute(b, "aria-label", label);
    as_html_started(b);
    as_html_open(b, "table", class);
}

void as_html_heads(struct as_buf *b)
{
    as_buf_str(b, "<thead><tr>");
}

void as_html_table(struct as_buf *b, const char *region, const char *class, const char *label, const char *head, ...)
{
    va_list more;
    as_html_region(b, region, class, label);
    as_html_heads(b);
    va_start(more, head);
    for (; head; head = va_arg(more, const char *))
        as_html_head(b, head);
    va_end(more);
}

void as_html_body(struct as_buf *b)
{
    as_buf_str(b, "\n<tbody>");
}

void as_html_table_end(struct as_buf *b)
{
    as_buf_str(b, "</table></div>\n");
}

void as_html_group(struct as_buf *b, size_t columns, const char *heading)
{
    as_buf_printf(b, "<tr class=\"g\"><th scope=\"rowgroup\" colspan=\"%zu\">", columns);
    as_buf_html(b, heading);
    as_buf_char(b, '\n');
}

void as_html_row(struct as_buf *b, const char *class, const char *head)
{
    as_html_open(b, "tr", class);
    as_html_row_head(b);
    as_buf_html(b, head);
}

void as_html_row_head(struct as_buf *b)
{
    as_buf_str(b, "<th scope=\"row\">");
}

void as_html_cell(struct as_buf *b, const char *class, const char *text)
{
    as_html_open(b, "td", class);
    as_buf_html(b, text);
}

void as_html_cellf(struct as_buf *b, const char *class, const char *fmt, ...)
{
    va_list ap;
    as_html_open(b, "td", class);
    va_start(ap, fmt);
    as_buf_vprintf(b, fmt, ap);
    va_end(ap);
}

static void ref_cell(struct as_buf *b, const char *class, const struct as_buf *text)
{
    as_html_cell(b, class, as_buf_get(text));
    b->failed |= text->failed;
}

void as_html_ref(struct as_buf *b, const struct as_ref *ref)
{
    struct as_buf text = AS_BUF_INIT;
    as_ref_what(ref, &text);
    ref_cell(b, NULL, &text);
    as_buf_finish(&text);
}

void as_html_ref_value(struct as_buf *b, const struct as_ref *ref)
{
    struct as_buf text = AS_BUF_INIT;
    as_ref_value(ref, true, &text);
    ref_cell(b, "n", &text);
    as_buf_finish(&text);
}

void as_html_interval(struct as_buf *b, double value, struct as_interval ci, const char *unit)
{
    const struct as_number n = {.value = value, .ci = ci, .unit = unit};
    if (!as_number_has_interval(&n))
        return;
    as_html_open(b, "small", NULL);
    as_page_interval(b, &n);
    as_html_close(b, "small");
}

void as_html_cell_link(struct as_buf *b, int64_t cell)
{
    as_buf_printf(b, "<a href=\"#c%lld\">", (long long)cell);
}

void as_html_cell_linkf(struct as_buf *b, int64_t cell, const char *fmt, ...)
{
    va_list ap;
    as_html_cell_link(b, cell);
    va_start(ap, fmt);
    as_html_vprintf(b, fmt, ap);
    va_end(ap);
    as_html_close(b, "a");
}

void as_html_open_measured(struct as_buf *b, const char *tag, int64_t cell, bool rejected)
{
    as_buf_printf(b, rejected ? "<%s id=c%lld class=u>" : "<%s id=c%lld>", tag, (long long)cell);
}
