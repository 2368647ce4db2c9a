#include "refs/refs.h"

#include "base/builtin.h"
#include "base/json.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_MAX = 1 << 20,
    FIGURES_MAX = 4096,
    COLUMNS = 12,  /* of either layout */
    NAMES_MAX = 64 /* names searched for a similar one */
};

extern const struct as_builtin_text as_refs_texts[]; /* ends with a NULL name */

struct column;
struct reader {
    const char *name, *at, *end;
    size_t line;
    struct as_error *err;
    const struct column *columns; /* of the layout that the header tells */
};

static enum as_status damaged(const struct reader *r, const char *what, const char *subject)
{
    return as_fail(r->err, AS_FORMAT, "references '%s', line %zu: %s%s%s%s", r->name, r->line, what,
                   subject ? " '" : "", subject ? subject : "", subject ? "'" : "");
}

/* The rest of a field that began with a quote; doubled quotes are one. */
static enum as_status quoted(struct reader *r, struct as_buf *out)
{
    for (r->at++; r->at < r->end; r->at++) {
        if ((unsigned char)*r->at < ' ')
            return damaged(r, "a control character, or a quoted field that does not end on its line", NULL);
        if (*r->at != '"') {
            as_buf_char(out, *r->at);
            continue;
        }
        if (r->at + 1 == r->end || r->at[1] != '"') {
            r->at++;
            return AS_OK;
        }
        as_buf_char(out, *r->at++);
    }
    return damaged(r, "a quoted field does not end", NULL);
}

static bool ends_field(const struct reader *r)
{
    return r->at == r->end || *r->at == ',' || *r->at == '\n' ||
           (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n');
}

static enum as_status refs_field(struct reader *r, struct as_buf *out)
{
    as_buf_clear(out);
    if (r->at < r->end && *r->at == '"') {
        enum as_status st = quoted(r, out);
        if (st)
            return st;
        return ends_field(r) ? as_buf_check(out, r->err) : damaged(r, "text beside a quoted field", NULL);
    }
    for (; !ends_field(r); r->at++) {
        if (*r->at == '"')
            return damaged(r, "text beside a quoted field", NULL);
        if ((unsigned char)*r->at < ' ')
            return damaged(r, "a control character", NULL);
        as_buf_char(out, *r->at);
    }
    return as_buf_check(out, r->err);
}

static enum as_status take_value(const struct reader *r, const char *text, struct as_ref *ref)
{
    char low[64];
    const char *to = strstr(text, " to ");
    as_copy_text(low, sizeof low, text);
    if (to)
        low[to - text] = '\0';
    if (as_parse_double(low, &ref->lo, NULL) || as_parse_double(to ? to + strlen(" to ") : low, &ref->hi, NULL))
        return damaged(r, "the value is no number", text);
    if (ref->lo > ref->hi)
        return damaged(r, "the ends of the value are the wrong way round", text);
    return AS_OK;
}

/* Either of them by the word before the value; the first is for the number as it is. */
static const char *const qualifiers[] = {"", "about", "at least", "at most", "below", NULL};

static enum as_status check_device(const struct reader *r, const char *text, struct as_ref *ref)
{
    (void)ref;
    if (strcmp(text, "cpu") != 0 && strcmp(text, "device") != 0 && strcmp(text, "any") != 0)
        return damaged(r, "the device is cpu, device or any, not", text);
    return AS_OK;
}

static enum as_status check_qualifier(const struct reader *r, const char *text, struct as_ref *ref)
{
    (void)ref;
    for (size_t i = 0; qualifiers[i]; i++)
        if (strcmp(text, qualifiers[i]) == 0)
            return AS_OK;
    return damaged(r, "the qualifier is about, at least, at most or below, not", text);
}

/* The name of an axis, with the '='; NULL when there is none at this place. */
static const char *axis_ends(const char *axis)
{
    size_t name = strspn(axis, "abcdefghijklmnopqrstuvwxyz_");
    return name && axis[name] == '=' && axis[name + 1] && axis[name + 1] != ' ' ? axis + name + 1 : NULL;
}

static enum as_status check_axes(const struct reader *r, const char *text, struct as_ref *ref)
{
    (void)ref;
    for (const char *at = text; *at;) {
        const char *end = axis_ends(at), *next = end ? end + strcspn(end, " ") : NULL;
        if (!end || (*next == ' ' && !next[1]))
            return damaged(r, "the axes are no 'name=value' apart by single blanks", text);
        for (const char *before = text; before < at; before = strchr(before, ' ') + 1)
            if (strncmp(before, at, (size_t)(end - at)) == 0)
                return damaged(r, "an axis stands twice in", text);
        at = next + (*next == ' ');
    }
    return AS_OK;
}

static enum as_status check_kind(const struct reader *r, const char *text, struct as_ref *ref)
{
    (void)ref;
    if (strcmp(text, "specified") != 0 && strcmp(text, "measured") != 0)
        return damaged(r, "the kind is specified or measured, not", text);
    return AS_OK;
}

static enum as_status take_units(const struct reader *r, const char *text, struct as_ref *ref)
{
    if (*text && (as_parse_u64(text, &ref->units, NULL) || ref->units == 0))
        return damaged(r, "the compute units are no number from 1 on", text);
    return AS_OK;
}

static enum as_status refs_take_number(const struct reader *r, const char *text, struct as_ref *ref)
{
    if (*text && (as_parse_u64(text, &ref->line, NULL) || ref->line == 0))
        return damaged(r, "the line is no number from 1 on", text);
    return AS_OK;
}

/* Where the text of a column goes, and how it is checked; numbers have no text buffer. */
static const struct column {
    const char *name;
    size_t at, size;
    bool may_be_empty;
    enum as_status (*take)(const struct reader *r, const char *text, struct as_ref *ref);
} layouts[][COLUMNS] = {
#define ROOM(member) offsetof(struct as_ref, member), sizeof((struct as_ref *)0)->member
    {
        {"chip", ROOM(chip), false, NULL},
        {"device", ROOM(device), false, check_device},
        {"fact", ROOM(fact), true, NULL},
        {"metric", ROOM(metric), false, NULL},
        {"axes", ROOM(axes), true, check_axes},
        {"qualifier", ROOM(qualifier), true, check_qualifier},
        {"value", 0, 64, false, take_value},
        {"unit", ROOM(unit), false, NULL},
        {"conditions", ROOM(conditions), false, NULL},
        {"source", ROOM(source), false, NULL},
        {"line", 0, 24, true, refs_take_number},
        {"printed", ROOM(printed), true, NULL},
    },
    {
        {"match", ROOM(match), true, NULL},
        {"chip", ROOM(chip), false, NULL},
        {"device", ROOM(device), false, check_device},
        {"units", 0, 24, true, take_units},
        {"group", ROOM(group), false, NULL},
        {"quantity", ROOM(quantity), false, NULL},
        {"kind", ROOM(kind), false, check_kind},
        {"value", 0, 64, false, take_value},
        {"unit", ROOM(unit), false, NULL},
        {"conditions", ROOM(conditions), false, NULL},
        {"source", ROOM(source), false, NULL},
        {"url", ROOM(url), true, NULL},
    },
#undef ROOM
};

static enum as_status take_field(const struct reader *r, const struct column *c, const char *text, struct as_ref *ref)
{
    if (!text[0] && !c->may_be_empty)
        return damaged(r, "nothing in the column", c->name);
    if (strlen(text) >= c->size)
        return damaged(r, "more text than there is room for in the column", c->name);
    if (c->take != take_value && c->take != refs_take_number && c->take != take_units)
        as_copy_text((char *)ref + c->at, c->size, text);
    return c->take ? c->take(r, text, ref) : AS_OK;
}

/* One line; ref NULL: the header, whose first column tells the layout. */
static enum as_status take_line(struct reader *r, struct as_buf *text, struct as_ref *ref)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        enum as_status st = refs_field(r, text);
        if (st)
            return st;
        if (!ref && i == 0)
            r->columns = layouts[strcmp(as_buf_get(text), layouts[1][0].name) == 0];
        const struct column *columns = r->columns;
        if (!ref && strcmp(as_buf_get(text), columns[i].name) != 0)
            return damaged(r, "the header lacks the column", columns[i].name);
        if (ref && (st = take_field(r, &columns[i], as_buf_get(text), ref)))
            return st;
        bool more = r->at < r->end && *r->at == ',';
        if (more != (i + 1 < COLUMNS))
            return damaged(r, more ? "too many columns, after" : "too few columns, after", columns[i].name);
        r->at += more;
    }
    r->at += r->at < r->end && *r->at == '\r';
    r->at += r->at < r->end;
    r->line++;
    return AS_OK;
}

/* The line of the data sheet says what such a figure is. */
static void name_metric(struct as_ref *ref)
{
    if (ref->group[0])
        snprintf(ref->metric, sizeof ref->metric, "%s %s", ref->group, ref->quantity);
    for (char *bar = ref->group[0] ? strchr(ref->metric, '|') : NULL; bar; bar = strchr(bar, '|'))
        *bar = '/';
}

enum as_status as_refs_parse(const char *name, const char *text, size_t len, struct as_refs *out, struct as_error *err)
{
    struct reader r = {.name = name, .at = text, .end = text + len, .line = 1, .err = err};
    struct as_buf room = AS_BUF_INIT;
    size_t cap = 0;
    *out = (struct as_refs){0};
    as_copy_text(out->name, sizeof out->name, name);
    enum as_status st = AS_OK;
    if (len > TEXT_MAX)
        st = as_fail(err, AS_FORMAT, "references '%s' are larger than %d bytes", name, TEXT_MAX);
    if (!st)
        st = take_line(&r, &room, NULL);
    while (!st && r.at < r.end) {
        if (out->n == FIGURES_MAX) {
            st = damaged(&r, "more figures than can be shown", NULL);
            break;
        }
        st = as_grow((void **)&out->v, &cap, out->n + 1, sizeof *out->v, err);
        if (st)
            break;
        out->v[out->n] = (struct as_ref){0};
        if (!(st = take_line(&r, &room, &out->v[out->n])))
            name_metric(&out->v[out->n++]);
    }
    if (!st && out->n == 0)
        st = damaged(&r, "there is no figure", NULL);
    as_buf_finish(&room);
    if (st)
        as_refs_finish(out);
    return st;
}

static enum as_status unknown_name(const char *name, struct as_error *err)
{
    const char *names[NAMES_MAX + 1] = {0};
    for (size_t i = 0; i < NAMES_MAX && as_refs_texts[i].name; i++)
        names[i] = as_refs_texts[i].name;
    const char *near = as_nearest(name, names);
    if (near)
        return as_fail(err, AS_USAGE, "unknown reference set '%s'; did you mean '%s'?", name, near);
    struct as_buf chips = AS_BUF_INIT;
    enum as_status st = as_refs_chips_like(name, &chips, err);
    if (!st && chips.len)
        st = as_fail(err, AS_USAGE, "unknown reference set or chip '%s'; similar chips: %s", name, as_buf_get(&chips));
    as_buf_finish(&chips);
    return st ? st
              : as_fail(err, AS_USAGE, "unknown reference set or chip '%s'; see 'assay list refs', or name a CSV file",
                        name);
}

enum as_status as_refs_load(const char *name, struct as_refs *out, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    *out = (struct as_refs){0};
    for (const struct as_builtin_text *t = as_refs_texts; t->name; t++)
        if (strcmp(name, t->name) == 0)
            return as_refs_parse(name, t->text, strlen(t->text), out, err);
    enum as_status st = as_refs_of_chip(name, out, err);
    if (st != AS_NOTFOUND)
        return st;
    st = as_buf_read_file(&text, name, TEXT_MAX, err);
    if (st && !strchr(name, '/') && !strchr(name, '.'))
        st = unknown_name(name, err);
    if (!st)
        st = as_refs_parse(name, as_buf_get(&text), text.len, out, err);
    as_buf_finish(&text);
    return st;
}

const char *as_refs_name(size_t i)
{
    size_t n = 0;
    while (as_refs_texts[n].name)
        n++;
    return i < n ? as_refs_texts[i].name : NULL;
}

void as_refs_finish(struct as_refs *refs)
{
    free(refs->v);
    *refs = (struct as_refs){0};
}

void as_refs_chips(const struct as_refs *refs, struct as_buf *out)
{
    for (size_t i = 0; i < refs->n; i++) {
        size_t first = 0;
        while (strcmp(refs->v[first].chip, refs->v[i].chip) != 0)
            first++;
        if (first == i)
            as_buf_printf(out, "%s%s", i ? "; " : "", refs->v[i].chip);
    }
}

/* Is the first n bytes of a source a whole part of it? */
static bool ends_part(const char *source, size_t n)
{
    return source[n] == '\0' || source[n] == ',';
}

size_t as_refs_source(const struct as_refs *refs)
{
    const char *one = refs->n ? refs->v[0].source : "";
    size_t shared = strlen(one);
    for (size_t i = 1; i < refs->n; i++) {
        const char *other = refs->v[i].source;
        size_t n = 0;
        while (n < shared && one[n] == other[n])
            n++;
        while (n > 0 && !(ends_part(one, n) && ends_part(other, n)))
            n--;
        shared = n;
    }
    return shared;
}

bool as_ref_is_of_side(const struct as_ref *ref, const char *device)
{
    const bool cpu = strcmp(device, "cpu") == 0;
    return strcmp(ref->device, cpu ? "device" : "cpu") != 0;
}

/* All digits of what was published; sizes alone are shown as sizes. */
static void refs_add_number(double v, const struct as_scale *scale, struct as_buf *out)
{
    as_buf_printf(out, "%.15g", scale ? v * scale->factor : v);
}

void as_ref_value(const struct as_ref *ref, bool typeset, struct as_buf *out)
{
    const bool is_range = ref->hi > ref->lo, is_close = strcmp(ref->unit, "x") == 0 || strcmp(ref->unit, "%") == 0;
    const double first = ref->lo != 0 ? ref->lo : ref->hi;
    const struct as_scale *scale = first != 0 ? as_scale_of(first, ref->unit) : NULL;
    as_buf_printf(out, "%s%s", ref->qualifier, ref->qualifier[0] ? " " : "");
    if (!is_range && strcmp(ref->unit, "B") == 0 && ref->lo >= 0 && ref->lo < 0x1p63) {
        as_format_size(out, (uint64_t)(ref->lo + 0.5));
        return;
    }
    refs_add_number(ref->lo, scale, out);
    if (is_range) {
        as_buf_str(out, " to ");
        refs_add_number(ref->hi, scale, out);
    }
    as_buf_printf(out, "%s%s",
                  is_close  ? ""
                  : typeset ? "\u00a0"
                            : " ",
                  scale && (typeset || !is_close) ? scale->shown : ref->unit);
}

void as_ref_what(const struct as_ref *ref, struct as_buf *out)
{
    as_buf_str(out, ref->metric);
    if (ref->axes[0] && strncmp(ref->axes, "probe=", 6) != 0) /* which cells it is compared with: no part of its name */
        as_buf_printf(out, ", %s", ref->axes);
    if (ref->kind[0])
        as_buf_printf(out, ", %s", ref->kind);
}

void as_ref_axis(const struct as_ref *ref, const char *name, char *out, size_t size)
{
    const size_t n = strlen(name);
    out[0] = 0;
    for (const char *at = ref->axes; at && *at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, name, n) != 0 || at[n] != '=')
            continue;
        const size_t length = strcspn(at + n + 1, " ");
        as_copy_text(out, length + 1 < size ? length + 1 : size, at + n + 1);
        return;
    }
}
