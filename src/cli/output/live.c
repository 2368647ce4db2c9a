#include "cli/output/live.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "report/model/load.h"
#include "report/sheet/sheet.h"
#include "report/sheet/sheet_export.h"
#include "report/terminal/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LOOK_S = 0.4, SHARE = 0.02;
/* An interval this much narrower is news, and so is a value that moved by so much. */
static const double NARROWER = 0.5, MOVED = 1.2;

static size_t lines_of_table(void)
{
    size_t n = 0;
    while (as_quantities[n].name)
        n++;
    return n;
}

/* "77.5 GB/s ±11%", "32 to 64 KiB", "about 41 GB/s, one trial" */
static void live_number(const struct as_sheet_row *row, bool unicode, char *out, size_t size)
{
    struct as_buf b = AS_BUF_INIT;
    const struct as_number n = as_sheet_number(row);
    struct as_buf precision = AS_BUF_INIT;
    as_number_brief(&n, &b);
    as_number_precision(&n, &precision);
    const char *p = as_buf_get(&precision);
    if (*p == '<')
        as_buf_printf(&b, " within %s", p + 1);
    else if (strchr(p, '%'))
        as_buf_printf(&b, " %s%s", unicode ? "±" : "+-", p);
    else if (*p)
        as_buf_printf(&b, ", %s", p);
    as_copy_text(out, size, as_buf_get(&b));
    as_buf_finish(&b);
    as_buf_finish(&precision);
}

static struct as_live_line *live_find(const struct as_live *l, size_t device, const struct as_quantity *of)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->lines[i].device == device && l->lines[i].of == of)
            return &l->lines[i];
    return NULL;
}

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Did the value move much, or leave the interval that was printed? */
static bool live_moved(double value, double said, struct as_interval ci)
{
    return value < ci.lo || value > ci.hi || value > MOVED * said || MOVED * value < said;
}

static bool is_news(const struct as_live_line *line, const struct as_sheet_row *row, bool last)
{
    if (!line->said)
        return true;
    const double width = row->ci.hi - row->ci.lo, said = line->said_ci.hi - line->said_ci.lo;
    if (last)
        return !is_same(row->value, line->said_value) || !is_same(row->ci.lo, line->said_ci.lo) ||
               !is_same(row->ci.hi, line->said_ci.hi) || row->wide != line->said_wide;
    return width < NARROWER * said || (line->said_wide && !row->wide) ||
           live_moved(row->value, line->said_value, line->said_ci);
}

static void live_json_begin(const struct as_live *l, double elapsed_s, size_t device, const char *change,
                            struct as_buf *json)
{
    as_buf_char(json, '{');
    as_json_add_text(json, "event", "line");
    as_json_add_number(json, "elapsed_s", elapsed_s);
    as_json_add_text(json, "device", l->run.devices[device].id);
    as_json_add_text(json, "change", change);
}

static void live_say_json(const struct as_live *l, const struct as_event *e, const struct as_live_line *line,
                          const struct as_sheet_row *row, struct as_buf *json)
{
    const bool narrower = line->said && row->ci.hi - row->ci.lo <= line->said_ci.hi - line->said_ci.lo;
    live_json_begin(l, e->elapsed_s, line->device, !line->said ? "new" : narrower ? "narrowed" : "moved", json);
    as_sheet_row_json(row, json);
    as_buf_str(json, "}\n");
}

/* "  2.3 s  Memory        read, 1 thread             77.5 GB/s ±11%" */
static void live_say_text(const struct as_live *l, const struct as_event *e, const struct as_live_line *line,
                          struct as_buf *text)
{
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "%5.1f s  ", e->elapsed_s);
    if (l->run.devices_n > 1)
        as_buf_printf(&b, "%-8s  ", l->run.devices[line->device].id);
    as_buf_printf(&b, "%-13s %-26s %s", line->title, line->shown, line->number);
    as_buf_terminal(text, as_buf_get(&b));
    as_buf_char(text, '\n');
    text->failed |= b.failed;
    as_buf_finish(&b);
}

/* A number that turned out to be none: rejected by a later trial, or inconclusive by further cells. */
static void live_withdraw(const struct as_live *l, const struct as_event *e, struct as_live_line *line,
                          struct as_buf *text, struct as_buf *json)
{
    as_copy_text(line->number, sizeof line->number, "withdrawn");
    if (line->listed && text)
        live_say_text(l, e, line, text);
    line->number[0] = '\0';
    line->listed = false;
    if (!line->said)
        return;
    line->said = false;
    if (!json)
        return;
    live_json_begin(l, e->elapsed_s, line->device, "withdrawn", json);
    as_json_add_text(json, "name", line->of->name);
    as_json_add_text(json, "group", line->of->group);
    as_json_add_text(json, "quantity", line->label);
    as_json_add_number(json, "value", NAN);
    as_buf_str(json, "}\n");
}

static void live_take_row(struct as_live *l, const struct as_event *e, struct as_live_line *line,
                          const struct as_sheet_row *row, struct as_buf *text, struct as_buf *json)
{
    as_copy_text(line->title, sizeof line->title, row->title);
    as_copy_text(line->label, sizeof line->label, row->label);
    as_copy_text(line->shown, sizeof line->shown, row->shown);
    live_number(row, l->unicode, line->number, sizeof line->number);
    if (!line->listed || (live_moved(row->value, line->listed_value, line->listed_ci) &&
                          strcmp(line->number, line->listed_number) != 0)) {
        if (text)
            live_say_text(l, e, line, text);
        line->listed = true;
        as_copy_text(line->listed_number, sizeof line->listed_number, line->number);
        line->listed_value = row->value;
        line->listed_ci = row->ci;
    }
    if (!is_news(line, row, e->kind == AS_EVENT_RUN_END))
        return;
    if (json)
        live_say_json(l, e, line, row, json);
    line->said = true;
    line->said_wide = row->wide;
    line->said_value = row->value;
    line->said_ci = row->ci;
}

static enum as_status live_look_at(struct as_live *l, const struct as_event *e, size_t device, struct as_buf *text,
                                   struct as_buf *json, struct as_error *err)
{
    const struct as_quantity_subject s = as_report_subject(&l->run, l->run.devices[device].id);
    struct as_sheet sheet;
    enum as_status st = as_sheet_make(&l->run, l->run.devices[device].id, &sheet, err);
    if (st)
        return st;
    for (const struct as_quantity *q = as_quantities; q->name; q++) {
        struct as_live_line *line = live_find(l, device, q);
        const struct as_sheet_row *row = as_sheet_row_of(&sheet, q->name);
        /* Some points of a curve would give another capacity or latency than all. */
        if (row && line && !line->said && !e->first_done && as_quantity_awaits_cells(&s, q))
            continue;
        if (row && line)
            live_take_row(l, e, line, row, text, json);
        else if (line && line->number[0])
            live_withdraw(l, e, line, text, json);
    }
    as_sheet_finish(&sheet);
    return AS_OK;
}

/* A line for each quantity of each device; most stay without a number. */
static enum as_status live_begin(struct as_live *l, struct as_error *err)
{
    const size_t each = lines_of_table();
    l->lines = calloc(each * l->run.devices_n + 1, sizeof *l->lines);
    if (!l->lines)
        return as_nomem(err, each * l->run.devices_n * sizeof *l->lines, "the data sheet");
    l->n = each * l->run.devices_n;
    for (size_t i = 0; i < l->n; i++)
        l->lines[i] = (struct as_live_line){.device = i / each, .of = &as_quantities[i % each]};
    return AS_OK;
}

enum as_status as_live_event(struct as_live *l, const struct as_event *e, struct as_buf *text, struct as_buf *json,
                             bool *changed, struct as_error *err)
{
    const bool first = e->kind == AS_EVENT_RUN_START;
    *changed = false;
    if (e->cells.n > AS_REPORT_WHOLE_MAX)
        return as_fail(err, AS_UNSUPPORTED, "%zu measurements (the maximum is %d)", e->cells.n, AS_REPORT_WHOLE_MAX);
    if (!e->run || e->cells.n == 0 ||
        !(first || e->kind == AS_EVENT_RUN_END || (e->kind == AS_EVENT_CELL_END && e->elapsed_s >= l->next_at)))
        return AS_OK;
    const double began = as_now();
    enum as_status st = as_report_follow(e->run, e->cells, &l->run, err);
    if (!st && !l->lines)
        st = live_begin(l, err);
    for (size_t i = 0; i < l->run.devices_n && !st && !first; i++)
        st = live_look_at(l, e, i, text, json, err);
    if (!first)
        l->next_at = e->elapsed_s + fmax(LOOK_S, (as_now() - began) / SHARE);
    *changed = !st && !first;
    return st;
}

void as_live_finish(struct as_live *l)
{
    as_report_leave(&l->run);
    free(l->lines);
    l->lines = NULL;
    l->n = 0;
}

/* ---- the block ---- */

/* A block that is being filled. */
struct block {
    struct as_buf *out;
    unsigned width, most, rows, column, widest;
    size_t hidden; /* lines of the sheet beyond its end */
};

static void block_end_line(struct block *b)
{
    as_buf_char(b->out, '\n');
    b->widest = b->column > b->widest ? b->column : b->widest;
    b->column = 0;
    b->rows++;
}

static void block_add(struct block *b, const char *text, unsigned width)
{
    const unsigned left = b->width > b->column ? b->width - b->column : 0;
    as_text_cut(b->out, text, left, 0);
    b->column += width < left ? width : left;
}

/* An item of a group, on the next line if it does not fit on this one. */
static void block_add_item(struct block *b, const struct as_live *l, const struct as_live_line *line, bool first)
{
    enum { MARGIN = 14 };
    struct as_buf raw = AS_BUF_INIT, item = AS_BUF_INIT;
    as_buf_printf(&raw, "%s %s", line->label, line->number);
    as_buf_terminal(&item, as_buf_get(&raw));
    const unsigned width = as_text_width(as_buf_get(&item));
    const char *lead = first ? "" : l->unicode ? " · " : "; ";
    const unsigned lead_width = as_text_width(lead);
    const unsigned margin = b->width > 2 * MARGIN ? MARGIN : 0;
    const bool fits = first || b->column + lead_width + width <= b->width;
    if (!fits && b->rows + 1 >= b->most)
        b->hidden++;
    else {
        if (!fits)
            block_end_line(b);
        else if (!first)
            block_add(b, lead, lead_width);
        if (b->column < margin) {
            as_buf_repeat(b->out, ' ', margin - b->column);
            b->column = margin;
        }
        if (first && b->column > margin)
            block_add(b, " ", 1);
        block_add(b, as_buf_get(&item), width);
    }
    as_buf_finish(&raw);
    as_buf_finish(&item);
}

static void block_add_title(struct block *b, const char *title)
{
    struct as_buf safe = AS_BUF_INIT;
    if (b->column)
        block_end_line(b);
    as_buf_terminal(&safe, title);
    block_add(b, as_buf_get(&safe), as_text_width(as_buf_get(&safe)));
    as_buf_finish(&safe);
}

static void block_add_device(struct block *b, const struct as_device_info *info)
{
    struct as_buf name = AS_BUF_INIT;
    const char *title = as_info_title(info);
    as_buf_printf(&name, "%s%s%s", info->id, title[0] ? ": " : "", title);
    block_add_title(b, as_buf_get(&name));
    block_end_line(b);
    as_buf_finish(&name);
}

struct as_live_size as_live_block(const struct as_live *l, unsigned width, unsigned most, struct as_buf *out)
{
    struct block b = {.out = out, .width = width, .most = most};
    const struct as_live_line *last = NULL;
    for (size_t i = 0; i < l->n; i++) {
        const struct as_live_line *line = &l->lines[i];
        if (!line->number[0])
            continue;
        const bool of_device = last && last->device == line->device;
        const bool of_group = of_device && strcmp(last->title, line->title) == 0;
        last = line;
        if (b.hidden || (!of_group && b.rows + (b.column > 0) + (of_device ? 1 : 2) > most)) {
            b.hidden++;
            continue;
        }
        if (!of_device)
            block_add_device(&b, &l->run.devices[line->device]);
        if (!of_group)
            block_add_title(&b, line->title);
        block_add_item(&b, l, line, !of_group);
    }
    if (b.column)
        block_end_line(&b);
    return (struct as_live_size){b.rows, b.widest, b.hidden};
}
