/* The data sheets of several runs beside each other: one table per device, with a column per run that has it. */
#include "report/page/markup.h"
#include "report/page/page.h"
#include "report/page/sheet_cells.h"
#include "report/sheet/sheet.h"
#include "report/sheet/sheet_header.h"

#include <stdlib.h>
#include <string.h>

/* With more runs a column has only the number, and the ratio where it differs. */
enum { RUNS_WIDE = 3 };

struct columns {
    const char *device;
    struct as_sheet *sheets; /* owned: of each column */
    size_t *run;             /* owned: whose it is; in order */
    size_t n;
};

static void finish_columns(struct columns *c)
{
    for (size_t i = 0; i < c->n; i++)
        as_sheet_finish(&c->sheets[i]);
    free(c->sheets);
    free(c->run);
}

static enum as_status find_columns(struct as_page *p, struct columns *c)
{
    c->sheets = calloc(p->n, sizeof *c->sheets);
    c->run = calloc(p->n, sizeof *c->run);
    enum as_status st = c->sheets && c->run ? AS_OK : as_nomem(p->err, p->n * sizeof *c->sheets, "data sheets");
    for (size_t r = 0; r < p->n && !st; r++) {
        struct as_sheet *sheet = &c->sheets[c->n];
        if (!as_report_device(&p->runs[r], c->device))
            continue;
        st = as_sheet_make(&p->runs[r], c->device, sheet, p->err);
        if (!st && sheet->n)
            c->run[c->n++] = r;
        else
            as_sheet_finish(sheet);
    }
    return st;
}

/* The line that follows one in the order of the table (NULL: the first), of the first run that has it; NULL: none. */
static const struct as_sheet_row *next_line(const struct columns *c, const struct as_quantity *after)
{
    const struct as_sheet_row *next = NULL;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->sheets[i].n; k++) {
            const struct as_sheet_row *row = &c->sheets[i].rows[k];
            if ((!after || row->of > after) && (!next || row->of < next->of))
                next = row;
        }
    return next;
}

/* The sheet's comparison with the first run; NULL: of that one, or it lacks the device. */
static const struct as_check *check_of(const struct as_page *p, const struct columns *c, size_t column)
{
    return column && c->run[0] == 0 ? &p->against[c->run[column] - 1].sheets.check : NULL;
}

/* The names that the runs have for the device, each once. */
static void write_names(struct as_page *p, const struct columns *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const char *name = as_sheet_device_name(&p->runs[c->run[i]], c->device);
        struct as_buf text = AS_BUF_INIT;
        size_t before = 0;
        while (strcmp(as_sheet_device_name(&p->runs[c->run[before]], c->device), name) != 0)
            before++;
        if (before < i || !name[0])
            continue;
        as_sheet_device_text(&p->runs[c->run[i]], c->device, &text);
        as_buf_str(p->out, i ? ", " : " ");
        as_buf_html(p->out, as_buf_get(&text));
        as_buf_finish(&text);
    }
}

static void write_head(struct as_page *p, const struct columns *c)
{
    struct as_buf *b = p->out;
    as_html_region(b, "scroll whole", c->n > RUNS_WIDE ? "sheet runs" : "sheet", "Data sheets");
    as_html_open(b, "caption", NULL);
    as_html_text(b, "code", NULL, c->device);
    write_names(p, c);
    as_html_close(b, "caption");
    as_html_heads(b);
    as_html_head(b, "");
    as_html_head(b, "<quantity");
    for (size_t i = 0; i < c->n; i++) {
        as_html_head(b, "");
        as_page_run_name(b, &p->runs[c->run[i]].run);
        if (c->n <= RUNS_WIDE)
            as_html_head(b, "±");
        if (c->n <= RUNS_WIDE && check_of(p, c, i))
            as_html_head(b, "ratio");
    }
    as_buf_char(b, '\n');
}

static void write_line(struct as_page *p, const struct columns *c, const struct as_sheet_row *row, bool first)
{
    struct as_buf *b = p->out;
    as_html_row(b, first ? "first" : NULL, first ? row->title : "");
    as_html_cell(b, "l", row->shown);
    for (size_t i = 0; i < c->n; i++) {
        const struct as_sheet_row *own = as_sheet_find(&c->sheets[i], row->group, row->label);
        const struct as_check *check = check_of(p, c, i);
        if (c->n > RUNS_WIDE)
            as_sheet_run_cell(b, c->device, own, check);
        else {
            as_sheet_value_cells(b, c->device, own, own && own->cell);
            if (check)
                as_sheet_ratio_cell(b, check, c->device, row);
        }
    }
    as_buf_char(b, '\n');
}

static void write_table(struct as_page *p, const struct columns *c)
{
    const char *group = "";
    write_head(p, c);
    for (const struct as_sheet_row *row = next_line(c, NULL); row; row = next_line(c, row->of)) {
        const bool first = strcmp(group, row->group) != 0;
        if (first)
            as_sheet_open_group(p->out, row->group);
        write_line(p, c, row, first);
        group = row->group;
    }
    as_html_table_end(p->out);
}

/* What disturbed the device in each run. */
static void write_seen(struct as_page *p, const struct columns *c)
{
    struct as_buf text = AS_BUF_INIT;
    bool any = false;
    for (size_t i = 0; i < c->n; i++) {
        as_buf_clear(&text);
        as_sheet_seen_text(&p->runs[c->run[i]], c->device, &text);
        if (!text.len)
            continue;
        if (!any)
            as_html_details(p->out, "more", "What disturbed `%s`", c->device);
        any = true;
        as_html_open(p->out, "p", "note");
        as_page_run_name(p->out, &p->runs[c->run[i]].run);
        as_buf_str(p->out, ": ");
        as_buf_html(p->out, as_buf_get(&text));
        as_html_close(p->out, "p");
    }
    if (any)
        as_html_close(p->out, "details");
    p->out->failed |= text.failed;
    as_buf_finish(&text);
}

/* A device that only one run has is folded: there is nothing to compare. */
enum as_status as_sheets_beside(struct as_page *p, const char *device)
{
    struct columns c = {.device = device};
    const enum as_status st = find_columns(p, &c);
    if (!st && c.n) {
        if (c.n == 1)
            as_html_details(p->out, "more", "%s, only in run %lld", device, (long long)p->runs[c.run[0]].run.id);
        write_table(p, &c);
        write_seen(p, &c);
        if (c.n == 1)
            as_html_close(p->out, "details");
    }
    finish_columns(&c);
    return st;
}
