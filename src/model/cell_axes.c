/* Axis values of a cell: lookup, JSON and text forms, and the cell's key (a hash). */
#include "model/cell.h"

#include "base/clock.h"
#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AXES_JSON_MAX = 8192 };

static const struct as_axis_value none;

const struct as_axis_value *as_axes_get(const struct as_axes *axes, const char *name)
{
    for (size_t i = 0; i < axes->n; i++) /* fast path: most names differ in the first letter */
        if (axes->v[i].name[0] == name[0] && strcmp(axes->v[i].name, name) == 0)
            return &axes->v[i];
    return NULL;
}

const char *as_axes_text(const struct as_axes *axes, const char *name)
{
    const struct as_axis_value *v = as_axes_get(axes, name);
    return v ? v->text : none.text;
}

double as_axes_number(const struct as_axes *axes, const char *name)
{
    const struct as_axis_value *v = as_axes_get(axes, name);
    return v ? v->number : NAN;
}

uint64_t as_axes_u64(const struct as_axes *axes, const char *name)
{
    const struct as_axis_value *v = as_axes_get(axes, name);
    uint64_t whole;
    /* from the text, since a double has only 53 bits */
    if (!v || !isfinite(v->number) || as_parse_u64(v->text, &whole, NULL))
        return 0;
    return whole;
}

bool as_axes_is(const struct as_axes *axes, const char *name, const char *text)
{
    const struct as_axis_value *v = as_axes_get(axes, name);
    return !v || strcmp(v->text, text) == 0;
}

/* The canonical spelling of a number: whole numbers in digits, others as the shortest text that reads back the same. */
static void format_number(struct as_buf *b, double v)
{
    if (v == floor(v) && fabs(v) <= 9007199254740992.0) {
        as_buf_printf(b, "%lld", (long long)v);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        double back;
        as_buf_clear(b);
        as_buf_printf(b, "%.*g", digits, v);
        if (as_parse_double(as_buf_get(b), &back, NULL) == AS_OK && back == v)
            return;
    }
}

/* Whether text spells a whole number that fits a signed 64-bit integer. */
static bool is_whole(const char *text)
{
    const char *digits = text + (*text == '-');
    uint64_t v;
    if (as_parse_u64(digits, &v, NULL) || v > INT64_MAX)
        return false;
    return digits[0] == '0' ? digits[1] == 0 && digits == text : true;
}

/* The number that text spells, NAN for a word. */
static double spelled_number(const char *text)
{
    double v;
    if (as_parse_double(text, &v, NULL))
        return NAN;
    if (is_whole(text))
        return v;
    struct as_buf b = AS_BUF_INIT;
    format_number(&b, v);
    if (b.failed || strcmp(as_buf_get(&b), text) != 0)
        v = NAN;
    as_buf_finish(&b);
    return v;
}

static bool is_name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool is_name(const char *s)
{
    size_t n = 0;
    while (is_name_letter(s[n]))
        n++;
    return n > 0 && s[n] == 0 && s[0] >= 'a' && s[0] <= 'z' && n < sizeof none.name;
}

/* Text that is safe for a terminal: valid UTF-8 without control characters. */
static bool is_plain_text(const char *s)
{
    struct as_buf b = AS_BUF_INIT;
    as_buf_terminal(&b, s);
    bool same = !b.failed && strcmp(as_buf_get(&b), s) == 0;
    as_buf_finish(&b);
    return same;
}

static enum as_status cell_axes_add_value(struct as_axes *axes, const char *name, const char *text, double number,
                                          struct as_error *err)
{
    if (!is_name(name))
        return as_fail(err, AS_FORMAT,
                       "'%.60s' is not the name of an axis: lower-case letters, digits, _ and -, at most %zu", name,
                       sizeof none.name - 1);
    if (text[0] == 0 || strlen(text) >= sizeof none.text || !is_plain_text(text))
        return as_fail(err, AS_FORMAT, "axis '%s': the value is empty, not plain text, or longer than %zu bytes", name,
                       sizeof none.text - 1);
    if (as_axes_get(axes, name))
        return as_fail(err, AS_FORMAT, "axis '%s' is given twice", name);
    if (axes->n >= AS_AXES_MAX)
        return as_fail(err, AS_FORMAT, "axis '%s': a measurement has at most %d axes", name, AS_AXES_MAX);
    struct as_axis_value *v = &axes->v[axes->n++];
    as_copy_text(v->name, sizeof v->name, name);
    as_copy_text(v->text, sizeof v->text, text);
    v->number = number;
    return AS_OK;
}

enum as_status as_axes_add(struct as_axes *axes, const char *name, const char *text, struct as_error *err)
{
    return cell_axes_add_value(axes, name, text, spelled_number(text), err);
}

void as_axes_to_json(const struct as_axes *axes, struct as_buf *out)
{
    as_buf_char(out, '{');
    for (size_t i = 0; i < axes->n; i++) {
        const struct as_axis_value *v = &axes->v[i];
        as_buf_str(out, i ? "," : "");
        as_buf_json_str(out, v->name);
        as_buf_char(out, ':');
        if (isfinite(v->number) && isfinite(spelled_number(v->text)))
            as_buf_str(out, v->text);
        else
            as_buf_json_str(out, v->text);
    }
    as_buf_char(out, '}');
}

static enum as_status add_json_value(struct as_axes *axes, const char *name, const json_t *j, struct as_error *err)
{
    if (json_is_string(j))
        return cell_axes_add_value(axes, name, json_string_value(j), NAN, err);
    if (!json_is_number(j))
        return as_fail(err, AS_FORMAT, "axis '%.60s': the value is neither a number nor a word", name);
    struct as_buf b = AS_BUF_INIT;
    if (json_is_integer(j))
        as_buf_printf(&b, "%lld", (long long)json_integer_value(j));
    else
        format_number(&b, json_real_value(j));
    enum as_status st = as_buf_check(&b, err);
    if (!st)
        st = cell_axes_add_value(axes, name, as_buf_get(&b), json_number_value(j), err);
    as_buf_finish(&b);
    return st;
}

/* Parses a quoted name at *at. */
static bool scan_name(const char **at, char out[sizeof none.name])
{
    const char *start = *at + 1;
    size_t n = 0;
    if (**at != '"' || start[0] < 'a' || start[0] > 'z')
        return false;
    for (; is_name_letter(start[n]) && n < sizeof none.name; n++)
        out[n] = start[n];
    if (n == sizeof none.name || start[n] != '"')
        return false;
    out[n] = 0;
    *at = start + n + 1;
    return true;
}

/* Parses a string without escapes, or digits, at *at: the form of nearly all stored axes. */
static bool scan_value(const char **at, struct as_axis_value *v)
{
    const bool is_text = **at == '"';
    const char *start = *at + is_text;
    size_t n = 0;
    uint64_t whole = 0;
    if (is_text)
        while (start[n] >= ' ' && start[n] <= '~' && start[n] != '"' && start[n] != '\\')
            n++;
    else
        for (; start[n] >= '0' && start[n] <= '9' && n <= 15; n++)
            whole = whole * 10 + (uint64_t)(start[n] - '0');
    if (n == 0 || n >= sizeof v->text || (is_text ? start[n] != '"' : n > 15 || (n > 1 && start[0] == '0')))
        return false;
    memcpy(v->text, start, n);
    v->text[n] = 0;
    v->number = is_text ? NAN : (double)whole;
    *at = start + n + is_text;
    return true;
}

/* Fast path for the form that as_axes_to_json writes, without a tree, since a million cells may be read at once. False:
 * not that form. */
static bool scan_axes(const char *at, struct as_axes *axes)
{
    axes->n = 0;
    for (char separator = '{'; *at == separator; separator = ',') {
        at++;
        struct as_axis_value *v = &axes->v[axes->n];
        if (axes->n >= AS_AXES_MAX || !scan_name(&at, v->name) || *at++ != ':' || !scan_value(&at, v) ||
            as_axes_get(axes, v->name))
            return false;
        axes->n++;
    }
    return axes->n > 0 && at[0] == '}' && at[1] == 0;
}

enum as_status as_axes_from_json(const char *json, struct as_axes *axes, struct as_error *err)
{
    json_error_t why;
    if (json && scan_axes(json, axes))
        return AS_OK;
    *axes = (struct as_axes){0};
    size_t len = json ? strnlen(json, AXES_JSON_MAX + 1) : 0;
    if (len > AXES_JSON_MAX)
        return as_fail(err, AS_FORMAT, "axes: more than %d bytes", AXES_JSON_MAX);
    json_t *root = json_loadb(json ? json : "", len, JSON_REJECT_DUPLICATES, &why);
    if (!root)
        return as_fail(err, AS_FORMAT, "axes: %s at byte %d", why.text, why.position);
    enum as_status st = json_is_object(root) ? AS_OK : as_fail(err, AS_FORMAT, "axes: not an object");
    const char *name;
    json_t *value;
    json_object_foreach(root, name, value)
    {
        if (!st)
            st = add_json_value(axes, name, value, err);
    }
    json_decref(root);
    return st;
}

static bool cell_axes_is_bytes(const char *name)
{
    static const char *const sizes[] = {"size", "stride", "bytes", "page"};
    const char *last = strrchr(name, '_');
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(last ? last + 1 : name, sizes[i]) == 0)
            return true;
    return false;
}

void as_axes_to_text(const struct as_axes *axes, struct as_buf *out)
{
    for (size_t i = 0; i < axes->n; i++) {
        const struct as_axis_value *v = &axes->v[i];
        as_buf_str(out, i ? " " : "");
        as_buf_str(out, v->name);
        as_buf_char(out, '=');
        uint64_t bytes;
        if (cell_axes_is_bytes(v->name) && isfinite(v->number) && as_parse_u64(v->text, &bytes, NULL) == AS_OK)
            as_format_size(out, bytes);
        else
            as_buf_str(out, v->text);
    }
}

uint64_t as_cell_key(const char *probe, const char *metric, const struct as_axes *axes)
{
    size_t order[AS_AXES_MAX];
    for (size_t i = 0; i < axes->n; i++) {
        size_t at = i;
        for (; at > 0 && strcmp(axes->v[order[at - 1]].name, axes->v[i].name) > 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    /* on the stack and without a locale: a key must not fail or depend on the process; a NUL ends each part */
    char bytes[2 * 64 + AS_AXES_MAX * (sizeof none.name + sizeof none.text)];
    size_t n = 0;
    const char *const head[] = {probe, metric};
    for (size_t i = 0; i < 2; i++)
        n += strlen(as_copy_text(bytes + n, 64, head[i])) + 1;
    for (size_t i = 0; i < axes->n; i++) {
        const struct as_axis_value *v = &axes->v[order[i]];
        n += strlen(as_copy_text(bytes + n, sizeof v->name, v->name)) + 1;
        n += strlen(as_copy_text(bytes + n, sizeof v->text, v->text)) + 1;
    }
    return as_hash(bytes, n);
}

const char *as_axes_rate_unit(const struct as_axes *axes, const char *unit)
{
    const char *type = as_axes_text(axes, "type"), *instruction = as_axes_text(axes, "instruction");
    const bool results = as_axes_text(axes, "op")[0] && !type[0]; /* counts results: a fused multiply-add is one */
    return as_rate_unit(results && strcmp(unit, AS_UNIT_RATE) == 0 ? "OP/s" : unit, type[0] ? type : instruction);
}
