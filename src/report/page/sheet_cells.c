#include "report/page/sheet_cells.h"

#include "report/page/markup.h"
#include "report/page/page.h"

#include <math.h>
#include <string.h>

void as_sheet_value_cells(struct as_buf *b, const char *device, const struct as_sheet_row *row, bool linked)
{
    if (!row) {
        as_html_cell(b, "v", "–");
        as_html_open(b, "td", NULL);
        return;
    }
    const struct as_number n = as_sheet_number(row);
    struct as_buf width = AS_BUF_INIT;
    as_html_cite(b, "td", "v", device, row->of, row->value);
    if (linked)
        as_html_cell_link(b, row->cell);
    as_page_number(b, &n);
    if (linked)
        as_html_close(b, "a");
    as_html_open(b, "td", NULL);
    as_number_precision(&n, &width);
    if (width.len)
        as_buf_printf(b, "%s%s%s", as_number_has_interval(&n) ? "±" : "", as_buf_get(&width),
                      as_number_has_interval(&n) && row->wide ? " ~" : "");
    as_buf_finish(&width);
}

void as_sheet_another_cell(struct as_buf *b, const struct as_sheet_row *row, const struct as_line_runs *runs)
{
    struct as_buf text = AS_BUF_INIT;
    as_line_another(row, runs, &text);
    as_html_cell(b, NULL, as_buf_get(&text));
    b->failed |= text.failed;
    as_buf_finish(&text);
}

/* The source of a figure, as its tooltip. class: of the column, NULL for none. */
static void source_cell(struct as_buf *b, const char *class, const struct as_ref *ref)
{
    struct as_buf text = AS_BUF_INIT;
    if (ref)
        as_buf_printf(&text, "%s: %s", ref->source, ref->conditions);
    else
        as_buf_str(&text, "reported by driver or OS, or computed from that");
    as_html_start(b, "td");
    if (class)
        as_html_attribute(b, "class", class);
    as_html_attribute(b, "title", as_buf_get(&text));
    as_html_started(b);
    b->failed |= text.failed;
    as_buf_finish(&text);
}

void as_sheet_specified_cell(struct as_buf *b, const struct as_sheet_row *row)
{
    if (as_sheet_shows_specified(row)) {
        source_cell(b, NULL, row->specified_by);
        as_page_value(b, row->specified, row->unit);
    } else
        as_html_open(b, "td", NULL);
}

void as_sheet_share_cells(struct as_buf *b, const struct as_sheet_row *row)
{
    const double share = as_sheet_share(row);
    as_html_open(b, "td", NULL);
    if (isfinite(share)) {
        as_buf_printf(b, "%.0f%%", 100 * share);
        as_html_open(b, "td", "bars");
        as_html_tag(b, "svg", "class='bar' viewBox='0 0 100 8' preserveAspectRatio='none' aria-hidden='true'");
        as_html_tag(b, "rect/", "class='all' width='100' height='8'");
        as_html_tag(b, "rect/", "width='%.1f' height='8'", fmin(100, 100 * share));
        as_html_close(b, "svg");
    } else
        as_html_open(b, "td", "bars");
}

void as_sheet_published_cell(struct as_buf *b, const struct as_sheet_row *row)
{
    struct as_buf text = AS_BUF_INIT;
    if (row->published) {
        source_cell(b, "published", row->published);
        as_sheet_published(row, &text);
        as_buf_html(b, as_buf_get(&text));
    } else
        as_html_open(b, "td", "published");
    as_buf_finish(&text);
}

static const struct as_check_line *line_of(const struct as_check *check, const char *device,
                                           const struct as_sheet_row *row)
{
    for (size_t i = 0; i < check->n; i++) {
        const struct as_check_line *l = &check->v[i];
        if (l->base && l->now && l->base->of == row->of && strcmp(l->device->id, device) == 0 &&
            strcmp(l->against->id, device) == 0)
            return isfinite(l->comparison.ratio) ? l : NULL;
    }
    return NULL;
}

static struct as_number ratio_of(const struct as_check_line *line)
{
    return (struct as_number){
        .value = line->comparison.ratio, .ci = as_comparison_interval(&line->comparison), .unit = "x"};
}

void as_sheet_ratio_cell(struct as_buf *b, const struct as_check *check, const char *device,
                         const struct as_sheet_row *row)
{
    const struct as_check_line *line = line_of(check, device, row);
    as_html_open(b, "td", NULL);
    if (!line) {
        as_buf_str(b, "–");
        return;
    }
    const struct as_number n = ratio_of(line);
    const bool is_said = as_number_form(&n) != AS_NUMBER_INCONCLUSIVE;
    if (is_said)
        as_page_number(b, &n);
    if (line->verdict == AS_CHECK_UNDECIDED)
        as_buf_str(b, is_said ? " ≈" : "≈");
    else
        as_buf_printf(b, " %s", as_check_line_word(line));
}

void as_sheet_run_cell(struct as_buf *b, const char *device, const struct as_sheet_row *own,
                       const struct as_check *check)
{
    const struct as_check_line *line = own && check ? line_of(check, device, own) : NULL;
    if (!own) {
        as_html_cell(b, "v", "–");
        return;
    }
    const struct as_number n = as_sheet_number(own);
    as_html_cite(b, "td", "v", device, own->of, own->value);
    if (own->cell)
        as_html_cell_link(b, own->cell);
    as_page_number(b, &n);
    if (own->cell)
        as_html_close(b, "a");
    if (!line || (line->verdict != AS_CHECK_BETTER && line->verdict != AS_CHECK_WORSE))
        return;
    const struct as_number ratio = ratio_of(line);
    as_html_open(b, "small", line->verdict == AS_CHECK_WORSE ? "worse" : "better");
    as_page_number(b, &ratio);
    as_buf_printf(b, " %s", as_check_line_word(line));
    as_html_close(b, "small");
}
