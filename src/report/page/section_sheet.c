/* The data sheet on the page: one table per device. */
#include "base/clock.h"
#include "base/text.h"
#include "report/map/map.h"
#include "report/page/markup.h"
#include "report/page/page.h"
#include "report/page/sheet_cells.h"
#include "report/sheet/machine_runs.h"
#include "report/sheet/sheet.h"
#include "report/sheet/sheet_header.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_shares(const struct as_sheet *sheet)
{
    for (size_t i = 0; i < sheet->n; i++)
        if (isfinite(as_sheet_share(&sheet->rows[i])))
            return true;
    return false;
}

static void write_name(struct as_buf *b, const struct as_report_run *run, const char *device)
{
    struct as_buf text = AS_BUF_INIT;
    as_sheet_device_text(run, device, &text);
    as_buf_char(b, ' ');
    as_buf_html(b, as_buf_get(&text));
    as_buf_clear(&text);
    as_sheet_about_text(run, device, " · ", &text);
    if (text.len) {
        as_html_open(b, "br", NULL);
        as_html_text(b, "small", NULL, as_buf_get(&text));
    }
    as_buf_finish(&text);
}

static void sheet_head(struct as_page *p, const char *device, const struct as_sheet *sheet, bool joined)
{
    struct as_buf *b = p->out;
    const char *chip = sheet->chip;
    as_html_region(b, "scroll whole one", joined ? "sheet joined" : "sheet", "Data sheet");
    as_html_open(b, "caption", NULL);
    as_html_text(b, "code", NULL, device);
    write_name(b, p->runs, device);
    as_html_close(b, "caption");
    as_html_heads(b);
    as_html_head(b, "");
    as_html_head(b, "<quantity");
    as_html_head(b, "");
    as_buf_str(b, "measured");
    as_html_head(b, "±");
    if (joined)
        as_html_head(b, "another run");
    if (as_sheet_has_specified(sheet)) {
        as_html_head(b, "");
        as_buf_html(b, chip);
        as_buf_str(b, chip[0] ? " " : "");
        as_buf_str(b, as_sheet_has_vendors(sheet) ? "specified" : "reported");
    }
    if (has_shares(sheet)) {
        as_html_head(b, as_sheet_has_vendors(sheet) ? "of spec" : "share");
        as_html_tag(b, "th", "scope='col' class='bars'");
    }
    if (as_sheet_has_published(sheet)) {
        as_html_tag(b, "th", "scope='col' class='published'");
        as_buf_html(b, chip);
        as_buf_printf(b, "%spublished", chip[0] ? " " : "");
    }
    as_html_head(b, "<details");
    as_buf_char(b, '\n');
}

void as_sheet_open_group(struct as_buf *b, const char *group)
{
    static const char *const whole[] = {"Compute", "Memory", "Host link"};
    bool is_whole = false;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        is_whole |= strcmp(whole[i], group) == 0;
    as_html_open(b, "tbody", is_whole ? NULL : "brief");
}

enum { REMARK_SHORT = 18 }; /* letters */

static void sheet_line(struct as_page *p, const char *device, const struct as_sheet *sheet,
                       const struct as_sheet_row *row, const struct as_line_runs *runs, bool first)
{
    struct as_buf *b = p->out;
    const bool leads = row->of && row->of->first; /* a folded group */
    as_html_row(b, first ? "first" : leads ? "leading" : NULL, first ? row->title : "");
    as_html_cell(b, "l", row->shown);
    as_sheet_value_cells(b, device, row, row->cell && as_report_cell(p->runs, row->cell));
    if (runs)
        as_sheet_another_cell(b, row, runs);
    if (as_sheet_has_specified(sheet))
        as_sheet_specified_cell(b, row);
    if (has_shares(sheet))
        as_sheet_share_cells(b, row);
    if (as_sheet_has_published(sheet))
        as_sheet_published_cell(b, row);
    struct as_buf details = AS_BUF_INIT;
    as_sheet_details(row, &details);
    /* beside another sheet a long one has a line of its own */
    as_html_cell(b, details.len > REMARK_SHORT ? "l long" : "l", as_buf_get(&details));
    as_html_close(b, "td"); /* else the newline is its text, and it is not empty */
    as_buf_char(b, '\n');
    b->failed |= details.failed;
    as_buf_finish(&details);
}

/* A line without a number says why. */
static void gap_line(struct as_page *p, const struct as_sheet *sheet, const struct as_sheet_gap *gap, bool joined,
                     bool first)
{
    struct as_buf *b = p->out;
    as_html_row(b, first ? "first" : NULL, first ? gap->title : "");
    as_html_cell(b, "l", gap->shown);
    const int columns =
        3 + joined + as_sheet_has_specified(sheet) + 2 * has_shares(sheet) + as_sheet_has_published(sheet);
    as_html_tag(b, "td", "class='l' colspan='%d'", columns);
    as_buf_html(b, gap->reason);
    as_buf_char(b, '\n');
}

/* A group of which no line has a number; but a sheet without any number shows all. */
static bool is_without_numbers(const struct as_sheet *sheet, const char *group)
{
    for (size_t i = 0; i < sheet->n; i++)
        if (strcmp(sheet->rows[i].group, group) == 0)
            return false;
    return sheet->n > 0;
}

/* joined: the machine's lines that the sheet has; NULL: the run's. another: of several runs. */
static void lines_of_one(struct as_page *p, const char *device, const struct as_sheet *sheet,
                         const struct as_device_sheet *joined, bool another)
{
    const char *group = "";
    struct as_sheet_entry e;
    for (size_t row = 0, gap = 0; as_sheet_next(sheet, &row, &gap, &e);) {
        const char *own = e.row ? e.row->group : e.gap->group;
        if (is_without_numbers(sheet, own))
            continue;
        if (strcmp(group, own) != 0)
            as_sheet_open_group(p->out, own);
        if (e.row)
            sheet_line(p, device, sheet, e.row, another ? &joined->runs[e.row - sheet->rows] : NULL,
                       strcmp(group, own) != 0);
        else
            gap_line(p, sheet, e.gap, another, strcmp(group, own) != 0);
        group = own;
    }
}

/* The reasons of the groups that the table lacks. */
static void lines_without_numbers(struct as_page *p, const struct as_sheet *sheet)
{
    size_t n = 0, shown = 0;
    for (size_t i = 0; i < sheet->gaps_n; i++) {
        const bool left_out = is_without_numbers(sheet, sheet->gaps[i].group);
        n += sheet->gaps[i].reason[0] && left_out;
        shown += sheet->gaps[i].reason[0] && !left_out;
    }
    if (!n)
        return;
    as_html_details(p->out, "more", "%zu %sline%s without a number", n, shown ? "more " : "", n == 1 ? "" : "s");
    as_html_open(p->out, "ul", NULL);
    for (size_t i = 0; i < sheet->gaps_n; i++) {
        const struct as_sheet_gap *gap = &sheet->gaps[i];
        if (!gap->reason[0] || !is_without_numbers(sheet, gap->group))
            continue;
        as_html_open(p->out, "li", NULL);
        as_html_printf(p->out, "%s %s: %s", gap->title, gap->shown, gap->reason);
        as_html_close(p->out, "li");
    }
    as_html_close(p->out, "ul/details");
}

static void not_in_suite(struct as_page *p, const struct as_sheet *sheet)
{
    struct as_buf text = AS_BUF_INIT;
    as_sheet_not_in_suite(sheet, &text);
    if (text.len) {
        as_html_details(p->out, "more", "Not in this suite");
        as_html_text(p->out, "p", NULL, as_buf_get(&text));
        as_html_close(p->out, "details");
    }
    as_buf_finish(&text);
}

static void source(struct as_buf *b, const struct as_sheet_row *row, const char *kind, const struct as_ref *ref)
{
    const char *address = strstr(ref->url, "://"); /* in words: the page links to nothing on the network */
    as_html_open(b, "li", NULL);
    struct as_buf figure = AS_BUF_INIT;
    if (ref == row->published)
        as_sheet_published(row, &figure);
    else
        as_format_value(&figure, row->specified, row->unit);
    as_html_printf(b, "%s %s, %s for %s: %s; %s. %s", row->title, row->label, kind, ref->chip, as_buf_get(&figure),
                   ref->conditions, ref->source);
    b->failed |= figure.failed;
    as_buf_finish(&figure);
    if (address) {
        as_buf_str(b, ", ");
        as_html_text(b, "code", NULL, address + 3);
    }
    as_html_close(b, "li");
}

/* Where the figures that are not the driver's come from. */
static void sources(struct as_page *p, const struct as_sheet *sheet)
{
    struct as_buf *b = p->out;
    bool any = false;
    for (size_t i = 0; i < sheet->n; i++)
        any |= sheet->rows[i].published || sheet->rows[i].specified_by;
    if (!any)
        return;
    as_html_details(b, "more", "Sources of figures");
    as_html_open(b, "ul", NULL);
    for (size_t i = 0; i < sheet->n; i++) {
        const struct as_sheet_row *row = &sheet->rows[i];
        if (row->specified_by && as_sheet_shows_specified(row))
            source(b, row, "specified", row->specified_by);
        if (row->published)
            source(b, row, "published", row->published);
    }
    as_html_close(b, "ul/details");
}

/* What disturbed the device. */
static void sheet_seen(struct as_page *p, const char *device)
{
    struct as_buf text = AS_BUF_INIT;
    as_sheet_seen_text(p->runs, device, &text);
    if (text.len) {
        as_html_open(p->out, "p", "note");
        as_html_text(p->out, "code", NULL, device);
        as_buf_str(p->out, ": ");
        as_buf_html(p->out, as_buf_get(&text));
        as_html_close(p->out, "p");
    }
    as_buf_finish(&text);
}

/* The device's lines over the runs of the machine; NULL: the page shows those of its run. */
static const struct as_device_sheet *joined_sheet(const struct as_page *p, const char *device)
{
    const struct as_machine_runs *m = p->runs[0].machine;
    const struct as_device_sheet *d = m ? as_machine_sheet_device(&m->sheet, device) : NULL;
    return d && d->sheet.n ? d : NULL;
}

/* Is it the first device that rests on one run? */
static bool is_first_of_one_run(const struct as_machine_runs *m, const struct as_device_sheet *device)
{
    bool used[AS_MACHINE_RUNS_MAX];
    for (size_t i = 0; &m->sheet.v[i] != device; i++)
        if (as_machine_runs_used(m, &m->sheet.v[i], used) == 1)
            return false;
    return as_machine_runs_used(m, device, used) == 1;
}

/* joined NULL: the lines are the run's. */
static bool rests_on_several(const struct as_page *p, const struct as_device_sheet *joined)
{
    bool used[AS_MACHINE_RUNS_MAX];
    return joined && as_machine_runs_used(p->runs[0].machine, joined, used) > 1;
}

/* Which of several runs the lines are of. */
static void sheet_runs(struct as_page *p, const struct as_device_sheet *joined)
{
    const struct as_machine_runs *m = p->runs[0].machine;
    bool used[AS_MACHINE_RUNS_MAX];
    const size_t n = as_machine_runs_used(m, joined, used);
    double since = NAN;
    char when[32];
    for (size_t i = m->n; i > 0; i--)
        if (m->v[i - 1].merged != SIZE_MAX && used[m->v[i - 1].merged])
            since = m->v[i - 1].started_at;
    as_format_wall(since, when, sizeof when);
    as_html_open(p->out, "p", "meta");
    as_html_text(p->out, "code", NULL, joined->id);
    as_buf_printf(
        p->out,
        " over %zu runs of this machine since %s, as are map, roofline and what is worth knowing; other curves, "
        "tables and facts are of run %lld. 95%% of further runs lie within the column 'another run'.",
        n, when, (long long)p->runs[0].run.id);
    as_html_close(p->out, "p");
}

/* The page has no column of where another run lies where one run alone would be its evidence. */
static void sheet_assumed(struct as_page *p)
{
    struct as_buf text = AS_BUF_INIT;
    as_machine_runs_assumed(p->runs[0].machine, "± assumes", &text);
    as_html_details(p->out, "more", "± with an assumed scatter between runs");
    as_html_text(p->out, "p", NULL, as_buf_get(&text));
    as_html_close(p->out, "details");
    p->out->failed |= text.failed;
    as_buf_finish(&text);
}

/* Of a page of one run. */
static enum as_status sheet_of(struct as_page *p, const char *device)
{
    const struct as_device_sheet *joined = joined_sheet(p, device);
    struct as_sheet own = {0};
    enum as_status st = joined ? AS_OK : as_sheet_make(p->runs, device, &own, p->err);
    const struct as_sheet *sheet = joined ? &joined->sheet : &own;
    struct as_sheet_entry any;
    if (!st && as_sheet_next(sheet, &(size_t){0}, &(size_t){0}, &any)) {
        sheet_seen(p, device);
        const bool another = rests_on_several(p, joined);
        sheet_head(p, device, sheet, another);
        lines_of_one(p, device, sheet, joined, another);
        as_html_table_end(p->out);
        if (another)
            sheet_runs(p, joined);
        if (joined && is_first_of_one_run(p->runs[0].machine, joined))
            sheet_assumed(p);
        lines_without_numbers(p, sheet);
        not_in_suite(p, sheet);
        sources(p, sheet);
    }
    if (!st)
        st = as_page_main_operations(p, device, sheet);
    as_sheet_finish(&own);
    return st;
}

static bool seen_before(const struct as_page *p, size_t run, const char *device)
{
    for (size_t r = 0; r < run; r++)
        if (as_report_device(&p->runs[r], device))
            return true;
    return false;
}

bool as_page_has_sheets_beside(const struct as_page *p)
{
    bool has[2] = {false, false};
    for (size_t i = 0; p->n == 1 && i < p->runs[0].devices_n; i++)
        has[as_page_is_of_cpu(&p->runs[0].devices[i])] = true;
    return has[0] && has[1];
}

/* The sheets of a part of the devices: NULL of all, else of those that compute on the host's CPUs or of the others. */
static enum as_status sheets_of(struct as_page *p, const bool *cpus)
{
    enum as_status st = AS_OK;
    for (size_t r = 0; r < p->n && !st; r++)
        for (size_t i = 0; i < p->runs[r].devices_n && !st; i++) {
            const struct as_device_info *info = &p->runs[r].devices[i];
            if (seen_before(p, r, info->id) || (cpus && as_page_is_of_cpu(info) != *cpus))
                continue;
            const bool alike = p->n == 1 && as_map_alike_before(&p->runs[r], i) > 0;
            if (alike)
                as_html_details(p->out, "more", "%s (identical device)", info->id);
            st = p->n == 1 ? sheet_of(p, info->id) : as_sheets_beside(p, info->id);
            if (alike)
                as_html_close(p->out, "details");
        }
    return st;
}

/* A heading has something below it. */
static enum as_status sheets_or_none(struct as_page *p, const bool *cpus)
{
    const size_t before = p->out->len;
    const enum as_status st = sheets_of(p, cpus);
    if (!st && p->out->len == before)
        as_html_paragraph(p->out, "lead", "No line of the data sheet was measured.");
    else if (!st && !p->runs[0].machine && !(cpus && !*cpus))
        as_html_paragraph(p->out, "meta", AS_WITHIN_RUN);
    return st;
}

enum as_status as_page_sheets(struct as_page *p)
{
    as_html_part(p->out, p->n == 2, "sheet", "Data sheet", NULL);
    const enum as_status st = sheets_or_none(p, NULL);
    if (p->n > 1)
        as_html_paragraphf(
            p->out, "meta",
            "Ratios are relative to the first run; ≈: inconclusive, the difference may exceed %.4g%% or not. With more "
            "than three runs, only conclusive differences are shown.",
            100 * p->tolerance);
    as_html_part_end(p->out, p->n == 2);
    return st;
}

enum as_status as_page_sheets_of(struct as_page *p, bool cpus)
{
    as_html_section(p->out, cpus ? "sheet" : "sheet-devices", cpus ? "Data sheet of the CPU" : "Data sheet of the GPU",
                    NULL);
    const enum as_status st = sheets_or_none(p, &cpus);
    as_html_section_end(p->out);
    return st;
}
