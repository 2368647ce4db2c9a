#include "report/markup.h"

#include "report/page.h"

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

void as_html_details(struct as_buf *b, const char *class, bool open, const char *summary)
{
    as_buf_printf(b, "<details%s%s%s%s>", class ? " class=\"" : "", class ? class : "", class ? "\"" : "",
                  open ? " open" : "");
    as_html_text(b, "summary", NULL, summary);
}

/* ---- tables ---- */

void as_html_head(struct as_buf *b, const char *head)
{
    const bool number = head[0] == '>';
    as_buf_str(b, number ? "<th scope=\"col\">" : "<th scope=\"col\" class=\"l\">");
    as_buf_html(b, head + number);
}

void as_html_table(struct as_buf *b, const char *region, const char *class, const char *label, const char *const *heads)
{
    as_buf_printf(b, "<div class=\"%s\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table class=\"%s\">", region,
                  label, class);
    as_buf_printf(b, "<thead><tr><th scope=\"col\">%s", heads[0]);
    for (size_t i = 1; heads[i]; i++)
        as_html_head(b, heads[i]);
}

void as_html_body(struct as_buf *b)
{
    as_buf_str(b, "\n<tbody>");
}

void as_html_table_end(struct as_buf *b)
{
    as_buf_str(b, "</table></div>\n");
}

void as_html_row(struct as_buf *b, const char *class, const char *head)
{
    as_html_open(b, "tr", class);
    as_buf_str(b, "<th scope=\"row\">");
    as_buf_html(b, head);
}

void as_html_words(struct as_buf *b, const char *text)
{
    as_html_open(b, "td", "l");
    as_buf_html(b, text);
}

void as_html_cell_link(struct as_buf *b, int64_t cell)
{
    as_buf_printf(b, "<a href=\"#c%lld\">", (long long)cell);
}
