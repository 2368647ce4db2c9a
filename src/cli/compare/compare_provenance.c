#include "cli/compare/compare_provenance.h"
#include "base/text.h"
#include "cli/output/ndjson.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

struct sides {
    json_t *provenance[2], *devices[2];
    bool json;
    struct as_buf *out;
};

/* Members of the provenance with their labels. */
static const struct {
    const char *what, *object, *member;
} members[] = {
    {"compiler", "tool", "compiler"},
    {"compiler flags", "tool", "flags"},
    {"kernel", "host", "kernel"},
    {"virtualization", "host", "virtualization"},
    {"clock source", "host", "clocksource"},
    {"CPU", "cpu", "model"},
    {"microcode", "cpu", "microcode"},
    {"governor", "cpu", "governor"},
    {"SMT", "cpu", "smt"},
    {"transparent huge pages", "memory", "thp"},
};

/* NULL and "": not recorded. */
static void difference(const struct sides *s, const char *what, const char *a, const char *b)
{
    const char *text[2] = {a ? a : "", b ? b : ""};
    struct as_buf line = AS_BUF_INIT;
    if (strcmp(text[0], text[1]) == 0)
        return;
    if (s->json) {
        static const char *const sides[] = {"a", "b"};
        as_buf_char(&line, '{');
        as_json_add_text(&line, "differs", what);
        for (int i = 0; i < 2; i++) {
            as_json_add_name(&line, sides[i]);
            if (text[i][0])
                as_buf_json_str(&line, text[i]);
            else
                as_buf_str(&line, "null");
        }
        as_buf_str(&line, "}\n");
    } else {
        as_buf_terminal(&line, what);
        as_buf_str(&line, ": ");
        as_buf_terminal(&line, text[0][0] ? text[0] : "not recorded");
        as_buf_str(&line, ", then ");
        as_buf_terminal(&line, text[1][0] ? text[1] : "not recorded");
        as_buf_char(&line, '\n');
    }
    as_buf_str(s->out, as_buf_get(&line));
    s->out->failed |= line.failed;
    as_buf_finish(&line);
}

static const char *member_of(const json_t *root, const char *object, const char *member)
{
    return json_string_value(json_object_get(json_object_get(root, object), member));
}

static const json_t *compare_provenance_device_of(const json_t *devices, const char *id)
{
    size_t i;
    const json_t *device;
    json_array_foreach((json_t *)devices, i, device)
    {
        const char *name = json_string_value(json_object_get(device, "id"));
        if (name && strcmp(name, id) == 0)
            return device;
    }
    return NULL;
}

/* A device in only one run gives one difference: its presence. */
static void device_difference(const struct sides *s, const char *id, const json_t *a, const json_t *b)
{
    static const char *const names[] = {"name", "driver"};
    struct as_buf what = AS_BUF_INIT;
    if (!a || !b) {
        const char *name = json_string_value(json_object_get(a ? a : b, "name"));
        as_buf_printf(&what, "device %s", id);
        difference(s, as_buf_get(&what), a ? name : "none", a ? "none" : name);
    }
    for (size_t i = 0; a && b && i < sizeof names / sizeof *names; i++) {
        as_buf_clear(&what);
        as_buf_printf(&what, "%s of %s", names[i], id);
        difference(s, as_buf_get(&what), json_string_value(json_object_get(a, names[i])),
                   json_string_value(json_object_get(b, names[i])));
    }
    s->out->failed |= what.failed;
    as_buf_finish(&what);
}

static void device_differences(const struct sides *s)
{
    size_t i;
    const json_t *device;
    for (int side = 0; side < 2; side++) {
        json_array_foreach(s->devices[side], i, device)
        {
            const char *id = json_string_value(json_object_get(device, "id"));
            if (id && (side == 0 || !compare_provenance_device_of(s->devices[0], id)))
                device_difference(s, id, compare_provenance_device_of(s->devices[0], id),
                                  compare_provenance_device_of(s->devices[1], id));
        }
    }
}

static void share_difference(const struct sides *s, const char *what, double a, double b)
{
    struct as_buf x = AS_BUF_INIT, y = AS_BUF_INIT;
    as_format_number(&x, 100 * a, 3);
    as_format_number(&y, 100 * b, 3);
    as_buf_char(&x, '%');
    as_buf_char(&y, '%');
    difference(s, what, as_buf_get(&x), as_buf_get(&y));
    s->out->failed |= x.failed || y.failed;
    as_buf_finish(&x);
    as_buf_finish(&y);
}

static void count_difference(const struct sides *s, const char *what, int a, int b)
{
    char x[16], y[16];
    snprintf(x, sizeof x, "%d", a);
    snprintf(y, sizeof y, "%d", b);
    difference(s, what, x, y);
}

/* NULL for a run without provenance and for invalid JSON. */
static json_t *compare_provenance_parsed(const char *text)
{
    return text ? json_loads(text, 0, NULL) : NULL;
}

enum as_status as_compare_provenance(const struct as_run *a, const struct as_run *b, bool json, struct as_buf *out,
                                     struct as_error *err)
{
    struct sides s = {
        .provenance = {compare_provenance_parsed(a->provenance), compare_provenance_parsed(b->provenance)},
        .devices = {compare_provenance_parsed(a->devices), compare_provenance_parsed(b->devices)},
        .json = json,
        .out = out};
    difference(&s, "tool version", a->tool_version, b->tool_version);
    difference(&s, "tool commit", a->tool_commit, b->tool_commit);
    difference(&s, "host", a->host, b->host);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        difference(&s, members[i].what, member_of(s.provenance[0], members[i].object, members[i].member),
                   member_of(s.provenance[1], members[i].object, members[i].member));
    share_difference(&s, "precision requested", a->precision, b->precision);
    count_difference(&s, "trials requested", a->trials, b->trials);
    device_differences(&s);
    for (int i = 0; i < 2; i++) {
        json_decref(s.provenance[i]);
        json_decref(s.devices[i]);
    }
    return as_buf_check(out, err);
}
