#include "report/machine_sheet.h"

#include "base/builtin.h"
#include "base/text.h"
#include "report/sheet_export.h"
#include "report/sheet_lines.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 256, LINES_MAX = 1024 };

void as_machine_sheet_finish(struct as_machine_sheet *m)
{
    for (size_t i = 0; i < m->n; i++) {
        as_sheet_finish(&m->v[i].sheet);
        free(m->v[i].runs);
    }
    free(m->v);
    free(m->run);
    *m = (struct as_machine_sheet){0};
}

static enum as_status make_room(struct as_machine_sheet *m, size_t devices, struct as_error *err)
{
    m->v = calloc(devices + 1, sizeof *m->v);
    m->run = calloc(AS_MACHINE_RUNS_MAX, sizeof *m->run);
    m->runs = 1;
    return m->v && m->run ? AS_OK : as_nomem(err, devices * sizeof *m->v, "data sheets");
}

/* Every row is of one run. */
static enum as_status count_runs(struct as_device_sheet *d, struct as_error *err)
{
    d->runs = calloc(d->sheet.n + 1, sizeof *d->runs);
    for (size_t i = 0; d->runs && i < d->sheet.n; i++)
        d->runs[i] = 1;
    return d->runs ? AS_OK : as_nomem(err, d->sheet.n * sizeof *d->runs, "a data sheet");
}

static void take_text(const json_t *object, const char *member, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(object, member));
    as_copy_text(out, size, text ? text : "");
}

static bool is_virtual(const struct as_run *run)
{
    json_t *root = run->provenance ? json_loads(run->provenance, 0, NULL) : NULL;
    const char *text = json_string_value(json_object_get(json_object_get(root, "host"), "virtualization"));
    const bool is = text && strstr(text, "virtual machine");
    json_decref(root);
    return is;
}

enum as_status as_machine_sheet_make(const struct as_report_run *run, struct as_machine_sheet *out,
                                     struct as_error *err)
{
    *out = (struct as_machine_sheet){.n = 0};
    as_copy_text(out->host, sizeof out->host, run->run.host);
    as_copy_text(out->suite, sizeof out->suite, run->run.suite);
    out->virtual_machine = is_virtual(&run->run);
    enum as_status st = make_room(out, run->devices_n, err);
    if (!st)
        as_copy_text(out->run[0], sizeof out->run[0], run->run.uuid);
    for (size_t i = 0; i < run->devices_n && !st; i++) {
        struct as_device_sheet *d = &out->v[out->n];
        as_copy_text(d->id, sizeof d->id, run->devices[i].id);
        as_copy_text(d->name, sizeof d->name, run->devices[i].name);
        as_copy_text(d->bus_id, sizeof d->bus_id, run->devices[i].bus_id);
        if (!(st = as_sheet_make(run, run->devices[i].id, &d->sheet, err))) {
            out->n++;
            st = count_runs(d, err);
        }
    }
    if (st)
        as_machine_sheet_finish(out);
    return st;
}

/* ---- several runs ---- */

/* The source sheet owns its figures: a copied pointer would dangle. */
static enum as_status append_row(struct as_device_sheet *d, const struct as_sheet_row *row, size_t runs,
                                 struct as_error *err)
{
    struct as_sheet *s = &d->sheet;
    struct as_sheet_row *rows = realloc(s->rows, (s->n + 1) * sizeof *rows);
    if (rows)
        s->rows = rows;
    size_t *counts = realloc(d->runs, (s->n + 1) * sizeof *counts);
    if (counts)
        d->runs = counts;
    if (!rows || !counts)
        return as_nomem(err, (s->n + 1) * sizeof *rows, "a data sheet");
    counts[s->n] = runs;
    rows[s->n] = *row;
    rows[s->n].specified_by = rows[s->n].published = NULL;
    s->n++;
    return AS_OK;
}

/* a and b: runs that each rests on */
static void merge_row(struct as_sheet_row *old, size_t a, const struct as_sheet_row *row, size_t b)
{
    const double m = (double)a, n = (double)b;
    old->value = old->value > 0 && row->value > 0 ? exp((m * log(old->value) + n * log(row->value)) / (m + n))
                                                  : (m * old->value + n * row->value) / (m + n);
    const bool known = isfinite(old->ci.lo) && isfinite(row->ci.lo);
    old->ci = known ? (struct as_interval){fmin(old->ci.lo, row->ci.lo), fmax(old->ci.hi, row->ci.hi)}
                    : (struct as_interval){NAN, NAN};
    old->wide |= row->wide;
    old->trials = old->trials && row->trials ? old->trials + row->trials : 0;
}

static enum as_status merge_device(struct as_machine_sheet *into, const struct as_device_sheet *d, struct as_error *err)
{
    struct as_device_sheet *own = NULL;
    for (size_t i = 0; i < into->n && !own; i++)
        own = strcmp(into->v[i].id, d->id) == 0 ? &into->v[i] : NULL;
    if (!own) {
        struct as_device_sheet *v = realloc(into->v, (into->n + 1) * sizeof *v);
        if (!v)
            return as_nomem(err, (into->n + 1) * sizeof *v, "data sheets");
        into->v = v;
        own = &v[into->n++];
        memset(own, 0, sizeof *own);
        as_copy_text(own->id, sizeof own->id, d->id);
        as_copy_text(own->name, sizeof own->name, d->name);
    }
    enum as_status st = AS_OK;
    for (size_t i = 0; i < d->sheet.n && !st; i++) {
        const struct as_sheet_row *row = &d->sheet.rows[i];
        const struct as_sheet_row *found = as_sheet_find(&own->sheet, row->group, row->label);
        const size_t at = found ? (size_t)(found - own->sheet.rows) : 0;
        if (!found)
            st = append_row(own, row, d->runs[i], err);
        else if (strcmp(found->unit, row->unit) == 0) {
            merge_row(&own->sheet.rows[at], own->runs[at], row, d->runs[i]);
            own->runs[at] += d->runs[i];
        }
    }
    return st;
}

static bool has_run(const struct as_machine_sheet *m, const char *uuid)
{
    for (size_t i = 0; uuid[0] && i < m->runs; i++)
        if (strcmp(m->run[i], uuid) == 0)
            return true;
    return false;
}

enum as_status as_machine_sheet_merge(struct as_machine_sheet *into, const struct as_machine_sheet *run,
                                      struct as_error *err)
{
    enum as_status st = AS_OK;
    if (into->runs + run->runs > AS_MACHINE_RUNS_MAX)
        return as_fail(err, AS_USAGE, "at most %d runs count as one", AS_MACHINE_RUNS_MAX);
    for (size_t i = 0; i < run->runs; i++)
        if (has_run(into, run->run[i]))
            return as_fail(err, AS_USAGE, "run %s is named twice", run->run[i]);
    for (size_t i = 0; i < run->n && !st; i++)
        st = merge_device(into, &run->v[i], err);
    for (size_t i = 0; i < run->runs; i++)
        as_copy_text(into->run[into->runs + i], sizeof into->run[0], run->run[i]);
    into->runs += run->runs;
    into->virtual_machine |= run->virtual_machine;
    return st;
}

/* ---- from JSON ---- */

static double number(const json_t *object, const char *member)
{
    const json_t *v = json_object_get(object, member);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* The group as the table writes it; NULL where it has none of this name. */
static const char *known_group(const char *name)
{
    for (const struct as_sheet_line *line = as_sheet_lines; line->group && name; line++)
        if (strcmp(line->group, name) == 0)
            return line->group;
    return NULL;
}

static bool read_row(const json_t *line, struct as_sheet_row *row)
{
    *row = (struct as_sheet_row){.group = known_group(json_string_value(json_object_get(line, "group"))),
                                 .value = number(line, "value"),
                                 .ci = {number(line, "ci_low"), number(line, "ci_high")},
                                 .wide = json_is_true(json_object_get(line, "wide")),
                                 .trials = json_integer_value(json_object_get(line, "trials")) > 0
                                               ? (size_t)json_integer_value(json_object_get(line, "trials"))
                                               : 0,
                                 .specified = number(line, "specified")};
    as_copy_text(row->title, sizeof row->title, row->group ? row->group : "");
    take_text(line, "quantity", row->label, sizeof row->label);
    take_text(line, "unit", row->unit, sizeof row->unit);
    take_text(line, "further", row->remark, sizeof row->remark);
    return row->group && row->label[0] && isfinite(row->value);
}

static enum as_status read_device(const json_t *device, struct as_device_sheet *d, struct as_error *err)
{
    const json_t *lines = json_object_get(device, "lines");
    const size_t n = json_array_size(lines);
    take_text(device, "id", d->id, sizeof d->id);
    take_text(device, "name", d->name, sizeof d->name);
    if (!d->id[0] || !json_is_array(lines) || n > LINES_MAX)
        return as_fail(err, AS_FORMAT, "a device needs an id and at most %d lines", LINES_MAX);
    d->sheet.rows = calloc(n + 1, sizeof *d->sheet.rows);
    if (!d->sheet.rows)
        return as_nomem(err, n * sizeof *d->sheet.rows, "a data sheet");
    for (size_t i = 0; i < n; i++)
        d->sheet.n += read_row(json_array_get(lines, i), &d->sheet.rows[d->sheet.n]);
    return count_runs(d, err);
}

static enum as_status read_all(const json_t *root, struct as_machine_sheet *out, struct as_error *err)
{
    const json_t *version = json_object_get(root, "sheet_version"), *devices = json_object_get(root, "devices");
    if (!json_is_integer(version) || json_integer_value(version) != AS_SHEET_VERSION)
        return as_fail(err, AS_FORMAT, "not a data sheet of version %d, which this build reads", AS_SHEET_VERSION);
    if (!json_is_array(devices) || json_array_size(devices) > DEVICES_MAX)
        return as_fail(err, AS_FORMAT, "'devices' must be a list of at most %d", DEVICES_MAX);
    take_text(root, "host", out->host, sizeof out->host);
    take_text(root, "suite", out->suite, sizeof out->suite);
    out->virtual_machine = json_is_true(json_object_get(root, "virtual_machine"));
    enum as_status st = make_room(out, json_array_size(devices), err);
    if (!st)
        take_text(root, "run", out->run[0], sizeof out->run[0]);
    for (size_t i = 0; i < json_array_size(devices) && !st; i++)
        st = read_device(json_array_get(devices, i), &out->v[out->n++], err);
    return st;
}

extern const struct as_builtin_text as_machine_texts[]; /* ends with a NULL name */

const char *as_machine_json(const char *name)
{
    for (size_t i = 0; as_machine_texts[i].name; i++)
        if (strcmp(as_machine_texts[i].name, name) == 0)
            return as_machine_texts[i].text;
    return NULL;
}

bool as_machine_sheet_is(const char *text, size_t len)
{
    json_t *root = json_loadb(text, len, 0, NULL);
    const bool is = json_object_get(root, "sheet_version") != NULL;
    json_decref(root);
    return is;
}

enum as_status as_machine_sheet_read(const char *text, size_t len, struct as_machine_sheet *out, struct as_error *err)
{
    json_error_t fault;
    *out = (struct as_machine_sheet){0};
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &fault);
    enum as_status st =
        root ? read_all(root, out, err) : as_fail(err, AS_FORMAT, "line %d: %s", fault.line, fault.text);
    json_decref(root);
    if (st)
        as_machine_sheet_finish(out);
    return st;
}
