/* The fields of the records: one table for each struct, from which its JSON (exports and messages of workers), its CSV
 * and its columns in the store are written and read. A new field is a row in records.c and, for stores, a step of the
 * schema. */
#ifndef AS_MODEL_FIELDS_H
#define AS_MODEL_FIELDS_H

#include "base/json.h"
#include "model/cell.h"

#include <jansson.h>

enum as_field_kind {
    AS_FIELD_TEXT,         /* char[size] */
    AS_FIELD_TEXT_OR_NULL, /* char[size], "" is null */
    AS_FIELD_OWNED,        /* char *, NULL is "" */
    AS_FIELD_OBJECT,       /* char * with a JSON object, NULL is {} */
    AS_FIELD_ARRAY,        /* char * with a JSON array, NULL is [] */
    AS_FIELD_REAL,         /* double, null if not finite */
    AS_FIELD_TIME,         /* double, 0 is null */
    AS_FIELD_INT,          /* int, at least 0 */
    AS_FIELD_FLAG,         /* int, as false or true */
    AS_FIELD_SIZE,         /* size_t */
    AS_FIELD_U64,          /* uint64_t below 2^63 */
    AS_FIELD_SEED,         /* uint64_t as text, since many JSON readers use doubles */
    AS_FIELD_WORD,         /* enum, as a word */
    AS_FIELD_WORD_FLAG,    /* int 0 or 1, as a word; in the store as a number */
    AS_FIELD_THROTTLE,     /* int, AS_THROTTLE_* bits as words, -1 is null */
    AS_FIELD_CAUSES,       /* unsigned, AS_WIDE_* bits as words */
    AS_FIELD_OTHER,        /* written and read by the caller */
};
struct as_field {
    const char *name;
    enum as_field_kind kind;
    size_t offset, size;
    const char *(*word)(int value); /* AS_FIELD_WORD: NULL behind the last */
    const char *column;             /* in the store; NULL: its name */
    const char *csv;                /* in CSV; NULL: not there */
};
#define AS_FIELD(type, member, what)                                                                                   \
    .kind = (what), .offset = offsetof(struct type, member), .size = sizeof(((struct type *)0)->member)
/* Address of a field in a record. */
static inline const void *as_field_at(const struct as_field *field, const void *record)
{
    return (const char *)record + field->offset;
}

struct as_fields {
    const struct as_field *v;
    size_t n;
};

/* Writes {"name":value,...}. other writes the values of AS_FIELD_OTHER fields. */
typedef enum as_status (*as_field_write_fn)(void *user, const char *name, struct as_buf *out, struct as_error *err);
enum as_status as_fields_write(const struct as_fields *fields, const void *record, as_field_write_fn other, void *user,
                               struct as_buf *out, struct as_error *err);

/* Position in the document, for messages. */
struct as_place {
    const char *document; /* kind of document; NULL: "export" */
    char text[96];
};
enum as_status as_place_fail(const struct as_place *place, const char *name, const char *why, struct as_error *err);
/* Reads all fields of the object j into record; a missing or unknown member, a wrong type, or a value that does not
 * fit is refused. Owned text that was read is the
 * record's also when this fails. */
enum as_status as_fields_read(const struct as_fields *fields, const json_t *j, const struct as_place *place,
                              void *record, struct as_error *err);
/* The number of a field's word; false if it is not one of its words. */
bool as_field_word(const struct as_field *field, const char *text, int *out);
/* Reads an array of n numbers, such as samples; *out is the caller's. is_one tells which numbers are valid; null
 * is NAN. */
enum as_status as_numbers_read(const json_t *j, const char *name, size_t n, bool (*is_one)(double),
                               const struct as_place *place, double **out, struct as_error *err);
bool as_is_sample(double v); /* finite */
/* Reads one value of the kinds above. */
enum as_status as_field_read(const struct as_field *field, const json_t *j, const struct as_place *place, void *at,
                             struct as_error *err);

extern const struct as_fields as_run_fields, as_cell_fields, as_trial_fields, as_gate_fields, as_readings_fields,
    as_metric_fields;

#endif
