/* The page writes HTML only through these functions, so that text is escaped, and tables and headings look alike. End
 * tags that HTML makes optional (td, th, tr, thead, tbody) are omitted: with thousands of rows they would be a third of
 * the page. */
#ifndef AS_REPORT_MARKUP_H
#define AS_REPORT_MARKUP_H

#include "base/buf.h"
#include "report/report.h"

/* <tag class="class">; class: NULL for none. */
void as_html_open(struct as_buf *b, const char *tag, const char *class);
/* Closes elements, the innermost first ("dl/details/li"); after a block, starts a new line. */
void as_html_close(struct as_buf *b, const char *tags);
/* A tag with attributes as in "x='%.1f' class='bar'", for numbers and the program's own words. "rect/": a tag without
 * an end tag. */
void as_html_tag(struct as_buf *b, const char *tag, const char *attributes, ...) __attribute__((format(printf, 3, 4)));
/* A tag in parts: attributes as above, and of any text. */
void as_html_start(struct as_buf *b, const char *tag);
void as_html_attributes(struct as_buf *b, const char *attributes, ...) __attribute__((format(printf, 2, 3)));
void as_html_attribute(struct as_buf *b, const char *name, const char *text);
/* prefix, then name as a word that can be an id */
void as_html_attribute_id(struct as_buf *b, const char *attribute, const char *prefix, const char *name);
void as_html_started(struct as_buf *b);

/* The whole element; text is escaped. */
void as_html_text(struct as_buf *b, const char *tag, const char *class, const char *text);
/* Text that is escaped as a whole. */
void as_html_printf(struct as_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void as_html_vprintf(struct as_buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Text in which `x` is code, **x** bold and [x](#id) a link. */
void as_html_prose(struct as_buf *b, const char *text);
/* A paragraph of prose; so are its arguments, which are texts of the program. */
void as_html_paragraph(struct as_buf *b, const char *class, const char *text);
void as_html_paragraphf(struct as_buf *b, const char *class, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Opens a folded part with its heading; close it with as_html_close(b, "details"). */
void as_html_details(struct as_buf *b, const char *class, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Opens a link to the element with the id of prefix and name; close it with as_html_close(b, "a"). */
void as_html_link(struct as_buf *b, const char *prefix, const char *name);
/* The same with its text. */
void as_html_link_text(struct as_buf *b, const char *prefix, const char *name, const char *text);
/* Opens the element in which the text of a quantity's value stands, and names the quantity and the value. */
void as_html_cite(struct as_buf *b, const char *tag, const char *class, const char *device, const struct as_quantity *q,
                  double value);

/* A picture of this size, with a description (any text); close it with as_html_close(b, "svg"). */
void as_svg_open(struct as_buf *b, const char *class, double w, double h, const char *label, ...)
    __attribute__((format(printf, 5, 6)));
/* Opens a text; close it with as_html_close(b, "text"). */
void as_svg_text(struct as_buf *b, double x, double y, const char *anchor, const char *fill, double size);
/* The same with its text, which is escaped. */
void as_svg_textf(struct as_buf *b, double x, double y, const char *anchor, const char *fill, double size,
                  const char *fmt, ...) __attribute__((format(printf, 7, 8)));
/* Placeholder for a picture whose numbers are too far apart. */
void as_svg_not_drawn(struct as_buf *b);

/* Begins the document, up to the title; its policy admits the style and the scripts of these hashes. other_hash: NULL
 * for none. */
void as_html_document(struct as_buf *b, const char *style_hash, const char *script_hash, const char *other_hash);
/* A section with its heading, and a first paragraph where lead (prose) is not NULL. */
void as_html_section(struct as_buf *b, const char *id, const char *title, const char *lead);
void as_html_section_end(struct as_buf *b);
/* A section that is closed at first but for its title; prefix and name as for as_html_attribute_id. */
void as_html_fold(struct as_buf *b, const char *name, const char *title, const char *lead);
void as_html_fold_open(struct as_buf *b, const char *prefix, const char *name, const char *title, const char *lead,
                       bool open);
void as_html_fold_end(struct as_buf *b);
/* One of both: a section that is open, or folded. */
void as_html_part(struct as_buf *b, bool folded, const char *id, const char *title, const char *lead);
void as_html_part_end(struct as_buf *b, bool folded);
/* <h3> of a device of a run; run_name: with the run, where a page has several. */
void as_html_device(struct as_buf *b, const struct as_report_run *run, const char *device, bool run_name);
/* " run 7" behind a heading. */
void as_html_of_run(struct as_buf *b, const struct as_run *run);

/* Begins an entry of a <dl>: its name, then what follows up to the end. */
void as_html_term(struct as_buf *b, const char *name);
void as_html_term_end(struct as_buf *b);

/* A table that scrolls in its own region, up to and including its heads: one per column, "<name" for words, which are
 * left-aligned; ends with NULL. The first column holds the heads of rows. Further heads may follow (as_html_head), then
 * the body. region and class: CSS classes; label: for screen readers,
 * any text. */
void as_html_table(struct as_buf *b, const char *region, const char *class, const char *label, const char *head, ...)
    __attribute__((sentinel));
/* The same without heads, so that a caption may come before them. */
void as_html_region(struct as_buf *b, const char *region, const char *class, const char *label);
void as_html_heads(struct as_buf *b);
void as_html_head(struct as_buf *b, const char *head);
void as_html_body(struct as_buf *b);
void as_html_table_end(struct as_buf *b);
/* The heading row of a group, over this many columns. */
void as_html_group(struct as_buf *b, size_t columns, const char *heading);
/* Begins a row with its head; class: NULL for none. */
void as_html_row(struct as_buf *b, const char *class, const char *head);
void as_html_row_head(struct as_buf *b);
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
void as_html_cell_linkf(struct as_buf *b, int64_t cell, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Opens the row or table cell of a measured cell, where such links lead. */
void as_html_open_measured(struct as_buf *b, const char *tag, int64_t cell, bool rejected);

#endif
