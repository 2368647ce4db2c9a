/* Identical GPUs below the data sheet of the first: the lines in which another differs from it. */
#include "base/text.h"
#include "model/number.h"
#include "report/sheet/sheet_header.h"
#include "report/terminal/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As 'assay fleet' has it: deviations up to this share do not count. */
static const double IGNORED = 0.01;
/* Probability that a group of equal GPUs has any line listed. */
static const double FALSE_DIFFERENCES = 0.05;

struct alike_entry {
    const struct as_sheet_row *row;
    const struct as_sheet_gap *gap; /* both NULL: the device has no such line */
    unsigned df;                    /* of the row's interval */
};

/* One line of all devices. group: 0 agrees with the first device; devices with equal numbers agree with each other. */
struct alike_line {
    struct alike_entry of[AS_TEXT_ALIKE_MAX];
    size_t group[AS_TEXT_ALIKE_MAX], groups;
};

static struct alike_entry entry_of(const struct as_device_sheet *d, const struct as_quantity *q)
{
    const struct as_sheet *s = &d->sheet;
    for (size_t i = 0; i < s->n; i++)
        if (s->rows[i].of == q)
            return (struct alike_entry){.row = &s->rows[i],
                                        .df = d->runs ? d->runs[i].df : as_trials_df(s->rows[i].trials)};
    for (size_t i = 0; i < s->gaps_n; i++)
        if (s->gaps[i].of == q && s->gaps[i].reason[0])
            return (struct alike_entry){.gap = &s->gaps[i]};
    return (struct alike_entry){0};
}

/* False: no device has the line. */
static bool fill_line(const struct as_text_sheet *const *v, size_t n, const struct as_quantity *q,
                      struct alike_line *out)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        out->of[i] = entry_of(v[i]->of, q);
        any |= out->of[i].row || out->of[i].gap;
    }
    return any;
}

static bool is_number_alike(const struct alike_entry *a, const struct alike_entry *b, double confidence)
{
    const struct as_sheet_row *x = a->row, *y = b->row;
    const struct as_estimated from = {x->value, x->ci}, to = {y->value, y->ci};
    struct as_comparison c;
    if (strcmp(x->unit, y->unit) != 0)
        return false;
    if (x->of->kind == AS_KIND_CAPACITY && isfinite(x->ci.lo) && isfinite(y->ci.lo))
        return x->ci.lo <= y->ci.hi && y->ci.lo <= x->ci.hi;
    as_compare_numbers(&from, &to, a->df < b->df ? a->df : b->df, confidence, as_quantity_lower_is_better(x->of),
                       IGNORED, &c);
    return c.verdict == AS_SAME || c.verdict == AS_CANNOT_TELL;
}

/* "rejected" of "rejected: checksum": of two devices without a number the rest may differ in counts. */
static bool is_reason_alike(const char *a, const char *b)
{
    const size_t n = strcspn(a, ":;");
    return n == strcspn(b, ":;") && strncmp(a, b, n) == 0;
}

static bool is_entry_alike(const struct alike_entry *a, const struct alike_entry *b, double confidence)
{
    if (a->row && b->row)
        return is_number_alike(a, b, confidence);
    if (a->gap && b->gap)
        return is_reason_alike(a->gap->reason, b->gap->reason);
    return !a->row && !b->row;
}

static void group_line(struct alike_line *line, size_t n, double confidence)
{
    line->groups = 0;
    for (size_t i = 1; i < n; i++) {
        line->group[i] = is_entry_alike(&line->of[0], &line->of[i], confidence) ? 0 : SIZE_MAX;
        for (size_t k = 1; k < i && line->group[i] == SIZE_MAX; k++)
            if (line->group[k] && is_entry_alike(&line->of[k], &line->of[i], confidence))
                line->group[i] = line->group[k];
        if (line->group[i] == SIZE_MAX)
            line->group[i] = ++line->groups;
    }
}

/* "cuda:1, cuda:3 to cuda:7" */
static void list_devices(const struct as_text_sheet *const *v, const bool *listed, size_t n, struct as_buf *out)
{
    const char *lead = "";
    for (size_t i = 1; i < n; i++) {
        size_t last = i;
        if (!listed[i])
            continue;
        while (last + 1 < n && listed[last + 1])
            last++;
        as_buf_printf(out, "%s%s", lead, v[i]->of->id);
        if (last > i)
            as_buf_printf(out, "%s%s", last > i + 1 ? " to " : ", ", v[last]->of->id);
        lead = ", ";
        i = last;
    }
}

static void add_number(struct as_table *t, const struct alike_entry *e, enum as_paint paint)
{
    struct as_buf text = AS_BUF_INIT;
    struct as_number n;
    if (e->row)
        n = as_sheet_number(e->row);
    if (e->row)
        as_number_brief(&n, &text);
    as_table_add(t, e->row ? as_buf_get(&text) : "-", e->row ? paint : AS_PAINT_DIM);
    as_buf_clear(&text);
    if (e->row)
        as_number_precision(&n, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_finish(&text);
}

/* Of several devices a range that holds their intervals. */
static void add_range(struct as_table *t, const struct alike_line *line, const bool *listed, size_t n)
{
    struct as_interval all = {INFINITY, -INFINITY};
    struct as_buf text = AS_BUF_INIT;
    const char *unit = "";
    for (size_t i = 1; i < n; i++)
        if (listed[i]) {
            const struct as_sheet_row *r = line->of[i].row;
            all.lo = fmin(all.lo, isfinite(r->ci.lo) ? r->ci.lo : r->value);
            all.hi = fmax(all.hi, isfinite(r->ci.hi) ? r->ci.hi : r->value);
            unit = r->unit;
        }
    as_format_range(&text, all.lo, all.hi, NAN, unit, 3);
    as_table_add(t, as_buf_get(&text), AS_PAINT_STRONG);
    as_table_add(t, "", AS_PAINT_NONE);
    as_buf_finish(&text);
}

/* Devices of a group in one row. title: the group of lines, "" as above. */
static void add_group(struct as_table *t, const struct as_text_sheet *const *v, const struct alike_line *line,
                      size_t group, size_t n, const char *title)
{
    bool listed[AS_TEXT_ALIKE_MAX] = {false};
    struct as_buf text = AS_BUF_INIT, names = AS_BUF_INIT;
    size_t first = 0, devices = 0;
    for (size_t i = n; i-- > 1;)
        if (line->group[i] == group) {
            listed[i] = true;
            first = i;
            devices++;
        }
    const struct alike_entry *e = &line->of[first], *own = &line->of[0], *named = e->row || e->gap ? e : own;
    list_devices(v, listed, n, &names);
    as_table_add(t, title, AS_PAINT_STRONG);
    as_table_add(t, named->row ? named->row->shown : named->gap->shown, AS_PAINT_NONE);
    as_table_add(t, as_buf_get(&names), AS_PAINT_NONE);
    if (e->row && devices > 1)
        add_range(t, line, listed, n);
    else
        add_number(t, e, AS_PAINT_STRONG);
    add_number(t, own, AS_PAINT_NONE);
    if (!e->row)
        as_buf_printf(&text, "%s: %s", as_buf_get(&names), e->gap ? e->gap->reason : "not measured");
    if (!own->row)
        as_buf_printf(&text, "%s%s: %s", text.len ? "; " : "", v[0]->of->id,
                      own->gap ? own->gap->reason : "not measured");
    as_table_add(t, as_buf_get(&text), AS_PAINT_DIM);
    as_buf_finish(&names);
    as_buf_finish(&text);
}

static const char *title_of(const struct alike_line *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (line->of[i].row || line->of[i].gap)
            return line->of[i].row ? line->of[i].row->title : line->of[i].gap->title;
    return "";
}

/* How many lines there are, and in how many all devices are as the first. */
struct alike_count {
    size_t lines, agree;
};

static struct alike_count add_lines(struct as_table *t, const struct as_text_sheet *const *v, size_t n,
                                    double confidence)
{
    struct alike_count count = {0, 0};
    struct alike_line line;
    const char *above = "";
    for (const struct as_quantity *q = as_quantities; q->name; q++) {
        if (q->beside || !fill_line(v, n, q, &line))
            continue;
        group_line(&line, n, confidence);
        count.lines++;
        count.agree += line.groups == 0;
        for (size_t g = 1; g <= line.groups; g++) {
            const char *title = title_of(&line, n);
            add_group(t, v, &line, g, n, strcmp(title, above) == 0 ? "" : title);
            above = title;
        }
    }
    return count;
}

/* Numbers that are compared with those of the first device. */
static size_t count_compared(const struct as_text_sheet *const *v, size_t n)
{
    struct alike_line line;
    size_t compared = 0;
    for (const struct as_quantity *q = as_quantities; q->name; q++)
        for (size_t i = 1; !q->beside && fill_line(v, n, q, &line) && i < n; i++)
            compared += line.of[0].row && line.of[i].row;
    return compared;
}

static void write_head(const struct as_report_run *run, const struct as_text_sheet *const *v, size_t n,
                       struct alike_count count, const struct as_table_style *style, struct as_buf *out)
{
    bool all[AS_TEXT_ALIKE_MAX];
    struct as_buf text = AS_BUF_INIT, head = AS_BUF_INIT;
    memset(all, 1, sizeof all);
    list_devices(v, all, n, &text);
    as_buf_str(&text, ": ");
    as_sheet_device_text(run, v[0]->of->id, &text);
    const size_t differ = count.lines - count.agree;
    if (differ)
        as_buf_printf(&text, ", %zu of %zu line%s differ%s from %s", differ, count.lines, count.lines == 1 ? "" : "s",
                      differ == 1 ? "s" : "", v[0]->of->id);
    else
        as_buf_printf(&text, ", no line differs from %s (%zu compared)", v[0]->of->id, count.lines);
    as_buf_terminal(&head, as_buf_get(&text));
    as_buf_char(out, '\n');
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_text_fill(out, as_buf_get(&head), style->width, 0, 0);
    as_paint_off(out, AS_PAINT_STRONG, style);
    out->failed |= text.failed || head.failed;
    as_buf_finish(&text);
    as_buf_finish(&head);
}

/* What is not as of the first device: driver, power limit, link; and what disturbed each. */
static void write_states(const struct as_report_run *run, const struct as_text_sheet *const *v, size_t n,
                         const struct as_table_style *style, struct as_buf *out)
{
    const char *separator = style->unicode ? " · " : ", ";
    struct as_buf first = AS_BUF_INIT, own = AS_BUF_INIT;
    as_sheet_about_text(run, v[0]->of->id, separator, &first);
    for (size_t i = 1; i < n; i++) {
        char lead[48];
        snprintf(lead, sizeof lead, "%s: ", v[i]->of->id);
        as_buf_clear(&own);
        as_sheet_about_text(run, v[i]->of->id, separator, &own);
        const bool differs = strcmp(as_buf_get(&own), as_buf_get(&first)) != 0;
        if (!differs)
            as_buf_clear(&own);
        as_buf_printf(&own, "%s%s", own.len && v[i]->seen[0] ? "; " : "", v[i]->seen);
        if (own.len)
            as_text_line(out, lead, as_buf_get(&own), 2, 0, style);
    }
    out->failed |= first.failed || own.failed;
    as_buf_finish(&first);
    as_buf_finish(&own);
}

enum as_status as_text_alike(const struct as_report_run *run, const struct as_text_sheet *const *v, size_t n,
                             const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    char first[40];
    struct as_table t;
    snprintf(first, sizeof first, ">%s", v[0]->of->id);
    const char *pm = style->unicode ? "?>±" : "?>+-";
    const char *heads[] = {"", "", "", ">measured", pm, first, pm, "/", NULL};
    as_table_init(&t, heads);
    const double confidence = 1 - FALSE_DIFFERENCES / (double)(count_compared(v, n) + 1);
    const struct alike_count count = add_lines(&t, v, n, confidence);
    write_head(run, v, n, count, style, out);
    write_states(run, v, n, style, out);
    enum as_status st = count.agree < count.lines ? as_table_write(&t, style, out, err) : AS_OK;
    as_table_finish(&t);
    struct as_buf line = AS_BUF_INIT;
    as_buf_printf(&line, "%s in full: assay show ", n > 2 ? "Each" : v[1]->of->id);
    if (!v[0]->of->runs)
        as_buf_printf(&line, "%lld ", (long long)run->run.id);
    as_buf_printf(&line, "--device %s", n > 2 ? AS_TEXT_EVERY : v[1]->of->id);
    as_buf_str(out, "  ");
    as_text_fill(out, as_buf_get(&line), style->width, 2, 2);
    as_buf_finish(&line);
    return st ? st : as_buf_check(out, err);
}
