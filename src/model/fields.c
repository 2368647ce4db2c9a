#include "model/fields.h"

#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reparses JSON text from any source, so that the output is valid JSON. */
static enum as_status fields_write_json(const char *text, bool is_array, const char *name, struct as_buf *out,
                                        struct as_error *err)
{
    if (!text || !text[0]) {
        as_buf_str(out, is_array ? "[]" : "{}");
        return AS_OK;
    }
    json_error_t why;
    json_t *j = json_loads(text, 0, &why);
    enum as_status st = AS_OK;
    if (!j || (is_array ? !json_is_array(j) : !json_is_object(j)))
        st = as_fail(err, AS_FORMAT, "the stored '%s' is not a JSON %s: %s; 'assay doctor' shows where", name,
                     is_array ? "array" : "object", j ? "something else" : why.text);
    else {
        char *again = json_dumps(j, JSON_COMPACT);
        if (!again)
            st = as_nomem(err, 0, "JSON");
        as_buf_json_text(out, again);
        free(again);
    }
    json_decref(j);
    return st;
}

static void write_throttle(int bits, struct as_buf *out)
{
    struct as_buf words = AS_BUF_INIT;
    as_throttle_text(bits, &words);
    if (words.len)
        as_buf_json_str(out, as_buf_get(&words));
    else
        as_buf_str(out, "null");
    out->failed |= words.failed;
    as_buf_finish(&words);
}

static enum as_status fields_write_value(const struct as_field *f, const void *at, struct as_buf *out,
                                         struct as_error *err)
{
    const char *owned = NULL;
    if (f->kind == AS_FIELD_OWNED || f->kind == AS_FIELD_OBJECT || f->kind == AS_FIELD_ARRAY)
        owned = *(char *const *)at;
    switch (f->kind) {
    case AS_FIELD_TEXT_OR_NULL:
        if (!*(const char *)at) {
            as_buf_str(out, "null");
            break;
        } /* fall through */
    case AS_FIELD_TEXT:
        as_buf_json_str(out, at);
        break;
    case AS_FIELD_OWNED:
        as_buf_json_str(out, owned);
        break;
    case AS_FIELD_OBJECT:
    case AS_FIELD_ARRAY:
        return fields_write_json(owned, f->kind == AS_FIELD_ARRAY, f->name, out, err);
    case AS_FIELD_REAL:
        as_json_number(out, *(const double *)at);
        break;
    case AS_FIELD_TIME:
        as_json_number(out, *(const double *)at == 0 ? NAN : *(const double *)at);
        break;
    case AS_FIELD_INT:
        as_buf_printf(out, "%d", *(const int *)at);
        break;
    case AS_FIELD_FLAG:
        as_buf_str(out, *(const int *)at ? "true" : "false");
        break;
    case AS_FIELD_SIZE:
        as_buf_printf(out, "%zu", *(const size_t *)at);
        break;
    case AS_FIELD_U64:
        as_buf_printf(out, "%llu", (unsigned long long)*(const uint64_t *)at);
        break;
    case AS_FIELD_SEED:
        as_buf_printf(out, "\"%llu\"", (unsigned long long)*(const uint64_t *)at);
        break;
    case AS_FIELD_WORD:
    case AS_FIELD_WORD_FLAG:
        as_buf_json_str(out, f->word(*(const int *)at));
        break;
    case AS_FIELD_THROTTLE:
        write_throttle(*(const int *)at, out);
        break;
    case AS_FIELD_CAUSES:
        as_buf_char(out, '"'); /* words need no escaping */
        as_causes_text(*(const unsigned *)at, out);
        as_buf_char(out, '"');
        break;
    case AS_FIELD_OTHER:
        break;
    }
    return AS_OK;
}

enum as_status as_fields_write(const struct as_fields *fields, const void *record, as_field_write_fn other, void *user,
                               struct as_buf *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < fields->n && !st; i++) {
        as_buf_char(out, i ? ',' : '{');
        as_buf_json_str(out, fields->v[i].name);
        as_buf_char(out, ':');
        if (fields->v[i].kind == AS_FIELD_OTHER)
            st = other(user, fields->v[i].name, out, err);
        else
            st = fields_write_value(&fields->v[i], (const char *)record + fields->v[i].offset, out, err);
    }
    as_buf_char(out, '}');
    return st;
}

enum as_status as_place_fail(const struct as_place *place, const char *name, const char *why, struct as_error *err)
{
    return as_fail(err, AS_FORMAT, "not a readable %s: %s%s%.60s: %s", place->document ? place->document : "export",
                   place->text, place->text[0] && name[0] ? "." : "", name, why);
}

static enum as_status fields_read_text(const struct as_field *f, const json_t *j, const struct as_place *place,
                                       char *at, struct as_error *err)
{
    const char *text = json_string_value(j);
    if (f->kind == AS_FIELD_TEXT_OR_NULL && json_is_null(j))
        text = "";
    if (!text)
        return as_place_fail(place, f->name, "not a string", err);
    if (strlen(text) >= f->size)
        return as_place_fail(place, f->name, "the string is too long", err);
    as_copy_text(at, f->size, text);
    return AS_OK;
}

static enum as_status read_owned(const struct as_field *f, const json_t *j, const struct as_place *place, char **at,
                                 struct as_error *err)
{
    if (f->kind == AS_FIELD_OWNED) {
        if (!json_is_string(j))
            return as_place_fail(place, f->name, "not a string", err);
        *at = as_strdup(json_string_value(j));
    } else {
        bool is_array = f->kind == AS_FIELD_ARRAY;
        if (is_array ? !json_is_array(j) : !json_is_object(j))
            return as_place_fail(place, f->name, is_array ? "not an array" : "not an object", err);
        *at = json_dumps(j, JSON_COMPACT);
    }
    return *at ? AS_OK : as_nomem(err, 0, f->name);
}

static enum as_status read_real(const struct as_field *f, const json_t *j, const struct as_place *place, double *at,
                                struct as_error *err)
{
    if (json_is_null(j)) {
        *at = f->kind == AS_FIELD_TIME ? 0 : NAN;
        return AS_OK;
    }
    if (!json_is_number(j) || !isfinite(json_number_value(j)))
        return as_place_fail(place, f->name, "neither a number nor null", err);
    *at = json_number_value(j);
    return AS_OK;
}

static enum as_status fields_read_whole(const struct as_field *f, const json_t *j, const struct as_place *place,
                                        void *at, struct as_error *err)
{
    json_int_t v = json_integer_value(j);
    if (!json_is_integer(j) || v < 0 || (f->kind == AS_FIELD_INT && v > INT_MAX))
        return as_place_fail(place, f->name, "not an integer, or out of range", err);
    if (f->kind == AS_FIELD_INT)
        *(int *)at = (int)v;
    else if (f->kind == AS_FIELD_SIZE)
        *(size_t *)at = (size_t)v;
    else
        *(uint64_t *)at = (uint64_t)v;
    return AS_OK;
}

bool as_field_word(const struct as_field *f, const char *text, int *out)
{
    for (int i = 0; text && f->word(i); i++)
        if (strcmp(f->word(i), text) == 0) {
            *out = i;
            return true;
        }
    return false;
}

bool as_is_sample(double v)
{
    return isfinite(v);
}

enum as_status as_numbers_read(const json_t *j, const char *name, size_t n, bool (*is_one)(double),
                               const struct as_place *place, double **out, struct as_error *err)
{
    if (!json_is_array(j) || json_array_size(j) != n)
        return as_place_fail(place, name, "not an array of n numbers", err);
    *out = malloc(n ? n * sizeof **out : 1);
    if (!*out)
        return as_nomem(err, n * sizeof **out, "samples");
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(j, i);
        (*out)[i] = json_is_number(v) ? json_number_value(v) : NAN;
        if (!(json_is_null(v) || json_is_number(v)) || !is_one((*out)[i])) {
            char at[64];
            snprintf(at, sizeof at, "%s[%zu]", name, i);
            return as_place_fail(place, at, "not a number that is valid there", err);
        }
    }
    return AS_OK;
}

static enum as_status read_throttle(const struct as_field *f, const json_t *j, const struct as_place *place, int *at,
                                    struct as_error *err)
{
    const char *text = json_is_null(j) ? "" : json_string_value(j);
    if (!text || (!text[0] && !json_is_null(j)) || as_throttle_parse(text, at, NULL))
        return as_place_fail(place, f->name, "not a list of throttle reasons", err);
    return AS_OK;
}

enum as_status as_field_read(const struct as_field *f, const json_t *j, const struct as_place *place, void *at,
                             struct as_error *err)
{
    switch (f->kind) {
    case AS_FIELD_TEXT:
    case AS_FIELD_TEXT_OR_NULL:
        return fields_read_text(f, j, place, at, err);
    case AS_FIELD_OWNED:
    case AS_FIELD_OBJECT:
    case AS_FIELD_ARRAY:
        return read_owned(f, j, place, at, err);
    case AS_FIELD_REAL:
    case AS_FIELD_TIME:
        return read_real(f, j, place, at, err);
    case AS_FIELD_INT:
    case AS_FIELD_SIZE:
    case AS_FIELD_U64:
        return fields_read_whole(f, j, place, at, err);
    case AS_FIELD_FLAG:
        if (!json_is_boolean(j))
            return as_place_fail(place, f->name, "neither true nor false", err);
        *(int *)at = json_is_true(j);
        return AS_OK;
    case AS_FIELD_SEED:
        if (!json_is_string(j) || as_parse_u64(json_string_value(j), at, NULL))
            return as_place_fail(place, f->name, "not an integer as text", err);
        return AS_OK;
    case AS_FIELD_WORD:
    case AS_FIELD_WORD_FLAG:
        return as_field_word(f, json_string_value(j), at)
                   ? AS_OK
                   : as_place_fail(place, f->name, "not one of the allowed words", err);
    case AS_FIELD_THROTTLE:
        return read_throttle(f, j, place, at, err);
    case AS_FIELD_CAUSES:
        return json_is_string(j) && !as_causes_parse(json_string_value(j), at, NULL)
                   ? AS_OK
                   : as_place_fail(place, f->name, "not a list of causes", err);
    case AS_FIELD_OTHER:
        break;
    }
    return AS_OK;
}

enum as_status as_fields_read(const struct as_fields *fields, const json_t *j, const struct as_place *place,
                              void *record, struct as_error *err)
{
    if (!json_is_object(j))
        return as_place_fail(place, "", "not an object", err);
    for (size_t i = 0; i < fields->n; i++) {
        const json_t *value = json_object_get(j, fields->v[i].name);
        if (!value)
            return as_place_fail(place, fields->v[i].name, "missing", err);
        enum as_status st = as_field_read(&fields->v[i], value, place, (char *)record + fields->v[i].offset, err);
        if (st)
            return st;
    }
    if (json_object_size(j) == fields->n)
        return AS_OK;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)j, name, value)
    {
        size_t i = 0;
        while (i < fields->n && strcmp(fields->v[i].name, name) != 0)
            i++;
        if (i == fields->n)
            return as_place_fail(place, name, "unknown member", err);
    }
    return AS_OK;
}
