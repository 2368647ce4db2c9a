/* Records as rows: columns, parameters and values made from the table of a record's fields. */
#include "store/sql.h"

#include "base/text.h"

#include <math.h>

static const char *rows_column_of(const struct as_field *f)
{
    return f->column ? f->column : f->name;
}

void as_fields_columns(const struct as_fields *fields, const char *prefix, struct as_buf *out)
{
    for (size_t i = 0; i < fields->n; i++)
        if (fields->v[i].kind != AS_FIELD_OTHER)
            as_buf_printf(out, "%s%s%s", out->len ? ", " : "", prefix, rows_column_of(&fields->v[i]));
}

void as_put_fields(struct as_row *row, const struct as_fields *fields, const void *record)
{
    for (size_t i = 0; i < fields->n; i++) {
        const struct as_field *f = &fields->v[i];
        const void *at = as_field_at(f, record);
        switch (f->kind) {
        case AS_FIELD_TEXT:
        case AS_FIELD_TEXT_OR_NULL:
            as_put_text(row, at);
            break;
        case AS_FIELD_OWNED:
            as_put_text(row, *(char *const *)at);
            break;
        case AS_FIELD_OBJECT:
        case AS_FIELD_ARRAY:
            as_put_text_or_null(row, *(char *const *)at);
            break;
        case AS_FIELD_REAL:
            as_put_real(row, *(const double *)at);
            break;
        case AS_FIELD_TIME:
            as_put_real(row, isfinite(*(const double *)at) ? *(const double *)at : 0);
            break;
        case AS_FIELD_INT:
            as_put_int(row, *(const int *)at);
            break;
        case AS_FIELD_FLAG:
        case AS_FIELD_WORD_FLAG:
            as_put_int(row, *(const int *)at != 0);
            break;
        case AS_FIELD_SIZE:
            as_put_int(row, (int64_t) * (const size_t *)at);
            break;
        case AS_FIELD_U64:
        case AS_FIELD_SEED:
            as_put_int(row, (int64_t) * (const uint64_t *)at);
            break;
        case AS_FIELD_WORD:
            as_put_text(row, f->word(*(const int *)at));
            break;
        case AS_FIELD_THROTTLE:
            as_put_throttle(row, *(const int *)at);
            break;
        case AS_FIELD_CAUSES:
            as_put_causes(row, *(const unsigned *)at);
            break;
        case AS_FIELD_OTHER:
            break;
        }
    }
}

static bool get_value(struct as_row *row, const struct as_field *f, void *at)
{
    switch (f->kind) {
    case AS_FIELD_TEXT:
    case AS_FIELD_TEXT_OR_NULL:
        as_copy_column(row, at, f->size);
        break;
    case AS_FIELD_OWNED:
    case AS_FIELD_OBJECT:
    case AS_FIELD_ARRAY:
        *(char **)at = as_take_text(row);
        break;
    case AS_FIELD_REAL:
        *(double *)at = as_get_real(row);
        break;
    case AS_FIELD_TIME:
        *(double *)at = as_get_time(row);
        break;
    case AS_FIELD_INT:
        *(int *)at = as_get_small(row);
        break;
    case AS_FIELD_FLAG:
    case AS_FIELD_WORD_FLAG:
        *(int *)at = as_get_small(row) != 0;
        break;
    case AS_FIELD_SIZE:
        *(size_t *)at = (size_t)as_get_small(row);
        break;
    case AS_FIELD_U64:
        *(uint64_t *)at = as_get_whole(row);
        break;
    case AS_FIELD_SEED:
        *(uint64_t *)at = (uint64_t)as_get_int(row);
        break;
    case AS_FIELD_WORD:
        return as_field_word(f, as_get_text(row), at);
    case AS_FIELD_THROTTLE:
        return as_throttle_parse(as_get_text(row), at, NULL) == AS_OK;
    case AS_FIELD_CAUSES:
        return as_causes_parse(as_get_text(row), at, NULL) == AS_OK;
    case AS_FIELD_OTHER:
        break;
    }
    return true;
}

const char *as_get_fields(struct as_row *row, const struct as_fields *fields, void *record)
{
    const char *wrong = NULL;
    for (size_t i = 0; i < fields->n; i++)
        if (!get_value(row, &fields->v[i], (char *)record + fields->v[i].offset))
            wrong = rows_column_of(&fields->v[i]);
    return wrong;
}
