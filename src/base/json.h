/* JSON as text, written piece by piece. Numbers that are not known are null. */
#ifndef AS_BASE_JSON_H
#define AS_BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>

/* The fewest digits that give the same number back. */
void as_json_number(struct as_buf *b, double value);

/* Members of an object that is open. Each adds a comma first where one is needed, then "name":value. */
void as_json_add_text(struct as_buf *b, const char *name, const char *value);
void as_json_add_number(struct as_buf *b, const char *name, double value);
void as_json_add_int(struct as_buf *b, const char *name, long long value);
void as_json_add_bool(struct as_buf *b, const char *name, bool value);
void as_json_add_name(struct as_buf *b, const char *name); /* only the name, the value follows */

#endif
