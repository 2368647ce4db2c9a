/* Data sheets from JSON. A sheet is the base of checks: what cannot be true in it is refused, never left out. */
#include "base/builtin.h"
#include "base/text.h"
#include "report/sheet/machine_sheet.h"
#include "report/sheet/sheet_counts.h"
#include "report/sheet/sheet_export.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 256, LINES_MAX = 1024 };
/* Of the value: how far rounding may put it outside of its interval. */
static const double ROUNDING = 1e-9;
static const double CLOCK_MIN = 1e6, CLOCK_MAX = 1e11;

/* A member that may be absent, of a JSON type, to a text of a fixed size. */
static bool take_text(const json_t *object, const char *member, char *out, size_t size)
{
    const json_t *v = json_object_get(object, member);
    const char *text = json_string_value(v);
    as_copy_text(out, size, text ? text : "");
    return !v || text;
}

/* A number or null; *fault gets what is wrong. */
static double sheet_read_take_number(const json_t *object, const char *member, const char **fault)
{
    const json_t *v = json_object_get(object, member);
    if (v && !json_is_number(v) && !json_is_null(v))
        *fault = member;
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* What is wrong with the numbers of a row, NULL: nothing. */
static const char *numbers_fault(const struct as_sheet_row *row)
{
    const double room = ROUNDING * row->value;
    if (!isfinite(row->value) || row->value <= 0)
        return "'value' must be a number above 0";
    if (isfinite(row->ci.lo) != isfinite(row->ci.hi))
        return "'ci_low' and 'ci_high' must be two numbers or both null";
    if (row->ci.lo > row->ci.hi)
        return "'ci_low' is above 'ci_high'";
    if (row->ci.lo > row->value + room || row->ci.hi < row->value - room)
        return "the interval does not hold 'value'";
    if (row->clock_exponent < 0 || row->clock_exponent > 1)
        return "'clock_exponent' must lie between 0 and 1, or be null";
    return NULL;
}

static enum as_status sheet_read_numbers(const json_t *line, struct as_sheet_row *row, struct as_error *err)
{
    const json_t *wide = json_object_get(line, "wide"), *trials = json_object_get(line, "trials");
    const char *fault = NULL;
    row->value = sheet_read_take_number(line, "value", &fault);
    row->ci.lo = sheet_read_take_number(line, "ci_low", &fault);
    row->ci.hi = sheet_read_take_number(line, "ci_high", &fault);
    if (row->of->kind == AS_KIND_CAPACITY && json_is_null(json_object_get(line, "value")))
        row->value = sqrt(row->ci.lo * row->ci.hi); /* a range */
    row->specified = sheet_read_take_number(line, "specified", &fault);
    row->clock_exponent = sheet_read_take_number(line, "clock_exponent", &fault);
    row->wide = json_is_true(wide);
    row->trials = json_integer_value(trials) > 0 ? (size_t)json_integer_value(trials) : 0;
    if (fault)
        return as_fail(err, AS_FORMAT, "'%s' must be a number", fault);
    if ((wide && !json_is_boolean(wide)) || (trials && (!json_is_integer(trials) || json_integer_value(trials) < 0)))
        return as_fail(err, AS_FORMAT, "'wide' must be true or false, and 'trials' a count");
    fault = numbers_fault(row);
    return fault ? as_fail(err, AS_FORMAT, "%s", fault) : AS_OK;
}

static enum as_status read_row(const json_t *line, const struct as_sheet *before, struct as_sheet_row *row,
                               struct as_error *err)
{
    const char *group = json_string_value(json_object_get(line, "group")),
               *label = json_string_value(json_object_get(line, "quantity")),
               *unit = json_string_value(json_object_get(line, "unit"));
    const struct as_quantity *known = as_quantity_of_line(group, label);
    *row = (struct as_sheet_row){.counted = NAN};
    if (!group || !label)
        return as_fail(err, AS_FORMAT, "a line needs a 'group' and a 'quantity'");
    if (!known || strlen(label) >= sizeof row->label)
        return as_fail(err, AS_FORMAT, "this version has no such line; export the data sheet again with it");
    if (as_sheet_find(before, group, label))
        return as_fail(err, AS_FORMAT, "duplicate line");
    if (!unit || !as_quantity_has_unit(known, unit))
        return as_fail(err, AS_FORMAT, "'unit' does not fit this quantity");
    row->of = known;
    row->group = known->group;
    as_copy_text(row->title, sizeof row->title, row->group);
    as_copy_text(row->label, sizeof row->label, label);
    as_copy_text(row->unit, sizeof row->unit, unit);
    if (!take_text(line, "further", row->remark, sizeof row->remark))
        return as_fail(err, AS_FORMAT, "'further' must be a string");
    return sheet_read_numbers(line, row, err);
}

/* "device 'cpu', line 3 ('Memory' 'read'): ..." */
static enum as_status sheet_read_name_row(const struct as_device_sheet *d, size_t at, const json_t *line,
                                          struct as_error *err)
{
    const char *group = json_string_value(json_object_get(line, "group")),
               *label = json_string_value(json_object_get(line, "quantity"));
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "device '%s', line %zu ('%.40s' '%.60s')", d->id, at + 1, group ? group : "", label ? label : "");
    as_fail_in(err, as_buf_get(&b));
    as_buf_finish(&b);
    return AS_FORMAT;
}

/* "cuda:0": ids of devices are typed, and stand in names. */
static bool is_device_id(const char *id)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:._-";
    return id && id[0] && strlen(id) < sizeof((struct as_device_sheet *)0)->id && !id[strspn(id, allowed)];
}

/* Lines without a number: why they are missing where this sheet is checked. Those of other versions are passed over. */
static enum as_status sheet_read_gaps(const json_t *device, struct as_sheet *s, struct as_error *err)
{
    const json_t *missing = json_object_get(device, "missing");
    const size_t n = json_array_size(missing);
    if ((missing && !json_is_array(missing)) || n > LINES_MAX)
        return as_fail(err, AS_FORMAT, "'missing' must be a list of at most %d lines", LINES_MAX);
    s->gaps = calloc(n + 1, sizeof *s->gaps);
    if (!s->gaps)
        return as_nomem(err, n * sizeof *s->gaps, "a data sheet");
    for (size_t i = 0; i < n; i++) {
        const json_t *line = json_array_get(missing, i);
        struct as_sheet_gap *gap = &s->gaps[s->gaps_n];
        *gap = (struct as_sheet_gap){.undecided = json_is_true(json_object_get(line, "inconclusive"))};
        const char *group = json_string_value(json_object_get(line, "group"));
        if (!take_text(line, "quantity", gap->label, sizeof gap->label) ||
            !take_text(line, "reason", gap->reason, sizeof gap->reason))
            return as_fail(err, AS_FORMAT, "'quantity' and 'reason' of a missing line must be strings");
        gap->of = as_quantity_of_line(group, gap->label);
        if (!gap->of)
            continue;
        gap->group = gap->of->group;
        as_copy_text(gap->title, sizeof gap->title, gap->group);
        as_copy_text(gap->shown, sizeof gap->shown, gap->label);
        s->gaps_n++;
    }
    return AS_OK;
}

/* Counters of links. Those of other versions are passed over. */
static enum as_status sheet_read_counts(const json_t *device, struct as_sheet *s, struct as_error *err)
{
    const json_t *counters = json_object_get(device, "counters");
    for (size_t i = 0; i < json_array_size(counters); i++) {
        const json_t *c = json_array_get(counters, i);
        const char *name = json_string_value(json_object_get(c, "name")), *fault = NULL;
        const struct as_quantity *q = name ? as_link_count_named(name) : NULL;
        const double total = sheet_read_take_number(c, "total", &fault),
                     grown = sheet_read_take_number(c, "grown", &fault);
        if (!name || fault || !(total >= 0) || !(grown >= 0))
            return as_fail(err, AS_FORMAT, "a counter needs a name, and 'total' and 'grown' as counts");
        if (q)
            s->counts[as_link_count_index(q)] = (struct as_link_count){.known = true, .total = total, .grown = grown};
    }
    return counters && !json_is_array(counters) ? as_fail(err, AS_FORMAT, "'counters' must be a list") : AS_OK;
}

static enum as_status sheet_read_device(const json_t *device, struct as_device_sheet *d, struct as_error *err)
{
    const json_t *lines = json_object_get(device, "lines");
    const size_t n = json_array_size(lines);
    const char *id = json_string_value(json_object_get(device, "id"));
    if (!is_device_id(id) || !json_is_array(lines) || n > LINES_MAX ||
        !take_text(device, "name", d->name, sizeof d->name))
        return as_fail(err, AS_FORMAT, "a device needs an id such as 'cuda:0', a name and at most %d lines", LINES_MAX);
    as_copy_text(d->id, sizeof d->id, id);
    d->sheet.rows = calloc(n + 1, sizeof *d->sheet.rows);
    if (!d->sheet.rows)
        return as_nomem(err, n * sizeof *d->sheet.rows, "a data sheet");
    for (size_t i = 0; i < n; i++) {
        const json_t *line = json_array_get(lines, i);
        if (read_row(line, &d->sheet, &d->sheet.rows[i], err))
            return sheet_read_name_row(d, i, line, err);
        d->sheet.n++;
    }
    enum as_status st = sheet_read_gaps(device, &d->sheet, err);
    if (!st)
        st = sheet_read_counts(device, &d->sheet, err);
    return st ? st : as_device_sheet_add_run(d, err);
}

static enum as_status read_devices(const json_t *devices, struct as_machine_sheet *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < json_array_size(devices) && !st; i++) {
        st = sheet_read_device(json_array_get(devices, i), &out->v[out->n++], err);
        for (size_t k = 0; k < i && !st; k++)
            if (strcmp(out->v[k].id, out->v[i].id) == 0)
                st = as_fail(err, AS_FORMAT, "duplicate device '%s'", out->v[i].id);
    }
    return st;
}

static enum as_status read_all(const json_t *root, struct as_machine_sheet *out, struct as_error *err)
{
    const json_t *version = json_object_get(root, "sheet_version"), *devices = json_object_get(root, "devices"),
                 *virtual_machine = json_object_get(root, "virtual_machine");
    if (!json_is_integer(version) || json_integer_value(version) != AS_SHEET_VERSION)
        return as_fail(err, AS_FORMAT, "not a data sheet of version %d, which this build reads", AS_SHEET_VERSION);
    if (!json_is_array(devices) || json_array_size(devices) > DEVICES_MAX)
        return as_fail(err, AS_FORMAT, "'devices' must be a list of at most %d", DEVICES_MAX);
    enum as_status st = as_machine_sheet_reserve(out, json_array_size(devices), err);
    if (st)
        return st;
    if (!take_text(root, "host", out->host, sizeof out->host) ||
        !take_text(root, "suite", out->suite, sizeof out->suite) ||
        !take_text(root, "run", out->run[0], sizeof out->run[0]))
        return as_fail(err, AS_FORMAT, "'host', 'suite' and 'run' must be strings");
    if (virtual_machine && !json_is_boolean(virtual_machine))
        return as_fail(err, AS_FORMAT, "'virtual_machine' must be true or false");
    out->virtual_machine = json_is_true(virtual_machine);
    const char *fault = NULL;
    out->clock_hz = sheet_read_take_number(root, "reference_clock_hz", &fault);
    if (fault || out->clock_hz < CLOCK_MIN || out->clock_hz > CLOCK_MAX)
        return as_fail(err, AS_FORMAT, "'reference_clock_hz' must be a clock in Hz, or null");
    return read_devices(devices, out, err);
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
