#include "report/sheet_absent.h"

#include "base/text.h"
#include "probe/probe.h"
#include "report/sheet_lines.h"

#include <stdlib.h>
#include <string.h>

/* The probe whose cells a source rests on: its first word, or the first part of a fact's id. */
static const struct as_probe *probe_of(const char *source)
{
    static const char *const others[][2] = {
        {"cache", "latency"}, {"memory", "latency"}, {"arithmetic", "roofline"}, {"listed", "topology"}};
    char name[32];
    const size_t n = strcspn(source, " .|");
    as_copy_text(name, n < sizeof name ? n + 1 : sizeof name, source);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (source[n] == '.' && strcmp(name, others[i][0]) == 0)
            as_copy_text(name, sizeof name, others[i][1]);
    return as_probe_find(name);
}

/* Does the cell have the axes of a source "probe axis=value ..."? What a role or all threads stand for is not looked
 * at. A fact's id names none. */
static bool has_axes(const struct as_cell *c, const char *source)
{
    for (const char *at = strchr(source, ' '); at; at = strchr(at, ' ')) {
        char name[24], value[64];
        const size_t n = strcspn(++at, "= "), m = at[n] == '=' ? strcspn(at + n + 1, " ") : 0;
        as_copy_text(name, n < sizeof name ? n + 1 : sizeof name, at);
        as_copy_text(value, m < sizeof value ? m + 1 : sizeof value, m ? at + n + 1 : "");
        if (value[0] && value[0] != '@' && strcmp(as_axes_text(&c->axes, name), value) != 0)
            return false;
    }
    return true;
}

/* A reason that speaks of the cell comes before those of the plan. */
static int rank(enum as_cell_status status)
{
    static const int ranks[AS_CELL_STATUS_N] = {
        [AS_CELL_REJECTED] = 6, [AS_CELL_FAILED] = 5,  [AS_CELL_CRASHED] = 5,    [AS_CELL_TIMEOUT] = 5,
        [AS_CELL_SKIPPED] = 4,  [AS_CELL_PLANNED] = 3, [AS_CELL_UNSUPPORTED] = 2};
    return ranks[status];
}

static void explain(const struct as_report_run *run, const char *device, const struct as_sheet_line *line, char *out,
                    size_t size)
{
    const struct as_cell *worst = NULL;
    const struct as_probe *probe = NULL;
    bool valid = false;
    for (size_t s = 0; s < AS_SHEET_SOURCES; s++) {
        const char *source = line->from[s];
        const struct as_probe *of = source ? probe_of(source) : NULL;
        probe = probe ? probe : of;
        for (size_t i = 0; i < run->cells_n && of; i++) {
            const struct as_cell *c = &run->cells[i];
            if (strcmp(c->device, device) != 0 || strcmp(c->probe, of->name) != 0 || !has_axes(c, source))
                continue;
            valid |= as_cell_is_valid(c);
            if (!as_cell_is_valid(c) && (!worst || rank(c->status) > rank(worst->status)))
                worst = c;
        }
    }
    struct as_buf b = AS_BUF_INIT;
    if (worst && !valid)
        as_buf_printf(&b, "%s: %s%s%s", worst->probe, as_cell_status_word(worst->status), worst->reason[0] ? ": " : "",
                      worst->reason);
    else if (valid)
        as_buf_printf(&b, "%s: its measurements do not give it", probe->name);
    else
        as_buf_printf(&b, "%s: not measured", probe ? probe->name : "its probe");
    as_copy_text(out, size, as_buf_get(&b));
    as_buf_finish(&b);
}

/* The label as rows have it, "{unit}" in the words of the device. */
static void label_of(const struct as_report_run *run, const char *device, const char *label, char *out, size_t size)
{
    static const char unit[] = "{unit}";
    const char *word = as_info_words(as_report_device(run, device))->compute_unit;
    struct as_buf b = AS_BUF_INIT;
    for (const char *at; (at = strstr(label, unit)); label = at + strlen(unit)) {
        as_buf_add(&b, label, (size_t)(at - label));
        as_buf_str(&b, word);
    }
    as_buf_str(&b, label);
    as_copy_text(out, size, as_buf_get(&b));
    as_buf_finish(&b);
}

enum as_status as_sheet_find_absent(const struct as_report_run *run, struct as_device_sheet *d, struct as_error *err)
{
    size_t cap = 0;
    enum as_status st = AS_OK;
    for (const struct as_sheet_line *line = as_sheet_lines; line->group && !st; line++) {
        struct as_sheet_absent absent = {.group = line->group};
        label_of(run, d->id, line->label, absent.label, sizeof absent.label);
        if (as_sheet_find(&d->sheet, line->group, absent.label))
            continue;
        explain(run, d->id, line, absent.why, sizeof absent.why);
        if (!(st = as_grow((void **)&d->absent, &cap, d->absent_n + 1, sizeof *d->absent, err)))
            d->absent[d->absent_n++] = absent;
    }
    return st;
}
