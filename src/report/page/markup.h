/* The page writes HTML only through these functions, so that text is escaped, and tables and headings look alike. End
 * tags that HTML makes optional (td, th, tr, thead, tbody) are omitted: with thousands of rows they would be a third of
 * the page. */
#ifndef AS_REPORT_MARKUP_H
#define AS_REPORT_MARKUP_H

#include "base/buf.h"
#include "report/report.h"

/* <tag class="class">; class: NULL for none. */
void as_html_open(struct as_buf *b, const char *tag, const char *class);
void as_html_close(struct as_buf *b, const char *tag);
/* The whole element; text is escaped. */
void as_html_text(struct as_buf *b, const char *tag, const char *class, const char *text);
/* A note of the page in its own paragraph; markup is HTML already. */
void as_html_paragraph(struct as_buf *b, const char *class, const char *markup);
void as_html_paragraphf(struct as_buf *b, const char *class, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A section with its heading, and a first paragraph where lead (HTML already) is not NULL. */
void as_html_section(struct as_buf *b, const char *id, const char *title, const char *lead);
void as_html_section_end(struct as_buf *b);
/* <h3> of a device of a run; run_name: with the run, where a page has several. */
void as_html_device(struct as_buf *b, const struct as_report_run *run, const char *device, bool run_name);
/* " run 7" behind a heading. */
void as_html_of_run(struct as_buf *b, const struct as_run *run);

/* Begins an entry of a <dl>: its name, then what follows up to the end. */
void as_html_term(struct as_buf *b, const char *name);
void as_html_term_end(struct as_buf *b);

/* A table that scrolls in its own region, up to and including its heads: one per column, "<name" for words, which are
 * left-aligned; ends with NULL. The first column holds the heads of rows. Further heads may follow (as_html_head), then
 * the body. region and class: CSS classes; label: for screen readers. */
void as_html_table(struct as_buf *b, const char *region, const char *class, const char *label, const char *head, ...)
    __attribute__((sentinel));
/* The same without heads, so that a caption may come before them. */
void as_html_region(struct as_buf *b, const char *region, const char *class, const char *label);
void as_html_head(struct as_buf *b, const char *head);
void as_html_body(struct as_buf *b);
void as_html_table_end(struct as_buf *b);
/* The heading row of a group, over this many columns. */
void as_html_group(struct as_buf *b, size_t columns, const char *heading);
/* Begins a row with its head; class: NULL for none. */
void as_html_row(struct as_buf *b, const char *class, const char *head);
/* A cell with this text; class: NULL for none. */
void as_html_cell(struct as_buf *b, const char *class, const char *text);
/* A cell of the caller's numbers and markup; text is not escaped. */
void as_html_cellf(struct as_buf *b, const char *class, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Cells of a published figure: what it is, and its value. */
void as_html_ref(struct as_buf *b, const struct as_ref *ref);
void as_html_ref_value(struct as_buf *b, const struct as_ref *ref);
/* The interval of a number, small under it. */
void as_html_interval(struct as_buf *b, double value, struct as_interval ci, const char *unit);
/* Opens a link to the row of a measured cell; close it with as_html_close(b, "a"). */
void as_html_cell_link(struct as_buf *b, int64_t cell);

#endif
