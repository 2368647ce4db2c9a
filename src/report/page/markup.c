#include "report/page/markup.h"

#include "report/page/page.h"

void as_html_open(struct as_buf *b, const char *tag, const char *class)
{
    if (class)
        as_buf_printf(b, "<%s class=\"%s\">", tag, class);
    else
        as_buf_printf(b, "<%s>", tag);
}

void as_html_close(struct as_buf *b, const char *tag)
{
    as_buf_printf(b, "</%s>", tag);
}

void as_html_text(struct as_buf *b, const char *tag, const char *class, const char *text)
{
    as_html_open(b, tag, class);
    as_buf_html(b, text);
    as_html_close(b, tag);
}

void as_html_paragraph(struct as_buf *b, const char *class, const char *markup)
{
    as_html_open(b, "p", class);
    as_buf_str(b, markup);
    as_buf_str(b, "</p>\n");
}

void as_html_paragraphf(struct as_buf *b, const char *class, const char *fmt, ...)
{
    va_list ap;
    as_html_open(b, "p", class);
    va_start(ap, fmt);
    as_buf_vprintf(b, fmt, ap);
    va_end(ap);
    as_buf_str(b, "</p>\n");
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
    as_buf_html(b, as_report_device_name(run, device));
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
    as_buf_printf(b, "<div class=\"%s\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">", region, label);
    as_html_open(b, "table", class);
}

void as_html_table(struct as_buf *b, const char *region, const char *class, const char *label, const char *head, ...)
{
    va_list more;
    as_html_region(b, region, class, label);
    as_buf_str(b, "<thead><tr>");
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
    as_buf_str(b, "<th scope=\"row\">");
    as_buf_html(b, head);
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
    as_html_open(b, "small", NULL);
    as_page_interval(b, value, ci, unit);
    as_html_close(b, "small");
}

void as_html_cell_link(struct as_buf *b, int64_t cell)
{
    as_buf_printf(b, "<a href=\"#c%lld\">", (long long)cell);
}
