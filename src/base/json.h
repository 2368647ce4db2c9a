/* JSON as text, written piece by piece. Unknown numbers are null. */
#ifndef AS_BASE_JSON_H
#define AS_BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>

/* The shortest decimal that reads back as the same number. */
void as_json_number(struct as_buf *b, double value);

/* Members of an open object. Each appends a comma if needed, then "name":value. */
void as_json_add_text(struct as_buf *b, const char *name, const char *value);
void as_json_add_number(struct as_buf *b, const char *name, double value);
void as_json_add_int(struct as_buf *b, const char *name, long long value);
void as_json_add_bool(struct as_buf *b, const char *name, bool value);
void as_json_add_name(struct as_buf *b, const char *name); /* only the name; the caller appends the value */

#endif
