/* The data sheet in the terminal. */
#include "base/text.h"
#include "facts/facts.h"
#include "report/model/same_hardware.h"
#include "report/sheet/machine_sheet.h"
#include "report/sheet/sheet_header.h"
#include "report/terminal/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BAR = 12,
    ANOTHER = 4, /* the column that says where another run lies */
    WIDE = 120,  /* space for a column of published figures beside the details */
    NARROW = 100
};

static void add_measured(struct as_table *t, const struct as_sheet_row *r)
{
    const struct as_number n = as_sheet_number(r);
    struct as_buf text = AS_BUF_INIT;
    as_number_brief(&n, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_STRONG);
    as_buf_clear(&text);
    as_number_precision(&n, &text);
    as_buf_str(&text, as_number_has_interval(&n) && r->wide ? " ~" : "");
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_finish(&text);
}

/* runs NULL: the sheet is of one run. */
static void add_another(struct as_table *t, const struct as_sheet_row *r, const struct as_line_runs *runs)
{
    struct as_buf text = AS_BUF_INIT;
    if (runs)
        as_line_another(r, runs, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_finish(&text);
}

static void add_row(struct as_table *t, const struct as_sheet_row *r, const struct as_line_runs *runs, bool first,
                    bool published, const struct as_table_style *style)
{
    struct as_buf text = AS_BUF_INIT;
    const double share = as_sheet_share(r);
    as_table_add(t, first ? r->title : "", AS_PAINT_STRONG);
    as_table_add(t, r->shown, AS_PAINT_NONE);
    add_measured(t, r);
    add_another(t, r, runs);
    if (as_sheet_shows_specified(r))
        as_format_value(&text, r->specified, r->unit);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_clear(&text);
    if (isfinite(share))
        as_buf_printf(&text, "%.0f%%", 100 * share);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_clear(&text);
    if (published && r->published)
        as_sheet_published(r, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_clear(&text);
    if (isfinite(share))
        as_text_bar(&text, share < 1 ? share : 1, BAR, style->unicode);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_clear(&text);
    as_sheet_details(r, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_DIM);
    as_buf_finish(&text);
}

/* The lines that follow in its group and are missing for the same reason are named in its remark. row, gap: where the
 * walk over the sheet stands behind it; moved past them. */
static void terminal_sheet_add_gap(struct as_table *t, const struct as_sheet *sheet, size_t *row, size_t *gap_at,
                                   const struct as_sheet_gap *gap, bool first, const struct as_table_style *style)
{
    struct as_buf text = AS_BUF_INIT;
    as_buf_str(&text, gap->reason);
    for (const char *lead = "; likewise ";; lead = "; ") {
        size_t r = *row, g = *gap_at;
        struct as_sheet_entry next;
        if (!as_sheet_next(sheet, &r, &g, &next) || !next.gap || strcmp(next.gap->group, gap->group) != 0 ||
            strcmp(next.gap->reason, gap->reason) != 0)
            break;
        as_buf_printf(&text, "%s%s", lead, next.gap->shown);
        *row = r;
        *gap_at = g;
    }
    as_table_add(t, first ? gap->title : "", AS_PAINT_STRONG);
    as_table_add(t, gap->shown, AS_PAINT_NONE);
    as_table_add(t, style->unicode ? "–" : "-", AS_PAINT_DIM);
    for (int i = 0; i < 6; i++)
        as_table_add(t, "", AS_PAINT_NONE);
    as_table_add(t, as_buf_get(&text), AS_PAINT_DIM);
    as_buf_finish(&text);
}

static void add_entries(struct as_table *t, const struct as_device_sheet *d, bool published,
                        const struct as_table_style *style)
{
    const struct as_sheet *sheet = &d->sheet;
    const char *group = "";
    struct as_sheet_entry e;
    for (size_t row = 0, gap = 0; as_sheet_next(sheet, &row, &gap, &e);) {
        const char *own = e.row ? e.row->group : e.gap->group;
        const bool first = strcmp(group, own) != 0;
        group = own;
        if (e.row)
            add_row(t, e.row, d->runs ? &d->runs[e.row - sheet->rows] : NULL, first, published, style);
        else
            terminal_sheet_add_gap(t, sheet, &row, &gap, e.gap, first, style);
    }
}

/* Is it the first row whose published figure is of this source? */
static bool is_first_of_source(const struct as_sheet *sheet, size_t row)
{
    for (size_t i = 0; i < row; i++) {
        const struct as_ref *ref = sheet->rows[i].published;
        if (ref && strcmp(ref->source, sheet->rows[row].published->source) == 0)
            return false;
    }
    return true;
}

/* "Memory read 2.78 TB/s, L2 read 9.77 TB/s": all figures of a source, where there is no column for them. */
static void list_published(const struct as_sheet *sheet, const char *source, struct as_buf *out)
{
    const char *lead = "";
    for (size_t i = 0; i < sheet->n; i++) {
        const struct as_sheet_row *r = &sheet->rows[i];
        if (!r->published || strcmp(r->published->source, source) != 0)
            continue;
        as_buf_printf(out, "%s%s %s ", lead, r->title, r->label);
        as_sheet_published(r, out);
        lead = ", ";
    }
}

static void terminal_sheet_add_line(const char *text, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    as_buf_terminal(&line, text);
    as_text_fill(out, as_buf_get(&line), style->width, 2, 0);
    as_buf_finish(&line);
}

/* Explains the mark "~" if a row has it. */
static void add_legend(const struct as_sheet *sheet, const struct as_table_style *style, struct as_buf *out)
{
    for (size_t i = 0; i < sheet->n; i++) {
        const struct as_number n = as_sheet_number(&sheet->rows[i]);
        if (sheet->rows[i].wide && as_number_form(&n) == AS_NUMBER_VALUE) {
            terminal_sheet_add_line("~: 95% interval wider than requested; for causes: assay doctor", style, out);
            return;
        }
    }
}

/* Explains shares that are printed as more than 100%. */
static void add_excess(const struct as_sheet *sheet, const struct as_table_style *style, struct as_buf *out)
{
    static const double rounded = 1.005;
    for (size_t i = 0; i < sheet->n; i++)
        if (as_sheet_share(&sheet->rows[i]) >= rounded) {
            terminal_sheet_add_line("Shares up to 102%: figures are rounded, and clocks may exceed those they are for",
                                    style, out);
            return;
        }
}

static void add_not_in_suite(const struct as_sheet *sheet, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT;
    as_buf_str(&text, "Not in this suite: ");
    const size_t n = text.len;
    as_sheet_not_in_suite(sheet, &text);
    if (text.len > n)
        terminal_sheet_add_line(as_buf_get(&text), style, out);
    as_buf_finish(&text);
}

/* Sources of specified figures; where there is no column for them, also the published figures. */
static void add_sources(const struct as_sheet *sheet, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT;
    const bool reported = as_sheet_has_reported(sheet);
    if (reported && !as_sheet_has_vendors(sheet))
        terminal_sheet_add_line("Reported by driver or OS, or computed from what they report", style, out);
    else if (as_sheet_has_specified(sheet)) {
        as_buf_printf(&text, "Specified%s%s by: ", sheet->chip[0] ? " for " : "", sheet->chip);
        as_sheet_sources(sheet, false, &text);
        as_buf_str(&text, reported ? " (values of driver or OS as reported)" : "");
        terminal_sheet_add_line(as_buf_get(&text), style, out);
    }
    for (size_t i = 0; i < sheet->n; i++) {
        if (!sheet->rows[i].published || !is_first_of_source(sheet, i))
            continue;
        const char *source = sheet->rows[i].published->source;
        as_buf_clear(&text);
        as_buf_printf(&text, "Published%s%s by %s", sheet->chip[0] ? " for " : "", sheet->chip, source);
        if (style->width < WIDE) {
            as_buf_str(&text, ": ");
            list_published(sheet, source, &text);
        }
        terminal_sheet_add_line(as_buf_get(&text), style, out);
    }
    as_buf_finish(&text);
}

/* The device, what is known of it, and what disturbed it. */
static void add_header(const struct as_report_run *run, const struct as_device_sheet *d, const char *seen,
                       const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf name = AS_BUF_INIT, text = AS_BUF_INIT;
    if (as_report_device(run, d->id))
        as_sheet_device_text(run, d->id, &name);
    else
        as_buf_str(&name, d->name);
    as_buf_printf(&text, "%s%s%s", d->id, name.len ? ": " : "", as_buf_get(&name));
    as_text_title(out, as_buf_get(&text), style);
    as_buf_clear(&text);
    as_sheet_about_text(run, d->id, style->unicode ? " · " : ", ", &text);
    if (text.len)
        terminal_sheet_add_line(as_buf_get(&text), style, out);
    if (seen[0])
        terminal_sheet_add_line(seen, style, out);
    out->failed |= name.failed || text.failed;
    as_buf_finish(&name);
    as_buf_finish(&text);
}

enum as_status as_text_device_sheet(const struct as_device_sheet *d, const struct as_report_run *run, const char *seen,
                                    const struct as_table_style *style, struct as_buf *out, bool *no_room,
                                    struct as_error *err)
{
    const struct as_sheet *sheet = &d->sheet;
    struct as_table t;
    struct as_sheet_entry any;
    if (!as_sheet_next(sheet, &(size_t){0}, &(size_t){0}, &any))
        return AS_OK;
    add_header(run, d, seen, style, out);
    const bool specified = as_sheet_has_specified(sheet),
               published = style->width >= WIDE && as_sheet_has_published(sheet);
    char head[80];
    const bool of_spec = specified && as_sheet_has_vendors(sheet);
    snprintf(head, sizeof head, ">%s", sheet->chip[0] ? sheet->chip : of_spec ? "specified" : "reported");
    const char *heads[] = {"",
                           "",
                           ">measured",
                           style->unicode ? ">±" : ">+-",
                           d->runs ? "?>another run" : "?>",
                           specified ? head : "?>",
                           of_spec && style->width >= NARROW ? ">of spec"
                           : specified                       ? ">share"
                                                             : "?>",
                           published ? ">published" : "?>",
                           "?",
                           "/",
                           NULL};
    as_table_init(&t, heads);
    add_entries(&t, d, published, style);
    enum as_status st = as_table_write(&t, style, out, err);
    if (no_room)
        *no_room |= !st && as_table_leaves_out(&t, ANOTHER, style);
    as_table_finish(&t);
    if (!st) {
        add_legend(sheet, style, out);
        add_excess(sheet, style, out);
        add_not_in_suite(sheet, style, out);
        add_sources(sheet, style, out);
    }
    return st;
}

/* One small probe is printed whole. */
static bool is_printed_whole(const struct as_report_run *run)
{
    for (size_t i = 0; i < run->cells_n; i++)
        if (i >= AS_TEXT_WHOLE_MAX || strcmp(run->cells[i].probe, run->cells[0].probe) != 0)
            return false;
    return true;
}

enum as_status as_text_sheet(const struct as_report_run *run, const char *device, const struct as_table_style *style,
                             struct as_buf *out, struct as_error *err)
{
    const size_t n = run->devices_n;
    struct as_device_sheet *made = calloc(n + 1, sizeof *made);
    struct as_text_sheet *sheets = calloc(n + 1, sizeof *sheets);
    struct as_buf *seen = calloc(n + 1, sizeof *seen);
    enum as_status st = made && sheets && seen ? AS_OK : as_nomem(err, n * sizeof *made, "data sheets");
    for (size_t i = 0; i < n && !st; i++) {
        const char *id = run->devices[i].id;
        as_copy_text(made[i].id, sizeof made[i].id, id);
        as_copy_text(made[i].name, sizeof made[i].name, as_report_device_name(run, id));
        seen[i] = (struct as_buf)AS_BUF_INIT;
        if ((st = as_sheet_make(run, id, &made[i].sheet, err)))
            break;
        as_sheet_seen_text(run, id, &seen[i]);
        sheets[i] = (struct as_text_sheet){&made[i], as_buf_get(&seen[i]), !is_printed_whole(run)};
    }
    if (!st)
        st = as_text_sheets(run, sheets, n, device, style, out, NULL, err);
    for (size_t i = 0; made && seen && i < n; i++) {
        as_sheet_finish(&made[i].sheet);
        as_buf_finish(&seen[i]);
    }
    free(made);
    free(sheets);
    free(seen);
    return st;
}

/* ---- the sheets of all devices ---- */

static bool has_entries(const struct as_text_sheet *s)
{
    struct as_sheet_entry any;
    return as_sheet_next(&s->of->sheet, &(size_t){0}, &(size_t){0}, &any);
}

/* Identical GPUs from sheet `first` on, of which each has lines and stands for itself. Returns how many. */
static size_t find_alike(const struct as_report_run *run, const struct as_text_sheet *v, size_t n, size_t first,
                         const struct as_text_sheet **alike)
{
    const struct as_device_info *own = as_report_device(run, v[first].of->id);
    size_t found = 0;
    for (size_t i = first; i < n && own && has_entries(&v[first]) && found < AS_TEXT_ALIKE_MAX; i++) {
        const struct as_device_info *info = as_report_device(run, v[i].of->id);
        if (info && as_hardware_is_alike(info, own) && has_entries(&v[i]) &&
            !as_hardware_representative_id(run, v[i].of->id))
            alike[found++] = &v[i];
    }
    return found;
}

static enum as_status write_whole(const struct as_report_run *run, const struct as_text_sheet *s,
                                  const struct as_table_style *style, struct as_buf *out, bool *no_room,
                                  struct as_error *err)
{
    const enum as_status st = as_text_device_sheet(s->of, run, s->seen, style, out, no_room, err);
    return st || !s->main_results ? st : as_text_main_results(run, s->of->id, &s->of->sheet, style, out, err);
}

enum as_status as_text_sheets(const struct as_report_run *run, const struct as_text_sheet *v, size_t n,
                              const char *device, const struct as_table_style *style, struct as_buf *out, bool *no_room,
                              struct as_error *err)
{
    const struct as_text_sheet **alike = calloc(n + 1, sizeof *alike);
    bool *folded = calloc(n + 1, sizeof *folded);
    const bool every = device && strcmp(device, AS_TEXT_EVERY) == 0;
    enum as_status st = alike && folded ? AS_OK : as_nomem(err, n * sizeof *alike, "data sheets");
    for (size_t i = 0; i < n && !st; i++) {
        const char *id = v[i].of->id;
        if (folded[i] || (device && !every && strcmp(device, id) != 0))
            continue;
        if (!device && as_text_same_hardware(run, id, style, out))
            continue;
        st = write_whole(run, &v[i], style, out, no_room, err);
        const size_t found = device || st ? 0 : find_alike(run, v, n, i, alike);
        for (size_t k = 0; k < found; k++)
            folded[alike[k] - v] = true;
        if (found > 1)
            st = as_text_alike(run, alike, found, style, out, err);
    }
    free(alike);
    free(folded);
    return st;
}
