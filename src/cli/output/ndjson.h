/* JSON objects as text, one per line. Unknown numbers are null. */
#ifndef AS_CLI_NDJSON_H
#define AS_CLI_NDJSON_H

#include "base/json.h"
#include "model/cell.h"
#include "run/run.h"

/* "name":[low,high] */
void as_ndjson_interval(struct as_buf *b, const char *name, struct as_interval v);

/* Adds the members of one cell, as in the export but without samples, to an open object. */
void as_ndjson_cell(struct as_buf *b, const struct as_cell *c);
void as_ndjson_run(struct as_buf *b, const struct as_run *r);
/* One event of a run: an object and a newline. */
void as_ndjson_event(struct as_buf *b, const struct as_event *e);

#endif
